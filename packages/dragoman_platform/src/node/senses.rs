//! Further sensors and boards of the platform, and detections by other nodes: each is a topic that a parameter names.
//! They fill the fields of the status that the controller does not know itself, and the events of programs.

use std::time::{Duration, Instant};

use dragoman_geometry::{Point, Pose, compose, direction, heading, position, relative};
use dragoman_neobotix::codes::{ApplicationError, Code};
use dragoman_ros::dragoman_msgs::msg::{PlatformBoard, PlatformStatus};
use dragoman_ros::dragoman_msgs::srv::PlatformRaiseEvent;
use dragoman_ros::geometry_msgs::msg::PoseArray;
use dragoman_ros::sensor_msgs::msg::{Imu, NavSatFix};
use dragoman_ros::std_msgs::msg::{Bool, Float64MultiArray, String as Text, UInt8};
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{QosProfile, WrappedTypesupport, parameters, poses};

use super::actions::in_map;
use super::services::serve_order;
use super::state::{NodeState, Refused, Shared};
use super::status::point32;
use crate::controller::{Docking, MotionMode, Operation};
use crate::program::TrackedObject;

/// Age at which a measurement counts as missing.
const TIMEOUT: Duration = Duration::from_secs(2);
/// Number of infrared and of radar sensors.
const SENSORS: usize = 4;
/// Speed from which on a radar sensor sees something, m/s.
const RADAR_SPEED: f64 = 0.1;
/// Free distance to a person, ball or moving object that the platform follows, m.
const FOLLOWING_DISTANCE: f64 = 0.5;
/// Maximum number of detected objects of a kind, and of waiting user events.
const MAX_OBJECTS: usize = 64;

parameters! {
    /// The topics of the sensors and boards.
    pub struct SenseParameters {
        /// Topic of the relay board, dragoman_msgs/PlatformBoard; empty: none.
        relay_board_topic: Option<String>;
        /// Topic of the IO-board, dragoman_msgs/PlatformBoard; empty: none.
        io_board_topic: Option<String>;
        /// Topic of the ultrasonic board's inputs, dragoman_msgs/PlatformBoard; empty: none.
        ultrasonic_board_topic: Option<String>;
        /// Topic of the gyro board's status and temperature, dragoman_msgs/PlatformBoard; empty: none.
        gyro_board_topic: Option<String>;
        /// Topic of the right motor control board, dragoman_msgs/PlatformBoard; empty: none.
        motor_right_topic: Option<String>;
        /// Topic of the left motor control board, dragoman_msgs/PlatformBoard; empty: none.
        motor_left_topic: Option<String>;
        /// Topic of the gyro and the accelerations, sensor_msgs/Imu; empty: none.
        imu_topic: Option<String>;
        /// Topic of the GPS receiver, sensor_msgs/NavSatFix; empty: none.
        gps_topic: Option<String>;
        /// Topic of reflectors that a laser sees, geometry_msgs/PoseArray; empty: none.
        reflectors_topic: Option<String>;
        /// Topic of the passive infrared sensors, std_msgs/UInt8; bit 0 is sensor 1; empty: none.
        infrared_topic: Option<String>;
        /// Topic of the velocities at the four radar sensors, m/s, std_msgs/Float64MultiArray; empty: none.
        radar_topic: Option<String>;
        /// Topic that says whether the platform is docked, std_msgs/Bool; empty: it is while its battery is charged.
        docked_topic: Option<String>;
        /// Topic of moving objects, geometry_msgs/PoseArray; empty: only those that the laser tracks.
        moving_objects_topic: Option<String>;
        /// Topic of detected persons, geometry_msgs/PoseArray; empty: none.
        persons_topic: Option<String>;
        /// Topic of detected balls, geometry_msgs/PoseArray; empty: none.
        balls_topic: Option<String>;
        /// Topic of detected charging stations, geometry_msgs/PoseArray: the poses of the docked platform; empty: none.
        charging_stations_topic: Option<String>;
        /// Directions of the infrared and radar sensors 1 to 4, for programs.
        sensor_directions: Vec<String> = ["front", "left", "rear", "right"];
    }
}

/// The last value and its time.
struct Timed<T>(Option<(Instant, T)>);

impl<T> Default for Timed<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Timed<T> {
    fn set(&mut self, value: T) {
        self.0 = Some((dragoman_time::now(), value));
    }

