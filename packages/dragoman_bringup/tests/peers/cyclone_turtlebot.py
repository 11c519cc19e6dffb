"""A peer on Cyclone DDS that uses the lab's TurtleBot with arm by the TurtleBot thesis, table A.2, whose output turtlebot.rs checks.

    cyclone_turtlebot.py watch SECONDS   rates and last values of what it measures; its cameras are another test's
    cyclone_turtlebot.py base            drives, falls silent, resets, switches motors and LEDs, presses a button
    cyclone_turtlebot.py arm             moves every joint, and calls the services of every joint
    cyclone_turtlebot.py simulator       status bar and console

Reads ROS_DOMAIN_ID, stays on the loopback interface, and prints lines `name: value`.
"""

import math
import sys
import time

from cyclonedds.domain import Domain

import kobuki_types as kobuki
import turtlebot_types as ros
from cyclone_peer import CONFIGURATION, DOMAIN, Peer, Service, report, until
from cyclone_types import JointState, PoseStamped, Text

BASE = "rt/mobile_base"
ARM = [f"arm_{number}_joint" for number in range(1, 6)]
GRIPPER = "gripper_1_joint"
JOINTS = [*ARM, GRIPPER]


def heading(orientation):
    return 2 * math.atan2(orientation.z, orientation.w)


def place(message):
    p = message.pose.position
    return f"{message.header.frame_id} {p.x:.3f} {p.y:.3f} {p.z:.3f} {heading(message.pose.orientation):.3f}"


def scan(message):
    seen = [reach for reach in message.ranges if message.range_min <= reach < message.range_max]
    blind = sum(reach < 0.3 for reach in message.ranges)
    return (f"{message.header.frame_id} beams {len(message.ranges)} from {message.angle_min:.4f} to {message.angle_max:.4f} "
            f"range {message.range_min:.3f} to {message.range_max:.3f} seen {len(seen)} near {blind}")


def imu(message):
    q = message.orientation
    norm = math.hypot(q.x, q.y, q.z, q.w)
    return f"{message.header.frame_id} norm {norm:.4f} rate {message.angular_velocity.z:.3f}"


# Name of the line, topic, type, description of the last sample.
STREAMS = [
    ("odom", "rt/odom", kobuki.Odometry, lambda m: f"{m.header.frame_id} {m.child_frame_id}"),
    ("joint_states", "rt/joint_states", JointState, lambda m: " ".join(m.name)),
    ("core", f"{BASE}/sensors/core", kobuki.SensorState,
     lambda m: f"bumper {m.bumper} cliff {m.cliff} drop {m.wheel_drop} battery {m.battery}"),
    ("imu_data", f"{BASE}/sensors/imu_data", kobuki.Imu, imu),
    ("imu_data_raw", f"{BASE}/sensors/imu_data_raw", kobuki.Imu, lambda m: m.header.frame_id),
    ("scan", "rt/scan", ros.LaserScan, scan),
    ("pose", "rt/simulation/pose", PoseStamped, place),
    ("sim_time", "rt/simulation/sim_time", ros.Float64, lambda m: f"{m.data:.3f}"),
]

LATCHED = [
    ("version_info", f"{BASE}/version_info", kobuki.VersionInfo,
     lambda m: f"{m.hardware} {m.firmware} {m.software} udid {' '.join(str(part) for part in m.udid)}"),
    ("controller_info", f"{BASE}/controller_info", kobuki.ControllerInfo,
     lambda m: f"type {m.type} {m.p_gain:.3f} {m.i_gain:.3f} {m.d_gain:.3f}"),
    ("robot_description", "rt/robot_description", Text, lambda m: f"{len(m.data)} bytes, {m.data.count('<link')} links"),
]


