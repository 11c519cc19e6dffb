//! Builds worlds from a world file.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};

use super::arm::{Arm, ArmLink, LinkMotion};
use super::camera::Camera;
use super::dock;
use super::file::{
    Angle, ArmEntry, BodyEntry, CameraEntry, CameraKind, Convention, Coordinate, File, JointEntry, JointKind,
    LaserEntry, LaserModel, MAX_BEAMS, MAX_PIXELS, Rate, ShapeEntry, UltrasonicEntry, WheeledEntry,
    WorldEntry,
};
use super::geometry::{pose, to_parry};
use super::noise::Noise;
use super::scene::Scene;
use super::sensor::{Laser, LaserFigures, Mount, Publication, Ultrasonic};
use super::state::{Body, Named, Object, Part, RobotDescription, Role, Shape, World, key};
use super::urdf::{self, Selection};
use super::wheeled::Wheeled;
use super::{ArmJoint, CameraFigures, Files, Geometry, Landmark, LoadError, Mesh};

/// Default colour.
pub(super) const GREY: [f64; 4] = [0.7, 0.7, 0.7, 1.0];

/// An error in an element, before its name and line are known.
type Reason = String;

pub(super) fn worlds(text: &str, files: Files<'_>) -> Result<Vec<World>, LoadError> {
    let file: File =
        serde_norway::from_str(text).map_err(|error| LoadError::Yaml { reason: error.to_string() })?;
    let at = |element: &str, reason: Reason| LoadError::Element {
        line: line_of(text, element),
        element: element.to_owned(),
        reason,
    };
    if file.worlds.is_empty() {
        return Err(LoadError::Yaml { reason: "worlds: the list is empty".to_owned() });
    }
    let mut worlds: Vec<World> = Vec::new();
    for entry in file.worlds {
        let name = entry.name.clone();
        if key(&name).is_empty() || worlds.iter().any(|world| key(world.name()) == key(&name)) {
            return Err(at(&name, "a world has a name of its own".to_owned()));
        }
        worlds.push(world(entry, files).map_err(|(element, reason)| at(&element, reason))?);
    }
    Ok(worlds)
}

