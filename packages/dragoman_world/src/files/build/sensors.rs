//! Builds the sensors of a world.

use nalgebra::Isometry3;

use crate::files::format::{
    CameraEntry, CameraKind, LaserEntry, LaserModel, MAX_BEAMS, MAX_PIXELS, Rate, Reason, UltrasonicEntry,
    angles, numbers,
};
use crate::geometry::pose;
use crate::noise::Noise;
use crate::sensors::camera::{Camera, CameraFigures};
use crate::sensors::range::{Laser, LaserFigures, Mount, Publication, Ultrasonic, UltrasonicFigures};
use crate::world::{Named, World, key};

fn mount(world: &World, on: Option<&str>, offset: Isometry3<f64>) -> Result<Mount, Reason> {
    let Some(carrier) = on else { return Ok(Mount { object: None, offset }) };
    match world.names.get(&key(carrier)) {
        Some(Named::Object(at)) => Ok(Mount { object: Some(*at), offset }),
        _ => Err(format!("it is on {carrier}, which does not exist")),
    }
}

pub(super) fn add_laser(world: &mut World, entry: LaserEntry, seed: u64) -> Result<(), Reason> {
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
    world.take_name(&entry.name, Named::Laser(world.lasers.len()))?;
    let noise = Noise::new(seed, &entry.name);
    let publication = publication(entry.topic, entry.frame, entry.rate)?;
    world.lasers.push(Laser::new(
        entry.name,
        mount,
        figures,
        [entry.noise.0, entry.landmark_noise.distance.0, entry.landmark_noise.angle.0],
        noise,
        entry.sees_carrier,
        publication,
    ));
    Ok(())
}

pub(super) fn add_ultrasonic(world: &mut World, entry: UltrasonicEntry, seed: u64) -> Result<(), Reason> {
    let mount = mount(world, entry.on.as_deref(), pose(numbers(entry.xyz), angles(entry.rpy)))?;
    world.take_name(&entry.name, Named::Ultrasonic(world.ultrasonics.len()))?;
    let usual = UltrasonicFigures::default();
    let figures = UltrasonicFigures {
        half_angle: entry.half_angle.map_or(usual.half_angle, |angle| angle.0),
        min_range: entry.min_range.map_or(usual.min_range, |range| range.0),
        max_range: entry.max_range.map_or(usual.max_range, |range| range.0),
    };
    if figures.min_range >= figures.max_range {
        return Err("max_range beyond min_range".to_owned());
    }
    let noise = Noise::new(seed, &entry.name);
    world.ultrasonics.push(Ultrasonic { name: entry.name, mount, figures, deviation: entry.noise.0, noise });
    Ok(())
}

pub(super) fn add_camera(world: &mut World, entry: CameraEntry, seed: u64) -> Result<(), Reason> {
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
    world.take_name(&entry.name, Named::Camera(world.cameras.len()))?;
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
