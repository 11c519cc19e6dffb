//! The life of a program in ROS: a server, which runs until it is stopped, or a tool, which may end before.

use std::error::Error;
use std::io::IsTerminal;

use clap::Args;
use dragoman_ros::process::{self, CommonOptions, Process};
use dragoman_ros::startup::Preset;
use dragoman_ros::{Context, outln};
use futures::future::{BoxFuture, LocalBoxFuture};

use crate::known;

/// The options of a program in ROS.
#[derive(Debug, Args)]
pub(crate) struct WithCommon<T: Args> {
    #[command(flatten)]
    pub(crate) options: T,
    #[command(flatten)]
    pub(crate) common: CommonOptions,
}

/// Condition for which a program waits before it reports that it is ready; its nodes run meanwhile.
pub(crate) type Later = Option<BoxFuture<'static, ()>>;

/// The options of a command that starts nodes, and serves until it is stopped.
pub(crate) trait Server {
    /// ROS arguments besides those of the command line.
    fn preset(&self) -> Result<Preset, Box<dyn Error>> {
        Ok(known::preset())
    }

    /// Starts the nodes; can be interrupted.
    async fn start(&self, process: &Process) -> Result<Later, Box<dyn Error>>;
}

/// The options of a command that works in ROS until it is done, or is stopped.
pub(crate) trait Tool: Args {
    async fn run(self, context: &Context, stop: LocalBoxFuture<'_, ()>) -> Result<(), Box<dyn Error>>;
}

/// Runs a server until it is stopped.
pub(crate) fn serve<T: Server + Args>(name: &str, command: &WithCommon<T>) -> Result<(), Box<dyn Error>> {
    let preset = command.options.preset()?;
    let name = format!("dragoman {name}");
    process::run(&name, &command.common, &preset, async |process, stop| {
        serve_until(stop, process, &command.options, || {}).await
    })
}

/// Runs a tool until it is done, or is stopped.
pub(crate) fn work<T: Tool>(name: &str, command: WithCommon<T>) -> Result<(), Box<dyn Error>> {
    let WithCommon { options, common } = command;
    process::run(&format!("dragoman {name}"), &common, &known::preset(), async |process, stop| {
        options.run(&process.context, stop).await
    })
}

/// Prints the line `ready`, for which programs wait, and how to end the program.
fn say_ready() {
    outln!("ready");
    if std::io::stdout().is_terminal() {
        outln!("Ctrl-C ends");
    }
}

/// The life of a server in its process; `started` is called when its nodes run.
pub(crate) async fn serve_until<T: Server>(
    stop: impl Future<Output = ()>,
    process: &Process,
    options: &T,
    started: impl FnOnce(),
) -> Result<(), Box<dyn Error>> {
    process.start_node()?;
    tokio::select! {
        biased;
        () = stop => {}
        result = async {
            if let Some(later) = options.start(process).await? {
                started();
                later.await;
                say_ready();
            } else {
                say_ready();
                started();
            }
            std::future::pending().await
        } => return result,
    }
    outln!("stopping");
    Ok(())
}
