"""How snippets that are no commands are tried: one function for each language, which raises for what is wrong."""

import configparser
import json
import re
import subprocess
import tomllib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import jsonschema_rs
import yaml
from openstack.config.loader import OpenStackConfig

from limes.app.doctor.configuration import check_configuration
from limes.app.settings.root import Settings
from tests.api.contract import DOCUMENT, response_of
from tests.docs.blocks import ROOT, Block
from tests.support.prometheus import OUR_NAME, find_program

Try = Callable[[Block, Path], None]

BASE = Path(__file__).parent / "base.yaml"
"""A small configuration that fragments are put into."""


def try_yaml(block: Block, folder: Path) -> None:
    """What it is can be told from its keys."""
    documents = list(yaml.safe_load_all(block.text))
    keys = set(documents[0])
    if {"apiVersion", "kind"} <= keys:
        assert all(one["kind"] and one["apiVersion"] and one["metadata"]["name"] for one in documents)
    elif "clouds" in keys:
        _try_clouds(block.text, documents[0]["clouds"], folder)
    elif "groups" in keys:
        _promtool(block.text, folder, "check", "rules")
    elif "scrape_configs" in keys:
        _promtool(block.text, folder, "check", "config")
    elif keys & set(Settings.model_fields):
        if "quota_overrides_path" in keys:
            (folder / "overrides.yaml").write_text("{}")
        _try_settings(documents[0], folder)
    elif keys <= {"domains", "projects"}:
        (folder / "constraints.yaml").write_text(block.text)
        _try_settings({"constraints_path": "constraints.yaml"}, folder)
    elif _are_overrides(documents[0]):
        (folder / "overrides.yaml").write_text(block.text)
        _try_settings({"quota_overrides_path": "overrides.yaml"}, folder)
    elif all(":" in key for key in keys):
        _try_policy(block.text, keys, folder)
    else:
        raise AssertionError(f"{block.where}: no kind of YAML that is known here: {sorted(keys)}")


def _are_overrides(document: Mapping[str, Any]) -> bool:
    """Domain -> project -> service -> resource."""
    level: list[Any] = [document]
    for _ in range(3):
        level = [inner for outer in level if isinstance(outer, dict) for inner in outer.values()]
    return bool(level) and all(isinstance(inner, dict) for inner in level)


def _try_clouds(text: str, names: Iterable[str], folder: Path) -> None:
    (folder / "clouds.yaml").write_text(text)
    clouds = OpenStackConfig(config_files=[str(folder / "clouds.yaml")], secure_files=[], load_envvars=False)
    for name in names:
        clouds.get_one(name)


def _try_settings(fragment: Mapping[str, Any], folder: Path) -> None:
    """As `limes config check` does. Raises `ConfigError` with all problems."""
    (folder / "limes.yaml").write_text(yaml.safe_dump(with_fragment(yaml.safe_load(BASE.read_text()), fragment)))
    check_configuration()


def with_fragment(base: dict[str, Any], fragment: Mapping[str, Any]) -> dict[str, Any]:
    """The base with the fragment's sections; a service of the fragment stands for the base's of the same type."""
    merged = base | fragment
    if "services" in fragment:
        own = {service["service_type"] for service in fragment["services"]}
        kept = [service for service in base["services"] if service["service_type"] not in own]
        merged["services"] = [*kept, *fragment["services"]]
    return merged


def _try_policy(text: str, keys: set[str], folder: Path) -> None:
    (folder / "policy.yaml").write_text(text)
    section = "placement" if all(key.startswith("placement:") for key in keys) else "api"
    _try_settings({section: {"policy_file": "policy.yaml"}}, folder)


def _promtool(text: str, folder: Path, *arguments: str) -> None:
    (folder / "file.yaml").write_text(text)
    command = [find_program("promtool"), *arguments, str(folder / "file.yaml")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def try_promql(block: Block, folder: Path) -> None:
    """Each line is a query; what it asks for of ours is on the page of metrics."""
    known = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    queries = [line for line in block.text.splitlines() if line.strip() and not line.startswith("#")]
    rules = [{"record": f"try:{number}", "expr": query} for number, query in enumerate(queries)]
    _promtool(yaml.safe_dump({"groups": [{"name": "try", "rules": rules}]}), folder, "check", "rules")
    names = {re.sub(r"_(?:bucket|sum|count)$", "", name) for query in queries for name in OUR_NAME.findall(query)}
    assert [name for name in sorted(names) if f"`{name}`" not in known] == []


def try_json(block: Block, folder: Path) -> None:
    """Against the OpenAPI document, by the comment `body of: METHOD PATH` or `answer of: METHOD PATH STATUS`."""
    value = json.loads(block.text)
    if "body of" in block.marks:
        method, path = block.marks["body of"].split()
        schema = DOCUMENT["paths"][path][method.lower()]["requestBody"]["content"]["application/json"]["schema"]
    else:
        method, path, status = block.marks["answer of"].split()
        schema = response_of(method.lower(), path, status)["content"]["application/json"]["schema"]
    jsonschema_rs.validator_for({**schema, "components": DOCUMENT["components"]}).validate(value)


def try_toml(block: Block, folder: Path) -> None:
    """Is TOML."""
    tomllib.loads(block.text)


def try_ini(block: Block, folder: Path) -> None:
    """Has sections with keys."""
    parser = configparser.ConfigParser(strict=False, interpolation=None, delimiters=("=",), allow_no_value=False)
    parser.read_string(block.text)
    assert parser.sections()


def try_diff(block: Block, folder: Path) -> None:
    """It fits the code as it is."""
    command = ["git", "apply", "--check", "--verbose", "-"]
    ended = subprocess.run(command, cwd=ROOT, input=block.text, capture_output=True, text=True)
    assert ended.returncode == 0, f"{block.where}: {ended.stderr}"


TRIES: Mapping[str, Try] = {
    "yaml": try_yaml,
    "json": try_json,
    "toml": try_toml,
    "ini": try_ini,
    "promql": try_promql,
    "diff": try_diff,
}
