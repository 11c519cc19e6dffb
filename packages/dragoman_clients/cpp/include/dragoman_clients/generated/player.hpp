// Structures and numbers, made of the description of Player's protocol. Included by ../player.hpp.

struct Address {
  std::uint32_t host = 0;
  /// The port.
  std::uint32_t robot = 0;
  std::uint16_t interface = 0;
  std::uint16_t index = 0;
  DRAGOMAN_FIELDS(host, robot, interface, index)
};

/// A pose or a velocity on a plane: m, m, rad, or m/s, m/s, rad/s.
struct Pose2d {
  /// Ahead.
  double x = 0;
  /// To the left.
  double y = 0;
  /// Counterclockwise.
  double yaw = 0;
  DRAGOMAN_FIELDS(x, y, yaw)
};

/// A point or a vector in space.
struct Point3d {
  /// Ahead.
  double x = 0;
  /// To the left.
  double y = 0;
  /// Upward.
  double z = 0;
  DRAGOMAN_FIELDS(x, y, z)
};

/// Angles about x, y and z, rad.
struct Orientation3d {
  /// About x.
  double roll = 0;
  /// About y.
  double pitch = 0;
  /// About z.
  double yaw = 0;
  DRAGOMAN_FIELDS(roll, pitch, yaw)
};

/// A pose in space: m and rad.
struct Pose3d {
  /// Position.
  Point3d position;
  /// Orientation.
  Orientation3d orientation;
  DRAGOMAN_FIELDS(position, orientation)
};

/// The size of a box, m. The width comes first.
struct Size3d {
  /// Along y.
  double width = 0;
  /// Along x.
  double length = 0;
  /// Along z.
  double height = 0;
  DRAGOMAN_FIELDS(width, length, height)
};

/// Where a device is, and its size.
struct Geometry {
  /// Pose of the device's origin in the robot's frame.
  Pose3d pose;
  /// Size, m.
  Size3d size;
  DRAGOMAN_FIELDS(pose, size)
};

/// A line segment on a plane, m.
struct LineSegment {
  /// Start along x.
  double x0 = 0;
  /// Start along y.
  double y0 = 0;
  /// End along x.
  double x1 = 0;
  /// End along y.
  double y1 = 0;
  DRAGOMAN_FIELDS(x0, y0, x1, y1)
};

/// A device's driver.
struct Driver {
  Address address;
  /// The driver's name; empty in a question.
  std::string name;
  DRAGOMAN_FIELDS(address, name)
};

/// Access to a device.
struct Subscription {
  Address address;
  /// OPEN, CLOSE or DENIED.
  std::uint8_t access = 0;
  /// The driver's name; empty in a question.
  std::string driver;
  DRAGOMAN_FIELDS(address, access, driver)
};

/// The port of a robot.
struct NameService {
  /// The robot's name.
  std::string name;
  std::uint16_t port = 0;
  DRAGOMAN_FIELDS(name, port)
};

/// What happens to waiting messages when a newer one comes. -1 stands for every value.
struct ReplaceRule {
  /// Code of the interface.
  std::int32_t interface = 0;
  /// The device's number.
  std::int32_t index = 0;
  /// Code of the kind.
  std::int32_t kind = 0;
  /// The message's number.
  std::int32_t subtype = 0;
  /// 0: both are sent, if there is room; 1: the newer one replaces the other; 2: no such message is sent.
  std::int32_t replace = 0;
  DRAGOMAN_FIELDS(interface, index, kind, subtype, replace)
};

/// The direction in which energy flows.
enum class Charging : std::int32_t {
  /// It charges another one.
  providing = -1,
  /// It is not connected to another source.
  idle = 0,
  /// It is being charged.
  receiving = 1,
};

/// What is measured. `valid` tells which of the fields mean something.
struct PowerState {
  /// Bits: VOLTS, WATTS, JOULES, PERCENT, CHARGING.
  std::uint32_t valid = 0;
  /// Voltage, V.
  float volts = 0;
  /// Charge, percent of a full one.
  float percent = 0;
  /// Stored energy, J.
  float joules = 0;
  /// Power: negative when energy is consumed, W.
  float watts = 0;
  /// Direction in which energy flows.
  Charging charging{};
  DRAGOMAN_FIELDS(valid, volts, percent, joules, watts, charging)
};

/// Whether energy may flow in and out.
struct PowerPolicy {
  /// It may be charged.
  bool input = false;
  /// It may charge others.
  bool output = false;
  DRAGOMAN_FIELDS(input, output)
};

/// State of the fingers.
enum class Fingers : std::uint8_t {
  unknown = 0,
  /// Open.
  open = 1,
  /// Closed.
  closed = 2,
  /// In motion.
  moving = 3,
  /// An error occurred.
  error = 4,
};

