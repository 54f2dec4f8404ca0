"""The first tables, of all that Limes does (docs/adr/0050). Comments on tables and columns are in `limes.app.models`.

Columns are in the order in which development has added them, so that databases from then look like new ones.
"""

import re
from typing import Any

import peewee

from limes.db.migrations.initial_sums import statements_of_sums

_TABLES = """
-- What is configured
CREATE TABLE services (id SERIAL NOT NULL PRIMARY KEY, type TEXT NOT NULL, vanished_at FLOAT);
CREATE TABLE capacitors (
    id SERIAL NOT NULL PRIMARY KEY, name TEXT NOT NULL, scraped_at FLOAT, checked_at FLOAT,
    next_scrape_at FLOAT NOT NULL, scrape_duration FLOAT, scrape_error TEXT NOT NULL
);
CREATE TABLE resources (
    id SERIAL NOT NULL PRIMARY KEY, service_id INTEGER NOT NULL REFERENCES services (id) ON DELETE CASCADE,
    name TEXT NOT NULL, capacitor_id INTEGER REFERENCES capacitors (id) ON DELETE SET NULL, is_known BOOLEAN NOT NULL,
    quota_due_at FLOAT, capacity_drop_seen_at FLOAT, quota_claimed_until FLOAT
);
CREATE TABLE az_resources (
    resource_id INTEGER NOT NULL REFERENCES resources (id) ON DELETE CASCADE, az TEXT NOT NULL CHECK (az <> ''),
    raw_capacity BIGINT NOT NULL CHECK (raw_capacity >= 0), usage BIGINT CHECK (usage >= 0),
    subcapacities TEXT NOT NULL, PRIMARY KEY (resource_id, az)
);

-- Domains and projects
CREATE TABLE domains (id SERIAL NOT NULL PRIMARY KEY, uuid TEXT NOT NULL, name TEXT NOT NULL);
CREATE TABLE domain_resources (
    domain_id INTEGER NOT NULL REFERENCES domains (id) ON DELETE CASCADE,
    resource_id INTEGER NOT NULL REFERENCES resources (id) ON DELETE CASCADE, quota BIGINT NOT NULL CHECK (quota >= 0),
    PRIMARY KEY (domain_id, resource_id)
);
CREATE TABLE projects (
    id SERIAL NOT NULL PRIMARY KEY, uuid TEXT NOT NULL, name TEXT NOT NULL, parent_uuid TEXT NOT NULL,
    domain_id INTEGER NOT NULL REFERENCES domains (id) ON DELETE CASCADE, has_bursting BOOLEAN NOT NULL
);
CREATE TABLE project_services (
    id SERIAL NOT NULL PRIMARY KEY, project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    service_id INTEGER NOT NULL REFERENCES services (id) ON DELETE CASCADE, scraped_at FLOAT, checked_at FLOAT,
    next_scrape_at FLOAT NOT NULL, is_stale BOOLEAN NOT NULL, scrape_duration FLOAT, scrape_error TEXT NOT NULL,
    quota_desynced_at FLOAT, next_push_at FLOAT, push_failures INTEGER NOT NULL, push_error TEXT NOT NULL,
    scrape_claimed_until FLOAT, drifted_at FLOAT, pushed_at FLOAT, scrape_failures INTEGER NOT NULL DEFAULT 0,
    push_claimed_until FLOAT, scrape_state TEXT NOT NULL DEFAULT '', failing_since FLOAT, domain_id INTEGER,
    metered_at FLOAT,
    CHECK ((quota_desynced_at IS NULL) = (next_push_at IS NULL))
);
CREATE TABLE project_resources (
    project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    resource_id INTEGER NOT NULL REFERENCES resources (id) ON DELETE CASCADE, quota BIGINT CHECK (quota >= 0),
    backend_quota BIGINT CHECK (backend_quota >= -1), usage BIGINT NOT NULL CHECK (usage >= 0),
    physical_usage BIGINT CHECK (physical_usage >= 0), min_backend_quota BIGINT, max_backend_quota BIGINT,
    forbids_autogrowth BOOLEAN NOT NULL DEFAULT FALSE, max_quota BIGINT CHECK (max_quota >= 0),
    min_quota BIGINT CHECK (min_quota >= 0), PRIMARY KEY (project_id, resource_id)
);
CREATE TABLE project_az_resources (
    project_id INTEGER NOT NULL, resource_id INTEGER NOT NULL, az TEXT NOT NULL CHECK (az <> ''),
    usage BIGINT NOT NULL CHECK (usage >= 0), physical_usage BIGINT CHECK (physical_usage >= 0),
    subresources TEXT NOT NULL, metered_usage BIGINT, PRIMARY KEY (project_id, resource_id, az),
    FOREIGN KEY (project_id, resource_id) REFERENCES project_resources (project_id, resource_id) ON DELETE CASCADE
);
CREATE TABLE project_az_quotas (
    project_id INTEGER NOT NULL, resource_id INTEGER NOT NULL, az TEXT NOT NULL CHECK (az <> ''),
    quota BIGINT NOT NULL CHECK (quota >= 0), changed_at FLOAT NOT NULL, PRIMARY KEY (project_id, resource_id, az),
    FOREIGN KEY (project_id, resource_id) REFERENCES project_resources (project_id, resource_id) ON DELETE CASCADE
);
CREATE TABLE project_usage_changes (
    project_id INTEGER NOT NULL, resource_id INTEGER NOT NULL, az TEXT NOT NULL CHECK (az <> ''),
    changes TEXT NOT NULL, changed_at FLOAT NOT NULL, PRIMARY KEY (project_id, resource_id, az),
    FOREIGN KEY (project_id, resource_id) REFERENCES project_resources (project_id, resource_id) ON DELETE CASCADE
);

-- Commitments
CREATE TABLE project_commitments (
    id BIGSERIAL NOT NULL PRIMARY KEY, uuid TEXT NOT NULL,
    project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    resource_id INTEGER NOT NULL REFERENCES resources (id) ON DELETE CASCADE, az TEXT NOT NULL CHECK (az <> ''),
    amount BIGINT NOT NULL CHECK (amount > 0), duration TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('planned', 'pending', 'confirmed', 'superseded', 'expired')),
    created_at FLOAT NOT NULL, creator_uuid TEXT NOT NULL, creator_name TEXT NOT NULL, confirm_by FLOAT,
    confirmed_at FLOAT, expires_at FLOAT NOT NULL, superseded_at FLOAT,
    predecessor_id BIGINT REFERENCES project_commitments (id) ON DELETE SET NULL,
    transfer_status TEXT NOT NULL CHECK (transfer_status IN ('', 'unlisted', 'public')), transfer_token TEXT,
    auto_renews BOOLEAN NOT NULL DEFAULT FALSE, renewal_error TEXT NOT NULL DEFAULT '', anchor_day INTEGER,
    CHECK (expires_at > created_at), CHECK ((status <> 'confirmed') OR (confirmed_at IS NOT NULL)),
    CHECK ((status = 'superseded') = (superseded_at IS NOT NULL)),
    CHECK ((transfer_token IS NULL) = (transfer_status = ''))
);
CREATE TABLE commitment_events (
    number BIGINT NOT NULL PRIMARY KEY, at FLOAT NOT NULL, event TEXT NOT NULL, commitment_uuid TEXT NOT NULL,
    project_uuid TEXT NOT NULL, document TEXT NOT NULL
);
CREATE TABLE commitment_event_counter (id INTEGER NOT NULL PRIMARY KEY, last BIGINT NOT NULL);
CREATE TABLE commitment_keys (
    project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE, key TEXT NOT NULL, request TEXT NOT NULL,
    document TEXT NOT NULL, created_at FLOAT NOT NULL, PRIMARY KEY (project_id, key)
);
CREATE TABLE commitment_use (
    project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    resource_id INTEGER NOT NULL REFERENCES resources (id) ON DELETE CASCADE, az TEXT NOT NULL, day INTEGER NOT NULL,
    looks INTEGER NOT NULL, usage_sum BIGINT NOT NULL, usage_min BIGINT NOT NULL, usage_max BIGINT NOT NULL,
    committed_sum BIGINT NOT NULL, PRIMARY KEY (project_id, resource_id, az, day)
);

-- Changes of quota
CREATE TABLE quota_history (
    number BIGSERIAL NOT NULL PRIMARY KEY, at FLOAT NOT NULL, domain_uuid TEXT NOT NULL, project_uuid TEXT NOT NULL,
    service_type TEXT NOT NULL, resource_name TEXT NOT NULL, what TEXT NOT NULL, old BIGINT, new BIGINT,
    reason TEXT NOT NULL, detail TEXT NOT NULL, initiator_id TEXT NOT NULL, initiator_name TEXT NOT NULL,
    request_id TEXT NOT NULL
);
CREATE TABLE quota_requests (
    id BIGSERIAL NOT NULL PRIMARY KEY, domain_id INTEGER NOT NULL REFERENCES domains (id) ON DELETE CASCADE,
    project_id INTEGER REFERENCES projects (id) ON DELETE CASCADE, status TEXT NOT NULL, reason TEXT NOT NULL,
    created_at FLOAT NOT NULL, requester_id TEXT NOT NULL, requester_name TEXT NOT NULL, decided_at FLOAT,
    passed_on_from_id BIGINT REFERENCES quota_requests (id) ON DELETE CASCADE, starts_at FLOAT, until FLOAT
);
CREATE TABLE quota_request_amounts (
    request_id BIGINT NOT NULL REFERENCES quota_requests (id) ON DELETE CASCADE, service_type TEXT NOT NULL,
    resource_name TEXT NOT NULL, what TEXT NOT NULL CHECK (what IN ('quota', 'max_quota', 'min_quota')),
    present BIGINT NOT NULL, wanted BIGINT NOT NULL CHECK (wanted >= 0), granted BIGINT, rule TEXT,
    PRIMARY KEY (request_id, service_type, resource_name)
);
CREATE TABLE quota_request_events (
    number BIGSERIAL NOT NULL PRIMARY KEY, request_id BIGINT NOT NULL REFERENCES quota_requests (id) ON DELETE CASCADE,
    at FLOAT NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL, author_id TEXT NOT NULL, author_name TEXT NOT NULL
);
CREATE TABLE temporary_quotas (
    id BIGSERIAL NOT NULL PRIMARY KEY, domain_id INTEGER NOT NULL REFERENCES domains (id) ON DELETE CASCADE,
    project_id INTEGER REFERENCES projects (id) ON DELETE CASCADE,
    resource_id INTEGER NOT NULL REFERENCES resources (id) ON DELETE CASCADE,
    state TEXT NOT NULL CHECK (state IN ('planned', 'active', 'over')), quota BIGINT NOT NULL CHECK (quota >= 0),
    before BIGINT CHECK (before >= 0), starts_at FLOAT NOT NULL, until FLOAT NOT NULL, due_at FLOAT NOT NULL,
    problem TEXT NOT NULL,
    CHECK ((before IS NULL) = (state = 'planned'))
);

-- Jobs, audit events, notifications and mails
CREATE TABLE jobs (name TEXT NOT NULL PRIMARY KEY, next_run_at FLOAT NOT NULL, ran_at FLOAT, error TEXT NOT NULL);
CREATE TABLE audit_outbox (
    number BIGSERIAL NOT NULL PRIMARY KEY, at FLOAT NOT NULL, sink TEXT NOT NULL, stream TEXT NOT NULL,
    event_id TEXT NOT NULL, document TEXT NOT NULL, tries INTEGER NOT NULL, next_try_at FLOAT NOT NULL,
    error TEXT NOT NULL, delivered_at FLOAT
);
CREATE TABLE notification_states (
    kind TEXT NOT NULL, subject TEXT NOT NULL, level INTEGER NOT NULL, PRIMARY KEY (kind, subject)
);
CREATE TABLE notification_cursor (id INTEGER NOT NULL PRIMARY KEY, last BIGINT);
CREATE TABLE mail_items (
    number BIGSERIAL NOT NULL PRIMARY KEY, sink TEXT NOT NULL, recipient TEXT NOT NULL, kind TEXT NOT NULL,
    language TEXT NOT NULL, event_id TEXT NOT NULL, document TEXT NOT NULL, due_at FLOAT NOT NULL, mail_id TEXT
);
CREATE TABLE mails (
    id TEXT NOT NULL PRIMARY KEY, sink TEXT NOT NULL, recipient TEXT NOT NULL, kind TEXT NOT NULL,
    language TEXT NOT NULL, made_at FLOAT NOT NULL, next_try_at FLOAT NOT NULL, tries INTEGER NOT NULL,
    error TEXT NOT NULL, done_at FLOAT
);
CREATE TABLE mail_unsubscribed (
    recipient TEXT NOT NULL, kind TEXT NOT NULL, at FLOAT NOT NULL, PRIMARY KEY (recipient, kind)
);

-- The account of usage
CREATE TABLE metering_state (
    id INTEGER NOT NULL PRIMARY KEY, begun_at BIGINT NOT NULL, closed_until BIGINT NOT NULL, closed_at BIGINT NOT NULL,
    last_project TEXT NOT NULL, event_number BIGINT NOT NULL, checked_until BIGINT, checked_project TEXT,
    checked_correction BIGINT NOT NULL DEFAULT 0
);
CREATE TABLE closed_days (begins BIGINT NOT NULL PRIMARY KEY, closed_at BIGINT NOT NULL);
CREATE TABLE metered_projects (
    project_uuid TEXT NOT NULL, since BIGINT NOT NULL, until BIGINT, project_name TEXT NOT NULL,
    domain_uuid TEXT NOT NULL, domain_name TEXT NOT NULL, PRIMARY KEY (project_uuid, since)
);
CREATE TABLE metered_units (
    service_type TEXT NOT NULL, resource_name TEXT NOT NULL, since BIGINT NOT NULL, unit TEXT NOT NULL,
    PRIMARY KEY (service_type, resource_name, since)
);
CREATE TABLE usage_steps (
    project_uuid TEXT NOT NULL, service_type TEXT NOT NULL, resource_name TEXT NOT NULL, az TEXT NOT NULL,
    at BIGINT NOT NULL, usage BIGINT NOT NULL CHECK (usage >= 0), recorded_at BIGINT NOT NULL,
    PRIMARY KEY (project_uuid, service_type, resource_name, az, at)
);
CREATE TABLE usage_gaps (
    project_uuid TEXT NOT NULL, service_type TEXT NOT NULL, begins BIGINT NOT NULL, ends BIGINT NOT NULL,
    recorded_at BIGINT NOT NULL, PRIMARY KEY (project_uuid, service_type, begins),
    CHECK (ends > begins)
);
CREATE TABLE committed_times (
    commitment_uuid TEXT NOT NULL, begins BIGINT NOT NULL, ends BIGINT NOT NULL, project_uuid TEXT NOT NULL,
    service_type TEXT NOT NULL, resource_name TEXT NOT NULL, az TEXT NOT NULL,
    amount BIGINT NOT NULL CHECK (amount > 0), PRIMARY KEY (commitment_uuid, begins),
    CHECK (ends >= begins)
);
CREATE TABLE usage_days (
    project_uuid TEXT NOT NULL, service_type TEXT NOT NULL, resource_name TEXT NOT NULL, az TEXT NOT NULL,
    begins BIGINT NOT NULL, used TEXT NOT NULL, committed TEXT NOT NULL, beyond TEXT NOT NULL, unknown BIGINT NOT NULL,
    smallest BIGINT, largest BIGINT, last BIGINT NOT NULL, version INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY (project_uuid, service_type, resource_name, az, begins)
);
CREATE TABLE usage_months (
    project_uuid TEXT NOT NULL, service_type TEXT NOT NULL, resource_name TEXT NOT NULL, az TEXT NOT NULL,
    begins BIGINT NOT NULL, used TEXT NOT NULL, committed TEXT NOT NULL, beyond TEXT NOT NULL, unknown BIGINT NOT NULL,
    smallest BIGINT, largest BIGINT, last BIGINT NOT NULL, version INTEGER NOT NULL DEFAULT 1,
    counted_until BIGINT NOT NULL, PRIMARY KEY (project_uuid, service_type, resource_name, az, begins)
);
CREATE TABLE usage_corrections (
    number BIGSERIAL NOT NULL PRIMARY KEY, corrected_at BIGINT NOT NULL, reason TEXT NOT NULL,
    granularity TEXT NOT NULL CHECK (granularity IN ('day', 'month')), project_uuid TEXT NOT NULL,
    service_type TEXT NOT NULL, resource_name TEXT NOT NULL, az TEXT NOT NULL, begins BIGINT NOT NULL,
    version INTEGER NOT NULL, before TEXT NOT NULL
);
CREATE TABLE lifetime_projects (
    id BIGSERIAL NOT NULL PRIMARY KEY, uuid TEXT NOT NULL, name TEXT NOT NULL, domain_uuid TEXT NOT NULL,
    domain_name TEXT NOT NULL
);
CREATE TABLE subresource_lifetimes (
    id BIGSERIAL NOT NULL PRIMARY KEY, project_id BIGINT NOT NULL REFERENCES lifetime_projects (id) ON DELETE CASCADE,
    service_type TEXT NOT NULL, resource_name TEXT NOT NULL, az TEXT NOT NULL, subresource_id TEXT NOT NULL,
    name TEXT NOT NULL, attributes TEXT NOT NULL, first_seen_at FLOAT NOT NULL, began_at FLOAT NOT NULL,
    last_seen_at FLOAT, ended_at FLOAT
);

-- Growth
CREATE TABLE growth_state (id INTEGER NOT NULL PRIMARY KEY, sampled_at BIGINT NOT NULL, trends_at BIGINT NOT NULL);
CREATE TABLE growth_series (
    id SERIAL NOT NULL PRIMARY KEY, scope TEXT NOT NULL, service_type TEXT NOT NULL, resource_name TEXT NOT NULL,
    az TEXT NOT NULL
);
CREATE TABLE growth_hours (
    series_id INTEGER NOT NULL REFERENCES growth_series (id) ON DELETE CASCADE, begins BIGINT NOT NULL,
    usage BIGINT NOT NULL, committed BIGINT NOT NULL, quota BIGINT, capacity BIGINT, PRIMARY KEY (series_id, begins)
);
CREATE TABLE growth_days (
    series_id INTEGER NOT NULL REFERENCES growth_series (id) ON DELETE CASCADE, begins BIGINT NOT NULL,
    samples INTEGER NOT NULL CHECK (samples > 0), usage BIGINT NOT NULL, usage_largest BIGINT NOT NULL,
    usage_last BIGINT NOT NULL, committed BIGINT NOT NULL, committed_last BIGINT NOT NULL, quota BIGINT,
    capacity BIGINT, PRIMARY KEY (series_id, begins)
);
CREATE TABLE growth_months (
    series_id INTEGER NOT NULL REFERENCES growth_series (id) ON DELETE CASCADE, begins BIGINT NOT NULL,
    samples INTEGER NOT NULL CHECK (samples > 0), usage BIGINT NOT NULL, usage_largest BIGINT NOT NULL,
    usage_last BIGINT NOT NULL, committed BIGINT NOT NULL, committed_last BIGINT NOT NULL, quota BIGINT,
    capacity BIGINT, PRIMARY KEY (series_id, begins)
);
CREATE TABLE growth_trends (
    series_id INTEGER NOT NULL PRIMARY KEY REFERENCES growth_series (id) ON DELETE CASCADE,
    computed_at BIGINT NOT NULL, days INTEGER NOT NULL, level FLOAT, growth FLOAT, lowest FLOAT, highest FLOAT
);
CREATE TABLE quota_times (
    project_uuid TEXT NOT NULL, service_type TEXT NOT NULL, resource_name TEXT NOT NULL, since BIGINT NOT NULL,
    until BIGINT, quota BIGINT NOT NULL, PRIMARY KEY (project_uuid, service_type, resource_name, since)
);
"""

