class ProtocolError(ValueError):
    """Bytes or values that are not a message."""


class _Short(ProtocolError):
    """The frame ends within a field."""


@dataclass(frozen=True)
class _Part:
    """A field on the wire."""

    name: str
    # u, i, f, bool, text, bytes, or structure.
    form: str
    # Bytes of one number.
    size: int = 0
    order: Any = "big"
    # Lowest bit, number of bits, and whether the field before has bits of the same number.
    bits: Any = None
    # Value = number * scale[0] + scale[1].
    scale: Any = None
    # value, constant, code, size, checksum, or count (of the list that `value` names).
    role: str = "value"
    value: Any = None
    # Bytes of the frame that a check sum does not cover.
    skipped: int = 0
    # A number, "*", ("big" or "little", bytes of the number in front) or ("field", name).
    count: Any = None
    # Names of earlier fields and the values that they must have.
    when: Any = ()
    optional: bool = False
    # Offset in the frame.
    at: Optional[int] = None
    # Class of a structure, or names of numbers.
    type: Any = None
    strict: bool = False

    def is_here(self, slots: Dict[str, int]) -> bool:
        return all(slots.get(name) == value for name, value in self.when)


@dataclass(frozen=True)
class _Message:
    type: Any
    from_client: bool
    code: Any
    # The class of the question that it answers.
    question: Any
    parts: Tuple[_Part, ...]


def _sum(data: bytes) -> int:
    return sum(data)


def _sum_to_zero(data: bytes) -> int:
    return -sum(data)


def _xor(data: bytes) -> int:
    result = 0
    for byte in data:
        result ^= byte
    return result


def _words(data: bytes) -> int:
    result = 0
    for at in range(0, len(data) - 1, 2):
        result += data[at] << 8 | data[at + 1]
    return result & 0xFFFF ^ (data[-1] if len(data) % 2 else 0)


def _reversed(number: int, width: int) -> int:
    return int(format(number, f"0{width}b")[::-1], 2)


def _crc(width: int, poly: int, init: int, refin: bool, refout: bool, xorout: int) -> Callable[[bytes], int]:
    top, mask = 1 << (width - 1), (1 << width) - 1

    def checksum(data: bytes) -> int:
        crc = init
        for byte in data:
            crc ^= (_reversed(byte, 8) if refin else byte) << (width - 8)
            for _ in range(8):
                crc = (crc << 1 ^ poly if crc & top else crc << 1) & mask
        return (_reversed(crc, width) if refout else crc) ^ xorout

    return checksum


def _whole(part: _Part, value: Any) -> int:
    """A value as the number on the wire."""
    if part.scale is not None:
        value = (value - part.scale[1]) / part.scale[0]
        if not math.isfinite(value):
            raise ProtocolError(f"{part.name} is not finite")
        whole = math.trunc(value)
        if abs(value - whole) >= 0.5:
            whole += 1 if value > 0 else -1
        return whole
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if not isinstance(value, int):
        raise ProtocolError(f"{part.name} is {value!r}, not a whole number")
    return int(value)


def _raw(part: _Part, whole: int) -> int:
    """The bits of a whole number."""
    bits = part.bits[1] if part.bits else 8 * part.size
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if part.form == "i" else (0, (1 << bits) - 1)
    if part.form == "bool":
        high = 1
    if not low <= whole <= high:
        raise ProtocolError(f"{part.name}: {whole} does not fit")
    return whole & ((1 << bits) - 1)


