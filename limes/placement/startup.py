"""What has to be in the database before the first request: the standard names, and valid stamps."""

import os_resource_classes
import os_traits

from limes.db.engine import Engine
from limes.db.transactions import atomic
from limes.placement.objects import change, resource_class, trait
from limes.system import Clock


def prepare(engine: Engine, clock: Clock) -> None:
    """Brings the standard names up to date. Any number of workers may do this at once."""
    now = clock.now().timestamp()
    sync_standard_names(engine, now)
    change.repair_stamps(engine)


@atomic
def sync_standard_names(engine: Engine, now: float) -> None:
    """Adds the standard resource classes and traits of the installed libraries that the database lacks.

    A class has the library's number as its id; traits are numbered in the order in which they were added, in the
    library's alphabetical order. Names that a newer library has dropped stay.
    """
    classes = list(enumerate(os_resource_classes.STANDARDS))
    traits = sorted(os_traits.get_traits())
    resource_class.add_standard(engine, classes, now)
    trait.add_standard(engine, traits, now)
