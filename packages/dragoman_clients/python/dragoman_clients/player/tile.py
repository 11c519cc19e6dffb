"""Types that are written by hand: tiles of maps, whose cells are compressed, and bytes as data."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Annotated, Any

from ..errors import BadReply
from ..fields import Codec, Integer, Narrow, Reader
from .wire import U32


@dataclass(frozen=True)
class OpaqueData:
    """Bytes whose meaning a driver and its clients agree on."""

    data: bytes


@dataclass(frozen=True)
class MapTile:
    """A tile of a grid: first cell, number of cells, and one byte for each cell, in rows along x.

    A cell is ``-value_range`` if it is free, 0 if unknown, ``value_range`` if occupied.
    """

    column: int
    row: int
    width: int
    height: int
    value_range: int
    cells: bytes

    def cell(self, column: int, row: int) -> int:
        """A cell of the tile."""
        value = self.cells[row * self.width + column]
        return value - 256 if value > 127 else value


MAX_CELLS = 64 << 20


class MapTileCodec(Codec):
    """Writes questions, whose cells are empty, and reads answers, whose cells are compressed."""

    minimum = 28

    def write(self, value: Any, out: bytearray, what: str) -> None:
        for name in ("column", "row", "width", "height"):
            U32.write(getattr(value, name), out, name)
        U32.write(len(value.cells), out, what)
        Integer(">i", -128, 127).write(value.value_range, out, what)
        U32.write(len(value.cells), out, what)
        out += value.cells + bytes(-len(value.cells) % 4)

    def read(self, reader: Reader) -> MapTile:
        column, row, width, height, _ = (U32.read(reader) for _ in range(5))
        value_range = Narrow(">i", 8, signed=True).read(reader)
        size = U32.read(reader)
        compressed = reader.take(size)
        count = width * height
        if count > MAX_CELLS:
            raise BadReply(f"{reader.what}: a tile of {width} x {height} cells")
        try:
            unpacker = zlib.decompressobj()
            cells = unpacker.decompress(compressed, max(count, 1))
        except zlib.error as error:
            raise BadReply(f"{reader.what}: cells that cannot be decompressed: {error}") from None
        if len(cells) != count or unpacker.unconsumed_tail:
            raise BadReply(f"{reader.what}: {len(cells)} cells in a tile of {width} x {height}")
        return MapTile(column, row, width, height, value_range, cells)


Tile = Annotated[MapTile, MapTileCodec()]
