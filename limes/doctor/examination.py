"""Runs all checks in their order. One that fails does not stop the others."""

import logging
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from pydantic import BaseModel

from limes import __version__
from limes.composition.checks import load_checkable_settings
from limes.composition.common import find_config
from limes.doctor import backends, configuration, database, delivery, keystone, policy
from limes.doctor.finding import Context, Finding, Level, problem, skipped
from limes.errors import ConfigError, LimesError
from limes.redaction import HIDDEN, TELLING_KEY, pattern_of, redact, secrets_of
from limes.system import Clock, SystemClock

log = logging.getLogger(__name__)

Check = Callable[[Context], Iterable[Finding]]

CHECKS: Mapping[str, Check] = {
    "configuration": configuration.check,
    "policy": policy.check,
    "database": database.check,
    "keystone": keystone.check,
    "backends": backends.check,
    "audit": delivery.check_audit,
    "notifications": delivery.check_notifications,
    "metrics": delivery.check_metrics_folder,
}

_SHORTEST = 4
"""Shorter ones would blacken half of each text, and are no secrets."""


class Redactor:
    """Replaces each secret of the settings and of the environment by three stars, and all that looks like one."""

    def __init__(self, settings: BaseModel | None, environ: Mapping[str, str]) -> None:
        known = {value for key, value in environ.items() if TELLING_KEY.search(key)}
        known.update(secrets_of([value for key, value in environ.items() if key.startswith("LIMES_")]))
        known.update(secrets_of(settings))
        self._pattern = pattern_of(secret for secret in known if len(secret) >= _SHORTEST)

    def __call__(self, text: str) -> str:
        """Returns the text without secrets."""
        return redact(self._pattern.sub(HIDDEN, text) if self._pattern else text)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Everything that was found, in the order of the checks."""

    version: str
    config: str | None
    """The configuration file's path; None if none is named, and none in the usual places."""
    findings: tuple[Finding, ...]

    @property
    def worst(self) -> Level:
        """The worst level; `SKIPPED` counts as `OK`, as what it waits for is a finding of its own."""
        levels = {finding.level for finding in self.findings}
        return next((level for level in (Level.PROBLEM, Level.WARNING) if level in levels), Level.OK)


def examine(
    *,
    project: str | None = None,
    timeout: float = 15.0,
    environ: Mapping[str, str] = os.environ,
    clock: Clock | None = None,
    only: Collection[str] = (),
    on_check: Callable[[str], None] = lambda name: None,
) -> Diagnosis:
    """Runs all checks, or those that `only` names. Changes nothing.

    `on_check` is called with the name of each check before it runs.
    """
    names = [name for name in CHECKS if not only or name in only]
    file = find_config(environ)
    path = str(file) if file.is_file() or environ.get("LIMES_CONFIG") else None
    try:
        settings = load_checkable_settings(environ)
    except ConfigError as error:
        text, others = (
            "the configuration has to be corrected first",
            [name for name in names if name != "configuration"],
        )
        findings = [*configuration.unusable(str(file), error.problems), *(skipped(name, text) for name in others)]
        return _diagnosis(path, findings, Redactor(None, environ))
    context = Context(settings, clock or SystemClock(), timeout, project, environ)
    findings = []
    for name in names:
        on_check(name)
        findings += _run(name, CHECKS[name], context)
    return _diagnosis(path, findings, Redactor(settings, environ))


def _run(name: str, check: Check, context: Context) -> list[Finding]:
    findings: list[Finding] = []
    try:
        findings.extend(check(context))
    except LimesError as error:
        findings.append(problem(name, str(error), "see the message"))
    except Exception as error:
        log.debug("the check %s has failed", name, exc_info=True)
        findings.append(problem(name, f"this check has failed: {type(error).__name__}", "tell the developers of Limes"))
    return findings


def _diagnosis(path: str | None, findings: Iterable[Finding], redact: Redactor) -> Diagnosis:
    hidden = (replace(finding, message=redact(finding.message), mend=redact(finding.mend)) for finding in findings)
    return Diagnosis(__version__, path, tuple(hidden))
