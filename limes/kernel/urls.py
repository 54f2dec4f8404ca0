"""URLs that may name several hosts, as those of PostgreSQL: `postgresql://me@one:5432,[::1]:5433/name`.

Python's own `urlsplit` refuses such a list if an IPv6 address stands in it (since 3.11.4, and on Debian 12).
"""

import re
from urllib.parse import SplitResult, urlsplit

_PARTS = re.compile(r"(?P<before>[^/?#]*://(?:[^/?#]*@)?)(?P<hosts>[^/?#]*)(?P<after>.*)", re.DOTALL)


def split_url(url: str) -> SplitResult:
    """Like `urlsplit`, with the first of several hosts. Raises `ValueError` if it is not a URL."""
    match = _PARTS.fullmatch(url)
    return urlsplit(url if match is None else f"{match['before']}{match['hosts'].split(',')[0]}{match['after']}")


def hosts_of(url: str) -> list[str]:
    """Returns the hosts of a URL, each with its port if there is one. A URL without any has one that is empty."""
    match = _PARTS.fullmatch(url)
    return match["hosts"].split(",") if match else [""]
