"""Pages that are made from the code when the site is built. They are not edited, and not in git."""

from collections.abc import Callable, Mapping
from pathlib import Path

from reference import alerts, api, commands, examples, jobs, plugins, policy, tables

PAGES: Mapping[str, Callable[[], str]] = {
    "api": api.render,
    "commands": commands.render_limes,
    "openstack-commands": commands.render_openstack,
    "policy": policy.render,
    "tables": tables.render,
    "jobs": jobs.render,
    "plugins": plugins.render,
    "alerts": alerts.render,
    "examples": examples.render,
}


def write(folder: Path) -> None:
    """Writes all pages. One that has not changed keeps its time, so that Sphinx need not read it again."""
    folder.mkdir(exist_ok=True)
    for name, render in PAGES.items():
        file, text = folder / f"{name}.md", render()
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
