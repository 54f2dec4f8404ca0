"""How long one computation of quota that follows usage takes, and for how long others wait meanwhile: one resource,
5,000 and 25,000 projects in three AZs.

Each project has changed its usage in one AZ of late, and every tenth one has a commitment. Another process sets quota
of another resource of one of the projects all the time, and locks the resource, as who decides on a commitment does.
"""

import itertools
import multiprocessing
import re
import statistics
import time
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import Connection

from limes.app.context import Limes
from limes.autogrow.distribute import distribute_next, explain_allocation
from limes.catalog.catalog import AutogrowRule, Catalog, DistributionRule
from limes.collector.follow_configuration import follow_models
from limes.collector.sync_catalog import sync_catalog
from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from limes.kernel.system import tune_garbage_collector
from limes.projects.scope import find_project
from limes.quota import set_quota
from limes.quota.changes import QuotaChange
from limes.quota.rules import Permissions
from tests.bench.collector.cloud import DOMAINS, service
from tests.support.limes import capacitors, make_limes

PROJECTS, REPEATS = (5000, 25_000), 7
AZS = ("az-one", "az-two", "az-three")
REF = ("compute", "compute-0")
RULE = AutogrowRule(growth_multiplier=1.2, project_base_quota=10, retention=48 * 3600)


def measure(url: str, projects: int) -> None:
    """Prints the figures, for a fresh database at this URL."""
    engine = Engine(url, statement_timeout=600, lock_timeout=600)
    limes_migrations.upgrade(engine)
    limes = _prepare(engine, projects)
    tune_garbage_collector()  # as in a collector
    spawn = multiprocessing.get_context("spawn")
    ours, theirs = spawn.Pipe()
    other = spawn.Process(target=_disturb, args=(url, theirs), daemon=True)
    other.start()
    theirs.close()
    assert ours.recv() == "ready"
    print(f"quota of one resource in {projects} projects and {len(AZS)} AZs, in ms")
    print(f"{'':34}{'median':>8}{'largest':>8}{'longest PUT':>13}{'... wait for the resource':>28}")
    _measure("nothing at all, as long", limes, ours, None)
    _measure("first distribution", limes, ours, lambda: 0, repeats=1)
    _measure("nothing changes", limes, ours, lambda: 0)
    _measure("1 % of the projects use more", limes, ours, lambda: _use_more(engine, 100))
    _measure("all projects use more", limes, ours, lambda: _use_more(engine, 1))
    seconds = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        assert explain_allocation(limes, 1, REF) is not None
        seconds.append(time.perf_counter() - start)
    _print_row("the explanation of one project", seconds, [])
    ours.send("stop")
    other.join()
    engine.close()


def _limes(engine: Engine) -> Limes:
    distributions = [DistributionRule(re.compile("/".join(REF)), "autogrow", autogrow=RULE)]
    catalog = Catalog(AZS, [service(REF[0])], distributions=distributions)
    return make_limes(engine, catalog, backends=capacitors("nothing"))


def _prepare(engine: Engine, projects: int) -> Limes:
    limes = _limes(engine)
    sync_catalog(limes)
    follow_models(limes)
    engine.atomic(lambda: _load(engine, projects))
    with engine.connection():
        engine.db.execute_sql("VACUUM ANALYZE")
    return limes


