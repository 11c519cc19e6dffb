//! Standard meanings of a machine's messages by one word: odometry, joint states, laser scans, batteries, inertia.

use std::collections::VecDeque;
use std::time::Duration;

use dragoman_geometry::Pose;
use dragoman_protocol::codec::{Codec, CodecError, MessageId, Path, Values};
use dragoman_protocol::model::bridge::{self, Bridge, Setting, Since};
use dragoman_ros::builtin_interfaces::msg::Time;
use dragoman_ros::nav_msgs::msg::Odometry;
use dragoman_ros::sensor_msgs::msg::{BatteryState, Imu, JointState, LaserScan};
use dragoman_ros::tf2_msgs::msg::TFMessage;
use dragoman_ros::{Clock, Node, Publisher, QosProfile, WrappedTypesupport, poses};
use nalgebra::UnitQuaternion;

use super::plan::{error, heard};
use super::term::{Constants, Message, MessageNames, Names, Shape, Term};

/// Velocities are those over so much time, so that a message that is late is no peak.
const WINDOW: Duration = Duration::from_millis(300);
/// Variances of what a base measures, m^2 and rad^2, and of what it does not: filters need a large number.
const VARIANCE: f64 = 0.01;
const UNKNOWN: f64 = 1e6;

/// The velocities of a command, as names for terms.
pub(crate) struct VelocityNames;

/// Names of velocities.
pub(crate) const VELOCITIES: [&str; 3] = ["linear", "lateral", "angular"];

impl Names for VelocityNames {
    fn find(&mut self, name: &str) -> Result<(usize, Shape), String> {
        let found = VELOCITIES.iter().position(|one| *one == name);
        found.map(|at| (at, Shape::Number)).ok_or_else(|| {
            format!("there is no velocity {name}{}", dragoman_text::hint(name, VELOCITIES.iter().copied()))
        })
    }
}

/// Terms of a message.
struct Reader<'a> {
    codec: &'a Codec,
    message: MessageId,
    constants: &'a Constants,
    place: &'a str,
    paths: Vec<Path>,
}

impl Reader<'_> {
    fn term(&mut self, name: &str, setting: &Setting) -> Result<Term, CodecError> {
        let mut names = MessageNames::new(self.codec, self.message, &mut self.paths);
        Term::read(setting, self.constants, &mut names)
            .map_err(|reason| error(&format!("{}: {name}", self.place), reason))
    }

    fn optional(&mut self, name: &str, setting: Option<&Setting>) -> Result<Option<Term>, CodecError> {
        setting.map(|setting| self.term(name, setting)).transpose()
    }
}

/// Everything with a standard meaning.
pub(crate) struct Standard {
    odometry: Option<OdometryTopic>,
    joints: Vec<JointTopic>,
    scans: Vec<ScanTopic>,
    batteries: Vec<BatteryTopic>,
    imus: Vec<ImuTopic>,
}

