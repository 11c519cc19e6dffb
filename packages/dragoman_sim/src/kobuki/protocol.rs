//! Execution of commands, and content of packets.

use std::fmt;
use std::time::Duration;

use dragoman_base::kobuki::driver::LedColor;
use dragoman_base::kobuki::wire::{
    BaseControl, Bumpers, Buttons, Charger, CliffReadings, Cliffs, Command, ControllerGains, CoreSensors,
    DecodeError, Decoder, DigitalInputs, DockIr, Feedback, FirmwareVersion, GeneralPurposeInput,
    HardwareVersion, Inertia, Outputs, Overcurrents, RawGyro, RequestFlags, Sound, SoundSequence,
    UniqueDeviceId, Version, WheelCurrents, WheelDrops, frame,
};
use dragoman_base::odometry::WheelGeometry;
use dragoman_geometry::Twist;

use super::inputs::{ADC_MAX, CLIFF_THRESHOLD};
use super::sound::Note;
use super::{Inputs, Kobuki, MAX_SPEED, MAX_TURN_RATE, WATCHDOG};
use crate::chassis::Wheels;

/// Hardware version of the robot in the TurtleBot thesis, 3.6.1.
const HARDWARE: [u8; 3] = [1, 0, 4];
const FIRMWARE: [u8; 3] = [1, 2, 0];
const UNIQUE_ID: UniqueDeviceId = UniqueDeviceId([98_434_864, 959_859_523, 1_126_263_088]);

/// An event of the robot.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// Powered up.
    PowerOn,
    /// Speed commands arrive; or none for 0.6 s, and the wheels stop.
    Motors(bool),
    /// The commanded velocity.
    Speed(Twist),
    /// A programmable LED, 1 or 2.
    Led(u8, LedColor),
    /// A digital output, 0 to 3.
    Output(u8, bool),
    /// A switch of the external power, 0 to 3: 3.3 V, 5 V, 12 V 5 A, 12 V 1.5 A.
    ExternalPower(u8, bool),
    /// It plays a melody.
    Sound(SoundSequence),
    /// It plays a single tone.
    Tone(Sound),
    /// The state of the charger has changed.
    Charger(Charger),
    /// Its gains have changed. They are stored and reported, but do not affect the simulated wheels.
    Gains(ControllerGains),
}

/// State set by commands.
#[derive(Debug)]
pub(super) struct Protocol {
    decoder: Decoder,
    /// Speeds of the wheels, m/s.
    speeds: Wheels<f64>,
    commanded: Twist,
    /// Time of the last speed command.
    commanded_at: Option<Duration>,
    outputs: Outputs,
    gains: ControllerGains,
    /// Data requested for the next packet.
    requested: RequestFlags,
    are_gains_requested: bool,
}

impl Default for Protocol {
    fn default() -> Self {
        Self {
            decoder: Decoder::new(),
            speeds: Wheels::default(),
            commanded: Twist::ZERO,
            commanded_at: None,
            outputs: Outputs::default(),
            gains: ControllerGains::DEFAULT,
            requested: RequestFlags::empty(),
            are_gains_requested: false,
        }
    }
}

impl Protocol {
    pub(super) fn leds(&self) -> [LedColor; 2] {
        [(Outputs::LED_1_RED, Outputs::LED_1_GREEN), (Outputs::LED_2_RED, Outputs::LED_2_GREEN)].map(
            |(red, green)| match (self.outputs.contains(red), self.outputs.contains(green)) {
                (false, false) => LedColor::Black,
                (false, true) => LedColor::Green,
                (true, true) => LedColor::Orange,
                (true, false) => LedColor::Red,
            },
        )
    }

    pub(super) fn digital_outputs(&self) -> [bool; 4] {
        [Outputs::OUTPUT_0, Outputs::OUTPUT_1, Outputs::OUTPUT_2, Outputs::OUTPUT_3]
            .map(|output| self.outputs.contains(output))
    }

    pub(super) fn external_power(&self) -> [bool; 4] {
        [Outputs::POWER_3V3, Outputs::POWER_5V, Outputs::POWER_12V_5A, Outputs::POWER_12V_1A5]
            .map(|power| self.outputs.contains(power))
    }
}

impl Kobuki {
    /// Receives bytes from the line.
    pub(super) fn take(&mut self, mut bytes: &[u8]) {
        let mut decoder = std::mem::take(&mut self.protocol.decoder);
        while let Some(payload) = decoder.next(&mut bytes) {
            for command in Command::read(payload) {
                self.execute(command);
            }
        }
        self.protocol.decoder = decoder;
    }

