"""A running Nova with an image, flavors and hypervisors in aggregates, as an administrator and as a member of berlin see it."""

import time
from dataclasses import dataclass
from typing import Any

from keystoneauth1.adapter import Adapter
from keystoneauth1.identity import v3
from keystoneauth1.session import Session

from limes.backends import DomainInfo, ProjectInfo
from tests.support.keystone import RealKeystone

IMAGE = "i"
FLAVORS = {"m1.tiny": {"vcpus": 1, "ram": 512, "disk": 1}, "m1.wide": {"vcpus": 3, "ram": 2048, "disk": 100}}
AGGREGATES = {"vc-one": ("az-one", "host1"), "vc-two": ("az-two", "host2"), "other": ("az-two", "host3")}


@dataclass(frozen=True)
class NovaThings:
    """Ids of what all servers are made from."""

    image: str
    flavors: dict[str, str]


def make_things(keystone: RealKeystone) -> NovaThings:
    """Fills a Nova that has just started. The image needs a Glance in the catalog."""
    session = _session(keystone, "limes")
    admin = _nova(session)
    for name, (az, host) in AGGREGATES.items():
        make_aggregate(admin, name, az, host)
    flavors = {
        name: admin.post("/flavors", json={"flavor": {"name": name, **attributes}}).json()["flavor"]["id"]
        for name, attributes in FLAVORS.items()
    }
    glance = Adapter(session, service_type="image")
    attributes = {"name": IMAGE, "disk_format": "raw", "container_format": "bare", "visibility": "public"}
    image = glance.post("/v2/images", json={**attributes, "os_type": "linux"}).json()["id"]
    glance.put(f"/v2/images/{image}/file", data=b"x", headers={"Content-Type": "application/octet-stream"})
    return NovaThings(image, flavors)


def make_aggregate(admin: Adapter, name: str, az: str, host: str) -> None:
    """Makes an aggregate in an AZ, with one host."""
    aggregate = {"name": name, "availability_zone": az}
    made = admin.post("/os-aggregates", json={"aggregate": aggregate}).json()["aggregate"]["id"]
    admin.post(f"/os-aggregates/{made}/action", json={"add_host": {"host": host}})


class NovaCloud:
    """What tests do with Nova."""

    def __init__(self, keystone: RealKeystone, things: NovaThings) -> None:
        self.session = _session(keystone, "limes")
        self.admin = _nova(self.session)
        self.member = _nova(_session(keystone, "berlin-member", "berlin"))
        self.image, self.flavors = things.image, things.flavors

    def boot(self, name: str, az: str, flavor: str = "m1.tiny", group: str | None = None) -> Any:
        """The answer to the request for a server in berlin; waits until it is there."""
        server = {"name": name, "flavorRef": self.flavors[flavor], "imageRef": self.image, "networks": "none"}
        document: dict[str, Any] = {
            "server": {**server, "availability_zone": az, "tags": ["web"], "metadata": {"a": "b"}}
        }
        if group:
            document["os:scheduler_hints"] = {"group": group}
        answer = self.member.post("/servers", json=document, raise_exc=False)
        if answer.status_code == 202:
            self.wait(answer.json()["server"]["id"], "ACTIVE")
        return answer

    def wait(self, server: str, wanted: str | None) -> None:
        """Until the server has that status; None: until it is gone."""
        deadline = time.monotonic() + 240
        while (status := self.status(server)) != wanted:
            assert status != "ERROR"
            assert time.monotonic() < deadline, f"the server is {status} and not {wanted}"
            time.sleep(0.2)

    def status(self, server: str) -> str | None:
        """The status of a server; None if there is none."""
        answer = self.admin.get(f"/servers/{server}", raise_exc=False)
        return None if answer.status_code == 404 else str(answer.json()["server"]["status"])

    def clear(self) -> None:
        """Deletes all servers of all projects, and berlin's groups."""
        while servers := self.admin.get("/servers?all_tenants=1&limit=2").json()["servers"]:
            for one in servers:
                self.admin.delete(f"/servers/{one['id']}", raise_exc=False)
            for one in servers:
                self.wait(one["id"], None)
        while groups := self.member.get("/os-server-groups").json()["server_groups"]:
            for one in groups:
                self.member.delete(f"/os-server-groups/{one['id']}")

    def project(self, keystone: RealKeystone, name: str) -> ProjectInfo:
        """A project as plugins know it."""
        return ProjectInfo(keystone.ids.projects[name], name, "x", DomainInfo("x", "north"))


def _session(keystone: RealKeystone, user: str, project: str = "service") -> Session:
    return Session(v3.Password(**keystone.credentials(user, project)))


def _nova(session: Session) -> Adapter:
    return Adapter(session, service_type="compute", default_microversion="2.98")
