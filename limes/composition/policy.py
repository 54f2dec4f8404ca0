"""The policy of each API: shipped defaults and the configured file."""

from limes.api.policy import RULES
from limes.auth.policy import Policy
from limes.placement.policy import PlacementPolicy
from limes.settings import Settings


def limes_policy(settings: Settings) -> Policy:
    """Raises `ConfigError` naming the file and what is wrong with it."""
    return Policy(RULES, settings.api.policy_file)


def placement_policy(settings: Settings) -> PlacementPolicy:
    """Raises `ConfigError` naming the file and what is wrong with it."""
    section = settings.placement
    return PlacementPolicy(section.policy_file, enforce_new_defaults=section.enforce_new_defaults)
