"""A notification of each kind, made up, to try templates with."""

from collections.abc import Mapping
from typing import Any

_AT = 1_798_761_600
_PLACE = {
    "domain": {"id": "2b1d5a0c6e8f4b7a9c3d1e2f3a4b5c6d", "name": "germany"},
    "project": {"id": "7f3c2b1a0d9e4f8b8a7c6d5e4f3a2b1c", "name": "berlin"},
    "level": "project",
}
_RAM = {"service": "compute", "resource": "ram", "unit": "MiB"}
_QUOTA = {**_PLACE, **_RAM}
_COMMITMENT = {
    "id": 12,
    "uuid": "5a1f9c0e-3d2b-4c6a-8e7f-1b2a3c4d5e6f",
    "availability_zone": "az-one",
    "amount": 1024,
    "unit": "MiB",
    "duration": "1 year",
    "confirm_by": _AT - 86400,
    "expires_at": _AT + 28 * 86400,
    "auto_renew_error": "there is not enough capacity in az-one",
}
_TEMPORARY = {
    "quota": 2048,
    "quota_before": 1024,
    "from": _AT - 14 * 86400,
    "until": _AT,
    "over_by": 376,
    "problem": "quota may not be lower than current usage",
}
_ENDED = {name: _TEMPORARY[name] for name in ("quota", "quota_before", "from", "until")}
_REQUEST = {
    "id": 12,
    "status": "partly_approved",
    "reason": "launch in March <b>& more</b>",
    "comment": "half for now",
    "requester": {"id": "0a1b2c3d4e5f60718293a4b5c6d7e8f9", "name": "alice"},
    "decided_by": {"id": "f9e8d7c6b5a493827160f5e4d3c2b1a0", "name": "bob"},
    "passed_on_from": None,
    "passed_on_to": 13,
    "from": _AT + 86400,
    "until": _AT + 14 * 86400,
    "resources": [
        {"service": "compute", "resource": "cores", "unit": None, "present": 10, "wanted": 40, "granted": 25},
        {"service": "compute", "resource": "ram", "unit": "MiB", "present": 1024, "wanted": 4096, "granted": 4096},
    ],
}
_DETAILS: Mapping[str, Mapping[str, Any]] = {
    "backend_unreachable": {"severity": "critical", "service": "compute", "since": _AT - 3600},
    "capacity_drop": {**_RAM, "severity": "warning", "capacitor": "nova", "since": _AT},
    "usage_above_quota": {**_QUOTA, "severity": "critical", "quota": 1024, "usage": 1100, "threshold": 100},
    "quota_used": {**_QUOTA, "severity": "warning", "quota": 1024, "usage": 900, "threshold": 80},
    "auto_renewal_failed": {**_QUOTA, "severity": "critical", "commitment": _COMMITMENT},
    "commitment_unconfirmed": {**_QUOTA, "severity": "critical", "commitment": _COMMITMENT},
    "commitment_expires": {**_QUOTA, "severity": "warning", "commitment": _COMMITMENT},
    "commitment_confirmed": {**_QUOTA, "commitment": _COMMITMENT},
    "commitment_renewed": {**_QUOTA, "commitment": _COMMITMENT},
    "temporary_quota_over": {**_QUOTA, "quota": 1400, "temporary_quota": _TEMPORARY, "since": _AT},
    "temporary_quota_waits": {**_QUOTA, "quota": 1024, "temporary_quota": _TEMPORARY, "since": _AT - 14 * 86400},
    "temporary_quota_ends": {**_QUOTA, "quota": 2048, "temporary_quota": _TEMPORARY},
    "temporary_quota_ended": {**_QUOTA, "quota": 1024, "temporary_quota": _ENDED},
    "request_opened": {**_PLACE, "request": {**_REQUEST, "status": "open", "comment": ""}},
    "request_decided": {**_PLACE, "request": _REQUEST},
    "request_passed_on": {**_PLACE, "request": {**_REQUEST, "status": "open"}},
    "request_waiting": {**_PLACE, "request": {**_REQUEST, "status": "open"}, "since": _AT - 3 * 86400, "days": 3},
}

KINDS = tuple(_DETAILS)


def sample(kind: str) -> dict[str, Any]:
    return {"id": "00000000-0000-4000-8000-000000000000", "kind": kind, "at": _AT, **_DETAILS[kind]}
