"""Who fails too often has to wait, and nobody else."""

import falcon
import pytest

from limes.ui.throttle import Throttle


@pytest.fixture
def throttle(clock):
    return Throttle(clock)


def fail(throttle, times, account, address):
    for _ in range(times):
        throttle.check(account, address)
        throttle.failed(account, address)


def test_an_account_at_an_address(throttle):
    fail(throttle, 10, "anna", "192.0.2.1")
    with pytest.raises(falcon.HTTPTooManyRequests):
        throttle.check("anna", "192.0.2.1")
    throttle.check("anna", "192.0.2.2")
    throttle.check("bert", "192.0.2.1")
    throttle.check(None, "192.0.2.1")


def test_an_address(throttle):
    fail(throttle, 200, None, "192.0.2.1")
    for account in ("anna", None):
        with pytest.raises(falcon.HTTPTooManyRequests):
            throttle.check(account, "192.0.2.1")
    throttle.check(None, "192.0.2.2")


def test_failures_are_forgotten(throttle, clock):
    fail(throttle, 10, "anna", "192.0.2.1")
    clock.advance(300)
    throttle.check("anna", "192.0.2.1")
    fail(throttle, 9, "anna", "192.0.2.1")
    throttle.check("anna", "192.0.2.1")


def test_memory_is_bounded_by_forgetting_the_oldest(throttle):
    fail(throttle, 10, "anna", "192.0.2.1")
    for number in range(10_000):
        throttle.failed(None, f"address {number}")
    throttle.check("anna", "192.0.2.1")
