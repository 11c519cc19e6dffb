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
struct Fixture {
    driver: Driver,
    now: Duration,
    core: CoreSensors,
    angle_centidegrees: i16,
}

impl Fixture {
    fn new(config: Config) -> Self {
        let core = CoreSensors { timestamp_ms: 65_500, battery_decivolts: 160, ..CoreSensors::default() };
        let driver = Driver::new(config).unwrap();
        Self { driver, now: milliseconds(5000), core, angle_centidegrees: 17_900 }
    }

    /// Connected for so long that the driver has received its whole identity and sends nothing more.
    fn online(config: Config) -> Self {
        let mut fixture = Self::new(config);
        fixture.driver.handle_connected(fixture.now);
        fixture.frame();
        fixture.frame_with(&identity());
        for _ in 0..30 {
            fixture.frame();
        }
        fixture.sent();
        fixture.events();
        fixture
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
        let mut fixture = Fixture::online(Config { reset_encoders, ..Config::default() });
        (fixture.core.left_encoder_ticks, fixture.core.right_encoder_ticks) = (1170, 1170);
        fixture.frame();
        let encoders = |fixture: &Fixture| {
            let core = fixture.driver.state().sensors.core.unwrap();
            [core.left_encoder_ticks, core.right_encoder_ticks]
        };
        assert_eq!(encoders(&fixture), [1170, 1170]);
        fixture.driver.reset_odometry();
        assert_eq!(encoders(&fixture), if reset_encoders { [0, 0] } else { [1170, 1170] });
        assert_eq!(fixture.driver.state().pose, Pose::ORIGIN);
        // 10 cm back: the counters wrap at 65536.
        (fixture.core.left_encoder_ticks, fixture.core.right_encoder_ticks) = (0, 0);
        fixture.frame();
        assert_eq!(encoders(&fixture), if reset_encoders { [64_366, 64_366] } else { [0, 0] });
        assert!((fixture.driver.state().pose.x + 0.1).abs() < 1e-3, "{:?}", fixture.driver.state().pose);
        fixture.driver.set_odometry(Pose::ORIGIN).unwrap();
        assert_eq!(encoders(&fixture), [0, 0], "also by Player's way");
        fixture.driver.handle_disconnected(fixture.now);
        fixture.driver.handle_connected(fixture.now);
        fixture.core.left_encoder_ticks = 5;
        fixture.frame();
        assert_eq!(encoders(&fixture), [5, 0], "another connection has the base's own counters");
    }
}

#[test]
fn silent_until_the_first_feedback() {
    let mut fixture = Fixture::new(Config::default());
    assert_eq!(fixture.command(0.1, 0.0), refused(Standstill::Disconnected));
    fixture.driver.handle_connected(fixture.now);
    assert_eq!(fixture.command(0.1, 0.0), refused(Standstill::NoFeedback));
    fixture.driver.set_led(Led::One, LedColor::Orange);
    assert!(fixture.driver.play_sequence(SoundSequence::On).is_err());
    assert!(fixture.driver.set_controller_gains(ControllerGains::DEFAULT).is_err());
    fixture.pass(1000);
    fixture.driver.handle_bytes(fixture.now, &mut &[0xaa, 0x55, 4, 6, 2, 1, 1, 4][..]);
    assert_eq!(fixture.sent(), [], "a frame without core sensors is no feedback");
    fixture.frame();
    assert_eq!(
        fixture.sent(),
        [
            Command::SetOutputs(Outputs::POWER | Outputs::LED_1),
            STOP,
            Command::RequestExtra(RequestFlags::all()),
            Command::RequestControllerGains(GainsRequest::default()),
        ]
    );
    assert_eq!(fixture.events(), [Event::Robot { online: true }]);
    assert_eq!(fixture.standstill(), Some(Standstill::NoCommand));
}

