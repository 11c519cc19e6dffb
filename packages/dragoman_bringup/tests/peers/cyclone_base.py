"""A peer on Cyclone DDS that uses a mobile base, whose output base.rs checks.

    cyclone_base.py watch SECONDS   rates and last values of every topic of the base
    cyclone_base.py command TYPE    every command topic once, in the order of COMMANDS; then drive for 1 s by cmd_vel, a Twist or
                                    TwistStamped, and fall silent
    cyclone_base.py events          a line for each event until killed; "listening" first

Reads ROS_DOMAIN_ID, stays on the loopback interface, and prints lines `name: value`.
"""

import math
import sys
import time

from cyclonedds.domain import Domain

import kobuki_types as ros
from cyclone_peer import CONFIGURATION, DOMAIN, Peer, report, until
from cyclone_types import JointState

BASE = "rt/mobile_base"

# Name of the line, topic, type, description of the last sample.
STREAMS = [
    ("core", f"{BASE}/sensors/core", ros.SensorState,
     lambda m: f"battery {m.battery} bottom {list(m.bottom)} current {list(m.current)} analog {list(m.analog_input)} "
               f"input {m.digital_input} buttons {m.buttons} charger {m.charger}"),
    ("dock_ir", f"{BASE}/sensors/dock_ir", ros.DockInfraRed, lambda m: f"{m.header.frame_id} {list(m.data)}"),
    ("imu_data", f"{BASE}/sensors/imu_data", ros.Imu,
     lambda m: f"{m.header.frame_id} {math.hypot(m.orientation.z, m.orientation.w):.6f} {m.orientation_covariance[8]}"),
    ("imu_data_raw", f"{BASE}/sensors/imu_data_raw", ros.Imu, lambda m: m.header.frame_id),
    ("battery_state", f"{BASE}/sensors/battery_state", ros.BatteryState,
     lambda m: f"{m.voltage:.1f} V status {m.power_supply_status} percentage {m.percentage:.2f}"),
    ("odom", "rt/odom", ros.Odometry,
     lambda m: f"{m.header.frame_id} {m.child_frame_id} {m.pose.covariance[0]} {m.pose.covariance[35]}"),
    ("joint_states", "rt/joint_states", JointState, lambda m: " ".join(m.name)),
    ("tf", "rt/tf", ros.TFMessage,
     lambda m: " ".join(f"{t.header.frame_id}->{t.child_frame_id}" for t in m.transforms)),
]

LATCHED = [
    ("version_info", f"{BASE}/version_info", ros.VersionInfo,
     lambda m: f"{m.hardware} {m.firmware} udid {' '.join(str(part) for part in m.udid)} features {m.features}"),
    ("controller_info", f"{BASE}/controller_info", ros.ControllerInfo,
     lambda m: f"type {m.type} {m.p_gain:.3f} {m.i_gain:.3f} {m.d_gain:.3f}"),
    ("robot_state", f"{BASE}/events/robot_state", ros.RobotStateEvent, lambda m: m.state),
]

EVENTS = [
    ("bumper", ros.BumperEvent, lambda m: f"{m.bumper} {m.state}"),
    ("button", ros.ButtonEvent, lambda m: f"{m.button} {m.state}"),
    ("cliff", ros.CliffEvent, lambda m: f"{m.sensor} {m.state} {m.bottom}"),
    ("wheel_drop", ros.WheelDropEvent, lambda m: f"{m.wheel} {m.state}"),
    ("power_system", ros.PowerSystemEvent, lambda m: m.event),
    ("digital_input", ros.DigitalInputEvent, lambda m: " ".join(str(int(value)) for value in m.values)),
]

COMMANDS = [
    ("led1", ros.Led(1)),
    ("led2", ros.Led(3)),
    ("sound", ros.Sound(4)),
    ("external_power", ros.ExternalPower(1, 0)),
    ("digital_output", ros.DigitalOutput([True, False, False, False], [True, False, False, False])),
    ("controller_info", ros.ControllerInfo(1, 90.0, 0.2, 1.5)),
    ("motor_power", ros.MotorPower(0)),
    ("motor_power", ros.MotorPower(1)),
    ("reset_odometry", ros.Empty()),
]


