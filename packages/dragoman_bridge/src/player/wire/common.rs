//! What several interfaces use.

use super::xdr::structures;

structures! {
    /// A pose or a velocity on a plane: m, m, rad, or m/s, m/s, rad/s.
    pub struct Pose2d {
        /// Ahead.
        pub x: f64,
        /// To the left.
        pub y: f64,
        /// Counterclockwise.
        pub yaw: f64,
    }

    /// A point or a vector in space.
    pub struct Point3d {
        /// Ahead.
        pub x: f64,
        /// To the left.
        pub y: f64,
        /// Upward.
        pub z: f64,
    }

    /// Angles about x, y and z, rad.
    pub struct Orientation3d {
        /// About x.
        pub roll: f64,
        /// About y.
        pub pitch: f64,
        /// About z.
        pub yaw: f64,
    }

    /// A pose in space: m and rad.
    pub struct Pose3d {
        /// Position.
        pub position: Point3d,
        /// Orientation.
        pub orientation: Orientation3d,
    }

    /// The size of a box, m. The width comes first.
    pub struct Size3d {
        /// Along y.
        pub width: f64,
        /// Along x.
        pub length: f64,
        /// Along z.
        pub height: f64,
    }

    /// Where a device is, and its size.
    pub struct Geometry {
        /// Pose of the device's origin in the robot's frame.
        pub pose: Pose3d,
        /// Size, m.
        pub size: Size3d,
    }

    /// A line segment on a plane, m.
    pub struct Segment {
        /// Start along x.
        pub x0: f64,
        /// Start along y.
        pub y0: f64,
        /// End along x.
        pub x1: f64,
        /// End along y.
        pub y1: f64,
    }
}
