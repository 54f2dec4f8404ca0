"""The names that all providers share: resource classes and traits. Standard ones have the lower ids."""

from peewee import BigAutoField, BigIntegerField, CharField, Check, DoubleField

from limes.db.base import BaseModel


class ResourceClass(BaseModel):
    """A class of things to allocate, such as `VCPU`."""

    id = BigAutoField()
    name = CharField(unique=True)
    updated = DoubleField()

    class Meta:
        table_name = "placement_resource_classes"


class Trait(BaseModel):
    """A quality of a provider, such as `HW_CPU_X86_AVX`."""

    id = BigAutoField()
    name = CharField(unique=True)
    updated = DoubleField()

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
