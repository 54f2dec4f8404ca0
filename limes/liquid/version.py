"""The version of a description, which changes with the description."""

import hashlib
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from limes.errors import StartupError


def derived_version(document: Mapping[str, Any]) -> int:
    """Returns a version that needs no file: the same in each process, different for each document, but not growing."""
    digest = hashlib.sha256(orjson.dumps(document, option=orjson.OPT_SORT_KEYS)).digest()
    return int.from_bytes(digest[:6]) + 1


def kept_version(document: Mapping[str, Any], file: Path) -> int:
    """1 for the first document, and one more for each that differs from the previous one, which the file has.

    Processes that start at the same time agree, because they read the same file. Raises `StartupError` if the file
    cannot be used.
    """
    try:
        before = _read(file)
        if before.get("info") == document:
            return int(before["version"])
        version = int(before.get("version", 0)) + 1
        draft = file.with_name(f"{file.name}.{os.getpid()}.{threading.get_ident()}")
        draft.write_bytes(orjson.dumps({"version": version, "info": document}, option=orjson.OPT_INDENT_2))
        draft.replace(file)
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "expected what `limes liquid` has written there"
        raise StartupError(f"liquid.version_folder: {file}: {reason}") from None
    return version


def _read(file: Path) -> dict[str, Any]:
    try:
        stored = orjson.loads(file.read_bytes())
    except FileNotFoundError:
        return {}
    if not isinstance(stored, dict):
        raise ValueError("not an object")
    return stored
