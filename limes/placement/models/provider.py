"""Resource providers, and what belongs to each: inventory, traits and aggregates."""

from peewee import BigAutoField, BigIntegerField, CharField, Check, CompositeKey, DoubleField, ForeignKeyField

from limes.db.base import BaseModel
from limes.placement.models.vocabulary import ResourceClass, Trait


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


Provider.add_index(Provider.changed, name="placement_providers_changed")
Provider.add_index(Provider.root, name="placement_providers_root")
Provider.add_index(Provider.parent, name="placement_providers_parent")


class ProviderTombstone(BaseModel):
    """Records for a day that a provider was deleted."""

    provider_id = BigIntegerField(primary_key=True)
    changed = BigIntegerField()
    deleted_at = DoubleField()

    class Meta:
        table_name = "placement_provider_tombstones"


ProviderTombstone.add_index(ProviderTombstone.changed, name="placement_provider_tombstones_changed")


class Inventory(BaseModel):
    """What a provider has of a resource class."""

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


Inventory.add_index(Inventory.resource_class, name="placement_inventories_class")


class ProviderTrait(BaseModel):
    """A trait that a provider has."""

    provider = ForeignKeyField(Provider, on_delete="CASCADE", index=False)
    trait = ForeignKeyField(Trait, index=False)

    class Meta:
        table_name = "placement_provider_traits"
        primary_key = CompositeKey("provider", "trait")


ProviderTrait.add_index(ProviderTrait.trait, name="placement_provider_traits_trait")


class ProviderAggregate(BaseModel):
    """An aggregate that a provider is a member of. Aggregates are nothing but their UUIDs."""

    provider = ForeignKeyField(Provider, on_delete="CASCADE", index=False)
    aggregate_uuid = CharField(max_length=36)

    class Meta:
        table_name = "placement_provider_aggregates"
        primary_key = CompositeKey("provider", "aggregate_uuid")


ProviderAggregate.add_index(ProviderAggregate.aggregate_uuid, name="placement_provider_aggregates_aggregate")
