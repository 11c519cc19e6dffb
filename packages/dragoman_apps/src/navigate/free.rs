//! The free direction nearest to the wanted one, and how fast to go there.

use dragoman_base::motion::{Twist, wrap_angle};

use super::{MAX_ANGULAR_VELOCITY, ROBOT_RADIUS, TURN_ON_SPOT};

/// Kept between the robot and anything, m.
const MARGIN: f64 = 0.07;
/// Kept where there is no other way, m.
const LEAST_MARGIN: f64 = 0.03;
/// How far ahead a strip has to be free, m.
const LOOK_AHEAD: f64 = 0.9;
/// Directions that are looked at are this far apart, rad.
const STEP: f64 = std::f64::consts::PI / 90.0;
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

/// The velocity in the direction that is free and nearest to `wanted`, rad from straight ahead; `bearing` and `distance` are the
/// target's, m. `places` are in the robot's frame.
pub(super) fn steer(places: &[[f64; 2]], wanted: f64, bearing: f64, distance: f64, fast: f64) -> Twist {
    let look_ahead = LOOK_AHEAD.min(distance);
    let direction = [MARGIN, LEAST_MARGIN].into_iter().find_map(|margin| {
        let radius = ROBOT_RADIUS + margin;
        // The target itself, where the way there is free: the last centimetres are no matter of forces.
        if distance < LOOK_AHEAD && free_way(places, bearing, radius, distance) >= distance {
            return Some(bearing);
        }
        let steps = (std::f64::consts::PI / STEP) as i32;
        let candidates = (0..=steps)
            .flat_map(|step| [1.0, -1.0].map(|side| wrap_angle(wanted + side * f64::from(step) * STEP)));
        candidates
            .into_iter()
            .find(|direction| free_way(places, *direction, radius, look_ahead) >= look_ahead)
    });
    let Some(direction) = direction else {
        // Nothing is free: look round.
        return Twist::new(0.0, MAX_ANGULAR_VELOCITY / 2.0);
    };
    let turn = direction.clamp(-MAX_ANGULAR_VELOCITY, MAX_ANGULAR_VELOCITY);
    if direction.abs() > TURN_ON_SPOT {
        return Twist::new(0.0, turn);
    }
    // It goes where it looks now, while it turns.
    let free = free_way(places, 0.0, ROBOT_RADIUS + LEAST_MARGIN, LOOK_AHEAD);
    let ahead = fast.min(free / TIME_TO_STOP).min(distance) * direction.cos();
    Twist::new(ahead, turn)
}
