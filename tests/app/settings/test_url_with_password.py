"""`database.password` in the database's URL."""

import pytest

from limes.app.settings import url_with_password


@pytest.mark.parametrize(
    ("url", "password", "expected"),
    [
        ("postgresql://limes@db/limes", None, "postgresql://limes@db/limes"),
        ("postgresql://limes@db/limes", "a/b@c", "postgresql://limes:a%2Fb%40c@db/limes"),
        ("postgresql://limes:old@db:5433/limes?a=b", "new", "postgresql://limes:new@db:5433/limes?a=b"),
        ("sqlite:///limes.db", "new", "sqlite:///limes.db"),
        ("sqlite:///limes.db", None, "sqlite:///limes.db"),
    ],
)
def test_it_goes_where_there_is_a_user(url: str, password: str | None, expected: str) -> None:
    assert url_with_password(url, password) == expected
