"""The Placement half's tables as peewee models: the truth about the schema (a test compares it with the migrations).

Amounts are whole numbers of the class's unit. Times are seconds since the epoch, UTC.
"""

from limes.db.base import BaseModel
from limes.placement.models.consumer import Allocation, Consumer, ProjectQuota
from limes.placement.models.provider import Inventory, Provider, ProviderAggregate, ProviderTombstone, ProviderTrait
from limes.placement.models.vocabulary import ChangeCounter, ResourceClass, Trait, Vocabulary

__all__ = [
    "MODELS",
    "SQLITE_MODELS",
    "Allocation",
    "ChangeCounter",
    "Consumer",
    "Inventory",
    "ProjectQuota",
    "Provider",
    "ProviderAggregate",
    "ProviderTombstone",
    "ProviderTrait",
    "ResourceClass",
    "Trait",
    "Vocabulary",
]

MODELS: tuple[type[BaseModel], ...] = (
    ResourceClass,
    Trait,
    Vocabulary,
    Provider,
    ProviderTombstone,
    Inventory,
    ProviderTrait,
    ProviderAggregate,
    Consumer,
    Allocation,
    ProjectQuota,
)
"""Each model comes after those that it refers to."""
SQLITE_MODELS: tuple[type[BaseModel], ...] = (*MODELS, ChangeCounter)
