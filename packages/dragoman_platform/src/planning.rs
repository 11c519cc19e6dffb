//! Paths around obstacles: the map's lines, its prohibited areas, the border of its work area, and sensed obstacles.
//!
//! | file | holds |
//! | --- | --- |
//! | this one | [`Ground`], free space of the map; [`Scene`], the same with obstacles: plans, collision checks |
//! | [`field`] | distances to the next obstacle |
//! | `search.rs` | A* on the squares of a field, and straightening of its paths |
//!
//! A plan keeps a circle around the platform free, so that it can turn everywhere. If there is no such path, the
//! planner looks for one with room for the platform facing along it, and checks the whole motion. A goal with less room
//! is approached straight from a place with more, and left straight, too.

pub mod field;
mod search;

use dragoman_geometry::{Point, Pose, Segment, direction, position, wrap_angle};
use dragoman_neobotix::map::Map;

use crate::motion::curve::Curve;
use crate::settings::Settings;
use field::DistanceField;

/// Maximum distance of a platform from its path, m: added to the footprint.
pub(crate) const FOLLOWING: f64 = 0.03;
/// Extent of paths beyond the map, m, if there is no work area.
const BEYOND: f64 = 3.0;
/// Maximum length of a straight path out of a narrow place, or into it, m.
const STRAIGHT_WAY: f64 = 2.0;

/// Planning error, with the planner states of the PlatformCtrl guide, `CMD_GET_STATUS`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The platform cannot leave its pose without a collision.
    #[error("there is no room to leave this place")]
    CollisionStart,
    /// The platform would collide at the goal.
    #[error("there is no room at the goal")]
    CollisionTarget,
    /// There is no path, or finding it takes too long.
    #[error("there is no path to the goal")]
    NoPath,
}

/// A step to a goal.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Turn on the spot into this direction, rad.
    Turn(f64),
    /// Drive along.
    Drive(Curve),
}

/// The free space of a map.
#[derive(Debug, Clone)]
pub struct Ground {
    barriers: DistanceField,
    lines: DistanceField,
}

impl Ground {
    /// The map must have been [checked](Map::check).
    pub fn new(map: &Map, settings: &Settings) -> Self {
        Self {
            barriers: barriers(map, &[], settings),
            lines: DistanceField::new(map.points(), 1.0, &settings.planning, |field| {
                map.lines.iter().for_each(|line| field.mark(line));
            }),
        }
    }

    /// Distance to the next line of the map.
    pub fn lines(&self) -> &DistanceField {
        &self.lines
    }
}

fn barriers(map: &Map, include: &[Point], settings: &Settings) -> DistanceField {
    let points = map.points().chain(include.iter().copied());
    DistanceField::new(points, BEYOND, &settings.planning, |field| {
        map.barriers().for_each(|barrier| field.mark(&barrier));
        map.prohibited.iter().for_each(|area| field.fill(area, true));
        map.workarea.iter().for_each(|area| field.fill(area, false));
    })
}

/// The free space at one time.
#[derive(Debug)]
pub struct Scene<'a> {
    map: &'a Map,
    settings: &'a Settings,
    field: DistanceField,
    obstacles: Vec<Point>,
}

impl<'a> Scene<'a> {
    /// With obstacles at these points of the map, m. The scene covers all points of `include`.
    pub fn new(
        map: &'a Map,
        ground: &Ground,
        obstacles: Vec<Point>,
        include: &[Point],
        settings: &'a Settings,
    ) -> Self {
        let mut field = if include.iter().all(|&point| ground.barriers.covers(point)) {
            ground.barriers.clone()
        } else {
            barriers(map, include, settings)
        };
        let reach = room(settings) + search::COMFORT;
        obstacles.iter().for_each(|&point| field.stamp(point, reach));
        Self { map, settings, field, obstacles }
    }

