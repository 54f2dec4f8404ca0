"""Long texts that are kept compressed, in blocks that several texts may share.

A block ends at a whole byte and refers to nothing before it. So blocks in any order make one member of gzip's format
(RFC 1952), and none is compressed again. The member's checksum follows from theirs.
"""

import struct
import zlib
from collections.abc import Generator, Iterable
from functools import lru_cache
from typing import NamedTuple

_LEVEL = 1
_RAW = -zlib.MAX_WBITS
_HEAD = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
_END = b"\x03\0"
"""An empty block that is the last one."""
_AT_ONCE = 64
"""Blocks that are sent together."""


@lru_cache(maxsize=256)
def accepts_gzip(header: str | None) -> bool:
    """Returns whether `Accept-Encoding` has gzip (RFC 9110, section 12.5.3). Without the header: no."""
    weights: dict[str, float] = {}
    for item in (header or "").lower().split(","):
        name, _, weight = item.partition(";")
        weights[name.strip()] = _weight(weight)
    return weights.get("gzip", weights.get("x-gzip", weights.get("*", 0.0))) > 0


def _weight(text: str) -> float:
    try:
        return float(text.partition("=")[2]) if text.strip() else 1.0
    except ValueError:
        return 0.0


class Block(NamedTuple):
    data: bytes
    size: int
    """Of the text, in bytes."""
    crc: int
    """CRC-32 of the text."""
    shift: int
    """By what the checksum of all that comes before is multiplied, as a polynomial, when this follows."""


def pack(text: bytes) -> Block:
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, _RAW)
    data = packer.compress(text) + packer.flush(zlib.Z_FULL_FLUSH)
    # as many zeros after the polynomial 1; the function inverts all bits before and after
    shift = zlib.crc32(bytes(len(text)), 0x7FFFFFFF) ^ 0xFFFFFFFF
    return Block(data, len(text), zlib.crc32(text), shift)


class PackedText:
    """Never changes, so any number of threads may read it at the same time."""

    def __init__(self, blocks: Iterable[Block]) -> None:
        self.blocks = tuple(blocks)
        self.size = sum(block.size for block in self.blocks)
        """Of the text, in bytes."""
        self.gzip_size = len(_HEAD) + sum(len(block.data) for block in self.blocks) + len(_END) + 8

    def parts(self) -> Generator[bytes, None, None]:
        """Yields the text."""
        for block in self.blocks:
            yield zlib.decompress(block.data + _END, _RAW, block.size)

    def gzip(self) -> Generator[bytes, None, None]:
        """Yields the text in gzip's format."""
        yield _HEAD
        crc = 0
        for start in range(0, len(self.blocks), _AT_ONCE):
            blocks = self.blocks[start : start + _AT_ONCE]
            for block in blocks:
                crc = _multiply(block.shift, crc) ^ block.crc
            yield b"".join([block.data for block in blocks])
        yield _END + struct.pack("<II", crc, self.size % 2**32)


def _multiply(left: int, right: int) -> int:
    """Returns the product modulo CRC-32's polynomial, of polynomials over two elements, lowest coefficient first."""
    product, bit = 0, 1 << 31
    while bit:
        if left & bit:
            product ^= right
        right = (right >> 1) ^ 0xEDB88320 if right & 1 else right >> 1
        bit >>= 1
    return product