/// State of a gripper.
struct GripperState {
  /// State of the fingers.
  Fingers fingers_state{};
  /// Interrupted light beams, usually a bit for each.
  std::uint32_t beams = 0;
  /// Number of objects in the store.
  std::uint8_t stored = 0;
  DRAGOMAN_FIELDS(fingers_state, beams, stored)
};

/// Pose and sizes of a gripper.
struct GripperGeometry {
  /// Pose in the robot's frame.
  Pose3d pose;
  /// Outer size, m.
  Size3d outer_size;
  /// Size of the space between the open fingers, m.
  Size3d inner_size;
  /// Number of light beams.
  std::uint8_t beams = 0;
  /// Maximum number of stored objects; 0: it has no store.
  std::uint8_t capacity = 0;
  DRAGOMAN_FIELDS(pose, outer_size, inner_size, beams, capacity)
};

/// Odometry.
struct Position2dState {
  /// Pose in the odometry's frame, m, m, rad.
  Pose2d pose;
  /// Velocity in the base's frame, m/s, m/s, rad/s.
  Pose2d velocity;
  /// The motors do not turn although they should.
  bool stalled = false;
  DRAGOMAN_FIELDS(pose, velocity, stalled)
};

/// A command to drive with a velocity.
struct Position2dVelocity {
  /// Velocity in the base's frame, m/s, m/s, rad/s.
  Pose2d velocity;
  /// Whether the motors are on; most drivers do not look at it.
  bool motors_on = false;
  DRAGOMAN_FIELDS(velocity, motors_on)
};

/// A command to drive to a pose.
struct Position2dPosition {
  /// Pose in the odometry's frame, m, m, rad.
  Pose2d pose;
  /// Velocity with which to drive there, m/s, m/s, rad/s.
  Pose2d velocity;
  /// Whether the motors are on; most drivers do not look at it.
  bool motors_on = false;
  DRAGOMAN_FIELDS(pose, velocity, motors_on)
};

/// A command to drive with an angle.
struct Position2dSteering {
  /// Velocity ahead, m/s.
  double speed = 0;
  /// Angle: of the steered wheels, or of the base in the odometry's frame, rad.
  double angle = 0;
  DRAGOMAN_FIELDS(speed, angle)
};

/// Gains of a controller.
struct Position2dPid {
  /// Proportional gain.
  float kp = 0;
  /// Integral gain.
  float ki = 0;
  /// Derivative gain.
  float kd = 0;
  DRAGOMAN_FIELDS(kp, ki, kd)
};

/// Limits of a motion to a pose.
struct Position2dProfile {
  /// Maximum speed, m/s.
  float speed = 0;
  /// Maximum acceleration, m/s^2.
  float acceleration = 0;
  DRAGOMAN_FIELDS(speed, acceleration)
};

/// One range per sensor.
struct SonarRanges {
  /// Ranges, m.
  std::vector<float> ranges;
  DRAGOMAN_FIELDS(ranges)
};

/// Where the sensors are.
struct Poses {
  /// Poses in the robot's frame.
  std::vector<Pose3d> poses;
  DRAGOMAN_FIELDS(poses)
};

/// A filter of the device.
enum class LaserFilter : std::uint8_t {
  /// Median; no parameters.
  median = 1,
  /// Edges; no parameters.
  edge = 2,
  /// Ranges; minimum and maximum, mm.
  range = 3,
  /// Mean; number of scans.
  mean = 4,
};

/// A scan at equal angles.
struct LaserScan {
  /// Angle of the first range, rad.
  float min_angle = 0;
  /// Angle of the last range, rad.
  float max_angle = 0;
  /// Angle between two ranges, rad.
  float resolution = 0;
  /// Maximum range, m.
  float max_range = 0;
  /// Ranges, m.
  std::vector<float> ranges;
  /// Intensities, in the device's unit.
  Bytes intensities;
  /// Number of the scan; it increases.
  std::uint32_t id = 0;
  DRAGOMAN_FIELDS(min_angle, max_angle, resolution, max_range, ranges, intensities, id)
};

/// A scan, and where it was taken.
struct LaserPosedScan {
  LaserScan scan;
  /// Pose of the laser in the world.
  Pose2d pose;
  DRAGOMAN_FIELDS(scan, pose)
};

/// A scan with an angle for each range.
struct LaserAngledScan {
  /// Maximum range, m.
  float max_range = 0;
  /// Ranges, m.
  std::vector<float> ranges;
  /// Angle of each range, rad.
  std::vector<float> angles;
  /// Intensities, in the device's unit.
  Bytes intensities;
  /// Number of the scan; it increases.
  std::uint32_t id = 0;
  DRAGOMAN_FIELDS(max_range, ranges, angles, intensities, id)
};

