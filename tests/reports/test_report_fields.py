"""When a field of the reports is shown: what depends on configuration, scope, policy and other projects."""

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest

from limes.app.routes import RULES
from limes.auth.policy import Policy
from limes.catalog.catalog import BehaviorRule, Page, select
from limes.quota.queries import project_quotas_by_resource
from limes.reports.project_renderer import ProjectRenderer
from limes.reports.projects import ProjectDetails, report_projects_of_domain
from limes.reports.resources import RenderContext
from limes.usage.project_figures import ProjectFigures
from tests.api.world import BERLIN, DRESDEN, FRANCE, GERMANY, World, insert
from tests.commitments.commitments import NOW
from tests.quota.quotas import DOMAIN, PROJECT, resources
from tests.support.levels import few_of

CLUSTER = "/v1/clusters/current"
PREVIEW = {"X-Limes-V2-API-Preview": "per-az"}


QUOTAS, USAGES, OTHERS = (None, 0, 7, 2**62), (0, 9, 2**60), (None, None, 0, 5)


def change_at_random(world: World, random: Random) -> None:
    """Makes 40 more projects, and gives all what projects can have, or not."""
    engine = world.engine
    for number in range(40):
        row = {"uuid": f"{random.random()}", "name": f'"%s" \u20ac {number} %', "parent_uuid": ""}
        row["domain_id"] = random.choice((1, 1, 2))
        insert(engine, "projects", **row, has_bursting=random.random() < 0.3)
    projects = [id_ for (id_,) in engine.rows("SELECT id FROM projects")]
    resources = [id_ for (id_,) in engine.rows("SELECT id FROM resources")]
    engine.execute("DELETE FROM project_resources")
    engine.execute("DELETE FROM project_services")
    places = [*product(projects, resources)]
    for project, resource in random.sample(places, len(places)):
        quota = random.choice(QUOTAS)
        backend_quota = quota if random.random() < 0.7 else random.choice((-1, *QUOTAS))
        figures = {"quota": quota, "backend_quota": backend_quota, "usage": random.choice(USAGES)}
        others = {name: random.choice(OTHERS) for name in ("physical_usage", "max_backend_quota")}
        if random.random() < 0.2:
            figures |= others
        if random.random() < 0.9:
            insert(engine, "project_resources", project_id=project, resource_id=resource, **figures)
    for project, service in product(projects, (1, 2)):
        times = {"scraped_at": random.choice((None, NOW - 10.5, NOW - 20, NOW - 20.5)), "checked_at": NOW - 5}
        fine = {
            "is_stale": False,
            "scrape_error": random.choice(("", "", "down")),
            "push_failures": 0,
            "push_error": "",
        }
        if random.random() < 0.9:
            row = {"project_id": project, "service_id": service, "next_scrape_at": NOW}
            insert(engine, "project_services", **row, **times, **fine)


@pytest.mark.sql
@pytest.mark.parametrize("seed", few_of(range(12), 6))
def test_what_most_projects_have_is_written_as_all_else(make: Callable[..., World], seed: int) -> None:
    """Lists have a shorter way for projects, services and resources of which there is nothing special to say."""
    random = Random(seed)
    annotations = {"display_name": '100 % "sure" {}'}
    rules = [BehaviorRule(resource="compute/.*", annotations=annotations, commitment_durations=("1 year",))]
    if random.random() < 0.5:
        rules.append(BehaviorRule(resource="compute/ram", scope="germany/berlin", max_burst_multiplier=0.1))
    world = make(behaviors=rules, burst_multiplier=random.choice((0, 0.5)))
    world.engine.atomic(lambda: change_at_random(world, random))
    resource = random.choice((None, ["cores"], ["capacity", "cores"]))
    selection = select(world.limes.catalog, resources=resource)
    context = RenderContext(world.limes.catalog, NOW, stale_after=20)
    details = ProjectDetails(selection, stale_before=context.stale_before)
    page = random.choice((None, Page(20)))
    report = report_projects_of_domain(world.limes, GERMANY, details, page)
    for ids, *_ in report.figures.usual.values():  # so that few projects differ in what is where
        assert ids.split(",") == sorted(ids.split(","), key=int)
    short = b"".join(ProjectRenderer(context, selection).render(report))
    rows = {id_: project_quotas_by_resource(world.engine, id_, list(report.refs)) for id_ in report.projects}
    report.figures = ProjectFigures(report.figures.usual, rows)
    renderer = ProjectRenderer(context, selection)
    renderer._services = [
        service._replace(start="", columns=[column._replace(start="") for column in service.columns])
        for service in renderer._services
    ]
    assert short == b"".join(renderer.render(report))
    found = json.loads(b"[" + short + b"]")
    counted = [sum(len(service["resources"]) for service in project["services"]) for project in found]
    assert counted == [len(of_project) for of_project in rows.values()]


