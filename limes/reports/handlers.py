"""Reports of the cluster, domains and projects."""

from collections.abc import Generator, Iterable
from contextlib import closing

from limes.api import parameters, preconditions
from limes.api.call import Call
from limes.api.parameters import MAX_LIMIT, Flag, Header, Moment, Names, Text, WholeNumber
from limes.catalog.catalog import Page, Ref, Selection
from limes.kernel.validation.shape import stored
from limes.labels import rules as labels
from limes.projects.scope import find
from limes.reports import (
    attention,
    attention_answers,
    change_answers,
    change_queries,
    changes,
    cluster,
    cluster_answers,
    explain,
    explanation,
    inconsistencies,
    projects,
    resources,
)
from limes.reports import project_answers as answers
from limes.reports.project_renderer import ProjectRenderer
from limes.web.call import Answer, BodyStream
from limes.web.encoding import CSV, dump_part, prefers_csv, write_csv_row

ABOVE = WholeNumber("above", "Only where more than this percentage of the quota is used.", 0, 1000, 80)
FULLEST = WholeNumber("limit", "Maximum number of results, fullest first.", 1, MAX_LIMIT, 100)
EXPIRING = WholeNumber("limit", "Maximum number of results, the first to end first.", 1, MAX_LIMIT, 100)
ALERTS = WholeNumber("limit", "Maximum number of results, critical ones first.", 1, MAX_LIMIT, 100)

LABEL = Names("label", "Only projects with this label: `key` or `key:value`. If repeated, projects have all of them.")
DETAIL = Flag("detail", "Show subresources and subcapacities, too.")
FIELDS = Names(
    "fields", "Only these of the optional fields of projects, services and resources. If repeated, all of them."
)
PREVIEW = Header("X-Limes-V2-API-Preview", "With `per-az`, resources have a breakdown by availability zone.")


def render_context(call: Call) -> resources.RenderContext:
    per_az = "per-az" in (PREVIEW.of(call.req) or "")
    detail = DETAIL.of(call.req)
    stale_after = call.limes.settings.collector.stale_after
    return resources.RenderContext(
        call.catalog, call.limes.now(), detail=detail, per_az=per_az, stale_after=stale_after
    )


def show(call: Call) -> Answer:
    """Shows capacity, quota and usage. Subcapacities are left out silently for those who may not see them."""
    sees_all = call.allows("cluster:show")
    if not sees_all:
        call.require("cluster:show_basic")

    def may_see_subcapacities(ref: Ref) -> bool:
        return sees_all or call.allows("cluster:show_subcapacity", service=ref[0], resource=ref[1])

    context = render_context(call)
    report = cluster.report_cluster(call.limes, call.selection(), per_az_at=context.commitments_at)
    return Answer(document=cluster_answers.render_cluster(context, report, may_see_subcapacities))


def list_resources(call: Call) -> Answer:
    """Lists services and resources: names, units, and what commitments to them can be; and preset sizes of quota."""
    return Answer(
        document=resources.render_resources(render_context(call), call.selection(), call.limes.quota_sets.values())
    )


def list_inconsistencies(call: Call) -> Answer:
    """Lists quotas that contradict themselves, usage, or the backends."""
    report = inconsistencies.find_inconsistencies(call.limes, call.selection())
    return Answer(document=cluster_answers.render_inconsistencies(call.catalog, report))


def list_scrape_errors(call: Call) -> Answer:
    """Lists scrapes that fail, grouped by service type and message."""
    groups = inconsistencies.find_scrape_errors(call.limes, call.selection())
    return Answer(document=cluster_answers.render_scrape_errors(groups))


def list_context(call: Call) -> resources.RenderContext:
    """As `render_context`, with the fields that lists show. Raises `BadRequest` for others."""
    context, wanted = render_context(call), FIELDS.of(call.req)
    if wanted is not None:
        context.fields = frozenset(wanted)
        if unknown := context.fields - answers.OPTIONAL_FIELDS:
            raise FIELDS.refuse(f"one of {', '.join(sorted(answers.OPTIONAL_FIELDS))}, not {min(unknown)!r}")
    return context


def list_domains(call: Call) -> Answer:
    """Lists all domains, or a page of them."""
    page, context = call.page(), list_context(call)
    reports = cluster.report_domains(call.limes, call.selection(), page, per_az_at=context.commitments_at)
    links = call.next_page(page, [report.domain.uuid for report in reports])
    domains = [answers.render_domain(context, report) for report in reports]
    return Answer(document=answers.DomainsAnswer(domains=domains, domains_links=links))


def show_domain(call: Call) -> Answer:
    """Shows a domain."""
    context = render_context(call)
    report = cluster.report_domain(
        call.limes, call.params["domain_id"], call.selection(), per_az_at=context.commitments_at
    )
    render = answers.render_domain
    return preconditions.answer_tagged(
        call.req, report.tag, lambda: answers.DomainAnswer(domain=render(context, report))
    )


