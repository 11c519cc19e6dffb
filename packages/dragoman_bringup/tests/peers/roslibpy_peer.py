"""A program with roslibpy beside a lab, on a computer without ROS. Argument: the console's address."""

import base64
import sys
import threading
import time

import roslibpy

TIME_LIMIT = 20


def report(name, value):
    print(f"{name}: {value}", flush=True)


def first(ros, topic, message_type, accept=lambda message: True, **options):
    """The first message of a topic that `accept` takes."""
    found, arrived = [], threading.Event()

    def take(message):
        if not arrived.is_set() and accept(message):
            found.append(message)
            arrived.set()

    listener = roslibpy.Topic(ros, topic, message_type, **options)
    listener.subscribe(take)
    arrived.wait(TIME_LIMIT)
    listener.unsubscribe()
    return found[0] if found else None


def call(ros, service, service_type, **request):
    client = roslibpy.Service(ros, service, service_type)
    try:
        return client.call(roslibpy.ServiceRequest(request), timeout=TIME_LIMIT)
    except Exception as error:  # The peer reports what it sees.
        return str(error)


def main():
    host, port = sys.argv[1].rsplit(":", 1)
    # The address with and without the path of rosbridge.
    ros = roslibpy.Ros(f"ws://{host}:{port}/rosbridge")
    ros.run(timeout=TIME_LIMIT)
    other = roslibpy.Ros(host=host, port=int(port))
    other.run(timeout=TIME_LIMIT)
    report("connected", ros.is_connected and other.is_connected)

    report("topic_type", ros.get_topic_type("/odom"))
    report("node", "/mobile_base" in ros.get_nodes())
    report("service", "/mobile_base/get_geometry" in ros.get_services())
    report("parameter", ros.get_param("/console:max_clients"))
    geometry = call(ros, "/mobile_base/get_geometry", "dragoman_msgs/GetGeometry")
    report("geometry", geometry["size"]["x"])
    report("unknown_service", call(ros, "/nothing", "std_srvs/Trigger"))

    # Drives forward until the odometry shows it.
    velocity = roslibpy.Topic(ros, "/cmd_vel", "geometry_msgs/Twist")
    velocity.advertise()
    driving = threading.Event()

    def drive():
        while not driving.wait(0.1):
            velocity.publish(roslibpy.Message({"linear": {"x": 0.2}}))

    thread = threading.Thread(target=drive, daemon=True)
    thread.start()
    moving = first(ros, "/odom", "nav_msgs/Odometry", lambda m: m["twist"]["twist"]["linear"]["x"] > 0.1)
    driving.set()
    thread.join()
    velocity.publish(roslibpy.Message({}))
    velocity.unadvertise()
    report("moving", moving is not None)

    picture = first(ros, "/camera/rgb/image_color", "sensor_msgs/Image", throttle_rate=200)
    report("picture", f"{picture['width']} x {picture['height']}, {len(base64.b64decode(picture['data']))} bytes")

    # A service of this program, called by another program through ROS.
    offered = roslibpy.Service(other, "/peer/switch", "std_srvs/SetBool")

    def switch(request, response):
        response["success"] = request["data"]
        response["message"] = "switched"
        return True

    offered.advertise(switch)
    time.sleep(1)
    report("own_service", call(ros, "/peer/switch", "std_srvs/SetBool", data=True))
    offered.unadvertise()

    # An action, with feedback.
    names = [f"joint_{number}" for number in range(1, 7)]
    state = first(ros, "/ranger/joint_states", "sensor_msgs/JointState", lambda m: len(m["name"]) == 6)
    goal = [position + 0.02 for position in state["position"]]
    trajectory = {"joint_names": state["name"], "points": [{"positions": goal, "time_from_start": {"sec": 2}}]}
    report("joints", sorted(state["name"]) == names)
    call(ros, "/ranger/enable", "std_srvs/Trigger")
    action = roslibpy.ActionClient(ros, "/ranger/follow_joint_trajectory", "control_msgs/FollowJointTrajectory")
    results, steps, errors = [], [], []
    identity = action.send_goal(
        roslibpy.Goal({"trajectory": trajectory}), results.append, steps.append, errors.append
    )
    try:
        action.wait_goal(identity, TIME_LIMIT)
    except Exception as error:
        errors.append(error)
    report("goal", f"{[str(result['status']) for result in results]} {errors}")
    report("feedback", len(steps) > 0)
    other.close()
    ros.terminate()


main()
