//! Which ROS names are which device: a YAML file.
//!
//! ```yaml
//! devices:
//! - device: position2d:0    # the interface's name and the device's number
//!   robot: TurtleBot 2      # whose device it is, for the name service; may be left out
//!   odometry: /odom         # the rest is the interface's own
//!   velocity: /cmd_vel
//! ```

mod config;

use std::collections::BTreeMap;

use dragoman_text::yaml::{self, YamlError};
use dragoman_text::{Note, hint};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_norway::Mapping;

use super::driver::{Feed, Opened, Setup};
use super::{
    body, camera, gripper, joints, limb, localize, log, map, opaque, planner, position2d, ranges, scan,
    simulation, vectormap,
};
use crate::player::server::DeviceInfo;
use crate::player::server::config_file::ConfigError;
use crate::player::wire::{self, Device};

/// Why a table cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// It is not YAML of this form.
    #[error("{0}")]
    Form(#[from] YamlError),
    /// It is no configuration file of Player.
    #[error("{0}")]
    Config(#[from] ConfigError),
    /// An entry is wrong.
    #[error("device {device}: {reason}")]
    Device {
        /// The device, as written.
        device: String,
        /// Why.
        reason: String,
    },
}

pub use config::{BaseParameters, Configured, base_parameters};

/// The devices of a server.
#[derive(Debug, Clone, Default)]
pub struct Table(BTreeMap<Device, Entry>);

#[derive(Debug, Clone)]
struct Entry {
    info: DeviceInfo,
    names: Names,
}

/// The ROS names of a device, by its interface.
#[derive(Debug, Clone)]
enum Names {
    Position2d(position2d::Names),
    Scan(scan::Names),
    Ranges(ranges::Names),
    Bumper(body::BumperNames),
    Power(body::PowerNames),
    Imu(body::ImuNames),
    Arm(joints::ArmNames),
    Gripper(gripper::Names),
    Camera(camera::Names),
    Localize(localize::Names),
    Log(log::Names),
    Planner(planner::Names),
    Limb(limb::Names),
    Opaque(opaque::Names),
    Map(map::Names),
    VectorMap(map::Names),
    Simulation(simulation::Names),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    devices: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    device: String,
    #[serde(default)]
    robot: String,
    #[serde(default)]
    driver: Option<String>,
    #[serde(flatten)]
    names: Mapping,
}

/// The keys of a [`Row`] that every device has.
const COMMON: &[&str] = &["device", "robot", "driver"];

impl Table {
    /// Reads a table.
    ///
    /// # Errors
    /// Not a table; an unknown interface; a device that appears twice; a name that is missing or unknown.
    pub fn from_yaml(text: &str) -> Result<Self, TableError> {
        Self::with_notes(text).map(|(table, _)| table)
    }

    /// As [`Table::from_yaml`], with what was left out.
    ///
    /// # Errors
    /// As [`Table::from_yaml`].
    pub fn with_notes(text: &str) -> Result<(Self, Vec<Note>), TableError> {
        let (file, mut notes) = yaml::lenient::<File>(text)?;
        let mut devices = BTreeMap::new();
        for (index, Row { device: written, robot, driver, names }) in file.devices.into_iter().enumerate() {
            let line = line_of(text, &written);
            let of_device = |reason: String| TableError::Device { device: written.clone(), reason };
            let wrong = |reason: String| of_device(Note { line, text: reason }.to_string());
            let device = parse(&written).map_err(wrong)?;
            // A ranger is a scanner or several sensors with one range each.
            let has_scan = names.contains_key("scan");
            let mut row = RowText { text, index, line, left_out: Vec::new() };
            let names = Names::read(device, has_scan, &mut row).map_err(of_device)?;
            notes.extend(
                row.left_out
                    .into_iter()
                    .map(|note| Note { text: format!("device {written}: {}", note.text), ..note }),
            );
            let driver = driver.unwrap_or_else(|| "dragoman".to_owned());
            if driver.len() > 63 {
                return Err(wrong("a driver's name has at most 63 bytes".to_owned()));
            }
            let info = DeviceInfo { device, driver, robot };
            if devices.insert(device, Entry { info, names }).is_some() {
                return Err(wrong("it appears twice".to_owned()));
            }
        }
        Ok((Self(devices), notes))
    }

    /// The devices, for the server's core.
    pub(super) fn devices(&self) -> Vec<DeviceInfo> {
        self.0.values().map(|entry| entry.info.clone()).collect()
    }

    /// Starts a device.
    pub(super) fn open(&self, device: Device, setup: &Setup, feed: Feed) -> Result<Opened, String> {
        let Some(entry) = self.0.get(&device) else { return Err("there is no such device".to_owned()) };
        let opened = match &entry.names {
            Names::Position2d(names) => position2d::open(names, device, setup, feed),
            Names::Scan(names) => scan::open(names, device, setup, feed),
            Names::Ranges(names) => ranges::open(names, device, setup, feed),
            Names::Bumper(names) => body::open_bumpers(names, device, setup, feed),
            Names::Power(names) => body::open_power(names, device, setup, feed),
            Names::Imu(names) => body::open_imu(names, device, setup, feed),
            Names::Arm(names) => joints::open_arm(names, device, setup, feed),
            Names::Gripper(names) => gripper::open(names, device, setup, feed),
            Names::Camera(names) => camera::open(names, device, setup, feed),
            Names::Localize(names) => localize::open(names, device, setup, feed),
            Names::Log(names) => log::open(names, device, setup, feed),
            Names::Planner(names) => planner::open(names, device, setup, feed),
            Names::Limb(names) => limb::open(names, device, setup, feed),
            Names::Opaque(names) => opaque::open(names, device, setup, feed),
            Names::Map(names) => map::open(names, device, setup, feed),
            Names::VectorMap(names) => vectormap::open(names, device, setup, feed),
            Names::Simulation(names) => simulation::open(names, device, setup, feed),
        };
        opened.map_err(|error| error.to_string())
    }
}

/// Where a row is in the text of its table.
struct RowText<'a> {
    text: &'a str,
    index: usize,
    /// That of its device.
    line: usize,
    left_out: Vec<Note>,
}

