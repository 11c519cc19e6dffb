//! Ways round what is in the way: the map's lines, its prohibited areas, the rim of its work area, and what the sensors have seen.
//!
//! | file | holds |
//! | --- | --- |
//! | this one | [`Ground`], what the map leaves free; [`Scene`], the same with obstacles: plans, and whether a motion touches anything |
//! | [`field`] | how far it is to the next obstacle, everywhere |
//! | `search.rs` | A* on the squares of a field, and making its ways straight |
//!
//! A plan keeps a circle about the platform free, so that it can turn everywhere. Where there is no such way, it looks for one that leaves room
//! for the platform looking along it, and checks the whole motion. A goal that has less room is driven to straight from where there is more,
//! and left straight, too.

pub mod field;
mod search;

use dragoman_geometry::{Point, Pose, Segment, direction, heading, position, wrap_angle};
use dragoman_neobotix::map::Map;

use crate::motion::curve::Curve;
use crate::settings::Settings;
use field::DistanceField;

/// How far a platform may be from its path, m: what is kept free on top of what it covers.
pub(crate) const FOLLOWING: f64 = 0.03;
/// How far beyond the map there may be ways, m, where there is no work area.
const BEYOND: f64 = 3.0;
/// How far straight out of a narrow place, or into it, m.
const STRAIGHT_WAY: f64 = 2.0;

/// Why there is no plan; the planner's states of seed 002, `CMD_GET_STATUS`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The platform cannot leave where it stands without touching something.
    #[error("there is no room to leave this place")]
    CollisionStart,
    /// The platform would touch something at the goal.
    #[error("there is no room at the goal")]
    CollisionTarget,
    /// There is no way from here to there, or it takes too long to find.
    #[error("there is no way to the goal")]
    NoPath,
}

/// Something to be done on the way to a goal.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Turn on the spot into this direction, rad.
    Turn(f64),
    /// Drive along.
    Drive(Curve),
}

/// What a map leaves free, for as long as it is the map.
#[derive(Debug, Clone)]
pub struct Ground {
    barriers: DistanceField,
    lines: DistanceField,
}

impl Ground {
    /// Of a map that was [checked](Map::check).
    pub fn new(map: &Map, settings: &Settings) -> Self {
        Self {
            barriers: barriers(map, &[], settings),
            lines: DistanceField::new(map.points(), 1.0, &settings.planning, |field| {
                map.lines.iter().for_each(|line| field.mark(line));
            }),
        }
    }

    /// How far it is to the next line of the map.
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

/// What is free at one time.
#[derive(Debug)]
pub struct Scene<'a> {
    map: &'a Map,
    settings: &'a Settings,
    field: DistanceField,
    obstacles: Vec<Point>,
}

impl<'a> Scene<'a> {
    /// With obstacles at these points of the map, m. All of `include` lies within the scene.
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

    /// A way from pose to pose.
    ///
    /// # Errors
    /// There is none, and why.
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
            // Into it straight ahead: the way out backwards, the other way round.
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

    /// A way to a place, in whatever direction the platform looks there.
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

    /// What there is to do to drive along a chain of points, with corners rounded where there is room. With `checked`, room is what a plan
    /// leaves free; without, corners are rounded as the settings say.
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

    /// Whether nothing is touched, and nothing prohibited entered, all along these steps.
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

    /// Whether the map forbids nothing, all along these steps; lines and obstacles do not count.
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

    /// Whether the platform can be there, with a little room about it.
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

    /// Whether the place has the room that plans keep free.
    pub fn is_roomy(&self, point: Point) -> bool {
        self.field.distance(point) >= room(self.settings) - FOLLOWING
    }

    /// Whether the platform can be there, in every direction.
    fn turns_at(&self, pose: Pose) -> bool {
        self.turn_is_free(pose, pose.heading + std::f64::consts::PI)
            && self.turn_is_free(pose, pose.heading - std::f64::consts::PI)
    }

    fn turn_is_free(&self, pose: Pose, heading: f64) -> bool {
        turns(pose, heading).all(|pose| self.stands(pose))
    }

    /// Straight out of a narrow place, back or ahead, to where the platform can turn.
    fn way_out(&self, start: Pose) -> Option<(Curve, Pose)> {
        [true, false].into_iter().find_map(|reverse| {
            let end = self.straight_way(start, reverse)?;
            let mut curve = Curve::straight(position(start), position(end));
            curve.reverse = reverse;
            Some((curve, end))
        })
    }

    /// Where the straight way ahead into a narrow place begins.
    fn way_in(&self, goal: Pose) -> Option<Pose> {
        self.straight_way(goal, true)
    }

    /// The nearest place straight behind or ahead where the platform can turn, if nothing is in between.
    fn straight_way(&self, from: Pose, back: bool) -> Option<Pose> {
        let step = self.settings.planning.resolution;
        let along = direction(from.heading) * if back { -step } else { step };
        let mut places = (0..(STRAIGHT_WAY / step) as usize).map(|count| {
            let place = position(from) + along * count as f64;
            Pose::new(place.x, place.y, from.heading)
        });
        places.by_ref().map_while(|pose| self.stands(pose).then_some(pose)).find(|&pose| self.turns_at(pose))
    }

    /// The chain of points behind the first part of it where the platform has no room, from a place where it has; that place and the rest.
    /// `ahead`: how far the platform has already come along the chain, m.
    pub fn beyond_obstacle(&self, chain: &[Point], ahead: f64) -> Option<Vec<Point>> {
        let step = self.settings.planning.resolution;
        let (mut at, mut blocked) = (0.0, false);
        for (index, pair) in chain.windows(2).enumerate() {
            let segment = Segment::new(pair[0], pair[1]);
            let length = segment.length();
            let count = (length / step).ceil().max(1.0);
            for part in 0..=count as usize {
                let place = segment.at(part as f64 / count);
                let here = at + length * part as f64 / count;
                if here <= ahead {
                    continue;
                }
                let looks = heading(pair[0], pair[1]);
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

/// Radius of the circle that plans keep free: the platform turning, and its safety field.
fn room(settings: &Settings) -> f64 {
    let body = settings.footprint;
    let field =
        (body.front + settings.collision.min_distance).hypot(body.side + settings.collision.side_distance);
    let field = if settings.collision.enabled { field } else { 0.0 };
    (body.outer_radius() + settings.planning.clearance).max(field) + FOLLOWING
}

/// Poses on the way to looking into another direction, the shorter way round.
fn turns(pose: Pose, heading: f64) -> impl Iterator<Item = Pose> {
    /// rad.
    const STEP: f64 = 0.05;
    let turn = wrap_angle(heading - pose.heading);
    let count = (turn.abs() / STEP).ceil().max(1.0);
    (0..=count as usize).map(move |part| Pose { heading: pose.heading + turn * part as f64 / count, ..pose })
}

#[cfg(test)]
mod tests;
