//! Bodies, robots, sensors and landmarks, and the links between them.

use std::collections::BTreeSet;

use nalgebra::Isometry3;

use super::importer::{Counts, Importer};
use super::noise::CourseNoise;
use super::shapes::{Shape, is_part, rounded};
use super::values::{Placement, number};
use crate::geometry::Geometry;
use crate::limits::MIN_SIZE;
use crate::sensors::range::UltrasonicFigures;
use dragoman_urdf::xml::Element;

/// Maximum number of links from an element to the one that carries all.
const MAX_LINKS: usize = 16;

/// A body of a world file.
pub(super) struct Body {
    pub(super) name: String,
    pub(super) placement: Placement,
    pub(super) shapes: Vec<Shape>,
}

/// A robot on wheels of a world file.
pub(super) struct Robot {
    pub(super) name: String,
    pub(super) xyz: [f64; 3],
    pub(super) yaw: f64,
    pub(super) body: Vec<Shape>,
    /// Distance of the front wheels from the centre, and of the wheels' middles to the left and right.
    pub(super) wheels: [f64; 2],
    pub(super) wheel_width: f64,
    /// Relative standard deviations of distance and heading.
    pub(super) noise: [f64; 2],
}

pub(super) enum SensorKind {
    /// SICK LMS100, with its noise.
    Lms100(CourseNoise),
    /// SICK LMS200, with its noise.
    Lms200(CourseNoise),
    Ultrasonic(UltrasonicFigures),
}

/// A sensor of a world file.
pub(super) struct Sensor {
    pub(super) name: String,
    pub(super) on: Option<String>,
    pub(super) placement: Placement,
    pub(super) kind: SensorKind,
}

/// A landmark of a world file.
pub(super) struct Mark {
    pub(super) name: String,
    pub(super) id: u16,
    pub(super) xyz: [f64; 3],
}

/// A world.
#[derive(Default)]
pub(super) struct Scene {
    pub(super) bodies: Vec<Body>,
    pub(super) robots: Vec<Robot>,
    pub(super) sensors: Vec<Sensor>,
    pub(super) marks: Vec<Mark>,
    pub(super) repeated_ids: bool,
}

impl Scene {
    pub(super) fn counts(&self) -> Counts {
        Counts {
            bodies: self.bodies.len(),
            robots: self.robots.len(),
            sensors: self.sensors.len(),
            landmarks: self.marks.len(),
        }
    }
}

/// An imported element, to which others may be linked.
#[derive(Clone)]
struct Placed {
    /// Pose in the world.
    pose: Isometry3<f64>,
    /// The object that carries it, or that it is; and its pose there.
    on: Option<(String, Isometry3<f64>)>,
    /// Index of the robot that carries it.
    robot: Option<usize>,
}

