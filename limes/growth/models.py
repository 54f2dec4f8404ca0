"""How usage, quota, commitments and capacity of the cluster, of domains and of projects have grown (docs/adr/0033).
Rows name what they are about by UUID and name, and outlive it. Times are whole seconds.
"""

import peewee
from peewee import BigIntegerField, CompositeKey, DoubleField, ForeignKeyField, IntegerField, TextField

from limes.db.base import BaseModel


class GrowthState(BaseModel):
    """One row: locked while a sample is taken."""

    id = IntegerField(primary_key=True)
    sampled_at = BigIntegerField()
    """When the last sample was taken. 0 before the first one."""
    trends_at = BigIntegerField()
    """When trends were last computed."""


class GrowthSeries(BaseModel):
    """What is sampled: a resource of the cluster (`scope` is empty) or of a domain (its UUID), in one AZ or in all of
    them (`az` is empty)."""

    id = peewee.AutoField()
    scope = TextField()
    service_type = TextField()
    resource_name = TextField()
    az = TextField()

    class Meta:
        table_name = "growth_series"
        indexes = ((("scope", "service_type", "resource_name", "az"), True),)


class GrowthHour(BaseModel):
    """The last sample of an hour."""

    series = ForeignKeyField(GrowthSeries, on_delete="CASCADE", index=False)
    begins = BigIntegerField()
    usage = BigIntegerField()
    committed = BigIntegerField()
    """Confirmed commitments."""
    quota = BigIntegerField(null=True)
    """Null in single AZs, and where the resource has none."""
    capacity = BigIntegerField(null=True)
    """Of the cluster, with overcommitment; null where it is not known."""

    class Meta:
        table_name = "growth_hours"
        primary_key = CompositeKey("series", "begins")
        indexes = ((("begins",), False),)


class _Summary(BaseModel):
    """What the samples of a time say together. Averages are rounded down."""

    series = ForeignKeyField(GrowthSeries, on_delete="CASCADE", index=False)
    begins = BigIntegerField()
    samples = IntegerField(constraints=[peewee.Check("samples > 0")])
    """How many hours of it were sampled."""
    usage = BigIntegerField()
    """Average."""
    usage_largest = BigIntegerField()
    usage_last = BigIntegerField()
    committed = BigIntegerField()
    """Average."""
    committed_last = BigIntegerField()
    quota = BigIntegerField(null=True)
    """At the end; likewise the capacity."""
    capacity = BigIntegerField(null=True)

    class Meta:
        primary_key = CompositeKey("series", "begins")
        indexes = ((("begins",), False),)


class GrowthDay(_Summary):
    """A day (UTC): what its hours say."""

    class Meta:
        table_name = "growth_days"


class GrowthMonth(_Summary):
    """A month (UTC): what its days say."""

    class Meta:
        table_name = "growth_months"


class GrowthTrend(BaseModel):
    """How usage has grown, in amounts per day. Null as long as there are not enough days."""

    series = ForeignKeyField(GrowthSeries, primary_key=True, on_delete="CASCADE")
    computed_at = BigIntegerField()
    days = IntegerField()
    """From how many days it comes."""
    level = DoubleField(null=True)
    """Usage at `computed_at`, as the trend has it."""
    growth = DoubleField(null=True)
    lowest = DoubleField(null=True)
    highest = DoubleField(null=True)

    class Meta:
        table_name = "growth_trends"


class QuotaTime(BaseModel):
    """A time in which a project had a quota, as samples have found it. `until` is null for the present one."""

    project_uuid = TextField()
    service_type = TextField()
    resource_name = TextField()
    since = BigIntegerField()
    until = BigIntegerField(null=True)
    quota = BigIntegerField()

    class Meta:
        table_name = "quota_times"
        primary_key = CompositeKey("project_uuid", "service_type", "resource_name", "since")


QuotaTime.add_index(
    QuotaTime.index(
        QuotaTime.project_uuid,
        QuotaTime.service_type,
        QuotaTime.resource_name,
        name="quota_times_present",
        unique=True,
        where=peewee.SQL("until IS NULL"),
    )
)
QuotaTime.add_index(QuotaTime.index(QuotaTime.until, name="quota_times_until"))
