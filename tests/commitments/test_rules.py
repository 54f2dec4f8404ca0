"""The life of a commitment and the decision on capacity, without any database."""

from typing import Any

import pytest

from limes.commitments import commitment as life
from limes.commitments import reshaping
from limes.commitments.claims import Balance, Claims, Tally
from limes.commitments.commitment import Commitment, Status
from limes.kernel.errors import Conflict, Unprocessable

DAY = 86400.0


def make(**fields: Any) -> Commitment:
    values = {
        "id": 1,
        "uuid": "u1",
        "project_id": 1,
        "resource_id": 1,
        "az": "az-one",
        "amount": 10,
        "duration": "10 days",
        "status": Status.CONFIRMED,
        "created_at": 0.0,
        "creator_uuid": "c",
        "creator_name": "c@d",
        "confirm_by": None,
        "confirmed_at": 0.0,
        "expires_at": 10 * DAY,
    }
    return Commitment(**(values | fields))


# -- capacity ----------------------------------------------------------------------------------------------------------


def tally_of(capacity: dict[str, Any], committed: dict[Any, Any], usage: dict[Any, Any], whole: Any = None) -> Tally:
    """By hand: capacity by AZ, and what projects have committed to and use by AZ and project."""
    claimed = {}
    for az, project in {**committed, **usage}:
        claim = max(committed.get((az, project), 0), usage.get((az, project), 0))
        claimed[az] = claimed.get(az, 0) + claim
    whole = sum(capacity.values()) if whole is None else whole
    return Tally(Balance(Claims(capacity, whole, claimed), committed, usage))


def in_one(amounts: dict[Any, Any]) -> dict[Any, Any]:
    return {("az-one", project): amount for project, amount in amounts.items()}


@pytest.mark.parametrize(
    ("capacity", "committed", "usage", "project", "amount", "fits"),
    [
        # claimed before: max(committed, usage) of each project
        (100, {}, {}, 1, 100, True),
        (100, {}, {}, 1, 101, False),
        (100, {}, {1: 30}, 1, 100, True),  # own usage is covered by the own commitment
        (100, {}, {2: 30}, 1, 70, True),
        (100, {}, {2: 30}, 1, 71, False),
        (100, {2: 50}, {2: 30}, 1, 50, True),
        (100, {2: 50}, {2: 30}, 1, 51, False),
        (100, {2: 30}, {2: 50}, 1, 51, False),
        (100, {1: 60}, {2: 40}, 1, 1, False),
        (0, {}, {}, 1, 1, False),
        (100, {}, {1: 50, 2: 50}, 1, 50, True),  # full, but nothing more is claimed
        (100, {}, {1: 60, 2: 60}, 1, 60, True),  # more is used than there is, and covering it makes nothing worse
        (100, {}, {1: 60, 2: 60}, 1, 61, False),
        (100, {}, {1: 60, 2: 60}, 3, 1, False),
    ],
)
def test_can_confirm(
    capacity: int, committed: dict[Any, Any], usage: dict[Any, Any], project: int, amount: int, fits: bool
) -> None:
    tally = tally_of({"az-one": capacity}, in_one(committed), in_one(usage))
    assert tally.allows("az-one", project, amount) is fits
    assert (tally.committable_by("az-one", project) >= amount) is fits


