"""The consistency job: rows that mirror the configuration, and constraints on domain quotas."""

from limes.actions.check_consistency import CheckConsistency
from limes.actions.sync_catalog import SyncCatalog
from limes.core.catalog import Catalog, ServiceDef
from limes.core.constraint_set import ConstraintSet
from limes.core.constraints import Constraint
from limes.db.queries.catalog import service_resource_ids
from tests.collector.lab import COMPUTE, VOLUME
from tests.support.rows import all_rows, changes


def job(lab, services, capacitors, constraints=None):
    catalog = Catalog(["az-one"], services)
    sync = SyncCatalog(lab.engine, catalog, capacitors, lab.clock)
    return CheckConsistency(lab.engine, catalog, constraints or ConstraintSet(), sync, lab.trail)


def names(lab, table, column):
    with lab.engine.connection():
        return sorted(row[0] for row in lab.engine.rows(f"SELECT {column} FROM {table}"))


def test_running_again_changes_nothing(lab):
    check = job(lab, [COMPUTE, VOLUME], ["inventory"])
    check.run()
    before = all_rows(lab.engine)
    check.run()
    assert changes(before, all_rows(lab.engine)) == {}


def test_a_service_that_left_the_configuration_goes_with_all_its_rows(lab):
    job(lab, [COMPUTE], ["inventory"]).run()
    assert names(lab, "services", "type") == ["compute"]
    assert names(lab, "resources", "name") == ["cores", "gpus", "ram"]
    assert names(lab, "project_services", "project_id") == names(lab, "projects", "id")


def test_a_resource_that_left_the_configuration_is_hidden_until_it_comes_back(lab):
    smaller = ServiceDef("compute", "compute", {name: one for name, one in COMPUTE.resources.items() if name != "ram"})

    def known():
        return sorted(
            service_resource_ids(lab.engine, lab.rows("SELECT id FROM services WHERE type = 'compute'")[0][0])
        )

    job(lab, [smaller, VOLUME], ["inventory"]).run()
    assert (known(), names(lab, "resources", "name")) == (["cores", "gpus"], ["capacity", "cores", "gpus", "ram"])
    job(lab, [COMPUTE, VOLUME], ["inventory"]).run()
    assert known() == ["cores", "gpus", "ram"]


def test_a_new_service_is_due_in_every_project_at_once(lab):
    job(lab, [COMPUTE], ["inventory"]).run()
    lab.clock.advance(10)
    job(lab, [COMPUTE, VOLUME], ["inventory"]).run()
    with lab.engine.connection():
        due = lab.engine.rows(
            "SELECT ps.next_scrape_at FROM project_services ps JOIN services s ON s.id = ps.service_id"
            " WHERE s.type = 'volume'"
        )
    assert due == [(lab.clock.now().timestamp(),)] * 3


def test_a_capacitor_that_left_takes_its_capacity_along(lab):
    job(lab, [COMPUTE, VOLUME], ["inventory"]).run()

    def own():
        lab.engine.execute(
            "UPDATE resources SET capacitor_id = (SELECT id FROM capacitors WHERE name = 'inventory') WHERE name = 'ram'"
        )
        lab.engine.execute(
            "INSERT INTO az_resources (resource_id, az, raw_capacity, subcapacities)"
            " SELECT id, 'any', 5, '[]' FROM resources WHERE name = 'ram'"
        )

    lab.engine.atomic(own)
    job(lab, [COMPUTE, VOLUME], ["other"]).run()
    assert names(lab, "capacitors", "name") == ["other"]
    assert names(lab, "az_resources", "az") == []


def test_domain_quotas_follow_their_constraints(lab, caplog):
    constraints = ConstraintSet(domains={"germany": {("compute", "cores"): Constraint(10, 20)}})
    before = all_rows(lab.engine)
    job(lab, [COMPUTE, VOLUME], [], constraints).run()
    changed = changes(before, all_rows(lab.engine))
    assert [row[2] for row in changed["domain_resources"][1]] == [10]
    assert "AUDIT: domain germany, resource compute/cores: quota 0 -> 10, as its constraint demands" in caplog.text
