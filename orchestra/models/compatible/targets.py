"""Where requests go, and where a redirect may take them; the same for every way there."""

from __future__ import annotations

from yarl import URL

from orchestra.errors import ModelRefused
from orchestra.models.compatible.addresses import same_server
from orchestra.models.compatible.failures import refused
from orchestra.models.compatible.transport import Place
from orchestra.models.settings import Endpoint

REDIRECTS = frozenset((301, 302, 303, 307, 308))


def joined(base: str, path: str) -> URL:
    """The path under the base URL; a path that is a whole URL is itself."""
    if path.startswith("http"):
        return URL(path)
    url = URL(base)
    return url.with_path(url.path.rstrip("/") + path).with_query(url.query)


def credentials(endpoint: Endpoint) -> dict[str, str]:
    if not endpoint.key:
        return {}
    if endpoint.kind == "azure":
        return {"api-key": endpoint.key}
    return {"Authorization": f"Bearer {endpoint.key}"}


def moved_to(place: Place, here: URL, location: str, status: int) -> URL:
    """The address that a redirect gives, if the key may go there. Raises ModelRefused."""
    target = here.join(URL(location))
    if target == here or not same_server(str(here), str(target)):
        raise moved(place, target, status)
    return target


def moved(place: Place, target: URL, status: int) -> ModelRefused:
    return refused(
        place,
        f"answered with a redirect to {target.with_query(None)} (status {status}): "
        f"set the url of endpoint {place.endpoint} to the right address",
        status,
    )
