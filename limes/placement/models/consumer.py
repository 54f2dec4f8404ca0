"""Consumers, what each has of which provider, and how much their projects may use."""

from peewee import BigAutoField, BigIntegerField, CharField, Check, CompositeKey, DoubleField, ForeignKeyField

from limes.db.base import BaseModel
from limes.placement.models.provider import Provider
from limes.placement.models.vocabulary import ResourceClass


class Consumer(BaseModel):
    """What has allocations: a server, a migration. Created with its first allocation, deleted with its last."""

    id = BigAutoField()
    uuid = CharField(max_length=36, unique=True)
    generation = BigIntegerField(constraints=[Check("generation > 0")])
    project_id = CharField()
    user_id = CharField()
    consumer_type = CharField(null=True)
    updated = DoubleField()

    class Meta:
        table_name = "placement_consumers"


Consumer.add_index(Consumer.project_id, Consumer.user_id, name="placement_consumers_project")


class Allocation(BaseModel):
    """What a consumer has of a provider's inventory."""

    consumer = ForeignKeyField(Consumer, index=False)
    provider = ForeignKeyField(Provider, index=False)
    resource_class = ForeignKeyField(ResourceClass, column_name="class_id", index=False)
    used = BigIntegerField(constraints=[Check("used > 0")])
    updated = DoubleField()

    class Meta:
        table_name = "placement_allocations"
        primary_key = CompositeKey("consumer", "provider", "resource_class")


Allocation.add_index(
    Allocation.provider, Allocation.resource_class, Allocation.used, name="placement_allocations_provider"
)


class ProjectQuota(BaseModel):
    """How much of a class the consumers of a project may have together; null for no limit."""

    project_id = CharField()
    resource_class = ForeignKeyField(ResourceClass, column_name="class_id", on_delete="CASCADE", index=False)
    max_used = BigIntegerField(null=True, constraints=[Check("max_used >= 0")])

    class Meta:
        table_name = "placement_project_quotas"
        primary_key = CompositeKey("project_id", "resource_class")


ProjectQuota.add_index(ProjectQuota.resource_class, name="placement_project_quotas_class")
