"""Notes for an operator who converts a configuration, and the `params` of the original's plugins, plugin by plugin."""

from collections.abc import Callable, Collection, Iterator, Mapping
from enum import Enum
from typing import Any

from msgspec import Struct, field


class Kind(Enum):
    """What became of an option."""

    DROPPED = "dropped"
    CHANGED = "changed"
    """It is written in another way here."""
    TO_DO = "to do"
    """The operator has to decide, or to look it up."""


class Note(Struct, frozen=True):
    """`path` is the option's place in the file."""

    kind: Kind
    path: str
    text: str


class Notes(Struct, frozen=True):
    notes: list[Note] = field(default_factory=list)

    def dropped(self, path: str, reason: str) -> None:
        self.notes.append(Note(Kind.DROPPED, path, reason))

    def changed(self, path: str, text: str) -> None:
        self.notes.append(Note(Kind.CHANGED, path, text))

    def to_do(self, path: str, text: str) -> None:
        self.notes.append(Note(Kind.TO_DO, path, text))

    def keep(self, path: str, section: Mapping[str, Any], known: Collection[str]) -> dict[str, Any]:
        """Returns the known keys of a section, with their values. Each other key is noted as dropped."""
        for key in section:
            if key not in known:
                self.dropped(
                    f"{path}.{key}" if path else str(key), "the original has no such key; nothing reads it here"
                )
        return {key: value for key, value in section.items() if key in known}


def mappings(value: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yields the mappings in a list, with their positions. Other entries are left to the check of the document."""
    for index, entry in enumerate(value if isinstance(value, list) else ()):
        if isinstance(entry, dict):
            yield index, entry


def mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


# -- plugin by plugin -------------------------------------------------------------------------------------------------

Params = dict[str, Any]
Converter = Callable[[str, Params, Notes], Params]

_LIQUID = "no plugin here; where a liquid for it runs, use type: liquid (docs/plugins/liquid.md)"
NO_COUNTERPART = {
    "email-aws": "its only resources were rates, which the Resource API has not",
    "endpoint-services": _LIQUID,
    "keppel": _LIQUID,
    "sapcc-ironic": f"bare-metal capacity has {_LIQUID}; or give it as capacitor manual or prometheus",
}
"""Plugins of the original that do not exist here: why, or what to use instead."""


def _keep(*known: str) -> Converter:
    return lambda path, params, notes: notes.keep(path, params, known)


def _compute(path: str, params: Params, notes: Notes) -> Params:
    kept = notes.keep(
        path, params, ("bigvm_min_memory", "hypervisor_type_rules", "separate_instance_quotas", "with_subresources")
    )
    if "hypervisor_type_rules" in kept:
        notes.dropped(f"{path}.hypervisor_type_rules", "subresources do not name a type of hypervisor here")
        del kept["hypervisor_type_rules"]
    separate = mapping(kept.pop("separate_instance_quotas", None))
    aliases = mapping(separate.get("flavor_aliases"))
    if separate:
        kept["flavors"] = {name: {"aliases": others or []} for name, others in aliases.items()}
        notes.changed(f"{path}.separate_instance_quotas.flavor_aliases", "params.flavors.NAME.aliases")
        for index, rule in mappings(separate.get("flavor_name_selection")):
            text = f"name each flavor that {rule.get('name_pattern')!r} means in params.flavors"
            category = f", with category: {rule['category']}" if rule.get("category") else ""
            notes.to_do(f"{path}.separate_instance_quotas.flavor_name_selection[{index}]", text + category)
    return kept


def _network(path: str, params: Params, notes: Notes) -> Params:
    notes.to_do(path, "add with_trunks, with_bgpvpns and loadbalancing: {} for what the cloud has; the original looked")
    return notes.keep(path, params, ())


def _share_types(path: str, params: Params, notes: Notes) -> Params:
    types = []
    for index, entry in mappings(params.get("share_types")):
        here = f"{path}.share_types[{index}]"
        kept = notes.keep(here, entry, ("name", "replication_enabled", "mapping_rules"))
        if "mapping_rules" in kept:
            kept["mapping_rules"] = [
                {"name_pattern": rule.get("name_pattern"), "name": rule.get("share_type", "")}
                for _, rule in mappings(kept["mapping_rules"])
            ]
            notes.changed(f"{here}.mapping_rules", "share_type is called name here")
        types.append(kept)
    return {**params, "share_types": types}


def _sharev2(path: str, params: Params, notes: Notes) -> Params:
    for key, why in (
        ("prometheus_api_for_az_awareness", "Manila itself says in which AZ a share is"),
        ("prometheus_api_for_netapp_metrics", "there is no physical usage, and no snapmirror_capacity, of shares here"),
    ):
        if params.pop(key, None) is not None:
            notes.dropped(f"{path}.{key}", why)
    return notes.keep(path, _share_types(path, params, notes), ("share_types",))


def _manila(path: str, params: Params, notes: Notes) -> Params:
    if params.pop("share_networks", None) is not None:
        notes.dropped(f"{path}.share_networks", "share networks have no capacity here; capacitor manual can give it")
    known = ("share_types", "shares_per_pool", "snapshots_per_share", "capacity_balance", "with_subcapacities")
    return notes.keep(path, _share_types(path, params, notes), known)


def _nova(path: str, params: Params, notes: Notes) -> Params:
    _excluded_traits(f"{path}.hypervisor_selection", mapping(params.get("hypervisor_selection")), notes)
    if params.pop("flavor_aliases", None) is not None:
        notes.dropped(f"{path}.flavor_aliases", "capacity of single flavors is not simulated here")
    names = [f"pooled_{noun}_resource" for noun in ("cores", "instances", "ram")]
    kept = notes.keep(path, params, ("hypervisor_selection", "flavor_selection", "with_subcapacities", *names))
    for name in names:
        if not kept.get(name):
            kept.pop(name, None)
            noun = name.split("_")[1]
            notes.changed(
                f"{path}.{name}", f"not given, which there means no capacity of {noun}, and here the name {noun}"
            )
    return kept


def _excluded_traits(path: str, selection: Params, notes: Notes) -> None:
    """Makes them required traits with a `!`. Values that are not lists are left to the check of the document."""
    excluded, required = selection.get("excluded_traits") or [], selection.get("required_traits") or []
    if isinstance(excluded, list) and isinstance(required, list):
        selection.pop("excluded_traits", None)
        if excluded:
            selection["required_traits"] = [*required, *(f"!{trait}" for trait in excluded)]
            notes.changed(f"{path}.excluded_traits", "required_traits, with a ! before each")


QUOTA: Mapping[str, Converter] = {
    "compute": _compute,
    "dns": _keep(),
    "network": _network,
    "object-store": _keep(),
    "sharev2": _sharev2,
    "volumev2": _keep("volume_types", "with_volume_subresources", "with_snapshot_subresources"),
}

CAPACITY: Mapping[str, Converter] = {
    "cinder": _keep("volume_types", "with_subcapacities"),
    "manila": _manila,
    "manual": _keep("values"),
    "nova": _nova,
    "prometheus": _keep("api", "queries"),
}