class _Writer:
    def __init__(self, code: Any, slots: Dict[str, int]) -> None:
        self.out, self.code, self.slots = bytearray(), code, slots
        self.size: Any = None
        self.sums: List[Tuple[_Part, int]] = []
        self.shared = 0

    def run(self, parts: Tuple[_Part, ...], values: Any, is_top: bool = True) -> None:
        for part in parts:
            is_here, value = part.is_here(self.slots), None
            if part.role == "value":
                value = getattr(values, part.name)
                if value is None and part.optional and is_here or value is None and not is_here:
                    continue
                if value is None or not is_here:
                    raise ProtocolError(f"{part.name} is missing, or must be")
            elif not is_here:
                continue
            elif part.role == "count":
                other = getattr(values, part.value)
                value = len(other.encode("utf-8", "surrogateescape") if isinstance(other, str) else other)
            if is_top and part.at is not None:
                if part.at < len(self.out) and not (part.bits and part.bits[2]):
                    raise ProtocolError(f"{part.name} begins at {part.at}, and the fields before it end at {len(self.out)}")
                self.out.extend(bytes(max(0, part.at - len(self.out))))
            self.part(part, value)

    def part(self, part: _Part, value: Any) -> None:
        if part.form in ("text", "bytes"):
            if part.role == "code":
                value = self.code
            elif part.role == "constant":
                value = part.value
            elif part.form == "text":
                value = value.encode("utf-8", "surrogateescape")
                if isinstance(part.count, int):
                    value = value.ljust(part.count, b"\0")
            if part.role == "value":
                self.count(part, len(value))
            self.out.extend(value)
        elif part.count is not None:
            self.count(part, len(value))
            for one in value:
                self.one(part, one)
        else:
            self.one(part, value)

    def count(self, part: _Part, count: int) -> None:
        if isinstance(part.count, int) and count != part.count:
            raise ProtocolError(f"{part.name} has {count} elements, not {part.count}")
        if isinstance(part.count, tuple):
            kind, number = part.count
            if kind == "field" and self.slots.get(number) != count:
                raise ProtocolError(f"{part.name} has {count} elements, and {number} is {self.slots.get(number)}")
            if kind != "field":
                if count >> 8 * number:
                    raise ProtocolError(f"{part.name} has {count} elements, which are too many")
                self.out.extend(count.to_bytes(number, kind))

    def one(self, part: _Part, value: Any) -> None:
        if part.form == "structure":
            self.run(_STRUCTURES[part.type], value, False)
        elif part.form == "f":
            if part.scale is not None:
                value = (value - part.scale[1]) / part.scale[0]
            try:
                data = struct.pack(">f" if part.size == 4 else ">d", value)
            except (struct.error, OverflowError) as error:
                raise ProtocolError(f"{part.name}: {value!r} does not fit") from error
            self.out.extend(data if part.order == "big" else data[::-1])
        elif part.role in ("size", "checksum"):
            if part.role == "size":
                self.size = (part, len(self.out))
            else:
                self.sums.append((part, len(self.out)))
            self.out.extend(bytes(part.size))
        else:
            self.number(part, value)

    def number(self, part: _Part, value: Any) -> None:
        whole = {"constant": part.value, "code": self.code}.get(part.role)
        if whole is None:
            whole = value if part.role == "count" else _whole(part, value)
        raw = _raw(part, whole)
        self.slots[part.name] = whole
        if part.bits is None:
            self.out.extend(raw.to_bytes(part.size, part.order))
            return
        lowest, _, is_shared = part.bits
        if not is_shared:
            self.shared = len(self.out)
            self.out.extend(bytes(part.size))
        place = slice(self.shared, self.shared + part.size)
        number = int.from_bytes(self.out[place], part.order) | raw << lowest
        self.out[place] = number.to_bytes(part.size, part.order)

    def patch(self, part: _Part, at: int, number: int) -> None:
        if number >> 8 * part.size:
            raise ProtocolError(f"{part.name}: {number} does not fit")
        self.out[at : at + part.size] = number.to_bytes(part.size, part.order)

    def write_sums(self) -> None:
        for part, at in self.sums:
            self.patch(part, at, part.value(bytes(self.out[part.skipped:at])) & ((1 << 8 * part.size) - 1))
        self.sums = []