/// How a laser scans.
struct LaserConfig {
  /// First angle, rad.
  float min_angle = 0;
  /// Last angle, rad.
  float max_angle = 0;
  /// Angle between two ranges, rad.
  float resolution = 0;
  /// Maximum range, m.
  float max_range = 0;
  /// Resolution of the ranges, m.
  float range_resolution = 0;
  /// Whether intensities are sent.
  bool intensity = false;
  /// Scans per second, Hz.
  float frequency = 0;
  DRAGOMAN_FIELDS(min_angle, max_angle, resolution, max_range, range_resolution, intensity, frequency)
};

/// A filter and its parameters.
struct LaserFilterSettings {
  /// Which filter.
  LaserFilter kind{};
  /// Its parameters, at most MAX_FILTER_PARAMETERS.
  std::vector<float> parameters;
  DRAGOMAN_FIELDS(kind, parameters)
};

/// Which bumpers are pressed.
struct BumperState {
  /// One byte per bumper: 0 when it is released; drivers define the other values.
  Bytes bumpers;
  DRAGOMAN_FIELDS(bumpers)
};

/// A bumper's pose and size.
struct BumperPlace {
  /// Pose in the robot's frame.
  Pose3d pose;
  /// Length, m.
  float length = 0;
  /// Radius of its curve; 0: straight, m.
  float radius = 0;
  DRAGOMAN_FIELDS(pose, length, radius)
};

/// Poses and sizes of all bumpers.
struct BumperGeometry {
  /// In the order of the states.
  std::vector<BumperPlace> bumpers;
  DRAGOMAN_FIELDS(bumpers)
};

/// Voltage and range of each sensor.
struct IrRanges {
  /// Voltages, V.
  std::vector<float> voltages;
  /// Ranges, m.
  std::vector<float> ranges;
  DRAGOMAN_FIELDS(voltages, ranges)
};

/// A pose where the robot may be.
struct Hypothesis {
  /// The mean, m, m, rad.
  Pose2d mean;
  /// Covariance of x, y and yaw, m^2, m rad, rad^2: xx, yy, yaw-yaw, xy, y-yaw, x-yaw.
  std::array<double, 6> covariance{};
  double weight = 0;
  DRAGOMAN_FIELDS(mean, covariance, weight)
};

/// Where the robot may be.
struct Hypotheses {
  /// Number of measurements that are not used yet.
  std::uint32_t pending = 0;
  /// Time of the last measurement that was used, s since 1970.
  double time = 0;
  std::vector<Hypothesis> hypotheses;
  DRAGOMAN_FIELDS(pending, time, hypotheses)
};

/// Where the robot is, as a client knows it.
struct Estimate {
  /// The mean, m, m, rad.
  Pose2d mean;
  /// Covariance of x, y and yaw, m^2, m rad, rad^2: xx, yy, yaw-yaw, xy, y-yaw, x-yaw.
  std::array<double, 6> covariance{};
  DRAGOMAN_FIELDS(mean, covariance)
};

/// A particle of the filter.
struct Particle {
  /// The pose, m, m, rad.
  Pose2d pose;
  double weight = 0;
  DRAGOMAN_FIELDS(pose, weight)
};

/// Particles of the filter, usually some of them.
struct Particles {
  /// The best pose, m, m, rad.
  Pose2d mean;
  /// Its variance, m^2.
  double variance = 0;
  std::vector<Particle> particles;
  DRAGOMAN_FIELDS(mean, variance, particles)
};

/// An object's pose on the plane.
struct NamedPose2d {
  /// The object's name.
  std::string name;
  /// Its pose in the world, m, m, rad.
  Pose2d pose;
  DRAGOMAN_FIELDS(name, pose)
};

/// An object's pose in space.
struct NamedPose3d {
  /// The object's name.
  std::string name;
  /// Its pose in the world.
  Pose3d pose;
  /// Time of the simulation; only in answers, s.
  double time = 0;
  DRAGOMAN_FIELDS(name, pose, time)
};

/// A property of an object.
struct ObjectProperty {
  /// The object's name.
  std::string name;
  /// The property's name.
  std::string property;
  /// Number of its value, if it has several.
  std::uint32_t index = 0;
  /// The value as it is in the memory of the simulator's machine. A question has as many bytes as its client expects.
  Bytes value;
  DRAGOMAN_FIELDS(name, property, index, value)
};

