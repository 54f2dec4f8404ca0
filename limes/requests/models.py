"""Requests for more quota, what they ask for, and their conversation."""

from peewee import BigAutoField, BigIntegerField, Check, CompositeKey, DoubleField, ForeignKeyField, TextField

from limes.db.base import BaseModel
from limes.projects.models import Domain, Project


class QuotaRequest(BaseModel):
    """A request of a project, or of a domain. Its row is locked while its state is changed."""

    id = BigAutoField()
    domain = ForeignKeyField(Domain, on_delete="CASCADE")
    project = ForeignKeyField(Project, null=True, on_delete="CASCADE")
    """None for the domain's own quota."""
    status = TextField()
    """As `limes.requests.rules.RequestStatus`."""
    reason = TextField()
    created_at = DoubleField()
    requester_id = TextField(index=True)
    requester_name = TextField()
    decided_at = DoubleField(null=True)
    passed_on_from = ForeignKeyField("self", null=True, on_delete="CASCADE")
    """The project's request that needs this one of its domain to be approved. Emptied before the project is deleted."""
    starts_at = DoubleField(null=True)
    """When the quota is wanted, if not at once."""
    until = DoubleField(null=True)
    """Until when it is wanted; null: permanently."""

    class Meta:
        table_name = "quota_requests"


class QuotaRequestAmount(BaseModel):
    """A quota that a request asks for, in the unit of the resource."""

    request = ForeignKeyField(QuotaRequest, on_delete="CASCADE", index=False)
    service_type = TextField()
    resource_name = TextField()
    what = TextField(constraints=[Check("what IN ('quota', 'max_quota', 'min_quota')")])
    """As `limes.audit.events.What`."""
    present = BigIntegerField()
    """When it was asked for."""
    wanted = BigIntegerField(constraints=[Check("wanted >= 0")])
    granted = BigIntegerField(null=True)
    rule = TextField(null=True)
    """The rule of the configuration that has approved it; None if a user has decided."""

    class Meta:
        table_name = "quota_request_amounts"
        primary_key = CompositeKey("request", "service_type", "resource_name")


class QuotaRequestEvent(BaseModel):
    """Something that was said or decided."""

    number = BigAutoField()
    request = ForeignKeyField(QuotaRequest, on_delete="CASCADE")
    at = DoubleField()
    kind = TextField()
    """As `limes.requests.rules.EventKind`."""
    text = TextField()
    author_id = TextField()
    """A user's id; empty for Limes itself."""
    author_name = TextField()

    class Meta:
        table_name = "quota_request_events"
        indexes = ((("at", "number"), False),)
