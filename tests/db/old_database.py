"""A database from before `0001_initial` made all: today's schema, a list that is empty, and triggers that look into it."""

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
LIST = """
CREATE TABLE uncounted_projects (project_id INTEGER PRIMARY KEY);
DO $do$ DECLARE definition text; BEGIN
    FOR definition IN SELECT pg_get_functiondef(to_regproc('limes_sum_' || name))
        FROM unnest(ARRAY['project_resources', 'project_az_resources', 'project_commitments']) name
    LOOP EXECUTE replace(definition, 'rows.project_id GROUP BY', 'rows.project_id WHERE NOT EXISTS'
        ' (SELECT 1 FROM uncounted_projects u WHERE u.project_id = rows.project_id) GROUP BY'); END LOOP;
END $do$
"""


def make_old(engine: Engine) -> None:
    """Turns a new database into one."""
    engine.execute("DELETE FROM limes_schema_migrations")
    for name in NAMES:
        engine.execute(
            f"INSERT INTO limes_schema_migrations (name, applied) VALUES ('{name}', '2026-11-24 11:35:10.418821')"
        )
    if engine.dialect == "postgresql":
        engine.execute(LIST)
