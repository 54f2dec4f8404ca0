"""The account of usage and commitments over time."""

from typing import Any

import peewee
from peewee import SQL, BigAutoField, BigIntegerField, Check, CompositeKey, IntegerField, TextField


def up(migrator: Any, db: peewee.Database) -> None:
    """Adds tables; the previous release does not look at them."""

    class BaseModel(peewee.Model):
        class Meta:
            database = db
            legacy_table_names = False

    class MeteringState(BaseModel):
        id = IntegerField(primary_key=True)
        begun_at = BigIntegerField()
        closed_until = BigIntegerField()
        closed_at = BigIntegerField()
        last_project = TextField()
        event_number = BigIntegerField()

        class Meta:
            table_name = "metering_state"

    class MeteredProject(BaseModel):
        project_uuid = TextField()
        since = BigIntegerField()
        until = BigIntegerField(null=True)
        project_name = TextField()
        domain_uuid = TextField()
        domain_name = TextField()

        class Meta:
            table_name = "metered_projects"
            primary_key = CompositeKey("project_uuid", "since")
            indexes = ((("domain_uuid", "project_uuid"), False),)

    class UsageStep(BaseModel):
        project_uuid = TextField()
        service_type = TextField()
        resource_name = TextField()
        az = TextField()
        at = BigIntegerField()
        usage = BigIntegerField(constraints=[Check("usage >= 0")])
        recorded_at = BigIntegerField(index=True)

        class Meta:
            table_name = "usage_steps"
            primary_key = CompositeKey("project_uuid", "service_type", "resource_name", "az", "at")
            indexes = ((("project_uuid", "at"), False),)

    class UsageGap(BaseModel):
        project_uuid = TextField()
        service_type = TextField()
        begins = BigIntegerField()
        ends = BigIntegerField(index=True)
        recorded_at = BigIntegerField(index=True)

        class Meta:
            table_name = "usage_gaps"
            primary_key = CompositeKey("project_uuid", "service_type", "begins")
            constraints = [Check("ends > begins")]

    class CommittedTime(BaseModel):
        commitment_uuid = TextField()
        begins = BigIntegerField()
        ends = BigIntegerField()
        project_uuid = TextField()
        service_type = TextField()
        resource_name = TextField()
        az = TextField()
        amount = BigIntegerField(constraints=[Check("amount > 0")])

        class Meta:
            table_name = "committed_times"
            primary_key = CompositeKey("commitment_uuid", "begins")
            indexes = ((("project_uuid", "ends"), False),)
            constraints = [Check("ends >= begins")]

    class AccountModel(BaseModel):
        project_uuid = TextField()
        service_type = TextField()
        resource_name = TextField()
        az = TextField()
        begins = BigIntegerField()
        used = TextField()
        committed = TextField()
        beyond = TextField()
        unknown = BigIntegerField()
        smallest = BigIntegerField(null=True)
        largest = BigIntegerField(null=True)
        last = BigIntegerField()
        version = IntegerField(constraints=[SQL("DEFAULT 1")])

    class UsageDay(AccountModel):
        class Meta:
            table_name = "usage_days"
            primary_key = CompositeKey("project_uuid", "service_type", "resource_name", "az", "begins")
            indexes = ((("project_uuid", "begins"), False), (("begins",), False))

    class UsageMonth(AccountModel):
        counted_until = BigIntegerField()

        class Meta:
            table_name = "usage_months"
            primary_key = CompositeKey("project_uuid", "service_type", "resource_name", "az", "begins")
            indexes = ((("begins", "project_uuid"), False),)

    class UsageCorrection(BaseModel):
        number = BigAutoField()
        corrected_at = BigIntegerField()
        reason = TextField()
        granularity = TextField(constraints=[Check("granularity IN ('day', 'month')")])
        project_uuid = TextField()
        service_type = TextField()
        resource_name = TextField()
        az = TextField()
        begins = BigIntegerField()
        version = IntegerField()
        before = TextField()

        class Meta:
            table_name = "usage_corrections"
            indexes = ((("project_uuid", "begins"), False),)

    db.create_tables(
        [
            MeteringState,
            MeteredProject,
            UsageStep,
            UsageGap,
            CommittedTime,
            UsageDay,
            UsageMonth,
            UsageCorrection,
        ]
    )
