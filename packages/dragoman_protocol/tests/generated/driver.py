"""Decodes and encodes the frames of standard input with a generated module: see ../generated.rs."""

import importlib.util
import struct
import sys

spec = importlib.util.spec_from_file_location("generated", sys.argv[1])
module = importlib.util.module_from_spec(spec)
sys.modules["generated"] = module
spec.loader.exec_module(module)


def show(path, value, out):
    if isinstance(value, (list, tuple)):
        for number, one in enumerate(value):
            show(f"{path}[{number}]", one, out)
    elif isinstance(value, float):
        out.append(f"{path}={struct.pack('>d', value).hex()}")
    elif isinstance(value, int):
        out.append(f"{path}={int(value)}")
    elif isinstance(value, bytes):
        out.append(f"{path}={value.hex()}")
    elif isinstance(value, str):
        out.append(f"{path}={value.encode('utf-8', 'surrogateescape').hex()}")
    elif value is None:
        out.append(f"{path}=None")
    else:
        for name, one in vars(value).items():
            show(f"{path}.{name}" if path else name, one, out)


if len(sys.argv) > 2:
    # A stream, in parts: the frames that are cut out of it.
    reader = module.Reader(from_client=sys.argv[2] == "client")
    for line in sys.stdin:
        for frame in reader.feed(bytes.fromhex(line)):
            print(frame.hex())
    print(reader.left_out)
    sys.exit()

for line in sys.stdin:
    _, client, asked, frame, identifier = line.split()
    try:
        if asked != "-":
            asked = module.decode(bytes.fromhex(asked[:-1]), from_client=True, identifier=int(identifier))
        else:
            asked = None
        arguments = {"from_client": client == "1", "asked": asked}
        if sys.argv[1].endswith("_can.py"):
            arguments["identifier"] = int(identifier)
        message = module.decode(bytes.fromhex(frame[:-1]), **arguments)
    except module.ProtocolError:
        print("refused")
        continue
    shown = []
    show("", message, shown)
    try:
        again = module.encode(message, asked)
    except module.ProtocolError:
        again = b""
    print(" ".join(shown + [again.hex()]) if shown else f"- {again.hex()}")
