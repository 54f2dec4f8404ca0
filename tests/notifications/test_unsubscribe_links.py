"""Links to unsubscribe: signed, and of no use for anybody else's address."""

import pytest

from limes.notifications.mail.mailer import Subscription, Unsubscribe

LINKS = Unsubscribe("https://limes.example.com/api", "sixteen-characters")
ALICE = Subscription("alice+x@example.com", "quota_used")


def test_a_link_is_read_as_it_was_made() -> None:
    assert LINKS.read(LINKS.token(ALICE)) == ALICE
    assert LINKS.link(ALICE) == f"https://limes.example.com/api/v1/notifications/unsubscribe?token={LINKS.token(ALICE)}"


@pytest.mark.parametrize(
    "token",
    [
        "",
        ".",
        "x",
        "x.y",
        "\u00fc.y",
        "x" * 5000,
        LINKS.token(ALICE) + "x",
        LINKS.token(ALICE).partition(".")[0] + ".",
        LINKS.token(ALICE).partition(".")[0]
        + "."
        + LINKS.token(Subscription("bob@example.com", "*")).partition(".")[2],
        Unsubscribe(LINKS.url, "another-secret-key").token(ALICE),
    ],
)
def test_what_we_did_not_sign(token: str) -> None:
    assert LINKS.read(token) is None
