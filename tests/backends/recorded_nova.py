"""Nova as its API reference describes it (2.98: servers, server groups, quota sets), and the plugin `compute` for it."""

from typing import Any

from limes.backends import QuotaBackend
from tests.backends.conftest import load_quota
from tests.support.recorded import Asked, RecordedService

SMALL = {"original_name": "m1.small", "vcpus": 1, "ram": 2048, "disk": 20, "ephemeral": 0, "swap": 0, "extra_specs": {}}
HUGE = {**SMALL, "original_name": "hana", "vcpus": 96, "ram": 4_000_000, "disk": 64}
RESOURCES = ("cores", "instances", "ram", "server_groups", "server_group_members")


def server(
    ident: str, project: str, az: str = "az-one", flavor: dict[str, Any] = SMALL, **attributes: Any
) -> dict[Any, Any]:
    common = {"id": ident, "name": f"name of {ident}", "tenant_id": project, "status": "ACTIVE", "flavor": flavor}
    return common | {"OS-EXT-AZ:availability_zone": az, "metadata": {}, "tags": [], "image": ""} | attributes


class Nova:
    """Pages of two entries, whatever is asked for."""

    def __init__(self, newest: str = "2.100") -> None:
        self.newest = newest
        self.servers = [
            server("s1", "p1"),
            server("s2", "p1", "az-two", HUGE, image={"id": "i", "properties": {"os_type": "linux"}}, tags=["db"]),
            server("s3", "p2", "az-two"),
        ]
        self.groups = [("g1", "p1", ["s1"]), ("g2", "p2", []), ("g3", "p1", ["s1", "s2"]), ("g4", "p2", ["s3"])]
        self.limits = {}
        self.shelved = 0
        self.service = RecordedService(
            {
                ("GET", "/v2.1/?"): self.version,
                ("GET", "/v2.1/servers/detail"): self.list_servers,
                ("GET", "/v2.1/os-server-groups"): self.list_groups,
                ("GET", "/v2.1/os-quota-sets/(.+)/detail"): lambda request, project: (200, self.detail(project)),
                ("PUT", "/v2.1/os-quota-sets/([^/]+)"): self.put,
            }
        )

    def version(self, request: Asked) -> tuple[int, dict[str, Any]]:
        version = {"id": "v2.1", "status": "CURRENT", "version": self.newest, "min_version": "2.1"}
        return 200, {"version": version | {"links": [{"rel": "self", "href": f"{self.service.url}/v2.1/"}]}}

    def list_servers(self, request: Asked) -> tuple[int, dict[str, list[Any]]]:
        assert request.query["all_tenants"] == ["1"]
        project = request.query.get("project_id", [None])[0]
        found = [one for one in self.servers if project in (None, one["tenant_id"])]
        ids = [one["id"] for one in found]
        begin = ids.index(request.query["marker"][0]) + 1 if "marker" in request.query else 0
        document = {"servers": found[begin : begin + 2]}
        if begin + 2 < len(found):
            href = f"https://elsewhere.example/v2.1/servers/detail?limit=2&marker={found[begin + 1]['id']}"
            document["servers_links"] = [{"rel": "next", "href": href}]
        return 200, document

    def list_groups(self, request: Asked) -> tuple[int, dict[str, Any]]:
        assert request.query["all_projects"] == ["true"]
        begin = int(request.query["offset"][0])
        keys = ("id", "project_id", "members")
        return 200, {"server_groups": [dict(zip(keys, one, strict=True)) for one in self.groups[begin : begin + 2]]}

    def detail(self, project: str) -> dict[Any, Any]:
        own = [one for one in self.servers if one["tenant_id"] == project]
        flavors = [one.get("flavor", SMALL) for one in own][self.shelved :]
        usage = {
            "instances": len(own),
            "cores": sum(one["vcpus"] for one in flavors),
            "ram": sum(one["ram"] for one in flavors),
            "server_groups": sum(one[1] == project for one in self.groups),
            "server_group_members": 0,
        }
        limits = dict.fromkeys(RESOURCES, 10) | self.limits.get(project, {})
        entries = {name: {"in_use": usage[name], "limit": limits[name], "reserved": 0} for name in RESOURCES}
        return {"quota_set": {"id": project, **entries}}

    def put(self, request: Asked, project: str) -> tuple[int, dict[str, Any]]:
        quotas = dict(request.body["quota_set"])
        assert quotas.pop("force") is True
        self.limits.setdefault(project, {}).update(quotas)
        return 200, {"quota_set": quotas}


def load(url: str, **params: Any) -> QuotaBackend:
    params = {"endpoint": f"{url}/v2.1", "auth": {"type": "token", "token": "secret-token"}, "page_size": 2, **params}
    return load_quota("compute", params).quota["compute"]
