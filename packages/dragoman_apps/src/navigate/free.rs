//! The free direction nearest to the wanted one, and the velocity towards it.

use dragoman_geometry::{Twist, wrap_angle};

use super::{MAX_ANGULAR_VELOCITY, ROBOT_RADIUS, TURN_ON_SPOT};

/// Distance kept from obstacles, m.
const MARGIN: f64 = 0.07;
/// Distance kept if there is no other way, m.
const MIN_MARGIN: f64 = 0.03;
/// Length of the strip that has to be free, m.
const LOOK_AHEAD: f64 = 0.9;
/// Angle between the examined directions, rad.
const STEP: f64 = std::f64::consts::PI / 90.0;
/// Cost of a change of direction, relative to a deviation from the wanted one.
const CONSTANCY: f64 = 0.6;
/// The speed is limited to the free length divided by this time, s.
const TIME_TO_STOP: f64 = 1.2;

/// Free length for a circle with this radius in a direction, m; at most `most`.
fn free_way(places: &[[f64; 2]], direction: f64, radius: f64, most: f64) -> f64 {
    let (sin, cos) = direction.sin_cos();
    places.iter().fold(most, |free, [x, y]| {
        let (along, across) = (x * cos + y * sin, y * cos - x * sin);
        if along <= 0.0 || across.abs() >= radius {
            return free;
        }
        free.min((along - (radius * radius - across * across).sqrt()).max(0.0))
    })
}

/// Inputs of a decision. Directions are rad from straight ahead, positions in the robot's frame, m.
#[derive(Debug, Clone, Copy)]
pub(super) struct Situation<'a> {
    /// Occupied positions.
    pub(super) places: &'a [[f64; 2]],
    /// Direction of the forces.
    pub(super) wanted: f64,
    /// Last direction of motion.
    pub(super) last: Option<f64>,
    /// Direction of the target, and its distance.
    pub(super) bearing: f64,
    pub(super) distance: f64,
}

impl Situation<'_> {
    /// The free direction with the lowest cost: it differs little from the wanted one and from the last one, because a
    /// robot that changes its direction in front of an obstacle never passes it. `None` if no direction is free.
    pub(super) fn direction(&self) -> Option<f64> {
        let look_ahead = LOOK_AHEAD.min(self.distance);
        [MARGIN, MIN_MARGIN].into_iter().find_map(|margin| {
            let radius = ROBOT_RADIUS + margin;
            // The target itself, if the way there is free: for the last centimetres the forces are ignored.
            if self.distance < LOOK_AHEAD
                && free_way(self.places, self.bearing, radius, self.distance) >= self.distance
            {
                return Some(self.bearing);
            }
            let cost = |direction: f64| {
                let change = self.last.map_or(0.0, |last| wrap_angle(direction - last).abs());
                wrap_angle(direction - self.wanted).abs() + CONSTANCY * change
            };
            let half = (std::f64::consts::PI / STEP) as i32;
            let candidates = (1 - half..=half).map(|step| wrap_angle(self.wanted + f64::from(step) * STEP));
            candidates
                .filter(|direction| free_way(self.places, *direction, radius, look_ahead) >= look_ahead)
                .min_by(|a, b| cost(*a).total_cmp(&cost(*b)))
        })
    }

    /// The velocity for a direction: ahead at most `fast`, m/s, limited by the free length, and on the spot if the
    /// direction is out of view.
    pub(super) fn velocity(&self, direction: f64, fast: f64) -> Twist {
        let turn = direction.clamp(-MAX_ANGULAR_VELOCITY, MAX_ANGULAR_VELOCITY);
        if direction.abs() > TURN_ON_SPOT {
            return Twist::new(0.0, turn);
        }
        // While turning, the robot moves in its current direction.
        let free = free_way(self.places, 0.0, ROBOT_RADIUS + MIN_MARGIN, LOOK_AHEAD);
        let ahead = fast.min(free / TIME_TO_STOP).min(self.distance) * direction.cos();
        Twist::new(ahead, turn)
    }
}
