//! Checks of a program.

use std::collections::BTreeSet;

use dragoman_text::{excerpt, hint};

use super::element::{Node, similar_known_name};
use super::map::COORDINATE_LIMIT;
use super::{
    Condition, Document, DocumentError, Element, Extra, Motion, MotionAction, MoveTo, Parameter, Position,
    Problem, Program, Roadmap, SetTarget, Step, TargetPlace, Task, Wait, WaitEvent, check_names, check_range,
    report,
};
use crate::codes::ParameterType;
use crate::parameters::{ParameterError, declaration};
use crate::program::{MAX_INSTRUCTIONS, MAX_TASKS};

/// Maximum charge to wait for, %; a higher charge is never reached.
const MAX_CHARGE: f64 = 1000.0;

impl Document for Program {
    const ROOT: &'static str = "program";

    fn check(&self) -> Vec<DocumentError> {
        let mut errors = Vec::new();
        let tasks = crate::program::Program::from(self).tasks;
        let instructions: usize = tasks.iter().map(|task| task.instructions.len()).sum();
        for (what, found, maximum) in
            [("tasks", tasks.len(), MAX_TASKS), ("instructions", instructions, MAX_INSTRUCTIONS)]
        {
            if found > maximum {
                report(&mut errors, self.position, Problem::TooMany { what, found, maximum });
            }
        }
        let names = self.tasks.iter().map(|task| (task.name.as_str(), task.position));
        let tasks = check_names("task", names, &mut errors);
        let ids = self.tasks.iter().filter_map(|task| Some((task.id.as_deref()?, task.position)));
        check_names("task with the id", ids, &mut errors);
        self.tasks.iter().for_each(|task| check_task(task, &tasks, &mut errors));
        errors
    }
}

impl Program {
    /// Errors for targets whose stations are missing in the roadmap.
    pub fn check_stations(&self, roadmap: &Roadmap) -> Vec<DocumentError> {
        let mut errors = Vec::new();
        let stations: BTreeSet<&str> =
            roadmap.stations.stations.iter().map(|station| station.name.as_str()).collect();
        for step in self.tasks.iter().flat_map(|task| &task.steps) {
            if let Step::Motion(Motion { action: Some(MotionAction::SetTarget(target)), .. }) = step
                && let Some(TargetPlace::Station(station)) = &target.place
                && !stations.contains(station.name.as_str())
            {
                let hint = hint(&station.name, stations.iter().copied());
                let problem = Problem::NoStation { name: station.name.clone(), hint };
                report(&mut errors, station.position, problem);
            }
        }
        errors
    }

    /// Parts that are kept without effect, with their positions: `for` of a wait, which the guide does not explain.
    pub fn without_effect(&self) -> Vec<(Position, String)> {
        let waits = self.tasks.iter().flat_map(|task| &task.steps).filter_map(|step| match step {
            Step::Wait(wait) => Some((wait.position, wait.wait_for.as_ref()?)),
            _ => None,
        });
        waits
            .map(|(position, value)| {
                (position, format!("for=\"{}\" of <wait> has no effect", excerpt(value)))
            })
            .collect()
    }
}

fn check_task(task: &Task, tasks: &BTreeSet<&str>, errors: &mut Vec<DocumentError>) {
    let labels = task.steps.iter().filter_map(|step| match step {
        Step::Label(label) => Some((label.name.as_str(), label.position)),
        _ => None,
    });
    let labels = check_names("label", labels, errors);
    let check_label = |name: &str, position, errors: &mut Vec<DocumentError>| {
        if !labels.contains(name) {
            report(errors, position, Problem::Missing { what: "label", name: name.to_owned() });
        }
    };
    for step in &task.steps {
        match step {
            Step::Goto(goto) => {
                check_label(&goto.label, goto.position, errors);
                if let Some(Condition::Parameter(key)) = &goto.condition {
                    check_condition(key, goto.position, errors);
                }
            }
            Step::Parameter(Parameter { set, .. }) => {
                let error = match declaration(&set.key) {
                    Some(known) => known.parse(&set.value).err(),
                    None => Some(ParameterError::Unknown { key: set.key.clone() }),
                };
                error.into_iter().for_each(|error| report(errors, set.position, Problem::Parameter(error)));
            }
            Step::Wait(wait) => {
                if let Some(label) = &wait.timeout_label {
                    check_label(label, wait.position, errors);
                }
                check_wait(wait, errors);
            }
            Step::Motion(motion) => check_motion(motion, tasks, errors),
            Step::TurnHead(turn) => {
                check_range("an angle in degrees", turn.angle_deg, [-360.0, 360.0], turn.position, errors);
            }
            Step::Surveillance(one) if one.action.is_none() => {
                needs_action("surveillance", "grab or movecamera", &one.extra, one.position, errors);
            }
            Step::Audio(one) if one.action.is_none() => {
                needs_action("audio", "speak or play", &one.extra, one.position, errors);
            }
            Step::Unknown(element) => unknown(element, &names::<Step>(), errors),
            Step::IoEvent(_) | Step::Label(_) | Step::Load(_) | Step::Log(_) => {}
            Step::Surveillance(_) | Step::Audio(_) => {}
        }
    }
}

