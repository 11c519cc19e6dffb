use super::*;
use crate::planning::Ground;
use crate::settings::Settings;
use crate::testing::{Lab, lab_map};

/// Drives the lab's platform by its laser and odometry; returns the maximum errors, m and rad, after the first scans.
struct Bench {
    lab: Lab,
    localizer: Localizer,
    ground: Ground,
    settings: Settings,
    odometry: Pose,
}

impl Bench {
    fn new(seed: u64, start: Pose) -> Self {
        let (map, settings) = (lab_map(), Settings::default());
        let lab = Lab::new(seed, start);
        let odometry = lab.odometry;
        let mut localizer = Localizer::new(start);
        localizer.set_map(&map, &settings.localization);
        Self { lab, localizer, ground: Ground::new(&map, &settings), settings, odometry }
    }

    fn cycle(&mut self, linear: f64, angular: f64) {
        self.lab.drive(dragoman_geometry::Twist::new(linear, angular));
        let step = dragoman_geometry::relative(self.odometry, self.lab.odometry);
        self.odometry = self.lab.odometry;
        self.localizer.predict(step, &self.settings.localization);
        let points = self.lab.scan();
        let scan = Scan { origin: crate::testing::laser(), points: &points };
        self.localizer.correct(scan, self.ground.lines(), &self.settings.localization);
    }

    /// Errors of the pose, m and rad.
    fn errors(&mut self) -> [f64; 2] {
        let (truth, pose) = (self.lab.pose(), self.localizer.pose());
        [(position(truth) - position(pose)).norm(), wrap_angle(truth.heading - pose.heading).abs()]
    }

    fn assert_exact(&mut self, what: &str) {
        let [away, wrong] = self.errors();
        assert!(away < 0.03 && wrong < 1.0_f64.to_radians(), "{what}: {away} m, {} deg", wrong.to_degrees());
        assert!(!self.localizer.is_lost() && !self.localizer.is_searching(), "{what}");
    }
}

#[test]
fn half_a_metre_and_twenty_degrees_off_it_finds_itself() {
    for seed in 0..24 {
        println!("seed {seed}");
        let start = Pose::new(4.5, 3.8, -TAU / 4.0);
        let mut bench = Bench::new(seed, start);
        let away = dragoman_geometry::direction(seed as f64 * TAU / 24.0) * 0.5;
        let wrong = if seed % 2 == 0 { 20.0_f64 } else { -20.0 };
        let guess =
            Pose::new(start.x + away.x, start.y + away.y, wrap_angle(start.heading + wrong.to_radians()));
        bench.localizer.place(guess, &bench.settings.localization);
        for _ in 0..15 {
            bench.cycle(0.0, 0.0);
        }
        bench.assert_exact("standing");
    }
}

const TAU: f64 = std::f64::consts::TAU;

#[test]
fn without_any_idea_it_finds_itself_on_the_whole_map() {
    let starts = [
        Pose::new(4.5, 3.8, -1.57),
        Pose::new(-4.5, 0.0, 0.4),
        Pose::new(0.8, 3.0, 2.5),
        Pose::new(2.5, -3.2, -2.9),
    ];
    for (seed, start) in starts.into_iter().enumerate() {
        println!("seed {seed}");
        let mut bench = Bench::new(seed as u64, start);
        bench
            .localizer
            .place(Pose::new(-start.x, -start.y, start.heading + 2.0), &bench.settings.localization);
        bench.cycle(0.0, 0.3);
        let mut cycles = 0;
        while bench.localizer.is_searching() {
            bench.cycle(0.0, 0.3);
            cycles += 1;
            assert!(cycles < 500, "{:?}", bench.localizer.candidates().collect::<Vec<_>>());
        }
        for _ in 0..10 {
            bench.cycle(0.0, 0.3);
        }
        bench.assert_exact("turning");
    }
}

#[test]
fn carried_away_it_notices_and_finds_itself_again() {
    let mut bench = Bench::new(3, Pose::new(4.5, 3.8, -1.57));
    for _ in 0..20 {
        bench.cycle(0.0, 0.0);
    }
    bench.assert_exact("before");
    bench.lab.carry(Pose::new(-4.5, 0.0, 0.4));
    bench.odometry = bench.lab.odometry;
    let mut lost = false;
    for _ in 0..300 {
        bench.cycle(0.0, 0.2);
        lost |= bench.localizer.is_lost();
    }
    assert!(lost);
    bench.assert_exact("after");
}

#[test]
fn uncertainty_grows_without_a_laser_and_has_a_direction() {
    let settings = Settings::default().localization;
    let mut localizer = Localizer::new(Pose::ORIGIN);
    localizer.set(Pose::new(0.0, 0.0, 0.5), [0.01, 0.01, 0.02]);
    for _ in 0..100 {
        localizer.predict(Pose::new(0.1, 0.0, 0.0), &settings);
    }
    let uncertainty = localizer.uncertainty();
    // 10 m with 0.02 rad: 0.2 m across.
    assert!((0.15..0.35).contains(&uncertainty.major) && uncertainty.minor < 0.1, "{uncertainty:?}");
    assert!(wrap_angle(2.0 * (uncertainty.axis - 0.5 - TAU / 4.0)).abs() < 0.1, "{uncertainty:?}");
    // The odometry was reset: the platform has not moved.
    let pose = localizer.pose();
    localizer.predict(Pose::new(5.0, 0.0, 0.0), &settings);
    assert_eq!(localizer.pose(), pose);
}

#[test]
fn without_a_laser_it_is_where_it_was_put() {
    let settings = Settings::default().localization;
    let mut localizer = Localizer::new(Pose::ORIGIN);
    localizer.set_map(&lab_map(), &settings);
    localizer.place(Pose::new(1.0, 2.0, 0.5), &settings);
    assert!(!localizer.is_searching() && !localizer.is_lost());
    localizer.predict(Pose::new(0.5, 0.0, 0.0), &settings);
    assert!(
        (position(localizer.pose()) - position(compose(Pose::new(1.0, 2.0, 0.5), Pose::new(0.5, 0.0, 0.0))))
            .norm()
            < 1e-9
    );
}