class _Cursor:
    def __init__(self, frame: bytes, end: int, slots: Dict[str, int]) -> None:
        self.frame, self.end, self.slots, self.at = frame, end, slots, 0
        self.code: Any = None
        self.size: Any = None
        self.shared = 0
        # Whether only the size of the frame is asked for: a wrong check sum is no error.
        self.is_measuring = False

    def run(self, parts: Tuple[_Part, ...], is_top: bool = True) -> Dict[str, Any]:
        values = {}
        for part in parts:
            is_shared = part.bits is not None and part.bits[2]
            is_here = part.is_here(self.slots)
            if is_top and part.at is not None and is_here and not is_shared:
                self.at = part.at
            if not is_here or part.optional and self.at >= self.end:
                if part.role == "value":
                    values[part.name] = None
                continue
            value = self.part(part)
            if part.role == "value":
                values[part.name] = value
        return values

    def take(self, part: _Part, size: int) -> bytes:
        begin, self.at = self.at, self.at + size
        if self.at > self.end:
            raise _Short(f"the frame ends before {part.name}")
        return self.frame[begin : self.at].ljust(size, b"\0")

    def part(self, part: _Part) -> Any:
        if part.form in ("text", "bytes"):
            size = self.count(part)
            data = self.take(part, max(0, self.end - self.at) if size is None else size)
            if part.role == "code":
                self.code = data
            elif part.role == "constant" and data != part.value:
                raise ProtocolError(f"{part.name} is {data!r}, not {part.value!r}")
            return data.split(b"\0")[0].decode("utf-8", "surrogateescape") if part.form == "text" else bytes(data)
        if part.count is None:
            return self.one(part)
        count, values = self.count(part), []
        while self.at < self.end if count is None else len(values) < count:
            before = self.at
            values.append(self.one(part))
            if count is None and before == self.at:
                raise ProtocolError(f"{part.name} has too many elements")
        return values

    def count(self, part: _Part) -> Optional[int]:
        if not isinstance(part.count, tuple):
            return None if part.count in (None, "*") else part.count
        kind, number = part.count
        count = self.slots.get(number, 0) if kind == "field" else int.from_bytes(self.take(part, number), kind)
        if not 0 <= count <= 65536:
            raise ProtocolError(f"{part.name} has {count} elements")
        return count

    def one(self, part: _Part) -> Any:
        if part.form == "structure":
            return part.type(**self.run(_STRUCTURES[part.type], False))
        begin = self.at
        if part.bits is None or not part.bits[2]:
            self.shared = int.from_bytes(self.take(part, part.size), part.order)
        raw, bits = self.shared, 8 * part.size
        if part.bits is not None:
            bits = part.bits[1]
            raw = raw >> part.bits[0] & ((1 << bits) - 1)
        if part.form == "f":
            value = struct.unpack(">f" if part.size == 4 else ">d", raw.to_bytes(part.size, "big"))[0]
            return value if part.scale is None else value * part.scale[0] + part.scale[1]
        if part.form == "bool":
            raw = int(raw != 0)
        whole = raw - (1 << bits) if part.form == "i" and raw >> (bits - 1) else raw
        self.slots[part.name] = whole
        return self.known(part, whole, begin)

    def known(self, part: _Part, whole: int, begin: int) -> Any:
        if part.role == "code":
            self.code = whole
        elif part.role == "size":
            self.size = (part, self.at, whole)
        elif part.role == "constant" and whole != part.value:
            raise ProtocolError(f"{part.name} is {whole}, not {part.value}")
        elif part.role == "checksum" and not self.is_measuring:
            expected = part.value(self.frame[part.skipped:begin]) & ((1 << 8 * part.size) - 1)
            if whole != expected:
                raise ProtocolError(f"{part.name} is {whole:#x}; the bytes have the check sum {expected:#x}")
        if part.strict and whole not in list(part.type):
            raise ProtocolError(f"{part.name} is {whole}, which has no meaning")
        if part.scale is not None:
            return whole * part.scale[0] + part.scale[1]
        if part.form == "bool":
            return bool(whole)
        return part.type(whole) if part.type is not None and whole in list(part.type) else whole