#[test]
fn a_command_is_sent_at_once_and_with_every_feedback_and_expires() {
    let mut fixture = Fixture::online(Config::default());
    assert_eq!(fixture.command(0.2, 0.0), Ok(vec![go(200, 0)]));
    assert_eq!(fixture.standstill(), None);
    for _ in 0..29 {
        fixture.frame();
        assert_eq!(fixture.sent(), [go(200, 0)]);
    }
    let deadline = fixture.driver.poll_timeout().unwrap();
    assert_eq!(deadline, fixture.now + milliseconds(20));
    fixture.driver.handle_timeout(deadline);
    assert_eq!(fixture.sent(), [STOP]);
    assert_eq!(fixture.events(), [Event::CommandExpired]);
    assert_eq!(fixture.standstill(), Some(Standstill::CommandExpired));
    // Repeated for a while, in case one was lost.
    let stops = (0..100).map(|_| (fixture.frame(), fixture.sent()).1.len()).sum::<usize>();
    assert_eq!(stops, 30);
    assert_eq!(fixture.command(0.1, 1.0), Ok(vec![go(215, 100)]));
}

#[test]
fn velocities_that_are_not_finite_are_refused_and_the_last_command_holds() {
    let mut fixture = Fixture::online(Config::default());
    fixture.command(0.2, 0.0).unwrap();
    for (linear, angular) in [(f64::NAN, 0.0), (0.0, f64::INFINITY)] {
        let error = fixture.command(linear, angular).unwrap_err();
        assert!(matches!(error, Refusal::NotFinite(_)), "{error}");
    }
    fixture.frame();
    assert_eq!(fixture.sent(), [go(200, 0)]);
}

