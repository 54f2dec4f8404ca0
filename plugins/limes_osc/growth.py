"""`set` of bounds for quota that grows by itself: `--max-quota`, `--forbid-autogrowth` and `--allow-autogrowth`; of a
project also `--min-quota`.

They are read and written with the entity tag, as quotas are (`limes_osc.quota`). For a domain, each of its projects
gets the same bound, so there is nothing to compare with.
"""

import argparse
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from osc_lib.exceptions import CommandError

from limes.core.units import Unit
from limes_osc.amounts import AmountError, exact, parse_amount, unit_of
from limes_osc.client import Json, LimesClient
from limes_osc.options import read_pair, repeated
from limes_osc.quota_changes import Ref, by_service, query_of, read_wanted_quotas, resources_of, why_missing

_NONE = "none"
"""What takes a limit away."""


def add_growth_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "quota that grows by itself", "One of these, not together with --set. Each may be repeated."
    )
    group.add_argument(
        "--max-quota",
        metavar="<service>/<resource>=<amount>",
        action="append",
        default=[],
        help="Let quota grow to this at most, such as compute/cores=50; `none` takes the limit away",
    )
    for word, meaning in (("forbid", "Give only what usage and commitments need"), ("allow", "Let quota grow again")):
        group.add_argument(
            f"--{word}-autogrowth",
            metavar="<service>/<resource>",
            type=read_pair,
            action="append",
            default=[],
            help=meaning,
        )


add_grant_option = repeated(
    "--min-quota",
    metavar="<service>/<resource>=<amount>",
    help="Of quota that grows by itself, grant so much even if less is used, such as compute/cores=50; `none` takes"
    " it back; may be repeated",
)
"""What cloud admins grant a project."""


@dataclass(frozen=True, slots=True)
class Bound:
    """One bound, as it is and as it is to be. It is unknown how it is in all projects of a domain."""

    ref: Ref
    unit: Unit
    old: int | bool | None
    new: int | bool | None
    is_domain: bool
    what: str = "autogrowth"

    def render(self) -> str:
        """For people: `compute/cores: max quota: none -> 50`."""
        head = f"{'/'.join(self.ref)}: {self.what}"
        if self.is_domain:
            return f"{head} in all projects: {self._word(self.new)}"
        if self.new == self.old:
            return f"{head}: {self._word(self.old)} (unchanged)"
        return f"{head}: {self._word(self.old)} -> {self._word(self.new)}"

    def _word(self, value: int | bool | None) -> str:
        if isinstance(value, bool):
            return "forbidden" if value else "allowed"
        return _NONE if value is None else exact(value, self.unit)


class BoundsChange:
    """A change of bounds of one kind."""

    def __init__(self, limes: LimesClient, level: str, path: str, args: argparse.Namespace) -> None:
        """Reads the present bounds. `level` is `domain` or `project`. Raises `CommandError`."""
        self._limes, self._level, self._path = limes, level, path
        self._field, wanted = _wanted(limes, args)
        report, self._condition = limes.get_with_condition(path, query_of(wanted))
        known = _find(limes, wanted, report[level])
        self.bounds = [self._bound(ref, known[ref], new) for ref, new in wanted.items()]

    def _bound(self, ref: Ref, resource: Json, new: str | bool) -> Bound:
        unit, is_domain = unit_of(resource), self._level == "domain"
        if isinstance(new, bool):
            return Bound(ref, unit, resource.get(self._field, False), new, is_domain)
        what = self._field.replace("_", " ")
        return Bound(ref, unit, resource.get(self._field), _limit(ref, new, unit), is_domain, what)

    @property
    def is_empty(self) -> bool:
        """Whether all bounds are already as wanted."""
        return all(bound.new == bound.old and not bound.is_domain for bound in self.bounds)

    def render(self) -> str:
        return "\n".join(bound.render() for bound in self.bounds)

    def write(self) -> str:
        """Changes the bounds. Returns what the user should know. Raises `Refused`."""
        resources = []
        for bound in self.bounds:
            is_amount = bound.new is not None and not isinstance(bound.new, bool)
            unit = {"unit": bound.unit.value} if bound.unit.is_measured and is_amount else {}
            resources.append((bound.ref[0], {"name": bound.ref[1], self._field: bound.new, **unit}))
        body = {self._level: by_service(resources)}
        path = f"{self._path}/{self._field.replace('_', '-')}"
        condition = {} if self._level == "domain" else self._condition
        return self._limes.request("PUT", path, (), body, condition).text.strip()


def wants_bounds(args: argparse.Namespace) -> bool:
    """Returns whether one of the options was given."""
    return bool(args.max_quota or _grants(args) or args.forbid_autogrowth or args.allow_autogrowth)


def _grants(args: argparse.Namespace) -> list[str]:
    """Returns what is granted. Domains have no such option."""
    return list(getattr(args, "min_quota", []))


def _wanted(limes: LimesClient, args: argparse.Namespace) -> tuple[str, Mapping[Ref, str | bool]]:
    """Returns the field of the bounds, with the limits as texts, or whether growth is to be forbidden. Raises
    `CommandError`."""
    grants = _grants(args)
    if (args.max_quota or grants) and (args.forbid_autogrowth or args.allow_autogrowth):
        raise CommandError("limits are not set in the same request as whether quota grows: use two commands")
    if args.max_quota and grants:
        raise CommandError("limits and grants are not set in the same request: use two commands")
    if args.max_quota:
        return "max_quota", read_wanted_quotas(limes, args.max_quota, "--max-quota")
    if grants:
        return "min_quota", read_wanted_quotas(limes, grants, "--min-quota")
    switches: dict[Ref, bool] = {}
    for refs, value in ((args.forbid_autogrowth, True), (args.allow_autogrowth, False)):
        for ref in refs:
            if switches.setdefault(ref, value) != value:
                raise CommandError(f"{'/'.join(ref)}: growth cannot be both forbidden and allowed")
    return "forbid_autogrowth", switches


def _find(limes: LimesClient, refs: Iterable[Ref], report: Json) -> dict[Ref, Json]:
    """Returns the resources of a report. Raises `CommandError` if some of these are not among them."""
    known = resources_of(report)
    missing = [f"{'/'.join(ref)}: {why_missing(limes, *ref, report)}" for ref in refs if ref not in known]
    if missing:
        raise CommandError("\n".join(missing))
    return known


def _limit(ref: Ref, text: str, unit: Unit) -> int | None:
    if text.strip().lower() == _NONE:
        return None
    try:
        return parse_amount(text, unit)
    except AmountError as error:
        raise CommandError(f"{'/'.join(ref)}: {error}; or {_NONE}") from None
