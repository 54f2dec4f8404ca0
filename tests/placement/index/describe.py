"""A cloud as plain text, one line a provider, so that two states are compared at a glance."""

from limes.placement.search.model import Cloud, Provider


def describe(cloud: Cloud) -> list[str]:
    return [_line(provider) for tree in cloud.trees.values() for provider in tree.providers]


def _line(provider: Provider) -> str:
    words = [f"{provider.parent_uuid} > {provider.name}" if provider.parent_uuid else provider.name]
    words += [f"{name}={inv.used}/{inv.capacity}" for name, inv in provider.inventories.items()]
    words += provider.traits.names
    words += sorted(provider.aggregates)
    return " ".join(words)
