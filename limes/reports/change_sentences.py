"""A change as a sentence. Pure functions of what the log has about it."""

from collections.abc import Iterable, Mapping

from limes.audit.events import Reason, What
from limes.catalog.catalog import Catalog, Ref
from limes.kernel.calendar import render_time
from limes.kernel.units import Unit
from limes.quota.history import HistoryRow
from limes.reports import change_queries, changes

_NUMBERS = {
    What.QUOTA: "quota",
    What.BACKEND_QUOTA: "backend's quota",
    What.MAX_QUOTA: "growth limit",
    What.MIN_QUOTA: "granted quota",
    What.OVERRIDE: "override of the quota",
}
_COMMITMENTS = {
    "created": "{who} made a commitment to {amount} in {az} for {duration}{later}, for {place}.",
    "pending": "{commitment} is due and waits for capacity.",
    "confirmed": "{commitment} was confirmed.",
    "expired": "{commitment} ended.",
    "superseded": "{who} replaced {a_commitment} by others.",
    "deleted": "{who} deleted {a_commitment}.",
    "transfer_started": "{who} offered {a_commitment} for transfer.",
    "transfer_withdrawn": "{who} withdrew the offer to transfer {a_commitment}.",
    "transferred": "{who} took over a commitment to {amount} in {az} for {place}.",
    "duration_changed": "{who} changed the duration of {a_commitment} to {duration}.",
}
_REQUESTS = {
    "opened": "{who} requested {wanted} for {place}.",
    "proposed": "{who} proposed to request {wanted} for {place}.",
    "confirmed": "{who} confirmed {request}.",
    "comment": "{who} commented on {request}.",
    "passed_on": "{who} passed on {request} to the cloud admins.",
    "returned": "The cloud admins decided, but {request} is still open.",
    "approved": "{who} approved {request}: {granted}.",
    "partly_approved": "{who} approved {request} in part: {granted}.",
    "rejected": "{who} rejected {request}.",
    "withdrawn": "{who} withdrew {request}.",
    "superseded": "{request} was replaced.",
    "expired": "{request} expired.",
}


def sentence(catalog: Catalog, change: changes.Change) -> str:
    """Returns who or what did what, without the time and the cause: `alice raised the quota of compute/cores of project
    acme/shop from 20 to 40.`"""
    row = change.raw.row
    if row.what == change_queries.COMMITMENT:
        text = _of_commitment(catalog, change)
    elif row.what == change_queries.REQUEST:
        text = _of_request(catalog, change)
    elif row.what == change_queries.WEBHOOK:
        text = (
            f"{_who(row)} {_of_webhook(row)} the webhook of {_place(change)}{f' to {row.detail}' if row.new else ''}."
        )
    else:
        text = _of_quota(catalog, row, _place(change))
    return text[0].upper() + text[1:] if text.startswith(("a commitment", "request ")) else text


def _who(row: HistoryRow) -> str:
    return (
        (row.initiator_name or row.initiator_id) if row.initiator_id else "Limes" if row.initiator_name else "Someone"
    )


def _place(change: changes.Change) -> str:
    row, domain = change.raw.row, change.domain_name or change.raw.row.domain_uuid
    return f"project {domain}/{change.project_name or row.project_uuid}" if row.project_uuid else f"domain {domain}"


def _of_quota(catalog: Catalog, row: HistoryRow, place: str) -> str:
    who, what, ref = _who(row), What(row.what), f"{row.service_type}/{row.resource_name}"
    if what is What.BURSTING:
        return f"{who} turned {'on' if row.new else 'off'} bursting for {place}."
    if what is What.FORBID_AUTOGROWTH:
        return f"{who} {'stopped' if row.new else 'allowed'} automatic growth of the quota of {ref} of {place}."
    subject = f"the {_NUMBERS[what]} of {ref} of {place}"
    unit = _unit(catalog, (row.service_type, row.resource_name))
    old, new = _amount(unit, row.old), _amount(unit, row.new)
    if row.new is None:
        gone = ", which was deleted in Keystone" if row.reason == Reason.VANISHED else ""
        return f"{who} removed {subject}{gone} (it was {old})."
    if row.old is None or row.old < 0 or row.new < 0:
        return f"{who} set {subject} to {new} (it was {old})."
    if row.old == row.new:
        return f"{who} left {subject} at {new}."
    return f"{who} {'raised' if row.new > row.old else 'lowered'} {subject} from {old} to {new}."


def _amount(unit: Unit, value: int | None) -> str:
    return "not set" if value is None else "unlimited" if value < 0 else unit.render(value)


def _of_commitment(catalog: Catalog, change: changes.Change) -> str:
    row, place, known = change.raw.row, _place(change), change.after or change.before or {}
    ref, az = (row.service_type, row.resource_name), known.get("availability_zone", "")
    amount = f"{_unit(catalog, ref).render(known.get('amount', 0))} {ref[0]}/{ref[1]}"
    a_commitment = f"a commitment to {amount} in {az} of {place}"
    confirm_by = known.get("confirm_by")
    if row.detail == "auto_renewal_changed":
        return f"{_who(row)} turned {'on' if known.get('auto_renew') else 'off'} automatic renewal of {a_commitment}."
    return _COMMITMENTS.get(row.detail, "{who} changed {a_commitment}.").format(
        who=_who(row),
        amount=amount,
        az=az,
        duration=known.get("duration", ""),
        later=f" from {render_time(confirm_by)} on" if confirm_by else "",
        place=place,
        a_commitment=a_commitment,
        commitment=a_commitment,
    )


def _of_request(catalog: Catalog, change: changes.Change) -> str:
    row, place = change.raw.row, _place(change)
    wanted = {(each.service_type, each.resource_name): each.wanted for each in change.amounts}
    granted = {(each.service_type, each.resource_name): each.granted or 0 for each in change.amounts}
    return _REQUESTS.get(row.detail, "{who} changed {request}.").format(
        who=_who(row),
        request=f"request {change.raw.subject} of {place}",
        wanted=_amounts(catalog, wanted),
        granted=_amounts(catalog, granted),
        place=place,
    )


def _of_webhook(row: HistoryRow) -> str:
    return ("changed" if row.old else "set") if row.new else "removed"


def _amounts(catalog: Catalog, amounts: Mapping[Ref, int]) -> str:
    shown: Iterable[str] = (f"{_unit(catalog, ref).render(amount)} {'/'.join(ref)}" for ref, amount in amounts.items())
    return ", ".join(shown) or "nothing"


def _unit(catalog: Catalog, ref: Ref) -> Unit:
    resource = catalog.find(ref)
    return Unit.COUNT if resource is None else resource.unit
