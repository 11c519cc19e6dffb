//! Docking stations of a Kobuki: infrared signals, and the contacts of the charger.
//!
//! A station sends to its left, ahead and to its right, near and far; the fields overlap at their borders. A robot has
//! three receivers, on its left, ahead and on its right. Left and right of the station are those of one who stands with
//! his back to it. The manufacturer's guide names the fields; angles and ranges are ours.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, FRAC_PI_8};

use dragoman_base::kobuki::wire::DockSignals;
use nalgebra::{Isometry3, Point3, Vector3};

use super::state::{Role, Shape, World};
use crate::geometry::scene::Collider;
use crate::geometry::{Geometry, Vector, to_parry};
use dragoman_sim::kobuki::FrontSensors;

/// Half of the angle of the middle field, rad.
const CENTER: f64 = 5.0 * std::f64::consts::PI / 180.0;
/// The side fields begin and end at these angles, rad.
const SIDES: [f64; 2] = [4.0 * std::f64::consts::PI / 180.0, 50.0 * std::f64::consts::PI / 180.0];
/// The near fields end, the far fields begin and end at these distances, m.
const NEAR: f64 = 0.6;
const FAR: [f64; 2] = [0.5, 3.0];
/// Height of the emitters and the receivers, m.
const HEIGHT: f64 = 0.05;
/// Directions of the receivers left, centre, right, and half of the angle in which each receives, rad.
const RECEIVERS: [[f64; 2]; 3] = [[FRAC_PI_2, FRAC_PI_4], [0.0, FRAC_PI_8], [-FRAC_PI_2, FRAC_PI_4]];
/// Distance of the receivers from the robot's centre, m: behind the bumper.
const RECEIVER_RADIUS: f64 = 0.17;
/// The charger has contact with the robot's centre at most this far from the station, m (its rim touches the station at
/// 0.177 m, its bumper is pressed 4 mm before).
const CONTACT: f64 = 0.187;
/// Maximum distance from the middle line, m, and maximum angle to it, rad, of a robot with contact.
const CONTACT_ASIDE: f64 = 0.04;
const CONTACT_ANGLE: f64 = 20.0 * std::f64::consts::PI / 180.0;

/// The housing of a station: its front is the origin, x points out of it, z up.
pub(crate) fn housing() -> Shape {
    let size = [0.1, 0.26, 0.09];
    Shape {
        geometry: Geometry::Box { size },
        pose: crate::geometry::pose([-size[0] / 2.0, 0.0, size[2] / 2.0], [0.0; 3]),
        color: [0.15, 0.15, 0.15, 1.0],
    }
}

/// What a robot notices of the docking stations around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Docking {
    pub(crate) signals: FrontSensors<DockSignals>,
    /// Whether the charger has contact.
    pub(crate) has_contact: bool,
}

impl World {
    /// What the robot at index `at`, whose objects are `group`, notices of all stations.
    pub(crate) fn docking(&self, at: usize, group: &[usize]) -> Docking {
        let mut noticed = Docking::default();
        let Some(robot) = self.objects.get(at) else { return noticed };
        for (index, station) in self.objects.iter().enumerate() {
            if !matches!(&station.role, Role::Body(body) if body.is_dock) {
                continue;
            }
            let relative = station.pose.inverse() * robot.pose;
            noticed.has_contact |= has_contact(&relative);
            let FrontSensors { left, center, right } = &mut noticed.signals;
            for (seen, receiver) in [left, center, right].into_iter().zip(RECEIVERS) {
                let signals = received(&relative, receiver);
                let receiver = place(receiver);
                if !signals.is_empty()
                    && self.is_visible(&station.pose, index, &(robot.pose * receiver), group)
                {
                    *seen |= signals;
                }
            }
        }
        noticed
    }

    /// Whether nothing but the station and the robot itself is between the emitter and a receiver.
    fn is_visible(
        &self,
        station: &Isometry3<f64>,
        station_at: usize,
        receiver: &Point3<f64>,
        group: &[usize],
    ) -> bool {
        let emitter = station * Point3::new(0.0, 0.0, HEIGHT);
        let way: Vector3<f64> = receiver - emitter;
        let length = way.norm();
        if length < 1e-6 {
            return true;
        }
        let [x, y, z]: [f64; 3] = (way / length).into();
        let own = |collider: &Collider| collider.object == station_at || group.contains(&collider.object);
        let from = to_parry(station) * Vector::new(0.0, 0.0, HEIGHT);
        self.scene.ray(from, Vector::new(x, y, z), length, own).is_none()
    }
}

