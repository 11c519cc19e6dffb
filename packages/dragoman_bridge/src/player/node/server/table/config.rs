//! Finds the devices for the drivers of a Player configuration file in the device table.

use std::collections::{BTreeMap, BTreeSet};

use super::{DeviceConfig, Table, TableEntry, TableError};
use crate::player::server::config_file::{ConfigFile, DriverConfig, Unread, Value};
use crate::player::wire::{self, Device};

/// Options of base drivers: maximum speed.
const SPEEDS: [&str; 3] = ["max_xspeed", "max_trans_vel", "max_speed"];
/// Options of base drivers: maximum turn rate.
const TURN_RATES: [&str; 4] = ["max_yawspeed", "max_rot_vel", "max_turnspeed", "max_turn_rate"];
/// Options of base drivers: distance between the wheels.
const WHEEL_SEPARATIONS: [&str; 4] = ["wheel_separation", "wheel_distance", "axle_length", "wheelbase"];

/// The server that a configuration file describes.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct Configured {
    pub table: Table,
    pub port: Option<u16>,
    /// Options without effect, each with its place in the file and the reason.
    pub notes: Vec<String>,
}

impl Table {
    /// Reads a Player configuration file. Each of its devices is matched with a device of this table: first by the
    /// driver's name, otherwise by interface and number. `include` reads the included files.
    ///
    /// # Errors
    /// Not a configuration file; an option without a number.
    pub fn configured(
        &self,
        text: &str,
        include: impl FnMut(&str) -> Result<String, String>,
    ) -> Result<Configured, TableError> {
        let file = ConfigFile::parse(text, include)?;
        let (mut devices, mut notes) = (BTreeMap::new(), Vec::new());
        let mut used = BTreeSet::new();
        for driver in file.drivers()? {
            for provided in &driver.provides {
                let name = format!("{}:{}", provided.interface, provided.index);
                let mut note = |what: &str| notes.push(format!("{}: {name}: {what}", provided.place));
                let known = wire::INTERFACES.into_iter().find(|known| known.name == provided.interface);
                let Some(interface) = known else {
                    let known = wire::INTERFACES.into_iter().map(|known| known.name);
                    let hint = did_you_mean(&provided.interface, known);
                    note(&format!("this interface is not known{hint}"));
                    continue;
                };
                let device = interface.device(provided.index);
                let Some((source, entry)) = self.find(device, driver.name, &used) else {
                    note("no robot in ROS has such a device");
                    continue;
                };
                used.insert(source);
                let mut entry = entry.clone();
                entry.info.device = device;
                driver.name.clone_into(&mut entry.info.driver);
                if let DeviceConfig::Position2d(config) = &mut entry.config {
                    let units = file.units();
                    let first = |options: &[&str]| options.iter().find_map(|name| driver.options.value(name));
                    if let Some(value) = first(&SPEEDS) {
                        config.max_speed = Some(value.length(units)?);
                    }
                    if let Some(value) = first(&TURN_RATES) {
                        config.max_turn_rate = Some(value.angle(units)?);
                    }
                    let place = &provided.place;
                    config.check().map_err(|reason| TableError::Device {
                        device: format!("{place}: {name}"),
                        reason,
                    })?;
                    if let Some(value) = first(&WHEEL_SEPARATIONS) {
                        match check_wheels(value.length(units)?, config.wheel_separation) {
                            Ok(remark) => remark.into_iter().for_each(|remark| note(&remark)),
                            Err(reason) => {
                                let device = format!("{}: {name}", value.place());
                                return Err(TableError::Device { device, reason });
                            }
                        }
                    }
                }
                if devices.insert(device, entry).is_some() {
                    note("it appears twice; the last one counts");
                }
            }
            note_requires(&driver, &mut notes);
        }
        let global = file.sections().first();
        let port = global.and_then(|options| options.value("port")).map(Value::integer).transpose()?;
        let port = port.map(|port| u16::try_from(port).map_err(|_| out_of_range(port))).transpose()?;
        notes.extend(file.unread().iter().map(without_effect));
        Ok(Configured { table: Self(devices), port, notes })
    }

    fn find(&self, device: Device, driver: &str, used: &BTreeSet<Device>) -> Option<(Device, &TableEntry)> {
        let fits = |(other, entry): &(&Device, &TableEntry)| {
            other.interface == device.interface && entry.info.driver == driver && !used.contains(other)
        };
        let by_driver = self.0.iter().find(fits);
        let (source, entry) = by_driver.or_else(|| self.0.get_key_value(&device))?;
        Some((*source, entry))
    }
}

/// Maximum relative difference between two distances of wheels.
const SAME_WHEELS: f64 = 0.01;

