//! The parameters, and their conversion to the controller's settings. Those of the PlatformCtrl guide, 5.9, have their
//! keys as names, and their units.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dragoman_geometry::Pose;
use dragoman_geometry::limits::{AxisLimits, Limits};
use dragoman_neobotix::codes::{Code, ParameterCategory, ParameterType};
use dragoman_neobotix::parameters::{self as table, Value};
use dragoman_ros::ParameterValue;
use dragoman_ros::dragoman_msgs::msg::PlatformParameter;
use dragoman_ros::parameters::{Declaration, Parameters, Range};
use futures::StreamExt;

use super::state::Shared;
use super::{PlatformNodeError, Setup};
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

/// The parameters of the node.
pub fn declarations(setup: &Setup) -> Vec<Declaration> {
    let pose = |pose: Pose| vec![pose.x, pose.y, pose.heading];
    let anywhere = Range::Double { from: -1e5, to: 1e5 };
    let settings = Settings::default();
    let rate = |from: f64, to: f64| Range::Double { from, to };
    let fixed = [
        Declaration::new(
            "base_cmd_vel",
            setup.base_cmd_vel.as_str(),
            "Topic of the base's velocity commands.",
        ),
        Declaration::new("base_odom", setup.base_odom.as_str(), "Topic of the base's odometry."),
        Declaration::new(
            "base_scan",
            setup.base_scan.as_str(),
            "Topic of the laser's scans; empty: no laser.",
        ),
        Declaration::new(
            "base_battery",
            setup.base_battery.as_str(),
            "Topic of the base's battery, sensor_msgs/BatteryState; empty: no battery.",
        ),
        Declaration::new(
            "emergency_stop_topic",
            "emergency_stop",
            "Topic with the state of the emergency stop, true while it is pressed.",
        ),
        Declaration::new("joy_topic", "/joy", "Topic of the joystick for motion mode 1."),
        Declaration::new("joy_linear_axis", 1, "The joystick's axis for speed.")
            .within(Range::Integer { from: 0, to: 63 }),
        Declaration::new("joy_lateral_axis", -1, "The joystick's axis for sideways motion; -1: none.")
            .within(Range::Integer { from: -1, to: 63 }),
        Declaration::new("joy_angular_axis", 0, "The joystick's axis for turning.")
            .within(Range::Integer { from: 0, to: 63 }),
        Declaration::new(
            "ultrasonic_topics",
            setup.ultrasonic_topics.clone(),
            "Topics of the ultrasonic sensors by number, sensor_msgs/Range.",
        ),
        Declaration::new("ultrasonic_cone", 0.5, "Opening angle of the ultrasonic sensors, rad.")
            .within(rate(0.0, 3.0)),
        Declaration::new("ultrasonic_range", 3.0, "Maximum range of the ultrasonic sensors, m.")
            .within(rate(0.0, 100.0)),
        Declaration::new(
            "can_interface",
            "",
            "CAN interface, e.g. can0; empty: CAN messages are sent to topic can/sent and received from can/received.",
        ),
        Declaration::new(
            "image_topic",
            "",
            "Topic of the camera for grab_image; compressed if the name ends in compressed; empty: no camera.",
        ),
        Declaration::new("camera_address", "", "IP address of the camera, for get_camera."),
        Declaration::new("camera_id", "", "Name of the camera at that address."),
        Declaration::new(
            "nav2",
            "",
            "Namespace of a Nav2 that drives to goals, / for the root; empty: the controller drives, and offers Nav2's two actions.",
        ),
        Declaration::new(
            "data_folder",
            "",
            "Folder of maps, roadmaps, programs and pictures; empty: dragoman/neobotix in the user's data folder.",
        ),
        Declaration::new(
            "parameters_file",
            setup.parameters_file.as_str(),
            "Parameter file to load at the start, or a folder with files named as in the guide; empty: none. ROS parameters take precedence.",
        ),
        Declaration::new(
            "map_file",
            "",
            "File of the map at the start, XML; empty: the map saved last, otherwise in dragoman up the lab's.",
        ),
        Declaration::new("roadmap_file", "", "File of the roadmap at the start, XML; empty: as for the map."),
        Declaration::new("program_file", "", "File of the program at the start, XML; empty: as for the map."),
        Declaration::new(
            "initial_pose",
            pose(setup.initial_pose),
            "Pose of the platform at the start: x and y in m, direction in rad.",
        )
        .within(anywhere.clone()),
        Declaration::new(
            "keep_pose",
            setup.keeps_pose,
            "Start at the pose of the last run, StartupPosition.dat in data_folder, unless initial_pose is set.",
        ),
        Declaration::new(
            "laser_pose",
            pose(setup.laser_pose),
            "Pose of the laser on the platform: x and y in m, direction in rad.",
        )
        .within(anywhere),
        Declaration::new("laser_upside_down", false, "Whether the laser is mounted upside down."),
        Declaration::new(
            "kinematics",
            Kinematics::NAMES[0].0,
            "Drives: two driven wheels, four Mecanum wheels, or two steered drives, front left and rear right.",
        )
        .within(Range::OneOf(&KINEMATICS)),
        Declaration::new(
            "wheel_base",
            settings.wheel_base,
            "Distance between the front and the rear wheels of omnidirectional drives, m; sideways it is DistWheels.",
        )
        .within(rate(0.01, 100.0)),
        Declaration::new("map_frame", "map", "Frame of the map."),
        Declaration::new(
            "frame_prefix",
            setup.frame_prefix.as_str(),
            "Prefix of the platform's frames odom, base_footprint and laser; empty: the base's own frames.",
        ),
        Declaration::new(
            "publish_tf",
            true,
            "Publish the transform from map_frame to the odometry's frame, and those of frames with frame_prefix.",
        ),
        Declaration::new(
            "rate",
            50.0,
            "Rate of the controller's cycles, Hz; a fifth of it while the platform rests.",
        )
        .within(rate(5.0, 200.0)),
        Declaration::new("status_rate", 10.0, "Rate of the published status, Hz.").within(rate(0.1, 50.0)),
        Declaration::new("map_resolution", 0.05, "Side of a cell of the published map, m.")
            .within(rate(0.01, 1.0)),
        Declaration::new(
            "base_timeout",
            1.0,
            "Time without odometry after which the connection to the base counts as lost, s.",
        )
        .within(rate(0.05, 60.0)),
    ];
    let settable = [
        Declaration::new(
            "watchdog",
            settings.watchdog.as_secs_f64(),
            "Time after which a velocity command expires, s.",
        )
        .within(rate(0.01, 60.0)),
        Declaration::new(
            "max_wheel_rate",
            settings.max_wheel_rate,
            "Maximum angular velocity of a wheel, rad/s; with RadiusWheel the limit of the drives.",
        )
        .within(rate(0.01, 1000.0)),
        Declaration::new("width", 2.0 * settings.footprint.side, "Width of the platform, m.")
            .within(rate(0.02, 100.0)),
    ];
    let own = fixed.into_iter().map(Declaration::read_only).chain(settable);
    let limits = [("linear", settings.limits.linear), ("angular", settings.limits.angular)];
    let limits = limits.into_iter().flat_map(|(axis, limits)| limit_declarations(axis == "linear", limits));
    let senses = super::senses::declarations(&setup.topics);
    own.chain(limits).chain(senses).chain(table::declarations().iter().map(declaration)).collect()
}