/// The first line with this name, from 1; 0 if there is none.
fn line_of(text: &str, name: &str) -> usize {
    let gives = |line: &str| {
        let value = line.split_once("name:").map(|(_, value)| value.trim().trim_start_matches(['"', '\'']));
        value
            .and_then(|value| value.strip_prefix(name))
            .is_some_and(|rest| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_'))
    };
    text.lines().position(gives).map_or(0, |line| line + 1)
}

fn world(entry: WorldEntry, files: Files<'_>) -> Result<World, (String, Reason)> {
    let mut world = World {
        name: entry.name,
        objects: Vec::new(),
        parts: Vec::new(),
        scene: Scene::default(),
        lasers: Vec::new(),
        ultrasonics: Vec::new(),
        cameras: Vec::new(),
        surfaces: Vec::new(),
        landmarks: Vec::new(),
        names: HashMap::new(),
        revision: 1,
        updates: 0,
        time: Duration::ZERO,
    };
    for body in entry.bodies {
        let name = body.name.clone();
        add_body(&mut world, body, files).map_err(|reason| (name, reason))?;
    }
    let mut mounted = Vec::new();
    for arm in entry.arms {
        let name = arm.name.clone();
        mounted.extend(arm.on.clone().map(|on| (name.clone(), on)));
        add_arm(&mut world, arm, files).map_err(|reason| (name, reason))?;
    }
    for robot in entry.wheeled_robots {
        let name = robot.name.clone();
        add_wheeled(&mut world, robot, entry.seed, files).map_err(|reason| (name, reason))?;
    }
    for (name, on) in mounted {
        mount_arm(&mut world, &name, &on).map_err(|reason| (name, reason))?;
    }
    for laser in entry.lasers {
        let name = laser.name.clone();
        add_laser(&mut world, laser, entry.seed).map_err(|reason| (name, reason))?;
    }
    for sensor in entry.ultrasonics {
        let name = sensor.name.clone();
        add_ultrasonic(&mut world, sensor, entry.seed).map_err(|reason| (name, reason))?;
    }
    for camera in entry.cameras {
        let name = camera.name.clone();
        add_camera(&mut world, camera, entry.seed).map_err(|reason| (name, reason))?;
    }
    for mark in entry.landmarks {
        let named = Named::Landmark(world.landmarks.len());
        let position = numbers(mark.xyz);
        take_name(&mut world, &mark.name, named).map_err(|reason| (mark.name.clone(), reason))?;
        if let Some(other) = world.landmarks.iter().find(|other| other.id == mark.id) {
            let reason =
                format!("its id {} is that of {} already: lasers would confuse them", mark.id, other.name);
            return Err((mark.name, reason));
        }
        world.landmarks.push(Landmark { name: mark.name, id: mark.id, position });
    }
    world.cover();
    Ok(world)
}

fn take_name(world: &mut World, name: &str, named: Named) -> Result<(), Reason> {
    // The legacy protocol has one byte for a name's length including a final NUL.
    if key(name).is_empty() || name.len() > 254 || name.contains('\0') {
        return Err("a name has 1 to 254 bytes, is not blank, and contains no NUL".to_owned());
    }
    match world.names.insert(key(name), named) {
        None => Ok(()),
        Some(_) => Err("the name is used twice in this world".to_owned()),
    }
}

/// Adds a part with its solids to the object that is added next.
fn add_part(
    world: &mut World,
    name: String,
    place: Isometry3<f64>,
    shapes: Vec<Shape>,
    solids: &[Shape],
) -> Result<(), Reason> {
    let first = world.scene.len();
    let (object, part) = (world.objects.len(), world.parts.len());
    for shape in solids {
        for (solid, local) in shape.geometry.solids()? {
            world.scene.add(object, part, solid, to_parry(&shape.pose) * local, &to_parry(&place));
        }
    }
    let colliders = first..world.scene.len();
    world.parts.push(Part { name, shapes, pose: place, revision: 1, colliders });
    Ok(())
}

fn add_object(
    world: &mut World,
    name: String,
    pose: Isometry3<f64>,
    first_part: usize,
    role: Role,
    description: Option<RobotDescription>,
) {
    let parts = first_part..world.parts.len();
    world.objects.push(Object { name, pose, parts, role, description });
}

fn add_body(world: &mut World, entry: BodyEntry, files: Files<'_>) -> Result<(), Reason> {
    take_name(world, &entry.name, Named::Object(world.objects.len()))?;
    let place = pose(numbers(entry.xyz), angles(entry.rpy));
    let first_part = world.parts.len();
    let mut shapes = shapes(&entry.shapes, files)?;
    let mut solids = shapes.clone();
    if let Some(file) = &entry.urdf {
        let robot = urdf::read(file, &Selection::default(), files)?;
        let links = Arm::new(robot.joints, robot.links, robot.tool).link_poses(&Isometry3::identity());
        for (link, (look, solid)) in links.iter().zip(robot.shapes) {
            let moved = |shape: Shape| Shape { pose: link * shape.pose, ..shape };
            shapes.extend(look.into_iter().map(moved));
            solids.extend(solid.into_iter().map(moved));
        }
    }
    if entry.docking_station && shapes.is_empty() && solids.is_empty() {
        shapes.push(dock::housing());
        solids.clone_from(&shapes);
    }
    if shapes.is_empty() && solids.is_empty() {
        return Err("a body needs shapes or a urdf".to_owned());
    }
    add_part(world, entry.name.clone(), place, shapes, &solids)?;
    let is_dock = entry.docking_station;
    let body = Body { held: None, graspable: entry.graspable, is_dock, mass: entry.mass.0 };
    add_object(world, entry.name, place, first_part, Role::Body(body), None);
    Ok(())
}

fn add_arm(world: &mut World, entry: ArmEntry, files: Files<'_>) -> Result<(), Reason> {
    let at = world.objects.len();
    take_name(world, &entry.name, Named::Object(at))?;
    let place = pose(numbers(entry.xyz), angles(entry.rpy));
    let selection =
        Selection { root: entry.root_link.as_deref(), tip: entry.tip_link.as_deref(), without: &[] };
    let robot = match (&entry.urdf, entry.joints.is_empty()) {
        (Some(file), true) => urdf::read(file, &selection, files)?,
        (None, false) => table(&entry, files)?,
        _ => return Err("an arm has either a urdf or joints".to_owned()),
    };
    let place = place * robot.origin;
    let mut arm = Arm::new(robot.joints, robot.links, robot.tool);
    if entry.home.len() > arm.joints.len() {
        return Err(format!("home has {} values for {} joints", entry.home.len(), arm.joints.len()));
    }
    // If zero is not within the limits, the nearest position that is.
    for joint in &mut arm.joints {
        joint.position = 0.0_f64.clamp(joint.lower, joint.upper);
    }
    let home: Vec<f64> = entry.home.iter().map(|value| value.0).collect();
    arm.set(&entry.name, &home).map_err(|error| error.to_string())?;
    let first_part = world.parts.len();
    let poses = arm.link_poses(&place);
    for ((link, pose), (look, solids)) in arm.links.iter().zip(poses).zip(robot.shapes) {
        add_part(world, format!("{}/{}", entry.name, link.name), pose, look, &solids)?;
    }
    let description = robot.text.map(|urdf| RobotDescription { urdf, links: Vec::new() });
    add_object(world, entry.name, place, first_part, Role::Arm(arm), description);
    let built_so = world.touching_links(at);
    if let Some(Object { role: Role::Arm(arm), .. }) = world.objects.get_mut(at) {
        arm.let_touch(built_so);
    }
    Ok(())
}

/// Mounts an arm on its robot.
fn mount_arm(world: &mut World, name: &str, on: &str) -> Result<(), Reason> {
    let found = |name: &str| match world.names.get(&key(name)) {
        Some(Named::Object(at)) => world.objects.get(*at).map(|object| (*at, object)),
        _ => None,
    };
    let carrier = found(on).filter(|(_, object)| matches!(object.role, Role::Wheeled(_)));
    let (Some((at, object)), Some((carrier, robot))) = (found(name), carrier) else {
        return Err(format!("it is on {on}, which is not a robot on wheels"));
    };
    // Until now its pose was taken as a pose in the world.
    let (offset, place) = (object.pose, robot.pose * object.pose);
    if let Some(Object { role: Role::Arm(arm), .. }) = world.objects.get_mut(at) {
        arm.on = Some((carrier, offset));
    }
    world.move_object(at, place);
    let built_so = world.links_on(at, carrier);
    if let Some(Object { role: Role::Arm(arm), .. }) = world.objects.get_mut(at) {
        arm.let_touch_carrier(built_so);
    }
    Ok(())
}

/// An arm from a Denavit-Hartenberg table.
fn table(entry: &ArmEntry, files: Files<'_>) -> Result<urdf::Description, Reason> {
    let convention = entry.convention.ok_or("convention: standard or craig")?;
    if entry.tip_link.is_some() || entry.root_link.is_some() {
        return Err("root_link and tip_link belong to a urdf".to_owned());
    }
    let mut joints: Vec<ArmJoint> = Vec::new();
    let base = ArmLink {
        name: "base".to_owned(),
        parent: None,
        before: Isometry3::identity(),
        motion: None,
        after: Isometry3::identity(),
        mass: 0.0,
        centre_of_mass: Point3::origin(),
    };
    let mut links = vec![base];
    let base = shapes(&entry.base, files)?;
    let mut all_shapes = vec![(base.clone(), base)];
    for (at, row) in entry.joints.iter().enumerate() {
        if row.lower.0 >= row.upper.0 || joints.iter().any(|joint| joint.name == row.name) {
            return Err(format!("joint {}: a name of its own, and lower below upper", row.name));
        }
        let (about_x, about_z) = steps(row);
        let (before, after) = match convention {
            Convention::Standard => (Isometry3::identity(), about_z * about_x),
            Convention::Craig => (about_x * about_z, Isometry3::identity()),
        };
        let name = format!("link_{}", at + 1);
        let motion = Some(LinkMotion::of(at, row.kind, Vector3::z_axis()));
        let (mass, centre_of_mass) = (0.0, Point3::origin());
        links.push(ArmLink { name, parent: Some(at), before, motion, after, mass, centre_of_mass });
        joints.push(ArmJoint {
            name: row.name.clone(),
            kind: row.kind,
            lower: row.lower.0,
            upper: row.upper.0,
            position: 0.0,
        });
        let look = shapes(&row.link, files)?;
        all_shapes.push((look.clone(), look));
    }
    let tool = (joints.len(), pose(numbers(entry.tool.xyz), angles(entry.tool.rpy)));
    Ok(urdf::Description {
        joints,
        links,
        tool,
        shapes: all_shapes,
        origin: Isometry3::identity(),
        text: None,
    })
}

/// `Tx(a) Rx(alpha)` and `Rz(theta) Tz(d)`.
fn steps(row: &JointEntry) -> (Isometry3<f64>, Isometry3<f64>) {
    let turn_x = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), row.alpha.0);
    let turn_z = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), row.theta.0);
    (
        Isometry3::from_parts(Translation3::new(row.a.0, 0.0, 0.0), turn_x),
        Isometry3::from_parts(Translation3::new(0.0, 0.0, row.d.0), turn_z),
    )
}

