//! The execution of each command.

use dragoman_geometry::{Pose, Twist, compose, is_finite, position, wrap_angle};
use dragoman_neobotix::map::{MAX_COORDINATE, Map};

use super::{Command, Event, MotionMode, Motor, Operation, Platform, PreparedMap, Refusal};
use crate::motion::automatic::Target;
use crate::planning::PlanError;
use crate::replay::{Player, Recording};
use crate::settings::Settings;

impl Platform {
    /// Executes a command, with effect from the next cycle on.
    ///
    /// # Errors
    /// The reason of a refusal. Nothing has changed then, with one exception: a target that cannot be reached, or does
    /// not exist, replaces the last one, and the platform stops.
    pub fn command(&mut self, command: Command) -> Result<(), Refusal> {
        match command {
            Command::Connect => self.connect(),
            Command::Shutdown => self.shut_down(),
            Command::Initialize => self.initialize(),
            Command::SetBrake { motor, applied } => {
                if !applied {
                    self.emergency.check()?;
                }
                let [right, left] = &mut self.switches.brakes;
                *if motor == Motor::Left { left } else { right } = applied;
                // A released brake must not start a motion.
                if applied && self.operation == Operation::Moving {
                    self.interrupt();
                }
                Ok(())
            }
            Command::SetDigitalOutput { board, channel, high } => {
                self.switches.set_output(board, channel, high)
            }
            Command::StartUltrasonic { channels } => {
                self.switches.ultrasonics = channels;
                Ok(())
            }
            Command::StopUltrasonic => {
                self.switches.ultrasonics = 0;
                Ok(())
            }
            Command::Start => self.start(&[Operation::Ready, Operation::Moving]),
            Command::Continue => self.start(&[Operation::Ready, Operation::Broken, Operation::Moving]),
            Command::Break => match self.operation {
                Operation::Moving | Operation::Broken => {
                    self.interrupt();
                    Ok(())
                }
                state => Err(Refusal::WrongState(state)),
            },
            Command::Stop => self.stop(),
            Command::SetMode(mode) => self.set_mode(mode),
            Command::MovePath(frames) if frames.is_empty() => {
                self.may_drive()?;
                Err(self.without_way(Refusal::EmptyPath))
            }
            Command::MovePath(frames) => self.drive(Target::Path(frames)),
            Command::MoveToStation(name) => {
                self.may_drive()?;
                let route = self.area.roadmap.route(position(self.position.pose), &name);
                let route = route.map_err(|error| self.without_way(error.into()))?;
                self.drive(Target::Path(route))
            }
            Command::MoveAbsolute(pose) => self.drive(Target::Pose(pose)),
            Command::MoveRelative(pose) => self.drive(Target::Pose(compose(self.position.pose, pose))),
            Command::MoveWheels { right, left } => {
                let twist = self.settings.drives().twist_of_sides(right, left);
                self.set_velocity(twist, &[MotionMode::Velocity])
            }
            Command::Move(twist) => {
                self.set_velocity(twist, &[MotionMode::Velocity, MotionMode::JoystickSoftware])
            }
            Command::SetMap(map) => self.set_map(map),
            Command::SetRoadmap(roadmap) => {
                roadmap.check()?;
                self.area.roadmap = roadmap;
                Ok(())
            }
            Command::StartMapping => {
                self.position.start_mapping(&self.settings.mapping);
                Ok(())
            }
            Command::ResetMapping => {
                self.position.reset_mapping();
                Ok(())
            }
            Command::StopMapping => {
                if std::mem::take(&mut self.position.is_mapping) {
                    self.find_in_map();
                    self.plan_again();
                }
                Ok(())
            }
            Command::SetPose(pose) => self.set_pose(pose),
            Command::PlaceObstacle(place) => {
                if place.is_some_and(|place| !is_finite(&place)) {
                    return Err(Refusal::NotFinite);
                }
                self.perception.obstacles.place(place);
                Ok(())
            }
            Command::SetProgram(program) => self.set_program(program),
            Command::StartReplay(recording) => self.start_replay(recording),
            Command::SetSettings(settings) => self.set_settings(*settings),
        }
    }

    /// Interrupts the motion; it can be continued.
    fn interrupt(&mut self) {
        self.drive.velocity = None;
        self.enter(Operation::Broken);
    }

    fn connect(&mut self) -> Result<(), Refusal> {
        if !self.base_alive {
            return Err(Refusal::BaseSilent);
        }
        self.connected = true;
        Ok(())
    }

    fn shut_down(&mut self) -> Result<(), Refusal> {
        self.clear_motion();
        self.connected = false;
        self.switches.brakes = [true; 2];
        self.switches.ultrasonics = 0;
        self.enter(Operation::NotInitialized);
        Ok(())
    }

    fn initialize(&mut self) -> Result<(), Refusal> {
        if !self.connected {
            return Err(Refusal::NotConnected);
        }
        if !self.base_alive {
            return Err(Refusal::BaseSilent);
        }
        self.emergency.check()?;
        if self.operation == Operation::NotInitialized {
            self.switches.brakes = [false; 2];
            self.enter(Operation::Ready);
        }
        Ok(())
    }

    fn start(&mut self, from: &[Operation]) -> Result<(), Refusal> {
        self.emergency.check()?;
        if !from.contains(&self.operation) {
            return Err(Refusal::WrongState(self.operation));
        }
        self.start_program()?;
        self.enter(Operation::Moving);
        Ok(())
    }

