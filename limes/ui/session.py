"""`/ui/session`: signs people in and out, and gives the page its token back when it is loaded again.

The API itself takes tokens in a header only. The cookie is for this path, and out of reach for scripts.
"""

import re
from typing import Any

import falcon
from msgspec import Struct, structs

from limes.auth.context import Authenticator, Identity, scope_of
from limes.auth.tokens import cache_key
from limes.kernel.errors import BadRequest, Unauthorized
from limes.ui import sign_in
from limes.ui.browser import KnownBrowsers, require_own_page
from limes.ui.single_sign_on import SingleSignOn
from limes.ui.throttle import Throttle
from limes.web.encoding import dump

COOKIE = "limes-session"
_OURS, _BROUGHT = "ours", "brought"
_OWN_PATH = re.compile(r"/ui(?:[/?][\x21-\x7e]{0,1000})?")


class SessionEndpoint(Struct, frozen=True):
    """GET: who is signed in, and how one can. POST: sign in, or choose a scope. DELETE: sign out."""

    method: sign_in.SignInMethod
    authenticator: Authenticator
    throttle: Throttle
    browsers: KnownBrowsers
    single_sign_on: SingleSignOn
    title: str

    def on_get(self, req: falcon.Request, resp: falcon.Response) -> None:
        require_own_page(req)
        issued = _read_cookie(req)
        offer = {**self.method.offer(), "providers": self.single_sign_on.offer()}
        document: dict[str, Any] = {"session": None, "sign_in": offer, "title": self.title}
        if issued is not None:
            try:
                document |= self._document(issued, self._identity(issued.token))
            except Unauthorized:
                _drop_cookie(req, resp)
        _answer(resp, document)

    def on_post(self, req: falcon.Request, resp: falcon.Response) -> None:
        """Credentials or another scope become a session. Where there is only one scope, it is taken."""
        require_own_page(req)
        body = sign_in.read_body(req)
        more: dict[str, Any] = {}
        if isinstance(body, sign_in.ScopeChoice):
            issued, identity = self._switch(req, body.scope)
        elif isinstance(body, sign_in.ProviderAnswer):
            issued, identity, more["return_to"] = self._arrive(req, resp, body)
        else:
            issued, identity = self._enter(req, resp, body)
        origin = _OURS if issued.root_is_ours else _BROUGHT
        resp.set_cookie(
            COOKIE,
            "|".join((origin, issued.token, issued.root, *([issued.provider] if issued.provider else []))),
            path="/ui/session",
            secure=req.forwarded_scheme == "https",
            http_only=True,
            same_site="Strict",
        )
        _answer(resp, self._document(issued, identity) | more)

    def on_delete(self, req: falcon.Request, resp: falcon.Response) -> None:
        """Forgets the session, and revokes its tokens that were made for the dashboard. The one in `X-Auth-Token` is
        revoked as well: the page sends it only if it is one of these. Then, the page may have to go on to the sign-out
        of the provider."""
        require_own_page(req)
        token, cookie = req.get_header("X-Auth-Token"), _read_cookie(req)
        _drop_cookie(req, resp)
        resp.status = falcon.HTTP_204
        for revocable in dict.fromkeys((*([token] if token else []), *(cookie.revocable if cookie else ()))):
            self.method.revoke(revocable)
        if cookie is not None and (there := self.single_sign_on.sign_out_url(cookie.provider)):
            resp.status = falcon.HTTP_200
            _answer(resp, {"continue_at": there})

    def _enter(
        self, req: falcon.Request, resp: falcon.Response, body: sign_in.SignIn
    ) -> tuple[sign_in.Issued, Identity]:
        account = _account(body)
        browser = self.browsers.read(req, account)
        with self.throttle.attempt(account, str(req.remote_addr), browser):
            issued = self.method.sign_in(body)
            identity = self._identity(issued.token)
        if not isinstance(body, sign_in.TokenSignIn):
            self.browsers.mark(req, resp, account, browser)
        return self._in_only_scope(issued, identity)

    def _arrive(
        self, req: falcon.Request, resp: falcon.Response, body: sign_in.ProviderAnswer
    ) -> tuple[sign_in.Issued, Identity, str]:
        """Whoever comes back from a provider. Also returns where they were before."""
        self.single_sign_on.find(body.provider)
        attempt = self.single_sign_on.attempts.read(req, resp, body.provider)
        # each sign-in counts for itself, and for its address: nobody can have others wait by failing
        with self.throttle.attempt(f"answer {attempt.number}", str(req.remote_addr)):
            issued = self.single_sign_on.finish(body, attempt)
            try:
                identity = self._identity(issued.token)
            except Unauthorized:
                raise Unauthorized("Keystone: the token that came with this answer is not valid") from None
        return *self._in_only_scope(issued, identity), attempt.return_to

    def _in_only_scope(self, issued: sign_in.Issued, identity: Identity) -> tuple[sign_in.Issued, Identity]:
        if scope_of(identity) is None:
            scopes = self.method.scopes(issued.token)
            if len(scopes) == 1:
                ((kind, target),) = scopes[0].items()
                return self._to_scope(issued, sign_in.Scope(**{kind: target if kind == "system" else target["id"]}))
        return issued, identity

    def _switch(self, req: falcon.Request, scope: sign_in.Scope) -> tuple[sign_in.Issued, Identity]:
        token = req.get_header("X-Auth-Token")
        if not token:
            raise BadRequest("a token is needed to choose a scope: header X-Auth-Token")
        user_id = self._identity(token).user_id
        cookie = _read_cookie(req)
        # the cookie may be another user's, who has signed in in another tab
        if cookie is not None and self._identity(cookie.root).user_id == user_id:
            return self._to_scope(cookie, scope)
        return self._to_scope(sign_in.Issued(token, token, root_is_ours=False), scope)

    def _to_scope(self, before: sign_in.Issued, scope: sign_in.Scope) -> tuple[sign_in.Issued, Identity]:
        token = self.method.rescope(before.root, scope)
        return structs.replace(before, token=token), self._identity(token)

    def _identity(self, token: str) -> Identity:
        return self.authenticator.authenticate({"HTTP_X_AUTH_TOKEN": token})

    def _document(self, issued: sign_in.Issued, identity: Identity) -> dict[str, Any]:
        document: dict[str, Any] = {"session": sign_in.session_of(issued, identity)}
        if scope_of(identity) is None:
            document["scopes"] = self.method.scopes(issued.token)
        return document


