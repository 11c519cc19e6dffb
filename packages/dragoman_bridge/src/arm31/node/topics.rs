//! The topics of an arm behind an old controller.

use std::sync::Arc;

use dragoman_kinematics::node::Links;
use dragoman_ros::times::SharedClock;
use dragoman_ros::{
    Node, Publisher, QosProfile, Result, dragoman_msgs, geometry_msgs, poses, sensor_msgs, std_msgs, times,
};
use parking_lot::Mutex;

use crate::arm31::wire::ABSENT_TEMPERATURE;
use crate::arm31::{ArmCall, ArmState, ClientEvent, MotionEvent, MotionState, Outcome, Tolerances, ToolPose};
use crate::clock;

pub(super) struct Topics {
    joint_names: Vec<String>,
    base_frame: String,
    /// With a model of the arm.
    links: Option<Links>,
    clock: SharedClock,
    pub(super) connected: Arc<Mutex<bool>>,
    /// The last joint positions in the order of `joint_names`, rad; `None` while the controller does not answer.
    pub(super) measured: Arc<Mutex<Option<Vec<f64>>>>,
    state: ArmState,
    published: Option<MotionState>,
    /// The last published temperature; `None` before the first.
    temperature: Option<Vec<f64>>,
    joint_states: Publisher<sensor_msgs::msg::JointState>,
    pose: Publisher<geometry_msgs::msg::PoseStamped>,
    setpoint: Publisher<geometry_msgs::msg::PoseStamped>,
    drive_status: Publisher<dragoman_msgs::msg::DriveStatus>,
    motion_status: Publisher<dragoman_msgs::msg::MotionStatus>,
    motion_events: Publisher<dragoman_msgs::msg::MotionEvent>,
}

impl Topics {
    pub(super) fn new(
        node: &mut Node,
        joint_names: Vec<String>,
        base_frame: String,
        tolerances: Tolerances,
        links: Option<Links>,
    ) -> Result<Self> {
        let latched = QosProfile::default().keep_last(1).transient_local();
        Ok(Self {
            joint_names,
            base_frame,
            links,
            clock: node.get_ros_clock(),
            connected: Arc::default(),
            measured: Arc::default(),
            state: ArmState::new(tolerances),
            published: None,
            temperature: None,
            joint_states: node.create_publisher("joint_states", QosProfile::default())?,
            pose: node.create_publisher("pose", QosProfile::default())?,
            setpoint: node.create_publisher("setpoint", QosProfile::default())?,
            drive_status: node.create_publisher("drive_status", latched.clone())?,
            motion_status: node.create_publisher("motion_status", latched)?,
            motion_events: node.create_publisher("motion_events", QosProfile::default().keep_last(100))?,
        })
    }

    /// In the order of the controller, base of the chain first.
    pub(super) fn joint_names(&self) -> &[String] {
        &self.joint_names
    }

    /// Handles the outcome of a call.
    pub(super) fn handle_result(&mut self, call: &ArmCall, outcome: Outcome) {
        let enabled = self.state.is_enabled();
        self.state.handle_result(clock::now(), call, outcome);
        if self.state.is_enabled() != enabled {
            self.publish_drives();
        }
        self.publish_change();
    }

    /// Publishes an event of the client core.
    pub(super) fn note(&mut self, event: ClientEvent) {
        match event {
            ClientEvent::JointState { position } => self.handle_joints(position),
            ClientEvent::Pose { position, quaternion_xyzw } => {
                self.handle_pose(&ToolPose { position, quaternion_xyzw });
            }
            ClientEvent::DriveStatus { temperature } => {
                self.temperature = Some(temperature);
                self.publish_drives();
            }
            ClientEvent::Motion(event) => {
                self.state.handle_event(event);
                use dragoman_msgs::msg::MotionEvent as Kind;
                let (kind, text) = match event {
                    MotionEvent::WorkspaceLimit => (Kind::WORKSPACE_LIMIT as u8, "ER21 of the controller"),
                    MotionEvent::JointLimit => (Kind::JOINT_LIMIT as u8, "WN12 of the controller"),
                    MotionEvent::InverseKinematicsDivergence => {
                        (Kind::IK_DIVERGENCE as u8, "WN22 of the controller")
                    }
                };
                self.publish_event(kind, text);
            }
            ClientEvent::Connected => {
                tracing::info!("connection to the arm controller established");
                self.set_connected(true);
            }
            ClientEvent::Lost => {
                tracing::warn!("connection to the arm controller lost");
                self.set_connected(false);
            }
            ClientEvent::Result { .. } => {}
        }
        self.publish_change();
    }

