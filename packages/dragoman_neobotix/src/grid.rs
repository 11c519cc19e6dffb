//! The map as a grid: lines, prohibited areas and cells outside of the work area are occupied, everything else is free.

use dragoman_geometry::{Point, Polygon};
use dragoman_ros::nav_msgs::msg::OccupancyGrid;

use crate::map::Map;

/// Maximum number of cells; larger maps get larger cells.
const MAX_CELLS: f64 = 4e6;
/// Margin around the map, m.
const MARGIN: f64 = 0.5;
const OCCUPIED: i8 = 100;

/// The map with cells of this side, m, or of a larger one if there would be too many.
pub fn message(map: &Map, resolution: f64) -> OccupancyGrid {
    let mut message = OccupancyGrid::default();
    let Some([least, most]) = bounds(map) else {
        message.info.resolution = resolution as f32;
        return message;
    };
    let [width, height] = [most.x - least.x, most.y - least.y];
    let resolution = resolution.max((width * height / MAX_CELLS).sqrt()).max(width.max(height) / 60_000.0);
    let cells = |length: f64| (length / resolution).ceil().max(1.0) as usize;
    let (columns, rows) = (cells(width), cells(height));
    let mut data = vec![if map.workarea.is_some() { OCCUPIED } else { 0 }; columns * rows];
    for (area, value) in
        map.workarea.iter().map(|area| (area, 0)).chain(map.prohibited.iter().map(|area| (area, OCCUPIED)))
    {
        for (row, cells) in data.chunks_exact_mut(columns).enumerate() {
            fill(area, least.y + (row as f64 + 0.5) * resolution, least.x, resolution, cells, value);
        }
    }
    for line in &map.lines {
        let steps = (2.0 * line.length() / resolution).ceil().max(1.0);
        for step in 0..=steps as usize {
            let offset = (line.at(step as f64 / steps) - least) / resolution;
            let (column, row) = (offset.x as usize, offset.y as usize);
            if let Some(cell) = data.get_mut(row * columns + column).filter(|_| column < columns) {
                *cell = OCCUPIED;
            }
        }
    }
    message.info.resolution = resolution as f32;
    message.info.width = columns as u32;
    message.info.height = rows as u32;
    (message.info.origin.position.x, message.info.origin.position.y) = (least.x, least.y);
    message.info.origin.orientation.w = 1.0;
    message.data = data;
    message
}

/// Sets the cells of the row at `y` whose centres are in an area.
fn fill(area: &Polygon, y: f64, left: f64, resolution: f64, cells: &mut [i8], value: i8) {
    let mut crossings: Vec<f64> = area
        .edges()
        .filter(|edge| (edge.a.y > y) != (edge.b.y > y))
        .map(|edge| edge.a.x + (edge.b.x - edge.a.x) * (y - edge.a.y) / (edge.b.y - edge.a.y))
        .collect();
    crossings.sort_by(f64::total_cmp);
    for pair in crossings.as_chunks().0 {
        let [from, to] = pair.map(|x| ((x - left) / resolution + 0.5).max(0.0) as usize);
        cells.iter_mut().take(to).skip(from).for_each(|cell| *cell = value);
    }
}

/// The minimum and maximum coordinates; `None` for an empty map.
fn bounds(map: &Map) -> Option<[Point; 2]> {
    let mut points = map.points();
    let first = points.next()?;
    let [least, most] = points.fold([first; 2], |[least, most], point| {
        [Point::from(least.coords.inf(&point.coords)), Point::from(most.coords.sup(&point.coords))]
    });
    let margin = nalgebra::Vector2::repeat(MARGIN);
    Some([least - margin, most + margin])
}

#[cfg(test)]
mod tests {
    use dragoman_geometry::Segment;

    use super::*;

    #[test]
    fn obstacles_are_occupied_cells() {
        let area = |from: f64, to: f64| {
            let corners = [[from, from], [to, from], [to, to], [from, to]];
            Polygon::new(corners.map(Point::from).to_vec()).unwrap()
        };
        let map = Map {
            lines: vec![Segment::new(Point::new(1.0, 1.0), Point::new(1.0, 3.0))],
            prohibited: vec![area(2.0, 2.5)],
            workarea: Some(area(0.0, 4.0)),
        };
        let grid = message(&map, 0.1);
        assert_eq!((grid.info.width, grid.info.height), (50, 50));
        let cell = |x: f64, y: f64| {
            let [column, row] = [x, y].map(|value| ((value + MARGIN) / 0.1) as usize);
            grid.data[row * 50 + column]
        };
        assert_eq!([cell(1.01, 1.05), cell(1.01, 2.95), cell(2.25, 2.25), cell(-0.2, 2.0)], [OCCUPIED; 4]);
        assert_eq!([cell(0.5, 0.5), cell(1.25, 2.0), cell(3.0, 3.0)], [0; 3]);
        assert!(message(&Map::default(), 0.1).data.is_empty());
    }

    #[test]
    fn a_huge_map_has_large_cells() {
        let line = Segment::new(Point::new(-1e5, -1e5), Point::new(1e5, 1e5));
        let grid = message(&Map { lines: vec![line], ..Map::default() }, 0.05);
        assert!(grid.data.len() as f64 <= 1.1 * MAX_CELLS && grid.info.resolution > 50.0);
        assert_eq!(grid.data.len(), (grid.info.width * grid.info.height) as usize);
    }
}
