//! A TurtleBot 2 with a WidowX arm in a world: what ties the simulated base and the simulated servos to the robot that the world shows.
//!
//! | what | how |
//! | --- | --- |
//! | base | as the wheels turn the robot rolls, until something is in its way; then the wheels slip |
//! | bumpers | three sectors of the base's rim, a few millimetres beyond it: pressed where something is in them |
//! | cliff sensors, wheel drops | rays straight down |
//! | arm | the joints go where the servos are, until something is in their way; then the servos go no further |
//! | gripper | the link rule of `world/grasp.rs` |
//!
//! No clock and no I/O: whoever owns the devices calls [`Turtlebot::exchange`] every 10 to 20 ms, in real time or not. The geometry is that
//! of `urdf/turtlebot2_widowx.urdf`.

#[cfg(test)]
mod tests;

use std::time::Duration;

use dragoman_base::odometry::WheelGeometry;
use dragoman_geometry::{Pose as PlanarPose, Twist, wrap_angle};
use nalgebra::Isometry3;

use crate::{Feeler, Geometry, ObjectKind, Step, World, WorldError, Worlds};
use dragoman_sim::chassis::Wheels;
use dragoman_sim::kobuki::inputs::{CLIFF_ADC_EDGE, CLIFF_ADC_FLOOR, CLIFF_THRESHOLD};
use dragoman_sim::kobuki::{Kobuki, Row};
use dragoman_sim::widowx::Widowx;

/// Where the cliff sensors are, left, front, right: m in the robot's frame, on the ground between the wheels.
const CLIFF_SENSORS: [[f64; 3]; 3] =
    [[0.08734, 0.13601, 0.0316], [0.156, 0.0, 0.0316], [0.08734, -0.13601, 0.0316]];
/// The ground counts as a cliff from this depth on, m (seed 003, section 2.1).
const CLIFF_DEPTH: f64 = 0.05;
/// What is deeper than this the cliff sensors do not see at all, m.
const CLIFF_REACH: f64 = 1.0;
/// A wheel hangs where the ground is this far below it, m: the travel of its suspension.
const WHEEL_TRAVEL: f64 = 0.02;
/// The bumper: from where to where above the ground, and how far it can be pressed, m.
const BUMPER_HEIGHTS: [f64; 2] = [0.02, 0.085];
const BUMPER_TRAVEL: f64 = 0.004;
/// Radius of the base, m (seed 003, section 2.1: 354 mm).
const BASE_RADIUS: f64 = 0.177;
/// Where the front sector of the bumper ends and the sides begin, and where these end, degrees from straight ahead.
const BUMPER_SECTORS: [f64; 2] = [30.0, 90.0];
/// The longest way and turn in one go: 10 ms at full speed are less.
const LONGEST_STEP: Step = Step { distance: 0.01, turn: 0.1 };

/// A base and an arm, tied to the robot on wheels and the arm on it in one of the worlds.
pub struct Turtlebot {
    world: usize,
    robot: usize,
    arm: Option<usize>,
    name: String,
    bumper: Row<Feeler>,
    /// Angles of the wheels and the base's time at the last exchange.
    last: Option<(Wheels<f64>, Duration)>,
    /// The world's revision that the base's sensors have seen.
    seen: Option<u64>,
    /// Where the wheels would have taken it, from where it was at the start.
    travelled: PlanarPose,
}

impl Turtlebot {
    /// Ties to the robot on wheels of this name, and to the first arm that is on it.
    ///
    /// # Errors
    /// Unknown names, another kind of object.
    pub fn new(worlds: &mut Worlds, world: Option<&str>, robot: &str) -> Result<Self, WorldError> {
        // Refuses what is no robot on wheels.
        worlds.location_m_robot(world, robot)?;
        let (at, found) = worlds.find(world, robot)?;
        let robot_at = found.index_of(robot)?;
        let arm = found.objects().iter().position(|object| object.mounted_on() == Some(robot_at));
        let [front, sides] = BUMPER_SECTORS;
        Ok(Self {
            world: at,
            robot: robot_at,
            arm,
            name: robot.to_owned(),
            bumper: Row {
                left: sector(front, sides),
                center: sector(-front, front),
                right: sector(-sides, -front),
            },
            last: None,
            seen: None,
            travelled: PlanarPose::ORIGIN,
        })
    }