def nanoseconds(sample):
    """Time stamp of a sample."""
    stamp = (sample.transforms[0] if hasattr(sample, "transforms") else sample).header.stamp
    return stamp.sec * 1_000_000_000 + stamp.nanosec


def watch(peer, seconds):
    readers = [peer.reader(topic, kind, 500) for _, topic, kind, _ in STREAMS]
    late = [peer.reader(topic, kind, 1, latched=True) for _, topic, kind, _ in LATCHED]
    if not until(lambda: all(reader.take(500) for reader in readers[:1]), 15):
        raise SystemExit("nothing arrives on sensors/core")
    time.sleep(0.5)
    for reader in readers:
        reader.take(500)
    received = [[] for _ in readers]
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for reader, samples in zip(readers, received):
            samples += reader.take(500)
        time.sleep(0.002)
    for (name, _, _, describe), samples in zip(STREAMS, received):
        # By their stamps: a reliable writer may deliver here what it has kept from before.
        times = [nanoseconds(sample) for sample in samples]
        report(f"{name}_hz", f"{(len(times) - 1) * 1e9 / (times[-1] - times[0]):.1f}" if len(times) > 1 else 0)
        report(f"{name}_repeated", sum(later <= sooner for sooner, later in zip(times, times[1:])))
        report(name, describe(samples[-1]) if samples else None)
    for (name, _, _, describe), reader in zip(LATCHED, late):
        samples = until(lambda: reader.take(1), 5)
        report(name, describe(samples[0]) if samples else None)


def command(peer, velocity_type):
    writers = {}
    for name, sample in COMMANDS:
        if name not in writers:
            writers[name] = peer.writer(f"{BASE}/commands/{name}", type(sample))
    velocity = peer.writer("rt/cmd_vel", velocity_type)
    everybody = [velocity, *writers.values()]
    if not until(lambda: all(writer.get_matched_subscriptions() for writer in everybody), 15):
        raise SystemExit("a command topic has no reader")
    time.sleep(0.3)
    for name, sample in COMMANDS:
        writers[name].write(sample)
        time.sleep(0.2)
    odom = peer.reader("rt/odom", ros.Odometry, 1)
    before = until(lambda: odom.take(1), 5)[0].pose.pose.position.x
    sample = velocity_type()
    getattr(sample, "twist", sample).linear.x = 0.2
    for _ in range(10):
        velocity.write(sample)
        time.sleep(0.1)
    time.sleep(1.2)
    # On a busy machine its time limit is noticed later.
    standing = until(lambda: [one for one in odom.take(1) if one.twist.twist.linear.x == 0.0], 10)
    after = (standing or until(lambda: odom.take(1), 5))[0]
    report("driven_m", f"{after.pose.pose.position.x - before:.3f}")
    report("speed_after_silence", f"{after.twist.twist.linear.x:.4f}")


def events(peer):
    readers = [peer.reader(f"{BASE}/events/{name}", kind, 100) for name, kind, _ in EVENTS]
    if not until(lambda: all(reader.get_matched_publications() for reader in readers), 15):
        raise SystemExit("an event topic has no writer")
    time.sleep(0.3)
    print("listening", flush=True)
    while True:
        for (name, _, describe), reader in zip(EVENTS, readers):
            for sample in reader.take(100):
                report(name, describe(sample))
        time.sleep(0.002)


def main():
    domain = Domain(DOMAIN, CONFIGURATION)  # has to live as long as the participant
    peer = Peer()
    match sys.argv[1:]:
        case ["watch", seconds]:
            watch(peer, float(seconds))
        case ["command", ("Twist" | "TwistStamped") as name]:
            command(peer, getattr(ros, name))
        case ["events"]:
            events(peer)
        case _:
            raise SystemExit(__doc__)
    del domain


if __name__ == "__main__":
    main()
