//! Scenes for planning, and a check of paths that shares no code with the planner: `k`'s forward kinematics, points on
//! the surfaces of links, and formulas for their distance from the other shapes.
#![allow(dead_code, reason = "test and bench use a part each")]

use dragoman_kinematics::planning::{ArmBodies, Checker, Scene, Shape};
use dragoman_kinematics::{Model, Robot};
use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};

pub(crate) const CLEARANCE: f64 = 0.01;
/// Distance of the points on a surface, m.
const SPACING: f64 = 0.02;
/// Farthest a joint moves between two samples of a path, rad.
const STEP: f64 = 3e-3;

/// An arm among bodies.
pub(crate) struct Setup {
    pub(crate) name: &'static str,
    pub(crate) robot: Robot,
    pub(crate) bodies: ArmBodies,
    pub(crate) scene: Scene,
    sampler: Sampler,
}

fn at(x: f64, y: f64, z: f64) -> Isometry3<f64> {
    Translation3::new(x, y, z).into()
}

/// A shelf in front of the arm, a post and a ball at its sides.
fn shelf() -> Vec<(Shape, Isometry3<f64>)> {
    let board = |height: f64| (Shape::Box([0.3, 1.0, 0.02]), at(0.75, 0.0, height));
    vec![
        board(0.25),
        board(0.65),
        board(1.05),
        (Shape::Box([0.02, 1.0, 1.2]), at(0.95, 0.0, 0.6)),
        (Shape::Cylinder { radius: 0.05, length: 1.6 }, at(0.1, 0.6, 0.8)),
        (Shape::Sphere(0.1), at(-0.5, -0.4, 0.7)),
    ]
}

/// Two walls with a gap between them, which is wider than the forearm by a few centimetres.
fn gap() -> Vec<(Shape, Isometry3<f64>)> {
    vec![
        (Shape::Box([0.7, 0.05, 1.6]), at(0.75, 0.14, 0.8)),
        (Shape::Box([0.7, 0.05, 1.6]), at(0.75, -0.14, 0.8)),
        (Shape::Box([0.3, 0.05, 1.6]), at(-0.6, 0.0, 0.8)),
    ]
}

/// Another arm of the kind beside the first, stretched towards it.
fn other_arm(urdf: &str) -> Vec<(Shape, Isometry3<f64>)> {
    let turned = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), std::f64::consts::PI);
    let base = Isometry3::from_parts(Translation3::new(0.9, 0.2, 0.0), turned);
    let sampler = Sampler::new(urdf, "base_link", "tool0", Vec::new());
    let placed = sampler.place(&[0.2, 0.9, -0.6, 0.0, 1.2, 0.0]);
    let links = sampler.links.iter().zip(placed).filter(|(link, _)| link.name != "base_link_inertia");
    links.map(|(link, pose)| (link.shape.clone(), base * pose)).collect()
}

/// The five scenes of the table.
pub(crate) fn setups(urdf: impl Fn(&str) -> String) -> [Setup; 5] {
    let (mark_1, mark_2) = (urdf("ranger_mk1.urdf"), urdf("ranger_mk2.urdf"));
    let other = other_arm(&mark_1);
    [
        Setup::new("free", &mark_1, Vec::new()),
        Setup::new("shelf", &mark_1, shelf()),
        Setup::new("narrow gap", &mark_1, gap()),
        Setup::new("two arms", &mark_1, other),
        Setup::new("eight joints", &mark_2, shelf()),
    ]
}

impl Setup {
    fn new(name: &'static str, urdf: &str, around: Vec<(Shape, Isometry3<f64>)>) -> Self {
        let model = Model::from_urdf(urdf, None, None).unwrap();
        let accelerations = vec![2.0; model.joints().len()];
        let robot = Robot::new(&model.with_accelerations(&accelerations).unwrap()).unwrap();
        let bodies = ArmBodies::from_urdf(urdf, &robot, CLEARANCE).unwrap();
        let mut scene = Scene::default();
        for (index, (shape, pose)) in around.iter().enumerate() {
            scene.add(&format!("body {index}"), shape, *pose).unwrap();
        }
        let model = robot.model();
        let mut sampler = Sampler::new(urdf, model.base_link(), model.tip_link(), around);
        sampler.pairs = bodies.checked_links().map(|(a, b)| (a.to_owned(), b.to_owned())).collect();
        Self { name, robot, bodies, scene, sampler }
    }

