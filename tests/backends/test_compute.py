"""The plugin `compute` against recorded shapes of Nova's API reference (2.98: servers, server groups, quota sets), for what a
single real Nova does not do: changes between two requests, cells that are down, answers that are wrong.

`test_nova.py` has the real Nova.
"""

import pytest

from limes.backends import BackendError, ConfigError, ResourceDef, Unit
from tests.backends.compute_cases import ComputeContract, report, usage
from tests.backends.conftest import load_quota
from tests.support.processes import free_port
from tests.support.recorded import RecordedService

SMALL = {"original_name": "m1.small", "vcpus": 1, "ram": 2048, "disk": 20, "ephemeral": 0, "swap": 0, "extra_specs": {}}
HUGE = {**SMALL, "original_name": "hana", "vcpus": 96, "ram": 4_000_000, "disk": 64}
RESOURCES = ("cores", "instances", "ram", "server_groups", "server_group_members")


def server(ident, project, az="az-one", flavor=SMALL, **attributes):
    common = {"id": ident, "name": f"name of {ident}", "tenant_id": project, "status": "ACTIVE", "flavor": flavor}
    return common | {"OS-EXT-AZ:availability_zone": az, "metadata": {}, "tags": [], "image": ""} | attributes


class Nova:
    """Pages of two entries, whatever is asked for."""

    def __init__(self, newest="2.100"):
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

    def version(self, request):
        version = {"id": "v2.1", "status": "CURRENT", "version": self.newest, "min_version": "2.1"}
        return 200, {"version": version | {"links": [{"rel": "self", "href": f"{self.service.url}/v2.1/"}]}}

    def list_servers(self, request):
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

    def list_groups(self, request):
        assert request.query["all_projects"] == ["true"]
        begin = int(request.query["offset"][0])
        keys = ("id", "project_id", "members")
        return 200, {"server_groups": [dict(zip(keys, one, strict=True)) for one in self.groups[begin : begin + 2]]}

    def detail(self, project):
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

    def put(self, request, project):
        quotas = dict(request.body["quota_set"])
        assert quotas.pop("force") is True
        self.limits.setdefault(project, {}).update(quotas)
        return 200, {"quota_set": quotas}


@pytest.fixture
def nova():
    fake = Nova()
    yield fake
    fake.service.close()


def load(url, **params):
    params = {"endpoint": f"{url}/v2.1", "auth": {"type": "token", "token": "secret-token"}, "page_size": 2, **params}
    return load_quota("compute", params).quota["compute"]


class TestCompute(ComputeContract):
    @pytest.fixture
    def backend(self, nova):
        return load(nova.service.url, flavors={"hana": {}}, bigvm_min_memory=1_000_000, with_subresources=True)

    @pytest.fixture
    def broken_backend(self):
        return load(f"http://127.0.0.1:{free_port()}")

    def test_usage_by_az(self, backend, project):
        assert usage(backend, project) == {
            "cores": {"az-one": 1, "az-two": 96},
            "cores_regular": {"az-one": 1},
            "cores_bigvm": {"az-two": 96},
            "instances": {"az-one": 1, "az-two": 1},
            "instances_regular": {"az-one": 1},
            "instances_bigvm": {"az-two": 1},
            "instances_hana": {"az-two": 1},
            "ram": {"az-one": 2048, "az-two": 4_000_000},
            "ram_regular": {"az-one": 2048},
            "ram_bigvm": {"az-two": 4_000_000},
            "server_groups": {"any": 2},
            "server_group_members": {"any": 2},
        }

    def test_subresources(self, backend, project):
        found = report(backend, project)
        [attributes] = found["instances"].per_az["az-two"].subresources
        assert attributes == {
            "id": "s2",
            "name": "name of s2",
            "status": "ACTIVE",
            "availability_zone": "az-two",
            "metadata": {},
            "tags": ["db"],
            "flavor": "hana",
            "vcpu": 96,
            "ram": {"value": 4_000_000, "unit": "MiB"},
            "disk": {"value": 64, "unit": "GiB"},
            "os_type": "linux",
        }
        assert found["instances_hana"].per_az["az-two"].subresources == (attributes,)
        assert {"os_type"} == set(attributes) - set(found["instances"].per_az["az-one"].subresources[0])
        assert all(not az.subresources for name in ("cores", "instances_bigvm") for az in found[name].per_az.values())


