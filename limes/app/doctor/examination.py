"""Runs all checks in their order. One that fails does not stop the others."""

import logging
import os
from collections.abc import Callable, Collection, Iterable, Mapping

from msgspec import Struct, structs

from limes import __version__
from limes.app.composition import checks, common
from limes.app.doctor import backends, configuration, database, delivery, keystone, policy, sign_in
from limes.app.doctor.context import Context
from limes.app.settings import Settings
from limes.kernel import errors, system
from limes.kernel.findings import Finding, Level, problem, skipped
from limes.kernel.redaction import HIDDEN, TELLING_KEY, pattern_of, redact, secrets_of

log = logging.getLogger(__name__)

Check = Callable[[Context], Iterable[Finding]]

CHECKS: Mapping[str, Check] = {
    "configuration": configuration.check,
    "policy": policy.check,
    "database": database.check,
    "keystone": keystone.check,
    "sign_in": sign_in.check,
    "backends": backends.check,
    "audit": delivery.check_audit,
    "notifications": delivery.check_notifications,
    "metrics": delivery.check_metrics_folder,
}

_SHORTEST = 4
"""Shorter ones would blacken half of each text, and are no secrets."""


class Diagnosis(Struct, frozen=True):
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
    clock: system.Clock | None = None,
    only: Collection[str] = (),
    on_check: Callable[[str], None] = lambda name: None,
) -> Diagnosis:
    """Runs all checks, or those that `only` names. Changes nothing. `on_check` is called with the name of each check
    before it runs."""
    names = [name for name in CHECKS if not only or name in only]
    file = common.find_config(environ)
    path = str(file) if file.is_file() or environ.get("LIMES_CONFIG") else None
    settings = None
    try:
        settings = checks.load_checkable_settings(environ)
    except errors.ConfigError as error:
        findings = configuration.unusable(str(file), error.problems)
        text = "the configuration has to be corrected first"
        findings += [skipped(name, text) for name in names if name != "configuration"]
    else:
        context, findings = Context(settings, clock or system.SystemClock(), timeout, project, environ), []
        for name in names:
            on_check(name)
            findings += _run(name, CHECKS[name], context)
    hide = _redactor(settings, environ)
    hidden = (structs.replace(finding, message=hide(finding.message), mend=hide(finding.mend)) for finding in findings)
    return Diagnosis(__version__, path, tuple(hidden))


def _run(name: str, check: Check, context: Context) -> list[Finding]:
    findings: list[Finding] = []
    try:
        findings.extend(check(context))
    except errors.LimesError as error:
        findings.append(problem(name, str(error), "see the message"))
    except Exception as error:
        log.debug("the check %s has failed", name, exc_info=True)
        findings.append(problem(name, f"this check has failed: {type(error).__name__}", "tell the developers of Limes"))
    return findings


def _redactor(settings: Settings | None, environ: Mapping[str, str]) -> Callable[[str], str]:
    """Returns what replaces each secret of the settings and of the environment by three stars, and all that looks like
    one."""
    known = {value for key, value in environ.items() if TELLING_KEY.search(key)}
    known.update(secrets_of([value for key, value in environ.items() if key.startswith("LIMES_")]))
    known.update(secrets_of(settings))
    pattern = pattern_of(secret for secret in known if len(secret) >= _SHORTEST)
    return lambda text: redact(pattern.sub(HIDDEN, text) if pattern else text)
