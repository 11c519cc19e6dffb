//! Maps of cells: the size first, then tiles, whose bytes are compressed.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use super::{Client, ClientEvent, DeviceState, Purpose, Refusal, data};
use crate::player::wire::MapData;
use crate::player::wire::map::{self, Info};
use crate::player::wire::{Device, Xdr, XdrError};

/// Maximum number of cells of a map: 4096 x 4096.
const MAX_CELLS: usize = 1 << 24;
/// Maximum number of cells of a tile, as in the requests of Player's client libraries.
const TILE_CELLS: u32 = 640 * 640;

/// A map of cells.
#[derive(Debug, Clone, PartialEq)]
pub struct GridMap {
    /// Side of a cell, number of cells, and pose of the first cell's corner.
    pub info: Info,
    /// Row by row, from the origin: -1 unknown, 0 free, to 100 occupied.
    pub cells: Vec<i8>,
}

/// The properties of a map by which changes are detected.
#[derive(Debug, PartialEq)]
pub(super) struct Known {
    info: Info,
    /// Hash of the cells.
    cells: u64,
}

impl Known {
    fn new(map: &GridMap) -> Self {
        let mut hasher = DefaultHasher::new();
        map.cells.hash(&mut hasher);
        Self { info: map.info.clone(), cells: hasher.finish() }
    }

    /// Whether a map with this size and pose need not be read again: it is large, and only its cells may have changed.
    fn is_enough(&self, info: &Info) -> bool {
        self.info == *info && u64::from(info.width) * u64::from(info.height) > u64::from(TILE_CELLS)
    }
}

/// A map that is being read.
#[derive(Debug)]
pub(super) struct Reading {
    device: Device,
    /// Whether the cells are read even if size and pose are unchanged.
    is_forced: bool,
    /// `None`: the size was requested.
    info: Option<Info>,
    cells: Vec<i8>,
    /// Rows of the requested tile.
    rows: u32,
}

/// Why a map cannot be read.
#[derive(Debug, thiserror::Error)]
enum MapError {
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    Malformed(#[from] XdrError),
    #[error("{width} x {height} cells; the maximum are {MAX_CELLS}")]
    TooLarge { width: u32, height: u32 },
    #[error("cells of {0} m")]
    Scale(f32),
    #[error("the server sent another tile than the one that was asked for")]
    OtherTile,
    #[error("{0}")]
    Tile(String),
}

/// Converts a cell to the occupancy in ROS; `range` is the cells' maximum value.
pub fn occupancy(value: i8, range: i8) -> i8 {
    let range = i32::from(range).abs().max(1);
    match i32::from(value).clamp(-range, range) {
        0 => -1,
        #[allow(clippy::cast_possible_truncation, reason = "0 to 100")]
        value => ((value + range) * 50 / range) as i8,
    }
}

impl Client {
    /// Reads the maps of all open devices, and again after a while.
    pub(super) fn read_maps(&mut self, now: Duration, is_forced: bool) {
        let open = self.setup.devices.iter().filter(|info| info.state == DeviceState::Open);
        let maps: Vec<Device> =
            open.map(|info| info.device).filter(|device| data::has_map(device.interface)).collect();
        if !maps.is_empty() {
            self.map_due = now.checked_add(self.config.map_period);
        }
        for device in maps {
            self.read_map(now, device, is_forced);
        }
    }

    /// Reads a device's map, after those that are being read.
    pub(super) fn read_map(&mut self, now: Duration, device: Device, is_forced: bool) {
        match self.unread.iter_mut().find(|(waiting, _)| *waiting == device) {
            Some((_, forced)) => *forced |= is_forced,
            None => self.unread.push_back((device, is_forced)),
        }
        self.read_next(now);
    }

    fn read_next(&mut self, now: Duration) {
        if self.reading.is_some() {
            return;
        }
        let Some((device, is_forced)) = self.unread.pop_front() else { return };
        self.reading = Some(Reading { device, is_forced, info: None, cells: Vec::new(), rows: 0 });
        self.ask(now, device, map::GET_INFO.subtype, &[], Purpose::Map);
    }

