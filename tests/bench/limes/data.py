"""The data set: made inside PostgreSQL, so that loading it takes seconds."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from limes.db.engine import Engine
from limes.usage.sum_upkeep import compact_sums

PROJECTS_PER_DOMAIN = 1000
SERVICES = ("compute", "network", "storage")
RESOURCES_PER_SERVICE = 10
AZS = ("az-one", "az-two", "az-three")


@dataclass(frozen=True)
class Size:
    """How much there is of what grows with a cloud."""

    domains: int = 5
    commitments: int = 20_000

    def times(self, factor: int) -> "Size":
        """So many times as much."""
        return Size(self.domains * factor, self.commitments * factor)


STANDARD = Size()
FIRST_PROJECTS = STANDARD.domains * PROJECTS_PER_DOMAIN


def resource_names(service: str) -> list[str]:
    """Names of a service's resources."""
    return [f"{service}-{number}" for number in range(RESOURCES_PER_SERVICE)]


def domain_uuid(number: int) -> str:
    """UUID of the domain of that number, from 1."""
    return f"d0000000-0000-0000-0000-{number:012d}"


def project_uuid(number: int) -> str:
    """UUID of the project of that number, from 1 over all domains; 1 to 1,000 are the first domain's."""
    return f"e0000000-0000-0000-0000-{number:012d}"


def load(engine: Engine, size: Size) -> None:
    """Fills a migrated database in which the services and resources have their rows already."""
    engine.atomic(lambda: _without_triggers(engine, lambda: insert(engine, size)))
    compact_sums(engine)  # as collectors do all the time
    with engine.connection():  # what PostgreSQL does by itself, where autovacuum is on
        engine.db.execute_sql("VACUUM ANALYZE")


def _without_triggers(engine: Engine, work: Callable[[], None]) -> None:
    """Computes the stored sums once in the end, as a migration does."""
    tables = ("project_resources", "project_az_resources", "project_commitments")
    for table in tables:
        engine.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
    work()
    for table in tables:
        engine.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")
    engine.execute("SELECT limes_rebuild_sums()")


_USED = ("r.id %% 3 = 0", "true", "true", "(p.id + r.id) %% 3 = 0")
"""Which project resources have a row in `any`, and in each AZ."""


def _usage(position: int) -> str:
    return f"CASE WHEN {_USED[position]} THEN (p.id * 13 + r.id * 5 + {position}) %% 40 ELSE 0 END"


def insert(engine: Engine, size: Size) -> None:
    """Makes the rows, of which each release since 0.1 has the columns."""
    projects = size.domains * PROJECTS_PER_DOMAIN
    run, now = engine.execute, time.time()
    run(
        "INSERT INTO domains (id, uuid, name) SELECT n, 'd0000000-0000-0000-0000-' || lpad(n::text, 12, '0'),"
        " 'domain-' || n FROM generate_series(1, %s) n",
        [size.domains],
    )
    run(
        "INSERT INTO projects (id, uuid, name, parent_uuid, domain_id, has_bursting)"
        " SELECT n, 'e0000000-0000-0000-0000-' || lpad(n::text, 12, '0'), 'project-' || n,"
        " 'd0000000-0000-0000-0000-' || lpad((1 + (n - 1) / %s)::text, 12, '0'), 1 + (n - 1) / %s, false"
        " FROM generate_series(1, %s) n",
        [PROJECTS_PER_DOMAIN, PROJECTS_PER_DOMAIN, projects],
    )
    run(
        "INSERT INTO domain_resources (domain_id, resource_id, quota) SELECT d.id, r.id, 10000000 FROM domains d, resources r"
    )
    run(
        "INSERT INTO project_services (project_id, service_id, scraped_at, checked_at, next_scrape_at, is_stale,"
        " scrape_error, push_failures, push_error)"
        " SELECT p.id, s.id, %s - p.id %% 600, %s - p.id %% 600, 2000000000, false, '', 0, '' FROM projects p, services s",
        [now, now],  # collectors are at work: what is old is looked into by further queries
    )
    run(
        "UPDATE project_services SET scrape_error = 'no answer', scrape_failures = 1, failing_since = checked_at"
        " WHERE project_id %% 10 = 0 AND service_id = 1 AND project_id BETWEEN %s AND %s",
        [4 * PROJECTS_PER_DOMAIN, FIRST_PROJECTS],
    )
    # what is wrong is in the first domains, so that a larger cloud has no longer a list of it
    run(
        "INSERT INTO project_resources (project_id, resource_id, quota, backend_quota, usage)"
        " SELECT p.id, r.id, quota + p.more, quota + p.more + CASE WHEN (p.id + r.id) %% 97 = 0 AND p.more = 0 THEN 1 ELSE 0 END,"
        f" {' + '.join(_usage(position) for position in range(len(AZS) + 1))}"
        " FROM (SELECT id, CASE WHEN id <= %s THEN 0 ELSE 100 END AS more FROM projects) p, resources r,"
        " LATERAL (SELECT 100 + (p.id * 7 + r.id) %% 900 AS quota) q",
        [FIRST_PROJECTS],
    )
    for position, az in enumerate(("any", *AZS)):
        run(
            "INSERT INTO project_az_resources (project_id, resource_id, az, usage, physical_usage, subresources)"
            f" SELECT p.id, r.id, %s, {_usage(position)}, NULL, '' FROM projects p, resources r"
            f" WHERE {_USED[position]}",
            [az],
        )
        if az != "any":
            run(
                "INSERT INTO az_resources (resource_id, az, raw_capacity, usage, subcapacities)"
                " SELECT id, %s, 10000000, 1000, '[]' FROM resources",
                [az],
            )
    _load_commitments(engine, size)
    _load_history(engine, size)
    for table in ("domains", "projects"):
        engine.rows(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), 100000)")


