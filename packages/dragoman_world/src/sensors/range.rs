//! Range sensors: lasers, ultrasonic sensors; landmarks.

use nalgebra::Isometry3;

use crate::geometry::scene::{Collider, Scene};
use crate::geometry::{Pose, Vector};
use crate::noise::Noise;

/// Mounting of a sensor: in the world, or on an object.
#[derive(Debug, Clone)]
pub(crate) struct Mount {
    pub(crate) object: Option<usize>,
    /// Pose in the object's frame, or in the world.
    pub(crate) offset: Isometry3<f64>,
}

/// Publishing of a sensor's measurements, as set in its world file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Publication {
    /// Topic and frame; for a camera the prefixes of its topics and frames. The poses of these frames are in the
    /// robot's description.
    pub names: Option<[String; 2]>,
    /// Rate, Hz.
    pub rate: Option<f64>,
}

/// Parameters of a planar laser scanner: x ahead, angles about z, counter-clockwise. Angles in rad, ranges in m.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LaserFigures {
    /// Number of beams.
    pub beams: usize,
    /// Angle of the first beam.
    pub first_angle: f64,
    /// Angle between two beams.
    pub angle_step: f64,
    /// Minimum range; shorter distances read as this.
    pub min_range: f64,
    /// Maximum range; longer distances read as this.
    pub max_range: f64,
}

impl LaserFigures {
    /// SICK LMS100: 541 beams from -135 degrees every half degree, 20 m.
    pub const LMS100: Self = Self {
        beams: 541,
        first_angle: -135.0 * std::f64::consts::PI / 180.0,
        angle_step: 0.5 * std::f64::consts::PI / 180.0,
        min_range: 0.0,
        max_range: 20.0,
    };
    /// Hokuyo URG-04LX: 684 beams over +-2.0944 rad, 0.06 to 4.095 m (TurtleBot thesis).
    pub const HOKUYO: Self = Self {
        beams: 684,
        first_angle: -2.0944,
        angle_step: 2.0 * 2.0944 / 683.0,
        min_range: 0.06,
        max_range: 4.095,
    };
}

pub(crate) struct Laser {
    pub(crate) name: String,
    pub(crate) mount: Mount,
    pub(crate) figures: LaserFigures,
    /// Standard deviation of a range, m.
    pub(crate) deviation: f64,
    /// Standard deviations of a landmark's distance, m, and angle, rad.
    pub(crate) landmark_deviations: [f64; 2],
    pub(crate) noise: Noise,
    pub(crate) sees_carrier: bool,
    pub(crate) publication: Publication,
    /// Directions of the beams, as cosine and sine.
    directions: Vec<[f64; 2]>,
}

impl Laser {
    pub(crate) fn new(
        name: String,
        mount: Mount,
        figures: LaserFigures,
        [deviation, landmark_distance, landmark_angle]: [f64; 3],
        noise: Noise,
        sees_carrier: bool,
        publication: Publication,
    ) -> Self {
        let angle = |beam: usize| figures.first_angle + beam as f64 * figures.angle_step;
        let directions =
            (0..figures.beams).map(|beam| angle(beam).sin_cos()).map(|(sin, cos)| [cos, sin]).collect();
        let landmark_deviations = [landmark_distance, landmark_angle];
        Self {
            name,
            mount,
            figures,
            deviation,
            landmark_deviations,
            noise,
            sees_carrier,
            publication,
            directions,
        }
    }

    /// One scan from `pose`.
    pub(crate) fn scan(
        &mut self,
        scene: &Scene,
        pose: &Pose,
        ignore: impl Fn(&Collider) -> bool,
        ranges: &mut Vec<f64>,
    ) {
        let figures = self.figures;
        ranges.clear();
        ranges.resize(figures.beams, figures.max_range);
        scene.near(pose.translation, figures.max_range, |collider| {
            if !ignore(collider) {
                sweep(collider, pose, &figures, &self.directions, ranges);
            }
        });
        for range in ranges {
            if self.deviation > 0.0 && *range < figures.max_range {
                *range += self.deviation * self.noise.normal();
            }
            *range = range.clamp(figures.min_range, figures.max_range);
        }
    }
}

