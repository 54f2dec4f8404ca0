"""What is in the Limes half's database: whether it fits the configuration, and whether kept sums are right."""

from collections.abc import Iterator

from limes.actions.compare_catalog import Comparison, compare_catalog
from limes.actions.context import Limes, open_limes
from limes.actions.reports.ineffective_overrides import IneffectiveOverride, Reason, find_ineffective
from limes.composition.cluster import build_cluster
from limes.composition.dropped import describe_resource, describe_service, describe_zone, say_moment
from limes.composition.identity import open_cloud
from limes.core.catalog import Catalog
from limes.core.commitments.rules import az_aware_refs
from limes.db.engine import Engine
from limes.db.queries.kept_sums import are_kept
from limes.db.queries.project_sums import unplaced_usage
from limes.db.queries.projects import project_scopes
from limes.db.queries.sum_upkeep import disabled_triggers, wrong_sums
from limes.doctor.finding import Context, Finding, ok, problem, warning
from limes.errors import LimesError

_GRACE = "put it back under services; if it is to go, do nothing: it is deleted after that (collector.service_grace)"
_PUT_BACK = "put it back into the configuration; if it is to go, do nothing"
_REBUILD = "limes db rebuild-sums"
_REPORT_ZONES = (
    "let the backend report usage by zone (docs/adr/0014), or set commitment_is_az_aware: false for the resource"
)
_SHOWN_SUMS, _SHOWN_OVERRIDES = 3, 10


def check_contents(name: str, context: Context, engine: Engine) -> Iterator[Finding]:
    """All checks; `name` begins the findings' names. Those that need the configuration are left out where it is
    wrong: the check of the configuration says why."""
    try:
        cluster = build_cluster(context.settings, open_cloud(context.settings))
        limes = open_limes(cluster, engine, context.settings, clock=context.clock)
    except LimesError:
        limes = None
    if limes is not None:
        yield from _zones(f"{name}.zones", engine, limes.catalog)
        yield from _catalog(f"{name}.catalog", limes)
    yield from _sums(f"{name}.sums", context, engine)
    if limes is not None and context.settings.quota_overrides_path is not None:
        yield from _overrides(f"{name}.overrides", limes)
    yield from _approvals(f"{name}.auto_approval", context, engine)


def _zones(name: str, engine: Engine, catalog: Catalog) -> Iterator[Finding]:
    """What is used in unknown zones. It is never sold, so that less can be committed to than there is room."""
    wanted = set(az_aware_refs(catalog))
    for ref, (usage, projects) in sorted(unplaced_usage(engine).items()):
        resource = catalog.find(ref)
        if ref in wanted and resource is not None:
            used = f"{resource.unit.render(usage)} of {'/'.join(ref)} used in unknown zones"
            text = f"{used} (projects: {projects}); commitments are for one zone, so this much is never sold"
            yield warning(name, text, _REPORT_ZONES)


def _catalog(name: str, limes: Limes) -> Iterator[Finding]:
    """What is not configured any more: removed, or lost by mistake. What holds nothing is not worth a word."""
    try:
        comparison = compare_catalog(limes)
    except LimesError:
        return  # the other checks say why
    findings = list(_missing(name, comparison))
    yield from findings or [ok(name, "the configuration has all that the database has")]


def _missing(name: str, comparison: Comparison) -> Iterator[Finding]:
    for service in (*comparison.services, *comparison.missing):
        if service.projects or service.commitments:
            until = say_moment(service.deleted_at)
            text = f"service {service.type} is not configured any more: {describe_service(service)}; kept until {until}"
            yield warning(name, text, _GRACE)
    for resource in comparison.resources:
        if any(resource.holdings):
            yield warning(name, f"not configured any more, and hidden: {describe_resource(resource)}", _PUT_BACK)
    for zone in comparison.availability_zones:
        if any(zone.holdings):
            text = f"not configured any more: {describe_zone(zone)}; its usage counts for the zone unknown"
            yield warning(name, text, _PUT_BACK)


def _sums(name: str, context: Context, engine: Engine) -> Iterator[Finding]:
    """Adds up the rows of all projects, and compares with the sums that PostgreSQL keeps (docs/adr/0024)."""
    if not are_kept(engine):
        return
    off = disabled_triggers(engine)
    if off:
        text = f"triggers that keep the sums over projects are disabled: {', '.join(off)}"
        yield problem(name, text, f"ALTER TABLE ... ENABLE TRIGGER ALL for these tables, and then {_REBUILD}")
    wrong = wrong_sums(engine, context.now())
    if wrong:
        shown = "; ".join(f"{each.what} {each.key}: {each.kept}, not {each.computed}" for each in wrong[:_SHOWN_SUMS])
        text = f"{len(wrong)} kept sums over projects are wrong, so that reports and room for commitments are: {shown}"
        yield problem(name, text, _REBUILD)
    elif not off:
        yield ok(name, "the kept sums over projects are what their rows add up to")


def _overrides(name: str, limes: Limes) -> Iterator[Finding]:
    """Quota overrides without effect, of resources whose quota grows by itself; the check of the configuration names
    the others."""
    overrides = limes.overrides()
    ineffective = [each for each in find_ineffective(limes, overrides) if each.reason is not Reason.NOT_AUTOGROW]
    for each in ineffective[:_SHOWN_OVERRIDES]:
        yield _without_effect(name, each, limes.catalog)
    if len(ineffective) > _SHOWN_OVERRIDES:
        text = f"{len(ineffective) - _SHOWN_OVERRIDES} more quota overrides have no effect"
        yield warning(name, text, "correct the others first")
    if not ineffective:
        yield ok(name, f"quota overrides: {len(overrides)}, all for projects that exist")


def _without_effect(name: str, found: IneffectiveOverride, catalog: Catalog) -> Finding:
    override = found.override
    text = f"quota override {override.domain}/{override.project}: {'/'.join(override.ref)}"
    if found.reason is Reason.NO_PROJECT:
        project = f"there is no project {override.project!r} in a domain {override.domain!r}"
        return warning(name, f"{text}: {project}", "correct the names, or remove the entry")
    resource = catalog.find(override.ref)
    assert resource is not None
    show = resource.unit.render
    text = f"{text} {show(override.quota)}: usage and commitments need {show(found.needed)}, so quota is that"
    return warning(name, text, "raise the override, or wait until the project needs less")


def _approvals(name: str, context: Context, engine: Engine) -> Iterator[Finding]:
    """Rules that approve requests for quota, and whose `scope` matches no project; the check of the configuration
    names the other rules without effect."""
    rules = context.settings.quota_requests.auto_approval
    patterns = [(rule.name, rule.scope) for rule in rules if rule.scope is not None]
    scopes = engine.snapshot(lambda: project_scopes(engine)) if patterns else []
    if not scopes:
        return  # nothing to check, or nothing was discovered yet
    useless = [(rule, scope) for rule, scope in patterns if not any(map(scope.fullmatch, scopes))]
    for rule, scope in useless:
        text = f"quota_requests.auto_approval: the scope {scope.pattern!r} of the rule {rule} matches no project"
        yield warning(name, text, f"it has to match the whole of domain/project, such as {scopes[0]!r}")
    if not useless:
        yield ok(name, "rules that approve requests: each scope matches a project")
