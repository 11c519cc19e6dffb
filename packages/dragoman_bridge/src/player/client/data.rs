//! Data and geometry of the interfaces that have a counterpart in ROS.

use crate::player::wire::{
    Bytes, Interface, XdrError, actarray, bumper, camera, common, gripper, imu, ir, laser, limb, localize,
    log, map, opaque, planner, position2d, power, ranger, simulation, sonar, vectormap,
};

/// Declares an enumeration of bodies, and how to find the one of a message.
macro_rules! bodies {
    (
        $(#[$about:meta])*
        $name:ident by $read:ident
        $($(#[$variant_about:meta])* $variant:ident($body:ty) = $module:ident $row:ident;)*
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$variant_about])* $variant($body),)*
        }

        impl $name {
            /// The body of the message with this number. `None`: there is no such message here.
            pub fn decode(interface: u16, subtype: u8, bytes: &[u8]) -> Option<Result<Self, XdrError>> {
                $(if interface == $module::INTERFACE.code && subtype == $module::$row.subtype {
                    return Some($module::$row.$read(bytes).map(Self::$variant));
                })*
                None
            }
        }
    };
}

bodies! {
    /// Data of a device.
    Data by body
    /// Odometry of a base.
    Base(position2d::State) = position2d STATE;
    /// A base has another size.
    BaseGeometry(position2d::Geometry) = position2d GEOMETRY_CHANGED;
    /// Battery.
    Power(power::State) = power STATE;
    /// A gripper's state.
    Gripper(gripper::State) = gripper STATE;
    /// Ranges of ultrasonic sensors.
    Sonar(sonar::Ranges) = sonar RANGES;
    /// Other poses of ultrasonic sensors.
    SonarGeometry(sonar::Geometry) = sonar GEOMETRY_CHANGED;
    /// A scan.
    Laser(laser::Scan) = laser SCAN;
    /// A scan, and where the laser was.
    PosedLaser(laser::PosedScan) = laser POSED_SCAN;
    /// A scan with an angle for each range.
    LaserAngles(laser::AngledScan) = laser ANGLED_SCAN;
    /// Contacts.
    Bumper(bumper::State) = bumper STATE;
    /// Other poses of contacts.
    BumperGeometry(bumper::Geometry) = bumper GEOMETRY_CHANGED;
    /// Ranges of infrared sensors.
    Ir(ir::Ranges) = ir RANGES;
    /// Where the robot may be.
    Localize(localize::Hypotheses) = localize HYPOTHESES;
    /// A picture.
    Camera(camera::Image) = camera IMAGE;
    /// The map has changed.
    MapChanged(map::Info) = map INFO;
    /// A planner's state.
    Planner(planner::State) = planner STATE;
    /// Joints of an arm.
    Actarray(actarray::State) = actarray STATE;
    /// Pose of an arm's end effector.
    Limb(limb::State) = limb STATE;
    /// Bytes that only the driver's programs understand.
    Opaque(Bytes) = opaque STATE;
    /// Pose of an inertial sensor.
    ImuPose(common::Pose3d) = imu STATE;
    /// Measurements of an inertial sensor.
    ImuCalibrated(imu::Calibrated) = imu CALIBRATED;
    /// Measurements, and an orientation as quaternion.
    ImuQuaternion(imu::Quaternion) = imu QUATERNION;
    /// Measurements, and an orientation as angles.
    ImuEuler(imu::Euler) = imu EULER;
    /// Pose, velocity and acceleration of an inertial sensor.
    ImuFull(imu::FullState) = imu FULL_STATE;
    /// Ranges.
    Ranger(ranger::Ranges) = ranger RANGES;
    /// Ranges, and the sensor's geometry and configuration.
    RangerStamped(ranger::StampedRanges) = ranger STAMPED_RANGES;
    /// Other poses of sensors.
    RangerGeometry(ranger::Geometry) = ranger GEOMETRY_CHANGED;
}

bodies! {
    /// Geometry or configuration of a device.
    Fact by answer
    /// Size and origin of a base.
    Base(position2d::Geometry) = position2d GET_GEOMETRY;
    /// Pose and size of a gripper.
    Gripper(gripper::Geometry) = gripper GET_GEOMETRY;
    /// Poses of ultrasonic sensors.
    Sonar(sonar::Geometry) = sonar GET_GEOMETRY;
    /// Pose of a laser.
    Laser(laser::Geometry) = laser GET_GEOMETRY;
    /// A laser's field of view and rate.
    LaserConfig(laser::Config) = laser GET_CONFIG;
    /// Poses of contacts.
    Bumper(bumper::Geometry) = bumper GET_GEOMETRY;
    /// Poses of infrared sensors.
    Ir(ir::Geometry) = ir GET_GEOMETRY;
    /// Joints of an arm.
    Actarray(actarray::Geometry) = actarray GET_GEOMETRY;
    /// Poses of sensors.
    Ranger(ranger::Geometry) = ranger GET_GEOMETRY;
    /// Field of view and rate.
    RangerConfig(ranger::Config) = ranger GET_CONFIG;
}

/// The interfaces with a counterpart in ROS, and the numbers of the questions that are asked after opening a device.
const SHOWN: [(&Interface, &[u8]); 19] = [
    (&position2d::INTERFACE, &[position2d::GET_GEOMETRY.subtype]),
    (&power::INTERFACE, &[]),
    (&gripper::INTERFACE, &[gripper::GET_GEOMETRY.subtype]),
    (&sonar::INTERFACE, &[sonar::GET_GEOMETRY.subtype]),
    (&laser::INTERFACE, &[laser::GET_GEOMETRY.subtype, laser::GET_CONFIG.subtype]),
    (&bumper::INTERFACE, &[bumper::GET_GEOMETRY.subtype]),
    (&ir::INTERFACE, &[ir::GET_GEOMETRY.subtype]),
    (&localize::INTERFACE, &[]),
    (&simulation::INTERFACE, &[]),
    (&camera::INTERFACE, &[]),
    (&map::INTERFACE, &[]),
    (&planner::INTERFACE, &[]),
    (&actarray::INTERFACE, &[actarray::GET_GEOMETRY.subtype]),
    (&imu::INTERFACE, &[]),
    (&limb::INTERFACE, &[]),
    (&log::INTERFACE, &[]),
    (&opaque::INTERFACE, &[]),
    (&vectormap::INTERFACE, &[]),
    (&ranger::INTERFACE, &[ranger::GET_GEOMETRY.subtype, ranger::GET_CONFIG.subtype]),
];

/// Whether devices of this interface are opened.
pub fn is_shown(interface: u16) -> bool {
    SHOWN.iter().any(|(shown, _)| shown.code == interface)
}

/// The numbers of the questions to a device of this interface.
pub fn questions(interface: u16) -> &'static [u8] {
    SHOWN.iter().find(|(shown, _)| shown.code == interface).map_or(&[], |(_, questions)| questions)
}

/// Whether devices of this interface have a map.
pub(super) fn has_map(interface: u16) -> bool {
    interface == map::INTERFACE.code
}
