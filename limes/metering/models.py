"""The account of usage and commitments over time (docs/adr/0032). Rows name what they are about by UUID and name, and
outlive it.

Times are whole seconds. Totals are amount-seconds as decimal digits, since they may have more than 64 bits.
"""

from peewee import SQL, BigAutoField, BigIntegerField, Check, CompositeKey, IntegerField, TextField

from limes.db.base import BaseModel


class MeteringState(BaseModel):
    """One row: how far the account has come. Locked while days are closed or corrected."""

    id = IntegerField(primary_key=True)
    begun_at = BigIntegerField()
    """When metering began: nothing is known of what was before."""
    closed_until = BigIntegerField()
    """The end of the last day that is closed for all projects."""
    closed_at = BigIntegerField()
    """When that was done."""
    last_project = TextField()
    """While a day is being closed: the project that was done last. Empty in between."""
    event_number = BigIntegerField()
    """The last of `commitment_events` that is in `committed_times`."""
    checked_until = BigIntegerField(null=True)
    """The end of the last day before which all days were closed, or repaired, by the present rules."""
    checked_project = TextField(null=True)
    """`last_project`, if all of the day that is being closed was done by the present rules."""
    checked_correction = BigIntegerField(constraints=[SQL("DEFAULT 0")], default=0)
    """The number of the last correction until which all were made by the present rules, or repaired."""

    class Meta:
        table_name = "metering_state"


class ClosedDay(BaseModel):
    """When a day was closed. Unknown for days that earlier releases have closed, except the last one."""

    begins = BigIntegerField(primary_key=True)
    closed_at = BigIntegerField()

    class Meta:
        table_name = "closed_days"


class MeteredUnit(BaseModel):
    """From this time on, amounts of a resource had this unit. Empty: they are numbers of pieces."""

    service_type = TextField()
    resource_name = TextField()
    since = BigIntegerField()
    unit = TextField()

    class Meta:
        table_name = "metered_units"
        primary_key = CompositeKey("service_type", "resource_name", "since")


class MeteredProject(BaseModel):
    """What a project was called, and in which domain it was, from one time to another (null: to this day)."""

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
    """From this time on, a project used so much of a resource in an AZ."""

    project_uuid = TextField()
    service_type = TextField()
    resource_name = TextField()
    az = TextField()
    at = BigIntegerField()
    usage = BigIntegerField(constraints=[Check("usage >= 0")])
    recorded_at = BigIntegerField(index=True)
    """The same as `at`, or `limes.metering.queries.PENDING`."""

    class Meta:
        table_name = "usage_steps"
        primary_key = CompositeKey("project_uuid", "service_type", "resource_name", "az", "at")
        indexes = ((("project_uuid", "at"), False),)


class UsageGap(BaseModel):
    """A time in which it was unknown what a project used of a service."""

    project_uuid = TextField()
    service_type = TextField()
    begins = BigIntegerField()
    ends = BigIntegerField(index=True)
    recorded_at = BigIntegerField(index=True)
    """`limes.metering.queries.PENDING` until a closed day counts it; then the same as `begins`."""

    class Meta:
        table_name = "usage_gaps"
        primary_key = CompositeKey("project_uuid", "service_type", "begins")
        constraints = [Check("ends > begins")]


class CommittedTime(BaseModel):
    """A time in which a confirmed commitment was a project's. It may end in the future."""

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


class _AccountModel(BaseModel):
    """As `limes.metering.rules.Account`."""

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
    version = IntegerField(constraints=[SQL("DEFAULT 1")], default=1)
    """Grows by one with each correction after the end."""

    class Meta:
        primary_key = CompositeKey("project_uuid", "service_type", "resource_name", "az", "begins")


class UsageDay(_AccountModel):
    """The account of a closed day in which usage has changed or was not known. On other closed days, it was what it was
    at the end of the last day that has a row."""

    class Meta:
        table_name = "usage_days"
        indexes = ((("project_uuid", "begins"), False), (("begins",), False))


class UsageMonth(_AccountModel):
    """The account of the closed days of a month, unless nothing was used or committed on them, and all was known."""

    counted_until = BigIntegerField()
    """The end of the last day that it counts."""

    class Meta:
        table_name = "usage_months"
        indexes = ((("begins", "project_uuid"), False),)


class UsageCorrection(BaseModel):
    """A closed day or month that was corrected later, with what it said before."""

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
    """Of what is in `before`."""
    before = TextField()
    """JSON: the account as it was."""

    class Meta:
        table_name = "usage_corrections"
        indexes = ((("project_uuid", "begins"), False),)
