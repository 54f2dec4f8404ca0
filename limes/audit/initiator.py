"""Who is at work: the user behind a request, or a job. What is written in their course is laid to their account.

It is a context variable, like the id of the request: every change has to name its initiator, and none of the layers in
between has any use for it.
"""

from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Initiator:
    """A user with what the token says of them, or a job of ours. Nothing of the token itself."""

    name: str
    id: str = ""
    """The user's id. Empty for a job."""
    user_domain: str = ""
    """Name of the domain that the user belongs to."""
    project_id: str = ""
    """The scope of the token, as the next three."""
    project_name: str = ""
    domain_id: str = ""
    domain_name: str = ""
    application_credential_id: str = ""
    address: str = ""
    """The host that the request came from."""
    agent: str = ""
    """The program that made the request, in its own words."""
    request_id: str = ""
    global_request_id: str = ""
    """The id of the client's larger undertaking, if it gave one."""
    path: str = ""
    """Of the request, without its query, which may hold secrets."""

    @property
    def is_user(self) -> bool:
        """Whether this is a user and not a job."""
        return bool(self.id)


def of_job(name: str) -> Initiator:
    """A job of ours, by its name in the logs."""
    return Initiator(name, request_id=f"job-{name}")


LIMES = of_job("limes")
"""Whoever does not say who it is: commands at a terminal, for example."""

current: ContextVar[Initiator] = ContextVar("initiator", default=LIMES)
"""Who is at work in this thread."""
