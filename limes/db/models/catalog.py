"""What the configuration names: services with their resources, capacitors, and what capacity these report. And jobs."""

from peewee import (
    AutoField,
    BigIntegerField,
    BooleanField,
    Check,
    CompositeKey,
    DoubleField,
    ForeignKeyField,
    TextField,
)

from limes.db.base import BaseModel


class Service(BaseModel):
    """A configured service type such as `compute`. Rows of services that left the configuration are deleted after the
    time of grace, and later if they have commitments."""

    id = AutoField()
    type = TextField(unique=True)
    vanished_at = DoubleField(null=True)
    """When a collector first missed it in its configuration. Null while it is configured."""

    class Meta:
        table_name = "services"


class Capacitor(BaseModel):
    """A configured capacitor, with when it was and will be asked. It has to be asked at `next_scrape_at`."""

    id = AutoField()
    name = TextField(unique=True)
    scraped_at = DoubleField(null=True)
    checked_at = DoubleField(null=True)
    next_scrape_at = DoubleField(index=True)
    scrape_duration = DoubleField(null=True)
    scrape_error = TextField(default="")

    class Meta:
        table_name = "capacitors"


class Resource(BaseModel):
    """A quota resource of a service. The row is also what is locked to decide on cluster-wide sums."""

    id = AutoField()
    service = ForeignKeyField(Service, on_delete="CASCADE", index=False)
    name = TextField()
    capacitor = ForeignKeyField(Capacitor, null=True, on_delete="SET NULL")
    is_known = BooleanField(default=True)
    """False once the backend no longer offers it: kept, but shown nowhere."""
    capacity_drop_seen_at = DoubleField(null=True)
    """When the last answer about its capacity was much less than what is kept, which waits for another one."""
    quota_due_at = DoubleField(null=True)
    """When quota has to be computed that follows usage; null where people set it."""
    quota_claimed_until = DoubleField(null=True)
    """The end of the lease of whoever computes it just now; null if nobody does."""

    class Meta:
        table_name = "resources"
        indexes = ((("service", "name"), True),)


class AZResource(BaseModel):
    """Capacity of a resource in one AZ as its capacitor reported it, before overcommit."""

    resource = ForeignKeyField(Resource, on_delete="CASCADE", index=False)
    az = TextField(constraints=[Check("az <> ''")])
    raw_capacity = BigIntegerField(constraints=[Check("raw_capacity >= 0")])
    usage = BigIntegerField(null=True, constraints=[Check("usage >= 0")])
    subcapacities = TextField(default="[]")
    """JSON list."""

    class Meta:
        table_name = "az_resources"
        primary_key = CompositeKey("resource", "az")


class Job(BaseModel):
    """A job that is done for the whole cluster, by one collector at a time. Made by the first collector."""

    name = TextField(primary_key=True)
    next_run_at = DoubleField()
    """While the job is being done: when its claim ends."""
    ran_at = DoubleField(null=True)
    error = TextField(default="")

    class Meta:
        table_name = "jobs"
