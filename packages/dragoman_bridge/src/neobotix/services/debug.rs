//! Debug data as a message, and back (PlatformCtrl guide, 6.4, CMD_GET_DEBUG_DATA).
//!
//! | in the protocol | in the message |
//! | --- | --- |
//! | interpolated path | marker LINE_STRIP |
//! | mapping mode | value `mapping`: `true` |
//! | segments mapped | marker LINE_LIST, in mapping mode |
//! | graphical objects: thin lines | marker LINE_LIST, otherwise |
//! | graphical objects: rectangles, circles, dots | markers CUBE_LIST, SPHERE_LIST, POINTS |
//! | variables | names and values, as `name: value` |
//! | clusters | `moving_objects`, `persons`, `balls`; z is the index |
//! | protocol queue | `log` |
//! | safe velocities | `safe_velocities` |
//!
//! Of the protocol's other objects the position is published, as a point. Gates and the frames of the global
//! localization have no marker; the server side adds its own log and the network statistics.

use dragoman_ros::dragoman_msgs::msg::PlatformDebugData;
use dragoman_ros::dragoman_msgs::srv::PlatformGetDebugData;
use dragoman_ros::geometry_msgs::msg::Point as PointMessage;
use dragoman_ros::std_msgs::msg::ColorRGBA;
use dragoman_ros::visualization_msgs::msg::Marker;

use super::ReplyBody;
use super::answers::ros_string;
use super::units::{MILLI, first, rounded};
use crate::neobotix::call::OutOfRange;
use crate::neobotix::wire::{
    Cluster, Coded, DebugData, GraphicalColor, GraphicalKind, GraphicalObject, Mapping, PathPose, Point,
    QueueEntry, SafeVelocities, Segment, Variable,
};

/// Name of the value with the mapping mode.
const MAPPING: &str = "mapping";
// Kinds of markers: in r2r each constant has a type of its own.
const LINE_STRIP: i32 = Marker::LINE_STRIP as i32;
const LINE_LIST: i32 = Marker::LINE_LIST as i32;
const CUBE_LIST: i32 = Marker::CUBE_LIST as i32;
const SPHERE_LIST: i32 = Marker::SPHERE_LIST as i32;
const POINTS: i32 = Marker::POINTS as i32;

/// The protocol's colors.
const COLORS: [(GraphicalColor, [f32; 3]); 11] = [
    (GraphicalColor::Red, [1.0, 0.0, 0.0]),
    (GraphicalColor::Green, [0.0, 1.0, 0.0]),
    (GraphicalColor::Blue, [0.0, 0.0, 1.0]),
    (GraphicalColor::Pink, [1.0, 0.7, 0.7]),
    (GraphicalColor::Magenta, [1.0, 0.0, 1.0]),
    (GraphicalColor::White, [1.0, 1.0, 1.0]),
    (GraphicalColor::Yellow, [1.0, 1.0, 0.0]),
    (GraphicalColor::Gray, [0.5, 0.5, 0.5]),
    (GraphicalColor::Orange, [1.0, 0.8, 0.0]),
    (GraphicalColor::DarkGray, [0.25, 0.25, 0.25]),
    (GraphicalColor::Cyan, [0.0, 1.0, 1.0]),
];

impl ReplyBody<PlatformGetDebugData::Response> for Box<DebugData> {
    fn into_response(self) -> PlatformGetDebugData::Response {
        PlatformGetDebugData::Response { data: message(&self), ..Default::default() }
    }

    fn from_response(response: PlatformGetDebugData::Response) -> Result<Self, OutOfRange> {
        Ok(Self::new(reply(&response.data)))
    }
}

/// The nearest of the protocol's colors.
fn color(color: &ColorRGBA) -> Coded<GraphicalColor> {
    let away = |[r, g, b]: [f32; 3]| (r - color.r).powi(2) + (g - color.g).powi(2) + (b - color.b).powi(2);
    let nearest = COLORS.iter().min_by(|a, b| away(a.1).total_cmp(&away(b.1)));
    nearest.map_or_else(Coded::default, |(color, _)| (*color).into())
}