    fn get(&self) -> Option<&T> {
        self.0.as_ref().filter(|(when, _)| dragoman_time::since(*when) <= TIMEOUT).map(|(_, value)| value)
    }
}

/// The last data of the topics.
#[derive(Default)]
pub(super) struct Senses {
    relay_board: Timed<PlatformBoard>,
    io_board: Timed<PlatformBoard>,
    ultrasonic_board: Timed<PlatformBoard>,
    gyro_board: Timed<PlatformBoard>,
    motor_right: Timed<PlatformBoard>,
    motor_left: Timed<PlatformBoard>,
    imu: Timed<Imu>,
    gps: Timed<NavSatFix>,
    /// In the map.
    reflectors: Timed<Vec<Pose>>,
    infrared: Timed<[bool; SENSORS]>,
    radar: Timed<[f64; SENSORS]>,
    docked: Timed<bool>,
    /// In the map.
    moving_objects: Timed<Vec<Pose>>,
    persons: Timed<Vec<Pose>>,
    balls: Timed<Vec<Pose>>,
    charging_stations: Timed<Vec<Pose>>,
    user_events: Vec<String>,
    directions: Vec<String>,
}

/// Conditions for programs, owned.
#[derive(Default)]
pub(super) struct Sensed {
    pub(super) moving_object: bool,
    pub(super) person: bool,
    pub(super) ball: bool,
    pub(super) infrared: Vec<String>,
    pub(super) radar: Vec<String>,
    pub(super) user_events: Vec<String>,
    pub(super) tracked_objects: Vec<(TrackedObject, Pose)>,
}

/// Subscribes to the topics that the parameters name, and serves `raise_event`.
pub(super) fn serve(
    tasks: &mut NodeTasks,
    shared: &Shared,
    topics: &SenseParameters,
) -> dragoman_ros::Result<()> {
    shared.with(|state| state.senses.directions.clone_from(&topics.sensor_directions));
    type Board = fn(&mut Senses) -> &mut Timed<PlatformBoard>;
    let boards: [(&Option<String>, Board); 6] = [
        (&topics.relay_board_topic, |senses| &mut senses.relay_board),
        (&topics.io_board_topic, |senses| &mut senses.io_board),
        (&topics.ultrasonic_board_topic, |senses| &mut senses.ultrasonic_board),
        (&topics.gyro_board_topic, |senses| &mut senses.gyro_board),
        (&topics.motor_right_topic, |senses| &mut senses.motor_right),
        (&topics.motor_left_topic, |senses| &mut senses.motor_left),
    ];
    for (topic, board) in boards {
        subscribe(tasks, shared, topic, move |state, message| board(&mut state.senses).set(message))?;
    }
    type Objects = fn(&mut Senses) -> &mut Timed<Vec<Pose>>;
    let objects: [(&'static str, &Option<String>, Objects); 5] = [
        ("reflectors_topic", &topics.reflectors_topic, |senses| &mut senses.reflectors),
        ("moving_objects_topic", &topics.moving_objects_topic, |senses| &mut senses.moving_objects),
        ("persons_topic", &topics.persons_topic, |senses| &mut senses.persons),
        ("balls_topic", &topics.balls_topic, |senses| &mut senses.balls),
        ("charging_stations_topic", &topics.charging_stations_topic, |senses| &mut senses.charging_stations),
    ];
    for (parameter, topic, objects) in objects {
        subscribe(tasks, shared, topic, move |state, poses: PoseArray| match state.poses(&poses) {
            Ok(poses) => objects(&mut state.senses).set(poses),
            Err(Refused(reason)) => state.refuse(&format!("{parameter}: {reason}")),
        })?;
    }
    subscribe(tasks, shared, &topics.imu_topic, |state, imu: Imu| state.senses.imu.set(imu))?;
    subscribe(tasks, shared, &topics.gps_topic, |state, gps: NavSatFix| state.senses.gps.set(gps))?;
    subscribe(tasks, shared, &topics.docked_topic, |state, docked: Bool| {
        state.senses.docked.set(docked.data)
    })?;
    subscribe(tasks, shared, &topics.infrared_topic, |state, bits: UInt8| {
        state.senses.infrared.set(std::array::from_fn(|sensor| bits.data & (1 << sensor) != 0));
    })?;
    subscribe(tasks, shared, &topics.radar_topic, |state, speeds: Float64MultiArray| {
        let speed = |sensor: usize| speeds.data.get(sensor).copied().filter(|speed| speed.is_finite());
        state.senses.radar.set(std::array::from_fn(|sensor| speed(sensor).unwrap_or_default()));
    })?;
    let raised = shared.clone();
    tasks.subscribe("user_event", QosProfile::default(), move |event: Text| {
        // Refusals are stored for the diagnostics.
        let _ = raised.ask(|state| state.raise_user_event(event.data));
    })?;
    serve_order::<PlatformRaiseEvent::Service>(tasks, shared, "raise_event", NodeState::raise)
}

fn subscribe<T: WrappedTypesupport + Send + 'static>(
    tasks: &mut NodeTasks,
    shared: &Shared,
    topic: &Option<String>,
    take: impl Fn(&mut NodeState, T) + Send + 'static,
) -> dragoman_ros::Result<()> {
    let Some(topic) = topic else { return Ok(()) };
    let shared = shared.clone();
    tasks.subscribe(topic, QosProfile::sensor_data().keep_last(1), move |message: T| {
        shared.with(|state| take(state, message));
    })
}

