//! `position2d` from a base's topics and services.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dragoman_geometry::yaw;
use dragoman_ros::shared::SharedPublisher;
use dragoman_ros::{
    QosProfile, dragoman_msgs, geometry_msgs, kobuki_ros_interfaces, nav_msgs, std_msgs, std_srvs,
};
use parking_lot::Mutex;
use serde::Deserialize;

use super::driver::{
    Driver, Feed, Opened, OutcomeFuture, Service, Setup, acknowledged, other_interface, qualified_name,
    service_outcome,
};
use super::platform::{Mode, Platform};
use crate::BridgeError;
use crate::player::server::motion::{Gains, Motion};
use crate::player::wire::common::{Pose2d, Size3d};
use crate::player::wire::position2d::{
    Command, GET_GEOMETRY, Geometry, MOTOR_POWER, Pid, RESET_ODOMETRY, Request, SET_ODOMETRY, SPEED_PID,
    STATE, State, Velocity,
};
use crate::player::wire::{self, Device, MessageKind, Xdr};

/// Period in which a velocity is repeated. Bases stop after 0.6 s without a velocity.
const REPEAT: Duration = Duration::from_millis(100);

/// Entry of a base in the device table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Position2dConfig {
    /// Topic with `nav_msgs/Odometry`.
    odometry: String,
    /// Topic for `geometry_msgs/Twist`.
    velocity: String,
    /// Namespace of `get_geometry`, `set_motor_power`, `reset_odometry` and `set_odometry`, and of the topic `motors_on`;
    /// without it, their requests are refused.
    #[serde(default)]
    services: Option<String>,
    /// Namespace of a platform with modes. The first velocity starts the platform and sets its mode for velocities.
    #[serde(default)]
    platform: Option<String>,
    /// Topic for `kobuki_ros_interfaces/ControllerInfo` with the gains of the velocity controller; without it, clients
    /// cannot set the gains.
    #[serde(default)]
    gains: Option<String>,
    /// Maximum speed, m/s; without it, the base's own limit.
    #[serde(default)]
    pub(super) max_speed: Option<f64>,
    /// Maximum turn rate, rad/s; without it, the base's own limit.
    #[serde(default)]
    pub(super) max_turn_rate: Option<f64>,
    /// Distance between the wheels, m. A configuration file with another distance is refused.
    #[serde(default)]
    pub(super) wheel_separation: Option<f64>,
    /// Distance between the axles of the car whose steering angle a client commands, m.
    #[serde(default = "default_wheelbase")]
    wheelbase: f64,
}

fn default_wheelbase() -> f64 {
    0.3
}

impl Position2dConfig {
    pub(super) fn check(&self) -> Result<(), String> {
        let given = [("max_speed", self.max_speed), ("max_turn_rate", self.max_turn_rate)];
        let wheels = [("wheel_separation", self.wheel_separation), ("wheelbase", Some(self.wheelbase))];
        let given = given.into_iter().chain(wheels);
        for (name, value) in given {
            if value.is_some_and(|value| !(value.is_finite() && value > 0.0)) {
                return Err(format!("{name} is positive and finite"));
            }
        }
        Ok(())
    }
}

/// State that the commands, the odometry and the timer share.
struct Drive {
    motion: Motion,
    gains: Gains,
    pose: Option<Pose2d>,
    /// Time of the last command.
    commanded: Instant,
    velocity: SharedPublisher<geometry_msgs::msg::Twist>,
    /// How long a velocity or a heading is valid.
    timeout: Option<Duration>,
    /// Maximum speed and turn rate.
    limits: [f64; 2],
}

impl Drive {
    fn begin(&mut self, motion: Motion) {
        self.commanded = dragoman_time::now();
        let is_moving = self.motion != Motion::Idle || motion != Motion::Idle;
        self.motion = motion;
        if is_moving {
            self.cycle(true);
        }
    }

    /// Publishes the velocity of the motion. With `ends`, a motion that has ended publishes zero once.
    fn cycle(&mut self, ends: bool) {
        if self.timeout.is_some_and(|timeout| dragoman_time::since(self.commanded) > timeout)
            && self.motion.is_endless()
        {
            tracing::warn!("velocity command timed out; stopping the base");
            return self.begin(Motion::Idle);
        }
        match self.motion.poll(self.pose.as_ref(), &self.gains) {
            Some(velocity) => self.publish(&velocity),
            None if ends => self.publish(&Pose2d::default()),
            None => {}
        }
    }

