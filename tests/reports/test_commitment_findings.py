"""What a second look at commitments found: resources that left the configuration, and odd conversions."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec import structs

from limes.app.context import Limes
from limes.catalog.catalog import BehaviorRule, Catalog, select
from limes.collector.sync_catalog import sync_catalog
from limes.commitments import create, queries, reading, reshape
from limes.commitments.commitment import Commitment
from limes.commitments.reshape import Conversion
from limes.commitments.rules import CommitmentRules
from limes.commitments.settle import settle_commitments
from limes.kernel.errors import NotFound
from tests.api.world import BERLIN, DRESDEN, GERMANY, SERVICES, World
from tests.commitments.commitments import (
    BEHAVIORS,
    NOW,
    PATHS,
    amounts,
    commit,
    events,
    listed,
    offer,
    post,
    take,
    wish,
    with_volumes,
)
from tests.support.limes import with_values
from tests.support.rows import all_rows, changes

RULES = CommitmentRules(conversions=({("compute", "cores"): 4, ("volume", "capacity"): 6},))
YEAR = 365 * 86400


@pytest.fixture
def cloud(make: Callable[..., World]) -> World:
    return with_volumes(make(behaviors=BEHAVIORS, commitment_rules=RULES))


# -- the service is not configured any more ----------------------------------------------------------------------------


def without_compute(world: World) -> Limes:
    """The context of a process whose configuration has volumes only, after a collector with the same one started."""
    catalog = Catalog(["az-one"], SERVICES[1:], behaviors=BEHAVIORS)
    settings = with_values(world.limes.settings, {"collector.service_grace": 0.0})
    sync_catalog(structs.replace(world.limes, catalog=catalog, settings=settings), prune=True)
    return structs.replace(world.limes, catalog=catalog)


@pytest.mark.sql
def test_what_has_been_promised_outlives_a_service_in_the_configuration(cloud: World) -> None:
    made = commit(cloud, amount=10)
    token = offer(cloud, made["id"], 10).json["commitment"]["transfer_token"]
    planned = commit(cloud, amount=3, confirm_by=NOW + 9000)
    before = all_rows(cloud.engine)["project_commitments"]
    limes = without_compute(cloud)
    assert all_rows(cloud.engine)["project_commitments"] == before
    assert reading.commitments_of_project(limes, GERMANY, BERLIN, select(limes.catalog)) == []
    wanted = Conversion(("volume", "capacity"), 3, 2)
    for deed in (
        lambda: reshape.offer_commitment(limes, GERMANY, BERLIN, made["id"], 5, "public"),
        lambda: reshape.take_commitment(limes, GERMANY, DRESDEN, made["id"], token),
        lambda: reading.commitment_by_token(limes, token),
        lambda: reshape.change_duration(limes, GERMANY, BERLIN, made["id"], "1 year"),
        lambda: reshape.convert_commitment(limes, GERMANY, BERLIN, made["id"], wanted),
    ):
        with pytest.raises(NotFound, match="resource compute/cores is not configured any more"):
            deed()
    assert all_rows(cloud.engine)["project_commitments"] == before
    create.delete_commitment(limes, GERMANY, BERLIN, planned["id"], as_admin=True)
    cloud.clock.advance(3600)
    settle_commitments(limes)
    assert events(cloud)[-2:] == [("deleted", 3), ("expired", 10)]


@pytest.mark.sql
def test_a_service_without_promises_goes(cloud: World) -> None:
    made = commit(cloud, amount=10)
    cloud.clock.advance(3600)
    settle_commitments(cloud.limes)
    without_compute(cloud)
    with cloud.engine.connection():
        assert cloud.engine.rows("SELECT type FROM services") == [("volume",)]
        assert cloud.engine.rows("SELECT COUNT(*) FROM project_commitments WHERE id = %s", [made["id"]]) == [(0,)]


# -- conversion --------------------------------------------------------------------------------------------------------


def test_one_that_waits_is_confirmed_where_there_is_room(cloud: World) -> None:
    commit(cloud, amount=60)
    waits = commit(cloud, amount=30, confirm_by=NOW + 10, duration="1 year")
    cloud.clock.advance(20)
    result = post(cloud, f"{waits['id']}/convert", wish(6, 4))
    assert (result.status_code, result.json["commitment"]["status"]) == (202, "confirmed")
    assert result.json["commitment"]["confirmed_at"] == NOW + 20
    assert amounts(cloud) == [(60, "confirmed"), (4, "confirmed"), (24, "pending")]
    assert events(cloud)[-4:] == [("superseded", 30), ("created", 4), ("created", 24), ("confirmed", 4)]
    assert listed(cloud)[2]["created_at"] == NOW  # the rest keeps its place in the queue
    assert listed(cloud)[1]["created_at"] == NOW + 20


def test_no_conversion_before_the_earliest_date_of_the_other_resource(make: Callable[..., World]) -> None:
    late = BEHAVIORS[2].model_copy(update={"commitment_min_confirm_date": NOW + 5000.0})
    world = with_volumes(make(behaviors=[*BEHAVIORS[:2], late], commitment_rules=RULES))
    before = [commit(world, amount=3, duration="1 year"), commit(world, amount=3, confirm_by=NOW + 4999)]
    rows = all_rows(world.engine)
    result = post(world, f"{before[0]['id']}/convert", wish(3, 2))
    text = "this commitment needs a `confirm_by` timestamp at or after 2026-01-01T01:23:20Z\n"
    assert (result.status_code, result.text) == (422, text)
    assert post(world, f"{before[1]['id']}/convert", wish(3, 2)).status_code == 422
    assert changes(rows, all_rows(world.engine)) == {}
    planned = commit(world, amount=3, confirm_by=NOW + 5000, duration="1 year")
    assert post(world, f"{planned['id']}/convert", wish(3, 2)).json["commitment"]["status"] == "planned"


def test_no_conversion_to_what_was_never_scraped(cloud: World) -> None:
    made = commit(cloud, "dresden", amount=3, duration="1 year")  # dresden has no volumes yet
    rows = all_rows(cloud.engine)
    result = post(cloud, f"{made['id']}/convert", wish(3, 2), "dresden")
    assert (result.status_code, result.text[:46]) == (423, "no project report for resource volume/capacity")
    assert changes(rows, all_rows(cloud.engine)) == {}


def test_an_az_that_the_other_resource_does_not_have(make: Callable[..., World]) -> None:
    rule = BehaviorRule(resource="volume/capacity", commitment_durations=("1 year",))
    world = with_volumes(make(behaviors=[*BEHAVIORS[:2], rule], commitment_rules=RULES))
    made = commit(world, amount=3, duration="1 year")
    result = post(world, f"{made['id']}/convert", wish(3, 2))
    assert (result.status_code, result.text[:41]) == (422, "resource does not accept AZ-aware commitm")


# -- between the first look and the lock -------------------------------------------------------------------------------


@pytest.mark.sql
@pytest.mark.parametrize(
    ("what", "document"),
    [
        ("{}/start-transfer", {"commitment": {"amount": 10, "transfer_status": "unlisted"}}),
        ("{}/renew", None),
        ("{}/update-duration", {"duration": "1 year"}),
        ("{}/convert", wish(3, 2)),
        ("merge", {"commitment_ids": [1, 2]}),
        ("{}", None),
    ],
)
def test_what_was_given_away_meanwhile_is_not_ours(
    cloud: World, monkeypatch: pytest.MonkeyPatch, what: str, document: dict[str, Any] | None
) -> None:
    """The first look finds it in the project; once its resource is locked, somebody has taken it."""
    made, _ = commit(cloud, amount=10, duration="1 year"), commit(cloud, amount=1)
    look = queries.find
    before = cloud.engine.snapshot(lambda: look(cloud.engine, made["id"]))
    token = offer(cloud, made["id"], 10).json["commitment"]["transfer_token"]
    assert take(cloud, made["id"], token).status_code == 202
    cloud.clock.advance(300 * 86400)
    looks = iter([before])
    rows = all_rows(cloud.engine)["project_commitments"]

    def find(engine: Any, number: Any) -> Commitment | None:
        return next(looks, None) or look(engine, number) if number == made["id"] else look(engine, number)

    monkeypatch.setattr(queries, "find", find)
    path = f"{PATHS['berlin']}/commitments/{what.format(made['id'])}"
    result = cloud.request("DELETE" if what == "{}" else "POST", path, json=document)
    assert (result.status_code, result.text) == (404, "no such commitment\n")
    assert next(looks, None) is None
    assert all_rows(cloud.engine)["project_commitments"] == rows