def watch(peer, seconds):
    readers = [peer.reader(topic, kind, 500) for _, topic, kind, _ in STREAMS]
    transforms = peer.reader("rt/tf", kobuki.TFMessage, 1000)
    # Each robot publishes its own.
    fixed = peer.reader("rt/tf_static", kobuki.TFMessage, 10, latched=True)
    for (name, _, _, _), reader in zip(STREAMS, readers):
        if not until(lambda: reader.take(500), 15):
            raise SystemExit(f"nothing arrives on {name}")
    for reader in [*readers, transforms]:
        reader.take(1000)
    received = [[] for _ in readers]
    edges = {}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for reader, samples in zip(readers, received):
            samples += reader.take(500)
        for sample in transforms.take(1000):
            for t in sample.transforms:
                edges.setdefault(t.child_frame_id, set()).add(t.header.frame_id)
        time.sleep(0.002)
    for (name, _, _, describe), samples in zip(STREAMS, received):
        report(f"{name}_hz", f"{len(samples) / seconds:.1f}")
        report(name, describe(samples[-1]) if samples else None)
    clock = [sample.data for sample in received[[name for name, *_ in STREAMS].index("sim_time")]]
    report("sim_seconds", f"{clock[-1] - clock[0]:.3f}")
    report("children", " ".join(sorted(edges)))
    report("children_of_two", " ".join(sorted(child for child, parents in edges.items() if len(parents) > 1)))
    report("tf_static", " ".join(t.child_frame_id for sample in fixed.take(10) for t in sample.transforms))
    for name, topic, kind, describe in LATCHED:
        sample = peer.first(topic, kind)
        report(name, describe(sample) if sample else None)


def matched(peer, writers):
    if not until(lambda: all(writer.get_matched_subscriptions() for writer in writers), 15):
        raise SystemExit("a command topic has no reader")
    # The readers may know us later than we know them.
    time.sleep(0.3)


def base(peer):
    velocity = peer.writer(f"{BASE}/commands/velocity", kobuki.Twist)
    motors = peer.writer(f"{BASE}/commands/motor_power", kobuki.MotorPower)
    reset = peer.writer(f"{BASE}/commands/reset_odometry", kobuki.Empty)
    leds = [peer.writer(f"{BASE}/commands/led{number}", kobuki.Led) for number in (1, 2)]
    odom = peer.reader("rt/odom", kobuki.Odometry, 1)
    truth = peer.reader("rt/simulation/pose", PoseStamped, 1)
    buttons = peer.reader(f"{BASE}/events/button", kobuki.ButtonEvent, 100)
    press = Service(peer, "simulation/press_button", ros.PressButtonRequest, ros.PressButtonResponse)
    matched(peer, [velocity, motors, reset, *leds])

    def newest(reader):
        reader.take(1)
        return until(lambda: reader.take(1), 5)[0]

    def drive(seconds, linear, angular=0.0):
        command = kobuki.Twist()
        command.linear.x, command.angular.z = linear, angular
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            velocity.write(command)
            time.sleep(0.05)

    def driven(action):
        odometry, pose = newest(odom).pose.pose.position, newest(truth).pose.position
        action()
        time.sleep(1.2)
        odometry_then, pose_then = newest(odom).pose.pose.position, newest(truth).pose.position
        return (math.hypot(odometry_then.x - odometry.x, odometry_then.y - odometry.y),
                math.hypot(pose_then.x - pose.x, pose_then.y - pose.y))

    by_odometry, really = driven(lambda: drive(2.0, 0.2))
    report("driven_by_odometry_m", f"{by_odometry:.3f}")
    report("driven_m", f"{really:.3f}")
    # One command, then nothing: 0.6 s.
    by_odometry, really = driven(lambda: drive(0.01, 0.3))
    report("driven_after_one_command_m", f"{really:.3f}")
    report("speed_after_silence", f"{newest(odom).twist.twist.linear.x:.4f}")
    reset.write(kobuki.Empty())
    time.sleep(0.3)
    origin = newest(odom).pose.pose.position
    report("after_reset_m", f"{math.hypot(origin.x, origin.y):.4f}")
    motors.write(kobuki.MotorPower(0))
    time.sleep(0.2)
    report("driven_with_motors_off_m", f"{driven(lambda: drive(0.5, 0.2))[1]:.3f}")
    motors.write(kobuki.MotorPower(1))
    time.sleep(0.2)
    report("driven_with_motors_on_m", f"{driven(lambda: drive(0.5, -0.2))[1]:.3f}")
    for number, (led, color) in enumerate(zip(leds, (1, 3)), 1):
        led.write(kobuki.Led(color))
        time.sleep(0.3)
        shines = peer.first(f"rt/simulation/led{number}", ros.ColorRGBA)
        report(f"led{number}", f"{shines.r:.1f} {shines.g:.1f} {shines.b:.1f}")
    buttons.take(100)
    reply = press.call(button=1, duration=0.2)
    report("press", f"{reply.success} {reply.message}")
    time.sleep(0.8)
    report("button_events", " ".join(f"{event.button}:{event.state}" for event in buttons.take(100)))
    reply = press.call(button=9, duration=0.2)
    report("press_nothing", f"{reply.success} {reply.message}")
    report("last_cmd_time", f"{peer.first('rt/vrep/last_cmd_time', ros.Float64).data:.3f}")


