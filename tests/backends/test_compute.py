"""The plugin `compute` against recorded shapes of Nova's API reference (2.98: servers, server groups, quota sets), for what a
single real Nova does not do: changes between two requests, cells that are down, answers that are wrong.

`test_nova.py` has the real Nova.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from limes.backends import BackendError, ConfigError, ProjectInfo, QuotaBackend, ResourceDef, Unit
from tests.backends.quota_cases import QuotaCases, report, usage
from tests.backends.recorded_nova import SMALL, Nova, load, server
from tests.support.processes import free_port
from tests.support.recorded import Asked


@pytest.fixture
def nova() -> Iterator[Nova]:
    fake = Nova()
    yield fake
    fake.service.close()


class TestCompute(QuotaCases):
    @pytest.fixture
    def backend(self, nova: Nova) -> QuotaBackend:
        return load(nova.service.url, flavors={"hana": {}}, bigvm_min_memory=1_000_000, with_subresources=True)

    @pytest.fixture
    def broken_backend(self) -> QuotaBackend:
        return load(f"http://127.0.0.1:{free_port()}")

    def test_usage_by_az(self, backend: QuotaBackend, project: ProjectInfo) -> None:
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

    def test_subresources(self, backend: QuotaBackend, project: ProjectInfo) -> None:
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


def test_servers_and_groups_are_listed_once_for_all_projects(
    nova: Nova, project: ProjectInfo, other_project: ProjectInfo, new_project: ProjectInfo
) -> None:
    backend = load(nova.service.url)
    for one in (project, other_project, new_project, project):
        usage(backend, one)
    assert nova.service.count("GET", "/v2.1/servers/detail") == 2  # pages
    assert nova.service.count("GET", "/v2.1/os-server-groups") == 4  # pages, each with the last of the one before
    assert {one.headers["OpenStack-API-Version"] for one in nova.service.asked if "detail" in one.path} == {
        "compute 2.98"
    }


def test_a_project_whose_servers_have_changed_is_listed_anew(
    nova: Nova, project: ProjectInfo, other_project: ProjectInfo
) -> None:
    backend = load(nova.service.url)
    assert usage(backend, project)["instances"] == {"az-one": 1, "az-two": 1}
    nova.servers += [server("s4", "p1"), server("s5", "p1", "az-two")]
    assert usage(backend, project)["instances"] == {"az-one": 2, "az-two": 2}
    del nova.servers[:2]
    assert usage(backend, project)["instances"] == {"az-one": 1, "az-two": 1}
    asked = len(nova.service.asked)
    usage(backend, other_project)
    assert [one.path for one in nova.service.asked[asked:]] == ["/v2.1/os-quota-sets/p2/detail"]


def test_a_project_without_servers_needs_no_list(nova: Nova, new_project: ProjectInfo) -> None:
    assert usage(load(nova.service.url), new_project)["instances"] == {}
    assert nova.service.count("GET", "/v2.1/servers/detail") == 0


def test_a_list_for_each_project(nova: Nova, project: ProjectInfo, other_project: ProjectInfo) -> None:
    backend = load(nova.service.url, list_servers="by_project")
    assert usage(backend, project)["cores"] == {"az-one": 1, "az-two": 96}
    assert usage(backend, other_project)["cores"] == {"az-two": 1}
    lists = [one.query["project_id"] for one in nova.service.asked if one.path == "/v2.1/servers/detail"]
    assert lists == [["p1"], ["p2"]]


def test_what_servers_do_not_explain_is_unknown(nova: Nova, project: ProjectInfo) -> None:
    down = {"id": "s4", "tenant_id": "p1", "status": "UNKNOWN", "created": "2026-01-01T00:00:00Z", "links": []}
    nova.servers += [down, server("s5", "p1", az=""), server("s6", "p1", az="az-of-others")]
    backend = load(nova.service.url)
    found = usage(backend, project)
    assert usage(backend, project) == found
    assert found["instances"] == {"az-one": 1, "az-two": 1, "unknown": 3}
    assert not [one for one in nova.service.asked if "project_id" in one.query]
    assert found["ram"] == {"az-one": 2048, "az-two": 4_000_000, "unknown": 3 * 2048}


def test_never_more_than_nova_counts(nova: Nova, project: ProjectInfo) -> None:
    """With unified limits a shelved server has no cores."""
    nova.servers.append(server("s0", "p1", az="", status="SHELVED_OFFLOADED"))
    nova.servers.insert(0, nova.servers.pop())
    nova.shelved = 1
    found = usage(load(nova.service.url), project)
    assert found["instances"] == {"az-one": 1, "az-two": 1, "unknown": 1}
    assert found["cores"] == {"az-one": 1, "az-two": 96}


def test_groups_that_change_while_they_are_listed(nova: Nova, project: ProjectInfo) -> None:
    list_groups = nova.list_groups
    removed = []

    def change_once(request: Asked) -> tuple[int, dict[str, Any]]:
        answer = list_groups(request)
        if not removed:
            removed.append(nova.groups.pop(0))
        return answer

    nova.service.routes["GET", "/v2.1/os-server-groups"] = change_once
    assert usage(load(nova.service.url), project)["server_group_members"] == {"any": 2}


def test_groups_that_always_change(nova: Nova, project: ProjectInfo) -> None:
    def change(request: Asked) -> tuple[int, dict[str, Any]]:
        nova.groups.insert(0, (f"g{len(nova.groups) + 1}", "p9", []))
        return nova.list_groups(request)

    nova.service.routes["GET", "/v2.1/os-server-groups"] = change
    with pytest.raises(BackendError, match="the list changes while it is read"):
        report(load(nova.service.url), project)


def test_a_nova_that_is_too_old(nova: Nova, project: ProjectInfo) -> None:
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
def test_errors_say_what_is_wrong(
    nova: Nova, project: ProjectInfo, path: str, answer: tuple[Any, ...], message: str
) -> None:
    wrong = {("GET", f"/v2.1/{path}"): lambda request: answer}
    nova.service.routes = {**wrong, **nova.service.routes, **wrong}  # the first that fits answers
    with pytest.raises(BackendError) as error:
        report(load(nova.service.url), project)
    assert message in str(error.value)
    assert "secret-token" not in str(error.value)


def test_resources() -> None:
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


def test_a_flavor_with_a_limit_is_no_part_of_another() -> None:
    quota = {"store": "keystone_limits", "limit_names": {"instances_gold": "class:CUSTOM_GOLD"}}
    resources = load("http://127.0.0.1:9", flavors={"gold": {}}, quota=quota).describe().resources
    assert {name for name, one in resources.items() if one.tracks_quota} == {
        "cores",
        "instances",
        "ram",
        "instances_gold",
    }
    assert resources["instances_gold"].contained_in == ""


def test_aliases_are_the_same_flavor(nova: Nova, project: ProjectInfo) -> None:
    backend = load(nova.service.url, flavors={"big": {"aliases": ["hana", "other"]}})
    assert usage(backend, project)["instances_big"] == {"az-two": 1}


@pytest.mark.parametrize(
    ("params", "problem"),
    [
        ({"page_size": 1}, ".page_size: expected at least 2"),
        ({"flavors": {"a": {"aliases": ["b"]}, "b": {}}}, ".flavors: the flavor b is given to more than one resource"),
        ({"flavors": {"a/b": {}}}, "expected a name without slashes and blanks"),
        ({"quota": {"store": "nova"}}, ".quota.store: expected 'quota_sets' or 'keystone_limits'"),
        ({"quota": {"region_id": "r"}}, ".quota: the other keys go with the store 'keystone_limits' only"),
        (
            {"quota": {"store": "keystone_limits", "limit_names": {"instances_x": "y"}}},
            "quota.limit_names: there is no resource 'instances_x'",
        ),
        (
            {"hypervisor_type_rules": [{"match": "image", "pattern": "a", "type": "b"}]},
            ".hypervisor_type_rules[0].match: expected something that matches",
        ),
        (
            {"hypervisor_type_rules": [{"match": "flavor-name", "pattern": "(", "type": "b"}]},
            ".hypervisor_type_rules[0].pattern: is not a regular expression",
        ),
        ({"bigvm_min_memory": 0}, ".bigvm_min_memory: expected more than 0"),
        ({"list_servers": "never"}, ".list_servers: expected 'together' or 'by_project'"),
    ],
)
def test_params_that_are_refused(params: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigError) as error:
        load("http://127.0.0.1:9", **params)
    assert problem in str(error.value)
