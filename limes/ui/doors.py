"""What signs people in: Keystone or the sample identities, behind one protocol."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from limes.ui.requests import Scope, SignIn


@dataclass(frozen=True, slots=True)
class Issued:
    """A token. Who signs out has it revoked if it was made for the dashboard, and not brought along."""

    token: str
    is_ours: bool = True


class Door(Protocol):
    """Gets tokens for people.

    Contract: raises `Unauthorized` for credentials that are not right, `Forbidden` for a scope that is not theirs,
    `Unavailable` when that cannot be found out. Secrets reach neither logs nor errors. For many threads at once.
    """

    def offer(self) -> dict[str, Any]:
        """What the page needs to know to ask for credentials: `method`, and more by method."""
        ...

    def sign_in(self, request: SignIn) -> Issued:
        """A token for credentials, which may be unscoped."""
        ...

    def scopes(self, token: str) -> Sequence[dict[str, Any]]:
        """What the token's user could have a token for, each in the form of `limes.auth.identity_document.scope_of`."""
        ...

    def rescope(self, token: str, scope: Scope) -> Issued:
        """A token of the same user for another scope."""
        ...

    def revoke(self, token: str) -> None:
        """Makes a token useless. It is no error if it is that already."""
        ...
