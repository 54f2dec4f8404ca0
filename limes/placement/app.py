"""The Placement API as a WSGI app, and what happens before a request is routed: mount point, CORS, microversion, and a
first check of the headers."""

from typing import Any

import falcon

from limes.kernel.errors import BadRequest
from limes.placement import call, errors, operation, routes
from limes.placement import operation as microversion
from limes.placement.settings import PlacementBounds, PlacementCorsSettings
from limes.web import encoding, middleware, operational
from limes.web.operation import Router, add_routes, public_paths

_SIMPLE_HEADERS = {"accept", "accept-language", "content-type", "cache-control", "content-language", "expires",
                   "last-modified", "pragma"}  # fmt: skip
_WITHOUT_TOKEN = operational.PUBLIC_PATHS | public_paths(routes.ROUTES)


class PrefixMiddleware:
    """Removes the configured prefix from paths that have it."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix

    def process_request(self, req: falcon.Request, resp: falcon.Response) -> None:
        if self._prefix and (req.path == self._prefix or req.path.startswith(self._prefix + "/")):
            req.path = req.path[len(self._prefix) :] or "/"


class CorsMiddleware:
    """Lets pages of the allowed origins use the API from a browser. Preflights need no token."""

    def __init__(self, settings: PlacementCorsSettings) -> None:
        self._settings = settings

    def process_request(self, req: falcon.Request, resp: falcon.Response) -> None:
        allowed = self._settings.allowed_origin
        if not allowed or (origin := req.get_header("Origin")) is None:
            return
        resp.append_header("vary", "Origin")
        known = origin in allowed or "*" in allowed
        if known:
            resp.set_header("access-control-allow-origin", origin)
        method = req.get_header("Access-Control-Request-Method")
        if req.method == "OPTIONS" and method is not None:
            resp.complete = True
            resp.status = falcon.HTTP_200
            if known:
                self._preflight(req, resp, method)
        elif known and self._settings.expose_headers:
            resp.set_header("access-control-expose-headers", ",".join(self._settings.expose_headers))

    def _preflight(self, req: falcon.Request, resp: falcon.Response, method: str) -> None:
        header = req.get_header("Access-Control-Request-Headers") or ""
        asked = [name.strip() for name in header.split(",") if name.strip()]
        known = {name.lower() for name in self._settings.allow_headers} | _SIMPLE_HEADERS
        if method not in self._settings.allow_methods or any(name.lower() not in known for name in asked):
            return
        resp.set_header("access-control-allow-methods", method)
        resp.set_header("access-control-max-age", str(self._settings.max_age))
        if asked:
            resp.set_header("access-control-allow-headers", ",".join(asked))


class MicroversionMiddleware:
    def process_request(self, req: falcon.Request, resp: falcon.Response) -> None:
        resp.append_header("vary", microversion.HEADER)
        version = microversion.negotiate(req.get_header(microversion.HEADER))
        req.context.version = version
        resp.set_header(microversion.HEADER, f"{microversion.SERVICE} {microversion.text(version)}")


class HeadersMiddleware:
    def __init__(self, bounds: PlacementBounds) -> None:
        self._bounds = bounds

    def process_request(self, req: falcon.Request, resp: falcon.Response) -> None:
        """Raises for a body without a type, a query string that is too long, NUL, and a path with a trailing slash."""
        length = req.env.get("CONTENT_LENGTH") or "0"
        if not length.isdigit():
            raise BadRequest("content-length header must be an integer")
        if length != "0" and not req.content_type:
            raise errors.InvalidValue("content-type header required when content-length > 0")
        if len(req.query_string) > self._bounds.max_query_size:
            message = f"The query string may have at most {self._bounds.max_query_size} bytes."
            raise falcon.HTTPUriTooLong(description=message)
        if "\0" in req.path or "%00" in req.query_string:
            raise errors.InvalidValue("The character NUL is not allowed")
        if req.path.endswith("/") and req.path != "/":
            raise falcon.HTTPNotFound()


def create_app(deps: call.PlacementCollaborators) -> falcon.App[Any, Any]:
    """Returns the app. The database must have been prepared (`vocabulary.prepare`)."""
    settings = deps.settings
    app: falcon.App[Any, Any] = falcon.App(
        middleware=[
            deps.client_address,
            middleware.RequestIdMiddleware(deps.ids),
            middleware.AccessLogMiddleware("placement", deps.clock, quiet_paths=operational.PUBLIC_PATHS),
            encoding.CompressionMiddleware(is_on=settings.clients.compression),
            PrefixMiddleware(settings.prefix),
            CorsMiddleware(settings.cors),
            # upstream says `no-cache` from 1.15 on, and nothing before: its own test suite compares that
            middleware.AuthMiddleware(deps.authenticator, lambda path: path in _WITHOUT_TOKEN, cache_control=None),
            MicroversionMiddleware(),
            HeadersMiddleware(settings.bounds),
            middleware.connection_middleware(deps.engine, "placement", without=_WITHOUT_TOKEN),
        ],
        router=Router(),
    )
    app.req_options.keep_blank_qs_values = True
    app.req_options.auto_parse_qs_csv = False
    # an answer without a body has no type
    app.resp_options.default_media_type = None  # type: ignore[assignment]  # falcon takes None, its types do not
    encoding.install_json(app)
    operation.PlacementErrors().install(app)
    operational.add_operational_routes(app, deps.engine, get_ready=deps.index.load)
    add_routes(app, operation.PlacementApi(deps), routes.ROUTES)
    return app
