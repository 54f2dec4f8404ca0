"""What people mistype is answered with what they meant, and help has examples that work."""

import argparse
import shlex
from importlib.metadata import entry_points

import pytest
from limes_osc.help import EXAMPLES, suggest_command

from tests.osc.conftest import Cloud, Login

COMMANDS = {
    one.name.replace("_", " ").removeprefix("limes").strip(): one for one in entry_points(group="openstack.limes.v1")
}
NAMES = sorted(name for name in COMMANDS if name != "-help")


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("projct list", "'limes projct list' is not a command; did you mean limes project list?"),
        ("project lst --long -f json", "'limes project lst json' is not a command; did you mean limes project list?"),
        ("proyect show shop", "'limes proyect show shop' is not a command; did you mean limes project show?"),
        ("comitment crate compute/cores 5", "did you mean limes commitment create?"),
        ("scrape eror list", "did you mean limes scrape error list?"),
        ("mail", "there are: limes mail list, limes mail subscribe, limes mail unsubscribe"),
        (
            "nonsense",
            "there are: limes alert ..., limes change ..., limes cluster ..., limes commitment ..., limes domain ..., limes forecast",
        ),
        ("", "which command?; there are: limes alert ..."),
    ],
)
def test_commands_that_do_not_exist(login: Login, typed: str, said: str) -> None:
    """Without asking anybody: there is no login."""
    outcome = login("nobody").run(typed, OS_AUTH_TYPE="none", OS_ENDPOINT="")
    assert (outcome.status, outcome.out) == (2, "")
    assert said in outcome.errors
    assert outcome.errors.count("\n") == 1


def test_shortened_commands_still_work(login: Login) -> None:
    assert "compute/cores" in login("berlin-admin").must("proj sho")


@pytest.mark.parametrize("name", NAMES)
def test_no_command_is_taken_for_another(name: str) -> None:
    assert suggest_command(name.split(), NAMES).startswith(f"did you mean limes {name}")


@pytest.mark.parametrize("name", NAMES)
def test_each_command_has_examples_that_it_understands(name: str) -> None:
    parser: argparse.ArgumentParser = COMMANDS[name].load()(None, None).get_parser(f"openstack limes {name}")
    examples = EXAMPLES[name]
    text = " ".join(parser.format_help().split())
    for example in examples:
        parser.parse_args(shlex.split(example))
        assert " ".join(f"openstack limes {name} {example}".split()) in text


def test_no_examples_for_others() -> None:
    assert set(EXAMPLES) == set(NAMES)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("commitment create compute/cores 10 --az az-one --duration '1 yaer'", '(did you mean "1 year"?)'),
        ("project set --set compute.ram=50GiB", "did you mean compute/ram=50GiB?"),
        ("project set --set capcity=50GiB", "did you mean volume/capacity=50GiB?"),
        (
            "project set --max-quota cores=50",
            "--max-quota cores=50: expected <service>/<resource>=<amount>, did you mean",
        ),
        ("request create --reason x --set cores=50", "did you mean compute/cores=50?"),
        ("project set --set nothing=50", "such as compute/ram=200GiB"),
        ("project set --set compute/ram=1.5t", "'t' is not a unit (did you mean 1.5TiB?)"),
        ("project set --set compute/ram=100parsec", "there are: B, KiB, MiB"),
    ],
)
def test_what_was_meant(login: Login, command: str, said: str) -> None:
    errors = login("berlin-admin").refused(command)
    assert said in errors
    assert "JSON" not in errors


@pytest.mark.parametrize("verb", ["approve", "show", "withdraw", "reject --reason x", "pass-on", "comment"])
def test_a_request_that_does_not_exist(cloud: Cloud, login: Login, verb: str) -> None:
    """Also where Limes does not know the token's domain."""
    words = verb.split(" ", 1)
    command = f"request {words[0]} 99 {' '.join(words[1:])}" + (" hello" if verb == "comment" else "")
    for user in ("cloud-admin", "berlin-admin", "germany-admin"):
        assert login(user).refused(command) == "there is no request 99, or not for this user\n"
    cloud.engine.execute("DELETE FROM projects", [])
    cloud.engine.execute("DELETE FROM domains", [])
    for user in ("berlin-admin", "germany-admin"):
        assert login(user).refused(command) == "there is no request 99, or not for this user\n"
