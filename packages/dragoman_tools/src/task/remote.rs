//! Remote mode: this computer executes the program, and sends the platform commands.

use std::collections::BTreeMap;
use std::fs;

use chrono::{DateTime, Datelike, Timelike};
use dragoman_bridge::neobotix::documents::ProgramSource;
use dragoman_bridge::neobotix::file_name::plain_file_name;
use dragoman_bridge::neobotix::node::PlatformPort;
use dragoman_bridge::neobotix::program::remote::{
    ChargeSource, Equipment, Observation, Order, Remote, unsupported,
};
use dragoman_bridge::neobotix::program::{Awaited, Date, Effect, Instruction, Program};
use dragoman_bridge::neobotix::status::{MotionMode, Operation};
use dragoman_bridge::neobotix::wire::{Command, GetParameter, NamedDocument, Reply, Status};
use dragoman_ros::outln;

use super::battery::Battery;
use super::view::{Shown, View};
use super::{Lines, PERIOD, Result, TaskOptions};

/// A program that can be executed, with its files.
pub(super) struct Prepared {
    source: ProgramSource,
    program: Program,
    /// Text of each map and roadmap, by the name in the program.
    files: BTreeMap<String, String>,
    equipment: Equipment,
}

impl Prepared {
    /// Checks the program and all its files. `charge`: where the charge of the battery comes from without `--battery`.
    ///
    /// # Errors
    /// Those of the program; what the protocol cannot transmit; files that cannot be read.
    pub(super) fn new(options: &TaskOptions, charge: ChargeSource) -> Result<Self> {
        let (source, document) = super::read(&options.file)?;
        let program = Program::from(&document);
        program.check()?;
        let equipment = options.equipment(charge);
        let missing = unsupported(&program, &equipment);
        for (name, at, reason) in &missing {
            let task = program.tasks.iter().find(|task| task.name == *name);
            let step = task.and_then(|task| task.steps.get(*at)).copied().unwrap_or(*at);
            let document = document.tasks.iter().find(|task| task.name == *name);
            let position = document.and_then(|task| task.steps.get(step)).map(|step| step.position());
            let position = position.unwrap_or_default();
            eprintln!("{}:{}:{}: {reason}", options.file.display(), position.line, position.column);
        }
        if !missing.is_empty() {
            return Err(format!("{}: not possible in the remote mode", options.file.display()).into());
        }
        let mut files = BTreeMap::new();
        for instruction in program.tasks.iter().flat_map(|task| &task.instructions) {
            match instruction {
                Instruction::Do(Effect::Load { map, roadmap }) => {
                    for name in map.iter().chain(roadmap) {
                        let plain = plain_file_name(name)?;
                        let file = options.data.join(format!("{}.xml", plain.trim_end_matches(".xml")));
                        let text = fs::read_to_string(&file);
                        let text =
                            text.map_err(|error| format!("cannot read {}: {error}", file.display()))?;
                        files.insert(name.clone(), text);
                    }
                }
                Instruction::Do(Effect::Grab { file_name, .. }) => {
                    plain_file_name(file_name)?;
                }
                _ => {}
            }
        }
        Ok(Self { source, program, files, equipment })
    }

    /// Whether the program waits for a charge of the battery that is neither in the status nor computed from it.
    pub(super) fn needs_battery_state(&self) -> bool {
        let waits = |instruction: &Instruction| {
            matches!(instruction, Instruction::Wait { events, .. }
                if events.iter().any(|event| matches!(event, Awaited::BatteryCharge(_))))
        };
        self.equipment.charge == ChargeSource::Observed
            && self.program.tasks.iter().flat_map(|task| &task.instructions).any(waits)
    }
}

/// Executes the program until its end.
///
/// # Errors
/// The platform is not ready, or was stopped; `stop` resolved; the connection was lost.
pub(super) async fn run(
    prepared: Prepared,
    options: &TaskOptions,
    mut port: PlatformPort,
    battery: Option<Battery>,
    is_stepped: bool,
    input: impl FnOnce() -> Lines,
    stop: impl Future<Output = ()>,
) -> Result<()> {
    let mut is_started = false;
    let mut stop = std::pin::pin!(stop);
    let ended = tokio::select! {
        biased;
        () = &mut stop => Err("stopped before the end of the program".into()),
        ended = drive(prepared, options, &mut port, battery, is_stepped, input, &mut is_started) => ended,
    };
    if is_started {
        let stopped = super::order(&mut port, Command::Stop).await;
        ended.and(stopped)?;
    } else {
        ended?;
    }
    outln!("the program has ended");
    Ok(())
}