impl NodeState {
    /// The poses of a message in the map; too many of them are cut off.
    fn poses(&self, message: &PoseArray) -> Result<Vec<Pose>, Refused> {
        let frame = &message.header.frame_id;
        let here = self.platform.status().pose;
        let [_, base] = self.frames();
        // Relative to the platform where it was then.
        let then = self.history.at(&message.header.stamp).filter(|_| Some(frame) == base.as_ref());
        let placed = |pose| then.map_or(pose, |then| compose(then, relative(here, pose)));
        message.poses.iter().take(MAX_OBJECTS).map(|pose| in_map(self, frame, pose).map(placed)).collect()
    }

    /// The value of a flag of the PlatformCtrl guide.
    pub(super) fn flag(&self, key: &str) -> bool {
        self.parameters.read().guide.0.flag(key)
    }

    /// Raises a user event for the running program.
    pub(super) fn raise_user_event(&mut self, id: String) -> Result<(), Refused> {
        let status = self.platform.status();
        let runs = status.mode == MotionMode::Program && status.operation == Operation::Moving;
        if !runs {
            return Err(Refused(format!("user event '{id}': no program is running")));
        }
        if self.senses.user_events.len() >= MAX_OBJECTS {
            return Err(Refused(format!("{MAX_OBJECTS} user events are waiting already")));
        }
        self.senses.user_events.push(id);
        Ok(())
    }

    fn raise(&mut self, request: PlatformRaiseEvent::Request) -> Result<(), Refused> {
        use PlatformRaiseEvent::Request as Event;
        // In r2r each constant has a type of its own.
        const USER_EVENT: u8 = Event::USER_EVENT as u8;
        const MOVING_OBJECT: u8 = Event::MOVING_OBJECT as u8;
        const PERSON: u8 = Event::PERSON as u8;
        const BALL: u8 = Event::BALL as u8;
        const CHARGING_STATION: u8 = Event::CHARGING_STATION as u8;
        const INFRARED: u8 = Event::INFRARED as u8;
        const RADAR: u8 = Event::RADAR as u8;
        let pose = Pose::new(request.pose.x, request.pose.y, request.pose.theta);
        if !pose.is_finite() {
            return Err(Refused("a value is not finite".to_owned()));
        }
        let (place, key) = match request.event {
            USER_EVENT => return self.raise_user_event(request.id),
            INFRARED => {
                let sensor = self.senses.sensor(&request.id)?;
                let mut seen = self.senses.infrared.get().copied().unwrap_or_default();
                if let Some(seen) = seen.get_mut(sensor) {
                    *seen = true;
                }
                self.senses.infrared.set(seen);
                return self.enabled("PIRSensorsEnabled");
            }
            RADAR => {
                let sensor = self.senses.sensor(&request.id)?;
                let mut speeds = self.senses.radar.get().copied().unwrap_or_default();
                if let Some(speed) = speeds.get_mut(sensor) {
                    *speed = 1.0;
                }
                self.senses.radar.set(speeds);
                return self.enabled("RadarSensorsEnabled");
            }
            MOVING_OBJECT => (&mut self.senses.moving_objects, Some("TrackingEnabled")),
            PERSON => (&mut self.senses.persons, Some("PersonDetectionEnabled")),
            BALL => (&mut self.senses.balls, None),
            CHARGING_STATION => (&mut self.senses.charging_stations, Some("ChargeStationDetectEnabled")),
            other => return Err(Refused(format!("there is no event {other}; use 0 to 6"))),
        };
        place.set(vec![pose]);
        key.map_or(Ok(()), |key| self.enabled(key))
    }