# -- configuration -----------------------------------------------------------------------------------------------------


def test_what_can_be_committed_is_shown_on_all_levels(make: Callable[..., World]) -> None:
    """The earliest date only while it is ahead."""
    rules = [
        BehaviorRule(resource="compute/cores", commitment_durations=("1 hour",), commitment_min_confirm_date=NOW + 60.9),
        BehaviorRule(resource="compute/(cores|gpus)", commitment_durations=("2 years",)),
    ]  # fmt: skip
    world = make(behaviors=rules)
    anywhere = {"availability_zones": ["any"]}
    durations = {"durations": ["1 hour", "2 years"]} | anywhere
    levels = (CLUSTER, DOMAIN, PROJECT, f"{DOMAIN}/projects", "/v1/projects")
    for path in levels:
        found = resources(world, path)
        assert found["cores"]["commitment_config"] == durations | {"min_confirm_by": NOW + 60}
        assert found["gpus"]["commitment_config"] == {"durations": ["2 years"]} | anywhere, "without quota, too"
        assert all("commitment_config" not in found[name] for name in ("ram", "capacity"))
    world.clock.advance(61)
    for path in levels:
        assert resources(world, path)["cores"]["commitment_config"] == durations


def test_annotations_are_those_of_the_scope(make: Callable[..., World]) -> None:
    def annotated(scope: str | None, **annotations: str) -> BehaviorRule:
        return BehaviorRule(resource="compute/cores", scope=scope, annotations=annotations)

    world = make(
        behaviors=[
            annotated(None, everywhere="1"),
            annotated("germany", domain="yes", both="first"),
            annotated("germany/berlin", project="yes"),
            annotated("germany|germany/.*", both="last"),
        ]
    )
    assert resources(world, DOMAIN)["cores"]["annotations"] == {"everywhere": "1", "domain": "yes", "both": "last"}
    assert resources(world, PROJECT)["cores"]["annotations"] == {"everywhere": "1", "project": "yes", "both": "last"}
    dresden = resources(world, f"{DOMAIN}/projects/{DRESDEN}")
    assert dresden["cores"]["annotations"] == {"everywhere": "1", "both": "last"}
    assert resources(world, f"/v1/domains/{FRANCE}")["cores"]["annotations"] == {"everywhere": "1"}
    assert "annotations" not in resources(world, CLUSTER)["cores"]


def test_lists_show_each_projects_own_annotations(make: Callable[..., World]) -> None:
    rule = BehaviorRule(resource="compute/cores", scope="germany/dresden", annotations={"only": "here"})
    world = make(behaviors=[rule])
    for path in (f"{DOMAIN}/projects", "/v1/projects"):
        berlin, dresden, *_ = world.get(f"{path}?resource=cores&service=compute")["projects"]
        found = [project["services"][0]["resources"][0].get("annotations") for project in (berlin, dresden)]
        assert found == [None, {"only": "here"}]


def test_scaling_is_shown_to_who_sets_quota(make: Callable[..., World]) -> None:
    world = make(behaviors=[BehaviorRule(resource="compute/ram", scales_with=("compute", "cores"), scaling_factor=2.5)])
    wanted = {"resource_name": "cores", "service_type": "compute", "factor": 2.5}
    for path in (DOMAIN, PROJECT):
        found = resources(world, path)
        assert (found["ram"]["scales_with"], "scales_with" in found["cores"]) == (wanted, False)
    assert "scales_with" not in resources(world, CLUSTER)["ram"]


# -- bursting ----------------------------------------------------------------------------------------------------------


@pytest.mark.sql
def test_domains_and_the_cluster_count_burst_usage_of_projects_that_may_not_burst(make: Callable[..., World]) -> None:
    """As soon as the cluster has bursting; the project itself shows none."""
    world = make(burst_multiplier=0.2)
    world.run("UPDATE project_resources SET usage = 33 WHERE quota IN (20, 30)")  # berlin's cores and dresden's
    assert resources(world, CLUSTER)["cores"]["burst_usage"] == 16
    assert resources(world, DOMAIN)["cores"]["burst_usage"] == 16
    assert "burst_usage" not in resources(world, DOMAIN)["ram"], "only above zero"
    assert "burst_usage" not in resources(world, CLUSTER)["ram"]
    project = resources(world, PROJECT)["cores"]
    assert "burst_usage" not in project
    assert project["usable_quota"] == project["quota"], "where nothing bursts, too"


