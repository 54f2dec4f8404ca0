"""Every command of every page is run in the sample cloud; what it prints is what the page shows.

Pages work in any order: all run one after the other in one cloud and one terminal, in three orders (`make test`: in the
first). Only a page that tells its readers to start with `limes serve --fresh` begins with fresh data.
"""

import contextlib
import shlex
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.blocks import ROOT, Block, blocks_of, pages
from tests.docs.cloud import SampleCloud
from tests.docs.matching import agrees
from tests.docs.shell import Result, Shell
from tests.docs.transcript import Step, steps_of
from tests.setup.needs import CURL
from tests.support.machine import require

pytestmark = [pytest.mark.site, pytest.mark.timeout(500)]  # for the start of the cloud; a page takes seconds

PATIENCE = 100.0
"""Seconds until the collector has seen what a page has done before."""
COMMANDS = ("console", "sh", "python")
PREPARATIONS = Path(__file__).parent / "prepare"
TERMINAL = Path(__file__).parent / "terminal.py"


def is_for_shell(block: Block) -> bool:
    return block.language in COMMANDS and block.is_run_here


PAGES = [page for page in pages() if any(map(is_for_shell, blocks_of(page)))]
ALONE = ("docs/plugins.md", "docs/liquid.md", "docs/placement-operators.md")
"""Pages whose examples have files and servers of their own: they run in the first order only."""
STARTS = ("make run ARGS=--fresh", "limes serve --fresh")


def starts_anew(page: Path) -> bool:
    """Whether a page tells its readers to begin with fresh data."""
    return any(block.shown.startswith(f"$ {start}") for block in blocks_of(page) for start in STARTS)


def orders() -> Iterator[tuple[str, list[Path]]]:
    """Orders in which each page comes before and after each other one.

    In the third, those that do not ask for fresh data come last, when all others have left theirs.
    """
    shared = [page for page in PAGES if str(page.relative_to(ROOT)) not in ALONE]
    yield "forwards", PAGES
    yield "backwards", shared[::-1]
    yield "left-overs", sorted([*shared[1::2], *shared[::2]], key=starts_anew, reverse=True)


VISITS = [
    pytest.param(name, page, marks=[] if name == "forwards" else pytest.mark.long)
    for name, order in orders()
    for page in order
]


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SampleCloud]:
    """The sample cloud of this module. Skips, or fails in CI, without curl."""
    require(CURL)
    cloud = SampleCloud(tmp_path_factory.mktemp("cloud"))
    try:
        cloud.start()
        yield cloud
    finally:
        cloud.stop()


@pytest.fixture(scope="module")
def terminals(cloud: SampleCloud) -> Iterator[dict[str, Shell]]:
    """One for each order, by its name: what a page has exported is still there on the next one."""
    with contextlib.ExitStack() as stack:
        yield {name: stack.enter_context(Shell(cloud.folder, cloud.env)) for name, _ in orders()}


def steps(block: Block) -> list[Step]:
    """Its commands, with the outputs that are shown."""
    if block.language == "console":
        return steps_of(block.text, block.line)
    command = block.text if block.language == "sh" else f"python3 - <<'END'\n{block.text}END\n"
    return [Step(block.line, command, "")]


def prepare(block: Block, shell: Shell, cloud: SampleCloud) -> None:
    """Runs what the comment `prepare: NAME` asks for: a script that readers need not see, or `--fresh`."""
    if "fresh" in block.marks:
        cloud.reset()
    if name := block.marks.get("prepare"):
        script = (PREPARATIONS / f"{name}.sh").read_text()
        result = shell.run(cloud.with_real_ports(script))
        assert result.code == 0, f"{block.where}: {name}.sh\n{result.output}"


def only_looks(command: str) -> bool:
    """Whether a command may be repeated: the collector may not have seen yet what was done before it."""
    changes = (" -X", " -d", " --data", "import", "upgrade", "create", "set ", " -T")
    return not any(word in command for word in changes)


def run_step(step: Step, shell: Shell, cloud: SampleCloud, code: int, output_is_shown: bool) -> Result | None:
    """Answers what was wrong, or None."""
    deadline = time.monotonic() + (PATIENCE if only_looks(step.command) else 0)
    while True:
        result = shell.run(cloud.with_real_ports(step.command))
        result = Result(cloud.with_shown_ports(result.output), result.code)
        if result.code == code and (not output_is_shown or agrees(step.output, result.output)):
            return None
        if time.monotonic() > deadline:
            return result
        time.sleep(0.1)


def run_block(block: Block, shell: Shell, cloud: SampleCloud) -> None:
    """All of its commands. Where none of them shows an output, only their exit codes count."""
    code = int(block.marks.get("exit code", "0"))
    found = steps(block)
    shown = any(step.output for step in found)
    for step in found:
        if answer := block.marks.get("answer"):
            command = shlex.join(["python3", str(TERMINAL), answer, "bash", "-c", step.command])
            step = Step(step.line, command, step.output)
        wrong = run_step(step, shell, cloud, code, shown)
        where = f"{block.page.relative_to(ROOT)}:{step.line}"
        assert wrong is None, f"{where}: {step.command}\n{wrong.output}\nexit code {wrong.code}"


def run_elsewhere(block: Block, shell: Shell, cloud: SampleCloud) -> None:
    """A server; the one of the sample cloud is there already, with what it has printed."""
    (step,) = steps(block)
    if step.command in STARTS:
        cloud.reset()
        assert not step.output or agrees(step.output, cloud.banner), f"{block.where}: {cloud.banner}"
    else:
        shell.start(cloud.with_real_ports(step.command))


@pytest.mark.parametrize(("order", "page"), VISITS, ids=lambda value: str(getattr(value, "name", value)))
def test_commands(order: str, page: Path, cloud: SampleCloud, terminals: dict[str, Shell]) -> None:
    for block in filter(is_for_shell, blocks_of(page)):
        if "in another terminal" in block.marks:
            run_elsewhere(block, terminals[order], cloud)
            continue
        prepare(block, terminals[order], cloud)
        run_block(block, terminals[order], cloud)


@pytest.mark.parametrize("page", [page for page in PAGES if page.parent.name == "guides"], ids=lambda page: page.name)
def test_guides_say_where_they_start(page: Path) -> None:
    assert "](../tutorial.md#start-the-cloud)" in " ".join(page.read_text(encoding="utf-8").split()) or not any(
        map(is_for_shell, blocks_of(page))
    )


def test_each_page_comes_before_and_after_each_other_one() -> None:
    forwards, backwards, last = (order for _, order in orders())
    assert [page for page in forwards if page in backwards] == backwards[::-1]
    assert sorted(last) == sorted(backwards)
    tutorial_and_guides = [page for page in PAGES if page.name == "tutorial.md" or page.parent.name == "guides"]
    assert len(tutorial_and_guides) >= 7
    assert set(tutorial_and_guides) <= set(last)