    /// A path from pose to pose.
    ///
    /// # Errors
    /// No path was found.
    pub fn plan(&self, start: Pose, goal: Pose) -> Result<Vec<Step>, PlanError> {
        let mut steps = Vec::new();
        let (mut from, mut to) = (start, goal);
        if !self.turns_at(start) {
            let (curve, end) = self.way_out(start).ok_or(PlanError::CollisionStart)?;
            steps.push(Step::Drive(curve));
            from = end;
        }
        let approach = if self.turns_at(goal) {
            None
        } else {
            // Drive into the narrow place straight ahead: plan the way out backwards, and reverse it.
            let begin = self.way_in(goal).ok_or(PlanError::CollisionTarget)?;
            to = begin;
            Some(Curve::straight(position(begin), position(goal)))
        };
        let way = self.way(from, position(to)).ok_or(PlanError::NoPath)?;
        steps.extend(way);
        steps.push(Step::Turn(to.heading));
        steps.extend(approach.map(Step::Drive));
        Ok(steps)
    }

    /// A path to a point, with any final direction.
    fn way(&self, start: Pose, goal: Point) -> Option<Vec<Step>> {
        let full = room(self.settings);
        let narrow = self.settings.footprint.side + self.settings.planning.clearance.min(0.1);
        [full, narrow].into_iter().find_map(|room| {
            let points =
                search::way(&self.field, position(start), goal, room, full, &self.settings.planning)?;
            let steps = self.drive(start, &points, true);
            self.is_free(start, &steps).then_some(steps)
        })
    }

    /// The steps along a chain of points, with corners rounded if there is room. With `checked`, corners are rounded
    /// within the free space; without, as far as the settings permit.
    pub fn drive(&self, start: Pose, points: &[Point], checked: bool) -> Vec<Step> {
        let deviation = self.settings.interpolation.corner_deviation;
        let roomy = room(self.settings) - FOLLOWING;
        let curves = Curve::chain(points, deviation, |point| !checked || self.field.distance(point) >= roomy);
        let mut steps = Vec::with_capacity(2 * curves.len());
        let mut looks = start.heading;
        for curve in curves {
            let (Some(begin), Some(end)) = (curve.start(), curve.end()) else {
                continue;
            };
            if wrap_angle(begin.heading - looks).abs() > self.settings.motion.heading_tolerance {
                steps.push(Step::Turn(begin.heading));
            }
            steps.push(Step::Drive(curve));
            looks = end.heading;
        }
        steps
    }

    /// Whether these steps touch no obstacle and enter no prohibited area.
    pub fn is_free(&self, start: Pose, steps: &[Step]) -> bool {
        let mut pose = start;
        steps.iter().all(|step| match step {
            Step::Turn(heading) => {
                let free = self.turn_is_free(pose, *heading);
                pose.heading = *heading;
                free
            }
            Step::Drive(curve) => {
                pose = curve.end().unwrap_or(pose);
                curve.samples().iter().all(|sample| self.stands(curve.pose(sample)))
            }
        })
    }

    /// Whether these steps enter no prohibited area; lines and obstacles are ignored.
    pub fn is_permitted(&self, start: Pose, steps: &[Step]) -> bool {
        let body = self.settings.footprint.grown(FOLLOWING);
        let permitted = |pose| !self.map.forbids(&body.at(pose));
        let mut pose = start;
        steps.iter().all(|step| match step {
            Step::Turn(heading) => {
                let free = turns(pose, *heading).all(permitted);
                pose.heading = *heading;
                free
            }
            Step::Drive(curve) => {
                pose = curve.end().unwrap_or(pose);
                curve.samples().iter().all(|sample| permitted(curve.pose(sample)))
            }
        })
    }

    /// Whether the platform has room at this pose, with a small margin.
    pub fn stands(&self, pose: Pose) -> bool {
        let body = self.settings.footprint.grown(FOLLOWING);
        if self.field.distance(position(pose)) > body.outer_radius() + self.field.tolerance() {
            return true;
        }
        let covered = body.at(pose);
        !self.map.hits_line(&covered)
            && !self.map.forbids(&covered)
            && !self.obstacles.iter().any(|&point| covered.contains(point))
    }

