//! Executes a program: conditions are its inputs, actions its outputs.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use dragoman_geometry::Pose;

use super::{
    Awaited, Condition, Date, Effect, Instruction, Movement, Program, ProgramError, Task, TrackedObject,
};

/// Maximum number of instructions of one task in one cycle.
pub const MAX_STEPS: usize = 1000;

/// Conditions for a program.
#[derive(Debug, Clone, Copy, Default)]
pub struct Conditions<'a> {
    /// Time since the start.
    pub now: Duration,
    /// The current date and time; all `None` if unknown.
    pub date: Date,
    /// Whether a motion is in progress.
    pub is_moving: bool,
    /// Whether the last goal is reached.
    pub target_reached: bool,
    /// Whether an obstacle prevents motion.
    pub collision: bool,
    /// Whether localization is lost.
    pub localization_lost: bool,
    /// Whether a moving object is seen.
    pub moving_object: bool,
    /// Whether a person is seen.
    pub person: bool,
    /// Whether a ball is seen.
    pub ball: bool,
    /// Directions in which infrared sensors see something.
    pub infrared: &'a [String],
    /// Directions in which radar sensors see something.
    pub radar: &'a [String],
    /// User events since the last cycle.
    pub user_events: &'a [String],
    /// Battery charge, 0 to 1; `None` if unknown.
    pub battery_charge: Option<f64>,
    /// Whether the documents of an [`Effect::Load`] are still being loaded.
    pub is_loading: bool,
    /// The parameters whose value is true.
    pub true_parameters: &'a [String],
    /// Positions of tracked objects, in the map.
    pub tracked_objects: &'a [(TrackedObject, Pose)],
}

/// Number of a motion of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MotionNumber(u64);

/// An action of a program.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Start this motion, which replaces the last one.
    Move {
        /// Number for [`Interpreter::handle_motion_refused`].
        number: MotionNumber,
        /// The motion.
        movement: Movement,
    },
    /// Carry out an effect.
    Do(Effect),
}

#[derive(Debug)]
struct Running {
    task: Task,
    labels: BTreeMap<String, usize>,
    /// Index of the next instruction; `None`: ended, or not started.
    next: Option<usize>,
    waiting: Option<WaitState>,
    /// Whether it waits for its [`Effect::Load`].
    is_loading: bool,
    /// The step that [`Interpreter::step`] has permitted: its remaining instructions need no further permission.
    permitted: Option<usize>,
}

#[derive(Debug)]
struct WaitState {
    since: Duration,
    /// When each awaited event occurs by itself, if it does.
    due: Vec<Option<Duration>>,
}

/// A motion that was returned.
#[derive(Debug)]
struct Motion {
    number: MotionNumber,
    /// Index of its task.
    task: usize,
    /// The task that starts when the motion fails.
    on_error: Option<String>,
    /// Whether it was returned in this cycle, so that it cannot have started yet.
    is_new: bool,
}

/// A running program.
#[derive(Debug)]
pub struct Interpreter {
    /// The most urgent first.
    tasks: Vec<Running>,
    /// The current motion.
    motion: Option<Motion>,
    /// Motions of the last cycle that were replaced in the same cycle. They can still be refused.
    replaced: Vec<Motion>,
    /// Number of motions until now.
    motions: u64,
    /// Whether a parameter was set in this cycle. Its value has an effect from the next cycle on.
    has_set: bool,
    random: oorandom::Rand64,
}

impl Interpreter {
    /// A program at its beginning. The same `seed` gives the same random waits.
    ///
    /// # Errors
    /// The program is invalid.
    pub fn new(program: Program, seed: u64) -> Result<Self, ProgramError> {
        program.check()?;
        let named: BTreeSet<String> =
            program.tasks.iter().flat_map(|task| task.error_tasks().map(str::to_owned)).collect();
        let mut tasks: Vec<Running> =
            program.tasks.into_iter().map(|task| Running::new(task, &named)).collect();
        tasks.sort_by_key(|running| std::cmp::Reverse(running.task.priority));
        let random = oorandom::Rand64::new(seed.into());
        Ok(Self { tasks, motion: None, replaced: Vec::new(), motions: 0, has_set: false, random })
    }

    /// Whether all tasks have ended.
    pub fn has_ended(&self) -> bool {
        self.tasks.iter().all(|running| running.next.is_none())
    }

    /// The tasks that have not ended, the most urgent first, each with its current step.
    pub fn running(&self) -> impl Iterator<Item = (&str, usize)> {
        self.tasks.iter().filter_map(|running| {
            let at = running.next?;
            Some((running.task.name.as_str(), running.step_of(at)))
        })
    }

    /// For each of the [`running`](Self::running) tasks: whether [`step`](Self::step) has begun the current step, in
    /// which the task waits now.
    pub fn begun(&self) -> impl Iterator<Item = bool> {
        self.tasks.iter().filter_map(|running| {
            let at = running.next?;
            Some(
                running.is_loading
                    || running.waiting.is_some()
                    || running.permitted == Some(running.step_of(at)),
            )
        })
    }

