//! `map` from an occupancy grid.

use std::sync::Arc;

use dragoman_geometry::yaw;
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{QosProfile, nav_msgs};
use dragoman_time::watch;
use serde::Deserialize;

use super::driver::{Driver, Feed, Opened, OutcomeFuture, Setup, answer_when_received, other_interface};
use crate::BridgeError;
use crate::player::wire::common::{Pose2d, Segment};
use crate::player::wire::map::{Info, Request, Vector};
use crate::player::wire::{self, Device, MapData, Xdr};

/// Cells that are occupied with at least this probability, percent, are occupied; below [`FREE`] they are free.
const OCCUPIED: i8 = 65;
const FREE: i8 = 20;

/// Entry of a map in the device table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MapConfig {
    /// Topic with `nav_msgs/OccupancyGrid`.
    map: String,
}

type Grid = nav_msgs::msg::OccupancyGrid;

/// The newest grid of a topic.
pub(super) type Newest = watch::Receiver<Option<Arc<Grid>>>;

struct Map {
    last: Newest,
}

pub(super) fn open(
    config: &MapConfig,
    device: Device,
    setup: &Setup,
    _feed: Feed,
) -> Result<Opened, BridgeError> {
    let mut tasks = setup.node(device)?;
    // A new grid is not announced as data: Player's client library fails on any data of a map.
    let last = listen(config, &mut tasks)?;
    Ok(Opened::new(Map { last }, tasks)?)
}

/// Subscribes to the grid.
pub(super) fn listen(config: &MapConfig, tasks: &mut NodeTasks) -> dragoman_ros::Result<Newest> {
    let (sender, last) = watch::channel(None);
    let latched = QosProfile::default().keep_last(1).transient_local();
    tasks.subscribe(&config.map, latched, move |grid: Grid| {
        sender.send_replace(Some(Arc::new(grid)));
    })?;
    Ok(last)
}

fn info(grid: &Grid) -> Info {
    let nav_msgs::msg::MapMetaData { resolution, width, height, origin, .. } = &grid.info;
    let q = &origin.orientation;
    let yaw = yaw([q.x, q.y, q.z, q.w]);
    let origin = Pose2d { x: origin.position.x, y: origin.position.y, yaw };
    Info { scale: *resolution, width: *width, height: *height, origin }
}

fn is_occupied(cell: i8) -> bool {
    cell >= OCCUPIED
}

/// A cell in Player's form: -1 free, 0 unknown, 1 occupied.
fn cell(cell: i8) -> u8 {
    match cell {
        cell if is_occupied(cell) => 1,
        0..FREE => (-1_i8).to_ne_bytes()[0],
        _ => 0,
    }
}

/// The part of a tile that is in the grid.
fn tile(grid: &Grid, asked: &MapData) -> Result<Vec<u8>, String> {
    let (width, height) = (grid.info.width, grid.info.height);
    let MapData { column, row, .. } = *asked;
    if column >= width || row >= height || asked.width == 0 || asked.height == 0 {
        return Err(format!("the tile is outside of the map of {width} x {height} cells"));
    }
    let (columns, rows) = (asked.width.min(width - column), asked.height.min(height - row));
    let data = (row..row + rows).flat_map(|row| {
        let start = row as usize * width as usize + column as usize;
        let cells = grid.data.get(start..start + columns as usize).unwrap_or_default();
        cells.iter().map(|value| cell(*value))
    });
    let tile = MapData { column, row, width: columns, height: rows, range: 1, data: data.collect() };
    Ok(tile.compress().to_bytes())
}

