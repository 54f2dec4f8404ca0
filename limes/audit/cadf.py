"""Events in the form of CADF, the DMTF's Cloud Auditing Data Federation (DSP0262), as Limes' clients know them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson

from limes.audit.initiator import Initiator

_TYPE_URI = "http://schemas.dmtf.org/cloud/audit/1.0/event"


@dataclass(frozen=True, slots=True)
class Scope:
    """The domain, or the project in it, that an event is about."""

    domain_uuid: str
    domain_name: str
    project_uuid: str = ""
    project_name: str = ""

    @property
    def stream(self) -> str:
        """The stream in which events are delivered in order: of a project, or of a domain's own quotas."""
        return self.project_uuid or self.domain_uuid


@dataclass(frozen=True, slots=True)
class Event:
    """What happened to what, by whom."""

    action: str
    """`create`, `update` or `delete`."""
    target_type: str
    """A path in CADF's taxonomy of resources, such as `service/compute/cores/quota`."""
    target_id: str
    scope: Scope
    payload: Mapping[str, Any]
    """Old and new values. Never a secret."""
    initiator: Initiator
    success: bool = True
    reason_type: str = "HTTP"
    """Or `limes`, for what Limes does by itself."""
    reason_code: str = "200"


def render(event: Event, event_id: str, at: float, observer_id: str) -> str:
    """Returns the event as JSON. `at` is in seconds since the epoch; `observer_id` names this process."""
    document = {
        "typeURI": _TYPE_URI,
        "id": event_id,
        "eventTime": datetime.fromtimestamp(at, UTC).isoformat(timespec="microseconds"),
        "eventType": "activity",
        "action": event.action,
        "outcome": "success" if event.success else "failure",
        "reason": {"reasonType": event.reason_type, "reasonCode": event.reason_code},
        "initiator": _initiator(event.initiator),
        "target": _target(event),
        "observer": {"typeURI": "service/resources", "name": "limes", "id": observer_id},
    }
    if event.initiator.path:
        document["requestPath"] = event.initiator.path
    return orjson.dumps(document).decode()


def _initiator(initiator: Initiator) -> dict[str, Any]:
    if not initiator.is_user:
        return {
            "typeURI": "service/resources/job",
            "id": f"limes-job-{initiator.name}",
            "name": initiator.name,
            "request_id": initiator.request_id,
        }
    known = {
        "typeURI": "service/security/account/user",
        "id": initiator.id,
        "name": initiator.name,
        "domain": initiator.user_domain,
        "domain_id": initiator.domain_id,
        "domain_name": initiator.domain_name,
        "project_id": initiator.project_id,
        "project_name": initiator.project_name,
        "application_credential_id": initiator.application_credential_id,
        "host": {name: value for name, value in (("address", initiator.address), ("agent", initiator.agent)) if value},
        "request_id": initiator.request_id,
        "global_request_id": initiator.global_request_id,
    }
    return {name: value for name, value in known.items() if value}


def _target(event: Event) -> dict[str, Any]:
    scope = event.scope
    known = {
        "typeURI": event.target_type,
        "id": event.target_id,
        "domain_id": scope.domain_uuid,
        "domain_name": scope.domain_name,
        "project_id": scope.project_uuid,
        "project_name": scope.project_name,
    }
    content = orjson.dumps(event.payload).decode()  # CADF wants the content as a string
    attachment = {"name": "payload", "typeURI": "mime:application/json", "content": content}
    return {name: value for name, value in known.items() if value} | {"attachments": [attachment]}
