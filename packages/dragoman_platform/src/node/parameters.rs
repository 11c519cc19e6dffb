//! The parameters, and their conversion to the controller's settings. Those of the PlatformCtrl guide, 5.9, have their
//! keys as names, and their units.

use std::path::{Path, PathBuf};
use std::time::Duration;

use dragoman_geometry::Pose;
use dragoman_geometry::limits::{AxisLimits, Limits};
use dragoman_neobotix::codes::ParameterType;
use dragoman_neobotix::parameters::{self as table, Value};
use dragoman_ros::ParameterValue;
use dragoman_ros::parameters::{Declaration, Parameters, Range};
use futures::StreamExt;

use super::state::Shared;
use super::{PlatformNodeError, Setup};
use crate::settings::{Settings, UltrasonicSettings};

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
            "File of the map at the start, XML; empty: in dragoman up the lab's map, otherwise none.",
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
            "laser_pose",
            pose(setup.laser_pose),
            "Pose of the laser on the platform: x and y in m, direction in rad.",
        )
        .within(anywhere),
        Declaration::new("laser_upside_down", false, "Whether the laser is mounted upside down."),
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
        Declaration::new("width", 2.0 * settings.footprint.side, "Width of the platform, m.")
            .within(rate(0.02, 100.0)),
    ];
    let own = fixed.into_iter().map(Declaration::read_only).chain(settable);
    let limits = [("linear", settings.limits.linear), ("angular", settings.limits.angular)];
    let limits = limits.into_iter().flat_map(|(axis, limits)| limit_declarations(axis == "linear", limits));
    own.chain(limits).chain(table::declarations().iter().map(declaration)).collect()
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

/// Loads a parameter file, or the files of a folder, into the parameters that ROS left at their default.
///
/// # Errors
/// A file cannot be read, or has an invalid line.
pub(super) fn load(values: &Parameters, path: &str) -> Result<(), PlatformNodeError> {
    let path = Path::new(path);
    let files: Vec<PathBuf> = if path.is_dir() {
        FILES.iter().map(|name| path.join(name)).filter(|file| file.is_file()).collect()
    } else {
        vec![path.to_owned()]
    };
    if files.is_empty() {
        return Err(PlatformNodeError::NoParameterFiles(path.to_owned()));
    }
    let mut read = platform_parameters(values);
    for file in files {
        let wrong = |source| PlatformNodeError::Ini { path: file.clone(), source };
        let failed = |source| PlatformNodeError::ParameterFile { path: file.clone(), source };
        let len = std::fs::metadata(&file).map_err(failed)?.len();
        if len > table::MAX_INI_LEN as u64 {
            return Err(wrong(table::IniError::TooLong { len: usize::try_from(len).unwrap_or(usize::MAX) }));
        }
        let ini = table::IniFile::parse(&std::fs::read_to_string(&file).map_err(failed)?).map_err(wrong)?;
        read.read_ini(&ini).map_err(wrong)?;
        for entry in ini.entries().filter(|entry| table::declaration(entry.key).is_none()) {
            let (file, table::IniEntry { line, key, .. }) = (file.display(), entry);
            tracing::warn!("{file}, line {line}: unknown parameter '{key}' ignored");
        }
    }
    let old = platform_parameters(values);
    let changed: Vec<(String, ParameterValue)> = table::declarations()
        .iter()
        .filter(|own| old.value(own.key) == Some(own.default))
        .filter_map(|own| Some((own, read.value(own.key).filter(|value| *value != own.default)?)))
        .map(|(own, value)| (own.key.to_owned(), ros_value(value)))
        .collect();
    values.set(changed).map_err(PlatformNodeError::Parameters)
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
        range: values.value("ultrasonic_range"),
        cone: values.value("ultrasonic_cone"),
    };
    let mut settings = Settings {
        limits: Limits { linear: axis("linear"), angular: axis("angular") },
        watchdog: Duration::from_secs_f64(values.value("watchdog")),
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