    fn publish(&self, velocity: &Pose2d) {
        let mut twist = geometry_msgs::msg::Twist::default();
        let [speed, rate] = self.limits;
        (twist.linear.x, twist.linear.y) = (velocity.x.clamp(-speed, speed), velocity.y.clamp(-speed, speed));
        twist.angular.z = velocity.yaw.clamp(-rate, rate);
        if let Err(error) = self.velocity.publish(&twist) {
            tracing::warn!(%error, "publishing a velocity failed");
        }
    }
}

struct Base {
    drive: Arc<Mutex<Drive>>,
    services: Option<Services>,
    platform: Option<Arc<Platform>>,
    speed_gains: Option<SharedPublisher<kobuki_ros_interfaces::msg::ControllerInfo>>,
    wheelbase: f64,
}

async fn prepare_for_velocities(platform: Arc<Platform>) {
    if let Err(reason) = platform.prepare(Mode::Velocity).await {
        tracing::warn!(reason, "switching the platform to velocity mode failed");
    }
}

struct Services {
    geometry: Service<dragoman_msgs::srv::GetGeometry::Service>,
    motor_power: Service<std_srvs::srv::SetBool::Service>,
    reset: Service<std_srvs::srv::Trigger::Service>,
    set: Service<dragoman_msgs::srv::SetOdometry::Service>,
}

pub(super) fn open(
    config: &Position2dConfig,
    device: Device,
    setup: &Setup,
    feed: Feed,
) -> Result<Opened, BridgeError> {
    let mut tasks = setup.node(device)?;
    let services = match &config.services {
        Some(namespace) => {
            let name = |service: &str| qualified_name(namespace, service);
            Some(Services {
                geometry: Service::new(&mut tasks, &name("get_geometry"))?,
                motor_power: Service::new(&mut tasks, &name("set_motor_power"))?,
                reset: Service::new(&mut tasks, &name("reset_odometry"))?,
                set: Service::new(&mut tasks, &name("set_odometry"))?,
            })
        }
        None => None,
    };
    let platform =
        config.platform.as_ref().map(|namespace| Platform::new(&mut tasks, namespace)).transpose()?;
    let platform = platform.map(Arc::new);
    let newest = QosProfile::default().keep_last(1);
    let velocity = tasks.node().create_publisher(&config.velocity, newest.clone())?.into();
    let drive = Arc::new(Mutex::new(Drive {
        motion: Motion::Idle,
        gains: Gains::default(),
        pose: None,
        commanded: dragoman_time::now(),
        velocity,
        timeout: setup.command_timeout,
        limits: [config.max_speed, config.max_turn_rate].map(|limit| limit.unwrap_or(f64::MAX)),
    }));
    let measured = Arc::clone(&drive);
    tasks.subscribe(
        &config.odometry,
        QosProfile::sensor_data(),
        move |odometry: nav_msgs::msg::Odometry| {
            let state = state(&odometry);
            measured.lock().pose = Some(state.pose.clone());
            feed.send(&STATE, &odometry.header.stamp, &state);
        },
    )?;
    if let Some(namespace) = &config.services {
        // After its motors were off, a base waits for the next command, no matter which program switched them off. No
        // change may be missed.
        let switched = Arc::clone(&drive);
        let latched = QosProfile::default().keep_last(10).transient_local();
        tasks.subscribe(
            &qualified_name(namespace, "motors_on"),
            latched,
            move |on: std_msgs::msg::Bool| {
                if !on.data {
                    switched.lock().begin(Motion::Idle);
                }
            },
        )?;
    }
    let repeated = Arc::clone(&drive);
    tasks.every(REPEAT, move || repeated.lock().cycle(false))?;
    let publisher = |topic: &String| tasks.node().create_publisher(topic, QosProfile::default());
    let speed_gains = config.gains.as_ref().map(publisher).transpose()?.map(Into::into);
    Ok(Opened::new(Base { drive, services, platform, speed_gains, wheelbase: config.wheelbase }, tasks)?)
}

fn state(odometry: &nav_msgs::msg::Odometry) -> State {
    let (pose, twist) = (&odometry.pose.pose, &odometry.twist.twist);
    let q = &pose.orientation;
    State {
        pose: Pose2d { x: pose.position.x, y: pose.position.y, yaw: yaw([q.x, q.y, q.z, q.w]) },
        velocity: Pose2d { x: twist.linear.x, y: twist.linear.y, yaw: twist.angular.z },
        // No ROS message has this value.
        stalled: false,
    }
}

