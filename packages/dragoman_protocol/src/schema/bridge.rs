//! The sections `bridge` and `serve`: how a machine appears in ROS, and how it is simulated.

use super::Shape::{Any, Fixed, Flag, Items, List, Map, One, Real, Text, Whole, Words};
use super::{Object, Shape, key, needed};

/// A value: a number, a boolean, or an expression or text.
const SETTING: Shape = Any(&[Text, Real, Flag]);
const SETTINGS: Shape = Map(&SETTING);
/// A message to send.
const SENDING: Shape = Any(&[Text, One("sending")]);
/// One or several of them.
const SENDINGS: Shape = Any(&[Text, One("sending"), Items(&SENDING)]);
/// The lowest and the highest value.
const RANGE: Shape = Fixed(2, &Real);
const AXES: Shape = Fixed(3, &SETTING);

/// One or several messages that end a goal.
const ENDINGS: Shape = Any(&[One("ending"), List("ending")]);
const CONSTANT: Shape = Any(&[Real, One("constant")]);

pub(super) const OBJECTS: &[Object] = &[
    Object {
        name: "bridge",
        keys: &[
            key("constants", Map(&CONSTANT), "Numbers with names, for expressions; parameters of the node."),
            key("timing", One("timing"), "Times and limits of the conversation."),
            key("start", SENDINGS, "What is sent first when the link is open, in this order."),
            key("every", List("periodic"), "What is sent periodically."),
            key("stop", SENDINGS, "What stops the machine; needed if something moves it."),
            key("answers", List("other_answer"), "Answers that have a code of their own."),
            key(
                "others",
                Words(&["report", "ignore"]),
                "Messages whose code the description does not have: reported as wrong (default), or ignored.",
            ),
            key("states", List("state"), "The states of the machine; it begins in the first."),
            key("publish", List("publish"), "Topics of what the machine sends."),
            key("subscribe", List("subscribe"), "Topics whose messages are sent to the machine."),
            key("services", List("service"), "Services that ask the machine."),
            key("actions", List("action"), "Actions whose goals the machine carries out."),
            key("cmd_vel", One("cmd_vel"), "Velocity commands of a mobile base, on cmd_vel."),
            key("odometry", One("odometry"), "Odometry of a mobile base, on odom and /tf."),
            key("joint_states", List("joint_states"), "Positions of joints, on joint_states."),
            key("laser_scan", List("laser_scan"), "Distances of a laser scanner."),
            key("range", List("range"), "Distances of single sensors, such as sonars."),
            key("battery", List("battery"), "State of a battery, on battery_state."),
            key("imu", List("imu"), "Rates and accelerations, on imu."),
            key("motor_power", One("motor_power"), "Messages of the service set_motor_power."),
        ],
    },
    Object {
        name: "constant",
        keys: &[
            needed("value", Real, "Its value, which a parameter of the node may replace."),
            key("unit", Text, "Its unit."),
            key("meaning", Text, "What it is, in a few words."),
            key("range", RANGE, "The lowest and the highest value that are possible."),
        ],
    },
    Object {
        name: "other_answer",
        keys: &[
            needed("from", Text, "The message of the machine."),
            needed("of", Items(&Text), "The questions that it answers."),
            key("fails", Flag, "It says that the machine refuses."),
            key("reason", Text, "The field with the reason: a text, or a number with names."),
            key("when", SETTING, "Otherwise it is something that the machine says by itself."),
        ],
    },
    Object {
        name: "timing",
        keys: &[
            key("answer", Real, "Time within which a question is answered, s; 0.5 by default."),
            key("retries", Whole, "How often a repeatable question is asked again; 0 by default."),
            key("in_flight", Whole, "Maximum number of questions without an answer yet; 1 by default."),
            key("pace", Real, "Minimum time between two messages to the machine, s; 0 by default."),
            key(
                "silence",
                Real,
                "Time without a message after which the machine is silent, s; 2 by default.",
            ),
            key("reconnect", Real, "Delay before a lost link is opened again, s; 0.2 by default."),
            key(
                "reconnect_max",
                Real,
                "Maximum of this delay, which doubles with each failure, s; 5 by default.",
            ),
        ],
    },
    Object {
        name: "sending",
        keys: &[
            needed("send", Text, "Name of the message."),
            key("fields", SETTINGS, "Its fields; those that are not named are 0."),
        ],
    },
    Object {
        name: "periodic",
        keys: &[
            needed("send", Text, "Name of the message."),
            key("fields", SETTINGS, "Its fields; those that are not named are 0."),
            needed("period", Real, "Time from one to the next, s."),
            key("in", Text, "Only in this state; of bridge."),
            key("when", SETTING, "Only while this is true; of serve."),
        ],
    },
    Object {
        name: "state",
        keys: &[
            needed("name", Text, "Its name."),
            key("enter", SENDINGS, "What is sent on entering it."),
            key("next", List("change"), "Where it leads."),
            key("fault", Flag, "It is a fault: diagnostics show an error."),
        ],
    },
    Object {
        name: "change",
        keys: &[
            needed("to", Text, "The next state."),
            key("from", Text, "The message, or the question with the answer, that leads there."),
            key("when", SETTING, "Only if this is true of the message."),
            key("after", Real, "After this time in the state, s; instead of from."),
            key("silent", Flag, "When the machine is silent; instead of from."),
        ],
    },
    Object {
        name: "qos",
        keys: &[
            key("reliable", Flag, "Reliable (default) rather than best effort."),
            key("transient_local", Flag, "Late subscribers receive the last messages."),
            key("depth", Whole, "Messages that are kept; 10 by default."),
        ],
    },
    Object {
        name: "publish",
        keys: &[
            needed("topic", Text, "Its name, below the namespace."),
            needed("type", Text, "Its type, such as std_msgs/msg/Float64."),
            needed("from", Text, "The message of the machine, or the question whose answer it is."),
            key("when", SETTING, "Only messages for which this is true."),
            key("period", Real, "At most one message within this time, s."),
            key("frame", Text, "header.frame_id."),
            key("fields", SETTINGS, "Fields of the ROS message, from those of the machine's message."),
            key("qos", One("qos"), "Quality of service."),
        ],
    },
    Object {
        name: "subscribe",
        keys: &[
            needed("topic", Text, "Its name, below the namespace."),
            needed("type", Text, "Its type, such as std_msgs/msg/Float64."),
            needed("send", Text, "The message that is sent."),
            key("fields", SETTINGS, "Its fields, from those of the ROS message."),
            key("limits", Map(&RANGE), "Ranges of its fields: a value outside is refused."),
            key("moves", Flag, "It moves something: it needs limits and stop."),
            key(
                "timeout",
                Real,
                "Time after which a command that is not renewed ends in a stop, s; 0.6 by default.",
            ),
            key("in", Text, "Only in this state."),
            key("qos", One("qos"), "Quality of service."),
        ],
    },
    Object {
        name: "service",
        keys: &[
            needed("service", Text, "Its name, below the namespace."),
            needed("type", Text, "Its type, such as std_srvs/srv/Trigger."),
            needed("send", Text, "The message that is sent."),
            key("fields", SETTINGS, "Its fields, from those of the request."),
            key("limits", Map(&RANGE), "Ranges of its fields: a value outside is refused."),
            key("moves", Flag, "It moves something: it needs limits and stop."),
            key("timeout", Real, "Time after which what it moves is stopped, s; 0.6 by default."),
            key("response", SETTINGS, "Fields of the response, from those of the answer."),
            key("fails", One("fails"), "Answers that are errors."),
            key("in", Text, "Only in this state."),
        ],
    },
    Object {
        name: "fails",
        keys: &[
            needed("when", SETTING, "Those for which this is true."),
            key("reason", Text, "The field with the reason: a text, or a number whose values have names."),
        ],
    },
    Object {
        name: "action",
        keys: &[
            needed("action", Text, "Its name, below the namespace."),
            needed("type", Text, "Its type, such as control_msgs/action/GripperCommand."),
            needed("send", Text, "The message that is sent for a goal."),
            key("fields", SETTINGS, "Its fields, from those of the goal."),
            key("limits", Map(&RANGE), "Ranges of its fields: a goal outside is rejected."),
            key("moves", Flag, "It moves something: it needs limits and stop."),
            key("timeout", Real, "Time within which a goal is done, s; needed."),
            key("in", Text, "Only in this state."),
            key("fails", One("fails"), "Answers to the message with which the machine refuses the goal."),
            key("feedback", One("feedback"), "What is published meanwhile."),
            needed("done", ENDINGS, "With what the goal has succeeded."),
            key("failed", ENDINGS, "With what it has failed."),
            key("settle", Real, "Time after sending before which no message ends a goal, s; 0 by default."),
            key("cancel", SENDINGS, "What ends a goal on request; by default stop."),
        ],
    },
    Object {
        name: "feedback",
        keys: &[
            needed("from", Text, "The message of the machine, or the question whose answer it is."),
            key("when", SETTING, "Only messages for which this is true."),
            needed("fields", SETTINGS, "Fields of the feedback."),
        ],
    },
    Object {
        name: "ending",
        keys: &[
            needed("from", Text, "The message of the machine, or the question whose answer it is."),
            key("when", SETTING, "Only messages for which this is true."),
            key("reason", Text, "The field with the reason of a failure."),
            key("result", SETTINGS, "Fields of the result."),
        ],
    },
    Object {
        name: "cmd_vel",
        keys: &[
            needed("send", SENDINGS, "The message that is sent, or several with their fields."),
            key("fields", SETTINGS, "Its fields, from linear and lateral, m/s, and angular, rad/s."),
            key(
                "limits",
                Map(&Real),
                "Maximum of each velocity that is used; larger ones are reduced to it.",
            ),
            key(
                "timeout",
                Real,
                "Time after which a command that is not renewed ends in a stop, s; 0.6 by default.",
            ),
            key("in", Text, "Only in this state."),
        ],
    },
    Object {
        name: "odometry",
        keys: &[
            needed("from", Text, "The message with the measurement."),
            key("pose", One("measured_pose"), "A pose that the machine keeps."),
            key("differential", One("differential"), "Distances of two wheels, instead of pose."),
            key("twist", One("measured_twist"), "Measured velocities; computed from the poses by default."),
            key("frame", Text, "Frame of the poses; odom by default."),
            key("child_frame", Text, "Frame of the base; base_footprint by default."),
            key("tf", Flag, "Publish the transform between them, as by default."),
        ],
    },
    Object {
        name: "measured_pose",
        keys: &[
            needed("x", SETTING, "Position, m."),
            needed("y", SETTING, "Position, m."),
            needed("heading", SETTING, "Heading, rad."),
            key("overflow", SETTING, "The way after which x and y begin again, m."),
        ],
    },
    Object {
        name: "measured_twist",
        keys: &[
            needed("linear", SETTING, "Velocity ahead, m/s."),
            key("lateral", SETTING, "Velocity to the left, m/s."),
            needed("angular", SETTING, "Velocity about the vertical axis, rad/s."),
        ],
    },
    Object {
        name: "differential",
        keys: &[
            needed("left", SETTING, "Distance of the left wheel, m."),
            needed("right", SETTING, "Distance of the right wheel, m."),
            needed("separation", SETTING, "Distance between the wheels, m."),
            key(
                "since",
                Words(&["start", "last"]),
                "Since the start of the machine (default), or the last message.",
            ),
            key("overflow", SETTING, "Distance after which the counters begin again, m."),
        ],
    },
    Object {
        name: "joint_states",
        keys: &[
            needed("from", Text, "The message with the measurement."),
            needed("joints", Map(&One("joint")), "By the names of the joints."),
        ],
    },
    Object {
        name: "joint",
        keys: &[
            needed("position", SETTING, "Position, rad or m."),
            key("velocity", SETTING, "Velocity, rad/s or m/s."),
            key("effort", SETTING, "Effort, N m or N."),
        ],
    },
    Object {
        name: "laser_scan",
        keys: &[
            key("topic", Text, "Its name, below the namespace; scan by default."),
            needed("from", Text, "The message with the measurement."),
            needed(
                "ranges",
                Text,
                "The field with the distances, m; those outside of the range are infinite.",
            ),
            key("scale", SETTING, "What the distances are multiplied with; 1 by default."),
            key("valid_from", SETTING, "Smaller values, before scale, are no measurements: NaN."),
            key("intensities", Text, "The field with the intensities."),
            needed("angle_min", SETTING, "Angle of the first distance, rad."),
            needed("angle_increment", SETTING, "Angle from one distance to the next, rad."),
            needed("range_min", SETTING, "Minimum distance, m."),
            needed("range_max", SETTING, "Maximum distance, m."),
            key("scan_time", SETTING, "Time of a turn, s."),
            key("frame", Text, "Frame of the scanner; laser by default."),
        ],
    },
    Object {
        name: "range",
        keys: &[
            key("topic", Text, "Its name, below the namespace; range by default."),
            needed("from", Text, "The message with the measurement."),
            needed("ranges", Text, "The field with the distance, m, or a list of distances."),
            key("numbers", Text, "The list with the numbers of their sensors; counted from 0 by default."),
            needed("range_min", SETTING, "Minimum distance, m."),
            needed("range_max", SETTING, "Maximum distance, m."),
            needed("field_of_view", SETTING, "Angle of the cone, rad."),
            key("infrared", Flag, "Infrared rather than ultrasound."),
            key("frame", Text, "Frame of the sensor, or the beginning of their frames; range by default."),
        ],
    },
    Object {
        name: "battery",
        keys: &[
            needed("from", Text, "The message with the measurement."),
            key("period", Real, "At most one message within this time, s."),
            needed("voltage", SETTING, "Voltage, V."),
            key("current", SETTING, "Current, A; negative while it is discharged."),
            key("charge", SETTING, "Charge, Ah."),
            key("capacity", SETTING, "Capacity, Ah."),
            key("percentage", SETTING, "Charge, 0 to 1."),
            key("temperature", SETTING, "Temperature, degrees Celsius."),
            key("charging", SETTING, "True while it is charged."),
        ],
    },
    Object {
        name: "imu",
        keys: &[
            needed("from", Text, "The message with the measurement."),
            key("angular_velocity", AXES, "About x, y, z, rad/s."),
            key("linear_acceleration", AXES, "Along x, y, z, m/s^2."),
            key("orientation", AXES, "Roll, pitch, yaw, rad."),
            key("frame", Text, "Frame of the sensor; imu_link by default."),
        ],
    },
    Object {
        name: "motor_power",
        keys: &[
            needed("on", SENDING, "The message that switches the motors on."),
            needed("off", SENDING, "The message that switches them off."),
            key("fails", One("fails"), "Answers that are errors."),
        ],
    },
    Object {
        name: "serve",
        keys: &[
            key("state", Map(&Real), "Values with names, as they are at the start."),
            key("changes", List("motion"), "What changes them with the time."),
            key("start", SENDINGS, "What it sends to a client that has connected."),
            key("every", List("periodic"), "What the machine sends periodically."),
            key("on", List("reaction"), "What a message to the machine does; the first that fits counts."),
        ],
    },
    Object {
        name: "motion",
        keys: &[
            needed("value", Text, "Name of the value."),
            key("follows", SETTING, "It approaches this value, with time_constant."),
            key("time_constant", Real, "Time constant of follows, s; 0.1 by default."),
            key("rate", SETTING, "It grows by this per second; instead of follows."),
            key("range", RANGE, "Its range."),
            key("wraps", Flag, "At an end of its range it begins again at the other."),
        ],
    },
    Object {
        name: "reaction",
        keys: &[
            needed("receive", Text, "The message."),
            key("when", SETTING, "Only if this is true."),
            key("set", SETTINGS, "New values."),
            key("answer", SETTINGS, "Fields of the answer."),
            key("recorded", Text, "Bytes of a recorded answer, such as 0d ff 01, instead of its fields."),
            key("silent", Flag, "It is not answered."),
            key("send", SENDINGS, "Further messages of the machine."),
        ],
    },
];
