//! The platform's map: lines that its laser sees, areas that it must not enter or leave, stations and the paths between
//! them (PlatformCtrl guide, 6.5). Metres and radians, in the frame `map`.

use std::collections::BinaryHeap;

use dragoman_geometry::Pose;

use dragoman_geometry::{Point, Polygon, Segment, is_finite, position};
use dragoman_text::{excerpt, hint};

/// Maximum distance from the origin, m.
pub const MAX_COORDINATE: f64 = 100_000.0;

/// A map. All parts may be empty: then there are no obstacles, and localization is not possible.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Map {
    /// Lines that a laser sees: `line`, `linemapped`.
    pub lines: Vec<Segment>,
    /// Areas that the platform must not enter: `prohibit`.
    pub prohibited: Vec<Polygon>,
    /// The area that it must not leave: `workarea`.
    pub workarea: Option<Polygon>,
}

/// Error in a map or a roadmap.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MapError {
    /// A coordinate is NaN, infinite, or too far away.
    #[error("{part} {index} is not within {MAX_COORDINATE} m of the origin")]
    OutOfRange {
        /// "line", "prohibited area", ...
        part: &'static str,
        /// Index of the part, from 0.
        index: usize,
    },
    /// Two stations have the same name or identifier.
    #[error("there are two stations called {:?}", excerpt(.0))]
    TwoStations(String),
    /// An edge has an unknown station.
    #[error("edge {edge} refers to the unknown station {:?}", excerpt(.station))]
    UnknownStation {
        /// Index of the edge, from 0.
        edge: usize,
        /// The station's identifier.
        station: String,
    },
}

fn within(points: &[Point]) -> bool {
    points.iter().all(|point| point.coords.amax() <= MAX_COORDINATE && is_finite(point))
}

impl Map {
    /// Checks that all coordinates are in range.
    ///
    /// # Errors
    /// The first part that is out of range.
    pub fn check(&self) -> Result<(), MapError> {
        let lines = self.lines.iter().map(|line| within(&[line.a, line.b]));
        let prohibited = self.prohibited.iter().map(|area| within(area.corners()));
        let workarea = self.workarea.iter().map(|area| within(area.corners()));
        let parts = lines.enumerate().map(|(index, fits)| ("line", index, fits));
        let parts = parts.chain(prohibited.enumerate().map(|(index, fits)| ("prohibited area", index, fits)));
        let mut parts = parts.chain(workarea.enumerate().map(|(index, fits)| ("work area", index, fits)));
        match parts.find(|(_, _, fits)| !fits) {
            Some((part, index, _)) => Err(MapError::OutOfRange { part, index }),
            None => Ok(()),
        }
    }

    /// All corners and ends.
    pub fn points(&self) -> impl Iterator<Item = Point> + '_ {
        let areas = self.prohibited.iter().chain(&self.workarea);
        let corners = areas.flat_map(|area| area.corners().iter().copied());
        self.lines.iter().flat_map(|line| [line.a, line.b]).chain(corners)
    }

    /// All lines that a platform must not touch: those of the map, and the borders of its areas.
    pub fn barriers(&self) -> impl Iterator<Item = Segment> + '_ {
        let areas = self.prohibited.iter().chain(&self.workarea);
        self.lines.iter().copied().chain(areas.flat_map(Polygon::edges))
    }

    /// Whether a platform with this footprint touches a line.
    pub fn hits_line(&self, covered: &Polygon) -> bool {
        self.lines
            .iter()
            .any(|line| covered.contains(line.a) || covered.edges().any(|edge| edge.crosses(line)))
    }

    /// Whether a platform with this footprint is in a prohibited area, or not completely in the work area.
    pub fn forbids(&self, covered: &Polygon) -> bool {
        self.prohibited.iter().any(|area| area.overlaps(covered))
            || self.workarea.as_ref().is_some_and(|area| {
                let leaves = || area.edges().any(|edge| covered.edges().any(|side| side.crosses(&edge)));
                covered.corners().iter().any(|&corner| !area.contains(corner)) || leaves()
            })
    }
}

/// A named target pose.
#[derive(Debug, Clone, PartialEq)]
pub struct Station {
    /// Identifier used by edges.
    pub id: String,
    /// Name used by `CMD_MOVE_TO_STATION`.
    pub name: String,
    /// Pose of the platform at the station.
    pub pose: Pose,
}

