//! `vectormap`: the shapes of its layers, as lines of markers.
//!
//! Shapes are in the well-known binary form of the Open Geospatial Consortium (Simple Features): byte order, type, then
//! points or further shapes, each with its own byte order and type.

use dragoman_ros::Result as RosResult;
use dragoman_ros::builtin_interfaces::msg::Time;
use dragoman_ros::geometry_msgs::msg::Point;
use dragoman_ros::shared::SharedPublisher;
use dragoman_ros::std_msgs::msg::{ColorRGBA, Header};
use dragoman_ros::visualization_msgs::msg::{Marker, MarkerArray};

use super::device_handle::DeviceHandle;
use super::devices_node::{DeviceSetup, DeviceTopics, NoTopics};
use super::messages::{latched, report};
use crate::player::wire::vectormap::{GET_INFO, GET_LAYER, Layer};

/// Width of a line, m.
const WIDTH: f64 = 0.03;
/// Maximum number of lines of a layer; further lines are omitted.
const MAX_LINES: usize = 100_000;
/// Maximum depth of nested shapes; a collection of polygons has two.
const MAX_DEPTH: usize = 8;

/// Two points, m.
type Segment = [[f64; 2]; 2];

pub(super) fn vectormap(setup: &mut DeviceSetup<'_>) -> RosResult<Box<dyn DeviceTopics>> {
    let topic = setup.names.topic("vectormap");
    let publisher: SharedPublisher<MarkerArray> =
        setup.tasks.node().create_publisher(&topic, latched())?.into();
    let (handle, frame) = (setup.handle.clone(), setup.scene.map_frame.clone());
    let period = setup.parameters.map_period;
    setup.tasks.spawn(async move {
        let mut last = None;
        loop {
            match layers(&handle).await {
                Ok(layers) if last.as_ref() == Some(&layers) => {}
                Ok(layers) => {
                    report(publisher.publish(&markers(&layers, &frame)), "vectormap");
                    last = Some(layers);
                }
                Err(reason) => handle.problem(format!("reading the layers failed: {reason}")),
            }
            dragoman_time::sleep(period).await;
        }
    });
    Ok(Box::new(NoTopics))
}

/// All layers: their names and lines.
async fn layers(handle: &DeviceHandle) -> Result<Vec<(String, Vec<Segment>)>, String> {
    let info = handle.ask(&GET_INFO, ()).await?;
    let mut layers = Vec::new();
    for layer in info.layers {
        let question = Layer { name: layer.name, ..Layer::default() };
        let Layer { name, features } = handle.ask(&GET_LAYER, question).await?;
        let mut lines = Vec::new();
        for feature in &features {
            let shape = &mut feature.shape.0.as_slice();
            read_shape(shape, MAX_DEPTH, &mut lines)
                .ok_or_else(|| format!("layer '{name}': the shape '{}' is malformed", feature.name))?;
        }
        layers.push((name, lines));
    }
    Ok(layers)
}

fn markers(layers: &[(String, Vec<Segment>)], frame: &str) -> MarkerArray {
    let header = Header { stamp: Time::default(), frame_id: frame.to_owned() };
    let clear = Marker { header: header.clone(), action: Marker::DELETEALL as i32, ..Default::default() };
    let lines = layers.iter().map(|(name, lines)| {
        let mut marker = Marker {
            header: header.clone(),
            ns: name.clone(),
            type_: Marker::LINE_LIST as i32,
            color: ColorRGBA { r: 0.2, g: 0.2, b: 0.2, a: 1.0 },
            ..Default::default()
        };
        marker.pose.orientation.w = 1.0;
        marker.scale.x = WIDTH;
        marker.points = lines.as_flattened().iter().map(|[x, y]| Point { x: *x, y: *y, z: 0.0 }).collect();
        marker
    });
    MarkerArray { markers: std::iter::once(clear).chain(lines).collect() }
}

