//! The second application (TurtleBot thesis, 5.3): reactive navigation with the Kinect, from target to target.
//!
//! | file | holds |
//! | --- | --- |
//! | this one | [`Navigate`]: the way from target to target |
//! | `field` | the forces of the thesis: attraction to the target, repulsion from the nearest obstacle |
//! | `memory` | recently seen obstacles |
//! | `free` | the free direction nearest to the wanted one |
//!
//! The law is that of the thesis: a force towards the target and one away from the nearest obstacle on the vision line
//! give a direction, and its angle to the heading is the turn rate. Alone it leads to contacts, because the camera sees
//! one line of 57 degrees: obstacles leave the view before they are passed, and low ones are never in it. So the
//! direction of the force is only the preferred one; the robot drives where a strip as wide as itself is free of all
//! obstacles recently seen in the whole image, and turns on the spot if no such strip is ahead.

mod field;
mod free;
mod memory;

use std::f64::consts::FRAC_PI_2;
use std::time::Duration;

use dragoman_geometry::{Pose, Twist, wrap_angle};

pub use field::{Field, KA, KR, NEAR_GREY};

use crate::carry::{RETREAT_TIME, RETREAT_VELOCITY};
use crate::depth::{CameraMount, DepthImage, HORIZONTAL_FIELD};
use crate::program::{Action, Contacts, Failure, Observation, Program, Stamped, Status, fresh};
use free::Situation;
use memory::{Memory, View};

/// A target is reached within this distance, m.
pub const ARRIVED: f64 = 0.05;
/// Distance below which the attraction is constant, and the last target is approached slowly, m.
pub const NEAR_TARGET: f64 = 0.5;
/// Speed near the last target, m/s (TurtleBot thesis, A.4).
pub const LINEAR_VELOCITY: f64 = 0.2;
/// Speed otherwise, m/s. The thesis gives only its name; the value is ours.
pub const FAST_LINEAR_VELOCITY: f64 = 0.3;
/// Maximum turn rate, rad/s.
pub const MAX_ANGULAR_VELOCITY: f64 = FRAC_PI_2;

/// Radius of the robot seen from above, m (TurtleBot thesis, 2.1: 354 mm).
pub const ROBOT_RADIUS: f64 = 0.177;
/// Points lower than this are the floor, or can be driven over, m.
const FLOOR: f64 = 0.03;
/// Points higher than this are above the robot with its arm, m.
const HEIGHT: f64 = 0.8;

/// Distance between the used columns, pixels.
const COLUMN_STEP: usize = 4;
/// Beyond this angle the robot turns on the spot, rad, because it cannot see there.
const TURN_ON_SPOT: f64 = HORIZONTAL_FIELD / 2.0;
/// Time without progress after which a target is given up.
const MAX_STALL: Duration = Duration::from_secs(60);
/// Minimum progress towards the target, m.
const PROGRESS: f64 = 0.1;
/// Maximum number of contacts.
const MAX_CONTACTS: u32 = 10;
/// Age of the last image at which the robot stops and waits for a new one.
const BLIND: Duration = Duration::from_millis(400);

/// Settings of a navigation.
#[derive(Debug, Clone, PartialEq)]
pub struct NavigateSettings {
    /// Targets in order, in the frame of the odometry, m.
    pub targets: Vec<[f64; 2]>,
    /// Position of the camera.
    pub camera: CameraMount,
}

/// The targets of the scene `corridor`: through the door, along the corridor, into the laboratory at the top left.
pub const CORRIDOR: [[f64; 2]; 6] =
    [[2.8, 1.7], [2.8, 3.4], [-1.4, 3.5], [-5.0, 3.6], [-5.0, 5.4], [-6.5, 6.5]];

/// Through the scene `corridor`, with the camera of `urdf/turtlebot2_widowx.urdf`.
impl Default for NavigateSettings {
    fn default() -> Self {
        Self { targets: CORRIDOR.to_vec(), camera: CameraMount::KINECT }
    }
}

/// The second application.
#[derive(Debug)]
pub struct Navigate {
    settings: NavigateSettings,
    target: usize,
    begun: Option<Duration>,
    memory: Memory,
    field: Field,
    /// Last direction of motion, rad, in the frame of the odometry.
    heading: Option<f64>,
    /// Time of the last processed image.
    looked: Option<Duration>,
    /// Minimum distance to the target so far, m, and when.
    nearest: (f64, Duration),
    contacts: u32,
    retreat_until: Option<Duration>,
    finished: Option<Status>,
}

impl Navigate {
    /// At the beginning of the program.
    pub fn new(settings: NavigateSettings) -> Self {
        Self {
            settings,
            target: 0,
            begun: None,
            memory: Memory::default(),
            field: Field::default(),
            heading: None,
            looked: None,
            nearest: (f64::INFINITY, Duration::ZERO),
            contacts: 0,
            retreat_until: None,
            finished: None,
        }
    }

