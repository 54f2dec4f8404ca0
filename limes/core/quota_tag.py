"""A short name of all that PUT can set of a domain or project, by which a client finds out that somebody else did."""

import hashlib
from collections.abc import Mapping

import orjson

from limes.core.catalog import Ref


def quota_tag(quotas: Mapping[Ref, int], *, bursting: bool | None = None) -> str:
    """Equal for equal quotas and bursting, and different for different ones; usage and scrapes leave it as it is.

    Made from the values and not from a counter of changes: it cannot drift, whoever writes, and a database that was
    restored cannot show an old tag for new quotas. `bursting` is None on the level of domains.
    """
    values = [bursting, *([*ref, quotas[ref]] for ref in sorted(quotas))]
    return hashlib.blake2b(orjson.dumps(values), digest_size=12).hexdigest()
