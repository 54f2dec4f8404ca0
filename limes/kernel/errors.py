"""Our exceptions, as one small tree. Nothing here knows of HTTP: `limes.web` and the two APIs turn them into answers.

A message is written for the person who reads it: what was wrong, where, and what would be right. It never carries a
token, a password or the text of a database error.
"""

from collections.abc import Sequence

from limes.kernel.redaction import redact


class LimesError(Exception):
    """The root of the tree. `str(error)` is safe to show to the client: secrets in it are hidden."""

    def __init__(self, *args: object) -> None:
        super().__init__(*(redact(arg) if isinstance(arg, str) else arg for arg in args))


class ConfigError(LimesError):
    """The configuration cannot be used. `problems` holds every one that was found, each with its path in the file."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = [redact(problem) for problem in problems]


class StartupError(LimesError):
    """The process cannot start (database unreachable, schema behind, unsafe settings, ...). One line."""


class BadRequest(LimesError):
    """The request cannot be understood (malformed JSON, wrong types)."""


class Unauthorized(LimesError):
    """No token, or one that is not valid (any more)."""


class Forbidden(LimesError):
    """The token is valid, but the policy says no."""


class NotFound(LimesError):
    """The thing that the request names does not exist, or not for this caller."""


class Conflict(LimesError):
    """The request contradicts the present state."""


class PreconditionFailed(LimesError):
    """The present state is not the one that the caller wants to change."""


class Unprocessable(LimesError):
    """The request is understood, but asks for something that does not make sense."""


class NotReady(LimesError):
    """The thing exists, but has not been initialised yet (a project before its first scrape). Try again soon."""


class Unavailable(LimesError):
    """Something that we depend on (Keystone, the database) does not answer. Not the caller's fault; try again."""


class BackendError(LimesError):
    """A backend could not be asked, or gave an answer that is not a valid report."""

    observed: str = ""
    """What the error said before we put the service in front of it (`limes.backends.calls`), line by line."""


class BackendOutage(BackendError):
    """The backend does not answer, or says that it cannot: another call would not fare better just now."""


class BackendMissing(BackendError):
    """Keystone's catalog has no such backend."""


class BackendRefusal(BackendError):
    """The backend does not let our user do what we ask for."""


class BackendOutdated(BackendError):
    """The backend is too old: it does not know the microversion that is needed."""


class BackendPaused(BackendError):
    """The backend was not asked at all, because it has not answered before (`limes.backends.breaker`)."""
