"""Quota for a time: it is set, goes back as far as it can, can be planned, and survives other changes by clear rules."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from limes.core.catalog import Catalog
from limes.core.constraints import Constraint, ConstraintSet
from limes.core.permissions import LowPrivLimit, LowPrivRules
from tests.api.growing import GROWING_CORES
from tests.api.quota_requests import PATHS, quota
from tests.api.quotas import request_quotas
from tests.api.temporary import DAY, START, later, resource_of, set_quota, temporary, use
from tests.api.world import SERVICES, World
from tests.support.rows import all_rows, changes
from tests.support.statements import count_statements


def history(world: World, where: str) -> list[tuple[Any, ...]]:
    """Changes of the quota, the oldest first."""
    rows = world.get(f"{PATHS[where]}/history?limit=1000")["history"]
    return [(row["old"], row["new"], row["reason"], row.get("detail", "")) for row in reversed(rows)]


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


def test_only_as_far_as_commitments_allow(make: Callable[..., World]) -> None:
    world = make()
    set_quota(world, "berlin", 50, until=3)
    world.engine.atomic(
        lambda: world.engine.execute(
            "INSERT INTO project_commitments (uuid, project_id, resource_id, az, amount, duration, status, created_at,"
            " confirmed_at, expires_at, creator_uuid, creator_name, transfer_status, transfer_token, auto_renews,"
            " renewal_error) SELECT 'c1', 1, id, 'az-one', 40, '1 year', 'confirmed', 1, 1, %s, '', '', '', NULL, %s, ''"
            " FROM resources WHERE name = 'cores'",
            [START + 10 * DAY, False],
        )
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


# -- what cannot be set ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "term", "text"),
    [
        (50, {"until": -1}, "until is in the past"),
        (50, {"until": 0}, "until is in the past"),
        (50, {"until": 4000}, "until is more than ten years ahead; it is a UNIX timestamp in seconds"),
        (50, {"until": 2, "start": 3}, "until has to be after from"),
        (50, {"until": 2, "start": 2}, "until has to be after from"),
        (50, {"until": 2, "start": -1}, "from is in the past; without from, the quota is raised at once"),
        (50, {"start": 2}, "from goes with until: a quota that is to stay is set when it is due"),
        (50, {"until": 2, "keep_until": True}, "until and keep_until exclude each other"),
        (20, {"until": 2}, "a quota for a time has to be more than the one after it, which is 20"),
        (19, {"until": 2}, "(minimum acceptable project quota is 21)"),
    ],
)
def test_terms_that_make_no_sense(world: World, number: int, term: dict[str, Any], text: str) -> None:
    before = all_rows(world.engine)
    result = set_quota(world, "berlin", number, **term)
    assert result.status_code == 422
    assert result.text.startswith("cannot change compute/cores quota: ")
    assert text in result.text
    answer = set_quota(world, "berlin", number, simulate=True, **term)
    assert answer.status_code == 422
    assert not answer.json["success"]
    assert changes(before, all_rows(world.engine)) == {}


@pytest.mark.parametrize(
    ("resource", "text"),
    [
        ({"name": "cores", "until": START + 5}, "quota"),
        ({"name": "cores", "quota": 50, "until": "tomorrow"}, "until"),
        ({"name": "cores", "quota": 50, "until": 1.5}, "until"),
        ({"name": "cores", "quota": 50, "until": True}, "until"),
        ({"name": "cores", "quota": 50, "until": START + 5, "from": "now"}, "from"),
        ({"name": "cores", "quota": 50, "keep_until": "yes"}, "keep_until"),
    ],
)
def test_documents_that_cannot_be_read(world: World, resource: dict[str, Any], text: str) -> None:
    document = {"project": {"services": [{"type": "compute", "resources": [resource]}]}}
    result = world.request("PUT", PATHS["berlin"], json=document)
    assert result.status_code == 400
    assert text in result.text


def test_it_needs_the_same_rights_as_any_raise(world: World) -> None:
    assert set_quota(world, "berlin", 50, "berlin-admin", until=3).status_code == 403
    assert set_quota(world, "berlin", 50, "berlin-admin", start=1, until=3).status_code == 403
    assert set_quota(world, "berlin", 71, "germany-admin", until=3).status_code == 409
    assert set_quota(world, "berlin", 71, "germany-admin", start=1, until=3).status_code == 409


# -- later changes -----------------------------------------------------------------------------------------------------


def test_another_quota_drops_the_end_and_says_so(world: World) -> None:
    set_quota(world, "berlin", 50, until=3)
    answer = set_quota(world, "berlin", 40, simulate=True)
    text = (
        "compute/cores: it stays at 40, and no longer goes back to 20 (on 2026-01-04 00:00 UTC);"
        " to keep that end, send keep_until: true"
    )
    assert answer.json == {"success": True, "warnings": [text]}
    result = set_quota(world, "berlin", 40)
    assert (result.status_code, result.text) == (202, f"quotas have been accepted, with a warning:\n{text}\n")
    later(world, 4)
    assert (quota(world, "berlin"), temporary(world, "berlin")) == (40, None)


def test_the_same_quota_keeps_the_end(world: World) -> None:
    """Who sends all quotas back as they were read changes nothing."""
    set_quota(world, "berlin", 50, until=3)
    before = all_rows(world.engine)
    assert set_quota(world, "berlin", 50).text == ""
    assert changes(before, all_rows(world.engine)) == {}
    later(world, 3)
    assert quota(world, "berlin") == 20


def test_the_end_is_kept_if_that_is_said(world: World) -> None:
    set_quota(world, "berlin", 50, until=3)
    assert set_quota(world, "berlin", 40, keep_until=True).text == ""
    assert temporary(world, "berlin") == {"state": "active", "quota": 40, "quota_before": 20, "from": 0, "until": 3}
    refused = set_quota(world, "berlin", 20, keep_until=True)
    assert refused.status_code == 422
    assert "with keep_until it has to be more than the quota after that, which is 20" in refused.text
    later(world, 3)
    assert quota(world, "berlin") == 20


def test_the_end_is_dropped_if_that_is_said(world: World) -> None:
    set_quota(world, "berlin", 50, until=3)
    result = set_quota(world, "berlin", 50, keep_until=False)
    assert (result.status_code, temporary(world, "berlin")) == (202, None)
    later(world, 3)
    assert quota(world, "berlin") == 50
    assert history(world, "berlin")[-1] == (50, 50, "request", "it stays at 50, and no longer goes back to 20")


def test_lowering_drops_the_end_without_a_warning(world: World) -> None:
    set_quota(world, "berlin", 50, until=3)
    assert set_quota(world, "berlin", 10).text == ""
    assert (quota(world, "berlin"), temporary(world, "berlin")) == (10, None)


def test_another_end(world: World) -> None:
    set_quota(world, "berlin", 50, until=3)
    set_quota(world, "berlin", 50, until=5)
    set_quota(world, "berlin", 60, until=6)
    assert temporary(world, "berlin") == {"state": "active", "quota": 60, "quota_before": 20, "from": 0, "until": 6}
    later(world, 5)
    assert quota(world, "berlin") == 60
    later(world, 6)
    assert quota(world, "berlin") == 20


def test_another_end_for_what_could_not_be_given_back(world: World) -> None:
    set_quota(world, "berlin", 50, until=3)
    use(world, 1, 32)
    later(world, 3)
    assert set_quota(world, "berlin", 32, until=6).status_code == 202
    use(world, 1, 5)
    later(world, 5)
    assert (quota(world, "berlin"), temporary(world, "berlin")["state"]) == (32, "active")
    later(world, 6)
    assert quota(world, "berlin") == 20


def test_whoever_may_not_raise_cannot_make_it_last(make: Callable[..., World]) -> None:
    """A project's admin may lower quota, and may raise it a little."""
    world = make(lowpriv=LowPrivRules(projects={("compute", "cores"): LowPrivLimit(amount=25)}))
    set_quota(world, "berlin", 50, until=3)
    for quota_, term in ((30, {}), (50, {"until": 9}), (50, {"keep_until": False})):
        result = set_quota(world, "berlin", quota_, "berlin-admin", **term)
        assert result.status_code == 403, (quota_, term)
        assert 'user is not allowed to raise "compute" quotas' in result.text
        assert ("; with keep_until: true, its end stays" in result.text) == ("until" not in term)
    assert set_quota(world, "berlin", 30, "berlin-admin", keep_until=True).status_code == 202
    assert set_quota(world, "berlin", 25, "berlin-admin").status_code == 202


