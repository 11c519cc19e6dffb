//! The robot in its world on virtual time: the drivers of base and arm, the simulated devices at the other ends of their lines, and
//! the world, stepped by milliseconds. What a program sees and does here is what it sees and does in ROS.

use std::time::Duration;

use dragoman_base::kobuki::driver::{Config, Driver};
use dragoman_base::kobuki::wire::{Bumpers, Cliffs};
use dragoman_base::motion::Pose;
use dragoman_sim::kobuki::Noise;
use dragoman_sim::serial::SerialDevice;
use dragoman_sim::world::View;
use dragoman_sim::{Kobuki, KobukiSettings, Worlds};

use crate::navigate::DepthImage;
use crate::program::{Action, Contacts, Observation, Program, Stamped, Status};

/// Name of the robot in the scenes.
pub const ROBOT: &str = "turtlebot2_widowx";
/// Name of its camera.
const CAMERA: &str = "kinect";

/// How often the program is called: with each message of the odometry, ms.
const PROGRAM_PERIOD: u64 = 20;
/// How often devices and world are brought together, ms.
const EXCHANGE_PERIOD: u64 = 10;
/// Rows of a depth image that a program gets are this far apart, as in ROS.
const ROW_STEP: usize = 16;
/// Time between two depth images, ms.
const DEPTH_PERIOD: u64 = 100;

/// How a run differs from others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LabSettings {
    /// Of all noise.
    pub seed: u64,
    /// Noise of the gyro.
    pub noise: Noise,
    /// Where the robot starts, seen from where the scene has it.
    pub start: Pose,
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// [`Status::Running`] where the time was over.
    pub status: Status,
    /// Virtual time that it took.
    pub time: Duration,
    /// What it said, and when.
    pub said: Vec<(Duration, String)>,
    /// What the robot has touched, each once.
    pub touched: Vec<String>,
}

/// The robot in a scene.
pub struct VirtualLab {
    worlds: Worlds,
    kobuki: Kobuki,
    base: Driver,
    /// Milliseconds since the start.
    now: u64,
    depth: Option<Stamped<DepthImage>>,
    view: View,
    image: dragoman_sim::world::DepthImage,
    touched: Vec<String>,
}