impl Importer<'_> {
    /// The world of a file; `None` without any.
    pub(super) fn scene(&mut self, top: &Element) -> Option<Scene> {
        let root = top.child("root");
        let levels = std::iter::once(top).chain(root);
        let mut worlds = levels.flat_map(|level| &level.children).filter(|child| child.name == "World");
        let world = worlds.next();
        let has_world = world.is_some();
        // Without a world it is the file of an object.
        let elements: Vec<&Element> = world.or(root).unwrap_or(top).children.iter().collect();
        for world in worlds {
            self.note(world.line, "a further <World>: not taken, a file of Apolo has one");
        }
        if !has_world && !elements.iter().any(|element| is_known(&element.name)) {
            return None;
        }
        self.look_for_unknown(&elements);
        let infos = elements.iter().find(|element| element.name == "WorldInfo");
        let course = infos.map(|info| CourseNoise::of(info));
        Some(self.elements(&elements, course))
    }

    fn elements(&mut self, elements: &[&Element], course: Option<CourseNoise>) -> Scene {
        let mut scene = Scene::default();
        let mut placed: Vec<Option<Placed>> = vec![None; elements.len()];
        // An element after the one to which it is linked.
        let mut waiting: Vec<usize> = (0..elements.len()).collect();
        let mut settled: BTreeSet<usize> = BTreeSet::new();
        for _ in 0..MAX_LINKS {
            let mut later = Vec::new();
            for at in waiting {
                let Some(&element) = elements.get(at) else { continue };
                let parent = match self.parent(element, elements) {
                    Link::None => None,
                    Link::To(parent) if parent == at => None,
                    Link::To(parent) if !settled.contains(&parent) => {
                        later.push(at);
                        continue;
                    }
                    Link::To(parent) => match placed.get(parent).cloned().flatten() {
                        Some(parent) => Some(parent),
                        None => {
                            self.skip(element, "it is linked to something that is not taken");
                            settled.insert(at);
                            continue;
                        }
                    },
                    Link::Unknown => {
                        self.skip(element, "it is linked to something that is not in the file");
                        settled.insert(at);
                        continue;
                    }
                    Link::Tool => {
                        self.skip(element, "it is linked to the tool of a robot that is not taken");
                        settled.insert(at);
                        continue;
                    }
                };
                let result = self.element(element, parent, course, &mut scene);
                if let Some(entry) = placed.get_mut(at) {
                    *entry = result;
                }
                settled.insert(at);
            }
            waiting = later;
        }
        for at in waiting {
            if let Some(&element) = elements.get(at) {
                self.skip(element, "it is linked in a circle, or over too many others");
            }
        }
        scene
    }

    fn skip(&mut self, element: &Element, why: &str) {
        let name = element.attribute("name").map(|name| format!(" {name:?}")).unwrap_or_default();
        self.note(element.line, format!("<{}>{name} is not taken: {why}", element.name));
    }

    /// What an element is linked to, `linkTo="$name$"` or `linkTo="id"`.
    fn parent(&mut self, element: &Element, elements: &[&Element]) -> Link {
        if element.attribute("linkToTcp").is_some() {
            return Link::Tool;
        }
        let Some(link) = element.attribute("linkTo").map(str::trim) else { return Link::None };
        let quoted = link.strip_prefix('$').and_then(|link| link.strip_suffix('$'));
        let by = |attribute: &str, value: &str| {
            elements
                .iter()
                .position(|other| other.attribute(attribute).is_some_and(|given| given.trim() == value))
        };
        match quoted.map_or_else(|| by("id", link), |name| by("name", name.trim())) {
            Some(at) => Link::To(at),
            None => Link::Unknown,
        }
    }

    fn element(
        &mut self,
        element: &Element,
        parent: Option<Placed>,
        course: Option<CourseNoise>,
        scene: &mut Scene,
    ) -> Option<Placed> {
        let name = element.name.as_str();
        if name == "WorldInfo" {
            return None;
        }
        if !is_known(name) {
            let hint = dragoman_text::nearest(name, KINDS);
            let hint = hint.map(|kind| format!("; did you mean <{kind}>?")).unwrap_or_default();
            self.skip(element, &format!("there is nothing like it in a world file{hint}"));
            return None;
        }
        let own = self.placement(element)?;
        let (pose, placement) = match &parent {
            None => (own.isometry(), own),
            Some(parent) => {
                let pose = parent.pose * own.isometry();
                (pose, Placement::of(&pose))
            }
        };
        if !placement.is_in_range() {
            self.skip(element, "it is too far away");
            return None;
        }
        if is_part(name) {
            return self.body(element, own, pose, parent, scene);
        }
        if let Some(figures) = wheels(name) {
            if parent.is_some() {
                self.note(element.line, "a robot on wheels stands for itself: the link is left out");
            }
            return Some(self.robot(element, figures, &placement, course, scene));
        }
        if name == "LandMark" {
            self.landmark(element, &placement, parent.is_some(), scene);
            return None;
        }
        self.sensor(element, own, pose, parent, course, scene)
    }

    fn body(
        &mut self,
        element: &Element,
        own: Placement,
        pose: Isometry3<f64>,
        parent: Option<Placed>,
        scene: &mut Scene,
    ) -> Option<Placed> {
        let noted = self.notes.len();
        let shapes = self.part(element, &pose.rotation);
        let shapes = self.near(element, shapes);
        if shapes.is_empty() {
            if self.notes.len() == noted {
                self.skip(element, "it has no shape");
            }
            return None;
        }
        if let Some(Placed { on: Some((carrier, frame)), robot: Some(robot), .. }) = &parent {
            let name = element.attribute("name").unwrap_or(&element.name);
            self.note(element.line, format!("{name:?} is a part of {carrier}, without a name of its own"));
            let within = frame * own.isometry();
            let placement = Placement::of(&within);
            let shapes: Vec<Shape> = shapes.into_iter().map(|shape| shape.moved(&placement)).collect();
            let shapes = self.near(element, shapes);
            if let Some(robot) = scene.robots.get_mut(*robot) {
                robot.body.extend(shapes);
            }
            return Some(Placed { pose, on: Some((carrier.clone(), within)), robot: Some(*robot) });
        }
        if parent.is_some() {
            self.note(element.line, "a body is linked to a body: it stays when that is moved");
        }
        let placement = if parent.is_some() { Placement::of(&pose) } else { own };
        let name = self.name(element, &element.name);
        scene.bodies.push(Body { name: name.clone(), placement, shapes });
        Some(Placed { pose, on: Some((name, Isometry3::identity())), robot: None })
    }

    /// Without the shapes that are too far away from the frame of their body.
    fn near(&mut self, element: &Element, mut shapes: Vec<Shape>) -> Vec<Shape> {
        let all = shapes.len();
        shapes.retain(|shape| shape.placement.is_in_range());
        if shapes.len() < all {
            self.note(element.line, format!("{} shapes are too far away: not taken", all - shapes.len()));
        }
        shapes
    }

    fn robot(
        &mut self,
        element: &Element,
        figures: Wheels,
        placement: &Placement,
        course: Option<CourseNoise>,
        scene: &mut Scene,
    ) -> Placed {
        let [roll, pitch, yaw] = placement.rpy;
        if roll.abs() > 1e-6 || pitch.abs() > 1e-6 {
            self.note(element.line, "a robot on wheels begins upright: roll and pitch are left out");
        }
        let name = self.name(element, &element.name);
        let variance = self.number_within(element, "odometryNoise", 0.0, [0.0, 1.0]);
        let noise = course.map_or([variance.sqrt(); 2], |course| course.odometry);
        let at = scene.robots.len();
        let Wheels { length, width, wheel_width, body } = figures;
        scene.robots.push(Robot {
            name: name.clone(),
            xyz: placement.xyz,
            yaw,
            body: body(&figures),
            wheels: [length / 2.0, (width + wheel_width) / 2.0],
            wheel_width,
            noise: noise.map(|deviation| deviation.min(1.0)),
        });
        let upright = Placement { xyz: placement.xyz, rpy: [0.0, 0.0, yaw] };
        Placed { pose: upright.isometry(), on: Some((name, Isometry3::identity())), robot: Some(at) }
    }

    fn sensor(
        &mut self,
        element: &Element,
        own: Placement,
        pose: Isometry3<f64>,
        parent: Option<Placed>,
        course: Option<CourseNoise>,
        scene: &mut Scene,
    ) -> Option<Placed> {
        let robot = parent.as_ref().and_then(|parent| parent.robot);
        let on =
            parent.and_then(|parent| parent.on).map(|(carrier, frame)| (carrier, frame * own.isometry()));
        let placement = match &on {
            // Angles stay as they were written.
            Some((_, within)) if (within.inverse() * own.isometry()).rotation.angle() < 1e-12 => {
                Placement { xyz: within.translation.vector.into(), rpy: own.rpy }
            }
            Some((_, within)) => Placement::of(within),
            None => own,
        };
        if !placement.is_in_range() {
            self.skip(element, "it is too far away from its carrier");
            return None;
        }
        let name = self.name(element, &element.name);
        let noise = course.unwrap_or_default();
        let kind = match element.name.as_str() {
            "LMS100Sim" => SensorKind::Lms100(noise),
            "LMS200Sim" => SensorKind::Lms200(noise),
            _ => SensorKind::Ultrasonic(self.ultrasonic(element)),
        };
        let carrier = on.as_ref().map(|(carrier, _)| carrier.clone());
        scene.sensors.push(Sensor { name, on: carrier, placement, kind });
        Some(Placed { pose, on, robot })
    }

    fn ultrasonic(&mut self, element: &Element) -> UltrasonicFigures {
        let usual = UltrasonicFigures::default();
        let figures = UltrasonicFigures {
            half_angle: rounded(self.number_within(element, "conusAngle", usual.half_angle, [0.0, 1.5])),
            // Apolo permits zero.
            min_range: rounded(
                self.number_within(element, "minRange", usual.min_range, [0.0, 1e4]).max(MIN_SIZE),
            ),
            max_range: rounded(self.number_within(element, "maxRange", usual.max_range, [MIN_SIZE, 1e4])),
        };
        if figures.min_range < figures.max_range {
            return figures;
        }
        self.note(element.line, "maxRange is not beyond minRange: the usual ranges instead");
        UltrasonicFigures { half_angle: figures.half_angle, ..usual }
    }

    fn landmark(&mut self, element: &Element, placement: &Placement, is_linked: bool, scene: &mut Scene) {
        let given = element.attribute("mark_id").map_or(Some(0.0), |_| number(element, "mark_id"));
        let id = given.filter(|id| (0.0..=65535.0).contains(id)).map(|id| id as u16);
        let Some(id) = id else {
            self.skip(element, "its mark_id is not a number from 0 to 65535");
            return;
        };
        if is_linked {
            self.note(element.line, "a landmark is linked: it stays where it is");
        }
        let name = self.name(element, &format!("LandMark {id}"));
        if let Some(other) = scene.marks.iter().find(|other| other.id == id) {
            let text =
                format!("{name} has the mark_id {id} of {}: lasers cannot distinguish them", other.name);
            self.note(element.line, text);
            scene.repeated_ids = true;
        }
        scene.marks.push(Mark { name, id, xyz: placement.xyz });
    }
}

