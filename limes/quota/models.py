"""Quotas: their history, and those for a time."""

from peewee import SQL, BigAutoField, BigIntegerField, Check, DoubleField, ForeignKeyField, TextField

from limes.catalog.models import Resource
from limes.db.base import BaseModel
from limes.projects.models import Domain, Project


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
    """As `limes.audit.events.What`; `reason` as `Reason` there."""
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
        indexes = (
            (("domain_uuid", "project_uuid", "number"), False),
            (("domain_uuid", "project_uuid", "at", "number"), False),
            (("domain_uuid", "at", "number"), False),
            (("at", "number"), False),
        )


# of very many changes, people have made few
for _name, _fields in (
    ("by_users", (QuotaHistory.at, QuotaHistory.number)),
    ("user_id", (QuotaHistory.initiator_id,)),
    ("user_name", (QuotaHistory.initiator_name,)),
):
    _is_of_user = SQL("initiator_id <> ''")
    QuotaHistory.add_index(QuotaHistory.index(*_fields, name=f"quota_history_{_name}", where=_is_of_user))


QuotaHistory.add_index(
    QuotaHistory.index(
        QuotaHistory.domain_uuid,
        QuotaHistory.project_uuid,
        name="quota_history_overrides",
        where=SQL("what = 'override'"),
    )
)


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
    """As `limes.quota.temporary.TemporaryState`."""
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
