"""Quota for a time: it is set, goes back as far as it can, can be planned, and survives other changes by clear rules."""

from collections.abc import Callable

import pytest
from msgspec import structs

from limes.catalog.catalog import Catalog
from limes.quota.constraints import Constraint, ConstraintSet
from tests.api.world import SERVICES, World
from tests.autogrow.growing import GROWING_CORES
from tests.quota.quotas import request_quotas, resources
from tests.quota.temporary import DAY, START, history, later, set_quota, temporary, use
from tests.requests.quota_requests import PATHS, quota
from tests.support.rows import all_rows, changes
from tests.support.statements import count_statements


@pytest.mark.sql
def test_it_goes_back_by_itself(world: World) -> None:
    result = set_quota(world, "berlin", 50, "germany-admin", until=3)
    assert (result.status_code, result.text) == (202, "")
    assert quota(world, "berlin") == 50
    assert temporary(world, "berlin") == {"state": "active", "quota": 50, "quota_before": 20, "from": 0, "until": 3}
    later(world, 2.9)
    assert quota(world, "berlin") == 50
    world.pushed.clear()
    before = all_rows(world.engine)
    later(world, 3)
    changed = changes(before, all_rows(world.engine))
    assert set(changed) == {"project_resources", "project_services", "quota_history", "temporary_quotas"}
    assert quota(world, "berlin") == 20
    assert temporary(world, "berlin") is None
    assert world.pushed == []  # the push job tells the backend: the mark says so
    assert [row.quota_desynced_at for row in changed["project_services"][1]] == [world.clock.now().timestamp()]
    assert history(world, "berlin") == [
        (20, 50, "request", "until 2026-01-04 00:00 UTC, then 20"),
        (50, 20, "temporary-quota", "end of the temporary quota on 2026-01-04 00:00 UTC"),
    ]
    (last, *_) = world.get(f"{PATHS['berlin']}/history")["history"]
    assert last["initiator"] == {"type": "job", "name": "temporary-quotas"}


def test_running_the_job_again_changes_nothing(world: World) -> None:
    set_quota(world, "berlin", 50, until=3)
    later(world, 3)
    before = all_rows(world.engine)
    later(world, 4)
    assert changes(before, all_rows(world.engine)) == {}


def test_only_as_far_as_usage_allows(world: World) -> None:
    set_quota(world, "berlin", 50, until=3)
    use(world, 1, 32)
    later(world, 3)
    found = temporary(world, "berlin")
    assert quota(world, "berlin") == 32
    assert (found["state"], found["over_by"], found["quota_before"], found["until"]) == ("over", 12, 20, 3)
    assert found["problem"] == "quota may not be lower than current usage"
    use(world, 1, 25)
    later(world, 3.001)  # too early for another try
    assert quota(world, "berlin") == 32
    later(world, 3.1)
    assert (quota(world, "berlin"), temporary(world, "berlin")["over_by"]) == (25, 5)
    later(world, 3.2)
    use(world, 1, 5)
    later(world, 3.3)
    assert (quota(world, "berlin"), temporary(world, "berlin")) == (20, None)
    assert [row[:2] for row in history(world, "berlin")] == [(20, 50), (50, 32), (32, 25), (25, 20)]
    assert history(world, "berlin")[1][3].endswith("but 12 cannot be given back yet")


def test_usage_above_the_temporary_quota(world: World) -> None:
    set_quota(world, "berlin", 50, until=3)
    use(world, 1, 60)
    for day in (3, 4, 5):
        later(world, day)
        assert (quota(world, "berlin"), temporary(world, "berlin")["over_by"]) == (50, 30)
    assert len(history(world, "berlin")) == 2  # it is noted once that nothing can be given back


@pytest.mark.sql
def test_only_as_far_as_commitments_allow(make: Callable[..., World]) -> None:
    world = make()
    set_quota(world, "berlin", 50, until=3)
    world.run(
        "INSERT INTO project_commitments (uuid, project_id, resource_id, az, amount, duration, status, created_at,"
        " confirmed_at, expires_at, creator_uuid, creator_name, transfer_status, transfer_token, auto_renews,"
        " renewal_error) SELECT 'c1', 1, id, 'az-one', 40, '1 year', 'confirmed', 1, 1, %s, '', '', '', NULL, %s, ''"
        " FROM resources WHERE name = 'cores'",
        [START + 10 * DAY, False],
    )
    later(world, 3)
    assert (quota(world, "berlin"), temporary(world, "berlin")["over_by"]) == (40, 20)
    assert "commitments" in temporary(world, "berlin")["problem"]
    later(world, 11)
    assert (quota(world, "berlin"), temporary(world, "berlin")) == (20, None)