/// One picture of the camera, raw or compressed.
struct Image {
  /// Pixels in a row.
  std::uint32_t width = 0;
  /// Rows.
  std::uint32_t height = 0;
  /// Bits of a pixel: 8, 16, 24 or 32.
  std::uint32_t bits = 0;
  /// What a pixel consists of.
  std::uint32_t format{};
  /// The value that a pixel is divided by; disparity images use it.
  std::uint32_t divisor = 0;
  /// How `data` is compressed.
  std::uint32_t compression{};
  /// The pixels, or the compressed image.
  Bytes data;
  DRAGOMAN_FIELDS(width, height, bits, format, divisor, compression, data)
};

/// An input of a device with several.
struct ImageSource {
  /// Television standard: `NTSC`, `PAL`, `SECAM` or `UNKNOWN`.
  std::string norm;
  /// Number of the input.
  std::int32_t source = 0;
  DRAGOMAN_FIELDS(norm, source)
};

/// Size of a grid.
struct MapInfo {
  /// Length of a cell's side, m.
  float scale = 0;
  /// Number of cells along x.
  std::uint32_t width = 0;
  /// Number of cells along y.
  std::uint32_t height = 0;
  /// Pose of the cell with the minimum x and y in the world.
  Pose2d origin;
  DRAGOMAN_FIELDS(scale, width, height, origin)
};

/// A map as line segments.
struct MapVector {
  /// Minimum x, m.
  float min_x = 0;
  /// Maximum x, m.
  float max_x = 0;
  /// Minimum y, m.
  float min_y = 0;
  /// Maximum y, m.
  float max_y = 0;
  /// The segments, in the map's frame.
  std::vector<LineSegment> segments;
  DRAGOMAN_FIELDS(min_x, max_x, min_y, max_y, segments)
};

/// Path, goal and progress.
struct PlannerState {
  /// A path was found.
  bool valid = false;
  /// The goal is reached.
  bool done = false;
  /// Pose of the robot, m, m, rad.
  Pose2d pose;
  /// The goal, m, m, rad.
  Pose2d goal;
  /// The waypoint that the robot drives to, m, m, rad.
  Pose2d waypoint;
  /// Its number in the path; -1: none.
  std::int32_t waypoint_index = 0;
  /// Number of waypoints in the path.
  std::uint32_t waypoint_count = 0;
  DRAGOMAN_FIELDS(valid, done, pose, goal, waypoint, waypoint_index, waypoint_count)
};

/// A pose to drive to, or to plan from.
struct PlannerGoal {
  /// The pose, m, m, rad.
  Pose2d pose;
  DRAGOMAN_FIELDS(pose)
};

/// A path.
struct Waypoints {
  /// Its length: the sum of the straight lines between its waypoints, m.
  double length = 0;
  /// The waypoints, m, m, rad.
  std::vector<Pose2d> waypoints;
  DRAGOMAN_FIELDS(length, waypoints)
};

/// What a device does with its file.
enum class LogKind : std::uint8_t {
  /// It plays back.
  read = 1,
  /// It records.
  write = 2,
};

/// What a device does.
struct LogState {
  /// Whether it records or plays back.
  LogKind kind{};
  /// Whether it does so now.
  bool enabled = false;
  DRAGOMAN_FIELDS(kind, enabled)
};

/// Whether a joint moves, and what keeps it from moving.
enum class JointState : std::uint8_t {
  unknown = 0,
  /// It does not move.
  idle = 1,
  /// It moves.
  moving = 2,
  /// Its brake is on.
  braked = 4,
  /// It is blocked.
  stalled = 8,
};

/// How a joint moves.
enum class JointKind : std::uint8_t {
  unknown = 0,
  /// Along its axis.
  linear = 1,
  /// About its axis.
  rotary = 2,
};

/// What is measured of a joint.
struct Joint {
  /// Position, m or rad.
  float position = 0;
  /// Speed, m/s or rad/s.
  float speed = 0;
  /// Acceleration, m/s^2 or rad/s^2.
  float acceleration = 0;
  /// Current, A.
  float current = 0;
  /// State.
  JointState state{};
  DRAGOMAN_FIELDS(position, speed, acceleration, current, state)
};

/// Position, speed and state of each joint.
struct ActarrayState {
  /// The joints, from the base.
  std::vector<Joint> joints;
  /// Whether the power is on.
  bool motors_on = false;
  DRAGOMAN_FIELDS(joints, motors_on)
};