class ProviderEndpoint(Struct, frozen=True):
    """`/ui/session/with/{id}`: begins a sign-in at a provider."""

    single_sign_on: SingleSignOn

    def on_post(self, req: falcon.Request, resp: falcon.Response, name: str) -> None:
        require_own_page(req)
        return_to = req.get_param("return_to") or ""
        if not _OWN_PATH.fullmatch(return_to):
            return_to = "/ui"
        _answer(resp, {"continue_at": self.single_sign_on.begin(req, resp, name, return_to)})


class ScopesEndpoint(Struct, frozen=True):
    """`/ui/session/scopes`: what the user of a token can have another token for."""

    method: sign_in.SignInMethod
    throttle: Throttle
    """Counts bad tokens together with those of sign-ins: this one was not checked yet."""

    def on_get(self, req: falcon.Request, resp: falcon.Response) -> None:
        require_own_page(req)
        token = req.get_header("X-Auth-Token")
        if not token:
            raise Unauthorized("a token is needed: header X-Auth-Token")
        with self.throttle.attempt(_of_token(token), str(req.remote_addr)):
            scopes = self.method.scopes(token)
        _answer(resp, {"scopes": scopes})


def _account(body: sign_in.SignIn) -> str:
    if isinstance(body, sign_in.PasswordSignIn):
        return f"user {body.user_domain}/{body.user}"
    if isinstance(body, sign_in.CredentialSignIn):
        return f"credential {body.id}"
    return _of_token(body.token.get_secret_value())


def _of_token(token: str) -> str:
    return f"token {cache_key(token).hex()}"


def _answer(resp: falcon.Response, document: Any) -> None:
    resp.content_type = falcon.MEDIA_JSON
    resp.data = dump(document)


def _read_cookie(req: falcon.Request) -> sign_in.Issued | None:
    """Reads `ours|TOKEN|ROOT|PROVIDER` as `on_post` has written it; `brought` for `ours`, and no provider as a rule."""
    origin, token, root, provider, *_ = [*req.cookies.get(COOKIE, "").split("|"), "", "", "", ""]
    if origin not in (_OURS, _BROUGHT) or not token or not root:
        return None
    return sign_in.Issued(token, root, root_is_ours=origin == _OURS, provider=provider)


def _drop_cookie(req: falcon.Request, resp: falcon.Response) -> None:
    resp.unset_cookie(COOKIE, path="/ui/session", same_site="Strict")
