//! `vectormap` from an occupancy grid: one layer, the borders of its occupied cells.

use super::driver::{Answer, Driver, Feed, Opened, Setup, later};
use super::map::{Names, Newest, lines, listen};
use crate::BridgeError;
use crate::player::wire::common::Segment;
use crate::player::wire::map::Vector;
use crate::player::wire::vectormap::{Feature, GET_INFO, GET_LAYER, Info, Layer, LayerInfo, WRITE_LAYER};
use crate::player::wire::{Bytes, Device, Kind, Xdr};

/// The name of the layer.
const WALLS: &str = "walls";

struct VectorMap {
    last: Newest,
}

pub(super) fn open(names: &Names, device: Device, setup: &Setup, _feed: Feed) -> Result<Opened, BridgeError> {
    let mut tasks = setup.node(device)?;
    let last = listen(names, &mut tasks)?;
    Ok(Opened::new(VectorMap { last }, tasks)?)
}

fn info(map: &Vector) -> Info {
    let bounds =
        Segment { x0: map.min_x.into(), y0: map.min_y.into(), x1: map.max_x.into(), y1: map.max_y.into() };
    let layers = vec![LayerInfo { name: WALLS.to_owned(), bounds: bounds.clone() }];
    Info { reference: 0, layers, bounds }
}

fn layer(map: &Vector) -> Layer {
    let features = map.segments.iter().enumerate().map(|(number, segment)| Feature {
        name: format!("wall {number}"),
        shape: Bytes(well_known_binary(segment)),
        attributes: String::new(),
    });
    Layer { name: WALLS.to_owned(), features: features.collect() }
}

/// A line string of two points (OpenGIS Simple Features, well-known binary): byte order, type, number of points, points.
fn well_known_binary(segment: &Segment) -> Vec<u8> {
    const LITTLE_ENDIAN: u8 = 1;
    const LINE_STRING: u32 = 2;
    const POINTS: u32 = 2;
    let mut bytes = vec![LITTLE_ENDIAN];
    bytes.extend(LINE_STRING.to_le_bytes());
    bytes.extend(POINTS.to_le_bytes());
    for value in [segment.x0, segment.y0, segment.x1, segment.y1] {
        bytes.extend(value.to_le_bytes());
    }
    bytes
}

impl Driver for VectorMap {
    fn handle_command(&mut self, subtype: u8, _body: &[u8]) -> Result<(), String> {
        Err(format!("a map has no command {subtype}"))
    }

    fn handle_request(&mut self, subtype: u8, body: &[u8]) -> Result<Answer, String> {
        let last = self.last.clone();
        Ok(match subtype {
            subtype if subtype == GET_INFO.subtype => later(last, |grid| Ok(info(&lines(grid)).to_bytes())),
            subtype if subtype == GET_LAYER.subtype => {
                let asked = GET_LAYER.question(body)?;
                if asked.name != WALLS {
                    return Err(format!("there is no layer \"{}\"", asked.name.escape_debug()));
                }
                later(last, |grid| Ok(layer(&lines(grid)).to_bytes()))
            }
            subtype if subtype == WRITE_LAYER.subtype => {
                return Err("the walls are those of the map in ROS".to_owned());
            }
            _ => return Err(format!("the map has no request {subtype}")),
        })
    }

    fn lacks(&self) -> Vec<(Kind, u8)> {
        vec![(Kind::Request, WRITE_LAYER.subtype)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wall_is_a_line_string() {
        let map = Vector {
            max_x: 2.0,
            max_y: 1.0,
            segments: vec![Segment { x0: 0.0, y0: 1.0, x1: 2.0, y1: 1.0 }],
            ..Vector::default()
        };
        let layer = layer(&map);
        let shape = &layer.features[0].shape.0;
        assert_eq!(shape[..9], [1, 2, 0, 0, 0, 2, 0, 0, 0]);
        assert_eq!(shape[9..17], 0.0_f64.to_le_bytes());
        assert_eq!(shape[25..33], 2.0_f64.to_le_bytes());
        assert_eq!(shape.len(), 41);
        let info = info(&map);
        assert_eq!((info.bounds.x1, info.layers[0].name.as_str()), (2.0, WALLS));
    }
}
