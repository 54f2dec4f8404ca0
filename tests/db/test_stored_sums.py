"""Stored sums are what the rows of the projects add up to, whatever is written, in whatever order and by whomever."""

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from limes.catalog.models import Resource
from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from limes.projects import scrapes
from limes.projects.discovery import delete_domains, delete_projects, upsert_domain, upsert_projects
from limes.quota.queries import write_backend_quotas, write_project_quotas
from limes.usage.sum_upkeep import compact_sums, rebuild_sums, wrong_sums
from limes.usage.sums import are_stored
from tests.support.databases import MigratedUrlFactory
from tests.support.levels import few_of

NOW = 1_800_000_000.0
AZS = ("az-one", "az-two", "any", "unknown")
LARGEST = 2**63 - 1
DOMAINS, PROJECTS, RESOURCES = range(2), range(4), range(3)

azs = st.sampled_from(AZS)
projects, resources = st.sampled_from(PROJECTS), st.sampled_from(RESOURCES)
amounts = st.sampled_from([0, 1, 5, 7, 20, LARGEST])
maybe_amounts = st.none() | amounts
statuses = st.sampled_from(["planned", "pending", "confirmed", "confirmed", "expired", "superseded"])


@pytest.fixture
def engine(database_url_with: MigratedUrlFactory) -> Any:
    """An engine on a database with the tables of the Limes half."""
    engine = Engine(database_url_with(limes_migrations))
    yield engine
    engine.close()


def insert_commitment(
    engine: Engine,
    project: int,
    resource: int,
    az: str,
    amount: int,
    status: str = "confirmed",
    expires_at: float = 3e9,
) -> None:
    """One of a random number."""
    superseded_at = NOW if status == "superseded" else None
    engine.execute(
        "INSERT INTO project_commitments (uuid, project_id, resource_id, az, amount, duration, status, created_at,"
        " creator_uuid, creator_name, confirmed_at, superseded_at, expires_at, transfer_status)"
        " VALUES (%s, %s, %s, %s, %s, '1 year', %s, 1, '', '', 2, %s, %s, '')",
        [f"{random.getrandbits(64):x}", project, resource, az, amount, status, superseded_at, expires_at],
    )


def make_services(engine: Engine) -> None:
    """Two services, of which one has two resources."""
    for service in (1, 2):
        engine.execute("INSERT INTO services (id, type) VALUES (%s, %s)", [service, f"service-{service}"])
    for resource in RESOURCES:
        add_resource(engine, resource)


def add_resource(engine: Engine, number: int) -> None:
    engine.execute(
        "INSERT INTO resources (id, service_id, name, is_known) VALUES (%s, %s, %s, %s)",
        [number + 1, 1 + number % 2, f"resource-{number}", True],
    )


def add_project(engine: Engine, number: int) -> None:
    """In its domain, which is made if it is not there."""
    domain = upsert_domain(engine, f"domain-{number % 2}", f"domain-{number % 2}")
    upsert_projects(engine, domain, [(f"project-{number}", f"project-{number}", "")])


def begin(engine: Engine) -> None:
    """Each project uses and has committed to something."""
    both = "FROM projects, resources"
    engine.execute(
        "INSERT INTO project_resources (project_id, resource_id, quota, backend_quota, usage)"
        f" SELECT projects.id, resources.id, 10, 10, 5 {both}"
    )
    engine.execute(
        "INSERT INTO project_az_resources (project_id, resource_id, az, usage, subresources)"
        f" SELECT projects.id, resources.id, 'az-one', 5, '' {both}"
    )
    for project, resource in engine.rows(f"SELECT projects.id, resources.id {both}"):
        insert_commitment(engine, project, resource, "az-one", 8)


