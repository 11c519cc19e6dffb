//! Programs in the remote mode have the same effects as in the Python client, whose tests read the same file.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::time::Duration;

use super::remote::{ChargeSource, Equipment, Observation, Order, Remote};
use super::{Date, Program};
use crate::codes::{MotionMode, Operation, PlannerState};
use crate::documents::{Document, Program as ProgramDocument};
use crate::wire::{Cluster, Command, DebugData, Framing, Message as _, Status};

fn numbers<T: std::str::FromStr<Err: std::fmt::Debug>>(value: &str) -> Vec<T> {
    value.split([',', '-', ':', 'T']).map(|one| one.parse().unwrap()).collect()
}

fn flag(value: &str) -> bool {
    value == "1"
}

/// The inputs of an interpreter.
struct World {
    status: Status,
    debug: DebugData,
    date: Date,
    true_parameters: Vec<String>,
    events: Vec<String>,
}

impl World {
    fn new() -> Self {
        let status = Status {
            operation_state: Operation::Moving.into(),
            motion_mode: MotionMode::Automatic.into(),
            ..Status::default()
        };
        let debug = DebugData::default();
        Self { status, debug, date: Date::default(), true_parameters: Vec::new(), events: Vec::new() }
    }

    /// Changes that the file lists.
    fn see<'a>(&mut self, words: impl Iterator<Item = &'a str>) {
        self.events.clear();
        for word in words {
            let (name, value) = word.split_once('=').unwrap();
            match name {
                "planner" => {
                    let state = match value {
                        "standby" => PlannerState::Standby,
                        "planning" => PlannerState::Planning,
                        "noPath" => PlannerState::NoPath,
                        "pathFound" => PlannerState::PathFound,
                        other => panic!("{other}"),
                    };
                    self.status.planner_state = state.into();
                }
                "reached" => self.status.is_target_reached = flag(value).into(),
                "collision" => self.status.is_colliding = flag(value).into(),
                "lost" => self.status.is_localization_lost = flag(value).into(),
                "infrared" => {
                    for (sensor, seen) in self.status.surveillance.infrared.iter_mut().zip(value.chars()) {
                        *sensor = (seen == '1').into();
                    }
                }
                "radar" => {
                    let speeds: Vec<i32> = value.split(',').map(|speed| speed.parse().unwrap()).collect();
                    self.status.radar_board.velocity_mm_per_s = speeds.try_into().unwrap();
                }
                "person" | "ball" | "moving" => {
                    let (x, y) = value.split_once(',').unwrap();
                    let cluster =
                        Cluster { x_mm: x.parse().unwrap(), y_mm: y.parse().unwrap(), ..Cluster::default() };
                    match name {
                        "person" => self.debug.person_clusters.push(cluster),
                        "ball" => self.debug.ball_clusters.push(cluster),
                        _ => self.debug.moving_clusters.push(cluster),
                    }
                }
                "battery" => self.status.io_board.battery_voltage = value.parse().unwrap(),
                "true" => self.true_parameters.push(value.to_owned()),
                "date" => {
                    let parts = numbers::<u32>(value);
                    let part = |index: usize| parts.get(index).copied();
                    self.date = Date {
                        year: part(0),
                        month: part(1),
                        day: part(2),
                        hour: part(3),
                        minute: part(4),
                        second: part(5),
                    };
                }
                "event" => self.events.push(value.to_owned()),
                other => panic!("{other}"),
            }
        }
    }
}

fn bytes(command: &Command) -> String {
    let message = command.encode(Framing::Bare).unwrap();
    // Without its length.
    message.iter().skip(4).fold("send ".to_owned(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn written(order: &Order) -> String {
    let name = |name: &Option<String>| name.clone().unwrap_or_else(|| "-".to_owned());
    match order {
        Order::Send(command) | Order::Move { command, .. } => bytes(command),
        Order::MotionFailed(_) => "failed".to_owned(),
        Order::Load { map, roadmap } => format!("load {} {}", name(map), name(roadmap)),
        Order::Log { kind, message } => format!("log {kind}: {message}"),
        Order::SaveScan { file_name } => format!("scan {file_name}"),
    }
}

/// The interpreter's outputs in the form of the file.
fn done(program: &str, seen: &str) -> Vec<String> {
    let text = format!("<program>{program}</program>");
    let document = ProgramDocument::read(text.as_bytes()).unwrap();
    let equipment = Equipment { charge: ChargeSource::Voltage([20.0, 30.0]), ..Equipment::default() };
    let mut remote = Remote::new(Program::from(&document), equipment).unwrap();
    let mut world = World::new();
    let script: HashMap<u64, Vec<&str>> = seen
        .lines()
        .map(|line| {
            let mut words = line.split_whitespace();
            (words.next().unwrap().parse().unwrap(), words.collect())
        })
        .collect();
    let (mut found, mut last) = (Vec::new(), String::new());
    for cycle in 1..=*script.keys().max().unwrap() {
        world.see(script.get(&cycle).into_iter().flatten().copied());
        let observation = Observation {
            now: Duration::from_millis(100 * cycle),
            date: world.date,
            status: &world.status,
            debug: Some(&world.debug),
            true_parameters: &world.true_parameters,
            user_events: &world.events,
            battery_charge: None,
        };
        let orders = remote.cycle(&observation, None).unwrap();
        found.extend(orders.iter().map(|order| format!("{cycle} {}", written(order))));
        let interpreter = remote.interpreter();
        let mut tasks: String = interpreter.running().map(|(name, step)| format!(" {name}:{step}")).collect();
        if tasks.is_empty() {
            " none".clone_into(&mut tasks);
        }
        let state = format!("state{tasks}, moves: {}", interpreter.moving_task().unwrap_or("none"));
        if state != last {
            found.push(format!("{cycle} {state}"));
            last = state;
        }
    }
    found
}

#[test]
fn programs_have_the_effects_in_the_file() {
    let programs: Vec<_> = include_str!("programs.txt").split("\n== ").skip(1).collect();
    assert_eq!(programs.len(), 17);
    for one in programs {
        let (name, rest) = one.split_once('\n').unwrap();
        let (program, rest) = rest.split_once("-- see\n").unwrap();
        let (seen, expected) = rest.split_once("-- do\n").unwrap();
        let expected: Vec<_> = expected.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(done(program, seen), expected, "{name}");
    }
}