impl Standard {
    /// Reads the meanings.
    ///
    /// # Errors
    /// A message or field does not exist.
    pub(crate) fn new(codec: &Codec, bridge: &Bridge, constants: &Constants) -> Result<Self, CodecError> {
        let place = format!("{}: bridge", codec.protocol().name);
        let reader = |place: &str, from: &str| {
            let message = heard(codec, from).map_err(|reason| error(&format!("{place}: from"), reason))?;
            Ok::<_, CodecError>((message, Vec::new()))
        };
        let mut standard = Self {
            odometry: None,
            joints: Vec::new(),
            scans: Vec::new(),
            batteries: Vec::new(),
            imus: Vec::new(),
        };
        macro_rules! read {
            ($kind:literal, $described:expr) => {{
                let place = format!("{place}: {}", $kind);
                let (message, paths) = reader(&place, &$described.from)?;
                (place, message, paths)
            }};
        }
        if let Some(described) = &bridge.odometry {
            let (place, message, paths) = read!("odometry", described);
            let reader = Reader { codec, message, constants, place: &place, paths };
            standard.odometry = Some(OdometryTopic::new(described, reader)?);
        }
        for described in &bridge.joint_states {
            let (place, message, paths) = read!("joint_states", described);
            let mut reader = Reader { codec, message, constants, place: &place, paths };
            let mut joints = Vec::new();
            for (name, joint) in &described.joints {
                joints.push((
                    name.clone(),
                    reader.term(name, &joint.position)?,
                    reader.optional(name, joint.velocity.as_ref())?,
                    reader.optional(name, joint.effort.as_ref())?,
                ));
            }
            standard.joints.push(JointTopic { message, paths: reader.paths, joints, publisher: None });
        }
        for described in &bridge.laser_scan {
            let (place, message, paths) = read!("laser_scan", described);
            let mut reader = Reader { codec, message, constants, place: &place, paths };
            let list = |name: &str, field: &str| {
                let path = codec.path(message, field);
                path.map_err(|reason| error(&format!("{place}: {name}"), reason))
            };
            standard.scans.push(ScanTopic {
                message,
                ranges: list("ranges", &described.ranges)?,
                intensities: described
                    .intensities
                    .as_deref()
                    .map(|field| list("intensities", field))
                    .transpose()?,
                angle_min: reader.term("angle_min", &described.angle_min)?,
                angle_increment: reader.term("angle_increment", &described.angle_increment)?,
                range_min: reader.term("range_min", &described.range_min)?,
                range_max: reader.term("range_max", &described.range_max)?,
                scan_time: reader.optional("scan_time", described.scan_time.as_ref())?,
                paths: reader.paths,
                frame: described.frame.clone(),
                topic: described.topic.clone(),
                publisher: None,
            });
        }
        for described in &bridge.battery {
            let (place, message, paths) = read!("battery", described);
            let mut reader = Reader { codec, message, constants, place: &place, paths };
            standard.batteries.push(BatteryTopic {
                message,
                voltage: reader.term("voltage", &described.voltage)?,
                current: reader.optional("current", described.current.as_ref())?,
                charge: reader.optional("charge", described.charge.as_ref())?,
                capacity: reader.optional("capacity", described.capacity.as_ref())?,
                percentage: reader.optional("percentage", described.percentage.as_ref())?,
                temperature: reader.optional("temperature", described.temperature.as_ref())?,
                charging: reader.optional("charging", described.charging.as_ref())?,
                paths: reader.paths,
                publisher: None,
            });
        }
        for described in &bridge.imu {
            let (place, message, paths) = read!("imu", described);
            let mut reader = Reader { codec, message, constants, place: &place, paths };
            let mut three = |name: &str, terms: &Option<[Setting; 3]>| match terms {
                None => Ok(None),
                Some([x, y, z]) => Ok::<_, CodecError>(Some([
                    reader.term(name, x)?,
                    reader.term(name, y)?,
                    reader.term(name, z)?,
                ])),
            };
            let orientation = three("orientation", &described.orientation)?;
            let rates = three("angular_velocity", &described.angular_velocity)?;
            let accelerations = three("linear_acceleration", &described.linear_acceleration)?;
            standard.imus.push(ImuTopic {
                message,
                orientation,
                rates,
                accelerations,
                paths: reader.paths,
                frame: described.frame.clone(),
                publisher: None,
            });
        }
        Ok(standard)
    }

    /// The topics and their types.
    fn typed(&self) -> impl Iterator<Item = (&str, &'static str)> {
        let odometry = self.odometry.iter().map(|_| ("odom", "nav_msgs/msg/Odometry"));
        // Several messages may have joints of one machine.
        let joints = self.joints.iter().take(1).map(|_| ("joint_states", "sensor_msgs/msg/JointState"));
        let scans = self.scans.iter().map(|one| (one.topic.as_str(), "sensor_msgs/msg/LaserScan"));
        let batteries = self.batteries.iter().map(|_| ("battery_state", "sensor_msgs/msg/BatteryState"));
        let imus = self.imus.iter().map(|_| ("imu", "sensor_msgs/msg/Imu"));
        odometry.chain(joints).chain(scans).chain(batteries).chain(imus)
    }

