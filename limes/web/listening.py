"""Addresses to listen on: whether they are free, and what to do if they are not."""

import errno
import socket

from limes.errors import StartupError

_ADVICE = {
    errno.EADDRINUSE: "stop what listens there (`ss -ltnp` shows it), or choose another address",
    errno.EACCES: "choose a port from 1024 on, or give the process the capability CAP_NET_BIND_SERVICE",
    errno.EADDRNOTAVAIL: "choose an address of this machine (`ip address` lists them)",
}


_VARIABLES = {
    "api.listen": "LIMES_API_LISTEN_ADDRESS",
    "placement.listen": "LIMES_PLACEMENT_LISTEN_ADDRESS",
    "collector.listen": "LIMES_COLLECTOR_METRICS_LISTEN_ADDRESS",
}
"""The environment variables that override the settings."""


def require_free(setting: str, listen: str) -> None:
    """Raises `StartupError` if nobody could listen on `HOST:PORT`, which comes from this setting."""
    host, _, port = listen.rpartition(":")
    host = host.strip("[]")
    try:
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, int(port)))
    except OSError as error:
        raise explain_failure(setting, listen, error) from None


def explain_failure(setting: str, listen: str, error: OSError) -> StartupError:
    """Returns what to raise where an address cannot be listened on."""
    advice = _ADVICE.get(error.errno or 0, "choose another address")
    if setting in _VARIABLES:
        advice += f" ({_VARIABLES[setting]})"
    return StartupError(f"{setting}: cannot listen on {listen}: {error.strerror or error}; {advice}")
