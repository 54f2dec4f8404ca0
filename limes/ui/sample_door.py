"""Sign-in with the sample identities of the configuration: anybody can be anybody, so the page shows them all."""

from collections.abc import Sequence
from typing import Any

from limes.auth.context import Identity
from limes.auth.identity_document import scope_of, user_of
from limes.auth.sample import SampleIdentities
from limes.errors import BadRequest, Forbidden
from limes.settings.sample import SampleSettings
from limes.ui.doors import Issued
from limes.ui.requests import Scope, SignIn, TokenSignIn


class SampleDoor:
    """A `Door` to the sample's tokens."""

    def __init__(self, settings: SampleSettings) -> None:
        identities = SampleIdentities(settings)
        self._identities = {
            token.token: identities.authenticate({"HTTP_X_AUTH_TOKEN": token.token}) for token in settings.tokens
        }

    def offer(self) -> dict[str, Any]:
        """See `Door`: `identities`, in the order of the configuration."""
        return {
            "method": "sample",
            "identities": [
                {"token": token, "user": user_of(one), "scope": scope_of(one), "roles": list(one.roles)}
                for token, one in self._identities.items()
            ],
        }

    def sign_in(self, request: SignIn) -> Issued:
        """See `Door`. There are neither passwords nor application credentials."""
        if not isinstance(request, TokenSignIn):
            raise BadRequest("there are sample identities only: sign in with one of their tokens")
        token = request.token.get_secret_value()
        return Issued(token, token, root_is_ours=False)

    def scopes(self, token: str) -> Sequence[dict[str, Any]]:
        """See `Door`: those of the user's other tokens."""
        return [scope for one in self._of_user(token).values() if (scope := scope_of(one)) is not None]

    def rescope(self, root: str, scope: Scope) -> str:
        """See `Door`."""
        for other, one in self._of_user(root).items():
            if (one.project_id, one.domain_id, one.system_scope) == (scope.project, scope.domain, scope.system):
                return other
        raise Forbidden("this user has no sample token for that scope")

    def revoke(self, token: str) -> None:
        """See `Door`. Sample tokens last for ever."""

    def _of_user(self, token: str) -> dict[str, Identity]:
        user = self._identities[token].user_id if token in self._identities else None
        return {other: one for other, one in self._identities.items() if one.user_id == user}
