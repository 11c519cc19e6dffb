//! The robot in a room, on virtual time.

mod arm;
mod base;
mod description;
mod dock;

use std::time::Duration;

use dragoman_arm::dynamixel::widowx::JOINTS;
use dragoman_arm::dynamixel::wire::{sync_write_words, table};
use dragoman_base::kobuki::wire::{BaseControl, Command};
use nalgebra::Vector3;

use super::*;
use dragoman_sim::kobuki::{KobukiSettings, Noise};
use dragoman_sim::serial::SerialDevice;
use dragoman_sim::widowx::WidowxSettings;

const URDF: &[u8] = include_bytes!("../../../../urdf/turtlebot2_widowx.urdf");
const ROBOT: &str = "turtlebot2_widowx";
const ARM: &str = "widowx";

/// The arm folded, as the first application of the TurtleBot thesis (5.2) carries the cube, and the gripper open.
const FOLDED: [f64; 6] = [0.0, -1.57, -1.57, 1.57, 0.0, 0.0];

/// A floor, the robot at the origin with its arm folded, and `bodies`.
fn room(bodies: &str) -> Worlds {
    let text = format!(
        "worlds:
- name: Room
  bodies:
  - {{name: floor, xyz: [0, 0, -0.05], shapes: [{{box: [20, 20, 0.1]}}]}}
{bodies}
  arms:
  - {{name: {ARM}, on: {ROBOT}, urdf: t.urdf, root_link: arm_base_link, tip_link: tool0, home: {FOLDED:?}}}
  wheeled_robots:
  - name: {ROBOT}
    urdf: t.urdf
    without: [arm_base_link]
    supports: [[0, 0.115], [0, -0.115], [0.115, 0], [-0.135, 0]]
    wheel_radius: 0.035
"
    );
    let mut worlds = Worlds::from_yaml(&text, &|_| Ok(URDF.to_vec())).unwrap();
    worlds.set_as_original(false);
    worlds
}

/// The robot with its base; exchanges every 10 ms.
struct Lab {
    worlds: Worlds,
    kobuki: Kobuki,
    widowx: Widowx,
    robot: Turtlebot,
    now: Duration,
}

impl Lab {
    fn new(bodies: &str) -> Self {
        let mut worlds = room(bodies);
        let robot = Turtlebot::new(&mut worlds, None, ROBOT).unwrap();
        let settings =
            KobukiSettings { noise: Noise::None, boot_time: Duration::ZERO, ..KobukiSettings::default() };
        let widowx = Widowx::new(WidowxSettings { positions: FOLDED, ..WidowxSettings::default() });
        let mut lab = Self { worlds, kobuki: Kobuki::new(settings), widowx, robot, now: Duration::ZERO };
        lab.run(0.1);
        lab
    }

    fn run(&mut self, seconds: f64) {
        let end = self.now + Duration::from_secs_f64(seconds);
        while self.now < end {
            self.now += Duration::from_millis(10);
            self.kobuki.handle_timeout(self.now);
            self.widowx.handle_timeout(self.now);
            self.robot.exchange(&mut self.worlds, &mut self.kobuki, Some(&mut self.widowx)).unwrap();
        }
    }

    /// Drives for a time; repeats the command, as the firmware requires.
    fn drive(&mut self, linear: f64, angular: f64, seconds: f64) {
        let mut bytes = Vec::new();
        Command::BaseControl(BaseControl::from_velocities(linear, angular)).encode_frame(&mut bytes);
        let end = self.now + Duration::from_secs_f64(seconds);
        while self.now < end {
            self.kobuki.handle_bytes(self.now, &bytes);
            self.run(0.1);
        }
    }

    /// Commands all servos, and waits until they have arrived.
    fn arm(&mut self, positions: [f64; 6]) {
        self.arm_for(positions, 3.0);
    }

    fn arm_for(&mut self, positions: [f64; 6], seconds: f64) {
        let goals = JOINTS.iter().zip(positions).map(|(joint, position)| {
            let turn = if joint.is_inverted { -position } else { position };
            let ticks = turn / joint.model.radians_per_tick() + f64::from(joint.model.middle_ticks());
            (joint.id, ticks.round() as u16)
        });
        let mut bytes = Vec::new();
        sync_write_words(&mut bytes, table::GOAL_POSITION.address, goals).unwrap();
        self.widowx.handle_bytes(self.now, &bytes);
        self.run(seconds);
    }

    /// Positions of the arm's joints in the world.
    fn joints(&mut self) -> Vec<f64> {
        self.worlds.robot_joints(None, ARM).unwrap().iter().map(|joint| joint.position).collect()
    }

    fn middle(&mut self, object: &str) -> [f64; 3] {
        self.worlds.pose(None, object).unwrap().translation.vector.into()
    }

    fn stop(&mut self) {
        self.drive(0.0, 0.0, 0.5);
    }

    /// Pose in the world: x, y, z, heading.
    fn place(&mut self) -> [f64; 4] {
        self.worlds.location_m_robot(None, ROBOT).unwrap()
    }

    /// Pose by the wheels: x, y, heading.
    fn odometry(&mut self) -> [f64; 3] {
        self.worlds.odometry(None, ROBOT).unwrap()
    }

    fn bumpers(&self) -> [bool; 3] {
        let FrontSensors { left, center, right } = self.kobuki.inputs.bumpers;
        [left, center, right]
    }

    fn cliffs(&self) -> [bool; 3] {
        let FrontSensors { left, center, right } = self.kobuki.inputs.cliff_adc;
        [left, center, right].map(|value| value < CLIFF_THRESHOLD)
    }
}

fn near(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance, "{a} is not {b} within {tolerance}");
}
