

class _Escapes:
    """How marks are written within a frame: slip, cobs, hex, double, or stuffing with `mark` and `xor`."""

    def __init__(self, kind: str, mark: int = 0, xor: int = 0, of: bytes = b"") -> None:
        self.kind, self.mark, self.xor, self.table = kind, mark, xor, {byte: bytes((mark, byte ^ xor)) for byte in of}
        if kind == "slip":
            self.mark, self.table = 0xDB, {0xC0: b"\xdb\xdc", 0xDB: b"\xdb\xdd"}

    def escaped(self, content: bytes) -> bytes:
        if self.kind == "hex":
            return content.hex().upper().encode()
        if self.kind == "double":
            return content.replace(_MARKS[1][:1], 2 * _MARKS[1][:1])
        if self.kind == "cobs":
            return self._cobs(content)
        return b"".join(self.table.get(byte, bytes((byte,))) for byte in content)

    def unescaped(self, byte: int) -> Optional[int]:
        """What a byte behind the mark of an escape stands for."""
        if self.kind == "slip":
            return {0xDC: 0xC0, 0xDD: 0xDB}.get(byte)
        return byte ^ self.xor

    def unescaper(self, most: int) -> _Unescaper:
        return _Unescaper(self, most)

    @staticmethod
    def _cobs(content: bytes) -> bytes:
        out, counter = bytearray(b"\1"), 0
        for at, byte in enumerate(content):
            if byte:
                out.append(byte)
                out[counter] += 1
                if out[counter] < 0xFF or at + 1 == len(content):
                    continue
            counter = len(out)
            out.append(1)
        return bytes(out)


class _Unescaper:
    """Takes marks and escapes off, byte by byte."""

    def __init__(self, escapes: _Escapes, most: int) -> None:
        self.escapes, self.most = escapes, most
        # Bytes of the frame up to now, and of the last one that was complete.
        self.raw, self.last = 0, 0
        self.matched = 0
        self.state = "outside" if _MARKS[0] else "inside"
        self.begin()

    def begin(self) -> None:
        self.content = bytearray()
        self.held: Optional[int] = None
        self.block, self.is_before_zero = 0, False

    def push(self, byte: int) -> Tuple[Optional[bytes], int]:
        """The frame that ends with this byte, and how many bytes belong to none."""
        self.raw += 1
        token, content = self.token(byte)
        if token == "part":
            return None, 0
        if token == "end":
            return self.end()
        if token == "start":
            return None, self.start(len(_MARKS[0]) + (content is not None), content)
        if token == "content" and self.state == "inside" and self.take(content):
            return None, 0
        if self.state == "inside":
            self.state = "wrong"
        self.raw, count = 0, self.raw
        return None, count

    def start(self, known: int, content: Optional[int]) -> int:
        before = max(0, self.raw - known)
        self.raw, self.state = known, "inside"
        self.begin()
        if content is not None and not self.take(content):
            self.state = "wrong"
        return before

    def end(self) -> Tuple[Optional[bytes], int]:
        start, end = _MARKS
        is_marked = bool(start) and start != end
        state, self.state = self.state, "outside" if is_marked else "inside"
        self.raw, raw = 0, self.raw
        is_empty = not is_marked and raw == len(end)
        if is_empty and (state == "inside" or state == "outside" and start == end):
            return None, 0
        content, is_whole = bytes(self.content), self.held is None and self.block == 0
        self.begin()
        if state == "inside" and is_whole:
            self.last = raw
            return content, 0
        return None, raw

    def token(self, byte: int) -> Tuple[str, Optional[int]]:
        start, end = _MARKS
        if self.escapes.kind == "hex":
            is_within = self.matched > 0
            if self.matched < len(end) and end[self.matched] == byte:
                self.matched += 1
                if self.matched < len(end):
                    return "part", None
                self.matched = 0
                return "end", None
            self.matched = int(is_within and end[0] == byte)
            if start == bytes((byte,)):
                return "start", None
            return ("wrong", None) if is_within else ("content", byte)
        if self.escapes.kind == "double":
            is_behind_mark, self.matched = self.matched > 0, 0
            if is_behind_mark == (end[0] == byte):
                return "content", byte
            if not is_behind_mark:
                self.matched = 1
                return "part", None
            if end[1] == byte:
                return "end", None
            if len(start) == 1:
                return "start", byte
            return ("start" if start[1:] == bytes((byte,)) else "wrong"), None
        one = bytes((byte,))
        if one == end:
            return "end", None
        return ("start", None) if one == start else ("content", byte)

    def take(self, byte: Any) -> bool:
        """Whether a byte of a frame makes sense, and there is room for it."""
        kind = self.escapes.kind
        if kind == "hex":
            digit = int(chr(byte), 16) if chr(byte) in "0123456789abcdefABCDEF" else None
            if digit is None:
                return False
            if self.held is None:
                self.held = digit
                return True
            byte, self.held = self.held << 4 | digit, None
        elif kind == "cobs":
            if self.block > 0:
                self.block -= 1
            else:
                self.block = max(0, byte - 1)
                was_before_zero, self.is_before_zero = self.is_before_zero, byte < 0xFF
                if not was_before_zero:
                    return True
                byte = 0
        elif kind != "double":
            if self.held is not None:
                byte, self.held = self.escapes.unescaped(byte), None
                if byte is None:
                    return False
            elif byte == self.escapes.mark:
                self.held = byte
                return True
        if len(self.content) >= self.most:
            return False
        self.content.append(byte)
        return True
