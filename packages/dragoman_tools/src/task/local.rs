//! Local mode: the platform executes the program, and publishes its state.

use std::time::Duration;

use dragoman_bridge::neobotix::node::PlatformPort;
use dragoman_bridge::neobotix::status::{Emergency, MotionMode, Operation};
use dragoman_bridge::neobotix::wire::{Command, ProgramDocument, QueueEntry, Reply};
use dragoman_ros::dragoman_msgs::msg::ProgramState;
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{Context, Node, QosProfile};
use tokio::sync::mpsc;

use super::view::{Shown, View};
use super::{CALL_TIME, Result, SEARCH_TIME, TaskOptions};

/// Period of looking at the platform's status beside its reports.
const STATUS_PERIOD: Duration = Duration::from_secs(1);

pub(super) async fn run(
    context: &Context,
    options: &TaskOptions,
    stop: impl Future<Output = ()>,
) -> Result<()> {
    let (source, _) = super::read(&options.file)?;
    let document = ProgramDocument { document: source.to_xml()?.into() };
    let mut tasks = NodeTasks::new(Node::create(context.clone(), "task", &options.namespace)?);
    let mut port = PlatformPort::services(tasks.node(), CALL_TIME)?;
    let (sender, mut states) = mpsc::unbounded_channel();
    let latched = QosProfile::default().reliable().transient_local().keep_last(1);
    tasks.subscribe("program_state", latched, move |state: ProgramState| {
        let _ = sender.send(state);
    })?;
    let node = tasks.start()?;
    let node = dragoman_time::spawn(async move {
        node.await;
    });
    let mut view = View::new(&source);
    let mut stop = std::pin::pin!(stop);
    let mut messages = Messages::default();
    let mut is_started = false;
    let ended = tokio::select! {
        biased;
        () = &mut stop => Err("stopped before the end of the program".into()),
        ended = async {
            let before = dragoman_time::timeout(SEARCH_TIME, states.recv()).await.ok().flatten().ok_or_else(|| {
                format!("no platform publishes {}/program_state; --remote needs none", options.namespace)
            })?;
            super::make_ready(&mut port, options, MotionMode::Program).await?;
            super::order(&mut port, Command::SetProgram(document)).await?;
            // Those of earlier programs.
            messages.fetch(&mut port).await?;
            is_started = true;
            super::order(&mut port, Command::Start).await?;
            watch(&mut port, &mut states, before.run, &mut messages, &mut view).await
        } => ended,
    };
    let stopped = if is_started {
        // At the end of a program the platform stays started.
        super::order(&mut port, Command::Stop).await
    } else {
        Ok(())
    };
    node.abort();
    ended.and(stopped)?;
    view.note("the program has ended")?;
    Ok(())
}

/// Shows the run after `before` until its end.
async fn watch(
    port: &mut PlatformPort,
    states: &mut mpsc::UnboundedReceiver<ProgramState>,
    before: u32,
    messages: &mut Messages,
    view: &mut View,
) -> Result<()> {
    let mut is_paused = false;
    let mut looks = dragoman_time::interval(STATUS_PERIOD);
    loop {
        let state = tokio::select! {
            biased;
            () = looks.tick() => {
                let status = super::status(port).await?;
                if status.emergency_state.known() != Some(Emergency::Inactive) {
                    return Err(format!("emergency stop: {:?}", status.emergency_state).into());
                }
                let paused = status.operation_state.known() == Some(Operation::Broken);
                if std::mem::replace(&mut is_paused, paused) != paused {
                    view.note(if paused { "the platform is paused" } else { "the platform continues" })?;
                }
                messages.show(port, view).await?;
                continue;
            }
            state = states.recv() => state.ok_or("the node has ended")?,
        };
        if state.run == before {
            continue;
        }
        messages.show(port, view).await?;
        let step = |(name, step): (&String, &u32)| Shown {
            name: name.clone(),
            step: usize::try_from(*step).unwrap_or(usize::MAX),
            is_next: false,
        };
        let tasks: Vec<Shown> = state.tasks.iter().zip(&state.steps).map(step).collect();
        view.show(&tasks, Some(state.moving_task.as_str()).filter(|name| !name.is_empty()))?;
        match state.result.as_str() {
            "" => {}
            "completed" => return Ok(()),
            other => return Err(format!("the program was {other} by others before its end").into()),
        }
    }
}

/// Messages of the program, and what the platform refuses of it.
#[derive(Default)]
struct Messages {
    /// Number of the last one.
    last: u32,
}

impl Messages {
    async fn show(&mut self, port: &mut PlatformPort, view: &mut View) -> Result<()> {
        let before = self.last;
        let new = self.fetch(port).await?;
        // The platform keeps the last ones.
        let missing = new.first().map_or(0, |first| first.number.saturating_sub(before.saturating_add(1)));
        if missing > 0 {
            view.note(&format!("{missing} messages came too fast to be shown"))?;
        }
        for message in new {
            view.note(&message.text.to_str())?;
        }
        Ok(())
    }

    /// Those that are new, oldest first.
    async fn fetch(&mut self, port: &mut PlatformPort) -> Result<Vec<QueueEntry>> {
        let debug = match super::call(port, Command::GetDebugData).await {
            Ok(Some(Reply::GetDebugData(debug))) => debug,
            Ok(_) => return Err("the platform does not return its debug data".into()),
            Err(refusal) => return Err(format!("CMD_GET_DEBUG_DATA: {refusal}").into()),
        };
        let mut new = debug.protocol_queue;
        new.retain(|entry| entry.number > self.last);
        self.last = new.last().map_or(self.last, |entry| entry.number);
        Ok(new)
    }
}
