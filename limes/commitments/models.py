"""Commitments, what happened to them, the keys they were asked for with, and how much of them is used."""

import peewee

from limes.catalog.models import Resource
from limes.db.base import BaseModel
from limes.projects.models import Project


class Commitment(BaseModel):
    """A project's promise to use an amount of a resource in one AZ for a time."""

    id = peewee.BigAutoField()
    uuid = peewee.TextField(unique=True)
    project = peewee.ForeignKeyField(Project, on_delete="CASCADE")
    resource = peewee.ForeignKeyField(Resource, on_delete="CASCADE")
    az = peewee.TextField(constraints=[peewee.Check("az <> ''")])
    amount = peewee.BigIntegerField(constraints=[peewee.Check("amount > 0")])
    duration = peewee.TextField()
    status = peewee.TextField(
        constraints=[peewee.Check("status IN ('planned', 'pending', 'confirmed', 'superseded', 'expired')")]
    )
    created_at = peewee.DoubleField()
    creator_uuid = peewee.TextField()
    creator_name = peewee.TextField()
    confirm_by = peewee.DoubleField(null=True)
    confirmed_at = peewee.DoubleField(null=True)
    expires_at = peewee.DoubleField()
    superseded_at = peewee.DoubleField(null=True)
    predecessor = peewee.ForeignKeyField("self", null=True, on_delete="SET NULL")
    transfer_status = peewee.TextField(
        default="", constraints=[peewee.Check("transfer_status IN ('', 'unlisted', 'public')")]
    )
    transfer_token = peewee.TextField(null=True, unique=True)
    auto_renews = peewee.BooleanField(default=False, constraints=[peewee.SQL("DEFAULT FALSE")])
    renewal_error = peewee.TextField(default="", constraints=[peewee.SQL("DEFAULT ''")])
    anchor_day = peewee.IntegerField(null=True)

    class Meta:
        table_name = "project_commitments"
        indexes = (
            (("project", "resource", "az"), False),
            (("resource", "az", "status"), False),
            (("resource", "status", "confirm_by"), False),
            (("status", "expires_at"), False),
        )
        constraints = [
            peewee.Check("expires_at > created_at"),
            peewee.Check("(status <> 'confirmed') OR (confirmed_at IS NOT NULL)"),
            peewee.Check("(status = 'superseded') = (superseded_at IS NOT NULL)"),
            peewee.Check("(transfer_token IS NULL) = (transfer_status = '')"),
        ]


Commitment.add_index(
    Commitment.index(Commitment.expires_at, name="project_commitments_renewing", where=Commitment.auto_renews)
)


class CommitmentEvent(BaseModel):
    """A change of a commitment, for those who bill. Refers to nothing, so that it outlives commitment and project.

    Invariant: numbers are given in the order of the transactions' commits (`limes.commitments.events`).
    """

    number = peewee.BigIntegerField(primary_key=True)
    at = peewee.DoubleField()
    event = peewee.TextField()
    commitment_uuid = peewee.TextField(index=True)
    project_uuid = peewee.TextField(index=True)
    document = peewee.TextField()
    """JSON: the commitment after the change, as the API shows it."""
    initiator_id = peewee.TextField(constraints=[peewee.SQL("DEFAULT ''")])
    """A user's id; empty for a job. Releases before 1.0 did not write who it was: then the name is empty, too."""
    initiator_name = peewee.TextField(constraints=[peewee.SQL("DEFAULT ''")])
    request_id = peewee.TextField(constraints=[peewee.SQL("DEFAULT ''")])
    domain_uuid = peewee.TextField(constraints=[peewee.SQL("DEFAULT ''")])

    class Meta:
        table_name = "commitment_events"
        indexes = ((("at", "number"), False), (("domain_uuid", "at", "number"), False))


for _name, _field in (("id", CommitmentEvent.initiator_id), ("name", CommitmentEvent.initiator_name)):
    _is_of_user = peewee.SQL("initiator_id <> ''")
    CommitmentEvent.add_index(CommitmentEvent.index(_field, name=f"commitment_events_user_{_name}", where=_is_of_user))


class CommitmentEventCounter(BaseModel):
    """One row: the last number of `commitment_events`. Locked by the transaction that takes numbers, until it
    commits."""

    id = peewee.IntegerField(primary_key=True)
    last = peewee.BigIntegerField()

    class Meta:
        table_name = "commitment_event_counter"


class CommitmentKey(BaseModel):
    """An `Idempotency-Key` with which a commitment was made, and what was answered."""

    project = peewee.ForeignKeyField(Project, on_delete="CASCADE", index=False)
    key = peewee.TextField()
    request = peewee.TextField()
    """What was asked for, in canonical form."""
    document = peewee.TextField()
    """JSON: the answer."""
    created_at = peewee.DoubleField(index=True)

    class Meta:
        table_name = "commitment_keys"
        primary_key = peewee.CompositeKey("project", "key")


class CommitmentUse(BaseModel):
    """How much of its commitments a project has used on one day (UTC), from several looks at it."""

    project = peewee.ForeignKeyField(Project, on_delete="CASCADE", index=False)
    resource = peewee.ForeignKeyField(Resource, on_delete="CASCADE")
    az = peewee.TextField()
    day = peewee.IntegerField(index=True)
    """Days since the epoch."""
    looks = peewee.IntegerField()
    usage_sum = peewee.BigIntegerField()
    """Over all looks: divided by `looks` it is the average."""
    usage_min = peewee.BigIntegerField()
    usage_max = peewee.BigIntegerField()
    committed_sum = peewee.BigIntegerField()

    class Meta:
        table_name = "commitment_use"
        primary_key = peewee.CompositeKey("project", "resource", "az", "day")