    /// The task whose motion is under way.
    pub fn moving_task(&self) -> Option<&str> {
        let motion = self.motion.as_ref()?;
        self.tasks.get(motion.task).map(|running| running.task.name.as_str())
    }

    /// The current motion has failed.
    pub fn handle_motion_failed(&mut self) {
        if let Some(motion) = self.motion.take() {
            self.start_error_task(motion);
        }
    }

    /// This motion of the last cycle was refused: there is no path, or the object is unknown. A cycle may return several
    /// motions, of which only the last one is the current motion.
    pub fn handle_motion_refused(&mut self, number: MotionNumber) {
        let is_it = |motion: &mut Motion| motion.number == number;
        let replaced = self.replaced.iter_mut().position(is_it).map(|index| self.replaced.swap_remove(index));
        if let Some(motion) = self.motion.take_if(is_it).or(replaced) {
            self.start_error_task(motion);
        }
    }

    fn start_error_task(&mut self, failed: Motion) {
        let Some(name) = failed.on_error else {
            return;
        };
        if let Some(running) = self.tasks.iter_mut().find(|running| running.task.name == name) {
            running.next = Some(0);
            running.waiting = None;
            running.permitted = None;
        }
    }

    /// Runs every task until it waits or ends. An instruction that needs a parameter that was set in this cycle waits
    /// for the next cycle.
    pub fn cycle(&mut self, conditions: &Conditions<'_>) -> Vec<Action> {
        self.advance(conditions, None)
    }

    /// As [`cycle`](Self::cycle), but begins at most this number of steps, of the most urgent tasks that can begin one.
    /// Labels do not count.
    /// A wait that has begun ends by itself; then its task stops before its next step.
    pub fn step(&mut self, conditions: &Conditions<'_>, steps: usize) -> Vec<Action> {
        self.advance(conditions, Some(steps))
    }

    /// `steps`: how many may begin; `None`: any number.
    fn advance(&mut self, conditions: &Conditions<'_>, mut steps: Option<usize>) -> Vec<Action> {
        let mut actions = Vec::new();
        // State and result of the motion apply to the motion that was returned before this cycle.
        if self.motion.as_ref().is_some_and(|motion| !motion.is_new && !conditions.is_moving) {
            self.motion = None;
        }
        if let Some(motion) = &mut self.motion {
            motion.is_new = false;
        }
        self.replaced.clear();
        self.has_set = false;
        for index in 0..self.tasks.len() {
            self.run(index, conditions, &mut steps, &mut actions);
        }
        actions
    }

    fn run(
        &mut self,
        index: usize,
        conditions: &Conditions<'_>,
        steps: &mut Option<usize>,
        actions: &mut Vec<Action>,
    ) {
        let Some(running) = self.tasks.get_mut(index) else { return };
        running.is_loading &= conditions.is_loading;
        // A user event ends one wait of a task; otherwise a loop that waits for it would run many times.
        let mut used_events: Vec<String> = Vec::new();
        for _ in 0..MAX_STEPS {
            let Some(running) = self.tasks.get_mut(index) else { return };
            // The next instructions may need the documents.
            if running.is_loading {
                return;
            }
            let Some(at) = running.next else {
                return;
            };
            let Some(instruction) = running.task.instructions.get(at) else {
                running.next = None;
                return;
            };
            if self.has_set && needs_parameters(instruction) {
                return;
            }
            let step = running.step_of(at);
            match steps {
                Some(left)
                    if running.permitted != Some(step) && !matches!(instruction, Instruction::Label(_)) =>
                {
                    let Some(fewer) = left.checked_sub(1) else {
                        return;
                    };
                    *left = fewer;
                    running.permitted = Some(step);
                }
                _ => {}
            }
            running.next = match instruction {
                Instruction::Label(_) => Some(at + 1),
                Instruction::Goto { label, condition } => {
                    let holds = match condition {
                        Condition::Constant(holds) => *holds,
                        Condition::Parameter(key) => conditions.true_parameters.contains(key),
                    };
                    if holds { running.labels.get(label).copied() } else { Some(at + 1) }
                }
                Instruction::Do(effect) => {
                    running.is_loading = matches!(effect, Effect::Load { .. });
                    self.has_set |= matches!(effect, Effect::SetParameter { .. });
                    actions.push(Action::Do(effect.clone()));
                    Some(at + 1)
                }
                Instruction::Move(movement) => {
                    let movement = movement.clone();
                    if self.is_taken(index) {
                        return;
                    }
                    let number = MotionNumber(self.motions);
                    self.motions += 1;
                    let on_error = match &movement {
                        Movement::After { on_error, .. } => on_error.clone(),
                        _ => None,
                    };
                    let motion = Motion { number, task: index, on_error, is_new: true };
                    let last =
                        std::mem::replace(&mut self.motion, (movement != Movement::Stop).then_some(motion));
                    self.replaced.extend(last.filter(|last| last.is_new));
                    actions.push(Action::Move { number, movement });
                    if let Some(running) = self.tasks.get_mut(index) {
                        running.next = Some(at + 1);
                    }
                    continue;
                }
                Instruction::Wait { events, timeout, timeout_label } => {
                    let waiting = running.waiting.get_or_insert_with(|| {
                        let now = conditions.now;
                        WaitState {
                            since: now,
                            due: events.iter().map(|event| due(event, now, &mut self.random)).collect(),
                        }
                    });
                    let is_new = self.motion.as_ref().is_some_and(|motion| motion.is_new);
                    let mut pairs = events.iter().zip(&waiting.due);
                    let is_used = |event: &Awaited| matches!(event, Awaited::UserEvent(name) if used_events.contains(name));
                    let has_set = self.has_set;
                    let happened = pairs.any(|(event, &due)| {
                        !(is_used(event) || has_set && is_sensed(event))
                            && has_happened(event, due, is_new, conditions)
                    });
                    let over = timeout
                        .is_some_and(|timeout| conditions.now.saturating_sub(waiting.since) >= timeout);
                    let nothing = events.is_empty() && timeout.is_none();
                    if !(happened || over || nothing) {
                        return;
                    }
                    running.waiting = None;
                    if happened {
                        used_events.extend(events.iter().filter_map(|event| match event {
                            Awaited::UserEvent(name) => Some(name.clone()),
                            _ => None,
                        }));
                    }
                    match timeout_label {
                        Some(label) if over && !happened => running.labels.get(label).copied(),
                        _ => Some(at + 1),
                    }
                }
            };
        }
    }

