use dragoman_geometry::Polygon;

use super::*;
use crate::testing::rectangle;

/// A hall of 12 m by 10 m with a wall that has a door, and two prohibited areas.
fn hall(door: f64) -> Map {
    let lines = |area: Polygon| area.edges().collect::<Vec<_>>();
    let mut map = Map { workarea: Some(rectangle(-6.0, -5.0, 6.0, 5.0)), ..Map::default() };
    map.lines = lines(rectangle(-6.0, -5.0, 6.0, 5.0));
    map.lines.push(Segment::new(Point::new(0.0, -5.0), Point::new(0.0, 1.0)));
    map.lines.push(Segment::new(Point::new(0.0, 1.0 + door), Point::new(0.0, 5.0)));
    map.prohibited = vec![rectangle(-4.0, -2.0, -2.0, 0.5), rectangle(2.0, 0.5, 4.0, 3.0)];
    map
}

/// All poses of the platform on the path.
fn poses(start: Pose, steps: &[Step]) -> Vec<Pose> {
    let mut pose = start;
    let mut all = vec![start];
    for step in steps {
        match step {
            Step::Turn(heading) => {
                all.extend(turns(pose, *heading));
                pose.heading = *heading;
            }
            Step::Drive(curve) => {
                all.extend(curve.samples().iter().map(|sample| curve.pose(sample)));
                pose = curve.end().unwrap();
            }
        }
    }
    all
}

/// Plans, and checks the whole path with the exact footprint.
fn check(map: &Map, obstacles: Vec<Point>, start: Pose, goal: Pose) -> Result<Vec<Step>, PlanError> {
    let settings = Settings::default();
    let ground = Ground::new(map, &settings);
    let scene = Scene::new(map, &ground, obstacles.clone(), &[position(start), position(goal)], &settings);
    let steps = scene.plan(start, goal)?;
    let all = poses(start, &steps);
    for &pose in &all {
        let covered = settings.footprint.at(pose);
        assert!(!map.forbids(&covered) && !map.hits_line(&covered), "{pose:?}");
        assert!(!obstacles.iter().any(|&point| covered.contains(point)), "{pose:?}");
    }
    for pair in all.windows(2) {
        assert!((position(pair[0]) - position(pair[1])).norm() < 0.05, "{pair:?}");
        assert!(wrap_angle(pair[0].heading - pair[1].heading).abs() < 0.2, "{pair:?}");
    }
    let end = all.last().unwrap();
    assert!((position(*end) - position(goal)).norm() < 1e-6, "{end:?}");
    assert!(wrap_angle(end.heading - goal.heading).abs() < 1e-6, "{end:?}");
    Ok(steps)
}

#[test]
fn a_way_leads_round_what_is_prohibited_and_through_the_door() {
    let (start, goal) = (Pose::new(-5.0, -4.0, 0.0), Pose::new(5.0, 4.0, 2.0));
    let steps = check(&hall(2.0), Vec::new(), start, goal).unwrap();
    let driven = |step: &Step| if let Step::Drive(curve) = step { curve.length() } else { 0.0 };
    let length: f64 = steps.iter().map(driven).sum();
    assert!((12.0..17.0).contains(&length), "{length}");
}

#[test]
fn a_narrow_door_is_passed_straight() {
    let (start, goal) = (Pose::new(-5.0, -4.0, 0.0), Pose::new(5.0, 4.0, 2.0));
    check(&hall(0.95), Vec::new(), start, goal).unwrap();
    assert_eq!(check(&hall(0.6), Vec::new(), start, goal), Err(PlanError::NoPath));
}

#[test]
fn narrow_places_are_left_and_entered_straight() {
    // Facing the wall.
    let (start, goal) = (Pose::new(-5.5, -4.0, std::f64::consts::PI), Pose::new(5.5, 0.0, 0.0));
    let steps = check(&hall(2.0), Vec::new(), start, goal).unwrap();
    assert!(matches!(&steps[0], Step::Drive(curve) if curve.reverse));
    assert!(matches!(steps.last(), Some(Step::Drive(_))));
}

#[test]
fn places_without_room_are_reported() {
    let (free, prohibited) = (Pose::new(-5.0, -4.0, 0.0), Pose::new(3.0, 2.0, 0.0));
    assert_eq!(check(&hall(2.0), Vec::new(), free, prohibited), Err(PlanError::CollisionTarget));
    assert_eq!(check(&hall(2.0), Vec::new(), prohibited, free), Err(PlanError::CollisionStart));
    assert_eq!(
        check(&hall(2.0), Vec::new(), free, Pose::new(9.0, 0.0, 0.0)),
        Err(PlanError::CollisionTarget)
    );
}

#[test]
fn paths_lead_around_obstacles() {
    let (start, goal) = (Pose::new(-5.0, 3.0, 0.0), Pose::new(-1.0, 3.0, 0.0));
    let thing: Vec<Point> = (0..10).map(|index| Point::new(-3.0, 2.8 + 0.05 * f64::from(index))).collect();
    let steps = check(&hall(2.0), thing, start, goal).unwrap();
    assert!(steps.len() > 2, "{steps:?}");
    // Without a map there are only obstacles.
    check(&Map::default(), vec![Point::new(2.0, 0.0)], Pose::ORIGIN, Pose::new(4.0, 0.0, 0.0)).unwrap();
}

#[test]
fn a_path_goes_on_behind_what_stands_on_it() {
    let (map, settings) = (Map::default(), Settings::default());
    let ground = Ground::new(&map, &settings);
    let chain = [[0.0, 0.0], [4.0, 0.0], [4.0, 6.0]].map(Point::from);
    let scene = Scene::new(&map, &ground, vec![Point::new(3.9, 0.0)], &chain, &settings);
    let rest = scene.beyond_obstacle(&chain, 0.5).unwrap();
    assert_eq!(rest.len(), 2);
    assert!(rest[0].x == 4.0 && (0.5..1.0).contains(&rest[0].y), "{rest:?}");
    let scene = Scene::new(&map, &ground, Vec::new(), &chain, &settings);
    assert_eq!(scene.beyond_obstacle(&chain, 0.5), None);
}

#[test]
fn random_halls_are_crossed_without_touching_anything() {
    for seed in 0..30 {
        println!("seed {seed}");
        let mut random = oorandom::Rand64::new(seed);
        let mut between = |least: f64, most: f64| least + (most - least) * random.rand_float();
        let mut map = hall(between(1.0, 2.5));
        map.prohibited.clear();
        for _ in 0..6 {
            let (x, y) = (between(-5.0, 5.0), between(-4.0, 4.0));
            map.prohibited.push(rectangle(x, y, x + between(0.2, 1.5), y + between(0.2, 1.5)));
        }
        map.prohibited.retain(|area| area.corners().iter().all(|corner| corner.x.abs() > 1.2));
        let obstacles: Vec<Point> =
            (0..5).map(|_| Point::new(between(-5.0, 5.0), between(-4.0, 4.0))).collect();
        let start = Pose::new(between(-5.0, -1.0), between(-4.0, 4.0), between(-3.0, 3.0));
        let goal = Pose::new(between(1.0, 5.0), between(-4.0, 4.0), between(-3.0, 3.0));
        // `check` checks the whole path; "no path" is a valid result, too.
        println!("{:?}", check(&map, obstacles, start, goal).map(|steps| steps.len()));
    }
}
