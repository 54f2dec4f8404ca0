"""Quota that follows usage, for backends that enforce it in each AZ."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from limes.backends import ProjectInfo
from limes.core.catalog import Catalog, ServiceDef
from tests.collector.growing import az_quotas, history, make_growing, provide, set_due, use
from tests.collector.lab import COMPUTE, VOLUME, FakeService, Lab

CORES = COMPUTE.resources["cores"]
SEPARATED = ServiceDef(
    "compute", "compute", {**COMPUTE.resources, "cores": replace(CORES, az_aware=True, az_separated=True)}
)


class SeparatedService(FakeService):
    """Notes what it was told by AZ."""

    def __init__(self) -> None:
        super().__init__(SEPARATED)
        self.azs: dict[str, Mapping[str, Mapping[str, int]]] = {}

    def set_quota_by_az(
        self, project: ProjectInfo, quotas: Mapping[str, int], azs: Mapping[str, Mapping[str, int]]
    ) -> None:
        super().set_quota_by_az(project, quotas, azs)
        self.azs[project.name] = azs


def make(make_lab: Callable[..., Lab], service: FakeService) -> Lab:
    """100 cores in each AZ; berlin uses 20 and 30, and its backend knows its quota."""
    lab = make_growing(make_lab, compute=service)
    lab.catalog = Catalog(["az-one", "az-two"], [service.service, VOLUME], **lab.catalog_options)
    provide(lab, **{"az-one": 100, "az-two": 100})
    use(lab, berlin={"az-one": 20, "az-two": 30})
    lab.clock.advance(10)
    lab.distribute().run_next()
    assert az_quotas(lab)["berlin"] == {"az-one": 24, "az-two": 36}
    push(lab)
    return lab


def push(lab: Lab) -> None:
    while lab.push().run_next("compute"):
        pass
    assert lab.service("quota_desynced_at") == (None,)


def move_quota(lab: Lab) -> None:
    """Quota is in the wrong AZs, as if usage had moved; the next computation puts that right."""
    lab.execute("UPDATE project_az_quotas SET quota = 60 - quota WHERE project_id = %s", lab.project_id())
    set_due(lab, lab.now)
    before = history(lab)
    lab.distribute().run_next()
    assert az_quotas(lab)["berlin"] == {"az-one": 24, "az-two": 36}
    assert history(lab) == before, "the project's quota is the same"


def test_the_backend_is_told_the_split(make_lab: Callable[..., Lab]) -> None:
    service = SeparatedService()
    make(make_lab, service)
    assert service.azs["berlin"] == {"cores": {"az-one": 24, "az-two": 36}}
    assert service.quota["berlin"]["cores"] == 60


def test_quota_that_only_moves_is_told_too(make_lab: Callable[..., Lab]) -> None:
    service = SeparatedService()
    lab = make(make_lab, service)
    service.azs.clear()
    move_quota(lab)
    push(lab)
    assert service.azs == {"berlin": {"cores": {"az-one": 24, "az-two": 36}}}


def test_others_need_not_know(make_lab: Callable[..., Lab]) -> None:
    lab = make(make_lab, FakeService(COMPUTE))
    move_quota(lab)
    assert lab.service("quota_desynced_at") == (None,)


def test_quota_that_people_set_has_no_split(make_lab: Callable[..., Lab]) -> None:
    service = SeparatedService()
    lab = make_lab(compute=service)
    lab.catalog = Catalog(["az-one", "az-two"], [SEPARATED, VOLUME])
    lab.discover().run()
    lab.scrape_all()
    lab.set_quota("cores", 20)
    push(lab)
    assert (service.azs, service.quota["berlin"]["cores"]) == ({}, 20)
