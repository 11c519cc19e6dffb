//! `dragoman device kobuki`: a Kobuki on a pseudo-terminal.

use std::time::Duration;

use clap::{Args, ValueEnum};
use dragoman_base::kobuki::wire::DockSignals;
use dragoman_geometry::Twist;
use dragoman_sim::kobuki::inputs::{ADC_MAX, CLIFF_ADC_EDGE, CLIFF_ADC_FLOOR};
use dragoman_sim::kobuki::{BATTERY_RANGE, ChargerSource, Event, FrontSensors, Noise};
use dragoman_sim::{Kobuki, KobukiSettings};

use super::after;
use super::serial::{Line, Machine, SerialOptions};
use super::words::{Side, number, side, switch};

#[derive(Debug, Args)]
pub struct KobukiOptions {
    #[command(flatten)]
    pub(super) serial: SerialOptions,
    /// Accuracy of the gyro.
    #[arg(long, value_enum, default_value_t = NoiseOption::Typical)]
    noise: NoiseOption,
    /// Seed of the random numbers.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Battery at the start, V, 12.0 to 16.5.
    #[arg(long, value_name = "VOLTS", default_value_t = 16.0, value_parser = battery)]
    battery: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum NoiseOption {
    /// Exact.
    None,
    /// Noise on the raw samples only; the heading is exact.
    Raw,
    /// As accurate as the real one.
    Typical,
}

/// The device.
pub(super) fn machine(options: &KobukiOptions) -> Kobuki {
    let noise = match options.noise {
        NoiseOption::None => Noise::None,
        NoiseOption::Raw => Noise::Raw,
        NoiseOption::Typical => Noise::Typical,
    };
    let settings = KobukiSettings {
        noise,
        seed: options.seed,
        battery_volts: options.battery,
        ..KobukiSettings::default()
    };
    Kobuki::new(settings)
}

const HELP: &str = "\
bump left|center|right on|off     press or release a bumper
cliff left|center|right on|off|N  an edge or the floor before a sensor, or the value of its A/D converter
drop left|right on|off            drop a wheel, or lift it
press N, release N                a button, 0 to 2
charger docking|adapter|none      source of the battery's charge
battery VOLTS                     12.0 to 16.5
dock ir left|center|right N       signals of the docking station at a receiver, 0 to 255
dock ir SIGNAL 0|1                one signal at all receivers: near-left, near-center, near-right, far-center, far-left, far-right
input N on|off                    a digital input, 0 to 3
analog N VALUE                    an analog input, 0 to 3, and its value, 0 to 4095
stall left|right on|off           hold a wheel
blocked on|off                    hold the machine; its wheels slip
pose                              print its true pose: x y heading (m, rad)
silence SECONDS                   send nothing
garbage [BYTES]                   send random bytes on the line, 64 by default
corrupt PERCENT                   corrupt a byte in this share of the packets
reset                             switch it off and on
";

/// A command of standard input.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Command {
    Bump(Place, bool),
    Cliff(Place, u16),
    Drop(Side, bool),
    Button(usize, bool),
    Charger(Option<ChargerSource>),
    Battery(f64),
    Receiver(Place, DockSignals),
    Signal(DockSignals, bool),
    Input(usize, bool),
    Analog(usize, u16),
    Stall(Side, bool),
    Blocked(bool),
    Pose,
    Silence(Duration),
    Garbage(usize),
    Corrupt(f64),
    Reset,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Left,
    Center,
    Right,
}

impl Place {
    fn of<T>(self, row: &mut FrontSensors<T>) -> &mut T {
        match self {
            Self::Left => &mut row.left,
            Self::Center => &mut row.center,
            Self::Right => &mut row.right,
        }
    }
}

/// Names of the docking station's signals.
const SIGNALS: [(&str, DockSignals); 6] = [
    ("near-left", DockSignals::NEAR_LEFT),
    ("near-center", DockSignals::NEAR_CENTER),
    ("near-right", DockSignals::NEAR_RIGHT),
    ("far-center", DockSignals::FAR_CENTER),
    ("far-left", DockSignals::FAR_LEFT),
    ("far-right", DockSignals::FAR_RIGHT),
];

impl Machine for Kobuki {
    const HELP: &str = HELP;

    type Command = Command;

