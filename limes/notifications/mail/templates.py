"""Renders mails from templates (Jinja2, in a sandbox).

For each language there is a folder. `KIND.txt` begins with the lines `Subject:` and `Several:` (the subject of a mail
with several notifications), and after an empty line has the text. `mail.txt` and `mail.html` are what is around the
texts; `KIND.html` is optional and replaces the text of a kind in HTML. An operator's folder may have any of them.
A file is looked for in this order: the language, the default language, English; each in the operator's folder first.

A template of an operator that cannot be rendered is logged, and ours is used instead: no mail waits for a correction.
"""

import logging
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from msgspec import Struct

from limes.kernel.calendar import render_minute
from limes.kernel.units import Unit
from limes.notifications.mail.mailer import one_line

if TYPE_CHECKING:  # most processes know the templates and render none, and Jinja2 takes 3 MiB of each
    from jinja2.sandbox import ImmutableSandboxedEnvironment

log = logging.getLogger(__name__)

SHIPPED = Path(__file__).parent / "templates"
_FALLBACK = "en"
_MOST = 50
_FIELDS = (
    "severity", "remedy", "service", "resource", "unit", "quota", "usage", "threshold", "since", "commitment",
    "request", "days",
)  # fmt: skip
_NOBODY = {"id": "", "name": ""}
_PARTS: Mapping[str, Mapping[str, Any]] = {
    "commitment": dict.fromkeys(
        (
            "id", "uuid", "availability_zone", "amount", "unit", "duration", "confirm_by", "expires_at",
            "auto_renew_error",
        )
    ),
    "request": {
        **dict.fromkeys(("id", "status", "reason", "comment", "passed_on_from", "passed_on_to", "from", "until")),
        "requester": _NOBODY,
        "decided_by": _NOBODY,
        "resources": (),
    },
}  # fmt: skip
"""The fields of parts that not all notifications have."""


class RenderError(Exception):
    """A template cannot be rendered. The text names the template."""


class Rendered(Struct, frozen=True):
    subject: str
    text: str
    html: str


class MailContext(Struct, frozen=True):
    """What else a mail shows."""

    link: str = ""
    unsubscribe: str = ""


class Templates(Struct, frozen=True, dict=True):
    folder: Path | None = None
    default_language: str = _FALLBACK

    def render(
        self,
        kind: str,
        language: str,
        documents: Sequence[Mapping[str, Any]],
        around: MailContext,
        *,
        strict: bool = False,
    ) -> Rendered:
        """Returns a mail with notifications of one kind. With `strict`, raises `RenderError` for what it would log."""
        from jinja2 import TemplateError

        try:
            wanted = (language, language.partition("-")[0], self.default_language, _FALLBACK)
            return _render(self._environment, list(dict.fromkeys(wanted)), kind, documents, around)
        except (TemplateError, ArithmeticError, LookupError, TypeError, ValueError, AttributeError) as error:
            name = getattr(error, "name", None) or getattr(error, "filename", None) or kind
            text = f"template {language}/{name}: {type(error).__name__}: {one_line(str(error), 300)}"
            if strict or self.folder is None:
                raise RenderError(text) from error
            log.error("a mail template cannot be used, and that of Limes is used instead: %s", text)
        return Templates(None, self.default_language).render(kind, language, documents, around)

    def languages(self) -> list[str]:
        folders = [folder for folder in (SHIPPED, self.folder) if folder is not None and folder.is_dir()]
        return sorted({each.name for folder in folders for each in folder.iterdir() if each.is_dir()})

    @cached_property
    def _environment(self) -> "ImmutableSandboxedEnvironment":
        from jinja2 import FileSystemLoader, StrictUndefined
        from jinja2.sandbox import ImmutableSandboxedEnvironment

        folders = [str(folder) for folder in (self.folder, SHIPPED) if folder is not None]
        environment = ImmutableSandboxedEnvironment(
            loader=FileSystemLoader(folders),
            undefined=StrictUndefined,
            autoescape=lambda name: name is not None and name.endswith(".html"),
            trim_blocks=True,
            lstrip_blocks=True,
        )
        environment.filters |= {"date": _date, "amount": _amount}
        return environment


def _render(
    environment: "ImmutableSandboxedEnvironment",
    languages: Sequence[str],
    kind: str,
    documents: Sequence[Mapping[str, Any]],
    around: MailContext,
) -> Rendered:
    from jinja2 import TemplateNotFound
    from markupsafe import Markup

    def names(file: str) -> list[str]:
        return [f"{language}/{file}" for language in languages]

    several, items = "", []
    for document in documents[:_MOST]:
        context = {"n": normal(document), "count": len(documents), "link": around.link}
        subject, several, text = _split(environment.select_template(names(f"{kind}.txt")).render(context))
        page = page_of(document, around.link)
        item: dict[str, Any] = {"subject": subject, "text": text, "n": context["n"], "html": None, "link": page}
        try:
            html = environment.select_template(names(f"{kind}.html")).render(context)
            item["html"] = Markup(html)  # noqa: S704 - what is filled in was escaped; the rest is the operator's own
        except TemplateNotFound:
            item["html"] = None
        items.append(item)
    subject = items[0]["subject"] if len(documents) == 1 else several
    whole = {
        "items": items,
        "subject": subject,
        "count": len(documents),
        "more": len(documents) - len(items),
        "link": around.link,
        "choices": page_of({}, around.link, "notifications"),
        "unsubscribe": around.unsubscribe,
        "language": languages[0],
    }
    text = environment.select_template(names("mail.txt")).render(whole)
    html = environment.select_template(names("mail.html")).render(whole)
    return Rendered(one_line(subject, 200), text.strip() + "\n", html)


