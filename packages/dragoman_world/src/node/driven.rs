//! Robots with drivers of their own: whenever the worlds are advanced, their devices are advanced, too, and both
//! exchange their states.

use std::time::Duration;

use dragoman_ros::Result;
use dragoman_ros::builtin_interfaces::msg::Time;
use dragoman_ros::geometry_msgs::msg::TransformStamped;
use dragoman_ros::poses;
use dragoman_ros::tasks::NodeTasks;

use super::frames::world_frame;
use super::pace::Pace;
use super::{Live, NodeState};
use crate::Worlds;
use crate::{Turtlebot, WorldError};
use dragoman_sim::serial::edge::RealTime;
use dragoman_sim::{Kobuki, Widowx};

/// Maximum time between two exchanges.
const MAX_PERIOD: Duration = Duration::from_millis(20);
/// Minimum time between two exchanges, because requests may come fast.
const MIN_PERIOD: Duration = Duration::from_millis(2);

/// A robot on wheels, in the first world that has it, with a driver of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DrivenRobot {
    /// Its name in the world.
    pub name: String,
    /// Frame of its driver's odometry; the node publishes its pose in the world. `None`: not published.
    pub odometry_frame: Option<String>,
}

/// The simulated devices of a TurtleBot; a part with a real device or none does not move.
#[derive(Clone, Default)]
pub struct Devices {
    /// The base.
    pub kobuki: Option<RealTime<Kobuki>>,
    /// The arm on it.
    pub widowx: Option<RealTime<Widowx>>,
}

pub(super) struct Driven {
    pub(super) robot: DrivenRobot,
    coupled: Option<Coupled>,
    /// Time of the last exchange, real and in the worlds.
    last: Duration,
    exchanged: Duration,
}

struct Coupled {
    robot: Turtlebot,
    devices: Devices,
    /// Frame of its world.
    frame: String,
}

impl Driven {
    pub(super) fn new(robot: DrivenRobot) -> Self {
        Self { robot, coupled: None, last: Duration::ZERO, exchanged: Duration::ZERO }
    }

    fn exchange(&mut self, worlds: &mut Worlds) -> std::result::Result<(), WorldError> {
        let Some(Coupled { robot, devices, .. }) = &mut self.coupled else { return Ok(()) };
        let Devices { kobuki, widowx } = devices;
        if let Some(kobuki) = kobuki {
            kobuki.with(|kobuki| robot.exchange_base(worlds, kobuki))?;
        }
        widowx.as_ref().map_or(Ok(()), |widowx| widowx.with(|widowx| robot.exchange_arm(worlds, widowx)))
    }

    /// The worlds and the devices are as at the start.
    pub(super) fn begin_again(&mut self, worlds: &mut Worlds) -> std::result::Result<(), WorldError> {
        let Some(Coupled { robot, devices, .. }) = &mut self.coupled else { return Ok(()) };
        *robot = Turtlebot::new(worlds, None, &self.robot.name)?;
        if let Some(kobuki) = &devices.kobuki {
            kobuki.replace(Kobuki::again);
        }
        if let Some(widowx) = &devices.widowx {
            widowx.replace(Widowx::again);
        }
        Ok(())
    }

    /// The pose of its odometry frame in its world.
    pub(super) fn transform(&self, pace: &mut Pace, stamp: &Time) -> Option<TransformStamped> {
        let Coupled { robot, frame, .. } = self.coupled.as_ref()?;
        let origin = robot.odometry_origin(pace.worlds()).ok()?;
        Some(poses::transform(stamp, frame, self.robot.odometry_frame.clone()?, &origin))
    }
}

impl NodeState {
    /// Exchanges the states of devices and worlds, if the last exchange was long enough ago.
    pub(super) fn exchange(&mut self, now: Duration) {
        let (time_step, time) = (self.pace.time_step(), self.pace.time());
        for driven in &mut self.driven {
            let in_step = !time_step.is_zero() && driven.exchanged == time;
            if now.saturating_sub(driven.last) < MIN_PERIOD || in_step {
                continue;
            }
            (driven.last, driven.exchanged) = (now, time);
            if let Err(error) = driven.exchange(self.pace.worlds()) {
                tracing::debug!(%error, "exchanging states with a simulated device failed");
            }
        }
    }
}

impl NodeState {
    /// Exchanges the states of devices and worlds.
    pub(super) fn exchange_now(&mut self) {
        for driven in &mut self.driven {
            if let Err(error) = driven.exchange(self.pace.worlds()) {
                tracing::debug!(%error, "exchanging states with a simulated device failed");
            }
        }
    }
}

impl Live {
    /// Couples simulated devices to a driven robot.
    ///
    /// # Errors
    /// No world has a robot on wheels with this name, or it was not declared as driven at the start.
    pub fn couple(&self, robot: &str, devices: Devices) -> std::result::Result<(), WorldError> {
        self.with(|state| {
            let unknown = || WorldError::UnknownName { name: robot.to_owned() };
            let tied = Turtlebot::new(state.pace.worlds(), None, robot)?;
            let mut worlds = state.pace.worlds().worlds().iter().enumerate();
            let (at, world) = worlds.find(|(_, world)| world.pose(robot).is_ok()).ok_or_else(unknown)?;
            let coupled = Coupled { robot: tied, devices, frame: world_frame(at, world) };
            let driven = state.driven.iter_mut().find(|driven| driven.robot.name == robot);
            driven.ok_or_else(unknown)?.coupled = Some(coupled);
            Ok(())
        })
    }
}

/// Runs periodic exchanges between devices and worlds.
pub(super) fn serve(tasks: &mut NodeTasks, live: &Live) -> Result<()> {
    if live.with(|state| state.driven.is_empty()) {
        return Ok(());
    }
    let live = live.clone();
    tasks.every(MAX_PERIOD, move || live.with(|_| ()))
}
