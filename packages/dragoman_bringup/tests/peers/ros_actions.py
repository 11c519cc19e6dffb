"""rclpy of ROS 2 Jazzy or Humble as client or server of action Fibonacci.

    ros_actions.py client NAME all client requests, once
    ros_actions.py server NAME serves until it is killed

Prints lines `name: value`, which actions.rs checks.
"""

import sys
import threading
import time

import rclpy
from action_msgs.msg import GoalStatusArray
from action_msgs.srv import CancelGoal
from builtin_interfaces.msg import Time
from rclpy.action import ActionClient, ActionServer, CancelResponse, GoalResponse
from rclpy.action.graph import get_action_names_and_types, get_action_server_names_and_types_by_node
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import MultiThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile
from test_msgs.action import Fibonacci
from unique_identifier_msgs.msg import UUID

# Goals of this order and above run until they are cancelled.
ENDLESS = 100


def report(name, value):
    print(f"{name}: {value}", flush=True)


def until(condition, time_limit=15):
    end = time.monotonic() + time_limit
    while not (value := condition()) and time.monotonic() < end:
        time.sleep(0.005)
    return value


def finished(future):
    if not until(future.done):
        raise SystemExit("no reply")
    return future.result()


def identity(number):
    return UUID(uuid=[number] * 16)


def outcome(answer):
    return f"{answer.status} {list(answer.result.sequence)}"


def use(node, name):
    client = ActionClient(node, Fibonacci, name)
    if not client.wait_for_server(15):
        raise SystemExit(f"action {name} is not there")
    until(lambda: ("ours", "/interop") in node.get_node_names_and_namespaces())
    until(lambda: get_action_server_names_and_types_by_node(node, "ours", "/interop"))
    report("action", " ".join(f"{name}={'+'.join(kinds)}" for name, kinds in get_action_names_and_types(node)))
    served = get_action_server_names_and_types_by_node(node, "ours", "/interop")
    report("server", "/interop/ours" if [name] == [name for name, _ in served] else served)

    def send(order, **options):
        return finished(client.send_goal_async(Fibonacci.Goal(order=order), **options))

    # Feedback is lost until the server has discovered this client's subscription.
    def has_feedback():
        received = []
        goal = send(3, feedback_callback=received.append)
        finished(goal.get_result_async())
        return received

    until(has_feedback)
    steps = []
    goal = send(6, feedback_callback=lambda message: steps.append(len(message.feedback.sequence)))
    report("accepted", f"{goal.accepted}, stamped {goal.stamp.sec > 0}")
    report("result", outcome(finished(goal.get_result_async())))
    report("feedback", " ".join(map(str, steps)))

    results = node.create_client(Fibonacci.Impl.GetResultService, f"{name}/_action/get_result")
    results.wait_for_service(15)

    def result_of(goal_id):
        return outcome(finished(results.call_async(Fibonacci.Impl.GetResultService.Request(goal_id=goal_id))))

    report("result_again", result_of(goal.goal_id))
    report("result_of_unknown", result_of(identity(9)))
    report("refused_goal", send(1).accepted)

    cancels = node.create_client(CancelGoal, f"{name}/_action/cancel_goal")
    cancels.wait_for_service(15)

    def cancel(goal_id, stamp=Time()):
        request = CancelGoal.Request()
        request.goal_info.goal_id, request.goal_info.stamp = goal_id, stamp
        answer = finished(cancels.call_async(request))
        return f"code {answer.return_code}, {len(answer.goals_canceling)} goals"

    first = send(ENDLESS, goal_uuid=identity(1))
    report("same_id_twice", f"{first.accepted} {send(ENDLESS, goal_uuid=identity(1)).accepted}")
    answer = finished(first.cancel_goal_async())
    report("cancel", f"code {answer.return_code}, {len(answer.goals_canceling)} goals")
    report("cancelled", outcome(finished(first.get_result_async())))
    report("cancel_again", cancel(identity(1)))
    report("cancel_unknown", cancel(identity(9)))

    goals = [send(ENDLESS)]
    time.sleep(0.01)
    goals += [send(ENDLESS), send(ENDLESS)]
    report("cancel_before", cancel(identity(0), goals[0].stamp))
    report("cancel_all", cancel(identity(0)))
    report("ended", " ".join(str(finished(goal.get_result_async()).status) for goal in goals))

    received = []
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    node.create_subscription(GoalStatusArray, f"{name}/_action/status", received.append, latched)
    until(lambda: received)
    report("statuses", " ".join(str(goal.status) for goal in received[-1].status_list[-5:]))
    report("done", "client")


def serve(node, name):
    def execute(goal):
        sequence = [0, 1]
        for step in range(1, min(goal.request.order, 8)):
            sequence.append(sequence[step] + sequence[step - 1])
            goal.publish_feedback(Fibonacci.Feedback(sequence=sequence))
        if goal.request.order >= ENDLESS:
            until(lambda: goal.is_cancel_requested, 60)
            goal.canceled()
        else:
            time.sleep(0.2)  # Clients throw away feedback that arrives after the result.
            goal.succeed()
        return Fibonacci.Result(sequence=sequence)

    ActionServer(
        node,
        Fibonacci,
        name,
        execute,
        goal_callback=lambda goal: GoalResponse.ACCEPT if goal.order >= 2 else GoalResponse.REJECT,
        cancel_callback=lambda _: CancelResponse.ACCEPT,
        callback_group=ReentrantCallbackGroup(),
    )
    report("serving", name)
    threading.Event().wait()


def main():
    command, name = sys.argv[1:]
    rclpy.init(args=[])
    node = rclpy.create_node("peer", start_parameter_services=False)
    executor = MultiThreadedExecutor(4)
    executor.add_node(node)
    spinning = threading.Thread(target=executor.spin, daemon=True)
    spinning.start()
    try:
        {"client": use, "server": serve}[command](node, name)
    finally:
        executor.shutdown()
        spinning.join(2)
        rclpy.try_shutdown()


if __name__ == "__main__":
    main()