impl RowText<'_> {
    /// Reads the names of the row's interface.
    fn read<T: DeserializeOwned>(&mut self) -> Result<T, String> {
        let read = yaml::lenient_element(self.text, "devices", self.index, COMMON);
        let (names, left_out) = read.map_err(|error| error.to_string())?;
        self.left_out = left_out;
        Ok(names)
    }

    /// As [`RowText::read`], with what they must be.
    fn read_checked<T: DeserializeOwned>(
        &mut self,
        check: impl Fn(&T) -> Result<(), String>,
    ) -> Result<T, String> {
        let names = self.read()?;
        check(&names).map_err(|reason| Note { line: self.line, text: reason }.to_string())?;
        Ok(names)
    }
}

impl Names {
    fn read(device: Device, has_scan: bool, row: &mut RowText<'_>) -> Result<Self, String> {
        let is = |interface: &wire::Interface| device.interface == interface.code;
        if is(&wire::position2d::INTERFACE) {
            row.read_checked(position2d::Names::check).map(Self::Position2d)
        } else if is(&wire::laser::INTERFACE) || (is(&wire::ranger::INTERFACE) && has_scan) {
            row.read().map(Self::Scan)
        } else if [&wire::ranger::INTERFACE, &wire::sonar::INTERFACE, &wire::ir::INTERFACE]
            .into_iter()
            .any(is)
        {
            row.read_checked(ranges::Names::check).map(Self::Ranges)
        } else if is(&wire::bumper::INTERFACE) {
            row.read().map(Self::Bumper)
        } else if is(&wire::power::INTERFACE) {
            row.read().map(Self::Power)
        } else if is(&wire::imu::INTERFACE) {
            row.read().map(Self::Imu)
        } else if is(&wire::actarray::INTERFACE) {
            row.read_checked(joints::ArmNames::check).map(Self::Arm)
        } else if is(&wire::gripper::INTERFACE) {
            row.read_checked(gripper::Names::check).map(Self::Gripper)
        } else if is(&wire::camera::INTERFACE) {
            row.read().map(Self::Camera)
        } else if is(&wire::localize::INTERFACE) {
            row.read().map(Self::Localize)
        } else if is(&wire::log::INTERFACE) {
            row.read().map(Self::Log)
        } else if is(&wire::planner::INTERFACE) {
            row.read().map(Self::Planner)
        } else if is(&wire::limb::INTERFACE) {
            row.read().map(Self::Limb)
        } else if is(&wire::opaque::INTERFACE) {
            row.read().map(Self::Opaque)
        } else if is(&wire::map::INTERFACE) {
            row.read().map(Self::Map)
        } else if is(&wire::vectormap::INTERFACE) {
            row.read().map(Self::VectorMap)
        } else if is(&wire::simulation::INTERFACE) {
            row.read().map(Self::Simulation)
        } else {
            Err(Note { line: row.line, text: "this interface is not served".to_owned() }.to_string())
        }
    }
}

