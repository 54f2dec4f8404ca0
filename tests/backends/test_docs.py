"""docs/plugins.md: its plugin is installed and passes its own tests, and everything that exists is described there."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from limes_plugins.placement.params import CapacityParams, QuotaParams, ServiceParams

from limes.backends.loader import ENTRY_POINT_GROUP, Plugins
from tests.docs.blocks import blocks_of
from tests.docs.snippets import BASE, with_fragment

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")


def file_of_page(name: str) -> str:
    """The code block that follows the paragraph that begins with the file's name."""
    found = re.search(rf"^`{re.escape(name)}`[^\n]*(?:\n[^\n]+)*\n\n```\w+\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert found, f"docs/plugins.md has no {name}"
    return found[1]


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The example, as an installer would leave it."""
    for name in ("limes_files.py", "test_limes_files.py"):
        (tmp_path / name).write_text(file_of_page(name), encoding="utf-8")
    project = tomllib.loads(file_of_page("pyproject.toml"))["project"]
    metadata = tmp_path / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    points = project["entry-points"][ENTRY_POINT_GROUP]
    lines = [f"[{ENTRY_POINT_GROUP}]", *(f"{name} = {value}" for name, value in points.items())]
    (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_the_example_can_be_installed_and_passes_the_contract(installed: Path) -> None:
    path = os.pathsep.join([str(installed), str(ROOT), str(ROOT / "plugins")])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_limes_files.py"],
        cwd=installed,
        env={**os.environ, "PYTHONPATH": path, "PYTEST_ADDOPTS": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"\b10 passed", done.stdout), done.stdout


def test_the_example_can_be_configured(installed: Path) -> None:
    """With the fragment that ends the page."""
    fragment = yaml.safe_load(blocks_of(ROOT / "docs" / "plugins.md")[-1].text)
    document = with_fragment(yaml.safe_load(BASE.read_text(encoding="utf-8")), fragment)
    (installed / "limes.yaml").write_text(yaml.safe_dump(document), encoding="utf-8")
    path = os.pathsep.join([str(installed), str(ROOT), str(ROOT / "plugins")])
    done = subprocess.run(
        [sys.executable, "-m", "limes", "config", "check", "--config", "limes.yaml"],
        cwd=installed,
        env={**os.environ, "PYTHONPATH": path, "LIMES_IDENTITY_PASSWORD": "secret"},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("The configuration is fine: 4 services")


@pytest.mark.parametrize("name", Plugins().names)
def test_every_plugin_is_described(name: str) -> None:
    """In the page of plugins, or, with all of its params, in a page of its own."""
    own = ROOT / "docs" / "plugins" / f"{name}.md"
    if not own.exists():
        assert f"| `{name}` |" in PAGE
        assert f"\n### {name}\n" in PAGE
        return
    assert f"| [`{name}`](plugins/{name}.md) |" in PAGE
    text = own.read_text(encoding="utf-8") + (own.parent / "openstack.md").read_text(encoding="utf-8")
    plugin = Plugins().get(name)
    offers = [offer for offer in (plugin.quota, plugin.capacity, plugin.discovery) if offer]
    params = {key for offer in offers for key in offer.params.model_fields}
    assert [key for key in sorted(params) if not re.search(rf"\b{key}\b", text)] == []


@pytest.mark.parametrize("model", [ServiceParams, CapacityParams, QuotaParams])
def test_every_key_of_placement_is_described(
    model: type[ServiceParams] | type[CapacityParams] | type[QuotaParams],
) -> None:
    section = PAGE.partition("### placement")[2].partition("\n### ")[0]
    missing = [name for name in model.model_fields if not re.search(rf"\b{name}\b", section)]
    assert missing == []