    /// Whether a task with higher priority moves the platform.
    fn is_taken(&self, index: usize) -> bool {
        let priority = |index: usize| self.tasks.get(index).map(|running| running.task.priority);
        self.motion.as_ref().is_some_and(|motion| priority(motion.task) > priority(index))
    }
}

/// Whether an instruction depends on the values of parameters, which may have changed in this cycle.
fn needs_parameters(instruction: &Instruction) -> bool {
    matches!(instruction, Instruction::Goto { condition: Condition::Parameter(_), .. } | Instruction::Move(_))
}

/// Whether parameters decide if an event is sensed. User events and times are the same in any case.
fn is_sensed(event: &Awaited) -> bool {
    match event {
        Awaited::Collision
        | Awaited::MovingObject
        | Awaited::Person
        | Awaited::Ball
        | Awaited::LocalizationLost
        | Awaited::Infrared(_)
        | Awaited::Radar(_) => true,
        Awaited::Target
        | Awaited::Date(_)
        | Awaited::Delay(_)
        | Awaited::UserEvent(_)
        | Awaited::Random(..)
        | Awaited::BatteryCharge(_) => false,
    }
}

impl Running {
    fn new(task: Task, only_on_error: &BTreeSet<String>) -> Self {
        let instructions = task.instructions.iter().enumerate();
        let labels = instructions
            .filter_map(|(index, instruction)| match instruction {
                Instruction::Label(label) => Some((label.clone(), index)),
                _ => None,
            })
            .collect();
        let next = (!only_on_error.contains(&task.name)).then_some(0);
        Self { task, labels, next, waiting: None, is_loading: false, permitted: None }
    }

    /// The step of the document from which an instruction is.
    fn step_of(&self, instruction: usize) -> usize {
        self.task.steps.get(instruction).copied().unwrap_or(instruction)
    }
}

/// When an event occurs by itself.
fn due(event: &Awaited, now: Duration, random: &mut oorandom::Rand64) -> Option<Duration> {
    match event {
        Awaited::Delay(time) => now.checked_add(*time),
        Awaited::Random(least, most) => {
            let span = most.saturating_sub(*least).as_secs_f64() * random.rand_float();
            now.checked_add(*least)?.checked_add(Duration::try_from_secs_f64(span).ok()?)
        }
        _ => None,
    }
}

fn has_happened(event: &Awaited, due: Option<Duration>, is_new: bool, conditions: &Conditions<'_>) -> bool {
    let in_direction = |wanted: &Option<String>, seen: &[String]| match wanted {
        Some(direction) => seen.contains(direction),
        None => !seen.is_empty(),
    };
    match event {
        Awaited::Collision => conditions.collision,
        Awaited::MovingObject => conditions.moving_object,
        Awaited::Person => conditions.person,
        Awaited::Ball => conditions.ball,
        Awaited::LocalizationLost => conditions.localization_lost,
        Awaited::Target => conditions.target_reached && !is_new,
        Awaited::Infrared(direction) => in_direction(direction, conditions.infrared),
        Awaited::Radar(direction) => in_direction(direction, conditions.radar),
        Awaited::Date(date) => conditions.date != Date::default() && date.is_reached(&conditions.date),
        Awaited::Delay(_) | Awaited::Random(..) => due.is_some_and(|due| conditions.now >= due),
        Awaited::UserEvent(name) => conditions.user_events.contains(name),
        Awaited::BatteryCharge(limit) => conditions.battery_charge.is_some_and(|charge| charge >= *limit),
    }
}