/// Compares the distance between the wheels in a file with that of the robot, m. Returns a note if the robot's distance
/// is unknown.
///
/// # Errors
/// The distances differ: the file is for another robot.
fn check_wheels(given: f64, own: Option<f64>) -> Result<Option<String>, String> {
    match own {
        Some(own) if (given - own).abs() <= SAME_WHEELS * own => Ok(None),
        Some(own) => Err(format!(
            "wheels {given} m apart; those of the robot in ROS are {own} m apart. Remove the option, or change the robot's description"
        )),
        None => Ok(Some(format!(
            "the distance of the wheels has no effect here; for a base on a port: dragoman base --player-config, or -p mobile_base:wheel_separation:={given}"
        ))),
    }
}

/// Options of base drivers: radius of the wheels, and bits per second on the port.
const WHEEL_RADII: [&str; 1] = ["wheel_radius"];
const BAUDS: [&str; 3] = ["baud", "baudrate", "baud_rate"];

/// The base on a serial port that a configuration file describes.
#[derive(Debug, PartialEq)]
pub struct BaseParameters {
    /// Names and values of parameters of the node `mobile_base`, without its port.
    pub parameters: Vec<(&'static str, f64)>,
    /// Bits per second on the serial port.
    pub baud: Option<i64>,
    /// The serial port.
    pub port: Option<String>,
    /// Options without effect, with their places in the file.
    pub notes: Vec<String>,
}

/// Reads the first driver that provides `position2d` from a configuration file of Player. `include` reads the included
/// files.
///
/// # Errors
/// Not a configuration file; no such driver; an option without a number.
pub fn base_parameters(
    text: &str,
    include: impl FnMut(&str) -> Result<String, String>,
) -> Result<BaseParameters, TableError> {
    let file = ConfigFile::parse(text, include)?;
    let interface = wire::position2d::INTERFACE.name;
    let is_base = |driver: &DriverConfig<'_>| driver.provides.iter().any(|it| it.interface == interface);
    let none = || TableError::Device {
        device: format!("{interface}:0"),
        reason: "no driver of the file provides it".to_owned(),
    };
    let driver = file.drivers()?.into_iter().find(is_base).ok_or_else(none)?;
    let first = |options: &[&str]| options.iter().find_map(|name| driver.options.value(name));
    let units = file.units();
    let lengths: [(&str, &[&str]); 3] = [
        ("wheel_separation", &WHEEL_SEPARATIONS),
        ("wheel_radius", &WHEEL_RADII),
        ("linear.max_velocity", &SPEEDS),
    ];
    let mut parameters = Vec::new();
    for (parameter, options) in lengths {
        if let Some(value) = first(options) {
            parameters.push((parameter, value.length(units)?));
        }
    }
    if let Some(value) = first(&TURN_RATES) {
        parameters.push(("angular.max_velocity", value.angle(units)?));
    }
    let baud = first(&BAUDS).map(Value::integer).transpose()?;
    let port = first(&["port"]).map(|port| port.text().to_owned());
    let unread = file.unread().into_iter();
    let notes = unread.map(|it| without_effect(&it)).collect();
    Ok(BaseParameters { parameters, baud, port, notes })
}

/// Options that have an effect, and global ones.
fn known_options() -> impl Iterator<Item = &'static str> {
    let lists = [&SPEEDS[..], &TURN_RATES, &WHEEL_SEPARATIONS, &WHEEL_RADII, &BAUDS];
    lists.into_iter().flatten().copied().chain(["port", "unit_length", "unit_angle"])
}

fn without_effect(unread: &Unread<'_>) -> String {
    let Unread { option, place, .. } = unread;
    // A base on a port uses more options than a device.
    let is_known = known_options().any(|known| known == *option);
    let hint = if is_known { String::new() } else { did_you_mean(option, known_options()) };
    format!("{place}: option {option} has no effect{hint}")
}

fn did_you_mean<'a>(given: &str, known: impl Iterator<Item = &'a str>) -> String {
    let nearest = dragoman_text::nearest(given, known);
    nearest.map(|nearest| format!("; did you mean '{nearest}'?")).unwrap_or_default()
}

fn note_requires(driver: &DriverConfig<'_>, notes: &mut Vec<String>) {
    if let Some(first) = driver.requires.first() {
        notes.push(format!("{}: driver {} takes its devices from ROS", first.place, driver.name));
    }
}

