"""Reading the configuration file: overrides, and every problem at once."""

from pathlib import Path
from typing import Any

import pytest

from limes.app.settings import load, parse
from limes.kernel.errors import ConfigError

MINIMAL = """
availability_zones: [az-one]
services:
  - {service_type: compute, type: static}
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "limes.yaml"
    path.write_text(text)
    return path


def test_defaults_are_the_originals(tmp_path: Path) -> None:
    settings = load(write(tmp_path, MINIMAL), {})
    assert settings.discovery.method == "list"
    assert (settings.collector.scrape_interval, settings.collector.scrape_retry) == (1800, 300)
    assert (settings.collector.capacity_interval, settings.collector.capacity_retry) == (900, 180)
    assert settings.collector.discovery_interval == 180
    assert settings.api.listen.startswith("127.0.0.1:")


def test_annotations_are_texts(tmp_path: Path) -> None:
    text = """
availability_zones: [az-one]
services: [{service_type: a, type: static}]
resource_behavior:
  - resource: a/b
    annotations: {word: yes please, number: 3, half: 0.5, flag: true, day: 2030-01-31, 7: seven}
"""
    (behavior,) = load(write(tmp_path, text), {}).resource_behavior
    assert behavior.annotations == {
        "word": "yes please",
        "number": "3",
        "half": "0.5",
        "flag": "true",
        "day": "2030-01-31",
        "7": "seven",
    }


def test_every_problem_at_once(tmp_path: Path) -> None:
    text = """
availability_zones: [az-one]
services:
  - {service_type: compute}
  - {service_type: a/b, type: static, parms: {}}
bursting: {max_multiplier: x}
resource_behavior:
  - {resource: "(("}
  - {resource: a/b, scales_with: c/d}
  - {resource: a/b, annotations: {list: [1]}}
collector: {scrape_interval: -1, listen: nowhere}
surprise: 1
"""
    with pytest.raises(ConfigError) as caught:
        load(write(tmp_path, text), {"LIMES_AUTHORITATIVE": "perhaps"})
    assert caught.value.problems == [
        "environment variable LIMES_AUTHORITATIVE: expected true or false, not 'perhaps'",
        "services[0].type: missing",
        "services[1].service_type: expected letters, digits, '-', '_' or '.', beginning with a letter or digit, not 'a/b'",
        "services[1].parms: unknown key; did you mean params?",
        "bursting.max_multiplier: expected a number, not 'x'",
        "resource_behavior[0].resource: '((' is not a valid regular expression: missing ), unterminated subpattern at position 1",
        "resource_behavior[1]: scales_with and scaling_factor must be given together",
        "resource_behavior[2].annotations: annotation 'list': expected a scalar",
        "collector.listen: expected HOST:PORT, such as 127.0.0.1:8080, or :8080 for all networks of this machine, not 'nowhere'",
        "collector.scrape_interval: expected more than 0, not -1",
        "surprise: unknown key",
    ]


def test_names_that_are_given_twice_or_reserved() -> None:
    with pytest.raises(ConfigError) as caught:
        parse(
            {
                "availability_zones": ["az-one", "az-one", "any"],
                "services": [{"service_type": "compute", "type": "static"}] * 2,
                "capacitors": [{"id": "c", "type": "manual"}] * 3,
            },
            {},
            Path(),
        )
    assert str(caught.value) == (
        "availability_zones: 'az-one' is given 2 times; services: service_type 'compute' is given 2 times;"
        " capacitors: id 'c' is given 3 times; availability_zones: 'any' is a reserved name"
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: [", "line 1, column 5: not valid YAML"),
        ("a: 1\na: 2", "line 2, column 1: not valid YAML: the key 'a' is given twice"),
        ("- a list", ": expected sections with keys, such as `services:`"),
        ("", ": expected sections with keys, such as `services:`"),
    ],
)
def test_what_is_no_configuration(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(write(tmp_path, text), {})
    assert problem in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file or directory"):
        load(tmp_path / "nowhere.yaml", {})


def test_the_environment_goes_before_the_file(tmp_path: Path) -> None:
    settings = load(
        write(tmp_path, MINIMAL + "api: {listen: '127.0.0.1:1'}\n"),
        {
            "LIMES_API_LISTEN_ADDRESS": "127.0.0.1:2",
            "LIMES_AUTHORITATIVE": "false",
            "LIMES_DEBUG": "true",
            "LIMES_DATABASE_URL": "postgresql://db.example.com/quota",
            "LIMES_DB_PASSWORD": "secret",
            "LIMES_CONSTRAINTS_PATH": "constraints.yaml",
            "LIMES_QUOTA_OVERRIDES_PATH": "overrides.json",
        },
    )
    assert settings.api.listen == "127.0.0.1:2"
    assert not settings.collector.authoritative
    assert settings.logging.level == "DEBUG"
    assert settings.constraints_path == tmp_path / "constraints.yaml"
    assert settings.quota_overrides_path == tmp_path / "overrides.json"
    assert settings.database.url == "postgresql://db.example.com/quota"
    assert "secret" not in repr(settings)


def test_the_originals_database_variables(tmp_path: Path) -> None:
    environ = {"LIMES_DB_HOSTNAME": "db", "LIMES_DB_USERNAME": "me", "LIMES_DB_CONNECTION_OPTIONS": "sslmode=disable"}
    assert load(write(tmp_path, MINIMAL), environ).database.url == "postgresql://me@db:5432/limes?sslmode=disable"


def test_the_originals_audit_variables(tmp_path: Path) -> None:
    path = write(tmp_path, MINIMAL)
    environ = {
        "LIMES_AUDIT_ENABLE": "true",
        "LIMES_AUDIT_QUEUE_NAME": "notifications.info",
        "LIMES_AUDIT_RABBITMQ_HOSTNAME": "mq.example.com",
        "LIMES_AUDIT_RABBITMQ_USERNAME": "a/b",
        "LIMES_AUDIT_RABBITMQ_PASSWORD": "s3cret",
    }
    audit = load(path, environ).audit
    assert audit.sinks == ("rabbitmq",)
    assert (audit.rabbitmq.url, audit.rabbitmq.queue_name) == (
        "amqp://a%2Fb@mq.example.com:5672/",
        "notifications.info",
    )
    assert audit.rabbitmq.password == "s3cret"
    assert "s3cret" not in repr(audit)
    assert load(path, {**environ, "LIMES_AUDIT_ENABLE": "false"}).audit.sinks == ()


@pytest.mark.parametrize(
    ("text", "sinks"),
    [("none", ()), ("log", ("log",)), ("[log, rabbitmq]", ("log", "rabbitmq")), ("[]", ()), ("[none]", ())],
)
def test_sinks(tmp_path: Path, text: str, sinks: tuple[Any, ...]) -> None:
    assert load(write(tmp_path, f"{MINIMAL}audit: {{sinks: {text}}}\n"), {}).audit.sinks == sinks


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("sinks: kafka", "audit.sinks[0]: expected 'log' or 'rabbitmq', not 'kafka'"),
        ("sinks: [log, log]", "audit: a sink is given twice"),
        ("rabbitmq: {url: 'https://mq'}", "audit.rabbitmq.url: expected something that matches ^amqps?://"),
    ],
)
def test_audit_problems(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(write(tmp_path, f"{MINIMAL}audit: {{{text}}}\n"), {})
    (found,) = caught.value.problems
    assert found.startswith(problem)
