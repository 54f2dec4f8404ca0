"""Quota that projects and domains have for a time."""

from peewee import SQL, BigAutoField, BigIntegerField, Check, DoubleField, ForeignKeyField, TextField

from limes.db.base import BaseModel
from limes.db.models.catalog import Resource
from limes.db.models.domains import Domain
from limes.db.models.projects import Project


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
