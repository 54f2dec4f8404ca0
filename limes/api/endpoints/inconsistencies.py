"""What a cloud admin has to look after."""

import falcon

from limes.actions.reports import inconsistencies
from limes.api.collaborators import ApiCollaborators
from limes.api.policy import Access
from limes.api.query import answer_json, selection_of
from limes.api.render.inconsistencies import render_inconsistencies, render_scrape_errors


class InconsistenciesEndpoint:
    """`/v1/inconsistencies`."""

    def __init__(self, deps: ApiCollaborators) -> None:
        self._deps = deps

    def on_get(self, req: falcon.Request, resp: falcon.Response) -> None:
        """Lists quotas that contradict themselves, usage, or the backends."""
        Access(self._deps.policy, req, {}).require("cluster:show")
        report = inconsistencies.run(self._deps.engine, self._deps.catalog, selection_of(self._deps, req))
        answer_json(resp, render_inconsistencies(self._deps.catalog, report))


class ScrapeErrorsEndpoint:
    """`/v1/admin/scrape-errors`."""

    def __init__(self, deps: ApiCollaborators) -> None:
        self._deps = deps

    def on_get(self, req: falcon.Request, resp: falcon.Response) -> None:
        """Lists scrapes that fail, grouped by service type and message."""
        Access(self._deps.policy, req, {}).require("cluster:show_errors")
        found = inconsistencies.scrape_errors(self._deps.engine, selection_of(self._deps, req))
        answer_json(resp, render_scrape_errors(found))
