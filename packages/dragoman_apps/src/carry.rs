//! The first application (TurtleBot thesis, 5.2): carries a cube of 3 cm from the far table to the near one.
//!
//! The program is a list of steps, in the order of the thesis and with its figures; this file carries them out. The
//! odometry begins at the robot's pose between the tables, facing the far one. Ours are: the robot keeps to the line
//! through the start (the thesis only holds the heading, and nothing on the way back) and, once the Kinect sees the
//! legs of the table, to the table's middle line; without pictures only the odometry counts, as in the thesis. After a
//! contact the robot turns away from the touched side, and it gives up after several contacts. The program is done only if
//! the gripper has held the cube from one table to the other and has let go of it above its place.
//!
//! `table` detects a table in the Kinect's images.

mod table;

use std::f64::consts::{FRAC_PI_2, PI};
use std::time::Duration;

use dragoman_geometry::{Pose, Twist, wrap_angle};

use table::Table;

use crate::depth::CameraMount;
use crate::program::{
    Action, Contacts, Failure, Joint, Observation, Positions, Program, Stamped, Status, fresh,
};

/// Distance of the far table ahead, m.
pub const FAR_TABLE: f64 = 2.915;
/// Goal position at the near table, behind the start, m.
pub const NEAR_TABLE: f64 = -3.0;
/// Speed ahead, m/s (TurtleBot thesis, A.4).
pub const LINEAR_VELOCITY: f64 = 0.2;
/// Turn rate, rad/s. The thesis gives only the names of the two turn rates; the values are ours.
pub const NORMAL_ANGULAR_VELOCITY: f64 = FRAC_PI_2 / 2.0;
/// Turn rate near the end of a turn, rad/s.
pub const SLOW_ANGULAR_VELOCITY: f64 = 0.05;
/// Turn rate per degree of heading error, rad/s: 0.1 as in the thesis.
pub const HEADING_GAIN: f64 = 0.1;
/// Tolerance of a turn: half a degree, rad.
pub const TURN_TOLERANCE: f64 = 0.5 * PI / 180.0;
/// Angle below which a turn is slow, rad.
pub const SLOW_TURN: f64 = 15.0 * PI / 180.0;
/// Speed away from an obstacle, m/s.
pub const RETREAT_VELOCITY: f64 = -0.2;
/// Duration of backing off, and of the turn after it, s.
pub const RETREAT_TIME: f64 = 1.5;
/// The gripper's command for grasping the cube.
pub const GRASP: f64 = 1.0;
/// Speed of the shoulder while the gripper goes down to the cube, rad/s.
pub const SLOW_SHOULDER: f64 = 10.0 * PI / 180.0;
/// Speed of the shoulder otherwise, rad/s.
pub const FAST_SHOULDER: f64 = 100.0 * PI / 180.0;

