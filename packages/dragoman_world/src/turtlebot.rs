//! A TurtleBot 2 with a WidowX arm in a world: couples the simulated base and the simulated servos to the robot in the
//! world.
//!
//! | part | coupling |
//! | --- | --- |
//! | base | the robot rolls as the wheels turn, until an obstacle; then the wheels slip |
//! | bumpers | three sectors of the base's rim, a few millimetres beyond it: pressed if an object is in them |
//! | cliff sensors, wheel drops | rays straight down |
//! | docking station | its infrared signals, and the contacts of the charger (`world/dock.rs`) |
//! | arm | the joints follow the servos until an obstacle; then the servos are blocked |
//! | gripper | the grasp rule of `world/grasp.rs` |
//!
//! No clock and no I/O: the owner of the devices calls [`Turtlebot::exchange`] every 10 to 20 ms, in real time or not.
//! The geometry is that of `urdf/turtlebot2_widowx.urdf`.

#[cfg(test)]
mod tests;

use std::time::Duration;

use dragoman_base::odometry::WheelGeometry;
use dragoman_geometry::{Pose as PlanarPose, Twist, wrap_angle};
use nalgebra::Isometry3;

use crate::error::WorldError;
use crate::geometry::Geometry;
use crate::robots::wheeled::Step;
use crate::world::{Feeler, ObjectKind, World};
use crate::worlds::Worlds;
use dragoman_sim::chassis::Wheels;
use dragoman_sim::kobuki::inputs::{CLIFF_ADC_EDGE, CLIFF_ADC_FLOOR, CLIFF_THRESHOLD};
use dragoman_sim::kobuki::{ChargerSource, FrontSensors, Kobuki};
use dragoman_sim::widowx::Widowx;

/// Positions of the cliff sensors, left, front, right: m in the robot's frame, on the ground between the wheels.
const CLIFF_SENSORS: [[f64; 3]; 3] =
    [[0.08734, 0.13601, 0.0316], [0.156, 0.0, 0.0316], [0.08734, -0.13601, 0.0316]];
/// Depth from which the ground counts as a cliff, m (TurtleBot thesis, 2.1).
const CLIFF_DEPTH: f64 = 0.05;
/// Maximum depth measured by the cliff sensors, m.
const CLIFF_REACH: f64 = 1.0;
/// A wheel hangs if the ground is this far below it, m: the travel of its suspension.
const WHEEL_TRAVEL: f64 = 0.02;
/// The bumper: its lower and upper height above the ground, and its travel, m.
const BUMPER_HEIGHTS: [f64; 2] = [0.02, 0.085];
const BUMPER_TRAVEL: f64 = 0.004;
/// Radius of the base, m (TurtleBot thesis, 2.1: 354 mm).
const BASE_RADIUS: f64 = 0.177;
/// Angles of the end of the bumper's front sector and of its side sectors, degrees from straight ahead.
const BUMPER_SECTORS: [f64; 2] = [30.0, 90.0];
/// Maximum distance and turn of one step: more than 10 ms at full speed.
const MAX_STEP: Step = Step { distance: 0.01, side: 0.0, turn: 0.1 };

/// A base and an arm, coupled to the robot on wheels and the arm on it in one of the worlds.
pub struct Turtlebot {
    world: usize,
    robot: usize,
    arm: Option<usize>,
    name: String,
    bumper: FrontSensors<Feeler>,
    /// Angles of the wheels and the base's time at the last exchange.
    last: Option<(Wheels<f64>, Duration)>,
    /// The world's revision at the last update of the base's sensors.
    seen: Option<u64>,
    /// Pose by the wheels, relative to the start.
    travelled: PlanarPose,
}

impl Turtlebot {
    /// Couples to the robot on wheels with this name, and to the first arm on it.
    ///
    /// # Errors
    /// Unknown names, another kind of object.
    pub fn new(worlds: &mut Worlds, world: Option<&str>, robot: &str) -> Result<Self, WorldError> {
        // Refuses objects other than robots on wheels.
        worlds.holder(world, robot)?.wheeled(robot)?;
        let (at, found) = worlds.find(world, robot)?;
        let robot_at = found.index_of(robot)?;
        let arm = found.objects().iter().position(|object| object.mounted_on() == Some(robot_at));
        let [front, sides] = BUMPER_SECTORS;
        Ok(Self {
            world: at,
            robot: robot_at,
            arm,
            name: robot.to_owned(),
            bumper: FrontSensors {
                left: sector(front, sides),
                center: sector(-front, front),
                right: sector(-sides, -front),
            },
            last: None,
            seen: None,
            travelled: PlanarPose::ORIGIN,
        })
    }

