"""The configuration file, and the environment that overrides it."""

import difflib
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from limes.app.composition import checks, common
from limes.app.composition.cluster import build_cluster
from limes.app.doctor.context import Context
from limes.app.doctor.warnings import configuration_warnings, template_problems
from limes.app.settings import read_yaml
from limes.app.settings.load import KNOWN_VARIABLES
from limes.catalog.catalog import Catalog
from limes.commitments.rules import refs_without_zones
from limes.kernel.errors import ConfigError
from limes.kernel.findings import Finding, counted, ok, problem, warning
from limes.ui.settings import secret_variable

_SECRET_KEYS = (
    ("database", "password"),
    ("identity", "keystone", "password"),
    ("identity", "keystone", "application_credential_secret"),
    ("audit", "rabbitmq", "password"),
    ("ui", "secret"),
)


def check(context: Context) -> Iterator[Finding]:
    """Everything that can be found wrong without asking anybody."""
    path = common.find_config(context.environ)
    problems = checks.problems_of(context.settings, ["exposure", "addresses", "backends"])
    if problems:
        yield from unusable(str(path), problems)
    else:
        yield ok("configuration.file", f"{path}: {counted(len(context.settings.services), 'service')}")
        if not context.settings.for_placement_alone:
            cluster = build_cluster(context.settings)
            for text in configuration_warnings(context.settings, cluster):
                yield warning("configuration.references", text, "correct what it names, or remove the entry")
    yield from _readable_secrets(path)
    known = KNOWN_VARIABLES | {secret_variable(provider.id) for provider in context.settings.ui.sign_in_with}
    for name in sorted(context.environ):
        if name.startswith("LIMES_") and name not in known:
            near = difflib.get_close_matches(name, known, n=1, cutoff=0.8)
            mend = f"rename it to {near[0]}" if near else "remove it"
            yield warning("configuration.environment", f"nothing reads the environment variable {name}", mend)


def check_configuration() -> tuple[Catalog, list[str]]:
    """Returns what there is to manage, and warnings. Nobody is asked. Raises `ConfigError` with every problem."""
    settings = checks.load_checkable_settings()
    problems = checks.problems_of(settings, [check.name for check in checks.CHECKS if not check.asks_others])
    if problems:
        raise ConfigError(problems)
    cluster = build_cluster(settings)
    warnings = list(configuration_warnings(settings, cluster))
    for ref in refs_without_zones(cluster.catalog):
        warnings.append(
            f"commitments to {'/'.join(ref)} are for one availability zone (commitment_is_az_aware), but its backend"
            " does not report usage by zone: commitments do not cover what is used, and as much of the capacity is"
            " never sold"
        )
    return cluster.catalog, warnings + template_problems(settings.notifications.mail)


def unusable(path: str, problems: Sequence[str]) -> list[Finding]:
    if not Path(path).is_file():
        mend = "write one with `limes config init`, or name yours with --config or LIMES_CONFIG"
    else:
        mend = f"correct it in {path}; docs/configuration.md says what each key means"
    return [problem("configuration.file", text, mend) for text in problems]


def _readable_secrets(path: Path) -> Iterator[Finding]:
    """Passwords in a file that everybody on the machine may read."""
    try:
        document = read_yaml(path)
        is_open = bool(path.stat().st_mode & stat.S_IROTH)
    except (ConfigError, OSError):
        return
    given = [".".join(keys) for keys in _SECRET_KEYS if _at(document, keys)]
    if given and is_open:
        mend = f"chmod o-r {path}, or take the secrets from the environment (docs/configuration.md)"
        yield warning("configuration.secrets", f"everybody on this machine can read {', '.join(given)}", mend)


def _at(document: Any, keys: Iterable[str]) -> Any:
    for key in keys:
        document = document.get(key) if isinstance(document, Mapping) else None
    return document