fn out_of_range(port: i64) -> TableError {
    TableError::Device { device: "player".to_owned(), reason: format!("{port} is no port") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &str = "devices:
- { device: \"position2d:0\", driver: kobuki, odometry: odom, velocity: cmd_vel }
- { device: \"position2d:1\", driver: romaa, odometry: romaa/odom, velocity: romaa/cmd_vel, max_turn_rate: 2.0 }
- { device: \"laser:0\", scan: scan }
";

    const FILE: &str = "port 7000
unit_length \"mm\"
driver
(
  name \"romaa\"
  plugin \"libromaa.so\"
  provides [\"position2d:0\"]
  max_xspeed 500
  wheel_separation 440
  port \"/dev/ttyS0\"
)
driver ( name \"sicklms200\" provides [\"laser:0\" \"gps:0\"] )
";

    #[test]
    fn drivers_are_found_by_name_and_devices_by_number() {
        let known = Table::from_yaml(KNOWN).unwrap();
        let Configured { table, port, notes } = known.configured(FILE, |_| Err(String::new())).unwrap();
        assert_eq!(port, Some(7000));
        let base = wire::position2d::INTERFACE.device(0);
        let DeviceConfig::Position2d(config) = &table.0[&base].config else { panic!() };
        assert_eq!((config.max_speed, config.max_turn_rate), (Some(0.5), Some(2.0)));
        let drivers: Vec<_> = table.devices().into_iter().map(|info| info.driver).collect();
        assert_eq!(drivers, ["romaa", "sicklms200"]);
        let notes = notes.join("\n");
        for expected in
            ["wheel_separation:=0.44", "gps:0: this interface is not known", "option port has no", "plugin"]
        {
            assert!(notes.contains(expected), "{expected}: {notes}");
        }
    }

    #[test]
    fn a_robot_with_other_wheels_is_refused() {
        let known = KNOWN.replace("driver: romaa,", "driver: romaa, wheel_separation: 0.44,");
        let known = Table::from_yaml(&known).unwrap();
        let read = |text: &str| known.configured(text, |_| Err(String::new()));
        let notes = read(FILE).unwrap().notes.join("\n");
        assert!(!notes.contains("wheel"), "{notes}");
        let error = read(&FILE.replace("440", "400")).unwrap_err().to_string();
        assert!(error.contains("line 9") && error.contains("0.4 m") && error.contains("0.44 m"), "{error}");
    }

    #[test]
    fn the_wheels_of_the_lab_are_those_of_its_descriptions() {
        use crate::player::node::server::description::tip;
        let lab = Table::from_yaml(include_str!("../../../../../../../launch/config/player.yaml")).unwrap();
        let turtlebot = include_str!("../../../../../../../urdf/turtlebot2_widowx.urdf");
        let romaa = include_str!("../../../../../../../urdf/romaa.urdf");
        for (index, urdf, wheel) in [(0, turtlebot, "wheel_left_link"), (4, romaa, "left_wheel_link")] {
            let model = dragoman_kinematics::Model::from_urdf(urdf, None, Some(wheel)).unwrap();
            let DeviceConfig::Position2d(config) = &lab.0[&wire::position2d::INTERFACE.device(index)].config
            else {
                panic!("no base")
            };
            let separation = config.wheel_separation.unwrap();
            assert!((separation - 2.0 * tip(&model).position.y).abs() < 1e-9, "{wheel} {separation}");
        }
    }

    #[test]
    fn options_of_a_base_are_its_parameters() {
        let base = base_parameters(FILE, |_| Err(String::new())).unwrap();
        let expected = [("wheel_separation", 0.44), ("linear.max_velocity", 0.5)];
        assert_eq!(base.parameters, expected);
        assert_eq!((base.baud, base.port.as_deref()), (None, Some("/dev/ttyS0")));
        assert!(base.notes.iter().any(|note| note.contains("plugin")), "{:?}", base.notes);
        let other = "driver ( name \"sicklms200\" provides [\"laser:0\"] )";
        let error = base_parameters(other, |_| Err(String::new())).unwrap_err().to_string();
        assert!(error.contains("no driver"), "{error}");
    }

    #[test]
    fn a_misspelt_name_has_a_hint() {
        let text = FILE.replace("max_xspeed", "max_xsped").replace("gps", "lasser");
        let known = Table::from_yaml(KNOWN).unwrap();
        let notes = known.configured(&text, |_| Err(String::new())).unwrap().notes.join("\n");
        for expected in [
            "line 8, column 13: option max_xsped has no effect; did you mean 'max_xspeed'?",
            ": lasser:0: this interface is not known; did you mean 'laser'?",
            "line 10, column 8: option port has no effect",
        ] {
            assert!(notes.lines().any(|line| line.ends_with(expected)), "{expected}: {notes}");
        }
        let base = base_parameters(&text, |_| Err(String::new())).unwrap();
        assert!(
            base.notes.iter().any(|note| note.ends_with("did you mean 'max_xspeed'?")),
            "{:?}",
            base.notes
        );
    }

    #[test]
    fn an_invalid_file_is_refused_with_its_place() {
        let known = Table::from_yaml(KNOWN).unwrap();
        let error = known.configured("driver ( name \"x\"", |_| Err(String::new())).unwrap_err().to_string();
        assert!(error.contains("line 1"), "{error}");
        let error = known.configured("port 70000", |_| Err(String::new())).unwrap_err().to_string();
        assert!(error.contains("70000"), "{error}");
    }
}
