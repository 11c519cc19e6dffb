//! The parameters, and their conversion to the controller's settings. Those of the PlatformCtrl guide, 5.9, have their
//! keys as names, and their units.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dragoman_geometry::Pose;
use dragoman_geometry::limits::{AxisLimits, Limits};
use dragoman_neobotix::codes::{Code, ParameterCategory, ParameterType};
use dragoman_neobotix::parameters::{self as table, Value};
use dragoman_ros::dragoman_msgs::msg::PlatformParameter;
use dragoman_ros::parameters::{Declaration, ParameterSet, Parameters, Values};
use dragoman_ros::{ParameterValue, parameters};
use futures::StreamExt;

use super::PlatformNodeError;
use super::senses::SenseParameters;
use super::state::Shared;
use crate::settings::{Kinematics, Settings, UltrasonicSettings};

/// The parameter files of the PlatformCtrl guide, 4.4.
const FILES: [&str; 8] = [
    "CanCtrl.ini",
    "CinneoE.ini",
    "Interpolation.ini",
    "Localization.ini",
    "MotionCtrl.ini",
    "Particlefilter.ini",
    "UltraSonic.ini",
    "Platform.ini",
];

/// Values of parameter `kinematics`.
const KINEMATICS: [&str; 3] = [Kinematics::NAMES[0].0, Kinematics::NAMES[1].0, Kinematics::NAMES[2].0];

parameters! {
    /// The parameters of the node.
    pub struct PlatformParameters {
        ..senses: SenseParameters;
        ..guide: GuideParameters;
        /// Topic of the base's velocity commands.
        base_cmd_vel: String = "/cmd_vel";
        /// Topic of the base's odometry.
        base_odom: String = "/odom";
        /// Topic of the laser's scans; empty: no laser.
        base_scan: Option<String> = Some("/scan".to_owned());
        /// Topic of the base's battery, sensor_msgs/BatteryState; empty: no battery.
        base_battery: Option<String>;
        /// Topic with the state of the emergency stop, true while it is pressed.
        emergency_stop_topic: String = "emergency_stop";
        /// Topic of the joystick for motion mode 1.
        joy_topic: String = "/joy";
        /// The joystick's axis for speed.
        joy_linear_axis: usize = 1, in 0..=63;
        /// The joystick's axis for sideways motion; -1: none.
        joy_lateral_axis: i64 = -1, in -1..=63;
        /// The joystick's axis for turning.
        joy_angular_axis: usize = 0, in 0..=63;
        /// Topics of the ultrasonic sensors by number, sensor_msgs/Range.
        ultrasonic_topics: Vec<String>;
        /// Opening angle of the ultrasonic sensors, rad.
        ultrasonic_cone: f64 = 0.5, in 0.0..=3.0;
        /// Maximum range of the ultrasonic sensors, m.
        ultrasonic_range: f64 = 3.0, in 0.0..=100.0;
        /// CAN interface, e.g. can0; empty: CAN messages are sent to topic can/sent and received from can/received.
        can_interface: String;
        /// Topic of the camera for grab_image; compressed if the name ends in compressed; empty: no camera.
        image_topic: String;
        /// IP address of the camera, for get_camera.
        camera_address: String;
        /// Name of the camera at that address.
        camera_id: String;
        /// Namespace of a Nav2 that drives to goals, / for the root; empty: the controller drives, and offers Nav2's
        /// two actions.
        nav2: Option<String>;
        /// Folder of maps, roadmaps, programs and pictures; empty: dragoman/neobotix in the user's data folder.
        data_folder: Option<String>;
        /// Parameter file to load at the start, or a folder with files named as in the guide; empty: none. ROS
        /// parameters take precedence.
        parameters_file: Option<String>;
        /// File of the map at the start, XML; empty: the map saved last, otherwise in dragoman up the lab's.
        map_file: Option<String>;
        /// File of the roadmap at the start, XML; empty: as for the map.
        roadmap_file: Option<String>;
        /// File of the program at the start, XML; empty: as for the map.
        program_file: Option<String>;
        /// Pose of the platform at the start: x and y in m, direction in rad.
        initial_pose: Vec<f64> = [0.0; 3], in -1e5..=1e5;
        /// Start at the pose of the last run, StartupPosition.dat in data_folder, unless initial_pose is set.
        keep_pose: bool = true;
        /// Pose of the laser on the platform: x and y in m, direction in rad.
        laser_pose: Vec<f64> = [0.0; 3], in -1e5..=1e5;
        /// Whether the laser is mounted upside down.
        laser_upside_down: bool;
        /// Drives: two driven wheels, four Mecanum wheels, or two steered drives, front left and rear right.
        kinematics: String = Kinematics::NAMES[0].0, in &KINEMATICS;
        /// Distance between the front and the rear wheels of omnidirectional drives, m; sideways it is DistWheels.
        wheel_base: f64 = Settings::default().wheel_base, in 0.01..=100.0;
        /// Frame of the map.
        map_frame: String = "map";
        /// Prefix of the platform's frames odom, base_footprint and laser; empty: the base's own frames.
        frame_prefix: String;
        /// Publish the transform from map_frame to the odometry's frame, and those of frames with frame_prefix.
        publish_tf: bool = true;
        /// Rate of the controller's cycles, Hz; a fifth of it while the platform rests.
        rate: f64 = 50.0, in 5.0..=200.0;
        /// Rate of the published status, Hz.
        status_rate: f64 = 10.0, in 0.1..=50.0;
        /// Side of a cell of the published map, m.
        map_resolution: f64 = 0.05, in 0.01..=1.0;
        /// Time without odometry after which the connection to the base counts as lost, s.
        base_timeout: Duration = 1.0, in 0.05..=60.0;
        /// Time after which a velocity command expires, s.
        watchdog: Duration = Settings::default().watchdog, in 0.01..=60.0, settable;
        /// Maximum angular velocity of a wheel, rad/s; with RadiusWheel the limit of the drives.
        max_wheel_rate: f64 = Settings::default().max_wheel_rate, in 0.01..=1000.0, settable;
        /// Width of the platform, m.
        width: f64 = 2.0 * Settings::default().footprint.side, in 0.02..=100.0, settable;
        /// Maximum speed ahead and back, m/s.
        linear_max_velocity as "linear.max_velocity": f64 = limits().linear.velocity, in 0.01..=20.0, settable;
        /// Maximum acceleration, m/s^2.
        linear_max_acceleration as "linear.max_acceleration": Option<f64> = limits().linear.acceleration, in 0.01..=20.0, settable;
        /// Maximum deceleration, m/s^2.
        linear_max_deceleration as "linear.max_deceleration": Option<f64> = limits().linear.deceleration, in 0.01..=20.0, settable;
        /// Maximum turn rate, rad/s.
        angular_max_velocity as "angular.max_velocity": f64 = limits().angular.velocity, in 0.01..=20.0, settable;
        /// Maximum angular acceleration, rad/s^2.
        angular_max_acceleration as "angular.max_acceleration": Option<f64> = limits().angular.acceleration, in 0.01..=20.0, settable;
        /// Maximum angular deceleration, rad/s^2.
        angular_max_deceleration as "angular.max_deceleration": Option<f64> = limits().angular.deceleration, in 0.01..=20.0, settable;
    }
}

