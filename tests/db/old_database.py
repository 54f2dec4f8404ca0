"""A database from before `0001_initial` made all: today's schema without what came later, a list that is empty, and
triggers that look into it."""

import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

from limes.db.engine import Engine

NAMES = (
    *("0001_initial", "0002_jobs", "0003_commitments", "0004_drift", "0005_commitment_use_by_day", "0006_claims"),
    *("0007_history", "0008_backend_bounds", "0009_scrape_state", "0010_failures_and_grace", "0011_kept_sums"),
    *("0012_autogrow", "0013_auto_renewal", "0014_quota_requests", "0015_notifications", "0016_quota_due"),
    *("0017_mails", "0018_temporary_quotas", "0019_request_terms", "0020_metering", "0021_metered_usage"),
    *("0022_lifetimes", "0024_growth", "0025_late_usage", "0026_account_rules", "0028_anchor_day"),
    *("0029_capacity_and_claims", "0030_mail_spelling", "0031_units_and_corrections"),
)
CONVERTER = "0032_no_uncounted_projects"
PENDING = [CONVERTER, "0033_project_labels", "0034_change_log", "0035_my_notifications", "0036_plans_for_many"]
"""What it lacks: a migration of later on is added here, and what undoes it to `LATER`."""
_CHANGE_LOG = import_module("limes.db.migrations.0034_change_log")
LATER = (
    "DROP TABLE project_labels",
    *(f"DROP TABLE {name}" for name in ("own_thresholds", "inbox_seen", "project_webhooks")),
    "DROP INDEX quota_requests_requester_id",
    *(f"DROP INDEX {name}" for name in _CHANGE_LOG.INDEXES),
    *(f"ALTER TABLE commitment_events DROP COLUMN {name}" for name in _CHANGE_LOG.COLUMNS),
)
LIST = """
CREATE TABLE uncounted_projects (project_id INTEGER PRIMARY KEY);
DO $do$ DECLARE definition text; BEGIN
    FOR definition IN SELECT pg_get_functiondef(to_regproc('limes_sum_' || name))
        FROM unnest(ARRAY['project_resources', 'project_az_resources', 'project_commitments']) name
    LOOP EXECUTE replace(definition, 'rows.project_id GROUP BY', 'rows.project_id WHERE NOT EXISTS'
        ' (SELECT 1 FROM uncounted_projects u WHERE u.project_id = rows.project_id) GROUP BY'); END LOOP;
END $do$
"""
FILL = """
INSERT INTO services (id, type) SELECT n, 'service-' || n FROM generate_series(1, 3) n;
INSERT INTO resources (id, service_id, name, is_known) SELECT n, 1 + n %% 3, 'r' || n, true FROM generate_series(1, 9) n;
INSERT INTO domains (id, uuid, name) SELECT n, 'd' || n, 'd' || n FROM generate_series(1, 2) n;
INSERT INTO projects (id, uuid, name, parent_uuid, domain_id, has_bursting)
    SELECT n, 'p' || n, 'p' || n, 'd' || 1 + n %% 2, 1 + n %% 2, false FROM generate_series(1, 10) n;
INSERT INTO project_services (project_id, service_id, next_scrape_at, is_stale, scrape_error, push_failures, push_error)
    SELECT p.id, s.id, 0, false, '', 0, '' FROM projects p, services s;
INSERT INTO project_resources (project_id, resource_id, quota, backend_quota, usage)
    SELECT p.id, r.id, 10 * p.id, 100, r.id FROM projects p, resources r;
INSERT INTO project_az_resources (project_id, resource_id, az, usage, subresources)
    SELECT p.id, r.id, 'az-one', r.id, '' FROM projects p, resources r;
INSERT INTO project_commitments (uuid, project_id, resource_id, az, amount, duration, status, created_at, creator_uuid,
    creator_name, confirmed_at, expires_at, transfer_status)
    SELECT 'c' || p.id, p.id, 1, 'az-one', 1 + p.id, '1 year', 'confirmed', 1, 'u', 'u', 1, 2e9, '' FROM projects p;
"""


def make_old(engine: Engine) -> None:
    """Turns a new database into one."""
    for statement in LATER:
        engine.execute(statement)
    engine.execute("DELETE FROM limes_schema_migrations")
    for name in NAMES:
        engine.execute(
            f"INSERT INTO limes_schema_migrations (name, applied) VALUES ('{name}', '2026-11-24 11:35:10.418821')"
        )
    if engine.dialect == "postgresql":
        engine.execute(LIST)
        engine.execute("ALTER FUNCTION limes_find_unused RESET plan_cache_mode")


def wait_for(condition: Callable[[], Any]) -> None:
    """Waits until something else has come so far."""
    deadline = time.monotonic() + 100
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)
