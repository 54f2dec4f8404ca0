"""`python -m tests.setup GOAL [--venv FOLDER] [--plan]`: installs what a target of the Makefile needs.

Prints one line for each thing that is missing in the end, with what it costs, and ends with 0 all the same: the tests
that need it are skipped. Only our own virtual environment is a must.
"""

import argparse
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path

from tests.setup import install
from tests.setup.install import SetupError
from tests.setup.needs import CHECKOUT, GOALS, REAL, Machine, Need, this_machine

_PROJECT = CHECKOUT / "pyproject.toml"
_REQUIREMENTS = CHECKOUT / "tests" / "requirements-real.txt"
_EXTRAS = {"run": "", "docs": "docs"}
"""What our own virtual environment gets for a goal; `dev` for all others, which includes `docs`."""


class Setup:
    """The set-up for one goal."""

    def __init__(self, goal: str, machine: Machine, may_use_apt: bool) -> None:
        self.machine = machine
        self.may_use_apt = may_use_apt
        self._extras = _EXTRAS.get(goal, "dev")
        self._needs = GOALS[goal]
        self._reasons: dict[str, str] = {}
        """Why something could not be installed, by its name."""

    def missing(self) -> list[Need]:
        """What is not there now."""
        return [need for need in self._needs if need.find(self.machine) is None]

    def debian_packages(self) -> list[str]:
        """What to ask apt for. What PyPI has as well comes from there: it is quicker, and stays in the checkout."""
        if not self.may_use_apt:
            return []
        major, minor = sys.version_info[:2]
        has_venv = (self.machine.venv / "bin").exists() or importlib.util.find_spec("ensurepip")
        venv = [] if has_venv else ["python3-venv", f"python{major}.{minor}-venv"]
        return [*venv, *(package for need in self.missing() if not need.pip for package in need.debian)]

    def run(self) -> None:
        """Does it all. Raises `SetupError` without our own virtual environment."""
        if packages := self.debian_packages():
            print(f"installing with apt: {' '.join(packages)}", flush=True)
            self._try(self._needs, lambda: install.apt_install(packages))
        self._own_venv()
        for need in self.missing():
            if need is REAL:
                print("installing real OpenStack components", flush=True)
                self._try([need], self._real_venv)
            elif need.pip:
                self._try([need], lambda need=need: install.pip_install(self.machine.venv, need.pip))

    def stories(self) -> list[str]:
        """One line for each thing that is missing."""
        return [need.story(self._reason(need)) for need in self.missing()]

    def _reason(self, need: Need) -> str:
        may_come = self.may_use_apt or need.pip or not need.debian
        return self._reasons.get(need.name, "" if may_come else "only root on Debian can install it here")

    def _try(self, needs: "list[Need] | tuple[Need, ...]", work: Callable[[], None]) -> None:
        try:
            work()
        except SetupError as error:
            self._reasons |= {need.name: str(error) for need in needs}

    def _own_venv(self) -> None:
        venv = self.machine.venv
        stamp = venv / f".installed{'-' if self._extras else ''}{self._extras}"
        if install.is_newer(stamp, _PROJECT):
            return
        install.make_venv(venv)
        install.pip_install(venv, "-e", f"{CHECKOUT}[{self._extras}]" if self._extras else str(CHECKOUT))
        for name in {".installed", stamp.name}:
            (venv / name).touch()

    def _real_venv(self) -> None:
        venv = self.machine.real_venv
        install.make_venv(venv)
        install.pip_install(venv, "-r", str(_REQUIREMENTS))
        (venv / ".installed").touch()


def main() -> int:
    """Answers an exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.setup", description=(__doc__ or "").partition("\n\n")[2])
    parser.add_argument("goal", choices=GOALS)
    parser.add_argument("--venv", type=Path, default=CHECKOUT / ".venv", help="our own virtual environment")
    parser.add_argument("--plan", action="store_true", help="say what would be done, and do nothing")
    arguments = parser.parse_args()
    setup = Setup(arguments.goal, this_machine(arguments.venv), install.may_use_apt())
    if arguments.plan:
        print(f"with apt: {' '.join(setup.debian_packages()) or 'nothing'}")
    else:
        try:
            setup.run()
        except SetupError as error:
            print(error, file=sys.stderr)
            return 1
    for line in setup.stories():
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
