"""What pages name in `code` within their text exists: commands, settings, variables, metrics, requests, files."""

import argparse
import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib.metadata import entry_points

import pytest
from limes_osc.client import build_option_parser
from markdown_it import MarkdownIt
from pydantic import BaseModel

from limes.app.cli import build_parser
from limes.app.liquid.app import ROUTES as LIQUID_ROUTES
from limes.app.routes import ROUTES
from limes.app.settings.document import rows_of_model
from limes.app.settings.root import Settings
from limes.placement import errors
from limes.placement.routes import ROUTES as PLACEMENT_ROUTES
from limes.placement.search import values as query_errors
from tests.docs.blocks import ROOT, pages

OF_THE_ORIGINAL = ("LIMES_INSECURE", "LIMES_SILENT")
"""Variables that pages name because nothing reads them here."""
FOLDERS = ("config", "docs", "limes", "plugins", "tests")


@cache
def words() -> dict[str, set[str]]:
    """Everything that stands in code within text, with the pages that have it."""
    found: dict[str, set[str]] = {}
    for page in pages():
        for token in MarkdownIt("commonmark").enable("table").parse(page.read_text(encoding="utf-8")):
            for child in token.children or ():
                if child.type == "code_inline":
                    found.setdefault(child.content, set()).add(str(page.relative_to(ROOT)))
    return found


def missing(exists: Callable[[str], bool | None]) -> list[str]:
    """Words for which `exists` answers False; None says that they are of another kind."""
    judged = {word: exists(word) for word in words()}
    assert any(judged.values())
    return [f"{word} ({', '.join(sorted(words()[word]))})" for word, good in judged.items() if good is False]


def _commands(parser: argparse.ArgumentParser, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], set[str]]]:
    yield words, {name for action in parser._actions for name in action.option_strings}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                yield from _commands(inner, (*words, name))


@cache
def commands() -> dict[tuple[str, ...], set[str]]:
    """The options of each command, by its words."""
    found = dict(_commands(build_parser(), ("limes",)))
    for point in entry_points(group="openstack.limes.v1"):
        parser = point.load()(None, None).get_parser("")
        found[tuple(point.name.split("_"))] = {name for action in parser._actions for name in action.option_strings}
    return found


def command_exists(word: str) -> bool | None:
    if not re.match(r"(?:openstack )?limes [a-z]", word):
        return None
    said = re.split(r"[ |\[\]=]+", word.removeprefix("openstack "))
    names = [one for one in said if re.fullmatch(r"[a-z][a-z-]*", one)]
    known = [tuple(names[:size]) for size in range(2, len(names) + 1) if tuple(names[:size]) in commands()]
    if not known:
        return any(one[: len(names)] == tuple(names) for one in commands())
    return {one for one in said if one.startswith("--")} <= commands()[known[-1]]


def test_commands_with_their_options() -> None:
    assert missing(command_exists) == []


@cache
def settings() -> set[str]:
    """All keys, with dots between; those of lists with and without `[]`."""
    found = set(Settings.model_fields)
    for section, field in Settings.model_fields.items():
        for model in _models(field.annotation):
            keys = {f"{section}.{row.key.strip('`')}" for row in rows_of_model(model)}
            found |= keys | {key.replace(section, f"{section}[]", 1) for key in keys}
    return found | {key.replace("[]", "") for key in found}


def _models(annotation: object) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in getattr(annotation, "__args__", ()) for model in _models(part)]


def error_codes() -> set[str]:
    """Those of Placement look like its settings."""
    return {str(getattr(one, "code", one)) for one in (*vars(errors).values(), *vars(query_errors).values())}


def setting_exists(word: str) -> bool | None:
    key = re.match(r"([a-z_]+(?:\[\])?(?:\.[a-z_]+(?:\[\])?)+)(?::|$)", word)
    if key is None or key[1].split(".")[0].removesuffix("[]") not in Settings.model_fields or "params" in key[1]:
        return None
    return key[1] in settings() | error_codes()


def test_settings() -> None:
    assert missing(setting_exists) == []


@cache
def source() -> str:
    files = [file for folder in ("limes", "plugins", "tests", ".ci") for file in (ROOT / folder).rglob("*")]
    texts = [file.read_text(encoding="utf-8") for file in files if file.suffix == ".py" or file.name == "run"]
    return "".join([*texts, (ROOT / "Makefile").read_text(encoding="utf-8")])


def variable_exists(word: str) -> bool | None:
    name = re.match(r"\$?(LIMES_[A-Z_]+)(?==|$)", word)
    if name is None or name[1].endswith("_") or name[1] in OF_THE_ORIGINAL:
        return None
    return name[1] in source()


def test_variables() -> None:
    assert missing(variable_exists) == []


