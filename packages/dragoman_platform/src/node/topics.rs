//! Published topics: the status, the path, the map, the origin of the odometry.

use std::sync::Arc;
use std::time::Duration;

use dragoman_geometry::{Point, Pose, compose, relative};
use dragoman_neobotix::map::Map;
use dragoman_neobotix::messages;
use dragoman_ros::builtin_interfaces::msg::Time;
use dragoman_ros::dragoman_msgs::msg::{PlatformStatus, ProgramState};
use dragoman_ros::geometry_msgs::msg::TransformStamped;
use dragoman_ros::nav_msgs::msg::{OccupancyGrid, Path};
use dragoman_ros::sensor_msgs::msg::JointState;
use dragoman_ros::shared::{SharedPublisher, Switch, listened};
use dragoman_ros::std_msgs::msg::{Header, UInt16};
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::tf2_msgs::msg::TFMessage;
use dragoman_ros::{Publisher, QosProfile, Result, poses};
use dragoman_time::{Task, Work, off_thread, spawn};

use super::PlatformParameters;
use super::state::{NodeState, Shared};
use super::status;
use crate::settings::UltrasonicSettings;

/// Publishes at the rate given by the parameter.
pub(super) fn serve(tasks: &mut NodeTasks, shared: &Shared, values: &PlatformParameters) -> Result<()> {
    let latched = || QosProfile::default().keep_last(1).transient_local();
    let node = tasks.node();
    let publishes_tf = values.publish_tf;
    // The frames of a base without a prefix are its own.
    let has_sensors = !values.frame_prefix.is_empty() && !values.ultrasonic_topics.is_empty();
    let mut topics = Topics {
        shared: shared.clone(),
        map_frame: values.map_frame.clone(),
        frame_prefix: values.frame_prefix.clone(),
        resolution: values.map_resolution,
        status: node.create_publisher("status", QosProfile::default())?,
        path: node.create_publisher("path", latched())?,
        wheels: node.create_publisher("wheel_states", QosProfile::default())?,
        outputs: [
            node.create_publisher("digital_out/io", latched())?,
            node.create_publisher("digital_out/relay", latched())?,
        ],
        shown_outputs: [None; 2],
        program: node.create_publisher("program_state", latched())?,
        shown_program: None,
        siren: Switch::new(node, "siren")?,
        flash_light: Switch::new(node, "flash_light")?,
        map: node.create_publisher("map", latched())?.into(),
        drawing: None,
        sensors: if publishes_tf && has_sensors {
            Some(node.create_publisher("/tf_static", latched())?)
        } else {
            None
        },
        tf: if publishes_tf { Some(messages::transforms(node)?) } else { None },
        shown_sensors: Vec::new(),
        shown_map: None,
        shown_path: Vec::new(),
    };
    let period = Duration::from_secs_f64(1.0 / values.status_rate);
    tasks.every(period, move || topics.publish())
}

struct Topics {
    shared: Shared,
    map_frame: String,
    frame_prefix: String,
    resolution: f64,
    status: Publisher<PlatformStatus>,
    path: Publisher<Path>,
    wheels: Publisher<JointState>,
    /// Digital outputs of the IO board and the relay board, one bit per channel.
    outputs: [Publisher<UInt16>; 2],
    shown_outputs: [Option<u16>; 2],
    program: Publisher<ProgramState>,
    shown_program: Option<ProgramState>,
    siren: Switch,
    flash_light: Switch,
    map: SharedPublisher<OccupancyGrid>,
    /// The task that draws and publishes the map.
    drawing: Option<Task<()>>,
    tf: Option<Publisher<TFMessage>>,
    /// The frames of the ultrasonic sensors.
    sensors: Option<Publisher<TFMessage>>,
    shown_sensors: Vec<UltrasonicSettings>,
    shown_map: Option<Arc<Map>>,
    shown_path: Vec<Point>,
}

impl Topics {
    fn publish(&mut self) {
        // Created while the state is locked, published after it is unlocked.
        let shared = self.shared.clone();
        self.publish_sensors();
        let (outputs, program, switches, wheels, status, path, map, transform) = shared.with(|state| {
            (
                state.platform.digital_outputs(),
                self.new_program(state),
                ["SirenEnabled", "FlashlightEnabled"].map(|key| state.flag(key)),
                if listened(&self.wheels) { state.wheel_states() } else { None },
                listened(&self.status).then(|| status::message(state, &self.map_frame)),
                self.new_path(state),
                self.new_map(state),
                self.origin(state),
            )
        });
        for ((publisher, shown), data) in self.outputs.iter().zip(&mut self.shown_outputs).zip(outputs) {
            if shown.replace(data) != Some(data) {
                report(publisher.publish(&UInt16 { data }));
            }
        }
        if let Some(program) = program {
            report(self.program.publish(&program));
        }
        let [siren, flash_light] = switches;
        self.siren.show(siren);
        self.flash_light.show(flash_light);
        if let Some(wheels) = wheels {
            report(self.wheels.publish(&wheels));
        }
        if let Some(status) = status {
            report(self.status.publish(&status));
        }
        if let Some(path) = path {
            report(self.path.publish(&path));
        }
        if let Some((map, stamp)) = map {
            self.publish_map(map, stamp);
        }
        if let (Some(tf), Some(transform)) = (&self.tf, transform) {
            report(tf.publish(&TFMessage { transforms: vec![transform] }));
        }
    }

