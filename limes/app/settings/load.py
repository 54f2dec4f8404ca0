"""Reads the configuration file, lets the environment override it, and reports everything that is wrong at once."""

import copy
import re
from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlunsplit

import yaml
from msgspec import Struct
from pydantic import ValidationError

from limes.app.settings.root import Settings
from limes.kernel.errors import ConfigError
from limes.kernel.redaction import TELLING_KEY, hosts_of, know, secrets_of, split_url
from limes.kernel.validation.problems import Location, describe_problems
from limes.ui.settings import secret_variable


class _UniqueKeyLoader(yaml.SafeLoader):
    """YAML, but a key that is given twice is an error: the second one would silently win."""


def _mapping(loader: _UniqueKeyLoader, node: yaml.MappingNode) -> dict[Any, Any]:
    seen: set[Hashable] = set()
    for key_node, _ in node.value:
        key = loader.construct_object(key_node, deep=True)
        if isinstance(key, Hashable) and key in seen:
            raise yaml.constructor.ConstructorError(None, None, f"the key {key!r} is given twice", key_node.start_mark)
        seen.add(key)
    return loader.construct_mapping(node, deep=True)


_UniqueKeyLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


_TRUE = ("1", "true", "yes", "on")


def _boolean(text: str) -> bool:
    if text.lower() in _TRUE:
        return True
    if text.lower() in ("", "0", "false", "no", "off"):
        return False
    raise ValueError("expected true or false")


OVERRIDES: Mapping[str, tuple[tuple[str, ...], Callable[[str], Any]]] = {
    "LIMES_DATABASE_URL": (("database", "url"), str),
    "LIMES_DB_PASSWORD": (("database", "password"), str),
    "LIMES_API_LISTEN_ADDRESS": (("api", "listen"), str),
    "LIMES_API_POLICY_PATH": (("api", "policy_file"), str),
    "LIMES_PLACEMENT_LISTEN_ADDRESS": (("placement", "listen"), str),
    "LIMES_PLACEMENT_DATABASE_URL": (("placement", "database_url"), str),
    "LIMES_COLLECTOR_METRICS_LISTEN_ADDRESS": (("collector", "listen"), str),
    "LIMES_AUTHORITATIVE": (("collector", "authoritative"), _boolean),
    "LIMES_COLLECTOR_DATA_METRICS_EXPOSE": (("collector", "data_metrics", "expose"), _boolean),
    "LIMES_COLLECTOR_DATA_METRICS_SKIP_ZERO": (("collector", "data_metrics", "skip_zero"), _boolean),
    "LIMES_CONSTRAINTS_PATH": (("constraints_path",), str),
    "LIMES_QUOTA_OVERRIDES_PATH": (("quota_overrides_path",), str),
    "LIMES_AUDIT_ENABLE": (("audit", "sinks"), lambda text: ["rabbitmq"] if _boolean(text) else []),
    "LIMES_AUDIT_RABBITMQ_URL": (("audit", "rabbitmq", "url"), str),
    "LIMES_AUDIT_RABBITMQ_PASSWORD": (("audit", "rabbitmq", "password"), str),
    "LIMES_NOTIFICATIONS_WEBHOOK_SECRET": (("notifications", "webhook", "secret"), str),
    "LIMES_NOTIFICATIONS_SMTP_PASSWORD": (("notifications", "smtp", "password"), str),
    "LIMES_NOTIFICATIONS_UNSUBSCRIBE_SECRET": (("notifications", "mail", "unsubscribe", "secret"), str),
    "LIMES_AUDIT_QUEUE_NAME": (("audit", "rabbitmq", "queue_name"), str),
    "LIMES_UI_SECRET": (("ui", "secret"), str),
    "LIMES_LOG_LEVEL": (("logging", "level"), str),
    "LIMES_IDENTITY_PASSWORD": (("identity", "keystone", "password"), str),
}
"""Environment variables that override the file, where to, and how they are read."""