fn limit_declarations(linear: bool, limits: AxisLimits) -> [Declaration; 3] {
    let names = if linear {
        [
            ("linear.max_velocity", "Maximum speed ahead and back, m/s."),
            ("linear.max_acceleration", "Maximum acceleration, m/s^2."),
            ("linear.max_deceleration", "Maximum deceleration, m/s^2."),
        ]
    } else {
        [
            ("angular.max_velocity", "Maximum turn rate, rad/s."),
            ("angular.max_acceleration", "Maximum angular acceleration, rad/s^2."),
            ("angular.max_deceleration", "Maximum angular deceleration, rad/s^2."),
        ]
    };
    let values = [limits.velocity, limits.acceleration.unwrap_or(1.0), limits.deceleration.unwrap_or(1.0)];
    std::array::from_fn(|index| {
        let (name, meaning) = names[index];
        Declaration::new(name, values[index], meaning).within(Range::Double { from: 0.01, to: 20.0 })
    })
}

/// A parameter of the PlatformCtrl guide as a ROS parameter.
fn declaration(own: &table::Declaration) -> Declaration {
    let default = match own.default {
        Value::Boolean(value) => return Declaration::new(own.key, value, own.description),
        Value::Integer(value) => {
            let range = Range::Integer { from: own.minimum.into(), to: own.maximum.into() };
            return Declaration::new(own.key, i64::from(value), own.description).within(range);
        }
        Value::Double(value) => value,
    };
    let range = Range::Double { from: own.minimum.into(), to: own.maximum.into() };
    Declaration::new(own.key, default, own.description).within(range)
}

