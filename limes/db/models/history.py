"""The history of quotas."""

from peewee import BigAutoField, BigIntegerField, DoubleField, TextField

from limes.db.base import BaseModel


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
