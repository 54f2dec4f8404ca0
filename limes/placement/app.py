"""The Placement API as a WSGI app, made from its collaborators."""

from typing import Any

import falcon

from limes.placement.collaborators import PlacementCollaborators
from limes.placement.error_rendering import PlacementErrors
from limes.placement.middleware import CorsMiddleware, HeadersMiddleware, MicroversionMiddleware, PrefixMiddleware
from limes.placement.operation import PlacementApi
from limes.placement.routes import ROUTES
from limes.web import operational
from limes.web.encoding import CompressionMiddleware, install_json
from limes.web.middleware import AccessLogMiddleware, AuthMiddleware, RequestIdMiddleware, connection_middleware
from limes.web.operation import Router, add_routes, public_paths

_WITHOUT_TOKEN = operational.PUBLIC_PATHS | public_paths(ROUTES)


def create_app(deps: PlacementCollaborators) -> falcon.App[Any, Any]:
    """Returns the app. The database must already have the tables and the standard names (`limes.placement.startup`)."""
    settings = deps.settings
    app: falcon.App[Any, Any] = falcon.App(
        middleware=[
            deps.client_address,
            RequestIdMiddleware(deps.ids),
            AccessLogMiddleware("placement", deps.clock, quiet_paths=operational.PUBLIC_PATHS),
            CompressionMiddleware(is_on=settings.clients.compression),
            PrefixMiddleware(settings.prefix),
            CorsMiddleware(settings.cors),
            # upstream says `no-cache` from 1.15 on, and nothing before: its own test suite compares that
            AuthMiddleware(deps.authenticator, lambda path: path in _WITHOUT_TOKEN, cache_control=None),
            MicroversionMiddleware(),
            HeadersMiddleware(settings.bounds),
            connection_middleware(deps.engine, "placement", without=_WITHOUT_TOKEN),
        ],
        router=Router(),
    )
    app.req_options.keep_blank_qs_values = True
    app.req_options.auto_parse_qs_csv = False
    # an answer without a body has no type
    app.resp_options.default_media_type = None  # type: ignore[assignment]  # falcon takes None, its types do not
    install_json(app)
    PlacementErrors().install(app)
    operational.add_operational_routes(app, deps.engine, get_ready=deps.index.load)
    add_routes(app, PlacementApi(deps), ROUTES)
    return app
