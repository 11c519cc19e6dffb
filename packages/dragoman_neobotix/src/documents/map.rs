//! Maps (PlatformCtrl guide, 6.5, "Map").

use super::element::{choice, element};
use super::{Document, DocumentError, Position, Problem, Version, check_range, report};

/// Larger coordinates do not fit an INT in mm on the wire.
pub(super) const COORDINATE_LIMIT: f64 = i32::MAX as f64;
/// Radius of the smallest circle, mm.
const MIN_RADIUS: f64 = 0.001;

element! {
    /// A map for localization and planning.
    #[derive(Default)]
    pub struct Map = "map" {
        attributes {
            /// Version of the DTD.
            version: Version = "Version",
        }
        children {
            layers: Vec<Layer> = "layer",
        }
    }

    /// A layer.
    #[derive(Default)]
    pub struct Layer = "layer" {
        attributes {
            index: Option<i64> = "index",
        }
        children {
            /// The items, in order.
            items: Vec<MapItem> = "",
        }
    }

    /// A point; also of roadmaps.
    #[derive(Default)]
    pub struct PointElement = "point" {
        attributes {
            x_mm: f64 = "x",
            y_mm: f64 = "y",
        }
    }

    /// Centre of a circle.
    #[derive(Default)]
    pub struct Center = "center" {
        attributes {
            x_mm: f64 = "x",
            y_mm: f64 = "y",
        }
    }

    /// Radius of a circle.
    #[derive(Default)]
    pub struct Radius = "radius" {
        attributes {
            r_mm: f64 = "r",
        }
    }

    /// A round object.
    #[derive(Default)]
    pub struct CircleElement = "circle" {
        children {
            center: Center = "center",
            radius: Radius = "radius",
        }
    }

    /// A label for users, without effect on the platform.
    #[derive(Default)]
    pub struct HiddenLabel = "hiddenlabel" {
        attributes {
            text: String = "text",
        }
        children {
            point: PointElement = "point",
        }
    }

    /// A line. The laser sees it from its front, which is determined by its direction.
    #[derive(Default)]
    pub struct LineElement = "line" {
        children {
            points: [PointElement; 2] = "point",
        }
    }

    /// An auxiliary line.
    #[derive(Default)]
    pub struct AuxiliaryLine = "auxline" {
        children {
            points: [PointElement; 2] = "point",
        }
    }

    /// A line found by mapping.
    #[derive(Default)]
    pub struct MappedLine = "linemapped" {
        children {
            points: [PointElement; 2] = "point",
        }
    }

    /// An auxiliary line found by mapping.
    #[derive(Default)]
    pub struct MappedAuxiliaryLine = "auxlinemapped" {
        children {
            points: [PointElement; 2] = "point",
        }
    }

    /// A reflector.
    #[derive(Default)]
    pub struct Reflector = "reflmark" {
        children {
            points: [PointElement; 2] = "point",
        }
    }

    /// The area that the platform must not leave.
    #[derive(Default)]
    pub struct Workarea = "workarea" {
        children {
            /// Its corners, three or more.
            points: Vec<PointElement> = "point",
        }
    }

    /// An area that the platform must not enter.
    #[derive(Default)]
    pub struct ProhibitedArea = "prohibit" {
        children {
            /// Its corners, three or more.
            points: Vec<PointElement> = "point",
        }
    }

    /// An area for users, without effect on the platform.
    #[derive(Default)]
    pub struct HiddenPolygon = "hiddenpolygon" {
        children {
            /// Its corners, three or more.
            points: Vec<PointElement> = "point",
        }
    }
}

choice! {
    /// An item of a layer.
    pub enum MapItem {
        /// The area that the platform must not leave.
        Workarea(Workarea),
        /// A round object.
        Circle(CircleElement),
        /// A line; the laser sees it from one side.
        Line(LineElement),
        /// An auxiliary line.
        AuxiliaryLine(AuxiliaryLine),
        /// A line found by mapping.
        MappedLine(MappedLine),
        /// An auxiliary line found by mapping.
        MappedAuxiliaryLine(MappedAuxiliaryLine),
        Reflector(Reflector),
        /// An area that the platform must not enter.
        Prohibited(ProhibitedArea),
        /// An area for users.
        HiddenPolygon(HiddenPolygon),
        /// A label for users.
        HiddenLabel(HiddenLabel),
        @
        /// An element that the guide does not define.
        Unknown
    }
}

