"""What the tests of the plugin `compute` share, with a real Nova and with a recorded one."""

import pytest

from limes.backends import ask
from limes.backends.contract import QuotaBackendContract
from limes.core.catalog import Catalog
from tests.backends.conftest import AZS


def report(backend, project):
    """The validated report, by resource."""
    service = backend.describe()
    return ask.report_usage(backend, service, project, Catalog(AZS, [service])).resources


def usage(backend, project):
    """Usage by resource and AZ, without what is 0."""
    return {
        name: {az: one.usage for az, one in resource.per_az.items() if one.usage}
        for name, resource in report(backend, project).items()
    }


def quotas(backend, project):
    """Quota by resource, of those that track it."""
    return {name: one.quota for name, one in report(backend, project).items() if one.quota is not None}


class ComputeContract(QuotaBackendContract):
    @pytest.fixture
    def service(self, backend):
        return backend.describe()

    @pytest.fixture
    def catalog(self, service):
        return Catalog(AZS, [service])
