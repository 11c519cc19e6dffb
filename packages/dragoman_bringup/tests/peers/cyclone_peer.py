"""A peer on Cyclone DDS that uses a running lab like a ROS 2 machine with rmw_cyclonedds.

    cyclone_peer.py session       everything once; see session()
    cyclone_peer.py graph         nodes and their endpoints
    cyclone_peer.py watch SECONDS rates of the arm's topics
    cyclone_peer.py hold          read joint_states until killed
    cyclone_peer.py joins COUNT   join the domain, receive one sample, leave; COUNT times

Reads ROS_DOMAIN_ID, stays on the loopback interface, and prints lines `name: value`, which interop.rs checks.
"""

import math
import os
import re
import statistics
import sys
import time
import uuid

from cyclonedds.builtin import BuiltinDataReader, BuiltinTopicDcpsPublication, BuiltinTopicDcpsSubscription
from cyclonedds.core import Policy, Qos
from cyclonedds.domain import Domain, DomainParticipant
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration

import cyclone_types as ros

DOMAIN = int(os.environ.get("ROS_DOMAIN_ID", "0"))
CONFIGURATION = """<CycloneDDS><Domain>
  <General><Interfaces><NetworkInterface name="lo"/></Interfaces><AllowMulticast>false</AllowMulticast></General>
  <Discovery><ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>32</MaxAutoParticipantIndex>
    <Peers><Peer address="127.0.0.1"/></Peers></Discovery>
</Domain></CycloneDDS>"""


def qos(depth=10, latched=False):
    durability = Policy.Durability.TransientLocal if latched else Policy.Durability.Volatile
    return Qos(
        Policy.Reliability.Reliable(duration(milliseconds=100)),
        durability,
        Policy.History.KeepLast(depth),
        Policy.DataRepresentation(use_cdrv0_representation=True),
    )


def report(name, value):
    print(f"{name}: {value}", flush=True)


def until(condition, time_limit):
    """Waits until `condition` holds; its value, or a false one when `time_limit` seconds have passed."""
    end = time.monotonic() + time_limit
    while not (value := condition()) and time.monotonic() < end:
        time.sleep(0.0005)
    return value


class Peer:
    def __init__(self):
        self.participant = DomainParticipant(DOMAIN)
        # Kept: Cyclone may refuse a topic while another one of the same type is being deleted.
        self.topics = {}

    def topic(self, name, kind):
        if name not in self.topics:
            self.topics[name] = Topic(self.participant, name, kind)
        return self.topics[name]

    def reader(self, name, kind, depth=10, latched=False):
        return DataReader(self.participant, self.topic(name, kind), qos(depth, latched))

    def writer(self, name, kind):
        return DataWriter(self.participant, self.topic(name, kind), qos())

    def first(self, name, kind, latched=True):
        samples = until(self.reader(name, kind, 1, latched).take, 15)
        return samples[0] if samples else None


class Service:
    """A client of one service, by its name without the leading slash."""

    def __init__(self, peer, name, request, response):
        self.writer = peer.writer(f"rq/{name}Request", request)
        self.reader = peer.reader(f"rr/{name}Reply", response)
        self.request = request
        self.client = uuid.uuid4().int >> 65
        self.count = 0
        matched = until(lambda: self.writer.get_matched_subscriptions() and self.reader.get_matched_publications(), 15)
        if not matched:
            raise SystemExit(f"service {name} is not there")
        # The server may match this reader later than the reader matches the server.
        time.sleep(0.3)

    def call(self, **fields):
        self.count += 1
        self.writer.write(self.request(client=self.client, sequence_number=self.count, **fields))
        reply = until(self._reply, 5)
        if reply is None:
            raise SystemExit(f"no reply to {self.request.__name__}")
        return reply

    def _reply(self):
        for reply in self.reader.take():
            if (reply.client, reply.sequence_number) == (self.client, self.count):
                return reply
        return None


def watch(peer, seconds):
    """Receives joint_states and pose for a while; the last pose."""
    readers = [peer.reader("rt/ranger/joint_states", ros.JointState, 100),
               peer.reader("rt/ranger/pose", ros.PoseStamped, 100)]
    if not until(lambda: all(reader.take(100) for reader in readers), 15):
        raise SystemExit("nothing arrives on joint_states and pose")
    received, longest_gap = ([], []), 0.0
    began = last = time.monotonic()
    while (now := time.monotonic()) < began + seconds:
        for reader, samples in zip(readers, received):
            taken = reader.take(100)
            samples += taken
            if taken and reader is readers[0]:
                longest_gap, last = max(longest_gap, now - last), now
        time.sleep(0.002)
    states, stamped = received
    report("joint_states_hz", f"{len(states) / seconds:.1f}")
    report("joint_states_longest_gap_ms", f"{max(longest_gap, now - last) * 1e3:.0f}")
    report("pose_hz", f"{len(stamped) / seconds:.1f}")
    report("joints", " ".join(sorted({str(len(state.position)) for state in states})))
    norms = [math.hypot(q.x, q.y, q.z, q.w) for q in (sample.pose.orientation for sample in stamped)]
    report("quaternion_error", max((abs(norm - 1) for norm in norms), default=math.inf))
    return stamped[-1].pose