impl Document for Map {
    const ROOT: &'static str = "map";

    fn check(&self) -> Vec<DocumentError> {
        let mut errors = Vec::new();
        let mut indices = std::collections::BTreeSet::new();
        for layer in &self.layers {
            if let Some(index) = layer.index
                && !indices.insert(index)
            {
                let problem = Problem::Duplicate { what: "layer", name: index.to_string() };
                report(&mut errors, layer.position, problem);
            }
            let mut workareas = layer.items.iter().filter(|item| matches!(item, MapItem::Workarea(_)));
            if let Some(second) = workareas.nth(1) {
                let problem = Problem::Duplicate { what: "area", name: "workarea".to_owned() };
                report(&mut errors, second.position(), problem);
            }
            layer.items.iter().for_each(|item| check_item(item, &mut errors));
        }
        errors
    }
}

fn check_item(item: &MapItem, errors: &mut Vec<DocumentError>) {
    match item {
        MapItem::Workarea(area) => check_polygon("workarea", &area.points, area.position, errors),
        MapItem::Prohibited(area) => check_polygon("prohibit", &area.points, area.position, errors),
        MapItem::HiddenPolygon(area) => check_polygon("hiddenpolygon", &area.points, area.position, errors),
        MapItem::Line(line) => check_line(&line.points, line.position, errors),
        MapItem::AuxiliaryLine(line) => check_line(&line.points, line.position, errors),
        MapItem::MappedLine(line) => check_line(&line.points, line.position, errors),
        MapItem::MappedAuxiliaryLine(line) => check_line(&line.points, line.position, errors),
        MapItem::Reflector(line) => check_line(&line.points, line.position, errors),
        MapItem::HiddenLabel(label) => check_point(&label.point, errors),
        MapItem::Circle(circle) => {
            let Center { x_mm, y_mm, position, .. } = circle.center;
            check_coordinates([x_mm, y_mm], position, errors);
            let limits = [MIN_RADIUS, COORDINATE_LIMIT];
            check_range("the radius in mm", circle.radius.r_mm, limits, circle.radius.position, errors);
        }
        MapItem::Unknown(_) => {}
    }
}

fn check_coordinates(coordinates: [f64; 2], position: Position, errors: &mut Vec<DocumentError>) {
    for coordinate in coordinates {
        check_range(
            "a coordinate in mm",
            coordinate,
            [-COORDINATE_LIMIT, COORDINATE_LIMIT],
            position,
            errors,
        );
    }
}

/// Checks that both coordinates are within range.
pub(super) fn check_point(point: &PointElement, errors: &mut Vec<DocumentError>) {
    check_coordinates([point.x_mm, point.y_mm], point.position, errors);
}

fn check_line(points: &[PointElement; 2], position: Position, errors: &mut Vec<DocumentError>) {
    points.iter().for_each(|point| check_point(point, errors));
    let [first, second] = points;
    if (first.x_mm, first.y_mm) == (second.x_mm, second.y_mm) {
        report(errors, position, Problem::NoLength);
    }
}

fn check_polygon(
    element: &str,
    points: &[PointElement],
    position: Position,
    errors: &mut Vec<DocumentError>,
) {
    points.iter().for_each(|point| check_point(point, errors));
    let Some(first) = points.first().filter(|_| points.len() >= 3) else {
        let (child, expected) = ("point", "at least three");
        let (element, found, hint) = (element.to_owned(), points.len(), String::new());
        let problem = Problem::Children { element, child, expected, found, hint };
        return report(errors, position, problem);
    };
    // A corner that differs from the first, and one that is not on the line through these two.
    let offset = |point: &PointElement| [point.x_mm - first.x_mm, point.y_mm - first.y_mm];
    let direction = points.iter().map(offset).find(|offset| *offset != [0.0, 0.0]);
    let is_flat = direction.is_none_or(|[dx, dy]| points.iter().map(offset).all(|[x, y]| dx * y == dy * x));
    if is_flat {
        report(errors, position, Problem::NoArea);
    }
}
