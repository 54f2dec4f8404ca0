"""Keystone goes away, and comes back."""

from collections.abc import Callable

from tests.faults.house import FaultHouse, eventually, longer
from tests.support.keystone import RealKeystone
from tests.support.postgres_cluster import PostgresCluster


@longer
def test_keystone_goes_away(
    make_house: Callable[..., FaultHouse],
    cluster: PostgresCluster,
    own_keystone: RealKeystone,
    rounds: int,
    report: Callable[..., None],
) -> None:
    login = own_keystone.credentials("limes")
    house = make_house(
        cluster.url("postgres"),
        identity={"keystone": {**login, "region_name": "RegionOne"}, "cache": {"ttl": 1, "negative_ttl": 1}},
        discovery={"method": "list", "only_domains": "^(north|south)$"},
    )
    house.start()
    project = own_keystone.ids.projects["berlin"]
    path = f"/v1/domains/{own_keystone.ids.domains['north']}/projects/{project}"

    def status() -> int:
        token = own_keystone.project_token("operator", "service") if own_keystone.server.process.is_running() else old
        return house.request("GET", path, token=token).status_code

    unscraped = "SELECT COUNT(*) FROM project_services WHERE scraped_at IS NULL"
    old = own_keystone.project_token("operator", "service")
    eventually("berlin is known", lambda: status() == 200)
    eventually("all is scraped", lambda: house.rows(unscraped) == [(0,)])
    known = house.rows("SELECT uuid FROM projects ORDER BY uuid")
    discovery_error = "SELECT COUNT(*) FROM jobs WHERE name = 'discovery' AND error <> ''"
    for _ in range(rounds):
        own_keystone.server.process.stop()
        eventually("the API says so", lambda: status() == 503)
        eventually("discovery says so", lambda: house.rows(discovery_error) == [(1,)])
        house.check_recovery()  # backends that need no Keystone are scraped as before
        assert house.rows("SELECT uuid FROM projects ORDER BY uuid") == known
        own_keystone.server.process.start()
        eventually("the API works", lambda: status() == 200)
        eventually("discovery works", lambda: house.rows(discovery_error) == [(0,)])
    report(times_away=rounds, projects_kept=len(known))
