use proptest::prelude::*;

use super::*;

mod late;

fn milliseconds(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// A driver with a base that answers each request after 2 ms.
struct Fixture {
    driver: Driver,
    now: Duration,
    /// Its encoder counts.
    counts: [i32; 2],
    /// The last commanded speeds.
    speeds: [i16; 2],
    line: Lines,
    answers: bool,
}

impl Fixture {
    fn new(config: Config) -> Self {
        let driver = Driver::new(config).unwrap();
        let now = milliseconds(3000);
        Self { driver, now, counts: [i32::MAX, -5], speeds: [0, 0], line: Lines::new(), answers: true }
    }

    fn online() -> Self {
        let mut fixture = Self::new(Config::default());
        fixture.driver.handle_connected(fixture.now);
        fixture.run(1000);
        fixture.events();
        fixture
    }

    /// Advances millisecond by millisecond.
    fn run(&mut self, time: u64) {
        for _ in 0..time {
            self.now += milliseconds(1);
            self.driver.handle_timeout(self.now);
            self.exchange();
        }
    }

    /// Delivers sent bytes, and returns the answers.
    fn exchange(&mut self) {
        let sent = self.driver.poll_transmit().to_vec();
        self.take(&sent);
    }

    fn take(&mut self, sent: &[u8]) {
        let (mut bytes, mut answers) = (sent, String::new());
        while let Some(line) = self.line.next(&mut bytes) {
            let answer = match line.parse() {
                Ok(BaseRequest::Encoders) => BaseAnswer::Encoders(self.counts),
                Ok(BaseRequest::SetSpeeds(speeds)) => {
                    self.speeds = speeds;
                    BaseAnswer::Done
                }
                Ok(BaseRequest::ResetEncoders) => BaseAnswer::Done,
                Err(_) => BaseAnswer::NotUnderstood,
            };
            answers += &answer.to_string();
        }
        if self.answers && !answers.is_empty() {
            self.now += milliseconds(2);
            let mut rest = answers.as_bytes();
            while self.driver.handle_bytes(self.now, &mut rest) {}
            self.exchange();
        }
    }

    fn command(&mut self, linear: f64, angular: f64) -> Result<(), Refusal> {
        let sent = self.driver.command(self.now, Twist::new(linear, angular))?.to_vec();
        self.take(&sent);
        Ok(())
    }

    fn events(&mut self) -> Vec<Event> {
        std::iter::from_fn(|| self.driver.poll_event()).collect()
    }
}

#[test]
fn speeds_are_ticks_per_period_and_keep_their_ratio() {
    let config = Config::default();
    // 0.5 m/s are 2.449 turns per s, 3526 ticks per s, 117.5 per period.
    assert_eq!(config.speeds(Twist::new(0.5, 0.0)), [118, 118]);
    assert_eq!(config.speeds(Twist::new(0.0, 1.0)), [-35, 35]);
    let fine = Config { ticks_per_turn: 1e7, ..config };
    assert_eq!(fine.speeds(Twist::new(0.15, 1.0)), [0, 32767]);
    assert_eq!(fine.speeds(Twist::ZERO), [0, 0]);
}

#[test]
fn encoders_are_read_and_commands_are_sent_until_they_expire() {
    let mut fixture = Fixture::new(Config::default());
    assert_eq!(fixture.command(0.1, 0.0), Err(Refusal::Standstill(Standstill::Disconnected)));
    fixture.driver.handle_connected(fixture.now);
    assert_eq!(fixture.driver.poll_transmit(), b"\r");
    assert_eq!(fixture.command(0.1, 0.0), Err(Refusal::Standstill(Standstill::NoFeedback)));
    fixture.run(1100);
    let measurements = fixture.driver.state().line.measurements;
    assert!((28..=35).contains(&measurements), "{measurements} in a second");
    assert_eq!(fixture.events(), [Event::Robot { online: true }]);

    let before = fixture.now;
    fixture.command(0.5, 0.0).unwrap();
    assert_eq!(fixture.speeds, [118, 118]);
    assert!(matches!(fixture.command(f64::NAN, 0.0), Err(Refusal::NotFinite(_))));
    while fixture.speeds != [0, 0] {
        fixture.run(1);
    }
    let held = fixture.now - before;
    assert!((milliseconds(598)..=milliseconds(605)).contains(&held), "{held:?}");
    assert_eq!(fixture.events(), [Event::CommandExpired]);
    assert_eq!(fixture.driver.state().standstill, Some(Standstill::CommandExpired));
}

#[test]
fn odometry_over_the_end_of_the_encoders_and_over_a_lost_connection() {
    let mut fixture = Fixture::online();
    // 1440 ticks per turn of 2 pi 0.0325 m: 7052 per metre.
    for _ in 0..705 {
        fixture.counts = fixture.counts.map(|count| count.wrapping_add(10));
        fixture.run(33);
    }
    let pose = fixture.driver.state().pose;
    assert!((pose.x - 1.0).abs() < 3e-3 && pose.heading == 0.0, "{pose:?}");
    let speed = fixture.driver.state().twist.linear;
    assert!((0.03..0.05).contains(&speed), "{speed}");
    fixture.driver.handle_disconnected(fixture.now);
    assert_eq!((fixture.driver.state().pose, fixture.driver.state().twist), (pose, Twist::ZERO));
    assert_eq!(fixture.driver.poll_timeout(), None);
    fixture.counts = [0, 0];
    fixture.driver.handle_connected(fixture.now);
    fixture.run(300);
    assert!(fixture.driver.state().alive);
    assert_eq!((fixture.driver.state().pose, fixture.driver.state().encoder_jumps), (pose, 0));
    fixture.driver.set_odometry(Pose::ORIGIN).unwrap();
    assert_eq!(fixture.driver.state().wheels[0].angle, 0.0);
}

#[test]
fn silence_stops_and_the_base_comes_back_by_itself() {
    let mut fixture = Fixture::online();
    fixture.command(0.2, 0.0).unwrap();
    fixture.answers = false;
    for _ in 0..6 {
        fixture.run(100);
        fixture.command(0.2, 0.0).ok();
    }
    let state = fixture.driver.state();
    assert_eq!((state.alive, state.standstill), (false, Some(Standstill::Silent)));
    assert_eq!(fixture.speeds, [0, 0], "it still receives commands");
    assert_eq!(fixture.events(), [Event::Robot { online: false }]);
    assert_eq!(fixture.command(0.2, 0.0), Err(Refusal::Standstill(Standstill::Silent)));
    fixture.answers = true;
    fixture.run(400);
    assert_eq!(fixture.events(), [Event::Robot { online: true }]);
    fixture.command(0.2, 0.0).unwrap();
    fixture.run(100);
    assert_ne!(fixture.speeds, [0, 0]);
    assert!(fixture.driver.state().line.timeouts > 1);
}

#[test]
fn answers_that_were_buffered_do_not_count_as_silence() {
    for (stall, expired) in [(550, false), (700, true)] {
        let mut fixture = Fixture::online();
        while fixture.driver.pending.is_empty() {
            fixture.now += milliseconds(1);
            fixture.driver.handle_timeout(fixture.now);
        }
        fixture.driver.poll_transmit();
        fixture.command(0.2, 0.0).unwrap();
        let before = fixture.driver.state();
        fixture.now += milliseconds(stall);
        let mut rest = &b"1 2\r\n"[..];
        assert!(fixture.driver.handle_bytes(fixture.now, &mut rest));
        assert!(!fixture.driver.handle_bytes(fixture.now, &mut rest));
        let state = fixture.driver.state();
        assert_eq!((state.alive, state.encoders), (true, Some([1, 2])));
        assert_eq!((state.line.timeouts, state.line.garbage), (before.line.timeouts, before.line.garbage));
        let (events, sent) =
            if expired { (vec![Event::CommandExpired], "m 0 0\r") } else { (vec![], "m 47 47\r") };
        assert_eq!(fixture.events(), events);
        assert_eq!(std::str::from_utf8(fixture.driver.poll_transmit()), Ok(sent));
        // A line that is not an answer counts as silence.
        fixture.now += milliseconds(500);
        assert!(!fixture.driver.handle_bytes(fixture.now, &mut &b"3 4 5\r\n"[..]));
        assert_eq!(fixture.events().last(), Some(&Event::Robot { online: false }));
    }
}

#[test]
fn a_reconnected_base_is_commanded_to_stand_still_for_a_while() {
    let mut fixture = Fixture::online();
    for lost in [true, false] {
        if lost {
            fixture.driver.handle_connected(fixture.now);
        } else {
            fixture.answers = false;
            fixture.run(1000);
            fixture.answers = true;
        }
        fixture.speeds = [50, 50];
        fixture.run(400);
        assert_eq!(fixture.speeds, [0, 0], "its old command is unknown");
        // Repeated, in case it was lost.
        fixture.speeds = [50, 50];
        fixture.run(100);
        assert_eq!(fixture.speeds, [0, 0]);
        fixture.run(1000);
        fixture.speeds = [50, 50];
        fixture.run(1000);
        assert_eq!(fixture.speeds, [50, 50], "not for ever");
    }
}

#[test]
fn garbage_and_answers_to_nothing_are_counted_and_change_nothing() {
    let mut fixture = Fixture::online();
    let state = fixture.driver.state();
    let mut garbage = &b"\xff\xfe\r\n12 x\r\nOK\r\n77 88 99\r\n5000 6000\r\n"[..];
    assert!(!fixture.driver.handle_bytes(fixture.now, &mut garbage));
    let after = fixture.driver.state();
    assert_eq!(after.line.garbage, state.line.garbage + 5);
    assert_eq!((after.pose, after.encoders), (state.pose, state.encoders));
    fixture.run(200);
    assert!(fixture.driver.state().alive);
}

/// It must not count as a request without an answer: the user would then look for a fault of the cable.
#[test]
fn a_reading_of_four_wheels_is_an_answer_that_is_not_understood() {
    let mut fixture = Fixture::online();
    let state = fixture.driver.state();
    while fixture.driver.pending.is_empty() {
        fixture.now += milliseconds(1);
        fixture.driver.handle_timeout(fixture.now);
    }
    fixture.driver.poll_transmit();
    assert!(!fixture.driver.handle_bytes(fixture.now, &mut &b"1 2 3 4\r\n"[..]));
    fixture.now += fixture.driver.config().answer_timeout;
    fixture.driver.handle_timeout(fixture.now);
    let after = fixture.driver.state();
    assert_eq!(after.line.not_understood, state.line.not_understood + 1);
    assert_eq!((after.line.timeouts, after.line.garbage), (state.line.timeouts, state.line.garbage));
    assert_eq!((after.pose, after.encoders), (state.pose, state.encoders));
}

#[test]
fn a_stop_command_does_not_wait_for_an_answer() {
    let mut fixture = Fixture::online();
    fixture.command(0.2, 0.0).unwrap();
    while fixture.driver.pending.is_empty() {
        fixture.now += milliseconds(1);
        fixture.driver.handle_timeout(fixture.now);
    }
    fixture.driver.poll_transmit();
    fixture.driver.set_motor_power(false);
    assert_eq!(fixture.driver.poll_transmit(), b"m 0 0\r");
    assert_eq!(fixture.command(0.2, 0.0), Err(Refusal::Standstill(Standstill::MotorsOff)));
    // Both answers come.
    let mut rest = &b"1 2\r\nOK\r\n"[..];
    assert!(fixture.driver.handle_bytes(fixture.now, &mut rest));
    assert!(!fixture.driver.handle_bytes(fixture.now, &mut rest));
    assert_eq!(fixture.driver.state().line.garbage, 0);
}

#[test]
fn a_jump_of_our_clock_stops() {
    for now in [Duration::ZERO, Duration::from_secs(100_000)] {
        let mut fixture = Fixture::online();
        fixture.command(0.2, 0.0).unwrap();
        fixture.now = now;
        fixture.run(1);
        assert_eq!(fixture.speeds, [0, 0]);
        fixture.run(400);
        assert!(fixture.driver.state().alive, "{:?}", fixture.driver.state());
        assert_eq!(fixture.speeds, [0, 0]);
        fixture.command(0.2, 0.0).unwrap();
        fixture.run(100);
        assert_ne!(fixture.speeds, [0, 0]);
    }
}

#[test]
fn invalid_options_are_refused() {
    for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let config = Config { wheel_radius: value, ..Config::default() };
        let error = Driver::new(config).unwrap_err();
        assert!(matches!(error, ConfigError::Value { name: "wheel_radius", .. }), "{error}");
    }
}

