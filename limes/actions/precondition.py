"""A change that is only wanted while nobody else has made one.

An optimistic lock: it is checked under the locks of the change itself, so that of several who saw the same state only
one can win.
"""

from dataclasses import dataclass

from limes.errors import PreconditionFailed


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The caller has seen the quotas and bursting that one of these tags stands for (`limes.core.quota`)."""

    tags: frozenset[str]

    def check(self, present: str) -> None:
        """Raises `PreconditionFailed` if there is another state by now. `present` must not change until the commit."""
        if present not in self.tags:
            raise PreconditionFailed(
                "the quotas are not those that If-Match names: somebody has changed them since."
                " Nothing was changed. GET them again for the present ETag"
            )
