"""Servers that refuse to run as root."""

import os
import pwd
from collections.abc import Sequence
from pathlib import Path


def nobody() -> int | None:
    """The user id that such a server gets, if we are root; otherwise it runs as we do."""
    return pwd.getpwnam("nobody").pw_uid if os.getuid() == 0 else None


def as_nobody(command: Sequence[str | Path], stop: str = "TERM") -> list[str | Path]:
    """The command as that user. It gets the signal `stop` when pytest dies: a change of user takes away the other one."""
    if (user := nobody()) is None:
        return [*command]
    group = pwd.getpwuid(user).pw_gid
    identity = [f"--reuid={user}", f"--regid={group}", "--clear-groups"]
    return ["setpriv", *identity, "--pdeathsig", stop, *command]