def latched(peer):
    late = peer.reader("rt/ranger/drive_status", ros.DriveStatus, 100, latched=True)
    until(lambda: late.read(1), 15)
    # One is published every second, so there may be one more.
    time.sleep(0.5)
    report("latched_samples", len(late.take(100)))
    drives = peer.first("rt/ranger/drive_status", ros.DriveStatus)
    report("drive_status", drives and f"{len(drives.name)} joints, enabled {drives.enabled}")
    description = peer.first("rt/ranger/robot_description", ros.Text)
    report("robot_description", description and f"{len(description.data)} bytes, robot {'<robot' in description.data}")
    motion = peer.first("rt/ranger/motion_status", ros.MotionStatus)
    report("motion_status", motion and f"mode {motion.mode}, moving {motion.moving}")


def graph(peer):
    """Compares what ros_discovery_info lists with what DDS discovery has found."""
    listed = peer.reader("ros_discovery_info", ros.ParticipantEntitiesInfo, 100, latched=True)
    endpoints = [BuiltinDataReader(peer.participant, topic) for topic in
                 (BuiltinTopicDcpsPublication, BuiltinTopicDcpsSubscription)]
    if not until(lambda: listed.read(1), 15):
        raise SystemExit("no ros_discovery_info")
    time.sleep(1)
    infos, found, hashed = [], set(), set()

    def gids():
        # Every sample replaces the one before.
        return [bytes(gid.data) for node in infos[-1].node_entities_info_seq for gid in node.reader_gid_seq + node.writer_gid_seq]

    def unknown():
        infos.extend(listed.take(100))
        for sample in (sample for reader in endpoints for sample in reader.take(2000)):
            found.add(bytes(sample.key.bytes))
            data = sample.qos[Policy.Userdata].data if Policy.Userdata in sample.qos else b""
            # rmw_cyclonedds puts the identity of a service's client or server before it.
            if re.search(b"(^|;)typehash=RIHS01_[0-9a-f]{64};", data):
                hashed.add(bytes(sample.key.bytes))
        # A DDS identifier has 16 bytes; the rest is zero in Humble.
        return sum(gid[:16] not in found or any(gid[16:]) for gid in gids())

    # On a busy machine DDS discovery may lag behind the list.
    until(lambda: unknown() == 0, 15)
    participant = bytes(infos[-1].gid.data)
    names = {node.node_namespace.rstrip("/") + "/" + node.node_name for node in infos[-1].node_entities_info_seq}
    report("nodes", " ".join(sorted(names)))
    report("gids_listed", len(gids()))
    report("gid_bytes", len(participant))
    report("gids_unknown_to_dds", unknown())
    report("gids_with_type_hash", sum(gid[:16] in hashed for gid in gids()))
    report("gids_of_participant", sum(gid[:12] == participant[:12] for gid in gids()))


def refusals(peer, pose):
    begin = Service(peer, "ranger/begin_motion", ros.TriggerRequest, ros.TriggerResponse)
    mode = Service(peer, "ranger/set_command_mode", ros.SetCommandModeRequest, ros.SetCommandModeResponse)
    goal = Service(peer, "ranger/set_goal_pose", ros.SetGoalPoseRequest, ros.SetGoalPoseResponse)

    def outcome(reply):
        return f"{reply.success} {reply.message}"

    report("mode_7", outcome(mode.call(mode=7)))
    report("mode_2", outcome(mode.call(mode=2)))
    report("begin_without_goal", outcome(begin.call()))
    report("goal_nan", outcome(goal.call(pose=ros.Pose(ros.Point(z=math.nan), pose.orientation))))
    report("goal_zero_quaternion", outcome(goal.call(pose=ros.Pose(pose.position, ros.Quaternion(0, 0, 0, 0)))))
    report("begin_after_refusals", outcome(begin.call()))
    return begin, goal, outcome


def move(peer, pose, begin, goal, outcome):
    """Moves the tool 3 cm up and waits for it."""
    target = ros.Pose(ros.Point(pose.position.x, pose.position.y, pose.position.z + 0.03), pose.orientation)
    poses = peer.reader("rt/ranger/pose", ros.PoseStamped, 1)
    report("set_goal_pose", outcome(goal.call(pose=target)))
    started = time.monotonic()
    report("begin_motion", outcome(begin.call()))
    error = math.inf

    def arrived():
        nonlocal error
        for sample in poses.take():
            p = sample.pose.position
            error = math.dist((p.x, p.y, p.z), (target.position.x, target.position.y, target.position.z))
        return error < 1e-4

    until(arrived, 15)
    report("arrival_error_m", f"{error:.2e}")
    report("arrival_seconds", f"{time.monotonic() - started:.2f}")


