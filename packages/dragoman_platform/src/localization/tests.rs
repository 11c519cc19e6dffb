use super::*;
use crate::planning::Ground;
use crate::settings::Settings;
use crate::testing::{Lab, lab_map};

/// The lab's platform, localized by its laser and odometry.
struct Fixture {
    lab: Lab,
    localizer: Localizer,
    ground: Ground,
    settings: Settings,
    odometry: Pose,
}

impl Fixture {
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
fn it_is_localized_from_half_a_metre_and_twenty_degrees_away() {
    for seed in 0..24 {
        println!("seed {seed}");
        let start = Pose::new(4.5, 3.8, -TAU / 4.0);
        let mut fixture = Fixture::new(seed, start);
        let away = dragoman_geometry::direction(seed as f64 * TAU / 24.0) * 0.5;
        let wrong = if seed % 2 == 0 { 20.0_f64 } else { -20.0 };
        let guess =
            Pose::new(start.x + away.x, start.y + away.y, wrap_angle(start.heading + wrong.to_radians()));
        fixture.localizer.place(guess, &fixture.settings.localization);
        for _ in 0..15 {
            fixture.cycle(0.0, 0.0);
        }
        fixture.assert_exact("standing");
    }
}

const TAU: f64 = std::f64::consts::TAU;

#[test]
fn without_a_known_pose_it_is_localized_on_the_whole_map() {
    let starts = [
        Pose::new(4.5, 3.8, -1.57),
        Pose::new(-4.5, 0.0, 0.4),
        Pose::new(0.8, 3.0, 2.5),
        Pose::new(2.5, -3.2, -2.9),
    ];
    for (seed, start) in starts.into_iter().enumerate() {
        println!("seed {seed}");
        let mut fixture = Fixture::new(seed as u64, start);
        fixture
            .localizer
            .place(Pose::new(-start.x, -start.y, start.heading + 2.0), &fixture.settings.localization);
        fixture.cycle(0.0, 0.3);
        let mut cycles = 0;
        while fixture.localizer.is_searching() {
            fixture.cycle(0.0, 0.3);
            cycles += 1;
            assert!(cycles < 500, "{:?}", fixture.localizer.candidates().collect::<Vec<_>>());
        }
        for _ in 0..10 {
            fixture.cycle(0.0, 0.3);
        }
        fixture.assert_exact("turning");
    }
}

#[test]
fn a_carried_platform_is_localized_again() {
    let mut fixture = Fixture::new(3, Pose::new(4.5, 3.8, -1.57));
    for _ in 0..20 {
        fixture.cycle(0.0, 0.0);
    }
    fixture.assert_exact("before");
    fixture.lab.carry(Pose::new(-4.5, 0.0, 0.4));
    fixture.odometry = fixture.lab.odometry;
    let mut lost = false;
    for _ in 0..300 {
        fixture.cycle(0.0, 0.2);
        lost |= fixture.localizer.is_lost();
    }
    assert!(lost);
    fixture.assert_exact("after");
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
fn without_a_laser_the_pose_is_the_one_that_was_set() {
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