    /// Invalid commands are ignored, because the protocol has no answer for them.
    fn execute(&mut self, command: Result<Command, DecodeError>) {
        match command {
            Ok(Command::BaseControl(control)) => self.drive(control),
            Ok(Command::Sound(sound)) => {
                let duration = Duration::from_millis(sound.duration_ms.into());
                self.player.note(Note { frequency: sound.frequency(), duration });
                self.report(Event::Tone(sound));
            }
            Ok(Command::SoundSequence(sequence)) => self.play(sequence),
            Ok(Command::RequestExtra(flags)) => self.protocol.requested |= flags,
            Ok(Command::SetOutputs(outputs)) => self.set_outputs(outputs),
            Ok(Command::SetControllerGains(gains)) => {
                // Gains of kind 0 are the factory defaults; the command's values are ignored.
                self.protocol.gains = if gains.kind == 0 { ControllerGains::DEFAULT } else { gains };
                self.report(Event::Gains(self.protocol.gains));
            }
            Ok(Command::RequestControllerGains(_)) => self.protocol.are_gains_requested = true,
            Err(_) => {}
        }
    }

    /// A packet with the current measurements and the requested data.
    pub(super) fn feedback(&mut self) -> Vec<u8> {
        let wheels = self.chassis.wheels;
        let currents = wheels.map(|wheel| (wheel.current.abs() * 100.0).round() as u8);
        let adc = |value: u16| value.min(ADC_MAX);
        let Inputs { cliff_adc, dock_ir, digital, analog, .. } = self.inputs;
        let inertia = Inertia {
            angle_centidegrees: self.gyro.angle(),
            rate_centidegrees_per_s: self.gyro.angle_rate(),
            reserved: [0; 3],
        };
        let mut high = DigitalInputs::empty();
        for (number, is_high) in digital.into_iter().enumerate() {
            high.set(DigitalInputs::from_bits_retain(1 << number), is_high);
        }
        let mut parts = vec![
            Feedback::Core(self.core_sensors()),
            Feedback::DockIr(DockIr { right: dock_ir.right, center: dock_ir.center, left: dock_ir.left }),
            Feedback::Inertia(inertia),
            Feedback::Cliffs(CliffReadings {
                right: adc(cliff_adc.right),
                center: adc(cliff_adc.center),
                left: adc(cliff_adc.left),
            }),
            Feedback::Currents(WheelCurrents {
                left_centiamperes: currents.left,
                right_centiamperes: currents.right,
            }),
        ];
        let requested = std::mem::take(&mut self.protocol.requested);
        let version = |[major, minor, patch]: [u8; 3]| Version::new(major, minor, patch);
        if requested.contains(RequestFlags::HARDWARE_VERSION) {
            parts.push(Feedback::HardwareVersion(HardwareVersion(version(HARDWARE))));
        }
        if requested.contains(RequestFlags::FIRMWARE_VERSION) {
            parts.push(Feedback::FirmwareVersion(FirmwareVersion(version(FIRMWARE))));
        }
        parts.extend(RawGyro::new(self.gyro.frame, &self.gyro.take_samples()).map(Feedback::RawGyro));
        parts.push(Feedback::Input(GeneralPurposeInput {
            digital: high,
            analog: analog.map(adc),
            reserved: [0; 3],
        }));
        if requested.contains(RequestFlags::UNIQUE_DEVICE_ID) {
            parts.push(Feedback::UniqueDeviceId(UNIQUE_ID));
        }
        if std::mem::take(&mut self.protocol.are_gains_requested) {
            parts.push(Feedback::ControllerGains(self.protocol.gains));
        }
        let mut packet = Vec::with_capacity(128);
        let framed = frame::encode(&mut packet, |payload| parts.iter().for_each(|part| part.encode(payload)));
        debug_assert!(framed.is_ok(), "{framed:?}");
        packet
    }

    fn core_sensors(&self) -> CoreSensors {
        let Inputs { bumpers: pressed, cliff_adc, wheel_drops: dropped, buttons: [b0, b1, b2], .. } =
            self.inputs;
        let mut bumpers = Bumpers::empty();
        bumpers.set(Bumpers::LEFT, pressed.left);
        bumpers.set(Bumpers::CENTER, pressed.center);
        bumpers.set(Bumpers::RIGHT, pressed.right);
        let mut wheel_drops = WheelDrops::empty();
        wheel_drops.set(WheelDrops::LEFT, dropped.left);
        wheel_drops.set(WheelDrops::RIGHT, dropped.right);
        let mut cliffs = Cliffs::empty();
        cliffs.set(Cliffs::LEFT, cliff_adc.left < CLIFF_THRESHOLD);
        cliffs.set(Cliffs::CENTER, cliff_adc.center < CLIFF_THRESHOLD);
        cliffs.set(Cliffs::RIGHT, cliff_adc.right < CLIFF_THRESHOLD);
        let mut buttons = Buttons::empty();
        buttons.set(Buttons::B0, b0);
        buttons.set(Buttons::B1, b1);
        buttons.set(Buttons::B2, b2);
        let overloaded = self.overcurrent();
        let mut overcurrents = Overcurrents::empty();
        overcurrents.set(Overcurrents::LEFT, overloaded.left);
        overcurrents.set(Overcurrents::RIGHT, overloaded.right);
        // The counters wrap, as the clock does.
        let ticks = self.chassis.ticks().map(|ticks| ticks as u16);
        CoreSensors {
            timestamp_ms: (self.tick - self.booted_at) as u16,
            bumpers,
            wheel_drops,
            cliffs,
            left_encoder_ticks: ticks.left,
            right_encoder_ticks: ticks.right,
            left_pwm: self.chassis.wheels.left.pwm(),
            right_pwm: self.chassis.wheels.right.pwm(),
            buttons,
            charger: self.battery.charger,
            battery_decivolts: (self.battery.volts() * 10.0).round() as u8,
            overcurrents,
        }
    }

