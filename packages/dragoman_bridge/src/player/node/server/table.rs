//! The device table: a YAML file with the ROS names of each device.
//!
//! ```yaml
//! devices:
//! - device: position2d:0    # the interface's name and the device's number
//!   robot: TurtleBot 2      # the robot that has the device, for the name service; optional
//!   odometry: /odom         # the other keys depend on the interface
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

/// Error in a device table.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// The text is not YAML of this form.
    #[error("{0}")]
    Form(#[from] YamlError),
    /// The text is not a valid Player configuration file.
    #[error("{0}")]
    Config(#[from] ConfigError),
    /// An entry is wrong.
    #[error("device {device}: {reason}")]
    Device {
        /// The device, as written.
        device: String,
        /// Description of the error.
        reason: String,
    },
}

pub use config::{BaseParameters, Configured, base_parameters};

/// The devices of a server.
#[derive(Debug, Clone, Default)]
pub struct Table(BTreeMap<Device, TableEntry>);

#[derive(Debug, Clone)]
struct TableEntry {
    info: DeviceInfo,
    config: DeviceConfig,
}

/// The configuration of a device, mainly its ROS names.
#[derive(Debug, Clone)]
enum DeviceConfig {
    /// A base. Player configuration files may change its options.
    Position2d(position2d::Position2dConfig),
    Other(Other),
}

/// Starts a device with this configuration.
type OpenDevice<T> = fn(&T, Device, &Setup, Feed) -> Result<Opened, BridgeError>;

/// Starts a device; the function contains the device's configuration.
type StartDevice = dyn Fn(Device, &Setup, Feed) -> Result<Opened, BridgeError> + Send + Sync;

#[derive(Clone)]
struct Other(Arc<StartDevice>);

impl Debug for Other {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("Other")
    }
}

/// Reads the configuration of a device.
type ReadConfig = fn(&mut EntryText<'_>) -> Result<DeviceConfig, String>;

/// The supported interfaces.
const SERVED: [(&Interface, ReadConfig); 19] = [
    (&wire::position2d::INTERFACE, |entry| {
        entry.read(position2d::Position2dConfig::check).map(DeviceConfig::Position2d)
    }),
    (&wire::laser::INTERFACE, |entry| entry.config(scan::open)),
    // A ranger is a scanner or several sensors with one range each.
    (&wire::ranger::INTERFACE, |entry| match entry.has_scan {
        true => entry.config(scan::open),
        false => entry.checked_config(ranges::RangesConfig::check, ranges::open),
    }),
    (&wire::sonar::INTERFACE, |entry| entry.checked_config(ranges::RangesConfig::check, ranges::open)),
    (&wire::ir::INTERFACE, |entry| entry.checked_config(ranges::RangesConfig::check, ranges::open)),
    (&wire::bumper::INTERFACE, |entry| entry.config(body::open_bumpers)),
    (&wire::power::INTERFACE, |entry| entry.config(body::open_power)),
    (&wire::imu::INTERFACE, |entry| entry.config(body::open_imu)),
    (&wire::actarray::INTERFACE, |entry| entry.checked_config(joints::ArmConfig::check, joints::open_arm)),
    (&wire::gripper::INTERFACE, |entry| entry.checked_config(gripper::GripperConfig::check, gripper::open)),
    (&wire::camera::INTERFACE, |entry| entry.config(camera::open)),
    (&wire::localize::INTERFACE, |entry| entry.config(localize::open)),
    (&wire::log::INTERFACE, |entry| entry.config(log::open)),
    (&wire::planner::INTERFACE, |entry| entry.config(planner::open)),
    (&wire::limb::INTERFACE, |entry| entry.config(limb::open)),
    (&wire::opaque::INTERFACE, |entry| entry.config(opaque::open)),
    (&wire::map::INTERFACE, |entry| entry.config(map::open)),
    (&wire::vectormap::INTERFACE, |entry| entry.config(vectormap::open)),
    (&wire::simulation::INTERFACE, |entry| entry.config(simulation::open)),
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    devices: Vec<FileEntry>,
}

#[derive(Deserialize)]
struct FileEntry {
    device: String,
    #[serde(default)]
    robot: String,
    #[serde(default)]
    driver: Option<String>,
    #[serde(flatten)]
    config: Mapping,
}

/// The keys of a [`FileEntry`] that every device has.
const COMMON: &[&str] = &["device", "robot", "driver"];

impl Table {
    /// Reads a table.
    ///
    /// # Errors
    /// Not a table; an unknown interface; a device that appears twice; a name that is missing or unknown.
    pub fn from_yaml(text: &str) -> Result<Self, TableError> {
        Self::with_notes(text).map(|(table, _)| table)
    }

    /// As [`Table::from_yaml`], with a note for each unknown key, which is ignored.
    ///
    /// # Errors
    /// As [`Table::from_yaml`].
    pub fn with_notes(text: &str) -> Result<(Self, Vec<Note>), TableError> {
        let (file, mut notes) = yaml::lenient::<File>(text)?;
        let mut devices = BTreeMap::new();
        for (index, FileEntry { device: written, robot, driver, config }) in
            file.devices.into_iter().enumerate()
        {
            let line = line_of(text, &written);
            let of_device = |reason: String| TableError::Device { device: written.clone(), reason };
            let wrong = |reason: String| of_device(Note { line, text: reason }.to_string());
            let device = parse(&written).map_err(wrong)?;
            let served = SERVED.iter().find(|(interface, _)| interface.code == device.interface);
            let (_, read) = served.ok_or_else(|| wrong("this interface is not served".to_owned()))?;
            let has_scan = config.contains_key("scan");
            let mut entry = EntryText { text, index, line, has_scan, left_out: Vec::new() };
            let config = read(&mut entry).map_err(of_device)?;
            notes.extend(
                entry
                    .left_out
                    .into_iter()
                    .map(|note| Note { text: format!("device {written}: {}", note.text), ..note }),
            );
            let driver = driver.unwrap_or_else(|| "dragoman".to_owned());
            if driver.len() > 63 {
                return Err(wrong("a driver's name has at most 63 bytes".to_owned()));
            }
            let info = DeviceInfo { device, driver, robot };
            if devices.insert(device, TableEntry { info, config }).is_some() {
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
        let opened = match &entry.config {
            DeviceConfig::Position2d(config) => position2d::open(config, device, setup, feed),
            DeviceConfig::Other(Other(start)) => start(device, setup, feed),
        };
        opened.map_err(|error| error.to_string())
    }
}

/// Position of an entry in the text of its table.
struct EntryText<'a> {
    text: &'a str,
    index: usize,
    /// Line of the entry's device, from 1; 0 if unknown.
    line: usize,
    /// Whether the entry has the key `scan`.
    has_scan: bool,
    left_out: Vec<Note>,
}

impl EntryText<'_> {
    /// Reads the configuration of the entry's interface.
    fn read<T: DeserializeOwned>(&mut self, check: fn(&T) -> Result<(), String>) -> Result<T, String> {
        let read = yaml::lenient_element(self.text, "devices", self.index, COMMON);
        let (config, left_out) = read.map_err(|error| error.to_string())?;
        self.left_out = left_out;
        check(&config).map_err(|reason| Note { line: self.line, text: reason }.to_string())?;
        Ok(config)
    }

    /// As [`EntryText::read`], for a device that `open` starts.
    fn checked_config<T: DeserializeOwned + Send + Sync + 'static>(
        &mut self,
        check: fn(&T) -> Result<(), String>,
        open: OpenDevice<T>,
    ) -> Result<DeviceConfig, String> {
        let config = self.read(check)?;
        let start = move |device, setup: &Setup, feed| open(&config, device, setup, feed);
        Ok(DeviceConfig::Other(Other(Arc::new(start))))
    }

    fn config<T: DeserializeOwned + Send + Sync + 'static>(
        &mut self,
        open: OpenDevice<T>,
    ) -> Result<DeviceConfig, String> {
        self.checked_config(|_| Ok(()), open)
    }
}

