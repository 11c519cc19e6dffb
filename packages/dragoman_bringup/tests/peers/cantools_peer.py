"""What cantools (PyPI) says of frames: `cantools_peer.py FILE.dbc FRAMES`, a file with a line "IDENTIFIER HEXDIGITS" per frame.

Prints a line of JSON per frame: its signals, and the frame that they make again. Names of values are left as numbers.
"""

import json
import math
import sys

import cantools

database = cantools.database.load_file(sys.argv[1])
for line in open(sys.argv[2]):
    identifier, digits = (line.rstrip("\n").split(" ") + [""])[:2]
    number = int(identifier)
    message = next(
        one
        for one in database.messages
        if one.frame_id == number & 0x1FFFFFFF and one.is_extended_frame == bool(number >> 31)
    )
    try:
        signals = message.decode(bytes.fromhex(digits), decode_choices=False, scaling=True)
    except cantools.database.DecodeError:
        # A number of a switch that no signal has.
        print("{}", flush=True)
        continue
    raw = message.decode(bytes.fromhex(digits), decode_choices=False, scaling=False)
    again = message.encode(raw, scaling=False, strict=False)
    # JSON has neither NaN nor infinity.
    signals = {name: value if math.isfinite(value) else str(value) for name, value in signals.items()}
    print(json.dumps({"signals": signals, "frame": again.hex()}), flush=True)
print("end", flush=True)