/// The line of a device, from 1; 0 if unknown.
fn line_of(text: &str, device: &str) -> usize {
    let names_it = |line: &str| {
        let line = line.trim_start();
        !line.starts_with('#') && line.contains("device") && line.contains(device)
    };
    text.lines().position(names_it).map_or(0, |at| at + 1)
}

/// Reads `position2d:0`.
fn parse(text: &str) -> Result<Device, String> {
    let form = || "a device is an interface and a number, as position2d:0".to_owned();
    let (name, index) = text.split_once(':').ok_or_else(form)?;
    let interface = wire::INTERFACES.into_iter().find(|interface| interface.name == name);
    let known = || wire::INTERFACES.into_iter().map(|interface| interface.name);
    let interface =
        interface.ok_or_else(|| format!("there is no interface \"{name}\"{}", hint(name, known())))?;
    Ok(interface.device(index.parse().map_err(|_parse| form())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: &str = "devices:\n- device: position2d:0\n  odometry: /odom\n  velocity: /cmd_vel\n";

    #[test]
    fn a_table_names_its_devices() {
        let table = Table::from_yaml(ROW).unwrap();
        let device = wire::position2d::INTERFACE.device(0);
        assert_eq!(table.devices().iter().map(|info| info.device).collect::<Vec<_>>(), [device]);
    }

    #[test]
    fn a_wrong_table_says_what_is_wrong() {
        let wrong = |text: &str| Table::from_yaml(text).unwrap_err().to_string();
        assert!(wrong(&ROW.replace("2d:0", "9d:0")).contains("no interface \"position9d\""));
        assert!(wrong(&ROW.replace("2d:0", "2d")).contains("as position2d:0"));
        assert!(wrong(&ROW.replace("odometry", "odo")).contains("odo"));
        assert!(wrong(&ROW.replace("position2d", "player")).contains("not served"));
        let twice = format!("{ROW}{}", ROW.replace("devices:\n", ""));
        assert!(wrong(&twice).contains("twice"));
        let wrong_line = |text: &str, expected: &str| assert_eq!(wrong(text), expected);
        wrong_line(
            &ROW.replace("odometry", "odometri"),
            "device position2d:0: line 3, column 3: the unknown key 'odometri'; did you mean 'odometry'?",
        );
        wrong_line(
            &ROW.replace("2d:0", "2:0"),
            "device position2:0: line 2: there is no interface \"position2\"; did you mean 'position2d'?",
        );
    }

    #[test]
    fn what_is_unknown_is_left_out_with_a_note() {
        let text = format!("version: 2\n{ROW}  colour: red\n");
        let (table, notes) = Table::with_notes(&text).unwrap();
        assert_eq!(table.devices().len(), 1);
        assert_eq!(
            notes.iter().map(ToString::to_string).collect::<Vec<_>>(),
            [
                "line 1: the unknown key 'version' is left out",
                "line 6: device position2d:0: the unknown key 'colour' is left out",
            ]
        );
    }
}
