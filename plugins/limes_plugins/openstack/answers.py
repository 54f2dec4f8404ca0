"""What services answer: numbers that are checked, and errors in words that an operator understands."""

from typing import Any

from limes.backends import UNLIMITED, BackendError, BackendOutage, BackendQuota, BackendRefusal, limited

MISSING = "was the project deleted, or is the path of the endpoint wrong?"
"""What an answer 404 may come from, if the caller knows nothing better."""


def check(name: str, method: str, path: str, answer: Any) -> None:
    """Raises `BackendError` for the statuses that no caller has a use for: 401, 403, 429 and those from 500 on."""
    status = answer.status_code
    if status in (401, 403):
        raise BackendRefusal(
            f"{method} {path}: {name} refuses the user of Limes with {status}{_detail(answer)}"
            " (look at the roles of this user, and at the policy of the service)"
        )
    if status == 429 or status >= 500:
        raise BackendOutage(f"{method} {path}: {name} answered with {status}{_detail(answer)}")


def refused(name: str, method: str, path: str, answer: Any, missing: str) -> BackendError:
    """Returns the error for another answer of 4xx. `missing` is what a 404 may come from."""
    hint = f" ({missing})" if answer.status_code == 404 else ""
    return BackendError(f"{method} {path}: {name} answered with {answer.status_code}{_detail(answer)}{hint}")


def json_object(name: str, method: str, path: str, answer: Any) -> dict[str, Any]:
    """Returns the document of an answer. Raises `BackendError`."""
    try:
        document = answer.json()
    except ValueError as error:
        kind = answer.headers.get("Content-Type", "").partition(";")[0].strip()
        problem = f"{kind} and not JSON" if kind and not kind.endswith("json") else "not JSON"
        raise BackendError(
            f"{method} {path}: {name}'s answer is {problem} (is there something else behind the endpoint?)"
        ) from error
    if not isinstance(document, dict):
        raise BackendError(f"{method} {path}: {name}'s answer is not a JSON object")
    return document


def _detail(answer: Any) -> str:
    """Returns what the service says in its error document, if it is one of the usual forms, or a plain text."""
    try:
        text = _message(answer.json())
    except ValueError:
        text = answer.text if answer.headers.get("Content-Type", "").startswith("text/plain") else ""
    return f": {' '.join(text.split())[:300]}" if text else ""


def _message(document: Any) -> str:
    """`{"errors": [{"detail": ...}]}`, `{"badRequest": {"message": ...}}`, `{"NeutronError": {"message": ...}}` or
    `{"faultstring": ...}`."""
    if not isinstance(document, dict):
        return ""
    errors = document.get("errors")
    if isinstance(errors, list) and errors and isinstance(errors[0], dict):
        return str(errors[0].get("detail") or "")
    for field in ("message", "faultstring"):
        if isinstance(document.get(field), str):
            return str(document[field])
    inner = next((value for value in document.values() if isinstance(value, dict)), None)
    return "" if inner is None else _message(inner)


def whole_number(value: Any, name: str) -> int:
    """Returns the value, if it is a whole number from 0. Raises `BackendError`."""
    if type(value) is not int or value < 0:
        raise BackendError(f"{name} is {value!r}, expected a whole number from 0")
    return value


def quota_of(value: Any, name: str) -> BackendQuota:
    """Returns a quota as OpenStack services write it: -1 means unlimited, and so does what no resource can have that
    much of.

    Raises `BackendError` for anything else that is no whole number.
    """
    if value == -1 and type(value) is int:
        return UNLIMITED
    return limited(whole_number(value, name))