fn add_wheeled(world: &mut World, entry: WheeledEntry, seed: u64, files: Files<'_>) -> Result<(), Reason> {
    take_name(world, &entry.name, Named::Object(world.objects.len()))?;
    let supports: Vec<[f64; 2]> = entry.supports.iter().map(|&support| numbers(support)).collect();
    if !spread_out(&supports) || supports.len() > 16 {
        return Err("supports: 3 to 16 points that are not collinear".to_owned());
    }
    let place = pose(numbers(entry.xyz), [0.0, 0.0, entry.yaw.0]);
    let first_part = world.parts.len();
    let mut solids = shapes(&entry.body, files)?;
    let mut look = solids.clone();
    let mut description = None;
    if let Some(file) = &entry.urdf {
        let selection = Selection { root: None, without: &entry.without, tip: None };
        let robot = urdf::read(file, &selection, files)?;
        let arm = Arm::new(robot.joints, robot.links, robot.tool);
        let links = arm.link_poses(&Isometry3::identity());
        let named = arm.links.iter().zip(&links).skip(1).map(|(link, pose)| (link.name.clone(), *pose));
        description = robot.text.map(|urdf| RobotDescription { urdf, links: named.collect() });
        for (at, (link, (shown, solid))) in links.iter().zip(robot.shapes).enumerate() {
            let moved = |shape: Shape| Shape { pose: link * shape.pose, ..shape };
            look.extend(shown.into_iter().map(moved));
            if arm.stands_still(at) {
                solids.extend(solid.into_iter().map(moved));
            }
        }
    } else if !entry.without.is_empty() {
        return Err("without belongs to a urdf".to_owned());
    }
    if solids.is_empty() {
        return Err("a robot on wheels needs a body or a urdf".to_owned());
    }
    if let Some(width) = entry.wheel_width {
        let radius = entry.wheel_radius.0;
        let wheel = |&[x, y]: &[f64; 2]| Shape {
            geometry: Geometry::Cylinder { radius, length: width.0 },
            pose: pose([x, y, radius], [std::f64::consts::FRAC_PI_2, 0.0, 0.0]),
            color: [0.1, 0.1, 0.1, 1.0],
        };
        look.extend(supports.iter().map(wheel));
    }
    add_part(world, entry.name.clone(), place, look, &solids)?;
    let wheeled = Wheeled {
        supports,
        wheel_radius: entry.wheel_radius.0,
        limits: [entry.max_speed.0, entry.max_turn_rate.0],
        odometry_noise: [entry.odometry_noise.distance.0, entry.odometry_noise.heading.0],
        odometry: [0.0; 3],
        travelled: [0.0; 2],
        twist: [0.0; 2],
        has_power: true,
        noise: Noise::new(seed, &entry.name),
    };
    add_object(world, entry.name, place, first_part, Role::Wheeled(wheeled), description);
    Ok(())
}

