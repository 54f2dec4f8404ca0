"""All projects of the cluster, for exporters."""

from collections.abc import Generator

import falcon

from limes.actions.reports import all_projects
from limes.actions.reports.all_projects import PlacedProject
from limes.api.collaborators import ApiCollaborators
from limes.api.policy import Access
from limes.api.query import answer_json, next_link, page_of, render_context_of, selection_of
from limes.api.render.project import ProjectRenderer
from limes.core.selection import Page
from limes.web.call import BodyStream
from limes.web.json import dump_part

_LINES = 20
"""Projects of a part of the body: enough that sending one is worth it."""


class AllProjectsEndpoint:
    """`/v1/projects`."""

    def __init__(self, deps: ApiCollaborators) -> None:
        self._deps = deps

    def on_get(self, req: falcon.Request, resp: falcon.Response) -> None:
        """Lists the projects of all domains, one a line while they are read, or a page of them."""
        Access(self._deps.policy, req, {}).require("cluster:list_projects")
        page = page_of(req)
        if page is not None:
            self._answer_page(req, resp, page)
            return
        context, selection = render_context_of(self._deps, req), selection_of(self._deps, req)
        projects = all_projects.stream(
            self._deps.engine,
            self._deps.catalog,
            selection,
            with_azs=context.with_azs,
            commitments_at=context.commitments_at,
            stale_before=context.stale_before,
        )
        resp.content_type = falcon.MEDIA_JSON
        resp.stream = BodyStream(_parts(ProjectRenderer(context, selection), projects))

    def _answer_page(self, req: falcon.Request, resp: falcon.Response, page: Page) -> None:
        context, selection = render_context_of(self._deps, req), selection_of(self._deps, req)
        projects = all_projects.run_page(
            self._deps.engine,
            self._deps.catalog,
            selection,
            page,
            with_azs=context.with_azs,
            commitments_at=context.commitments_at,
            stale_before=context.stale_before,
        )
        renderer = ProjectRenderer(context, selection)
        documents = [renderer.render_placed(project) for project in projects]
        links = next_link(req, page, [project.report.project.uuid for project in projects])
        answer_json(resp, {"projects": documents, "projects_links": links})


def _parts(renderer: ProjectRenderer, projects: Generator[PlacedProject, None, None]) -> Generator[bytes, None, None]:
    try:
        lines = [b'{"projects":[']
        separator = b"\n"
        for project in projects:
            lines += [separator, dump_part(renderer.render_placed(project))]
            separator = b",\n"
            if len(lines) > 2 * _LINES:
                yield b"".join(lines)
                lines = []
        yield b"".join([*lines, b"\n]}\n"])
    finally:
        projects.close()