    /// Refuses a request that a parameter disables.
    fn enabled(&self, key: &str) -> Result<(), Refused> {
        if self.flag(key) { Ok(()) } else { Err(Refused(format!("no effect: {key} is false"))) }
    }

    /// The conditions from the sensors, as far as parameters enable them. Takes the user events.
    pub(super) fn sensed(&mut self) -> Sensed {
        let user_events = std::mem::take(&mut self.senses.user_events);
        let infrared = self.infrared();
        let radar = self.radar().map(|speed| speed.abs() >= RADAR_SPEED);
        let objects =
            |found: Vec<Pose>, object: TrackedObject| self.nearest(found).map(|pose| (object, pose));
        let kinds = [
            objects(self.moving_objects(), TrackedObject::MovingObject),
            objects(self.persons(), TrackedObject::Person),
            objects(self.balls(), TrackedObject::Ball),
        ];
        let [moving_object, person, ball] = kinds.map(|found| found.is_some());
        let stations = self.stations();
        let distance = |pose: &Pose| (position(*pose) - position(self.platform.status().pose)).norm();
        let station = stations.into_iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
        let followed = kinds.into_iter().flatten().map(|(object, pose)| (object, self.before(pose)));
        let tracked_objects =
            followed.chain(station.map(|pose| (TrackedObject::ChargingStation, pose))).collect();
        let names = |seen: [bool; SENSORS]| self.senses.names(seen);
        Sensed {
            moving_object,
            person,
            ball,
            infrared: names(infrared),
            radar: names(radar),
            user_events,
            tracked_objects,
        }
    }

    fn infrared(&self) -> [bool; SENSORS] {
        let seen = self.senses.infrared.get().copied().unwrap_or_default();
        if self.flag("PIRSensorsEnabled") { seen } else { [false; SENSORS] }
    }

    fn radar(&self) -> [f64; SENSORS] {
        let speeds = self.senses.radar.get().copied().unwrap_or_default();
        if self.flag("RadarSensorsEnabled") { speeds } else { [0.0; SENSORS] }
    }

    /// Objects that move, in the map: of the topic, and those that the laser tracks.
    pub(super) fn moving_objects(&self) -> Vec<Pose> {
        if !self.flag("TrackingEnabled") {
            return Vec::new();
        }
        let tracked =
            self.platform.moving_objects().map(|object| Pose::new(object.place.x, object.place.y, 0.0));
        self.senses.moving_objects.get().cloned().unwrap_or_default().into_iter().chain(tracked).collect()
    }

    /// Persons, in the map.
    pub(super) fn persons(&self) -> Vec<Pose> {
        let persons = self.senses.persons.get().filter(|_| self.flag("PersonDetectionEnabled"));
        persons.cloned().unwrap_or_default()
    }

    /// Balls, in the map.
    pub(super) fn balls(&self) -> Vec<Pose> {
        self.senses.balls.get().cloned().unwrap_or_default()
    }

    fn stations(&self) -> Vec<Pose> {
        let stations =
            self.senses.charging_stations.get().filter(|_| self.flag("ChargeStationDetectEnabled"));
        stations.cloned().unwrap_or_default()
    }

    fn nearest(&self, found: Vec<Pose>) -> Option<Pose> {
        let here = position(self.platform.status().pose);
        let distance = |pose: &Pose| (position(*pose) - here).norm();
        found.into_iter().min_by(|a, b| distance(a).total_cmp(&distance(b)))
    }

    /// The pose in front of an object, facing it.
    fn before(&self, object: Pose) -> Pose {
        let here = self.platform.status().pose;
        let (from, to) = (position(here), position(object));
        let towards = heading(from, to);
        let free = self.platform.settings().footprint.front + FOLLOWING_DISTANCE;
        let place: Point = if (to - from).norm() <= free { from } else { to - direction(towards) * free };
        Pose::new(place.x, place.y, towards)
    }