/// The line of a device, from 1; 0 if unknown.
fn line_of(text: &str, device: &str) -> usize {
    let has_device = |line: &str| {
        let line = line.trim_start();
        !line.starts_with('#') && line.contains("device") && line.contains(device)
    };
    text.lines().position(has_device).map_or(0, |at| at + 1)
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

    const TABLE: &str = "devices:\n- device: position2d:0\n  odometry: /odom\n  velocity: /cmd_vel\n";

    #[test]
    fn a_table_lists_its_devices() {
        let table = Table::from_yaml(TABLE).unwrap();
        let device = wire::position2d::INTERFACE.device(0);
        assert_eq!(table.devices().iter().map(|info| info.device).collect::<Vec<_>>(), [device]);
    }

    #[test]
    fn errors_describe_what_is_wrong_in_a_table() {
        let wrong = |text: &str| Table::from_yaml(text).unwrap_err().to_string();
        assert!(wrong(&TABLE.replace("2d:0", "9d:0")).contains("no interface \"position9d\""));
        assert!(wrong(&TABLE.replace("2d:0", "2d")).contains("as position2d:0"));
        assert!(wrong(&TABLE.replace("odometry", "odo")).contains("odo"));
        assert!(wrong(&TABLE.replace("position2d", "player")).contains("not served"));
        let twice = format!("{TABLE}{}", TABLE.replace("devices:\n", ""));
        assert!(wrong(&twice).contains("twice"));
        let wrong_line = |text: &str, expected: &str| assert_eq!(wrong(text), expected);
        wrong_line(
            &TABLE.replace("odometry", "odometri"),
            "device position2d:0: line 3, column 3: the unknown key 'odometri'; did you mean 'odometry'?",
        );
        wrong_line(
            &TABLE.replace("2d:0", "2:0"),
            "device position2:0: line 2: there is no interface \"position2\"; did you mean 'position2d'?",
        );
    }

    #[test]
    fn unknown_keys_are_ignored_with_a_note() {
        let text = format!("version: 2\n{TABLE}  colour: red\n");
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
