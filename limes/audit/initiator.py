"""Who makes a change: the user behind a request, or a job."""

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
    """The client's `User-Agent`."""
    request_id: str = ""
    global_request_id: str = ""
    """The global request id that the client sent, if any."""
    path: str = ""
    """Of the request, without its query, which may hold secrets."""

    @property
    def is_user(self) -> bool:
        """Whether this is a user and not a job."""
        return bool(self.id)


def of_job(name: str) -> Initiator:
    """Returns a job of ours, by its name in the logs."""
    return Initiator(name, request_id=f"job-{name}")


LIMES = of_job("limes")
"""Limes itself, outside of any job: a command at a terminal, for example."""
