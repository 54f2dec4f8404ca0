"""Quota overrides that are ineffective because of what is in the database."""

from collections.abc import Iterator

from limes.actions.context import open_limes
from limes.actions.reports.ineffective_overrides import IneffectiveOverride, Reason, find_ineffective
from limes.composition.cluster import build_cluster
from limes.composition.identity import open_cloud
from limes.core.catalog import Catalog
from limes.db.engine import Engine
from limes.doctor.finding import Context, Finding, ok, warning
from limes.errors import LimesError

_SHOWN = 10


def check_overrides(name: str, context: Context, engine: Engine) -> Iterator[Finding]:
    """Looks at the overrides of resources whose quota grows by itself; the check of the configuration names the others.
    `name` begins the findings' names."""
    settings = context.settings
    if settings.quota_overrides_path is None:
        return
    try:
        cluster = build_cluster(settings, open_cloud(settings))
    except LimesError:
        return  # the check of the configuration says why
    limes = open_limes(cluster, engine, settings, clock=context.clock)
    overrides = limes.overrides()
    found = find_ineffective(limes, overrides)
    ineffective = [each for each in found if each.reason is not Reason.NOT_AUTOGROW]
    for each in ineffective[:_SHOWN]:
        yield _finding(f"{name}.overrides", each, cluster.catalog)
    if len(ineffective) > _SHOWN:
        text = f"{len(ineffective) - _SHOWN} more quota overrides have no effect"
        yield warning(f"{name}.overrides", text, "correct the others first")
    if not ineffective:
        yield ok(f"{name}.overrides", f"quota overrides: {len(overrides)}, all for projects that exist")


def _finding(check: str, found: IneffectiveOverride, catalog: Catalog) -> Finding:
    override = found.override
    text = f"quota override {override.domain}/{override.project}: {'/'.join(override.ref)}"
    if found.reason is Reason.NO_PROJECT:
        project = f"there is no project {override.project!r} in a domain {override.domain!r}"
        return warning(check, f"{text}: {project}", "correct the names, or remove the entry")
    resource = catalog.find(override.ref)
    assert resource is not None
    show = resource.unit.render
    text = f"{text} {show(override.quota)}: usage and commitments need {show(found.needed)}, so quota is that"
    return warning(check, text, "raise the override, or wait until the project needs less")
