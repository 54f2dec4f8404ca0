"""A part of `0001_initial`: sums over projects that PostgreSQL keeps by triggers (docs/adr/0024)."""

from typing import Any


def statements_of_sums() -> list[str]:
    """Returns what makes the tables, functions and triggers."""
    return [*TABLES, *_functions(), *TRIGGERS]


_KEY = "number BIGSERIAL PRIMARY KEY, is_change BOOLEAN NOT NULL DEFAULT TRUE, domain_id INTEGER NOT NULL"
_PLACE = "resource_id INTEGER NOT NULL, az TEXT NOT NULL"
_STORAGE = (
    "autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,"
    " autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 5000"
)
TABLES = (
    f"CREATE TABLE project_sums ({_KEY}, {_PLACE}, projects BIGINT NOT NULL, quota NUMERIC NOT NULL,"
    " quotas BIGINT NOT NULL, usage NUMERIC NOT NULL, physical_usage NUMERIC NOT NULL, physical_usages BIGINT NOT NULL,"
    " burst_usage NUMERIC NOT NULL, backend_quota NUMERIC NOT NULL, backend_quotas BIGINT NOT NULL,"
    f" infinite_backend_quotas BIGINT NOT NULL, unused NUMERIC NOT NULL) WITH ({_STORAGE})",
    f"CREATE TABLE commitment_sums ({_KEY}, {_PLACE}, status TEXT NOT NULL, duration TEXT NOT NULL,"
    f" amount NUMERIC NOT NULL, commitments BIGINT NOT NULL) WITH ({_STORAGE})",
    *(
        f"CREATE INDEX {table}_{'_'.join(columns)} ON {table} ({', '.join(columns)})"
        for table in ("project_sums", "commitment_sums")
        for columns in (("resource_id", "az"), ("domain_id",), ("is_change",))
    ),
    f"CREATE TABLE unused_commitments (project_id INTEGER NOT NULL, {_PLACE}, unused NUMERIC NOT NULL,"
    " PRIMARY KEY (project_id, resource_id, az))",
    "CREATE TABLE suspicious_resources (project_id INTEGER NOT NULL, resource_id INTEGER NOT NULL,"
    " PRIMARY KEY (project_id, resource_id))",
)

# -- what is summed up -------------------------------------------------------------------------------------------------

PROJECT_FIGURES = (
    *("projects", "quota", "quotas", "usage", "physical_usage", "physical_usages", "burst_usage"),
    *("backend_quota", "backend_quotas", "infinite_backend_quotas", "unused"),
)
COMMITMENT_FIGURES = ("amount", "commitments")

OF_RESOURCES = {
    "projects": "1",
    "quota": "COALESCE(quota, 0)",
    "quotas": "CASE WHEN quota IS NULL THEN 0 ELSE 1 END",
    "usage": "usage",
    "physical_usage": "COALESCE(physical_usage, usage)",
    "physical_usages": "CASE WHEN physical_usage IS NULL THEN 0 ELSE 1 END",
    "burst_usage": "CASE WHEN usage > quota THEN usage - quota ELSE 0 END",
    "backend_quota": "CASE WHEN backend_quota > 0 THEN backend_quota ELSE 0 END",
    "backend_quotas": "CASE WHEN backend_quota IS NULL THEN 0 ELSE 1 END",
    "infinite_backend_quotas": "CASE WHEN backend_quota < 0 THEN 1 ELSE 0 END",
}
OF_AZS = {name: OF_RESOURCES[name] for name in ("projects", "usage", "physical_usage", "physical_usages")}
LIVE = "status IN ('planned', 'pending', 'confirmed')"

_PROJECTS = ("project_sums", PROJECT_FIGURES)
SUMMED = (
    ("project_resources", *_PROJECTS, {"resource_id": "resource_id", "az": "''"}, OF_RESOURCES, ""),
    ("project_az_resources", *_PROJECTS, {"resource_id": "resource_id", "az": "az"}, OF_AZS, ""),
    ("unused_commitments", *_PROJECTS, {"resource_id": "resource_id", "az": "az"}, {"unused": "unused"}, ""),
    (
        "project_commitments",
        "commitment_sums",
        COMMITMENT_FIGURES,
        {name: name for name in ("resource_id", "az", "status", "duration")},
        {"amount": "amount", "commitments": "1"},
        f"WHERE {LIVE}",
    ),
)
"""Table, where its sums are kept, their figures, by what they are grouped, what one row adds, and which rows count."""


def _add(source: str, signs: dict[str, int], table: Any) -> str:
    """Adds a row for each sum that changes: those rows of `source`, a format, with these signs."""
    _, target, columns, key, figures, condition = table
    parts = [
        f"SELECT project_id, {', '.join(f'{expression} AS {name}' for name, expression in key.items())},"
        f" {', '.join(f'{sign} * ({figure}) AS {name}' for name, figure in figures.items())}"
        f" FROM {source.format(which)} {condition}"
        for which, sign in signs.items()
    ]
    changes = {name: f"SUM(rows.{name})" for name in figures}
    added, sums = (", ".join(changes.get(name, "0") for name in names) for names in (columns, figures))
    keys = ", ".join(["domain_id", *key])
    return (
        f"INSERT INTO {target} ({keys}, {', '.join(columns)}) SELECT {keys}, {added}"
        f" FROM ({' UNION ALL '.join(parts)}) rows JOIN projects ON projects.id = rows.project_id"
        f" GROUP BY {keys} HAVING ROW({sums}) <> ROW({', '.join('0' for _ in figures)});"
    )


