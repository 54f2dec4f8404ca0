"""Old figures are never shown as if they were fresh."""

import pytest

from tests.api.world import BERLIN, DRESDEN, FRANCE, GERMANY, PARIS

FRESH = {"is_stale": None, "age_seconds": None}


def marks(document):
    return {key: document.get(key) for key in FRESH}


def stale(age):
    return {"is_stale": True, "age_seconds": age}


@pytest.fixture
def world(make):
    """Figures of compute are 100 s old in berlin and 7201 s in dresden; those of volume and the capacity are new."""
    world = make(stale_after=7200)
    now = world.clock.now().timestamp()
    with world.engine.connection():
        for project, service, age in ((1, "compute", 100), (2, "compute", 7201), (1, "volume", 1), (2, "volume", 7200)):
            world.engine.execute(
                "UPDATE project_services SET scraped_at = %s WHERE project_id = %s"
                " AND service_id = (SELECT id FROM services WHERE type = %s)",
                [now - age, project, service],
            )
        world.engine.execute("UPDATE capacitors SET scraped_at = %s", [now - 60])
    return world


def services(document):
    return {service["type"]: marks(service) for service in document["services"]}


def test_projects(world):
    of_germany = f"/v1/domains/{GERMANY}/projects"
    one = {uuid: services(world.get(f"{of_germany}/{uuid}")["project"]) for uuid in (BERLIN, DRESDEN)}
    assert one[BERLIN] == {"compute": FRESH, "volume": FRESH}
    assert one[DRESDEN] == {"compute": stale(7201), "volume": FRESH}
    assert {item["id"]: services(item) for item in world.get(of_germany)["projects"]} == one
    # no age is made up for what was never scraped
    never = world.get(f"/v1/domains/{FRANCE}/projects/{PARIS}")["project"]["services"]
    assert [(marks(service), "scraped_at" in service) for service in never] == [(FRESH, False)] * 2


def test_domains_and_the_cluster_are_as_old_as_their_oldest_figures(world):
    assert services(world.get(f"/v1/domains/{GERMANY}")["domain"]) == {"compute": stale(7201), "volume": FRESH}
    assert services(world.get(f"/v1/domains/{FRANCE}")["domain"]) == {"compute": FRESH, "volume": FRESH}
    cluster = world.get("/v1/clusters/current")["cluster"]
    assert services(cluster) == {"compute": stale(7201), "volume": FRESH}
    assert marks(cluster) == FRESH


def test_capacity_that_grows_old(world):
    world.clock.advance(7200)
    cluster = world.get("/v1/clusters/current")["cluster"]
    assert marks(cluster) == stale(7260)
    assert services(cluster)["volume"] == stale(14400)
