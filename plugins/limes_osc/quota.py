"""`set` and `simulate` of a domain's or a project's quotas, and `set` of bounds for quota that grows by itself.

Quotas are read with their entity tag, and both simulate-put and PUT carry it as `If-Match`: what is computed from the
present quotas (`+10%`) and what the user has agreed to never overwrites what someone else has set meanwhile. So are
bounds; but for a domain, each of its projects gets the same one, so there is nothing to compare with.
"""

import argparse
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

from osc_lib.exceptions import CommandError

from limes.kernel.units import Unit
from limes_osc import client, values
from limes_osc import quota_changes as changes
from limes_osc.base import Listing, Targeted, add_unit, option, read_pair, repeated, titled
from limes_osc.columns import Columns, Text, exact_amount, named

_NONE = "none"
"""What takes a limit away."""
_PAIR, _AMOUNT = "<service>/<resource>", "<service>/<resource>=<amount>"
add_growth_options = titled(
    "quota that grows by itself",
    "One of these, not together with --set. Each may be repeated.",
    repeated(
        "--max-quota",
        metavar=_AMOUNT,
        help="Let quota grow to this at most, such as compute/cores=50; `none` takes the limit away",
    ),
    repeated("--forbid-autogrowth", metavar=_PAIR, type=read_pair, help="Give only what usage and commitments need"),
    repeated("--allow-autogrowth", metavar=_PAIR, type=read_pair, help="Let quota grow again"),
)
add_grant_option = repeated(
    "--min-quota",
    metavar=_AMOUNT,
    help="Grant at least this much of a quota that grows by itself, such as compute/cores=50; `none` takes"
    " it back; may be repeated",
)
"""What cloud admins grant a project."""


@dataclass(frozen=True, slots=True)
class Bound:
    """One bound, as it is and as it is to be: an amount, or whether growth is forbidden."""

    ref: changes.Ref
    unit: Unit
    old: int | bool | None
    new: int | bool | None

    def word(self, value: int | bool | None) -> str:
        if isinstance(value, bool):
            return "forbidden" if value else "allowed"
        return _NONE if value is None else values.exact(value, self.unit)


class BoundsChange:
    """A change of bounds of one kind. It is unknown how they are in all projects of a domain."""

    def __init__(self, command: Targeted, args: argparse.Namespace) -> None:
        """Reads the present bounds. Raises `CommandError`."""
        self._limes, self._level, self._path = command.limes, command.level, command.path(args)
        self._field, wanted = _wanted_bounds(self._limes, args)
        document, self._condition = self._limes.get_with_condition(self._path, changes.query_of(wanted))
        report = document[self._level]
        known = changes.resources_of(report)
        unknown = [ref for ref in wanted if ref not in known]
        missing = [f"{'/'.join(ref)}: {changes.why_missing(self._limes, *ref, report)}" for ref in unknown]
        if missing:
            raise CommandError("\n".join(missing))
        self.bounds = [self._bound(ref, known[ref], new) for ref, new in wanted.items()]

    def _bound(self, ref: changes.Ref, resource: client.Json, new: str | bool) -> Bound:
        unit = values.unit_of(resource)
        if isinstance(new, bool):
            return Bound(ref, unit, resource.get(self._field, False), new)
        try:
            limit = None if new.strip().lower() == _NONE else values.parse_amount(new, unit)
        except values.AmountError as error:
            raise CommandError(f"{'/'.join(ref)}: {error}; or {_NONE}") from None
        return Bound(ref, unit, resource.get(self._field), limit)

    @property
    def is_empty(self) -> bool:
        return self._level != "domain" and all(bound.new == bound.old for bound in self.bounds)

    def render(self) -> str:
        """For people: `compute/cores: max quota: none -> 50`."""
        lines, what = [], self._field.removeprefix("forbid_").replace("_", " ")
        for bound in self.bounds:
            head, old, new = f"{'/'.join(bound.ref)}: {what}", bound.word(bound.old), bound.word(bound.new)
            if self._level == "domain":
                lines.append(f"{head} in all projects: {new}")
            else:
                lines.append(f"{head}: {old} (unchanged)" if bound.new == bound.old else f"{head}: {old} -> {new}")
        return "\n".join(lines)

    def write(self) -> str:
        """Changes the bounds. Returns what the user should know. Raises `Refused`."""
        resources = []
        for bound in self.bounds:
            is_amount = bound.new is not None and not isinstance(bound.new, bool)
            unit = {"unit": bound.unit.value} if bound.unit.is_measured and is_amount else {}
            resources.append((bound.ref[0], {"name": bound.ref[1], self._field: bound.new, **unit}))
        path = f"{self._path}/{self._field.replace('_', '-')}"
        condition = {} if self._level == "domain" else self._condition
        body = {self._level: changes.by_service(resources)}
        return self._limes.request("PUT", path, (), body, condition).text.strip()