_DATABASE_PARTS = ("HOSTNAME", "PORT", "NAME", "USERNAME", "CONNECTION_OPTIONS")
_BROKER_PARTS = ("HOSTNAME", "PORT", "USERNAME")
KNOWN_VARIABLES = frozenset(
    {
        *OVERRIDES,
        *(f"LIMES_DB_{part}" for part in _DATABASE_PARTS),
        *(f"LIMES_AUDIT_RABBITMQ_{part}" for part in _BROKER_PARTS),
        *("LIMES_CONFIG", "LIMES_DEBUG", "LIMES_PROCESS", "LIMES_IMPORT_TOKEN", "LIMES_IMPORT_DATABASE_URL"),
        *("LIMES_LIQUID_SERVICE", "LIMES_LIQUID_LISTEN", "LIMES_HEALTH_URL"),
    }
)
"""All variables `LIMES_*` that anything of ours reads."""


def load(path: Path, environ: Mapping[str, str]) -> Settings:
    """The settings in the file, overridden from `environ`. Relative paths in it count from the file's folder. Raises
    `ConfigError` with every problem, each with its path in the file."""
    document = read_yaml(path)
    if not isinstance(document, dict):
        hint = "`limes config init` writes a file to start from"
        raise ConfigError([f"{path}: expected sections with keys, such as `services:`; {hint}"])
    return parse(document, environ, path.parent)


def read_yaml(path: Path) -> Any:
    """The YAML document in a file. Raises `ConfigError` naming the file, and the place where it is not YAML."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise ConfigError([f"{path}: cannot be read: {reason}"]) from error
    try:
        return yaml.load(text, Loader=_UniqueKeyLoader)  # noqa: S506 - a subclass of the safe loader
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise ConfigError([f"{path}{where}: not valid YAML: {getattr(error, 'problem', None) or error}"]) from error


def parse(document: dict[str, Any], environ: Mapping[str, str], folder: Path) -> Settings:
    """The settings in a parsed document. Raises `ConfigError` with every problem. From here on, the secrets in them and
    in the environment are hidden wherever they show up."""
    know(value for key, value in environ.items() if key.startswith(("LIMES_", "OS_")) and TELLING_KEY.search(key))
    problems, sources = override(document, environ)
    if "placement" in document and not document.keys() & {"availability_zones", "services"}:
        document = {"availability_zones": [], "services": [], **document}
    try:
        settings = Settings.model_validate(document, context={"folder": folder})
    except ValidationError as error:
        raise ConfigError(problems + describe_problems(error, Settings, sources=sources)) from None
    if problems:
        raise ConfigError(problems)
    know(secrets_of(settings))
    return settings


def override(document: dict[str, Any], environ: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    """Puts what the environment says into the document. Returns the problems, and the variable of each setting that
    came from one."""
    problems, sources = [], {}
    if environ.get("LIMES_DEBUG", "").lower() in _TRUE:
        document.setdefault("logging", {})["level"] = "DEBUG"
    url = _original_database_url(environ)
    if url is not None:
        document.setdefault("database", {})["url"] = url
    broker = {part: environ.get(f"LIMES_AUDIT_RABBITMQ_{part}") for part in _BROKER_PARTS}
    if any(broker.values()):  # the original's way to name it: one variable for each part
        user, host = quote(broker["USERNAME"] or "guest", safe=""), broker["HOSTNAME"] or "localhost"
        url = f"amqp://{user}@{host}:{broker['PORT'] or '5672'}/"
        document.setdefault("audit", {}).setdefault("rabbitmq", {})["url"] = url
    for variable, (path, convert) in OVERRIDES.items():
        if variable not in environ:
            continue
        section: Any = document
        for key in path[:-1]:
            section = section.setdefault(key, {}) if isinstance(section, dict) else None
        try:
            if isinstance(section, dict):
                section[path[-1]] = convert(environ[variable])
                sources[".".join(path)] = variable
        except ValueError as error:
            problems.append(f"environment variable {variable}: {error}, not {environ[variable]!r}")
    for provider in _providers(document):
        if secret := environ.get(secret_variable(str(provider.get("id", "")))):
            provider["client_secret"] = secret
    return problems, sources


def _providers(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    ui = document.get("ui")
    entries = ui.get("sign_in_with") if isinstance(ui, dict) else None
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


def _original_database_url(environ: Mapping[str, str]) -> str | None:
    """The original's way to name the database: one variable for each part."""
    if not any(f"LIMES_DB_{part}" in environ for part in ("HOSTNAME", "NAME", "USERNAME", "PORT")):
        return None
    host = environ.get("LIMES_DB_HOSTNAME", "localhost")
    user = quote(environ.get("LIMES_DB_USERNAME", "postgres"), safe="")
    name = quote(environ.get("LIMES_DB_NAME", "limes"), safe="")
    options = environ.get("LIMES_DB_CONNECTION_OPTIONS", "")
    url = f"postgresql://{user}@{host}:{environ.get('LIMES_DB_PORT', '5432')}/{name}"
    return f"{url}?{options}" if options else url


