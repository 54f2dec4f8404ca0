"""The dashboards are what Grafana understands: by its own schema, since no package registry has Grafana itself.

tests/prometheus/test_scrape.py runs all their queries.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from grafana_foundation_sdk.cog import plugins
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard

from tests.prometheus.dashboards import FILES

pytestmark = pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
PANELS = {"row", "stat", "timeseries", "bargauge"}


def lost(ours: Any, theirs: Any, path: str) -> Iterator[str]:
    """Where the second document lacks what the first one has."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key, value in ours.items():
            yield from lost(value, theirs[key], f"{path}.{key}") if key in theirs else [f"{path}.{key}"]
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for index, pair in enumerate(zip(ours, theirs, strict=True)):
            yield from lost(*pair, f"{path}[{index}]")
    elif ours != theirs:
        yield f"{path}: {ours!r}"


def test_grafana_knows_every_key(file: Path) -> None:
    plugins.register_default_plugins()
    document = json.loads(file.read_text())
    understood = json.loads(JSONEncoder().encode(Dashboard.from_json(document)))
    assert list(lost(document, understood, "")) == []


def test_what_is_not_known_would_be_found(file: Path) -> None:
    plugins.register_default_plugins()
    document = json.loads(file.read_text())
    document["panels"][1]["targets"][0]["expression"] = "up"
    document["panels"][1]["options"]["reduceOption"] = {}
    understood = json.loads(JSONEncoder().encode(Dashboard.from_json(document)))
    assert list(lost(document, understood, "")) == [
        ".panels[1].options.reduceOption",
        ".panels[1].targets[0].expression",
    ]


def test_panels_have_their_place_and_their_words(file: Path) -> None:
    document = json.loads(file.read_text())
    assert document["uid"] == file.stem
    panels = document["panels"]
    assert {panel["type"] for panel in panels} <= PANELS
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        place = panel["gridPos"]
        cells = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
        assert not cells & taken, f"{panel['title']} lies on another panel"
        assert max(x for x, _ in cells) < 24
        taken |= cells
        if panel["type"] != "row":
            assert panel["targets"]
            assert panel["description"]
            assert panel["fieldConfig"]["defaults"]["unit"]
            assert all(target["datasource"]["uid"] == "${datasource}" for target in panel["targets"])
    variables = [variable["name"] for variable in document["templating"]["list"]]
    assert variables[:2] == ["datasource", "service"]
    assert all(f"${name}" in file.read_text() or f"${{{name}}}" in file.read_text() for name in variables)