    /// Whether the point has the room that plans keep free.
    pub fn is_roomy(&self, point: Point) -> bool {
        self.field.distance(point) >= room(self.settings) - FOLLOWING
    }

    /// Whether the platform has room at this position in every direction.
    fn turns_at(&self, pose: Pose) -> bool {
        self.turn_is_free(pose, pose.heading + std::f64::consts::PI)
            && self.turn_is_free(pose, pose.heading - std::f64::consts::PI)
    }

    fn turn_is_free(&self, pose: Pose, heading: f64) -> bool {
        turns(pose, heading).all(|pose| self.stands(pose))
    }

    /// Straight out of a narrow place, back or ahead, to a pose where the platform can turn.
    fn way_out(&self, start: Pose) -> Option<(Curve, Pose)> {
        [true, false].into_iter().find_map(|reverse| {
            let end = self.straight_way(start, reverse)?;
            let mut curve = Curve::straight(position(start), position(end));
            curve.reverse = reverse;
            Some((curve, end))
        })
    }

    /// Start of the straight path ahead into a narrow place.
    fn way_in(&self, goal: Pose) -> Option<Pose> {
        self.straight_way(goal, true)
    }

    /// The nearest pose straight behind or ahead where the platform can turn, if the path to it is free.
    fn straight_way(&self, from: Pose, back: bool) -> Option<Pose> {
        let step = self.settings.planning.resolution;
        let along = direction(from.heading) * if back { -step } else { step };
        let mut places = (0..(STRAIGHT_WAY / step) as usize).map(|count| {
            let place = position(from) + along * count as f64;
            Pose::new(place.x, place.y, from.heading)
        });
        places.by_ref().map_while(|pose| self.stands(pose).then_some(pose)).find(|&pose| self.turns_at(pose))
    }

    /// The rest of the chain of points behind its first blocked part, beginning at the first point with room. `ahead`:
    /// progress of the platform along the chain, m.
    pub fn beyond_obstacle(&self, chain: &[Point], ahead: f64) -> Option<Vec<Point>> {
        let step = self.settings.planning.resolution;
        let (mut at, mut blocked) = (0.0, false);
        for (index, segment) in Segment::chain(chain).enumerate() {
            let length = segment.length();
            let count = (length / step).ceil().max(1.0);
            for part in 0..=count as usize {
                let place = segment.at(part as f64 / count);
                let here = at + length * part as f64 / count;
                if here <= ahead {
                    continue;
                }
                let looks = segment.heading();
                let free = self.stands(Pose::new(place.x, place.y, looks));
                blocked |= !free;
                if blocked && free && self.is_roomy(place) {
                    return Some(
                        std::iter::once(place).chain(chain.iter().skip(index + 1).copied()).collect(),
                    );
                }
            }
            at += length;
        }
        None
    }
}

/// Radius of the circle that plans keep free: the turning platform and its safety field.
fn room(settings: &Settings) -> f64 {
    let body = settings.footprint;
    let field =
        (body.front + settings.collision.min_distance).hypot(body.side + settings.collision.side_distance);
    let field = if settings.collision.enabled { field } else { 0.0 };
    (body.outer_radius() + settings.planning.clearance).max(field) + FOLLOWING
}

/// Poses while turning to another direction, the shorter way.
fn turns(pose: Pose, heading: f64) -> impl Iterator<Item = Pose> {
    /// Step between two poses, rad.
    const STEP: f64 = 0.05;
    let turn = wrap_angle(heading - pose.heading);
    let count = (turn.abs() / STEP).ceil().max(1.0);
    (0..=count as usize).map(move |part| Pose { heading: pose.heading + turn * part as f64 / count, ..pose })
}

#[cfg(test)]
mod tests;
