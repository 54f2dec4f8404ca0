"""Rows of figures with their bars, and how they are printed."""

import statistics
from dataclasses import dataclass, field


@dataclass
class Report:
    """Collects rows and counts those below the bar."""

    below: list[str] = field(default_factory=list)

    def header(self) -> None:
        print(f"{'measure':62} {'upstream':>10} {'ours':>10} {'ratio':>7} {'least':>6} {'aim':>5}", flush=True)

    def ratio(self, name: str, upstream: list[float], ours: list[float], least: float, aim: float) -> None:
        """Times in seconds, taken in turn; the medians are compared."""
        there, here = statistics.median(upstream), statistics.median(ours)
        ratio = there / here
        self._row(name, f"{there * 1000:.2f}", f"{here * 1000:.2f}", f"{ratio:.1f}", f"{least:g}", f"{aim:g}")
        self._judge(name, ratio >= least)

    def most(self, name: str, value: float, bound: float, unit: str) -> None:
        """A figure of ours that must not be above a bound."""
        self._row(name, "", f"{value:.2f}", unit, f"<{bound:g}", "")
        self._judge(name, value <= bound)

    def note(self, text: str) -> None:
        print(f"    {text}", flush=True)

    def _row(self, name: str, *cells: str) -> None:
        there, here, ratio, least, aim = cells
        print(f"{name:62} {there:>10} {here:>10} {ratio:>7} {least:>6} {aim:>5}", flush=True)

    def _judge(self, name: str, good: bool) -> None:
        if not good:
            self.below.append(name)
            print("    ^ below the bar", flush=True)