fn geometry(response: dragoman_msgs::srv::GetGeometry::Response) -> Result<Vec<u8>, String> {
    let dragoman_msgs::srv::GetGeometry::Response { success, message, pose, size } = response;
    if !success {
        return Err(message);
    }
    let pose = Pose2d { x: pose.x, y: pose.y, yaw: pose.theta };
    Ok(Geometry { pose: pose.into(), size: Size3d { width: size.y, length: size.x, height: size.z } }
        .to_bytes())
}

impl Driver for Base {
    fn handle_command(&mut self, command: wire::Command) -> Result<(), String> {
        let wire::Command::Position2d(command) = command else { return other_interface() };
        let motion = match command {
            Command::Velocity(Velocity { velocity, .. }) => Motion::velocity(velocity)?,
            Command::Position(position) => Motion::goal(position)?,
            Command::Car(steering) => Motion::steering(&steering, self.wheelbase)?,
            Command::VelocityHeading(steering) => Motion::heading(steering)?,
        };
        if motion != Motion::Idle
            && let Some(platform) = &self.platform
            && self.drive.lock().motion == Motion::Idle
        {
            dragoman_time::spawn(prepare_for_velocities(Arc::clone(platform)));
        }
        self.drive.lock().begin(motion);
        Ok(())
    }

    fn handle_request(&mut self, request: wire::Request) -> Result<OutcomeFuture, String> {
        let wire::Request::Position2d(request) = request else { return other_interface() };
        let services = self.services.as_ref().ok_or("the table names no services of this base");
        Ok(match request {
            Request::GetGeometry => {
                services?.geometry.ask(dragoman_msgs::srv::GetGeometry::Request::default(), geometry)
            }
            Request::MotorPower(on) => {
                let services = services?;
                // With the motors on again, the base waits for the next command.
                self.drive.lock().begin(Motion::Idle);
                services.motor_power.set(on)
            }
            Request::SetOdometry(Pose2d { x, y, yaw }) => {
                let pose = geometry_msgs::msg::Pose2D { x, y, theta: yaw };
                let request = dragoman_msgs::srv::SetOdometry::Request { pose };
                services?.set.ask(request, |response| service_outcome(response.success, response.message))
            }
            Request::ResetOdometry => services?.reset.trigger(),
            // Both kinds of control are always available; the last command decides.
            Request::PositionMode(_) | Request::VelocityMode(0) => acknowledged(&()),
            Request::VelocityMode(mode) => {
                return Err(format!("the base controls velocities directly: mode 0, not {mode}"));
            }
            Request::SpeedProfile(profile) => {
                self.drive.lock().gains.set_profile(&profile)?;
                acknowledged(&())
            }
            Request::PositionPid(pid) => {
                self.drive.lock().gains.set_pid(&pid)?;
                acknowledged(&())
            }
            Request::SpeedPid(pid) => {
                self.set_speed_gains(&pid)?;
                acknowledged(&())
            }
        })
    }

    fn handle_release(&mut self) {
        self.drive.lock().begin(Motion::Idle);
    }

    fn unsupported(&self) -> Vec<(MessageKind, u8)> {
        let mut unsupported = Vec::new();
        if self.services.is_none() {
            unsupported.extend([GET_GEOMETRY.id(), MOTOR_POWER.id(), SET_ODOMETRY.id(), RESET_ODOMETRY.id()]);
        }
        unsupported.extend(self.speed_gains.is_none().then_some(SPEED_PID.id()));
        unsupported
    }
}

impl Base {
    fn set_speed_gains(&self, pid: &Pid) -> Result<(), String> {
        let publisher = self.speed_gains.as_ref().ok_or("this base has no gains that can be set")?;
        let gains = [pid.kp, pid.ki, pid.kd].map(f64::from);
        if !gains.iter().all(|gain| gain.is_finite() && *gain >= 0.0) {
            return Err("gains are finite, and not negative".to_owned());
        }
        let [p_gain, i_gain, d_gain] = gains;
        let type_ = kobuki_ros_interfaces::msg::ControllerInfo::USER_CONFIGURED as u8;
        let message = kobuki_ros_interfaces::msg::ControllerInfo { type_, p_gain, i_gain, d_gain };
        publisher.publish(&message).map_err(|error| error.to_string())
    }
}
