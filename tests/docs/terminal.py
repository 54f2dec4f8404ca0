"""Runs a command on a terminal and answers its question: `python3 terminal.py ANSWER COMMAND...`."""

import os
import pty
import sys


def main(answer: str, command: list[str]) -> int:
    """The answer is given once, to what ends in `[y/N] `."""
    child, terminal = pty.fork()
    if child == 0:
        os.execvp(command[0], command)
    seen, asked = b"", False
    try:
        while data := os.read(terminal, 4096):
            seen += data
            if not asked and seen.endswith(b"[y/N] "):
                os.write(terminal, f"{answer}\n".encode())
                asked = True
    except OSError:  # the command has closed the terminal
        pass
    sys.stdout.write(seen.decode().replace("\r\n", "\n"))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
