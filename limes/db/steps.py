"""What a migration's file says about itself: the transactions that it consists of, and what they lock."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import peewee

AGAINST_ALL = "ACCESS EXCLUSIVE"
"""Blocks readers of the table. For ALTER TABLE. Such a step reads no rows, so that it only takes a moment."""
AGAINST_WRITERS = "EXCLUSIVE"
"""Blocks writers and row locks. For indexes, triggers and foreign keys."""
AGAINST_CHANGES = "SHARE ROW EXCLUSIVE"
"""Blocks writers; foreign keys may lock rows. For triggers and foreign keys on a table that others refer to: a
transaction that has written what the step locks next may still have to look at rows of this one."""
AGAINST_NOBODY = "SHARE UPDATE EXCLUSIVE"
"""Others read and write, but there is no VACUUM. For VALIDATE CONSTRAINT."""


@dataclass(frozen=True)
class Step:
    up: Callable[[Any, peewee.Database], Any]
    """Called with the migrator and the database, as `up` of a file."""
    locks: Mapping[str, str] = field(default_factory=dict)
    """Tables that were there before, with one of the above, in the order of `limes.app.models.LOCK_ORDER`."""


@dataclass(frozen=True)
class Fill:
    """Many short transactions, which lock nothing but the rows that each of them fills."""

    batch: Callable[[peewee.Database, int], int | None]
    """Fills some rows behind an id, in the order of ids. Returns the last id, or None if there are no more. It may be
    called again from 0, and then leaves what is filled already."""