def page_of(document: Mapping[str, Any], dashboard: str, rest: str = "") -> str:
    """Returns the address of the dashboard's page that a notification is about; empty without a dashboard."""
    if not dashboard:
        return ""
    parts = []
    for level in ("domain", "project"):
        if id_ := document.get(level, {}).get("id"):
            parts += [f"{level}s", quote(id_, safe="")]
    if "request" in document:
        parts += ["requests", str(document["request"]["id"])]
    elif "commitment" in document:
        parts.append(f"commitments?do=manage&id={document['commitment']['id']}")
    elif not parts:
        parts.append(rest or "alerts")
    return "/".join((dashboard.rstrip("/"), *parts))


def _split(rendered: str) -> tuple[str, str, str]:
    """Returns the subject, that of several, and the text. Raises `ValueError` if there is no subject."""
    head, _, text = rendered.lstrip().partition("\n\n")
    lines: dict[str, str] = {}
    for line in head.splitlines():
        name, _, value = line.partition(":")
        lines.setdefault(name.strip(), value.strip())
    if not lines.get("Subject"):
        raise ValueError("the first line has to be `Subject: ...`")
    return lines["Subject"], lines.get("Several") or lines["Subject"], text.strip()


def normal(document: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a notification with all fields, so that templates need not ask whether there are any. Names lose what is
    not printable; only reasons and comments may have several lines."""
    cleaned = {name: _cleaned(value, name) for name, value in document.items()}
    place = {"domain": {**_NOBODY, **(cleaned.get("domain") or {})}}
    place["project"] = {**_NOBODY, **(cleaned.get("project") or {})}
    for each in place.values():
        each["name"] = each["name"] or each["id"]
    parts = {name: {**fields, **cleaned[name]} for name, fields in _PARTS.items() if name in cleaned}
    level = "project" if place["project"]["id"] else "domain" if place["domain"]["id"] else "cloud"
    return {**dict.fromkeys(_FIELDS), "level": level, **cleaned, **parts, **place}


def _cleaned(value: Any, name: str) -> Any:
    if isinstance(value, Mapping):
        cleaned = {str(key): _cleaned(item, str(key)) for key, item in value.items()}
        if cleaned.get("name") == "":
            cleaned["name"] = cleaned.get("id", "")
        return cleaned
    if isinstance(value, list):
        return [_cleaned(item, name) for item in value]
    if not isinstance(value, str):
        return value
    if name in ("reason", "comment"):
        return "\n".join(one_line(line, 2000) for line in value.splitlines())
    return one_line(value)


def _date(seconds: float | None) -> str:
    return "" if seconds is None else render_minute(seconds)


def _amount(value: int | None, unit: str | None = None) -> str:
    return "" if value is None else Unit(unit or "").render(value)


# -- a notification of each kind, made up, to try templates with -------------------------------------------------------

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
    "own_threshold": {**_QUOTA, "quota": 1024, "usage": 740, "threshold": 70},
    "auto_renewal_failed": {**_QUOTA, "severity": "critical", "commitment": _COMMITMENT},
    "commitment_unconfirmed": {**_QUOTA, "severity": "critical", "commitment": _COMMITMENT},
    "commitment_expires": {**_QUOTA, "severity": "warning", "commitment": _COMMITMENT},
    "commitment_confirmed": {**_QUOTA, "commitment": _COMMITMENT},
    "commitment_renewed": {**_QUOTA, "commitment": _COMMITMENT},
    "temporary_quota_over": {**_QUOTA, "quota": 1400, "temporary_quota": _TEMPORARY, "since": _AT},
    "temporary_quota_waits": {**_QUOTA, "quota": 1024, "temporary_quota": _TEMPORARY, "since": _AT - 14 * 86400},
    "temporary_quota_ends": {**_QUOTA, "quota": 2048, "temporary_quota": _TEMPORARY},
    "temporary_quota_ended": {**_QUOTA, "quota": 1024, "temporary_quota": _ENDED},
    "request_proposed": {**_PLACE, "request": {**_REQUEST, "status": "proposed", "comment": ""}},
    "request_confirmed": {**_PLACE, "request": {**_REQUEST, "status": "open"}},
    "request_opened": {**_PLACE, "request": {**_REQUEST, "status": "open", "comment": ""}},
    "request_decided": {**_PLACE, "request": _REQUEST},
    "request_passed_on": {**_PLACE, "request": {**_REQUEST, "status": "open"}},
    "request_waiting": {**_PLACE, "request": {**_REQUEST, "status": "open"}, "since": _AT - 3 * 86400, "days": 3},
}

KINDS = tuple(_DETAILS)


def sample(kind: str) -> dict[str, Any]:
    return {"id": "00000000-0000-4000-8000-000000000000", "kind": kind, "at": _AT, **_DETAILS[kind]}