/// The elements that a world can hold.
const KINDS: [&str; 13] = [
    "FaceSetPart",
    "PrismaticPart",
    "CylindricalPart",
    "SpherePart",
    "MeshPart",
    "ComposedEntity",
    "Pioneer3ATSim",
    "PatrolbotSim",
    "WheeledBaseSim",
    "LMS100Sim",
    "LMS200Sim",
    "UltrasonicSensor",
    "LandMark",
];

enum Link {
    None,
    To(usize),
    Unknown,
    Tool,
}

/// Whether a world can hold this element.
pub(super) fn is_known(name: &str) -> bool {
    is_part(name) || is_sensor(name) || wheels(name).is_some() || name == "LandMark"
}

fn is_sensor(name: &str) -> bool {
    ["LMS100Sim", "LMS200Sim", "UltrasonicSensor"].contains(&name)
}

/// Figures of a robot on wheels, m.
#[derive(Clone, Copy)]
struct Wheels {
    length: f64,
    width: f64,
    wheel_width: f64,
    body: fn(&Wheels) -> Vec<Shape>,
}

/// Radius of the wheels of all robots.
pub(super) const WHEEL_RADIUS: f64 = 0.1;

/// The figures of a kind of robot, from its class in MRCore.
fn wheels(name: &str) -> Option<Wheels> {
    Some(match name {
        "Pioneer3ATSim" => Wheels { length: 0.25, width: 0.34, wheel_width: 0.1, body: pioneer },
        "PatrolbotSim" => Wheels { length: 0.55, width: 0.35, wheel_width: 0.05, body: pioneer },
        "WheeledBaseSim" => Wheels { length: 0.5, width: 0.35, wheel_width: 0.05, body: plain },
        _ => return None,
    })
}

