"""The table: a row for what is measured, with its figure at each size, how it grew, and how much it may."""

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Row:
    """Something measured at each size. `bar` is how many times the first figure the last may be."""

    name: str
    figures: Sequence[float]
    bar: float
    statements: Sequence[int] = ()
    """Of one request at each size; they may not grow, but for one of something else at the same time."""
    least: bool = False
    """Whether more is better: then the last figure has to be at least `bar` times the first."""

    @property
    def growth(self) -> float:
        """The last figure over the first."""
        return self.figures[-1] / self.figures[0]

    @property
    def is_good(self) -> bool:
        """Whether the bar is reached."""
        few = not self.statements or self.statements[-1] <= self.statements[0] + 1
        return few and (self.growth >= self.bar if self.least else self.growth <= self.bar)


@dataclass
class Table:
    """Prints rows as they come, and counts those below their bar."""

    sizes: Sequence[int]
    below: int = 0
    rows: list[Row] = field(default_factory=list)

    def head(self, title: str) -> None:
        """Prints the titles of the columns."""
        sizes = "".join(f"{f'{size}x':>11}" for size in self.sizes)
        print(f"{title:44}{sizes}{'growth':>9}{'bar':>7}  statements", flush=True)

    def add(self, row: Row) -> None:
        """Prints a row that may grow by no more than its bar."""
        figures = "".join(f"{figure:11.2f}" for figure in row.figures)
        statements = " -> ".join(map(str, row.statements))
        self._print(f"{row.name:44}{figures}{row.growth:9.2f}{row.bar:7.1f}  {statements}", row.is_good)
        self.rows.append(row)

    def show(self, name: str, figures: Sequence[float]) -> None:
        """Prints figures that have no bar."""
        self._print(f"{name:44}{''.join(f'{figure:11.2f}' for figure in figures)}", is_good=True)

    def most(self, name: str, figure: float, bar: float, unit: str) -> None:
        """Prints a figure of the largest cloud that may not exceed its bar, whatever it is for smaller ones."""
        self._print(f"{name:44}{figure:11.1f} {unit}, at most {bar:.0f}", figure <= bar)

    def _print(self, line: str, is_good: bool) -> None:
        self.below += not is_good
        print(line if is_good else f"{line}  <-- below the bar", flush=True)
