"""What a `console` block shows: commands, and what each of them prints."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """A command, and the output that is shown below it."""

    line: int
    command: str
    output: str


def steps_of(text: str, first_line: int = 1) -> list[Step]:
    """Commands follow `$ `, their further lines `> ` or a backslash at the line's end; the rest is output."""
    found: list[Step] = []
    for number, line in enumerate(text.splitlines(), first_line):
        if line.startswith("$ "):
            found.append(Step(number, line[2:], ""))
            continue
        assert found, f"line {number} stands before the first command: {line}"
        last = found[-1]
        continues = not last.output and (last.command.endswith("\\") or line.startswith("> "))
        if continues:
            found[-1] = Step(last.line, f"{last.command}\n{line.removeprefix('> ')}", "")
        else:
            found[-1] = Step(last.line, last.command, f"{last.output}{line}\n")
    return found
