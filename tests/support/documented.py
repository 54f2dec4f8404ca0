"""Configuration files as a page shows them, with the addresses and ports of a test in place of the page's."""

import re
from collections.abc import Mapping
from pathlib import Path

from tests.docs.blocks import ROOT, blocks_of


def documented_files(page: str) -> dict[str, str]:
    """What a page of `docs/` says that each file has, by the name in the comment before it."""
    blocks = blocks_of(Path(ROOT / "docs" / page))
    return {block.marks["file"]: block.shown for block in blocks if "file" in block.marks}


def with_ports(text: str, ports: Mapping[str, int]) -> str:
    """The text with other ports, and with 127.0.0.x in place of 192.0.2.x."""
    text = text.replace("192.0.2.0/24", "127.0.0.0/8").replace("192.0.2.", "127.0.0.")
    return re.sub(rf"\b({'|'.join(ports)})\b", lambda match: str(ports[match[1]]), text)