/// The place of a receiver in the robot's frame.
fn place([direction, _]: [f64; 2]) -> Point3<f64> {
    let (sin, cos) = direction.sin_cos();
    Point3::new(RECEIVER_RADIUS * cos, RECEIVER_RADIUS * sin, HEIGHT)
}

/// The signals at a receiver of a robot with this pose in the station's frame.
fn received(robot: &Isometry3<f64>, receiver: [f64; 2]) -> DockSignals {
    let [direction, field] = receiver;
    let receiver = place(receiver);
    let at = robot * receiver;
    let (distance, angle) = (at.x.hypot(at.y), at.y.atan2(at.x));
    let mut signals = DockSignals::empty();
    // The direction from the receiver to the emitter, in the robot's frame.
    let emitter = robot.inverse() * Point3::new(0.0, 0.0, HEIGHT) - receiver;
    let off = dragoman_geometry::wrap_angle(emitter.y.atan2(emitter.x) - direction);
    // A robot on another floor, or in the air, receives nothing.
    if off.abs() > field || at.x <= 0.0 || (at.z - HEIGHT).abs() > HEIGHT {
        return signals;
    }
    let [least, most] = SIDES;
    let fields = [
        (angle >= least && angle <= most, DockSignals::NEAR_LEFT, DockSignals::FAR_LEFT),
        (angle.abs() <= CENTER, DockSignals::NEAR_CENTER, DockSignals::FAR_CENTER),
        (angle <= -least && angle >= -most, DockSignals::NEAR_RIGHT, DockSignals::FAR_RIGHT),
    ];
    let [far, farthest] = FAR;
    for (_, near_field, far_field) in fields.into_iter().filter(|(is_inside, ..)| *is_inside) {
        signals.set(near_field, distance <= NEAR);
        signals.set(far_field, (far..=farthest).contains(&distance));
    }
    signals
}

/// Whether a robot with this pose in the station's frame stands on its contacts.
fn has_contact(robot: &Isometry3<f64>) -> bool {
    let [x, y, z]: [f64; 3] = robot.translation.vector.into();
    let ahead = robot.rotation * Vector3::x();
    // It faces the station.
    let angle = ahead.y.atan2(-ahead.x);
    (0.0..=CONTACT).contains(&x)
        && y.abs() <= CONTACT_ASIDE
        && z.abs() <= HEIGHT
        && angle.abs() <= CONTACT_ANGLE
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    /// Signals left, centre, right of a robot at this place before the station, m, with this heading, degrees; the
    /// station looks along x.
    fn seen(x: f64, y: f64, heading: f64) -> [DockSignals; 3] {
        let robot = crate::geometry::pose([x, y, 0.0], [0.0, 0.0, heading.to_radians()]);
        RECEIVERS.map(|receiver| received(&robot, receiver))
    }

    #[test]
    fn the_receiver_that_faces_the_station_gets_the_field_in_which_it_is() {
        use DockSignals as S;
        let none = S::empty();
        assert_eq!(seen(1.5, 0.0, 180.0), [none, S::FAR_CENTER, none]);
        assert_eq!(seen(0.4, 0.0, 180.0), [none, S::NEAR_CENTER, none]);
        // Both where the fields overlap: the receiver is 0.55 m away.
        assert_eq!(seen(0.72, 0.0, 180.0), [none, S::NEAR_CENTER | S::FAR_CENTER, none]);
        assert_eq!(seen(1.5, 0.0, 0.0), [none; 3], "it looks away");
        assert_eq!(seen(3.5, 0.0, 180.0), [none; 3], "too far");
        assert_eq!(seen(-1.0, 0.0, 0.0), [none; 3], "behind the station");
        // Left of the station, its right receiver towards it: ahead is the middle field.
        assert_eq!(seen(1.0, 0.7, -55.0), [none, none, S::FAR_LEFT]);
        assert_eq!(seen(1.0, -0.7, 55.0), [S::FAR_RIGHT, none, none]);
    }

    #[test]
    fn contact_needs_the_place_and_the_direction() {
        let at = |x: f64, y: f64, heading: f64| {
            has_contact(&crate::geometry::pose([x, y, 0.0], [0.0, 0.0, heading]))
        };
        assert!(at(0.182, 0.0, PI) && at(0.18, 0.02, PI - 0.2) && at(0.186, -0.02, PI + 0.2));
        assert!(!at(0.2, 0.0, PI) && !at(0.18, 0.05, PI) && !at(0.18, 0.0, PI - 0.4) && !at(0.18, 0.0, 0.0));
    }
}