/// A condition must be the key of a Boolean parameter.
fn check_condition(key: &str, position: Position, errors: &mut Vec<DocumentError>) {
    if declaration(key).is_none_or(|known| known.kind() != ParameterType::Boolean) {
        report(errors, position, Problem::Missing { what: "Boolean parameter", name: key.to_owned() });
    }
}

fn unknown(element: &Element, known: &[&'static str], errors: &mut Vec<DocumentError>) {
    let hint = similar_known_name(&element.name, known);
    report(errors, element.position, Problem::Unknown { element: element.name.clone(), hint });
}

/// The names of the elements of a choice.
fn names<T: Node>() -> Vec<&'static str> {
    let mut names = Vec::new();
    T::names(&mut names);
    names
}

/// Checks that a command has an action that the guide defines.
fn needs_action(
    element: &str,
    child: &'static str,
    extra: &Extra,
    position: Position,
    errors: &mut Vec<DocumentError>,
) {
    match extra.elements.first() {
        Some(other) => unknown(other, &child.split(" or ").collect::<Vec<_>>(), errors),
        None => {
            let (element, hint) = (element.to_owned(), String::new());
            let problem = Problem::Children { element, child, expected: "one", found: 0, hint };
            report(errors, position, problem);
        }
    }
}

fn check_motion(motion: &Motion, tasks: &BTreeSet<&str>, errors: &mut Vec<DocumentError>) {
    match &motion.action {
        Some(MotionAction::SetTarget(SetTarget { place: None, extra, position })) => {
            needs_action("settarget", "coord or station", extra, *position, errors);
        }
        Some(MotionAction::SetTarget(SetTarget {
            place: Some(TargetPlace::Coordinates(target)), ..
        })) => {
            for coordinate in [target.x_mm, target.y_mm] {
                let limits = [-COORDINATE_LIMIT, COORDINATE_LIMIT];
                check_range("a coordinate in mm", coordinate, limits, target.position, errors);
            }
            check_range("an angle in degrees", target.angle_deg, [-360.0, 360.0], target.position, errors);
        }
        Some(MotionAction::SetTarget(SetTarget { place: Some(TargetPlace::Station(_)), .. })) => {}
        Some(MotionAction::MoveTo(MoveTo { target, on_error_task, extra, position })) => {
            if target.is_none() {
                needs_action("moveto", "target", extra, *position, errors);
            }
            if let Some(name) = on_error_task.as_deref().filter(|name| !tasks.contains(name)) {
                report(errors, *position, Problem::Missing { what: "task", name: name.to_owned() });
            }
        }
        None if motion.stop.is_none() => {
            needs_action("motion", "settarget or moveto", &motion.extra, motion.position, errors);
        }
        None => {}
    }
}

fn check_wait(wait: &Wait, errors: &mut Vec<DocumentError>) {
    if wait.events.is_empty() && wait.timeout_ms.is_none_or(|timeout| timeout <= 0) {
        report(errors, wait.position, Problem::WaitsForNothing);
    }
    for event in &wait.events {
        match event {
            WaitEvent::Date(date) if !date.is_possible() => report(errors, date.position, Problem::NoDate),
            WaitEvent::Random(random) => {
                let [min, max] = [random.min_ms, random.max_ms].map(|ms| ms as f64);
                check_range("the minimum time in ms", min, [0.0, max], random.position, errors);
            }
            WaitEvent::BatteryCharge(charge) => {
                check_range("the charge", charge.limit, [0.0, MAX_CHARGE], charge.position, errors);
            }
            WaitEvent::Unknown(element) => unknown(element, &names::<WaitEvent>(), errors),
            _ => {}
        }
    }
}
