"""Backend quota that somebody else has changed."""

from collections.abc import Mapping

from limes.actions.project_tasks import HasQuota


def moved(
    wanted: Mapping[str, int], before: Mapping[str, HasQuota], after: Mapping[str, HasQuota]
) -> dict[str, tuple[int | None, int | None]]:
    """The resources whose backend enforces something else than at the last look, and not what is wanted either, with
    the backend quota at that time and now."""
    return {
        name: (before[name].backend_quota, row.backend_quota)
        for name, row in sorted(after.items())
        if name in before
        and before[name].backend_quota is not None  # else this is the first look at it
        and row.backend_quota not in (before[name].backend_quota, wanted.get(name))
    }
