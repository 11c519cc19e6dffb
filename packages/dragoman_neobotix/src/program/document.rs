//! Converts programs from documents, whose units are milliseconds, millimetres, degrees, and percent of a battery's
//! charge.

use std::time::Duration;

use crate::documents::{
    self, AudioAction, MotionAction, MoveTarget, OutputState, Step, SurveillanceAction, TargetPlace,
    WaitEvent,
};
use crate::parameters::declaration;
use dragoman_geometry::{Pose, wrap_angle};

use super::{Awaited, Condition, Date, Effect, Instruction, Movement, Program, Task, TrackedObject};

/// Omits elements that the PlatformCtrl guide does not have; [`check`](documents::Document::check) of the document
/// refuses them.
impl From<&documents::Program> for Program {
    fn from(document: &documents::Program) -> Self {
        let tasks = document.tasks.iter().map(|task| {
            let of_step = |(index, step)| instructions(step).into_iter().map(move |one| (index, one));
            let (steps, instructions) = task.steps.iter().enumerate().flat_map(of_step).unzip();
            let priority = task.priority.unwrap_or_default();
            Task { name: task.name.clone(), priority, instructions, steps }
        });
        Self { tasks: tasks.collect() }
    }
}

/// The instructions of a step: two at most.
fn instructions(step: &Step) -> Vec<Instruction> {
    let effect = |effect| vec![Instruction::Do(effect)];
    match step {
        Step::IoEvent(event) => {
            let outputs = event.digital_out.outputs.0.map(|output| match output {
                OutputState::Unchanged => None,
                OutputState::Off => Some(false),
                OutputState::On => Some(true),
            });
            effect(Effect::SetOutputs(outputs))
        }
        Step::Goto(goto) => {
            let condition = match &goto.condition {
                None => Condition::Constant(true),
                Some(documents::Condition::Constant(holds)) => Condition::Constant(*holds),
                // The key as in the table: the document may have other blanks in it.
                Some(documents::Condition::Parameter(key)) => Condition::Parameter(
                    declaration(key).map_or_else(|| key.clone(), |declared| declared.key.to_owned()),
                ),
            };
            vec![Instruction::Goto { label: goto.label.clone(), condition }]
        }
        Step::Label(label) => vec![Instruction::Label(label.name.clone())],
        Step::Load(load) => effect(Effect::Load { map: load.map.clone(), roadmap: load.roadmap.clone() }),
        Step::Log(log) => {
            effect(Effect::Log { kind: log.kind.clone().unwrap_or_default(), message: log.message.clone() })
        }
        Step::Motion(motion) => {
            let stop = motion.stop.is_some_and(|stop| stop.0).then_some(Movement::Stop);
            stop.into_iter().chain(motion.action.as_ref().and_then(movement)).map(Instruction::Move).collect()
        }
        Step::Parameter(parameter) => effect(Effect::SetParameter {
            key: parameter.set.key.clone(),
            value: parameter.set.value.clone(),
        }),
        Step::Surveillance(surveillance) => match &surveillance.action {
            Some(SurveillanceAction::Grab(grab)) => effect(Effect::Grab {
                file_name: grab.file_name.clone(),
                scan: grab.is_grabbing_scan.unwrap_or_default(),
                image: grab.is_grabbing_image.unwrap_or_default(),
                observe: grab.is_observing,
            }),
            Some(SurveillanceAction::MoveCamera(camera)) => {
                effect(Effect::MoveCamera(camera.position_text.clone()))
            }
            None => Vec::new(),
        },
        Step::Audio(audio) => match &audio.action {
            Some(AudioAction::Speak(speak)) => effect(Effect::Speak(speak.text.clone())),
            Some(AudioAction::Play(play)) => effect(Effect::Play(play.file_name.clone())),
            None => Vec::new(),
        },
        Step::TurnHead(head) => effect(Effect::TurnHead(head.angle_deg.to_radians())),
        Step::Wait(wait) => {
            let timeout = wait.timeout_ms.and_then(|time| u64::try_from(time).ok()).filter(|&time| time > 0);
            vec![Instruction::Wait {
                events: wait.events.iter().filter_map(awaited).collect(),
                timeout: timeout.map(Duration::from_millis),
                timeout_label: wait.timeout_label.clone(),
            }]
        }
        Step::Unknown(_) => Vec::new(),
    }
}