def test_a_plan_is_cancelled_or_replaced(world: World) -> None:
    set_quota(world, "berlin", 60, start=2, until=5)
    result = set_quota(world, "berlin", 20, keep_until=False)
    assert "the raise to 60 that was planned for 2026-01-03 00:00 UTC is cancelled" in result.text
    assert temporary(world, "berlin") is None
    set_quota(world, "berlin", 60, start=2, until=5)
    assert set_quota(world, "berlin", 20).text == ""
    assert temporary(world, "berlin")["state"] == "planned"
    set_quota(world, "berlin", 65, start=3, until=5)
    assert (temporary(world, "berlin")["quota"], temporary(world, "berlin")["from"]) == (65, 3)
    assert set_quota(world, "berlin", 30).status_code == 202
    assert temporary(world, "berlin") is None


def test_one_at_a_time(world: World) -> None:
    set_quota(world, "berlin", 50, until=3)
    result = set_quota(world, "berlin", 60, start=4, until=5)
    assert result.status_code == 409
    assert "there is a temporary quota until 2026-01-04 00:00 UTC" in result.text


def test_a_raise_of_the_domain_by_hand(world: World) -> None:
    set_quota(world, "germany", 150, until=3)
    result = set_quota(world, "germany", 140)
    assert "no longer goes back to 100" in result.text
    later(world, 3)
    assert quota(world, "germany") == 140


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
    assert explained["temporary_quota"] == resource_of(world, "berlin")["temporary_quota"]
    (explained,) = world.get(f"{PATHS['germany']}/explain?service=compute&resource=cores")["explanations"]
    assert explained["temporary_quota"]["until"] == START + 4 * DAY
    for path in (f"{PATHS['germany']}/projects", "/v1/projects?limit=10", "/v1/domains"):
        assert sum('"temporary_quota"' in part for part in [str(world.get(path)).replace("'", '"')]) == 1
    assert resource_of(world, "berlin", query="?detail")["temporary_quota"]["quota"] == 50


def test_reports_cost_no_more(world: World) -> None:
    """One project takes the same statement as before."""

    def statements() -> int:
        return count_statements(world.engine, lambda: world.get(PATHS["berlin"]))

    statements()  # PostgreSQL prepares it
    before = statements()
    set_quota(world, "berlin", 50, until=3)
    assert statements() == before == 1


def test_the_job_takes_a_fixed_number_of_statements(world: World) -> None:
    """For each project, however many quotas end; and one if nothing is due."""
    assert count_statements(world.engine, world.temporary.run) <= 3  # with begin and commit

    def end(*names: str) -> int:
        now = world.clock.now().timestamp()
        days = (now - START) / DAY
        for name in names:
            set_quota(world, "berlin", 3000, name=name, until=days + 1)
        world.clock.advance(DAY)
        return count_statements(world.engine, world.temporary.run)

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


def test_a_resource_that_left_the_configuration(make: Callable[..., World]) -> None:
    """It may come back, and then its temporary quota ends."""
    world = make()
    set_quota(world, "berlin", 50, until=3)
    job, volume_only = world.temporary, Catalog(["az-one"], SERVICES[1:])
    world.temporary = replace(job, project=replace(job.project, catalog=volume_only))
    later(world, 3)
    world.temporary = job
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
