"""The client's address, if our proxies are in between."""

import ipaddress
import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import falcon

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Header = Literal["X-Forwarded-For", "Forwarded"]

_FOR = re.compile(r"""(?i)(?:^|;)\s*for\s*=\s*(?:"([^"]*)"|([^\s;,"]+))""")
_ELEMENT = re.compile(r"""(?:[^,"]|"[^"]*")+""")
_MOST_HOPS = 50


class ClientAddress:
    """Middleware that comes first: after it `req.remote_addr` is the client's address. The header is believed as far as
    trusted proxies have written it: from its end, up to the first address that is not one of theirs. What clients claim
    comes before that."""

    def __init__(self, trusted: Sequence[str] = (), header: Header = "X-Forwarded-For") -> None:
        """`trusted` are addresses and networks."""
        self._trusted = [ipaddress.ip_network(network, strict=False) for network in trusted]
        self._variable = f"HTTP_{header.upper().replace('-', '_')}"
        self._hops = _forwarded if header == "Forwarded" else _x_forwarded_for

    def process_request(self, req: falcon.Request, resp: falcon.Response) -> None:
        """Replaces the peer's address, if it is a trusted proxy's."""
        if self._trusted and self._variable in req.env and req.env.get("REMOTE_ADDR"):
            req.env["REMOTE_ADDR"] = self.of(req.env)

    def of(self, environ: dict[str, Any]) -> str:
        peer = str(environ.get("REMOTE_ADDR") or "")
        client = _address(peer)
        for hop in self._hops(str(environ.get(self._variable, ""))):
            before = _address(hop) if client is not None and self._is_trusted(client) else None
            if before is None:
                break
            client = before
        return str(client) if client is not None else peer

    def _is_trusted(self, address: Address) -> bool:
        return any(address in network for network in self._trusted)


def _x_forwarded_for(header: str) -> Iterator[str]:
    yield from header.split(",")[: -_MOST_HOPS - 1 : -1]


def _forwarded(header: str) -> Iterator[str]:
    for element in _ELEMENT.findall(header)[: -_MOST_HOPS - 1 : -1]:
        match = _FOR.search(element)
        yield (match[1] or match[2] or "") if match else ""


def _address(text: str) -> Address | None:
    """Returns the address in `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1` or `[2001:db8::1]:80`; else None."""
    text = text.strip()
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address