    /// A random configuration that touches nothing.
    pub(crate) fn random(&self, random: &mut oorandom::Rand64) -> Vec<f64> {
        let mut checker = Checker::new(&self.robot, &self.bodies, &self.scene);
        loop {
            let joints = self.robot.joints().iter();
            let q: Vec<f64> = joints
                .map(|joint| {
                    let (lower, upper) = (joint.lower.max(-3.0), joint.upper.min(3.0));
                    lower + (upper - lower) * random.rand_float()
                })
                .collect();
            if checker.collision(&q).is_none() {
                return q;
            }
        }
    }

    /// The minimum distance from the scene, and between links, along straight motions in joint space, m; exact where it is
    /// below 0.1 m, but for the spacing of the points, which makes it larger.
    pub(crate) fn min_distance(&self, path: &[Vec<f64>]) -> f64 {
        let mut least = f64::INFINITY;
        for pair in path.windows(2) {
            let far = pair[0].iter().zip(&pair[1]).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            let steps = (far / STEP).ceil().max(1.0) as usize;
            for step in 0..=steps {
                let share = step as f64 / steps as f64;
                let q: Vec<f64> = pair[0].iter().zip(&pair[1]).map(|(a, b)| a + (b - a) * share).collect();
                least = least.min(self.sampler.distance(&q));
            }
        }
        least
    }
}

/// A collision shape of a link.
struct Link {
    name: String,
    shape: Shape,
    /// In the frame of the link.
    pose: Isometry3<f64>,
    points: Vec<Point3<f64>>,
    /// Of a sphere round it.
    radius: f64,
    is_fixed: bool,
}

/// Distances of an arm's links from bodies and from each other.
struct Sampler {
    chain: k::SerialChain<f64>,
    base: String,
    links: Vec<Link>,
    around: Vec<(Shape, Isometry3<f64>)>,
    pairs: Vec<(String, String)>,
}

impl Sampler {
    fn new(urdf: &str, base: &str, tip: &str, around: Vec<(Shape, Isometry3<f64>)>) -> Self {
        let description = urdf_rs::read_from_string(urdf).unwrap();
        let tree = k::Chain::<f64>::from(&description);
        let chain = k::SerialChain::from_end(tree.find_link(tip).unwrap());
        let mut links = Vec::new();
        let mut is_fixed = true;
        for node in chain.iter() {
            is_fixed &= matches!(node.joint().joint_type, k::JointType::Fixed);
            let Some(link) = node.link().clone() else { continue };
            let described = description.links.iter().find(|known| known.name == link.name).unwrap();
            for collision in &described.collision {
                let shape = match &collision.geometry {
                    urdf_rs::Geometry::Box { size } => Shape::Box(**size),
                    urdf_rs::Geometry::Cylinder { radius, length } => {
                        Shape::Cylinder { radius: *radius, length: *length }
                    }
                    urdf_rs::Geometry::Sphere { radius } => Shape::Sphere(*radius),
                    other => panic!("{other:?}"),
                };
                let ([x, y, z], [roll, pitch, yaw]) = (*collision.origin.xyz, *collision.origin.rpy);
                let rotation = UnitQuaternion::from_euler_angles(roll, pitch, yaw);
                let pose = Isometry3::from_parts(Translation3::new(x, y, z), rotation);
                let points = surface(&shape);
                let radius = points.iter().map(|point| point.coords.norm()).fold(0.0, f64::max);
                links.push(Link { name: link.name.clone(), shape, pose, points, radius, is_fixed });
            }
        }
        Self { chain, base: base.to_owned(), links, around, pairs: Vec::new() }
    }

    /// Poses of the shapes in the base frame.
    fn place(&self, q: &[f64]) -> Vec<Isometry3<f64>> {
        self.chain.set_joint_positions_unchecked(q);
        self.chain.update_transforms();
        let of = |name: &str| {
            let known = |node: &&k::Node<f64>| node.link().as_ref().is_some_and(|link| link.name == name);
            self.chain.iter().find(known).unwrap().world_transform().unwrap()
        };
        let to_base = of(&self.base).inverse();
        self.links.iter().map(|link| to_base * of(&link.name) * link.pose).collect()
    }