/// Shortens the ranges of the beams that hit the solid. Most solids are not in the plane, or are hit by few beams; the
/// corners of the bounding box show which beams to check.
fn sweep(
    collider: &Collider,
    laser: &Pose,
    figures: &LaserFigures,
    directions: &[[f64; 2]],
    ranges: &mut [f64],
) {
    let to_laser = laser.inv_mul(&collider.pose);
    let (centre, half) = collider.solid.local_bounds();
    let middle = to_laser.transform_point(centre);
    let mut heights = [f64::INFINITY, f64::NEG_INFINITY];
    let mut spread = [0.0_f64, 0.0_f64];
    let towards = middle.y.atan2(middle.x);
    for corner in 0..8_u8 {
        let sign = |bit: u8| if corner & (1 << bit) == 0 { -1.0 } else { 1.0 };
        let corner = to_laser.transform_point(centre + half * Vector::new(sign(0), sign(1), sign(2)));
        heights = [heights[0].min(corner.z), heights[1].max(corner.z)];
        // Angle relative to the direction of the centre.
        let across = middle.x * corner.y - middle.y * corner.x;
        let along = middle.x * corner.x + middle.y * corner.y;
        let angle = across.atan2(along);
        spread = [spread[0].min(angle), spread[1].max(angle)];
    }
    if heights[0] > 0.0 || heights[1] < 0.0 {
        return;
    }
    let to_solid = collider.pose.inv_mul(laser);
    let origin = to_solid.translation;
    let (ahead, left) = (to_solid.transform_vector(Vector::X), to_solid.transform_vector(Vector::Y));
    let mut cast = |first: usize, last: usize| {
        let beams = directions.get(first..=last).unwrap_or_default();
        let ranges = ranges.get_mut(first..=last).unwrap_or_default();
        for (range, [cos, sin]) in ranges.iter_mut().zip(beams) {
            if let Some(way) = collider.solid.ray(origin, ahead * *cos + left * *sin, *range) {
                *range = way;
            }
        }
    };
    let last_beam = figures.beams - 1;
    if middle.x.hypot(middle.y) < 1e-9 || spread[1] - spread[0] >= std::f64::consts::PI {
        // The laser is among the corners, or above or below their centre, which then has no direction.
        return cast(0, last_beam);
    }
    // The same directions plus or minus one turn.
    for turns in [-1.0, 0.0, 1.0] {
        let from = towards + turns * std::f64::consts::TAU - figures.first_angle;
        let first = ((from + spread[0]) / figures.angle_step).floor();
        let last = ((from + spread[1]) / figures.angle_step).ceil();
        if last >= 0.0 && first <= last_beam as f64 {
            cast(first.max(0.0) as usize, (last as usize).min(last_beam));
        }
    }
}

/// Cone and ranges of an ultrasonic sensor, rad and m.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UltrasonicFigures {
    /// Angle between the axis of the cone and its surface.
    pub half_angle: f64,
    /// Minimum range.
    pub min_range: f64,
    /// Maximum range; without an echo the sensor reads this.
    pub max_range: f64,
}

impl Default for UltrasonicFigures {
    /// Apolo's: 10 degrees to each side of the axis, 0.05 to 3 m.
    fn default() -> Self {
        Self { half_angle: 10.0 * std::f64::consts::PI / 180.0, min_range: 0.05, max_range: 3.0 }
    }
}

/// Number of rays on the cone's surface.
const RIM_RAYS: u32 = 32;
/// Angle between two of them around the axis, rad.
const RIM_STEP: f64 = std::f64::consts::TAU / RIM_RAYS as f64;
/// Number of inner cones with rays as well, for objects thinner than the distance between the outer rays.
const RINGS: u32 = 4;
/// Number of bisections between two rays of the rim.
const SEARCH_STEPS: u32 = 24;
/// Apolo's rays: in rings of ten, 5 degrees apart from the cone's surface inwards, the innermost at 6 degrees or more.
const APOLO_RING_RAYS: u32 = 10;
const APOLO_RING_STEP: f64 = 5.0 * std::f64::consts::PI / 180.0;
const APOLO_INNERMOST: f64 = 6.0 * std::f64::consts::PI / 180.0;
/// Minimum sine of the angle between a ray and a surface that gives an echo.
const MIN_INCIDENCE: f64 = 0.4;

/// A measured range with the figures of its sensor.
#[cfg(feature = "node")]
pub(crate) struct Echo {
    pub(crate) figures: UltrasonicFigures,
    pub(crate) range: f64,
}

/// An ultrasonic sensor: it measures the nearest point in a cone around x.
pub(crate) struct Ultrasonic {
    pub(crate) name: String,
    pub(crate) mount: Mount,
    pub(crate) figures: UltrasonicFigures,
    /// Standard deviation of a range, m.
    pub(crate) deviation: f64,
    pub(crate) noise: Noise,
}

impl Ultrasonic {
    pub(crate) fn measure(
        &mut self,
        scene: &Scene,
        pose: &Pose,
        ignore: impl Fn(&Collider) -> bool,
        as_original: bool,
    ) -> f64 {
        let figures = self.figures;
        let mut nearest = figures.max_range;
        let apolo = if as_original { apolo_rays(figures.half_angle) } else { Vec::new() };
        let cone = Cone::new(figures.half_angle);
        scene.near(pose.translation, figures.max_range, |collider| {
            if ignore(collider) {
                return;
            }
            if as_original {
                let beam = Beam::new(collider, pose, nearest);
                let echoes = apolo.iter().map(|ray| beam.echo(*ray));
                nearest = echoes.filter(|way| *way >= figures.min_range).fold(nearest, f64::min);
            } else {
                nearest = nearest.min(nearest_in_cone(collider, pose, &cone, nearest));
            }
        });
        if self.deviation > 0.0 && nearest < figures.max_range {
            nearest += self.deviation * self.noise.normal();
        }
        nearest.clamp(figures.min_range, figures.max_range)
    }
}

