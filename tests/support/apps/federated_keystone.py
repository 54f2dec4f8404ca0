"""A real Keystone behind what Apache's mod_auth_openidc is in production; run by gunicorn in the `real` environment.

It asks the provider who a bearer token is of (Keystone's `.../protocols/openid/auth`), and has browsers sign in there
(WebSSO). Keystone's own mapping decides what becomes of that.
"""

import os
import secrets
from collections.abc import Callable, Iterable
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlencode

import requests
from real_keystone import application as keystone

ISSUER, OWN = os.environ["OIDC_ISSUER"], os.environ["BOOTSTRAP_URL"]
CLIENT = ("keystone", "keystone-secret")
REDIRECT_URI = f"{OWN}/redirect_uri"

_wanted: dict[str, str] = {}
"""Where a browser wanted to go when it was sent to the provider, by state."""
_claims: dict[str, dict[str, Any]] = {}
"""Of browsers that have come back, by cookie."""
Start = Callable[..., Any]


def application(environ: dict[str, Any], start_response: Start) -> Iterable[bytes]:
    path = environ["PATH_INFO"]
    for name in [name for name in environ if name.startswith("HTTP_OIDC_")]:
        del environ[name]
    if path.startswith("/v3/OS-FEDERATION/identity_providers/") and path.endswith("/auth"):
        claims = _ask(environ.get("HTTP_AUTHORIZATION", ""))
        if claims is None:
            start_response("401 Unauthorized", [("Content-Type", "text/html")])
            return [b"the web server does not take this token"]
        return _as(claims, environ, start_response)
    if path == "/v3/redirect_uri":
        return _come_back(environ, start_response)
    if path.startswith("/v3/auth/OS-FEDERATION/"):
        cookie = SimpleCookie(environ.get("HTTP_COOKIE", "")).get("federation")
        if cookie is not None and cookie.value in _claims:
            return _as(_claims.pop(cookie.value), environ, start_response)
        state = secrets.token_hex(16)
        _wanted[state] = f"{path}?{environ['QUERY_STRING']}"
        query = {
            "response_type": "code",
            "client_id": CLIENT[0],
            "redirect_uri": REDIRECT_URI,
            "scope": "openid profile email",
            "state": state,
        }
        return _redirect(f"{ISSUER}/auth?{urlencode(query)}", start_response)
    return keystone(environ, start_response)


def _come_back(environ: dict[str, Any], start_response: Start) -> Iterable[bytes]:
    query = {name: values[0] for name, values in parse_qs(environ["QUERY_STRING"]).items()}
    body = {"grant_type": "authorization_code", "code": query["code"], "redirect_uri": REDIRECT_URI}
    token = requests.post(f"{ISSUER}/token", data=body, auth=CLIENT, timeout=60).json()["access_token"]
    cookie = secrets.token_hex(16)
    _claims[cookie] = _ask(f"Bearer {token}") or {}
    cookies = [("Set-Cookie", f"federation={cookie}; Path=/; HttpOnly")]
    return _redirect(_wanted.pop(query["state"]), start_response, cookies)


def _redirect(url: str, start_response: Start, headers: Iterable[tuple[str, str]] = ()) -> Iterable[bytes]:
    start_response("302 Found", [("Location", url), *headers])
    return []


def _ask(authorization: str) -> dict[str, Any] | None:
    answer = requests.get(f"{ISSUER}/me", headers={"Authorization": authorization}, timeout=60)
    return answer.json() if answer.status_code == 200 else None


def _as(claims: dict[str, Any], environ: dict[str, Any], start_response: Start) -> Iterable[bytes]:
    environ["HTTP_OIDC_ISS"] = ISSUER
    for name, value in claims.items():
        environ[f"HTTP_OIDC_{name.upper()}"] = ";".join(value) if isinstance(value, list) else str(value)
    return keystone(environ, start_response)