/// Values of parameter files with unknown keys: kept and answered, without effect. By key.
pub(super) type Kept = BTreeMap<String, table::IniEntry>;

/// Loads a parameter file, or the files of a folder, into the parameters that ROS left at their default. A watchdog
/// sets parameter `watchdog`; of several, the shortest. Returns the values with unknown keys.
///
/// # Errors
/// A file cannot be read, or has an invalid line.
pub(super) fn load(values: &Parameters, path: &str) -> Result<Kept, PlatformNodeError> {
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
    let mut read = platform_parameters(values);
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
    let old = platform_parameters(values);
    let mut changed: Vec<(String, ParameterValue)> = table::declarations()
        .iter()
        .filter(|own| old.value(own.key) == Some(own.default))
        .filter_map(|own| Some((own, read.value(own.key).filter(|value| *value != own.default)?)))
        .map(|(own, value)| (own.key.to_owned(), ros_value(value)))
        .collect();
    let is_default = values.value::<f64>("watchdog") == Settings::default().watchdog.as_secs_f64();
    if let Some(watchdog) = watchdog.filter(|_| is_default) {
        changed.push(("watchdog".to_owned(), ParameterValue::Double(watchdog.as_secs_f64())));
    }
    values.set(changed).map_err(PlatformNodeError::Parameters)?;
    Ok(kept)
}

/// A value with an unknown key for `get_pltf_param`. The protocol has no type for a text that is no number: it gets the
/// type of any number.
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

/// Current values of the guide's parameters.
pub(super) fn platform_parameters(values: &Parameters) -> table::Parameters {
    let mut parameters = table::Parameters::default();
    for own in table::declarations() {
        let value = match own.kind() {
            ParameterType::Boolean => Value::Boolean(values.value(own.key)),
            ParameterType::Integer => {
                Value::Integer(i32::try_from(values.value::<i64>(own.key)).unwrap_or_default())
            }
            ParameterType::Double => Value::Double(values.value(own.key)),
        };
        // ROS has checked it with the same declaration.
        let _ = parameters.set_value(own.key, value);
    }
    parameters
}

/// A value as a ROS parameter.
pub(super) fn ros_value(value: Value) -> ParameterValue {
    match value {
        Value::Boolean(value) => ParameterValue::Bool(value),
        Value::Integer(value) => ParameterValue::Integer(value.into()),
        Value::Double(value) => ParameterValue::Double(value),
    }
}