/// The rays of Apolo's sensor.
fn apolo_rays(half_angle: f64) -> Vec<Vector> {
    let mut rays = vec![Vector::X];
    let mut off = half_angle;
    while off >= APOLO_INNERMOST {
        let step = std::f64::consts::TAU / f64::from(APOLO_RING_RAYS);
        rays.extend((0..APOLO_RING_RAYS).map(|at| direction(off.sin_cos(), f64::from(at) * step)));
        off -= APOLO_RING_STEP;
    }
    rays
}

/// The unit vector that has the angle with this sine and cosine to the axis x, and is turned `around` it.
fn direction((across, along): (f64, f64), around: f64) -> Vector {
    let (up, left) = around.sin_cos();
    Vector::new(along, across * left, across * up)
}

/// The cone of a sensor around x.
struct Cone {
    /// Sine and cosine of the angle between axis and surface.
    half_angle: (f64, f64),
    /// Rays on its surface and within: angle around the axis, and direction.
    rays: Vec<(f64, Vector)>,
}

impl Cone {
    fn new(half_angle: f64) -> Self {
        let rays = (1..=RINGS).flat_map(|ring| {
            let off = (half_angle * f64::from(ring) / f64::from(RINGS)).sin_cos();
            (0..RIM_RAYS).map(move |at| {
                let around = f64::from(at) * RIM_STEP;
                (around, direction(off, around))
            })
        });
        Self { half_angle: half_angle.sin_cos(), rays: rays.collect() }
    }

    fn rim(&self, around: f64) -> Vector {
        direction(self.half_angle, around)
    }
}

/// Rays from a sensor to one solid.
struct Beam<'a> {
    collider: &'a Collider,
    to_solid: Pose,
    max_distance: f64,
}

impl<'a> Beam<'a> {
    fn new(collider: &'a Collider, sensor: &Pose, max_distance: f64) -> Self {
        Self { collider, to_solid: collider.pose.inv_mul(sensor), max_distance }
    }

    /// Distance to the solid in a direction; infinite if it is not hit, or gives no echo.
    fn echo(&self, direction: Vector) -> f64 {
        let (origin, direction) = (self.to_solid.translation, self.to_solid.transform_vector(direction));
        let solid = &self.collider.solid;
        let Some(way) = solid.ray(origin, direction, self.max_distance) else { return f64::INFINITY };
        let grazes = solid
            .normal(origin, direction, self.max_distance)
            .is_some_and(|normal| normal.dot(direction).abs() < MIN_INCIDENCE);
        if grazes { f64::INFINITY } else { way }
    }
}

/// Distance to the nearest point of the solid in the cone that gives an echo; at most `max_distance`. It is the point of the
/// solid nearest to the sensor, if that is in the cone; otherwise, for a convex solid, it is on the cone's surface.
fn nearest_in_cone(collider: &Collider, sensor: &Pose, cone: &Cone, max_distance: f64) -> f64 {
    let point = collider.solid.nearest(&collider.pose, sensor.translation);
    let away = sensor.inverse_transform_point(point);
    let distance = away.length();
    if distance >= max_distance {
        return max_distance;
    }
    let (_, along) = cone.half_angle;
    if away.x >= distance * along {
        return distance;
    }
    let beam = Beam::new(collider, sensor, max_distance);
    let mut best = (beam.echo(Vector::X), 0.0);
    // Beyond the rim towards the nearest point: detects objects thinner than the distance between the rays.
    let toward = away.z.atan2(away.y);
    let rim = beam.echo(cone.rim(toward));
    if rim < best.0 {
        best = (rim, toward);
    }
    for &(around, ray) in &cone.rays {
        let way = beam.echo(ray);
        if way < best.0 {
            best = (way, around);
        }
    }
    if best.0.is_infinite() {
        return max_distance;
    }
    let (mut low, mut high) = (best.1 - RIM_STEP, best.1 + RIM_STEP);
    for _ in 0..SEARCH_STEPS {
        let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if beam.echo(cone.rim(a)) < beam.echo(cone.rim(b)) { high = b } else { low = a }
    }
    best.0.min(beam.echo(cone.rim((low + high) / 2.0))).min(max_distance)
}

/// A landmark that lasers recognize.
#[derive(Debug, Clone, PartialEq)]
pub struct Landmark {
    /// Its name in the world.
    pub name: String,
    /// Identifier reported by a laser.
    pub id: u16,
    /// Position, m.
    pub position: [f64; 3],
}

/// A landmark seen by a laser.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sighting {
    /// The landmark's identifier.
    pub id: u16,
    /// Direction in the laser's plane, rad, counter-clockwise from straight ahead.
    pub angle: f64,
    /// Distance, m; also the height above the laser's plane counts.
    pub distance: f64,
}