    /// Exchanges the states of devices and world: the robot moves as its wheels and servos have moved since the last
    /// call, and the devices' inputs are set from the world. Advance all of them to the same time before. Without
    /// servos the arm does not move.
    ///
    /// # Errors
    /// The worlds do not contain the robot.
    pub fn exchange(
        &mut self,
        worlds: &mut Worlds,
        kobuki: &mut Kobuki,
        widowx: Option<&mut Widowx>,
    ) -> Result<(), WorldError> {
        self.exchange_base(worlds, kobuki)?;
        widowx.map_or(Ok(()), |widowx| self.exchange_arm(worlds, widowx))
    }

    /// [`Turtlebot::exchange`] for the base alone.
    ///
    /// # Errors
    /// The worlds do not contain the robot.
    pub fn exchange_base(&mut self, worlds: &mut Worlds, kobuki: &mut Kobuki) -> Result<(), WorldError> {
        let (angles, now) = (kobuki.wheel_angles(), kobuki.now());
        let (before, then) = self.last.replace((angles, now)).unwrap_or((angles, now));
        let geometry = WheelGeometry::KOBUKI;
        let rolled = Wheels { left: angles.left - before.left, right: angles.right - before.right }
            .map(|angle| angle * geometry.radius);
        let Twist { linear: distance, angular: turn, .. } = geometry.twist([rolled.left, rolled.right]);
        let wanted = Step { distance, turn, ..Step::default() };
        self.travelled = rolled_on(self.travelled, wanted);

        let (robot, seen) = (self.robot, self.seen);
        let world = self.world(worlds)?;
        if wanted == Step::default() && seen == Some(world.revision()) {
            // Nothing has moved.
            kobuki.inputs.motion = None;
            return Ok(());
        }
        let group = world.group(robot);
        let hangs = |y: f64| {
            let axle = [0.0, y, geometry.radius];
            world.clearance(robot, &group, axle, geometry.radius + WHEEL_TRAVEL).is_none()
        };
        let half = geometry.separation / 2.0;
        let drops = Wheels { left: hangs(half), right: hangs(-half) };
        let is_lifted = drops.left || drops.right;
        let (mut is_blocked, mut turned) = (false, 0.0);
        if !is_lifted && wanted != Step::default() {
            // After a pause it does not jump over an obstacle.
            let parts = (distance.abs() / MAX_STEP.distance).max(turn.abs() / MAX_STEP.turn).ceil().max(1.0);
            let part = wanted.times(1.0 / parts);
            for _ in 0..parts as u32 {
                let moved = world.roll(robot, part);
                is_blocked |= moved != part;
                turned += moved.turn;
            }
        }

        let seconds = now.saturating_sub(then).as_secs_f64();
        let inputs = &mut kobuki.inputs;
        if !is_blocked {
            inputs.motion = None;
        } else if seconds > 0.0 {
            // An obstacle stops it; the wheels slip.
            inputs.motion = Some(Twist::new(0.0, turned / seconds));
        }
        inputs.wheel_drops = drops;
        let docking = world.docking(robot, &group);
        inputs.dock_ir = docking.signals;
        inputs.charger = docking.has_contact.then_some(ChargerSource::Docking);
        let FrontSensors { left, center, right } = &self.bumper;
        let presses = |feeler: &Feeler| world.feels(robot, &group, feeler);
        inputs.bumpers = FrontSensors { left: presses(left), center: presses(center), right: presses(right) };
        let sees = |from: [f64; 3]| cliff_adc(from[2], world.clearance(robot, &group, from, CLIFF_REACH));
        let [left, front, right] = CLIFF_SENSORS.map(sees);
        inputs.cliff_adc = FrontSensors { left, center: front, right };
        if let Some(pose) = world.objects().get(robot).map(|robot| *robot.pose()) {
            let [x, y, _]: [f64; 3] = pose.translation.vector.into();
            kobuki.set_pose(PlanarPose { x, y, heading: crate::world::heading(&pose) });
        }
        let revision = world.revision();
        self.seen = Some(revision);
        Ok(())
    }