/// The controller's settings from these parameters of the guide, and the node's own current parameters.
pub(super) fn settings(values: &Parameters, parameters: &table::Parameters) -> Settings {
    let axis = |axis: &str| {
        let value = |limit: &str| values.value::<f64>(&format!("{axis}.max_{limit}"));
        AxisLimits {
            velocity: value("velocity"),
            acceleration: Some(value("acceleration")),
            deceleration: Some(value("deceleration")),
        }
    };
    let sensors = values.value::<Vec<String>>("ultrasonic_topics").len();
    let sensor = UltrasonicSettings {
        pose: Pose::ORIGIN,
        height: 0.0,
        range: values.value("ultrasonic_range"),
        cone: values.value("ultrasonic_cone"),
    };
    let named: String = values.value("kinematics");
    let kinematics = Kinematics::NAMES.into_iter().find_map(|(name, kind)| (name == named).then_some(kind));
    let mut settings = Settings {
        limits: Limits { linear: axis("linear"), angular: axis("angular") },
        watchdog: Duration::from_secs_f64(values.value("watchdog")),
        kinematics: kinematics.unwrap_or(Kinematics::Differential),
        wheel_base: values.value("wheel_base"),
        max_wheel_rate: values.value("max_wheel_rate"),
        ultrasonics: vec![sensor; sensors],
        has_laser: !values.value::<String>("base_scan").is_empty(),
        is_delegated: !values.value::<String>("nav2").is_empty(),
        ..Settings::default()
    };
    settings.footprint.side = values.value::<f64>("width") / 2.0;
    settings.apply(parameters);
    settings
}

/// A pose of three numbers.
pub(super) fn pose(values: &Parameters, name: &'static str) -> Result<Pose, PlatformNodeError> {
    let numbers: [f64; 3] =
        values.value::<Vec<f64>>(name).try_into().map_err(|_| PlatformNodeError::Pose(name))?;
    let [x, y, heading] = numbers;
    Ok(Pose::new(x, y, heading))
}

/// Updates the controller when parameters change.
pub(super) async fn follow(values: Parameters, shared: Shared) {
    let mut changes = values.changes();
    while changes.next().await.is_some() {
        let settings = settings(&values, &platform_parameters(&values));
        if let Err(reason) = shared.with(|state| state.set_settings(settings)) {
            tracing::warn!(%reason, "new parameters were refused");
        }
    }
}

#[cfg(test)]
mod tests {
    use dragoman_ros::{Arguments, Context, Discovery, DiscoveryRange, Node, parameters};

    use super::*;

    fn loaded(arguments: &[&str], text: &str, number: u32) -> Result<(Parameters, Kept), PlatformNodeError> {
        let arguments = Arguments::parse(arguments.iter().map(|&argument| argument.to_owned())).unwrap();
        let discovery = Discovery { domain_id: 89, range: DiscoveryRange::Off, static_peers: Vec::new() };
        let context = Context::with_options(&discovery, arguments).unwrap();
        let mut node = Node::create(context, "platform", "/ini").unwrap();
        let (values, _server) = parameters::declare(&mut node, declarations(&Setup::default())).unwrap();
        let file = std::env::temp_dir().join(format!("dragoman_ini_{number}_{}.ini", std::process::id()));
        std::fs::write(&file, text).unwrap();
        let kept = load(&values, &file.display().to_string());
        std::fs::remove_file(&file).unwrap();
        kept.map(|kept| (values, kept))
    }

    #[tokio::test]
    async fn unknown_keys_of_files_are_kept_and_watchdogs_among_them_are_obeyed() {
        let text =
            "IpoTransVel = 300\n[MOTION_CTRL]\nWatchdogTime = 2500\nDriveGain = 7\nName = x\nOn = true\n";
        let (values, kept) = loaded(&[], text, 1).unwrap();
        assert_eq!(values.value::<f64>("IpoTransVel"), 300.0);
        assert_eq!(settings(&values, &platform_parameters(&values)).watchdog, Duration::from_millis(2500));
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
        assert_eq!(values.value::<f64>("watchdog"), 0.5);
        let error = loaded(&[], "Watchdog = 0", 3).err().unwrap().to_string();
        assert!(error.contains("line 1: Watchdog = 0: a watchdog is 0.01 s to 60 s"), "{error}");
    }
}