def _load_commitments(engine: Engine, size: Size) -> None:
    """Confirmed ones but for one in ten, which are planned for the year 2033."""
    engine.execute(
        "INSERT INTO project_commitments (uuid, project_id, resource_id, az, amount, duration, status, created_at,"
        " creator_uuid, creator_name, confirm_by, confirmed_at, expires_at, transfer_status)"
        " SELECT 'c0000000-0000-0000-0000-' || lpad(n::text, 12, '0'), 1 + n %% %s,"
        " (SELECT array_agg(id ORDER BY id) FROM resources)[1 + n %% 30], 'az-' || (ARRAY['one', 'two', 'three'])[1 + n %% 3],"
        " 1 + n %% 20, '10 years', CASE WHEN n %% 10 = 0 THEN 'planned' ELSE 'confirmed' END, 1700000000 + n, 'u', 'u@d',"
        " CASE WHEN n %% 10 = 0 THEN 2000000000 END, CASE WHEN n %% 10 <> 0 THEN 1700000000 + n END,"
        " CASE WHEN n %% 10 = 0 THEN 2315000000 ELSE 2015000000 + n END, ''"
        " FROM generate_series(1, %s) n",
        [size.domains * PROJECTS_PER_DOMAIN, size.commitments],
    )


def _load_history(engine: Engine, size: Size) -> None:
    """Twenty changes of quota for each project, one of fifty by a user; and the event of each commitment."""
    projects = size.domains * PROJECTS_PER_DOMAIN
    engine.execute(
        "INSERT INTO quota_history (at, domain_uuid, project_uuid, service_type, resource_name, what, old, new, reason,"
        " detail, initiator_id, initiator_name, request_id)"
        " SELECT %s - (%s - n) * 30, p.parent_uuid, p.uuid, 'compute', 'compute-' || n %% 10, 'quota', n, n + 1,"
        " CASE WHEN n %% 50 = 0 THEN 'request' ELSE 'autogrow' END, '',"
        " CASE WHEN n %% 50 = 0 THEN 'user-' || n %% 997 ELSE '' END, 'autogrow', 'req'"
        " FROM generate_series(1, %s) n JOIN projects p ON p.id = 1 + n %% %s",
        [time.time(), 20 * projects, 20 * projects, projects],
    )
    engine.execute(
        "INSERT INTO commitment_events (number, at, event, commitment_uuid, project_uuid, document, initiator_id,"
        " initiator_name, domain_uuid)"
        " SELECT c.id, c.created_at, 'created', c.uuid, p.uuid, json_build_object('uuid', c.uuid, 'amount', c.amount,"
        " 'domain_id', p.parent_uuid, 'service_type', 'compute', 'resource_name', 'compute-1',"
        " 'availability_zone', c.az, 'duration', c.duration, 'status', c.status)::text, 'u', 'u', p.parent_uuid"
        " FROM project_commitments c JOIN projects p ON p.id = c.project_id"
    )
    engine.execute("UPDATE commitment_event_counter SET last = (SELECT max(number) FROM commitment_events)")
