//! `dragoman device wheels`: a base with two driven wheels and a line protocol, on a pseudo-terminal.

use std::time::Duration;

use clap::Args;
use dragoman_geometry::Twist;
use dragoman_sim::differential::Event;
use dragoman_sim::{DifferentialBase, DifferentialSettings};

use super::serial::{Line, Machine, SerialOptions};
use super::words::{Side, number, side, switch};
use super::{Result, after};

#[derive(Debug, Args)]
pub struct WheelsOptions {
    #[command(flatten)]
    pub(super) serial: SerialOptions,
    /// Distance between the wheels, m.
    #[arg(long, value_name = "M", default_value_t = DifferentialSettings::default().wheel_separation)]
    separation: f64,
    /// Radius of a wheel, m.
    #[arg(long, value_name = "M", default_value_t = DifferentialSettings::default().wheel_radius)]
    radius: f64,
    /// Encoder ticks per turn of a wheel.
    #[arg(long, value_name = "N", default_value_t = DifferentialSettings::default().ticks_per_turn)]
    ticks: f64,
    /// Rate of its controller, Hz; speeds are ticks per period.
    #[arg(long, value_name = "HZ", default_value_t = DifferentialSettings::default().controller_rate)]
    rate: f64,
    /// Seed of the random numbers.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

/// The device.
pub(super) fn machine(options: &WheelsOptions) -> Result<DifferentialBase> {
    let settings = DifferentialSettings {
        wheel_separation: options.separation,
        wheel_radius: options.radius,
        ticks_per_turn: options.ticks,
        controller_rate: options.rate,
        seed: options.seed,
        ..DifferentialSettings::default()
    };
    Ok(DifferentialBase::new(settings)?)
}

const HELP: &str = "\
stall left|right on|off           hold a wheel
blocked on|off                    hold the machine; its wheels slip
pose                              print its true pose: x y heading (m, rad)
silence SECONDS                   answer nothing
garbage [BYTES]                   send random bytes on the line, 64 by default
corrupt PERCENT                   corrupt a byte in this share of the answers
reset                             switch it off and on
";

/// A command of standard input.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Command {
    Stall(Side, bool),
    Blocked(bool),
    Pose,
    Silence(Duration),
    Garbage(usize),
    Corrupt(f64),
    Reset,
}

impl Machine for DifferentialBase {
    const HELP: &str = HELP;

    type Command = Command;

    fn parse(words: &[&str]) -> std::result::Result<Command, String> {
        Ok(match words {
            ["stall", at, state] => Command::Stall(side(at)?, switch(state)?),
            ["blocked", state] => Command::Blocked(switch(state)?),
            ["pose"] => Command::Pose,
            ["silence", seconds] => Command::Silence(after(seconds)?),
            ["garbage"] => Command::Garbage(64),
            ["garbage", count] => Command::Garbage(number(count, 4096)?),
            ["corrupt", percent] => Command::Corrupt(f64::from(number(percent, 100_u8)?) / 100.0),
            ["reset"] => Command::Reset,
            words => return Err(format!("'{}' is not a command; 'help' lists them", words.join(" "))),
        })
    }

    fn execute(&mut self, command: Command) -> Option<String> {
        match command {
            Command::Stall(side, state) => *side.of(&mut self.stalled) = state,
            Command::Blocked(state) => self.motion = state.then_some(Twist::ZERO),
            Command::Pose => {
                let pose = self.pose();
                return Some(format!("pose {:?} {:?} {:?}", pose.x, pose.y, pose.heading));
            }
            Command::Silence(time) => self.silence(time),
            Command::Garbage(count) => self.garbage(count),
            Command::Corrupt(share) => self.corrupt(share),
            Command::Reset => self.reset(),
        }
        None
    }

    fn next_line(&mut self) -> Option<Line> {
        self.poll_event().map(|event| match event {
            Event::Speeds(_) => Line::Speed(event.to_string()),
            event => Line::Event(event.to_string()),
        })
    }
}
