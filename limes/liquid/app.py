"""The LIQUID protocol as a WSGI app, made from its collaborators."""

from typing import Any

import falcon

from limes.liquid.handlers import LiquidApi, LiquidCollaborators
from limes.liquid.routes import ROUTES
from limes.web.compression import CompressionMiddleware
from limes.web.errors import UNAUTHORIZED, PlainErrors
from limes.web.json import install_json
from limes.web.middleware import AccessLogMiddleware, AuthMiddleware, RequestIdMiddleware
from limes.web.operation import Router, add_routes
from limes.web.operational import PUBLIC_PATHS, MetricsEndpoint


class HealthcheckEndpoint:
    """Always 200 `ok`: the process depends on nothing that could be lost."""

    def on_get(self, req: falcon.Request, resp: falcon.Response) -> None:
        resp.content_type = "text/plain; charset=utf-8"
        resp.text = "ok\n"


def create_app(deps: LiquidCollaborators) -> falcon.App[Any, Any]:
    """Returns the app. It holds no state but its collaborators."""
    app: falcon.App[Any, Any] = falcon.App(
        middleware=[
            deps.client_address,
            RequestIdMiddleware(deps.ids),
            AccessLogMiddleware("liquid", deps.clock, quiet_paths=PUBLIC_PATHS),
            CompressionMiddleware(is_on=deps.compression),
            AuthMiddleware(deps.authenticator, lambda path: path in PUBLIC_PATHS, UNAUTHORIZED),
        ],
        router=Router(head=True),
    )
    install_json(app)
    PlainErrors().install(app)
    app.add_route("/healthcheck", HealthcheckEndpoint())
    app.add_route("/metrics", MetricsEndpoint())
    add_routes(app, LiquidApi(deps), ROUTES)
    return app
