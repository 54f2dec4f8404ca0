"""The Limes half's tables as peewee models: the truth about the schema (a test compares it with the migrations).

Reports and jobs read with fixed SQL (`limes.db.queries`); the models say what the columns mean.

- Amounts are integers in the resource's unit. `backend_quota` is -1 where the backend says "unlimited"; it is turned
  into a value of its own type as soon as it is read.
- Times are seconds since the epoch, UTC.
- `az` is the name of an availability zone, or `any` (not bound to one), or `unknown` (not a configured one).
- A foreign key that is the first column of another index has none of its own (`index=False`).
- A project's numbers hang on (project, resource). There is a row in `project_resources` as soon as the project was
  scraped once, and no quota or usage without it.
"""

from typing import Any

import peewee
from peewee import (
    SQL,
    AutoField,
    BigAutoField,
    BigIntegerField,
    BooleanField,
    Check,
    CompositeKey,
    DoubleField,
    ForeignKeyField,
    IntegerField,
    TextField,
)

database = peewee.DatabaseProxy()
"""Which database the models use; `bind()` sets it. Fixed SQL does not need it."""


class BaseModel(peewee.Model):
    """What all tables share."""

    class Meta:
        database = database
        legacy_table_names = False


class Service(BaseModel):
    """A configured service type such as `compute`. Rows of services that left the configuration are deleted."""

    id = AutoField()
    type = TextField(unique=True)

    class Meta:
        table_name = "services"


class Capacitor(BaseModel):
    """A configured capacitor, with when it was and will be asked. It has to be asked at `next_scrape_at`."""

    id = AutoField()
    name = TextField(unique=True)
    scraped_at = DoubleField(null=True)
    checked_at = DoubleField(null=True)
    next_scrape_at = DoubleField(index=True)
    scrape_duration = DoubleField(null=True)
    scrape_error = TextField(default="")

    class Meta:
        table_name = "capacitors"


class Resource(BaseModel):
    """A quota resource of a service. The row is also what is locked to decide on cluster-wide sums."""

    id = AutoField()
    service = ForeignKeyField(Service, on_delete="CASCADE", index=False)
    name = TextField()
    capacitor = ForeignKeyField(Capacitor, null=True, on_delete="SET NULL")
    is_known = BooleanField(default=True)
    """False once the backend no longer offers it: kept, but shown nowhere."""

    class Meta:
        table_name = "resources"
        indexes = ((("service", "name"), True),)


class AZResource(BaseModel):
    """Capacity of a resource in one AZ as its capacitor reported it, before overcommit."""

    resource = ForeignKeyField(Resource, on_delete="CASCADE", index=False)
    az = TextField(constraints=[Check("az <> ''")])
    raw_capacity = BigIntegerField(constraints=[Check("raw_capacity >= 0")])
    usage = BigIntegerField(null=True, constraints=[Check("usage >= 0")])
    subcapacities = TextField(default="[]")
    """JSON list."""

    class Meta:
        table_name = "az_resources"
        primary_key = CompositeKey("resource", "az")


class Domain(BaseModel):
    """A Keystone domain."""

    id = AutoField()
    uuid = TextField(unique=True)
    name = TextField()

    class Meta:
        table_name = "domains"


class DomainResource(BaseModel):
    """A domain's quota. The row is what is locked to decide on the sum of project quotas below it."""

    domain = ForeignKeyField(Domain, on_delete="CASCADE", index=False)
    resource = ForeignKeyField(Resource, on_delete="CASCADE")
    quota = BigIntegerField(constraints=[Check("quota >= 0")], default=0)

    class Meta:
        table_name = "domain_resources"
        primary_key = CompositeKey("domain", "resource")


class Project(BaseModel):
    """A Keystone project."""

    id = AutoField()
    uuid = TextField(unique=True)
    name = TextField()
    parent_uuid = TextField()
    domain = ForeignKeyField(Domain, on_delete="CASCADE")
    has_bursting = BooleanField(default=False)

    class Meta:
        table_name = "projects"


