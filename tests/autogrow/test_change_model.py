"""A resource changes its distribution model: from quota that people set to quota that follows usage, and back."""

from collections.abc import Callable

import pytest
from msgspec import structs

from limes.catalog.catalog import Catalog, select
from limes.collector.follow_configuration import check_consistency, follow_models
from limes.quota.constraints import Constraint, ConstraintSet
from limes.reports.inconsistencies import find_inconsistencies
from tests.autogrow.in_lab import GROWTH, az_quotas, distributions, due_at, history, kept_changes, provide, use
from tests.collector.lab import COMPUTE, VOLUME, Lab
from tests.concurrency.test_quota import at_once
from tests.support.rows import all_rows, changes

ZONES = ["az-one", "az-two"]
HIERARCHICAL = Catalog(ZONES, [COMPUTE, VOLUME])
AUTOGROW = Catalog(
    ZONES, [COMPUTE, VOLUME], distributions=distributions(structs.replace(GROWTH, project_base_quota=10))
)


@pytest.fixture
def lab(make_lab: Callable[..., Lab]) -> Lab:
    """People have given 100 cores to berlin, which uses 20, and 24 to dresden, which uses 20; paris has none."""
    lab = make_lab()
    lab.discover()
    use(lab, berlin={"az-one": 20}, dresden={"az-one": 20}, paris={})
    lab.set_quota("cores", 100)
    lab.set_quota("cores", 24, "dresden")
    lab.execute(
        "UPDATE domain_resources SET quota = 150 WHERE domain_id = (SELECT id FROM domains WHERE name = 'germany')"
    )
    provide(lab, az_one=1000)
    return lab


def configure(lab: Lab, catalog: Catalog) -> None:
    """What a collector does that starts with this catalog."""
    lab.catalog = catalog
    follow_models(lab.limes)


def domain_quotas(lab: Lab) -> dict[str, int]:
    return dict(
        lab.rows(
            "SELECT d.name, dr.quota FROM domain_resources dr JOIN domains d ON d.id = dr.domain_id"
            " JOIN resources r ON r.id = dr.resource_id WHERE r.name = 'cores'"
        )
    )


def test_the_first_computation_starts_from_what_is_set(lab: Lab) -> None:
    configure(lab, AUTOGROW)
    assert az_quotas(lab) == {"berlin": {"any": 100}, "dresden": {"any": 24}, "paris": {"any": 0}}
    assert due_at(lab) == lab.now
    assert history(lab) == []
    lab.distribute_all()
    assert az_quotas(lab) == {"berlin": {"az-one": 24}, "dresden": {"az-one": 24}, "paris": {"any": 10}}
    why = "autogrow instead of hierarchical: 20 for usage and commitments, 4 for growth (20 used)"
    assert history(lab) == [
        ("p-berlin", "cores", 100, 24, "distribution-model", why, "limes"),
        (
            *("p-paris", "cores", 0, 10, "distribution-model"),
            *("autogrow instead of hierarchical: 10 for the base quota (0 used)", "limes"),
        ),
    ]
    use(lab, dresden={"az-one": 30})
    assert history(lab)[-1][:5] == ("p-dresden", "cores", 24, 30, "autogrow"), "only the first one is the model's"


def test_what_is_used_before_the_first_computation(lab: Lab) -> None:
    """Quota that people have set covers usage in all AZs."""
    configure(lab, AUTOGROW)
    use(lab, berlin={"az-one": 30, "az-two": 5})
    assert az_quotas(lab)["berlin"] == {"any": 65, "az-one": 30, "az-two": 5}
    assert history(lab) == []
    lab.distribute_all()
    assert history(lab)[0][:5] == ("p-berlin", "cores", 100, 35, "distribution-model")


def test_and_back(lab: Lab) -> None:
    configure(lab, AUTOGROW)
    lab.distribute_all()
    use(lab, berlin={"az-one": 22})
    assert kept_changes(lab) != {}
    configure(lab, HIERARCHICAL)
    assert lab.rows("SELECT COUNT(*) FROM project_az_quotas") == [(0,)]
    assert kept_changes(lab) == {}
    assert due_at(lab) is None
    assert lab.rows("SELECT name FROM jobs") == []
    assert lab.quotas()["cores"][0] == 24
    assert lab.quotas("dresden")["cores"][0] == 24
    assert domain_quotas(lab) == {"germany": 48, "france": 10}
    why = "hierarchical instead of autogrow: the sum of the domain's project quotas"
    assert lab.rows(
        "SELECT domain_uuid, old, new, reason, detail FROM quota_history WHERE project_uuid = '' ORDER BY domain_uuid"
    ) == [("d-france", 0, 10, "distribution-model", why), ("d-germany", 150, 48, "distribution-model", why)]


@pytest.mark.parametrize("catalog", [AUTOGROW, HIERARCHICAL], ids=["autogrow", "hierarchical"])
def test_once(lab: Lab, catalog: Catalog) -> None:
    configure(lab, AUTOGROW)
    lab.distribute_all()
    lab.set_quota("cores", 124) if catalog is AUTOGROW else None
    configure(lab, catalog)
    before = all_rows(lab.engine)
    configure(lab, catalog)
    assert changes(before, all_rows(lab.engine)) == {}


def test_several_collectors_start_at_once(lab: Lab) -> None:
    for catalog in (AUTOGROW, HIERARCHICAL):
        at_once(*[lambda catalog=catalog: configure(lab, catalog) for _ in range(4)])
    assert domain_quotas(lab) == {"germany": 124, "france": 0}
    assert [row[:4] for row in history(lab)] == [("", "cores", 150, 124)]


def test_a_resource_without_quota_never_grows(make_lab: Callable[..., Lab]) -> None:
    lab = make_lab(catalog_options={"distributions": distributions(pattern="compute/gpus")})
    lab.discover()
    lab.scrape_all()
    assert due_at(lab, "gpus") is None
    assert lab.distribute_all() == 0


def test_a_resource_that_left_the_configuration_keeps_its_model(lab: Lab) -> None:
    configure(lab, AUTOGROW)
    before = all_rows(lab.engine)
    configure(lab, Catalog(ZONES, [VOLUME]))
    assert changes(before, all_rows(lab.engine)) == {}


def test_domain_quota_means_nothing(lab: Lab) -> None:
    """It is below the sum of the projects' quota, and does not fulfil its constraint."""
    lab.execute("UPDATE domain_resources SET quota = 3")
    constraints = ConstraintSet(domains={"germany": {("compute", "cores"): Constraint(minimum=500)}})

    def overcommitted() -> list[str]:
        report = find_inconsistencies(lab.limes, select(lab.catalog))
        return ["/".join(ref) for ref, _ in report.overcommitted]

    def check() -> None:
        check_consistency(structs.replace(lab.limes, constraints=constraints))

    assert overcommitted() == ["compute/cores"]
    configure(lab, AUTOGROW)
    assert overcommitted() == []
    check()
    assert domain_quotas(lab)["germany"] == 3
