//! Cost of a cycle with a scan of 541 points, a plan across a hall, a localization update, and a global search.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use dragoman_geometry::{Point, Polygon, Pose, Segment, direction, inverse_transform, position, transform};
use dragoman_neobotix::map::Map;
use dragoman_platform::controller::{Command, Input, MotionMode, Platform};
use dragoman_platform::localization::Localizer;
use dragoman_platform::motion::obstacles::Scan;
use dragoman_platform::planning::{Ground, Scene};
use dragoman_platform::settings::Settings;

const START: Pose = Pose { x: -4.8, y: -3.9, heading: 0.3 };

fn rectangle(left: f64, bottom: f64, right: f64, top: f64) -> Polygon {
    let corners = [[left, bottom], [right, bottom], [right, top], [left, top]];
    Polygon::new(corners.map(Point::from).to_vec()).expect("four corners")
}

/// A hall of 12 m by 10 m with ten pieces of furniture and two prohibited areas.
fn hall() -> Map {
    let furniture = (0..10).map(|index| {
        let (x, y) = (-4.5 + f64::from(index), if index % 2 == 0 { 2.5 } else { -2.0 });
        rectangle(x, y, x + 0.4, y + 0.3)
    });
    let areas = furniture.chain([rectangle(-6.0, -5.0, 6.0, 5.0)]);
    let lines: Vec<Segment> = areas.flat_map(|area| area.edges().collect::<Vec<_>>()).collect();
    let prohibited = vec![rectangle(-2.0, -0.5, -1.0, 0.5), rectangle(2.0, -1.0, 3.0, 1.0)];
    Map { lines, prohibited, workarea: Some(rectangle(-6.0, -5.0, 6.0, 5.0)) }
}

/// Scan of a laser with 541 beams, in the platform's frame.
fn scan(map: &Map, pose: Pose) -> Vec<Point> {
    let laser = transform(pose, Point::new(0.4, 0.0));
    let beams = (0..541).map(|beam| f64::from(beam - 270) * 0.5_f64.to_radians());
    beams
        .filter_map(|angle| {
            let beam = direction(pose.heading + angle);
            let ranges = map.lines.iter().filter_map(|line| {
                let (way, from) = (line.b - line.a, line.a - laser);
                let across = beam.perp(&way);
                let (range, part) = (from.perp(&way) / across, from.perp(&beam) / across);
                ((0.0..=1.0).contains(&part) && range > 0.0).then_some(range)
            });
            let range = ranges.min_by(f64::total_cmp)?;
            Some(inverse_transform(pose, laser + beam * range))
        })
        .collect()
}

fn cycle(criterion: &mut Criterion) {
    let map = hall();
    let points = scan(&map, START);
    let mut platform = Platform::new(Settings::default()).expect("valid settings");
    let commands = [
        Command::SetMap(map),
        Command::SetPose(START),
        Command::Connect,
        Command::Initialize,
        Command::SetMode(MotionMode::Automatic),
        Command::Start,
    ];
    for command in commands {
        platform.command(command).expect("accepted");
    }
    let mut now = Duration::ZERO;
    let mut run = |platform: &mut Platform| {
        now += Duration::from_millis(40);
        let scan = Some(Scan { origin: Point::new(0.4, 0.0), points: &points });
        platform.cycle(&Input { scan, ..Input::at(now, Pose::ORIGIN) })
    };
    (0..20).for_each(|_| {
        run(&mut platform);
    });
    assert!(!platform.status().localization_lost, "the platform is localized");
    platform.command(Command::MoveAbsolute(Pose::new(4.8, 3.9, 1.0))).expect("there is a way");
    criterion.bench_function("cycle", |bencher| bencher.iter(|| black_box(run(&mut platform))));
}

fn plan(criterion: &mut Criterion) {
    let (map, settings, goal) = (hall(), Settings::default(), Pose::new(4.8, 3.9, 1.0));
    let ground = Ground::new(&map, &settings);
    let obstacles: Vec<Point> =
        (0..200).map(|index| Point::new(0.0, -2.0 + 0.01 * f64::from(index))).collect();
    criterion.bench_function("plan", |bencher| {
        bencher.iter(|| {
            let ends = [position(START), position(goal)];
            let scene = Scene::new(&map, &ground, obstacles.clone(), &ends, &settings);
            black_box(scene.plan(START, goal).expect("there is a way"))
        });
    });
    criterion.bench_function("map", |bencher| bencher.iter(|| black_box(Ground::new(&map, &settings))));
}

fn localization(criterion: &mut Criterion) {
    let (map, settings) = (hall(), Settings::default());
    let ground = Ground::new(&map, &settings);
    let points = scan(&map, START);
    let seen = Scan { origin: Point::new(0.4, 0.0), points: &points };
    let known = || {
        let mut localizer = Localizer::new(START);
        localizer.set_map(&map, &settings.localization);
        for _ in 0..20 {
            localizer.correct(seen, ground.lines(), &settings.localization);
        }
        assert!(!localizer.is_searching(), "the search has ended");
        localizer
    };
    let mut localizer = known();
    criterion.bench_function("localization/track", |bencher| {
        bencher.iter(|| {
            localizer.predict(Pose::new(0.01, 0.0, 0.002), &settings.localization);
            localizer.correct(seen, ground.lines(), &settings.localization);
        });
    });
    criterion.bench_function("localization/find", |bencher| bencher.iter(|| black_box(known().pose())));
}

criterion_group!(benches, cycle, plan, localization);
criterion_main!(benches);