def test_a_domain_gives_back_what_its_projects_have_not_got(world: World) -> None:
    assert set_quota(world, "germany", 150, until=3).status_code == 202
    assert temporary(world, "germany")["quota_before"] == 100
    request_quotas(world, PATHS["berlin"], {"cores": 90})
    later(world, 3)
    found = temporary(world, "germany")
    assert (quota(world, "germany"), found["state"], found["over_by"]) == (120, "over", 20)
    assert found["problem"] == "domain quota may not be smaller than sum of project quotas in that domain"
    request_quotas(world, PATHS["berlin"], {"cores": 20})
    later(world, 4)
    assert (quota(world, "germany"), temporary(world, "germany")) == (100, None)


def test_projects_give_back_before_their_domain(world: World) -> None:
    set_quota(world, "germany", 150, until=3)
    set_quota(world, "berlin", 120, until=3)
    later(world, 3)
    assert (quota(world, "berlin"), quota(world, "germany")) == (20, 100)


def test_a_raise_that_is_planned(world: World) -> None:
    result = set_quota(world, "berlin", 60, start=2, until=5)
    assert (result.status_code, result.text) == (202, "")
    assert world.pushed == []
    assert quota(world, "berlin") == 20
    assert temporary(world, "berlin") == {"state": "planned", "quota": 60, "from": 2, "until": 5}
    later(world, 2)
    assert quota(world, "berlin") == 60
    assert temporary(world, "berlin") == {"state": "active", "quota": 60, "quota_before": 20, "from": 2, "until": 5}
    later(world, 5)
    assert (quota(world, "berlin"), temporary(world, "berlin")) == (20, None)
    assert [row[:3] for row in history(world, "berlin")] == [
        (20, 20, "request"),
        (20, 60, "temporary-quota"),
        (60, 20, "temporary-quota"),
    ]


@pytest.mark.sql
def test_a_domain_and_its_project_begin_together(world: World) -> None:
    set_quota(world, "germany", 150, start=2, until=5)
    request_quotas(world, PATHS["germany"], {"cores": 100})
    result = set_quota(world, "berlin", 120, start=2, until=5)
    assert result.status_code == 409  # it has to fit when it is planned
    set_quota(world, "berlin", 60, start=2, until=5)
    later(world, 2)
    assert (quota(world, "germany"), quota(world, "berlin")) == (150, 60)
    later(world, 5)
    assert (quota(world, "germany"), quota(world, "berlin")) == (100, 20)


def test_a_plan_that_no_longer_fits(world: World) -> None:
    set_quota(world, "berlin", 60, start=2, until=5)
    request_quotas(world, PATHS["dresden"], {"cores": 75})
    later(world, 2)
    found = temporary(world, "berlin")
    assert (quota(world, "berlin"), found["state"], found["problem"]) == (20, "planned", "domain quota exceeded")
    request_quotas(world, PATHS["dresden"], {"cores": 31})
    later(world, 2.1)
    assert (quota(world, "berlin"), temporary(world, "berlin")["state"]) == (60, "active")


def test_a_plan_that_never_fitted(world: World) -> None:
    set_quota(world, "berlin", 60, start=2, until=5)
    request_quotas(world, PATHS["dresden"], {"cores": 75})
    for day in (2, 3, 5):
        later(world, day)
    assert (quota(world, "berlin"), temporary(world, "berlin")) == (20, None)
    assert history(world, "berlin")[-1] == (
        20,
        20,
        "temporary-quota",
        "60 until 2026-01-06 00:00 UTC never began: domain quota exceeded",
    )


def test_a_plan_that_is_not_needed_any_more(world: World) -> None:
    set_quota(world, "berlin", 60, start=2, until=5)
    set_quota(world, "berlin", 65, keep_until=True)
    later(world, 2)
    assert (quota(world, "berlin"), temporary(world, "berlin")) == (65, None)


def test_a_constraint_that_came_meanwhile(make: Callable[..., World]) -> None:
    bounded = {("compute", "cores"): Constraint(minimum=25)}
    world = make()
    set_quota(world, "berlin", 50, until=3)
    constraints = ConstraintSet(projects={"germany/berlin": bounded})
    world = make(constraints=constraints, fill=False)
    later(world, 3)
    assert (quota(world, "berlin"), temporary(world, "berlin")["over_by"]) == (25, 5)
    assert "at least 25" in temporary(world, "berlin")["problem"]


