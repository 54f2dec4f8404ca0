"""Each problem in words for an operator: what was given and what would be right, and never a secret."""

from pathlib import Path
from typing import Any

import pytest

from limes.app.settings import parse
from limes.backends.loader import BackendSpec, load
from limes.kernel.errors import ConfigError, StartupError

BASE = {"availability_zones": ["az-one"], "services": [{"service_type": "compute", "type": "static"}]}


def problem(document: dict[str, Any], **environ: str) -> str:
    with pytest.raises(ConfigError) as caught:
        parse({**BASE, **document}, environ, Path())
    (text,) = caught.value.problems
    return text


@pytest.mark.parametrize(
    ("document", "text"),
    [
        ({"api": {"workers": "many"}}, "api.workers: expected a whole number, not 'many'"),
        ({"api": {"workers": 1.5}}, "api.workers: expected a whole number, not 1.5"),
        ({"api": {"workers": 1000}}, "api.workers: expected at most 256, not 1000"),
        ({"collector": {"threads": 0}}, "collector.threads: expected at least 1, not 0"),
        ({"api": {"workers": None}}, "api.workers: expected a whole number, not null"),
        ({"ui": {"enabled": "perhaps"}}, "ui.enabled: expected true or false, not 'perhaps'"),
        ({"ui": {"title": 5}}, "ui.title: expected a text, not 5"),
        ({"ui": {"title": ""}}, "ui.title: must not be empty"),
        ({"ui": "on"}, "ui: expected keys with values"),
        ({"capacitors": {"id": "a"}}, "capacitors: expected a list, not keys with values"),
        ({"logging": {"style": "pretty"}}, "logging.style: expected 'plain' or 'json', not 'pretty'"),
        ({"colector": {}}, "colector: unknown key; did you mean collector?"),
        ({"collector": {"thread": 5}}, "collector.thread: unknown key; did you mean threads?"),
        (
            {"resource_behavior": [{"resource": "a/b", "commitment_duration": []}]},
            "resource_behavior[0].commitment_duration: unknown key; did you mean commitment_durations?",
        ),
        (
            {"api": {"listen": "8080"}},
            "api.listen: expected HOST:PORT, such as 127.0.0.1:8080, or :8080 for all networks of this machine,"
            " not '8080'",
        ),
        ({"api": {"listen": "::1:8080"}}, "api.listen: expected an IPv6 address in brackets, such as [::1]:8080,"),
        ({"ui": {"title": "x" * 100}}, f"ui.title: expected at most 60 characters, not '{'x' * 60}...'"),
    ],
)
def test_texts(document: dict[str, Any], text: str) -> None:
    assert problem(document).startswith(text)


def test_the_environment_variable_is_named() -> None:
    assert problem({}, LIMES_API_LISTEN_ADDRESS="nowhere").startswith(
        "api.listen (from the environment variable LIMES_API_LISTEN_ADDRESS): expected HOST:PORT"
    )
    assert problem({}, LIMES_AUTHORITATIVE="maybe") == (
        "environment variable LIMES_AUTHORITATIVE: expected true or false, not 'maybe'"
    )


@pytest.mark.parametrize(
    "document",
    [
        {"database": {"password": {"s3cr3t-value": 1}}},
        {"database": "s3cr3t-value"},
        {"identity": {"keystone": {"cloud": "west", "application_credential_secret": ["s3cr3t-value"]}}},
        {"identity": {"keystone": {"auth_url": "limes:s3cr3t-value@keystone"}}},
        {"audit": {"rabbitmq": {"url": "s3cr3t-value"}}},
        {"identity": {"sample": {"tokens": ["s3cr3t-value"]}}},
        {"ui": {"title": "https://me:s3cr3t-value@dashboard.example.org/" + 60 * "x"}},
    ],
)
def test_secrets_are_not_shown(document: dict[str, Any]) -> None:
    with pytest.raises(ConfigError) as caught:
        parse({**BASE, **document}, {}, Path())
    assert "s3cr3t" not in str(caught.value)


def test_params_of_plugins() -> None:
    params = {"area": "dns", "max_age": "2 hours", "page_sise": 5, "auth": {"type": "token", "token": ["s3cr3t"]}}
    spec = BackendSpec("services[0]", "dns", "dns", params)
    discovery = BackendSpec("discovery", "lists", "lists", {}, plugin_key="method")
    with pytest.raises(ConfigError) as caught:
        load([spec], [], discovery, availability_zones=["az-one"])
    problems = {text.partition(": ")[0]: text.partition(": ")[2] for text in caught.value.problems}
    assert problems["services[0].params.max_age"] == "expected at most 3600, not 7200.0"
    assert problems["services[0].params.page_sise"] == "unknown key; did you mean page_size?"
    assert problems["discovery.method"].startswith("there is no plugin 'lists' (installed are: ")
    assert problems["discovery.method"].endswith("; did you mean list?")
    assert "s3cr3t" not in str(caught.value)


def test_all_networks_as_in_the_original() -> None:
    settings = parse(dict(BASE), {"LIMES_API_LISTEN_ADDRESS": ":8080"}, Path())
    assert settings.api.listen == "0.0.0.0:8080"
    sample = parse({**BASE, "identity": {"method": "sample"}, "api": {"listen": ":8080"}}, {}, Path())
    with pytest.raises(StartupError, match=r"only served on loopback, not on 0\.0\.0\.0:8080"):
        sample.identity.refuse_exposure({"api.listen": sample.api.listen})
