"""A copy between two databases of ours, in words."""

from collections.abc import Iterable
from typing import TypeVar

from limes.placement.transfer.api import LocalApi
from limes.placement.transfer.contents import differences, read
from limes.placement.transfer.writer import Writer
from tests.placement.world import World

T = TypeVar("T")


def silent(label: str, items: Iterable[T], total: int) -> Iterable[T]:
    """A progress that nobody sees."""
    return items


def copy(source: World, target: World, *, prune: bool = False, api: LocalApi | None = None) -> list[str]:
    """Copies all of it; answers what was refused."""
    api = api or LocalApi(target.app)
    theirs, ours = read(LocalApi(source.app), "there", silent), read(api, "here", silent)
    writer = Writer(api, theirs, ours, silent, prune=prune)
    writer.run()
    return writer.problems


def compare(source: World, target: World) -> list[str]:
    """The differences."""
    both = (read(LocalApi(world.app), "", silent) for world in (source, target))
    return list(differences(*both))