def test_servers_and_groups_are_listed_once_for_all_projects(nova, project, other_project, new_project):
    backend = load(nova.service.url)
    for one in (project, other_project, new_project, project):
        usage(backend, one)
    assert nova.service.count("GET", "/v2.1/servers/detail") == 2  # pages
    assert nova.service.count("GET", "/v2.1/os-server-groups") == 4  # pages, each with the last of the one before
    assert {one.headers["OpenStack-API-Version"] for one in nova.service.asked if "detail" in one.path} == {
        "compute 2.98"
    }


def test_a_project_whose_servers_have_changed_is_listed_anew(nova, project, other_project):
    backend = load(nova.service.url)
    assert usage(backend, project)["instances"] == {"az-one": 1, "az-two": 1}
    nova.servers += [server("s4", "p1"), server("s5", "p1", "az-two")]
    assert usage(backend, project)["instances"] == {"az-one": 2, "az-two": 2}
    del nova.servers[:2]
    assert usage(backend, project)["instances"] == {"az-one": 1, "az-two": 1}
    asked = len(nova.service.asked)
    usage(backend, other_project)
    assert [one.path for one in nova.service.asked[asked:]] == ["/v2.1/os-quota-sets/p2/detail"]


def test_a_project_without_servers_needs_no_list(nova, new_project):
    assert usage(load(nova.service.url), new_project)["instances"] == {}
    assert nova.service.count("GET", "/v2.1/servers/detail") == 0


def test_a_list_for_each_project(nova, project, other_project):
    backend = load(nova.service.url, list_servers="by_project")
    assert usage(backend, project)["cores"] == {"az-one": 1, "az-two": 96}
    assert usage(backend, other_project)["cores"] == {"az-two": 1}
    lists = [one.query["project_id"] for one in nova.service.asked if one.path == "/v2.1/servers/detail"]
    assert lists == [["p1"], ["p2"]]


def test_what_servers_do_not_explain_is_unknown(nova, project):
    down = {"id": "s4", "tenant_id": "p1", "status": "UNKNOWN", "created": "2026-01-01T00:00:00Z", "links": []}
    nova.servers += [down, server("s5", "p1", az=""), server("s6", "p1", az="az-of-others")]
    backend = load(nova.service.url)
    found = usage(backend, project)
    assert usage(backend, project) == found
    assert found["instances"] == {"az-one": 1, "az-two": 1, "unknown": 3}
    assert not [one for one in nova.service.asked if "project_id" in one.query]
    assert found["ram"] == {"az-one": 2048, "az-two": 4_000_000, "unknown": 3 * 2048}


def test_never_more_than_nova_counts(nova, project):
    """With unified limits a shelved server has no cores."""
    nova.servers.append(server("s0", "p1", az="", status="SHELVED_OFFLOADED"))
    nova.servers.insert(0, nova.servers.pop())
    nova.shelved = 1
    found = usage(load(nova.service.url), project)
    assert found["instances"] == {"az-one": 1, "az-two": 1, "unknown": 1}
    assert found["cores"] == {"az-one": 1, "az-two": 96}


def test_groups_that_change_while_they_are_listed(nova, project):
    list_groups = nova.list_groups
    removed = []

    def change_once(request):
        answer = list_groups(request)
        if not removed:
            removed.append(nova.groups.pop(0))
        return answer

    nova.service.routes["GET", "/v2.1/os-server-groups"] = change_once
    assert usage(load(nova.service.url), project)["server_group_members"] == {"any": 2}


def test_groups_that_always_change(nova, project):
    def change(request):
        nova.groups.insert(0, (f"g{len(nova.groups) + 1}", "p9", []))
        return nova.list_groups(request)

    nova.service.routes["GET", "/v2.1/os-server-groups"] = change
    with pytest.raises(BackendError, match="the list changes while it is read"):
        report(load(nova.service.url), project)


