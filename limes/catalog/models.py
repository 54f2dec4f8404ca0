"""What the configuration names: services with their resources, capacitors, and what capacity these report. And jobs."""

import peewee

from limes.db.base import BaseModel


class Service(BaseModel):
    """A configured service type such as `compute`. Rows of services that left the configuration are deleted after the
    time of grace, and later if they have commitments."""

    id = peewee.AutoField()
    type = peewee.TextField(unique=True)
    vanished_at = peewee.DoubleField(null=True)
    """When a collector first missed it in its configuration. Null while it is configured."""

    class Meta:
        table_name = "services"


class Capacitor(BaseModel):
    """A configured capacitor, with when it was and will be asked. It has to be asked at `next_scrape_at`."""

    id = peewee.AutoField()
    name = peewee.TextField(unique=True)
    scraped_at = peewee.DoubleField(null=True)
    checked_at = peewee.DoubleField(null=True)
    next_scrape_at = peewee.DoubleField(index=True)
    scrape_duration = peewee.DoubleField(null=True)
    scrape_error = peewee.TextField(default="")

    class Meta:
        table_name = "capacitors"


class Resource(BaseModel):
    """A quota resource of a service. The row is also what is locked to decide on cluster-wide sums."""

    id = peewee.AutoField()
    service = peewee.ForeignKeyField(Service, on_delete="CASCADE", index=False)
    name = peewee.TextField()
    capacitor = peewee.ForeignKeyField(Capacitor, null=True, on_delete="SET NULL")
    is_known = peewee.BooleanField(default=True)
    """False once the backend no longer offers it: kept, but shown nowhere."""
    capacity_drop_seen_at = peewee.DoubleField(null=True)
    """When the last answer about its capacity was much less than what is kept, which waits for another one."""
    quota_due_at = peewee.DoubleField(null=True)
    """When quota has to be computed that follows usage; null where people set it."""
    quota_claimed_until = peewee.DoubleField(null=True)
    """The end of the lease of the collector that computes it now; null if none does."""

    class Meta:
        table_name = "resources"
        indexes = ((("service", "name"), True),)


class AZResource(BaseModel):
    """Capacity of a resource in one AZ as its capacitor reported it, before overcommit."""

    resource = peewee.ForeignKeyField(Resource, on_delete="CASCADE", index=False)
    az = peewee.TextField(constraints=[peewee.Check("az <> ''")])
    raw_capacity = peewee.BigIntegerField(constraints=[peewee.Check("raw_capacity >= 0")])
    usage = peewee.BigIntegerField(null=True, constraints=[peewee.Check("usage >= 0")])
    subcapacities = peewee.TextField(default="[]")
    """JSON list."""

    class Meta:
        table_name = "az_resources"
        primary_key = peewee.CompositeKey("resource", "az")


class Job(BaseModel):
    """A job that is done for the whole cluster, by one collector at a time. Made by the first collector."""

    name = peewee.TextField(primary_key=True)
    next_run_at = peewee.DoubleField()
    """While the job is being done: when its claim ends."""
    ran_at = peewee.DoubleField(null=True)
    error = peewee.TextField(default="")

    class Meta:
        table_name = "jobs"
