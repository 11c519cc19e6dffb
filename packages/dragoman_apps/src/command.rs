//! Shared parts of the two commands: options, log, signals, exit code.

use std::process::ExitCode;

use clap::{Args, Parser};
use tokio::signal::unix::{SignalKind, signal};

use crate::node::{self, End};
use crate::program::{Program, Status};

/// Common options.
#[derive(Debug, Args)]
pub struct CommonOptions {
    /// ROS domain, 0 to 232; default: ROS_DOMAIN_ID, or 0.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(0..=232))]
    domain: Option<u16>,
    /// error, warn, info, debug or trace; RUST_LOG takes precedence.
    #[arg(long, value_name = "LEVEL", default_value = "warn")]
    log: String,
}

/// Parses the command line without the arguments of ROS.
pub fn parse<T: Parser>() -> T {
    let mut inside = false;
    T::parse_from(std::env::args().filter(|argument| match argument.as_str() {
        "--ros-args" => {
            inside = true;
            false
        }
        "--" if inside => {
            inside = false;
            false
        }
        _ => !inside,
    }))
}

/// Runs a program until it ends, or SIGINT or SIGTERM comes. Failure is an exit code of 1.
pub fn run(name: &str, program: impl Program, options: &CommonOptions) -> ExitCode {
    match start(name, program, options) {
        Ok(End::Program(Status::Failed(failure))) => {
            eprintln!("{name}: {failure}");
            ExitCode::FAILURE
        }
        Ok(End::Program(_)) => ExitCode::SUCCESS,
        Ok(End::Stopped) => {
            println!("stopped");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{name}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn start(
    name: &str,
    program: impl Program,
    options: &CommonOptions,
) -> Result<End, Box<dyn std::error::Error>> {
    dragoman_ros::logging::init(&options.log)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let end = runtime.block_on(async {
        let (mut interrupt, mut terminate) =
            (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        let stop = async move {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        };
        let context = dragoman_ros::startup::context(options.domain, &[], &[])?;
        Ok::<_, Box<dyn std::error::Error>>(
            node::run(&context, name, program, |text| println!("{text}"), stop).await?,
        )
    })?;
    Ok(end)
}
