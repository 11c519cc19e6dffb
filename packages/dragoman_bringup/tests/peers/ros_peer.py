"""A peer that is ROS 2 itself: rclpy of Jazzy, Humble or Kilted, with the standard interfaces only.

    ros_peer.py session       everything once; see session()
    ros_peer.py graph         nodes, topics and services, when a message of a topic has arrived
    ros_peer.py watch SECONDS rates of the arm's topics
    ros_peer.py set NAME NUMBER...
                              sets a parameter of the kinematics node to a number, or to a list of several
    ros_peer.py trajectory    moves the arm through three points by control_msgs/FollowJointTrajectory of Kilted or later

Prints lines `name: value`, which interop.rs checks.
"""

import math
import statistics
import sys
import threading
import time

import rclpy
from geometry_msgs.msg import PoseStamped
from rcl_interfaces.msg import Log
from rcl_interfaces.srv import DescribeParameters, GetParameters, ListParameters, SetParameters, SetParametersAtomically
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


def report(name, value):
    print(f"{name}: {value}", flush=True)


def until(condition, time_limit):
    end = time.monotonic() + time_limit
    while not (value := condition()) and time.monotonic() < end:
        time.sleep(0.005)
    return value


def finished(future, time_limit=10):
    if not until(future.done, time_limit):
        raise SystemExit("no reply")
    return future.result()


def client(node, kind, name):
    """A client that has found its service; rclpy says so only when the graph is complete."""
    client = node.create_client(kind, name)
    if not client.wait_for_service(15):
        raise SystemExit(f"service {name} is not there")
    return client


def watch(node, seconds):
    """Receives joint_states and pose for a while; the last pose."""
    states, poses = [], []
    node.create_subscription(JointState, "/ranger/joint_states", states.append, 1000)
    node.create_subscription(PoseStamped, "/ranger/pose", poses.append, 1000)
    if not until(lambda: states and poses, 15):
        raise SystemExit("nothing arrives on joint_states and pose")
    first = len(states), len(poses)
    time.sleep(seconds)
    report("joint_states_hz", f"{(len(states) - first[0]) / seconds:.1f}")
    report("pose_hz", f"{(len(poses) - first[1]) / seconds:.1f}")
    report("joints", " ".join(sorted({str(len(state.position)) for state in states})))
    norms = [math.hypot(q.x, q.y, q.z, q.w) for q in (sample.pose.orientation for sample in poses)]
    report("quaternion_error", max((abs(norm - 1) for norm in norms), default=math.inf))


def latched(node):
    texts = []
    node.create_subscription(String, "/ranger/robot_description", texts.append, LATCHED)
    until(lambda: texts, 15)
    report("robot_description", texts and f"{len(texts[0].data)} bytes, robot {'<robot' in texts[0].data}")


def graph(node):
    """What `ros2 node list`, `topic list -t`, `service list -t` and `topic info -v` show."""
    expected = "/ranger/kinematics", "/ranger/arm"

    def nodes():
        return sorted(space.rstrip("/") + "/" + name for name, space in node.get_node_names_and_namespaces())

    until(lambda: set(expected) <= set(nodes()), 15)
    report("nodes", " ".join(nodes()))
    topics = dict(node.get_topic_names_and_types())
    report("topics", " ".join(f"{name}={'+'.join(kinds)}" for name, kinds in sorted(topics.items())))
    services = dict(node.get_service_names_and_types_by_node("kinematics", "/ranger"))
    report("services", " ".join(f"{name}={'+'.join(kinds)}" for name, kinds in sorted(services.items())))
    publishers = node.get_publishers_info_by_topic("/ranger/joint_states")
    report("joint_states_publishers", " ".join(f"{p.node_namespace}/{p.node_name}" for p in publishers))
    # Not in Humble.
    report("joint_states_hashes", " ".join(str(getattr(p, "topic_type_hash", None)) for p in publishers))


def services(node):
    def outcome(name):
        reply = finished(client(node, Trigger, f"/ranger/{name}").call_async(Trigger.Request()))
        return f"{reply.success} {reply.message}"

    report("begin_without_goal", outcome("begin_motion"))
    report("stop", outcome("stop"))
    report("disable", outcome("disable"))
    report("enable", outcome("enable"))

    # A client of another type: its requests must neither be accepted nor disturb.
    stranger = rclpy.Context()
    stranger.init(args=[])
    wrong = rclpy.create_node("stranger", context=stranger, start_parameter_services=False)
    wrong.create_client(SetBool, "/ranger/stop").call_async(SetBool.Request(data=True))
    time.sleep(1)
    report("stop_beside_wrong_type", outcome("stop"))
    wrong.destroy_node()
    stranger.try_shutdown()

    stop, times = client(node, Trigger, "/ranger/stop"), []
    for _ in range(201):
        asked = time.perf_counter()
        future, answered = stop.call_async(Trigger.Request()), threading.Event()
        future.add_done_callback(lambda _: answered.set())
        if not answered.wait(10):
            raise SystemExit("no reply from stop")
        times.append((time.perf_counter() - asked) * 1e3)
    report("first_call_ms", f"{times.pop(0):.2f}")
    report("calls", len(times))
    report("call_median_ms", f"{statistics.median(times):.2f}")
    report("call_longest_ms", f"{max(times):.2f}")


class Parameters:
    """Parameters of another node; missing in rclpy before Iron."""

    SERVICES = {
        "list_parameters": ListParameters,
        "get_parameters": GetParameters,
        "describe_parameters": DescribeParameters,
        "set_parameters": SetParameters,
        "set_parameters_atomically": SetParametersAtomically,
    }

    def __init__(self, node, name):
        self.clients = {service: client(node, kind, f"{name}/{service}") for service, kind in self.SERVICES.items()}

    def call(self, service, **fields):
        return finished(self.clients[service].call_async(self.SERVICES[service].Request(**fields)))

    def set(self, name, value, service="set_parameters"):
        return self.call(service, parameters=[Parameter(name, value=value).to_parameter_msg()])


