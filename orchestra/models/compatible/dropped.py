"""What goes wrong below HTTP, in one sentence each. What runs on aiohttp meets its errors."""

from __future__ import annotations

import aiohttp

from orchestra.errors import ModelError
from orchestra.models.compatible.failures import refused, unreachable
from orchestra.models.compatible.pool import reason
from orchestra.models.compatible.transport import Place
from orchestra.models.settings import Times


def dropped(place: Place, error: BaseException, times: Times, *, begun: bool) -> ModelError:
    """The error for a connection that failed; `begun`: the reply's head had come."""
    told = str(error) or type(error).__name__
    if isinstance(error, aiohttp.InvalidURL):
        return refused(place, f"has a url that cannot be used: {told}")
    if isinstance(error, aiohttp.ClientConnectorCertificateError | aiohttp.ClientConnectorSSLError):
        return refused(
            place, f"has a certificate that is not trusted ({told}): set SSL_CERT_FILE to its authority's"
        )
    if isinstance(error, aiohttp.ClientProxyConnectionError):
        return unreachable(place, f"is behind a proxy that cannot be reached ({told}): check HTTPS_PROXY")
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return unreachable(place, f"is behind a proxy that refuses ({error.status}): check HTTPS_PROXY")
    if isinstance(error, aiohttp.ClientConnectorError):
        told = f"{error.host} port {error.port}: {reason(error.os_error)}"
        return unreachable(place, f"cannot be reached ({told}): check that it runs and that its url is right")
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return unreachable(place, f"did not take the connection within {times.connect_seconds or 0:g} s")
    if isinstance(error, aiohttp.SocketTimeoutError) and begun:
        return unreachable(place, f"fell silent for {times.silence_seconds or 0:g} s inside its reply")
    if isinstance(error, aiohttp.SocketTimeoutError):
        return unreachable(place, f"sent no first byte within {times.first_byte_seconds or 0:g} s")
    if isinstance(error, TimeoutError):
        return unreachable(place, f"was not done within {times.total_seconds or 0:g} s")
    if begun or isinstance(error, aiohttp.ClientPayloadError):
        return unreachable(place, f"dropped the connection inside its reply ({told})")
    if isinstance(error, aiohttp.ClientResponseError):
        return unreachable(
            place, f"dropped the connection or does not speak HTTP ({error.message.split(chr(10))[0]})"
        )
    return unreachable(place, f"dropped the connection before its reply ({told})")


def was_closed(error: BaseException) -> bool:
    """True where the connection ended before a byte of the reply, as one does that was kept too long."""
    link: BaseException | None = error
    while link is not None:
        if isinstance(link, aiohttp.ServerDisconnectedError | aiohttp.ClientConnectionResetError):
            return True
        link = link.__cause__ or link.__context__
    return isinstance(error, ConnectionResetError | BrokenPipeError)
