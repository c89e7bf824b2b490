"""URLs and paths among the settings."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1", "0.0.0.0", "host.docker.internal")  # noqa: S104 compared, not bound

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_MEMORY = (":memory:", "sqlite://", "sqlite:///:memory:")


def url_fault(url: str) -> str:
    """What is wrong with an endpoint's URL, as the end of a sentence, or ""."""
    like = 'write it like "http://localhost:11434/v1".'
    if url != url.strip() or any(c.isspace() or not c.isprintable() for c in url):
        return f"holds a blank; {like}"
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        return f"is not a URL ({error}); {like}"
    if parts.scheme not in ("http", "https"):
        return f"must begin with http:// or https://; {like}"
    if not host or port == 0:
        return f"names no host; {like}"
    if parts.username is not None or parts.password is not None:
        return "must not carry a user name or a password; use key_env or headers."
    if parts.query or parts.fragment:
        return f"must end with its path, without ? and #; {like}"
    return ""


def is_local(url: str) -> bool:
    """Whether the server is this machine."""
    return (urlsplit(url).hostname or "") in LOCAL_HOSTS


def is_url(text: str) -> bool:
    """Whether a word is meant as a URL and not as a name."""
    return bool(_SCHEME.match(text))


def store_url(text: str, base: Path) -> str:
    """A store's URL, its path made absolute from `base`; a word that is no URL is a SQLite file's path."""
    if text in _MEMORY:
        return text
    if text.startswith("sqlite:///"):
        return "sqlite:///" + str(absolute(text.removeprefix("sqlite:///"), base))
    return text if is_url(text) else "sqlite:///" + str(absolute(text, base))


def absolute(text: str, base: Path) -> Path:
    """A path as a person writes it (`~` is theirs), relative to `base`."""
    path = Path(text)
    return base / (path.expanduser() if text.startswith("~") else path)
