//! A* on the squares of a distance field, and straightening of its paths.

use std::collections::BinaryHeap;

use dragoman_geometry::Point;
use dragoman_neobotix::map::Node;

use super::field::DistanceField;
use crate::settings::PlanningSettings;

/// Paths with less than this additional room cost more, m.
pub(super) const COMFORT: f64 = 0.3;
/// Maximum additional cost factor.
const DISCOMFORT: f64 = 1.0;
/// Distance from the ends of a path where less room is permitted, m.
const ENDS: f64 = 1.0;

/// Required room along a path.
struct Need<'a> {
    field: &'a DistanceField,
    room: f64,
    /// The ends of the path with their available room.
    ends: [(Point, f64); 2],
}

impl Need<'_> {
    fn is_met(&self, point: Point, distance: f64) -> bool {
        let least = |&(end, room): &(Point, f64)| (point - end).norm() < ENDS && distance >= room;
        distance >= self.room || self.ends.iter().any(least)
    }

    /// The minimum room on the straight line, if the requirement is met everywhere.
    fn sight(&self, from: Point, to: Point) -> Option<f64> {
        let count = ((to - from).norm() / self.field.resolution() * 2.0).ceil().max(1.0);
        (0..=count as usize).try_fold(f64::INFINITY, |least, part| {
            let place = from + (to - from) * (part as f64 / count);
            let distance = if self.field.covers(place) { self.field.distance(place) } else { 0.0 };
            self.is_met(place, distance).then(|| least.min(distance))
        })
    }
}

/// A path with at least this much room, m, from point to point; it keeps a distance of `full` and a little more from
/// obstacles if possible. Near its ends the room may be as small as at the ends.
pub(super) fn way(
    field: &DistanceField,
    start: Point,
    goal: Point,
    room: f64,
    full: f64,
    settings: &PlanningSettings,
) -> Option<Vec<Point>> {
    let (first, last) = (field.square(start)?, field.square(goal)?);
    // The squares around an end may have a little less room than the end itself.
    let end = |point: Point| (point, room.min(field.distance(point) - field.tolerance()));
    let need = Need { field, room, ends: [end(start), end(goal)] };
    let chain = search(field, &need, [first, last], full, settings)?;
    let mut points: Vec<Point> = chain.into_iter().map(|square| field.middle(square)).collect();
    *points.first_mut()? = start;
    *points.last_mut()? = goal;
    if points.len() < 2 {
        points = vec![start, goal];
    }
    Some(straighten(&points, &need, full))
}

fn search(
    field: &DistanceField,
    need: &Need<'_>,
    [first, last]: [usize; 2],
    full: f64,
    settings: &PlanningSettings,
) -> Option<Vec<usize>> {
    const UNSEEN: u32 = u32::MAX;
    let (width, distances) = (field.width(), field.distances());
    let height = distances.len() / width.max(1);
    let place = |square: usize| (square % width, square / width);
    let (goal_x, goal_y) = place(last);
    let estimate = |square: usize| {
        let (x, y) = place(square);
        let (dx, dy) = (x.abs_diff(goal_x) as f64, y.abs_diff(goal_y) as f64);
        dx.max(dy) + (std::f64::consts::SQRT_2 - 1.0) * dx.min(dy)
    };
    let mut costs = vec![f32::INFINITY; distances.len()];
    let mut parents = vec![UNSEEN; distances.len()];
    let mut closed = vec![false; distances.len()];
    let mut open = BinaryHeap::new();
    costs[first] = 0.0;
    open.push(Node { cost: estimate(first), index: first });
    let mut expansions = 0;
    while let Some(Node { index, .. }) = open.pop() {
        if index == last {
            let before = |&square: &usize| (square != first).then(|| parents[square] as usize);
            let mut chain: Vec<usize> = std::iter::successors(Some(last), before).collect();
            chain.reverse();
            return Some(chain);
        }
        if std::mem::replace(&mut closed[index], true) {
            continue;
        }
        expansions += 1;
        if expansions > settings.max_expansions {
            return None;
        }
        let (x, y) = place(index);
        for (dx, dy) in [(-1, 0), (1, 0), (0, -1), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)] {
            let (Some(x), Some(y)) = (x.checked_add_signed(dx), y.checked_add_signed(dy)) else {
                continue;
            };
            if x >= width || y >= height {
                continue;
            }
            let next = y * width + x;
            let distance = f64::from(distances[next]);
            if closed[next] || !need.is_met(field.middle(next), distance) {
                continue;
            }
            let length = if dx != 0 && dy != 0 { std::f64::consts::SQRT_2 } else { 1.0 };
            let discomfort = DISCOMFORT * ((full + COMFORT - distance) / COMFORT).clamp(0.0, 3.0);
            let cost = costs[index] + (length * (1.0 + discomfort)) as f32;
            if cost < costs[next] {
                costs[next] = cost;
                parents[next] = index as u32;
                open.push(Node { cost: f64::from(cost) + estimate(next), index: next });
            }
        }
    }
    None
}

/// Removes unnecessary points: connects each point with the farthest visible one. A straight line never has less room
/// than the part that it replaces, up to `full`: narrow places are still passed in their middle.
fn straighten(points: &[Point], need: &Need<'_>, full: f64) -> Vec<Point> {
    let room = |point: Point| need.field.distance(point).min(full);
    let mut straight = vec![points[0]];
    let mut at = 0;
    while at + 1 < points.len() {
        // Exponential, then binary search: paths are long, and squares small.
        let sees = |to: usize| {
            let least = points[at..=to].iter().map(|&point| room(point)).fold(full, f64::min);
            let seen = need.sight(points[at], points[to]);
            to == at + 1 || seen.is_some_and(|seen| seen >= least - need.field.tolerance() / 2.0)
        };
        let mut reach = 1;
        while at + reach < points.len() && sees(at + reach) {
            reach *= 2;
        }
        let (mut seen, mut unseen) = (at + reach / 2, (at + reach).min(points.len()));
        seen = seen.max(at + 1);
        if at + reach >= points.len() && sees(points.len() - 1) {
            seen = points.len() - 1;
        } else {
            while unseen - seen > 1 {
                let middle = usize::midpoint(seen, unseen);
                if sees(middle) { seen = middle } else { unseen = middle }
            }
        }
        straight.push(points[seen]);
        at = seen;
    }
    straight
}
