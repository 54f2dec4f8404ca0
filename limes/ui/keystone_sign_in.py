"""Sign-in at Keystone, on behalf of the browser, which never speaks with Keystone itself."""

import contextlib
import logging
from collections.abc import Iterator, Sequence
from typing import Any

from keystoneauth1 import exceptions as ksa_errors
from keystoneauth1.identity import v3

from limes.auth import keystone, session, tokens
from limes.kernel.errors import BackendError, BadRequest, Forbidden, Unauthorized, Unavailable
from limes.kernel.outgoing import keystone_session
from limes.ui.sign_in import CredentialSignIn, Issued, PasswordSignIn, Scope, SignIn, TokenSignIn

log = logging.getLogger(__name__)

_UNAVAILABLE = "Keystone cannot be asked just now; try again later"


class KeystoneSignInMethod:
    """A `SignInMethod` to Keystone at the address that our own login has."""

    def __init__(
        self,
        cloud: session.CloudSession,
        user_domain: str,
        revoked: tokens.RevokedTokens | None = None,
        *,
        public_url: str | None = None,
        with_passwords: bool = True,
    ) -> None:
        """`user_domain` is the name that the page proposes. `revoked` is called with tokens that Keystone has ended.
        `public_url` is Keystone's address for browsers, if it is not the one of our own login."""
        self._revoked = revoked
        self._with_passwords = with_passwords
        assert cloud.auth_url is not None
        self._url = keystone.v3_url(cloud.auth_url)
        self._public_url = keystone.v3_url(public_url) if public_url else self._url
        # our own login stays out of it: this session has none
        self._session = keystone_session(
            limits=cloud.limits,
            verify=cloud.session.verify,
            cert=cloud.session.cert,
            timeout=cloud.session.timeout,
            user_agent="limes-ui",
        )
        self._user_domain = user_domain
        self._gate = cloud.gate

    def offer(self) -> dict[str, Any]:
        return {"method": "keystone", "user_domain": self._user_domain, "passwords": self._with_passwords}

    def sign_in(self, request: SignIn) -> Issued:
        if isinstance(request, TokenSignIn):
            brought = request.token.get_secret_value()
            return Issued(brought, brought, root_is_ours=False)
        if isinstance(request, PasswordSignIn) and not self._with_passwords:
            raise Forbidden("this cloud has no sign-in with a password (ui.password_sign_in)")
        with self._refusals(Unauthorized("user, domain or password is wrong")):
            token = self._issue(self._plugin(request))
        return Issued(token, token)

    def exchange(self, identity_provider: str, protocol: str, bearer: str) -> str:
        """Returns the unscoped token that Keystone gives for another provider's. Raises `Forbidden` without one."""
        path = f"/OS-FEDERATION/identity_providers/{identity_provider}/protocols/{protocol}/auth"
        refusal = Forbidden(
            f"Keystone does not accept you: the mapping of {identity_provider}/{protocol} has no rule for your account,"
            " or its web server does not take the provider's token. Ask the operators of this cloud for access"
        )
        with self._refusals(refusal):
            headers = {"Authorization": f"Bearer {bearer}"}
            try:
                answer = self._session.post(self._url + path, headers=headers, authenticated=False, log=False)
            except ksa_errors.NotFound:
                problem = f"Keystone has no identity provider {identity_provider!r} with the protocol {protocol!r}"
                raise Unavailable(f"{problem}; tell the operators of this cloud") from None
            return str(answer.headers["X-Subject-Token"])

    def browser_url(self, identity_provider: str | None, protocol: str) -> str:
        """Returns where Keystone has browsers sign in elsewhere, without the origin to come back to."""
        one = f"identity_providers/{identity_provider}/protocols/{protocol}/websso" if identity_provider else None
        return f"{self._public_url}/auth/OS-FEDERATION/{one or f'websso/{protocol}'}"

    def _plugin(self, request: PasswordSignIn | CredentialSignIn) -> Any:
        if isinstance(request, CredentialSignIn):
            secret = request.secret.get_secret_value()
            return v3.ApplicationCredential(
                self._url, application_credential_id=request.id, application_credential_secret=secret
            )
        user = {"username": request.user, "user_domain_name": request.user_domain}
        methods: list[v3.AuthMethod] = [v3.PasswordMethod(password=request.password.get_secret_value(), **user)]
        if request.passcode is not None:
            methods.append(v3.TOTPMethod(passcode=request.passcode.get_secret_value(), **user))
        return v3.Auth(self._url, methods, unscoped=True)

    def _issue(self, plugin: Any) -> str:
        return str(plugin.get_access(self._session).auth_token)

    def rescope(self, root: str, scope: Scope) -> str:
        target: dict[str, Any] = {"project_id": scope.project, "domain_id": scope.domain, "system_scope": scope.system}
        with self._refusals(Forbidden("Keystone gives no token for this scope; perhaps sign in again")):
            return self._issue(v3.Token(self._url, root, **target))

    def scopes(self, token: str) -> Sequence[dict[str, Any]]:
        with self._refusals(Unauthorized("the token is not valid")):
            domains = self._get("/auth/domains", token)["domains"]
            projects = self._get("/auth/projects", token)["projects"]
            has_system = self._has_system(token)
        # Keystone names no domains of projects, so these are the user's own ones
        names = {domain["id"]: domain["name"] for domain in domains}
        found: list[dict[str, Any]] = [{"system": "all"}] if has_system else []
        for each in domains:
            if each.get("enabled", True):
                found.append({"domain": {"id": each["id"], "name": each["name"]}})
        for each in projects:
            if each.get("enabled", True):
                domain = {"id": each["domain_id"], "name": names.get(each["domain_id"])}
                found.append({"project": {"id": each["id"], "name": each["name"], "domain": domain}})
        return found

    def _has_system(self, token: str) -> bool:
        try:
            return any(role.get("all") for role in self._get("/auth/system", token)["system"])
        except ksa_errors.InternalServerError:
            # Keystone 30 answers so to all who are in groups by federation; it has no tokens for the system for them
            log.warning("sign-in: Keystone at %s does not say who has roles on the system", self._url)
            return False

    def revoke(self, token: str) -> None:
        # Keystone lets only a good token revoke itself, so made-up ones cannot fill our memory
        with contextlib.suppress(Unauthorized), self._refusals(Unauthorized("")):
            headers = {"X-Auth-Token": token, "X-Subject-Token": token}
            self._session.delete(f"{self._url}/auth/tokens", headers=headers, authenticated=False, log=False)
            if self._revoked is not None:
                self._revoked.add(token)

    def _get(self, path: str, token: str) -> Any:
        # log=False: keystoneauth would write headers and bodies at DEBUG
        answer = self._session.get(self._url + path, headers={"X-Auth-Token": token}, authenticated=False, log=False)
        return answer.json()

    @contextlib.contextmanager
    def _refusals(self, refusal: Exception) -> Iterator[None]:
        """Holds a place in the gate while Keystone is asked. Turns what Keystone refuses into `refusal`, and whatever
        keeps it from answering into `Unavailable`."""
        try:
            with self._gate.admit():
                yield
        except ksa_errors.MissingAuthMethods:
            raise BadRequest("this user needs a one-time passcode besides the password") from None
        except (ksa_errors.Unauthorized, ksa_errors.Forbidden, ksa_errors.NotFound):
            raise refusal from None
        except ksa_errors.BadRequest:
            raise BadRequest("Keystone does not understand these credentials") from None
        except (ksa_errors.ClientException, BackendError) as error:
            log.error("sign-in: Keystone at %s cannot be asked: %s", self._url, session.describe(error))
            raise Unavailable(_UNAVAILABLE) from None
        except (ValueError, KeyError, TypeError):
            log.error("sign-in: Keystone at %s gives an answer that makes no sense", self._url)
            raise Unavailable(_UNAVAILABLE) from None