async fn drive(
    prepared: Prepared,
    options: &TaskOptions,
    port: &mut PlatformPort,
    mut battery: Option<Battery>,
    is_stepped: bool,
    input: impl FnOnce() -> Lines,
    is_started: &mut bool,
) -> Result<()> {
    let Prepared { source, program, files, equipment } = prepared;
    let mut view = View::new(&source);
    super::make_ready(port, options, MotionMode::Automatic).await?;
    let length = parameter(port, "PltfLength").await?.parse::<f64>().ok().filter(|length| length.is_finite());
    let length = length.ok_or("the platform's PltfLength is not a number")?;
    let mut remote = Remote::new(program, Equipment { front: length / 2000.0, ..equipment })?;
    *is_started = true;
    super::order(port, Command::Start).await?;
    if is_stepped {
        view.note("Enter begins the next step; a name raises that user event")?;
    }
    let mut lines = input();
    let mut is_open = true;
    let mut is_paused = false;
    let mut user_events: Vec<String> = Vec::new();
    let mut steps = 0;
    loop {
        let status = super::status(port).await?;
        let paused = status.operation_state.known() == Some(Operation::Broken);
        if std::mem::replace(&mut is_paused, paused) != paused {
            view.note(if paused { "the platform is paused" } else { "the platform continues" })?;
        }
        if let Some(notice) = battery.as_mut().and_then(Battery::notice) {
            view.note(&notice)?;
        }
        let mut true_parameters = Vec::new();
        for key in remote.parameters() {
            if parameter(port, key).await?.trim() == "true" {
                true_parameters.push(key.clone());
            }
        }
        let debug = if remote.needs_debug_data() {
            match super::call(port, Command::GetDebugData).await {
                Ok(Some(Reply::GetDebugData(debug))) => Some(debug),
                Ok(_) => None,
                Err(refusal) => return Err(format!("CMD_GET_DEBUG_DATA: {refusal}").into()),
            }
        } else {
            None
        };
        let observation = Observation {
            now: view.elapsed(),
            date: now(),
            status: &status,
            debug: debug.as_deref(),
            true_parameters: &true_parameters,
            user_events: &user_events,
            battery_charge: battery.as_ref().and_then(Battery::charge),
        };
        let orders = remote.cycle(&observation, is_stepped.then_some(steps))?;
        if !paused {
            user_events.clear();
            steps = 0;
        }
        for order in orders {
            carry_out(order, port, &mut remote, &mut view, &status, &files, options).await?;
        }
        show(&remote, is_stepped, &mut view)?;
        if remote.has_ended() {
            return Ok(());
        }
        tokio::select! {
            biased;
            () = dragoman_time::sleep(PERIOD) => {}
            line = lines.recv(), if is_open => match line {
                Some(line) => {
                    view.typed();
                    match line.trim() {
                        "" => steps += usize::from(is_stepped),
                        event => user_events.push(event.to_owned()),
                    }
                }
                None if is_stepped => return Err("standard input has ended before the program".into()),
                None => is_open = false,
            },
        }
    }
}

fn show(remote: &Remote, is_stepped: bool, view: &mut View) -> std::io::Result<()> {
    let interpreter = remote.interpreter();
    let tasks: Vec<Shown> = interpreter
        .running()
        .zip(interpreter.begun())
        .map(|((name, step), begun)| Shown { name: name.to_owned(), step, is_next: is_stepped && !begun })
        .collect();
    view.show(&tasks, interpreter.moving_task())
}

/// Carries out an order. What the platform refuses is shown; only a lost connection ends the program.
async fn carry_out(
    order: Order,
    port: &mut PlatformPort,
    remote: &mut Remote,
    view: &mut View,
    status: &Status,
    files: &BTreeMap<String, String>,
    options: &TaskOptions,
) -> Result<()> {
    match order {
        Order::Send(command) => {
            if let Err(error) = super::order(port, command).await {
                view.note(&format!("refused: {error}"))?;
            }
        }
        Order::Move { number, command } => {
            if let Err(error) = super::order(port, command).await {
                remote.handle_motion_refused(number);
                view.note(&format!("refused: {error}"))?;
            }
        }
        Order::MotionFailed(reason) => view.note(&format!("the motion has failed: {reason}"))?,
        Order::Log { kind, message } => {
            let kind = if kind.is_empty() { "log" } else { &kind };
            view.note(&format!("{kind}: {message}"))?;
        }
        Order::Load { map, roadmap } => {
            let named = |name: &String| {
                let document = files.get(name).map(String::as_str).unwrap_or_default().into();
                NamedDocument { name: name.trim_end_matches(".xml").into(), document }
            };
            let map = map.as_ref().map(|name| Command::SetMap(named(name)));
            let roadmap = roadmap.as_ref().map(|name| Command::SetRoadmap(named(name)));
            for command in map.into_iter().chain(roadmap) {
                if let Err(error) = super::order(port, command).await {
                    view.note(&format!("refused: {error}"))?;
                }
            }
        }
        Order::SaveScan { file_name } => {
            let points = status.scan.iter();
            let metres = |mm: i16| f64::from(mm) / 1000.0;
            let text: String =
                points.map(|point| format!("{} {}\n", metres(point.x_mm), metres(point.y_mm))).collect();
            let file = options.data.join(format!("{}.dat", plain_file_name(&file_name)?));
            if let Err(error) = fs::write(&file, text) {
                view.note(&format!("cannot write {}: {error}", file.display()))?;
            }
        }
    }
    Ok(())
}

/// The value of a parameter; an unknown one ends the program.
async fn parameter(port: &mut PlatformPort, key: &str) -> Result<String> {
    match super::call(port, Command::GetPltfParam(GetParameter { key: key.into() })).await {
        Ok(Some(Reply::GetPltfParam(reply))) => Ok(reply.value.to_str().into_owned()),
        Ok(_) => Err(format!("the platform does not return parameter {key}").into()),
        Err(refusal) => Err(format!("parameter {key}: {refusal}").into()),
    }
}

/// The current date and time, UTC.
fn now() -> Date {
    let now = DateTime::UNIX_EPOCH + dragoman_time::wall_time();
    Date {
        year: u32::try_from(now.year()).ok(),
        month: Some(now.month()),
        day: Some(now.day()),
        hour: Some(now.hour()),
        minute: Some(now.minute()),
        second: Some(now.second()),
    }
}