/// Reads a shape from the beginning of `bytes`; `None`: it is malformed.
fn read_shape(bytes: &mut &[u8], depth: usize, lines: &mut Vec<Segment>) -> Option<()> {
    let depth = depth.checked_sub(1)?;
    let is_little = match take::<1>(bytes)? {
        [0] => false,
        [1] => true,
        _ => return None,
    };
    let number = |bytes: &mut &[u8]| {
        let number = take(bytes)?;
        Some(if is_little { u32::from_le_bytes(number) } else { u32::from_be_bytes(number) })
    };
    match number(bytes)? {
        POINT => read_points(bytes, 1, is_little, lines),
        LINE_STRING => {
            let count = number(bytes)?;
            read_points(bytes, count, is_little, lines)
        }
        POLYGON => (0..number(bytes)?).try_for_each(|_| {
            let count = number(bytes)?;
            read_points(bytes, count, is_little, lines)
        }),
        FIRST_OF_SHAPES..=LAST_OF_SHAPES => {
            (0..number(bytes)?).try_for_each(|_| read_shape(bytes, depth, lines))
        }
        _ => None,
    }
}

const POINT: u32 = 1;
const LINE_STRING: u32 = 2;
const POLYGON: u32 = 3;
/// Several points, several line strings, several polygons, several shapes of any type.
const FIRST_OF_SHAPES: u32 = 4;
const LAST_OF_SHAPES: u32 = 7;

fn take<const LEN: usize>(bytes: &mut &[u8]) -> Option<[u8; LEN]> {
    let (taken, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*taken)
}

/// Reads points, and joins them by lines. A single point becomes a line of length zero.
fn read_points(bytes: &mut &[u8], count: u32, is_little: bool, lines: &mut Vec<Segment>) -> Option<()> {
    let mut last = None;
    for _ in 0..count {
        let mut value = || {
            let value = take(bytes)?;
            let value = if is_little { f64::from_le_bytes(value) } else { f64::from_be_bytes(value) };
            value.is_finite().then_some(value)
        };
        let point = [value()?, value()?];
        let from = last.replace(point).or((count == 1).then_some(point));
        if let Some(from) = from.filter(|_| lines.len() < MAX_LINES) {
            lines.push([from, point]);
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(mut bytes: &[u8]) -> Option<Vec<Segment>> {
        let mut lines = Vec::new();
        read_shape(&mut bytes, MAX_DEPTH, &mut lines)?;
        Some(lines)
    }

    fn string(points: &[[f64; 2]]) -> Vec<u8> {
        let mut bytes = vec![1, 2, 0, 0, 0];
        bytes.extend(u32::try_from(points.len()).unwrap().to_le_bytes());
        bytes.extend(points.as_flattened().iter().flat_map(|value| value.to_le_bytes()));
        bytes
    }

    #[test]
    fn shapes_are_lines() {
        let points = [[0.0, 0.0], [1.0, 0.0], [1.0, 2.0]];
        let lines = [[points[0], points[1]], [points[1], points[2]]];
        assert_eq!(shape(&string(&points)).unwrap(), lines);
        // Two of them, big endian outside.
        let mut both = vec![0, 0, 0, 0, 5, 0, 0, 0, 2];
        both.extend(string(&points));
        both.extend(string(&points[..2]));
        assert_eq!(shape(&both).unwrap(), [lines[0], lines[1], lines[0]]);
        // A point, and a polygon of one ring.
        let mut point = vec![1, 1, 0, 0, 0];
        point.extend([2.0_f64, 3.0].iter().flat_map(|value| value.to_le_bytes()));
        assert_eq!(shape(&point).unwrap(), [[[2.0, 3.0]; 2]]);
        let mut polygon = vec![1, 3, 0, 0, 0, 1, 0, 0, 0];
        polygon.extend(&string(&points)[5..]);
        assert_eq!(shape(&polygon).unwrap(), lines);
    }

    #[test]
    fn malformed_shapes_are_refused() {
        let whole = string(&[[0.0, 0.0], [1.0, 0.0]]);
        for len in 0..whole.len() {
            assert_eq!(shape(&whole[..len]), None, "{len}");
        }
        assert_eq!(shape(&string(&[[0.0, f64::NAN], [1.0, 0.0]])), None);
        // Collections in collections without end, and more points than there are bytes.
        assert_eq!(shape(&[0, 0, 0, 0, 7, 0, 0, 0, 1].repeat(100)), None);
        assert_eq!(shape(&[0, 0, 0, 0, 2, 255, 255, 255, 255]), None);
        assert_eq!(shape(&[2, 0, 0, 0, 1]), None);
    }
}