    /// A request for a map has ended.
    pub(super) fn conclude_map(&mut self, now: Duration, answer: Result<&[u8], Refusal>) {
        let Some(mut reading) = self.reading.take() else { return };
        let device = reading.device;
        let next = answer.map_err(MapError::from).and_then(|answer| reading.accept(answer));
        match (next, &reading.info) {
            (Ok(Some(_)), Some(info))
                if !reading.is_forced
                    && reading.cells.is_empty()
                    && self.known.get(&device).is_some_and(|known| known.is_enough(info)) => {}
            (Ok(Some(tile)), _) => {
                self.reading = Some(reading);
                return self.ask(now, device, map::GET_DATA.subtype, &tile.to_bytes(), Purpose::Map);
            }
            (Ok(None), Some(info)) => {
                let map = GridMap { info: info.clone(), cells: reading.cells };
                let known = Known::new(&map);
                if self.known.get(&device) != Some(&known) {
                    self.known.insert(device, known);
                    self.events.push_back(ClientEvent::Map { device, map });
                }
            }
            (Ok(None), None) => {}
            (Err(error), _) => {
                self.known.remove(&device);
                self.problem(device, &format!("reading the map failed: {error}"));
            }
        }
        self.read_next(now);
    }
}

impl Reading {
    /// Processes an answer. Returns the next request; `None`: the map is complete.
    fn accept(&mut self, answer: &[u8]) -> Result<Option<MapData>, MapError> {
        match &self.info {
            None => self.info = Some(check(map::GET_INFO.answer(answer)?)?),
            Some(info) => {
                let tile = map::GET_DATA.answer(answer)?;
                let row = self.cells.len() as u64 / u64::from(info.width).max(1);
                let is_asked = tile.column == 0
                    && u64::from(tile.row) == row
                    && tile.width == info.width
                    && (1..=self.rows).contains(&tile.height);
                if !is_asked {
                    return Err(MapError::OtherTile);
                }
                let tile = tile.decompress().map_err(|error| MapError::Tile(error.to_string()))?;
                let cells = tile.data.iter().map(|cell| occupancy(cell.cast_signed(), tile.range));
                self.cells.extend(cells);
            }
        }
        let Some(info) = &self.info else { return Ok(None) };
        let done = u32::try_from(self.cells.len()).unwrap_or(u32::MAX).checked_div(info.width);
        let row = done.unwrap_or(info.height);
        self.rows = info.height.saturating_sub(row).min((TILE_CELLS / info.width.max(1)).max(1));
        let tile = MapData { column: 0, row, width: info.width, height: self.rows, ..MapData::default() };
        Ok((self.rows > 0).then_some(tile))
    }
}

fn check(info: Info) -> Result<Info, MapError> {
    let (width, height) = (info.width, info.height);
    let cells = u64::from(width) * u64::from(height);
    if cells > MAX_CELLS as u64 {
        return Err(MapError::TooLarge { width, height });
    }
    let origin = &info.origin;
    let is_finite = [origin.x, origin.y, origin.yaw].into_iter().all(f64::is_finite);
    if !(info.scale.is_finite() && info.scale > 0.0 && is_finite) {
        return Err(MapError::Scale(info.scale));
    }
    Ok(info)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_unknown_free_or_occupied_whatever_the_range() {
        for (value, range, expected) in
            [(0, 1, -1), (-1, 1, 0), (1, 1, 100), (0, 100, -1), (-100, 100, 0), (50, 100, 75), (127, 1, 100)]
        {
            assert_eq!(occupancy(value, range), expected, "{value} of {range}");
        }
        // Numbers that no server should send.
        for value in i8::MIN..=i8::MAX {
            for range in i8::MIN..=i8::MAX {
                assert!((-1..=100).contains(&occupancy(value, range)));
            }
        }
    }
}
