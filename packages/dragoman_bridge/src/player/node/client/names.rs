//! Names of topics, services and frames.
//!
//! The device with index 0 of an interface has the plain names, others `<interface><index>/` before them. If two
//! interfaces would use the same names (`scan` of a laser and of a ranger), the first in the server's list has them.

use std::collections::{BTreeMap, BTreeSet};

use crate::player::client::data::Fact;
use crate::player::client::{DeviceInfo, State};
use crate::player::wire::{self, Device, ir, laser, position2d, ranger, sonar};

/// Names of a device's topics, services and frames.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Names {
    /// Before its topics and services.
    pub(super) prefix: String,
    /// Its frame, without the prefix of all frames.
    pub(super) frame: String,
    /// Frame of the base that carries it.
    pub(super) base: String,
}

impl Names {
    /// The topic or service `name` of the device.
    pub(super) fn topic(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }
}

/// The device as in configuration files: `position2d:0`.
pub(super) fn device(device: Device) -> String {
    format!("{}:{}", interface(device), device.index)
}

fn interface(device: Device) -> String {
    wire::interface(device.interface)
        .map_or_else(|| format!("interface_{}", device.interface), |interface| interface.name.to_owned())
}

/// Whether a ranger has one range per element, instead of a scan.
pub(super) fn is_array(facts: &[Fact]) -> bool {
    facts.iter().any(|fact| matches!(fact, Fact::Ranger(geometry) if geometry.element_poses.len() > 1))
}

/// The names of all open devices.
pub(super) fn names(devices: &[DeviceInfo]) -> BTreeMap<Device, Names> {
    let open = || devices.iter().filter(|info| info.state == State::Open);
    let mut taken = BTreeSet::new();
    open()
        .map(|info| {
            let Device { interface: code, index } = info.device;
            let own = interface(info.device);
            let group = if code == laser::INTERFACE.code {
                "scan"
            } else if code == sonar::INTERFACE.code || code == ir::INTERFACE.code {
                "range"
            } else if code == ranger::INTERFACE.code {
                if is_array(&info.facts) { "range" } else { "scan" }
            } else {
                &own
            };
            let is_plain = index == 0 && taken.insert(group.to_owned());
            // A base of another driver is likely a filter in front of the same base, such as an obstacle avoidance.
            let is_its_base = |base: &DeviceInfo| {
                base.device == position2d::INTERFACE.device(index) && base.driver == info.driver
            };
            let base = if index > 0 && open().any(is_its_base) {
                format!("{}{index}/", position2d::INTERFACE.name)
            } else {
                String::new()
            };
            let names = Names {
                prefix: if is_plain { String::new() } else { format!("{own}{index}/") },
                frame: if index == 0 { own } else { format!("{own}{index}") },
                base,
            };
            (info.device, names)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::player::wire::power;
    use crate::player::wire::ranger::Geometry;

    fn open(device: Device, facts: Vec<Fact>) -> DeviceInfo {
        DeviceInfo { device, driver: String::new(), state: State::Open, facts }
    }

    #[test]
    fn the_first_device_has_the_plain_names() {
        let filtered =
            DeviceInfo { driver: "vfh".to_owned(), ..open(position2d::INTERFACE.device(2), Vec::new()) };
        let array = Geometry { element_poses: vec![Default::default(); 8], ..Geometry::default() };
        let devices = [
            open(position2d::INTERFACE.device(0), Vec::new()),
            open(position2d::INTERFACE.device(1), Vec::new()),
            open(ranger::INTERFACE.device(0), vec![Fact::Ranger(array)]),
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
}
