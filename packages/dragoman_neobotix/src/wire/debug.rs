//! Reply to CMD_GET_DEBUG_DATA (PlatformCtrl guide, 6.4).

use super::field::{Field, Reader, layout};
use super::{Coded, Fault, Point, Text};
use crate::codes;

codes! {
    /// Shape of a graphical object.
    pub enum GraphicalKind {
        PointCross = 0, "TYPE_POINT_CROSS";
        PointRectangle = 1, "TYPE_POINT_RECT";
        PointTriangle = 2, "TYPE_POINT_TRIA";
        PointSmallDot = 3, "TYPE_POINT_SMALLDOT";
        PointLargeDot = 4, "TYPE_POINT_LARGEDOT";
        LineThin = 5, "TYPE_LINE_THIN";
        LineThick = 6, "TYPE_LINE_THICK";
        LineArrow = 7, "TYPE_LINE_ARROW";
        LineDoubleDot = 8, "TYPE_LINE_DOUBLEDOT";
        FrameRectangle = 9, "TYPE_FRAME_RECT";
        FrameCircle = 10, "TYPE_FRAME_CIRC";
        FrameTriangle = 11, "TYPE_FRAME_TRIA";
        FramePlatform = 12, "TYPE_FRAME_PLTF";
        Circle = 13, "TYPE_CIRCLE";
        /// Text; its layout is not in the guide's table of categories.
        String = 14, "TYPE_STRING";
        Ellipse = 15, "TYPE_ELLIPSE";
        NumberLabel = 16, "TYPE_NUM_LABEL";
        PointPixel = 17, "TYPE_POINT_PIXEL";
        PointPermanent = 18, "TYPE_POINT_PERM";
    }

    /// Color of a graphical object.
    pub enum GraphicalColor {
        Red = 20, "COLOR_RED";
        Green = 21, "COLOR_GREEN";
        Blue = 22, "COLOR_BLUE";
        Pink = 23, "COLOR_PINK";
        Magenta = 24, "COLOR_MAGENTA";
        White = 25, "COLOR_WHITE";
        Yellow = 26, "COLOR_YELLOW";
        Gray = 27, "COLOR_GRAY";
        Orange = 28, "COLOR_ORANGE";
        DarkGray = 29, "COLOR_DARKGRAY";
        Cyan = 30, "COLOR_CYAN";
    }
}

