"""From when to when subresources were there, and with which attributes."""

from peewee import SQL, BigAutoField, DoubleField, ForeignKeyField, TextField

from limes.db.base import BaseModel


class LifetimeProject(BaseModel):
    """A project that has, or had, subresources. It stays when the project is deleted, so that bills can be written."""

    id = BigAutoField()
    uuid = TextField(unique=True)
    name = TextField()
    """Like the next two, as of the last scrape that found any of them, or began a period."""
    domain_uuid = TextField(index=True)
    domain_name = TextField()

    class Meta:
        table_name = "lifetime_projects"


class SubresourceLifetime(BaseModel):
    """A period in which a subresource was in the same AZ with the same billed attributes (`limes.lifetimes.rules`).

    Invariant: the open periods of a service in a project are the ones that its last successful scrape found. They are
    written in the transaction of the scrape, whose claim and locks keep others out.
    """

    id = BigAutoField()
    project = ForeignKeyField(LifetimeProject, on_delete="CASCADE", index=False)
    service_type = TextField()
    resource_name = TextField()
    az = TextField()
    subresource_id = TextField()
    name = TextField()
    """As it was when the period began."""
    attributes = TextField()
    """A JSON object."""
    first_seen_at = DoubleField()
    """When the subresource was found first, maybe with other attributes."""
    began_at = DoubleField()
    last_seen_at = DoubleField(null=True)
    """Null while the period is open: then the service's last scrape has seen it."""
    ended_at = DoubleField(null=True)

    class Meta:
        table_name = "subresource_lifetimes"
        indexes = ((("project", "id"), False), (("ended_at",), False))


SubresourceLifetime.add_index(
    SubresourceLifetime.index(
        SubresourceLifetime.project,
        SubresourceLifetime.service_type,
        name="subresource_lifetimes_open",
        where=SQL("ended_at IS NULL"),
    )
)
