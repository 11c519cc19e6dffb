//! Speeds and positions from answers with random delays, on virtual time. A failed test prints its seed.

use oorandom::Rand64;

use super::*;

/// A base that has rolled the distances `metres` at a time, s, after the connection; and a line to it, with its delays.
struct Rolling<M, L> {
    driver: Driver,
    random: Rand64,
    start: Duration,
    now: Duration,
    /// Distances of the wheels at a time.
    metres: M,
    /// How late the answer with this number is.
    late: L,
    answers: u64,
}

/// A reading, and the resulting state.
struct Sample {
    /// When the counts were read and when they arrived, s.
    read: f64,
    arrived: f64,
    counts: [i32; 2],
    state: DifferentialState,
}

impl<M: Fn(f64) -> [f64; 2], L: FnMut(u64, &mut Rand64) -> Duration> Rolling<M, L> {
    fn new(seed: u64, metres: M, late: L) -> Self {
        println!("seed {seed}");
        let mut driver = Driver::new(Config::default()).unwrap();
        let now = milliseconds(3000);
        driver.handle_connected(now);
        Self { driver, random: Rand64::new(seed.into()), start: now, now, metres, late, answers: 0 }
    }

    /// All readings of `time`.
    fn run(&mut self, time: Duration) -> Vec<Sample> {
        let end = self.now + time;
        let mut samples = Vec::new();
        while self.now < end {
            self.driver.handle_timeout(self.now);
            let sent = self.driver.poll_transmit().to_vec();
            if sent.is_empty() {
                self.now = self.driver.poll_timeout().unwrap().max(self.now + Duration::from_micros(100));
            }
            let (mut bytes, mut lines) = (sent.as_slice(), Lines::new());
            while let Some(line) = lines.next(&mut bytes) {
                let delay = milliseconds(2) + milliseconds(4).mul_f64(self.random.rand_float());
                match line.parse() {
                    Ok(BaseRequest::Encoders) => samples.push(self.read(delay)),
                    Ok(_) => {
                        self.now += delay;
                        assert!(!self.driver.handle_bytes(self.now, &mut &b"OK\r\n"[..]));
                    }
                    // The line end at the begin of a connection.
                    Err(_) => {}
                }
            }
        }
        samples
    }

    /// The line takes a part of `delay` before the counts are read, and the rest after. A late answer has waited for us
    /// or for the base: after the counts were read, before, or both.
    fn read(&mut self, delay: Duration) -> Sample {
        let late = (self.late)(self.answers, &mut self.random);
        let before = [0.0, 1.0, self.random.rand_float()][self.random.rand_range(0..3) as usize];
        let asking = delay.mul_f64(0.3 + 0.4 * self.random.rand_float());
        let delay = delay + late;
        let read = (self.now - self.start + asking + late.mul_f64(before)).as_secs_f64();
        let ticks_per_metre = self.driver.config().wheel_geometry().ticks_per_metre;
        let counts = (self.metres)(read).map(|metres| (metres * ticks_per_metre).floor() as i32);
        self.now += delay;
        self.answers += 1;
        let answer = BaseAnswer::Encoders(counts).to_string();
        assert!(self.driver.handle_bytes(self.now, &mut answer.as_bytes()));
        let arrived = (self.now - self.start).as_secs_f64();
        Sample { read, arrived, counts, state: self.driver.state() }
    }
}

const SEEDS: std::ops::Range<u64> = 0..20;

/// Speeds of the wheels: straight on, back, a turn on the spot, an arc.
const MOTIONS: [[f64; 2]; 4] = [[0.5, 0.5], [-0.2, -0.2], [-0.3, 0.3], [0.15, 0.4]];

/// Asserts that no speed of steady motion is wrong by more than `tolerance`, relative to the faster wheel.
#[track_caller]
fn steady(tolerance: f64, late: impl Fn(u64, &mut Rand64) -> Duration) {
    let mut worst = 0.0_f64;
    for seed in SEEDS {
        for motion in MOTIONS {
            let mut rolling = Rolling::new(seed, |time| motion.map(|speed| speed * time), &late);
            let geometry = rolling.driver.config().wheel_geometry();
            let fastest = motion[0].abs().max(motion[1].abs());
            rolling.run(milliseconds(500));
            for Sample { arrived, state, .. } in rolling.run(Duration::from_secs(20)) {
                let wrong = [0, 1].map(|wheel| state.wheels[wheel].rate * geometry.radius - motion[wheel]);
                let wrong = wrong[0].abs().max(wrong[1].abs()) / fastest;
                assert!(wrong <= tolerance, "{motion:?}: {wrong} at {arrived} s: {:?}", state.twist);
                worst = worst.max(wrong);
                let speeds = state.wheels.map(|wheel| wheel.rate * geometry.radius);
                let twist = geometry.twist(speeds);
                assert!((twist.linear - state.twist.linear).abs() < 1e-12);
                assert!((twist.angular - state.twist.angular).abs() < 1e-12);
            }
        }
    }
    println!("{worst}");
}

