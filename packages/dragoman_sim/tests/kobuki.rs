//! The driver of `dragoman_base` and the simulated Kobuki, over a line of bytes, on virtual time.

use std::time::Duration;

use dragoman_base::kobuki::driver::{Config, Driver, Event, Led, LedColor};
use dragoman_geometry::{Pose, Twist, wrap_angle};
use dragoman_sim::kobuki::{self, Noise};
use dragoman_sim::serial::SerialDevice;
use dragoman_sim::{Kobuki, KobukiSettings};

struct Fixture {
    driver: Driver,
    kobuki: Kobuki,
    now: Duration,
    events: Vec<Event>,
    is_connected: bool,
}

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

impl Fixture {
    fn new(noise: Noise) -> Self {
        let mut fixture = Self {
            driver: Driver::new(Config::default()).unwrap(),
            kobuki: Kobuki::new(KobukiSettings { noise, ..KobukiSettings::default() }),
            now: Duration::ZERO,
            events: Vec::new(),
            is_connected: true,
        };
        fixture.driver.handle_connected(fixture.now);
        fixture.run(ms(500));
        fixture
    }

    /// Advances the time in milliseconds.
    fn run(&mut self, time: Duration) {
        let end = self.now + time;
        while self.now < end {
            self.now += ms(1);
            self.kobuki.handle_timeout(self.now);
            while let Some(packet) = self.kobuki.poll_transmit() {
                let mut bytes = packet.as_slice();
                while self.is_connected && self.driver.handle_bytes(self.now, &mut bytes) {}
            }
            self.driver.handle_timeout(self.now);
            self.pass_on();
        }
    }

    /// Passes the driver's bytes to the Kobuki.
    fn pass_on(&mut self) {
        let bytes = self.driver.poll_transmit();
        if self.is_connected {
            self.kobuki.handle_bytes(self.now, bytes);
        }
        self.events.extend(std::iter::from_fn(|| self.driver.poll_event()));
    }

    fn command(&mut self, linear: f64, angular: f64) {
        let bytes = self.driver.command(self.now, Twist::new(linear, angular)).unwrap();
        self.kobuki.handle_bytes(self.now, bytes);
    }

    /// Commands every 50 ms a velocity computed from the pose, until it is `None`.
    fn drive(&mut self, mut velocity: impl FnMut(Pose) -> Option<(f64, f64)>) {
        let deadline = self.now + ms(60_000);
        while let Some((linear, angular)) = velocity(self.driver.state().pose) {
            self.command(linear, angular);
            self.run(ms(50));
            assert!(self.now < deadline, "{:?}", self.driver.state().pose);
        }
        self.command(0.0, 0.0);
        self.run(ms(1000));
    }

    /// Drives to a position: turns towards it, then goes straight.
    fn go_to(&mut self, x: f64, y: f64) {
        let bearing = |pose: Pose| wrap_angle((y - pose.y).atan2(x - pose.x) - pose.heading);
        self.drive(|pose| {
            let error = bearing(pose);
            (error.abs() > 0.002).then(|| (0.0, (2.0 * error).clamp(-1.0, 1.0)))
        });
        self.drive(|pose| {
            let distance = (x - pose.x).hypot(y - pose.y);
            (distance > 0.005).then(|| ((1.5 * distance).clamp(0.01, 0.3), 2.0 * bearing(pose)))
        });
    }
}

/// Distance between two poses, m.
fn apart(a: Pose, b: Pose) -> f64 {
    (a.x - b.x).hypot(a.y - b.y)
}

#[test]
fn a_square_of_two_metres_comes_back_and_odometry_is_where_it_is() {
    // Noise on the raw samples does not reach the odometry (TurtleBot thesis, table 4.3).
    for noise in [Noise::None, Noise::Raw] {
        let mut fixture = Fixture::new(noise);
        for (x, y) in [(2.0, 0.0), (2.0, 2.0), (0.0, 2.0), (0.0, 0.0)] {
            fixture.go_to(x, y);
            let (estimated, real) = (fixture.driver.state().pose, fixture.kobuki.pose());
            assert!(apart(estimated, Pose::new(x, y, 0.0)) < 0.006, "{estimated:?}");
            // A tick is 0.085 mm, a hundredth of a degree 0.35 mm in 2 m.
            assert!(apart(estimated, real) < 0.003, "{estimated:?} {real:?}");
            assert!(wrap_angle(estimated.heading - real.heading).abs() < 2e-4, "{estimated:?} {real:?}");
        }
    }
}

