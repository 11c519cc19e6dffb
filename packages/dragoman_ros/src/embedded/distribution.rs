//! The distribution whose message formats are used.
//!
//! A type has the same name in all distributions, and peers do not announce theirs. A process therefore uses the
//! formats of its own ROS 2, given by `ROS_DISTRO`.

use std::sync::LazyLock;

/// A distribution with its own message formats. Iron and those after Jazzy have Jazzy's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Distribution {
    /// ROS 2 Humble: global identifiers of 24 bytes, results without error codes.
    Humble,
    /// ROS 2 Jazzy: the default.
    #[default]
    Jazzy,
}

impl Distribution {
    /// Reads `ROS_DISTRO` through `variable`. Every name except Humble's counts as Jazzy.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Self {
        match variable("ROS_DISTRO").as_deref().map(str::trim) {
            Some("humble") => Self::Humble,
            _ => Self::Jazzy,
        }
    }

    /// The distribution of this process, read once. Labs on virtual time have it as well: it is asked for every message.
    pub fn current() -> Self {
        static OF_PROCESS: LazyLock<Distribution> =
            LazyLock::new(|| Distribution::from_variables(|name| std::env::var(name).ok()));
        #[cfg(test)]
        if let Some(distribution) = tests::OF_TEST.get() {
            return distribution;
        }
        *OF_PROCESS
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::super::cdr::{self, Encoding};
    use super::*;
    use crate::geometry_msgs::msg::Point;
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
    fn travelled<T: WrappedTypesupport>(distribution: Distribution, message: &T) -> T {
        let bytes = bytes(distribution, message);
        with(distribution, || cdr::from_bytes(&bytes, Encoding::LittleEndian)).unwrap()
    }

    #[test]
    fn only_humble_has_forms_of_its_own() {
        let read = |value: Option<&str>| {
            Distribution::from_variables(|name| {
                assert_eq!(name, "ROS_DISTRO");
                value.map(str::to_owned)
            })
        };
        assert_eq!(read(Some("humble")), Distribution::Humble);
        for other in [None, Some(""), Some("jazzy"), Some("iron"), Some("kilted")] {
            assert_eq!(read(other), Distribution::Jazzy, "{other:?}");
        }
    }

    #[test]
    fn a_global_identifier_has_24_bytes_in_humble() {
        let gid = Gid { data: (1..=16).collect() };
        assert_eq!(bytes(Distribution::Jazzy, &gid), gid.data);
        assert_eq!(bytes(Distribution::Humble, &gid), [gid.data.as_slice(), &[0; 8]].concat());
        assert_eq!(travelled(Distribution::Humble, &gid), gid);
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
            assert_eq!(travelled(distribution, &nested), nested);
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
        assert_eq!(travelled(Distribution::Jazzy, &response), response);
        // The status and the byte of an empty message, padded to four bytes.
        assert_eq!(bytes(Distribution::Humble, &response), [6, 0, 0, 0]);
        let received = travelled(Distribution::Humble, &response);
        assert_eq!((received.status, received.result), (6, NavigateToPose::Result::default()));

        let goal = FollowPath::Goal {
            controller_id: "a".into(),
            goal_checker_id: "b".into(),
            progress_checker_id: "c".into(),
            ..Default::default()
        };
        assert_eq!(travelled(Distribution::Jazzy, &goal), goal);
        let received = travelled(Distribution::Humble, &goal);
        assert_eq!(received, FollowPath::Goal { progress_checker_id: String::new(), ..goal });
    }

    #[test]
    fn what_only_one_distribution_has_is_left_out() {
        let range = sensor_msgs::msg::Range { range: 1.5, variance: 0.25, ..Default::default() };
        assert_eq!(travelled(Distribution::Jazzy, &range), range);
        assert_eq!(
            travelled(Distribution::Humble, &range),
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
        assert_eq!(travelled(Distribution::Jazzy, &response), response);
        let received = travelled(Distribution::Humble, &response).error_code;
        assert_eq!((received.val, received.message.as_str()), (-31, ""));

        let state = control_msgs::msg::JointTrajectoryControllerState {
            joint_names: vec!["a".into()],
            multi_dof_joint_names: vec!["b".into()],
            speed_scaling_factor: 0.5,
            ..Default::default()
        };
        let received = travelled(Distribution::Humble, &state);
        assert_eq!(received.multi_dof_joint_names, ["b"]);
        assert_eq!(received.speed_scaling_factor, 0.0);
    }

    #[test]
    fn what_is_the_same_everywhere_stays_the_same() {
        let point = Point { x: 1.0, y: 2.0, z: 3.0 };
        assert_eq!(bytes(Distribution::Humble, &point), bytes(Distribution::Jazzy, &point));
    }

    #[test]
    fn definitions_are_those_of_the_messages_that_travel() {
        let definition = |distribution, name| with(distribution, || message_definition(name)).unwrap();
        let nested = "rmw_dds_common/msg/ParticipantEntitiesInfo";
        assert!(definition(Distribution::Jazzy, nested).contains("char[16]"));
        assert!(definition(Distribution::Humble, nested).contains("char[24]"));
        assert!(definition(Distribution::Jazzy, "sensor_msgs/msg/Range").contains("variance"));
        assert!(!definition(Distribution::Humble, "sensor_msgs/msg/Range").contains("variance"));
        let same = "geometry_msgs/msg/Point";
        assert_eq!(definition(Distribution::Humble, same), definition(Distribution::Jazzy, same));
    }
}
