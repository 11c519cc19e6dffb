//! The distribution whose message formats are used.
//!
//! A type has the same name in all distributions, and peers do not announce theirs. A process therefore uses the
//! formats of its own ROS 2, given by `ROS_DISTRO`.

/// A distribution with its own message formats. Iron has Jazzy's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Distribution {
    /// ROS 2 Humble: global identifiers of 24 bytes, results without error codes.
    Humble,
    /// ROS 2 Jazzy: the default.
    #[default]
    Jazzy,
    /// ROS 2 Kilted: the feedback of a joint trajectory has the index of a point.
    Kilted,
    /// ROS 2 Lyrical, and Rolling after it: as Kilted; Nav2's feedback has tracking errors, and an event of a life cycle
    /// has its time as others do.
    Lyrical,
}

impl Distribution {
    /// The values of `ROS_DISTRO` that are known.
    pub const NAMES: [&str; 6] = ["humble", "iron", "jazzy", "kilted", "lyrical", "rolling"];

    /// Reads `ROS_DISTRO` through `variable`. Every unknown name counts as Jazzy.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Self {
        match variable("ROS_DISTRO").as_deref().map(str::trim) {
            Some("humble") => Self::Humble,
            Some("kilted") => Self::Kilted,
            Some("lyrical" | "rolling") => Self::Lyrical,
            _ => Self::Jazzy,
        }
    }

    /// Its name, as in `ROS_DISTRO`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Humble => "humble",
            Self::Jazzy => "jazzy",
            Self::Kilted => "kilted",
            Self::Lyrical => "lyrical",
        }
    }

    /// The distribution of this process, read once, because it is needed for every message. Labs on virtual time have
    /// the same.
    #[cfg(not(feature = "r2r"))]
    pub fn current() -> Self {
        static OF_PROCESS: std::sync::LazyLock<Distribution> =
            std::sync::LazyLock::new(|| Distribution::from_variables(|name| std::env::var(name).ok()));
        #[cfg(test)]
        if let Some(distribution) = tests::OF_TEST.get() {
            return distribution;
        }
        *OF_PROCESS
    }
}

