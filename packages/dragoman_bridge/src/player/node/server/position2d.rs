//! `position2d` from a base's topics and services.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use dragoman_geometry::yaw;
use dragoman_ros::shared::SharedPublisher;
use dragoman_ros::{
    QosProfile, dragoman_msgs, geometry_msgs, kobuki_ros_interfaces, nav_msgs, std_msgs, std_srvs,
};
use serde::Deserialize;

use super::driver::{Answer, Driver, Feed, Opened, Service, Setup, acknowledged, below, done};
use super::platform::{Mode, Platform};
use crate::BridgeError;
use crate::player::server::motion::{Gains, Motion};
use crate::player::wire::common::{Orientation3d, Point3d, Pose2d, Pose3d, Size3d};
use crate::player::wire::position2d::{
    CAR, GET_GEOMETRY, Geometry, MOTOR_POWER, POSITION, POSITION_MODE, POSITION_PID, Pid, RESET_ODOMETRY,
    SET_ODOMETRY, SPEED_PID, SPEED_PROFILE, STATE, State, VELOCITY, VELOCITY_HEADING, VELOCITY_MODE,
};
use crate::player::wire::{Device, Kind, Xdr};

/// How often a velocity is repeated. Bases stop after 0.6 s without one.
const REPEAT: Duration = Duration::from_millis(100);

/// The ROS names of a base.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Names {
    /// Topic with `nav_msgs/Odometry`.
    odometry: String,
    /// Topic for `geometry_msgs/Twist`.
    velocity: String,
    /// Namespace of `get_geometry`, `set_motor_power`, `reset_odometry` and `set_odometry`, and of the topic `motors_on`;
    /// without it, their requests are refused.
    #[serde(default)]
    services: Option<String>,
    /// Namespace of a platform with modes: it is put into the mode for velocities and started by the first velocity.
    #[serde(default)]
    platform: Option<String>,
    /// Topic for `kobuki_ros_interfaces/ControllerInfo`: the gains of its velocities; without it, they cannot be set.
    #[serde(default)]
    gains: Option<String>,
    /// Maximum speed, m/s; without it, the base's own limit.
    #[serde(default)]
    pub(super) max_speed: Option<f64>,
    /// Maximum turn rate, rad/s; without it, the base's own limit.
    #[serde(default)]
    pub(super) max_turn_rate: Option<f64>,
    /// Distance of its wheels, m. A configuration file with another one is refused.
    #[serde(default)]
    pub(super) wheel_separation: Option<f64>,
    /// Distance between the axles of the car whose steering angle a client commands, m.
    #[serde(default = "default_wheelbase")]
    wheelbase: f64,
}

fn default_wheelbase() -> f64 {
    0.3
}

impl Names {
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

/// What the commands, the odometry and the timer share.
struct Drive {
    motion: Motion,
    gains: Gains,
    pose: Option<Pose2d>,
    /// When the last command came.
    commanded: Instant,
    velocity: SharedPublisher<geometry_msgs::msg::Twist>,
    /// How long a velocity or a heading holds.
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

