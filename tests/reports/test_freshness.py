"""Old figures are never shown as if they were fresh."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.api.world import BERLIN, DRESDEN, FRANCE, GERMANY, PARIS, World
from tests.quota.quotas import body
from tests.requests.quota_requests import PATHS

FRESH = {"is_stale": None, "age_seconds": None}


def marks(document: Any) -> dict[Any, Any]:
    return {key: document.get(key) for key in FRESH}


def stale(age: int) -> dict[Any, Any]:
    return {"is_stale": True, "age_seconds": age}


@pytest.fixture
def world(make: Callable[..., World]) -> World:
    """Figures of compute are 100 s old in berlin and 7201 s in dresden; those of volume and the capacity are new."""
    world = make(stale_after=7200)
    now = world.clock.now().timestamp()
    for project, service, age in ((1, "compute", 100), (2, "compute", 7201), (1, "volume", 1), (2, "volume", 7200)):
        world.run(
            "UPDATE project_services SET scraped_at = %s WHERE project_id = %s"
            " AND service_id = (SELECT id FROM services WHERE type = %s)",
            [now - age, project, service],
        )
    world.run("UPDATE capacitors SET scraped_at = %s", [now - 60])
    return world


def services(document: Any) -> dict[Any, Any]:
    return {service["type"]: marks(service) for service in document["services"]}


def test_projects(world: World) -> None:
    of_germany = f"/v1/domains/{GERMANY}/projects"
    shown = {uuid: services(world.get(f"{of_germany}/{uuid}")["project"]) for uuid in (BERLIN, DRESDEN)}
    assert shown[BERLIN] == {"compute": FRESH, "volume": FRESH}
    assert shown[DRESDEN] == {"compute": stale(7201), "volume": FRESH}
    assert {item["id"]: services(item) for item in world.get(of_germany)["projects"]} == shown
    # no age is made up for what was never scraped
    never = world.get(f"/v1/domains/{FRANCE}/projects/{PARIS}")["project"]["services"]
    assert [(marks(service), "scraped_at" in service) for service in never] == [(FRESH, False)] * 2


@pytest.mark.sql
def test_domains_and_the_cluster_are_as_old_as_their_oldest_figures(world: World) -> None:
    assert services(world.get(f"/v1/domains/{GERMANY}")["domain"]) == {"compute": stale(7201), "volume": FRESH}
    assert services(world.get(f"/v1/domains/{FRANCE}")["domain"]) == {"compute": FRESH, "volume": FRESH}
    cluster = world.get("/v1/clusters/current")["cluster"]
    assert services(cluster) == {"compute": stale(7201), "volume": FRESH}
    assert marks(cluster) == FRESH


def test_capacity_that_grows_old(world: World) -> None:
    world.clock.advance(7200)
    cluster = world.get("/v1/clusters/current")["cluster"]
    assert marks(cluster) == stale(7260)
    assert services(cluster)["volume"] == stale(14400)


# -- why figures are old or missing -----------------------------------------------------------------------------------

SECRET = "http://nova.internal:8774 answers 500: token gAAAA"


def fail(
    world: World, project: int, service: str, since: int, scraped_at: int | None = None, tried_at: Any = None
) -> None:
    """The scrapes of a project's service have failed since then."""
    world.run(
        "UPDATE project_services SET scrape_error = %s, scrape_failures = 3, failing_since = %s, checked_at = %s,"
        " scraped_at = %s WHERE project_id = %s AND service_id = (SELECT id FROM services WHERE type = %s)",
        [SECRET, since, tried_at or since, scraped_at, project, service],
    )


def problems(document: Any) -> dict[Any, Any]:
    return {
        service["type"]: service["scrape_problem"] for service in document["services"] if "scrape_problem" in service
    }


def test_the_people_of_a_project_see_why_its_figures_are_old(world: World) -> None:
    now = int(world.clock.now().timestamp())
    fail(world, 1, "compute", now - 600, scraped_at=now - 900)
    told = {
        "compute": {
            "since": now - 600,
            "message": "the backend of service compute has been failing since 2025-12-31T23:50:00Z;"
            " these figures are from 2025-12-31T23:45:00Z",
        }
    }
    for path in (PATHS["berlin"], f"{PATHS['berlin']}?detail", f"{PATHS['berlin']}?service=compute"):
        result = world.request("GET", path.partition("?")[0], "berlin-member", query_string=path.partition("?")[2])
        assert problems(result.json["project"]) == told
        assert "nova" not in result.text
    for path in (f"/v1/domains/{GERMANY}/projects", "/v1/projects", "/v1/projects?limit=5"):
        listed = world.get(path)["projects"]
        assert {project["id"]: problems(project) for project in listed if project["id"] == BERLIN} == {BERLIN: told}
    assert world.get(f"{PATHS['berlin']}?service=volume")["project"]["services"][0].get("scrape_problem") is None