fn mm(point: &PointMessage) -> Point {
    Point { x_mm: rounded(point.x, MILLI), y_mm: rounded(point.y, MILLI) }
}

/// The points, each with the direction to the next one, in the protocol's whole radians.
fn path(points: &[PointMessage]) -> Vec<PathPose> {
    let headings = points.windows(2).map(|pair| match pair {
        [from, to] => (to.y - from.y).atan2(to.x - from.x),
        _ => 0.0,
    });
    let last = headings.clone().next_back().unwrap_or_default();
    let poses = points.iter().zip(headings.chain([last]));
    poses
        .map(|(point, heading)| {
            let Point { x_mm, y_mm } = mm(point);
            PathPose { x_mm, y_mm, angle_rad: rounded(heading, 1.0) }
        })
        .collect()
}

fn segments(points: &[PointMessage]) -> impl Iterator<Item = Segment> + '_ {
    points.chunks(2).filter_map(|ends| match ends {
        [source, target] => Some(Segment { source: mm(source), target: mm(target) }),
        _ => None,
    })
}

fn cluster(place: &PointMessage) -> Cluster {
    let Point { x_mm, y_mm } = mm(place);
    Cluster { x_mm, y_mm, index: rounded(place.z, 1.0) }
}

fn reply(message: &PlatformDebugData) -> DebugData {
    let values = || message.names.iter().zip(&message.values);
    let is_mapping = values().any(|(name, value)| name == MAPPING && value == "true");
    let mut data = DebugData { mapping: is_mapping.then(Mapping::default), ..DebugData::default() };
    for marker in &message.objects.markers {
        let kind = match marker.type_ {
            LINE_STRIP => {
                data.path.extend(path(&marker.points));
                continue;
            }
            LINE_LIST => GraphicalKind::LineThin,
            CUBE_LIST => GraphicalKind::PointRectangle,
            SPHERE_LIST => GraphicalKind::PointLargeDot,
            POINTS => GraphicalKind::PointPixel,
            _ => continue,
        };
        let object = GraphicalObject { kind: kind.into(), color: color(&marker.color), ..Default::default() };
        match (&mut data.mapping, kind) {
            (Some(mapping), GraphicalKind::LineThin) => mapping.segments.extend(segments(&marker.points)),
            (None, GraphicalKind::LineThin) => {
                data.graphical_objects.extend(segments(&marker.points).map(|line| GraphicalObject {
                    x_mm: line.source.x_mm,
                    y_mm: line.source.y_mm,
                    second_x_mm: line.target.x_mm,
                    second_y_mm: line.target.y_mm,
                    ..object
                }));
            }
            _ => data.graphical_objects.extend(marker.points.iter().map(mm).map(|place| GraphicalObject {
                x_mm: place.x_mm,
                y_mm: place.y_mm,
                ..object
            })),
        }
    }
    let clusters = |points: &[PointMessage]| points.iter().map(cluster).collect();
    data.moving_clusters = clusters(&message.moving_objects);
    data.person_clusters = clusters(&message.persons);
    data.ball_clusters = clusters(&message.balls);
    let numbers = message.log_numbers.iter().copied().chain(std::iter::repeat(0));
    let entry = |(text, number): (&String, u32)| QueueEntry { text: text.as_str().into(), number };
    data.protocol_queue = message.log.iter().zip(numbers).map(entry).collect();
    let [forward, backward, forward_ultrasonic, backward_ultrasonic] =
        first(&message.safe_velocities).map(|speed: f64| rounded(speed, MILLI));
    data.safe_velocities = SafeVelocities {
        forward_laser_mm_per_s: forward,
        backward_laser_mm_per_s: backward,
        forward_ultrasonic_mm_per_s: forward_ultrasonic,
        backward_ultrasonic_mm_per_s: backward_ultrasonic,
        ..Default::default()
    };
    data.variables = (0..)
        .zip(values())
        .map(|(id, (name, value))| Variable { id, value: format!("{name}: {value}").into() })
        .collect();
    data
}

