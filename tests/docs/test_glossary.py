"""One word for one thing: names that users and operators see have the words of docs/glossary.md."""

import argparse
import re
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from limes.app.cli import build_parser
from limes.app.features import entries
from limes.app.models import MODELS, ON_POSTGRESQL
from limes.app.routes import ROUTES, RULES
from limes.app.settings.document import rows_of_model
from limes.app.settings.root import Settings

PAGE = Path(__file__).parents[2] / "docs" / "glossary.md"
ALLOWED = {
    "availability_zones": "the original's name",
    "billing": "the role of those who write bills",
    "collector.poll_interval": "of the database, for work",
    "identity.keystone.region_name": "Keystone's own word",
    "notifications.smtp.host": "a machine, and not what has capacity",
    "project:grant_quota": "what the project gets is not temporary",
}
"""Names with words that mean something else there, or that are not ours."""


def refused_words() -> set[str]:
    rows = re.findall(r"^\| ([^|]+) \| [^|]+ \|$", PAGE.read_text().partition("## Words for the same things")[2], re.M)
    return {word.strip() for row in rows if not row.startswith(("not", "--")) for word in row.split(",")}


def commands(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                yield from (name, *commands(inner))


def names() -> dict[str, list[str]]:
    return {
        "requests": [re.sub(r"{\w+}", "", path) for path in ROUTES],
        "policy rules": [rule.name for rule in RULES],
        "tables": [model._meta.table_name for model in (*MODELS, *ON_POSTGRESQL)],
        "settings": [row[0].strip("`") for row in rows_of_model(Settings)],
        "jobs": [job.name for job in entries("jobs", "JOBS")],
        "counters": [job.counter for job in entries("jobs", "JOBS")],
        "commands": list(commands(build_parser())),
        "commands of the OpenStack client": [point.name for point in entry_points(group="openstack.limes.v1")],
    }


@pytest.mark.parametrize("kind", names())
def test_names_have_the_words_of_the_glossary(kind: str) -> None:
    found, refused = names()[kind], refused_words()
    assert found
    assert len(refused) > 30
    assert {
        name: words
        for name in found
        if name not in ALLOWED and (words := refused & set(re.split(r"[^a-z]+", name.lower())))
    } == {}