/// Whether three of the points span a triangle of at least 1 cm^2, so that a plane is defined.
fn spread_out(points: &[[f64; 2]]) -> bool {
    let double_area = |a: [f64; 2], b: [f64; 2], c: [f64; 2]| {
        ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])).abs()
    };
    let first = points.first();
    first.is_some_and(|&a| points.iter().any(|&b| points.iter().any(|&c| double_area(a, b, c) > 2e-4)))
}

fn mount(world: &World, on: Option<&str>, offset: Isometry3<f64>) -> Result<Mount, Reason> {
    let Some(carrier) = on else { return Ok(Mount { object: None, offset }) };
    match world.names.get(&key(carrier)) {
        Some(Named::Object(at)) => Ok(Mount { object: Some(*at), offset }),
        _ => Err(format!("it is on {carrier}, which does not exist")),
    }
}

fn add_laser(world: &mut World, entry: LaserEntry, seed: u64) -> Result<(), Reason> {
    let mount = mount(world, entry.on.as_deref(), pose(numbers(entry.xyz), angles(entry.rpy)))?;
    let figures = match (entry.model, entry.scan) {
        (Some(LaserModel::Lms100), None) => LaserFigures::LMS100,
        (Some(LaserModel::Hokuyo), None) => LaserFigures::HOKUYO,
        (None, Some(scan)) => {
            let span = scan.last_angle.0 - scan.first_angle.0;
            if !(2..=MAX_BEAMS).contains(&scan.beams) || span < 1e-6 || scan.min_range.0 >= scan.max_range.0 {
                return Err(format!(
                    "2 to {MAX_BEAMS} beams, last_angle beyond first_angle, max_range beyond min_range"
                ));
            }
            LaserFigures {
                beams: usize::from(scan.beams),
                first_angle: scan.first_angle.0,
                angle_step: span / f64::from(scan.beams - 1),
                min_range: scan.min_range.0,
                max_range: scan.max_range.0,
            }
        }
        _ => return Err("a laser has either a model or a scan".to_owned()),
    };
    take_name(world, &entry.name, Named::Laser(world.lasers.len()))?;
    let noise = Noise::new(seed, &entry.name);
    let publication = publication(entry.topic, entry.frame, entry.rate)?;
    world.lasers.push(Laser::new(
        entry.name,
        mount,
        figures,
        entry.noise.0,
        noise,
        entry.sees_carrier,
        publication,
    ));
    Ok(())
}

