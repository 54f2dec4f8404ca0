"""The installed plugins with their params, from the models."""

from limes.backends.loader import Plugins
from limes.settings.document import rows_of_model
from reference.markdown import table

_HEAD = """# Params of the shipped plugins

All keys with their defaults, made from the models that read them. [Backend plugins](../plugins.md) says how a plugin is
configured, and each plugin's page what its keys mean.
"""


def render() -> str:
    """The whole page."""
    plugins = Plugins()
    lines = [_HEAD]
    for name in plugins.names:
        plugin = plugins.get(name)
        lines += [f"## `{name}`", "", plugin.description, ""]
        for kind, offer in (
            ("`services[].params`", plugin.quota),
            ("`capacitors[].params`", plugin.capacity),
            ("`discovery.params`", plugin.discovery),
        ):
            if offer is not None:
                rows = [(key, default) for key, default, _ in rows_of_model(offer.params)]
                lines += [f"{kind}:" if rows else f"{kind}: none.", "", *table(("key", "default"), rows)]
    return "\n".join(lines)
