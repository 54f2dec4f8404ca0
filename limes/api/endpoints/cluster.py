"""The cluster level."""

import falcon

from limes.actions.reports import cluster as report_cluster
from limes.api.collaborators import ApiCollaborators
from limes.api.policy import Access
from limes.api.query import answer_json, render_context_of, selection_of
from limes.api.render.cluster import render_cluster
from limes.core.catalog import Ref


class ClusterEndpoint:
    """`/v1/clusters/current`."""

    def __init__(self, deps: ApiCollaborators) -> None:
        self._deps = deps

    def on_get(self, req: falcon.Request, resp: falcon.Response) -> None:
        """Shows capacity, quota and usage. Subcapacities are left out silently for those who may not see them."""
        access = Access(self._deps.policy, req, {})
        sees_all = access.allows("cluster:show")
        if not sees_all:
            access.require("cluster:show_basic")

        def may_see_subcapacities(ref: Ref) -> bool:
            return sees_all or access.allows("cluster:show_subcapacity", service=ref[0], resource=ref[1])

        context = render_context_of(self._deps, req)
        report = report_cluster.run(
            self._deps.engine, self._deps.catalog, selection_of(self._deps, req), per_az_at=context.commitments_at
        )
        answer_json(resp, render_cluster(context, report, may_see_subcapacities))