    /// [`Turtlebot::exchange`] for the arm alone.
    ///
    /// # Errors
    /// The worlds do not contain the robot.
    pub fn exchange_arm(&mut self, worlds: &mut Worlds, widowx: &mut Widowx) -> Result<(), WorldError> {
        let arm = self.arm;
        let world = self.world(worlds)?;
        let Some(arm) = arm else { return Ok(()) };
        let [joints @ .., gripper] = widowx.positions();
        world.follow_joints(arm, &joints);
        widowx.inputs.gripper_stop = world.grip(arm, gripper);
        for (load, weight) in widowx.inputs.load.iter_mut().zip(world.gravity_load(arm)) {
            *load = weight;
        }
        // A servo that is ahead of the blocked joint is stopped.
        let stops = widowx.inputs.lowest.iter_mut().zip(&mut widowx.inputs.highest);
        let reached = world.joint_positions(arm);
        for ((lowest, highest), (servo, reached)) in stops.zip(joints.iter().zip(reached)) {
            *lowest = (*servo < reached).then_some(reached);
            *highest = (*servo > reached).then_some(reached);
        }
        Ok(())
    }

    /// Pose in the world of the origin of the wheels' odometry: the robot's initial pose, until it slips or is moved.
    ///
    /// # Errors
    /// The worlds do not contain the robot.
    pub fn odometry_origin(&self, worlds: &mut Worlds) -> Result<Isometry3<f64>, WorldError> {
        let robot = self.robot;
        let world = self.world(worlds)?;
        let pose = world.objects().get(robot).map(|robot| *robot.pose()).unwrap_or_default();
        let PlanarPose { x, y, heading } = self.travelled;
        Ok(pose * crate::geometry::pose([x, y, 0.0], [0.0, 0.0, heading]).inverse())
    }

    fn world<'a>(&self, worlds: &'a mut Worlds) -> Result<&'a mut World, WorldError> {
        let found = worlds.at_mut(self.world).filter(|world| {
            let robot = world.objects().get(self.robot);
            robot.is_some_and(|robot| robot.kind() == ObjectKind::Wheeled)
        });
        found.ok_or_else(|| WorldError::UnknownName { name: self.name.clone() })
    }
}

/// The region in front of a part of the bumper, between these angles, degrees.
fn sector(from: f64, to: f64) -> Feeler {
    const CORNERS: u32 = 8;
    let radius = BASE_RADIUS + BUMPER_TRAVEL;
    let corner = |at: u32| {
        let (sin, cos) = (from + (to - from) * f64::from(at) / f64::from(CORNERS)).to_radians().sin_cos();
        [radius * cos, radius * sin]
    };
    let polygon = std::iter::once([0.0; 2]).chain((0..=CORNERS).map(corner)).collect();
    let [low, high] = BUMPER_HEIGHTS;
    Feeler::new(&Geometry::Extrusion { polygon, height: high - low }, low)
}

/// A/D value of a cliff sensor at this height for this distance of the ground: less light returns from deeper ground.
/// At [`CLIFF_DEPTH`] it is the threshold.
fn cliff_adc(height: f64, way: Option<f64>) -> u16 {
    let Some(way) = way else { return CLIFF_ADC_EDGE };
    let edge = f64::from(CLIFF_ADC_EDGE);
    let span = f64::from(CLIFF_ADC_FLOOR) - edge;
    let relative = (way - height).max(0.0) / CLIFF_DEPTH;
    let at_threshold = span / (f64::from(CLIFF_THRESHOLD) - edge) - 1.0;
    (edge + span / (1.0 + at_threshold * relative * relative)).round() as u16
}

/// A pose after an arc.
fn rolled_on(pose: PlanarPose, Step { distance, turn, .. }: Step) -> PlanarPose {
    let (sin, cos) = (pose.heading + turn / 2.0).sin_cos();
    PlanarPose {
        x: pose.x + distance * cos,
        y: pose.y + distance * sin,
        heading: wrap_angle(pose.heading + turn),
    }
}