/// The borders between occupied cells and others, as lines along the grid.
pub(super) fn lines(grid: &Grid) -> Vector {
    let Info { scale, width, height, origin } = info(grid);
    let scale = f64::from(scale);
    let occupied = |column: i64, row: i64| {
        let inside = (0..i64::from(width)).contains(&column) && (0..i64::from(height)).contains(&row);
        let index = row * i64::from(width) + column;
        inside
            && usize::try_from(index)
                .ok()
                .and_then(|at| grid.data.get(at))
                .is_some_and(|cell| is_occupied(*cell))
    };
    let mut segments = Vec::new();
    // A line continues while the cells on both sides differ.
    let mut collect = |lines: u32,
                       cells: u32,
                       differs: &dyn Fn(i64, i64) -> bool,
                       segment: &dyn Fn(i64, i64, i64) -> Segment| {
        for line in 0..=i64::from(lines) {
            let mut begin = None;
            for at in 0..=i64::from(cells) {
                match (begin, at < i64::from(cells) && differs(line, at)) {
                    (None, true) => begin = Some(at),
                    (Some(first), false) => {
                        segments.push(segment(line, first, at));
                        begin = None;
                    }
                    _ => {}
                }
            }
        }
    };
    let (sin, cos) = origin.yaw.sin_cos();
    let point = |column: i64, row: i64| {
        let (x, y) = (column as f64 * scale, row as f64 * scale);
        (origin.x + cos * x - sin * y, origin.y + sin * x + cos * y)
    };
    let line = |from: (f64, f64), to: (f64, f64)| Segment { x0: from.0, y0: from.1, x1: to.0, y1: to.1 };
    collect(
        height,
        width,
        &|row, column| occupied(column, row - 1) != occupied(column, row),
        &|row, from, to| line(point(from, row), point(to, row)),
    );
    collect(
        width,
        height,
        &|column, row| occupied(column - 1, row) != occupied(column, row),
        &|column, from, to| line(point(column, from), point(column, to)),
    );
    let corners = [(0, 0), (width, 0), (0, height), (width, height)];
    let corners = corners.map(|(column, row)| point(column.into(), row.into()));
    let least = |of: fn(&(f64, f64)) -> f64| corners.iter().map(of).fold(f64::INFINITY, f64::min) as f32;
    let most = |of: fn(&(f64, f64)) -> f64| corners.iter().map(of).fold(f64::NEG_INFINITY, f64::max) as f32;
    Vector {
        min_x: least(|corner| corner.0),
        max_x: most(|corner| corner.0),
        min_y: least(|corner| corner.1),
        max_y: most(|corner| corner.1),
        segments,
    }
}

impl Driver for Map {
    fn handle_request(&mut self, request: wire::Request) -> Result<OutcomeFuture, String> {
        let wire::Request::Map(request) = request else { return other_interface() };
        let last = self.last.clone();
        Ok(match request {
            Request::GetInfo => answer_when_received(last, |grid| Ok(info(grid).to_bytes())),
            Request::GetData(asked) => answer_when_received(last, move |grid| tile(grid, &asked)),
            Request::GetVector => answer_when_received(last, |grid| Ok(lines(grid).to_bytes())),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three columns, two rows: the left column is a wall, the middle is free, the right is unknown.
    fn grid() -> Grid {
        let mut grid = Grid { data: vec![100, 0, -1, 90, 5, -1], ..Grid::default() };
        (grid.info.resolution, grid.info.width, grid.info.height) = (0.5, 3, 2);
        grid.info.origin.orientation.w = 1.0;
        grid
    }

    #[test]
    fn a_tile_is_cut_at_the_border_of_the_map() {
        let asked = MapData { column: 0, row: 1, width: 10, height: 10, ..MapData::default() };
        let tile = MapData::from_bytes(&tile(&grid(), &asked).unwrap()).unwrap().decompress().unwrap();
        assert_eq!((tile.width, tile.height, tile.range), (3, 1, 1));
        assert_eq!(tile.data, [1, 255, 0]);
        let outside = MapData { column: 3, width: 1, height: 1, ..MapData::default() };
        assert!(super::tile(&grid(), &outside).is_err());
    }

    #[test]
    fn a_wall_is_four_lines() {
        let Vector { max_x, max_y, segments, .. } = lines(&grid());
        assert_eq!((max_x, max_y), (1.5, 1.0));
        let expected =
            [[0.0, 0.0, 0.5, 0.0], [0.0, 1.0, 0.5, 1.0], [0.0, 0.0, 0.0, 1.0], [0.5, 0.0, 0.5, 1.0]];
        assert_eq!(segments, expected.map(|[x0, y0, x1, y1]| Segment { x0, y0, x1, y1 }));
    }
}
