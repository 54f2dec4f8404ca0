"""Our dashboards of Grafana, and what they ask Prometheus."""

import json
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from tests.support.prometheus import CONFIG

FILES = sorted((CONFIG / "grafana").glob("*.json"))


class Query(NamedTuple):
    """What a panel asks."""

    panel: str
    expression: str
    """For all values of all variables."""


def queries() -> Iterator[Query]:
    """Those of all panels of all dashboards."""
    for file in FILES:
        document = json.loads(file.read_text())
        for panel in document["panels"]:
            for target in panel.get("targets", ()):
                expression = fill_in(document, target["expr"])
                assert "$" not in expression, f"{panel['title']}: a variable that is not declared"
                yield Query(f"{document['uid']}: {panel['title']}", expression)


def variable_queries() -> Iterator[Query]:
    """Those that give the values of variables: `label_values(series, label)`, as the series."""
    for file in FILES:
        document = json.loads(file.read_text())
        for variable in document["templating"]["list"]:
            if variable["type"] == "query":
                call = variable["query"]["query"]
                assert call.startswith("label_values(")
                series, _, label = fill_in(document, call.removeprefix("label_values(")).rpartition(",")
                yield Query(f"{document['uid']}: ${variable['name']}", f"count by ({label.strip(' )')}) ({series})")


def fill_in(document: Any, expression: str, values: Mapping[str, str] = MappingProxyType({})) -> str:
    """The expression with these values of variables. The others have `.*`, as Grafana does for All."""
    expression = expression.replace("$__rate_interval", "1m")
    for variable in document["templating"]["list"]:
        name = variable["name"]
        expression = expression.replace(f"${name}", values.get(name, variable.get("allValue", "")))
    return expression