def test_a_resource_that_does_not_burst_there_shows_no_burst_usage(make: Callable[..., World]) -> None:
    rule = BehaviorRule(resource="compute/cores", scope="germany(/.*)?", max_burst_multiplier=0)
    world = make(burst_multiplier=0.2, behaviors=[rule])
    world.run("UPDATE projects SET has_bursting = %s", [True])
    world.run("UPDATE project_resources SET usage = 2000 WHERE quota IN (20, 1024)")  # berlin's cores and ram
    for path in (DOMAIN, PROJECT):
        found = resources(world, path)
        assert ("burst_usage" in found["cores"], found["ram"]["burst_usage"]) == (False, 976)
    project = resources(world, PROJECT)
    assert (project["cores"]["usable_quota"], project["ram"]["usable_quota"]) == (20, 1228)
    world.run("UPDATE project_resources SET usage = 1024 WHERE quota = 1024")
    for path in (CLUSTER, DOMAIN, PROJECT):
        assert "burst_usage" not in resources(world, path)["ram"], "the quota itself is no burst"


# -- what backends measure ---------------------------------------------------------------------------------------------


@pytest.mark.sql
def test_a_physical_usage_of_zero_is_one(world: World) -> None:
    world.run("UPDATE project_resources SET physical_usage = 0 WHERE usage = 3")  # berlin's capacity
    for path in (CLUSTER, DOMAIN, PROJECT):
        assert resources(world, path)["capacity"]["physical_usage"] == 0


@pytest.mark.sql
def test_one_backend_without_limit_among_others(world: World) -> None:
    world.run("UPDATE project_resources SET backend_quota = -1 WHERE quota = 0")  # dresden's ram
    ram = resources(world, DOMAIN)["ram"]
    assert (ram["backend_quota"], ram["infinite_backend_quota"]) == (2048, True), "berlin's is the sum"
    assert "infinite_backend_quota" not in resources(world, DOMAIN)["cores"]


# -- capacity and AZs --------------------------------------------------------------------------------------------------


@pytest.mark.sql
def test_azs_come_in_order_and_what_was_reported_for_none_of_ours_last(make: Callable[..., World]) -> None:
    world = make(behaviors=[BehaviorRule(resource="compute/.*", overcommit_factor=1.5)])
    cores = "(SELECT id FROM resources WHERE name = 'cores')"
    world.run(f"DELETE FROM az_resources WHERE resource_id = {cores}")
    world.run(f"DELETE FROM project_az_resources WHERE resource_id = {cores} AND project_id = 1")
    for az, capacity in (("unknown", 2), ("az-two", 101), ("any", 3), ("az-one", 100)):
        world.run("INSERT INTO az_resources (resource_id, az, raw_capacity, usage, subcapacities)"
            f" VALUES ({cores}, %s, %s, 0, %s)", [az, capacity, f'["{az}"]'])  # fmt: skip
        world.run("INSERT INTO project_az_resources (project_id, resource_id, az, usage, subresources)"
            f" VALUES (1, {cores}, %s, %s, %s)", [az, 0 if az == "any" else 1, f'["{az}"]'])  # fmt: skip
    found = resources(world, CLUSTER, "detail", PREVIEW)["cores"]
    assert (found["capacity"], found["raw_capacity"]) == (309, 206)
    assert resources(world, CLUSTER)["ram"].items() >= {"capacity": 12288, "raw_capacity": 8192}.items()
    azs = [(az["name"], az["capacity"], az["raw_capacity"]) for az in found["per_availability_zone"]]
    assert azs == [("az-one", 150, 100), ("az-two", 151, 101), ("unknown", 3, 2)]
    in_order = ["any", "az-one", "az-two", "unknown"]
    assert list(found["per_az"]) == found["subcapacities"] == in_order
    assert [az["capacity"] for az in found["per_az"].values()] == [4, 150, 151, 3]
    assert list(resources(world, DOMAIN, headers=PREVIEW)["cores"]["per_az"]) == in_order[1:], "nobody uses `any`"
    project = resources(world, PROJECT, "detail", PREVIEW)["cores"]
    assert (list(project["per_az"]), project["subresources"]) == (in_order[1:], in_order)


