"""Quota for a time: which terms are refused, and what later changes of the quota make of the end."""

from collections.abc import Callable
from typing import Any

import pytest

from limes.quota.rules import LowPrivLimit, LowPrivRules
from tests.api.world import World
from tests.quota.temporary import START, history, later, set_quota, temporary, use
from tests.requests.quota_requests import PATHS, quota
from tests.support.rows import all_rows, changes

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


@pytest.mark.parametrize("name", ["until", "from", "keep_until"])
@pytest.mark.parametrize(("level", "path"), [("project", PATHS["berlin"]), ("domain", PATHS["germany"])])
@pytest.mark.parametrize("verb", [("PUT", ""), ("POST", "/simulate-put")])
def test_times_beside_services_are_not_ignored(
    world: World, verb: tuple[str, str], level: str, path: str, name: str
) -> None:
    """Otherwise quota that was meant for a time would stay for ever."""
    before = all_rows(world.engine)
    services = [{"type": "compute", "resources": [{"name": "cores", "quota": 25}]}]
    for document, place in (
        ({"services": services, name: START + 1000}, level),
        ({"services": [services[0] | {name: START + 1000}]}, f"{level}.services.0"),
    ):
        result = world.request(verb[0], f"{path}{verb[1]}", json={level: document})
        text = f"request body is not valid JSON: {place}: {name} belongs to each resource, beside its quota\n"
        assert (result.status_code, result.text) == (400, text)
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


@pytest.mark.sql
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


@pytest.mark.sql
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
