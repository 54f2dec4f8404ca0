"""The built page belongs to its sources: by their hashes everywhere, and by building it again where there is node."""

import hashlib
import json
import shutil
from pathlib import Path

import falcon
import pytest

from tests.support.frontend import FRONTEND, STATIC, npm, require_packages, run
from tests.ui.schema import schemas

LARGEST = 100 * 1024
"""Bytes of everything that the first page needs, compressed."""

_REBUILD = "the dashboard's sources have changed: run `make ui`"


def _hashes(folder: Path, names: list[str]) -> dict[str, str]:
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}


def _sources() -> list[str]:
    below = [path for root in ("src", "scripts") for path in (FRONTEND / root).rglob("*") if path.is_file()]
    return [path.relative_to(FRONTEND).as_posix() for path in below if ".test." not in path.name]


def test_the_bundle_was_built_of_these_sources() -> None:
    manifest = json.loads((STATIC / "manifest.json").read_text())
    top = [name for name in manifest["sources"] if "/" not in name]
    assert manifest["sources"] == _hashes(FRONTEND, [*top, *_sources()]), _REBUILD
    built = [path.relative_to(STATIC).as_posix() for path in STATIC.rglob("*") if path.is_file()]
    assert manifest["built"] == _hashes(STATIC, [name for name in built if name != "manifest.json"]), _REBUILD


def test_the_first_page_is_small(dashboard: falcon.testing.TestClient) -> None:
    page = dashboard.simulate_get("/ui", headers={"Accept-Encoding": "gzip"})
    names = [name for name in json.loads((STATIC / "manifest.json").read_text())["built"] if "index" in name]
    sizes = [
        len(dashboard.simulate_get(f"/ui/{name}", headers={"Accept-Encoding": "gzip"}).content)
        for name in names
        if name.startswith("assets/")
    ]
    assert len(sizes) == 2
    assert len(page.content) + sum(sizes) < LARGEST


@pytest.fixture(scope="module")
def _packages() -> None:
    require_packages()


@pytest.mark.long
@pytest.mark.usefixtures("_packages")
def test_building_again_gives_the_same(tmp_path: Path) -> None:
    copy = tmp_path / "ui" / "frontend"
    shutil.copytree(FRONTEND, copy, ignore=shutil.ignore_patterns("node_modules"))
    (copy / "node_modules").symlink_to(FRONTEND / "node_modules")
    npm("run", "build", cwd=copy)
    built = json.loads((tmp_path / "ui" / "static" / "manifest.json").read_text())
    assert built == json.loads((STATIC / "manifest.json").read_text()), _REBUILD


@pytest.mark.process
@pytest.mark.usefixtures("_packages")
def test_the_types_are_those_of_the_api(tmp_path: Path) -> None:
    (tmp_path / "openapi.json").write_text(json.dumps(schemas()))
    program = FRONTEND / "node_modules/.bin/openapi-typescript"
    options = [
        "--root-types",
        "--root-types-no-schema-prefix",
        "--default-non-nullable=false",
        "-o",
        tmp_path / "schema.d.ts",
    ]
    run(program, tmp_path / "openapi.json", *options)
    assert (tmp_path / "schema.d.ts").read_text() == (FRONTEND / "src/api/schema.d.ts").read_text(), (
        "the API's shapes have changed: run `npm run types` in limes/ui/frontend"
    )


@pytest.mark.process
@pytest.mark.usefixtures("_packages")
def test_what_typescript_functions_compute() -> None:
    """Takes long: npm starts vitest, which compiles the sources."""
    npm("test")
