"""`limes config init`: writes a configuration to start from."""

import argparse
import os
from pathlib import Path

from limes.commands import terminal
from limes.errors import StartupError

_START = Path(__file__).with_name("start.yaml")
_MODE = 0o640
"""Passwords may come into the file."""


def add_to(actions: terminal.Commands) -> None:
    terminal.add_command(
        actions,
        "init",
        run,
        "write a commented configuration to start from; existing files are left alone",
        terminal.argument(
            "file", nargs="?", default="limes.yaml", metavar="FILE", help="where to (default: limes.yaml)"
        ),
        terminal.argument(
            "--sample", action="store_true", help="the sample cloud of `limes serve` instead, with its sample data"
        ),
        description="Writes a commented configuration to start from. It never overwrites a file.",
        codes={1: "a file is there already, or cannot be written"},
    )


def run(options: argparse.Namespace) -> int:
    """Writes the file, and says how to go on."""
    from limes.commands.serve import QUICKSTART, SAMPLE_DATA

    path = Path(options.file)
    sources = {path: _START}
    if options.sample:
        sources = {path: QUICKSTART, path.with_name(SAMPLE_DATA.name): SAMPLE_DATA}
    for target in sources:
        if target.exists():
            raise StartupError(f"{target} is there already, and is left as it is; name another file")
    for target, source in sources.items():
        _write(target, source.read_text(encoding="utf-8"))
        print(f"Wrote {target}")
    config = "" if options.file == "limes.yaml" else f" --config {options.file}"
    print("\n".join(["", "Next:", "", *(_sample_steps(config) if options.sample else _steps(path, config))]))
    return 0


def _write(path: Path, text: str) -> None:
    """Raises `StartupError` if the file is there, or cannot be made."""
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _MODE), "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise StartupError(f"cannot write {path}: {error.strerror}") from None


def _steps(path: Path, config: str) -> list[str]:
    return [
        f"  1. Edit {path}: the lines marked with `change this` are examples.",
        "  2. export LIMES_IDENTITY_PASSWORD=...       the password of Limes's user in Keystone",
        f"  3. {f'limes config check{config}':42} says what is wrong with the file",
        f"  4. {f'limes db upgrade{config}':42} makes the tables",
        f"  5. {f'limes doctor{config}':42} says whether Keystone, database and backends work",
        f"  6. {f'limes serve{config}':42} runs everything; for production see docs/install.md",
    ]


def _sample_steps(config: str) -> list[str]:
    return [
        f"  {f'limes serve{config}':44} runs the sample cloud",
        f"  {f'limes serve{config} --fresh':44} runs it with new data",
    ]