def _function(name: str, body: str, arguments: str = "", returns: str = "trigger", options: str = "") -> str:
    head = f"CREATE FUNCTION {name}({arguments}) RETURNS {returns} LANGUAGE plpgsql {options}"
    return f"{head} AS $$ BEGIN {body} END $$"


def _for_each_operation(insert: str, update: str, delete: str) -> str:
    return f"IF TG_OP = 'INSERT' THEN {insert} ELSIF TG_OP = 'UPDATE' THEN {update} ELSE {delete} END IF; RETURN NULL;"


def _functions() -> list[str]:
    functions = []
    for table in SUMMED:
        operations = (_add("{}_rows", each, table) for each in ({"new": 1}, {"new": 1, "old": -1}, {"old": -1}))
        functions.append(_function(f"limes_sum_{table[0]}", _for_each_operation(*operations)))
    find = FIND_SUSPICIOUS.format("new_rows")
    suspect = _for_each_operation(find, FORGET_SUSPICIOUS + find, FORGET_SUSPICIOUS)
    functions.append(_function("limes_suspect_project_resources", suspect))
    functions += [_function(name, FIND_UNUSED, PAIRS, "void", options) for name, options in FINDERS.items()]
    functions += [_function(f"limes_unused_by_{name}", _pairs_of(*columns)) for name, columns in CLAIMING.items()]
    functions.append(_function("limes_delete_rows_of_project", DELETE_ROWS_OF_PROJECT))
    functions += [_function("limes_keep_domain", KEEP_DOMAIN), _function("limes_find_domain", FIND_DOMAIN)]
    rebuilt = [*REBUILD, *(_add("{}", {table[0]: 1}, table) for table in SUMMED if table[0] != "unused_commitments")]
    rebuilt += [FIND_SUSPICIOUS.format("project_resources"), FIND_ALL_UNUSED]
    return [*functions, _function("limes_rebuild_sums", " ".join(rebuilt), returns="void")]


# -- what is committed to and not used ---------------------------------------------------------------------------------
# For each project, resource and AZ, and in all AZs together (az = ''). Computed anew whenever usage or what is
# confirmed changes, under a lock on the project's resource: of two changes at once, each would miss the other.

FIND_UNUSED = """
PERFORM 1 FROM projects WHERE id IN (
    SELECT k.project_id FROM unnest(project_ids, resource_ids) k (project_id, resource_id)
    JOIN resources ON resources.id = k.resource_id
    WHERE NOT EXISTS (
        SELECT 1 FROM project_resources r WHERE r.project_id = k.project_id AND r.resource_id = k.resource_id
    )
) ORDER BY id FOR UPDATE;
PERFORM 1 FROM project_resources r WHERE (r.project_id, r.resource_id) IN (
    SELECT * FROM unnest(project_ids, resource_ids)
) ORDER BY r.project_id, r.resource_id FOR NO KEY UPDATE;
WITH pairs AS MATERIALIZED (
    SELECT DISTINCT k.project_id, k.resource_id FROM unnest(project_ids, resource_ids) k (project_id, resource_id)
    WHERE EXISTS (
        SELECT 1 FROM project_commitments c
        WHERE c.project_id = k.project_id AND c.resource_id = k.resource_id AND c.status = 'confirmed'
    ) OR EXISTS (
        SELECT 1 FROM unused_commitments u WHERE u.project_id = k.project_id AND u.resource_id = k.resource_id
    )
), found AS MATERIALIZED (
    SELECT project_id, resource_id, COALESCE(az, '') AS az, SUM(amount) AS unused FROM (
        SELECT project_id, resource_id, az, amount FROM pairs
        JOIN project_commitments USING (project_id, resource_id) WHERE status = 'confirmed'
        UNION ALL
        SELECT project_id, resource_id, az, -usage FROM pairs JOIN project_az_resources USING (project_id, resource_id)
    ) parts GROUP BY GROUPING SETS ((project_id, resource_id, az), (project_id, resource_id)) HAVING SUM(amount) > 0
), gone AS (
    DELETE FROM unused_commitments u USING pairs
    WHERE u.project_id = pairs.project_id AND u.resource_id = pairs.resource_id AND NOT EXISTS (
        SELECT 1 FROM found
        WHERE found.project_id = u.project_id AND found.resource_id = u.resource_id AND found.az = u.az
    )
)
INSERT INTO unused_commitments AS u (project_id, resource_id, az, unused)
SELECT project_id, resource_id, az, unused FROM found
ON CONFLICT (project_id, resource_id, az) DO UPDATE SET unused = excluded.unused WHERE u.unused <> excluded.unused;
"""

