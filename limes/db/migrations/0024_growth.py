"""How usage, quota, commitments and capacity have grown."""

from typing import Any

import peewee
from peewee import (
    AutoField,
    BigIntegerField,
    Check,
    CompositeKey,
    DoubleField,
    ForeignKeyField,
    IntegerField,
    TextField,
)


def up(migrator: Any, db: peewee.Database) -> None:
    """Adds tables; the previous release does not look at them."""

    class BaseModel(peewee.Model):
        class Meta:
            database = db
            legacy_table_names = False

    class GrowthState(BaseModel):
        id = IntegerField(primary_key=True)
        sampled_at = BigIntegerField()
        trends_at = BigIntegerField()

    class GrowthSeries(BaseModel):
        id = AutoField()
        scope = TextField()
        service_type = TextField()
        resource_name = TextField()
        az = TextField()

        class Meta:
            table_name = "growth_series"
            indexes = ((("scope", "service_type", "resource_name", "az"), True),)

    class GrowthHour(BaseModel):
        series = ForeignKeyField(GrowthSeries, on_delete="CASCADE", index=False)
        begins = BigIntegerField()
        usage = BigIntegerField()
        committed = BigIntegerField()
        quota = BigIntegerField(null=True)
        capacity = BigIntegerField(null=True)

        class Meta:
            table_name = "growth_hours"
            primary_key = CompositeKey("series", "begins")
            indexes = ((("begins",), False),)

    class _Summary(BaseModel):
        series = ForeignKeyField(GrowthSeries, on_delete="CASCADE", index=False)
        begins = BigIntegerField()
        samples = IntegerField(constraints=[Check("samples > 0")])
        usage = BigIntegerField()
        usage_largest = BigIntegerField()
        usage_last = BigIntegerField()
        committed = BigIntegerField()
        committed_last = BigIntegerField()
        quota = BigIntegerField(null=True)
        capacity = BigIntegerField(null=True)

    class GrowthDay(_Summary):
        class Meta:
            table_name = "growth_days"
            primary_key = CompositeKey("series", "begins")
            indexes = ((("begins",), False),)

    class GrowthMonth(_Summary):
        class Meta:
            table_name = "growth_months"
            primary_key = CompositeKey("series", "begins")
            indexes = ((("begins",), False),)

    class GrowthTrend(BaseModel):
        series = ForeignKeyField(GrowthSeries, primary_key=True, on_delete="CASCADE")
        computed_at = BigIntegerField()
        days = IntegerField()
        level = DoubleField(null=True)
        growth = DoubleField(null=True)
        lowest = DoubleField(null=True)
        highest = DoubleField(null=True)

        class Meta:
            table_name = "growth_trends"

    class QuotaTime(BaseModel):
        project_uuid = TextField()
        service_type = TextField()
        resource_name = TextField()
        since = BigIntegerField()
        until = BigIntegerField(null=True)
        quota = BigIntegerField()

        class Meta:
            table_name = "quota_times"
            primary_key = CompositeKey("project_uuid", "service_type", "resource_name", "since")

    db.create_tables([GrowthState, GrowthSeries, GrowthHour, GrowthDay, GrowthMonth, GrowthTrend, QuotaTime])
    db.execute_sql(
        "CREATE UNIQUE INDEX quota_times_present ON quota_times (project_uuid, service_type, resource_name)"
        " WHERE until IS NULL"
    )
    db.execute_sql("CREATE INDEX quota_times_until ON quota_times (until)")
