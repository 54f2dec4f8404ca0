"""What is left of a document without the parts that are not valid, so that the rest can be checked as well."""

import copy
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from limes.settings.load import override
from limes.settings.root import Settings
from limes.validation.problems import Location

_ROUNDS = 20
_INDEX = re.compile(r"^([a-z_]+)\[(\d+)\]")


@dataclass(frozen=True, slots=True)
class Salvage:
    """Settings made of what is valid."""

    settings: Settings
    kept: Mapping[str, list[int]]
    """For each list in which items were left out: the places that the others have in the file."""
    lost_services: frozenset[str] = field(default=frozenset())
    """The types of services whose entries were left out."""

    def with_real_places(self, problem: str) -> str:
        """Returns the problem with the place that the item has in the file."""
        match = _INDEX.match(problem)
        if match is None or match[1] not in self.kept:
            return problem
        return f"{match[1]}[{self.kept[match[1]][int(match[2])]}]{problem[match.end() :]}"


def salvage(document: Mapping[str, Any], environ: Mapping[str, str], folder: Path) -> Salvage | None:
    """Leaves out what is not valid: the keys themselves, or the whole items of the top lists. Returns None if nothing
    usable is left."""
    rest = copy.deepcopy(dict(document))
    override(rest, environ)
    kept: dict[str, list[int]] = {}
    lost: set[str] = set()
    for _ in range(_ROUNDS):
        try:
            settings = Settings.model_validate(rest, context={"folder": folder})
        except ValidationError as error:
            if not all(_drop(rest, item["loc"], kept, lost) for item in _one_of_each_item(error)):
                return None
        else:
            return Salvage(settings, kept, frozenset(lost))
    return None


def _one_of_each_item(error: ValidationError) -> list[Any]:
    """Returns the errors, the last items of lists first, and only one of each item, as places change when one goes."""
    first = {tuple(item["loc"][:2]): item for item in error.errors()}
    last_places_first = sorted(first, key=lambda place: [part if isinstance(part, int) else -1 for part in place])
    return [first[place] for place in reversed(last_places_first)]


def _drop(document: dict[str, Any], location: Location, kept: dict[str, list[int]], lost: set[str]) -> bool:
    """Removes a place from the document. Returns whether there was anything to remove."""
    if not location or location[0] not in document:
        return False
    section = str(location[0])
    entries = document[section]
    if len(location) > 1 and isinstance(location[1], int) and isinstance(entries, list):
        places = kept.setdefault(section, list(range(len(entries))))
        entry = entries.pop(location[1])
        places.pop(location[1])
        if section == "services" and isinstance(entry, dict):
            lost.add(str(entry.get("service_type")))
        return True
    if len(location) > 1 and isinstance(entries, dict) and location[1] in entries:
        del entries[location[1]]
        return True
    del document[section]
    return True
