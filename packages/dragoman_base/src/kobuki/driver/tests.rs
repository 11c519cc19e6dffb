mod random;

use dragoman_geometry::limits::AxisLimits;

use super::*;
use crate::kobuki::wire::{
    Bumpers, Buttons, Charger, CliffReadings, Cliffs, CoreSensors, DigitalInputs, FirmwareVersion,
    GeneralPurposeInput, HardwareVersion, Outputs, RequestFlags, UniqueDeviceId, Version, WheelDrops, frame,
};

fn milliseconds(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// A driver with a base controlled by the test.
struct Bench {
    driver: Driver,
    now: Duration,
    core: CoreSensors,
    angle_centidegrees: i16,
}

impl Bench {
    fn new(config: Config) -> Self {
        let core = CoreSensors { timestamp_ms: 65_500, battery_decivolts: 160, ..CoreSensors::default() };
        let driver = Driver::new(config).unwrap();
        Self { driver, now: milliseconds(5000), core, angle_centidegrees: 17_900 }
    }

    /// Connected for so long that the driver has received its whole identity and sends nothing more.
    fn online(config: Config) -> Self {
        let mut bench = Self::new(config);
        bench.driver.handle_connected(bench.now);
        bench.frame();
        bench.frame_with(&identity());
        for _ in 0..30 {
            bench.frame();
        }
        bench.sent();
        bench.events();
        bench
    }

    fn pass(&mut self, count: u64) {
        self.now += milliseconds(count);
        self.driver.handle_timeout(self.now);
    }

    /// Delivers a frame of feedback 20 ms later.
    fn frame(&mut self) {
        self.frame_with(&[]);
    }

    fn frame_with(&mut self, parts: &[Feedback]) {
        self.now += milliseconds(20);
        self.core.timestamp_ms = self.core.timestamp_ms.wrapping_add(20);
        let bytes = self.bytes(parts);
        let mut rest = &bytes[..];
        assert!(self.driver.handle_bytes(self.now, &mut rest));
        assert!(!self.driver.handle_bytes(self.now, &mut rest), "one frame");
    }

    fn bytes(&self, parts: &[Feedback]) -> Vec<u8> {
        let mut bytes = Vec::new();
        frame::encode(&mut bytes, |out| {
            self.core.encode(out);
            let angle_centidegrees = self.angle_centidegrees;
            Inertia { angle_centidegrees, ..Inertia::default() }.encode(out);
            parts.iter().for_each(|part| part.encode(out));
        })
        .unwrap();
        bytes
    }

    fn command(&mut self, linear: f64, angular: f64) -> Result<Vec<Command>, Refusal> {
        self.driver.command(self.now, Twist::new(linear, angular)).map(commands)
    }

    /// The commands sent since the last call.
    fn sent(&mut self) -> Vec<Command> {
        commands(self.driver.poll_transmit())
    }

    fn events(&mut self) -> Vec<Event> {
        std::iter::from_fn(|| self.driver.poll_event()).collect()
    }

    fn standstill(&self) -> Option<Standstill> {
        self.driver.state().standstill
    }
}

fn identity() -> [Feedback; 4] {
    [
        Feedback::HardwareVersion(HardwareVersion(Version::new(1, 0, 4))),
        Feedback::FirmwareVersion(FirmwareVersion(Version::new(1, 2, 0))),
        Feedback::UniqueDeviceId(UniqueDeviceId([1, 2, 3])),
        Feedback::ControllerGains(ControllerGains::DEFAULT),
    ]
}

fn commands(mut bytes: &[u8]) -> Vec<Command> {
    let (mut decoder, mut commands) = (Decoder::new(), Vec::new());
    while let Some(payload) = decoder.next(&mut bytes) {
        commands.extend(Command::read(payload).map(Result::unwrap));
    }
    assert_eq!(decoder.statistics().skipped_bytes, 0);
    commands
}

fn go(speed_mm_per_s: i16, radius_mm: i16) -> Command {
    Command::BaseControl(BaseControl { speed_mm_per_s, radius_mm })
}

const STOP: Command = Command::BaseControl(BaseControl::STOP);

fn refused(reason: Standstill) -> Result<Vec<Command>, Refusal> {
    Err(Refusal::Standstill(reason))
}

/// The firmware has no command for its counters. The simulator of the TurtleBot thesis (3.6.1) resets them.
#[test]
fn a_reset_of_the_odometry_leaves_the_encoders_unless_they_are_configured_otherwise() {
    for reset_encoders in [false, true] {
        let mut bench = Bench::online(Config { reset_encoders, ..Config::default() });
        (bench.core.left_encoder_ticks, bench.core.right_encoder_ticks) = (1170, 1170);
        bench.frame();
        let encoders = |bench: &Bench| {
            let core = bench.driver.state().sensors.core.unwrap();
            [core.left_encoder_ticks, core.right_encoder_ticks]
        };
        assert_eq!(encoders(&bench), [1170, 1170]);
        bench.driver.reset_odometry();
        assert_eq!(encoders(&bench), if reset_encoders { [0, 0] } else { [1170, 1170] });
        assert_eq!(bench.driver.state().pose, Pose::ORIGIN);
        // 10 cm back: the counters wrap at 65536.
        (bench.core.left_encoder_ticks, bench.core.right_encoder_ticks) = (0, 0);
        bench.frame();
        assert_eq!(encoders(&bench), if reset_encoders { [64_366, 64_366] } else { [0, 0] });
        assert!((bench.driver.state().pose.x + 0.1).abs() < 1e-3, "{:?}", bench.driver.state().pose);
        bench.driver.set_odometry(Pose::ORIGIN).unwrap();
        assert_eq!(encoders(&bench), [0, 0], "also by Player's way");
        bench.driver.handle_disconnected(bench.now);
        bench.driver.handle_connected(bench.now);
        bench.core.left_encoder_ticks = 5;
        bench.frame();
        assert_eq!(encoders(&bench), [5, 0], "another connection has the base's own counters");
    }
}

#[test]
fn silent_until_the_first_feedback() {
    let mut bench = Bench::new(Config::default());
    assert_eq!(bench.command(0.1, 0.0), refused(Standstill::Disconnected));
    bench.driver.handle_connected(bench.now);
    assert_eq!(bench.command(0.1, 0.0), refused(Standstill::NoFeedback));
    bench.driver.set_led(Led::One, LedColor::Orange);
    assert!(bench.driver.play_sequence(SoundSequence::On).is_err());
    assert!(bench.driver.set_controller_gains(ControllerGains::DEFAULT).is_err());
    bench.pass(1000);
    bench.driver.handle_bytes(bench.now, &mut &[0xaa, 0x55, 4, 6, 2, 1, 1, 4][..]);
    assert_eq!(bench.sent(), [], "a frame without core sensors is no feedback");
    bench.frame();
    assert_eq!(
        bench.sent(),
        [
            Command::SetOutputs(Outputs::POWER | Outputs::LED_1),
            STOP,
            Command::RequestExtra(RequestFlags::all()),
            Command::RequestControllerGains(GainsRequest::default()),
        ]
    );
    assert_eq!(bench.events(), [Event::Robot { online: true }]);
    assert_eq!(bench.standstill(), Some(Standstill::NoCommand));
}

#[test]
fn a_command_is_sent_at_once_and_with_every_feedback_and_expires() {
    let mut bench = Bench::online(Config::default());
    assert_eq!(bench.command(0.2, 0.0), Ok(vec![go(200, 0)]));
    assert_eq!(bench.standstill(), None);
    for _ in 0..29 {
        bench.frame();
        assert_eq!(bench.sent(), [go(200, 0)]);
    }
    let deadline = bench.driver.poll_timeout().unwrap();
    assert_eq!(deadline, bench.now + milliseconds(20));
    bench.driver.handle_timeout(deadline);
    assert_eq!(bench.sent(), [STOP]);
    assert_eq!(bench.events(), [Event::CommandExpired]);
    assert_eq!(bench.standstill(), Some(Standstill::CommandExpired));
    // Repeated for a while, in case one was lost.
    let stops = (0..100).map(|_| (bench.frame(), bench.sent()).1.len()).sum::<usize>();
    assert_eq!(stops, 30);
    assert_eq!(bench.command(0.1, 1.0), Ok(vec![go(215, 100)]));
}

#[test]
fn velocities_that_are_not_finite_are_refused_and_the_last_command_holds() {
    let mut bench = Bench::online(Config::default());
    bench.command(0.2, 0.0).unwrap();
    for (linear, angular) in [(f64::NAN, 0.0), (0.0, f64::INFINITY)] {
        let error = bench.command(linear, angular).unwrap_err();
        assert!(matches!(error, Refusal::NotFinite(_)), "{error}");
    }
    bench.frame();
    assert_eq!(bench.sent(), [go(200, 0)]);
}

#[test]
fn acceleration_limits_ramp_with_the_feedback() {
    let linear = AxisLimits { velocity: 0.5, acceleration: Some(1.0), deceleration: Some(2.0) };
    let limits = Limits { linear, ..Limits::KOBUKI };
    let mut bench = Bench::online(Config { limits, ..Config::default() });
    bench.frame();
    bench.sent();
    let mut speeds = Vec::new();
    for target in [0.06, 0.06, 0.06, 0.06, 0.0, 0.0] {
        bench.now += milliseconds(5);
        let mut sent = bench.command(target, 0.0).unwrap();
        bench.now -= milliseconds(5);
        bench.frame();
        sent.extend(bench.sent());
        speeds.extend(sent.iter().map(|command| match command {
            Command::BaseControl(control) => control.speed_mm_per_s,
            other => panic!("{other}"),
        }));
    }
    // At standstill the ramp advances by 0.1 s at most; then by 5 and 15 ms.
    assert_eq!(speeds.last(), Some(&0));
    assert!(speeds.iter().max() == Some(&60), "{speeds:?}");
    for pair in speeds.windows(2) {
        assert!(pair[1] - pair[0] <= 20 && pair[0] - pair[1] <= 30, "{speeds:?}");
    }
}

#[test]
fn silence_stops_and_what_was_commanded_is_forgotten() {
    let mut bench = Bench::online(Config::default());
    bench.command(0.2, 0.0).unwrap();
    let received = bench.now;
    assert_eq!(bench.driver.poll_timeout(), Some(received + milliseconds(100)));
    bench.pass(99);
    assert_eq!(bench.sent(), []);
    bench.pass(1);
    assert_eq!(bench.sent(), [STOP]);
    assert_eq!(bench.events(), [Event::Robot { online: false }]);
    assert_eq!(bench.command(0.2, 0.0), refused(Standstill::Silent));
    assert_eq!(bench.driver.poll_timeout(), None);
    bench.frame();
    assert_eq!(bench.events(), [Event::Robot { online: true }]);
    let sent = bench.sent();
    assert!(!sent.contains(&go(200, 0)) && sent.contains(&STOP), "{sent:?}");
}

#[test]
fn frames_that_waited_for_us_are_no_silence() {
    for (stall, expired) in [(300, false), (700, true)] {
        let mut bench = Bench::online(Config::default());
        bench.command(0.2, 0.0).unwrap();
        let mut bytes = Vec::new();
        for _ in 0..stall / 20 {
            bench.core.timestamp_ms = bench.core.timestamp_ms.wrapping_add(20);
            bytes.extend(bench.bytes(&[]));
        }
        bench.now += milliseconds(stall);
        let mut rest = &bytes[..];
        while bench.driver.handle_bytes(bench.now, &mut rest) {}
        let sent = bench.sent();
        if expired {
            assert_eq!(bench.events(), [Event::CommandExpired]);
            assert!(sent.iter().all(|command| *command == STOP), "{sent:?}");
        } else {
            assert_eq!(bench.events(), []);
            assert!(sent.iter().all(|command| *command == go(200, 0)), "{sent:?}");
        }
        // Bytes without a frame count as silence.
        bench.now += milliseconds(100);
        assert!(!bench.driver.handle_bytes(bench.now, &mut &[0xaa, 0x55][..]));
        assert_eq!(bench.events(), [Event::Robot { online: false }]);
    }
}

#[test]
fn a_lost_connection_forgets_commands_and_keeps_outputs_and_odometry() {
    let mut bench = Bench::online(Config::default());
    bench.driver.set_led(Led::Two, LedColor::Red);
    bench.driver.set_digital_outputs([Some(true), None, Some(false), Some(true)]);
    bench.driver.set_external_power([None, Some(false), None, None]);
    let outputs =
        Outputs::LED_2_RED | Outputs::OUTPUT_0 | Outputs::OUTPUT_3 | (Outputs::POWER - Outputs::POWER_5V);
    assert_eq!(bench.sent().last(), Some(&Command::SetOutputs(outputs)));
    for _ in 0..10 {
        bench.core.left_encoder_ticks = bench.core.left_encoder_ticks.wrapping_sub(117);
        bench.core.right_encoder_ticks = bench.core.right_encoder_ticks.wrapping_sub(117);
        bench.command(-0.5, 0.0).unwrap();
        bench.frame();
    }
    let before = bench.driver.state();
    assert!((before.pose.x + 0.1).abs() < 1e-3 && (before.twist.linear + 0.5).abs() < 5e-3, "{before:?}");

    bench.driver.handle_disconnected(bench.now);
    bench.events();
    assert_eq!(bench.sent(), [], "not connected");
    assert_eq!(bench.driver.state().twist, Twist::ZERO);
    assert_eq!(bench.command(0.1, 0.0), refused(Standstill::Disconnected));
    assert!(!bench.driver.handle_bytes(bench.now, &mut &bench.bytes(&[])[..]), "bytes from nowhere");
    bench.pass(3000);
    bench.driver.handle_connected(bench.now);
    // The base was switched off meanwhile, and rotated by hand.
    bench.core.left_encoder_ticks = 12_345;
    bench.core.right_encoder_ticks = 54_321;
    bench.core.timestamp_ms = 7;
    bench.angle_centidegrees = -300;
    bench.frame();
    let after = bench.driver.state();
    assert_eq!((after.pose, after.twist, after.encoder_jumps), (before.pose, Twist::ZERO, 0));
    let sent = bench.sent();
    assert_eq!(sent[0], Command::SetOutputs(outputs));
    assert!(sent.contains(&Command::RequestExtra(RequestFlags::all())));
    let stops: Vec<_> = sent.iter().filter(|command| matches!(command, Command::BaseControl(_))).collect();
    assert_eq!(stops, [&STOP], "its old command is unknown");
    bench.angle_centidegrees = 6;
    bench.frame();
    let turned = bench.driver.state().pose.heading - before.pose.heading;
    assert!((turned - 3.06_f64.to_radians()).abs() < 1e-9, "{turned}");
}

#[test]
fn what_the_base_tells_only_when_asked_is_asked_for_until_it_is_there() {
    let mut bench = Bench::new(Config::default());
    bench.driver.handle_connected(bench.now);
    let requests = |bench: &mut Bench| {
        let sent = bench.sent();
        let extra = sent.iter().find_map(|command| match command {
            Command::RequestExtra(flags) => Some(*flags),
            _ => None,
        });
        (extra, sent.iter().any(|command| matches!(command, Command::RequestControllerGains(_))))
    };
    bench.frame();
    assert_eq!(requests(&mut bench), (Some(RequestFlags::all()), true));
    let [hardware, firmware, unique_id, gains] = identity();
    bench.frame_with(&[hardware, gains]);
    for _ in 0..23 {
        assert_eq!(requests(&mut bench), (None, false));
        bench.frame();
    }
    bench.frame();
    let missing = RequestFlags::FIRMWARE_VERSION | RequestFlags::UNIQUE_DEVICE_ID;
    assert_eq!(requests(&mut bench), (Some(missing), false));
    bench.events();
    bench.frame_with(&[firmware]);
    assert_eq!(bench.events(), []);
    bench.frame_with(&[unique_id]);
    assert_eq!(bench.events(), [Event::Identified]);
    for _ in 0..100 {
        bench.frame();
        assert_eq!(requests(&mut bench), (None, false));
    }
    assert_eq!(bench.sent(), []);
    assert_eq!(bench.driver.state().identity.firmware.unwrap().to_string(), "1.2.0");
    bench.pass(200);
    bench.frame();
    assert_eq!(requests(&mut bench), (Some(RequestFlags::all()), true), "it fell silent");
}

#[test]
fn a_reconnected_base_is_commanded_to_stand_still_for_a_while() {
    let stops = |bench: &mut Bench| {
        let mut stops = 0;
        for _ in 0..100 {
            bench.frame();
            stops += bench.sent().iter().filter(|command| **command == STOP).count();
        }
        stops
    };
    let mut bench = Bench::new(Config::default());
    bench.driver.handle_connected(bench.now);
    assert_eq!(stops(&mut bench), 30, "the first time");
    bench.pass(100);
    assert_eq!(stops(&mut bench), 30, "after silence");
    bench.core.timestamp_ms = bench.core.timestamp_ms.wrapping_add(10_000);
    assert_eq!(stops(&mut bench), 30, "after a restart of the base");
    bench.driver.handle_connected(bench.now);
    bench.frame();
    bench.sent();
    bench.command(0.2, 0.0).unwrap();
    bench.frame();
    assert_eq!(bench.sent().first(), Some(&go(200, 0)), "a command is not held up");
}

#[test]
fn a_thousand_reconnections_leave_nothing_behind() {
    let mut bench = Bench::new(Config::default());
    let mut asked = Vec::new();
    for _ in 0..1000 {
        bench.driver.handle_connected(bench.now);
        bench.frame();
        assert!(bench.driver.state().alive);
        bench.command(0.2, 0.0).unwrap();
        let half = bench.bytes(&[]);
        bench.driver.handle_bytes(bench.now, &mut &half[..10]);
        if bench.driver.identity == Identity::default() && bench.driver.asked == Some(bench.now) {
            asked.push(bench.now);
        }
        bench.driver.handle_disconnected(bench.now);
        assert_eq!(bench.driver.poll_transmit(), b"", "not connected");
        assert!(bench.driver.events.len() <= MAX_EVENTS);
    }
    assert!(asked.windows(2).all(|pair| pair[1] - pair[0] >= milliseconds(500)), "asked too often");
    assert!(asked.len() >= 39, "{} times in 20 s", asked.len());
    let state = bench.driver.state();
    assert_eq!((state.feedback_frames, state.line.frames, state.line.skipped_bytes), (1000, 1000, 10_000));
}

#[test]
fn frames_without_core_sensors_fill_no_memory() {
    let mut bench = Bench::online(Config::default());
    let mut bytes = Vec::new();
    frame::encode(&mut bytes, |out| Feedback::ControllerGains(ControllerGains::DEFAULT).encode(out)).unwrap();
    for _ in 0..2 * MAX_EVENTS {
        assert!(!bench.driver.handle_bytes(bench.now, &mut &bytes[..]));
    }
    assert_eq!(bench.driver.events.len(), MAX_EVENTS);
}

#[test]
fn gains_are_set_and_read_back() {
    let mut bench = Bench::online(Config::default());
    let gains = ControllerGains { kind: 1, p_thousandths: 5, ..ControllerGains::DEFAULT };
    bench.driver.set_controller_gains(gains).unwrap();
    let request = Command::RequestControllerGains(GainsRequest::default());
    assert_eq!(bench.sent(), [Command::SetControllerGains(gains), request]);
    bench.frame_with(&[Feedback::ControllerGains(gains)]);
    assert_eq!(bench.events(), [Event::Gains(gains)]);
    assert_eq!(bench.driver.state().identity.gains, Some(gains));
}

#[test]
fn motors_off_stop_and_refuse() {
    let mut bench = Bench::online(Config::default());
    bench.command(0.2, 0.0).unwrap();
    bench.driver.set_motor_power(false).unwrap();
    assert_eq!(bench.sent(), [STOP]);
    assert_eq!(bench.command(0.2, 0.0), refused(Standstill::MotorsOff));
    assert_eq!(bench.standstill(), Some(Standstill::MotorsOff));
    bench.driver.set_motor_power(true).unwrap();
    assert_eq!(bench.events(), [Event::MotorPower { on: false }, Event::MotorPower { on: true }]);
    assert_eq!(bench.standstill(), Some(Standstill::NoCommand), "it needs a new command");
    assert_eq!(bench.command(0.2, 0.0), Ok(vec![go(200, 0)]));
}

#[test]
fn a_wheel_that_drops_switches_the_motors_off_if_that_is_wanted() {
    for motors_off_on_wheel_drop in [false, true] {
        let mut bench = Bench::online(Config { motors_off_on_wheel_drop, ..Config::default() });
        bench.command(0.2, 0.0).unwrap();
        bench.core.wheel_drops = WheelDrops::LEFT;
        bench.frame();
        assert_eq!(bench.sent()[0], if motors_off_on_wheel_drop { STOP } else { go(200, 0) });
        assert_eq!(bench.driver.state().motor_power, !motors_off_on_wheel_drop);
        if motors_off_on_wheel_drop {
            assert_eq!(bench.command(0.2, 0.0), refused(Standstill::WheelDrop));
            bench.driver.set_motor_power(true).unwrap_err();
            bench.core.wheel_drops = WheelDrops::empty();
            bench.frame();
            assert_eq!(bench.command(0.2, 0.0), refused(Standstill::WheelDrop), "they stay off");
            bench.driver.set_motor_power(false).unwrap();
            assert_eq!(bench.standstill(), Some(Standstill::WheelDrop), "that they are off is no news");
            bench.driver.set_motor_power(true).unwrap();
            bench.command(0.2, 0.0).unwrap();
        }
    }
}

#[test]
fn events_are_edges() {
    let mut bench = Bench::online(Config::default());
    bench.core.bumpers = Bumpers::LEFT | Bumpers::CENTER;
    bench.core.cliffs = Cliffs::RIGHT;
    bench.core.wheel_drops = WheelDrops::RIGHT;
    bench.core.buttons = Buttons::B2;
    let cliffs = CliffReadings { right: 77, ..CliffReadings::default() };
    let digital = DigitalInputs::INPUT_1;
    let input = GeneralPurposeInput { digital, ..GeneralPurposeInput::default() };
    bench.frame_with(&[Feedback::Cliffs(cliffs), Feedback::Input(input)]);
    assert_eq!(
        bench.events(),
        [
            Event::Button { button: 2, pressed: true },
            Event::Bumper { side: Side::Left, pressed: true },
            Event::Bumper { side: Side::Center, pressed: true },
            Event::Cliff { side: Side::Right, cliff: true, reading: 77 },
            Event::WheelDrop { wheel: Wheel::Right, dropped: true },
            Event::Input(digital),
        ]
    );
    bench.frame();
    assert_eq!(bench.events(), []);
    bench.core = CoreSensors { bumpers: Bumpers::LEFT, ..bench.core };
    bench.frame();
    assert_eq!(bench.events(), [Event::Bumper { side: Side::Center, pressed: false }]);
    // A connection that comes back changes nothing.
    bench.driver.handle_connected(bench.now);
    bench.frame();
    let events = [Event::Robot { online: false }, Event::Robot { online: true }];
    assert_eq!(bench.events(), events);
}

#[test]
fn power_events_and_battery() {
    let mut bench = Bench::online(Config::default());
    let mut events = |charger, battery_decivolts| {
        bench.core = CoreSensors { charger, battery_decivolts, ..bench.core };
        bench.frame();
        bench.events()
    };
    let power = |event| vec![Event::Power(event)];
    let off = Charger::DISCHARGING;
    assert_eq!(events(off, 141), []);
    assert_eq!(events(off, 140), power(PowerEvent::BatteryLow));
    assert_eq!(events(off, 141), [], "it varies");
    assert_eq!(events(off, 140), []);
    assert_eq!(events(off, 132), power(PowerEvent::BatteryCritical));
    assert_eq!(events(Charger::DOCK_CHARGING, 133), power(PowerEvent::PluggedToDock));
    assert_eq!(events(Charger::DOCK_CHARGED, 165), power(PowerEvent::ChargeCompleted));
    assert_eq!(events(off, 164), power(PowerEvent::Unplugged));
    assert_eq!(events(Charger::ADAPTER_CHARGING, 164), power(PowerEvent::PluggedToAdapter));
    assert_eq!(events(off, 138), [Event::Power(PowerEvent::Unplugged), Event::Power(PowerEvent::BatteryLow)]);
    assert_eq!(events(off, 150), []);
    assert_eq!(events(off, 138), power(PowerEvent::BatteryLow));
    assert_eq!(events(Charger::DOCK_CHARGING, 141), power(PowerEvent::PluggedToDock));
    assert_eq!(events(Charger::DOCK_CHARGING, 140), [], "it varies while it is charged, too");
    assert_eq!(events(Charger::DOCK_CHARGING, 150), []);
    assert_eq!(events(Charger::DOCK_CHARGING, 140), power(PowerEvent::BatteryLow));

    let battery = |voltage, charger| {
        let core = CoreSensors { battery_decivolts: voltage, charger, ..CoreSensors::default() };
        Battery::new(&core, &BatteryConfig::default())
    };
    assert_eq!(battery(165, off).fraction, 1.0);
    assert!((battery(132, off).fraction - 0.05).abs() < 1e-9);
    assert_eq!((battery(100, off).fraction, battery(200, off).fraction), (0.0, 1.0));
    assert_eq!(battery(165, Charger::DOCK_CHARGED).level, BatteryLevel::Full);
    assert_eq!(battery(165, Charger::ADAPTER_CHARGING).adapter, Some(true));
    assert_eq!(battery(165, off).adapter, None);
}

#[test]
fn a_jump_of_our_clock_stops() {
    for forwards in [true, false] {
        let mut bench = Bench::online(Config::default());
        bench.command(0.2, 0.0).unwrap();
        let hour = Duration::from_secs(3600);
        bench.now = if forwards { bench.now + hour } else { Duration::ZERO };
        bench.frame();
        let sent = bench.sent();
        assert!(sent.contains(&STOP) && !sent.contains(&go(200, 0)), "{sent:?}");
        assert!(bench.driver.state().alive);
        assert_eq!(bench.driver.state().pose, Pose::ORIGIN);
        bench.command(0.2, 0.0).unwrap();
        bench.frame();
        assert_eq!(bench.sent(), [go(200, 0)]);
        // Silence is detected on the new clock.
        bench.pass(100);
        assert!(!bench.driver.state().alive);
    }
}

#[test]
fn a_jump_of_the_base_s_clock_stops_and_moves_nothing() {
    let mut bench = Bench::online(Config::default());
    bench.command(0.2, 0.0).unwrap();
    bench.core.timestamp_ms = bench.core.timestamp_ms.wrapping_sub(1000);
    bench.core.left_encoder_ticks = 1000;
    bench.frame();
    let sent = bench.sent();
    assert!(sent.contains(&STOP) && !sent.contains(&go(200, 0)), "{sent:?}");
    assert_eq!((bench.driver.state().pose, bench.driver.state().clock_jumps), (Pose::ORIGIN, 1));
    assert!(sent.contains(&Command::SetOutputs(Outputs::POWER)), "the base may have restarted: {sent:?}");
}

#[test]
fn a_restart_during_silence_moves_nothing() {
    let mut bench = Bench::online(Config::default());
    bench.core = CoreSensors {
        timestamp_ms: bench.core.timestamp_ms.wrapping_add(20),
        left_encoder_ticks: 65_336,
        right_encoder_ticks: 200,
        ..bench.core
    };
    bench.frame();
    let before = bench.driver.state();
    bench.pass(20_000);
    bench.core = CoreSensors {
        timestamp_ms: bench.core.timestamp_ms.wrapping_add(2976),
        left_encoder_ticks: 0,
        right_encoder_ticks: 0,
        ..bench.core
    };
    bench.angle_centidegrees = 0;
    bench.frame();
    let after = bench.driver.state();
    assert_eq!((after.pose, after.clock_jumps), (before.pose, before.clock_jumps + 1));
}

#[test]
fn motion_during_a_stall_of_ours_is_counted() {
    let mut bench = Bench::online(Config { heading: HeadingSource::Wheels, ..Config::default() });
    let before = bench.driver.state();
    let (mut bytes, mut rolled) = (Vec::new(), 0_u16);
    // 3 s at 0.5 m/s; the frames in the middle are lost.
    for frame in 0..150 {
        rolled += 117;
        bench.core.timestamp_ms = bench.core.timestamp_ms.wrapping_add(20);
        (bench.core.left_encoder_ticks, bench.core.right_encoder_ticks) = (rolled, rolled);
        if !(50..140).contains(&frame) {
            bytes.extend(bench.bytes(&[]));
        }
    }
    bench.now += milliseconds(3000);
    let mut rest = &bytes[..];
    while bench.driver.handle_bytes(bench.now, &mut rest) {}
    let after = bench.driver.state();
    assert!((after.pose.x - 1.5).abs() < 5e-3, "{:?}", after.pose);
    assert_eq!((after.clock_jumps, after.encoder_jumps), (before.clock_jumps, before.encoder_jumps));
}

#[test]
fn time_comes_from_the_base_not_from_arrival() {
    let mut bench = Bench::online(Config { heading: HeadingSource::Wheels, ..Config::default() });
    let mut bytes = Vec::new();
    for _ in 0..4 {
        bench.core.timestamp_ms = bench.core.timestamp_ms.wrapping_add(20);
        bench.core.left_encoder_ticks = bench.core.left_encoder_ticks.wrapping_add(117);
        bench.core.right_encoder_ticks = bench.core.right_encoder_ticks.wrapping_add(117);
        bytes.extend(bench.bytes(&[]));
    }
    bench.now += milliseconds(90);
    let (mut rest, mut frames) = (&bytes[..], 0);
    while bench.driver.handle_bytes(bench.now, &mut rest) {
        frames += 1;
        assert!((bench.driver.state().twist.linear - 0.5).abs() < 5e-3);
    }
    assert_eq!(frames, 4);
    assert!((bench.driver.state().pose.x - 0.04).abs() < 1e-3);
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let config = Config { command_timeout: Duration::ZERO, ..Config::default() };
    assert_eq!(Driver::new(config).unwrap_err(), ConfigError::Timeout("command_timeout"));
    let battery = BatteryConfig { low: 17.0, ..BatteryConfig::default() };
    assert!(matches!(Driver::new(Config { battery, ..Config::default() }), Err(ConfigError::Battery(_))));
}

#[test]
fn what_goes_over_the_line_is_recorded_only_while_it_is_wanted() {
    let mut bench = Bench::online(Config::default());
    bench.command(0.2, 0.0).unwrap();
    bench.frame();
    assert_eq!(bench.driver.poll_record(), None);
    bench.sent();

    bench.driver.record(Recorded { sent: true, received: true, velocities: true });
    let said = bench.driver.command(bench.now, Twist::new(0.1, 0.0)).unwrap().to_vec();
    let control = BaseControl { speed_mm_per_s: 100, radius_mm: 0 };
    let velocity = Record::Velocity { control, twist: Twist::new(0.1, 0.0) };
    let sent = Record::Sent(said);
    assert_eq!(bench.driver.poll_record(), Some(velocity.clone()));
    assert_eq!(bench.driver.poll_record(), Some(sent.clone()));
    bench.frame();
    let received = Record::Received(bench.bytes(&[]));
    let records: Vec<Record> = std::iter::from_fn(|| bench.driver.poll_record()).collect();
    assert_eq!(records, [received.clone(), velocity, sent]);

    bench.driver.record(Recorded { received: true, ..Recorded::default() });
    bench.frame();
    assert!(matches!(bench.driver.poll_record(), Some(Record::Received(_))));
    assert_eq!(bench.driver.poll_record(), None);
    for _ in 0..1000 {
        bench.frame();
    }
    assert_eq!(std::iter::from_fn(|| bench.driver.poll_record()).count(), 256, "the rest was dropped");
}

#[test]
fn a_command_after_a_stall_of_ours_is_not_refused_before_the_line_was_read() {
    let mut bench = Bench::online(Config::default());
    bench.now += milliseconds(5000);
    assert_eq!(bench.command(0.2, 0.0).unwrap(), [go(200, 0)]);
    // Buffered frames.
    bench.core.timestamp_ms = bench.core.timestamp_ms.wrapping_add(20);
    let bytes = bench.bytes(&[]);
    let mut rest = &bytes[..];
    while bench.driver.handle_bytes(bench.now, &mut rest) {}
    assert_eq!((bench.standstill(), bench.events()), (None, vec![]));
    bench.sent();

    // No buffered frames: the base is silent.
    bench.now += milliseconds(100);
    assert_eq!(bench.command(0.2, 0.0).unwrap(), [go(200, 0)]);
    assert!(!bench.driver.handle_bytes(bench.now, &mut &[][..]));
    assert_eq!(bench.sent(), [STOP]);
    assert_eq!(bench.standstill(), Some(Standstill::Silent));
}