#[test]
fn noise_of_the_raw_samples_leaves_the_heading_and_its_rate_exact() {
    for (noise, is_exact) in [(Noise::Raw, true), (Noise::Typical, false)] {
        let mut fixture = Fixture::new(noise);
        let (mut rates, mut raw) = (Vec::new(), Vec::new());
        for _ in 0..500 {
            fixture.run(ms(20));
            let sensors = fixture.driver.state().sensors;
            rates.extend(sensors.inertia.map(|inertia| inertia.rate()));
            raw.extend(sensors.gyro.into_iter().flat_map(|gyro| gyro.readings().to_vec()));
        }
        assert!(rates.len() > 400 && raw.len() > 800, "{} {}", rates.len(), raw.len());
        assert!(raw.iter().flatten().any(|rate| *rate != 0), "the samples have noise");
        assert_eq!(rates.iter().all(|rate| *rate == 0.0), is_exact, "{noise:?}");
        assert_eq!(fixture.driver.state().heading == 0.0, is_exact, "{noise:?}");
    }
}

#[test]
fn with_a_real_gyro_the_square_drifts_a_little() {
    let mut fixture = Fixture::new(Noise::Typical);
    for (x, y) in [(2.0, 0.0), (2.0, 2.0), (0.0, 2.0), (0.0, 0.0)] {
        fixture.go_to(x, y);
    }
    let error = apart(fixture.driver.state().pose, fixture.kobuki.pose());
    assert!((1e-6..0.1).contains(&error), "{error}");
}

#[test]
fn a_lost_line_stops_it_within_the_firmwares_watchdog_time() {
    let mut fixture = Fixture::new(Noise::None);
    fixture.command(0.3, 0.0);
    fixture.run(ms(500));
    assert!(fixture.kobuki.twist().linear > 0.1);
    fixture.is_connected = false;
    fixture.driver.handle_disconnected(fixture.now);
    fixture.run(kobuki::WATCHDOG + ms(500));
    assert_eq!(fixture.kobuki.twist(), Twist::ZERO);
    let before = fixture.kobuki.pose();
    fixture.is_connected = true;
    fixture.driver.handle_connected(fixture.now);
    fixture.run(ms(1000));
    assert_eq!(fixture.kobuki.pose(), before, "earlier commands are discarded");
    fixture.command(0.1, 0.0);
    fixture.run(ms(500));
    assert!(fixture.kobuki.pose().x > before.x);
}

#[test]
fn a_machine_that_falls_silent_is_stopped_and_comes_back() {
    let mut fixture = Fixture::new(Noise::None);
    fixture.command(0.3, 0.0);
    fixture.run(ms(300));
    fixture.kobuki.silence(ms(800));
    fixture.run(ms(500));
    assert!(!fixture.driver.state().alive);
    fixture.run(ms(500));
    assert!(fixture.driver.state().alive);
    assert_eq!(fixture.kobuki.twist(), Twist::ZERO);
}

#[test]
fn a_damaged_line_costs_packets_and_no_odometry() {
    let mut fixture = Fixture::new(Noise::None);
    fixture.kobuki.corrupt(0.2);
    for _ in 0..100 {
        let _ = fixture.driver.command(fixture.now, Twist::new(0.2, 0.4));
        fixture.kobuki.garbage(30);
        fixture.run(ms(50));
    }
    fixture.kobuki.corrupt(0.0);
    fixture.run(ms(1000));
    let (estimated, real) = (fixture.driver.state().pose, fixture.kobuki.pose());
    assert!(real.heading.abs() > 0.5 && apart(estimated, real) < 0.02, "{estimated:?} {real:?}");
    assert!(fixture.driver.state().line.skipped_bytes > 1000);
}

#[test]
fn a_machine_that_was_switched_off_is_as_before() {
    let mut fixture = Fixture::new(Noise::None);
    fixture.driver.set_led(Led::One, LedColor::Orange);
    fixture.driver.set_external_power([None, Some(false), None, None]);
    fixture.command(0.2, 0.5);
    fixture.run(ms(600));
    fixture.command(0.0, 0.0);
    fixture.run(ms(1000));
    let before = fixture.driver.state();
    assert_eq!(before.identity.unique_id.unwrap().to_string(), "98434864-959859523-1126263088");
    fixture.kobuki.reset();
    fixture.run(ms(2000));
    let after = fixture.driver.state();
    assert!(apart(before.pose, after.pose) < 1e-9 && before.pose.heading == after.pose.heading);
    assert_eq!(after.identity, before.identity);
    assert_eq!(fixture.kobuki.leds()[0], LedColor::Orange);
    assert_eq!(fixture.kobuki.external_power(), [true, false, true, true]);
}