    /// Publishes the frames of the ultrasonic sensors whenever their parameters have changed.
    fn publish_sensors(&mut self) {
        let Some(publisher) = &self.sensors else { return };
        let new = self.shared.with(|state| {
            let sensors = &state.platform.settings().ultrasonics;
            (*sensors != self.shown_sensors).then(|| (sensors.clone(), state.stamp()))
        });
        let Some((sensors, stamp)) = new else { return };
        let base = format!("{}base_footprint", self.frame_prefix);
        let frame = |(number, sensor): (usize, &UltrasonicSettings)| {
            let name = format!("{}ultrasonic_{number}", self.frame_prefix);
            let mut transform = poses::transform(&stamp, &base, name, &sensor.pose);
            transform.transform.translation.z = sensor.height;
            transform
        };
        report(publisher.publish(&TFMessage { transforms: (1..).zip(&sensors).map(frame).collect() }));
        self.shown_sensors = sensors;
    }

    /// The state of the running program, if it has changed.
    fn new_program(&mut self, state: &NodeState) -> Option<ProgramState> {
        let mut now = ProgramState::default();
        if let Some(program) = state.platform.running_program() {
            let (tasks, steps): (Vec<_>, Vec<_>) = program.running().unzip();
            now.tasks = tasks.into_iter().map(str::to_owned).collect();
            now.steps = steps.into_iter().map(|step| u32::try_from(step).unwrap_or(u32::MAX)).collect();
            now.moving_task = program.moving_task().unwrap_or_default().to_owned();
        }
        let (run, has_completed) = state.platform.program_run();
        now.run = run;
        if run > 0 && state.platform.running_program().is_none() {
            now.result = if has_completed { "completed" } else { "stopped" }.to_owned();
        }
        if let Some((_, refusal)) = state.programs.refusal.as_ref().filter(|(of, _)| *of == run) {
            now.refusal.clone_from(refusal);
        }
        if self.shown_program.as_ref() == Some(&now) {
            return None;
        }
        self.shown_program = Some(now.clone());
        now.header = Header { stamp: state.stamp(), frame_id: String::new() };
        Some(now)
    }

    /// The remaining path, if it has changed.
    fn new_path(&mut self, state: &NodeState) -> Option<Path> {
        let points: Vec<Point> = state.platform.path().collect();
        if points == self.shown_path {
            return None;
        }
        let header = Header { stamp: state.stamp(), frame_id: self.map_frame.clone() };
        let goal = state.platform.status().goal.map(|goal| goal.heading);
        let path = messages::path(&header, &points, goal);
        self.shown_path = points;
        Some(path)
    }

    /// The map, if another one is in force and the last one was published.
    fn new_map(&self, state: &NodeState) -> Option<(Arc<Map>, Time)> {
        if self.drawing.as_ref().is_some_and(|drawing| !drawing.is_finished()) {
            return None;
        }
        let map = state.platform.map();
        let is_shown = self.shown_map.as_ref().is_some_and(|shown| Arc::ptr_eq(shown, map));
        (!is_shown).then(|| (Arc::clone(map), state.stamp()))
    }

    fn publish_map(&mut self, map: Arc<Map>, stamp: Time) {
        let (publisher, resolution, frame) = (self.map.clone(), self.resolution, self.map_frame.clone());
        self.shown_map = Some(Arc::clone(&map));
        // Millions of cells take time.
        let draw = off_thread(Work::PICTURE, move |_| {
            let mut message = messages::grid(&map, resolution);
            message.header.frame_id = frame;
            message.info.map_load_time = stamp.clone();
            message.header.stamp = stamp;
            report(publisher.publish(&message));
        });
        self.drawing = Some(spawn(async move {
            // The hook for panics has reported a panic.
            let _ = draw.await;
        }));
    }

    /// Transform from the map to the origin of the odometry.
    fn origin(&self, state: &NodeState) -> Option<TransformStamped> {
        self.tf.as_ref().filter(|tf| listened(tf))?;
        let (_, odometry) = state.inputs.odometry.as_ref().filter(|_| state.base_alive())?;
        let frame = if self.frame_prefix.is_empty() {
            odometry.header.frame_id.clone()
        } else {
            format!("{}odom", self.frame_prefix)
        };
        let origin =
            compose(state.platform.status().pose, relative(state.published_odometry(), Pose::ORIGIN));
        Some(poses::transform(&state.stamp(), &self.map_frame, frame, &origin))
    }
}

/// Logs a publishing error.
pub(super) fn report(result: Result<()>) {
    if let Err(error) = result {
        tracing::warn!(%error, "publishing failed");
    }
}