/// Distance from the commanded stop to the middle between the front legs of the table, m. The cube is 0.075 m behind
/// them and, when the robot has stopped, 0.345 m before its middle (launch/config/worlds/laboratory.yaml).
const LEGS_AHEAD: f64 = 0.29;
/// Distance from the stop below which the legs are out of view, m.
const LAST_LOOK: f64 = 0.2;
/// Minimum number of detections of a table.
const MIN_LOOKS: u32 = 5;
/// Tolerance of the turn towards the cube at a table, rad.
const AIM_TOLERANCE: f64 = 0.2 * PI / 180.0;
/// Turn rate of this turn, rad/s.
const AIM_VELOCITY: f64 = 0.03;
/// Distance from the middle between the front legs to the cube, m.
const CUBE_INSET: f64 = 0.075;
/// Distance from the stop below which the robot drives straight to the cube; before that to the middle line of the
/// table, m.
const STRAIGHT: f64 = 0.6;
/// Heading towards the line per metre of distance from it, rad/m. This and all following values are ours.
const LINE_GAIN: f64 = 1.5;
/// Maximum heading towards the line, rad.
const MAX_LINE_HEADING: f64 = 0.5;
/// Maximum turn rate while driving, rad/s.
const MAX_DRIVING_TURN: f64 = 0.8;
/// Time to drive past an obstacle after a contact, before the robot returns to the line, s.
const PASS_TIME: f64 = 2.0;
/// Maximum number of contacts per drive.
const MAX_CONTACTS: u32 = 8;
/// Time limit of a drive, s: four times the time without obstacles.
const MAX_DRIVE: f64 = 120.0;
/// Time limit of a turn, s.
const MAX_TURN: f64 = 30.0;
/// Time in which joints that should have arrived still may do so, s.
const ARRIVAL_TIME: f64 = 3.0;
/// Distance of a joint from its goal at which it has arrived, rad: a loaded arm gives way.
const ARRIVED: f64 = 0.15;
/// Distance between the open fingers, and how much each radian of the gripper's joint closes them, mm
/// (urdf/turtlebot2_widowx.urdf).
const OPEN_MM: f64 = 37.0;
const CLOSING_MM: f64 = 14.8;
/// Distances between the fingers with a cube of 30 mm between them, mm.
const HELD_MM: [f64; 2] = [25.0, 35.0];
/// Distance from the robot's middle to the cube in the gripper when it is put down, m
/// (launch/config/worlds/laboratory.yaml).
const PUT_AHEAD: f64 = 0.3;
/// Distance from its place at which the cube may be put down, m: the table reaches 0.26 m further on each side.
const PUT_TOLERANCE: f64 = 0.15;
/// Distance by which the odometry may change between two messages, m, and the speed for longer pauses, m/s.
const ODOMETRY_STEP: f64 = 0.1;
const TOP_SPEED: f64 = 0.7;
/// Period of the pose on the console, s.
const POSE_PERIOD: f64 = 2.0;