def wants_bounds(args: argparse.Namespace) -> bool:
    """Returns whether one of the options was given. Domains have no `--min-quota`."""
    names = ("max_quota", "min_quota", "forbid_autogrowth", "allow_autogrowth")
    return any(getattr(args, name, None) for name in names)


def _wanted_bounds(limes: client.LimesClient, args: argparse.Namespace) -> tuple[str, Mapping[changes.Ref, str | bool]]:
    """Returns the field of the bounds, with the limits as texts, or whether growth is to be forbidden. Raises
    `CommandError`."""
    grants = list(getattr(args, "min_quota", ()))
    if (args.max_quota or grants) and (args.forbid_autogrowth or args.allow_autogrowth):
        raise CommandError("limits cannot be set together with whether quota grows: use two commands")
    if args.max_quota and grants:
        raise CommandError("limits and grants cannot be set together: use two commands")
    if args.max_quota:
        return "max_quota", changes.read_wanted_quotas(limes, args.max_quota, "--max-quota")
    if grants:
        return "min_quota", changes.read_wanted_quotas(limes, grants, "--min-quota")
    switches: dict[changes.Ref, bool] = {}
    for refs, value in ((args.forbid_autogrowth, True), (args.allow_autogrowth, False)):
        for ref in refs:
            if switches.setdefault(ref, value) != value:
                raise CommandError(f"{'/'.join(ref)}: growth cannot be both forbidden and allowed")
    return "forbid_autogrowth", switches


_SIMULATED = (403, 409, 422)
"""The statuses of simulate-put that go with a document."""

add_set_option = repeated(
    "--set",
    metavar=_AMOUNT,
    help="New quota, such as compute/ram=200GiB or compute/cores=20, or a change of it: +5, -5, +10%%, -10%%"
    " (may be repeated)",
)
add_yes_option = option(
    "--yes", "-y", action="store_true", help="Do not ask for confirmation (which happens on a terminal only)"
)


class QuotaChange:
    def __init__(self, command: Targeted, args: argparse.Namespace) -> None:
        """Reads the present quotas, and simulates the changes. Raises `CommandError`."""
        self._limes = limes = command.limes
        wanted = changes.wanted_quotas(limes, args.quota_set, args.set)
        self._path, self._term = command.path(args), changes.read_term(args)
        report, self._condition = limes.get_with_condition(self._path, changes.query_of(wanted))
        self.changes = changes.plan(limes, wanted, report[command.level])
        self._body = {command.level: changes.services_of(self.changes, self._term)}
        path = f"{self._path}/simulate-put"
        answer = limes.request("POST", path, (), self._body, self._condition, accept=_SIMULATED)
        self.answer = client.document_of(answer)
        self.refusals = {
            (each["service_type"], each["resource_name"]): changes.Refusal(
                each["message"], each.get("min_acceptable_quota"), each.get("max_acceptable_quota")
            )
            for each in self.answer.get("unacceptable_resources", ())
        }
        self.ends = {
            (entry["service_type"], entry["name"]): changes.Temporary(entry["temporary_quota"], values.unit_of(entry))
            for entry in self.answer.get("temporary_quotas", ())
        }

    @property
    def is_empty(self) -> bool:
        """Whether all quotas are already as wanted, and nothing is said about their ends."""
        is_same = all(change.new == change.old for change in self.changes)
        return is_same and self._term.get("keep_until", True) and "until" not in self._term

    def render(self) -> str:
        """Returns one line for each change, with its end, or with what is wrong with it."""
        lines = []
        for change in self.changes:
            refusal, end = self.refusals.get(change.ref), self.ends.get(change.ref)
            text = change.render() + (f", {end.in_words()}" if end and not self.refusals else "")
            lines.append(text + (f"\n    refused: {refusal.reason(change.unit)}" if refusal else ""))
        return "\n".join(lines)

    def write(self) -> str:
        """Changes the quotas. Returns what is still to be done, if a backend does not have the quota yet."""
        text = self._limes.request("PUT", self._path, (), self._body, self._condition).text.strip()
        return text.partition("quotas have been accepted, with a warning:")[0].strip()  # that was said already