    /// Publishes the velocity of the motion; with `ends`, also the zero of a motion that has ended.
    fn cycle(&mut self, ends: bool) {
        if self.timeout.is_some_and(|timeout| dragoman_time::since(self.commanded) > timeout)
            && self.motion.is_endless()
        {
            tracing::warn!("no command within its time limit: the base is stopped");
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
        tracing::warn!(reason, "the platform does not obey velocities");
    }
}

struct Services {
    geometry: Service<dragoman_msgs::srv::GetGeometry::Service>,
    motor_power: Service<std_srvs::srv::SetBool::Service>,
    reset: Service<std_srvs::srv::Trigger::Service>,
    set: Service<dragoman_msgs::srv::SetOdometry::Service>,
}

fn lock(drive: &Mutex<Drive>) -> MutexGuard<'_, Drive> {
    drive.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn open(names: &Names, device: Device, setup: &Setup, feed: Feed) -> Result<Opened, BridgeError> {
    let mut tasks = setup.node(device)?;
    let services = match &names.services {
        Some(namespace) => {
            let name = |service: &str| below(namespace, service);
            Some(Services {
                geometry: Service::new(&mut tasks, &name("get_geometry"))?,
                motor_power: Service::new(&mut tasks, &name("set_motor_power"))?,
                reset: Service::new(&mut tasks, &name("reset_odometry"))?,
                set: Service::new(&mut tasks, &name("set_odometry"))?,
            })
        }
        None => None,
    };
    let platform = match &names.platform {
        Some(namespace) => Some(Arc::new(Platform::new(&mut tasks, namespace)?)),
        None => None,
    };
    let newest = QosProfile::default().keep_last(1);
    let velocity = tasks.node().create_publisher(&names.velocity, newest.clone())?.into();
    let drive = Arc::new(Mutex::new(Drive {
        motion: Motion::Idle,
        gains: Gains::default(),
        pose: None,
        commanded: dragoman_time::now(),
        velocity,
        timeout: setup.command_timeout,
        limits: [names.max_speed, names.max_turn_rate].map(|limit| limit.unwrap_or(f64::MAX)),
    }));
    let measured = Arc::clone(&drive);
    tasks.subscribe(
        &names.odometry,
        QosProfile::sensor_data(),
        move |odometry: nav_msgs::msg::Odometry| {
            let state = state(&odometry);
            lock(&measured).pose = Some(state.pose.clone());
            feed.send(&STATE, &odometry.header.stamp, &state);
        },
    )?;
    if let Some(namespace) = &names.services {
        // A base whose motors were off waits for the next command, no matter who has switched them. No change may be missed.
        let switched = Arc::clone(&drive);
        let latched = QosProfile::default().keep_last(10).transient_local();
        tasks.subscribe(&below(namespace, "motors_on"), latched, move |on: std_msgs::msg::Bool| {
            if !on.data {
                lock(&switched).begin(Motion::Idle);
            }
        })?;
    }
    let repeated = Arc::clone(&drive);
    tasks.every(REPEAT, move || lock(&repeated).cycle(false))?;
    let speed_gains = match &names.gains {
        Some(topic) => Some(tasks.node().create_publisher(topic, QosProfile::default())?.into()),
        None => None,
    };
    Ok(Opened::new(Base { drive, services, platform, speed_gains, wheelbase: names.wheelbase }, tasks)?)
}

fn state(odometry: &nav_msgs::msg::Odometry) -> State {
    let (pose, twist) = (&odometry.pose.pose, &odometry.twist.twist);
    let q = &pose.orientation;
    State {
        pose: Pose2d { x: pose.position.x, y: pose.position.y, yaw: yaw([q.x, q.y, q.z, q.w]) },
        velocity: Pose2d { x: twist.linear.x, y: twist.linear.y, yaw: twist.angular.z },
        // No ROS message says it.
        stalled: false,
    }
}

fn geometry(response: dragoman_msgs::srv::GetGeometry::Response) -> Result<Vec<u8>, String> {
    let dragoman_msgs::srv::GetGeometry::Response { success, message, pose, size } = response;
    if !success {
        return Err(message);
    }
    let pose = Pose3d {
        position: Point3d { x: pose.x, y: pose.y, z: 0.0 },
        orientation: Orientation3d { yaw: pose.theta, ..Orientation3d::default() },
    };
    Ok(Geometry { pose, size: Size3d { width: size.y, length: size.x, height: size.z } }.to_bytes())
}

impl Driver for Base {
    fn handle_command(&mut self, subtype: u8, body: &[u8]) -> Result<(), String> {
        let motion = match subtype {
            subtype if subtype == VELOCITY.subtype => Motion::velocity(VELOCITY.body(body)?.velocity)?,
            subtype if subtype == POSITION.subtype => Motion::goal(POSITION.body(body)?)?,
            subtype if subtype == CAR.subtype => Motion::steering(&CAR.body(body)?, self.wheelbase)?,
            subtype if subtype == VELOCITY_HEADING.subtype => Motion::heading(VELOCITY_HEADING.body(body)?)?,
            subtype => return Err(format!("there is no command {subtype}")),
        };
        if motion != Motion::Idle
            && let Some(platform) = &self.platform
            && lock(&self.drive).motion == Motion::Idle
        {
            dragoman_time::spawn(prepare_for_velocities(Arc::clone(platform)));
        }
        lock(&self.drive).begin(motion);
        Ok(())
    }

    fn handle_request(&mut self, subtype: u8, body: &[u8]) -> Result<Answer, String> {
        let services = self.services.as_ref().ok_or("the table names no services of this base");
        Ok(match subtype {
            subtype if subtype == GET_GEOMETRY.subtype => {
                services?.geometry.ask(dragoman_msgs::srv::GetGeometry::Request::default(), geometry)
            }
            subtype if subtype == MOTOR_POWER.subtype => {
                let (services, on) = (services?, MOTOR_POWER.question(body)?);
                // With the motors on again, the base waits for the next command.
                lock(&self.drive).begin(Motion::Idle);
                services.motor_power.set(on)
            }
            subtype if subtype == SET_ODOMETRY.subtype => {
                let Pose2d { x, y, yaw } = SET_ODOMETRY.question(body)?;
                let pose = geometry_msgs::msg::Pose2D { x, y, theta: yaw };
                let request = dragoman_msgs::srv::SetOdometry::Request { pose };
                services?.set.ask(request, |response| done(response.success, response.message))
            }
            subtype if subtype == RESET_ODOMETRY.subtype => services?.reset.trigger(),
            // Both ways of control are always there; the last command decides.
            subtype if subtype == POSITION_MODE.subtype => acknowledged(&()),
            subtype if subtype == VELOCITY_MODE.subtype => match VELOCITY_MODE.question(body)? {
                0 => acknowledged(&()),
                mode => return Err(format!("the base controls velocities directly: mode 0, not {mode}")),
            },
            subtype if subtype == SPEED_PROFILE.subtype => {
                let profile = SPEED_PROFILE.question(body)?;
                lock(&self.drive).gains.set_profile(&profile)?;
                acknowledged(&())
            }
            subtype if subtype == POSITION_PID.subtype => {
                let pid = POSITION_PID.question(body)?;
                lock(&self.drive).gains.set_pid(&pid)?;
                acknowledged(&())
            }
            subtype if subtype == SPEED_PID.subtype => {
                self.set_speed_gains(&SPEED_PID.question(body)?)?;
                acknowledged(&())
            }
            subtype => return Err(format!("the base has no request {subtype}")),
        })
    }

    fn handle_release(&mut self) {
        lock(&self.drive).begin(Motion::Idle);
    }

    fn lacks(&self) -> Vec<(Kind, u8)> {
        let services =
            [GET_GEOMETRY.subtype, MOTOR_POWER.subtype, SET_ODOMETRY.subtype, RESET_ODOMETRY.subtype];
        let services = services.into_iter().filter(|_| self.services.is_none());
        let gains = self.speed_gains.is_none().then_some(SPEED_PID.subtype);
        services.chain(gains).map(|subtype| (Kind::Request, subtype)).collect()
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
