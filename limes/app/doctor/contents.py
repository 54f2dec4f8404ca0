"""What is in the Limes half's database: whether it fits the configuration, and whether kept sums are right."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from limes.app.composition.cluster import build_cluster
from limes.app.context import Limes, open_limes
from limes.app.doctor.finding import Context, Finding, counted, ok, problem, warning
from limes.catalog.catalog import Catalog
from limes.collector import sync_catalog as catalogs
from limes.commitments.rules import az_aware_refs
from limes.db.engine import Engine
from limes.kernel.errors import LimesError
from limes.projects.queries import project_scopes
from limes.reports.inconsistencies import Reason, find_ineffective
from limes.usage.project_sums import unplaced_usage
from limes.usage.sum_upkeep import disabled_triggers, wrong_sums
from limes.usage.sums import are_kept

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
        cluster = build_cluster(context.settings)
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
        comparison = catalogs.compare_catalog(limes)
    except LimesError:
        return  # the other checks say why
    findings = []
    for service in (*comparison.services, *comparison.missing):
        if service.projects or service.commitments:
            text = f"service {service.type} is not configured any more: {_describe_service(service)}"
            findings.append(warning(name, f"{text}; kept until {_say_moment(service.deleted_at)}", _GRACE))
    for resource in comparison.resources:
        if any(resource.holdings):
            text = f"not configured any more, and hidden: {_describe_resource(resource)}"
            findings.append(warning(name, text, _PUT_BACK))
    for zone in comparison.availability_zones:
        if any(zone.holdings):
            text = f"not configured any more: {_describe_zone(zone)}; its usage counts for the zone unknown"
            findings.append(warning(name, text, _PUT_BACK))
    yield from findings or [ok(name, "the configuration has all that the database has")]


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
        override = each.override
        text = f"quota override {override.domain}/{override.project}: {'/'.join(override.ref)}"
        if each.reason is Reason.NO_PROJECT:
            project = f"there is no project {override.project!r} in a domain {override.domain!r}"
            yield warning(name, f"{text}: {project}", "correct the names, or remove the entry")
            continue
        resource = limes.catalog.find(override.ref)
        assert resource is not None
        show = resource.unit.render
        text += f" {show(override.quota)}: usage and commitments need {show(each.needed)}, so quota is that"
        yield warning(name, text, "raise the override, or wait until the project needs less")
    if len(ineffective) > _SHOWN_OVERRIDES:
        text = f"{len(ineffective) - _SHOWN_OVERRIDES} more quota overrides have no effect"
        yield warning(name, text, "correct the others first")
    if not ineffective:
        yield ok(name, f"quota overrides: {len(overrides)}, all for projects that exist")


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


def lines_of(comparison: catalogs.Comparison, changed: Sequence[catalogs.ChangedModel]) -> Iterator[str]:
    """Yields what the configuration drops, and the distribution models that it changes."""
    drops = comparison.drops_anything
    yield "It drops what is in the database:" if drops else "It drops nothing that is in the database."
    for service in comparison.services:
        yield from _service(service, "", "hidden at once; kept")
    for resource in comparison.resources:
        yield _describe_resource(resource)
        yield "  hidden at once; kept, and back with the resource"
    for zone in comparison.availability_zones:
        yield _describe_zone(zone)
        yield '  usage and capacity go to the zone "unknown" with the next scrapes; commitments stay until they end'
    for service in comparison.missing:
        yield from _service(service, "Missing already: ", "kept")
    for one in changed:
        resource = catalogs.DroppedResource(one.ref, one.holdings)
        yield f"It changes the model of a resource from {one.before} to {one.after}: {_describe_resource(resource)}"
        if one.after == "autogrow":
            yield "  its quotas stay until the first computation; then they follow usage and commitments"
        else:
            yield "  the quotas of projects stay, and each domain gets their sum as its quota"


def _service(service: catalogs.DroppedService, before: str, fate: str) -> Iterator[str]:
    yield f"{before}service {service.type}: {_describe_service(service)}"
    yield from (f"  {_describe_resource(resource)}" for resource in service.resources if any(resource.holdings))
    yield f"  {fate}, and back with the service, at least until {_say_moment(service.deleted_at)}"


def _describe_zone(zone: catalogs.DroppedZone) -> str:
    holdings = zone.holdings
    return (
        f"availability zone {zone.name}: used by {counted(holdings.projects, 'project')},"
        f" capacity of {counted(holdings.resources, 'resource')}, {counted(holdings.commitments, 'commitment')}"
    )


def _describe_service(service: catalogs.DroppedService) -> str:
    have = "has" if service.projects == 1 else "have"
    projects, commitments = counted(service.projects, "project"), counted(service.commitments, "commitment")
    return f"{projects} {have} quota or usage, {commitments}"


def _describe_resource(resource: catalogs.DroppedResource) -> str:
    holdings = resource.holdings
    projects, commitments = counted(holdings.projects, "project"), counted(holdings.commitments, "commitment")
    return (
        f"resource {'/'.join(resource.ref)}: quota of domains {holdings.domains_quota},"
        f" of {projects} {holdings.projects_quota}, usage {holdings.usage}, {commitments} of {holdings.committed}"
    )


def _say_moment(time: float) -> str:
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d %H:%M UTC")
