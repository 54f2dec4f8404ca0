"""What a project's request needs of its domain."""

from limes.requests.rules import missing_domain_quota

CORES, RAM, DISKS = ("compute", "cores"), ("compute", "ram"), ("volume", "disks")


def test_only_what_the_domain_does_not_have_is_missing() -> None:
    """The domain has 30 cores, just enough RAM, and was never given disks."""
    wanted, others = {CORES: 11, RAM: 4, DISKS: 1}, {CORES: 20, RAM: 6}
    assert missing_domain_quota(wanted, {CORES: 30, RAM: 10}, others) == {CORES: 31, DISKS: 1}
