"""Microversions 1.0 to 1.39, as a client asks for them in the header `OpenStack-API-Version: placement 1.N`.

A version is the number after the dot. All versions are of major version 1, so they compare as integers do.
"""

import re
from functools import lru_cache

from limes.placement.errors import InvalidBody, UnacceptableVersion

MIN = 0
MAX = 39
HEADER = "openstack-api-version"
SERVICE = "placement"

_VERSION = re.compile(r"(-?\d{1,99})\.(-?\d{1,99})")


def text(version: int) -> str:
    return f"1.{version}"


@lru_cache(maxsize=256)  # refusals are not cached
def negotiate(header: str | None) -> int:
    """Returns the version that the header's last entry for `placement` asks for; 1.0 where there is none. The header
    may name several services, separated by commas. `latest` means the newest. Raises `InvalidBody` for what is no
    version, and `UnacceptableVersion` for one that this server does not speak."""
    wanted = None
    for entry in (header or "").split(","):
        words = entry.split(maxsplit=1)
        if len(words) == 2 and words[0].lower() == SERVICE:
            wanted = words[1].rstrip()
    if wanted is None:
        return MIN
    if wanted == "latest":
        return MAX
    match = _VERSION.fullmatch(wanted)
    if match is None:
        raise InvalidBody(f"Invalid microversion: invalid version string: {wanted[:100]}")
    major, minor = int(match[1]), int(match[2])
    if major != 1 or not MIN <= minor <= MAX:
        raise UnacceptableVersion(f"Invalid microversion: Unacceptable version header: {wanted}")
    return minor
