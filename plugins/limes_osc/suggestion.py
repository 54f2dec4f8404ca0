"""Names that do not exist: what was probably meant, or else what there is."""

from collections.abc import Collection
from difflib import get_close_matches

_MANY = 20
"""With more names than this, a list of all of them does not help."""
_CLOSE = 0.65
"""How alike names have to be (1: the same) that one may be meant by the other."""


def suggest(name: str, known: Collection[str]) -> str:
    """Returns the end of an error about an unknown name: `did you mean ...?`, or `there are: ...`."""
    lowered = {each.lower(): each for each in known}
    matches = get_close_matches(name.lower(), lowered, n=2, cutoff=_CLOSE)
    if matches:
        return f"did you mean {' or '.join(lowered[match] for match in matches)}?"
    if not known:
        return "there are none"
    if len(known) > _MANY:
        return f"there are {len(known)} others"
    return f"there are: {', '.join(sorted(known))}"
