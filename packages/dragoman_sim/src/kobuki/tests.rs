//! A simulated Kobuki on virtual time.

mod motion;
mod packets;
mod properties;

use dragoman_base::kobuki::wire::{
    BaseControl, CliffReadings, Command, ControllerGains, CoreSensors, Decoder, DockIr, Feedback,
    FirmwareVersion, GainsRequest, GeneralPurposeInput, HardwareVersion, Inertia, Outputs, RawGyro,
    RequestFlags, Sound, UniqueDeviceId, WheelCurrents,
};

use super::*;

/// Content of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Packet {
    core: Option<CoreSensors>,
    dock_ir: Option<DockIr>,
    inertia: Option<Inertia>,
    cliffs: Option<CliffReadings>,
    currents: Option<WheelCurrents>,
    hardware: Option<HardwareVersion>,
    firmware: Option<FirmwareVersion>,
    gyro: Option<RawGyro>,
    inputs: Option<GeneralPurposeInput>,
    unique_id: Option<UniqueDeviceId>,
    gains: Option<ControllerGains>,
}

impl Packet {
    fn of(payload: &[u8]) -> Self {
        let mut packet = Self::default();
        for part in Feedback::read(payload) {
            match part.expect("known") {
                Feedback::Core(part) => packet.core = Some(part),
                Feedback::DockIr(part) => packet.dock_ir = Some(part),
                Feedback::Inertia(part) => packet.inertia = Some(part),
                Feedback::Cliffs(part) => packet.cliffs = Some(part),
                Feedback::Currents(part) => packet.currents = Some(part),
                Feedback::HardwareVersion(part) => packet.hardware = Some(part),
                Feedback::FirmwareVersion(part) => packet.firmware = Some(part),
                Feedback::RawGyro(part) => packet.gyro = Some(part),
                Feedback::Input(part) => packet.inputs = Some(part),
                Feedback::UniqueDeviceId(part) => packet.unique_id = Some(part),
                Feedback::ControllerGains(part) => packet.gains = Some(part),
            }
        }
        packet
    }
}

fn encode(command: &Command) -> Vec<u8> {
    let mut bytes = Vec::new();
    command.encode_frame(&mut bytes);
    bytes
}

fn speed(speed_mm_per_s: i16, radius_mm: i16) -> Command {
    Command::BaseControl(BaseControl { speed_mm_per_s, radius_mm })
}

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// A Kobuki with an exact gyro, and its packets.
struct Fixture {
    kobuki: Kobuki,
    now: Duration,
    decoder: Decoder,
    packets: Vec<Packet>,
    events: Vec<Event>,
}

impl Fixture {
    /// A Kobuki that has just booted.
    fn new() -> Self {
        Self::with(KobukiSettings { noise: Noise::None, ..KobukiSettings::default() })
    }

    fn with(settings: KobukiSettings) -> Self {
        let boot = settings.boot_time;
        let mut fixture = Self {
            kobuki: Kobuki::new(settings),
            now: Duration::ZERO,
            decoder: Decoder::new(),
            packets: Vec::new(),
            events: Vec::new(),
        };
        fixture.run(boot);
        fixture
    }

    fn run(&mut self, time: Duration) {
        let end = self.now + time;
        while self.now < end {
            self.now = self.kobuki.poll_timeout().min(end);
            self.kobuki.handle_timeout(self.now);
            while let Some(bytes) = self.kobuki.poll_transmit() {
                let mut bytes = bytes.as_slice();
                while let Some(payload) = self.decoder.next(&mut bytes) {
                    self.packets.push(Packet::of(payload));
                }
            }
            self.events.extend(std::iter::from_fn(|| self.kobuki.poll_event()));
        }
    }

    fn send(&mut self, command: &Command) {
        self.kobuki.handle_bytes(self.now, &encode(command));
    }

    /// Commands a speed every 100 ms for some time.
    fn drive(&mut self, speed_mm_per_s: i16, radius_mm: i16, time: Duration) {
        let end = self.now + time;
        while self.now < end {
            self.send(&speed(speed_mm_per_s, radius_mm));
            self.run(ms(100).min(end - self.now));
        }
    }

    fn last(&self) -> &Packet {
        self.packets.last().expect("a packet")
    }

    fn core(&self) -> CoreSensors {
        self.last().core.expect("core")
    }

    fn inertia(&self) -> Inertia {
        self.last().inertia.expect("inertia")
    }
}