NO_METRICS = {"limes_plugins", "limes_osc", "limes_files", "limes_new"}
"""Packages, a module and a database."""
OF_THE_ORIGINAL = {
    "limes_capacity_collection_metrics_ok",
    "limes_commitment_cleanups",
    "limes_expiring_commitments_discoveries",
    "limes_mail_deliveries",
    "limes_project_rate_usage",
    "limes_quota_override_syncs",
    "limes_rate_scrapes",
    "limes_report_specificity",
    "limes_resource_quota_syncs",
    "limes_retired_ironic_nodes",
    "limes_scrapes",
    "limes_unmatched_ironic_nodes",
    "limes_usage_collection_metrics_ok",
}
"""Metrics that docs/metrics.md compares with ours."""


@cache
def options_of_openstack() -> set[str]:
    """They are keys of clouds.yaml, too."""
    return {action.dest.removeprefix("os_") for action in build_option_parser(argparse.ArgumentParser())._actions}


def metric_exists(word: str) -> bool | None:
    name = re.fullmatch(r"(limes_[a-z_]+?|httpmux_[a-z_]+?)(?:_bucket|_sum|_count)?(?:\{.*)?", word)
    if name is None or name[1].endswith("_") or name[1] in NO_METRICS | OF_THE_ORIGINAL | options_of_openstack():
        return None
    return f"| `{name[1]}` |" in (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")


def test_metrics() -> None:
    assert missing(metric_exists) == []


def request_exists(word: str) -> bool | None:
    found = re.fullmatch(r"(GET|PUT|POST|DELETE) (/[^ ?]*)(?:\?.*)?", word)
    if found is None or "..." in found[2] or not found[2].startswith(("/v1/", "/resource_p", "/allocation")):
        return None
    verb, path = found[1], re.sub(r":(\w+)|\{\w+\}", "{}", found[2])
    tables = (ROUTES, PLACEMENT_ROUTES, LIQUID_ROUTES)
    return any(
        path == re.sub(r"\{\w+\}", "{}", template) and verb in methods
        for table in tables
        for template, methods in table.items()
    )


def test_requests() -> None:
    assert missing(request_exists) == []


def file_exists(word: str) -> bool | None:
    if not re.fullmatch(rf"(?:{'|'.join(FOLDERS)})/[a-z0-9_./-]+", word):
        return None
    if word == "docs/reference":  # made by `make docs`, and not kept
        return True
    return (ROOT / word).exists() or (ROOT / f"{word}.py").exists()


def test_files() -> None:
    assert missing(file_exists) == []


@pytest.mark.parametrize(
    ("exists", "wrong"),
    [
        (command_exists, "limes colect"),
        (command_exists, "limes collect --twice"),
        (command_exists, "openstack limes project sing"),
        (setting_exists, "collector.no_such_key"),
        (setting_exists, "audit.log.no_such_key: 1"),
        (variable_exists, "LIMES_NO_SUCH_" + "VARIABLE"),
        (metric_exists, "limes_no_such_metric"),
        (request_exists, "GET /v1/no-such-route"),
        (file_exists, "docs/no-such-page.md"),
    ],
)
def test_mistakes_are_found(exists: Callable[[str], bool | None], wrong: str) -> None:
    assert exists(wrong) is False


OLD_STYLE = re.compile(r"\bmended\b|\bpast Limes\b|\bput right\b|\bfound by this\b|\bin vain\b", re.IGNORECASE)
"""Words that had to be read twice."""
STOCK_PHRASES = re.compile(r"\bwhoever\b|\banew\b|\bbegun\b|\bof late\b|\bfor good\b|\bso many\b", re.IGNORECASE)
"""Say the actor, or: again, started, recently, permanently, the number."""
READ_BY_USERS = (
    "config/prometheus/alerts.yaml",
    "config/grafana/limes.json",
    "config/grafana/limes-capacity.json",
    "CONTRIBUTING.md",
    "SECURITY.md",
)


def test_english() -> None:
    texts = [*pages(), *(ROOT / name for name in READ_BY_USERS)]
    found = [
        f"{text.relative_to(ROOT)}:{number}: {line}"
        for text in texts
        for number, line in enumerate(text.read_text(encoding="utf-8").splitlines(), 1)
        if OLD_STYLE.search(line) or ("adr" not in text.parts and STOCK_PHRASES.search(line))
    ]
    assert found == []


def test_english_of_help_texts() -> None:
    helps = [action.help or "" for parser in _parsers(build_parser()) for action in parser._actions]
    assert helps
    assert [text for text in helps if OLD_STYLE.search(text) or STOCK_PHRASES.search(text)] == []


def _parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield from _parsers(inner)
