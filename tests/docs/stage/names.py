"""What the guide to two hosts says of addresses, ports and passwords, and what there is here."""

from tests.support.processes import free_port

HOSTS = {"limes1": "127.0.0.1", "limes2": "127.0.0.2"}
NOVA_PASSWORD = "of-nova"


class Ports:
    """Those of the guide, and those that take their place. The two hosts have different addresses and the same ports."""

    def __init__(self) -> None:
        self.api, self.placement, self.collector = free_port(), free_port(), free_port()
        self.proxy_api, self.proxy_placement, self.state = free_port(), free_port(), free_port()
        self.nova = free_port()


def names_of_all(ports: Ports, keystone_url: str, database_port: int) -> dict[str, str]:
    """What the guide says, and what it is here. Longer texts come before those that are part of them."""
    names = {
        "https://cloud.example.com:5000": keystone_url.removesuffix("/v3"),
        "listen_addresses = 'localhost, 192.0.2.20'": "listen_addresses = '127.0.0.1'",
        "db.example.com:5432": f"localhost:{database_port}",
        "DNS:$name.example.com": "DNS:localhost",
        "127.0.0.1:8404": f"127.0.0.1:{ports.state}",
        "workers: 4": "workers: 1",
        "NOVA_PASSWORD": NOVA_PASSWORD,
        "    user haproxy\n    group haproxy\n    chroot /var/lib/haproxy\n": "",
        "log /dev/log local0": "log stdout format raw local0",
    }
    for shown, behind, before in ((8080, ports.api, ports.proxy_api), (8778, ports.placement, ports.proxy_placement)):
        names |= {f"cloud.example.com:{shown}": f"localhost:{before}", f"192.0.2.10:{shown}": f"127.0.0.1:{before}"}
        names |= {
            f"192.0.2.1{number}:{shown}": f"{address}:{behind}" for number, address in enumerate(HOSTS.values(), 1)
        }
    return names | {"192.0.2.11/32": "127.0.0.1/32", "192.0.2.12/32": "127.0.0.2/32", "192.0.2.10": "127.0.0.1"}


def names_of_host(ports: Ports, address: str) -> dict[str, str]:
    """The same for one of the two hosts: it listens on an address of its own."""
    listening = (ports.api, ports.placement, ports.collector)
    return {
        "listen: 0.0.0.0:8080": f"listen: {address}:{ports.api}",
        "listen: 0.0.0.0:8778": f"listen: {address}:{ports.placement}",
        "listen: 0.0.0.0:8081": f"listen: {address}:{ports.collector}\n  scrape_retry: 2\n  capacity_retry: 2",
        "for port in 8080 8778 8081": f"for port in {' '.join(map(str, listening))}",
        "localhost:$port": f"{address}:$port",
    }
