"""Sums over projects that triggers keep, on PostgreSQL only (docs/adr/0024). Nothing else writes to these tables.

Invariant: in each state of the database, what the rows of a sum add up to is the sum over the rows of the projects. A
change of those adds a row with the difference in the same transaction; `limes.usage.sum_upkeep` replaces rows by
one, and adds what has changed to the sum over all domains. So there are two ways to the sum over all domains: all rows
that name a domain, or the rows of `ALL_DOMAINS` and those that are still changes.
"""

from peewee import SQL, BigAutoField, BigIntegerField, BooleanField, CompositeKey, Field, IntegerField, TextField

from limes.db.base import BaseModel

ALL_DOMAINS = 0
"""What the rows about all domains together have as their domain."""
ALL_AZS = ""
"""What the rows about all AZs together have as their AZ."""


class NumericField(Field):
    """NUMERIC, which has no limit."""

    field_type = "NUMERIC"


class _Sum(BaseModel):
    """About a domain's projects, for one resource in one AZ."""

    number = BigAutoField()
    is_change = BooleanField(constraints=[SQL("DEFAULT TRUE")])
    """Whether it is a difference that is not part of a sum over all domains yet."""
    domain_id = IntegerField()
    resource_id = IntegerField()
    az = TextField()

    class Meta:
        indexes = ((("resource_id", "az"), False), (("domain_id",), False), (("is_change",), False))


class ProjectSum(_Sum):
    """Figures: in one AZ, or in all of them (`az` is empty)."""

    projects = BigIntegerField()
    """How many of them there are."""
    quota = NumericField()
    quotas = BigIntegerField()
    """How many have one; likewise the other plurals."""
    usage = NumericField()
    physical_usage = NumericField()
    """Projects without one count with their usage."""
    physical_usages = BigIntegerField()
    burst_usage = NumericField()
    backend_quota = NumericField()
    backend_quotas = BigIntegerField()
    infinite_backend_quotas = BigIntegerField()
    unused = NumericField()
    """Of `UnusedCommitment`."""

    class Meta:
        table_name = "project_sums"


class CommitmentSum(_Sum):
    """Live commitments, including ones that have ended and are not settled yet."""

    status = TextField()
    duration = TextField()
    amount = NumericField()
    commitments = BigIntegerField()
    """How many there are."""

    class Meta:
        table_name = "commitment_sums"


class SuspiciousResource(BaseModel):
    """Where a project's usage or backend quota is not within, or not what its quota is."""

    project_id = IntegerField()
    resource_id = IntegerField()

    class Meta:
        table_name = "suspicious_resources"
        primary_key = CompositeKey("project_id", "resource_id")


class UnusedCommitment(BaseModel):
    """What a project's confirmed commitments, due to expire or not, are beyond its usage: in one AZ, or in all of them
    together (`az` is empty). There are rows only for what is not 0."""

    project_id = IntegerField()
    resource_id = IntegerField()
    az = TextField()
    unused = NumericField()

    class Meta:
        table_name = "unused_commitments"
        primary_key = CompositeKey("project_id", "resource_id", "az")


ON_POSTGRESQL = (ProjectSum, CommitmentSum, SuspiciousResource, UnusedCommitment)
"""Tables that only PostgreSQL has: SQLite adds up when asked (docs/adr/0024)."""