def test_figures_that_are_old_because_limes_is_late(world: World) -> None:
    now = int(world.clock.now().timestamp())
    text = "service compute was last scraped at 2025-12-31T21:59:59Z: Limes is late"
    assert problems(world.get(PATHS["dresden"])["project"]) == {"compute": {"since": now - 7201, "message": text}}
    assert problems(world.get(PATHS["berlin"])["project"]) == {}


def test_figures_that_are_missing(world: World) -> None:
    """A project that waits for its first scrape has no problem; one whose backend fails has, tried or not."""
    now = int(world.clock.now().timestamp())
    assert problems(world.get(PATHS["paris"])["project"]) == {}
    text = (
        "the backend of service compute has been failing since 2025-12-31T23:59:30Z;"
        " there are no figures, and no quota can be set, until a scrape succeeds"
    )
    fail(world, 3, "compute", now - 30)
    assert problems(world.get(PATHS["paris"])["project"]) == {"compute": {"since": now - 30, "message": text}}
    # the backend is left alone after others have failed
    fail(world, 1, "compute", now - 30, scraped_at=now - 7300)
    world.run("UPDATE project_services SET scrape_error = '' WHERE project_id = 3")
    assert problems(world.get(PATHS["paris"])["project"]) == {"compute": {"since": now - 30, "message": text}}
    assert problems(world.get(PATHS["dresden"])["project"])["compute"]["since"] == now - 30
    # what fails in another project alone is no outage
    world.run("UPDATE project_services SET scraped_at = %s WHERE project_id = 2", [now - 5])
    assert problems(world.get(PATHS["paris"])["project"]) == {}


# -- setting quota meanwhile ------------------------------------------------------------------------------------------


@pytest.mark.sql
def test_what_is_said_of_a_backend_that_fails_from_the_first(world: World) -> None:
    now = int(world.clock.now().timestamp())
    waiting = "no project report for resource {} (please retry in a few seconds after initial scraping is done)\n"
    failing = (
        "no project report for resource compute/cores: the backend of service compute has been failing since"
        " 2025-12-31T23:59:30Z (please retry after a scrape has succeeded)\n"
    )
    assert refusal(world, compute={"cores": 1}) == waiting.format("compute/cores")
    fail(world, 3, "compute", now - 30)
    assert refusal(world, compute={"cores": 1}) == failing
    both = refusal(world, compute={"cores": 1}, volume={"capacity": 1})
    assert both == failing + waiting.format("volume/capacity")


def refusal(world: World, **quotas: Any) -> Any:
    """What both PUT and simulate-put say."""
    answers = [
        world.request(method, path, json=body("project", **quotas))
        for method, path in (("PUT", PATHS["paris"]), ("POST", f"{PATHS['paris']}/simulate-put"))
    ]
    assert {answer.status_code for answer in answers} == {423}
    assert answers[0].text == answers[1].text
    assert "nova" not in answers[0].text
    return answers[0].text


def test_a_backend_that_fails_hinders_no_other_service(world: World) -> None:
    now = int(world.clock.now().timestamp())
    fail(world, 2, "volume", now - 30)
    for cores, others, status in ((31, {}, 202), (32, {"volume": {"capacity": 1}}, 423)):
        document = body("project", compute={"cores": cores}, **others)
        assert world.request("PUT", PATHS["dresden"], json=document).status_code == status
    cores = world.get(f"{PATHS['dresden']}?resource=cores")["project"]["services"][0]["resources"][0]
    assert cores["quota"] == 31


def test_a_resource_that_is_newer_than_the_last_scrape(world: World) -> None:
    text = "no project report for resource volume/capacity (please retry after the next scrape of service volume)\n"
    result = world.request("PUT", PATHS["dresden"], json=body("project", volume={"capacity": 1}))
    assert (result.status_code, result.text) == (423, text)
