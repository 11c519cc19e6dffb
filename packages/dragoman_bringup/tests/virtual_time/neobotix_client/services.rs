//! Services are sent as the guide's bytes, and answers are returned.

use dragoman_ros::dragoman_msgs::srv::*;
use dragoman_ros::geometry_msgs::msg::{Pose2D, Twist};
use dragoman_ros::std_srvs::srv::Trigger;

use super::platform_ctrl::{MAP, ints, text};
use super::*;

const ROADMAP: &str = r#"<roadmap Version="1.0"><stations/><edges/></roadmap>"#;

/// A pose, and its bytes.
fn pose() -> (Pose2D, Vec<u8>) {
    (Pose2D { x: 1.5, y: -0.25, theta: std::f64::consts::FRAC_PI_2 }, ints(&[1500, -250, 90_000]))
}

impl Operator {
    /// The message that the call caused at the platform: number and data.
    #[track_caller]
    fn brings<S: WrappedServiceTypeSupport + 'static>(
        &mut self,
        name: &str,
        request: S::Request,
    ) -> (S::Response, Vec<u8>) {
        self.platform.script().received.clear();
        let response = self.call::<S>(name, request);
        let received = self.platform.script().received.clone();
        assert!(received.len() <= 2, "{name}: {received:?}");
        (response, received.first().cloned().unwrap_or_default())
    }

    /// The message that a successful call caused: the platform may receive it a little after the response.
    #[track_caller]
    fn received(&mut self, name: &str) -> Vec<u8> {
        self.until(name, |operator| !operator.platform.script().received.is_empty());
        self.platform.script().received[0].clone()
    }
}

/// Each service, its request, and the bytes: all must succeed.
macro_rules! orders {
    ($operator:ident, $( $name:literal $service:ident { $($field:ident: $value:expr),* } => $bytes:expr; )*) => {$(
        #[allow(clippy::needless_update, reason = "requests without fields have one that is hidden")]
        let request = $service::Request { $($field: $value,)* ..Default::default() };
        let (response, _) = $operator.brings::<$service::Service>($name, request);
        assert!(response.success, "{}: {}", $name, response.message);
        assert_eq!($operator.received($name), $bytes, "{}", $name);
    )*};
}