fn add_ultrasonic(world: &mut World, entry: UltrasonicEntry, seed: u64) -> Result<(), Reason> {
    let mount = mount(world, entry.on.as_deref(), pose(numbers(entry.xyz), angles(entry.rpy)))?;
    take_name(world, &entry.name, Named::Ultrasonic(world.ultrasonics.len()))?;
    let noise = Noise::new(seed, &entry.name);
    world.ultrasonics.push(Ultrasonic { name: entry.name, mount, deviation: entry.noise.0, noise });
    Ok(())
}

fn add_camera(world: &mut World, entry: CameraEntry, seed: u64) -> Result<(), Reason> {
    let mount = mount(world, entry.on.as_deref(), pose(numbers(entry.xyz), angles(entry.rpy)))?;
    let (figures, color_offset) = match (entry.kind, entry.image) {
        (Some(CameraKind::Kinect), None) => (CameraFigures::KINECT, CameraFigures::KINECT_COLOR_OFFSET),
        (None, Some(image)) => {
            let pixels = 1..=MAX_PIXELS;
            if !pixels.contains(&image.width)
                || !pixels.contains(&image.height)
                || image.min_range.0 >= image.max_range.0
            {
                return Err(format!("1 to {MAX_PIXELS} pixels each way, max_range beyond min_range"));
            }
            let figures = CameraFigures {
                width: image.width.into(),
                height: image.height.into(),
                horizontal_angle: image.horizontal_angle.0,
                vertical_angle: image.vertical_angle.0,
                min_range: image.min_range.0,
                max_range: image.max_range.0,
            };
            (figures, [0.0; 3])
        }
        _ => return Err("a camera has either a kind or an image".to_owned()),
    };
    take_name(world, &entry.name, Named::Camera(world.cameras.len()))?;
    let noise = Noise::new(seed, &entry.name);
    world.cameras.push(Camera {
        name: entry.name,
        mount,
        color_offset: entry.color_offset.map_or(color_offset, numbers).into(),
        figures,
        deviation: entry.depth_noise.0,
        noise,
        sees_carrier: entry.sees_carrier,
        publication: publication(entry.topic, entry.frame, entry.rate)?,
    });
    Ok(())
}