_UNIQUE = {
    "services": ("type",),
    "capacitors": ("name",),
    "resources": ("service_id, name",),
    "domains": ("uuid",),
    "projects": ("uuid",),
    "project_commitments": ("uuid", "transfer_token"),
    "project_services": ("project_id, service_id",),
    "mail_items": ("sink, recipient, event_id",),
    "lifetime_projects": ("uuid",),
    "growth_series": ("scope, service_type, resource_name, az",),
}
_INDEXES = {
    "capacitors": ("next_scrape_at",),
    "resources": ("capacitor_id",),
    "projects": ("domain_id",),
    "domain_resources": ("resource_id",),
    "project_resources": ("resource_id, project_id",),
    "project_az_resources": ("resource_id, az",),
    "project_az_quotas": ("resource_id",),
    "project_usage_changes": ("resource_id",),
    "project_services": (
        *("service_id", "service_id, is_stale, next_scrape_at"),
        *("next_push_at", "domain_id, service_id, scraped_at"),
    ),
    "project_commitments": (
        *("project_id", "resource_id", "predecessor_id", "project_id, resource_id, az"),
        *("resource_id, az, status", "status, expires_at", "resource_id, status, confirm_by"),
    ),
    "commitment_events": ("commitment_uuid", "project_uuid"),
    "commitment_keys": ("created_at",),
    "commitment_use": ("resource_id", "day"),
    "quota_history": ("domain_uuid, project_uuid, number",),
    "quota_requests": ("domain_id", "project_id", "passed_on_from_id"),
    "quota_request_events": ("request_id",),
    "temporary_quotas": ("domain_id", "resource_id", "due_at"),
    "audit_outbox": ("sink, delivered_at, number", "sink, delivered_at, next_try_at"),
    "mails": ("sink, done_at, next_try_at", "sink, recipient, made_at"),
    "mail_items": ("mail_id, sink, due_at",),
    "metered_projects": ("domain_uuid, project_uuid",),
    "usage_steps": ("recorded_at", "project_uuid, at"),
    "usage_gaps": ("ends", "recorded_at"),
    "committed_times": ("project_uuid, ends",),
    "usage_days": ("project_uuid, begins", "begins"),
    "usage_months": ("begins, project_uuid",),
    "usage_corrections": ("project_uuid, begins",),
    "lifetime_projects": ("domain_uuid",),
    "subresource_lifetimes": ("project_id, id", "ended_at"),
    "growth_hours": ("begins",),
    "growth_days": ("begins",),
    "growth_months": ("begins",),
    "quota_times": ("until",),
}
_PARTIAL_INDEXES_AND_ROWS = """
CREATE INDEX projects_bursting ON projects (id) WHERE has_bursting;
CREATE INDEX project_services_failing ON project_services (service_id) WHERE scrape_error <> '';
CREATE INDEX project_commitments_renewing ON project_commitments (expires_at) WHERE auto_renews;
CREATE UNIQUE INDEX temporary_quotas_project ON temporary_quotas (project_id, resource_id);
CREATE UNIQUE INDEX temporary_quotas_domain ON temporary_quotas (domain_id, resource_id) WHERE project_id IS NULL;
CREATE INDEX subresource_lifetimes_open ON subresource_lifetimes (project_id, service_type) WHERE ended_at IS NULL;
CREATE UNIQUE INDEX quota_times_present ON quota_times (project_uuid, service_type, resource_name) WHERE until IS NULL;
CREATE INDEX mails_spelling ON mails (sink, lower(recipient), made_at);
INSERT INTO commitment_event_counter (id, last) VALUES (1, 0);
INSERT INTO notification_cursor (id) VALUES (1);
"""

