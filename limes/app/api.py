"""The Limes API as a WSGI app, made from its collaborators."""

from collections.abc import Container
from typing import Any

import falcon
from msgspec import Struct

from limes.api import call, parameters
from limes.app.routes import ROUTES
from limes.commitments.commitment import DurationError
from limes.kernel.errors import BadRequest
from limes.web import encoding, errors, middleware, operation, operational
from limes.web.middleware import AccessLogMiddleware, AuthMiddleware, RequestIdMiddleware, connection_middleware
from limes.web.operational import MountMiddleware, PublicPaths

_CORS_HEADERS = (
    "Content-Type, User-Agent, X-Auth-Token, X-Limes-Cluster-Id, X-Limes-V2-Api-Preview,"
    f" If-Match, If-None-Match, Idempotency-Key, Transfer-Token, {middleware.HEADER}"
)
_CORS_EXPOSED = f"ETag, X-Openstack-Request-Id, {middleware.HEADER}"
_CORS_METHODS = "HEAD, GET, POST, PUT, DELETE"


class AddressMiddleware(Struct, frozen=True):
    """Refuses paths with impossible ids: empty ones (a trailing slash), and those with NUL, which PostgreSQL lacks; and
    requests to another cluster, which the original could once answer."""

    public: Container[str]

    def process_request(self, req: falcon.Request, resp: falcon.Response) -> None:
        if (req.path.endswith("/") and req.path not in self.public) or "\0" in req.path:
            raise falcon.HTTPNotFound()
        if (parameters.CLUSTER.of(req) or "current") != "current":
            raise BadRequest("multi-cluster support is removed: the X-Limes-Cluster-Id header is not allowed anymore")


class CorsMiddleware(Struct, frozen=True):
    """Lets pages of the allowed origins use the API from a browser. Preflights need no token."""

    allowed_origins: tuple[str, ...]
    without: Container[str]
    """The paths that only pages of our own origin may use."""

    def process_request(self, req: falcon.Request, resp: falcon.Response) -> None:
        if not self.allowed_origins or req.path in self.without:
            return
        resp.append_header("vary", "Origin")
        origin = req.get_header("Origin")
        if origin is None or not ({"*", origin} & set(self.allowed_origins)):
            return
        resp.set_header("access-control-allow-origin", "*" if "*" in self.allowed_origins else origin)
        resp.set_header("access-control-expose-headers", _CORS_EXPOSED)
        if req.method == "OPTIONS" and req.get_header("Access-Control-Request-Method"):
            resp.set_header("access-control-allow-methods", _CORS_METHODS)
            resp.set_header("access-control-allow-headers", _CORS_HEADERS)
            resp.status = falcon.HTTP_204
            resp.complete = True


def create_app(deps: call.ApiCollaborators) -> falcon.App[Any, Any]:
    limes, settings = deps.limes, deps.limes.settings.api
    public = PublicPaths(operation.public_paths(ROUTES) | operational.PUBLIC_PATHS, deps.mounts)
    app: falcon.App[Any, Any] = falcon.App(
        middleware=[
            deps.client_address,
            RequestIdMiddleware(limes.ids),
            AccessLogMiddleware("limes", limes.clock, quiet_paths=operational.PUBLIC_PATHS | {"/"}),
            encoding.CompressionMiddleware(is_on=settings.clients.compression, without=PublicPaths((), deps.mounts)),
            MountMiddleware(deps.mounts),
            CorsMiddleware(settings.cors.allowed_origins, without=PublicPaths((), deps.mounts)),
            AddressMiddleware(public),
            AuthMiddleware(deps.authenticator, public.__contains__, errors.UNAUTHORIZED),
            connection_middleware(limes.engine, "limes", without=public),
        ],
        router=operation.Router(head=True),
    )
    app.req_options.keep_blank_qs_values = True
    # an answer without a body has no type
    app.resp_options.default_media_type = None  # type: ignore[assignment]  # falcon takes None, its types do not
    encoding.install_json(app)
    errors.PlainErrors().install(app)
    app.add_error_handler(
        DurationError, lambda req, resp, error, params: errors.answer_text(resp, 400, f"duration: {error}")
    )
    operational.add_operational_routes(app, limes.engine)
    operation.add_routes(app, call.LimesApi(deps), ROUTES)
    for mount in deps.mounts:
        for path, endpoint in mount.routes:
            app.add_route(path, endpoint)
    return app