class ProjectService(BaseModel):
    """What one service knows of one project: when it was asked, and whether its quota has to be written.

    Invariant: `quota_desynced_at` is set in the transaction that makes the wanted quota differ from the backend's, and
    cleared only when a write or a scrape has shown them equal for the quota of that time.
    """

    id = AutoField()
    project = ForeignKeyField(Project, on_delete="CASCADE", index=False)
    service = ForeignKeyField(Service, on_delete="CASCADE")
    scraped_at = DoubleField(null=True)
    checked_at = DoubleField(null=True)
    next_scrape_at = DoubleField()
    is_stale = BooleanField(default=False)
    """A sync was asked for: the scrape comes before all that are merely due."""
    scrape_duration = DoubleField(null=True)
    scrape_error = TextField(default="")
    quota_desynced_at = DoubleField(null=True)
    next_push_at = DoubleField(null=True)
    push_failures = IntegerField(default=0)
    push_error = TextField(default="")
    scrape_claimed_until = DoubleField(null=True)
    """While a collector asks the backend: until when it may. The proof of its claim."""
    drifted_at = DoubleField(null=True)
    """Since when the backend is known to enforce another quota than it was told, though nobody changed it here."""
    pushed_at = DoubleField(null=True)
    """When the backend was last told its quota."""
    scrape_failures = IntegerField(default=0)
    """In a row."""
    push_claimed_until = DoubleField(null=True)
    """While somebody writes the quota into the backend: until when nobody else does. The proof of the claim."""
    scrape_state = TextField(default="")
    """What the backend wants to be told again with the next scrape."""

    class Meta:
        table_name = "project_services"
        indexes = (
            (("project", "service"), True),
            (("service", "is_stale", "next_scrape_at"), False),
            (("next_push_at",), False),
        )
        constraints = [Check("(quota_desynced_at IS NULL) = (next_push_at IS NULL)")]


class ProjectResource(BaseModel):
    """Quota of a project. `quota` is null where the resource does not track quota."""

    project = ForeignKeyField(Project, on_delete="CASCADE", index=False)
    resource = ForeignKeyField(Resource, on_delete="CASCADE", index=False)
    quota = BigIntegerField(null=True, constraints=[Check("quota >= 0")])
    backend_quota = BigIntegerField(null=True, constraints=[Check("backend_quota >= -1")])
    usage = BigIntegerField(default=0, constraints=[Check("usage >= 0")])
    """Over all AZs; set from their rows in the transaction that writes those (docs/adr/0006)."""
    physical_usage = BigIntegerField(null=True, constraints=[Check("physical_usage >= 0")])
    """Over all AZs, of which those without count with their usage; null if none has any."""
    min_backend_quota = BigIntegerField(null=True)
    max_backend_quota = BigIntegerField(null=True)
    """Which quotas the backend accepts of this project; null where it does not say."""

    class Meta:
        table_name = "project_resources"
        primary_key = CompositeKey("project", "resource")
        indexes = ((("resource", "project"), False),)


class ProjectAZResource(BaseModel):
    """Usage of a project in one AZ."""

    project_id = IntegerField()
    resource_id = IntegerField()
    az = TextField(constraints=[Check("az <> ''")])
    usage = BigIntegerField(constraints=[Check("usage >= 0")])
    physical_usage = BigIntegerField(null=True, constraints=[Check("physical_usage >= 0")])
    subresources = TextField(default="")
    """JSON list; empty where the backend reports none."""

    class Meta:
        table_name = "project_az_resources"
        primary_key = CompositeKey("project_id", "resource_id", "az")
        depends_on = (ProjectResource,)
        indexes = ((("resource_id", "az"), False),)
        constraints = [
            SQL(
                "FOREIGN KEY (project_id, resource_id)"
                " REFERENCES project_resources (project_id, resource_id) ON DELETE CASCADE"
            )
        ]


class Commitment(BaseModel):
    """A project's promise to use an amount of a resource in one AZ for a time."""

    id = BigAutoField()
    uuid = TextField(unique=True)
    project = ForeignKeyField(Project, on_delete="CASCADE")
    resource = ForeignKeyField(Resource, on_delete="CASCADE")
    az = TextField(constraints=[Check("az <> ''")])
    amount = BigIntegerField(constraints=[Check("amount > 0")])
    duration = TextField()
    status = TextField(
        constraints=[Check("status IN ('planned', 'pending', 'confirmed', 'superseded', 'expired')")],
    )
    created_at = DoubleField()
    creator_uuid = TextField()
    creator_name = TextField()
    confirm_by = DoubleField(null=True)
    confirmed_at = DoubleField(null=True)
    expires_at = DoubleField()
    superseded_at = DoubleField(null=True)
    predecessor = ForeignKeyField("self", null=True, on_delete="SET NULL")
    transfer_status = TextField(default="", constraints=[Check("transfer_status IN ('', 'unlisted', 'public')")])
    transfer_token = TextField(null=True, unique=True)

    class Meta:
        table_name = "project_commitments"
        indexes = (
            (("project", "resource", "az"), False),
            (("resource", "az", "status"), False),
            (("status", "expires_at"), False),
        )
        constraints = [
            Check("expires_at > created_at"),
            Check("(status <> 'confirmed') OR (confirmed_at IS NOT NULL)"),
            Check("(status = 'superseded') = (superseded_at IS NOT NULL)"),
            Check("(transfer_token IS NULL) = (transfer_status = '')"),
        ]