def set_parameter(node, name, numbers):
    remote = Parameters(node, "/ranger/kinematics")
    result = remote.set(name, numbers if len(numbers) > 1 else numbers[0]).results[0]
    report("set", f"{result.successful} {result.reason}")
    value = remote.call("get_parameters", names=[name]).values[0]
    report("value", " ".join(map(str, value.double_array_value or [value.double_value])))


def parameters(node):
    remote = Parameters(node, "/ranger/kinematics")
    name, nobody = "via_points.cartesian", "nobody.declared.this"
    report("parameters", " ".join(remote.call("list_parameters").result.names))
    value = remote.call("get_parameters", names=[name]).values[0]
    report("parameter_get", f"type {value.type} value {value.double_value}")
    report("parameter_get_undeclared", f"{len(remote.call('get_parameters', names=[nobody]).values)} values")
    report("parameter_get_often", f"{len(remote.call('get_parameters', names=[name] * 3000).values)} values")
    descriptor = remote.call("describe_parameters", names=[name]).descriptors[0]
    bounds = descriptor.floating_point_range[0]
    report("parameter_describe", f"{bounds.from_value} .. {bounds.to_value} {descriptor.description}")

    def refusal(name, value):
        result = remote.set(name, value).results[0]
        return f"{result.successful} {result.reason}"

    report("parameter_set_undeclared", refusal(nobody, 1))
    report("parameter_set_out_of_range", refusal(name, -1.0))
    report("parameter_set_type", refusal(name, "far"))
    atomic = remote.set(name, -1.0, "set_parameters_atomically").result
    report("parameter_set_atomically", f"{atomic.successful} {atomic.reason}")
    report("parameter_unchanged", remote.call("get_parameters", names=[name]).values[0] == value)


def log(node):
    """Checks the lab's log of the last ten seconds, including refusals."""
    lines = []
    qos = QoSProfile(depth=1000, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    node.create_subscription(Log, "/rosout", lines.append, qos)
    until(lambda: any("begin_motion" in line.msg for line in lines), 5)
    report("log", " | ".join(sorted({line.name for line in lines})))
    report("log_names_refusal", any("begin_motion" in line.msg for line in lines))


def trajectory(node):
    """Three points a second apart, with the feedback on the way; the arm's state and a service besides."""
    # Not among the packages that the other commands need.
    from control_msgs.action import FollowJointTrajectory
    from rclpy.action import ActionClient
    from trajectory_msgs.msg import JointTrajectoryPoint

    action = "/ranger/follow_joint_trajectory"
    states, feedback = [], []
    node.create_subscription(JointState, "/ranger/joint_states", states.append, 10)
    follow = ActionClient(node, FollowJointTrajectory, action)
    if not follow.wait_for_server(15) or not until(lambda: states, 15):
        raise SystemExit("no action server, or no joint_states")

    def hashes():
        topic = f"{action}/_action/feedback"
        ends = node.get_publishers_info_by_topic(topic), node.get_subscriptions_info_by_topic(topic)
        return [str(end.topic_type_hash) for side in ends for end in side], all(ends)

    # Those of both sides: the arm's and this peer's.
    until(lambda: hashes()[1], 15)
    report("feedback_hashes", " ".join(sorted(set(hashes()[0]))))

    start = states[-1]
    goal = FollowJointTrajectory.Goal()
    goal.trajectory.joint_names = start.name
    for second in 1, 2, 3:
        point = JointTrajectoryPoint(positions=[position + 0.02 * second for position in start.position])
        point.time_from_start.sec = second
        goal.trajectory.points.append(point)
    sent = finished(follow.send_goal_async(goal, feedback_callback=lambda message: feedback.append(message.feedback)))
    report("accepted", sent.accepted)
    end = finished(sent.get_result_async(), 30)
    report("result", f"status {end.status} code {end.result.error_code}")
    report("feedback", len(feedback))
    indices = [message.index for message in feedback]
    report("indices", " ".join(str(index) for index in sorted(set(indices))))
    report("indices_rise", indices == sorted(indices))
    report("multi_dof", sorted({(message.multi_dof_index, len(message.multi_dof_joint_names)) for message in feedback}))
    report("joints", sorted({len(message.error.positions) for message in feedback}))
    reply = finished(client(node, Trigger, "/ranger/stop").call_async(Trigger.Request()))
    report("stop", f"{reply.success} {reply.message}")
    report("done", "trajectory")


def session(node):
    watch(node, 3)
    latched(node)
    graph(node)
    services(node)
    parameters(node)
    log(node)
    report("done", "session")


def main():
    command, *arguments = sys.argv[1:]
    rclpy.init(args=[])
    node = rclpy.create_node("peer", start_parameter_services=False)
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    spinning = threading.Thread(target=executor.spin, daemon=True)
    spinning.start()
    try:
        if command == "session":
            session(node)
        elif command == "graph":
            states = []
            node.create_subscription(JointState, "/ranger/joint_states", states.append, 10)
            graph(node)
            report("joint_states", "received" if until(lambda: states, 15) else "none")
        elif command == "watch":
            watch(node, float(arguments[0]))
        elif command == "set":
            set_parameter(node, arguments[0], [float(number) for number in arguments[1:]])
        elif command == "trajectory":
            trajectory(node)
        else:
            raise SystemExit(__doc__)
    finally:
        executor.shutdown()
        spinning.join(2)
        rclpy.try_shutdown()


if __name__ == "__main__":
    main()