    fn distance(&self, q: &[f64]) -> f64 {
        let poses = self.place(q);
        let mut least = f64::INFINITY;
        for (link, pose) in self.links.iter().zip(&poses).filter(|(link, _)| !link.is_fixed) {
            for (shape, at) in &self.around {
                least = least.min(distance(link, pose, shape, at));
            }
        }
        for (a, b) in &self.pairs {
            let named = |name: &str| {
                let links = self.links.iter().zip(&poses);
                links.filter(|(link, _)| link.name == *name).collect::<Vec<_>>()
            };
            for (one, at) in named(a) {
                for (other, other_at) in named(b) {
                    least = least.min(distance(one, at, &other.shape, other_at));
                    least = least.min(distance(other, other_at, &one.shape, at));
                }
            }
        }
        least
    }
}

/// Distance of the points of a link from a shape, m.
fn distance(link: &Link, pose: &Isometry3<f64>, shape: &Shape, at: &Isometry3<f64>) -> f64 {
    let relative = at.inverse() * pose;
    let far = signed(shape, &Point3::from(relative.translation.vector)) - link.radius;
    // Nothing near: the points are not needed.
    if far > 0.1 {
        return far;
    }
    link.points.iter().map(|point| signed(shape, &(relative * point))).fold(f64::INFINITY, f64::min)
}

/// Distance of a point from a shape, m; negative inside.
fn signed(shape: &Shape, point: &Point3<f64>) -> f64 {
    let outside = |beyond: &[f64]| {
        let out = beyond.iter().map(|value| value.max(0.0).powi(2)).sum::<f64>().sqrt();
        out + beyond.iter().copied().fold(f64::NEG_INFINITY, f64::max).min(0.0)
    };
    match shape {
        Shape::Box([x, y, z]) => {
            outside(&[point.x.abs() - x / 2.0, point.y.abs() - y / 2.0, point.z.abs() - z / 2.0])
        }
        Shape::Cylinder { radius, length } => {
            outside(&[point.x.hypot(point.y) - radius, point.z.abs() - length / 2.0])
        }
        Shape::Sphere(radius) => point.coords.norm() - radius,
        other => panic!("{other:?}"),
    }
}

/// Points on the surface of a shape.
fn surface(shape: &Shape) -> Vec<Point3<f64>> {
    let steps = |length: f64| (length / SPACING).ceil().max(1.0) as usize;
    let grid = |length: f64| {
        let count = steps(length);
        (0..=count).map(move |step| length * (step as f64 / count as f64 - 0.5))
    };
    let circle = |radius: f64| {
        let count = steps(std::f64::consts::TAU * radius).max(8);
        (0..count).map(move |step| {
            let angle = std::f64::consts::TAU * step as f64 / count as f64;
            (radius * angle.cos(), radius * angle.sin())
        })
    };
    let mut points = Vec::new();
    match *shape {
        Shape::Box([x, y, z]) => {
            let sizes = [x, y, z];
            for axis in 0..3 {
                let (b, c) = ((axis + 1) % 3, (axis + 2) % 3);
                for side in [-0.5, 0.5] {
                    for first in grid(sizes[b]) {
                        for second in grid(sizes[c]) {
                            let mut point = Point3::origin();
                            (point[axis], point[b], point[c]) = (side * sizes[axis], first, second);
                            points.push(point);
                        }
                    }
                }
            }
        }
        Shape::Cylinder { radius, length } => {
            for (x, y) in circle(radius) {
                points.extend(grid(length).map(|z| Point3::new(x, y, z)));
            }
            for ring in grid(radius).map(|offset| offset + radius / 2.0) {
                for (x, y) in circle(ring.max(1e-6)) {
                    points.extend([-0.5, 0.5].map(|side| Point3::new(x, y, side * length)));
                }
            }
        }
        Shape::Sphere(radius) => {
            for z in grid(2.0 * radius) {
                let ring = (radius * radius - z * z).max(0.0).sqrt();
                points.extend(circle(ring).map(|(x, y)| Point3::new(x, y, z)));
            }
        }
        ref other => panic!("{other:?}"),
    }
    points
}
