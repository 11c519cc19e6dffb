//! The interfaces that have a counterpart in ROS.

use crate::player::wire::{
    Interface, actarray, bumper, camera, gripper, imu, ir, laser, limb, localize, log, map, opaque, planner,
    position2d, power, ranger, simulation, sonar, vectormap,
};

/// The interfaces with a counterpart in ROS, each with the numbers of the requests that are sent after opening a
/// device.
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
pub(super) fn is_shown(interface: u16) -> bool {
    SHOWN.iter().any(|(shown, _)| shown.code == interface)
}

/// The numbers of the requests that are sent to a device of this interface after opening it.
pub(super) fn questions(interface: u16) -> &'static [u8] {
    SHOWN.iter().find(|(shown, _)| shown.code == interface).map_or(&[], |(_, questions)| questions)
}

/// Whether this data of a supported interface has a counterpart in ROS.
pub(super) fn has_place(interface: u16, subtype: u8) -> bool {
    let intensities = [ranger::INTENSITIES.subtype, ranger::STAMPED_INTENSITIES.subtype];
    interface != ranger::INTERFACE.code || !intensities.contains(&subtype)
}

/// Whether devices of this interface have a map.
pub(super) fn has_map(interface: u16) -> bool {
    interface == map::INTERFACE.code
}