    /// The names of the topics.
    pub(crate) fn topics(&self) -> impl Iterator<Item = &str> {
        self.typed().map(|(topic, _)| topic)
    }

    /// The topics, a line each, for people.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.typed().map(|(topic, kind)| format!("publishes {topic} ({kind})")).collect()
    }

    /// Creates the topics.
    ///
    /// # Errors
    /// Those of the middleware.
    pub(crate) fn open(&mut self, node: &mut Node) -> dragoman_ros::Result<()> {
        let qos = QosProfile::default;
        if let Some(odometry) = &mut self.odometry {
            odometry.publisher = Some(node.create_publisher("odom", qos())?);
            if odometry.has_transform {
                odometry.transform = Some(node.create_publisher("/tf", qos().keep_last(100))?);
            }
        }
        for one in &mut self.joints {
            one.publisher = Some(node.create_publisher("joint_states", qos())?);
        }
        for one in &mut self.scans {
            one.publisher = Some(node.create_publisher(&one.topic, QosProfile::sensor_data())?);
        }
        for one in &mut self.batteries {
            one.publisher = Some(node.create_publisher("battery_state", qos())?);
        }
        for one in &mut self.imus {
            one.publisher = Some(node.create_publisher("imu", QosProfile::sensor_data())?);
        }
        Ok(())
    }

    /// Publishes what a message means.
    ///
    /// # Errors
    /// A value does not exist; an error of the middleware.
    pub(crate) fn publish(
        &mut self,
        codec: &Codec,
        message: MessageId,
        values: &Values,
        now: Duration,
    ) -> Result<(), String> {
        let look = |paths| Message { codec, message, values, paths };
        let stamp = Clock::to_builtin_time(&now);
        if let Some(odometry) = self.odometry.as_mut().filter(|one| one.message == message) {
            odometry.publish(codec, message, values, now)?;
        }
        for one in self.joints.iter().filter(|one| one.message == message) {
            one.publish(&look(&one.paths), &stamp)?;
        }
        for one in self.scans.iter().filter(|one| one.message == message) {
            one.publish(&look(&one.paths), &stamp)?;
        }
        for one in self.batteries.iter().filter(|one| one.message == message) {
            one.publish(&look(&one.paths), &stamp)?;
        }
        for one in self.imus.iter().filter(|one| one.message == message) {
            one.publish(&look(&one.paths), &stamp)?;
        }
        Ok(())
    }

    /// The link was lost: what is measured later does not follow from what was measured before.
    pub(crate) fn reset(&mut self) {
        if let Some(odometry) = &mut self.odometry {
            odometry.motion.reset();
        }
    }
}

/// A number that must be there.
fn needed(name: &str, term: &Term, lookup: &Message<'_>) -> Result<f64, String> {
    let value = term.number(lookup).map_err(|error| format!("{name}: {error}"))?;
    value.filter(|value| value.is_finite()).ok_or_else(|| format!("{name}: there is no value for it"))
}

/// A number, or NaN.
fn possible(term: Option<&Term>, lookup: &Message<'_>) -> f64 {
    term.and_then(|term| term.number(lookup).ok().flatten()).unwrap_or(f64::NAN)
}

/// Publishes a message, once the topics are there.
fn send<T: WrappedTypesupport + 'static>(
    publisher: Option<&Publisher<T>>,
    message: &T,
) -> Result<(), String> {
    publisher.map_or(Ok(()), |publisher| publisher.publish(message).map_err(|error| error.to_string()))
}

/// Where a base is, and how fast, from what it measures.
#[derive(Debug, Default)]
pub(crate) struct BaseMotion {
    pose: Pose,
    /// Ways of the wheels in the last message, m.
    ways: Option<[f64; 2]>,
    /// Ways ahead and angles since the start, with their times, oldest first.
    recent: VecDeque<(Duration, [f64; 2])>,
    total: [f64; 2],
}

impl BaseMotion {
    fn reset(&mut self) {
        self.ways = None;
        self.recent.clear();
    }