#[derive(Debug, Clone)]
enum Step {
    Bytes(Vec<u8>),
    Run(u64),
    Jump(u64),
    Command(f64, f64),
    Link(bool),
    Answers(bool),
    Power(bool),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        1 => proptest::collection::vec(prop_oneof![Just(b'\n'), b'0'..=b'9', Just(b' '), any::<u8>()], 0..30).prop_map(Step::Bytes),
        8 => (0_u64..80).prop_map(Step::Run),
        2 => (0_u64..1000).prop_map(Step::Run),
        1 => (0_u64..100_000).prop_map(Step::Jump),
        8 => (-1.0..1.0_f64, -4.0..4.0_f64).prop_map(|(linear, angular)| Step::Command(linear, angular)),
        1 => Just(Step::Command(f64::NAN, 0.0)),
        1 => any::<bool>().prop_map(Step::Link),
        1 => any::<bool>().prop_map(Step::Answers),
        1 => any::<bool>().prop_map(Step::Power),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 200, ..ProptestConfig::default() })]

    /// For any input, the base is commanded to stand still within the timeouts, and only moves by accepted commands.
    #[test]
    fn the_base_never_moves_on_by_itself(steps in proptest::collection::vec(step(), 1..80)) {
        let mut fixture = Fixture::online();
        let mut until = Duration::ZERO;
        let mut connected = true;
        for step in steps {
            match step {
                Step::Bytes(bytes) => {
                    let mut rest = &bytes[..];
                    while fixture.driver.handle_bytes(fixture.now, &mut rest) {}
                }
                Step::Run(time) => fixture.run(time),
                Step::Jump(now) => {
                    fixture.now = milliseconds(now);
                    fixture.driver.handle_timeout(fixture.now);
                }
                Step::Command(linear, angular) => {
                    let at = fixture.now;
                    if fixture.command(linear, angular).is_ok() {
                        prop_assert!(linear.is_finite());
                        until = at + milliseconds(600);
                    }
                }
                Step::Link(opened) => {
                    if opened { fixture.driver.handle_connected(fixture.now) } else { fixture.driver.handle_disconnected(fixture.now) }
                    connected = opened;
                    // Its own watchdog then stops the base.
                    fixture.speeds = [0, 0];
                }
                Step::Answers(answers) => fixture.answers = answers,
                Step::Power(on) => fixture.driver.set_motor_power(on),
            }
            fixture.driver.handle_timeout(fixture.now);
            fixture.exchange();
            let state = fixture.driver.state();
            let moving = fixture.speeds != [0, 0];
            // A step of the test is 3 ms at most.
            prop_assert!(!moving || fixture.now < until + milliseconds(4), "{:?}, until {until:?}", fixture.now);
            prop_assert!(!moving || (connected && state.motor_power), "{:?}", state.standstill);
            prop_assert!(fixture.driver.pending.len() <= 3);
            prop_assert!(state.pose.is_finite() && state.twist.is_finite());
        }
    }
}
