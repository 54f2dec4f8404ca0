"""For how long subresources were there."""

from typing import Annotated

from pydantic import Field

from limes.settings.base import Regex, Section
from limes.validation.durations import Seconds

AttributePath = Annotated[str, Field(min_length=1, max_length=200)]


class FollowedResourceSettings(Section):
    """Resources whose subresources are followed. The first match counts. The plugin has to report subresources: see its
    own settings, such as `with_subresources`."""

    resource: Regex
    """Matches the whole of `service/resource`."""
    attributes: tuple[AttributePath, ...] = ()
    """A change of one of these begins another period; `a.b` is `b` within `a`. Not given: those that the plugin's page
    calls billed, else `flavor`, `size`, `type` and `usage`. Another availability zone always begins another period."""


class SubresourceLifetimeSettings(Section):
    """From when to when subresources were there, and with which attributes: to bill by flavor and hour."""

    resources: tuple[FollowedResourceSettings, ...] = ()
    """The resources whose subresources are followed. Not given: none."""
    retention: Annotated[Seconds, Field(ge=86400)] = 400 * 86400.0
    """How long periods are kept after their end."""