def url_with_password(url: str, password: str | None) -> str:
    """The database URL with its password replaced (for `database.password`); SQLite has none."""
    parts = split_url(url)
    if password is None or parts.scheme == "sqlite":
        return url
    netloc = f"{parts.username or ''}:{quote(password, safe='')}@{','.join(hosts_of(url))}"
    return urlunsplit(parts._replace(netloc=netloc))


_ROUNDS = 20
_INDEX = re.compile(r"^([a-z_]+)\[(\d+)\]")


class Salvage(Struct, frozen=True):
    """Settings made of what is valid."""

    settings: Settings
    kept: Mapping[str, list[int]]
    """For each list in which items were left out: the places that the others have in the file."""
    lost_services: frozenset[str]
    """The types of services whose entries were left out."""

    def with_real_places(self, problem: str) -> str:
        """Returns the problem with the place that the item has in the file."""
        match = _INDEX.match(problem)
        if match is None or match[1] not in self.kept:
            return problem
        return f"{match[1]}[{self.kept[match[1]][int(match[2])]}]{problem[match.end() :]}"


def salvage(document: Mapping[str, Any], environ: Mapping[str, str], folder: Path) -> Salvage | None:
    """Leaves out what is not valid: the keys themselves, or the whole items of the top lists. Returns None if nothing
    usable is left."""
    rest = copy.deepcopy(dict(document))
    override(rest, environ)
    kept: dict[str, list[int]] = {}
    lost: set[str] = set()
    for _ in range(_ROUNDS):
        try:
            settings = Settings.model_validate(rest, context={"folder": folder})
        except ValidationError as error:
            # only one problem of each item, and the last items of lists first: places change when one goes
            first = {tuple(item["loc"][:2]): item["loc"] for item in error.errors()}
            order = sorted(first, key=lambda place: [part if isinstance(part, int) else -1 for part in place])
            if not all(_drop(rest, first[place], kept, lost) for place in reversed(order)):
                return None
        else:
            return Salvage(settings, kept, frozenset(lost))
    return None


def _drop(document: dict[str, Any], location: Location, kept: dict[str, list[int]], lost: set[str]) -> bool:
    """Removes a place from the document. Returns whether there was anything to remove."""
    if not location or location[0] not in document:
        return False
    section = str(location[0])
    entries = document[section]
    if len(location) > 1 and isinstance(location[1], int) and isinstance(entries, list):
        places = kept.setdefault(section, list(range(len(entries))))
        entry = entries.pop(location[1])
        places.pop(location[1])
        if section == "services" and isinstance(entry, dict):
            lost.add(str(entry.get("service_type")))
        return True
    if len(location) > 1 and isinstance(entries, dict) and location[1] in entries:
        del entries[location[1]]
        return True
    del document[section]
    return True