/// Why there is no lab.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LabError {
    /// The scene is none.
    #[error(transparent)]
    Scene(#[from] dragoman_sim::LoadError),
    /// The robot is not in the scene, or cannot stand where it starts.
    #[error(transparent)]
    World(#[from] dragoman_sim::WorldError),
    /// The robot cannot stand where it starts.
    #[error("the robot cannot stand at x {} m, y {} m", .0.x, .0.y)]
    Start(Pose),
    /// The driver's options.
    #[error(transparent)]
    Base(#[from] dragoman_base::kobuki::driver::ConfigError),
}

impl VirtualLab {
    /// The robot in a scene, a YAML file of `dragoman_sim`.
    ///
    /// # Errors
    /// The scene is none, or has no such robot.
    pub fn new(scene: &str, settings: LabSettings) -> Result<Self, LabError> {
        let mut worlds = Worlds::from_yaml(scene, &|name| Err(format!("{name} is not part of the scene")))?;
        worlds.reseed(settings.seed);
        let [x, y, z, heading] = worlds.location_m_robot(None, ROBOT)?;
        let start = settings.start;
        if !worlds.place_m_robot(
            None,
            ROBOT,
            [x + start.x, y + start.y, z + 0.01],
            heading + start.heading,
        )? {
            return Err(LabError::Start(start));
        }
        let kobuki =
            KobukiSettings { noise: settings.noise, seed: settings.seed, ..KobukiSettings::default() };
        let mut base = Driver::new(Config::default())?;
        base.opened(Duration::ZERO);
        Ok(Self {
            worlds,
            kobuki: Kobuki::new(kobuki),
            base,
            now: 0,
            depth: None,
            view: View::default(),
            image: dragoman_sim::world::DepthImage::default(),
            touched: Vec::new(),
        })
    }

    /// The world, for its truth.
    pub fn worlds(&mut self) -> &mut Worlds {
        &mut self.worlds
    }

    /// Virtual time since the start.
    pub fn now(&self) -> Duration {
        Duration::from_millis(self.now)
    }

    /// Where the odometry says that the robot is.
    pub fn odometry(&self) -> Pose {
        self.base.state().pose
    }

    /// Runs a program to its end, or until `limit` is over.
    ///
    /// # Errors
    /// The world refuses a motion.
    pub fn run(&mut self, program: &mut impl Program, limit: Duration) -> Result<Run, LabError> {
        let (began, mut said, mut status) = (self.now(), Vec::new(), Status::Running);
        let mut actions = Vec::new();
        while status == Status::Running && self.now() - began < limit {
            self.step(program.wants_depth())?;
            if !self.now.is_multiple_of(PROGRAM_PERIOD) {
                continue;
            }
            let state = self.base.state();
            let now = self.now();
            let contacts = state.sensors.core.map(|core| Contacts {
                bumpers: [Bumpers::LEFT, Bumpers::CENTER, Bumpers::RIGHT]
                    .map(|side| core.bumpers.contains(side)),
                cliff: core.cliffs.intersects(Cliffs::all()),
                wheel_drop: !core.wheel_drops.is_empty(),
            });
            let heard = state.heard.unwrap_or_default();
            let seen = Observation {
                now,
                odometry: state.alive.then_some(Stamped { at: heard, value: state.pose }),
                contacts: contacts.map(|value| Stamped { at: heard, value }),
                depth: self.depth.as_ref().map(|depth| Stamped { at: depth.at, value: &depth.value }),
                refusal: None,
            };
            status = program.step(&seen, &mut actions);
            for action in actions.drain(..) {
                match action {
                    Action::Velocity(twist) => {
                        // Refused where the base is not heard yet: the next one counts.
                        if let Ok(bytes) = self.base.command(now, twist) {
                            self.kobuki.receive(now, bytes);
                        }
                    }
                    Action::Say(text) => said.push((now, text)),
                    Action::Command(..) | Action::SetSpeed(..) | Action::Relax(..) => {}
                }
            }
        }
        Ok(Run { status, time: self.now() - began, said, touched: self.touched.clone() })
    }

    /// One millisecond.
    fn step(&mut self, with_depth: bool) -> Result<(), LabError> {
        self.now += 1;
        let now = self.now();
        self.kobuki.advance(now);
        while let Some(packet) = self.kobuki.transmit() {
            let mut bytes = packet.as_slice();
            while self.base.receive(now, &mut bytes) {}
        }
        self.base.poll(now);
        let bytes = self.base.transmit();
        self.kobuki.receive(now, bytes);
        while self.base.poll_event().is_some() {}
        if self.now.is_multiple_of(EXCHANGE_PERIOD) {
            self.exchange()?;
        }
        if with_depth && self.now.is_multiple_of(DEPTH_PERIOD) {
            self.worlds.look(None, CAMERA, &mut self.view)?;
            self.view.depth(&mut self.image);
            let value = some_rows(&self.image);
            self.depth = Some(Stamped { at: now, value });
        }
        Ok(())
    }

    fn exchange(&mut self) -> Result<(), LabError> {
        let twist = self.kobuki.twist();
        let moved = self.worlds.move_m_robot(
            None,
            ROBOT,
            [twist.linear, twist.angular],
            EXCHANGE_PERIOD as f64 * 1e-3,
        )?;
        self.kobuki.inputs.bumpers.center = !moved;
        if !moved && !self.touched.iter().any(|name| name == "something") {
            self.touched.push("something".to_owned());
        }
        Ok(())
    }
}

/// The rows of an image that a program looks at.
fn some_rows(image: &dragoman_sim::world::DepthImage) -> DepthImage {
    let (width, height) = (image.width(), image.height());
    let rows = image.depths().chunks_exact(width.max(1)).enumerate();
    let rows = rows.skip(height / 2 % ROW_STEP).step_by(ROW_STEP);
    DepthImage { width, height, rows: rows.map(|(row, depths)| (row, depths.to_vec())).collect() }
}