/// A joint and the link behind it.
struct JointGeometry {
  /// How it moves.
  JointKind kind{};
  /// Length of the link to the next joint; of linear joints at position 0, m.
  float length = 0;
  /// Direction to the next joint in this joint's frame, at the rest position.
  Orientation3d orientation;
  /// The axis about which or along which it moves.
  Point3d axis;
  /// Minimum position, m or rad.
  float minimum = 0;
  /// Central position, m or rad.
  float center = 0;
  /// Maximum position, m or rad.
  float maximum = 0;
  /// Home position, m or rad.
  float home = 0;
  /// Set speed, m/s or rad/s.
  float speed = 0;
  /// Whether it has a brake.
  bool has_brake = false;
  DRAGOMAN_FIELDS(kind, length, orientation, axis, minimum, center, maximum, home, speed, has_brake)
};

/// Links, axes and limits.
struct ActarrayGeometry {
  /// The joints, from the base.
  std::vector<JointGeometry> joints;
  /// Position of the base in the robot's frame, m.
  Point3d base_position;
  /// Orientation of the base in the robot's frame, rad.
  Orientation3d base_orientation;
  DRAGOMAN_FIELDS(joints, base_position, base_orientation)
};

/// Target of one joint.
struct ActarrayJointPosition {
  std::int32_t joint = 0;
  /// Its position, m or rad.
  float position = 0;
  DRAGOMAN_FIELDS(joint, position)
};

/// A position for each joint.
struct ActarrayPositions {
  /// Positions, m or rad.
  std::vector<float> positions;
  DRAGOMAN_FIELDS(positions)
};

/// Desired speed of one joint.
struct ActarrayJointSpeed {
  std::int32_t joint = 0;
  /// Its speed, m/s or rad/s.
  float speed = 0;
  DRAGOMAN_FIELDS(joint, speed)
};

/// A speed for each joint.
struct ActarraySpeeds {
  /// Speeds, m/s or rad/s.
  std::vector<float> speeds;
  DRAGOMAN_FIELDS(speeds)
};

/// Desired motor current of one joint.
struct ActarrayJointCurrent {
  /// The joint; -1: all.
  std::int32_t joint = 0;
  /// Its current, A.
  float current = 0;
  DRAGOMAN_FIELDS(joint, current)
};

/// A current for each joint.
struct ActarrayCurrents {
  /// Currents, A.
  std::vector<float> currents;
  DRAGOMAN_FIELDS(currents)
};

/// Acceleration for later motions of one joint.
struct ActarrayJointAcceleration {
  std::int32_t joint = 0;
  /// Its acceleration, m/s^2 or rad/s^2.
  float acceleration = 0;
  DRAGOMAN_FIELDS(joint, acceleration)
};

/// What an arm does.
enum class LimbMotion : std::uint8_t {
  /// It does not move.
  idle = 1,
  /// Its brakes are on.
  braked = 2,
  /// It moves to its target.
  moving = 3,
  /// The target is out of reach.
  out_of_reach = 4,
  /// A collision would occur on the way to the target.
  collision = 5,
};

/// Pose of the end effector, and what the arm does.
struct LimbState {
  /// Position, m.
  Point3d position;
  /// Approach vector.
  Point3d approach;
  /// Orientation vector.
  Point3d orientation;
  /// What the arm does.
  LimbMotion motion{};
  DRAGOMAN_FIELDS(position, approach, orientation, motion)
};

/// A pose of the end effector.
struct LimbPose {
  /// Position, m.
  Point3d position;
  /// Approach vector.
  Point3d approach;
  /// Orientation vector.
  Point3d orientation;
  DRAGOMAN_FIELDS(position, approach, orientation)
};

/// A motion along a straight line.
struct LimbMove {
  /// Its direction.
  Point3d direction;
  /// Its length, m.
  float length = 0;
  DRAGOMAN_FIELDS(direction, length)
};

/// The data that is sent.
enum class ImuDataKind : std::uint8_t {
  /// STATE.
  state = 1,
  /// CALIBRATED.
  calibrated = 2,
  /// QUATERNION.
  quaternion = 3,
  /// EULER.
  euler = 4,
};

/// A vector of three measured values.
struct ImuVector {
  /// Along x.
  float x = 0;
  /// Along y.
  float y = 0;
  /// Along z.
  float z = 0;
  DRAGOMAN_FIELDS(x, y, z)
};

/// What is measured, in the device's frame.
struct ImuCalibrated {
  /// Acceleration, m/s^2.
  ImuVector acceleration;
  /// Angular velocity, rad/s.
  ImuVector angular_velocity;
  /// Magnetic field, in the device's unit.
  ImuVector magnetic_field;
  DRAGOMAN_FIELDS(acceleration, angular_velocity, magnetic_field)
};

/// What is measured, and the orientation as a quaternion.
struct ImuQuaternion {
  /// What is measured.
  ImuCalibrated calibrated;
  /// The orientation; the real part comes first.
  std::array<float, 4> orientation{};
  DRAGOMAN_FIELDS(calibrated, orientation)
};

