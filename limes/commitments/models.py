"""Commitments, what happened to them, the keys they were asked for with, and how much of them is used."""

from peewee import (
    SQL,
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

from limes.catalog.models import Resource
from limes.db.base import BaseModel
from limes.projects.models import Project


class Commitment(BaseModel):
    """A project's promise to use an amount of a resource in one AZ for a time."""

    id = BigAutoField()
    uuid = TextField(unique=True)
    project = ForeignKeyField(Project, on_delete="CASCADE")
    resource = ForeignKeyField(Resource, on_delete="CASCADE")
    az = TextField(constraints=[Check("az <> ''")])
    amount = BigIntegerField(constraints=[Check("amount > 0")])
    duration = TextField()
    status = TextField(constraints=[Check("status IN ('planned', 'pending', 'confirmed', 'superseded', 'expired')")])
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
    auto_renews = BooleanField(default=False, constraints=[SQL("DEFAULT FALSE")])
    renewal_error = TextField(default="", constraints=[SQL("DEFAULT ''")])
    anchor_day = IntegerField(null=True)

    class Meta:
        table_name = "project_commitments"
        indexes = (
            (("project", "resource", "az"), False),
            (("resource", "az", "status"), False),
            (("resource", "status", "confirm_by"), False),
            (("status", "expires_at"), False),
        )
        constraints = [
            Check("expires_at > created_at"),
            Check("(status <> 'confirmed') OR (confirmed_at IS NOT NULL)"),
            Check("(status = 'superseded') = (superseded_at IS NOT NULL)"),
            Check("(transfer_token IS NULL) = (transfer_status = '')"),
        ]


Commitment.add_index(
    Commitment.index(Commitment.expires_at, name="project_commitments_renewing", where=Commitment.auto_renews)
)


class CommitmentEvent(BaseModel):
    """A change of a commitment, for those who bill. Refers to nothing, so that it outlives commitment and project.

    Invariant: numbers are given in the order of the transactions' commits (`limes.commitments.events`).
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
    """One row: the last number of `commitment_events`. Locked by the transaction that takes numbers, until it
    commits."""

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