/// Defaults of the limits.
fn limits() -> Limits {
    Settings::default().limits
}

/// The parameters of the PlatformCtrl guide, by their keys.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GuideParameters(pub table::Parameters);

impl ParameterSet for GuideParameters {
    fn declarations(&self) -> Vec<Declaration> {
        self.0.iter().map(|(own, value)| declaration(own, value).settable()).collect()
    }

    fn update(&mut self, values: &Values) {
        for (own, mut value) in self.0.clone().iter() {
            match &mut value {
                Value::Boolean(value) => values.copy(own.key, value),
                Value::Integer(value) => values.copy(own.key, value),
                Value::Double(value) => values.copy(own.key, value),
            }
            // ROS has checked it with the same declaration.
            let _ = self.0.set_value(own.key, value);
        }
    }
}

/// A parameter of the PlatformCtrl guide as a ROS parameter.
fn declaration(own: &table::Declaration, value: Value) -> Declaration {
    match value {
        Value::Boolean(value) => Declaration::new(own.key, &value, own.description),
        Value::Integer(value) => {
            Declaration::new(own.key, &value, own.description).within(own.minimum..=own.maximum)
        }
        Value::Double(value) => {
            let range = own.minimum.into()..=own.maximum.into();
            Declaration::new(own.key, &value, own.description).within::<RangeInclusive<f64>>(range)
        }
    }
}

/// Values of parameter files with unknown keys: kept and answered, without effect. By key.
pub(super) type Kept = BTreeMap<String, table::IniEntry>;

