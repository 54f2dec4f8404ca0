"""Quotas: their history, those for a time, and what the model `autogrow` keeps (`limes.core.autogrow`). Requests for
more quota, what they ask for, and what was said about them."""

from peewee import SQL, BigAutoField, BigIntegerField, Check, CompositeKey, DoubleField, ForeignKeyField, TextField

from limes.db.base import BaseModel
from limes.db.models.catalog import Resource
from limes.db.models.projects import Domain, OfProjectAZ, Project, ProjectResource


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


class TemporaryQuota(BaseModel):
    """A quota that ends, or that is planned. Once it is given back, or never can begin, there is no row any more.

    Invariant: a row is only written by a transaction that has locked the row of its domain and resource in
    `domain_resources`, as each change of the quota itself does. So it always fits the quota, and of several who find
    it due, one acts.
    """

    id = BigAutoField()
    domain = ForeignKeyField(Domain, on_delete="CASCADE")
    project = ForeignKeyField(Project, null=True, on_delete="CASCADE", index=False)
    """None for the domain's own quota."""
    resource = ForeignKeyField(Resource, on_delete="CASCADE")
    state = TextField(constraints=[Check("state IN ('planned', 'active', 'over')")])
    """As `limes.core.temporary_quota.TemporaryState`."""
    quota = BigIntegerField(constraints=[Check("quota >= 0")])
    before = BigIntegerField(null=True, constraints=[Check("before >= 0")])
    """What the quota goes back to. Null while it is planned."""
    starts_at = DoubleField()
    until = DoubleField()
    due_at = DoubleField(index=True)
    """When a collector looks at it next."""
    problem = TextField(default="")
    """Why it could not begin, or not be given back, so far."""

    class Meta:
        table_name = "temporary_quotas"
        constraints = [Check("(before IS NULL) = (state = 'planned')")]


TemporaryQuota.add_index(
    TemporaryQuota.index(TemporaryQuota.project, TemporaryQuota.resource, unique=True, name="temporary_quotas_project")
)
TemporaryQuota.add_index(
    TemporaryQuota.index(
        TemporaryQuota.domain,
        TemporaryQuota.resource,
        unique=True,
        name="temporary_quotas_domain",
        where=SQL("project_id IS NULL"),
    )
)


class UsageChanges(OfProjectAZ):
    """How a project's usage in one AZ has changed of late. There is no row where it has not.

    Together with the present usage, this is enough for the smallest and largest usage within the retention period.
    """

    changes = TextField()
    """JSON list of `[when, smallest, largest]`, in the order of time: what usage was just before, and after, the
    changes until then, since the entry before. At most one entry for each 48th of the retention period, so that the row
    does not grow without end."""
    changed_at = DoubleField()
    """When the last of these changes was."""

    class Meta:
        table_name = "project_usage_changes"
        depends_on = (ProjectResource,)
        indexes = ((("resource_id",), False),)


class ProjectAZQuota(OfProjectAZ):
    """Quota of a project in one AZ. There are rows only of resources with the model `autogrow`.

    Invariant: their sum is the project's quota.
    """

    quota = BigIntegerField(constraints=[Check("quota >= 0")])
    changed_at = DoubleField()

    class Meta:
        table_name = "project_az_quotas"
        depends_on = (ProjectResource,)
        indexes = ((("resource_id",), False),)


class QuotaRequest(BaseModel):
    """A request of a project, or of a domain. Its row is locked by whoever changes its state."""

    id = BigAutoField()
    domain = ForeignKeyField(Domain, on_delete="CASCADE")
    project = ForeignKeyField(Project, null=True, on_delete="CASCADE")
    """None for the domain's own quota."""
    status = TextField()
    """As `limes.core.quota_requests.RequestStatus`."""
    reason = TextField()
    created_at = DoubleField()
    requester_id = TextField()
    requester_name = TextField()
    decided_at = DoubleField(null=True)
    passed_on_from = ForeignKeyField("self", null=True, on_delete="CASCADE")
    """The project's request that needs this one of its domain to be approved. Emptied before the project is deleted."""
    starts_at = DoubleField(null=True)
    """When the quota is wanted, if not at once."""
    until = DoubleField(null=True)
    """Until when it is wanted; null: for good."""

    class Meta:
        table_name = "quota_requests"


class QuotaRequestAmount(BaseModel):
    """A quota that a request asks for, in the unit of the resource."""

    request = ForeignKeyField(QuotaRequest, on_delete="CASCADE", index=False)
    service_type = TextField()
    resource_name = TextField()
    what = TextField(constraints=[Check("what IN ('quota', 'max_quota', 'min_quota')")])
    """As `limes.core.history.What`."""
    present = BigIntegerField()
    """When it was asked for."""
    wanted = BigIntegerField(constraints=[Check("wanted >= 0")])
    granted = BigIntegerField(null=True)
    rule = TextField(null=True)
    """The rule of the configuration that has approved it; None if somebody has decided."""

    class Meta:
        table_name = "quota_request_amounts"
        primary_key = CompositeKey("request", "service_type", "resource_name")


class QuotaRequestEvent(BaseModel):
    """Something that was said or decided."""

    number = BigAutoField()
    request = ForeignKeyField(QuotaRequest, on_delete="CASCADE")
    at = DoubleField()
    kind = TextField()
    """As `limes.core.quota_requests.EventKind`."""
    text = TextField()
    author_id = TextField()
    """A user's id; empty for Limes itself."""
    author_name = TextField()

    class Meta:
        table_name = "quota_request_events"