class Arm:
    def __init__(self, peer):
        self.states = peer.reader("rt/joint_states", JointState, 1)
        self.commands = {joint: peer.writer(f"rt/{joint}/command", ros.Float64) for joint in JOINTS}

        def services(name, request, response):
            return {joint: Service(peer, f"{joint}/{name}", request, response) for joint in JOINTS}

        self.relax = services("relax", ros.RelaxRequest, ros.RelaxResponse)
        self.enable = services("enable", ros.EnableRequest, ros.EnableResponse)
        self.set_speed = services("set_speed", ros.SetSpeedRequest, ros.SetSpeedResponse)
        matched(peer, self.commands.values())

    def position(self, joint):
        self.states.take(1)
        state = until(lambda: self.states.take(1), 5)[0]
        return state.position[state.name.index(joint)]

    def go(self, joint, position, time_limit=5):
        """Commands a joint; returns the time until it is near, or None."""
        self.commands[joint].write(ros.Float64(position))
        start = time.monotonic()
        reached = until(lambda: abs(self.position(joint) - position) < 0.03, time_limit)
        return time.monotonic() - start if reached else None


def arm(peer):
    arm = Arm(peer)
    for joint in JOINTS:
        report(f"{joint}_at_start", f"{arm.position(joint):.3f}")
    # Upright: nothing is in the way, and no joint falls when it is relaxed.
    for joint in ["arm_2_joint", "arm_3_joint", "arm_4_joint", "arm_5_joint", "arm_1_joint"]:
        arm.go(joint, 0.0)
    for joint in JOINTS:
        begin = arm.position(joint)
        target = begin + 0.5
        took = arm.go(joint, target)
        report(f"{joint}_moves", took is not None)
        arm.set_speed[joint].call(speed=0.25)
        slow = arm.go(joint, begin)
        report(f"{joint}_slow_s", f"{slow:.2f}" if slow else None)
        arm.set_speed[joint].call(speed=1.7)
        report(f"{joint}_disabled", arm.enable[joint].call(enable=False).state)
        arm.commands[joint].write(ros.Float64(target))
        time.sleep(0.6)
        report(f"{joint}_moved_disabled", f"{abs(arm.position(joint) - begin):.3f}")
        report(f"{joint}_enabled", arm.enable[joint].call(enable=True).state)
        arm.relax[joint].call()
        report(f"{joint}_after_relax", arm.go(joint, target) is not None)
        arm.go(joint, begin)
    # Invalid commands move nothing.
    before = [arm.position(joint) for joint in JOINTS]
    for joint in JOINTS:
        for nonsense in (math.nan, math.inf, 100.0):
            arm.commands[joint].write(ros.Float64(nonsense))
    time.sleep(0.6)
    after = [arm.position(joint) for joint in JOINTS]
    report("nonsense_moved", f"{max(abs(a - b) for a, b in zip(before, after)):.3f}")


def simulator(peer):
    bar = peer.writer("rt/vrep/status_bar_message", Text)
    console = {name: peer.writer(f"rt/vrep/aux_console/{name}", Text if name == "print" else kobuki.Empty)
               for name in ("create", "delete", "hide", "show", "print", "clear")}
    matched(peer, [bar, *console.values()])

    def shown():
        time.sleep(0.3)
        return repr(peer.first("rt/vrep/aux_console/text", Text).data)

    bar.write(Text("Program: a test"))
    time.sleep(0.3)
    report("status_bar", peer.first("rt/vrep/status_bar", Text).data)
    console["create"].write(kobuki.Empty())
    time.sleep(0.2)
    console["print"].write(Text("X: 0.2"))
    report("printed", shown())
    console["hide"].write(kobuki.Empty())
    report("hidden", shown())
    console["show"].write(kobuki.Empty())
    report("shown", shown())
    console["clear"].write(kobuki.Empty())
    report("cleared", shown())
    console["delete"].write(kobuki.Empty())
    report("deleted", shown())


def main():
    domain = Domain(DOMAIN, CONFIGURATION)  # has to live as long as the participant
    peer = Peer()
    match sys.argv[1:]:
        case ["watch", seconds]:
            watch(peer, float(seconds))
        case ["base"]:
            base(peer)
        case ["arm"]:
            arm(peer)
        case ["simulator"]:
            simulator(peer)
        case _:
            raise SystemExit(__doc__)
    del domain


if __name__ == "__main__":
    main()