/// Loads a parameter file, or the files of a folder, into the parameters that ROS left at their default. A watchdog
/// sets parameter `watchdog`; of several, the shortest. Returns the values with unknown keys.
///
/// # Errors
/// A file cannot be read, or has an invalid line.
pub(super) fn load(
    parameters: &Parameters<PlatformParameters>,
    path: &str,
) -> Result<Kept, PlatformNodeError> {
    let path = Path::new(path);
    let files: Vec<PathBuf> = if path.is_dir() {
        FILES
            .iter()
            .map(|name| path.join(name))
            .filter(|file| dragoman_time::on_disk(file).is_file())
            .collect()
    } else {
        vec![path.to_owned()]
    };
    if files.is_empty() {
        return Err(PlatformNodeError::NoParameterFiles(path.to_owned()));
    }
    let values = parameters.read();
    let mut read = values.guide.0.clone();
    let (mut kept, mut watchdog) = (Kept::new(), None::<Duration>);
    for file in files {
        let wrong = |source| PlatformNodeError::Ini { path: file.clone(), source };
        let failed = |source| PlatformNodeError::ParameterFile { path: file.clone(), source };
        let len = std::fs::metadata(dragoman_time::on_disk(&file)).map_err(failed)?.len();
        if len > table::MAX_INI_LEN as u64 {
            return Err(wrong(table::IniError::TooLong { len: usize::try_from(len).unwrap_or(usize::MAX) }));
        }
        let (text, note) =
            dragoman_text::decode(&std::fs::read(dragoman_time::on_disk(&file)).map_err(failed)?);
        if let Some(note) = note {
            tracing::warn!("{}, {note}", file.display());
        }
        let ini = table::IniFile::parse(&text).map_err(wrong)?;
        read.read_ini(&ini).map_err(wrong)?;
        let file = file.display();
        for found in ini.watchdogs() {
            let (table::IniEntry { line, key, .. }, time) = found.map_err(wrong)?;
            tracing::info!("{file}, line {line}: watchdog '{key}' is {} s", time.as_secs_f64());
            watchdog = Some(watchdog.map_or(time, |other| other.min(time)));
        }
        for entry in ini.unknown() {
            let table::IniEntry { line, key, .. } = entry;
            if !ini.watchdogs().flatten().any(|(watchdog, _)| watchdog == entry) {
                let known = table::declarations().iter().map(|known| known.key);
                let meant = dragoman_text::nearest(key, known);
                let hint = meant.map(|known| format!("; did you mean '{known}'?")).unwrap_or_default();
                tracing::warn!(
                    "{file}, line {line}: unknown parameter '{key}' is kept and has no effect{hint}"
                );
            }
            kept.insert(key.clone(), entry.clone());
        }
    }
    let is_default = values.watchdog == Settings::default().watchdog;
    let changed = parameters.update(|all| {
        for (own, value) in read.iter() {
            if all.guide.0.value(own.key) == Some(own.default) {
                // The file was checked with the same declaration.
                let _ = all.guide.0.set_value(own.key, value);
            }
        }
        all.watchdog = watchdog.filter(|_| is_default).unwrap_or(all.watchdog);
    });
    changed.map_err(PlatformNodeError::Parameters)?;
    Ok(kept)
}

/// A value with an unknown key for `get_pltf_param`. The protocol has no type for a text that is not a number: it gets
/// the type of any number.
pub(super) fn kept_parameter(entry: &table::IniEntry) -> PlatformParameter {
    let kinds = [ParameterType::Boolean, ParameterType::Integer];
    let is_word = |kind| kind != ParameterType::Boolean || entry.value.parse::<f64>().is_err();
    let kind = kinds.into_iter().find(|&kind| is_word(kind) && Value::parse(kind, &entry.value).is_some());
    let kind = kind.unwrap_or(ParameterType::Double);
    let categories = ParameterCategory::ALL.iter();
    let category = categories.copied().find(|category| category.name().eq_ignore_ascii_case(&entry.section));
    PlatformParameter {
        key: entry.key.clone(),
        value: entry.value.clone(),
        type_: kind.code().into(),
        category: category.unwrap_or(ParameterCategory::Geometry).code().into(),
        minimum: i32::MIN,
        maximum: i32::MAX,
    }
}

/// A value as a ROS parameter.
pub(super) fn ros_value(value: Value) -> ParameterValue {
    match value {
        Value::Boolean(value) => ParameterValue::Bool(value),
        Value::Integer(value) => ParameterValue::Integer(value.into()),
        Value::Double(value) => ParameterValue::Double(value),
    }
}