#[cfg(not(feature = "r2r"))]
#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::cdr::{self, Encoding};
    use crate::embedded::type_hash;
    use crate::geometry_msgs::msg::Point;
    use crate::lifecycle_msgs::msg::TransitionEvent;
    use crate::rmw_dds_common::msg::{Gid, NodeEntitiesInfo, ParticipantEntitiesInfo};
    use crate::{WrappedTypesupport, control_msgs, message_definition, moveit_msgs, nav2_msgs, sensor_msgs};

    thread_local! {
        /// Replaces the process's distribution in tests of this thread.
        pub(super) static OF_TEST: Cell<Option<Distribution>> = const { Cell::new(None) };
    }

    fn with<T>(distribution: Distribution, run: impl FnOnce() -> T) -> T {
        OF_TEST.set(Some(distribution));
        let result = run();
        OF_TEST.set(None);
        result
    }

    fn bytes(distribution: Distribution, message: &impl WrappedTypesupport) -> Vec<u8> {
        with(distribution, || cdr::to_bytes(message)).unwrap()
    }

    /// `message` after serialization and deserialization in the distribution.
    fn after_serialization<T: WrappedTypesupport>(distribution: Distribution, message: &T) -> T {
        let bytes = bytes(distribution, message);
        with(distribution, || cdr::from_bytes(&bytes, Encoding::LittleEndian)).unwrap()
    }

    #[test]
    fn names_select_the_formats() {
        let read = |value: Option<&str>| {
            Distribution::from_variables(|name| {
                assert_eq!(name, "ROS_DISTRO");
                value.map(str::to_owned)
            })
        };
        use Distribution::{Humble, Jazzy, Kilted, Lyrical};
        let of_names = Distribution::NAMES.map(|name| read(Some(name)));
        assert_eq!(of_names, [Humble, Jazzy, Jazzy, Kilted, Lyrical, Lyrical]);
        for distribution in [Humble, Jazzy, Kilted, Lyrical] {
            assert_eq!(read(Some(distribution.name())), distribution);
        }
        assert_eq!(read(Some(" kilted\n")), Kilted);
        for other in [None, Some(""), Some("foxy")] {
            assert_eq!(read(other), Jazzy, "{other:?}");
        }
    }

    #[test]
    fn a_global_identifier_has_24_bytes_in_humble() {
        let gid = Gid { data: (1..=16).collect() };
        assert_eq!(bytes(Distribution::Jazzy, &gid), gid.data);
        assert_eq!(bytes(Distribution::Humble, &gid), [gid.data.as_slice(), &[0; 8]].concat());
        assert_eq!(after_serialization(Distribution::Humble, &gid), gid);
        let nested = ParticipantEntitiesInfo {
            gid: gid.clone(),
            node_entities_info_seq: vec![NodeEntitiesInfo {
                node_namespace: "/lab".into(),
                node_name: "arm".into(),
                reader_gid_seq: vec![gid.clone(); 2],
                writer_gid_seq: vec![gid],
            }],
        };
        for distribution in [Distribution::Humble, Distribution::Jazzy] {
            assert_eq!(after_serialization(distribution, &nested), nested);
        }
        let [jazzy, humble] =
            [Distribution::Jazzy, Distribution::Humble].map(|form| bytes(form, &nested).len());
        assert_eq!(humble - jazzy, 4 * 8);
    }

    #[test]
    fn results_of_navigation_have_no_error_codes_in_humble() {
        use nav2_msgs::action::{FollowPath, NavigateToPose};
        let result = NavigateToPose::Result { error_code: 9000, error_msg: "blocked".into() };
        let response = NavigateToPose::GetResult::Response { status: 6, result };
        assert_eq!(after_serialization(Distribution::Jazzy, &response), response);
        // The status and the byte of an empty message, padded to four bytes.
        assert_eq!(bytes(Distribution::Humble, &response), [6, 0, 0, 0]);
        let received = after_serialization(Distribution::Humble, &response);
        assert_eq!((received.status, received.result), (6, NavigateToPose::Result::default()));

        let goal = FollowPath::Goal {
            controller_id: "a".into(),
            goal_checker_id: "b".into(),
            progress_checker_id: "c".into(),
            ..Default::default()
        };
        assert_eq!(after_serialization(Distribution::Jazzy, &goal), goal);
        let received = after_serialization(Distribution::Humble, &goal);
        assert_eq!(received, FollowPath::Goal { progress_checker_id: String::new(), ..goal });
    }

    #[test]
    fn what_only_one_distribution_has_is_left_out() {
        let range = sensor_msgs::msg::Range { range: 1.5, variance: 0.25, ..Default::default() };
        assert_eq!(after_serialization(Distribution::Jazzy, &range), range);
        assert_eq!(
            after_serialization(Distribution::Humble, &range),
            sensor_msgs::msg::Range { variance: 0.0, ..range }
        );

        let response = moveit_msgs::srv::GetPositionIK::Response {
            error_code: moveit_msgs::msg::MoveItErrorCodes {
                val: -31,
                message: "out of reach".into(),
                source: "arm".into(),
            },
            ..Default::default()
        };
        assert_eq!(after_serialization(Distribution::Jazzy, &response), response);
        let received = after_serialization(Distribution::Humble, &response).error_code;
        assert_eq!((received.val, received.message.as_str()), (-31, ""));

        let state = control_msgs::msg::JointTrajectoryControllerState {
            joint_names: vec!["a".into()],
            multi_dof_joint_names: vec!["b".into()],
            speed_scaling_factor: 0.5,
            ..Default::default()
        };
        let received = after_serialization(Distribution::Humble, &state);
        assert_eq!(received.multi_dof_joint_names, ["b"]);
        assert_eq!(received.speed_scaling_factor, 0.0);
    }

    #[test]
    fn feedback_of_a_joint_trajectory_has_indices_since_kilted() {
        use control_msgs::action::FollowJointTrajectory::{Feedback, FeedbackMessage};
        let feedback = Feedback {
            joint_names: vec!["a".into()],
            index: 3,
            multi_dof_joint_names: vec!["b".into()],
            multi_dof_index: 4,
            ..Default::default()
        };
        for later in [Distribution::Kilted, Distribution::Lyrical] {
            assert_eq!(after_serialization(later, &feedback), feedback);
            let nested = FeedbackMessage { feedback: feedback.clone(), ..Default::default() };
            assert_eq!(after_serialization(later, &nested), nested);
        }
        let without = Feedback { index: 0, multi_dof_index: 0, ..feedback.clone() };
        for earlier in [Distribution::Humble, Distribution::Jazzy] {
            assert_eq!(after_serialization(earlier, &feedback), without);
        }

        // The first index follows the errors, and the second is the last.
        let empty = bytes(Distribution::Jazzy, &Feedback::default());
        let indices = Feedback { index: 3, multi_dof_index: 4, ..Default::default() };
        let with = bytes(Distribution::Kilted, &indices);
        assert_eq!(with.len(), empty.len() + 8);
        assert_eq!(with[with.len() - 4..], 4i32.to_le_bytes());
        // Three empty lists of joints at the end, each of three lists and a duration, and the empty list of names.
        let at = empty.len() - 4 - 3 * (3 * 4 + 8);
        assert_eq!(with[at..at + 4], 3i32.to_le_bytes());
        assert_eq!([&with[..at], &with[at + 4..with.len() - 4]].concat(), empty);
    }

    #[test]
    fn lyrical_has_its_own_feedback_of_navigation_and_events_of_life_cycles() {
        use crate::builtin_interfaces::msg::Time;
        use nav2_msgs::action::{FollowPath, NavigateToPose};
        let mut feedback = FollowPath::Feedback { distance_to_goal: 2.0, speed: 0.5, ..Default::default() };
        feedback.tracking_feedback.remaining_path_length = 2.5;
        let received = after_serialization(Distribution::Lyrical, &feedback);
        assert_eq!((received.distance_to_goal, received.speed), (0.0, 0.0));
        assert_eq!(received.tracking_feedback, feedback.tracking_feedback);
        for same in [Distribution::Jazzy, Distribution::Kilted] {
            assert_eq!(bytes(same, &feedback), [2f32.to_le_bytes(), 0.5f32.to_le_bytes()].concat());
        }

        let errors = NavigateToPose::Feedback {
            distance_remaining: 1.0,
            position_tracking_error: 0.25,
            heading_tracking_error: -0.5,
            ..Default::default()
        };
        assert_eq!(after_serialization(Distribution::Lyrical, &errors), errors);
        let [jazzy, lyrical] =
            [Distribution::Jazzy, Distribution::Lyrical].map(|form| bytes(form, &errors).len());
        assert_eq!(lyrical, jazzy + 8);

        let stamp = Time { sec: 7, nanosec: 5 };
        let event = TransitionEvent { timestamp: 7_000_000_005, stamp, ..Default::default() };
        let [jazzy, lyrical] = [Distribution::Jazzy, Distribution::Lyrical].map(|form| bytes(form, &event));
        assert_eq!(jazzy[..8], 7_000_000_005u64.to_le_bytes());
        assert_eq!(lyrical[..8], [7i32.to_le_bytes(), 5i32.to_le_bytes()].concat());
        assert_eq!(jazzy[8..], lyrical[8..]);
    }

    /// As `rosidl` of ROS 2 Kilted computes them (`control_msgs/action/FollowJointTrajectory.json`).
    #[test]
    fn hashes_are_those_of_the_messages_on_the_wire() {
        let hash = |distribution, name| with(distribution, || type_hash(name));
        let message = "control_msgs/action/FollowJointTrajectory_FeedbackMessage";
        for later in [Distribution::Kilted, Distribution::Lyrical] {
            assert_eq!(
                hash(later, message),
                Some("RIHS01_95618cc73912d99b9acaa17d2da5e832cb0bfdeede7534fa8ec600feca2a6c4b")
            );
        }
        let in_jazzy = hash(Distribution::Jazzy, message);
        assert_eq!(in_jazzy, Some(control_msgs::action::FollowJointTrajectory::FeedbackMessage::TYPE_HASH));
        assert_ne!(in_jazzy, hash(Distribution::Kilted, message));
        assert_eq!(hash(Distribution::Humble, message), None);
        let event = TransitionEvent::TYPE_NAME;
        assert_eq!(hash(Distribution::Kilted, event), hash(Distribution::Jazzy, event));
        assert_ne!(hash(Distribution::Lyrical, event), hash(Distribution::Jazzy, event));
        // Of a service, whose parts are the same everywhere.
        let same = "control_msgs/action/FollowJointTrajectory_SendGoal_Request";
        assert_eq!(
            hash(Distribution::Kilted, same),
            Some("RIHS01_179c93691f1f6d1d115881ff88c3917b7cc6eac2ba4bf56766cc7c4389e19ef1")
        );
        assert_eq!(hash(Distribution::Kilted, same), hash(Distribution::Jazzy, same));
    }

    /// Recorders of service calls write JSON.
    #[test]
    fn json_is_that_of_the_messages_on_the_wire() {
        let json = |distribution, event: &TransitionEvent| {
            with(distribution, || serde_json::to_value(event)).unwrap().as_object().unwrap().clone()
        };
        let event = TransitionEvent::default();
        assert!(json(Distribution::Jazzy, &event).keys().eq([
            "goal_state",
            "start_state",
            "timestamp",
            "transition"
        ]));
        assert!(json(Distribution::Lyrical, &event).keys().eq([
            "goal_state",
            "stamp",
            "start_state",
            "transition"
        ]));
    }

    #[test]
    fn what_is_the_same_everywhere_stays_the_same() {
        let point = Point { x: 1.0, y: 2.0, z: 3.0 };
        assert_eq!(bytes(Distribution::Humble, &point), bytes(Distribution::Jazzy, &point));
    }

    #[test]
    fn definitions_are_those_of_the_messages_on_the_wire() {
        let definition = |distribution, name| with(distribution, || message_definition(name)).unwrap();
        let nested = "rmw_dds_common/msg/ParticipantEntitiesInfo";
        assert!(definition(Distribution::Jazzy, nested).contains("char[16]"));
        assert!(definition(Distribution::Humble, nested).contains("char[24]"));
        assert!(definition(Distribution::Jazzy, "sensor_msgs/msg/Range").contains("variance"));
        assert!(!definition(Distribution::Humble, "sensor_msgs/msg/Range").contains("variance"));
        let feedback = "control_msgs/action/FollowJointTrajectory_FeedbackMessage";
        assert!(!definition(Distribution::Jazzy, feedback).contains("int32 index"));
        for later in [Distribution::Kilted, Distribution::Lyrical] {
            assert!(definition(later, feedback).contains("int32 index"));
        }
        let tracking = "nav2_msgs/msg/TrackingFeedback";
        assert!(definition(Distribution::Lyrical, tracking).contains("remaining_path_length"));
        assert_eq!(with(Distribution::Kilted, || message_definition(tracking)), None);
        // Each nested type once.
        let nested = definition(Distribution::Kilted, feedback);
        let mut names: Vec<&str> = nested.lines().filter_map(|line| line.strip_prefix("MSG: ")).collect();
        assert!(
            names.contains(&"builtin_interfaces/Time") && names.contains(&"std_msgs/Header"),
            "{names:?}"
        );
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
        let same = "geometry_msgs/msg/Point";
        for other in [Distribution::Humble, Distribution::Kilted, Distribution::Lyrical] {
            assert_eq!(definition(other, same), definition(Distribution::Jazzy, same));
        }
    }
}
