use dragoman_geometry::direction;
use proptest::prelude::*;

use super::extract::extract;
use super::*;
use crate::motion::obstacles::Scan;
use crate::settings::Settings;
use crate::testing::{self, Lab, lab_map};

/// Scan of lines by a laser at the origin, every half degree, with noise.
fn scan(lines: &[Segment], seed: u64) -> Vec<Point> {
    let mut random = oorandom::Rand64::new(seed.into());
    let beams = (0..720).map(|beam| direction(f64::from(beam) * 0.5_f64.to_radians()));
    beams
        .filter_map(|beam| {
            let hits = lines.iter().filter_map(|line| {
                let way = line.b - line.a;
                let across = beam.perp(&way);
                let range = line.a.coords.perp(&way) / across;
                let part = line.a.coords.perp(&beam) / across;
                ((0.0..=1.0).contains(&part) && range > 0.0).then_some(range)
            });
            let range = hits.min_by(f64::total_cmp)?;
            Some(Point::from(beam * (range + 0.005 * (random.rand_float() + random.rand_float() - 1.0))))
        })
        .collect()
}

proptest! {
    #[test]
    fn the_walls_of_a_room_are_found(sizes in prop::array::uniform4(1.0..6.0_f64), turn in -3.0..3.0_f64, seed in 0..1000_u64) {
        let [left, bottom, right, top] = sizes;
        let walls: Vec<Segment> = testing::rectangle(-left, -bottom, right, top)
            .edges()
            .map(|edge| Segment::new(transform(Pose::new(0.0, 0.0, turn), edge.a), transform(Pose::new(0.0, 0.0, turn), edge.b)))
            .collect();
        let points = scan(&walls, seed);
        let settings = Settings::default().mapping;
        let lines = extract(Scan { origin: Point::origin(), points: &points }, &settings);
        for wall in &walls {
            // A wall that the start of the scan divides is in two parts.
            let mine = lines.iter().filter(|line| {
                [line.segment.a, line.segment.b].iter().all(|&end| wall.distance(end) < 0.03)
            });
            let length: f64 = mine.map(|line| line.segment.length()).sum();
            prop_assert!(length > 0.8 * wall.length() - 0.3, "{:?} {:?}", wall, lines);
        }
        for line in &lines {
            // The laser is on the left.
            let side = (line.segment.b - line.segment.a).perp(&(Point::origin() - line.segment.a));
            prop_assert!(side > 0.0, "{:?}", line);
        }
    }

    #[test]
    fn any_points_are_accepted(points in prop::collection::vec((-1e5..1e5_f64, -1e5..1e5_f64), 0..200)) {
        let points: Vec<Point> = points.into_iter().map(|(x, y)| Point::new(x, y)).collect();
        let settings = Settings::default().mapping;
        for line in extract(Scan { origin: Point::origin(), points: &points }, &settings) {
            prop_assert!(line.segment.is_finite() && line.deviation <= settings.max_deviation);
        }
    }

    #[test]
    fn moments_of_parts_are_those_of_the_whole(
        points in prop::collection::vec((-5.0..5.0_f64, -5.0..5.0_f64), 2..30),
        cut in 1..29_usize,
        frame in prop::array::uniform3(-3.0..3.0_f64),
    ) {
        let points: Vec<Point> = points.into_iter().map(|(x, y)| Point::new(x, y)).collect();
        let (a, b) = points.split_at(cut.min(points.len() - 1));
        let frame = Pose::new(frame[0], frame[1], frame[2]);
        let moved: Vec<Point> = points.iter().map(|&point| transform(frame, point)).collect();
        let (there, _, deviation) = Moments::of(a).plus(&Moments::of(b)).transformed(frame).line();
        let (centre, _, wanted) = Moments::of(&moved).line();
        prop_assert!((there - centre).norm() < 1e-9 && (deviation - wanted).abs() < 1e-6);
    }
}

#[test]
fn parts_of_a_wall_become_one_and_its_sides_stay_two() {
    let settings = Settings::default().mapping;
    let mut mapper = Mapper::default();
    let part = |from: [f64; 2], to: [f64; 2]| {
        let way = Segment::new(Point::from(from), Point::from(to));
        let points: Vec<Point> = (0..=20).map(|index| way.at(f64::from(index) / 20.0)).collect();
        Line::through(Moments::of(&points), &[way.a, way.b], way.b - way.a)
    };
    let mut at = 0.0;
    let mut add = |line: Line| {
        at += 1.0;
        assert!(mapper.add(Pose::ORIGIN, &[], &settings) || at > 1.0);
        mapper.last = None;
        mapper.add(Pose::ORIGIN, &[line], &settings);
        mapper.lines(&settings).count()
    };
    assert_eq!(add(part([0.0, 0.0], [2.0, 0.02])), 1);
    assert_eq!(add(part([3.0, 0.0], [4.0, 0.0])), 2);
    // Closes the gap between the two.
    assert_eq!(add(part([1.8, 0.01], [3.1, 0.0])), 1);
    // From behind; another wall; too short.
    assert_eq!(add(part([4.0, -0.05], [0.0, -0.05])), 2);
    assert_eq!(add(part([0.0, 1.0], [2.0, 1.0])), 3);
    assert_eq!(add(part([0.0, 2.0], [0.3, 2.0])), 3);
    let longest = mapper.lines(&settings).map(|line| line.length()).fold(0.0, f64::max);
    assert!((longest - 4.0).abs() < 0.01, "{longest}");
}

#[test]
fn a_scan_from_the_same_place_is_skipped() {
    let settings = Settings::default().mapping;
    let mut mapper = Mapper::default();
    assert!(mapper.add(Pose::ORIGIN, &[], &settings));
    assert!(!mapper.add(Pose::new(0.05, 0.0, 0.05), &[], &settings));
    assert!(mapper.add(Pose::new(0.05, 0.0, 0.15), &[], &settings));
    mapper.clear();
    assert!(mapper.add(Pose::ORIGIN, &[], &settings));
}

#[test]
fn the_lab_is_mapped_with_known_poses() {
    let settings = Settings::default().mapping;
    let mut mapper = Mapper::default();
    for (seed, [x, y]) in
        [[4.5, 3.0], [1.0, 3.0], [0.8, -1.0], [-4.5, 0.0], [-4.5, -3.8], [2.6, -3.0]].into_iter().enumerate()
    {
        let mut lab = Lab::new(seed as u64, Pose::new(x, y, 0.0));
        for heading in [0.0, 1.5, 3.0, -1.5] {
            let pose = Pose::new(x, y, heading);
            lab.carry(pose);
            let points = lab.scan();
            let lines = extract(Scan { origin: testing::laser(), points: &points }, &settings);
            mapper.add(pose, &lines, &settings);
        }
    }
    let map = lab_map();
    let lines: Vec<Segment> = mapper.lines(&settings).collect();
    for wall in &map.lines[..4] {
        let mine = lines.iter().filter(|line| wall.distance(line.a) < 0.02 && wall.distance(line.b) < 0.02);
        let length: f64 = mine.map(Segment::length).sum();
        assert!(length > 0.85 * wall.length(), "{wall:?}: {length} of {}", wall.length());
    }
}
