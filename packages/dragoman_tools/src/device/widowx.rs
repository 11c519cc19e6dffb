//! `dragoman device widowx`: the servos of a WidowX on a pseudo-terminal.

use std::time::Duration;

use clap::Args;
use dragoman_arm::dynamixel::widowx::JOINTS;
use dragoman_sim::widowx::GRIPPER;
use dragoman_sim::{Widowx, WidowxSettings};

use super::after;
use super::serial::{Line, Machine, SerialOptions};
use super::words::number;

#[derive(Debug, Args)]
pub struct WidowxOptions {
    #[command(flatten)]
    pub(super) serial: SerialOptions,
    /// Start with power just switched on: the motors have no torque. By default they hold the arm.
    #[arg(long)]
    limp: bool,
    /// Speed of the line, bit/s, which delays the answers; by default they are immediate.
    #[arg(long, value_name = "BAUD", value_parser = clap::value_parser!(u32).range(9600..=4_000_000))]
    baud: Option<u32>,
    /// Seed of the random numbers.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

/// The device.
pub(super) fn machine(options: &WidowxOptions) -> Widowx {
    let settings = WidowxSettings {
        is_held: !options.limp,
        baud: options.baud,
        seed: options.seed,
        ..WidowxSettings::default()
    };
    Widowx::new(settings)
}

const HELP: &str = "\
load JOINT TORQUE                 set the torque of gravity on a joint, 1 to 5, N m
grip POSITION|none                the gripper cannot close beyond this, 0 to 2.5: something is between its fingers
positions                         print the true positions: five in rad, the gripper 0 (open) to 2.5
torque                            print which motors have torque: 1 or 0 for each
heat JOINT CELSIUS                set the temperature of a servo, 0 to 150
silence SECONDS [JOINT]           all servos, or one, neither send nor receive
garbage [BYTES]                   send random bytes on the line, 64 by default
corrupt PERCENT                   corrupt a byte in this share of the answers
reset [JOINT]                     switch all servos, or one, off and on
";

/// A command of standard input. Joints are counted from 0.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Command {
    Load(usize, f64),
    Grip(Option<f64>),
    Positions,
    Torque,
    Heat(usize, f64),
    Silence(Duration, Option<usize>),
    Garbage(usize),
    Corrupt(f64),
    Reset(Option<usize>),
}

impl Machine for Widowx {
    const HELP: &str = HELP;

    type Command = Command;

    fn parse(words: &[&str]) -> std::result::Result<Command, String> {
        Ok(match words {
            ["load", at, torque] => Command::Load(joint(at, GRIPPER)?, value(torque)?),
            ["grip", "none"] => Command::Grip(None),
            ["grip", position] => Command::Grip(Some(value(position)?)),
            ["positions"] => Command::Positions,
            ["torque"] => Command::Torque,
            ["heat", at, celsius] => Command::Heat(joint(at, JOINTS.len())?, value(celsius)?),
            ["silence", seconds] => Command::Silence(after(seconds)?, None),
            ["silence", seconds, at] => Command::Silence(after(seconds)?, Some(joint(at, JOINTS.len())?)),
            ["garbage"] => Command::Garbage(64),
            ["garbage", count] => Command::Garbage(number(count, 4096)?),
            ["corrupt", percent] => Command::Corrupt(f64::from(number(percent, 100_u8)?) / 100.0),
            ["reset"] => Command::Reset(None),
            ["reset", at] => Command::Reset(Some(joint(at, JOINTS.len())?)),
            words => return Err(format!("'{}' is not a command; 'help' lists them", words.join(" "))),
        })
    }

    #[expect(clippy::indexing_slicing, reason = "`parse` has checked the joint")]
    fn execute(&mut self, command: Command) -> Option<String> {
        match command {
            Command::Load(joint, torque) => self.inputs.load[joint] = torque,
            Command::Grip(stop) => self.inputs.gripper_stop = stop,
            Command::Positions => {
                let positions = self.positions().map(|position| format!("{position:.4}"));
                return Some(format!("positions {}", positions.join(" ")));
            }
            Command::Torque => {
                let torque = self.torque_enabled().map(|on| if on { "1" } else { "0" });
                return Some(format!("torque {}", torque.join(" ")));
            }
            Command::Heat(joint, celsius) => self.set_temperature(joint, celsius),
            Command::Silence(time, joint) => self.silence(joint, time),
            Command::Garbage(count) => self.garbage(count),
            Command::Corrupt(share) => self.corrupt(share),
            Command::Reset(joint) => self.reset(joint),
        }
        None
    }

    fn next_line(&mut self) -> Option<Line> {
        self.poll_event().map(|event| Line::Event(event.to_string()))
    }
}

/// Parses a joint's number, 1 to `count`; the result is counted from 0.
fn joint(text: &str, count: usize) -> std::result::Result<usize, String> {
    let parsed = text.parse::<usize>().ok().filter(|number| (1..=count).contains(number));
    parsed.map(|number| number - 1).ok_or_else(|| format!("'{text}' is not a joint from 1 to {count}"))
}

fn value(text: &str) -> std::result::Result<f64, String> {
    let parsed = text.parse().ok().filter(|value: &f64| value.is_finite());
    parsed.ok_or_else(|| format!("'{text}' is not a number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> std::result::Result<Command, String> {
        Widowx::parse(&line.split_whitespace().collect::<Vec<_>>())
    }

    #[test]
    fn commands_are_words() {
        for (line, command) in [
            ("load 2 -1.5", Command::Load(1, -1.5)),
            ("grip 0.9", Command::Grip(Some(0.9))),
            ("grip none", Command::Grip(None)),
            ("positions", Command::Positions),
            ("torque", Command::Torque),
            ("heat 6 90", Command::Heat(5, 90.0)),
            ("silence 0.5", Command::Silence(Duration::from_millis(500), None)),
            ("silence 2 3", Command::Silence(Duration::from_secs(2), Some(2))),
            ("garbage 7", Command::Garbage(7)),
            ("corrupt 25", Command::Corrupt(0.25)),
            ("reset", Command::Reset(None)),
            ("reset 1", Command::Reset(Some(0))),
        ] {
            assert_eq!(parse(line), Ok(command), "{line}");
            let word = line.split_whitespace().next().unwrap_or_default();
            assert!(HELP.lines().any(|help| help.starts_with(word)), "{word}");
        }
    }

    #[test]
    fn unknown_commands_are_refused_with_a_reason() {
        for (line, reason) in [
            ("load 6 1", "'6' is not a joint from 1 to 5"),
            ("load 0 1", "'0' is not a joint from 1 to 5"),
            ("load 1 nan", "'nan' is not a number"),
            ("heat 7 20", "'7' is not a joint from 1 to 6"),
            ("corrupt 101", "'101' is not a whole number from 0 to 100"),
            ("silence -1", "'-1' is not a time in seconds"),
            ("wave", "'wave' is not a command; 'help' lists them"),
        ] {
            assert_eq!(parse(line), Err(reason.to_owned()), "{line}");
        }
    }
}
