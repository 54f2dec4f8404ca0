"""URLs with several hosts, among them IPv6 addresses, which some versions of Python's `urlsplit` refuse."""

import pytest

from limes.app.settings import url_with_password
from limes.kernel.redaction import hosts_of, secrets_of, split_url

SEVERAL = "postgresql://me:old@one:5432,two,[::1]:5434/limes?sslmode=require"


def test_several_hosts() -> None:
    parts = split_url(SEVERAL)
    assert (parts.scheme, parts.username, parts.password, parts.hostname, parts.port) == (
        "postgresql",
        "me",
        "old",
        "one",
        5432,
    )
    assert (parts.path, parts.query) == ("/limes", "sslmode=require")
    assert hosts_of(SEVERAL) == ["one:5432", "two", "[::1]:5434"]


@pytest.mark.parametrize(
    ("url", "hosts"),
    [
        ("postgresql:///limes?host=/run", [""]),
        ("sqlite:////var/lib/limes.db", [""]),
        ("postgresql://[::1]/limes", ["[::1]"]),
        ("postgresql://a@b:c@host/limes", ["host"]),
        ("nonsense", [""]),
    ],
)
def test_others_are_as_python_reads_them(url: str, hosts: list[str]) -> None:
    from urllib.parse import urlsplit

    assert split_url(url) == urlsplit(url)
    assert hosts_of(url) == hosts


def test_a_password_is_replaced_and_the_hosts_are_kept() -> None:
    assert url_with_password(SEVERAL, "new") == SEVERAL.replace("old", "new")


def test_the_password_of_such_a_url_is_known_as_a_secret() -> None:
    assert "old" in list(secrets_of(SEVERAL))
