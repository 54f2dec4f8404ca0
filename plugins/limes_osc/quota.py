"""`set` and `simulate` of a domain's or a project's quotas.

The quotas are read with their entity tag, and both simulate-put and PUT carry it as `If-Match`: what is computed from
the present quotas (`+10%`) and what the user has agreed to never overwrites what somebody else has set meanwhile.
"""

import argparse
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict

from osc_lib.exceptions import CommandError

from limes_osc.amounts import unit_of
from limes_osc.base import Listing, Targeted
from limes_osc.client import Json, LimesClient, document_of
from limes_osc.columns import Columns, Text, amount
from limes_osc.growth import BoundsChange, add_growth_options, wants_bounds
from limes_osc.options import add_unit, option, repeated
from limes_osc.quota_changes import Change, Ref, Refusal, plan, query_of, read_refusals, services_of
from limes_osc.quota_sets import add_quota_set_option, wanted_quotas
from limes_osc.temporary import Temporary, add_term_options, read_term

_SIMULATED = (403, 409, 422)
"""The statuses of simulate-put that go with a document."""

add_set_option = repeated(
    "--set",
    metavar="<service>/<resource>=<amount>",
    help="New quota, such as compute/ram=200GiB or compute/cores=20, or a change of it: +5, -5, +10%%, -10%%"
    " (may be repeated)",
)
add_yes_option = option(
    "--yes", "-y", action="store_true", help="Do not ask for confirmation (which happens on a terminal only)"
)


class QuotaChange:
    """Changes of one domain's or project's quotas, and what Limes says of them."""

    def __init__(self, limes: LimesClient, level: str, path: str, wanted: dict[Ref, str], term: Json) -> None:
        """Reads the present quotas. `level` is `domain` or `project`, `term` says for how long they are wanted. Raises
        `CommandError`."""
        self._limes, self._path, self._term = limes, path, term
        report, self._condition = limes.get_with_condition(path, query_of(wanted))
        self.changes = plan(limes, wanted, report[level])
        self._body = {level: services_of(self.changes, term)}
        self.answer: Json = {}
        """What the simulation has answered."""

    @property
    def is_empty(self) -> bool:
        """Whether all quotas are already as wanted, and nothing is said about their ends."""
        is_same = all(change.new == change.old for change in self.changes)
        return is_same and self._term.get("keep_until", True) and "until" not in self._term

    @property
    def ends(self) -> dict[Ref, Temporary]:
        """How the quotas would end, as the simulation has answered."""
        return {
            (entry["service_type"], entry["name"]): Temporary(entry["temporary_quota"], unit_of(entry))
            for entry in self.answer.get("temporary_quotas", ())
        }

    def simulate(self) -> dict[Ref, Refusal]:
        """Returns what would be refused."""
        path = f"{self._path}/simulate-put"
        answer = self._limes.request("POST", path, (), self._body, self._condition, accept=_SIMULATED)
        self.answer = document_of(answer)
        return read_refusals(self.answer)

    def render(self, refusals: Mapping[Ref, Refusal]) -> str:
        """Returns one line for each change, with its end, or with what is wrong with it."""
        lines, ends = [], {} if refusals else self.ends
        for change in self.changes:
            refusal, end = refusals.get(change.ref), ends.get(change.ref)
            text = change.render() + (f", {end.in_words()}" if end else "")
            lines.append(text + (f"\n    refused: {refusal.reason(change.unit)}" if refusal else ""))
        return "\n".join(lines)

    def write(self) -> str:
        """Changes the quotas. Returns what is still to be done, if a backend could not be told yet."""
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
    """Sets quotas: shows the changes, asks, and makes them."""

    options = [add_set_option, add_quota_set_option, add_term_options, add_growth_options, add_yes_option]

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Raises `CommandError` if something is refused; then nothing was changed."""
        if wants_bounds(parsed_args):
            self._set_bounds(parsed_args)
            return
        wanted = _wanted(self, parsed_args)
        refusals = wanted.simulate()
        if refusals:
            raise CommandError(f"nothing was changed:\n{wanted.render(refusals)}")
        self.say(wanted.render({}))
        self.warned(wanted.answer)
        if not wanted.is_empty:
            confirm(parsed_args)
            if pending := wanted.write():
                self.warn(pending)

    def _set_bounds(self, args: argparse.Namespace) -> None:
        if args.set or args.quota_set or read_term(args):
            raise CommandError("quotas and bounds of growth cannot be set in the same request")
        wanted = BoundsChange(self.limes, self.level, self.path(args), args)
        self.say(wanted.render())
        if not wanted.is_empty:
            confirm(args)
        if warning := wanted.write():
            self.warn(warning)


class SimulateQuotas(Targeted, Listing):
    options = [add_set_option, add_quota_set_option, add_term_options, add_unit]
    columns = Columns(
        {
            "Service": "service",
            "Resource": "resource",
            "Old Quota": amount("old", exactly=True),
            "New Quota": amount("new", exactly=True),
            "Acceptable": lambda change, _: Text(change["acceptable"], change["verdict"]),
            "Min Acceptable": amount("minimum", exactly=True),
            "Max Acceptable": amount("maximum", exactly=True),
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

    def entries(self, args: argparse.Namespace) -> Iterable[Json]:
        wanted = _wanted(self, args)
        refusals = wanted.simulate()
        self._refused = bool(refusals)
        self.warned(wanted.answer)
        ends = wanted.ends
        return (_entry(change, refusals.get(change.ref), ends.get(change.ref)) for change in wanted.changes)


def _wanted(command: Targeted, args: argparse.Namespace) -> QuotaChange:
    wanted = wanted_quotas(command.limes, args.quota_set, args.set)
    return QuotaChange(command.limes, command.level, command.path(args), wanted, read_term(args))


def _entry(change: Change, refusal: Refusal | None, end: Temporary | None) -> Json:
    return {
        **asdict(change),
        "unit": change.unit.value,
        "acceptable": refusal is None,
        "verdict": "yes" if refusal is None else refusal.verdict(change.unit),
        **({} if refusal is None else asdict(refusal)),
        "temporary": end,
    }