def _encoded(message: Any, slots: Dict[str, int]) -> bytes:
    known = _BY_TYPE.get(type(message))
    if known is None:
        raise ProtocolError(f"{type(message).__name__} is not a message")
    writer = _Writer(known.code, slots)
    writer.run(_HEAD, message)
    body = len(writer.out)
    writer.run(known.parts, message)
    end = len(writer.out)
    if _DATAGRAM is not None:
        if end > _DATAGRAM[1] - _TAIL_SIZE:
            raise ProtocolError(f"{end + _TAIL_SIZE} bytes are longer than a frame")
        writer.out.extend(bytes(_DATAGRAM[1] - _TAIL_SIZE - end))
    if writer.size is not None:
        part, at = writer.size
        size = len(writer.out) + _TAIL_SIZE
        writer.patch(part, at, {"frame": size, "rest": size - at - part.size, "body": end - body}[_COUNTS])
    writer.write_sums()
    writer.run(_TAIL, message)
    writer.write_sums()
    if _MAX_SIZE is not None and len(writer.out) > _MAX_SIZE:
        raise ProtocolError(f"{len(writer.out)} bytes are longer than a frame")
    return bytes(writer.out)


def encode(message: Any, asked: Any = None) -> bytes:
    """The frame of a message. `asked` is the question, if an answer is encoded that depends on it."""
    slots: Dict[str, int] = {}
    if asked is not None:
        _encoded(asked, slots)
    return _marked(_encoded(message, slots))


def _marked(content: bytes) -> bytes:
    begin, end = _MARKS
    if _ESCAPES is not None:
        return begin + _ESCAPES.escaped(content) + end
    # A receiver would cut the frame there; the end may also begin in the content.
    if (begin and begin in content) or (content + end).find(end) != len(content) and end:
        raise ProtocolError("a value has the bytes that begin or end a frame")
    return begin + content + end


def _find(code: Any, from_client: bool, asked: Any) -> _Message:
    found = [one for one in _MESSAGES if one.code == code]
    own = [one for one in found if one.from_client == from_client and one.question is None]
    answers = [] if from_client else [one for one in found if one.question is not None]
    expected = [one for one in answers if asked is not None and one.question is type(asked)]
    for one in expected + own + answers:
        return one
    raise ProtocolError(f"no message has the code {code!r}")


def decode(frame: bytes, *, from_client: bool = False, asked: Any = None, identifier: Optional[int] = None) -> Any:
    """The message in a frame, as `encode` makes it.

    `from_client`: it was sent to the machine. `asked`: the message that was sent last, which it may answer.
    `identifier`: that of the frame, on a CAN bus. Raises ProtocolError.
    """
    frame = _content(frame)
    size = len(frame)
    if _DATAGRAM is not None:
        if not _DATAGRAM[0] <= size <= _DATAGRAM[1]:
            raise ProtocolError(f"the frame has {size} bytes, not {_DATAGRAM[0]} to {_DATAGRAM[1]}")
        size = _DATAGRAM[1]
    cursor, values = _decoded(frame, max(0, size - _TAIL_SIZE), from_client, asked, identifier, size)
    if cursor.at < size - _TAIL_SIZE and _DATAGRAM is None:
        raise ProtocolError(f"{size - _TAIL_SIZE - cursor.at} bytes follow the last field")
    cursor.at, cursor.end = max(0, size - _TAIL_SIZE), size
    message, fields = values
    fields.update(cursor.run(_TAIL))
    return message.type(**fields)


def _content(frame: bytes) -> bytes:
    begin, end = _MARKS
    if not frame.startswith(begin) or not frame.endswith(end) or len(frame) < len(begin) + len(end):
        raise ProtocolError("the frame does not begin and end with its marks")
    if _ESCAPES is None:
        return bytes(frame[len(begin) : len(frame) - len(end)])
    unescaper, content = _ESCAPES.unescaper(len(frame)), None
    for at, byte in enumerate(frame):
        content, left_out = unescaper.push(byte)
        if left_out or content is not None and at + 1 < len(frame):
            raise ProtocolError("the frame has a wrong escape")
    if content is None:
        raise ProtocolError("the frame has a wrong escape")
    return bytes(content)