fn movement(action: &MotionAction) -> Option<Movement> {
    match action {
        MotionAction::SetTarget(target) => match target.place.as_ref()? {
            TargetPlace::Coordinates(place) => {
                let heading = wrap_angle(place.angle_deg.to_radians());
                Some(Movement::Pose(Pose::new(place.x_mm / 1000.0, place.y_mm / 1000.0, heading)))
            }
            TargetPlace::Station(station) => Some(Movement::Station(station.name.clone())),
        },
        MotionAction::MoveTo(move_to) => {
            let object = match move_to.target.as_ref()? {
                MoveTarget::TrackedPerson(_) => TrackedObject::Person,
                MoveTarget::TrackedBall(_) => TrackedObject::Ball,
                MoveTarget::TrackedMovingObject(_) => TrackedObject::MovingObject,
                MoveTarget::ChargingStation(_) => TrackedObject::ChargingStation,
            };
            Some(Movement::After { object, on_error: move_to.on_error_task.clone() })
        }
    }
}

fn awaited(event: &WaitEvent) -> Option<Awaited> {
    Some(match event {
        WaitEvent::Collision(_) => Awaited::Collision,
        WaitEvent::MovingObject(_) => Awaited::MovingObject,
        WaitEvent::Person(_) => Awaited::Person,
        WaitEvent::Ball(_) => Awaited::Ball,
        WaitEvent::LostLocalization(_) => Awaited::LocalizationLost,
        WaitEvent::Target(_) => Awaited::Target,
        WaitEvent::Infrared(infrared) => Awaited::Infrared(infrared.direction.clone()),
        WaitEvent::Radar(radar) => Awaited::Radar(radar.direction.clone()),
        WaitEvent::Date(date) => Awaited::Date(Date {
            year: date.year,
            month: date.month,
            day: date.day,
            hour: date.hour,
            minute: date.minute,
            second: date.second,
        }),
        WaitEvent::Delay(delay) => Awaited::Delay(Duration::from_millis(delay.amount_ms)),
        WaitEvent::UserEvent(event) => Awaited::UserEvent(event.id.clone()),
        WaitEvent::Random(random) => {
            Awaited::Random(Duration::from_millis(random.min_ms), Duration::from_millis(random.max_ms))
        }
        WaitEvent::BatteryCharge(battery) => Awaited::BatteryCharge(battery.limit / 100.0),
        WaitEvent::Unknown(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use crate::documents::Document;

    use super::*;

    #[test]
    fn a_document_becomes_a_program_that_can_be_run() {
        let text = br#"<program version="1.0"><task name="drive" priority="3" version="1.0">
            <label name="again"/>
            <ioevent><digitalout D1="1" D3="0"/></ioevent>
            <motion stop="1"><settarget><coord x="1500" y="-250" angle="90"/></settarget></motion>
            <wait timeoutlabel="again" timeout="30000"><target/><userevent id="u"/></wait>
            <motion><moveto onErrorTask="help"><chargingstation/></moveto></motion>
            <wait timeout="0"><batterycharge limit="80"/><random min="100" max="200"/></wait>
            <turnhead angle="-45"/>
            <goto label="again" condition="false"/>
            <goto label="again" condition="SirenEnabled"/>
        </task><task name="help" version="1.0"><audio><speak text="help"/></audio></task></program>"#;
        let program = Program::from(&documents::Program::read(text).unwrap());
        assert_eq!(program.check(), Ok(()));
        let quarter = std::f64::consts::FRAC_PI_2;
        let mut outputs = [None; 12];
        (outputs[0], outputs[2]) = (Some(true), Some(false));
        let label = || "again".to_owned();
        let wanted = vec![
            Instruction::Label(label()),
            Instruction::Do(Effect::SetOutputs(outputs)),
            Instruction::Move(Movement::Stop),
            Instruction::Move(Movement::Pose(Pose::new(1.5, -0.25, quarter))),
            Instruction::Wait {
                events: vec![Awaited::Target, Awaited::UserEvent("u".to_owned())],
                timeout: Some(Duration::from_secs(30)),
                timeout_label: Some(label()),
            },
            Instruction::Move(Movement::After {
                object: TrackedObject::ChargingStation,
                on_error: Some("help".to_owned()),
            }),
            Instruction::Wait {
                events: vec![
                    Awaited::BatteryCharge(0.8),
                    Awaited::Random(Duration::from_millis(100), Duration::from_millis(200)),
                ],
                timeout: None,
                timeout_label: None,
            },
            Instruction::Do(Effect::TurnHead(-quarter / 2.0)),
            Instruction::Goto { label: label(), condition: Condition::Constant(false) },
            Instruction::Goto { label: label(), condition: Condition::Parameter("SirenEnabled".to_owned()) },
        ];
        assert_eq!(program.tasks[0].instructions, wanted);
        // A step that stops and moves is two instructions.
        assert_eq!(program.tasks[0].steps, [0, 1, 2, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!((program.tasks[0].priority, program.tasks[1].priority), (3, 0));
        assert_eq!(program.tasks[1].instructions, [Instruction::Do(Effect::Speak("help".to_owned()))]);
    }
}