fn shape(geometry: Geometry, xyz: [f64; 3], rpy: [f64; 3], color: [f64; 3]) -> Shape {
    let [r, g, b] = color;
    Shape { geometry, mesh_file: None, placement: Placement { xyz, rpy }, color: Some([r, g, b, 1.0]) }
}

/// A chest with chamfered corners, a plate above, and the wheels, which Apolo lifts by 0.03 m for collisions.
fn pioneer(wheels: &Wheels) -> Vec<Shape> {
    let chest = [
        [0.2, 0.0825],
        [0.16, 0.1325],
        [-0.16, 0.1325],
        [-0.2, 0.0825],
        [-0.2, -0.0825],
        [-0.16, -0.1325],
        [0.16, -0.1325],
        [0.2, -0.0825],
    ];
    let half_plate = [
        [0.25, 0.0],
        [0.2415, 0.0647],
        [0.2165, 0.125],
        [0.1768, 0.1768],
        [0.132, 0.193],
        [-0.037, 0.193],
        [-0.037, 0.168],
        [-0.184, 0.168],
        [-0.2165, 0.125],
        [-0.2415, 0.0647],
        [-0.25, 0.0],
    ];
    let right = half_plate.iter().rev().filter(|[_, y]| *y > 0.0).map(|&[x, y]| [x, -y]);
    let plate = half_plate.iter().copied().chain(right).collect();
    let extrusion = |polygon, height| Geometry::Extrusion { polygon, height };
    let mut shapes = vec![
        shape(extrusion(chest.to_vec(), 0.19), [0.0, 0.0, 0.085], [0.0; 3], [1.0, 0.1, 0.1]),
        shape(extrusion(plate, 0.005), [0.0, 0.0, 0.275], [0.0; 3], [0.1; 3]),
    ];
    let across = (wheels.width + wheels.wheel_width) / 2.0;
    for [x, y] in [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]] {
        let wheel = Geometry::Cylinder { radius: WHEEL_RADIUS, length: wheels.wheel_width };
        let middle = [x * wheels.length / 2.0, y * across, 1.3 * WHEEL_RADIUS];
        shapes.push(shape(wheel, middle, [std::f64::consts::FRAC_PI_2, 0.0, 0.0], [0.1; 3]));
    }
    shapes
}

/// The box that Apolo draws for a robot without a model.
fn plain(wheels: &Wheels) -> Vec<Shape> {
    let size = [wheels.length, wheels.width, 2.0 * WHEEL_RADIUS];
    vec![shape(Geometry::Box { size }, [0.0, 0.0, 2.0 * WHEEL_RADIUS], [0.0; 3], [1.0, 0.0, 0.0])]
}
