"""Whatever frees capacity confirms those that wait for it at once, without the job: less usage, vanished projects."""

from collections.abc import Callable
from typing import Any, Never

import pytest

from limes.backends import AZUsage
from limes.catalog.catalog import BehaviorRule
from limes.commitments import settle
from limes.kernel.errors import Unavailable
from tests.collector.lab import Lab
from tests.commitments.in_lab import RULE, add, capacity, events, make_committed, states
from tests.support.rows import all_rows, changes
from tests.support.statements import statements_of


def start(make_lab: Callable[..., Lab], rule: BehaviorRule) -> Lab:
    """There are 20 cores in az-one, of which berlin uses 10, and 5 in az-two, of which dresden uses 5."""
    lab = make_committed(make_lab, rule, berlin={"az-one": 10}, dresden={"az-two": 5})
    capacity(lab, 20)
    return lab


@pytest.fixture
def lab(make_lab: Callable[..., Lab]) -> Lab:
    return start(make_lab, RULE)


def use(lab: Lab, project: str, **usage: int) -> None:
    """Scrapes this usage of cores, by AZ."""
    lab.compute.usage[project] = {"cores": {az.replace("_", "-"): AZUsage(amount) for az, amount in usage.items()}}
    lab.make_due(project)
    assert lab.scrape_next("compute")


def wait(lab: Lab, number: int, amount: int, **fields: str) -> None:
    """One that waits for capacity."""
    add(lab, number, amount, status="pending", **fields)


def test_less_usage(lab: Lab) -> None:
    wait(lab, 1, 15, project="paris")
    wait(lab, 2, 5, project="paris", az="az-two")
    use(lab, "berlin", az_one=6)
    assert states(lab) == {1: "pending", 2: "pending"}  # 14 are left
    use(lab, "berlin", az_one=5)
    assert states(lab) == {1: "confirmed", 2: "pending"}
    use(lab, "dresden")
    assert states(lab) == {1: "confirmed", 2: "confirmed"}
    assert events(lab) == [("confirmed", 1), ("confirmed", 2)]


def test_the_same_and_more_usage_asks_the_database_nothing(lab: Lab) -> None:
    same = statements_of(lab.engine, lambda: use(lab, "berlin", az_one=10))
    more = statements_of(lab.engine, lambda: use(lab, "berlin", az_one=12, az_two=1))
    less = statements_of(lab.engine, lambda: use(lab, "berlin", az_one=12))
    assert not [sql for sql in same + more if "commitment" in sql]
    assert len([sql for sql in less if "commitment" in sql]) == 1  # nobody waits


def test_less_usage_in_another_az_helps_where_the_whole_capacity_is_short(lab: Lab) -> None:
    """25 are there overall, 8 of them in use in az-one, and 13 nobody knows where."""
    use(lab, "berlin", az_one=8)
    use(lab, "dresden", any=13)
    wait(lab, 1, 10, project="paris")
    use(lab, "dresden", any=8)
    assert states(lab) == {1: "pending"}
    use(lab, "dresden", any=7)
    assert states(lab) == {1: "confirmed"}


def test_less_usage_of_another_resource_locks_nothing(lab: Lab) -> None:
    wait(lab, 1, 15, project="paris")
    lab.compute.usage["dresden"]["ram"] = {"any": AZUsage(5)}
    lab.execute("UPDATE project_services SET next_scrape_at = %s", lab.now)
    while lab.scrape_next("compute"):
        pass
    asked = statements_of(lab.engine, lambda: use(lab, "dresden", az_two=5))
    assert len([sql for sql in asked if "commitment" in sql]) == 1
    assert not [sql for sql in asked if "FROM resources WHERE id IN" in sql]


def test_in_the_az_any_usage_counts_wherever_it_was(make_lab: Callable[..., Lab]) -> None:
    lab = start(make_lab, RULE.model_copy(update={"commitment_is_az_aware": False}))
    wait(lab, 1, 14, project="paris", az="any")  # 25 are there, 15 are used
    use(lab, "dresden", az_two=2)
    assert states(lab) == {1: "pending"}
    use(lab, "dresden", az_two=1)
    assert states(lab) == {1: "confirmed"}


def test_the_scrape_stands_even_if_nobody_can_be_confirmed_now(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(limes: Any, resource_id: int) -> Never:
        raise Unavailable("the database is busy")

    wait(lab, 1, 15, project="paris")
    monkeypatch.setattr(settle, "_settle", fail)
    use(lab, "berlin", az_one=1)
    assert states(lab) == {1: "pending"}
    monkeypatch.undo()
    lab.settle_commitments()
    assert states(lab) == {1: "confirmed"}


@pytest.mark.parametrize("whole_domain", [False, True])
def test_what_a_vanished_project_has_not_got_is_deleted(lab: Lab, whole_domain: bool) -> None:
    wait(lab, 1, 15)
    add(lab, 2, 1, confirm_by=lab.now + 1000)
    wait(lab, 3, 15, project="paris")
    add(lab, 4, 1, project="dresden", status="confirmed", az="az-two")
    if whole_domain:
        lab.keystone.found = {domain: found for domain, found in lab.keystone.found.items() if domain.name == "france"}
    else:
        lab.keystone.vanish("berlin")
    lab.discover()
    assert states(lab) == {3: "confirmed", 4: "confirmed"}
    assert events(lab) == [("deleted", 1), ("deleted", 2), ("confirmed", 3)]
    left = ["dresden", "paris"]  # somebody pays for what dresden has
    assert sorted(name for (name,) in lab.rows("SELECT name FROM projects")) == left


def test_a_vanished_project_goes_when_its_commitments_have_ended(lab: Lab) -> None:
    add(lab, 1, 1, status="confirmed", expires_at=lab.now + 10)
    add(lab, 2, 1, status="superseded")
    lab.keystone.vanish("berlin")
    before = all_rows(lab.engine)
    lab.discover()
    assert changes(before, all_rows(lab.engine)) == {}
    lab.clock.advance(10)
    lab.settle_commitments()
    lab.discover()
    assert lab.rows("SELECT COUNT(*) FROM projects WHERE name = 'berlin'") == [(0,)]
    assert states(lab) == {}
    assert events(lab) == [("expired", 1)]


def test_what_has_ended_unconfirmed_is_told_as_such(lab: Lab) -> None:
    """Though no job has seen its end before the project vanishes."""
    add(lab, 1, 50, expires_at=lab.now + 10)
    add(lab, 2, 50, expires_at=lab.now + 11)
    lab.clock.advance(10)
    lab.keystone.vanish("berlin")
    lab.discover()
    assert events(lab) == [("deleted", 2), ("expired", 1)]
    assert lab.rows("SELECT COUNT(*) FROM projects WHERE name = 'berlin'") == [(0,)]