class Writes(RuleBasedStateMachine):
    """One example: begins with projects that use 5 of everything in one AZ, and have committed to 8 there."""

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self.engine = engine
        for table in ("domains", "services"):
            engine.execute(f"DELETE FROM {table}")
        make_services(engine)
        for number in PROJECTS:
            add_project(engine, number)
        begin(engine)

    def project(self, number: int) -> int | None:
        """Its id, if it is there."""
        found = self.engine.rows("SELECT id FROM projects WHERE uuid = %s", [f"project-{number}"])
        return found[0][0] if found else None

    def has(self, resource: int) -> bool:
        return bool(self.engine.column(Resource.select(Resource.id).where(Resource.id == resource + 1)))

    @rule(number=projects)
    def discover(self, number: int) -> None:
        add_project(self.engine, number)

    @rule(number=projects, data=st.data())
    def scrape(self, number: int, data: st.DataObject) -> None:
        project = self.project(number)
        known = [resource + 1 for resource in RESOURCES if self.has(resource)]
        if project is None or not known:
            return
        usage = data.draw(st.lists(amounts, min_size=len(AZS), max_size=len(AZS)))
        is_reported = data.draw(st.lists(st.booleans(), min_size=len(AZS), max_size=len(AZS)))
        physical = data.draw(maybe_amounts)
        figures = {
            (resource, az): scrapes.AZRow(usage[(place + resource) % len(AZS)], physical, "")
            for resource in known
            for place, az in enumerate(AZS)
            if is_reported[place] or az == "az-one"
        }
        rows = {
            resource: scrapes.ResourceRow(
                data.draw(maybe_amounts),
                data.draw(st.none() | st.sampled_from([-1, 0, 3, 20])),
                min(LARGEST, sum(row.usage for (id_, _), row in figures.items() if id_ == resource)),
                data.draw(maybe_amounts),
            )
            for resource in known
        }

        def scrape() -> None:
            stored = scrapes.lock_figures(self.engine, [project], known)[project]
            changes = scrapes.find_changes(stored, scrapes.Figures(rows, figures))
            scrapes.write_figures(self.engine, [(project, changes)])

        self.engine.atomic(scrape)

    @rule(number=projects, resource=resources, quota=amounts, told=st.sampled_from([-1, 0, 5, 20]))
    def set_quota(self, number: int, resource: int, quota: int, told: int) -> None:
        if (project := self.project(number)) is not None:
            write_project_quotas(self.engine, project, {resource + 1: quota})
            write_backend_quotas(self.engine, project, {resource + 1: told})

    @rule(number=projects, resource=resources, az=azs, amount=st.sampled_from([1, 6, 30, LARGEST]), status=statuses,
          ends=st.sampled_from([NOW - 1, NOW, NOW + 1, 3e9]))  # fmt: skip
    def commit(self, number: int, resource: int, az: str, amount: int, status: str, ends: float) -> None:
        """Also to what was never scraped."""
        if (project := self.project(number)) is not None and self.has(resource):
            insert_commitment(self.engine, project, resource + 1, az, amount, status, ends)

    @rule(status=st.sampled_from(["pending", "confirmed", "expired"]), modulus=st.integers(1, 3))
    def advance(self, status: str, modulus: int) -> None:
        """Several at once, as somebody might by hand."""
        self.engine.execute(
            "UPDATE project_commitments SET status = %s WHERE id %% %s = 0 AND status <> 'superseded'",
            [status, modulus],
        )

    @rule(az=azs, resource=resources, number=projects)
    def change_everything(self, az: str, resource: int, number: int) -> None:
        """Commitments go to another AZ, resource and project in one statement."""
        if (project := self.project(number)) is not None and self.has(resource):
            self.engine.execute(
                "UPDATE project_commitments SET az = %s, resource_id = %s, project_id = %s WHERE id %% 2 = 0",
                [az, resource + 1, project],
            )

    @rule(modulus=st.integers(1, 4))
    def use_by_hand(self, modulus: int) -> None:
        self.engine.execute("UPDATE project_az_resources SET usage = 11 WHERE project_id %% %s = 0", [modulus])

    @rule(modulus=st.integers(1, 3))
    def drop_commitments(self, modulus: int) -> None:
        self.engine.execute("DELETE FROM project_commitments WHERE id %% %s = 0", [modulus])

    @rule(resource=resources)
    def forget_a_resource(self, resource: int) -> None:
        """A service that left the configuration takes its resources with it; later it comes back."""
        if self.has(resource):
            self.engine.execute("DELETE FROM resources WHERE id = %s", [resource + 1])
        else:
            add_resource(self.engine, resource)

    @rule(number=projects)
    def delete_project(self, number: int) -> None:
        self.engine.atomic(lambda: delete_projects(self.engine, [f"project-{number}"]))

    @rule(number=st.sampled_from(DOMAINS))
    def delete_domain(self, number: int) -> None:
        self.engine.atomic(lambda: delete_domains(self.engine, [f"domain-{number}"]))

    @rule()
    def fold(self) -> None:
        if are_stored(self.engine):
            compact_sums(self.engine)
            for table, key in (("project_sums", "az"), ("commitment_sums", "az, status, duration")):
                several = f"SELECT 1 FROM {table} GROUP BY domain_id, resource_id, {key} HAVING count(*) > 1"
                assert self.engine.rows(several) == []

    @precondition(lambda self: are_stored(self.engine))
    @rule()
    def rebuild(self) -> None:
        rebuild_sums(self.engine)

    @invariant()
    def sums_are_right(self) -> None:
        for time in (NOW, 2.9e9):
            assert wrong_sums(self.engine, time) == []
        if are_stored(self.engine):
            assert self.engine.rows("SELECT 1 FROM unused_commitments WHERE unused <= 0") == []

    def teardown(self) -> None:
        """Where nothing is left, nothing is kept."""
        if are_stored(self.engine):
            self.engine.execute("DELETE FROM domains")
            compact_sums(self.engine)
            for table in ("project_sums", "commitment_sums", "unused_commitments", "suspicious_resources"):
                assert self.engine.rows(f"SELECT * FROM {table}") == []


