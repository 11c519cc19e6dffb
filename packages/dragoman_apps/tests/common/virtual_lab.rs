//! The robot in its world on virtual time: the drivers of base and arm, the simulated devices at the other ends of
//! their lines, and the world, in steps of 1 ms. A program has the same inputs and actions as in ROS.

use std::time::Duration;

use dragoman_arm::dynamixel::driver as arm;
use dragoman_base::kobuki::driver as base;
use dragoman_base::kobuki::wire::{Bumpers, Cliffs};
use dragoman_geometry::Pose;
use dragoman_sim::kobuki::Noise;
use dragoman_sim::serial::SerialDevice;
use dragoman_sim::widowx::{Widowx, WidowxSettings};
use dragoman_sim::{Kobuki, KobukiSettings};
use dragoman_world::turtlebot::Turtlebot;
use dragoman_world::{View, Worlds};

use dragoman_apps::depth::{DepthImage, sampled_rows};
use dragoman_apps::program::{Action, Contacts, Joint, Observation, Positions, Program, Stamped, Status};

/// Name of the robot in the scenes.
pub const ROBOT: &str = "turtlebot2_widowx";
/// Name of its arm.
pub const ARM: &str = "widowx";
/// Name of its camera.
const CAMERA: &str = "Kinect";

/// Period of the program, that of the odometry, ms.
const PROGRAM_PERIOD: u64 = 20;
/// Period of the exchange between devices and world, ms.
const EXCHANGE_PERIOD: u64 = 10;
/// Period of the depth images, ms.
const DEPTH_PERIOD: u64 = 100;

/// Settings of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LabSettings {
    /// Seed of all noise.
    pub seed: u64,
    /// Noise of the gyro.
    pub noise: Noise,
    /// Start pose of the robot, relative to the scene.
    pub start: Pose,
}

/// Result of a program.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// [`Status::Running`] if the time limit was reached.
    pub status: Status,
    /// Virtual time that it took.
    pub time: Duration,
    /// Printed texts with their times.
    pub said: Vec<(Duration, String)>,
}

/// The robot in a scene.
pub struct VirtualLab {
    worlds: Worlds,
    robot: Turtlebot,
    kobuki: Kobuki,
    base: base::Driver,
    widowx: Widowx,
    arm: arm::Driver,
    /// Milliseconds since the start.
    now: u64,
    /// The error of a refused command of a joint.
    refusal: Option<String>,
    depth: Option<Stamped<DepthImage>>,
    view: View,
    image: dragoman_world::DepthImage,
}