/// A path from one station to another, in this direction only.
#[derive(Debug, Clone, PartialEq)]
pub struct Edge {
    /// Identifier of its first station.
    pub start: String,
    /// Identifier of its last station.
    pub end: String,
    /// Intermediate points, in order.
    pub points: Vec<Point>,
}

/// Stations and the paths between them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Roadmap {
    /// Stations with unique identifiers and names.
    pub stations: Vec<Station>,
    /// Paths between these stations.
    pub edges: Vec<Edge>,
}

/// Error finding a path to a station.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RouteError {
    /// The station does not exist.
    #[error("there is no station {:?} in the roadmap{hint}", excerpt(.name))]
    UnknownStation {
        /// The requested name.
        name: String,
        /// The end of the sentence: a similar station, or all stations.
        hint: String,
    },
    /// No edges lead to it from the nearest point of the roadmap.
    #[error("no path on the roadmap leads from here to {:?}", excerpt(.0))]
    Unreachable(String),
}

impl Roadmap {
    /// Checks that stations are unique, the stations of all edges exist, and all coordinates are in range.
    ///
    /// # Errors
    /// The first error.
    pub fn check(&self) -> Result<(), MapError> {
        for (index, station) in self.stations.iter().enumerate() {
            if !(within(&[position(station.pose)]) && station.pose.is_finite()) {
                return Err(MapError::OutOfRange { part: "station", index });
            }
            let before = self.stations.iter().take(index);
            if before.into_iter().any(|other| other.id == station.id || other.name == station.name) {
                return Err(MapError::TwoStations(station.name.clone()));
            }
        }
        for (edge, Edge { start, end, points }) in self.edges.iter().enumerate() {
            if let Some(station) = [start, end].into_iter().find(|id| self.index(id).is_none()) {
                return Err(MapError::UnknownStation { edge, station: station.clone() });
            }
            if !within(points) {
                return Err(MapError::OutOfRange { part: "edge", index: edge });
            }
        }
        Ok(())
    }

    /// The station with this name, or else with this identifier.
    pub fn station(&self, name: &str) -> Option<&Station> {
        let named = self.stations.iter().find(|station| station.name == name);
        named.or_else(|| self.stations.iter().find(|station| station.id == name))
    }

    /// The shortest path on the roadmap to a station, from the point of the roadmap nearest to `from`: on a station, or
    /// on an edge, which is left at its end only. The first pose is at that point; the last one is the station's.
    ///
    /// # Errors
    /// The station does not exist, or cannot be reached.
    #[expect(clippy::indexing_slicing, reason = "indices of stations, each with its cost")]
    pub fn route(&self, from: Point, name: &str) -> Result<Vec<Pose>, RouteError> {
        let goal = self.station(name).ok_or_else(|| self.no_station(name))?;
        let ways: Vec<Vec<Point>> = self.edges.iter().map(|edge| self.way(edge)).collect();
        let lengths: Vec<f64> = ways.iter().map(|way| length(way)).collect();
        let to_goal = self.costs_to(self.index(&goal.id).unwrap_or_default(), &lengths);

        // All points of entry: distance from here, remaining cost, and the path to the next station.
        let stations = self.stations.iter().zip(&to_goal).enumerate();
        let mut entries: Vec<(f64, f64, usize, Vec<Point>)> = stations
            .map(|(index, (station, &cost))| {
                let place = position(station.pose);
                ((place - from).norm(), cost, index, vec![place])
            })
            .collect();
        for (edge, way) in self.edges.iter().zip(&ways) {
            if let Some((distance, rest)) = enter(way, from)
                && let Some(end) = self.index(&edge.end)
            {
                entries.push((distance, length(&rest) + to_goal[end], end, rest));
            }
        }
        let nearest = entries.iter().map(|entry| entry.0).fold(f64::INFINITY, f64::min);
        // Edges in both directions may coincide; differences of a millimetre are ignored.
        entries.retain(|entry| entry.0 <= nearest + 1e-3);
        let entry = entries.into_iter().min_by(|a, b| a.1.total_cmp(&b.1));
        let Some((_, cost, mut at, mut points)) = entry.filter(|entry| entry.1.is_finite()) else {
            return Err(RouteError::Unreachable(name.to_owned()));
        };
        debug_assert!(cost >= 0.0);
        while self.stations[at].id != goal.id {
            let next = self.edges.iter().zip(&ways).zip(&lengths).filter_map(|((edge, way), &length)| {
                let end = self.index(&edge.end)?;
                (edge.start == self.stations[at].id).then_some((end, way, length + to_goal[end]))
            });
            let Some((end, way, _)) = next.min_by(|a, b| a.2.total_cmp(&b.2)) else {
                return Err(RouteError::Unreachable(name.to_owned()));
            };
            points.extend(way.iter().skip(1));
            at = end;
        }
        points.dedup_by(|a, b| (*a - *b).norm() < 1e-6);
        let headings = Segment::chain(&points).map(|segment| segment.heading());
        let headings = headings.chain([goal.pose.heading]);
        Ok(points.iter().zip(headings).map(|(point, heading)| Pose::new(point.x, point.y, heading)).collect())
    }