def test_a_nova_that_is_too_old(nova, project):
    nova.newest = "2.42"
    with pytest.raises(BackendError, match=r"this Nova goes up to 2\.42, but at least 2\.47 is needed"):
        report(load(nova.service.url), project)


@pytest.mark.parametrize(
    ("path", "answer", "message"),
    [
        ("servers/detail", (403, {"forbidden": {"code": 403, "message": "no"}}), "Nova refuses the user of Limes with 403: no"),
        ("servers/detail", (200, {"servers": [{"id": "s", "flavor": {}}]}), "server s: expected a tenant_id"),
        ("servers/detail", (200, {"servers": [{"id": "s", "tenant_id": "p1"}]}), "server s: expected a flavor"),
        (
            "servers/detail",
            (200, {"servers": [server("s", "p1", flavor={**SMALL, "ram": "much"})]}),
            "server s: the RAM is 'much'",
        ),
        ("os-server-groups", (200, {"server_groups": None}), "expected a list 'server_groups'"),
        ("os-server-groups", (200, {"server_groups": [{"id": "g"}]}), "group g: expected a project_id"),
        ("os-quota-sets/p1/detail", (200, {"quota_set": {"id": "p1"}}), "Nova says nothing of 'cores'"),
        (
            "os-quota-sets/p1/detail",
            (400, {"badRequest": {"code": 400, "message": "Project ID p1 is not a valid project."}}),
            "Project ID {project_id} is not a valid project",
        ),
        ("os-quota-sets/p1/detail", (503, b"busy"), "Nova answered with 503"),
    ],
)  # fmt: skip
def test_errors_say_what_is_wrong(nova, project, path, answer, message):
    wrong = {("GET", f"/v2.1/{path}"): lambda request: answer}
    nova.service.routes = {**wrong, **nova.service.routes, **wrong}  # the first that fits answers
    with pytest.raises(BackendError) as error:
        report(load(nova.service.url), project)
    assert message in str(error.value)
    assert "secret-token" not in str(error.value)


class Glance:
    """Images of Linux and of Windows, and one that was deleted."""

    def __init__(self):
        self.images = {"i-lin": {"os_type": "linux"}, "i-win": {"vmware_ostype": "windows9", "os_distro": "x"}, "i": {}}
        self.service = RecordedService({("GET", "/v2/images/(.+)"): self.show})

    def show(self, request, image):
        if image not in self.images:
            return 404, b"<html>No image found"
        return 200, {"id": image, "name": "an image", **self.images[image]}


@pytest.fixture
def glance():
    fake = Glance()
    yield fake
    fake.service.close()


def instances(backend, project):
    """The attributes of a project's servers, by id."""
    found = report(backend, project)["instances"].per_az.values()
    return {one["id"]: one for az in found for one in az.subresources}


class TestOperatingSystemsBeforeEpoxy:
    """Such a Nova tells the id of an image, and not its properties."""

    @pytest.fixture
    def backend(self, nova, glance):
        nova.newest = "2.97"
        images = ("i-lin", "i-win", "gone", "i", "i-lin")
        nova.servers = [server(f"s{number}", "p1", image={"id": image}) for number, image in enumerate(images)]
        nova.servers.append(server("volume", "p1", image=""))
        connection = {"endpoint": glance.service.url, "auth": {"type": "token", "token": "secret-token"}}
        return load(nova.service.url, with_subresources=True, images=connection, max_age=0)

    def test_glance_knows_them(self, backend, glance, project):
        for _ in range(2):
            found = {id_: one.get("os_type") for id_, one in instances(backend, project).items()}
            assert found == {"s0": "linux", "s1": "windows9", "s2": None, "s3": None, "s4": "linux", "volume": None}
        assert len(glance.service.asked) == 4, "once for each image"

    def test_without_glance_all_else_is_reported(self, backend, glance, project, caplog):
        glance.service.routes = {("GET", ".*"): lambda request: (503, b"busy")}
        assert [one.get("os_type") for one in instances(backend, project).values()] == [None] * 6
        assert len(glance.service.asked) == 1
        assert "the operating systems of servers are not known for now: GET /v2/images/i-lin: Glance" in caplog.text


