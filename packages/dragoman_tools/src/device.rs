//! `dragoman device`: simulated devices for other programs, without ROS.
//!
//! | file | holds |
//! | --- | --- |
//! | `whistles.rs` | the drives of an arm, on a CAN interface |
//! | `kobuki.rs` | a Kobuki, on a pseudo-terminal |
//! | `wheels.rs` | a base with two wheels and a line protocol, on a pseudo-terminal |
//! | `widowx.rs` | the servos of a WidowX, on a pseudo-terminal |
//! | `machine.rs` | a machine from the description of its protocol, on a pseudo-terminal, TCP, UDP or a CAN interface |
//! | `serial.rs` | runs a device on a pseudo-terminal, or on virtual time on a port of the lab: commands, faults, output |
//! | `words.rs` | parsers for words of the devices' commands |
//! | `pty.rs` | the pseudo-terminal and the link to it |

#[cfg(target_os = "linux")]
mod kobuki;
#[cfg(target_os = "linux")]
mod machine;
#[cfg(target_os = "linux")]
mod pty;
#[cfg(target_os = "linux")]
mod serial;
#[cfg(target_os = "linux")]
mod wheels;
mod whistles;
#[cfg(target_os = "linux")]
mod widowx;
#[cfg(target_os = "linux")]
mod words;

use std::error::Error;
use std::time::Duration;

use clap::Subcommand;

#[derive(Debug, Subcommand)]
/// Devices of `dragoman device`.
pub enum DeviceCommand {
    /// Simulate the servo drives of an arm on a CAN bus, on frame level.
    Whistles(whistles::WhistlesOptions),
    /// Simulate a Kobuki, the base of a TurtleBot 2, on a pseudo-terminal, on byte level.
    #[cfg(target_os = "linux")]
    Kobuki(kobuki::KobukiOptions),
    /// Simulate a base with two driven wheels and the protocol of ROSArduinoBridge, on a pseudo-terminal.
    #[cfg(target_os = "linux")]
    Wheels(wheels::WheelsOptions),
    /// Simulate a machine by the description of its protocol: its section `serve`.
    #[cfg(target_os = "linux")]
    Machine(machine::MachineOptions),
    /// Simulate a WidowX, an arm of six Dynamixel servos, on a pseudo-terminal, on byte level.
    #[cfg(target_os = "linux")]
    Widowx(widowx::WidowxOptions),
}

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Runs the command until SIGINT or SIGTERM.
///
/// # Errors
/// The interface or path is missing or in use, or an option is invalid.
pub fn run(command: DeviceCommand) -> Result<()> {
    match command {
        DeviceCommand::Whistles(options) => whistles::run(&options),
        #[cfg(target_os = "linux")]
        DeviceCommand::Kobuki(options) => serial::run("Kobuki", &options.serial, kobuki::machine(&options)),
        #[cfg(target_os = "linux")]
        DeviceCommand::Wheels(options) => serial::run("Base", &options.serial, wheels::machine(&options)?),
        #[cfg(target_os = "linux")]
        DeviceCommand::Machine(options) => machine::run(&options),
        #[cfg(target_os = "linux")]
        DeviceCommand::Widowx(options) => serial::run("WidowX", &options.serial, widowx::machine(&options)),
    }
}

/// Runs a serial device on virtual time until `stop`. Its `--pty` is the path of a port in the lab; `typed` are the lines
/// of its standard input.
///
/// # Errors
/// The path is in use, an option is invalid, or the device is on a CAN bus.
#[cfg(target_os = "linux")]
pub async fn simulate(
    command: DeviceCommand,
    typed: tokio::sync::mpsc::Receiver<String>,
    stop: impl Future<Output = ()>,
) -> Result<()> {
    match command {
        DeviceCommand::Whistles(_) => Err("only serial devices run on virtual time".into()),
        DeviceCommand::Kobuki(options) => {
            serial::simulate("Kobuki", &options.serial, kobuki::machine(&options), typed, stop).await
        }
        DeviceCommand::Wheels(options) => {
            serial::simulate("Base", &options.serial, wheels::machine(&options)?, typed, stop).await
        }
        DeviceCommand::Machine(options) => machine::simulate(&options, typed, stop).await,
        DeviceCommand::Widowx(options) => {
            serial::simulate("WidowX", &options.serial, widowx::machine(&options), typed, stop).await
        }
    }
}

/// Parses seconds after the start.
fn after(seconds: &str) -> std::result::Result<Duration, String> {
    let parsed = seconds.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    parsed.ok_or_else(|| format!("'{seconds}' is not a time in seconds"))
}