    /// Takes the ways of two wheels, m; `overflow` is the way after which their counters begin again.
    pub(crate) fn differential(
        &mut self,
        now: Duration,
        ways: [f64; 2],
        since: Since,
        overflow: Option<f64>,
        separation: f64,
    ) {
        let [left, right] = match since {
            Since::Last => ways,
            Since::Start => {
                let before = self.ways.replace(ways).unwrap_or(ways);
                let mut steps = [0.0; 2];
                for (step, (way, before)) in steps.iter_mut().zip(ways.iter().zip(before)) {
                    *step = way - before;
                    if let Some(overflow) = overflow.filter(|overflow| *overflow > 0.0) {
                        // The shorter way round.
                        *step -= overflow * (*step / overflow).round();
                    }
                }
                steps
            }
        };
        let (ahead, turn) = ((left + right) / 2.0, (right - left) / separation);
        // The heading in the middle of the step.
        let heading = self.pose.heading + turn / 2.0;
        let (x, y) = (self.pose.x + ahead * heading.cos(), self.pose.y + ahead * heading.sin());
        self.pose = Pose::new(x, y, self.pose.heading + turn);
        self.moved(now, [ahead, turn]);
    }

    /// Takes a pose that the machine keeps.
    pub(crate) fn measured(&mut self, now: Duration, pose: Pose) {
        let [dx, dy] = [pose.x - self.pose.x, pose.y - self.pose.y];
        let turn = pose.heading - self.pose.heading;
        let turn = turn.sin().atan2(turn.cos());
        let heading = self.pose.heading + turn / 2.0;
        let ahead = dx * heading.cos() + dy * heading.sin();
        let is_first = self.recent.is_empty();
        self.pose = pose;
        self.moved(now, if is_first { [0.0; 2] } else { [ahead, turn] });
    }

    fn moved(&mut self, now: Duration, [ahead, turn]: [f64; 2]) {
        let [way, angle] = self.total;
        self.total = [way + ahead, angle + turn];
        self.recent.push_back((now, self.total));
        while self.recent.len() > 2
            && self.recent.get(1).is_some_and(|(time, _)| now.saturating_sub(*time) >= WINDOW)
        {
            self.recent.pop_front();
        }
    }

    /// Velocities ahead, m/s, and about the vertical axis, rad/s.
    pub(crate) fn velocities(&self) -> [f64; 2] {
        let (Some((first, before)), Some((last, now))) = (self.recent.front(), self.recent.back()) else {
            return [0.0; 2];
        };
        let seconds = last.saturating_sub(*first).as_secs_f64();
        let [[way, angle], [way_before, angle_before]] = [*now, *before];
        if seconds > 0.0 {
            [(way - way_before) / seconds, (angle - angle_before) / seconds]
        } else {
            [0.0; 2]
        }
    }
}

struct OdometryTopic {
    message: MessageId,
    paths: Vec<Path>,
    source: OdometrySource,
    twist: Option<[Option<Term>; 3]>,
    motion: BaseMotion,
    frame: String,
    child_frame: String,
    has_transform: bool,
    publisher: Option<Publisher<Odometry>>,
    transform: Option<Publisher<TFMessage>>,
}

enum OdometrySource {
    Pose([Term; 3]),
    Differential { ways: [Term; 2], separation: Term, since: Since, overflow: Option<Term> },
}

impl OdometryTopic {
    fn new(described: &bridge::Odometry, mut reader: Reader<'_>) -> Result<Self, CodecError> {
        let source = match (&described.pose, &described.differential) {
            (Some(pose), None) => OdometrySource::Pose([
                reader.term("x", &pose.x)?,
                reader.term("y", &pose.y)?,
                reader.term("heading", &pose.heading)?,
            ]),
            (None, Some(ways)) => OdometrySource::Differential {
                ways: [reader.term("left", &ways.left)?, reader.term("right", &ways.right)?],
                separation: reader.term("separation", &ways.separation)?,
                since: ways.since,
                overflow: reader.optional("overflow", ways.overflow.as_ref())?,
            },
            _ => return Err(error(reader.place, "needs either pose or differential")),
        };
        let twist = match &described.twist {
            None => None,
            Some(twist) => Some([
                Some(reader.term("linear", &twist.linear)?),
                reader.optional("lateral", twist.lateral.as_ref())?,
                Some(reader.term("angular", &twist.angular)?),
            ]),
        };
        Ok(Self {
            message: reader.message,
            paths: reader.paths,
            source,
            twist,
            motion: BaseMotion::default(),
            frame: described.frame.clone(),
            child_frame: described.child_frame.clone(),
            has_transform: described.tf,
            publisher: None,
            transform: None,
        })
    }