layout! {
    /// Reply to CMD_GET_DEBUG_DATA, in the order of the wire. Positions are in the world.
    #[derive(Eq, Default)]
    pub struct DebugData {
        /// Validation gates.
        pub validation_gates: Vec<ValidationGate>,
        /// Mapping data, in mapping mode only.
        pub mapping: Option<Mapping>,
        /// Interpolated path.
        pub path: Vec<PathPose>,
        /// Objects drawn by programs.
        pub graphical_objects: Vec<GraphicalObject>,
        /// Not used.
        pub variables: Vec<Variable>,
        /// Moving objects.
        pub moving_clusters: Vec<Cluster>,
        /// Persons.
        pub person_clusters: Vec<Cluster>,
        /// Balls.
        pub ball_clusters: Vec<Cluster>,
        /// Lines of the log.
        pub protocol_queue: Vec<QueueEntry>,
        /// Network statistics.
        pub tcp: TcpStatistics,
        /// Maximum permitted velocities.
        pub safe_velocities: SafeVelocities,
    }

    /// Quadrangle in which a line of the scan is matched with a line of the map.
    #[derive(Copy, Eq, Default)]
    pub struct ValidationGate {
        pub corners: [Point; 4],
    }

    /// Mapping data.
    #[derive(Eq, Default)]
    pub struct Mapping {
        /// Segments.
        pub segments: Vec<Segment>,
        /// Segments that are still being explored.
        pub explored_segments: Vec<Segment>,
        /// Possible poses of the platform.
        pub global_localization: GlobalLocalization,
    }

    /// A straight line.
    #[derive(Copy, Eq, Default)]
    pub struct Segment {
        pub source: Point,
        pub target: Point,
    }

    /// Possible poses of the platform.
    #[derive(Eq, Default)]
    pub struct GlobalLocalization {
        /// Possible poses.
        pub frames: Vec<PathPose>,
        /// Visible lines.
        pub visible_lines: Vec<Segment>,
        /// Validation gates.
        pub validation_gates: Vec<ValidationGate>,
    }

    /// A pose with an angle in whole radians, as in the guide's table.
    #[derive(Copy, Eq, Default)]
    pub struct PathPose {
        /// Position.
        pub x_mm: i32,
        /// Position.
        pub y_mm: i32,
        /// From the x axis.
        pub angle_rad: i32,
    }

    /// An object to draw.
    #[derive(Copy, Eq, Default)]
    pub struct GraphicalObject {
        pub kind: Coded<GraphicalKind>,
        pub color: Coded<GraphicalColor>,
        /// Position.
        pub x_mm: i32,
        /// Position.
        pub y_mm: i32,
        /// From the x axis.
        pub angle_deg: i32,
        /// x of a line's, circle's, ellipse's or label's second point, mm; 0 otherwise.
        pub second_x_mm: i32,
        /// y of a line's, circle's or ellipse's second point, mm; 0 otherwise.
        pub second_y_mm: i32,
        /// Angle of a frame or an ellipse; 0 otherwise.
        pub second_angle_mdeg: i32,
        /// Always 0.
        pub reserved: i32,
    }

    /// A variable; not used.
    #[derive(Eq, Default)]
    pub struct Variable {
        pub id: i32,
        /// Its value as text.
        pub value: Text,
    }

    /// Points of a scan that belong together.
    #[derive(Copy, Eq, Default)]
    pub struct Cluster {
        /// Position.
        pub x_mm: i32,
        /// Position.
        pub y_mm: i32,
        pub index: i32,
    }

    /// Network statistics; whole numbers, even for seconds.
    #[derive(Copy, Eq, Default)]
    pub struct TcpStatistics {
        /// Average time to receive.
        pub receive_time_s: i32,
        /// Share of receiving.
        pub receive_percent: i32,
        /// Average time to send.
        pub send_time_s: i32,
        /// Share of sending.
        pub send_percent: i32,
        /// Bytes received.
        pub received_bytes_per_s: i32,
        /// Bytes sent.
        pub sent_bytes_per_s: i32,
        /// Messages received.
        pub received_telegrams_per_s: i32,
        /// Messages sent.
        pub sent_telegrams_per_s: i32,
        /// Average waiting time for a message.
        pub wait_time_s: i32,
        /// Share of waiting.
        pub wait_percent: i32,
    }

    /// Maximum permitted velocities.
    #[derive(Copy, Eq, Default)]
    pub struct SafeVelocities {
        /// Limit of the front laser.
        pub forward_laser_mm_per_s: i32,
        /// Limit of the rear laser.
        pub backward_laser_mm_per_s: i32,
        /// Limit of the front ultrasonic sensors.
        pub forward_ultrasonic_mm_per_s: i32,
        /// Limit of the rear ultrasonic sensors.
        pub backward_ultrasonic_mm_per_s: i32,
        /// Limit of the optocouplers.
        pub optocoupler_mm_per_s: i32,
    }
}

/// A line of the log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct QueueEntry {
    pub text: Text,
    /// Its number, from 1; 0: none. Not on the wire: a server sends a numbered line once to each of its clients.
    pub number: u32,
}

impl Field for QueueEntry {
    const MIN_LEN: usize = Text::MIN_LEN;

    fn read(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        Ok(Self { text: Text::read(reader)?, number: 0 })
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        self.text.write(bytes);
    }

    #[cfg(test)]
    fn sample(source: &mut super::properties::Source) -> Self {
        Self { text: Text::sample(source), number: 0 }
    }
}