def confirm(args: argparse.Namespace, question: str = "Change this?") -> None:
    """Asks on a terminal, unless `--yes`. Raises `CommandError` without a terminal, or if the answer is not yes."""
    if args.yes or sys.stdin is None or not sys.stdin.isatty():
        return
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise CommandError("nothing was changed")


class SetQuotas(Targeted):
    options = [
        add_set_option,
        changes.add_quota_set_option,
        changes.add_term_options,
        add_growth_options,
        add_yes_option,
    ]

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Raises `CommandError` if something is refused; then nothing was changed."""
        if wants_bounds(parsed_args):
            self._set_bounds(parsed_args)
            return
        wanted = QuotaChange(self, parsed_args)
        if wanted.refusals:
            raise CommandError(f"nothing was changed:\n{wanted.render()}")
        self.say(wanted.render())
        self.warned(wanted.answer)
        if not wanted.is_empty:
            confirm(parsed_args)
            if pending := wanted.write():
                self.warn(pending)

    def _set_bounds(self, args: argparse.Namespace) -> None:
        if args.set or args.quota_set or changes.read_term(args):
            raise CommandError("quotas and bounds of growth cannot be set in the same request")
        wanted = BoundsChange(self, args)
        self.say(wanted.render())
        if not wanted.is_empty:
            confirm(args)
        if warning := wanted.write():
            self.warn(warning)


class SimulateQuotas(Targeted, Listing):
    options = [add_set_option, changes.add_quota_set_option, changes.add_term_options, add_unit]
    columns = Columns(
        {
            **named(str, "service", "resource"),
            "Old Quota": exact_amount("old"),
            "New Quota": exact_amount("new"),
            "Acceptable": lambda change, _: Text(change["acceptable"], change["verdict"]),
            "Min Acceptable": exact_amount("minimum"),
            "Max Acceptable": exact_amount("maximum"),
            "Message": "message",
            "Temporary": "temporary",
        },
        optional={"Temporary"},
        notable=dict.fromkeys(("Min Acceptable", "Max Acceptable", "Message"), lambda _: False),  # all in "Acceptable"
    )
    _refused = False

    def run(self, parsed_args: argparse.Namespace) -> int:
        """The exit code is 1 if something would be refused."""
        return super().run(parsed_args) or int(self._refused)

    def entries(self, args: argparse.Namespace) -> Iterable[client.Json]:
        wanted = QuotaChange(self, args)
        self._refused = bool(wanted.refusals)
        self.warned(wanted.answer)
        for change in wanted.changes:
            refusal, (service, resource) = wanted.refusals.get(change.ref), change.ref
            yield {
                **{"service": service, "resource": resource, "unit": change.unit.value},
                **{"old": change.old, "new": change.new, "acceptable": refusal is None},
                "verdict": "yes" if refusal is None else refusal.verdict(change.unit),
                **({} if refusal is None else asdict(refusal)),
                "temporary": wanted.ends.get(change.ref),
            }
