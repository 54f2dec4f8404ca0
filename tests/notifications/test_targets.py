"""Where projects may have notifications sent to: hosts by name, and addresses however they are written."""

from ipaddress import ip_address

import pytest

from limes.kernel.errors import Unprocessable
from limes.notifications.targets import ProjectWebhookSettings, Target, checked_addresses, read_target

HOSTS = ProjectWebhookSettings(allowed_hosts=("chat.example.com", "*.hooks.example.com", "127.0.0.1"))
PUBLIC = "93.184.216.34"


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("https://chat.example.com", (True, "chat.example.com", 443)),
        ("https://chat.example.com/hooks/T0/B1?x=@1", (True, "chat.example.com", 443)),
        ("HTTPS://Chat.Example.com:8443/a", (True, "chat.example.com", 8443)),
        ("http://chat.example.com/", (False, "chat.example.com", 80)),
        ("https://a.b.hooks.example.com/", (True, "a.b.hooks.example.com", 443)),
    ],
)
def test_what_may_be_chosen(url: str, target: tuple[bool, str, int]) -> None:
    assert read_target(url, HOSTS) == Target(*target)


@pytest.mark.parametrize(
    "url",
    [
        "", "chat.example.com", "//chat.example.com/", "ftp://chat.example.com/", "file:///etc/passwd", "https:///x",
        "https://user@chat.example.com/", "https://user:pass@chat.example.com/", "https://chat.example.com@evil.example/",
        "https://chat.example.com:80@evil.example/", "https://chat.example.com\\@evil.example/",
        "https://chat.example.com/#a", "https://chat.example.com#@evil.example/", "https://chat.example.com/a b",
        "https://chat.example.com/\r\nHost: evil", "https://chat.example.com/\t", "https://chat.example.com:0/",
        "https://chat.example.com:65536/", "https://chat.example.com:/", "https://ch\u00e4t.example.com/",
        "https://chat.example.com\u3002evil.example/", "https://[::1]/", "https://[::ffff:127.0.0.1]/",
        "https://chat.example.com/" + 2000 * "a", " https://chat.example.com/", "https://chat.example.com/\n",
    ],
)  # fmt: skip
def test_what_is_no_such_url(url: str) -> None:
    with pytest.raises(Unprocessable, match="expected a URL such as"):
        read_target(url, HOSTS)


@pytest.mark.parametrize(
    "host",
    [
        "evil.example", "xchat.example.com", "chat.example.com.evil.example", "hooks.example.com", "chat.example.com.",
        "evilhooks.example.com", "2130706433", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1", "127.1", "127.0.0.01",
        "localhost", "169.254.169.254",
    ],
)  # fmt: skip
def test_a_host_that_is_not_on_the_list(host: str) -> None:
    with pytest.raises(Unprocessable, match=r"is not among the hosts that are allowed|expected a URL"):
        read_target(f"https://{host}/", HOSTS)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.8.9.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1", "169.254.169.254", "0.0.0.0",
        "224.0.0.1", "240.0.0.1", "255.255.255.255", "192.0.2.1", "::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1",
        "fec0::1", "ff02::1", "2001:db8::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:7f00:1", "::127.0.0.1",
        "2002:7f00:1::", "64:ff9b::7f00:1",
    ],
)  # fmt: skip
@pytest.mark.parametrize("before", [(), (PUBLIC,)])
def test_an_address_that_is_not_public(address: str, before: tuple[str, ...]) -> None:
    target = Target(True, "chat.example.com", 443)
    with pytest.raises(Unprocessable) as caught:
        checked_addresses(target, HOSTS, lambda host, port: [*before, address])
    assert str(caught.value) == "chat.example.com has an address that is not public, and that is not allowed here"


@pytest.mark.parametrize("address", [PUBLIC, "2606:2800:220:1::1", f"::ffff:{PUBLIC}"])
def test_public_addresses(address: str) -> None:
    asked = []

    def ask(host: str, port: int) -> list[str]:
        asked.append((host, port))
        return [address]

    (found,) = checked_addresses(Target(True, "chat.example.com", 8443), HOSTS, ask)
    assert ip_address(found) == ip_address(address)
    assert asked == [("chat.example.com", 8443)], "once"


@pytest.mark.parametrize("address", ["10.1.2.3", "::ffff:10.1.2.3", "fd00:1::2"])
def test_networks_that_operators_have_named(address: str) -> None:
    named = ProjectWebhookSettings(allowed_hosts=HOSTS.allowed_hosts, allowed_networks=("10.1.0.0/16", "fd00:1::/32"))
    for is_secure in (True, False):
        assert checked_addresses(Target(is_secure, "chat.example.com", 80), named, lambda *_: [address])
    with pytest.raises(Unprocessable, match="not public"):
        checked_addresses(Target(True, "chat.example.com", 443), named, lambda *_: [address, "10.2.0.1"])
    with pytest.raises(Unprocessable, match="needs https"):
        checked_addresses(Target(False, "chat.example.com", 80), named, lambda *_: [address, PUBLIC])


@pytest.mark.parametrize("found", [OSError("no such host"), UnicodeError("too long"), []])
def test_a_name_without_addresses(found: Exception | list[str]) -> None:
    def ask(host: str, port: int) -> list[str]:
        if isinstance(found, Exception):
            raise found
        return found

    with pytest.raises(Unprocessable, match=r"no address of chat\.example\.com can be found"):
        checked_addresses(Target(True, "chat.example.com", 443), HOSTS, ask)


@pytest.mark.parametrize(
    "wrong",
    [
        {"allowed_hosts": ["*"]}, {"allowed_hosts": ["https://chat.example.com"]}, {"allowed_hosts": ["Chat.example.com"]},
        {"allowed_hosts": ["*example.com"]}, {"allowed_networks": ["10.1.0.1/16"]}, {"allowed_networks": ["chat"]},
        {"timeout": 61},
    ],
)  # fmt: skip
def test_settings_that_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"expected|less than"):
        ProjectWebhookSettings.model_validate(wrong)
