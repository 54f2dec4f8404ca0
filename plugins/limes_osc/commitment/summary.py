"""What everybody has committed to, in sum: `limes commitment summary list`."""

import argparse
from collections.abc import Iterable

from cliff.columns import FormattableColumn

from limes_osc.base import InScope, Listing
from limes_osc.client import Json
from limes_osc.columns import IN_ZONE, Columns, amount, is_some, shown
from limes_osc.options import add_filters, add_long, add_unit, option


class Share(FormattableColumn[float]):
    """A share from 0 to 1; for people in percent."""

    def human_readable(self) -> str:
        return f"{self._value:.0%}".replace("%", " %")


class SummarizeCommitments(InScope, Listing):
    """List commitments in sum, by resource and availability zone: what they cover, and what of them is not used"""

    nothing = "There are no commitments."
    options = [
        option("--days", type=int, help="How far Expiring looks ahead (default: 30)"),
        *(add_filters, add_long, add_unit),
    ]
    columns = Columns(
        {
            **IN_ZONE,
            **{name.title(): amount(name) for name in ("committed", "used", "unused", "usage")},
            "Coverage": shown(Share, "coverage"),
            "Waste": shown(Share, "waste"),
            **{name.title(): amount(name) for name in ("expiring", "pending", "planned")},
            "Commitments": "commitments",
            "Projects": "projects",
        },
        hidden={"Unused", "Usage", "Commitments", "Projects"},
        optional={"Coverage", "Waste"},
        notable={title: is_some(title) for title in ("Pending", "Planned")},
    )

    def entries(self, args: argparse.Namespace) -> Iterable[Json]:
        return self.found(args, f"{self.path(args)}/commitment-summary", "commitment_summary", days=args.days)
