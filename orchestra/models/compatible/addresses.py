"""Base URLs, as people write them and as endpoints want them."""

from __future__ import annotations

from urllib.parse import urlsplit, urlunsplit

from orchestra.errors import ConfigError

_TAILS = ("/chat/completions", "/completions", "/models")


def base_url(url: str) -> str:
    """The URL that paths are joined to: without a tail that belongs to a path, with /v1 if it had none.

    A URL with a path of its own (/api/v3, /v1beta/openai) is kept as it is.
    """
    parts = urlsplit(url.strip() if "://" in url else f"http://{url.strip()}")
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ConfigError(f"The endpoint's url {url!r} is not an http or https address")
    path = parts.path.rstrip("/")
    for tail in _TAILS:
        path = path.removesuffix(tail)
    return urlunsplit((parts.scheme, parts.netloc, path or "/v1", parts.query, ""))


def twin_url(url: str) -> str:
    """The same address with /v1 taken away or added: worth one try when the first is not found."""
    parts = urlsplit(url)
    path = parts.path.removesuffix("/v1") if parts.path.endswith("/v1") else parts.path + "/v1"
    return urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))


def same_server(one: str, other: str) -> bool:
    """True where a key meant for one may go to the other: the same host, and not from TLS to plain."""
    first, second = urlsplit(one), urlsplit(other)
    if first.hostname != second.hostname:
        return False
    return first.scheme == second.scheme or (first.scheme, second.scheme) == ("http", "https")