# -- where it is shown -------------------------------------------------------------------------------------------------


def test_simulation(world: World) -> None:
    answer = set_quota(world, "berlin", 50, until=3, simulate=True)
    assert answer.json == {
        "success": True,
        "temporary_quotas": [
            {
                "service_type": "compute",
                "name": "cores",
                "temporary_quota": {
                    "state": "active",
                    "quota": 50,
                    "quota_before": 20,
                    "from": START,
                    "until": START + 3 * DAY,
                },
                "gives_back": 30,
            }
        ],
    }
    assert temporary(world, "berlin") is None
    answer = set_quota(world, "berlin", 2048, name="ram", start=1, until=3, simulate=True)
    (found,) = answer.json["temporary_quotas"]
    assert (found["unit"], found["gives_back"], found["temporary_quota"]["state"]) == ("MiB", 1024, "planned")
    set_quota(world, "berlin", 50, until=3)
    (found,) = set_quota(world, "berlin", 50, simulate=True).json["temporary_quotas"]
    assert found["gives_back"] == 30
    assert "temporary_quotas" not in set_quota(world, "berlin", 30, simulate=True).json


def test_reports_explanations_and_lists(world: World) -> None:
    set_quota(world, "berlin", 50, until=3)
    set_quota(world, "germany", 150, until=4)
    (explained,) = world.get(f"{PATHS['berlin']}/explain?service=compute&resource=cores")["explanations"]
    assert explained["temporary_quota"] == resources(world, PATHS["berlin"])["cores"]["temporary_quota"]
    (explained,) = world.get(f"{PATHS['germany']}/explain?service=compute&resource=cores")["explanations"]
    assert explained["temporary_quota"]["until"] == START + 4 * DAY
    for path in (f"{PATHS['germany']}/projects", "/v1/projects?limit=10", "/v1/domains"):
        assert sum('"temporary_quota"' in part for part in [str(world.get(path)).replace("'", '"')]) == 1
    assert resources(world, PATHS["berlin"], "detail")["cores"]["temporary_quota"]["quota"] == 50


@pytest.mark.sql
def test_reports_cost_no_more(world: World) -> None:
    """One project takes the same statement as before."""

    def statements() -> int:
        return count_statements(world.engine, lambda: world.get(PATHS["berlin"]))

    statements()  # PostgreSQL prepares it
    before = statements()
    set_quota(world, "berlin", 50, until=3)
    assert statements() == before == 1


@pytest.mark.sql
def test_the_job_takes_a_fixed_number_of_statements(world: World) -> None:
    """For each project, however many quotas end; and one if nothing is due."""
    assert count_statements(world.engine, world.settle_temporary) <= 3  # with begin and commit

    def end(*names: str) -> int:
        now = world.clock.now().timestamp()
        days = (now - START) / DAY
        for name in names:
            set_quota(world, "berlin", 3000, name=name, until=days + 1)
        world.clock.advance(DAY)
        return count_statements(world.engine, world.settle_temporary)

    set_quota(world, "germany", 5000)
    assert end("ram") == end("ram", "cores")


def test_quota_that_grows_by_itself(make: Callable[..., World]) -> None:
    """A resource that has changed to the other model meanwhile: nobody sets its quota any more."""
    set_quota(make(), "berlin", 50, until=3)
    world = make(distributions=[GROWING_CORES], fill=False)
    assert temporary(world, "berlin") is None
    before = all_rows(world.engine)
    later(world, 3)
    assert set(changes(before, all_rows(world.engine))) == {"temporary_quotas"}
    assert quota(world, "berlin") == 50


@pytest.mark.sql
def test_a_resource_that_left_the_configuration(make: Callable[..., World]) -> None:
    """It may come back, and then its temporary quota ends."""
    world = make()
    set_quota(world, "berlin", 50, until=3)
    limes = world.limes
    world.limes = structs.replace(limes, catalog=Catalog(["az-one"], SERVICES[1:]))
    later(world, 3)
    world.limes = limes
    assert quota(world, "berlin") == 50
    later(world, 3.1)
    assert quota(world, "berlin") == 20


def test_a_clock_that_was_wrong(world: World) -> None:
    """The next try was planned by a collector whose clock was a year ahead."""
    set_quota(world, "berlin", 50, until=3)
    use(world, 1, 32)
    later(world, 365)
    use(world, 1, 5)
    world.clock.advance(-360 * DAY)
    later(world, 6)
    assert (quota(world, "berlin"), temporary(world, "berlin")) == (20, None)
