"""Small clouds in plain sight: `node("cn", VCPU=8)` and friends, with the name standing for the provider everywhere."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID, uuid5

from limes.placement.search.candidates import DEFAULT_MAX_CANDIDATES, SearchResult, search
from limes.placement.search.memory import QueryMemory
from limes.placement.search.model import SHARING_TRAIT, Cloud, Inventory, Provider, TraitList
from limes.placement.search.request import parse
from limes.placement.search.values import parse_pairs

CLASSES = ("VCPU", "MEMORY_MB", "DISK_GB", "CUSTOM_GPU", "SRIOV_NET_VF")
TRAITS = ("HW_SSE", "HW_AVX", "HW_SSD", SHARING_TRAIT, "CUSTOM_A", "CUSTOM_B")
_SPACE = UUID(int=7)


def identity(name: str) -> str:
    """The UUID that stands for a provider's or aggregate's name."""
    return str(uuid5(_SPACE, name))


@dataclass
class Node:
    """One provider as a test writes it. An amount is a total, or (total, used), or a dict of inventory fields."""

    name: str
    amounts: Mapping[str, object] = field(default_factory=dict)
    parent: str | None = None
    traits: Sequence[str] = ()
    aggregates: Sequence[str] = ()

    def inventories(self) -> dict[str, Inventory]:
        return {name: _inventory(amount) for name, amount in self.amounts.items()}


def node(
    name: str, parent: str | None = None, traits: Sequence[str] = (), aggregates: Sequence[str] = (), **amounts: object
) -> Node:
    return Node(name, amounts, parent, traits, aggregates)


def _inventory(amount: object) -> Inventory:
    fields = {"used": 0, "min_unit": 1, "step_size": 1}
    if isinstance(amount, dict):
        fields |= amount
    elif isinstance(amount, tuple):
        fields["total"], fields["used"] = amount
    else:
        fields["total"] = int(str(amount))
    total = fields.pop("total")
    return Inventory(total, fields["used"], fields["min_unit"], fields.get("max_unit", total), fields["step_size"])


def providers_of(nodes: Sequence[Node]) -> list[Provider]:
    """The nodes as providers, with ids in their order; parents have to come first."""
    ids = {one.name: number for number, one in enumerate(nodes, 1)}
    roots: dict[str, int] = {}
    made = []
    for one in nodes:
        roots[one.name] = roots[one.parent] if one.parent else ids[one.name]
        made.append(
            Provider(
                ids[one.name],
                identity(one.name),
                one.name,
                roots[one.name],
                ids[one.parent] if one.parent else None,
                0,
                one.inventories(),
                TraitList.of(*one.traits),
                frozenset(map(identity, one.aggregates)),
            )
        )
    return made


def cloud_of(*nodes: Node) -> Cloud:
    return Cloud(dict.fromkeys(TRAITS), dict.fromkeys(CLASSES)).replace(providers_of(nodes))


def find(
    cloud: Cloud,
    query: str,
    minor: int = 39,
    max_candidates: int = DEFAULT_MAX_CANDIDATES,
    memory: QueryMemory | None = None,
) -> SearchResult:
    """Searches with a query in which `@name` stands for the UUID of that name."""
    request = parse(parse_pairs(with_uuids(query)), minor, cloud)
    return search(request, cloud, max_candidates, memory=memory)


def with_uuids(query: str) -> str:
    parts = query.split("@")
    text = parts[0]
    for part in parts[1:]:
        name = part.split("&", 1)[0].split(",", 1)[0]
        text += identity(name) + part.removeprefix(name)
    return text


def spelled(found: SearchResult) -> list[str]:
    """Each candidate as `VCPU,MEMORY_MB=cn 1=gpu0`: what of the unsuffixed group is where, then each suffix."""
    return [_spell(found, candidate) for candidate in found.candidates]


def _spell(found: SearchResult, candidate: Sequence[Provider]) -> str:
    unsuffixed: dict[str, list[str]] = {}
    words = []
    for slot, provider in zip(found.slots, candidate, strict=True):
        if slot.suffix:
            words.append(f"{slot.suffix}={provider.name}")
        else:
            unsuffixed.setdefault(provider.name, []).extend(slot.resources)
    return " ".join([f"{','.join(names)}={provider}" for provider, names in unsuffixed.items()] + words)
