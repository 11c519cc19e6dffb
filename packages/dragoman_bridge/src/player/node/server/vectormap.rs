//! `vectormap` from an occupancy grid: one layer, the borders of its occupied cells.

use super::driver::{Driver, Feed, Opened, OutcomeFuture, Setup, answer_when_received, other_interface};
use super::map::{MapConfig, Newest, lines, listen};
use crate::BridgeError;
use crate::player::wire::common::Segment;
use crate::player::wire::map::Vector;
use crate::player::wire::vectormap::{Feature, Info, Layer, LayerInfo, Request, WRITE_LAYER};
use crate::player::wire::{self, Bytes, Device, MessageKind, Xdr};

/// The name of the layer.
const WALLS: &str = "walls";

struct VectorMap {
    last: Newest,
}

pub(super) fn open(
    config: &MapConfig,
    device: Device,
    setup: &Setup,
    _feed: Feed,
) -> Result<Opened, BridgeError> {
    let mut tasks = setup.node(device)?;
    let last = listen(config, &mut tasks)?;
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
    fn handle_request(&mut self, request: wire::Request) -> Result<OutcomeFuture, String> {
        let wire::Request::Vectormap(request) = request else { return other_interface() };
        let last = self.last.clone();
        Ok(match request {
            Request::GetInfo => answer_when_received(last, |grid| Ok(info(&lines(grid)).to_bytes())),
            Request::GetLayer(asked) if asked.name != WALLS => {
                return Err(format!("there is no layer \"{}\"", asked.name.escape_debug()));
            }
            Request::GetLayer(_) => answer_when_received(last, |grid| Ok(layer(&lines(grid)).to_bytes())),
            Request::WriteLayer(_) => return Err("the walls are those of the map in ROS".to_owned()),
        })
    }

    fn unsupported(&self) -> Vec<(MessageKind, u8)> {
        vec![WRITE_LAYER.id()]
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
