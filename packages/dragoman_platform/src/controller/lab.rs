//! The platform in the default lab, with its laser and noisy odometry.

use dragoman_geometry::{Point, Segment, direction, heading, position, wrap_angle};
use dragoman_neobotix::map::{Edge, Map, Roadmap, Station};

use super::*;
use crate::testing::{self, Lab, lab_map};

const START: Pose = Pose { x: 4.5, y: 3.8, heading: -std::f64::consts::FRAC_PI_2 };

struct Fixture {
    lab: Lab,
    platform: Platform,
    now: Duration,
    twist: Twist,
    driven: f64,
    /// Maximum errors of the localization while driving, m and rad.
    errors: [f64; 2],
    events: Vec<Event>,
}

impl Fixture {
    /// In automatic mode, at a known pose.
    fn new(seed: u64, settings: Settings, map: Map) -> Self {
        let lab = Lab::new(seed, START);
        let mut platform = Platform::new(settings).unwrap();
        for command in [
            Command::SetMap(map),
            Command::SetRoadmap(roadmap()),
            Command::SetPose(START),
            Command::Connect,
            Command::Initialize,
            Command::SetMode(MotionMode::Automatic),
            Command::Start,
        ] {
            platform.command(command).unwrap();
        }
        let (now, twist) = (Duration::ZERO, Twist::ZERO);
        let mut fixture =
            Self { lab, platform, now, twist, driven: 0.0, errors: [0.0; 2], events: Vec::new() };
        for _ in 0..20 {
            fixture.cycle();
        }
        fixture.events.clear();
        fixture
    }

    fn cycle(&mut self) {
        let before = self.lab.pose();
        self.lab.drive(self.twist);
        self.now += testing::STEP;
        let truth = self.lab.pose();
        self.driven += (position(truth) - position(before)).norm();
        let points = self.lab.scan();
        let scan = Some(Scan { origin: testing::laser(), points: &points });
        let input = Input { scan, ..Input::at(self.now, self.lab.odometry) };
        self.twist = self.platform.cycle(&input).twist;
        let covered = self.platform.settings().footprint.at(truth);
        assert!(!self.platform.map().forbids(&covered), "{truth:?}");
        assert_eq!(self.lab.collisions(), 0, "{truth:?}");
        if self.driven > 0.0 {
            let pose = self.platform.status().pose;
            let away = (position(pose) - position(truth)).norm();
            let wrong = wrap_angle(pose.heading - truth.heading).abs();
            self.errors = [self.errors[0].max(away), self.errors[1].max(wrong)];
        }
        while let Some(event) = self.platform.poll_event() {
            self.events.push(event);
        }
    }

    /// Drives until the motion has ended; checks that it reached this pose within 2 cm and 1 degree (in the map, so
    /// including the error of the localization).
    fn reach(&mut self, command: Command, goal: Pose) {
        self.events.clear();
        self.platform.command(command.clone()).unwrap();
        for _ in 0..3000 {
            self.cycle();
            if self.events.contains(&Event::Motion(MotionEvent::Arrived)) {
                let truth = self.lab.pose();
                let away = (position(truth) - position(goal)).norm();
                let wrong = wrap_angle(truth.heading - goal.heading).abs();
                assert!(
                    away < 0.02 && wrong < 1.0_f64.to_radians(),
                    "{command:?}: {truth:?}, {away}, {wrong}"
                );
                return;
            }
        }
        panic!("{command:?}: {:?}, {:?}, at {:?}", self.events, self.platform.status(), self.lab.pose());
    }
}

fn station(name: &str, x: f64, y: f64, heading: f64) -> Station {
    Station { id: name.to_owned(), name: name.to_owned(), pose: Pose::new(x, y, heading) }
}

/// Three stations with edges in both directions.
fn roadmap() -> Roadmap {
    let stations = vec![
        station("north", 4.5, 3.8, -std::f64::consts::FRAC_PI_2),
        station("middle", 1.0, 3.0, 3.0),
        station("west", -4.5, 0.0, 1.0),
    ];
    let way = |a: &str, b: &str, points: &[[f64; 2]]| {
        let points: Vec<Point> = points.iter().map(|&point| Point::from(point)).collect();
        let back = points.iter().rev().copied().collect();
        [
            Edge { start: a.to_owned(), end: b.to_owned(), points },
            Edge { start: b.to_owned(), end: a.to_owned(), points: back },
        ]
    };
    let edges = [
        way("north", "middle", &[[2.5, 3.8]]),
        way("middle", "west", &[[-0.5, 2.0], [-1.5, 0.8], [-3.5, 0.8]]),
    ];
    Roadmap { stations, edges: edges.into_iter().flatten().collect() }
}

#[test]
fn stations_are_reached_within_two_centimetres_and_a_degree() {
    for seed in 0..2 {
        println!("seed {seed}");
        let mut fixture = Fixture::new(seed, Settings::default(), lab_map());
        for name in ["west", "middle", "north"] {
            let goal = roadmap().station(name).unwrap().pose;
            fixture.reach(Command::MoveToStation(name.to_owned()), goal);
        }
    }
}