PAIRS = "project_ids int[], resource_ids int[]"
FINDERS = {"limes_find_unused": "", "limes_find_unused_of_few": "SET plan_cache_mode = force_generic_plan"}
"""For a few pairs, planning takes four times as long as the work; for many, a plan for a few takes minutes."""
CLAIMING = {
    "project_az_resources": ("project_id, resource_id, az, usage", ""),
    "project_commitments": ("project_id, resource_id, az, amount", "WHERE status = 'confirmed'"),
}


def _pairs_of(columns: str, condition: str) -> str:
    """Finds what is unused where these columns of these rows have changed."""
    new, old = (f"SELECT {columns} FROM {which}_rows {condition}" for which in ("new", "old"))
    changed = f"({new} EXCEPT ALL {old}) UNION ALL ({old} EXCEPT ALL {new})"

    def find(rows: str) -> str:
        pairs = f"(SELECT DISTINCT project_id, resource_id FROM ({rows}) rows) pairs"
        few, many = (f"{name}(array_agg(project_id), array_agg(resource_id))" for name in reversed(FINDERS))
        return f"PERFORM CASE WHEN count(*) < 100 THEN {few} ELSE {many} END FROM {pairs} HAVING count(*) > 0;"

    return _for_each_operation(find(new), find(changed), find(old))


# -- what may contradict itself ----------------------------------------------------------------------------------------
# Each row depends on one of `project_resources` only, which whoever changes it has locked. An index of such rows would
# be one that usage is part of, so that each scrape had to write all indexes; and its size would be misjudged.

FIND_SUSPICIOUS = """
INSERT INTO suspicious_resources (project_id, resource_id)
SELECT project_id, resource_id FROM {} WHERE usage > quota OR backend_quota <> quota ON CONFLICT DO NOTHING;
"""
FORGET_SUSPICIOUS = """
DELETE FROM suspicious_resources s USING old_rows o
WHERE s.project_id = o.project_id AND s.resource_id = o.resource_id AND NOT EXISTS (
    SELECT 1 FROM project_resources r WHERE r.project_id = s.project_id AND r.resource_id = s.resource_id
    AND (r.usage > r.quota OR r.backend_quota <> r.quota)
);
"""

# -- triggers ----------------------------------------------------------------------------------------------------------

DELETE_ROWS_OF_PROJECT = """
DELETE FROM project_commitments WHERE project_id = OLD.id;
DELETE FROM project_az_resources WHERE project_id = OLD.id;
DELETE FROM project_resources WHERE project_id = OLD.id;
RETURN OLD;
"""
"""The foreign keys would do so once the project, and with it its domain, can no longer be seen."""

KEEP_DOMAIN = "RAISE EXCEPTION 'a project cannot move to another domain';"
FIND_DOMAIN = "NEW.domain_id := (SELECT domain_id FROM projects WHERE id = NEW.project_id); RETURN NEW;"

_SEEN = {
    "INSERT": "REFERENCING NEW TABLE AS new_rows",
    "UPDATE": "REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows",
    "DELETE": "REFERENCING OLD TABLE AS old_rows",
}
TRIGGERS = (
    *(
        f"CREATE TRIGGER {kind}_{operation.lower()} AFTER {operation} ON {table} {seen}"
        f" FOR EACH STATEMENT EXECUTE FUNCTION {function}_{table}()"
        for kind, function, tables in (
            ("limes_sum", "limes_sum", [table[0] for table in SUMMED]),
            ("limes_unused", "limes_unused_by", list(CLAIMING)),
            ("limes_suspect", "limes_suspect", ["project_resources"]),
        )
        for table in tables
        for operation, seen in _SEEN.items()
    ),
    "CREATE TRIGGER limes_delete_rows BEFORE DELETE ON projects"
    " FOR EACH ROW EXECUTE FUNCTION limes_delete_rows_of_project()",
    "CREATE TRIGGER limes_keep_domain BEFORE UPDATE OF domain_id ON projects"
    " FOR EACH ROW WHEN (OLD.domain_id <> NEW.domain_id) EXECUTE FUNCTION limes_keep_domain()",
    "CREATE TRIGGER limes_find_domain BEFORE INSERT OR UPDATE OF project_id ON project_services"
    " FOR EACH ROW EXECUTE FUNCTION limes_find_domain()",
)

# -- all of it anew ----------------------------------------------------------------------------------------------------

_TABLES = ("projects", "project_resources", "project_az_resources", "project_commitments")
_KEPT = ("unused_commitments", "suspicious_resources", "project_sums", "commitment_sums")
REBUILD = (
    f"LOCK TABLE {', '.join(_TABLES)} IN SHARE ROW EXCLUSIVE MODE;",
    f"LOCK TABLE {', '.join(_KEPT)} IN EXCLUSIVE MODE;",
    *(f"DELETE FROM {table};" for table in _KEPT),
)

FIND_ALL_UNUSED = """
PERFORM limes_find_unused(array_agg(project_id), array_agg(resource_id)) FROM (
    SELECT DISTINCT project_id, resource_id FROM project_commitments WHERE status = 'confirmed'
) pairs HAVING count(*) > 0;
"""