/// A step of the program.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Step {
    Say(&'static str),
    /// Drive along the line through the start to this x, with this heading.
    Drive {
        x: f64,
        heading: f64,
    },
    /// Turn on the spot to this heading.
    Turn(f64),
    /// Turn on the spot until the cube's position is straight ahead.
    Aim,
    /// Stop the base, and wait, s.
    Stand(f64),
    Command(Joint, f64),
    Speed(Joint, f64),
    Pause(f64),
    Relax(Joint),
    /// Wait until these joints are where they were commanded to.
    Arrive(&'static [Joint]),
    /// The gripper must hold the cube.
    Hold(&'static str),
    /// The cube must be above its place, at the end of the drive to this x.
    Above {
        x: f64,
    },
}

const fn degrees(degrees: f64) -> f64 {
    degrees * PI / 180.0
}

/// The whole program (TurtleBot thesis, 5.2).
const PROGRAM: &[Step] = &[
    Step::Say("to the far table"),
    Step::Drive { x: FAR_TABLE, heading: 0.0 },
    Step::Stand(1.0),
    Step::Aim,
    Step::Stand(0.5),
    Step::Say("grasping the cube"),
    Step::Command(Joint::Biceps, FRAC_PI_2),
    Step::Pause(1.5),
    Step::Command(Joint::Forearm, -FRAC_PI_2),
    Step::Pause(1.5),
    Step::Command(Joint::Arm, 0.0),
    Step::Pause(1.5),
    Step::Speed(Joint::Shoulder, SLOW_SHOULDER),
    Step::Command(Joint::Shoulder, degrees(65.0)),
    // The thesis waits 5 s and continues while the shoulder still moves: 65 degrees take 6.5 s.
    Step::Pause(7.0),
    Step::Speed(Joint::Shoulder, FAST_SHOULDER),
    Step::Command(Joint::Wrist, 0.0),
    Step::Pause(1.5),
    Step::Arrive(&[Joint::Arm, Joint::Shoulder, Joint::Biceps, Joint::Forearm, Joint::Wrist]),
    Step::Command(Joint::Gripper, GRASP),
    Step::Pause(2.0),
    Step::Hold("after grasping"),
    Step::Say("lifting it"),
    Step::Command(Joint::Shoulder, degrees(-15.0)),
    Step::Command(Joint::Forearm, FRAC_PI_2),
    Step::Command(Joint::Biceps, -FRAC_PI_2),
    Step::Command(Joint::Wrist, 0.0),
    Step::Command(Joint::Shoulder, -FRAC_PI_2),
    Step::Pause(1.0),
    Step::Hold("after lifting"),
    Step::Say("turning round"),
    Step::Turn(PI),
    Step::Stand(0.0),
    Step::Say("to the near table"),
    Step::Drive { x: NEAR_TABLE, heading: PI },
    Step::Stand(1.0),
    Step::Hold("at the near table"),
    Step::Above { x: NEAR_TABLE },
    Step::Say("putting the cube down"),
    Step::Command(Joint::Shoulder, degrees(40.0)),
    Step::Command(Joint::Biceps, degrees(50.0)),
    Step::Command(Joint::Forearm, -FRAC_PI_2),
    Step::Pause(2.0),
    Step::Arrive(&[Joint::Shoulder, Joint::Biceps, Joint::Forearm]),
    Step::Hold("above the near table"),
    Step::Command(Joint::Gripper, 0.0),
    Step::Pause(2.0),
    Step::Arrive(&[Joint::Gripper]),
    Step::Say("arm home"),
    Step::Command(Joint::Shoulder, 0.0),
    Step::Command(Joint::Forearm, 0.0),
    Step::Command(Joint::Biceps, 0.0),
    Step::Pause(2.0),
    Step::Relax(Joint::Arm),
    Step::Relax(Joint::Shoulder),
    Step::Relax(Joint::Biceps),
    Step::Relax(Joint::Forearm),
    Step::Relax(Joint::Wrist),
    Step::Say("done"),
];

/// Phase of the reaction to a contact.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Evasion {
    /// Back off, then turn in this direction.
    Retreat(f64),
    /// Turn on the spot: 1 to the left, -1 to the right.
    Turn(f64),
    /// Drive past the obstacle.
    Pass,
}

/// The first application.
#[derive(Debug)]
pub struct Carry {
    /// Index in [`PROGRAM`], and the step's start time; `None` before the first call.
    step: usize,
    since: Option<Duration>,
    /// Contacts during this drive.
    contacts: u32,
    evasion: Option<(Evasion, Duration)>,
    /// The detected table ahead, once seen and once confirmed, and the time of the last processed image.
    sight: Option<Table>,
    table: Option<Table>,
    looked: Option<Duration>,
    printed: Duration,
    /// Last command of each joint, rad.
    commanded: [Option<f64>; Joint::ALL.len()],
    /// The odometry before.
    last: Option<Stamped<Pose>>,
    finished: Option<Status>,
}

impl Default for Carry {
    fn default() -> Self {
        Self::new()
    }
}

impl Carry {
    /// At the beginning of the program.
    pub fn new() -> Self {
        Self {
            step: 0,
            since: None,
            contacts: 0,
            evasion: None,
            sight: None,
            table: None,
            looked: None,
            printed: Duration::ZERO,
            commanded: [None; Joint::ALL.len()],
            last: None,
            finished: None,
        }
    }

    fn advance(&mut self, seen: &Observation<'_>, actions: &mut Vec<Action>) -> Result<bool, Failure> {
        if let Some(refusal) = seen.refusal {
            return Err(Failure::Refused(refusal.to_owned()));
        }
        let begun = *self.since.get_or_insert(seen.now);
        let pose = fresh(seen.sound_odometry(), begun, seen.now, "/odom")?;
        let contacts = fresh(seen.contacts, begun, seen.now, "/mobile_base/sensors/core")?;
        let (Some(pose), Some(contacts)) = (pose, contacts) else { return Ok(false) };
        if contacts.wheel_drop {
            return Err(Failure::WheelDrop);
        }
        self.follow(seen.sound_odometry())?;
        while let Some(&step) = PROGRAM.get(self.step) {
            let since = *self.since.get_or_insert(seen.now);
            let elapsed = seen.now.saturating_sub(since).as_secs_f64();
            let is_done = match step {
                Step::Say(text) => {
                    actions.push(Action::Say(text.to_owned()));
                    true
                }
                Step::Drive { x, heading } => self.drive(x, heading, pose, contacts, seen, actions)?,
                Step::Aim => self.aim(pose, elapsed, actions)?,
                Step::Turn(heading) => {
                    (self.sight, self.table) = (None, None);
                    turn(heading, pose, elapsed, actions)?
                }
                Step::Stand(seconds) => {
                    actions.push(Action::Velocity(Twist::ZERO));
                    elapsed >= seconds
                }
                Step::Command(joint, position) => {
                    if let Some(commanded) = self.commanded.get_mut(joint as usize) {
                        *commanded = Some(position);
                    }
                    actions.push(Action::Command(joint, position));
                    true
                }
                Step::Speed(joint, speed) => {
                    actions.push(Action::SetSpeed(joint, speed));
                    true
                }
                Step::Relax(joint) => {
                    actions.push(Action::Relax(joint));
                    true
                }
                Step::Pause(seconds) => elapsed >= seconds,
                Step::Arrive(joints) => self.has_arrived(joints, &seen.joints, since, seen.now)?,
                Step::Hold(when) => is_held(when, &seen.joints, since, seen.now)?,
                Step::Above { x } => {
                    self.check_place(x, pose)?;
                    true
                }
            };
            if !is_done {
                self.print_pose(pose, seen.now, actions);
                return Ok(false);
            }
            self.step += 1;
            self.since = Some(seen.now);
            self.contacts = 0;
            self.evasion = None;
        }
        Ok(true)
    }

    /// Compares the odometry with the one before: after a jump nothing that the program knows is valid.
    fn follow(&mut self, odometry: Option<Stamped<Pose>>) -> Result<(), Failure> {
        let Some((last, now)) = std::mem::replace(&mut self.last, odometry).zip(odometry) else {
            return Ok(());
        };
        let distance = (now.value.x - last.value.x).hypot(now.value.y - last.value.y);
        if distance > ODOMETRY_STEP + TOP_SPEED * now.at.saturating_sub(last.at).as_secs_f64() {
            return Err(Failure::Jumped { distance });
        }
        Ok(())
    }

    /// Whether these joints are where they were commanded to.
    fn has_arrived(
        &self,
        joints: &[Joint],
        measured: &Positions,
        since: Duration,
        now: Duration,
    ) -> Result<bool, Failure> {
        for &joint in joints {
            let Some(goal) = self.commanded.get(joint as usize).copied().flatten() else { continue };
            let Some(position) = measured_since(measured, joint, since, now)? else { return Ok(false) };
            if (position - goal).abs() <= ARRIVED {
                continue;
            }
            if now.saturating_sub(since).as_secs_f64() > ARRIVAL_TIME {
                return Err(Failure::Unreached { joint, position, goal });
            }
            return Ok(false);
        }
        Ok(true)
    }

    /// The cube in the gripper must be above its place, at the end of the drive to `x`.
    fn check_place(&self, x: f64, pose: Pose) -> Result<(), Failure> {
        let direction = pose.heading.cos().signum();
        let [place_x, place_y] = self.cube_place(direction).unwrap_or([x + direction * PUT_AHEAD, 0.0]);
        let (sin, cos) = pose.heading.sin_cos();
        let distance = (pose.x + PUT_AHEAD * cos - place_x).hypot(pose.y + PUT_AHEAD * sin - place_y);
        if distance > PUT_TOLERANCE { Err(Failure::Beside { distance }) } else { Ok(()) }
    }

    /// Prints the robot's pose on the console periodically (figure 5.5).
    fn print_pose(&mut self, pose: Pose, now: Duration, actions: &mut Vec<Action>) {
        if now.saturating_sub(self.printed).as_secs_f64() >= POSE_PERIOD {
            self.printed = now;
            let Pose { x, y, heading } = pose;
            actions.push(Action::Say(format!(
                "x {x:.3} m, y {y:.3} m, heading {:.1} deg",
                heading.to_degrees()
            )));
        }
    }

    /// Position of the cube, behind the front legs of the table. `None` if the table has not been detected.
    fn cube_place(&self, direction: f64) -> Option<[f64; 2]> {
        self.table.map(|Table { legs: [x, y], .. }| [x + direction * CUBE_INSET, y])
    }

    /// Turns to the cube; `true` if it is straight ahead, or its position is unknown.
    fn aim(&mut self, pose: Pose, elapsed: f64, actions: &mut Vec<Action>) -> Result<bool, Failure> {
        let Some([x, y]) = self.cube_place(pose.heading.cos().signum()) else {
            actions.push(Action::Say("table not detected: grasping by odometry only".to_owned()));
            return Ok(true);
        };
        let error = wrap_angle((y - pose.y).atan2(x - pose.x) - pose.heading);
        if error.abs() <= AIM_TOLERANCE {
            return Ok(true);
        }
        if elapsed > MAX_TURN {
            return Err(Failure::TimeOut { what: "the turn to the cube".to_owned(), seconds: MAX_TURN });
        }
        actions.push(Action::Velocity(Twist::new(0.0, AIM_VELOCITY.copysign(error))));
        Ok(false)
    }

    /// One cycle of a drive; `true` at its end.
    fn drive(
        &mut self,
        x: f64,
        heading: f64,
        pose: Pose,
        contacts: Contacts,
        seen: &Observation<'_>,
        actions: &mut Vec<Action>,
    ) -> Result<bool, Failure> {
        let now = seen.now;
        let what = || format!("the way to x = {x} m");
        let since = self.since.unwrap_or(now);
        if now.saturating_sub(since).as_secs_f64() > MAX_DRIVE {
            return Err(Failure::TimeOut { what: what(), seconds: MAX_DRIVE });
        }
        let direction = heading.cos();
        let left = match self.table {
            Some(Table { legs, .. }) => (legs[0] - pose.x) * direction - LEGS_AHEAD,
            None => (x - pose.x) * direction,
        };
        if self.evasion.is_none() && left <= 0.0 {
            return Ok(true);
        }
        if let Some(depth) = seen.depth.filter(|depth| self.looked != Some(depth.at)) {
            self.looked = Some(depth.at);
            if left > LAST_LOOK {
                let expected = [x + direction * LEGS_AHEAD, 0.0];
                self.sight = Table::look(self.sight, depth.value, CameraMount::KINECT, pose, expected);
                let was_known = self.table.is_some();
                self.table = self.sight.filter(|table| table.count >= MIN_LOOKS);
                if let Some(Table { legs: [x, y], .. }) = self.table.filter(|_| !was_known) {
                    actions.push(Action::Say(format!("the legs of the table are at x {x:.3} m, y {y:.3} m")));
                }
            }
        }
        let retreating = matches!(self.evasion, Some((Evasion::Retreat(_) | Evasion::Turn(_), _)));
        if contacts.obstacle() && !retreating {
            self.contacts += 1;
            if self.contacts > MAX_CONTACTS {
                return Err(Failure::Blocked { what: what(), count: self.contacts });
            }
            actions.push(Action::Say(format!(
                "something is in the way at x {:.2} m, y {:.2} m",
                pose.x, pose.y
            )));
            // The wheels have slipped: the measured position of the table is no longer valid.
            (self.sight, self.table) = (None, None);
            // The thesis always turns to the left.
            let side = if contacts.bumpers[0] && !contacts.bumpers[2] { -1.0 } else { 1.0 };
            self.evasion = Some((Evasion::Retreat(side), now));
        }
        if let Some((evasion, began)) = self.evasion {
            let elapsed = now.saturating_sub(began).as_secs_f64();
            self.evasion = match evasion {
                Evasion::Retreat(side) if elapsed >= RETREAT_TIME => Some((Evasion::Turn(side), now)),
                Evasion::Turn(_) if elapsed >= RETREAT_TIME => Some((Evasion::Pass, now)),
                Evasion::Pass if elapsed >= PASS_TIME => None,
                _ => self.evasion,
            };
        }
        let twist = match self.evasion.map(|(evasion, _)| evasion) {
            Some(Evasion::Retreat(_)) => Twist::new(RETREAT_VELOCITY, 0.0),
            Some(Evasion::Turn(side)) => Twist::new(0.0, side * NORMAL_ANGULAR_VELOCITY),
            Some(Evasion::Pass) => Twist::new(LINEAR_VELOCITY, 0.0),
            None => {
                let aside = match self.cube_place(direction) {
                    Some([x, y]) if left < STRAIGHT => wrap_angle((y - pose.y).atan2(x - pose.x) - heading),
                    place => direction * LINE_GAIN * (place.map_or(0.0, |[_, y]| y) - pose.y),
                };
                let aside = aside.clamp(-MAX_LINE_HEADING, MAX_LINE_HEADING);
                let error = wrap_angle(pose.heading - (heading + aside));
                let turn = (-HEADING_GAIN * error.to_degrees()).clamp(-MAX_DRIVING_TURN, MAX_DRIVING_TURN);
                // Large corrections are made on the spot.
                let ahead = if error.abs() > FRAC_PI_2 / 2.0 { 0.0 } else { LINEAR_VELOCITY };
                Twist::new(ahead, turn)
            }
        };
        actions.push(Action::Velocity(twist));
        Ok(false)
    }
}

/// Position of a joint, measured since a step began; `None` before it comes.
fn measured_since(
    measured: &Positions,
    joint: Joint,
    since: Duration,
    now: Duration,
) -> Result<Option<f64>, Failure> {
    fresh(measured.of(joint).filter(|position| position.at >= since), since, now, "/joint_states")
}

/// Whether the fingers are a cube's width apart; `false` until their position is known.
fn is_held(
    when: &'static str,
    measured: &Positions,
    since: Duration,
    now: Duration,
) -> Result<bool, Failure> {
    let Some(position) = measured_since(measured, Joint::Gripper, since, now)? else { return Ok(false) };
    let width_mm = OPEN_MM - CLOSING_MM * position;
    let [least, most] = HELD_MM;
    if (least..=most).contains(&width_mm) { Ok(true) } else { Err(Failure::NotHeld { when, width_mm }) }
}

/// Turns on the spot, slowly near the end; `true` when the heading is reached.
fn turn(heading: f64, pose: Pose, elapsed: f64, actions: &mut Vec<Action>) -> Result<bool, Failure> {
    let error = wrap_angle(heading - pose.heading);
    if error.abs() <= TURN_TOLERANCE {
        return Ok(true);
    }
    if elapsed > MAX_TURN {
        let what = format!("the turn to {:.0} deg", heading.to_degrees());
        return Err(Failure::TimeOut { what, seconds: MAX_TURN });
    }
    let rate = if error.abs() - TURN_TOLERANCE > SLOW_TURN {
        NORMAL_ANGULAR_VELOCITY
    } else {
        SLOW_ANGULAR_VELOCITY
    };
    actions.push(Action::Velocity(Twist::new(0.0, rate.copysign(error))));
    Ok(false)
}

impl Program for Carry {
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
}
