"""A peer on Cyclone DDS that looks through the lab's camera, whose output camera.rs checks.

    cyclone_camera.py look                      one message of every topic, and what is in its middle
    cyclone_camera.py rates SECONDS TOPIC...    how many arrive, reliably and not

Topics are those below /camera. Reads ROS_DOMAIN_ID, stays on the loopback interface, and prints lines `name: value`.
"""

import struct
import sys
import time

from cyclonedds.core import Policy, Qos
from cyclonedds.domain import Domain
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic

import camera_types as ros
from cyclone_peer import CONFIGURATION, DOMAIN, Peer, report, until

TOPICS = {
    "depth/image": ros.Image,
    "depth/image/compressed": ros.CompressedImage,
    "depth/image_raw": ros.Image,
    "depth/camera_info": ros.CameraInfo,
    "rgb/image_color": ros.Image,
    "rgb/image_color/compressed": ros.CompressedImage,
    "rgb/image_mono": ros.Image,
    "rgb/image_mono/compressed": ros.CompressedImage,
    "rgb/camera_info": ros.CameraInfo,
}

# How a pixel of an encoding is read.
PIXELS = {"32FC1": "<f", "16UC1": "<H", "rgb8": "BBB", "mono8": "B"}


def unreliable(peer, name):
    topic = Topic(peer.participant, f"rt/camera/{name}", TOPICS[name])
    qos = Qos(Policy.Reliability.BestEffort, Policy.Durability.Volatile, Policy.History.KeepLast(5),
              Policy.DataRepresentation(use_cdrv0_representation=True))
    return DataReader(peer.participant, topic, qos)


def image(m):
    pixel = PIXELS[m.encoding]
    at = m.height // 2 * m.step + m.width // 2 * struct.calcsize(pixel)
    middle = struct.unpack_from(pixel, bytes(m.data[at:at + 12]))
    return f"{m.encoding} {m.width}x{m.height} step {m.step} bytes {len(m.data)} middle {' '.join(str(v) for v in middle)}"


def compressed(m):
    data = bytes(m.data)
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        width, height, depth, kind = struct.unpack_from(">IIBB", data, 16)
        size = f"png {width}x{height} {depth} bits kind {kind} whole {data[-8:-4] == b'IEND'}"
    else:
        size = f"jpeg {data[:2] == bytes([0xff, 0xd8])} {frame_of(data)} whole {data[-2:] == bytes([0xff, 0xd9])}"
    return f"'{m.format}' {size}"


def frame_of(data):
    """Size and number of colours in the header of a JPEG picture."""
    at = 2
    while data[at + 1] not in (0xC0, 0xC1, 0xC2):
        at += 2 + struct.unpack_from(">H", data, at + 2)[0]
    height, width, colors = struct.unpack_from(">HHB", data, at + 5)
    return f"{width}x{height} colours {colors}"


def info(m):
    return f"{m.width}x{m.height} {m.distortion_model} d {list(m.d)} k {list(m.k)} r {list(m.r)} p {list(m.p)}"


DESCRIBE = {ros.Image: image, ros.CompressedImage: compressed, ros.CameraInfo: info}


def look(peer):
    for name, kind in TOPICS.items():
        sample = peer.first(f"rt/camera/{name}", kind, latched=False)
        report(name, f"{sample.header.frame_id} {DESCRIBE[kind](sample)}" if sample else None)


def rates(peer, seconds, names):
    kinds = [("reliable", lambda name: peer.reader(f"rt/camera/{name}", TOPICS[name], 5)),
             ("best_effort", lambda name: unreliable(peer, name))]
    for kind, reader_of in kinds:
        readers = {name: reader_of(name) for name in names}
        if not until(lambda: all(reader.take(5) for reader in readers.values()), 15):
            raise SystemExit("a picture does not come")
        time.sleep(0.5)
        for reader in readers.values():
            reader.take(5)
        counts, stamps = dict.fromkeys(names, 0), dict.fromkeys(names, 0.0)
        lateness = dict.fromkeys(names, 0.0)
        began = time.monotonic()
        while time.monotonic() < began + seconds:
            for name, reader in readers.items():
                for sample in reader.take(5):
                    if not hasattr(sample, "header"):
                        raise SystemExit(f"the publisher of {name} is gone")
                    counts[name] += 1
                    stamp = sample.header.stamp.sec + sample.header.stamp.nanosec / 1e9
                    lateness[name] += time.time() - stamp
                    stamps[name] = stamp
            time.sleep(0.001)
        for name in names:
            report(f"{kind} {name}", f"{counts[name] / seconds:.1f}")
            report(f"{kind} {name} age_ms", f"{1e3 * lateness[name] / max(counts[name], 1):.1f}")
        readers.clear()
        time.sleep(0.5)


def main():
    domain = Domain(DOMAIN, CONFIGURATION)  # has to live as long as the participant
    peer = Peer()
    match sys.argv[1:]:
        case ["look"]:
            look(peer)
        case ["rates", seconds, *names]:
            rates(peer, float(seconds), names)
        case _:
            raise SystemExit(__doc__)
    del domain


if __name__ == "__main__":
    main()
