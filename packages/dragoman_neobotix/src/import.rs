//! Converts documents to the controller's types: millimetres and degrees to metres and radians.

use std::f64::consts::TAU;

use dragoman_geometry::{Point, Polygon, Pose, Segment};

use crate::documents::{MapItem, PointElement};
use crate::{documents, map};

/// Number of sides of a polygon that approximates a circle.
const CIRCLE_SIDES: u32 = 24;

impl From<&documents::Map> for map::Map {
    /// Everything that the laser sees is a line: lines, mapped lines, reflectors, and circles as polygons. Auxiliary
    /// lines and hidden items are omitted; they are for users.
    fn from(document: &documents::Map) -> Self {
        let mut map = Self::default();
        for item in document.layers.iter().flat_map(|layer| &layer.items) {
            match item {
                MapItem::Line(line) => map.lines.push(segment(&line.points)),
                MapItem::MappedLine(line) => map.lines.push(segment(&line.points)),
                MapItem::Reflector(line) => map.lines.push(segment(&line.points)),
                MapItem::Circle(circle) => {
                    let (center, radius) =
                        (metres(circle.center.x_mm, circle.center.y_mm), circle.radius.r_mm / 1000.0);
                    let corner = |side: u32| {
                        let (sin, cos) = (f64::from(side) * TAU / f64::from(CIRCLE_SIDES)).sin_cos();
                        Point::new(center.x + radius * cos, center.y + radius * sin)
                    };
                    map.lines
                        .extend((0..CIRCLE_SIDES).map(|side| Segment::new(corner(side), corner(side + 1))));
                }
                MapItem::Prohibited(area) => map.prohibited.extend(polygon(&area.points)),
                MapItem::Workarea(area) => map.workarea = polygon(&area.points),
                MapItem::AuxiliaryLine(_)
                | MapItem::MappedAuxiliaryLine(_)
                | MapItem::HiddenPolygon(_)
                | MapItem::HiddenLabel(_)
                | MapItem::Unknown(_) => {}
            }
        }
        map
    }
}

impl From<&documents::Roadmap> for map::Roadmap {
    fn from(document: &documents::Roadmap) -> Self {
        let station = |station: &documents::Station| {
            let Point { coords, .. } = metres(station.point.x_mm, station.point.y_mm);
            map::Station {
                id: station.id.clone(),
                name: station.name.clone(),
                pose: Pose::new(coords.x, coords.y, station.angle_deg.to_radians()),
            }
        };
        let edge = |edge: &documents::Edge| map::Edge {
            start: edge.start_station.clone(),
            end: edge.end_station.clone(),
            points: edge.way().map(|point| metres(point.x_mm, point.y_mm)).collect(),
        };
        Self {
            stations: document.stations.stations.iter().map(station).collect(),
            edges: document.edges.edges.iter().map(edge).collect(),
        }
    }
}

fn metres(x_mm: f64, y_mm: f64) -> Point {
    Point::new(x_mm / 1000.0, y_mm / 1000.0)
}

fn segment([a, b]: &[PointElement; 2]) -> Segment {
    Segment::new(metres(a.x_mm, a.y_mm), metres(b.x_mm, b.y_mm))
}

/// A checked document has areas with at least three corners.
fn polygon(points: &[PointElement]) -> Option<Polygon> {
    Polygon::new(points.iter().map(|point| metres(point.x_mm, point.y_mm)).collect()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::Document;

    const MAP: &str = r#"<map Version="1.0"><layer index="0">
        <workarea><point x="0" y="0"/><point x="9000" y="0"/><point x="9000" y="9000"/></workarea>
        <line><point x="1000" y="0"/><point x="2000" y="500"/></line>
        <auxline><point x="1" y="0"/><point x="2" y="5"/></auxline>
        <linemapped><point x="0" y="0"/><point x="0" y="-1500"/></linemapped>
        <circle><center x="3000" y="2000"/><radius r="200"/></circle>
        <prohibit><point x="0" y="0"/><point x="100" y="0"/><point x="100" y="100"/></prohibit>
        <hiddenlabel text="door"><point x="0" y="0"/></hiddenlabel>
    </layer></map>"#;

    #[test]
    fn maps_are_metres() {
        let document = documents::Map::read(MAP.as_bytes()).unwrap();
        let map = map::Map::from(&document);
        assert_eq!(map.lines[0], Segment::new(Point::new(1.0, 0.0), Point::new(2.0, 0.5)));
        assert_eq!(map.lines.len(), 2 + 24);
        let around =
            map.lines[2..].iter().all(|side| ((side.a - Point::new(3.0, 2.0)).norm() - 0.2).abs() < 1e-9);
        assert!(around && map.prohibited.len() == 1 && map.workarea.is_some());
        map.check().unwrap();
    }

    #[test]
    fn roadmaps_are_metres_and_radians() {
        let text = r#"<roadmap><stations>
            <station id="s1" name="door" angle="-90"><point x="1500" y="-250"/></station>
            <station id="s2" name="desk" angle="180"><point x="0" y="0"/></station>
        </stations><edges>
            <edge startstation="s1" endstation="s2"><points><point x="700" y="0"/></points></edge>
        </edges></roadmap>"#;
        let roadmap = map::Roadmap::from(&documents::Roadmap::read(text.as_bytes()).unwrap());
        roadmap.check().unwrap();
        let door = roadmap.station("door").unwrap();
        assert_eq!(door.pose, Pose::new(1.5, -0.25, -std::f64::consts::FRAC_PI_2));
        assert_eq!(roadmap.edges[0].points, [Point::new(0.7, 0.0)]);
    }
}