#[test]
fn commands_are_the_guide_s_bytes() {
    let mut operator = Operator::new(&[]);
    operator.until("a connection", |operator| operator.platform.script().polls > 0);
    for (name, number) in [
        ("connect_to_pltf", 0),
        ("init_pltf", 2),
        ("stop_ultrasonic", 6),
        ("load_map", 27),
        ("save_map", 28),
        ("mapping_start", 29),
        ("mapping_reset", 30),
        ("mapping_stop", 31),
        ("load_roadmap", 34),
        ("save_roadmap", 35),
        ("load_program", 42),
        ("save_program", 43),
        ("debug1", 51),
        ("debug2", 52),
        ("debug3", 53),
        ("debug4", 54),
        ("set_log_enabled", 56),
        ("set_post_process_filename", 57),
    ] {
        let (response, _) = operator.brings::<Trigger::Service>(name, Trigger::Request::default());
        assert!(response.success, "{name}: {}", response.message);
        assert_eq!(operator.received(name), [number], "{name}");
    }
    let (pose, frame) = pose();
    let with = |number: u8, arguments: &[u8]| [&[number], arguments].concat();
    orders! { operator,
        "set_brake" PlatformSetBrake { motor: 2, disabled: true } => [3, 2, 1];
        "set_digout" PlatformSetDigitalOutput { board: 1, channel: 5, high: true } => [4, 0, 0, 0, 1, 0, 0, 0, 5, 1];
        "start_ultrasonic" PlatformStartUltrasonic { channel: 5 } => [5, 0, 0, 0, 5];
        "add_can_listening_id" PlatformAddCanListeningId { id: 0x281 } => [7, 0, 0, 2, 0x81];
        "remove_can_listening_id" PlatformAddCanListeningId { id: 0x281 } => [8, 0, 0, 2, 0x81];
        "send_can_message" PlatformSendCanMessage { id: 0x7f, data: vec![1, 2, 3, 4, 5, 6, 7, 8] } =>
            [9, 0, 0, 0, 0x7f, 1, 2, 3, 4, 5, 6, 7, 8];
        "set_frm_pltf" PlatformSetPose { pose: pose.clone() } => with(36, &frame);
        "set_mode" PlatformSetMode { mode: 4 } => [15, 0, 0, 0, 4];
        "start" Trigger {} => [11];
        "move_abs" PlatformMoveToPose { pose: pose.clone() } => with(21, &frame);
        "move_rel" PlatformMoveToPose { pose: pose.clone() } => with(22, &frame);
        "move_path" PlatformMovePath { poses: vec![pose.clone(), Pose2D::default()] } =>
            [vec![19], ints(&[2]), frame.clone(), ints(&[0, 0, 0])].concat();
        "move_to_station" PlatformMoveToStation { station: "dock".to_owned() } => with(20, &text("dock"));
        "break" Trigger {} => [12];
        "continue" Trigger {} => [13];
        "stop" Trigger {} => [14];
        "set_mode" PlatformSetMode { mode: 3 } => [15, 0, 0, 0, 3];
        "start" Trigger {} => [11];
        "move_vel_wheel" PlatformMoveWheels { right: 0.3, left: -0.3 } => [23, 0, 0, 1, 0x2c, 0xff, 0xff, 0xfe, 0xd4];
        "move_vel" PlatformMoveVelocity { translation: 0.3, rotation: -0.001 } => [24, 0, 0, 1, 0x2c, 0xff, 0xff, 0xff, 0xff];
        "set_map" PlatformSetDocument { name: "hall".to_owned(), document: MAP.to_owned() } =>
            [vec![25], text("hall"), text(MAP)].concat();
        "set_roadmap" PlatformSetDocument { name: "ways".to_owned(), document: ROADMAP.to_owned() } =>
            [vec![32], text("ways"), text(ROADMAP)].concat();
        "speak_text" PlatformSetText { text: "Grüß Gott".to_owned() } => with(44, &text("Grüß Gott"));
        "play_sound" PlatformSetFile { file_name: "a.wav".to_owned() } => with(45, &text("a.wav"));
        "grab_image" PlatformSetFile { file_name: "a.png".to_owned() } => with(46, &text("a.png"));
        "set_pos_head_drive" PlatformSetHeadPosition { angle: -std::f64::consts::FRAC_PI_4 } => with(47, &ints(&[-45]));
        "set_vel_head_drive" PlatformSetHeadVelocity { velocity: std::f64::consts::FRAC_PI_2 } => with(48, &ints(&[9000]));
        "set_pos_pan_tilt_camera" PlatformSetText { text: "12;3".to_owned() } => with(49, &text("12;3"));
        "mouse_move" PlatformMouseMove { x: 1.0, y: -2.0, present: true } => with(55, &ints(&[1000, -2000, 2]));
        "mouse_move" PlatformMouseMove { x: 1.0, y: -2.0, present: false } => with(55, &ints(&[1000, -2000, 5]));
        "set_event" PlatformSetEvent { event: 6 } => with(58, &ints(&[6]));
        "shutdown_pltf" Trigger {} => [1];
        "exit" Trigger {} => [16];
    }

    // Commands that the platform's state does not allow are reported.
    let (response, bytes) =
        operator.brings::<PlatformMoveToPose::Service>("move_abs", PlatformMoveToPose::Request { pose });
    assert_eq!(
        (response.success, response.message.as_str(), bytes[0]),
        (false, "no effect: the platform is ST_OP_NOT_INITIALIZED in MODE_MOTION_VEL", 21)
    );
    // Values outside the protocol's range are not sent.
    let wrong = Pose2D { x: f64::NAN, ..Pose2D::default() };
    let far = Pose2D { x: 3e6, ..Pose2D::default() };
    for pose in [wrong, far] {
        let request = PlatformMoveToPose::Request { pose };
        let (response, bytes) = operator.brings::<PlatformMoveToPose::Service>("move_abs", request);
        assert!(!response.success && response.message.contains("x, m"), "{}", response.message);
        assert!(bytes.is_empty(), "{bytes:02x?}");
    }
    let document = "<map>\n<layer index=\"0\"><line></line></layer></map>".to_owned();
    let request = PlatformSetDocument::Request { name: "bad".to_owned(), document };
    let (response, bytes) = operator.brings::<PlatformSetDocument::Service>("set_map", request);
    assert!(!response.success && response.message.contains("line 2"), "{}", response.message);
    assert!(bytes.is_empty(), "{bytes:02x?}");
    let request = PlatformSetFile::Request { file_name: "../a.wav".to_owned() };
    let (response, bytes) = operator.brings::<PlatformSetFile::Service>("play_sound", request);
    assert!(!response.success && bytes.is_empty(), "{}", response.message);

    // Velocities on the topic, and the stop when commands end.
    operator.platform.script().received.clear();
    let mut twist = Twist::default();
    (twist.linear.x, twist.angular.z) = (0.2, 0.1);
    operator.beside.publish("/neobotix/cmd_vel", &twist);
    operator.until("the velocity, and a stop", |operator| {
        operator.platform.script().received == [with(24, &ints(&[200, 100])), with(24, &ints(&[0, 0]))]
    });
    twist.linear.x = f64::INFINITY;
    operator.beside.publish("/neobotix/cmd_vel", &twist);
    assert_eq!(operator.platform.script().received.len(), 2);
}

