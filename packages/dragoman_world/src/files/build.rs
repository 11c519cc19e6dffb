//! Builds worlds from a world file.

mod sensors;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use dragoman_geometry::wheels::Drives;
use dragoman_geometry::{Point, Twist};
use dragoman_text::yaml;
use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};

use super::Files;
use super::format::{
    ArmEntry, BodyEntry, ChargerEntry, Convention, File, GREY, JointEntry, MecanumEntry, Reason, ShapeEntry,
    SteeredEntry, WheeledEntry, WorldEntry, angles, numbers,
};
use super::urdf::{self, Selection};
use crate::error::LoadError;
use crate::geometry::scene::Scene;
use crate::geometry::{Geometry, Mesh, pose, to_parry};
use crate::noise::Noise;
use crate::robots::arm::{Arm, ArmJoint, ArmLink, LinkMotion};
use crate::robots::wheeled::{ApoloOdometry, Omni, Step, Wheeled};
use crate::sensors::range::Landmark;
use crate::world::{Body, Charger, Named, Object, Part, RobotDescription, Role, Shape, World, dock, key};

use sensors::{add_camera, add_laser, add_ultrasonic};

pub(crate) fn worlds(text: &str, files: Files<'_>) -> Result<Vec<World>, LoadError> {
    let (file, left_out) =
        yaml::lenient::<File>(text).map_err(|error| LoadError::Yaml { reason: error.to_string() })?;
    let at = |element: &str, reason: Reason| LoadError::Element {
        line: line_of(text, element),
        element: element.to_owned(),
        // It may be the cause.
        reason: left_out.iter().fold(reason, |reason, note| format!("{reason}; {note}")),
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
    if let Some(first) = worlds.first_mut() {
        first.notes.extend(left_out.iter().map(ToString::to_string));
    }
    Ok(worlds)
}

/// The first line with this name, from 1; 0 if there is none. In YAML or JSON: keys and values may be quoted.
fn line_of(text: &str, name: &str) -> usize {
    const KEY: &str = "name";
    let quotes = ['"', '\''];
    let gives = |at: &usize| {
        let value = text.get(at + KEY.len()..).unwrap_or_default();
        let value = value.trim_start_matches(quotes).trim_start().strip_prefix(':');
        let value = value.map(|value| value.trim_start().trim_start_matches(quotes));
        value
            .and_then(|value| value.strip_prefix(name))
            .is_some_and(|rest| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_'))
    };
    let found = text.match_indices(KEY).map(|(at, _)| at).find(gives);
    found.map_or(0, |at| text.get(..at).unwrap_or_default().matches('\n').count() + 1)
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
        chargers: entry.chargers.into_iter().map(charger).collect(),
        names: BTreeMap::new(),
        revision: 1,
        updates: 0,
        as_original: true,
        time: Duration::ZERO,
        notes: Vec::new(),
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
        world.take_name(&mark.name, named).map_err(|reason| (mark.name.clone(), reason))?;
        let same = world.landmarks.iter().find(|other| other.id == mark.id);
        if let Some(other) = same.filter(|_| !entry.repeated_landmark_ids) {
            let reason =
                format!("its id {} is that of {} already: lasers would confuse them", mark.id, other.name);
            return Err((mark.name, reason));
        }
        world.landmarks.push(Landmark { name: mark.name, id: mark.id, position });
    }
    world.cover();
    Ok(world)
}

fn charger(entry: ChargerEntry) -> Charger {
    let [x, y] = numbers(entry.xy);
    Charger { name: entry.name, pose: [x, y, entry.yaw.0] }
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
    world.take_name(&entry.name, Named::Object(world.objects.len()))?;
    let place = pose(numbers(entry.xyz), angles(entry.rpy));
    let first_part = world.parts.len();
    let mut shapes = shapes(&entry.shapes, files)?;
    let mut solids = shapes.clone();
    if let Some(file) = &entry.urdf {
        let robot = urdf::read(file, &Selection::default(), files)?;
        world.notes.extend(robot.notes);
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
    world.take_name(&entry.name, Named::Object(at))?;
    let place = pose(numbers(entry.xyz), angles(entry.rpy));
    let selection =
        Selection { root: entry.root_link.as_deref(), tip: entry.tip_link.as_deref(), without: &[] };
    let robot = match (&entry.urdf, entry.joints.is_empty()) {
        (Some(file), true) => urdf::read(file, &selection, files)?,
        (None, false) => table(&entry, files)?,
        _ => return Err("an arm has either a urdf or joints".to_owned()),
    };
    world.notes.extend(robot.notes);
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
        notes: Vec::new(),
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
    world.take_name(&entry.name, Named::Object(world.objects.len()))?;
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
        world.notes.extend(robot.notes);
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
        apolo: ApoloOdometry::new(&place),
        omni: omni(entry.mecanum, entry.steered)?,
        travelled: Step::default(),
        twist: Twist::ZERO,
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
            let scale = mesh.scale.map(|factor| factor.0);
            let loaded = match (&mesh.file, mesh.triangles.is_empty()) {
                (Some(file), true) => {
                    let bytes = files(file).map_err(|reason| format!("{file}: {reason}"))?;
                    Mesh::parse(file, &bytes, scale)?
                }
                (None, false) => {
                    let vertices = mesh.vertices.iter().map(|&corner| numbers(corner)).collect();
                    Mesh::new(vertices, mesh.triangles.clone(), scale)?
                }
                _ => return Err("a mesh has either a file or vertices and triangles".to_owned()),
            };
            Some(Geometry::Mesh { mesh: Arc::new(loaded), convex: mesh.convex })
        }
    };
    let mut given = [cuboid, cylinder, sphere, extrusion, mesh].into_iter().flatten();
    let (Some(geometry), None) = (given.next(), given.next()) else {
        return Err("a shape is one of box, cylinder, sphere, mesh, extrusion".to_owned());
    };
    let color = entry.color.map_or(GREY, |color| color.map(|share| share.0));
    Ok(Shape { geometry, pose: pose(numbers(entry.xyz), angles(entry.rpy)), color })
}

/// The drives of these entries of a world file; `None`: two driven wheels.
///
/// # Errors
/// The reason why the entries make no sense.
fn omni(mecanum: Option<MecanumEntry>, steered: Option<SteeredEntry>) -> Result<Option<Omni>, String> {
    let (drives, max_wheel_speed, rate) = match (mecanum, steered) {
        (None, None) => return Ok(None),
        (Some(mecanum), None) => {
            let drives = Drives::Mecanum { length: mecanum.length.0, width: mecanum.width.0 };
            (drives, mecanum.max_wheel_speed.0, 0.0)
        }
        (None, Some(steered)) => {
            let positions = steered.positions.map(|[x, y]| Point::new(x.0, y.0));
            if (positions[1] - positions[0]).norm() < 0.01 {
                return Err("steered: the drives have to be at least 1 cm apart".to_owned());
            }
            (Drives::Steered { positions }, steered.max_wheel_speed.0, steered.max_rate.0)
        }
        (Some(_), Some(_)) => return Err("a robot has mecanum or steered, not both".to_owned()),
    };
    Ok(Some(Omni { drives, max_wheel_speed, max_steering_rate: rate, wheels: Vec::new() }))
}
