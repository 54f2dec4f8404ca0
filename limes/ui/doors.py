"""What signs people in: Keystone or the sample identities, behind one protocol."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from limes.ui.requests import Scope, SignIn


@dataclass(frozen=True, slots=True)
class Issued:
    """A token, and the one that it was made of, which others can be made of: Keystone may be told to make tokens for a
    scope of unscoped ones only (`allow_rescope_scoped_token`)."""

    token: str
    root: str
    """The first token of this session. The same as `token` until a scope is chosen."""
    root_is_ours: bool = True
    """Whether the root was made for the dashboard, and not brought along."""

    @property
    def revocable(self) -> tuple[str, ...]:
        """What was made for the dashboard, and is revoked when somebody signs out. With a root goes all that was made
        of it, but not in each release of Keystone."""
        if self.root_is_ours:
            return tuple(dict.fromkeys((self.token, self.root)))
        return () if self.token == self.root else (self.token,)


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

    def rescope(self, root: str, scope: Scope) -> str:
        """A token of the root's user for another scope."""
        ...

    def revoke(self, token: str) -> None:
        """Makes a token useless. It is no error if it is that already."""
        ...
