"""Placement's refusals, as exceptions. `code` is what clients see from microversion 1.23; `UNDEFINED` if there is none.

Wordings that nova, osc-placement or the conformance suite look for are kept.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from limes.kernel import errors

UNDEFINED = "placement.undefined_code"


class UnacceptableVersion(errors.LimesError):
    """The client asks for a microversion that this server does not speak (406)."""


class InvalidBody(errors.BadRequest):
    """A header, the query or the body has the wrong form."""


class InvalidValue(errors.BadRequest):
    """The request has the right form, but names what does not exist or asks for the impossible."""


class ClassUnknown(InvalidValue):
    """A body names a resource class that does not exist."""


class ProviderUnknown(errors.BadRequest):
    """A body names a provider that does not exist."""

    code = "placement.resource_provider.not_found"


class Missing(errors.NotFound):
    """What the URL names does not exist."""


def provider_missing(uuid: str, why: str = "No resource provider with uuid {} found: ") -> Missing:
    """Returns the error for a provider that does not exist. Clients know this wording, which repeats the reason."""
    return Missing(f"{why.format(uuid)}No resource provider with uuid {uuid} found")


@contextmanager
def prefixed(kind: type[errors.LimesError], text: str) -> Iterator[None]:
    """Puts `text` before the message of an error of this kind: clients know these wordings, too."""
    try:
        yield
    except kind as error:
        raise kind(f"{text} {error}") from None


class NameConflict(errors.Conflict):
    """A class or trait cannot come because it exists already, or cannot go because something uses it."""


class DuplicateName(errors.Conflict):
    """The name or the UUID is taken."""

    code = "placement.duplicate_name"


class ConcurrentUpdate(errors.Conflict):
    """The client's generation is stale: there was another write in between. Read again and retry."""

    code = "placement.concurrent_update"


class InventoryInUse(errors.Conflict):
    """Inventory cannot go while there are allocations against it."""

    code = "placement.inventory.inuse"


class ProviderInUse(errors.Conflict):
    """A provider cannot go while there are allocations against it."""

    code = "placement.resource_provider.inuse"


class CannotDeleteParent(errors.Conflict):
    """A provider cannot go while it has children."""

    code = "placement.resource_provider.cannot_delete_parent"


class CapacityExceeded(errors.Conflict):
    """An allocation does not fit a provider's inventory."""


class QuotaExceeded(errors.Conflict):
    """An allocation would raise a project's use above its limit (our extension)."""

    code = "placement.quota.exceeded"