    fn publish(
        &mut self,
        codec: &Codec,
        message: MessageId,
        values: &Values,
        now: Duration,
    ) -> Result<(), String> {
        let lookup = Message { codec, message, values, paths: &self.paths };
        match &self.source {
            OdometrySource::Pose([x, y, heading]) => {
                let pose = Pose::new(
                    needed("x", x, &lookup)?,
                    needed("y", y, &lookup)?,
                    needed("heading", heading, &lookup)?,
                );
                self.motion.measured(now, pose);
            }
            OdometrySource::Differential { ways: [left, right], separation, since, overflow } => {
                let ways = [needed("left", left, &lookup)?, needed("right", right, &lookup)?];
                let separation = needed("separation", separation, &lookup)?;
                if separation <= 0.0 {
                    return Err(format!("separation: {separation} m is not a distance"));
                }
                let overflow = overflow.as_ref().map(|term| needed("overflow", term, &lookup)).transpose()?;
                self.motion.differential(now, ways, *since, overflow, separation);
            }
        }
        let [ahead, turn] = self.motion.velocities();
        let [linear, lateral, angular] = match &self.twist {
            None => [ahead, 0.0, turn],
            Some(terms) => {
                let value = |term: &Option<Term>| {
                    term.as_ref().map_or(Ok(0.0), |term| needed("twist", term, &lookup))
                };
                let [linear, lateral, angular] = terms;
                [value(linear)?, value(lateral)?, value(angular)?]
            }
        };
        let stamp = Clock::to_builtin_time(&now);
        let pose = self.motion.pose;
        if self.has_transform {
            let message = poses::transform(&stamp, &self.frame, &self.child_frame, &pose);
            send(self.transform.as_ref(), &TFMessage { transforms: vec![message] })?;
        }
        let mut odometry = Odometry { child_frame_id: self.child_frame.clone(), ..Default::default() };
        odometry.header.stamp = stamp;
        odometry.header.frame_id.clone_from(&self.frame);
        odometry.pose.pose = poses::pose(&pose);
        let twist = &mut odometry.twist.twist;
        (twist.linear.x, twist.linear.y, twist.angular.z) = (linear, lateral, angular);
        for covariance in [&mut odometry.pose.covariance, &mut odometry.twist.covariance] {
            // x, y and the heading are measured; z, roll and pitch are not.
            *covariance = vec![0.0; 36];
            for (axis, value) in covariance.iter_mut().step_by(7).enumerate() {
                *value = if matches!(axis, 0 | 1 | 5) { VARIANCE } else { UNKNOWN };
            }
        }
        send(self.publisher.as_ref(), &odometry)
    }
}

struct JointTopic {
    message: MessageId,
    paths: Vec<Path>,
    joints: Vec<(String, Term, Option<Term>, Option<Term>)>,
    publisher: Option<Publisher<JointState>>,
}

impl JointTopic {
    fn publish(&self, lookup: &Message<'_>, stamp: &Time) -> Result<(), String> {
        let mut state = JointState::default();
        state.header.stamp = stamp.clone();
        for (name, position, velocity, effort) in &self.joints {
            state.name.push(name.clone());
            state.position.push(needed(name, position, lookup)?);
            if velocity.is_some() {
                state.velocity.push(possible(velocity.as_ref(), lookup));
            }
            if effort.is_some() {
                state.effort.push(possible(effort.as_ref(), lookup));
            }
        }
        // Lists are empty, or have a value for each joint.
        for list in [&mut state.velocity, &mut state.effort] {
            if list.len() != self.joints.len() {
                list.clear();
            }
        }
        send(self.publisher.as_ref(), &state)
    }
}