def subcapacities(world: World, token: str) -> int:
    found = resources(world, CLUSTER, "detail", PREVIEW, token)["cores"]
    in_azs = sum(len(az.get("subcapacities", ())) for az in found["per_az"].values())
    assert in_azs == len(found.get("subcapacities", ()))
    return in_azs


@pytest.mark.parametrize(
    ("check", "seen"),
    [
        ("!", {"cloud-viewer": 2, "berlin-member": 0}),
        ("role:member and 'compute':%(service)s and 'cores':%(resource)s", {"cloud-viewer": 2, "berlin-member": 2}),
        ("role:member and 'ram':%(resource)s", {"cloud-viewer": 2, "berlin-member": 0}),
    ],
)
def test_who_sees_everything_sees_subcapacities(
    make: Callable[..., World], tmp_path: Path, check: str, seen: dict[str, int]
) -> None:
    """`cluster:show_subcapacity` is for the others, and is asked of each resource."""
    path = tmp_path / "policy.yaml"
    path.write_text(f'"cluster:show_subcapacity": "{check}"\n')
    world = make(policy=Policy(RULES, path))
    assert {token: subcapacities(world, token) for token in seen} == seen


# -- filters -----------------------------------------------------------------------------------------------------------


WHOLE = {"compute": ["cores", "gpus", "ram"], "volume": ["capacity"]}


@pytest.mark.parametrize(
    ("query", "services"),
    [
        ("", WHOLE),
        ("whatever=1", WHOLE),
        ("service=compute&service=volume", WHOLE),
        ("service=compute", {"compute": ["cores", "gpus", "ram"]}),
        ("service=&service=volume", {"volume": ["capacity"]}),
        ("service=", {}),
        ("service=unknown", {}),
        ("area=storage", {"volume": ["capacity"]}),
        ("area=storage&service=compute", {}),
        ("area=storage&area=compute&resource=capacity", {"compute": [], "volume": ["capacity"]}),
        ("resource=ram", {"compute": ["ram"], "volume": []}),
        ("resource=", {"compute": [], "volume": []}),
        ("service=compute&resource=cores&resource=unheard-of&limit=1", {"compute": ["cores"]}),
    ],
)
def test_filters(world: World, query: str, services: dict[str, Any]) -> None:
    lists = {"/v1/domains": FRANCE, f"{DOMAIN}/projects": BERLIN, "/v1/projects": BERLIN}
    for path in (CLUSTER, DOMAIN, PROJECT, *lists):
        found = next(iter(world.get(f"{path}?{query}").values()))
        if path in lists:
            found = found[0]
            assert found["id"] == lists[path]
        shown = {
            service["type"]: [resource["name"] for resource in service["resources"]] for service in found["services"]
        }
        assert (path, shown) == (path, services)


def test_filters_on_inconsistencies(world: World) -> None:
    def refs(query: str) -> list[Any]:
        lists = world.get(f"/v1/inconsistencies?{query}")["inconsistencies"]
        return [[f"{item['service']}/{item['resource']}" for item in found] for found in lists.values()]

    storage = [["volume/capacity"], [], ["volume/capacity"]]
    assert refs("area=storage") == refs("service=volume") == refs("resource=capacity&resource=nothing") == storage
    assert refs("area=compute") == [[], ["compute/cores"], ["compute/ram"]]
    assert refs("area=compute&service=volume") == refs("service=") == [[], [], []]


def test_a_domain_without_a_quota_yet_is_overcommitted_from_the_first_unit(world: World) -> None:
    world.run("DELETE FROM domain_resources WHERE quota = 100")  # germany's cores
    found = world.get("/v1/inconsistencies?resource=cores")["inconsistencies"]["domain_quota_overcommitted"]
    assert [(item["domain"]["name"], item["domain_quota"], item["projects_quota"]) for item in found] == [
        ("germany", 0, 50)
    ]


# -- links -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("catalog_url", "base"),
    [
        ("https://limes.example.com/resources/", "https://limes.example.com/resources"),
        ("", "http://falconframework.org"),
    ],
)
def test_versions_link_to_where_the_catalog_says_or_to_where_one_has_asked(
    make: Callable[..., World], catalog_url: str, base: str
) -> None:
    world = make(catalog_url=catalog_url)
    (listed,) = world.request("GET", "/", None).json["versions"]
    shown = world.request("GET", "/v1/", None).json["version"]
    for document in (listed, shown):
        assert (document["id"], document["status"], document["links"][0]["rel"]) == ("v1", "CURRENT", "self")
        assert [link["href"] for link in document["links"]] == [f"{base}/v1", f"{base}/v1/"]
