"""The import of the database: one snapshot of the source, one transaction here."""

from collections.abc import Callable, Iterable
from typing import Any

import peewee
from msgspec import Struct, field, structs

from limes.app.context import Limes
from limes.app.importer import source as shapes
from limes.app.importer.checks import differences, survey
from limes.app.importer.source import Source
from limes.app.importer.target import Target
from limes.catalog.catalog import Catalog
from limes.collector.sync_catalog import sync_catalog
from limes.db import engine, failures
from limes.kernel import errors, system
from limes.quota.constraints import NO_OVERRIDES, QuotaOverrides

Progress = Callable[[str, Iterable[Any], int], Iterable[Any]]
"""Passes items on while it shows progress. Called with what they are, the items, and their number."""


class ImportResult(Struct, frozen=True):
    version: int
    """The version of the source's schema."""
    counts: dict[str, int] = field(default_factory=dict)
    dropped: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()
    """Between the source and what was written, or was here before. If there are any, nothing is kept."""
    was_here: bool = False
    applied: bool = False

    @property
    def is_good(self) -> bool:
        return not self.problems and not self.differences


class _RollBack(Exception):
    """Rolls back what was written; carries the outcome."""

    def __init__(self, outcome: ImportResult) -> None:
        super().__init__()
        self.outcome = outcome


class Import(Struct, frozen=True):
    source: engine.Engine
    target: engine.Engine
    catalog: Catalog
    limes: Limes
    ids: system.IdSource
    progress: Progress = lambda label, items, total: items
    overrides: QuotaOverrides = NO_OVERRIDES

    def run(self, *, apply: bool, skip_unknown: bool = False) -> ImportResult:
        """Imports and compares; with `apply`, and if nothing differs, keeps what was written. Raises `ConfigError` if
        the source cannot be imported, and `StartupError` if a database fails."""
        try:
            return self.source.snapshot(lambda: self._run(Source(self.source), apply, skip_unknown))
        except peewee.PeeweeException as error:
            raise errors.StartupError(f"nothing was imported: {failures.first_line(error)}") from error

    def _run(self, source: Source, apply: bool, skip_unknown: bool) -> ImportResult:
        problems, notes = survey(source, self.catalog, self.overrides, skip_unknown=skip_unknown)
        outcome = ImportResult(
            source.layout.version,
            {kind: source.count(kind) for kind in KINDS},
            source.dropped(),
            tuple(notes),
            tuple(problems),
        )
        if outcome.problems:
            return outcome
        try:
            return self.target.atomic(lambda: self._write(source, outcome, apply))
        except _RollBack as rolled_back:
            return rolled_back.outcome

    def _write(self, source: Source, outcome: ImportResult, apply: bool) -> ImportResult:
        sync_catalog(self.limes)
        target = Target(self.target, self.catalog, self.limes.now(), self.ids)
        if not target.is_empty():
            raise _RollBack(self._compare_only(source, outcome))
        for kind in KINDS:
            row_type, order = _SHAPES[kind]
            rows = source.stream(kind, row_type, order.split())
            getattr(target, f"write_{kind}")(self.progress(kind.replace("_", " "), rows, outcome.counts[kind]))
        outcome = structs.replace(outcome, dropped={**outcome.dropped, **target.skipped})
        sync_catalog(self.limes)  # services that projects do not have there
        outcome = structs.replace(outcome, differences=tuple(differences(source, self.target, self.catalog)))
        if outcome.differences or not apply:
            raise _RollBack(outcome)
        return structs.replace(outcome, applied=True)

    def _compare_only(self, source: Source, outcome: ImportResult) -> ImportResult:
        differing = tuple(differences(source, self.target, self.catalog))
        if not differing:
            return structs.replace(outcome, was_here=True)
        text = f"the {self.target.location} has data of its own: import into an empty one, before any collector has run"
        return structs.replace(outcome, problems=(text,), differences=differing)


_SHAPES: dict[str, tuple[Any, str]] = {
    "capacitors": (shapes.CapacitorRow, "name"),
    "capacity": (shapes.CapacityRow, "service resource az"),
    "domains": (shapes.DomainRow, "uuid"),
    "domain_quotas": (shapes.DomainQuotaRow, "domain service resource"),
    "projects": (shapes.ProjectRow, "uuid"),
    "services": (shapes.ServiceRow, "project service"),
    "quotas": (shapes.QuotaRow, "project service resource"),
    "usages": (shapes.UsageRow, "project service resource az"),
    "az_quotas": (shapes.AZQuotaRow, "project service resource az"),
    "usage_histories": (shapes.UsageRow, "project service resource az"),
    "commitments": (shapes.CommitmentRow, "id"),
}

KINDS = tuple(_SHAPES)