@pytest.mark.parametrize(
    ("capacity", "committed", "usage", "az", "project", "amount", "fits"),
    [
        # two AZs of 496: what others use nobody knows where cannot be sold in either of them
        ((496, 496), {}, {("any", 2): 84}, "one", 1, 496, True),
        ((496, 496), {("two", 1): 496}, {("any", 2): 84}, "one", 1, 412, True),
        ((496, 496), {("two", 1): 496}, {("any", 2): 84}, "one", 1, 413, False),
        ((496, 496), {("two", 1): 496}, {("unknown", 2): 80, ("any", 3): 4}, "one", 1, 413, False),
        # one's own is no exception: it may be in another AZ than the commitment
        ((496, 496), {("two", 1): 496}, {("any", 1): 84}, "one", 1, 413, False),
        # what is used in a known AZ, and covered there, takes no room elsewhere
        ((496, 496), {("two", 1): 496}, {("two", 1): 84}, "one", 1, 496, True),
        # each AZ is still a bound of its own
        ((496, 496), {}, {("any", 2): 84}, "one", 1, 497, False),
        # an AZ with more claims than capacity: they count where something is used nobody knows where
        ((100, 50), {("two", 2): 70}, {}, "one", 1, 100, True),
        ((100, 50), {("two", 2): 70}, {("any", 3): 1}, "one", 1, 79, True),
        ((100, 50), {("two", 2): 70}, {("any", 3): 1}, "one", 1, 80, False),
        # too much is claimed overall; covering what is used in the AZ claims no more
        ((10, 10), {}, {("any", 2): 30, ("one", 1): 5}, "one", 1, 5, True),
        ((10, 10), {}, {("any", 2): 30, ("one", 1): 5}, "one", 1, 6, False),
    ],
)
def test_usage_in_unknown_azs_is_never_sold(
    capacity: tuple[int, int],
    committed: dict[Any, Any],
    usage: dict[Any, Any],
    az: str,
    project: int,
    amount: int,
    fits: bool,
) -> None:
    tally = tally_of(dict(zip(("one", "two"), capacity, strict=True)), committed, usage)
    assert tally.allows(az, project, amount) is fits
    assert (tally.committable_by(az, project) >= amount) is fits
    assert (tally.missing(az, project, amount) == 0) is fits


def test_whether_unknown_azs_are_the_reason() -> None:
    assert tally_of({"one": 10, "two": 10}, {("two", 1): 8}, {("any", 2): 5}).claims.holds_back("one")
    assert not tally_of({"one": 10, "two": 10}, {("one", 1): 9}, {("any", 2): 5}).claims.holds_back("one")
    assert not tally_of({"one": 10, "two": 10}, {("two", 1): 15}, {}).claims.holds_back("one")


def test_where_commitments_are_for_no_az_everything_counts_together() -> None:
    claims = Claims({"any": 100}, 100, {"any": 30}, is_pooled=True)
    tally = Tally(Balance(claims, {("any", 1): 30}, {("any", 1): 10}))
    assert tally.committable_by("any", 1) == tally.committable_by("any", 2) == 70
    tally.add("az-one", 1, -30)  # from a time at which they were for one AZ
    assert (tally.committable_by("any", 1), tally.claims.unplaced) == (100, 0)


@pytest.mark.parametrize(
    ("capacity", "committed", "usage", "fits"),
    [
        (20, {1: 10}, {}, True),
        (10, {1: 10}, {1: 10}, False),  # what it has covered needs capacity of its own
        (20, {1: 10}, {1: 10}, True),
        (10, {1: 10}, {2: 10}, True),  # it covers what the other one uses
        (5, {1: 10}, {}, True),  # capacity has shrunk; this makes nothing worse
    ],
)
def test_moves(capacity: int, committed: dict[int, int], usage: dict[Any, Any], fits: bool) -> None:
    assert tally_of({"az-one": capacity}, in_one(committed), in_one(usage)).allows_move("az-one", 1, 2, 10) is fits


def test_a_move_that_claims_no_more_is_fine_whatever_is_used_elsewhere() -> None:
    full = tally_of({"one": 10, "two": 10}, {("one", 1): 5}, {("any", 3): 30})
    assert full.allows_move("one", 1, 2, 5)
    covered = tally_of({"one": 20, "two": 0}, {("one", 1): 5}, {("one", 1): 5, ("any", 3): 12})
    assert not covered.allows_move("one", 1, 2, 5)  # 3 are left overall
    assert covered.allows_move("one", 1, 1, 5)


def test_first_come_first_served() -> None:
    pending = [
        make(id=1, amount=5, created_at=3.0),
        make(id=2, amount=50, created_at=1.0, confirm_by=9.0),
        make(id=3, amount=60, created_at=1.0, confirm_by=9.0),
        make(id=4, amount=30, created_at=1.0, confirm_by=8.0),
        make(id=5, amount=16, created_at=2.0),
    ]
    chosen = tally_of({"az-one": 100}, {}, {}).confirm_in_turn(pending)
    assert [one.id for one in chosen] == [4, 2, 5]  # 3 does not fit and blocks nobody; nothing is left for 1


def test_first_come_first_served_over_all_azs() -> None:
    pending = [make(id=1, amount=30, az="one", created_at=2.0), make(id=2, amount=30, az="two", created_at=1.0)]
    chosen = tally_of({"one": 30, "two": 30}, {}, {("any", 9): 20}).confirm_in_turn(pending)
    assert [one.id for one in chosen] == [2]  # 40 are left for both