def _decoded(frame: bytes, end: int, from_client: bool, asked: Any, identifier: Any, size: Optional[int]) -> Any:
    slots: Dict[str, int] = {}
    if asked is not None:
        _encoded(asked, slots)
    cursor = _Cursor(frame, end, slots)
    cursor.code, cursor.is_measuring = identifier, size is None
    fields = cursor.run(_HEAD)
    message = _find(cursor.code, from_client, asked)
    if cursor.size is not None and size is not None:
        part, after, found = cursor.size
        expected = {"frame": size, "rest": size - after, "body": max(0, end - cursor.at)}[_COUNTS]
        if found != expected:
            raise ProtocolError(f"{part.name} is {found}, not {expected}")
    fields.update(cursor.run(message.parts))
    return cursor, (message, fields)


class Reader:
    """Cuts a stream of bytes into frames; counts the bytes that belong to no frame in `left_out`.

    A frame that `decode` refuses can be given back with `reject`: another one may begin within it.
    """

    def __init__(self, *, from_client: bool = False, max_size: int = 65536) -> None:
        self.left_out = 0
        self._from_client, self._max = from_client, _MAX_SIZE or max_size
        self._buffer, self._last = bytearray(), b""
        self._unescaper = None if _ESCAPES is None else _ESCAPES.unescaper(self._max)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Appends what was received; gives the frames that are complete."""
        self._buffer.extend(data)
        return self._frames() if self._unescaper is None else self._escaped_frames()

    def _escaped_frames(self) -> Iterator[bytes]:
        while self._buffer:
            byte = self._buffer[0]
            del self._buffer[:1]
            content, left_out = self._unescaper.push(byte)
            self.left_out += left_out
            if content is not None:
                yield _marked(content)

    def _frames(self) -> Iterator[bytes]:
        while self._buffer:
            size = self._begin()
            if 0 < size <= self._max:
                self._last = bytes(self._buffer[:size])
                del self._buffer[:size]
                yield self._last
            elif size == 0 and len(self._buffer) < self._max:
                return
            else:
                self._leave_out(-size if size < 0 else 1)

    def reject(self) -> None:
        """Gives the last frame back, without its first byte; one with escapes is left out as a whole."""
        if self._unescaper is not None:
            self.left_out, self._unescaper.last = self.left_out + self._unescaper.last, 0
        if self._last:
            self._buffer[:0], self._last = self._last, b""
            self._leave_out(1)

    def _leave_out(self, count: int) -> None:
        self.left_out += count
        del self._buffer[:count]

    def _begin(self) -> int:
        """Size of the frame at the beginning; 0 if it is not complete; below 0: so many bytes that belong to none."""
        if _CUT == "size":
            return self._sized()
        if _CUT == "marks":
            return self._marked()
        if _CUT == "code":
            return self._by_code()
        return len(self._buffer)

    def _sized(self) -> int:
        for at, constant in _CONSTANTS:
            there = self._buffer[at : at + len(constant)]
            if there != constant[: len(there)]:
                return -1
        at, count, order = _SIZE_AT
        data = self._buffer[at : at + count]
        if len(data) < count:
            return 0
        around = {"frame": 0, "rest": at + count, "body": _HEAD_SIZE + _TAIL_SIZE}[_COUNTS]
        size = int.from_bytes(data, order) + around
        if size > self._max or size < _HEAD_SIZE + _TAIL_SIZE:
            return -1
        return size if size <= len(self._buffer) else 0

    def _marked(self) -> int:
        start, end = _MARKS
        if not self._buffer.startswith(start):
            if self._buffer == start[: len(self._buffer)]:
                return 0
            at = self._buffer.find(start)
            kept = [size for size in range(1, len(start)) if self._buffer.endswith(start[:size])]
            return -(len(self._buffer) - max(kept, default=0) if at < 0 else at)
        at = self._buffer.find(end, len(start))
        if at < 0:
            return 0
        # A frame that was cut off is left out: the next one has begun.
        again = self._buffer.find(start, len(start), at) if start else -1
        return at + len(end) if again < 0 else -again

    def _by_code(self) -> int:
        try:
            cursor, _ = _decoded(self._buffer, len(self._buffer), self._from_client, None, None, None)
            cursor.run(_TAIL)
        except _Short:
            return 0
        except ProtocolError:
            return -1
        return cursor.at
