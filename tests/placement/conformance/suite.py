"""Runs one YAML file of the upstream suite through gabbi, over HTTP. Nothing of the suite is copied here."""

import os
import unittest
from pathlib import Path

from gabbi import handlers, suitemaker, utils

from tests.placement.conformance.builder import Builder, FixtureError
from tests.placement.conformance.fixtures import FIXTURES, base, nothing
from tests.placement.conformance.outcome import Outcome, Result, Status

GROUPS = ("core", "policy", "cors", "rbac")

EXCLUDED = {
    ("basic-http", "bad content length not int"): (
        'asks the client to send "Content-Length: hi mom": HTTP clients refuse to send it, and HTTP servers answer 400'
        " before the application sees it"
    )
}
"""(file, test) and why it cannot be put to a server over HTTP."""


class Suite:
    """One YAML file: which group it belongs to, and which profile its server has to have."""

    def __init__(self, path: Path) -> None:
        self.name = path.stem
        self._path = path
        data = utils.load_yaml(yaml_file=str(path))
        self.test_names: list[str] = [test.get("name", "") for test in data["tests"]]
        fixtures = data.get("fixtures") or ["APIFixture"]
        self.problem = None if len(fixtures) == 1 and fixtures[0] in FIXTURES else f"unknown fixtures {fixtures}"
        self.group, self.profile, self._create = FIXTURES.get(fixtures[0], ("core", "core", nothing))

    def run(self, url: str) -> list[Outcome]:
        """Runs all tests in order against an empty server. If its fixture fails, all its tests have failed."""
        if self.problem is not None:
            return self.all_failed(self.problem)
        builder = Builder(url)
        try:
            if builder.call("GET", "/resource_providers", "1.20").json()["resource_providers"]:
                return self.all_failed("the database is not empty")
            base(builder)
            self._create(builder)
        except FixtureError as error:
            return self.all_failed(f"fixture: {error}")
        return self._run(url, builder.env)

    def all_failed(self, why: str) -> list[Outcome]:
        """For a file that could not be run: the totals never shrink."""
        return [Outcome(self.name, name, "fail", why) for name in self.test_names]

    def _run(self, url: str, env: dict[str, str]) -> list[Outcome]:
        data = utils.load_yaml(yaml_file=str(self._path))
        data.setdefault("defaults", {})["cert_validate"] = False  # else each test reads all certificates of the machine
        for test in data["tests"]:
            reason = EXCLUDED.get((self.name, test.get("name")))
            if reason:
                test["skip"] = reason
        host, port, prefix, _ = utils.host_info_from_target(url)
        suite = suitemaker.test_suite_from_dict(
            unittest.defaultTestLoader,
            self.name,
            data,
            str(self._path.parent),
            host,
            port,
            None,
            None,
            prefix=prefix,
            handlers=[handler() for handler in handlers.RESPONSE_HANDLERS],
            test_loader_name="placement",
        )
        tests = list(suite)
        result = Result()
        before = dict(os.environ)
        os.environ.update(env)
        try:
            for test in tests:
                test.run(result)
        finally:
            os.environ.clear()
            os.environ.update(before)
        silent: tuple[Status, str] = ("fail", "the test reported nothing")
        return [
            Outcome(self.name, name, *result.ended.get(id(test), silent))
            for name, test in zip(self.test_names, tests, strict=True)
        ]


def find_suites(folder: Path) -> list[Suite]:
    """All files of the installed upstream package whose virtual environment is at `folder`."""
    found = sorted(folder.glob("lib/python*/site-packages/placement/tests/functional/gabbits/*.yaml"))
    return [Suite(path) for path in found]