#[test]
fn acceleration_limits_ramp_with_the_feedback() {
    let linear = AxisLimits { velocity: 0.5, acceleration: Some(1.0), deceleration: Some(2.0) };
    let limits = Limits { linear, ..Limits::KOBUKI };
    let mut fixture = Fixture::online(Config { limits, ..Config::default() });
    fixture.frame();
    fixture.sent();
    let mut speeds = Vec::new();
    for target in [0.06, 0.06, 0.06, 0.06, 0.0, 0.0] {
        fixture.now += milliseconds(5);
        let mut sent = fixture.command(target, 0.0).unwrap();
        fixture.now -= milliseconds(5);
        fixture.frame();
        sent.extend(fixture.sent());
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
fn silence_stops_the_base_and_drops_commands() {
    let mut fixture = Fixture::online(Config::default());
    fixture.command(0.2, 0.0).unwrap();
    let received = fixture.now;
    assert_eq!(fixture.driver.poll_timeout(), Some(received + milliseconds(100)));
    fixture.pass(99);
    assert_eq!(fixture.sent(), []);
    fixture.pass(1);
    assert_eq!(fixture.sent(), [STOP]);
    assert_eq!(fixture.events(), [Event::Robot { online: false }]);
    assert_eq!(fixture.command(0.2, 0.0), refused(Standstill::Silent));
    assert_eq!(fixture.driver.poll_timeout(), None);
    fixture.frame();
    assert_eq!(fixture.events(), [Event::Robot { online: true }]);
    let sent = fixture.sent();
    assert!(!sent.contains(&go(200, 0)) && sent.contains(&STOP), "{sent:?}");
}

#[test]
fn frames_that_were_buffered_do_not_count_as_silence() {
    for (stall, expired) in [(300, false), (700, true)] {
        let mut fixture = Fixture::online(Config::default());
        fixture.command(0.2, 0.0).unwrap();
        let mut bytes = Vec::new();
        for _ in 0..stall / 20 {
            fixture.core.timestamp_ms = fixture.core.timestamp_ms.wrapping_add(20);
            bytes.extend(fixture.bytes(&[]));
        }
        fixture.now += milliseconds(stall);
        let mut rest = &bytes[..];
        while fixture.driver.handle_bytes(fixture.now, &mut rest) {}
        let sent = fixture.sent();
        if expired {
            assert_eq!(fixture.events(), [Event::CommandExpired]);
            assert!(sent.iter().all(|command| *command == STOP), "{sent:?}");
        } else {
            assert_eq!(fixture.events(), []);
            assert!(sent.iter().all(|command| *command == go(200, 0)), "{sent:?}");
        }
        // Bytes without a frame count as silence.
        fixture.now += milliseconds(100);
        assert!(!fixture.driver.handle_bytes(fixture.now, &mut &[0xaa, 0x55][..]));
        assert_eq!(fixture.events(), [Event::Robot { online: false }]);
    }
}

#[test]
fn a_lost_connection_forgets_commands_and_keeps_outputs_and_odometry() {
    let mut fixture = Fixture::online(Config::default());
    fixture.driver.set_led(Led::Two, LedColor::Red);
    fixture.driver.set_digital_outputs([Some(true), None, Some(false), Some(true)]);
    fixture.driver.set_external_power([None, Some(false), None, None]);
    let outputs =
        Outputs::LED_2_RED | Outputs::OUTPUT_0 | Outputs::OUTPUT_3 | (Outputs::POWER - Outputs::POWER_5V);
    assert_eq!(fixture.sent().last(), Some(&Command::SetOutputs(outputs)));
    for _ in 0..10 {
        fixture.core.left_encoder_ticks = fixture.core.left_encoder_ticks.wrapping_sub(117);
        fixture.core.right_encoder_ticks = fixture.core.right_encoder_ticks.wrapping_sub(117);
        fixture.command(-0.5, 0.0).unwrap();
        fixture.frame();
    }
    let before = fixture.driver.state();
    assert!((before.pose.x + 0.1).abs() < 1e-3 && (before.twist.linear + 0.5).abs() < 5e-3, "{before:?}");

    fixture.driver.handle_disconnected(fixture.now);
    fixture.events();
    assert_eq!(fixture.sent(), [], "not connected");
    assert_eq!(fixture.driver.state().twist, Twist::ZERO);
    assert_eq!(fixture.command(0.1, 0.0), refused(Standstill::Disconnected));
    assert!(!fixture.driver.handle_bytes(fixture.now, &mut &fixture.bytes(&[])[..]), "bytes from nowhere");
    fixture.pass(3000);
    fixture.driver.handle_connected(fixture.now);
    // The base was switched off meanwhile, and rotated by hand.
    fixture.core.left_encoder_ticks = 12_345;
    fixture.core.right_encoder_ticks = 54_321;
    fixture.core.timestamp_ms = 7;
    fixture.angle_centidegrees = -300;
    fixture.frame();
    let after = fixture.driver.state();
    assert_eq!((after.pose, after.twist, after.encoder_jumps), (before.pose, Twist::ZERO, 0));
    let sent = fixture.sent();
    assert_eq!(sent[0], Command::SetOutputs(outputs));
    assert!(sent.contains(&Command::RequestExtra(RequestFlags::all())));
    let stops: Vec<_> = sent.iter().filter(|command| matches!(command, Command::BaseControl(_))).collect();
    assert_eq!(stops, [&STOP], "its old command is unknown");
    fixture.angle_centidegrees = 6;
    fixture.frame();
    let turned = fixture.driver.state().pose.heading - before.pose.heading;
    assert!((turned - 3.06_f64.to_radians()).abs() < 1e-9, "{turned}");
}

#[test]
fn data_that_the_base_sends_only_on_request_is_requested_until_it_arrives() {
    let mut fixture = Fixture::new(Config::default());
    fixture.driver.handle_connected(fixture.now);
    let requests = |fixture: &mut Fixture| {
        let sent = fixture.sent();
        let extra = sent.iter().find_map(|command| match command {
            Command::RequestExtra(flags) => Some(*flags),
            _ => None,
        });
        (extra, sent.iter().any(|command| matches!(command, Command::RequestControllerGains(_))))
    };
    fixture.frame();
    assert_eq!(requests(&mut fixture), (Some(RequestFlags::all()), true));
    let [hardware, firmware, unique_id, gains] = identity();
    fixture.frame_with(&[hardware, gains]);
    for _ in 0..23 {
        assert_eq!(requests(&mut fixture), (None, false));
        fixture.frame();
    }
    fixture.frame();
    let missing = RequestFlags::FIRMWARE_VERSION | RequestFlags::UNIQUE_DEVICE_ID;
    assert_eq!(requests(&mut fixture), (Some(missing), false));
    fixture.events();
    fixture.frame_with(&[firmware]);
    assert_eq!(fixture.events(), []);
    fixture.frame_with(&[unique_id]);
    assert_eq!(fixture.events(), [Event::Identified]);
    for _ in 0..100 {
        fixture.frame();
        assert_eq!(requests(&mut fixture), (None, false));
    }
    assert_eq!(fixture.sent(), []);
    assert_eq!(fixture.driver.state().identity.firmware.unwrap().to_string(), "1.2.0");
    fixture.pass(200);
    fixture.frame();
    assert_eq!(requests(&mut fixture), (Some(RequestFlags::all()), true), "it fell silent");
}

#[test]
fn a_reconnected_base_is_commanded_to_stand_still_for_a_while() {
    let stops = |fixture: &mut Fixture| {
        let mut stops = 0;
        for _ in 0..100 {
            fixture.frame();
            stops += fixture.sent().iter().filter(|command| **command == STOP).count();
        }
        stops
    };
    let mut fixture = Fixture::new(Config::default());
    fixture.driver.handle_connected(fixture.now);
    assert_eq!(stops(&mut fixture), 30, "the first time");
    fixture.pass(100);
    assert_eq!(stops(&mut fixture), 30, "after silence");
    fixture.core.timestamp_ms = fixture.core.timestamp_ms.wrapping_add(10_000);
    assert_eq!(stops(&mut fixture), 30, "after a restart of the base");
    fixture.driver.handle_connected(fixture.now);
    fixture.frame();
    fixture.sent();
    fixture.command(0.2, 0.0).unwrap();
    fixture.frame();
    assert_eq!(fixture.sent().first(), Some(&go(200, 0)), "a command is not held up");
}

#[test]
fn a_thousand_reconnections_leave_nothing_behind() {
    let mut fixture = Fixture::new(Config::default());
    let mut asked = Vec::new();
    for _ in 0..1000 {
        fixture.driver.handle_connected(fixture.now);
        fixture.frame();
        assert!(fixture.driver.state().alive);
        fixture.command(0.2, 0.0).unwrap();
        let half = fixture.bytes(&[]);
        fixture.driver.handle_bytes(fixture.now, &mut &half[..10]);
        if fixture.driver.identity == Identity::default() && fixture.driver.asked == Some(fixture.now) {
            asked.push(fixture.now);
        }
        fixture.driver.handle_disconnected(fixture.now);
        assert_eq!(fixture.driver.poll_transmit(), b"", "not connected");
        assert!(fixture.driver.events.len() <= MAX_EVENTS);
    }
    assert!(asked.windows(2).all(|pair| pair[1] - pair[0] >= milliseconds(500)), "asked too often");
    assert!(asked.len() >= 39, "{} times in 20 s", asked.len());
    let state = fixture.driver.state();
    assert_eq!((state.feedback_frames, state.line.frames, state.line.skipped_bytes), (1000, 1000, 10_000));
}

#[test]
fn frames_without_core_sensors_do_not_fill_memory() {
    let mut fixture = Fixture::online(Config::default());
    let mut bytes = Vec::new();
    frame::encode(&mut bytes, |out| Feedback::ControllerGains(ControllerGains::DEFAULT).encode(out)).unwrap();
    for _ in 0..2 * MAX_EVENTS {
        assert!(!fixture.driver.handle_bytes(fixture.now, &mut &bytes[..]));
    }
    assert_eq!(fixture.driver.events.len(), MAX_EVENTS);
}

#[test]
fn gains_are_set_and_read_back() {
    let mut fixture = Fixture::online(Config::default());
    let gains = ControllerGains { kind: 1, p_thousandths: 5, ..ControllerGains::DEFAULT };
    fixture.driver.set_controller_gains(gains).unwrap();
    let request = Command::RequestControllerGains(GainsRequest::default());
    assert_eq!(fixture.sent(), [Command::SetControllerGains(gains), request]);
    fixture.frame_with(&[Feedback::ControllerGains(gains)]);
    assert_eq!(fixture.events(), [Event::Gains(gains)]);
    assert_eq!(fixture.driver.state().identity.gains, Some(gains));
}

#[test]
fn motors_off_stop_and_refuse() {
    let mut fixture = Fixture::online(Config::default());
    fixture.command(0.2, 0.0).unwrap();
    fixture.driver.set_motor_power(false).unwrap();
    assert_eq!(fixture.sent(), [STOP]);
    assert_eq!(fixture.command(0.2, 0.0), refused(Standstill::MotorsOff));
    assert_eq!(fixture.standstill(), Some(Standstill::MotorsOff));
    fixture.driver.set_motor_power(true).unwrap();
    assert_eq!(fixture.events(), [Event::MotorPower { on: false }, Event::MotorPower { on: true }]);
    assert_eq!(fixture.standstill(), Some(Standstill::NoCommand), "it needs a new command");
    assert_eq!(fixture.command(0.2, 0.0), Ok(vec![go(200, 0)]));
}

#[test]
fn a_wheel_that_drops_switches_the_motors_off_if_that_is_wanted() {
    for motors_off_on_wheel_drop in [false, true] {
        let mut fixture = Fixture::online(Config { motors_off_on_wheel_drop, ..Config::default() });
        fixture.command(0.2, 0.0).unwrap();
        fixture.core.wheel_drops = WheelDrops::LEFT;
        fixture.frame();
        assert_eq!(fixture.sent()[0], if motors_off_on_wheel_drop { STOP } else { go(200, 0) });
        assert_eq!(fixture.driver.state().motor_power, !motors_off_on_wheel_drop);
        if motors_off_on_wheel_drop {
            assert_eq!(fixture.command(0.2, 0.0), refused(Standstill::WheelDrop));
            fixture.driver.set_motor_power(true).unwrap_err();
            fixture.core.wheel_drops = WheelDrops::empty();
            fixture.frame();
            assert_eq!(fixture.command(0.2, 0.0), refused(Standstill::WheelDrop), "they stay off");
            fixture.driver.set_motor_power(false).unwrap();
            assert_eq!(fixture.standstill(), Some(Standstill::WheelDrop), "that they are off is no news");
            fixture.driver.set_motor_power(true).unwrap();
            fixture.command(0.2, 0.0).unwrap();
        }
    }
}

#[test]
fn events_are_edges() {
    let mut fixture = Fixture::online(Config::default());
    fixture.core.bumpers = Bumpers::LEFT | Bumpers::CENTER;
    fixture.core.cliffs = Cliffs::RIGHT;
    fixture.core.wheel_drops = WheelDrops::RIGHT;
    fixture.core.buttons = Buttons::B2;
    let cliffs = CliffReadings { right: 77, ..CliffReadings::default() };
    let digital = DigitalInputs::INPUT_1;
    let input = GeneralPurposeInput { digital, ..GeneralPurposeInput::default() };
    fixture.frame_with(&[Feedback::Cliffs(cliffs), Feedback::Input(input)]);
    assert_eq!(
        fixture.events(),
        [
            Event::Button { button: 2, pressed: true },
            Event::Bumper { side: Side::Left, pressed: true },
            Event::Bumper { side: Side::Center, pressed: true },
            Event::Cliff { side: Side::Right, cliff: true, reading: 77 },
            Event::WheelDrop { wheel: Wheel::Right, dropped: true },
            Event::Input(digital),
        ]
    );
    fixture.frame();
    assert_eq!(fixture.events(), []);
    fixture.core = CoreSensors { bumpers: Bumpers::LEFT, ..fixture.core };
    fixture.frame();
    assert_eq!(fixture.events(), [Event::Bumper { side: Side::Center, pressed: false }]);
    // A connection that comes back changes nothing.
    fixture.driver.handle_connected(fixture.now);
    fixture.frame();
    let events = [Event::Robot { online: false }, Event::Robot { online: true }];
    assert_eq!(fixture.events(), events);
}

#[test]
fn power_events_and_battery() {
    let mut fixture = Fixture::online(Config::default());
    let mut events = |charger, battery_decivolts| {
        fixture.core = CoreSensors { charger, battery_decivolts, ..fixture.core };
        fixture.frame();
        fixture.events()
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
        let mut fixture = Fixture::online(Config::default());
        fixture.command(0.2, 0.0).unwrap();
        let hour = Duration::from_secs(3600);
        fixture.now = if forwards { fixture.now + hour } else { Duration::ZERO };
        fixture.frame();
        let sent = fixture.sent();
        assert!(sent.contains(&STOP) && !sent.contains(&go(200, 0)), "{sent:?}");
        assert!(fixture.driver.state().alive);
        assert_eq!(fixture.driver.state().pose, Pose::ORIGIN);
        fixture.command(0.2, 0.0).unwrap();
        fixture.frame();
        assert_eq!(fixture.sent(), [go(200, 0)]);
        // Silence is detected on the new clock.
        fixture.pass(100);
        assert!(!fixture.driver.state().alive);
    }
}

#[test]
fn a_jump_of_the_base_s_clock_stops_and_moves_nothing() {
    let mut fixture = Fixture::online(Config::default());
    fixture.command(0.2, 0.0).unwrap();
    fixture.core.timestamp_ms = fixture.core.timestamp_ms.wrapping_sub(1000);
    fixture.core.left_encoder_ticks = 1000;
    fixture.frame();
    let sent = fixture.sent();
    assert!(sent.contains(&STOP) && !sent.contains(&go(200, 0)), "{sent:?}");
    assert_eq!((fixture.driver.state().pose, fixture.driver.state().clock_jumps), (Pose::ORIGIN, 1));
    assert!(sent.contains(&Command::SetOutputs(Outputs::POWER)), "the base may have restarted: {sent:?}");
}

#[test]
fn a_restart_during_silence_moves_nothing() {
    let mut fixture = Fixture::online(Config::default());
    fixture.core = CoreSensors {
        timestamp_ms: fixture.core.timestamp_ms.wrapping_add(20),
        left_encoder_ticks: 65_336,
        right_encoder_ticks: 200,
        ..fixture.core
    };
    fixture.frame();
    let before = fixture.driver.state();
    fixture.pass(20_000);
    fixture.core = CoreSensors {
        timestamp_ms: fixture.core.timestamp_ms.wrapping_add(2976),
        left_encoder_ticks: 0,
        right_encoder_ticks: 0,
        ..fixture.core
    };
    fixture.angle_centidegrees = 0;
    fixture.frame();
    let after = fixture.driver.state();
    assert_eq!((after.pose, after.clock_jumps), (before.pose, before.clock_jumps + 1));
}

#[test]
fn motion_during_a_stall_of_ours_is_counted() {
    let mut fixture = Fixture::online(Config { heading: HeadingSource::Wheels, ..Config::default() });
    let before = fixture.driver.state();
    let (mut bytes, mut rolled) = (Vec::new(), 0_u16);
    // 3 s at 0.5 m/s; the frames in the middle are lost.
    for frame in 0..150 {
        rolled += 117;
        fixture.core.timestamp_ms = fixture.core.timestamp_ms.wrapping_add(20);
        (fixture.core.left_encoder_ticks, fixture.core.right_encoder_ticks) = (rolled, rolled);
        if !(50..140).contains(&frame) {
            bytes.extend(fixture.bytes(&[]));
        }
    }
    fixture.now += milliseconds(3000);
    let mut rest = &bytes[..];
    while fixture.driver.handle_bytes(fixture.now, &mut rest) {}
    let after = fixture.driver.state();
    assert!((after.pose.x - 1.5).abs() < 5e-3, "{:?}", after.pose);
    assert_eq!((after.clock_jumps, after.encoder_jumps), (before.clock_jumps, before.encoder_jumps));
}

#[test]
fn time_comes_from_the_base_not_from_arrival() {
    let mut fixture = Fixture::online(Config { heading: HeadingSource::Wheels, ..Config::default() });
    let mut bytes = Vec::new();
    for _ in 0..4 {
        fixture.core.timestamp_ms = fixture.core.timestamp_ms.wrapping_add(20);
        fixture.core.left_encoder_ticks = fixture.core.left_encoder_ticks.wrapping_add(117);
        fixture.core.right_encoder_ticks = fixture.core.right_encoder_ticks.wrapping_add(117);
        bytes.extend(fixture.bytes(&[]));
    }
    fixture.now += milliseconds(90);
    let (mut rest, mut frames) = (&bytes[..], 0);
    while fixture.driver.handle_bytes(fixture.now, &mut rest) {
        frames += 1;
        assert!((fixture.driver.state().twist.linear - 0.5).abs() < 5e-3);
    }
    assert_eq!(frames, 4);
    assert!((fixture.driver.state().pose.x - 0.04).abs() < 1e-3);
}

#[test]
fn invalid_options_are_refused() {
    let config = Config { command_timeout: Duration::ZERO, ..Config::default() };
    assert_eq!(Driver::new(config).unwrap_err(), ConfigError::Timeout("command_timeout"));
    let battery = BatteryConfig { low: 17.0, ..BatteryConfig::default() };
    assert!(matches!(Driver::new(Config { battery, ..Config::default() }), Err(ConfigError::Battery(_))));
}

#[test]
fn traffic_is_recorded_only_on_request() {
    let mut fixture = Fixture::online(Config::default());
    fixture.command(0.2, 0.0).unwrap();
    fixture.frame();
    assert_eq!(fixture.driver.poll_record(), None);
    fixture.sent();

    fixture.driver.record(Recorded { sent: true, received: true, velocities: true });
    let said = fixture.driver.command(fixture.now, Twist::new(0.1, 0.0)).unwrap().to_vec();
    let control = BaseControl { speed_mm_per_s: 100, radius_mm: 0 };
    let velocity = Record::Velocity { control, twist: Twist::new(0.1, 0.0) };
    let sent = Record::Sent(said);
    assert_eq!(fixture.driver.poll_record(), Some(velocity.clone()));
    assert_eq!(fixture.driver.poll_record(), Some(sent.clone()));
    fixture.frame();
    let received = Record::Received(fixture.bytes(&[]));
    let records: Vec<Record> = std::iter::from_fn(|| fixture.driver.poll_record()).collect();
    assert_eq!(records, [received.clone(), velocity, sent]);

    fixture.driver.record(Recorded { received: true, ..Recorded::default() });
    fixture.frame();
    assert!(matches!(fixture.driver.poll_record(), Some(Record::Received(_))));
    assert_eq!(fixture.driver.poll_record(), None);
    for _ in 0..1000 {
        fixture.frame();
    }
    assert_eq!(std::iter::from_fn(|| fixture.driver.poll_record()).count(), 256, "the rest was dropped");
}

#[test]
fn a_command_after_a_stall_of_ours_is_not_refused_before_the_line_was_read() {
    let mut fixture = Fixture::online(Config::default());
    fixture.now += milliseconds(5000);
    assert_eq!(fixture.command(0.2, 0.0).unwrap(), [go(200, 0)]);
    // Buffered frames.
    fixture.core.timestamp_ms = fixture.core.timestamp_ms.wrapping_add(20);
    let bytes = fixture.bytes(&[]);
    let mut rest = &bytes[..];
    while fixture.driver.handle_bytes(fixture.now, &mut rest) {}
    assert_eq!((fixture.standstill(), fixture.events()), (None, vec![]));
    fixture.sent();

    // No buffered frames: the base is silent.
    fixture.now += milliseconds(100);
    assert_eq!(fixture.command(0.2, 0.0).unwrap(), [go(200, 0)]);
    assert!(!fixture.driver.handle_bytes(fixture.now, &mut &[][..]));
    assert_eq!(fixture.sent(), [STOP]);
    assert_eq!(fixture.standstill(), Some(Standstill::Silent));
}
