"""The configuration file, and the environment that overrides it."""

import difflib
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from limes.composition.approval_warnings import approval_warnings
from limes.composition.checks import counted, problems_of
from limes.composition.cluster import build_cluster
from limes.composition.common import find_config
from limes.composition.identity import open_cloud
from limes.composition.references import reference_warnings
from limes.doctor.finding import Context, Finding, ok, problem, warning
from limes.errors import ConfigError
from limes.settings import Settings, read_yaml
from limes.settings.load import KNOWN_VARIABLES

_SECRET_KEYS = (
    ("database", "password"),
    ("identity", "keystone", "password"),
    ("identity", "keystone", "application_credential_secret"),
    ("audit", "rabbitmq", "password"),
)

_MEND = "correct what it names, or remove the entry"


def check(context: Context) -> Iterator[Finding]:
    """Everything that can be found wrong without asking anybody."""
    path = find_config(context.environ)
    problems = problems_of(context.settings, ["exposure", "addresses", "backends"])
    if problems:
        yield from unusable(str(path), problems)
    else:
        yield ok("configuration.file", f"{path}: {counted(len(context.settings.services), 'service')}")
        yield from _references(context.settings)
    yield from _readable_secrets(path)
    yield from _unknown_variables(context.environ)


def _references(settings: Settings) -> Iterator[Finding]:
    """Names that nothing has."""
    if settings.for_placement_alone:
        return
    cluster = build_cluster(settings, open_cloud(settings))
    without_effect = reference_warnings(
        settings, cluster.catalog, cluster.backends, cluster.overrides(), cluster.constraints
    )
    for text in (*without_effect, *approval_warnings(cluster.auto_approval, cluster.catalog)):
        yield warning("configuration.references", text, _MEND)


def unusable(path: str, problems: Sequence[str]) -> list[Finding]:
    """Returns what is wrong with the file."""
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


def _unknown_variables(environ: Mapping[str, str]) -> Iterator[Finding]:
    for name in sorted(environ):
        if name.startswith("LIMES_") and name not in KNOWN_VARIABLES:
            near = difflib.get_close_matches(name, KNOWN_VARIABLES, n=1, cutoff=0.8)
            mend = f"rename it to {near[0]}" if near else "remove it"
            yield warning("configuration.environment", f"nothing reads the environment variable {name}", mend)