    fn start_replay(&mut self, recording: Recording) -> Result<(), Refusal> {
        if self.mode != MotionMode::Replay {
            return Err(Refusal::WrongMode(self.mode));
        }
        if self.position.localizer.is_searching() {
            return Err(Refusal::Lost);
        }
        let player = Player::new(recording, self.position.pose)?;
        self.start(&[Operation::Ready, Operation::Moving])?;
        self.drive.player = Some(player);
        Ok(())
    }

    fn stop(&mut self) -> Result<(), Refusal> {
        if self.operation == Operation::NotInitialized {
            return self.initialize();
        }
        if self.operation == Operation::Broken {
            // An emergency stop is left only through its reset.
            self.emergency.check()?;
        }
        self.clear_motion();
        self.enter(Operation::Ready);
        Ok(())
    }

    fn set_mode(&mut self, mode: MotionMode) -> Result<(), Refusal> {
        if self.operation != Operation::Ready {
            return Err(Refusal::WrongState(self.operation));
        }
        if self.mode != mode {
            self.clear_motion();
            self.mode = mode;
            self.event(Event::Mode(mode));
        }
        Ok(())
    }

    fn set_velocity(&mut self, twist: Twist, modes: &[MotionMode]) -> Result<(), Refusal> {
        if !twist.is_finite() {
            return Err(Refusal::NotFinite);
        }
        if !modes.contains(&self.mode) {
            return Err(Refusal::WrongMode(self.mode));
        }
        if self.operation != Operation::Moving {
            return Err(Refusal::WrongState(self.operation));
        }
        self.drive.velocity = Some((twist, self.now));
        Ok(())
    }

    fn may_drive(&self) -> Result<(), Refusal> {
        if self.mode != MotionMode::Automatic {
            return Err(Refusal::WrongMode(self.mode));
        }
        if self.operation != Operation::Moving {
            return Err(Refusal::WrongState(self.operation));
        }
        Ok(())
    }

    /// Checks whether the platform would accept a target; does not plan.
    ///
    /// # Errors
    /// The reason of a refusal.
    pub fn would_drive(&self, target: &Target) -> Result<(), Refusal> {
        self.may_drive()?;
        check(target)?;
        let body = self.settings.footprint;
        match target.poses().last() {
            None => Err(Refusal::EmptyPath),
            Some(&goal) if self.area.map.forbids(&body.at(goal)) => Err(PlanError::CollisionTarget.into()),
            Some(_) => Ok(()),
        }
    }

    fn drive(&mut self, target: Target) -> Result<(), Refusal> {
        self.may_drive()?;
        self.begin(target)
    }

    /// There is no way to a target: the motion to the last one ends, and the status says so.
    pub(super) fn without_way(&mut self, refusal: Refusal) -> Refusal {
        self.drive.refuse();
        refusal
    }

    /// Starts a motion to a target, in any mode.
    pub(super) fn begin(&mut self, target: Target) -> Result<(), Refusal> {
        check(&target)?;
        let target = match target {
            Target::Pose(pose) => Target::Pose(Pose { heading: wrap_angle(pose.heading), ..pose }),
            path => path,
        };
        self.drive.target_reached = false;
        let mut automatic = std::mem::take(&mut self.drive.automatic);
        let begun = automatic.begin(target, &self.situation());
        self.drive.automatic = automatic;
        Ok(begun?)
    }

    /// A motion goes on to its goal, on a path that is planned in the new map.
    fn set_map(&mut self, map: Map) -> Result<(), Refusal> {
        self.set_prepared_map(PreparedMap::new(map, &self.settings)?);
        Ok(())
    }

    /// As [`Command::SetMap`], without the long computation.
    pub fn set_prepared_map(&mut self, prepared: PreparedMap) {
        self.area.set_map(prepared, &self.settings);
        if !self.position.is_mapping {
            self.find_in_map();
        }
        self.perception.obstacles.clear();
        self.plan_again();
    }

    /// Localizes in the map in force, beginning at the last pose.
    fn find_in_map(&mut self) {
        self.position.localizer.set_lines(self.area.lines.clone(), &self.settings.localization);
    }

    fn set_pose(&mut self, pose: Pose) -> Result<(), Refusal> {
        check(&Target::Pose(pose))?;
        self.perception.obstacles.clear();
        let pose = Pose { heading: wrap_angle(pose.heading), ..pose };
        self.position.place(pose, &self.settings.localization);
        self.plan_again();
        Ok(())
    }

    fn set_settings(&mut self, settings: Settings) -> Result<(), Refusal> {
        settings.check()?;
        self.drive.ramp.set_limits(settings.limits).map_err(crate::settings::SettingsError::from)?;
        if !settings.planning.has_grid_of(&self.settings.planning) {
            self.area.lay_out(&settings);
        }
        let has_paths = settings.has_paths_of(&self.settings);
        self.settings = settings;
        if !has_paths {
            self.plan_again();
        }
        Ok(())
    }

    /// After a change of the map, the pose or the settings: a motion goes on to its goal, on another path.
    fn plan_again(&mut self) {
        let mut automatic = std::mem::take(&mut self.drive.automatic);
        let event = automatic.plan_again(&self.situation());
        self.drive.automatic = automatic;
        if let Some(event) = event {
            self.moved(event);
        }
    }
}

/// Checks that all numbers of a target are finite, and not too large to count with.
fn check(target: &Target) -> Result<(), Refusal> {
    if !target.poses().iter().all(Pose::is_finite) {
        return Err(Refusal::NotFinite);
    }
    let is_near = |pose: &Pose| position(*pose).coords.amax() <= MAX_COORDINATE;
    if target.poses().iter().all(is_near) { Ok(()) } else { Err(Refusal::TooFar) }
}