def list_of_domain(call: Call) -> Answer:
    """Lists the projects of a domain, or a page of them."""
    context, selection, page = list_context(call), call.selection(), call.page()
    report = projects.report_projects_of_domain(
        call.limes, call.params["domain_id"], _details(context, selection), page, _wanted_labels(call)
    )
    return _answer_list(call, page, report, ProjectRenderer(context, selection).render(report))


def _answer_list(call: Call, page: Page | None, report: projects.ProjectsReport, blocks: Iterable[bytes]) -> Answer:
    links = call.next_page(page, report.uuids if page else ())
    tail = b"" if links is None else b',"projects_links":' + dump_part(links)
    return Answer(data=b"".join([b'{"projects":[\n', *blocks, b"\n]", tail, b"}\n"]))


def _wanted_labels(call: Call) -> set[labels.Wanted]:
    found = [labels.read_wanted(text) for text in LABEL.of(call.req) or ()]
    wanted = {each for each in found if each is not None}
    if None in found:
        raise LABEL.refuse(f"key or key:value, where a key is {labels.KEY}")
    if len(wanted) > labels.MOST:
        raise LABEL.refuse(f"at most {labels.MOST} different ones")
    return wanted


def list_all(call: Call) -> Answer:
    """Lists the projects of all domains, one a line while they are read, or a page of them."""
    context, selection, page = list_context(call), call.selection(), call.page()
    renderer, details = ProjectRenderer(context, selection), _details(context, selection)
    if page is None:
        return Answer(stream=BodyStream(_parts(renderer, projects.stream_projects(call.limes, details))))
    report = projects.report_page_of_projects(call.limes, details, page)
    return _answer_list(call, page, report, renderer.render(report))


def _details(context: resources.RenderContext, selection: Selection) -> projects.ProjectDetails:
    return projects.ProjectDetails(selection, context.with_azs, context.commitments_at, context.stale_before)


def _parts(renderer: ProjectRenderer, reports: Generator[projects.ProjectsReport]) -> Generator[bytes]:
    with closing(reports):
        head, separator = b'{"projects":[', b"\n"
        for report in reports:
            yield b"".join([head, separator, *renderer.render(report)])
            head, separator = b"", b",\n"
        yield head + b"\n]}\n"


def show_project(call: Call) -> Answer:
    """Shows a project."""
    context, selection = render_context(call), call.selection()
    report = projects.report_project(
        call.limes, call.params["domain_id"], call.params["project_id"], _details(context, selection)
    )
    renderer = ProjectRenderer(context, selection)
    return preconditions.answer_tagged(
        call.req, report.tag, lambda: answers.ProjectAnswer(project=stored(next(renderer.render(report))))
    )


def show_scrape_status(call: Call) -> Answer:
    """Shows how scrapes of backends and capacitors go, with the errors of capacitors, and how old figures are."""
    services, capacitors = attention.read_scrape_status(call.limes, call.place)
    shown = None if call.place.domain_uuid else capacitors
    return Answer(document=attention_answers.render_scrape_status(render_context(call), services, shown))


def list_fullest(call: Call) -> Answer:
    """Lists resources of all projects near or beyond their quota, the fullest first."""
    above, limit = ABOVE.of(call.req), FULLEST.of(call.req)
    return Answer(
        document=attention_answers.render_fullest(
            *attention.find_fullest(call.limes, call.place, call.selection(), above, limit)
        )
    )


def list_expiring(call: Call) -> Answer:
    """Lists confirmed commitments of all projects that end within `?days` and were not renewed, by their end."""
    days, limit = parameters.AHEAD.of(call.req), EXPIRING.of(call.req)
    return Answer(
        document=attention_answers.render_ending(
            *attention.find_ending(call.limes, call.place, call.selection(), days, limit)
        )
    )


def list_alerts(call: Call) -> Answer:
    """Lists what is near its limit, ends soon or fails, in all projects. The critical alerts come first."""
    found = attention.find_alerts(call.limes, call.place, call.selection(), ALERTS.of(call.req))
    return Answer(document=attention_answers.render_alerts(*found))


def explain_project_quotas(call: Call) -> Answer:
    """Says what made a project's quotas what they are, and within which bounds the caller could set them."""
    return _explain(call, with_growth=bool(parameters.RESOURCE.of(call.req)))


def explain_domain_quotas(call: Call) -> Answer:
    """Says what made a domain's quotas what they are, and within which bounds the caller could set them."""
    return _explain(call)


def _explain(call: Call, *, with_growth: bool = False) -> Answer:
    permissions = call.quota_permissions(call.selection().refs)
    explanations = explain.explain_quotas(call.limes, call.place, permissions, with_growth=with_growth)
    with_origin = call.allows(f"{call.level}:show_history")
    shown = [explanation.render_explanation(call.catalog, each, with_origin=with_origin) for each in explanations]
    return Answer(document=explanation.ExplanationsAnswer(explanations=shown))