    /// Whether it is docked to a charging station.
    pub(super) fn is_docked(&self) -> bool {
        let charges = || {
            let battery = self.inputs.battery.as_ref();
            battery.is_some_and(|battery| battery.power_supply_status == CHARGING)
        };
        if self.parameters.read().senses.docked_topic.is_none() {
            charges()
        } else {
            self.senses.docked.get().copied().unwrap_or_default()
        }
    }

    /// Fills the fields of the status that come from the topics; those that are absent are 0.
    pub(super) fn fill(&self, status: &mut PlatformStatus) {
        let senses = &self.senses;
        if let Some(board) = senses.relay_board.get() {
            status.relay_digital_in = board.digital_in;
            status.relay_status = board.status;
            status.relay_analog_in.clone_from(&board.analog_in);
            status.optical_distance.clone_from(&board.optical_distance);
        }
        if let Some(board) = senses.io_board.get() {
            status.io_digital_in = board.digital_in;
            status.io_status = board.status;
            status.io_analog_in.clone_from(&board.analog_in);
        }
        if let Some(board) = senses.ultrasonic_board.get() {
            status.ultrasonic_status = board.status;
            status.ultrasonic_analog_in.clone_from(&board.analog_in);
        }
        if let Some(board) = senses.gyro_board.get() {
            (status.gyro_status, status.gyro_temperature) = (board.status, board.temperature);
        }
        if let Some(board) = senses.motor_right.get() {
            (status.motor_right_status, status.motor_right_temperature) = (board.status, board.temperature);
        }
        if let Some(board) = senses.motor_left.get() {
            (status.motor_left_status, status.motor_left_temperature) = (board.status, board.temperature);
        }
        if let Some(imu) = senses.imu.get() {
            let measured = &imu.linear_acceleration;
            let accelerations = [measured.x, measured.y, measured.z];
            status.acceleration.iter_mut().zip(accelerations).for_each(|(place, value)| *place = value);
            status.gyro_angle = poses::heading(&imu.orientation);
        }
        if let Some(gps) = senses.gps.get() {
            (status.latitude, status.longitude) = (gps.latitude, gps.longitude);
        }
        let reflectors = senses.reflectors.get().into_iter().flatten();
        status.reflectors = reflectors.map(|&pose| point32(position(pose))).collect();
        let infrared = self.infrared();
        status.infrared.iter_mut().zip(infrared).for_each(|(place, seen)| *place = seen);
        if self.flag("SurveillanceModeEnabled") {
            let inputs = status.ultrasonic_analog_in.iter_mut();
            inputs.zip(infrared).for_each(|(place, seen)| *place = seen.into());
        }
        status.radar_velocity.iter_mut().zip(self.radar()).for_each(|(place, speed)| *place = speed);
        status.docked = self.is_docked();
        let error = match self.platform.status().docking {
            Docking::Failed => ApplicationError::Docking,
            Docking::Arrived if !status.docked => ApplicationError::Docking,
            _ => ApplicationError::None,
        };
        status.application_error = i32::from(error.code());
    }
}

/// `sensor_msgs/BatteryState`.
const CHARGING: u8 = dragoman_ros::sensor_msgs::msg::BatteryState::POWER_SUPPLY_STATUS_CHARGING as u8;

impl Senses {
    /// The index of a sensor, by its number from 1 or its direction.
    fn sensor(&self, name: &str) -> Result<usize, Refused> {
        let numbered = name.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let named = || self.directions.iter().position(|direction| direction == name);
        let sensor = numbered.or_else(named).filter(|&sensor| sensor < SENSORS);
        sensor.ok_or_else(|| {
            Refused(format!("there is no sensor '{name}'; use 1 to 4, or {}", self.directions.join(", ")))
        })
    }

    /// Numbers and directions of the sensors that see something.
    fn names(&self, seen: [bool; SENSORS]) -> Vec<String> {
        let sensors = seen.into_iter().enumerate().filter_map(|(sensor, seen)| seen.then_some(sensor));
        let names = |sensor: usize| {
            let direction = self.directions.get(sensor).cloned();
            std::iter::once((sensor + 1).to_string()).chain(direction)
        };
        sensors.flat_map(names).collect()
    }
}
