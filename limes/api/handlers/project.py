"""Projects: reports of a domain's and of all, their discovery, and scrapes on demand."""

from collections.abc import Generator

from limes.actions.reports import all_projects
from limes.actions.reports import projects as project_reports
from limes.actions.reports.all_projects import PlacedProject
from limes.api.call import Call
from limes.api.preconditions import answer_tagged
from limes.api.render.project import ProjectRenderer
from limes.core.selection import Page
from limes.web.call import Answer, BodyStream
from limes.web.json import dump_items, dump_part

_PROJECTS_A_PART = 20
"""Of a body that is streamed: enough that sending a part is worth it."""


def list_of_domain(call: Call) -> Answer:
    """Lists the projects of a domain, or a page of them."""
    context, selection, page = call.render_context(), call.selection(), call.page()
    reports = project_reports.run_all(
        call.engine,
        call.catalog,
        selection,
        call.params["domain_id"],
        with_azs=context.with_azs,
        commitments_at=context.commitments_at,
        stale_before=context.stale_before,
        page=page,
    )
    renderer = ProjectRenderer(context, selection)
    parts = dump_items(renderer.render(report) for report in reports)
    links = call.next_page(page, [report.project.uuid for report in reports])
    tail = b"" if links is None else b',"projects_links":' + dump_part(links)
    return Answer(data=b"".join([b'{"projects":[', *parts, b"]", tail, b"}\n"]))


def list_all(call: Call) -> Answer:
    """Lists the projects of all domains, one a line while they are read, or a page of them."""
    page = call.page()
    if page is not None:
        return _answer_page(call, page)
    context, selection = call.render_context(), call.selection()
    projects = all_projects.stream(
        call.engine,
        call.catalog,
        selection,
        with_azs=context.with_azs,
        commitments_at=context.commitments_at,
        stale_before=context.stale_before,
    )
    return Answer(stream=BodyStream(_parts(ProjectRenderer(context, selection), projects)))


def _answer_page(call: Call, page: Page) -> Answer:
    context, selection = call.render_context(), call.selection()
    projects = all_projects.run_page(
        call.engine,
        call.catalog,
        selection,
        page,
        with_azs=context.with_azs,
        commitments_at=context.commitments_at,
        stale_before=context.stale_before,
    )
    renderer = ProjectRenderer(context, selection)
    documents = [renderer.render_placed(project) for project in projects]
    links = call.next_page(page, [project.report.project.uuid for project in projects])
    return Answer(document={"projects": documents, "projects_links": links})


def _parts(renderer: ProjectRenderer, projects: Generator[PlacedProject, None, None]) -> Generator[bytes, None, None]:
    try:
        lines = [b'{"projects":[']
        separator = b"\n"
        for project in projects:
            lines += [separator, dump_part(renderer.render_placed(project))]
            separator = b",\n"
            if len(lines) > 2 * _PROJECTS_A_PART:
                yield b"".join(lines)
                lines = []
        yield b"".join([*lines, b"\n]}\n"])
    finally:
        projects.close()


def show(call: Call) -> Answer:
    """Shows a project."""
    context, selection = call.render_context(), call.selection()
    report = project_reports.run_one(
        call.engine,
        call.catalog,
        selection,
        call.params["domain_id"],
        call.params["project_id"],
        with_azs=context.with_azs,
        commitments_at=context.commitments_at,
        stale_before=context.stale_before,
    )
    renderer = ProjectRenderer(context, selection)
    return answer_tagged(call.req, report.tag, lambda: {"project": renderer.render(report)})


def discover(call: Call) -> Answer:
    """Looks for new projects in Keystone: 204 if there are none, else 202 and their ids."""
    uuids = call.deps.discover_projects(call.params["domain_id"], call.initiator())
    return Answer(202, {"new_projects": [{"id": uuid} for uuid in uuids]}) if uuids else Answer(204)


def sync(call: Call) -> Answer:
    """Asks for a scrape as soon as possible: 202 without a body."""
    call.deps.request_sync(call.params["domain_id"], call.params["project_id"], call.initiator())
    return Answer(202)
