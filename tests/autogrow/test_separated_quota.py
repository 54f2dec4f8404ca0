"""Quota that follows usage, for backends that enforce it in each AZ."""

import random
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from msgspec import structs

from limes.backends import ProjectInfo
from limes.catalog.catalog import Catalog, ServiceDef
from limes.collector.follow_configuration import follow_models
from tests.autogrow.in_lab import DAY, GROWTH, az_quotas, history, make_growing, provide, set_due, use
from tests.collector.lab import COMPUTE, VOLUME, FakeService, Lab
from tests.commitments.in_lab import add
from tests.support.levels import few_of

CORES = COMPUTE.resources["cores"]
SEPARATED = ServiceDef(
    "compute", "compute", {**COMPUTE.resources, "cores": structs.replace(CORES, az_aware=True, az_separated=True)}
)


class SeparatedService(FakeService):
    """Keeps what it was told by AZ. It reports only the quota over all AZs, as backends do."""

    def __init__(self) -> None:
        super().__init__(SEPARATED)
        self.azs: dict[str, Mapping[str, Mapping[str, int]]] = {}

    def set_quota(self, project: ProjectInfo, quotas: Mapping[str, int]) -> None:
        super().set_quota(project, quotas)
        self.azs.pop(project.name, None)

    def set_quota_by_az(
        self, project: ProjectInfo, quotas: Mapping[str, int], azs: Mapping[str, Mapping[str, int]]
    ) -> None:
        super().set_quota_by_az(project, quotas, azs)
        self.azs[project.name] = azs


def make(make_lab: Callable[..., Lab], service: FakeService, **rule: Any) -> Lab:
    """100 cores in each AZ; berlin uses 20 and 30, and its backend knows its quota."""
    lab = make_growing(make_lab, structs.replace(GROWTH, **rule), compute=service)
    lab.catalog = Catalog(["az-one", "az-two"], [service.service, VOLUME], **lab.catalog_options)
    provide(lab, **{"az-one": 100, "az-two": 100})
    use(lab, berlin={"az-one": 20, "az-two": 30})
    lab.clock.advance(10)
    lab.distribute()
    push(lab)
    return lab


def push(lab: Lab) -> None:
    lab.push_all()
    assert lab.service("quota_desynced_at") == (None,)


def test_others_need_not_know(make_lab: Callable[..., Lab]) -> None:
    """Quota is in the wrong AZs, as if usage had moved; the next computation puts that right."""
    lab = make(make_lab, FakeService(COMPUTE))
    lab.execute("UPDATE project_az_quotas SET quota = 60 - quota WHERE project_id = %s", lab.project_id())
    set_due(lab, lab.now)
    before = history(lab)
    lab.distribute()
    assert az_quotas(lab)["berlin"] == {"az-one": 24, "az-two": 36}
    assert history(lab) == before, "the project's quota is the same"
    assert lab.service("quota_desynced_at") == (None,)


def test_quota_that_people_set_has_no_split(make_lab: Callable[..., Lab]) -> None:
    service = SeparatedService()
    lab = make_lab(compute=service)
    lab.catalog = Catalog(["az-one", "az-two"], [SEPARATED, VOLUME])
    lab.discover()
    lab.scrape_all()
    lab.set_quota("cores", 20)
    push(lab)
    assert (service.azs, service.quota["berlin"]["cores"]) == ({}, 20)


def configure(lab: Lab, service: ServiceDef, **options: Any) -> None:
    """What a collector does that starts with this catalog."""
    lab.catalog = Catalog(["az-one", "az-two"], [service, VOLUME], **options)
    follow_models(lab.limes)


class Life:
    """What happens to the quota of three projects; after each step, a backend has what was accepted, or is marked."""

    def __init__(self, lab: Lab, service: SeparatedService, dice: random.Random) -> None:
        self.lab, self.service, self.dice = lab, service, dice
        self.growing = lab.catalog_options
        self.commitments = 0

    def run(self, steps: int) -> None:
        for _ in range(steps):
            step = self.dice.choice([self.use, self.use, self.provide, self.commit, self.distribute, self.push])
            self.lab.clock.advance(self.dice.choice([1, 1000, DAY]))
            step()
            self.check()
            if self.dice.random() < 0.1:
                self.change_model()
                self.check()
        self.push()
        assert self.lab.rows("SELECT 1 FROM project_services WHERE quota_desynced_at IS NOT NULL") == []
        self.check()

    def change_model(self) -> None:
        """What people have set has no split until quota was computed."""
        grows = self.lab.catalog.autogrow(("compute", "cores")) is not None
        configure(self.lab, SEPARATED, **({} if grows else self.growing))
        self.lab.distribute_all()

    def use(self) -> None:
        project = self.dice.choice(["berlin", "dresden", "paris"])
        use(self.lab, **{project: {az: self.dice.randint(0, 30) for az in ("az-one", "az-two")}})

    def provide(self) -> None:
        provide(self.lab, az_one=self.dice.randint(20, 200), az_two=self.dice.randint(20, 200))

    def commit(self) -> None:
        self.commitments += 1
        az, project = self.dice.choice(["az-one", "az-two"]), self.dice.choice(["berlin", "dresden", "paris"])
        ends = self.lab.now + self.dice.choice([1, 5]) * DAY
        amount = self.dice.randint(1, 20)
        add(self.lab, self.commitments, amount, az=az, project=project, status="pending", expires_at=ends)
        self.lab.settle_commitments()

    def distribute(self) -> None:
        set_due(self.lab, self.lab.now)
        self.lab.distribute_all()

    def push(self) -> None:
        while self.lab.push_next("compute"):
            pass

    def check(self) -> None:
        accepted = az_quotas(self.lab) if self.lab.catalog.autogrow(("compute", "cores")) else {}
        for project in ("berlin", "dresden", "paris"):
            if self.lab.service("quota_desynced_at", project=project) == (None,):
                assert self.service.azs.get(project, {}).get("cores", {}) == accepted.get(project, {}), project
                assert self.service.quota.get(project, {}).get("cores", 0) == (
                    self.lab.quotas(project)["cores"][0] or 0
                )


@pytest.mark.parametrize("seed", few_of(range(6), 3))
def test_a_quota_that_was_accepted_reaches_its_backend(make_lab: Callable[..., Lab], seed: int) -> None:
    """In each AZ."""
    service = SeparatedService()
    lab = make(make_lab, service, project_base_quota=20)
    use(lab, dresden={}, paris={})
    lab.catalog = Catalog(["az-one", "az-two"], [SEPARATED, VOLUME], **lab.catalog_options)
    Life(lab, service, random.Random(seed)).run(60)