    fn no_station(&self, name: &str) -> RouteError {
        let hint = hint(name, self.stations.iter().map(|station| station.name.as_str()));
        RouteError::UnknownStation { name: name.to_owned(), hint }
    }

    fn index(&self, id: &str) -> Option<usize> {
        self.stations.iter().position(|station| station.id == id)
    }

    /// All points of an edge including its stations.
    fn way(&self, edge: &Edge) -> Vec<Point> {
        let place = |id: &str| {
            self.stations.iter().find(|station| station.id == id).map(|station| position(station.pose))
        };
        place(&edge.start).into_iter().chain(edge.points.iter().copied()).chain(place(&edge.end)).collect()
    }

    /// Dijkstra's algorithm, backwards from the goal: cost from each station, m; infinite if the goal cannot be
    /// reached.
    #[expect(clippy::indexing_slicing, reason = "indices of stations, each with its cost")]
    fn costs_to(&self, goal: usize, lengths: &[f64]) -> Vec<f64> {
        let mut costs = vec![f64::INFINITY; self.stations.len()];
        let mut open = BinaryHeap::new();
        if let Some(cost) = costs.get_mut(goal) {
            *cost = 0.0;
            open.push(Node { cost: 0.0, index: goal });
        }
        while let Some(Node { cost, index }) = open.pop() {
            if cost > costs[index] {
                continue;
            }
            for (edge, length) in self.edges.iter().zip(lengths) {
                if edge.end == self.stations[index].id
                    && let Some(start) = self.index(&edge.start)
                    && cost + length < costs[start]
                {
                    costs[start] = cost + length;
                    open.push(Node { cost: costs[start], index: start });
                }
            }
        }
        costs
    }
}

/// A node of a search; the one with the lowest cost is the first in a [`BinaryHeap`].
#[derive(Debug, Clone, Copy)]
pub struct Node {
    /// Cost of the path to it.
    pub cost: f64,
    /// Index of the node.
    pub index: usize,
}

impl Ord for Node {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        other.cost.total_cmp(&self.cost).then(other.index.cmp(&self.index))
    }
}

