"""The LIQUID protocol as a WSGI app: its routes, and its policy rules by the names that liquids use."""

from typing import Any

import falcon

from limes.app.liquid import handlers
from limes.app.liquid.handlers import LiquidApi, LiquidCollaborators
from limes.auth.policy import Rule
from limes.web import encoding, errors, middleware, operational
from limes.web.operation import Operation, Router, add_routes, document_rules

ROUTES = {
    "/v1/info": {"GET": Operation(handlers.show_info, "liquid:get_info")},
    "/v1/report-capacity": {"POST": Operation(handlers.report_capacity, "liquid:get_capacity")},
    "/v1/projects/{project_id}/report-usage": {"POST": Operation(handlers.report_usage, "liquid:get_usage")},
    "/v1/projects/{project_id}/quota": {"PUT": Operation(handlers.set_quota, "liquid:set_quota")},
}

_RULES = (
    Rule("quota_manager", "role:service or role:cloud_resource_admin", "The quota manager, such as Limes itself."),
    Rule("liquid:get_info", "rule:quota_manager", "See the resources."),
    Rule("liquid:get_capacity", "rule:quota_manager", "See capacity."),
    Rule("liquid:get_usage", "rule:quota_manager", "See a project's usage."),
    Rule("liquid:set_quota", "rule:quota_manager", "Set a project's quota."),
)
RULES = document_rules(_RULES, ROUTES)


class HealthcheckEndpoint:
    """Always 200 `ok`: the process depends on nothing that could be lost."""

    def on_get(self, req: falcon.Request, resp: falcon.Response) -> None:
        resp.content_type = "text/plain; charset=utf-8"
        resp.text = "ok\n"


def create_app(deps: LiquidCollaborators) -> falcon.App[Any, Any]:
    app: falcon.App[Any, Any] = falcon.App(
        middleware=[
            deps.client_address,
            middleware.RequestIdMiddleware(deps.ids),
            middleware.AccessLogMiddleware("liquid", deps.clock, quiet_paths=operational.PUBLIC_PATHS),
            encoding.CompressionMiddleware(is_on=deps.compression),
            middleware.AuthMiddleware(
                deps.authenticator, lambda path: path in operational.PUBLIC_PATHS, errors.UNAUTHORIZED
            ),
        ],
        router=Router(head=True),
    )
    encoding.install_json(app)
    errors.PlainErrors().install(app)
    app.add_route("/healthcheck", HealthcheckEndpoint())
    app.add_route("/metrics", operational.MetricsEndpoint())
    add_routes(app, LiquidApi(deps), ROUTES)
    return app
