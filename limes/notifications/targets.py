"""Where projects may have their notifications sent to: only to hosts that operators have named, and only to addresses
where nothing of the cloud's own can be.

The name of a host is resolved once for each delivery. All of its addresses are checked, and the connection is made to
one of these, so nothing depends on what a name server answers the next time.
"""

import ipaddress
import re
import socket
from collections.abc import Callable, Sequence
from typing import Annotated, NamedTuple

from pydantic import AfterValidator, Field

from limes.kernel.errors import Unprocessable
from limes.kernel.validation.durations import Seconds
from limes.kernel.validation.sections import ConfigPath, Section

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve = Callable[[str, int], Sequence[str]]
"""Returns the addresses of a host, for a port. Raises `OSError`."""

_LONGEST = 2000
_HOST = r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?"
_URL = re.compile(rf"(https?)://({_HOST})(?::([0-9]{{1,5}}))?([/?][^\\\s#]*)?", re.ASCII | re.IGNORECASE)


def _host(value: str) -> str:
    if not re.fullmatch(rf"(\*\.)?{_HOST}", value):
        raise ValueError("expected the name of a host in lower case, such as chat.example.com or *.example.com")
    return value


def _network(value: str) -> str:
    try:
        return str(ipaddress.ip_network(value))
    except ValueError as error:
        raise ValueError(f"expected a network, such as 10.1.0.0/16: {error}") from None


class ProjectWebhookSettings(Section):
    """Webhooks that projects choose for themselves. By default they cannot: this is for hosts that you trust with
    requests from inside your network."""

    allowed_hosts: tuple[Annotated[str, AfterValidator(_host)], ...] = ()
    """The hosts that may be chosen: names such as `chat.example.com`, and `*.example.com` for all names below one.
    Empty: projects have no webhooks."""
    allowed_networks: tuple[Annotated[str, AfterValidator(_network)], ...] = ()
    """Networks that such hosts may be in, besides public addresses, such as `172.20.8.128/25`. Otherwise loopback,
    link-local, private, multicast, reserved and unspecified addresses are refused. Only there, `http` is allowed."""
    cacert: ConfigPath | None = None
    """A file with the certificates that those of the hosts are signed by; null means the usual public ones."""
    timeout: Seconds = Field(default=5.0, le=60)
    """How long a receiver may take, from the connection to the end of its answer."""
    give_up: Seconds = 86400.0
    """How old a notification that a receiver does not take may get. Then it is dropped."""

    def allows(self, host: str) -> bool:
        return any(
            host.endswith(one[1:]) and len(host) > len(one) - 1 if one.startswith("*.") else host == one
            for one in self.allowed_hosts
        )

    def lists(self, address: Address) -> bool:
        """Returns whether an address is in one of the networks that operators have named."""
        networks = map(ipaddress.ip_network, self.allowed_networks)
        return any(address.version == network.version and address in network for network in networks)


class Target(NamedTuple):
    is_secure: bool
    host: str
    port: int


def read_target(url: str, section: ProjectWebhookSettings) -> Target:
    """Returns what a URL is about. Raises `Unprocessable` for one that may not be chosen."""
    found = _URL.fullmatch(url) if len(url) <= _LONGEST and url.isascii() and url.isprintable() else None
    port = int((found and found[3]) or 443)
    if found is None or not 1 <= port <= 65535:
        raise Unprocessable(
            "expected a URL such as https://chat.example.com/hooks/1, without a user, a password or a fragment, of at"
            f" most {_LONGEST} ASCII characters"
        )
    is_secure, host = found[1].lower() == "https", found[2].lower()
    if not section.allows(host):
        raise Unprocessable(f"{host} is not among the hosts that are allowed: {', '.join(section.allowed_hosts)}")
    return Target(is_secure, host, port if found[3] or is_secure else 80)


class Resolver:
    """Asks the system."""

    def __call__(self, host: str, port: int) -> Sequence[str]:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return list(dict.fromkeys(str(address[0]) for *_, address in found))


def checked_addresses(target: Target, section: ProjectWebhookSettings, ask: Resolve) -> list[str]:
    """Returns the addresses of a host, if all of them are allowed. Raises `Unprocessable`, in words that do not tell
    what they are."""
    try:
        addresses = [ipaddress.ip_address(text) for text in ask(target.host, target.port)]
    except (OSError, ValueError):
        addresses = []
    if not addresses:
        raise Unprocessable(f"no address of {target.host} can be found")
    listed = [any(section.lists(form) for form in forms_of(address)) for address in addresses]
    if not all(known or all(map(is_public, forms_of(each))) for known, each in zip(listed, addresses, strict=True)):
        raise Unprocessable(f"{target.host} has an address that is not public, and that is not allowed here")
    if not target.is_secure and not all(listed):
        raise Unprocessable(
            f"{target.host} needs https: http is allowed only within networks that operators have named"
        )
    return list(map(str, addresses))


def forms_of(address: Address) -> list[Address]:
    """Returns an address; and the IPv4 address that it stands for, if it is one of IPv6 that leads to such a one."""
    if address.version == 4:
        return [address]
    inner = address.ipv4_mapped or address.sixtofour or (address.teredo or (None, None))[1]
    if inner is None:
        return [address]
    return [inner] if address.ipv4_mapped else [address, inner]


def is_public(address: Address) -> bool:
    """Returns whether an address is one of the internet."""
    is_special = (
        *(address.is_private, address.is_loopback, address.is_link_local, address.is_multicast),
        *(address.is_reserved, address.is_unspecified, address.version == 6 and address.is_site_local),
    )
    return address.is_global and not any(is_special)