@pytest.mark.parametrize("histories", few_of([8, 25], 1))
def test_after_any_writes(engine: Engine, histories: int) -> None:
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        lambda: Writes(engine),
        settings=settings(
            max_examples=histories,
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        ),
    )


postgresql_only = pytest.mark.parametrize(
    "databases", [pytest.param("postgresql", marks=pytest.mark.postgresql)], indirect=True
)


@pytest.fixture
def cloud(engine: Engine) -> Engine:
    """A database with a project that uses 5 of each resource in one AZ, and has committed to 8 there."""
    make_services(engine)
    add_project(engine, 1)
    begin(engine)
    return engine


@postgresql_only
@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE project_sums SET quota = quota + 1 WHERE az = ''",
        "DELETE FROM project_sums WHERE az <> ''",
        "UPDATE project_sums SET usage = usage + 1 WHERE domain_id = 0 AND az = ''",
        "UPDATE project_sums SET is_change = TRUE WHERE domain_id <> 0 AND az <> ''",
        "DELETE FROM commitment_sums WHERE domain_id = 0",
        "INSERT INTO commitment_sums SELECT 4711, TRUE, domain_id, resource_id, az, status, duration, 3, 1 FROM commitment_sums LIMIT 1",
        "DELETE FROM unused_commitments WHERE az = ''",
        "DELETE FROM unused_commitments WHERE az <> ''",
        "INSERT INTO suspicious_resources SELECT project_id, resource_id FROM project_resources",
    ],
)
def test_damage_is_found_and_repaired(cloud: Engine, damage: str) -> None:
    compact_sums(cloud)
    assert wrong_sums(cloud, NOW) == []
    assert cloud.execute(damage) > 0
    assert wrong_sums(cloud, NOW)
    rebuild_sums(cloud)
    assert wrong_sums(cloud, NOW) == []
    compact_sums(cloud)
    assert wrong_sums(cloud, NOW) == []


@postgresql_only
def test_a_project_stays_in_its_domain(cloud: Engine) -> None:
    """Its figures would have to move from one sum to another, while others write them."""
    other = upsert_domain(cloud, "elsewhere", "elsewhere")
    with pytest.raises(Exception, match="cannot move to another domain"):
        cloud.execute("UPDATE projects SET domain_id = %s", [other])


@postgresql_only
def test_what_is_written_and_rolled_back(cloud: Engine) -> None:
    def work() -> None:
        cloud.execute("UPDATE project_resources SET quota = 99")
        cloud.execute("DELETE FROM project_commitments")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        cloud.atomic(work)
    assert wrong_sums(cloud, NOW) == []


@postgresql_only
def test_what_many_changes_lead_to_is_planned_for_that_many(cloud: Engine) -> None:
    """Whatever the plans of a session are for: one for ten took minutes for 25,000 projects."""
    modes = cloud.rows(
        "SELECT proname::text, proconfig FROM pg_proc WHERE proname LIKE 'limes\\_find\\_unused%%' ORDER BY 1"
    )
    assert modes == [
        ("limes_find_unused", ["plan_cache_mode=force_custom_plan"]),
        ("limes_find_unused_of_few", ["plan_cache_mode=force_generic_plan"]),
    ]
