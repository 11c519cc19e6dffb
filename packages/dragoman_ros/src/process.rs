//! A program in ROS from its options to its end: log, signals, supervision. The same for all programs.

use std::error::Error;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use futures::FutureExt;
use futures::future::LocalBoxFuture;

use crate::claims::Claims;
use crate::diagnostics::{Diagnostics, Severity};
use crate::health::{self, FaultLog, Watchdog};
use crate::signals::Signals;
use crate::startup::{Preset, StartupError};
use crate::supervision::{Fault, Supervisor};
use crate::tasks::{NodeError, NodeTasks, RunningNode};
use crate::{Context, Node, logging, service_calls, startup};

/// Options of all programs.
#[derive(Args, Clone, Debug, Default)]
pub struct CommonOptions {
    /// ROS parameter file (YAML); may be given several times.
    #[arg(long, value_name = "FILE")]
    config: Vec<PathBuf>,
    /// ROS domain, 0 to 232; default: ROS_DOMAIN_ID, or 0.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(0..=232))]
    domain: Option<u16>,
    /// error, warn, info, debug or trace; RUST_LOG takes precedence.
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    log: String,
    /// Make a part fail on purpose, once: PART=panic@SECONDS or PART=end@SECONDS, with the part's name in /diagnostics;
    /// may be given several times.
    #[arg(long, value_name = "FAULT", help_heading = "For development")]
    fault: Vec<Fault>,
}

impl CommonOptions {
    /// The level of the log.
    pub fn log(&self) -> &str {
        &self.log
    }
}

/// A running program.
pub struct Process {
    /// The participant of its nodes.
    pub context: Context,
    /// The owner of all that runs in it.
    pub supervisor: Supervisor,
    /// The namespaces that it serves.
    pub claims: Claims,
}

/// Period of the watchdog of the middleware, and of publishing the state of all parts.
const PERIOD: Duration = Duration::from_secs(1);
/// Time between the end of `body` and the end of threads that still work for it.
const THREAD_TIME: Duration = Duration::from_millis(500);

