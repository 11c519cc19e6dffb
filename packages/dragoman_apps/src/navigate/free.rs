//! The free direction nearest to the wanted one, and how fast to go there.

use dragoman_geometry::{Twist, wrap_angle};

use super::{MAX_ANGULAR_VELOCITY, ROBOT_RADIUS, TURN_ON_SPOT};

/// Kept between the robot and anything, m.
const MARGIN: f64 = 0.07;
/// Kept where there is no other way, m.
const LEAST_MARGIN: f64 = 0.03;
/// How far ahead a strip has to be free, m.
const LOOK_AHEAD: f64 = 0.9;
/// Directions that are looked at are this far apart, rad.
const STEP: f64 = std::f64::consts::PI / 90.0;
/// What a change of direction costs, beside a difference from the wanted one.
const CONSTANCY: f64 = 0.6;
/// Way that is left to stop at the speed where it is free for less, s.
const TIME_TO_STOP: f64 = 1.2;

/// How far a circle with this radius rolls in the direction before it touches one of the places, m; at most `most`.
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

/// What a choice depends on. Directions are rad from straight ahead, places in the robot's frame, m.
#[derive(Debug, Clone, Copy)]
pub(super) struct Situation<'a> {
    /// What is occupied.
    pub(super) places: &'a [[f64; 2]],
    /// Where the forces point.
    pub(super) wanted: f64,
    /// Where it went last.
    pub(super) last: Option<f64>,
    /// Direction of the target, and how far it is.
    pub(super) bearing: f64,
    pub(super) distance: f64,
}

impl Situation<'_> {
    /// The free direction that costs least: it differs little from the wanted one, and from the last, for a robot that changes its mind
    /// in front of a beacon never passes it. None where nothing is free.
    pub(super) fn direction(&self) -> Option<f64> {
        let look_ahead = LOOK_AHEAD.min(self.distance);
        [MARGIN, LEAST_MARGIN].into_iter().find_map(|margin| {
            let radius = ROBOT_RADIUS + margin;
            // The target itself, where the way there is free: the last centimetres are no matter of forces.
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

    /// The velocity for a direction: ahead at most `fast`, m/s, as far as it is free there, and on the spot where the direction is not in
    /// view.
    pub(super) fn velocity(&self, direction: f64, fast: f64) -> Twist {
        let turn = direction.clamp(-MAX_ANGULAR_VELOCITY, MAX_ANGULAR_VELOCITY);
        if direction.abs() > TURN_ON_SPOT {
            return Twist::new(0.0, turn);
        }
        // It goes where it looks now, while it turns.
        let free = free_way(self.places, 0.0, ROBOT_RADIUS + LEAST_MARGIN, LOOK_AHEAD);
        let ahead = fast.min(free / TIME_TO_STOP).min(self.distance) * direction.cos();
        Twist::new(ahead, turn)
    }
}