def _load(engine: Engine, projects: int) -> None:
    engine.execute(
        "INSERT INTO domains (id, uuid, name) SELECT n, 'd' || n, 'domain-' || n FROM generate_series(1, %s) n",
        [DOMAINS],
    )
    engine.execute(
        "INSERT INTO projects (id, uuid, name, parent_uuid, domain_id, has_bursting)"
        " SELECT n, md5(n::text), 'project-' || n, 'd' || (1 + n %% %s), 1 + n %% %s, false"
        " FROM generate_series(1, %s) n",
        [DOMAINS, DOMAINS, projects],
    )
    engine.execute(
        "INSERT INTO project_services (project_id, service_id, scraped_at, checked_at, next_scrape_at, is_stale,"
        " scrape_error, push_failures, push_error)"
        " SELECT p.id, s.id, 1, 1, 4e9, false, '', 0, '' FROM projects p, services s"
    )
    engine.execute(
        "INSERT INTO project_resources (project_id, resource_id, quota, backend_quota, usage)"
        " SELECT p.id, r.id, 0, 0, 60 FROM projects p, resources r"
    )
    engine.execute(
        "INSERT INTO project_az_resources (project_id, resource_id, az, usage, subresources)"
        " SELECT p.id, r.id, az.az, 10 + p.id %% 20, '' FROM projects p, resources r, unnest(%s) az (az)",
        [list(AZS)],
    )
    engine.execute(
        "INSERT INTO domain_resources (domain_id, resource_id, quota) SELECT d.id, r.id, 1000000000"
        " FROM domains d, resources r ON CONFLICT (domain_id, resource_id) DO UPDATE SET quota = excluded.quota"
    )
    of_resource = "FROM projects p JOIN resources r ON r.name = %s"
    engine.execute(
        "INSERT INTO project_usage_changes (project_id, resource_id, az, changes, changed_at) SELECT p.id, r.id, %s,"
        " format('[[%%s, 5, 40],[%%s, 8, 30]]', extract(epoch FROM now()) - 7200, extract(epoch FROM now()) - 600),"
        f" extract(epoch FROM now()) - 600 {of_resource}",
        [AZS[0], REF[1]],
    )
    engine.execute(
        "INSERT INTO project_commitments (uuid, project_id, resource_id, az, amount, duration, status, created_at,"
        " creator_uuid, creator_name, confirmed_at, expires_at, transfer_status)"
        f" SELECT 'c' || p.id, p.id, r.id, %s, 50, '1 year', 'confirmed', 1, '', '', 1, 4e9, '' {of_resource}"
        " WHERE p.id %% 10 = 0",
        [AZS[1], REF[1]],
    )
    engine.execute(
        "INSERT INTO az_resources (resource_id, az, raw_capacity, subcapacities)"
        " SELECT r.id, az.az, 40 * %s, '[]' FROM resources r, unnest(%s) az (az) WHERE r.name = %s",
        [projects, list(AZS), REF[1]],
    )


def _use_more(engine: Engine, every: int) -> None:
    engine.execute(
        "UPDATE project_az_resources SET usage = usage + 3 WHERE az = %s AND project_id %% %s = 0", [AZS[2], every]
    )


def _measure(
    what: str, limes: Limes, other: Connection, change: Callable[[], object] | None, *, repeats: int = REPEATS
) -> None:
    """Without a `change`, it is measured how long others take anyway."""
    engine, seconds, waits = limes.engine, list[float](), list[list[float]]()
    for _ in range(repeats):
        if change is not None:
            change()
            engine.execute("UPDATE resources SET quota_due_at = 0 WHERE name = %s", [REF[1]])
        other.send("begin")
        start = time.perf_counter()
        if change is None:
            time.sleep(1)
        else:
            while (outcome := distribute_next(limes)) is None:  # the other one has just locked the resource
                start = time.perf_counter()
            assert outcome.success
        seconds.append(time.perf_counter() - start)
        other.send("end")
        waits.append(other.recv())
    _print_row(what, seconds, [max(each) for each in zip(*waits, strict=True)])


def _disturb(url: str, pipe: Connection) -> None:
    """Sends the longest time that a PUT of a project's quota has taken, and that it took to lock the resource."""
    engine = Engine(url, statement_timeout=600, lock_timeout=600)
    limes, ref, quotas = _limes(engine), (REF[0], "compute-1"), itertools.cycle((100, 101))
    [(domain, project)] = engine.rows("SELECT parent_uuid, uuid FROM projects WHERE id = 77")
    may = {ref: Permissions(True, True, True, True)}

    def put() -> None:
        target = find_project(engine, domain, project)
        update = set_quota.read_update(limes, target, [QuotaChange(ref, next(quotas))], may)
        outcome = engine.atomic(partial(set_quota.apply_update, limes, target, update))
        assert outcome.changed, outcome

    def lock() -> None:
        engine.atomic(lambda: engine.rows("SELECT 1 FROM resources WHERE name = %s FOR UPDATE", [REF[1]]))

    put()
    pipe.send("ready")
    while pipe.recv() != "stop":
        longest = [0.0, 0.0]
        while not pipe.poll(0.005):
            for position, work in enumerate((put, lock)):
                start = time.perf_counter()
                work()
                longest[position] = max(longest[position], time.perf_counter() - start)
        pipe.recv()
        pipe.send(longest)


def _print_row(what: str, seconds: list[float], waits: list[float]) -> None:
    figures = [statistics.median(seconds), max(seconds), *waits]
    print(
        f"  {what:32}"
        + "".join(f"{1000 * each:{width}.0f}" for each, width in zip(figures, (8, 8, 13, 28), strict=False)),
        flush=True,
    )
