//! The default lab for tests: its platform, its laser, and a map of it.

use std::time::Duration;

use dragoman_geometry::{Point, Polygon, Pose, Segment, Twist, transform};
use dragoman_world::Worlds;

use dragoman_neobotix::map::Map;

/// Length of a cycle.
pub(crate) const STEP: Duration = Duration::from_millis(50);
/// Position of the laser on the platform (lab.yaml).
pub(crate) fn laser() -> Point {
    Point::new(0.4, 0.0)
}

const ROBOT: &str = "neobotix_platform";

/// The lab, with the platform at a test's start pose.
pub(crate) struct Lab {
    worlds: Worlds,
    pub(crate) odometry: Pose,
}

impl Lab {
    pub(crate) fn new(seed: u64, start: Pose) -> Self {
        let mut worlds = Worlds::load_default().unwrap();
        worlds.reseed(seed);
        // As the topic: the odometry does not jump when the platform is carried.
        worlds.set_as_original(false);
        let mut lab = Self { worlds, odometry: Pose::ORIGIN };
        lab.carry(start);
        lab
    }

    /// Carries the platform to another pose.
    pub(crate) fn carry(&mut self, to: Pose) {
        assert!(self.worlds.place_m_robot(None, ROBOT, [to.x, to.y, 0.1], to.heading).unwrap());
        self.read();
    }

    /// Drives for one step.
    pub(crate) fn drive(&mut self, twist: Twist) {
        self.worlds.set_twist(None, ROBOT, twist).unwrap();
        self.worlds.advance(STEP);
        self.read();
    }

    /// Places another object.
    pub(crate) fn put(&mut self, object: &str, x: f64, y: f64, z: f64) {
        self.worlds.place_xyz(None, object, [x, y, z]).unwrap();
    }

    /// True pose of the platform.
    pub(crate) fn pose(&mut self) -> Pose {
        let [x, y, _, heading] = self.worlds.location_m_robot(None, ROBOT).unwrap();
        Pose::new(x, y, heading)
    }

    /// Points hit by the laser, in the platform's frame.
    pub(crate) fn scan(&mut self) -> Vec<Point> {
        let figures = self.worlds.laser_figures(None, "neobotix_laser").unwrap();
        let ranges = self.worlds.laser_data(None, "neobotix_laser").unwrap();
        let beams = ranges.into_iter().enumerate().filter(|(_, range)| *range < figures.max_range - 0.1);
        let laser = Pose::new(laser().x, laser().y, 0.0);
        beams
            .map(|(index, range)| {
                let angle = figures.first_angle + index as f64 * figures.angle_step;
                transform(laser, Point::from(dragoman_geometry::direction(angle) * range))
            })
            .collect()
    }

    /// Number of collisions of the platform.
    pub(crate) fn collisions(&self) -> usize {
        let world = self.worlds.world(None).unwrap();
        world.collisions().iter().filter(|(a, b)| *a == ROBOT || *b == ROBOT).count()
    }

    fn read(&mut self) {
        let [x, y, heading] = self.worlds.odometry(None, ROBOT).unwrap();
        self.odometry = Pose::new(x, y, heading);
    }
}

pub(crate) fn rectangle(left: f64, bottom: f64, right: f64, top: f64) -> Polygon {
    let corners = [[left, bottom], [right, bottom], [right, top], [left, top]];
    Polygon::new(corners.map(Point::from).to_vec()).unwrap()
}

/// The static objects of the lab at the height of the laser: walls and furniture. Robots, ball and column are not
/// included.
pub(crate) fn lab_map() -> Map {
    let desk = [[0.0, 0.0], [0.6, 0.0], [0.6, 1.0], [1.6, 1.0], [1.6, 1.6], [0.0, 1.6]];
    let desk = desk.map(|[x, y]| Point::new(x - 5.9, y + 3.2));
    let areas = [
        rectangle(-6.0, -5.0, 6.0, 5.0),
        rectangle(-2.75, 2.25, -2.25, 2.75),
        rectangle(-3.3, -2.8, -2.7, -2.2),
        rectangle(3.7, -4.0, 5.3, -3.6),
        Polygon::new(desk.to_vec()).unwrap(),
    ];
    let lines: Vec<Segment> = areas.iter().flat_map(|area| area.edges().collect::<Vec<_>>()).collect();
    // The piece in the air is too low for the laser.
    let prohibited = vec![rectangle(-0.5, -0.05, 0.0, 0.45)];
    Map { lines, prohibited, workarea: Some(rectangle(-6.0, -5.0, 6.0, 5.0)) }
}