def test_types_of_hypervisors(nova, project):
    specs = {"extra_specs": {"capabilities:cpu_arch": "metal"}}
    nova.servers = [
        server("s1", "p1"),
        server("s2", "p1", flavor=HUGE),
        server("s3", "p1", flavor={**HUGE, **specs}),
        server("s4", "p1", flavor={**SMALL, "original_name": "other"}),
    ]
    rules = [
        {"match": "extra-spec:capabilities:cpu_arch", "pattern": ".", "type": "none"},
        {"match": "flavor-name", "pattern": "^m1", "type": "kvm"},
        {"match": "flavor-name", "pattern": "hana", "type": "vmware"},
    ]
    backend = load(nova.service.url, with_subresources=True, hypervisor_type_rules=rules)
    found = {id_: one["hypervisor"] for id_, one in instances(backend, project).items()}
    assert found == {"s1": "kvm", "s2": "vmware", "s3": "none", "s4": "unknown"}


def test_resources():
    backend = load("http://127.0.0.1:9", flavors={"gold": {"category": "metal", "aliases": ["old"]}})
    assert backend.describe().resources == {
        "cores": ResourceDef("cores", az_aware=True),
        "instances": ResourceDef("instances", az_aware=True),
        "ram": ResourceDef("ram", Unit.MIB, az_aware=True),
        "instances_gold": ResourceDef(
            "instances_gold", category="metal", contained_in="instances", tracks_quota=False, az_aware=True
        ),
        "server_groups": ResourceDef("server_groups"),
        "server_group_members": ResourceDef("server_group_members"),
    }


def test_a_flavor_with_a_limit_is_no_part_of_another():
    quota = {"store": "keystone_limits", "limit_names": {"instances_gold": "class:CUSTOM_GOLD"}}
    resources = load("http://127.0.0.1:9", flavors={"gold": {}}, quota=quota).describe().resources
    assert {name for name, one in resources.items() if one.tracks_quota} == {
        "cores",
        "instances",
        "ram",
        "instances_gold",
    }
    assert resources["instances_gold"].contained_in == ""


def test_aliases_are_the_same_flavor(nova, project):
    backend = load(nova.service.url, flavors={"big": {"aliases": ["hana", "other"]}})
    assert usage(backend, project)["instances_big"] == {"az-two": 1}


@pytest.mark.parametrize(
    ("params", "problem"),
    [
        ({"page_size": 1}, ".page_size: Input should be greater than or equal to 2"),
        ({"flavors": {"a": {"aliases": ["b"]}, "b": {}}}, ".flavors: the flavor b is given to more than one resource"),
        ({"flavors": {"a/b": {}}}, "expected a name without slashes and blanks"),
        ({"quota": {"store": "nova"}}, ".quota.store: Input should be 'quota_sets' or 'keystone_limits'"),
        ({"quota": {"region_id": "r"}}, ".quota: the other keys go with the store 'keystone_limits' only"),
        (
            {"quota": {"store": "keystone_limits", "limit_names": {"instances_x": "y"}}},
            "quota.limit_names: there is no resource 'instances_x'",
        ),
        (
            {"hypervisor_type_rules": [{"match": "image", "pattern": "a", "type": "b"}]},
            ".hypervisor_type_rules[0].match: String should match pattern",
        ),
        (
            {"hypervisor_type_rules": [{"match": "flavor-name", "pattern": "(", "type": "b"}]},
            ".hypervisor_type_rules[0].pattern: is not a regular expression",
        ),
        ({"bigvm_min_memory": 0}, ".bigvm_min_memory: Input should be greater than 0"),
        ({"list_servers": "never"}, ".list_servers: Input should be 'together' or 'by_project'"),
    ],
)
def test_params_that_are_refused(params, problem):
    with pytest.raises(ConfigError) as error:
        load("http://127.0.0.1:9", **params)
    assert problem in str(error.value)