# -- changes -----------------------------------------------------------------------------------------------------------

CHANGES_SINCE = Moment("from", "Only changes at this time or later.")
CHANGES_UNTIL = Moment("until", "Only changes before this time.")
PERSON = Text("person", "Only changes that this user has made: the id, or the name at that time.")
KIND = Names("kind", f"Only changes of these kinds: {', '.join(changes.KINDS)}.")
CAUSE = Names("cause", f"Only changes for these reasons: {', '.join(changes.CAUSES)}. `automatic`: all but `request`.")
CHANGED_DOMAINS = Names("domain_id", "Only changes in these domains.")
CHANGED_PROJECTS = Names("project_id", "Only changes in these projects.")
CHANGES = WholeNumber("limit", "Maximum number of changes.", 1, 1000, 100)
CHANGE_MARKER = Text("marker", "Only changes that come after the one of this `id` in the list.")
QUOTA_CHANGES = WholeNumber("limit", "Maximum number of changes.", 1, MAX_LIMIT, 100)
QUOTA_CHANGE_MARKER = WholeNumber("marker", "Only changes before the one of this number.", 1, 2**62, 2**62)


def list_changes(call: Call) -> Answer:
    """Lists who or what changed quotas, bursting, commitments and requests, the newest first, as JSON or CSV."""
    call.refuse_unknown_parameters()
    wanted, limit = _wanted_changes(call), CHANGES.of(call.req)
    changes.require_sensible(call.limes, wanted)
    if prefers_csv(call.req.get_header("Accept")):
        if call.place.domain_uuid:
            find(call.engine, call.place)  # once the first part is sent, it is too late for a 404
        parts = changes.stream_changes(call.limes, call.place, wanted)
        return Answer(stream=BodyStream(_csv(call, parts)), media_type=CSV, headers={"vary": "Accept"})
    found = changes.list_changes(call.limes, call.place, wanted, limit)
    shown = [change_answers.render_change(call.catalog, each) for each in found]
    answer = change_answers.ChangesAnswer(
        changes=shown,
        changes_links=call.next_link(shown[-1].id) if len(shown) == limit else [],
        quotas_kept_since=changes.kept_since(call.limes),
    )
    return Answer(document=answer, headers={"vary": "Accept"})


def _wanted_changes(call: Call) -> change_queries.Wanted:
    """Leaves out requests for more quota if the caller may not see them. Raises `Forbidden` if they are asked for."""
    kinds, marker, selection = KIND.of(call.req), CHANGE_MARKER.of(call.req), call.selection()
    shows_requests = call.allows(f"{call.level}:show_requests" if call.place.domain_uuid else "cluster:list_requests")
    if kinds is not None and change_queries.REQUEST in kinds:
        call.require(f"{call.level}:show_requests" if call.place.domain_uuid else "cluster:list_requests")
    return change_queries.Wanted(
        domains=CHANGED_DOMAINS.of(call.req),
        projects=CHANGED_PROJECTS.of(call.req),
        refs=None if selection.is_whole(call.catalog) else selection.refs,
        kinds=kinds if kinds is not None or shows_requests else changes.WITHOUT_REQUESTS,
        causes=CAUSE.of(call.req),
        person=PERSON.of(call.req),
        since=CHANGES_SINCE.of(call.req),
        until=CHANGES_UNTIL.of(call.req),
        before=None if marker is None else change_answers.read_position(marker),
    )


def _csv(call: Call, parts: Generator[list[changes.Change]]) -> Generator[bytes, None, None]:
    with closing(parts):
        yield write_csv_row(change_answers.CSV_HEADER)
        for part in parts:
            rows = (change_answers.csv_cells(change_answers.render_change(call.catalog, each)) for each in part)
            yield b"".join(map(write_csv_row, rows))


def list_project_changes(call: Call) -> Answer:
    """Lists the changes of a project's quotas and of its bursting, the newest first."""
    return _list_quota_changes(call)


def list_domain_changes(call: Call) -> Answer:
    """Lists the changes of a domain's own quotas, the newest first."""
    return _list_quota_changes(call)


def _list_quota_changes(call: Call) -> Answer:
    """Changes of a whole project are shown with any selection. Without one, those of resources that are not configured
    any more are shown, too."""
    limit, before, selection = QUOTA_CHANGES.of(call.req), QUOTA_CHANGE_MARKER.of(call.req), call.selection()
    refs = None if selection.is_whole(call.catalog) else selection.refs
    wanted = change_queries.Wanted(refs=refs, with_whole_project=True)
    found = changes.list_quota_changes(call.limes, call.place, wanted, before, limit)
    links = call.next_link(str(found[-1].number)) if len(found) == limit else []
    history = [change_answers.render_quota_change(call.catalog, change) for change in found]
    return Answer(document=change_answers.HistoryAnswer(history=history, history_links=links))