/// Runs the program `name`: `body` until it returns. It must return soon after the future that it gets has resolved,
/// which happens at SIGINT, SIGTERM or SIGHUP, when standard output is closed, or when a part of the supervisor fails. In
/// every case, also after a panic, the machines of the supervisor are stopped and its parts are ended, the newest first.
///
/// `preset` has the ROS arguments besides those of the command line.
///
/// # Errors
/// Those of `body`; the reason why a part has failed; invalid options; no participant can be created.
pub fn run(
    name: &str,
    options: &CommonOptions,
    preset: &Preset,
    body: impl AsyncFnOnce(&Process, LocalBoxFuture<'_, ()>) -> Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    logging::init(&options.log)?;
    dragoman_memory::watch()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let result = runtime.block_on(async {
        let mut signals = Signals::new()?;
        let context = || startup::context(options.domain, &options.config, preset);
        supervised(name, options, context, async || signals.next().await, body).await
    });
    runtime.shutdown_timeout(THREAD_TIME);
    result
}

/// As [`run`], as a task of the present lab on virtual time, without network: see [`dragoman_time::Simulation`]. `stop`
/// stands for the signals.
///
/// # Errors
/// As [`run`].
#[cfg(not(feature = "r2r"))]
pub async fn simulate(
    name: &str,
    options: &CommonOptions,
    preset: &Preset,
    stop: impl AsyncFnMut(),
    body: impl AsyncFnOnce(&Process, LocalBoxFuture<'_, ()>) -> Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let context = || startup::context_in_memory(options.domain, &options.config, preset);
    supervised(name, options, context, stop, body).await
}

/// Runs `body` with a supervisor. Each call of `signal` waits for a request to end.
async fn supervised(
    name: &str,
    options: &CommonOptions,
    context: impl FnOnce() -> Result<Context, StartupError>,
    mut signal: impl AsyncFnMut(),
    body: impl AsyncFnOnce(&Process, LocalBoxFuture<'_, ()>) -> Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let supervisor = Supervisor::new(options.fault.clone());
    supervisor.watch_panics();
    let context = context()?;
    supervisor.spawn("middleware", watch_middleware(context.clone(), supervisor.clone()));
    let process = Process { context, supervisor: supervisor.clone(), claims: Claims::new(name) };
    let stop = async {
        tokio::select! {
            biased;
            () = signal() => {}
            () = supervisor.watch() => {}
        }
    };
    let body = AssertUnwindSafe(body(&process, stop.boxed_local()));
    // After a panic the supervisor knows the reason.
    let result = body.catch_unwind().await.unwrap_or(Ok(()));
    let failure = supervisor.failure();
    supervisor.shut_down(signal()).await;
    failure.map_or(result, |reason| Err(reason.into()))
}

const DEAD_THREAD: &str = "a thread of the middleware is dead";

/// Logs faults of the network, and ends the process if the middleware no longer works.
async fn watch_middleware(context: Context, supervisor: Supervisor) {
    let (mut watchdog, mut faults) = (Watchdog::default(), FaultLog::default());
    loop {
        let health = health::of(&context);
        faults.log(&health.faults);
        if watchdog.is_dead(&health) {
            break;
        }
        dragoman_time::sleep(PERIOD).await;
    }
    tracing::error!("{DEAD_THREAD}");
    // The node of the process publishes it before.
    dragoman_time::sleep(2 * PERIOD).await;
    supervisor.fail(format!("{DEAD_THREAD}: messages are lost"));
    std::future::pending().await
}

impl Process {
    /// Runs the node of a server's process, `/dragoman`: the log of the whole process on `/rosout`, the state of its
    /// parts and of the middleware on `/diagnostics`, its claims.
    ///
    /// # Errors
    /// An error of the middleware.
    pub fn start_node(&self) -> Result<(), NodeError> {
        let (context, supervisor, claims) =
            (self.context.clone(), self.supervisor.clone(), self.claims.clone());
        let start = move || node(&context, &supervisor, &claims);
        self.supervisor.spawn_restartable_node(start()?, start);
        Ok(())
    }
}

fn node(context: &Context, supervisor: &Supervisor, claims: &Claims) -> Result<RunningNode, NodeError> {
    let mut tasks = NodeTasks::new(Node::create(context.clone(), "dragoman", "")?);
    claims.serve(&mut tasks, supervisor)?;
    let log = logging::publish(tasks.node())?;
    tasks.spawn(log);
    service_calls::publish(&mut tasks)?;
    publish_health(&mut tasks, context)?;
    let mut diagnostics = Diagnostics::new(tasks.node(), "parts", "")?;
    let supervisor = supervisor.clone();
    tasks.every(PERIOD, move || {
        let (severity, message, values) = supervisor.report();
        let values: Vec<_> = values.iter().map(|(part, state)| (part.as_str(), state.clone())).collect();
        diagnostics.publish(severity, &message, &values);
    })?;
    Ok(tasks.start()?)
}

/// Publishes the state of the middleware, the faults of the network, and the input that it refuses.
fn publish_health(tasks: &mut NodeTasks, context: &Context) -> Result<(), NodeError> {
    let mut diagnostics = Diagnostics::new(tasks.node(), "middleware", "")?;
    let context = context.clone();
    let (mut watchdog, mut before) = (Watchdog::default(), 0);
    tasks.every(PERIOD, move || {
        let health = health::of(&context);
        let mut values: Vec<_> =
            health.refused.iter().map(|(kind, count)| (*kind, count.to_string())).collect();
        values.push(("checks of the network", health.checks.to_string()));
        values.extend(health.faults.iter().map(|fault| ("network", fault.text.clone())));
        let worst = health.faults.iter().max_by_key(|fault| fault.severity as u8);
        let refused = health.refused.iter().map(|(_, count)| count).sum();
        let (severity, message) = if watchdog.is_dead(&health) {
            (Severity::Error, DEAD_THREAD)
        } else if let Some(fault) = worst {
            (fault.severity, fault.text.as_str())
        } else if refused > before {
            (Severity::Warn, "invalid or excessive input is refused")
        } else {
            (Severity::Ok, "working")
        };
        diagnostics.publish(severity, message, &values);
        before = refused;
    })?;
    Ok(())
}
