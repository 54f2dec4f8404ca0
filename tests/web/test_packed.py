"""Texts in compressed blocks: what clients get of them."""

import random
import zlib

import pytest

from limes.web.packed import PackedText, pack

TEXTS = [b"", b"x", b"limes_project_usage 1\n" * 5000, random.Random(1).randbytes(200_001), b"\0" * 70_000]


@pytest.mark.parametrize("count", [0, 1, 2, 200])
def test_blocks_in_any_order_are_one_text(count: int) -> None:
    chosen = random.Random(count).choices(TEXTS, k=count)
    packed = PackedText(map(pack, chosen))
    assert packed.size == len(b"".join(chosen))
    assert b"".join(packed.parts()) == b"".join(chosen)
    data = b"".join(packed.gzip())
    assert len(data) == packed.gzip_size
    unpack = zlib.decompressobj(31)  # which checks length and checksum
    assert unpack.decompress(data) == b"".join(chosen)
    assert unpack.eof
    assert not unpack.unused_data, "one member, as some clients read no other"