#[test]
fn questions_are_answered_from_the_platform_s_bytes() {
    let mut operator = Operator::new(&[]);
    operator.until("a connection", |operator| operator.platform.script().polls > 0);
    let parameter = [text("IpoTransVel"), text("750"), ints(&[2, 2, 0, 10_000])].concat();
    let can = [12.5_f64.to_be_bytes().to_vec(), ints(&[0x181]), vec![8, 7, 6, 5, 4, 3, 2, 1]].concat();
    for (number, data) in [
        (10, [ints(&[1]), can].concat()),
        (33, [vec![4], text(ROADMAP), text("ways")].concat()),
        (38, parameter.clone()),
        (39, [ints(&[2]), parameter.clone(), parameter].concat()),
        (41, text("<program/>")),
        (59, [text("10.0.0.7"), text("front")].concat()),
    ] {
        operator.platform.script().answers.insert(number, [vec![number], data].concat());
    }
    let request = PlatformGetCanMessages::Request { delete_after_read: true };
    let (answer, bytes) = operator.brings::<PlatformGetCanMessages::Service>("get_can_messages", request);
    assert_eq!(bytes, [10, 1]);
    let messages: Vec<_> =
        answer.messages.iter().map(|one| (one.stamp.nanosec, one.id, one.data.clone())).collect();
    assert_eq!(messages, [(500_000_000, 0x181, vec![8, 7, 6, 5, 4, 3, 2, 1])]);
    let (answer, _) = operator.brings::<PlatformGetDocument::Service>("get_map", Default::default());
    assert_eq!((answer.name.as_str(), answer.document.as_str()), ("lab", MAP));
    let (answer, bytes) = operator.brings::<PlatformGetDocument::Service>("get_roadmap", Default::default());
    assert_eq!((answer.name.as_str(), answer.document.as_str(), bytes), ("ways", ROADMAP, vec![33]));
    let (answer, bytes) = operator.brings::<PlatformGetDocument::Service>("get_program", Default::default());
    assert_eq!((answer.name.as_str(), answer.document.as_str(), bytes), ("", "<program/>", vec![41]));
    let request = PlatformGetParameter::Request { key: "IpoTransVel".to_owned() };
    let (answer, bytes) = operator.brings::<PlatformGetParameter::Service>("get_pltf_param", request);
    assert_eq!(bytes, [vec![38], text("IpoTransVel")].concat());
    let parameter = answer.parameter;
    assert_eq!(
        (parameter.key.as_str(), parameter.value.as_str(), parameter.category, parameter.type_),
        ("IpoTransVel", "750", 2, 2)
    );
    assert_eq!((parameter.minimum, parameter.maximum), (0, 10_000));
    let (answer, bytes) =
        operator.brings::<PlatformGetParameters::Service>("get_pltf_param_vec", Default::default());
    assert_eq!((answer.parameters.len(), bytes), (2, vec![39]));
    let (answer, bytes) = operator.brings::<PlatformGetCamera::Service>("get_camera", Default::default());
    assert_eq!((answer.address.as_str(), answer.id.as_str(), bytes), ("10.0.0.7", "front", vec![59]));

    // A parameter counts as set when the platform confirms it.
    for (value, outcome) in [("750.0", ""), ("800", "no effect: IpoTransVel is 750")] {
        let request =
            PlatformSetParameter::Request { key: "IpoTransVel".to_owned(), value: value.to_owned() };
        let (answer, bytes) = operator.brings::<PlatformSetParameter::Service>("set_pltf_param", request);
        assert_eq!((answer.success, answer.message.as_str()), (outcome.is_empty(), outcome));
        assert_eq!(bytes, [vec![37], text("IpoTransVel"), text(value)].concat());
    }
    // A command without any answer delays nothing.
    let (answer, bytes) =
        operator.brings::<PlatformGetDebugData::Service>("get_debug_data", Default::default());
    assert_eq!((answer.success, answer.message.as_str()), (false, "the platform does not answer this"));
    assert_eq!((bytes, operator.platform.script().connections), (vec![50], 1));
}
