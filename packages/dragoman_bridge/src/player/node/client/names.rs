//! Names of topics, services and frames.
//!
//! The names of the device with index 0 of an interface have no prefix; those of other devices have the prefix
//! `<interface><index>/`. If two interfaces would use the same names (`scan` of a laser and of a ranger), the first
//! device in the server's list gets them. If no device with index 0 has `scan` or `range`, the first device on base 0
//! gets the name: Stage's robots often have ultrasonic sensors as `ranger:0`, and the laser as `ranger:1`.

use std::collections::BTreeMap;

use crate::player::client::{DeviceInfo, DeviceState};
use crate::player::wire::{self, Answer, Device, ir, laser, position2d, ranger, sonar};

/// Names of a device's topics, services and frames.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DeviceNames {
    /// Prefix of its topics and services.
    pub(super) prefix: String,
    /// Frame of the device, without the prefix of all frames.
    pub(super) frame: String,
    /// Frame of the base that carries it.
    pub(super) base: String,
}

impl DeviceNames {
    /// The topic or service `name` of the device.
    pub(super) fn topic(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }
}

/// The device's name as in configuration files: `position2d:0`.
pub(super) fn device(device: Device) -> String {
    format!("{}:{}", interface(device), device.index)
}

fn interface(device: Device) -> String {
    wire::interface(device.interface)
        .map_or_else(|| format!("interface_{}", device.interface), |interface| interface.name.to_owned())
}

/// Whether a ranger has one range per element, instead of a scan.
pub(super) fn is_array(facts: &[Answer]) -> bool {
    facts.iter().any(|fact| match fact {
        Answer::Ranger(ranger::Answer::GetGeometry(geometry)) => geometry.element_poses.len() > 1,
        _ => false,
    })
}

/// The names of all open devices.
pub(super) fn names(devices: &[DeviceInfo]) -> BTreeMap<Device, DeviceNames> {
    let open = || devices.iter().filter(|info| info.state == DeviceState::Open);
    // A base of another driver is likely a filter in front of the same base, such as an obstacle avoidance.
    let base = |info: &DeviceInfo| {
        let device = position2d::INTERFACE.device(info.device.index);
        let is_its_base = |base: &DeviceInfo| base.device == device && base.driver == info.driver;
        if device.index > 0 && open().any(is_its_base) {
            format!("{}{}/", position2d::INTERFACE.name, device.index)
        } else {
            String::new()
        }
    };
    let mut plain = BTreeMap::new();
    for info in open().filter(|info| info.device.index == 0) {
        plain.entry(group(info)).or_insert(info.device);
    }
    for info in open().filter(|info| base(info).is_empty()) {
        if let group @ ("scan" | "range") = group(info).as_str() {
            plain.entry(group.to_owned()).or_insert(info.device);
        }
    }
    open()
        .map(|info| {
            let Device { index, .. } = info.device;
            let own = interface(info.device);
            let is_plain = plain.get(&group(info)) == Some(&info.device);
            let names = DeviceNames {
                prefix: if is_plain { String::new() } else { format!("{own}{index}/") },
                frame: if index == 0 { own } else { format!("{own}{index}") },
                base: base(info),
            };
            (info.device, names)
        })
        .collect()
}

/// Devices with equal values have the same topic names.
fn group(info: &DeviceInfo) -> String {
    let code = info.device.interface;
    if code == laser::INTERFACE.code {
        "scan".to_owned()
    } else if code == sonar::INTERFACE.code || code == ir::INTERFACE.code {
        "range".to_owned()
    } else if code == ranger::INTERFACE.code {
        if is_array(&info.facts) { "range".to_owned() } else { "scan".to_owned() }
    } else {
        interface(info.device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::player::wire::power;
    use crate::player::wire::ranger::Geometry;

    fn open(device: Device, facts: Vec<Answer>) -> DeviceInfo {
        DeviceInfo { device, driver: String::new(), state: DeviceState::Open, facts }
    }

    fn geometry(geometry: Geometry) -> Answer {
        Answer::Ranger(ranger::Answer::GetGeometry(geometry))
    }

    #[test]
    fn the_first_device_has_the_plain_names() {
        let filtered =
            DeviceInfo { driver: "vfh".to_owned(), ..open(position2d::INTERFACE.device(2), Vec::new()) };
        let array = Geometry { element_poses: vec![Default::default(); 8], ..Geometry::default() };
        let devices = [
            open(position2d::INTERFACE.device(0), Vec::new()),
            open(position2d::INTERFACE.device(1), Vec::new()),
            open(ranger::INTERFACE.device(0), vec![geometry(array)]),
            open(ranger::INTERFACE.device(1), Vec::new()),
            open(laser::INTERFACE.device(0), Vec::new()),
            open(sonar::INTERFACE.device(0), Vec::new()),
            open(power::INTERFACE.device(2), Vec::new()),
            filtered,
        ];
        let names = names(&devices);
        let of = |device: Device| {
            let names = &names[&device];
            (names.topic("x"), names.frame.as_str(), names.base.as_str())
        };
        assert_eq!(of(position2d::INTERFACE.device(0)), ("x".to_owned(), "position2d", ""));
        let second = ("position2d1/x".to_owned(), "position2d1", "position2d1/");
        assert_eq!(of(position2d::INTERFACE.device(1)), second);
        assert_eq!(of(ranger::INTERFACE.device(0)), ("x".to_owned(), "ranger", ""));
        assert_eq!(of(ranger::INTERFACE.device(1)), ("ranger1/x".to_owned(), "ranger1", "position2d1/"));
        assert_eq!(of(laser::INTERFACE.device(0)), ("x".to_owned(), "laser", ""));
        assert_eq!(of(sonar::INTERFACE.device(0)), ("sonar0/x".to_owned(), "sonar", ""));
        assert_eq!(of(power::INTERFACE.device(2)), ("power2/x".to_owned(), "power2", ""));
    }

    #[test]
    fn the_laser_of_a_robot_of_stage_has_the_plain_name() {
        let array = || {
            let geometry = Geometry { element_poses: vec![Default::default(); 8], ..Geometry::default() };
            vec![self::geometry(geometry)]
        };
        let prefixes = |devices: &[DeviceInfo]| {
            names(devices).into_values().map(|names| names.topic("x")).collect::<Vec<_>>()
        };
        let (base, ranger) = (position2d::INTERFACE, ranger::INTERFACE);
        let mut devices = vec![
            open(base.device(0), Vec::new()),
            open(ranger.device(0), array()),
            open(ranger.device(1), Vec::new()),
            open(ranger.device(2), Vec::new()),
        ];
        assert_eq!(prefixes(&devices), ["x", "x", "x", "ranger2/x"]);
        // It may be the sensor of another robot.
        devices.push(open(base.device(1), Vec::new()));
        assert_eq!(prefixes(&devices), ["x", "position2d1/x", "x", "ranger1/x", "x"]);
        // A device with number 0 comes first.
        devices.push(open(laser::INTERFACE.device(0), Vec::new()));
        assert_eq!(prefixes(&devices).last().unwrap(), "ranger2/x");
    }
}