    /// Current set-points of the wheels, m/s.
    pub(super) fn watch_motors(&mut self) -> Wheels<f64> {
        if self.protocol.commanded_at.is_some_and(|at| self.now() > at + WATCHDOG) {
            self.protocol.commanded_at = None;
            self.protocol.speeds = Wheels::default();
            self.report(Event::Motors(false));
            if self.protocol.commanded != Twist::ZERO {
                self.protocol.commanded = Twist::ZERO;
                self.report(Event::Speed(Twist::ZERO));
            }
        }
        self.protocol.speeds
    }

    pub(super) fn play(&mut self, sequence: SoundSequence) {
        self.player.sequence(sequence);
        self.report(Event::Sound(sequence));
    }

    /// Beyond the limits both velocities are reduced by the same factor, so that the radius stays the same.
    fn drive(&mut self, control: BaseControl) {
        let (linear, angular) = control.velocities();
        let share = (MAX_SPEED / linear.abs()).min(MAX_TURN_RATE / angular.abs()).min(1.0);
        let twist = Twist::new(linear * share, angular * share);
        let [left, right] = WheelGeometry::KOBUKI.wheel_speeds(twist);
        self.protocol.speeds = Wheels { left, right };
        if self.protocol.commanded_at.replace(self.now()).is_none() {
            self.report(Event::Motors(true));
        }
        if twist != self.protocol.commanded {
            self.protocol.commanded = twist;
            self.report(Event::Speed(twist));
        }
    }

    fn set_outputs(&mut self, outputs: Outputs) {
        let before = (self.leds(), self.digital_outputs(), self.external_power());
        self.protocol.outputs = outputs;
        for (number, (old, new)) in (1..).zip(before.0.into_iter().zip(self.leds())) {
            if old != new {
                self.report(Event::Led(number, new));
            }
        }
        for (number, (old, new)) in (0..).zip(before.1.into_iter().zip(self.digital_outputs())) {
            if old != new {
                self.report(Event::Output(number, new));
            }
        }
        for (number, (old, new)) in (0..).zip(before.2.into_iter().zip(self.external_power())) {
            if old != new {
                self.report(Event::ExternalPower(number, new));
            }
        }
    }
}

/// A line, as `dragoman device kobuki` prints it.
impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let switch = |is_on: &bool| if *is_on { "on" } else { "off" };
        match self {
            Self::PowerOn => f.write_str("power on"),
            Self::Motors(is_on) => write!(f, "motors {}", switch(is_on)),
            Self::Speed(twist) => write!(f, "speed {:.3} m/s {:.3} rad/s", twist.linear, twist.angular),
            Self::Led(number, color) => write!(f, "led{number} {}", name(*color)),
            Self::Output(number, is_on) => write!(f, "output {number} {}", switch(is_on)),
            Self::ExternalPower(number, is_on) => {
                let name = ["3.3V", "5V", "12V5A", "12V1.5A"].get(usize::from(*number)).unwrap_or(&"?");
                write!(f, "external power {name} {}", switch(is_on))
            }
            Self::Sound(sequence) => write!(f, "sound {}", melody(*sequence)),
            Self::Tone(sound) => sound.fmt(f),
            Self::Charger(charger) => charger.fmt(f),
            Self::Gains(gains) => gains.fmt(f),
        }
    }
}

fn name(color: LedColor) -> &'static str {
    match color {
        LedColor::Black => "black",
        LedColor::Green => "green",
        LedColor::Orange => "orange",
        LedColor::Red => "red",
    }
}

fn melody(sequence: SoundSequence) -> &'static str {
    match sequence {
        SoundSequence::On => "on",
        SoundSequence::Off => "off",
        SoundSequence::Recharge => "recharge",
        SoundSequence::Button => "button",
        SoundSequence::Error => "error",
        SoundSequence::CleaningStart => "cleaning start",
        SoundSequence::CleaningEnd => "cleaning end",
    }
}