def parameters(peer):
    def service(name):
        kind = "".join(word.capitalize() for word in name.split("_"))
        return Service(peer, f"ranger/kinematics/{name}", getattr(ros, kind + "Request"), getattr(ros, kind + "Response"))

    names = service("list_parameters").call().result.names
    report("parameters", " ".join(names))
    get, describe, change = service("get_parameters"), service("describe_parameters"), service("set_parameters")
    name = "via_points.cartesian"
    value = get.call(names=[name]).values[0]
    report("parameter_get", f"type {value.type} value {value.double_value}")
    report("parameter_get_undeclared", f"{len(get.call(names=['nobody.declared.this']).values)} values")
    report("parameter_get_often", f"{len(get.call(names=[name] * 3000).values)} values")
    descriptor = describe.call(names=[name]).descriptors[0]
    bounds = descriptor.floating_point_range[0]
    report("parameter_describe", f"{bounds.from_value} .. {bounds.to_value} {descriptor.description}")

    def refusal(name, value):
        result = change.call(parameters=[ros.Parameter(name, value)]).results[0]
        return f"{result.successful} {result.reason}"

    report("parameter_set_undeclared", refusal("nobody.declared.this", ros.ParameterValue(2, integer_value=1)))
    report("parameter_set_out_of_range", refusal(name, ros.ParameterValue(3, double_value=-1.0)))
    report("parameter_set_type", refusal(name, ros.ParameterValue(4, string_value="far")))
    report("parameter_unchanged", get.call(names=[name]).values[0].double_value == value.double_value)


def nonsense(peer):
    """Sends packets that no ROS client sends; the arm must not react."""
    stranger = Peer()
    cut = stranger.writer("rq/ranger/stopRequest", ros.CutRequest)
    until(cut.get_matched_subscriptions, 15)
    for _ in range(20):
        cut.write(ros.CutRequest(client=7))
    command = peer.writer("rt/ranger/joint_command", ros.JointState)
    until(command.get_matched_subscriptions, 15)
    # The last sample of the previous motion.
    time.sleep(1)
    before = peer.first("rt/ranger/joint_states", ros.JointState, latched=False).position
    for positions in ([math.nan] * 6, [1.0], [math.inf] * 6, [0.0] * 1000):
        command.write(ros.JointState(position=positions))
    command.write(ros.JointState(name=["no such joint"], position=[1.0]))
    time.sleep(0.5)
    after = peer.first("rt/ranger/joint_states", ros.JointState, latched=False).position
    report("nonsense_moved_rad", max(abs(a - b) for a, b in zip(before, after)))


def round_trips(peer):
    stop = Service(peer, "ranger/stop", ros.TriggerRequest, ros.TriggerResponse)
    times = []
    for _ in range(201):
        asked = time.perf_counter()
        stop.call()
        times.append((time.perf_counter() - asked) * 1e3)
    report("first_call_ms", f"{times.pop(0):.2f}")
    report("calls", len(times))
    report("call_median_ms", f"{statistics.median(times):.2f}")
    report("call_longest_ms", f"{max(times):.2f}")


def session():
    peer = Peer()
    pose = watch(peer, 3)
    latched(peer)
    graph(peer)
    move(peer, pose, *refusals(peer, pose))
    parameters(peer)
    nonsense(peer)
    round_trips(peer)
    report("done", "session")


def hold():
    states = Peer().reader("rt/ranger/joint_states", ros.JointState)
    until(states.take, 15)
    report("receiving", "joint_states")
    while True:
        states.take()
        time.sleep(0.01)


def joins(count):
    times = []
    for _ in range(count):
        began = time.monotonic()
        peer = Peer()
        if peer.first("rt/ranger/joint_states", ros.JointState, latched=False):
            times.append(time.monotonic() - began)
        del peer
    report("joins", len(times))
    report("join_median_s", f"{statistics.median(times):.3f}")
    report("join_longest_s", f"{max(times):.3f}")


def main():
    command, *arguments = sys.argv[1:]
    domain = Domain(DOMAIN, CONFIGURATION)
    if command == "session":
        session()
    elif command == "graph":
        graph(Peer())
    elif command == "watch":
        watch(Peer(), float(arguments[0]))
    elif command == "hold":
        hold()
    elif command == "joins":
        joins(int(arguments[0]))
    else:
        raise SystemExit(__doc__)
    del domain


if __name__ == "__main__":
    main()