struct ScanTopic {
    message: MessageId,
    paths: Vec<Path>,
    ranges: Path,
    intensities: Option<Path>,
    angle_min: Term,
    angle_increment: Term,
    range_min: Term,
    range_max: Term,
    scan_time: Option<Term>,
    frame: String,
    topic: String,
    publisher: Option<Publisher<LaserScan>>,
}

impl ScanTopic {
    #[allow(clippy::cast_possible_truncation, reason = "the message has numbers of 32 bits")]
    fn publish(&self, lookup: &Message<'_>, stamp: &Time) -> Result<(), String> {
        let list = |path: &Path| {
            let mut all = Vec::new();
            lookup.codec.find(lookup.message, lookup.values, path, &mut |item| {
                if let dragoman_protocol::codec::Item::Number(number) = item {
                    all.push(number.real() as f32);
                }
            });
            all
        };
        let mut scan = LaserScan::default();
        scan.header.stamp = stamp.clone();
        scan.header.frame_id.clone_from(&self.frame);
        scan.angle_min = needed("angle_min", &self.angle_min, lookup)? as f32;
        scan.angle_increment = needed("angle_increment", &self.angle_increment, lookup)? as f32;
        scan.range_min = needed("range_min", &self.range_min, lookup)? as f32;
        scan.range_max = needed("range_max", &self.range_max, lookup)? as f32;
        scan.ranges = list(&self.ranges);
        // REP 117: nearer than possible is -infinity, farther than possible infinity.
        for range in &mut scan.ranges {
            if *range < scan.range_min {
                *range = f32::NEG_INFINITY;
            } else if *range > scan.range_max {
                *range = f32::INFINITY;
            }
        }
        scan.intensities = self.intensities.as_ref().map(list).unwrap_or_default();
        scan.scan_time =
            self.scan_time.as_ref().map_or(Ok(0.0), |term| needed("scan_time", term, lookup))? as f32;
        let steps = u16::try_from(scan.ranges.len().saturating_sub(1)).unwrap_or(u16::MAX);
        scan.angle_max = scan.angle_min + scan.angle_increment * f32::from(steps);
        send(self.publisher.as_ref(), &scan)
    }
}

struct BatteryTopic {
    message: MessageId,
    paths: Vec<Path>,
    voltage: Term,
    current: Option<Term>,
    charge: Option<Term>,
    capacity: Option<Term>,
    percentage: Option<Term>,
    temperature: Option<Term>,
    charging: Option<Term>,
    publisher: Option<Publisher<BatteryState>>,
}

impl BatteryTopic {
    #[allow(clippy::cast_possible_truncation, reason = "the message has numbers of 32 bits")]
    fn publish(&self, lookup: &Message<'_>, stamp: &Time) -> Result<(), String> {
        let value = |term: &Option<Term>| possible(term.as_ref(), lookup) as f32;
        let mut state = BatteryState { present: true, ..Default::default() };
        state.header.stamp = stamp.clone();
        state.voltage = needed("voltage", &self.voltage, lookup)? as f32;
        (state.current, state.charge, state.capacity) =
            (value(&self.current), value(&self.charge), value(&self.capacity));
        state.percentage = value(&self.percentage);
        state.temperature = value(&self.temperature);
        // The message has no value for "not measured" but NaN.
        state.design_capacity = f32::NAN;
        state.power_supply_status = match &self.charging {
            None => BatteryState::POWER_SUPPLY_STATUS_UNKNOWN as u8,
            Some(term) if term.is_true(lookup) => BatteryState::POWER_SUPPLY_STATUS_CHARGING as u8,
            Some(_) => BatteryState::POWER_SUPPLY_STATUS_DISCHARGING as u8,
        };
        send(self.publisher.as_ref(), &state)
    }
}