/// Error creating a lab.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LabError {
    /// The robot is not in the scene, or an error of the world.
    #[error(transparent)]
    World(#[from] dragoman_world::WorldError),
    /// The robot cannot stand at its start pose.
    #[error("the robot cannot stand at x {} m, y {} m", .0.x, .0.y)]
    Start(Pose),
    /// Invalid options of the base's driver.
    #[error(transparent)]
    Base(#[from] base::ConfigError),
    /// Invalid options of the arm's driver.
    #[error(transparent)]
    Arm(#[from] arm::ConfigError),
}

impl VirtualLab {
    /// The robot in a scene.
    ///
    /// # Errors
    /// The scene has no such robot, or it cannot stand at its start pose.
    pub fn new(mut worlds: Worlds, settings: LabSettings) -> Result<Self, LabError> {
        let LabSettings { seed, noise, start } = settings;
        worlds.reseed(seed);
        let [x, y, z, heading] = worlds.location_m_robot(None, ROBOT)?;
        if !worlds.place_m_robot(None, ROBOT, [x + start.x, y + start.y, z], heading + start.heading)? {
            return Err(LabError::Start(start));
        }
        let mut base = base::Driver::new(base::Config::default())?;
        base.handle_connected(Duration::ZERO);
        let mut arm = arm::Driver::new(arm::Config::widowx())?;
        arm.handle_connected(Duration::ZERO);
        Ok(Self {
            robot: Turtlebot::new(&mut worlds, None, ROBOT)?,
            worlds,
            kobuki: Kobuki::new(KobukiSettings { noise, seed, ..KobukiSettings::default() }),
            base,
            widowx: Widowx::new(WidowxSettings { seed, ..WidowxSettings::default() }),
            arm,
            now: 0,
            refusal: None,
            depth: None,
            view: View::default(),
            image: dragoman_world::DepthImage::default(),
        })
    }

    /// The world, with the true state.
    pub fn worlds(&mut self) -> &mut Worlds {
        &mut self.worlds
    }

    /// The simulated base.
    pub fn kobuki(&self) -> &Kobuki {
        &self.kobuki
    }

    /// Virtual time since the start.
    pub fn now(&self) -> Duration {
        Duration::from_millis(self.now)
    }

    /// The robot's pose by odometry.
    pub fn odometry(&self) -> Pose {
        self.base.state().pose
    }

    /// Lets this time pass, as `pause` of the TurtleBot thesis' toolbox.
    ///
    /// # Errors
    /// The world refuses a motion.
    #[allow(dead_code)]
    pub fn wait(&mut self, time: Duration) -> Result<(), LabError> {
        let end = self.now() + time;
        while self.now() < end {
            self.step()?;
        }
        Ok(())
    }

    /// The next message of `/odom` and `/mobile_base/sensors/core`: they come in pairs.
    ///
    /// # Errors
    /// The world refuses a motion.
    #[allow(dead_code)]
    pub fn receive(&mut self) -> Result<(Pose, Contacts), LabError> {
        let before = self.base.state().feedback_frames;
        loop {
            self.step()?;
            let state = self.base.state();
            if let Some(contacts) = contacts(&state).filter(|_| state.feedback_frames != before) {
                return Ok((state.pose, contacts));
            }
        }
    }

    /// The next depth image of the camera.
    ///
    /// # Errors
    /// The world refuses a motion.
    #[allow(dead_code)]
    pub fn receive_depth(&mut self) -> Result<&dragoman_world::DepthImage, LabError> {
        let before = self.depth.as_ref().map(|depth| depth.at);
        while self.depth.as_ref().map(|depth| depth.at) == before {
            self.step()?;
        }
        Ok(&self.image)
    }

    /// Executes an action at once.
    ///
    /// # Errors
    /// The error of a service.
    #[allow(dead_code)]
    pub fn execute(&mut self, action: Action) -> Result<(), String> {
        self.act(action);
        self.refusal.take().map_or(Ok(()), Err)
    }

    /// Runs a program to its end, or until `limit`. `watch` is called after each exchange between devices and world,
    /// every 10 ms.
    ///
    /// # Errors
    /// The world refuses a motion.
    pub fn run(
        &mut self,
        program: &mut impl Program,
        limit: Duration,
        mut watch: impl FnMut(&mut Self),
    ) -> Result<Run, LabError> {
        let (began, mut said, mut status) = (self.now(), Vec::new(), Status::Running);
        let mut actions = Vec::new();
        while status == Status::Running && self.now() - began < limit {
            self.step()?;
            if self.now.is_multiple_of(EXCHANGE_PERIOD) {
                watch(self);
            }
            if self.now.is_multiple_of(PROGRAM_PERIOD) {
                status = self.observe(program, &mut actions);
                for action in actions.drain(..) {
                    if let Action::Say(text) = &action {
                        said.push((self.now(), text.clone()));
                    }
                    self.act(action);
                }
            }
        }
        Ok(Run { status, time: self.now() - began, said })
    }

    fn observe(&mut self, program: &mut impl Program, actions: &mut Vec<Action>) -> Status {
        let state = self.base.state();
        let contacts = contacts(&state);
        let refusal = self.refusal.take();
        let stamp = |at| move |value| Stamped { at, value };
        let mut joints = Positions::default();
        let measured = self.arm.state().joints;
        let measured =
            measured.iter().filter_map(|joint| Some((joint.name.as_str(), joint.motion?.position)));
        joints.take(self.now(), measured);
        let seen = Observation {
            now: self.now(),
            odometry: state.last_received.map(|at| Stamped { at, value: state.pose }),
            contacts: state.last_received.and_then(|at| contacts.map(stamp(at))),
            joints,
            depth: self.depth.as_ref().map(|depth| Stamped { at: depth.at, value: &depth.value }),
            refusal: refusal.as_deref(),
        };
        program.step(&seen, actions)
    }

    fn act(&mut self, action: Action) {
        let now = self.now();
        let outcome = match action {
            Action::Velocity(twist) => {
                // Refused while the base is not connected: the next one counts.
                if let Ok(bytes) = self.base.command(now, twist) {
                    self.kobuki.handle_bytes(now, bytes);
                }
                Ok(())
            }
            // In ROS a refused command has no answer either.
            Action::Command(joint, position) => {
                let _ = self.arm.command(now, index(joint), position);
                Ok(())
            }
            Action::SetSpeed(joint, speed) => self.arm.set_speed(now, index(joint), speed),
            Action::Relax(joint) => self.arm.relax(now, index(joint)),
            Action::Say(_) => Ok(()),
        };
        if let Err(refusal) = outcome {
            self.refusal = Some(refusal.to_string());
        }
    }

    /// One millisecond.
    fn step(&mut self) -> Result<(), LabError> {
        self.now += 1;
        let now = self.now();
        self.kobuki.handle_timeout(now);
        while let Some(packet) = self.kobuki.poll_transmit() {
            let mut bytes = packet.as_slice();
            while self.base.handle_bytes(now, &mut bytes) {}
        }
        self.base.handle_timeout(now);
        self.kobuki.handle_bytes(now, self.base.poll_transmit());
        while self.base.poll_event().is_some() {}

        self.widowx.handle_timeout(now);
        while let Some(packet) = self.widowx.poll_transmit() {
            let mut bytes = packet.as_slice();
            while self.arm.handle_bytes(now, &mut bytes) {}
        }
        self.arm.handle_timeout(now);
        self.widowx.handle_bytes(now, self.arm.poll_transmit());
        while self.arm.poll_event().is_some() {}

        if self.now.is_multiple_of(EXCHANGE_PERIOD) {
            let Self { worlds, robot, kobuki, widowx, .. } = self;
            robot.exchange(worlds, kobuki, Some(widowx))?;
        }
        if self.now.is_multiple_of(DEPTH_PERIOD) {
            self.worlds.look(None, CAMERA, &mut self.view)?;
            self.view.depth(&mut self.image);
            self.depth = Some(Stamped { at: now, value: some_rows(&self.image) });
        }
        Ok(())
    }
}

/// Bumpers, cliff sensors and wheel drops.
fn contacts(state: &base::KobukiState) -> Option<Contacts> {
    state.sensors.core.map(|core| Contacts {
        bumpers: [Bumpers::LEFT, Bumpers::CENTER, Bumpers::RIGHT].map(|side| core.bumpers.contains(side)),
        cliff: core.cliffs.intersects(Cliffs::all()),
        wheel_drop: !core.wheel_drops.is_empty(),
    })
}

/// Index of a joint in the chain of servos.
fn index(joint: Joint) -> usize {
    joint as usize
}

/// The rows of an image that a program uses.
fn some_rows(image: &dragoman_world::DepthImage) -> DepthImage {
    let (width, height) = (image.width(), image.height());
    let row = |row| (row, image.depths()[row * width..][..width].to_vec());
    DepthImage { width, height, rows: sampled_rows(height).map(row).collect() }
}