/// What is measured, and the orientation as angles.
struct ImuEuler {
  /// What is measured.
  ImuCalibrated calibrated;
  /// The orientation, rad.
  Orientation3d orientation;
  DRAGOMAN_FIELDS(calibrated, orientation)
};

/// Pose, velocity and acceleration.
struct ImuFullState {
  /// Pose, m and rad.
  Pose3d pose;
  /// Velocity, m/s and rad/s.
  Pose3d velocity;
  /// Acceleration, m/s^2 and rad/s^2.
  Pose3d acceleration;
  DRAGOMAN_FIELDS(pose, velocity, acceleration)
};

/// How a device measures. Values that a device does not have are 0.
struct RangerConfig {
  /// First angle, rad.
  double min_angle = 0;
  /// Last angle, rad.
  double max_angle = 0;
  /// Angle between two ranges, rad.
  double angular_resolution = 0;
  /// Minimum range, m.
  double min_range = 0;
  /// Maximum range, m.
  double max_range = 0;
  /// Resolution of the ranges, m.
  double range_resolution = 0;
  /// Scans per second, Hz.
  double frequency = 0;
  DRAGOMAN_FIELDS(min_angle, max_angle, angular_resolution, min_range, max_range, range_resolution, frequency)
};

/// Poses and sizes.
struct RangerGeometry {
  /// Pose of the device in the robot's frame.
  Pose3d pose;
  /// Size of the device, m.
  Size3d size;
  /// Pose of each element in the device's frame.
  std::vector<Pose3d> element_poses;
  /// Size of each element, m.
  std::vector<Size3d> element_sizes;
  DRAGOMAN_FIELDS(pose, size, element_poses, element_sizes)
};

/// One distance per element, in their order.
struct RangerValues {
  /// Ranges, m.
  std::vector<double> values;
  DRAGOMAN_FIELDS(values)
};

/// Ranges, and how they were measured.
struct RangerStampedValues {
  RangerValues values;
  /// Whether `geometry` means something.
  bool has_geometry = false;
  /// Geometry at the time.
  RangerGeometry geometry;
  /// Whether `config` means something.
  bool has_config = false;
  /// Configuration at the time.
  RangerConfig config;
  DRAGOMAN_FIELDS(values, has_geometry, geometry, has_config, config)
};

/// A shape.
struct Feature {
  std::string name;
  /// The shape in the well-known binary form of the Open Geospatial Consortium.
  Bytes shape;
  std::string attributes;
  DRAGOMAN_FIELDS(name, shape, attributes)
};

/// A layer without its shapes.
struct LayerInfo {
  std::string name;
  /// Its bounds: two opposite corners.
  LineSegment bounds;
  DRAGOMAN_FIELDS(name, bounds)
};

/// The shapes of a layer.
struct Layer {
  std::string name;
  std::vector<Feature> features;
  DRAGOMAN_FIELDS(name, features)
};

/// Layers and bounds.
struct VectormapInfo {
  /// Number of the spatial reference system; 0: none.
  std::uint32_t reference = 0;
  std::vector<LayerInfo> layers;
  /// Bounds of the map: two opposite corners.
  LineSegment bounds;
  DRAGOMAN_FIELDS(reference, layers, bounds)
};

/// A property that is true or false.
struct BoolProperty {
  std::string name;
  bool value = false;
  DRAGOMAN_FIELDS(name, value)
};

/// An integer.
struct IntProperty {
  std::string name;
  std::int32_t value = 0;
  DRAGOMAN_FIELDS(name, value)
};

/// A number.
struct DoubleProperty {
  std::string name;
  double value = 0;
  DRAGOMAN_FIELDS(name, value)
};

/// A property whose value is a string.
struct TextProperty {
  std::string name;
  std::string value;
  DRAGOMAN_FIELDS(name, value)
};

/// A message that a device may handle.
struct Capability {
  /// Code of its kind.
  std::uint32_t kind = 0;
  std::uint32_t subtype = 0;
  DRAGOMAN_FIELDS(kind, subtype)
};