    /// Lets the devices and the world know of each other: the robot moves as its wheels and servos have moved since the last call, and
    /// the devices' inputs are what the robot meets now. All are brought up to the same time before. Without servos the arm stays.
    ///
    /// # Errors
    /// Worlds that the robot is not in.
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
    /// Worlds that the robot is not in.
    pub fn exchange_base(&mut self, worlds: &mut Worlds, kobuki: &mut Kobuki) -> Result<(), WorldError> {
        let (angles, now) = (kobuki.wheel_angles(), kobuki.now());
        let (before, then) = self.last.replace((angles, now)).unwrap_or((angles, now));
        let geometry = WheelGeometry::KOBUKI;
        let rolled = Wheels { left: angles.left - before.left, right: angles.right - before.right }
            .map(|angle| angle * geometry.radius);
        let Twist { linear: distance, angular: turn } = geometry.twist([rolled.left, rolled.right]);
        let wanted = Step { distance, turn };
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
            // After a pause it does not jump over what is in its way.
            let parts =
                (distance.abs() / LONGEST_STEP.distance).max(turn.abs() / LONGEST_STEP.turn).ceil().max(1.0);
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
            // What is in the way stops it; the wheels slip.
            inputs.motion = Some(Twist { linear: 0.0, angular: turned / seconds });
        }
        inputs.wheel_drops = drops;
        let Row { left, center, right } = &self.bumper;
        let presses = |feeler: &Feeler| world.feels(robot, &group, feeler);
        inputs.bumpers = Row { left: presses(left), center: presses(center), right: presses(right) };
        let sees = |from: [f64; 3]| cliff_adc(from[2], world.clearance(robot, &group, from, CLIFF_REACH));
        let [left, front, right] = CLIFF_SENSORS.map(sees);
        inputs.cliff_adc = Row { left, center: front, right };
        if let Some(pose) = world.objects().get(robot).map(|robot| *robot.pose()) {
            let [x, y, _]: [f64; 3] = pose.translation.vector.into();
            kobuki.set_pose(PlanarPose { x, y, heading: crate::heading(&pose) });
        }
        let revision = world.revision();
        self.seen = Some(revision);
        Ok(())
    }

    /// [`Turtlebot::exchange`] for the arm alone.
    ///
    /// # Errors
    /// Worlds that the robot is not in.
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
        // A servo that is ahead of what is free goes no further.
        let stops = widowx.inputs.lowest.iter_mut().zip(&mut widowx.inputs.highest);
        let reached = world.joint_positions(arm);
        for ((lowest, highest), (servo, reached)) in stops.zip(joints.iter().zip(reached)) {
            *lowest = (*servo < reached).then_some(reached);
            *highest = (*servo > reached).then_some(reached);
        }
        Ok(())
    }

    /// Where in the world the odometry of the wheels begins: where the robot was at the start, until it slips or somebody puts it
    /// elsewhere.
    ///
    /// # Errors
    /// Worlds that the robot is not in.
    pub fn odometry_origin(&self, worlds: &mut Worlds) -> Result<Isometry3<f64>, WorldError> {
        let robot = self.robot;
        let world = self.world(worlds)?;
        let pose = world.objects().get(robot).map(|robot| *robot.pose()).unwrap_or_default();
        let PlanarPose { x, y, heading } = self.travelled;
        Ok(pose * crate::pose([x, y, 0.0], [0.0, 0.0, heading]).inverse())
    }

    fn world<'a>(&self, worlds: &'a mut Worlds) -> Result<&'a mut World, WorldError> {
        let found = worlds.at_mut(self.world).filter(|world| {
            let robot = world.objects().get(self.robot);
            robot.is_some_and(|robot| robot.kind() == ObjectKind::Wheeled)
        });
        found.ok_or_else(|| WorldError::UnknownName { name: self.name.clone() })
    }
}

/// The space before a part of the bumper, between these angles, degrees.
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

/// What the converter of a cliff sensor at this height reads where the ground is so far away: less light comes back from deeper
/// ground. At [`CLIFF_DEPTH`] it is the threshold.
fn cliff_adc(height: f64, way: Option<f64>) -> u16 {
    let Some(way) = way else { return CLIFF_ADC_EDGE };
    let edge = f64::from(CLIFF_ADC_EDGE);
    let span = f64::from(CLIFF_ADC_FLOOR) - edge;
    let relative = (way - height).max(0.0) / CLIFF_DEPTH;
    let at_threshold = span / (f64::from(CLIFF_THRESHOLD) - edge) - 1.0;
    (edge + span / (1.0 + at_threshold * relative * relative)).round() as u16
}

/// A pose after an arc.
fn rolled_on(pose: PlanarPose, Step { distance, turn }: Step) -> PlanarPose {
    let (sin, cos) = (pose.heading + turn / 2.0).sin_cos();
    PlanarPose {
        x: pose.x + distance * cos,
        y: pose.y + distance * sin,
        heading: wrap_angle(pose.heading + turn),
    }
}
