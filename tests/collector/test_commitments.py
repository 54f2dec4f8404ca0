"""What happens to commitments by themselves: capacity arrives, time passes, and the ended ones are forgotten."""

import re

import pytest

from limes.backends import AZCapacity, AZUsage
from limes.core.catalog import BehaviorRule
from tests.support.rows import all_rows, changes

YEAR = 365 * 86400
RULE = BehaviorRule(re.compile("compute/cores"), commitment_durations=("1 year",), commitment_is_az_aware=True)


@pytest.fixture
def lab(make_lab):
    lab = make_lab(catalog_options={"behaviors": [RULE]})
    lab.compute.usage = {"berlin": {"cores": {"az-one": AZUsage(10)}}}
    lab.discover().everything()
    lab.scrape_all()
    capacity(lab, 0)
    return lab


def capacity(lab, amount):
    lab.clock.advance(901)
    lab.capacitors["nova"].capacity = {"compute": {"cores": {"az-one": AZCapacity(amount), "az-two": AZCapacity(5)}}}
    assert lab.scrape_capacity().run_next().success


def add(lab, number, amount, *, project="berlin", status="planned", confirm_by=None, expires_at=None, az="az-one"):
    lab.execute(
        "INSERT INTO project_commitments (uuid, project_id, resource_id, az, amount, duration, status, created_at,"
        " creator_uuid, creator_name, confirm_by, confirmed_at, expires_at, superseded_at, transfer_status)"
        " VALUES (%s, %s, (SELECT id FROM resources WHERE name = 'cores'), %s, %s, '1 year', %s, %s, '', '', %s, %s,"
        " %s, %s, '')",
        f"uuid-{number}",
        lab.project_id(project),
        az,
        amount,
        status,
        lab.now - 100 + number,
        lab.now if confirm_by is None else confirm_by,
        lab.now if status == "confirmed" else None,
        expires_at or lab.now + YEAR,
        lab.now if status == "superseded" else None,
    )


def states(lab):
    return {
        int(uuid.removeprefix("uuid-")): status
        for uuid, status in lab.rows("SELECT uuid, status FROM project_commitments")
    }


def events(lab):
    return [
        (event, int(uuid.removeprefix("uuid-")))
        for event, uuid in lab.rows("SELECT event, commitment_uuid FROM commitment_events ORDER BY number")
    ]


def test_a_scrape_of_capacity_confirms_in_order(lab):
    add(lab, 1, 60, project="dresden")
    add(lab, 2, 50)
    add(lab, 3, 15)
    add(lab, 4, 5, az="az-two")
    add(lab, 5, 1, az="az-two")
    before = all_rows(lab.engine)
    capacity(lab, 80)
    assert states(lab) == {1: "confirmed", 2: "pending", 3: "confirmed", 4: "confirmed", 5: "pending"}
    assert {"project_commitments", "commitment_events"} < set(changes(before, all_rows(lab.engine)))
    assert events(lab) == [
        *[("pending", number) for number in (1, 2, 3, 4, 5)],
        ("confirmed", 1),
        ("confirmed", 3),
        ("confirmed", 4),
    ]
    confirmed = lab.rows("SELECT DISTINCT confirmed_at FROM project_commitments WHERE status = 'confirmed'")
    assert confirmed == [(lab.now,)]


def test_what_expires_makes_room(lab):
    capacity(lab, 80)
    add(lab, 1, 70, project="dresden", status="confirmed", expires_at=lab.now + 100)
    add(lab, 2, 20)
    job = lab.settle_commitments()
    job.run()
    assert states(lab) == {1: "confirmed", 2: "pending"}
    lab.clock.advance(100)
    job.run()
    assert states(lab) == {1: "expired", 2: "confirmed"}
    before = all_rows(lab.engine)
    job.run()
    assert changes(before, all_rows(lab.engine)) == {}


def test_a_resource_without_a_capacitor_goes_on_as_well(lab):
    lab.execute("DELETE FROM az_resources")
    add(lab, 1, 1, status="confirmed", expires_at=lab.now + 1)
    add(lab, 2, 1, expires_at=lab.now + 2)
    lab.clock.advance(1)
    lab.settle_commitments().run()
    assert states(lab) == {1: "expired", 2: "pending"}
    lab.clock.advance(1)
    lab.settle_commitments().run()
    assert states(lab) == {1: "expired", 2: "expired"}


def test_usage_that_falls_makes_room(lab):
    capacity(lab, 10)
    add(lab, 1, 5, project="dresden")
    lab.settle_commitments().run()
    assert states(lab) == {1: "pending"}
    lab.compute.usage = {}
    lab.clock.advance(1800)
    lab.scrape_all()
    lab.settle_commitments().run()
    assert states(lab) == {1: "confirmed"}


def test_ended_ones_are_forgotten_but_not_their_events(lab):
    add(lab, 1, 1, status="confirmed", expires_at=lab.now + 10)
    add(lab, 2, 1, status="superseded")
    add(lab, 3, 1, status="confirmed")
    lab.clock.advance(10)
    job = lab.settle_commitments()
    job.run()
    lab.clock.advance(job.retention - 5)
    job.run()
    assert states(lab) == {1: "expired", 3: "confirmed"}
    lab.clock.advance(6)
    job.run()
    assert states(lab) == {3: "confirmed"}
    assert events(lab) == [("expired", 1)]


def test_a_vanished_project_goes_when_its_commitments_have_ended(lab):
    add(lab, 1, 1, status="confirmed", expires_at=lab.now + 10)
    add(lab, 2, 1, status="superseded")
    germany = next(domain for domain in lab.keystone.found if domain.name == "germany")
    lab.keystone.found[germany] = [one for one in lab.keystone.found[germany] if one.name != "berlin"]
    lab.discover().everything()
    assert lab.rows("SELECT COUNT(*) FROM projects WHERE name = 'berlin'") == [(1,)]
    lab.clock.advance(10)
    lab.settle_commitments().run()
    lab.discover().everything()
    assert lab.rows("SELECT COUNT(*) FROM projects WHERE name = 'berlin'") == [(0,)]
    assert states(lab) == {}
    assert events(lab) == [("expired", 1)]