    fn advance(&mut self, seen: &Observation<'_>, actions: &mut Vec<Action>) -> Result<bool, Failure> {
        let now = seen.now;
        let begun = *self.begun.get_or_insert(now);
        let pose = fresh(seen.sound_odometry(), begun, now, "/odom")?;
        let contacts = fresh(seen.contacts, begun, now, "/mobile_base/sensors/core")?;
        fresh(seen.depth, begun, now, "/camera/depth/image")?;
        let (Some(pose), Some(contacts), Some(depth)) = (pose, contacts, seen.depth) else {
            return Ok(false);
        };
        if contacts.wheel_drop {
            return Err(Failure::WheelDrop);
        }
        if self.looked != Some(depth.at) {
            self.looked = Some(depth.at);
            self.look(depth, pose, now);
        }
        while let Some(&target) = self.settings.targets.get(self.target) {
            let distance = (target[0] - pose.x).hypot(target[1] - pose.y);
            if distance > ARRIVED {
                return self.approach(target, distance, pose, contacts, seen, actions).map(|()| false);
            }
            self.target += 1;
            self.nearest = (f64::INFINITY, now);
            self.heading = None;
            let of = self.settings.targets.len();
            actions.push(Action::Say(format!(
                "target {} of {of} reached at x {:.2} m, y {:.2} m",
                self.target, pose.x, pose.y
            )));
        }
        Ok(true)
    }

    /// Adds a new image to the memory and the field.
    fn look(&mut self, depth: Stamped<&DepthImage>, pose: Pose, now: Duration) {
        let mount = self.settings.camera;
        let (sin, cos) = pose.heading.sin_cos();
        let in_odometry = |x: f64, y: f64| [pose.x + x * cos - y * sin, pose.y + x * sin + y * cos];
        let mut views = Vec::with_capacity(depth.value.width / COLUMN_STEP + 1);
        for column in depth.value.columns(mount, COLUMN_STEP) {
            let mut free = if column.points.is_empty() { 0.0 } else { f64::INFINITY };
            for [x, y, z] in column.points {
                let range = (x - mount.x).hypot(y - mount.y);
                if (FLOOR..HEIGHT).contains(&z) {
                    self.memory.mark(in_odometry(x, y), now);
                    free = f64::min(free, range);
                }
            }
            views.push(View { bearing: column.bearing, free });
        }
        let [x, y] = in_odometry(mount.x, mount.y);
        self.memory.remove_outdated(Pose::new(x, y, pose.heading), &views, now);
        self.field.look(depth.value);
    }

    fn approach(
        &mut self,
        target: [f64; 2],
        distance: f64,
        pose: Pose,
        contacts: Contacts,
        seen: &Observation<'_>,
        actions: &mut Vec<Action>,
    ) -> Result<(), Failure> {
        let now = seen.now;
        let what = || format!("target {} at x {} m, y {} m", self.target + 1, target[0], target[1]);
        if distance < self.nearest.0 - PROGRESS {
            self.nearest = (distance, now);
        } else if now.saturating_sub(self.nearest.1) > MAX_STALL {
            return Err(Failure::TimeOut { what: what(), seconds: MAX_STALL.as_secs_f64() });
        }
        if contacts.obstacle() && self.retreat_until.is_none() {
            self.contacts += 1;
            if self.contacts > MAX_CONTACTS {
                return Err(Failure::Blocked { what: what(), count: self.contacts });
            }
            actions.push(Action::Say(format!(
                "something is in the way at x {:.2} m, y {:.2} m",
                pose.x, pose.y
            )));
            self.retreat_until = Some(now + Duration::from_secs_f64(RETREAT_TIME));
            let side = f64::from(i8::from(contacts.bumpers[0])) - f64::from(i8::from(contacts.bumpers[2]));
            let (sin, cos) = (pose.heading + side * FRAC_PI_2 / 2.0).sin_cos();
            self.memory.mark([pose.x + ROBOT_RADIUS * cos, pose.y + ROBOT_RADIUS * sin], now);
        }
        if self.retreat_until.is_some_and(|until| now < until) {
            actions.push(Action::Velocity(Twist::new(RETREAT_VELOCITY, 0.0)));
            return Ok(());
        }
        self.retreat_until = None;
        if seen.depth.is_none_or(|depth| now.saturating_sub(depth.at) > BLIND) {
            actions.push(Action::Velocity(Twist::ZERO));
            return Ok(());
        }
        let is_last = self.target + 1 == self.settings.targets.len();
        let fast = if is_last && distance < NEAR_TARGET { LINEAR_VELOCITY } else { FAST_LINEAR_VELOCITY };
        let wanted = wrap_angle(self.field.direction(target, pose) - pose.heading);
        let bearing = wrap_angle((target[1] - pose.y).atan2(target[0] - pose.x) - pose.heading);
        let last = self.heading.map(|heading| wrap_angle(heading - pose.heading));
        let situation = Situation { places: &self.memory.around(pose), wanted, last, bearing, distance };
        let direction = situation.direction();
        self.heading = direction.map(|direction| pose.heading + direction);
        // If no direction is free, it looks around.
        let twist = match direction {
            Some(direction) => situation.velocity(direction, fast),
            None => Twist::new(0.0, MAX_ANGULAR_VELOCITY / 2.0),
        };
        actions.push(Action::Velocity(twist));
        Ok(())
    }
}

impl Program for Navigate {
    fn step(&mut self, seen: &Observation<'_>, actions: &mut Vec<Action>) -> Status {
        if let Some(status) = &self.finished {
            return status.clone();
        }
        let status = match self.advance(seen, actions) {
            Ok(false) => return Status::Running,
            Ok(true) => Status::Done,
            Err(failure) => Status::Failed(failure),
        };
        actions.push(Action::Velocity(Twist::ZERO));
        self.finished = Some(status.clone());
        status
    }

    fn needs_depth(&self) -> bool {
        true
    }
}
