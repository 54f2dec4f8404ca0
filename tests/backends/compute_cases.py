"""What the tests of the plugin `compute` share, with a real Nova and with a recorded one."""

from typing import Any

from limes.backends import ProjectInfo, QuotaBackend
from tests.backends.quota_cases import report


def usage(backend: QuotaBackend, project: ProjectInfo) -> dict[Any, Any]:
    """Usage by resource and AZ, without what is 0."""
    return {
        name: {az: one.usage for az, one in resource.per_az.items() if one.usage}
        for name, resource in report(backend, project).items()
    }


def quotas(backend: QuotaBackend, project: ProjectInfo) -> dict[Any, Any]:
    """Quota by resource, of those that track it."""
    return {name: one.quota for name, one in report(backend, project).items() if one.quota is not None}