fn marker(id: usize, kind: i32, color: Coded<GraphicalColor>, points: Vec<PointMessage>) -> Marker {
    let known = COLORS.iter().find(|(one, _)| color.known() == Some(*one));
    let [r, g, b] = known.map_or([1.0; 3], |(_, rgb)| *rgb);
    let mut marker = Marker {
        ns: "platform".to_owned(),
        id: i32::try_from(id).unwrap_or(i32::MAX),
        type_: kind,
        color: ColorRGBA { r, g, b, a: 1.0 },
        points,
        ..Default::default()
    };
    marker.pose.orientation.w = 1.0;
    (marker.scale.x, marker.scale.y, marker.scale.z) = (0.05, 0.05, 0.05);
    marker
}

fn metres(x_mm: i32, y_mm: i32) -> PointMessage {
    PointMessage { x: f64::from(x_mm) * MILLI, y: f64::from(y_mm) * MILLI, z: 0.0 }
}

fn message(reply: &DebugData) -> PlatformDebugData {
    let mut data = PlatformDebugData::default();
    let markers = &mut data.objects.markers;
    let mut add = |kind: i32, color: Coded<GraphicalColor>, points: Vec<PointMessage>| {
        if points.is_empty() {
            return;
        }
        // Objects of the same kind share one marker.
        match markers.last_mut() {
            Some(last) if last.type_ == kind && last.color == marker(0, kind, color, vec![]).color => {
                last.points.extend(points);
            }
            _ => markers.push(marker(markers.len(), kind, color, points)),
        }
    };
    let way = reply.path.iter().map(|pose| metres(pose.x_mm, pose.y_mm)).collect();
    add(LINE_STRIP, GraphicalColor::Blue.into(), way);
    if let Some(mapping) = &reply.mapping {
        let ends = mapping.segments.iter().flat_map(|line| [line.source, line.target]);
        let ends = ends.map(|end| metres(end.x_mm, end.y_mm)).collect();
        add(LINE_LIST, GraphicalColor::Magenta.into(), ends);
    }
    for object in &reply.graphical_objects {
        let place = metres(object.x_mm, object.y_mm);
        match object.kind.known() {
            Some(
                GraphicalKind::LineThin
                | GraphicalKind::LineThick
                | GraphicalKind::LineArrow
                | GraphicalKind::LineDoubleDot,
            ) => {
                let end = metres(object.second_x_mm, object.second_y_mm);
                add(LINE_LIST, object.color, vec![place, end]);
            }
            Some(GraphicalKind::PointLargeDot | GraphicalKind::Circle) => {
                add(SPHERE_LIST, object.color, vec![place]);
            }
            Some(GraphicalKind::PointPixel | GraphicalKind::PointSmallDot) => {
                add(POINTS, object.color, vec![place]);
            }
            _ => add(CUBE_LIST, object.color, vec![place]),
        }
    }
    let is_mapping = (MAPPING.to_owned(), reply.mapping.is_some().to_string());
    let named = |variable: &Variable| {
        let text = ros_string(&variable.value);
        match text.split_once(": ") {
            Some((name, value)) => (name.to_owned(), value.to_owned()),
            None => (variable.id.to_string(), text),
        }
    };
    let variables = reply.variables.iter().map(named).filter(|(name, _)| name != MAPPING);
    let points = |clusters: &[Cluster]| {
        let place = |one: &Cluster| PointMessage { z: one.index.into(), ..metres(one.x_mm, one.y_mm) };
        clusters.iter().map(place).collect()
    };
    data.moving_objects = points(&reply.moving_clusters);
    data.persons = points(&reply.person_clusters);
    data.balls = points(&reply.ball_clusters);
    data.log = reply.protocol_queue.iter().map(|entry| ros_string(&entry.text)).collect();
    data.log_numbers = reply.protocol_queue.iter().map(|entry| entry.number).collect();
    let safe = reply.safe_velocities;
    data.safe_velocities = [
        safe.forward_laser_mm_per_s,
        safe.backward_laser_mm_per_s,
        safe.forward_ultrasonic_mm_per_s,
        safe.backward_ultrasonic_mm_per_s,
    ]
    .map(|speed| f64::from(speed) * MILLI)
    .to_vec();
    (data.names, data.values) = [is_mapping].into_iter().chain(variables).unzip();
    data
}