#[test]
fn one_late_answer_in_five_leaves_every_speed_of_steady_motion_as_it_is() {
    steady(0.03, |answer, random| {
        if answer % 5 == 4 { milliseconds(100).mul_f64(random.rand_float()) } else { Duration::ZERO }
    });
    steady(0.03, |answer, _| milliseconds(if answer % 5 == 4 { 100 } else { 0 }));
}

#[test]
fn answers_that_are_all_a_little_late_cause_no_peaks() {
    // The latency of a USB adapter.
    steady(0.15, |_, random| milliseconds(16).mul_f64(random.rand_float()));
}

#[test]
fn answers_that_are_late_at_random_cause_no_peaks() {
    steady(0.05, |_, random| {
        if random.rand_float() < 0.1 {
            milliseconds(100).mul_f64(random.rand_float())
        } else {
            Duration::ZERO
        }
    });
}

#[test]
fn positions_are_those_of_the_counts_however_late_they_are() {
    for seed in SEEDS {
        let late = |_, random: &mut Rand64| milliseconds(90).mul_f64(random.rand_float());
        let mut rolling = Rolling::new(seed, |time| [0.3 * time; 2], late);
        let ticks_per_metre = rolling.driver.config().wheel_geometry().ticks_per_metre;
        let samples = rolling.run(Duration::from_secs(5));
        for Sample { counts, state, .. } in &samples {
            let rolled = f64::from(counts[0] - samples[0].counts[0]) / ticks_per_metre;
            assert!((state.pose.x - rolled).abs() < 1e-9, "{rolled}: {:?}", state.pose);
        }
    }
}

/// Braking to a stop after 2 s at 0.5 m/s, and setting off again 1 s later, at 1 m/s^2.
fn braking(time: f64) -> (f64, f64) {
    match time {
        ..2.0 => (0.5, 0.5 * time),
        ..2.5 => (2.5 - time, 1.125 - (2.5 - time).powi(2) / 2.0),
        ..3.5 => (0.0, 1.125),
        _ if time < 4.0 => (time - 3.5, 1.125 + (time - 3.5).powi(2) / 2.0),
        _ => (0.5, 1.25 + 0.5 * (time - 4.0)),
    }
}

#[test]
fn a_stop_is_seen_at_once_and_acceleration_two_periods_late() {
    for seed in SEEDS {
        let mut rolling = Rolling::new(seed, |time| [braking(time).1; 2], |_, _| Duration::ZERO);
        let mut before = rolling.run(milliseconds(300)).pop().unwrap().counts;
        for Sample { read, counts, state, arrived } in rolling.run(Duration::from_secs(5)) {
            let speed = state.twist.linear;
            if counts == before {
                assert_eq!((speed, state.wheels[1].rate), (0.0, 0.0), "at {arrived} s");
            } else {
                let recent = (0..=67).map(|age| braking(read - f64::from(age) * 1e-3).0);
                let (least, most) = recent
                    .fold((f64::MAX, 0.0_f64), |(least, most), speed| (least.min(speed), most.max(speed)));
                // A tick per period are 4 mm/s.
                let allowed = least - 0.05 * most - 0.005..=1.05 * most + 0.005;
                assert!(allowed.contains(&speed), "{speed} instead of {least} to {most} at {read} s");
            }
            before = counts;
        }
    }
}

#[test]
fn late_answers_do_not_hide_a_stop() {
    let late = |answer, _: &mut Rand64| milliseconds(if answer % 5 == 4 { 90 } else { 0 });
    for seed in SEEDS {
        let mut rolling = Rolling::new(seed, |time| [braking(time).1; 2], late);
        let mut unchanged = (0, [0; 2]);
        rolling.run(milliseconds(300));
        for Sample { arrived, counts, state, .. } in rolling.run(milliseconds(3100)) {
            assert!((0.0..0.525).contains(&state.twist.linear), "{} at {arrived} s", state.twist.linear);
            unchanged = (if counts == unchanged.1 { unchanged.0 + 1 } else { 0 }, counts);
            // The first may have been read directly after a late one.
            if unchanged.0 > 1 {
                assert_eq!(state.twist, Twist::ZERO, "at {arrived} s");
            }
        }
        assert!(unchanged.0 > 10);
    }
}

#[test]
fn after_a_jump_of_an_encoder_speeds_begin_with_the_new_counts() {
    let restart = |time: f64| if time < 1.0 { [100.0 + 0.3 * time; 2] } else { [0.3 * time; 2] };
    let mut rolling = Rolling::new(1, restart, |_, _| Duration::ZERO);
    rolling.run(milliseconds(200));
    let jumped = rolling.run(milliseconds(1000));
    assert_eq!(rolling.driver.state().encoder_jumps, 1);
    for Sample { arrived, state, .. } in jumped {
        let speed = state.twist.linear;
        // A single interval is known to a tenth only.
        assert!(speed == 0.0 || (0.25..0.35).contains(&speed), "{speed} at {arrived} s");
        assert!(speed != 0.0 || (1.0..1.05).contains(&arrived), "{speed} at {arrived} s");
    }
}
