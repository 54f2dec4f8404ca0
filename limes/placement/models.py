"""The Placement half's tables as peewee models: the truth about the schema (a test compares it with the migrations).

Names that all providers share come first: resource classes and traits, where standard ones have the lower ids. Then
providers with what belongs to each, and consumers with their allocations of each provider.
Amounts are whole numbers of the class's unit. Times are seconds since the epoch, UTC.
"""

from peewee import BigAutoField, BigIntegerField, CharField, Check, CompositeKey, DoubleField, ForeignKeyField

from limes.db.base import BaseModel


class Named(BaseModel):
    """What classes and traits have in common."""

    id = BigAutoField()
    name = CharField(unique=True)
    updated = DoubleField()


class ResourceClass(Named):
    """A class of things to allocate, such as `VCPU`."""

    class Meta:
        table_name = "placement_resource_classes"


class Trait(Named):
    """A quality of a provider, such as `HW_CPU_X86_AVX`."""

    class Meta:
        table_name = "placement_traits"


class Vocabulary(BaseModel):
    """When classes or traits last came or went."""

    name = CharField(max_length=32, primary_key=True, constraints=[Check("name IN ('resource_classes', 'traits')")])
    changed = BigIntegerField()

    class Meta:
        table_name = "placement_vocabularies"


class ChangeCounter(BaseModel):
    """The stamp of the last writing transaction, on SQLite. PostgreSQL numbers its transactions itself."""

    id = BigAutoField(constraints=[Check("id = 1")])
    value = BigIntegerField()

    class Meta:
        table_name = "placement_change_counter"


class Provider(BaseModel):
    """A resource provider. The root of a tree has no parent, and is its own root (0 while it is being written)."""

    id = BigAutoField()
    uuid = CharField(max_length=36, unique=True)
    name = CharField(max_length=200, unique=True)
    generation = BigIntegerField(default=0, constraints=[Check("generation >= 0")])
    parent = ForeignKeyField("self", null=True, index=False)
    root = ForeignKeyField("self", index=False, deferrable="INITIALLY DEFERRED")
    updated = DoubleField()
    changed = BigIntegerField()
    """The stamp of the transaction that last changed anything about it (`limes.placement.objects.change`)."""

    class Meta:
        table_name = "placement_providers"


class ProviderTombstone(BaseModel):
    """Records for a day that a provider was deleted."""

    provider_id = BigIntegerField(primary_key=True)
    changed = BigIntegerField()
    deleted_at = DoubleField()

    class Meta:
        table_name = "placement_provider_tombstones"


class Inventory(BaseModel):
    provider = ForeignKeyField(Provider, on_delete="CASCADE", index=False)
    resource_class = ForeignKeyField(ResourceClass, column_name="class_id", index=False)
    total = BigIntegerField(constraints=[Check("total > 0")])
    reserved = BigIntegerField(constraints=[Check("reserved >= 0")])
    min_unit = BigIntegerField(constraints=[Check("min_unit > 0")])
    max_unit = BigIntegerField(constraints=[Check("max_unit > 0")])
    step_size = BigIntegerField(constraints=[Check("step_size > 0")])
    allocation_ratio = DoubleField(constraints=[Check("allocation_ratio >= 0")])
    updated = DoubleField()

    class Meta:
        table_name = "placement_inventories"
        primary_key = CompositeKey("provider", "resource_class")
        constraints = [Check("reserved <= total")]


class ProviderTrait(BaseModel):
    provider = ForeignKeyField(Provider, on_delete="CASCADE", index=False)
    trait = ForeignKeyField(Trait, index=False)

    class Meta:
        table_name = "placement_provider_traits"
        primary_key = CompositeKey("provider", "trait")


class ProviderAggregate(BaseModel):
    """An aggregate that a provider is a member of. Aggregates are nothing but their UUIDs."""

    provider = ForeignKeyField(Provider, on_delete="CASCADE", index=False)
    aggregate_uuid = CharField(max_length=36)

    class Meta:
        table_name = "placement_provider_aggregates"
        primary_key = CompositeKey("provider", "aggregate_uuid")


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


class Allocation(BaseModel):
    consumer = ForeignKeyField(Consumer, index=False)
    provider = ForeignKeyField(Provider, index=False)
    resource_class = ForeignKeyField(ResourceClass, column_name="class_id", index=False)
    used = BigIntegerField(constraints=[Check("used > 0")])
    updated = DoubleField()

    class Meta:
        table_name = "placement_allocations"
        primary_key = CompositeKey("consumer", "provider", "resource_class")


class ProjectQuota(BaseModel):
    """How much of a class the consumers of a project may have together; null for no limit."""

    project_id = CharField()
    resource_class = ForeignKeyField(ResourceClass, column_name="class_id", on_delete="CASCADE", index=False)
    max_used = BigIntegerField(null=True, constraints=[Check("max_used >= 0")])

    class Meta:
        table_name = "placement_project_quotas"
        primary_key = CompositeKey("project_id", "resource_class")


Provider.add_index(Provider.changed, name="placement_providers_changed")
Provider.add_index(Provider.root, name="placement_providers_root")
Provider.add_index(Provider.parent, name="placement_providers_parent")
ProviderTombstone.add_index(ProviderTombstone.changed, name="placement_provider_tombstones_changed")
Inventory.add_index(Inventory.resource_class, name="placement_inventories_class")
ProviderTrait.add_index(ProviderTrait.trait, name="placement_provider_traits_trait")
ProviderAggregate.add_index(ProviderAggregate.aggregate_uuid, name="placement_provider_aggregates_aggregate")
Consumer.add_index(Consumer.project_id, Consumer.user_id, name="placement_consumers_project")
Allocation.add_index(
    Allocation.provider, Allocation.resource_class, Allocation.used, name="placement_allocations_provider"
)
ProjectQuota.add_index(ProjectQuota.resource_class, name="placement_project_quotas_class")

MODELS: tuple[type[BaseModel], ...] = (
    *(ResourceClass, Trait, Vocabulary, Provider, ProviderTombstone, Inventory, ProviderTrait, ProviderAggregate),
    *(Consumer, Allocation, ProjectQuota),
)
"""Each model comes after the ones that it refers to."""
SQLITE_MODELS: tuple[type[BaseModel], ...] = (*MODELS, ChangeCounter)