    fn parse(words: &[&str]) -> std::result::Result<Command, String> {
        Ok(match words {
            ["bump", at, state] => Command::Bump(place(at)?, switch(state)?),
            ["cliff", at, "on"] => Command::Cliff(place(at)?, CLIFF_ADC_EDGE),
            ["cliff", at, "off"] => Command::Cliff(place(at)?, CLIFF_ADC_FLOOR),
            ["cliff", at, value] => Command::Cliff(place(at)?, number(value, ADC_MAX)?),
            ["drop", at, state] => Command::Drop(side(at)?, switch(state)?),
            ["press", button] => Command::Button(number(button, 2)?, true),
            ["release", button] => Command::Button(number(button, 2)?, false),
            ["charger", "docking"] => Command::Charger(Some(ChargerSource::Docking)),
            ["charger", "adapter"] => Command::Charger(Some(ChargerSource::Adapter)),
            ["charger", "none"] => Command::Charger(None),
            ["battery", volts] => Command::Battery(battery(volts)?),
            ["dock", "ir", at, value] => match SIGNALS.iter().find(|(name, _)| name == at) {
                Some((_, signal)) => Command::Signal(*signal, switch(value)?),
                None => {
                    let bits = number(value, u8::MAX)?;
                    Command::Receiver(place(at)?, DockSignals::from_bits_retain(bits))
                }
            },
            ["input", input, state] => Command::Input(number(input, 3)?, switch(state)?),
            ["analog", input, value] => Command::Analog(number(input, 3)?, number(value, ADC_MAX)?),
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

    #[expect(clippy::indexing_slicing, reason = "`parse` has checked the numbers")]
    fn execute(&mut self, command: Command) -> Option<String> {
        let inputs = &mut self.inputs;
        match command {
            Command::Bump(place, state) => *place.of(&mut inputs.bumpers) = state,
            Command::Cliff(place, value) => *place.of(&mut inputs.cliff_adc) = value,
            Command::Drop(side, state) => *side.of(&mut inputs.wheel_drops) = state,
            Command::Button(button, state) => inputs.buttons[button] = state,
            Command::Charger(source) => inputs.charger = source,
            Command::Battery(volts) => self.set_battery(volts),
            Command::Receiver(place, value) => *place.of(&mut inputs.dock_ir) = value,
            Command::Signal(signal, state) => {
                let FrontSensors { left, center, right } = &mut inputs.dock_ir;
                for receiver in [left, center, right] {
                    receiver.set(signal, state);
                }
            }
            Command::Input(input, state) => inputs.digital[input] = state,
            Command::Analog(input, value) => inputs.analog[input] = value,
            Command::Stall(side, state) => *side.of(&mut inputs.stalled) = state,
            Command::Blocked(state) => inputs.motion = state.then_some(Twist::ZERO),
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
            Event::Speed(_) => Line::Speed(event.to_string()),
            event => Line::Event(event.to_string()),
        })
    }
}

fn place(text: &str) -> std::result::Result<Place, String> {
    match text {
        "left" => Ok(Place::Left),
        "center" | "centre" => Ok(Place::Center),
        "right" => Ok(Place::Right),
        _ => Err(format!("'{text}' is not left, center or right")),
    }
}

fn battery(text: &str) -> std::result::Result<f64, String> {
    let parsed = text.parse().ok().filter(|volts| BATTERY_RANGE.contains(volts));
    let (low, high) = (BATTERY_RANGE.start(), BATTERY_RANGE.end());
    parsed.ok_or_else(|| format!("'{text}' is not a voltage from {low:.1} to {high:.1}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> std::result::Result<Command, String> {
        Kobuki::parse(&line.split_whitespace().collect::<Vec<_>>())
    }

    #[test]
    fn commands_are_words() {
        for (line, command) in [
            ("bump left on", Command::Bump(Place::Left, true)),
            ("cliff center off", Command::Cliff(Place::Center, CLIFF_ADC_FLOOR)),
            ("cliff right 523", Command::Cliff(Place::Right, 523)),
            ("press 2", Command::Button(2, true)),
            ("charger none", Command::Charger(None)),
            ("battery 13.9", Command::Battery(13.9)),
            ("dock ir far-left 1", Command::Signal(DockSignals::FAR_LEFT, true)),
            (
                "dock ir left 33",
                Command::Receiver(Place::Left, DockSignals::NEAR_LEFT | DockSignals::FAR_RIGHT),
            ),
            ("analog 1 2047", Command::Analog(1, 2047)),
            ("silence 0.5", Command::Silence(Duration::from_millis(500))),
        ] {
            assert_eq!(parse(line), Ok(command), "{line}");
        }
    }

    #[test]
    fn unknown_commands_are_refused_with_a_reason() {
        for (line, reason) in [
            ("bump up on", "'up' is not left, center or right"),
            ("press 3", "'3' is not a whole number from 0 to 2"),
            ("battery nan", "'nan' is not a voltage from 12.0 to 16.5"),
            ("analog 0 4096", "'4096' is not a whole number from 0 to 4095"),
            ("silence -1", "'-1' is not a time in seconds"),
            ("fly", "'fly' is not a command; 'help' lists them"),
        ] {
            assert_eq!(parse(line), Err(reason.to_owned()), "{line}");
        }
    }

    #[test]
    fn help_lists_every_command() {
        for word in [
            "bump", "cliff", "drop", "press", "release", "charger", "battery", "dock ir", "input", "analog",
            "stall", "blocked", "pose", "silence", "garbage", "corrupt", "reset",
        ] {
            assert!(HELP.lines().any(|line| line.contains(word)), "{word}");
        }
    }
}