_IN_SQLITE = {"SERIAL": "INTEGER", "BIGSERIAL": "INTEGER", "BIGINT": "INTEGER", "BOOLEAN": "INTEGER", "FLOAT": "REAL"}
_SQLITE_TRIGGER = (
    "CREATE TRIGGER limes_find_domain AFTER INSERT ON project_services BEGIN UPDATE project_services"
    " SET domain_id = (SELECT domain_id FROM projects WHERE id = NEW.project_id) WHERE id = NEW.id; END"
)


def up(migrator: Any, db: peewee.Database) -> None:
    """Creates all of it."""
    is_sqlite = isinstance(db, peewee.SqliteDatabase)
    tables = _TABLES
    if is_sqlite:
        tables = re.sub(r"\b[A-Z]+\b", lambda word: _IN_SQLITE.get(word[0], word[0]), tables)
    for text in (tables, *_indexes("INDEX", _INDEXES), *_indexes("UNIQUE INDEX", _UNIQUE), _PARTIAL_INDEXES_AND_ROWS):
        for statement in filter(str.strip, text.split(";")):
            db.execute_sql(statement)
    for text in (_SQLITE_TRIGGER,) if is_sqlite else statements_of_sums():
        db.execute_sql(text)


def _indexes(kind: str, wanted: dict[str, tuple[str, ...]]) -> list[str]:
    """Names them after their table and columns."""
    return [
        f"CREATE {kind} {table}_{columns.replace(', ', '_')} ON {table} ({columns})"
        for table, indexes in wanted.items()
        for columns in indexes
    ]
