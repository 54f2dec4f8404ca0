"""The installed plugins with their params, from the models."""

from pathlib import Path

from limes.app.settings.document import rows_of_model
from limes.backends.loader import Plugins
from reference.markdown import table

_HEAD = """# Params of the shipped plugins

All keys with their types and defaults, made from the code that reads them. [Backend plugins](../plugins.md) says how a
plugin is configured, and each plugin's page what its keys mean.
"""
_PAGES = Path(__file__).parents[2]


def render() -> str:
    """The whole page."""
    plugins = Plugins()
    lines = [_HEAD]
    for name in plugins.names:
        plugin = plugins.get(name)
        lines += [f"## `{name}`", "", f"{plugin.description} [More]({_page_of(name)}).", ""]
        for kind, offer in (
            ("`services[].params`", plugin.quota),
            ("`capacitors[].params`", plugin.capacity),
            ("`discovery.params`", plugin.discovery),
        ):
            if offer is not None:
                rows = [(row.key, row.type, row.default) for row in rows_of_model(offer.params)]
                lines += [f"{kind}:" if rows else f"{kind}: none.", "", *table(("key", "type", "default"), rows)]
    return "\n".join(lines)


def _page_of(name: str) -> str:
    return f"../plugins/{name}.md" if (_PAGES / "plugins" / f"{name}.md").exists() else f"../plugins.md#{name}"