struct ImuTopic {
    message: MessageId,
    paths: Vec<Path>,
    orientation: Option<[Term; 3]>,
    rates: Option<[Term; 3]>,
    accelerations: Option<[Term; 3]>,
    frame: String,
    publisher: Option<Publisher<Imu>>,
}

impl ImuTopic {
    fn publish(&self, lookup: &Message<'_>, stamp: &Time) -> Result<(), String> {
        let three = |name: &str, terms: &[Term; 3]| {
            let [x, y, z] = terms;
            Ok::<_, String>([needed(name, x, lookup)?, needed(name, y, lookup)?, needed(name, z, lookup)?])
        };
        let mut imu = Imu::default();
        imu.header.stamp = stamp.clone();
        imu.header.frame_id.clone_from(&self.frame);
        match &self.orientation {
            Some(terms) => {
                let [roll, pitch, yaw] = three("orientation", terms)?;
                let turn = UnitQuaternion::from_euler_angles(roll, pitch, yaw);
                imu.orientation = poses::quaternion(turn.coords.into());
            }
            // sensor_msgs/Imu: -1 in the first element says that it is not measured.
            None => imu.orientation_covariance = not_measured(),
        }
        match &self.rates {
            Some(terms) => {
                let [x, y, z] = three("angular_velocity", terms)?;
                let rates = &mut imu.angular_velocity;
                (rates.x, rates.y, rates.z) = (x, y, z);
            }
            None => imu.angular_velocity_covariance = not_measured(),
        }
        match &self.accelerations {
            Some(terms) => {
                let [x, y, z] = three("linear_acceleration", terms)?;
                let accelerations = &mut imu.linear_acceleration;
                (accelerations.x, accelerations.y, accelerations.z) = (x, y, z);
            }
            None => imu.linear_acceleration_covariance = not_measured(),
        }
        send(self.publisher.as_ref(), &imu)
    }
}

fn not_measured() -> Vec<f64> {
    let mut covariance = vec![0.0; 9];
    covariance.iter_mut().take(1).for_each(|first| *first = -1.0);
    covariance
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_of_wheels_become_poses_and_velocities() {
        let mut motion = BaseMotion::default();
        let time = |step: u32| Duration::from_millis(100) * step;
        // A quarter of a circle to the left with a radius of 1 m, wheels 0.5 m apart, in ten steps.
        let quarter = std::f64::consts::FRAC_PI_2;
        for step in 0..=10 {
            let part = quarter * f64::from(step) / 10.0;
            motion.differential(time(step), [0.75 * part, 1.25 * part], Since::Start, None, 0.5);
        }
        assert!(
            (motion.pose.x - 1.0).abs() < 0.01 && (motion.pose.y - 1.0).abs() < 0.01,
            "{:?}",
            motion.pose
        );
        assert!((motion.pose.heading - quarter).abs() < 1e-9);
        let [linear, angular] = motion.velocities();
        assert!((linear - quarter).abs() < 1e-9 && (angular - quarter).abs() < 1e-9, "{linear} {angular}");
    }

    #[test]
    fn counters_begin_again() {
        let mut motion = BaseMotion::default();
        for (step, way) in [3.9, 0.1, 0.3, 3.8].into_iter().enumerate() {
            let now = Duration::from_millis(100 * step as u64);
            motion.differential(now, [way, way], Since::Start, Some(4.0), 0.5);
        }
        // 0.2 ahead, 0.2 ahead, 0.5 back.
        assert!((motion.pose.x + 0.1).abs() < 1e-9, "{:?}", motion.pose);
    }

    #[test]
    fn a_late_message_is_no_peak() {
        let mut motion = BaseMotion::default();
        let mut fastest: f64 = 0.0;
        for step in 0..50_u32 {
            // The answer of every tenth step is 40 ms late.
            let late = if step % 10 == 9 { 40 } else { 0 };
            let now = Duration::from_millis(u64::from(step) * 50 + late);
            motion.measured(now, Pose::new(0.02 * f64::from(step), 0.0, 0.0));
            fastest = fastest.max(motion.velocities()[0]);
        }
        assert!(fastest < 0.48, "{fastest} m/s instead of 0.4");
    }
}