    pub(super) fn publish_status(&self) {
        let state = self.state.motion();
        let via_point = state.via_point.and_then(|index| i32::try_from(index).ok()).unwrap_or(-1);
        let message = dragoman_msgs::msg::MotionStatus {
            header: self.header(),
            mode: state.mode.into(),
            moving: state.moving,
            via_point,
            has_goal_pose: state.has_goal_pose,
            has_joint_goal: state.has_joint_goal,
        };
        report(self.motion_status.publish(&message), "motion_status");
    }

    fn publish_change(&mut self) {
        let state = self.state.motion();
        if self.published.replace(state) != Some(state) {
            self.publish_status();
        }
    }

    fn handle_joints(&mut self, position: Vec<f64>) {
        let arrived = self.state.handle_joints(clock::now(), &position);
        *self.measured.lock() = Some(position.clone());
        let name = self.joint_names.clone();
        let header = self.header();
        if let Some(links) = &mut self.links {
            report(links.publish(&name, &position, &header.stamp), "tf");
        }
        let message = sensor_msgs::msg::JointState { header, name, position, ..Default::default() };
        report(self.joint_states.publish(&message), "joint_states");
        self.publish_arrival(arrived);
    }

    fn handle_pose(&mut self, pose: &ToolPose) {
        let arrived = self.state.handle_pose(pose);
        let header = self.header();
        let stamped = |pose: &ToolPose| {
            let pose = poses::pose(&(pose.position, pose.quaternion_xyzw));
            geometry_msgs::msg::PoseStamped { header: header.clone(), pose }
        };
        report(self.pose.publish(&stamped(pose)), "pose");
        report(self.setpoint.publish(&stamped(&self.state.setpoint().unwrap_or(*pose))), "setpoint");
        self.publish_arrival(arrived);
    }

    fn publish_arrival(&self, arrived: bool) {
        if arrived {
            self.publish_event(
                dragoman_msgs::msg::MotionEvent::GOAL_REACHED as u8,
                "within the tolerance of the goal",
            );
        }
    }

    fn publish_drives(&self) {
        let absent = || vec![f64::from(ABSENT_TEMPERATURE); self.joint_names.len()];
        let status = dragoman_msgs::msg::DriveStatus {
            header: self.header(),
            enabled: self.state.is_enabled(),
            name: self.joint_names.clone(),
            temperature: self.temperature.clone().unwrap_or_else(absent),
            ..Default::default()
        };
        report(self.drive_status.publish(&status), "drive_status");
    }

    fn publish_event(&self, kind: u8, text: &str) {
        let message = dragoman_msgs::msg::MotionEvent { header: self.header(), kind, text: text.to_owned() };
        report(self.motion_events.publish(&message), "motion_events");
    }

    fn set_connected(&self, connected: bool) {
        if !connected {
            *self.measured.lock() = None;
        }
        *self.connected.lock() = connected;
    }

    fn header(&self) -> std_msgs::msg::Header {
        std_msgs::msg::Header { stamp: times::stamp(&self.clock), frame_id: self.base_frame.clone() }
    }
}

fn report(result: Result<()>, topic: &str) {
    if let Err(error) = result {
        tracing::warn!(%error, topic, "publishing failed");
    }
}