#[test]
fn fifty_metres_are_driven_without_losing_localization() {
    let mut fixture = Fixture::new(7, Settings::default(), lab_map());
    let goals = [
        [3.0, 0.5],
        [0.8, -1.0],
        [-1.8, -1.2],
        [-4.5, 0.5],
        [-4.5, -3.5],
        [-0.5, 3.8],
        [2.6, -3.0],
        [4.5, 1.0],
    ];
    let mut random = oorandom::Rand64::new(7);
    'driving: loop {
        for [x, y] in goals {
            let goal = Pose::new(x, y, random.rand_range(0..6283) as f64 / 1000.0 - std::f64::consts::PI);
            fixture.reach(Command::MoveAbsolute(goal), goal);
            if fixture.driven >= 50.0 {
                break 'driving;
            }
        }
    }
    let [away, wrong] = fixture.errors;
    println!(
        "{:.1} m in {:?}: at most {away:.4} m and {:.3} deg off",
        fixture.driven,
        fixture.now,
        wrong.to_degrees()
    );
    assert!(away < 0.03 && wrong < 1.0_f64.to_radians(), "{away} {wrong}");
}

#[test]
fn a_new_obstacle_is_driven_around() {
    let mut fixture = Fixture::new(11, Settings::default(), lab_map());
    let goal = Pose::new(-1.5, 3.6, 2.0);
    fixture.platform.command(Command::MoveAbsolute(goal)).unwrap();
    for _ in 0..100 {
        fixture.cycle();
    }
    // Another robot, ahead of it.
    let ahead = position(fixture.lab.pose()) + direction(fixture.lab.pose().heading) * 1.6;
    fixture.lab.put("Pioneer3AT", ahead.x, ahead.y, 0.0);
    fixture.reach(Command::MoveAbsolute(goal), goal);
}

#[test]
fn prohibited_areas_are_never_entered() {
    for seed in 0..2_u64 {
        println!("seed {seed}");
        let mut random = oorandom::Rand64::new(seed.into());
        let mut between = |least: f64, most: f64| least + (most - least) * random.rand_float();
        let mut map = lab_map();
        for _ in 0..3 {
            let (x, y) = (between(-4.0, 2.5), between(-3.0, 2.5));
            map.prohibited.push(testing::rectangle(x, y, x + between(0.2, 1.0), y + between(0.2, 1.0)));
        }
        let mut fixture = Fixture::new(seed, Settings::default(), map);
        let mut reached = 0;
        for _ in 0..5 {
            let goal = Pose::new(between(-5.0, 5.0), between(-4.0, 4.0), between(-3.0, 3.0));
            // `cycle` checks each pose on the way.
            fixture.events.clear();
            if fixture.platform.command(Command::MoveAbsolute(goal)).is_ok() {
                for _ in 0..600 {
                    fixture.cycle();
                    if fixture.platform.status().goal.is_none() {
                        break;
                    }
                }
                reached += u32::from(fixture.platform.status().target_reached);
            }
        }
        println!("{reached} goals reached, {:.1} m", fixture.driven);
        assert!(reached > 0);
    }
}

#[test]
fn it_is_localized_in_a_map_that_it_made() {
    // Driven manually, without a map; its start is the map's origin.
    let lab = Lab::new(5, Pose::new(0.8, -1.0, 0.0));
    let mut platform = Platform::new(Settings::default()).unwrap();
    let mode = Command::SetMode(MotionMode::Velocity);
    for command in [Command::Connect, Command::Initialize, mode, Command::Start, Command::StartMapping] {
        platform.command(command).unwrap();
    }
    let start = Pose::new(0.8, -1.0, 0.0);
    platform.command(Command::SetPose(start)).unwrap();
    let (now, twist) = (Duration::ZERO, Twist::ZERO);
    let mut fixture =
        Fixture { lab, platform, now, twist, driven: 0.0, errors: [0.0; 2], events: Vec::new() };
    // Driven manually between these poses.
    for place in [[-1.8, -1.2], [-4.5, 0.5], [-1.0, 1.5], [0.8, 3.2], [2.0, 3.8]].map(Point::from) {
        loop {
            let truth = fixture.lab.pose();
            let turn = wrap_angle(heading(position(truth), place) - truth.heading);
            if (place - position(truth)).norm() < 0.2 {
                break;
            }
            let twist = if turn.abs() > 0.3 { Twist::new(0.0, turn.signum()) } else { Twist::new(0.5, turn) };
            fixture.platform.command(Command::Move(twist)).unwrap();
            fixture.cycle();
            assert!(fixture.now < Duration::from_secs(120), "{truth:?}");
        }
    }
    let [away, wrong] = fixture.errors;
    println!("{:.1} m driven, {away:.3} m and {:.2} deg off", fixture.driven, wrong.to_degrees());
    assert!(fixture.driven > 5.0 && away < 0.05 && wrong < 1.0_f64.to_radians());
    let lines: Vec<Segment> = fixture.platform.mapped_lines().collect();
    for wall in &lab_map().lines[..4] {
        let mine = lines.iter().filter(|line| wall.distance(line.a) < 0.05 && wall.distance(line.b) < 0.05);
        let length: f64 = mine.map(Segment::length).sum();
        assert!(length > 0.6 * wall.length(), "{wall:?}: {length} of {}", wall.length());
    }
    fixture.platform.command(Command::StopMapping).unwrap();
    fixture.platform.command(Command::SetMap(Map { lines, ..Map::default() })).unwrap();
    let guess = fixture.lab.pose();
    fixture.platform.command(Command::SetPose(Pose { x: guess.x + 0.4, ..guess })).unwrap();
    for _ in 0..20 {
        fixture.twist = Twist::ZERO;
        fixture.cycle();
    }
    let (pose, truth) = (fixture.platform.status().pose, fixture.lab.pose());
    assert!((position(pose) - position(truth)).norm() < 0.05, "{pose:?} {truth:?}");
    assert!(!fixture.platform.status().localization_lost);
}