# -- transitions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "now", "becomes"),
    [
        (Status.PLANNED, 4.9, Status.PLANNED),
        (Status.PLANNED, 5.0, Status.PENDING),
        (Status.PLANNED, 20.0, Status.EXPIRED),
        (Status.PENDING, 19.9, Status.PENDING),
        (Status.PENDING, 20.0, Status.EXPIRED),
        (Status.CONFIRMED, 19.9, Status.CONFIRMED),
        (Status.CONFIRMED, 20.0, Status.EXPIRED),
        (Status.SUPERSEDED, 20.0, Status.SUPERSEDED),
        (Status.EXPIRED, 0.0, Status.EXPIRED),
    ],
)
def test_time_passes(status: Status, now: float, becomes: Status) -> None:
    assert life.advance(make(status=status, confirm_by=5.0, expires_at=20.0), now).status is becomes


def test_an_expired_commitment_is_not_offered_any_more() -> None:
    ended = life.advance(make(transfer_status="public", transfer_token="t"), 10 * DAY)
    assert (ended.status, ended.transfer_status, ended.transfer_token) == (Status.EXPIRED, "", None)


@pytest.mark.parametrize("status", [Status.PLANNED, Status.CONFIRMED, Status.SUPERSEDED, Status.EXPIRED])
def test_only_pending_ones_are_confirmed(status: Status) -> None:
    with pytest.raises(Conflict, match=f"is {status}"):
        life.confirm(make(status=status), 1.0)


@pytest.mark.parametrize("status", [Status.SUPERSEDED, Status.EXPIRED])
def test_nothing_is_made_of_what_has_ended(status: Status) -> None:
    ended = make(status=status)
    deeds = [
        lambda: reshaping.supersede(ended, 1.0),
        lambda: life.offer(ended, "public", "t"),
        lambda: reshaping.split(ended, 1, 1.0, ("a", "b")),
        lambda: reshaping.merge([ended, make(id=2)], 1.0, "a"),
        lambda: reshaping.convert(ended, 1, 2, 1, 1.0, ("a", "b")),
        lambda: reshaping.renew(ended, 1.0, "a", 90 * DAY),
        lambda: reshaping.change_duration(ended, "1 year", 1.0),
    ]
    for deed in deeds:
        with pytest.raises(Conflict, match=f"commitment 1 is {status}"):
            deed()


def test_split() -> None:
    made = make(transfer_status="public", transfer_token="t", confirm_by=3.0)
    parts = reshaping.split(made, 4, 7.0, ("a", "b"))
    assert [(one.status, one.superseded_at, one.transfer_token) for one in parts.old] == [
        (Status.SUPERSEDED, 7.0, None)
    ]
    assert [(one.uuid, one.amount, one.created_at, one.predecessor_id) for one in parts.new] == [
        ("a", 4, 7.0, 1),
        ("b", 6, 7.0, 1),
    ]
    for part in parts.new:
        assert (part.id, part.expires_at, part.confirmed_at, part.confirm_by) == (0, 10 * DAY, 0.0, 3.0)
        assert (part.transfer_status, part.status, part.duration) == ("", Status.CONFIRMED, "10 days")
    for amount in (0, -1, 10, 11):
        with pytest.raises(Unprocessable):
            reshaping.split(made, amount, 7.0, ("a", "b"))


def test_merge() -> None:
    merged = reshaping.merge([make(), make(id=2, amount=5, expires_at=20 * DAY, duration="20 days")], 7.0, "m")
    assert [one.status for one in merged.old] == [Status.SUPERSEDED] * 2
    (new,) = merged.new
    assert (new.amount, new.expires_at, new.duration, new.predecessor_id) == (15, 20 * DAY, "20 days", 2)


@pytest.mark.parametrize(
    "others",
    [
        [],
        [make()],
        [make(id=2, az="az-two")],
        [make(id=2, resource_id=2)],
        [make(id=2, project_id=2)],
        [make(id=2, status=Status.PENDING)],
        [make(id=2, transfer_status="unlisted", transfer_token="t")],
    ],
)
def test_what_does_not_merge(others: list[Any]) -> None:
    with pytest.raises((Conflict, Unprocessable)):
        reshaping.merge([make(), *others], 7.0, "m")