class CommitmentEvent(BaseModel):
    """A change of a commitment, for those who bill. Refers to nothing, so that it outlives commitment and project.

    Invariant: numbers are given in the order of the transactions' commits (`limes.db.queries.commitment_events`).
    """

    number = BigIntegerField(primary_key=True)
    at = DoubleField()
    event = TextField()
    commitment_uuid = TextField(index=True)
    project_uuid = TextField(index=True)
    document = TextField()
    """JSON: the commitment after the change, as the API shows it."""

    class Meta:
        table_name = "commitment_events"


class CommitmentEventCounter(BaseModel):
    """One row: the last number of `commitment_events`. Locked by whoever takes numbers, until they are committed."""

    id = IntegerField(primary_key=True)
    last = BigIntegerField()

    class Meta:
        table_name = "commitment_event_counter"


class CommitmentKey(BaseModel):
    """An `Idempotency-Key` with which a commitment was made, and what was answered."""

    project = ForeignKeyField(Project, on_delete="CASCADE", index=False)
    key = TextField()
    request = TextField()
    """What was asked for, in canonical form."""
    document = TextField()
    """JSON: the answer."""
    created_at = DoubleField(index=True)

    class Meta:
        table_name = "commitment_keys"
        primary_key = CompositeKey("project", "key")


class CommitmentUse(BaseModel):
    """How much of its commitments a project has used on one day (UTC), from several looks at it."""

    project = ForeignKeyField(Project, on_delete="CASCADE", index=False)
    resource = ForeignKeyField(Resource, on_delete="CASCADE")
    az = TextField()
    day = IntegerField(index=True)
    """Days since the epoch."""
    looks = IntegerField()
    usage_sum = BigIntegerField()
    """Over all looks: divided by `looks` it is the average."""
    usage_min = BigIntegerField()
    usage_max = BigIntegerField()
    committed_sum = BigIntegerField()

    class Meta:
        table_name = "commitment_use"
        primary_key = CompositeKey("project", "resource", "az", "day")


class Job(BaseModel):
    """A job that is done for the whole cluster, by one collector at a time. Made by the first collector."""

    name = TextField(primary_key=True)
    next_run_at = DoubleField()
    """While the job is being done: when its claim ends."""
    ran_at = DoubleField(null=True)
    error = TextField(default="")

    class Meta:
        table_name = "jobs"


class QuotaHistory(BaseModel):
    """A change of a quota. It names what it is about by UUID and name, and outlives it."""

    number = BigAutoField()
    at = DoubleField()
    domain_uuid = TextField()
    project_uuid = TextField()
    """Empty for the quotas of the domain itself."""
    service_type = TextField()
    """Empty, like the next one, for what concerns the whole project."""
    resource_name = TextField()
    what = TextField()
    """As `limes.core.history.What`; `reason` as `Reason` there."""
    old = BigIntegerField(null=True)
    new = BigIntegerField(null=True)
    reason = TextField()
    detail = TextField()
    initiator_id = TextField()
    """A user's id; empty for a job."""
    initiator_name = TextField()
    request_id = TextField()

    class Meta:
        table_name = "quota_history"
        indexes = ((("domain_uuid", "project_uuid", "number"), False),)


class OutboxEvent(BaseModel):
    """An audit event for one sink. Its stream is the UUID of the project, or of the domain, that it is about."""

    number = BigAutoField()
    at = DoubleField()
    sink = TextField()
    stream = TextField()
    event_id = TextField()
    document = TextField()
    """JSON."""
    tries = IntegerField()
    """How often the sink has refused it."""
    next_try_at = DoubleField()
    error = TextField()
    delivered_at = DoubleField(null=True)

    class Meta:
        table_name = "audit_outbox"
        indexes = (
            (("sink", "delivered_at", "number"), False),
            (("sink", "delivered_at", "next_try_at"), False),
        )


MODELS: tuple[type[BaseModel], ...] = (
    Service,
    Capacitor,
    Resource,
    AZResource,
    Domain,
    DomainResource,
    Project,
    ProjectService,
    ProjectResource,
    ProjectAZResource,
    Commitment,
    CommitmentEvent,
    CommitmentEventCounter,
    CommitmentKey,
    CommitmentUse,
    Job,
    QuotaHistory,
    OutboxEvent,
)


def bind(db: Any) -> None:
    """Makes the models use this peewee database."""
    database.initialize(db)
