"""Domains, and the quota that they may distribute."""

from peewee import AutoField, BigIntegerField, Check, CompositeKey, ForeignKeyField, TextField

from limes.db.base import BaseModel
from limes.db.models.catalog import Resource


class Domain(BaseModel):
    """A Keystone domain."""

    id = AutoField()
    uuid = TextField(unique=True)
    name = TextField()

    class Meta:
        table_name = "domains"


class DomainResource(BaseModel):
    """A domain's quota. The row is what is locked to decide on the sum of project quotas below it."""

    domain = ForeignKeyField(Domain, on_delete="CASCADE", index=False)
    resource = ForeignKeyField(Resource, on_delete="CASCADE")
    quota = BigIntegerField(constraints=[Check("quota >= 0")], default=0)

    class Meta:
        table_name = "domain_resources"
        primary_key = CompositeKey("domain", "resource")
