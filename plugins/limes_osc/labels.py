"""`limes project label`."""

import argparse
from collections.abc import Iterable

from limes_osc import base, client
from limes_osc.columns import Columns


def _read_label(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r}: expected <key>=<value>, such as env=prod")
    return key, value


class ListLabels(base.OfProject, base.Listing):
    """List the labels of a project"""

    nothing = "The project has no labels."
    columns = Columns({"Key": "key", "Value": "value"}, unit=False)

    def entries(self, args: argparse.Namespace) -> Iterable[client.Json]:
        labels = self.labels(f"{self.path(args)}/labels", args)["labels"]
        return ({"key": key, "value": value} for key, value in labels.items())

    def labels(self, path: str, args: argparse.Namespace) -> client.Json:
        """Returns the document, in a change as it is afterwards."""
        return self.limes.get(path)


class SetLabels(ListLabels):
    """Replace all labels of a project, and list the new ones"""

    _help = "A label that the project shall have (may be repeated); it loses all others"
    options = [
        base.exclusive(
            base.repeated("--label", metavar="<key>=<value>", type=_read_label, help=_help),
            base.option("--clear", action="store_true", help="Remove all labels"),
            required=True,
        )
    ]

    def labels(self, path: str, args: argparse.Namespace) -> client.Json:
        return self.send("PUT", path, {"labels": dict(args.label)})