impl PartialOrd for Node {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Node {}

/// Length of a chain of points, m.
pub(crate) fn length(points: &[Point]) -> f64 {
    Segment::chain(points).map(|segment| segment.length()).sum()
}

/// Distance to the nearest point of a chain, and the chain from there.
fn enter(way: &[Point], from: Point) -> Option<(f64, Vec<Point>)> {
    let parts = Segment::chain(way).enumerate().map(|(index, segment)| {
        let place = segment.at(segment.nearest_part(from));
        ((place - from).norm(), index, place)
    });
    let (distance, index, place) = parts.min_by(|a, b| a.0.total_cmp(&b.0))?;
    Some((distance, std::iter::once(place).chain(way.iter().skip(index + 1).copied()).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn station(name: &str, x: f64, y: f64) -> Station {
        Station { id: format!("id_{name}"), name: name.to_owned(), pose: Pose::new(x, y, 1.0) }
    }

    fn edge(start: &str, end: &str, points: &[[f64; 2]]) -> Edge {
        let points = points.iter().map(|&point| Point::from(point)).collect();
        Edge { start: format!("id_{start}"), end: format!("id_{end}"), points }
    }

    /// A square with a detour: a - b - c - d, one way round, and a curved short cut from a to c.
    fn roadmap() -> Roadmap {
        Roadmap {
            stations: vec![
                station("a", 0.0, 0.0),
                station("b", 4.0, 0.0),
                station("c", 4.0, 4.0),
                station("d", 0.0, 4.0),
                station("alone", 20.0, 20.0),
            ],
            edges: vec![
                edge("a", "b", &[]),
                edge("b", "c", &[]),
                edge("c", "d", &[[2.0, 5.0]]),
                edge("d", "a", &[]),
                edge("a", "c", &[[1.0, 2.0]]),
            ],
        }
    }

    fn places(route: &[Pose]) -> Vec<[f64; 2]> {
        route.iter().map(|pose| [pose.x, pose.y]).collect()
    }

    #[test]
    fn routes_are_the_shortest_and_keep_to_one_ways() {
        let roadmap = roadmap();
        roadmap.check().unwrap();
        // The curved path is shorter than that around the corner.
        let route = roadmap.route(Point::new(-1.0, -1.0), "c").unwrap();
        assert_eq!(places(&route), [[0.0, 0.0], [1.0, 2.0], [4.0, 4.0]]);
        assert_eq!(route[2].heading, 1.0);
        assert_eq!(route[0].heading, 2.0_f64.atan2(1.0));
        // In the middle of an edge: forward to its end, never back.
        let route = roadmap.route(Point::new(3.0, -0.2), "a").unwrap();
        assert_eq!(places(&route), [[3.0, 0.0], [4.0, 0.0], [4.0, 4.0], [2.0, 5.0], [0.0, 4.0], [0.0, 0.0]]);
        // Already there.
        assert_eq!(places(&roadmap.route(Point::new(4.1, 4.1), "c").unwrap()), [[4.0, 4.0]]);
    }

    #[test]
    fn both_directions_of_a_path_are_checked() {
        let mut roadmap = roadmap();
        roadmap.edges = vec![edge("a", "b", &[]), edge("b", "a", &[])];
        for (goal, x) in [("a", 0.0), ("b", 4.0)] {
            let route = roadmap.route(Point::new(1.0, 0.5), goal).unwrap();
            assert_eq!(places(&route), [[1.0, 0.0], [x, 0.0]]);
        }
    }

    #[test]
    fn unreachable_stations_are_reported() {
        let roadmap = roadmap();
        for (name, words) in [
            ("alnoe", "there is no station \"alnoe\" in the roadmap; did you mean 'alone'?"),
            ("kitchen", "there is no station \"kitchen\" in the roadmap; known: a, b, c, d, alone"),
        ] {
            assert_eq!(roadmap.route(Point::origin(), name).unwrap_err().to_string(), words);
        }
        // However long the names are.
        let mut long = roadmap.clone();
        long.stations.iter_mut().for_each(|station| station.name = station.name.repeat(100_000));
        assert!(long.route(Point::origin(), &"x".repeat(100_000)).unwrap_err().to_string().len() < 1000);
        let unreachable = RouteError::Unreachable("alone".to_owned());
        assert_eq!(roadmap.route(Point::origin(), "alone"), Err(unreachable));
        assert_eq!(roadmap.route(Point::new(20.0, 20.0), "alone").unwrap().len(), 1);
    }

    #[test]
    fn roadmaps_and_maps_are_checked() {
        let mut wrong = roadmap();
        wrong.edges.push(edge("a", "nowhere", &[]));
        let station = "id_nowhere".to_owned();
        assert_eq!(wrong.check(), Err(MapError::UnknownStation { edge: 5, station }));
        let mut wrong = roadmap();
        wrong.stations.push(self::station("b", 9.0, 9.0));
        assert_eq!(wrong.check(), Err(MapError::TwoStations("b".to_owned())));
        let line = Segment::new(Point::origin(), Point::new(f64::INFINITY, 0.0));
        let map = Map { lines: vec![line], ..Map::default() };
        assert_eq!(map.check(), Err(MapError::OutOfRange { part: "line", index: 0 }));
    }

    #[test]
    fn a_map_forbids_what_is_prohibited_or_outside() {
        let square = |from: f64, to: f64| {
            let corners = [[from, from], [to, from], [to, to], [from, to]];
            Polygon::new(corners.map(Point::from).to_vec()).unwrap()
        };
        let map =
            Map { prohibited: vec![square(4.0, 5.0)], workarea: Some(square(0.0, 10.0)), lines: vec![] };
        assert!(!map.forbids(&square(1.0, 2.0)) && !map.hits_line(&square(1.0, 2.0)));
        assert!(
            map.forbids(&square(4.4, 4.6))
                && map.forbids(&square(3.0, 6.0))
                && map.forbids(&square(3.0, 4.5))
        );
        assert!(map.forbids(&square(-1.0, 1.0)) && map.forbids(&square(-3.0, -2.0)));
    }
}