/// Codes of interfaces, numbers of their messages, and other numbers.
namespace numbers {
namespace player {
constexpr std::uint16_t interface = 1;
constexpr std::uint8_t devices = 1;
constexpr std::uint8_t driver = 2;
constexpr std::uint8_t subscribe = 3;
constexpr std::uint8_t read = 4;
constexpr std::uint8_t mode = 5;
constexpr std::uint8_t authenticate = 7;
constexpr std::uint8_t name_service = 8;
constexpr std::uint8_t replace_rule = 10;
constexpr std::uint8_t close = 2;
constexpr std::uint8_t denied = 3;
constexpr std::uint8_t open = 1;
constexpr std::uint8_t pull = 2;
constexpr std::uint8_t push = 1;
constexpr std::uint8_t synch = 1;
constexpr std::uint8_t synch_overflow = 2;
}  // namespace player
namespace power {
constexpr std::uint16_t interface = 2;
constexpr std::uint8_t state = 1;
constexpr std::uint8_t set_charging_policy = 1;
constexpr std::uint32_t charging = 16;
constexpr std::uint32_t joules = 4;
constexpr std::uint32_t percent = 8;
constexpr std::uint32_t volts = 1;
constexpr std::uint32_t watts = 2;
}  // namespace power
namespace gripper {
constexpr std::uint16_t interface = 3;
constexpr std::uint8_t state = 1;
constexpr std::uint8_t open = 1;
constexpr std::uint8_t close = 2;
constexpr std::uint8_t stop = 3;
constexpr std::uint8_t store = 4;
constexpr std::uint8_t retrieve = 5;
constexpr std::uint8_t get_geometry = 1;
}  // namespace gripper
namespace position2d {
constexpr std::uint16_t interface = 4;
constexpr std::uint8_t state = 1;
constexpr std::uint8_t geometry_changed = 2;
constexpr std::uint8_t velocity = 1;
constexpr std::uint8_t position = 2;
constexpr std::uint8_t car = 3;
constexpr std::uint8_t velocity_heading = 4;
constexpr std::uint8_t get_geometry = 1;
constexpr std::uint8_t motor_power = 2;
constexpr std::uint8_t velocity_mode = 3;
constexpr std::uint8_t position_mode = 4;
constexpr std::uint8_t set_odometry = 5;
constexpr std::uint8_t reset_odometry = 6;
constexpr std::uint8_t speed_pid = 7;
constexpr std::uint8_t position_pid = 8;
constexpr std::uint8_t speed_profile = 9;
}  // namespace position2d
namespace sonar {
constexpr std::uint16_t interface = 5;
constexpr std::uint8_t ranges = 1;
constexpr std::uint8_t geometry_changed = 2;
constexpr std::uint8_t get_geometry = 1;
constexpr std::uint8_t power = 2;
}  // namespace sonar
namespace laser {
constexpr std::uint16_t interface = 6;
constexpr std::uint8_t scan = 1;
constexpr std::uint8_t posed_scan = 2;
constexpr std::uint8_t angled_scan = 3;
constexpr std::uint8_t get_geometry = 1;
constexpr std::uint8_t set_config = 2;
constexpr std::uint8_t get_config = 3;
constexpr std::uint8_t power = 4;
constexpr std::uint8_t get_id = 5;
constexpr std::uint8_t set_filter = 6;
constexpr std::uint32_t max_filter_parameters = 8;
}  // namespace laser
namespace bumper {
constexpr std::uint16_t interface = 14;
constexpr std::uint8_t state = 1;
constexpr std::uint8_t geometry_changed = 2;
constexpr std::uint8_t get_geometry = 1;
}  // namespace bumper
namespace ir {
constexpr std::uint16_t interface = 22;
constexpr std::uint8_t ranges = 1;
constexpr std::uint8_t get_geometry = 1;
constexpr std::uint8_t power = 2;
}  // namespace ir
namespace localize {
constexpr std::uint16_t interface = 25;
constexpr std::uint8_t hypotheses = 1;
constexpr std::uint8_t set_pose = 1;
constexpr std::uint8_t get_particles = 2;
}  // namespace localize
namespace simulation {
constexpr std::uint16_t interface = 31;
constexpr std::uint8_t pause = 1;
constexpr std::uint8_t reset = 2;
constexpr std::uint8_t save = 3;
constexpr std::uint8_t get_pose2d = 1;
constexpr std::uint8_t set_pose2d = 2;
constexpr std::uint8_t get_pose3d = 3;
constexpr std::uint8_t set_pose3d = 4;
constexpr std::uint8_t get_property = 5;
constexpr std::uint8_t set_property = 6;
}  // namespace simulation
namespace camera {
constexpr std::uint16_t interface = 40;
constexpr std::uint8_t image = 1;
constexpr std::uint8_t get_source = 1;
constexpr std::uint8_t set_source = 2;
constexpr std::uint8_t get_image = 3;
}  // namespace camera
namespace map {
constexpr std::uint16_t interface = 42;
constexpr std::uint8_t info = 1;
constexpr std::uint8_t get_info = 1;
constexpr std::uint8_t get_data = 2;
constexpr std::uint8_t get_vector = 3;
}  // namespace map
namespace planner {
constexpr std::uint16_t interface = 44;
constexpr std::uint8_t state = 1;
constexpr std::uint8_t goal = 1;
constexpr std::uint8_t start = 2;
constexpr std::uint8_t get_waypoints = 1;
constexpr std::uint8_t enable = 2;
}  // namespace planner
namespace log {
constexpr std::uint16_t interface = 45;
constexpr std::uint8_t set_write_state = 1;
constexpr std::uint8_t set_read_state = 2;
constexpr std::uint8_t get_state = 3;
constexpr std::uint8_t rewind = 4;
constexpr std::uint8_t set_file_name = 5;
}  // namespace log
namespace opaque {
constexpr std::uint16_t interface = 51;
constexpr std::uint8_t state = 1;
constexpr std::uint8_t command = 1;
constexpr std::uint8_t request = 1;
}  // namespace opaque
namespace actarray {
constexpr std::uint16_t interface = 53;
constexpr std::uint8_t state = 1;
constexpr std::uint8_t position = 1;
constexpr std::uint8_t multi_position = 2;
constexpr std::uint8_t speed = 3;
constexpr std::uint8_t multi_speed = 4;
constexpr std::uint8_t home = 5;
constexpr std::uint8_t current = 6;
constexpr std::uint8_t multi_current = 7;
constexpr std::uint8_t power = 1;
constexpr std::uint8_t brakes = 2;
constexpr std::uint8_t get_geometry = 3;
constexpr std::uint8_t set_speed = 4;
constexpr std::uint8_t set_acceleration = 5;
}  // namespace actarray
namespace limb {
constexpr std::uint16_t interface = 54;
constexpr std::uint8_t state = 1;
constexpr std::uint8_t home = 1;
constexpr std::uint8_t stop = 2;
constexpr std::uint8_t set_pose = 3;
constexpr std::uint8_t set_position = 4;
constexpr std::uint8_t move_along = 5;
constexpr std::uint8_t power = 1;
constexpr std::uint8_t brakes = 2;
constexpr std::uint8_t get_geometry = 3;
constexpr std::uint8_t set_speed = 4;
}  // namespace limb
namespace imu {
constexpr std::uint16_t interface = 60;
constexpr std::uint8_t state = 1;
constexpr std::uint8_t calibrated = 2;
constexpr std::uint8_t quaternion = 3;
constexpr std::uint8_t euler = 4;
constexpr std::uint8_t full_state = 5;
constexpr std::uint8_t set_data_kind = 1;
constexpr std::uint8_t reset_orientation = 2;
constexpr std::uint8_t reset_euler = 3;
}  // namespace imu
namespace ranger {
constexpr std::uint16_t interface = 62;
constexpr std::uint8_t ranges = 1;
constexpr std::uint8_t stamped_ranges = 2;
constexpr std::uint8_t intensities = 3;
constexpr std::uint8_t stamped_intensities = 4;
constexpr std::uint8_t geometry_changed = 5;
constexpr std::uint8_t get_geometry = 1;
constexpr std::uint8_t power = 2;
constexpr std::uint8_t send_intensities = 3;
constexpr std::uint8_t set_config = 4;
constexpr std::uint8_t get_config = 5;
}  // namespace ranger
namespace vectormap {
constexpr std::uint16_t interface = 63;
constexpr std::uint8_t get_info = 1;
constexpr std::uint8_t get_layer = 3;
constexpr std::uint8_t write_layer = 4;
}  // namespace vectormap
namespace every_interface {
constexpr std::uint16_t interface = 0;
constexpr std::uint8_t set_bool = 247;
constexpr std::uint8_t get_bool = 248;
constexpr std::uint8_t set_text = 249;
constexpr std::uint8_t get_text = 250;
constexpr std::uint8_t set_double = 251;
constexpr std::uint8_t get_double = 252;
constexpr std::uint8_t set_int = 253;
constexpr std::uint8_t get_int = 254;
constexpr std::uint8_t capability = 255;
}  // namespace every_interface
}  // namespace numbers

/// Names of the interfaces, by their numbers.
inline const std::map<std::uint16_t, std::string>& interface_names() {
  static const std::map<std::uint16_t, std::string> names = {
      {1, "player"},
      {2, "power"},
      {3, "gripper"},
      {4, "position2d"},
      {5, "sonar"},
      {6, "laser"},
      {14, "bumper"},
      {22, "ir"},
      {25, "localize"},
      {31, "simulation"},
      {40, "camera"},
      {42, "map"},
      {44, "planner"},
      {45, "log"},
      {51, "opaque"},
      {53, "actarray"},
      {54, "limb"},
      {60, "imu"},
      {62, "ranger"},
      {63, "vectormap"},
  };
  return names;
}
