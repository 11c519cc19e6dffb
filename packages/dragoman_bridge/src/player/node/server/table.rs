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
use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

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
use crate::BridgeError;
use crate::player::server::DeviceInfo;
use crate::player::server::config_file::ConfigError;
use crate::player::wire::{self, Device, Interface};

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

/// The ROS names of a device.
#[derive(Debug, Clone)]
enum Names {
    /// A base, which configuration files have options for.
    Position2d(position2d::Names),
    Other(Other),
}

/// Starts a device with these names.
type Open<T> = fn(&T, Device, &Setup, Feed) -> Result<Opened, BridgeError>;

/// Starts a device whose names it has.
type Start = dyn Fn(Device, &Setup, Feed) -> Result<Opened, BridgeError> + Send + Sync;

#[derive(Clone)]
struct Other(Arc<Start>);

impl Debug for Other {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("Other")
    }
}

/// Reads the names of a device.
type Read = fn(&mut RowText<'_>) -> Result<Names, String>;

/// The interfaces that are served.
const SERVED: [(&Interface, Read); 19] = [
    (&wire::position2d::INTERFACE, |row| row.read(position2d::Names::check).map(Names::Position2d)),
    (&wire::laser::INTERFACE, |row| row.names(scan::open)),
    // A ranger is a scanner or several sensors with one range each.
    (&wire::ranger::INTERFACE, |row| match row.has_scan {
        true => row.names(scan::open),
        false => row.checked_names(ranges::Names::check, ranges::open),
    }),
    (&wire::sonar::INTERFACE, |row| row.checked_names(ranges::Names::check, ranges::open)),
    (&wire::ir::INTERFACE, |row| row.checked_names(ranges::Names::check, ranges::open)),
    (&wire::bumper::INTERFACE, |row| row.names(body::open_bumpers)),
    (&wire::power::INTERFACE, |row| row.names(body::open_power)),
    (&wire::imu::INTERFACE, |row| row.names(body::open_imu)),
    (&wire::actarray::INTERFACE, |row| row.checked_names(joints::ArmNames::check, joints::open_arm)),
    (&wire::gripper::INTERFACE, |row| row.checked_names(gripper::Names::check, gripper::open)),
    (&wire::camera::INTERFACE, |row| row.names(camera::open)),
    (&wire::localize::INTERFACE, |row| row.names(localize::open)),
    (&wire::log::INTERFACE, |row| row.names(log::open)),
    (&wire::planner::INTERFACE, |row| row.names(planner::open)),
    (&wire::limb::INTERFACE, |row| row.names(limb::open)),
    (&wire::opaque::INTERFACE, |row| row.names(opaque::open)),
    (&wire::map::INTERFACE, |row| row.names(map::open)),
    (&wire::vectormap::INTERFACE, |row| row.names(vectormap::open)),
    (&wire::simulation::INTERFACE, |row| row.names(simulation::open)),
];

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
            let served = SERVED.iter().find(|(interface, _)| interface.code == device.interface);
            let (_, read) = served.ok_or_else(|| wrong("this interface is not served".to_owned()))?;
            let has_scan = names.contains_key("scan");
            let mut row = RowText { text, index, line, has_scan, left_out: Vec::new() };
            let names = read(&mut row).map_err(of_device)?;
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
            Names::Other(Other(start)) => start(device, setup, feed),
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
    /// It has the name of a scan.
    has_scan: bool,
    left_out: Vec<Note>,
}

impl RowText<'_> {
    /// Reads the names of the row's interface.
    fn read<T: DeserializeOwned>(&mut self, check: fn(&T) -> Result<(), String>) -> Result<T, String> {
        let read = yaml::lenient_element(self.text, "devices", self.index, COMMON);
        let (names, left_out) = read.map_err(|error| error.to_string())?;
        self.left_out = left_out;
        check(&names).map_err(|reason| Note { line: self.line, text: reason }.to_string())?;
        Ok(names)
    }

    /// As [`RowText::read`], of a device that `open` starts.
    fn checked_names<T: DeserializeOwned + Send + Sync + 'static>(
        &mut self,
        check: fn(&T) -> Result<(), String>,
        open: Open<T>,
    ) -> Result<Names, String> {
        let names = self.read(check)?;
        let start = move |device, setup: &Setup, feed| open(&names, device, setup, feed);
        Ok(Names::Other(Other(Arc::new(start))))
    }

    fn names<T: DeserializeOwned + Send + Sync + 'static>(&mut self, open: Open<T>) -> Result<Names, String> {
        self.checked_names(|_| Ok(()), open)
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
