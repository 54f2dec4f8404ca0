"""A dashboard on the page of Grafana's components, with what a real Prometheus answers to its queries."""

import math
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Page, TimeoutError

from tests.prometheus.dashboards import fill_in
from tests.support.prometheus import PrometheusServer

_SECONDS = 300
"""What the panels show; tests' servers are not older."""
_LABEL = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_SEE = """() => Object.fromEntries([...document.querySelectorAll('[data-panel]')].map((panel) => [panel.dataset.panel, {
  title: panel.querySelector('h2')?.innerText ?? '',
  lines: panel.innerText.split('\\n').map((line) => line.trim()).filter((line) => line),
  painted: [...panel.querySelectorAll('canvas')].flatMap((canvas) => canvas.texts ?? []),
}]))"""
_IS_PAINTED = r"""(count) => {
  const panels = [...document.querySelectorAll('[data-panel]')];
  const hasValues = (canvas) => canvas.texts?.some((text) => !/^(\d\d:|\d\d\/)/.test(text));
  return panels.length === count && panels.every((panel) => [...panel.querySelectorAll('canvas')].every(hasValues));
}"""
"""The axis of times may be there before that of values."""
_TIME = re.compile(r"\d\d:\d\d(:\d\d)?|\d\d/\d\d( \d\d:\d\d)?")
_NUMBER = r"-?[\d.]+"
UNITS = {
    "short": rf"{_NUMBER}( (K|Mil|Bil|Tri))?",
    "percentunit": rf"{_NUMBER}%",
    "s": rf"0 s|{_NUMBER} (ns|µs|ms|s|mins?|hours?|days?|weeks?|years?)",
    "bytes": rf"{_NUMBER} (B|[KMGTP]iB)",
    "Bps": rf"{_NUMBER} ([kMG]?B/s)",
    "ops": rf"{_NUMBER} (K |)ops/s",
    "reqps": rf"{_NUMBER} (K |)req/s",
}
"""How the values of our panels look, by unit."""
_UNIT_OF = (
    (r"cpu_seconds", "short"),  # cores
    (r"response_duration_seconds_count", "reqps"),
    (r"rate\(\w+_bytes_sum", "Bps"),
    (r"_bytes\b|unit_multiplier", "bytes"),
    (r":ratio| / ", "percentunit"),
    (r"_seconds|time\(\) -", "s"),
    (r"\brate\(", "ops"),
)


_HEADINGS = {"Series color", "Name", "Last *", "Max"}
"""Of legends that are tables."""


@dataclass(frozen=True)
class Seen:
    """What somebody sees of a panel: its texts, line by line, and what is painted at its axes."""

    title: str
    lines: list[str]
    painted: list[str]

    @property
    def shown(self) -> list[str]:
        """Names and values."""
        painted = [text for text in self.painted if not _TIME.fullmatch(text)]
        return [line for line in self.lines if line not in _HEADINGS | {self.title}] + painted


def ask(document: Any, prometheus: PrometheusServer, values: Mapping[str, str]) -> Any:
    """What the page shows of a dashboard: its panels with their series, for these values of its variables."""
    end = int(time.time())  # Prometheus rounds times: the last value would be just outside
    panels = [
        {"options": {}, **panel, "series": list(_series(document, panel, prometheus, values, end))}
        for panel in document["panels"]
    ]
    return {"panels": panels, "range": [end - _SECONDS, end]}


def _series(
    document: Any, panel: Any, prometheus: PrometheusServer, values: Mapping[str, str], end: int
) -> Iterator[Any]:
    for target in panel.get("targets", ()):
        expression = fill_in(document, target["expr"], values)
        if target.get("instant"):
            found = prometheus.query(expression)
        else:
            times = {"start": str(end - _SECONDS), "end": str(end), "step": "2"}
            found = prometheus.get("query_range", query=expression, **times)["result"]
        for one in found:
            labels = one["metric"]
            name = _LABEL.sub(lambda match, labels=labels: labels.get(match[1], ""), target.get("legendFormat", ""))
            yield {
                "name": name.strip(),
                "target": target["refId"],
                "labels": labels,
                "values": one.get("values") or [one["value"]],
            }


def has_numbers(panel: Any) -> bool:
    """Whether each query of a panel gives something to draw, up to now. The quantile of no requests is not a number."""
    drawn = {one["target"] for one in panel["series"] if math.isfinite(float(one["values"][-1][1]))}
    return drawn == {target["refId"] for target in panel.get("targets", ())}


def unit_of(expression: str) -> str:
    """What a query counts in, whatever the panel says."""
    for pattern, unit in _UNIT_OF:
        if re.search(pattern, expression):
            return unit
    return "short"


def problems(panel: Any, seen: Seen) -> Iterator[str]:
    """What somebody would not understand."""
    names = {one["name"] for one in panel["series"]} - {""}
    if seen.title != panel["title"]:
        yield f"the title is {seen.title!r}"
    if len(names) + (names == set()) < len(panel["series"]):
        yield "several series have the same name"
    if lacking := names - set(seen.lines):
        yield f"not shown: {sorted(lacking)}"
    if any("{{" in name or "}}" in name for name in names):
        yield f"not filled in: {sorted(names)}"
    for target in panel["targets"]:
        known = {label for one in panel["series"] if one["target"] == target["refId"] for label in one["labels"]}
        if unknown := set(_LABEL.findall(target.get("legendFormat", ""))) - known:
            yield f"no series has the labels {sorted(unknown)}"
    units = {unit_of(target["expr"]) for target in panel["targets"]}
    values = [text for text in seen.shown if text not in names]
    wrong = [text for text in values if not any(re.fullmatch(UNITS[unit], text) for unit in units)]
    if wrong or not values:
        yield f"values in {sorted(units)} are shown as {wrong}"


def show(page: Page, shown: Any) -> dict[int, Seen]:
    """Has the page show it. Answers what is seen of each panel, by its id."""
    page.reload()
    page.evaluate("(dashboard) => window.show(dashboard)", shown)
    count = sum(panel["type"] != "row" for panel in shown["panels"])
    with suppress(TimeoutError):  # then something has no values, and `problems` says which
        page.wait_for_function(_IS_PAINTED, arg=count)
    return {int(number): Seen(**seen) for number, seen in page.evaluate(_SEE).items()}
