"""Jobs for the whole cluster."""

from peewee import DoubleField, TextField

from limes.db.base import BaseModel


class Job(BaseModel):
    """A job that is done for the whole cluster, by one collector at a time. Made by the first collector."""

    name = TextField(primary_key=True)
    next_run_at = DoubleField()
    """While the job is being done: when its claim ends."""
    ran_at = DoubleField(null=True)
    error = TextField(default="")

    class Meta:
        table_name = "jobs"
