//! `planner`: drives to a goal on the plane.
//!
//! Poses are in the frame of the map, or of what else the planner plans in.

use super::common::Pose2d;
use super::table::interface;
use super::xdr::structures;

interface! {
    /// Drives to a goal on the plane.
    44 "planner"
    data {
        STATE 1: State, "path, goal and progress";
    }
    commands {
        GOAL 1: Goal, "plan a path to a pose, and drive along it";
        START 2: Goal, "plan from this pose instead of where the robot is";
    }
    requests {
        GET_WAYPOINTS 1: () => Waypoints, "the path";
        ENABLE 2: bool => (), "let the robot drive, or stop it";
    }
}

structures! {
    /// Path, goal and progress.
    pub struct State {
        /// A path was found.
        pub valid: bool,
        /// The goal is reached.
        pub done: bool,
        /// Pose of the robot, m, m, rad.
        pub pose: Pose2d,
        /// The goal, m, m, rad.
        pub goal: Pose2d,
        /// The waypoint that the robot drives to, m, m, rad.
        pub waypoint: Pose2d,
        /// Its number in the path; -1: none.
        pub waypoint_index: i32,
        /// Number of waypoints in the path.
        pub waypoint_count: u32,
    }

    /// A pose to drive to, or to plan from.
    pub struct Goal {
        /// The pose, m, m, rad.
        pub pose: Pose2d,
    }

    /// A path.
    pub struct Waypoints {
        /// Its length, m: the sum of the straight lines between its waypoints.
        pub length: f64,
        /// The waypoints, m, m, rad.
        pub waypoints: Vec<Pose2d>,
    }
}