impl PlatformParameters {
    /// The controller's settings.
    pub(super) fn settings(&self) -> Settings {
        let sensor = UltrasonicSettings {
            pose: Pose::ORIGIN,
            height: 0.0,
            range: self.ultrasonic_range,
            cone: self.ultrasonic_cone,
        };
        let mut names = Kinematics::NAMES.into_iter();
        let kinematics = names.find_map(|(name, kind)| (name == self.kinematics).then_some(kind));
        let mut settings = Settings {
            limits: Limits {
                linear: AxisLimits {
                    velocity: self.linear_max_velocity,
                    acceleration: self.linear_max_acceleration,
                    deceleration: self.linear_max_deceleration,
                },
                angular: AxisLimits {
                    velocity: self.angular_max_velocity,
                    acceleration: self.angular_max_acceleration,
                    deceleration: self.angular_max_deceleration,
                },
            },
            watchdog: self.watchdog,
            kinematics: kinematics.unwrap_or(Kinematics::Differential),
            wheel_base: self.wheel_base,
            max_wheel_rate: self.max_wheel_rate,
            ultrasonics: vec![sensor; self.ultrasonic_topics.len()],
            has_laser: self.base_scan.is_some(),
            is_delegated: self.nav2.is_some(),
            ..Settings::default()
        };
        settings.footprint.side = self.width / 2.0;
        settings.apply(&self.guide.0);
        settings
    }

    /// The pose of the platform at the start.
    pub(super) fn initial_pose(&self) -> Result<Pose, PlatformNodeError> {
        pose("initial_pose", &self.initial_pose)
    }

    /// The pose of the laser on the platform.
    pub(super) fn laser_pose(&self) -> Result<Pose, PlatformNodeError> {
        pose("laser_pose", &self.laser_pose)
    }
}

fn pose(name: &'static str, numbers: &[f64]) -> Result<Pose, PlatformNodeError> {
    let &[x, y, heading] = numbers else { return Err(PlatformNodeError::Pose(name)) };
    Ok(Pose::new(x, y, heading))
}

/// Updates the controller when parameters change.
pub(super) async fn follow(parameters: Parameters<PlatformParameters>, shared: Shared) {
    let mut changes = parameters.changes();
    while changes.next().await.is_some() {
        let settings = parameters.read().settings();
        if let Err(reason) = shared.with(|state| state.set_settings(settings)) {
            tracing::warn!(%reason, "parameters refused");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use dragoman_ros::{Arguments, Context, Discovery, DiscoveryRange, Node, parameters};

    use super::*;

    fn loaded(
        arguments: &[&str],
        text: &str,
        number: u32,
    ) -> Result<(Arc<PlatformParameters>, Kept), PlatformNodeError> {
        let arguments = Arguments::parse(arguments.iter().map(|&argument| argument.to_owned())).unwrap();
        let discovery = Discovery { domain_id: 89, range: DiscoveryRange::Off, static_peers: Vec::new() };
        let context = Context::with_options(&discovery, arguments).unwrap();
        let mut node = Node::create(context, "platform", "/ini").unwrap();
        let (values, _server) = parameters::declare(&mut node, PlatformParameters::default()).unwrap();
        let file = std::env::temp_dir().join(format!("dragoman_ini_{number}_{}.ini", std::process::id()));
        std::fs::write(&file, text).unwrap();
        let kept = load(&values, &file.display().to_string());
        std::fs::remove_file(&file).unwrap();
        kept.map(|kept| (values.read(), kept))
    }

    #[tokio::test]
    async fn unknown_keys_of_files_are_kept_and_watchdogs_among_them_are_obeyed() {
        let text =
            "IpoTransVel = 300\n[MOTION_CTRL]\nWatchdogTime = 2500\nDriveGain = 7\nName = x\nOn = true\n";
        let (values, kept) = loaded(&[], text, 1).unwrap();
        assert_eq!(values.guide.0.value("IpoTransVel"), Some(Value::Double(300.0)));
        assert_eq!(values.settings().watchdog, Duration::from_millis(2500));
        assert_eq!(kept.keys().collect::<Vec<_>>(), ["DriveGain", "Name", "On", "WatchdogTime"]);
        let asked = |key: &str| {
            let PlatformParameter { value, type_, category, .. } = kept_parameter(&kept[key]);
            (value, type_, category)
        };
        assert_eq!(asked("DriveGain"), ("7".to_owned(), 1, 7));
        assert_eq!(asked("On"), ("true".to_owned(), 0, 7));
        assert_eq!(asked("Name"), ("x".to_owned(), 2, 7));
        // ROS takes precedence.
        let (values, _) = loaded(&["--ros-args", "-p", "watchdog:=0.5"], text, 2).unwrap();
        assert_eq!(values.watchdog, Duration::from_millis(500));
        let error = loaded(&[], "Watchdog = 0", 3).err().unwrap().to_string();
        assert!(error.contains("line 1: Watchdog = 0: a watchdog is 0.01 s to 60 s"), "{error}");
    }
}