fn publication(
    topic: Option<String>,
    frame: Option<String>,
    rate: Option<Rate>,
) -> Result<Publication, Reason> {
    let names = match (topic, frame) {
        (None, None) => None,
        (Some(topic), Some(frame)) if !topic.trim_matches('/').is_empty() && !frame.is_empty() => {
            Some([topic, frame])
        }
        _ => return Err("topic and frame are names, and are given together".to_owned()),
    };
    Ok(Publication { names, rate: rate.map(|rate| rate.0) })
}

fn shapes(entries: &[ShapeEntry], files: Files<'_>) -> Result<Vec<Shape>, Reason> {
    entries.iter().map(|entry| shape(entry, files)).collect()
}

fn shape(entry: &ShapeEntry, files: Files<'_>) -> Result<Shape, Reason> {
    let cuboid = entry.cuboid.map(|size| Geometry::Box { size: size.map(|value| value.0) });
    let cylinder = entry
        .cylinder
        .as_ref()
        .map(|cylinder| Geometry::Cylinder { radius: cylinder.radius.0, length: cylinder.length.0 });
    let sphere = entry.sphere.as_ref().map(|sphere| Geometry::Sphere { radius: sphere.radius.0 });
    let extrusion = entry.extrusion.as_ref().map(|extrusion| Geometry::Extrusion {
        polygon: extrusion.polygon.iter().map(|&corner| numbers(corner)).collect(),
        height: extrusion.height.0,
    });
    let mesh = match &entry.mesh {
        None => None,
        Some(mesh) => {
            let bytes = files(&mesh.file).map_err(|reason| format!("{}: {reason}", mesh.file))?;
            let scale = mesh.scale.map(|factor| factor.0);
            let loaded = Arc::new(Mesh::parse(&mesh.file, &bytes, scale)?);
            Some(Geometry::Mesh { mesh: loaded, convex: mesh.convex })
        }
    };
    let mut given = [cuboid, cylinder, sphere, extrusion, mesh].into_iter().flatten();
    let (Some(geometry), None) = (given.next(), given.next()) else {
        return Err("a shape is one of box, cylinder, sphere, mesh, extrusion".to_owned());
    };
    let color = entry.color.map_or(GREY, |color| color.map(|share| share.0));
    Ok(Shape { geometry, pose: pose(numbers(entry.xyz), angles(entry.rpy)), color })
}

fn numbers<const N: usize>(values: [Coordinate; N]) -> [f64; N] {
    values.map(|value| value.0)
}

fn angles(values: [Angle; 3]) -> [f64; 3] {
    values.map(|value| value.0)
}

impl JointKind {
    pub(super) fn of(kind: &urdf_rs::JointType) -> Option<Self> {
        match kind {
            urdf_rs::JointType::Revolute | urdf_rs::JointType::Continuous => Some(Self::Revolute),
            urdf_rs::JointType::Prismatic => Some(Self::Prismatic),
            _ => None,
        }
    }
}
