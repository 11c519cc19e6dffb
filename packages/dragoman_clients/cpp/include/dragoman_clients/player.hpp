// Client of the robot server Player, 2.1 to 3.1 (TCP port 6665): all 21 interfaces that Dragoman's servers have.
//
//     dragoman_clients::Player player("127.0.0.1", 6665);
//     auto base = player.open<dragoman_clients::player::Position2d>(0);
//     base.set_velocity(0.2, 0.0, 0.1);
//     player.read(1.0);
//     if (const auto state = base.state()) std::printf("%g m\n", state->pose.x);
//
// Values are XDR (RFC 4506) in Player's dialect: every integer takes four bytes; a list has its length twice, then its
// elements; bytes and texts are padded to four bytes, and a text that is not empty ends with a NUL that counts.
// m, rad, s, and what they are made of.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "inflate.hpp"
#include "net.hpp"

namespace dragoman_clients {
namespace player {

// How structures are written and read: each has a function `fields` that lists its members in the order of the wire.

class Writer {
 public:
  Bytes out;
  std::string what;

  template <class... T>
  void operator()(const T&... values) {
    (put(values), ...);
  }

 private:
  void put(double value) { detail::put_be(out, detail::finite(value, what)); }
  void put(float value) { detail::put_be(out, detail::single(value, what)); }
  void put(bool value) { detail::put_be(out, std::uint32_t{value}); }
  template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
  void put(T value) {
    detail::put_be(out, static_cast<std::uint32_t>(value));
  }
  template <class T, std::enable_if_t<std::is_enum_v<T>, int> = 0>
  void put(T value) {
    detail::put_be(out, static_cast<std::uint32_t>(value));
  }
  void put(const Bytes& value) {
    (*this)(static_cast<std::uint32_t>(value.size()), static_cast<std::uint32_t>(value.size()));
    out.insert(out.end(), value.begin(), value.end());
    out.resize((out.size() + 3) / 4 * 4);
  }
  void put(const std::string& value) {
    if (detail::text(value, what, 4096).find('\0') != std::string::npos) throw BadArgument(what + " contains a NUL");
    Bytes bytes(value.begin(), value.end());
    if (!bytes.empty()) bytes.push_back(0);
    put(bytes);
  }
  template <class T>
  void put(const std::vector<T>& values) {
    (*this)(static_cast<std::uint32_t>(values.size()), static_cast<std::uint32_t>(values.size()));
    for (const T& one : values) put(one);
  }
  template <class T, std::size_t N>
  void put(const std::array<T, N>& values) {
    for (const T& one : values) put(one);
  }
  template <class T, std::enable_if_t<std::is_class_v<T>, int> = 0>
  void put(const T& value) {
    const_cast<T&>(value).fields(*this);
  }
};

class Parser : public detail::Reader {
 public:
  using Reader::Reader;

  template <class... T>
  void operator()(T&... values) {
    (take_value(values), ...);
  }

 private:
  void take_value(double& value) { value = be<double>(); }
  void take_value(float& value) { value = be<float>(); }
  void take_value(bool& value) { value = be<std::uint32_t>() != 0; }
  /// Of few bits in a wider place only the low ones count.
  template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
  void take_value(T& value) {
    value = static_cast<T>(be<std::uint32_t>());
  }
  template <class T, std::enable_if_t<std::is_enum_v<T>, int> = 0>
  void take_value(T& value) {
    value = static_cast<T>(static_cast<std::underlying_type_t<T>>(be<std::uint32_t>()));
  }
  /// The length is there twice; the last one counts.
  std::size_t length(std::size_t least_size) {
    be<std::uint32_t>();
    return count(be<std::uint32_t>(), least_size);
  }
  void take_value(Bytes& value) {
    const std::size_t size = length(1);
    const std::uint8_t* found = take(size);
    value.assign(found, found + size);
    take((4 - size % 4) % 4);
  }
  void take_value(std::string& value) {
    Bytes bytes;
    take_value(bytes);
    value.assign(bytes.begin(), std::find(bytes.begin(), bytes.end(), 0));
  }
  template <class T>
  void take_value(std::vector<T>& values) {
    values.resize(length(4));
    for (T& one : values) take_value(one);
  }
  template <class T, std::size_t N>
  void take_value(std::array<T, N>& values) {
    for (T& one : values) take_value(one);
  }
  template <class T, std::enable_if_t<std::is_class_v<T>, int> = 0>
  void take_value(T& value) {
    value.fields(*this);
  }
};

#define DRAGOMAN_FIELDS(...)      \
  template <class Archive>        \
  void fields(Archive& archive) { \
    archive(__VA_ARGS__);         \
  }

// Structures

struct Pose2d {
  double x = 0, y = 0, yaw = 0;
  DRAGOMAN_FIELDS(x, y, yaw)
};
struct Point3d {
  double x = 0, y = 0, z = 0;
  DRAGOMAN_FIELDS(x, y, z)
};
struct Orientation3d {
  double roll = 0, pitch = 0, yaw = 0;
  DRAGOMAN_FIELDS(roll, pitch, yaw)
};
struct Pose3d {
  Point3d position;
  Orientation3d orientation;
  DRAGOMAN_FIELDS(position, orientation)
};
struct Size3d {
  double width = 0, length = 0, height = 0;
  DRAGOMAN_FIELDS(width, length, height)
};
/// Pose on the robot, and size.
struct Geometry {
  Pose3d pose;
  Size3d size;
  DRAGOMAN_FIELDS(pose, size)
};
struct LineSegment {
  double x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  DRAGOMAN_FIELDS(x0, y0, x1, y1)
};
/// xx, yy, yaw-yaw, xy, y-yaw, x-yaw; m^2, rad^2 and m rad.
using Covariance = std::array<double, 6>;

struct Address {
  std::uint32_t host = 0, robot = 0;
  std::uint16_t interface = 0, index = 0;
  DRAGOMAN_FIELDS(host, robot, interface, index)
};
struct AddressedText {
  Address address;
  std::string text;
  DRAGOMAN_FIELDS(address, text)
};
/// Access: 1 open, 2 close, 3 denied.
struct Subscription {
  Address address;
  std::uint8_t access = 0;
  std::string driver;
  DRAGOMAN_FIELDS(address, access, driver)
};
struct RobotPort {
  std::string name;
  std::uint16_t port = 0;
  DRAGOMAN_FIELDS(name, port)
};

enum class Charging : std::int32_t { idle = 0, receiving = 1, providing = -1 };
/// Bits of `valid`: 1 volts, 2 watts, 4 joules, 8 percent, 16 charging.
struct PowerState {
  std::uint32_t valid = 0;
  float volts = 0, percent = 0, joules = 0, watts = 0;
  Charging charging{};
  DRAGOMAN_FIELDS(valid, volts, percent, joules, watts, charging)
};

enum class Fingers : std::uint8_t { unknown, open, closed, moving, error };
/// Fingers, interrupted light beams (a bit for each), stored objects.
struct GripperState {
  Fingers fingers_state{};
  std::uint32_t beams = 0;
  std::uint8_t stored = 0;
  DRAGOMAN_FIELDS(fingers_state, beams, stored)
};
struct GripperGeometry {
  Pose3d pose;
  Size3d outer_size, inner_size;
  std::uint8_t beams = 0, capacity = 0;
  DRAGOMAN_FIELDS(pose, outer_size, inner_size, beams, capacity)
};

/// Odometry: pose, velocity in the robot's frame, and whether it is blocked.
struct Position2dState {
  Pose2d pose, velocity;
  bool stalled = false;
  DRAGOMAN_FIELDS(pose, velocity, stalled)
};

struct SonarRanges {
  std::vector<float> ranges;
  DRAGOMAN_FIELDS(ranges)
};
struct Poses {
  std::vector<Pose3d> poses;
  DRAGOMAN_FIELDS(poses)
};

/// A scan at equal angles, counter-clockwise.
struct LaserScan {
  float min_angle = 0, max_angle = 0, resolution = 0, max_range = 0;
  std::vector<float> ranges;
  Bytes intensities;
  std::uint32_t id = 0;
  DRAGOMAN_FIELDS(min_angle, max_angle, resolution, max_range, ranges, intensities, id)
};
/// A scan, and where it was taken.
struct LaserPosedScan {
  LaserScan scan;
  Pose2d pose;
  DRAGOMAN_FIELDS(scan, pose)
};
/// A scan with an angle for each range.
struct LaserAngledScan {
  float max_range = 0;
  std::vector<float> ranges, angles;
  Bytes intensities;
  std::uint32_t id = 0;
  DRAGOMAN_FIELDS(max_range, ranges, angles, intensities, id)
};
struct LaserConfig {
  float min_angle = 0, max_angle = 0, resolution = 0, max_range = 0, range_resolution = 0;
  bool intensity = false;
  float frequency = 0;
  DRAGOMAN_FIELDS(min_angle, max_angle, resolution, max_range, range_resolution, intensity, frequency)
};
enum class LaserFilter : std::uint8_t { median = 1, edge, range, mean };

/// Which bumpers are pressed: 0 is free.
struct BumperState {
  Bytes bumpers;
  DRAGOMAN_FIELDS(bumpers)
};
/// Where a bumper is: its length and the radius of its curve.
struct BumperPlace {
  Pose3d pose;
  float length = 0, radius = 0;
  DRAGOMAN_FIELDS(pose, length, radius)
};
struct BumperGeometry {
  std::vector<BumperPlace> bumpers;
  DRAGOMAN_FIELDS(bumpers)
};

struct IrRanges {
  std::vector<float> voltages, ranges;
  DRAGOMAN_FIELDS(voltages, ranges)
};

struct Hypothesis {
  Pose2d mean;
  Covariance covariance{};
  double weight = 0;
  DRAGOMAN_FIELDS(mean, covariance, weight)
};
/// Where the robot may be; `pending` measurements are not used yet.
struct Hypotheses {
  std::uint32_t pending = 0;
  double time = 0;
  std::vector<Hypothesis> hypotheses;
  DRAGOMAN_FIELDS(pending, time, hypotheses)
};
struct Particle {
  Pose2d pose;
  double weight = 0;
  DRAGOMAN_FIELDS(pose, weight)
};
struct Particles {
  Pose2d mean;
  double variance = 0;
  std::vector<Particle> particles;
  DRAGOMAN_FIELDS(mean, variance, particles)
};

struct NamedPose2d {
  std::string name;
  Pose2d pose;
  DRAGOMAN_FIELDS(name, pose)
};
/// `time` is in microseconds, only in answers.
struct NamedPose3d {
  std::string name;
  Pose3d pose;
  double time = 0;
  DRAGOMAN_FIELDS(name, pose, time)
};
/// A property of an object, as it is in the memory of the simulator's machine.
struct ObjectProperty {
  std::string name, property;
  std::uint32_t index = 0;
  Bytes value;
  DRAGOMAN_FIELDS(name, property, index, value)
};

/// Formats: 1 mono8, 2 mono16, 4 RGB565, 5 RGB888; compression: 0 none, 1 JPEG.
struct Image {
  std::uint32_t width = 0, height = 0, bits = 0, format = 0, divisor = 0, compression = 0;
  Bytes data;
  DRAGOMAN_FIELDS(width, height, bits, format, divisor, compression, data)
};
struct ImageSource {
  std::string norm;
  std::int32_t source = 0;
  DRAGOMAN_FIELDS(norm, source)
};

/// Side of a cell, cells along x and y, pose of the first cell.
struct MapInfo {
  float scale = 0;
  std::uint32_t width = 0, height = 0;
  Pose2d origin;
  DRAGOMAN_FIELDS(scale, width, height, origin)
};
/// A map as line segments, and its bounds.
struct MapVector {
  float min_x = 0, max_x = 0, min_y = 0, max_y = 0;
  std::vector<LineSegment> segments;
  DRAGOMAN_FIELDS(min_x, max_x, min_y, max_y, segments)
};
/// A tile of a grid in rows along x: -value_range if a cell is free, 0 unknown, value_range occupied.
struct MapTile {
  std::uint32_t column = 0, row = 0, width = 0, height = 0;
  std::int8_t value_range = 0;
  std::vector<std::int8_t> cells;
};

/// Path, goal and progress of a planner.
struct PlannerState {
  bool valid = false, done = false;
  Pose2d pose, goal, waypoint;
  std::int32_t waypoint_index = 0;
  std::uint32_t waypoint_count = 0;
  DRAGOMAN_FIELDS(valid, done, pose, goal, waypoint, waypoint_index, waypoint_count)
};
struct Waypoints {
  double length = 0;
  std::vector<Pose2d> waypoints;
  DRAGOMAN_FIELDS(length, waypoints)
};

enum class LogKind : std::uint8_t { read = 1, write = 2 };
struct LogState {
  LogKind kind{};
  bool enabled = false;
  DRAGOMAN_FIELDS(kind, enabled)
};

struct OpaqueData {
  Bytes data;
  DRAGOMAN_FIELDS(data)
};

enum class JointState : std::uint8_t { unknown = 0, idle = 1, moving = 2, braked = 4, stalled = 8 };
/// m or rad, A.
struct Joint {
  float position = 0, speed = 0, acceleration = 0, current = 0;
  JointState state{};
  DRAGOMAN_FIELDS(position, speed, acceleration, current, state)
};
struct ActarrayState {
  std::vector<Joint> joints;
  bool motors_on = false;
  DRAGOMAN_FIELDS(joints, motors_on)
};
enum class JointKind : std::uint8_t { unknown, linear, rotary };
/// A joint, and the link behind it.
struct JointGeometry {
  JointKind kind{};
  float length = 0;
  Orientation3d orientation;
  Point3d axis;
  float minimum = 0, center = 0, maximum = 0, home = 0, speed = 0;
  bool has_brake = false;
  DRAGOMAN_FIELDS(kind, length, orientation, axis, minimum, center, maximum, home, speed, has_brake)
};
struct ActarrayGeometry {
  std::vector<JointGeometry> joints;
  Point3d base_position;
  Orientation3d base_orientation;
  DRAGOMAN_FIELDS(joints, base_position, base_orientation)
};

enum class LimbMotion : std::uint8_t { idle = 1, braked, moving, out_of_reach, collision };
/// Position, approach vector (to what it grips), orientation vector (from one finger to the other).
struct LimbState {
  Point3d position, approach, orientation;
  LimbMotion motion{};
  DRAGOMAN_FIELDS(position, approach, orientation, motion)
};

struct ImuVector {
  float x = 0, y = 0, z = 0;
  DRAGOMAN_FIELDS(x, y, z)
};
/// m/s^2, rad/s, magnetic field in the device's unit.
struct ImuCalibrated {
  ImuVector acceleration, angular_velocity, magnetic_field;
  DRAGOMAN_FIELDS(acceleration, angular_velocity, magnetic_field)
};
/// The real part comes first.
struct ImuQuaternion {
  ImuCalibrated calibrated;
  std::array<float, 4> orientation{};
  DRAGOMAN_FIELDS(calibrated, orientation)
};
struct ImuEuler {
  ImuCalibrated calibrated;
  Orientation3d orientation;
  DRAGOMAN_FIELDS(calibrated, orientation)
};
struct ImuFullState {
  Pose3d pose, velocity, acceleration;
  DRAGOMAN_FIELDS(pose, velocity, acceleration)
};
enum class ImuDataKind : std::uint8_t { state = 1, calibrated, quaternion, euler };

struct RangerConfig {
  double min_angle = 0, max_angle = 0, angular_resolution = 0, min_range = 0, max_range = 0, range_resolution = 0,
         frequency = 0;
  DRAGOMAN_FIELDS(min_angle, max_angle, angular_resolution, min_range, max_range, range_resolution, frequency)
};
struct RangerGeometry {
  Pose3d pose;
  Size3d size;
  std::vector<Pose3d> element_poses;
  std::vector<Size3d> element_sizes;
  DRAGOMAN_FIELDS(pose, size, element_poses, element_sizes)
};
/// Ranges in m, or intensities.
struct RangerValues {
  std::vector<double> values;
  DRAGOMAN_FIELDS(values)
};
struct RangerStampedValues {
  RangerValues values;
  bool has_geometry = false;
  RangerGeometry geometry;
  bool has_config = false;
  RangerConfig config;
  DRAGOMAN_FIELDS(values, has_geometry, geometry, has_config, config)
};

/// A shape in the well-known binary form of the Open Geospatial Consortium.
struct Feature {
  std::string name;
  Bytes shape;
  std::string attributes;
  DRAGOMAN_FIELDS(name, shape, attributes)
};
struct Layer {
  std::string name;
  std::vector<Feature> features;
  DRAGOMAN_FIELDS(name, features)
};
/// Bounds are two opposite corners.
struct LayerInfo {
  std::string name;
  LineSegment bounds;
  DRAGOMAN_FIELDS(name, bounds)
};
/// `reference`: number of the spatial reference system; 0: none.
struct VectormapInfo {
  std::uint32_t reference = 0;
  std::vector<LayerInfo> layers;
  LineSegment bounds;
  DRAGOMAN_FIELDS(reference, layers, bounds)
};

struct Nothing {
  template <class Archive>
  void fields(Archive&) {}
};
/// A single value as a structure.
template <class T>
struct Single {
  T value{};
  DRAGOMAN_FIELDS(value)
};

#undef DRAGOMAN_FIELDS

/// Kinds of messages.
enum Kind : std::uint32_t { data = 1, command = 2, request = 3, acknowledge = 4, synch = 5, refuse = 6 };

/// Names of the interfaces, by their numbers.
inline const std::map<std::uint16_t, std::string>& interface_names() {
  static const std::map<std::uint16_t, std::string> names = {
      {1, "player"},    {2, "power"},   {3, "gripper"},  {4, "position2d"}, {5, "sonar"},
      {6, "laser"},     {14, "bumper"}, {22, "ir"},      {25, "localize"},  {31, "simulation"},
      {40, "camera"},   {42, "map"},    {44, "planner"}, {45, "log"},       {51, "opaque"},
      {53, "actarray"}, {54, "limb"},   {60, "imu"},     {62, "ranger"},    {63, "vectormap"}};
  return names;
}

/// A device of a server.
struct DeviceInfo {
  std::uint16_t interface;
  std::uint16_t index;
  /// As "position2d:0"; the number of the interface if this client does not know it.
  std::string name() const {
    const auto found = interface_names().find(interface);
    return (found == interface_names().end() ? std::to_string(interface) : found->second) + ":" + std::to_string(index);
  }
};

/// Data of a device that has come.
struct Data {
  std::uint16_t interface;
  std::uint16_t index;
  /// Number of the message, as in docs/reference/player.md.
  std::uint8_t number;
  /// The server's time, s.
  double time;
};

}  // namespace player

/// A connection to a Player server. With `pull` the server sends data with each `read`, newest only; otherwise when
/// there is some. `key` is for servers that ask for one. After a lost connection the next call opens the same devices
/// again.
class Player : private detail::TcpClient {
 public:
  explicit Player(const std::string& host = "127.0.0.1", std::uint16_t port = 6665, double timeout = 5.0,
                  bool pull = false, std::optional<std::string> key = std::nullopt)
      : TcpClient(host, port, timeout), pull_(pull), key_(std::move(key)) {
    if (key_) detail::text(*key_, "the key", 255);
  }

  using TcpClient::close;
  using TcpClient::connect;
  using TcpClient::is_connected;

  /// How the server presented itself.
  const std::string& banner() const { return banner_; }
  /// Data messages that the server dropped because this client did not read them in time.
  std::uint64_t lost_data() const { return lost_data_; }

  /// The server's devices.
  std::vector<player::DeviceInfo> devices() {
    std::vector<player::DeviceInfo> found;
    for (const auto& one : ask_server<player::Single<std::vector<player::Address>>>("devices", 1).value) {
      found.push_back({one.interface, one.index});
    }
    return found;
  }
  /// Name of a device's driver.
  std::string driver(std::uint16_t interface, std::uint16_t index) {
    const player::AddressedText device{{0, 0, interface, index}, ""};
    return ask_server<player::AddressedText>("driver", 2, device).text;
  }
  /// The port of the robot with this name. Refused: there is none.
  std::uint16_t port_of(const std::string& name) {
    return ask_server<player::RobotPort>("port_of", 8, player::RobotPort{name, 0}).port;
  }
  /// What happens to waiting data: 0 it is kept, 1 newer data replaces it, 2 it is not sent. -1 stands for all.
  void replace_rule(std::int32_t interface = -1, std::int32_t index = -1, std::int32_t number = -1,
                    std::int32_t rule = 1) {
    if (rule < 0 || rule > 2) throw BadArgument("rule must be between 0 and 2, not " + std::to_string(rule));
    ask_server<player::Nothing>("replace_rule", 10, interface, index, std::int32_t{player::data}, number, rule);
  }
  /// Data that has come since the last time; waits for the first. Empty after `seconds`.
  std::vector<player::Data> read(double seconds = 1.0) {
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    const detail::Deadline deadline(detail::duration(seconds, "the time limit"));
    ensure(deadline);
    guarded([&] {
      if (pull_) {
        // A reading that goes on since the last time is not begun again.
        if (!is_reading_) socket_->send(message(1, 0, player::request, 4, {}), "read", deadline);
        is_reading_ = true;
      }
      Bytes found;
      process();
      // What is there is taken; then the first message is awaited.
      while (socket_->receive(found, "read", is_waiting() ? deadline.left() : 0)) take(found);
    });
    std::vector<player::Data> events(events_.begin(), events_.end());
    events_.clear();
    return events;
  }

  /// Opens a device: player.open<player::Laser>(1). Refused: there is none, or it does not work.
  template <class Device>
  Device open(std::uint16_t index = 0) {
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    if (devices_.count({Device::interface, index}) == 0) {
      access(Device::interface, index, 1);
      devices_.insert({Device::interface, index});
    }
    return Device(*this, index);
  }

  // What devices use.

  void close_device(std::uint16_t interface, std::uint16_t index) {
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    if (devices_.erase({interface, index}) > 0) access(interface, index, 2);
  }
  template <class... T>
  void command(std::uint16_t interface, std::uint16_t index, std::uint8_t number, const std::string& name,
               const T&... values) {
    const Bytes body = pack(name, values...);
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    const detail::Deadline deadline(timeout_);
    ensure(deadline);
    guarded([&] { socket_->send(message(interface, index, player::command, number, body), name, deadline); });
  }
  template <class... T>
  Bytes request(std::uint16_t interface, std::uint16_t index, std::uint8_t number, const std::string& name,
                const T&... values) {
    return ask_device(interface, index, number, name, pack(name, values...));
  }
  template <class T>
  std::optional<T> latest(std::uint16_t interface, std::uint16_t index, std::uint8_t number) {
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    const auto found = latest_.find({interface, index, number});
    if (found == latest_.end()) return std::nullopt;
    return unpack<T>(found->second, "data");
  }
  /// Reads a body. What follows is ignored: newer servers may have more.
  template <class T>
  static T unpack(const Bytes& body, const std::string& what) {
    player::Parser parser(body.data(), body.size(), what);
    T value;
    parser(value);
    return value;
  }

 private:
  static constexpr std::size_t header_len = 40, banner_len = 32, max_body = (8 << 20) - header_len, max_events = 1000;
  using Key = std::tuple<std::uint16_t, std::uint16_t, std::uint8_t>;
  struct Pending {
    Key key;
    std::uint32_t sequence;
    bool is_done = false, is_refused = false;
    Bytes body;
  };

  template <class... T>
  static Bytes pack(const std::string& what, const T&... values) {
    player::Writer writer;
    writer.what = what;
    writer(values...);
    if (writer.out.size() > max_body) throw BadArgument(what + ": too many bytes for a message");
    return writer.out;
  }
  template <class Answer, class... T>
  Answer ask_server(const std::string& name, std::uint8_t number, const T&... values) {
    return unpack<Answer>(ask_device(1, 0, number, name, pack(name, values...)), name);
  }
  void access(std::uint16_t interface, std::uint16_t index, std::uint8_t how) {
    const std::string name = (how == 1 ? "open " : "close ") + player::DeviceInfo{interface, index}.name();
    const auto found =
        ask_server<player::Subscription>(name, 3, player::Subscription{{0, 0, interface, index}, how, ""});
    check_access(name, found);
  }
  static void check_access(const std::string& name, const player::Subscription& found) {
    if (found.access == 3) {
      throw Refused("DENIED", name + ": denied", "there is no such device, or it does not work");
    }
  }

  Bytes message(std::uint16_t interface, std::uint16_t index, std::uint32_t kind, std::uint8_t number,
                const Bytes& body) {
    sequence_ = sequence_ % 0xffff + 1;
    Bytes out;
    for (const std::uint32_t one :
         {0U, 0U, std::uint32_t{interface}, std::uint32_t{index}, kind, std::uint32_t{number}}) {
      detail::put_be(out, one);
    }
    detail::put_be(out, 0.0);
    detail::put_be(out, sequence_);
    detail::put_be(out, static_cast<std::uint32_t>(body.size()));
    out.insert(out.end(), body.begin(), body.end());
    return out;
  }

  Bytes ask_device(std::uint16_t interface, std::uint16_t index, std::uint8_t number, const std::string& name,
                   const Bytes& body) {
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    const detail::Deadline deadline(timeout_);
    ensure(deadline);
    return ask_connected(interface, index, number, name, body, deadline);
  }
  /// Answers say to what they belong: after a time-out the connection stays.
  Bytes ask_connected(std::uint16_t interface, std::uint16_t index, std::uint8_t number, const std::string& name,
                      const Bytes& body, const detail::Deadline& deadline) {
    bool is_late = false;
    Pending pending;
    guarded([&] {
      const Bytes out = message(interface, index, player::request, number, body);
      pending.key = {interface, index, number};
      pending.sequence = sequence_;
      pending_ = &pending;
      const Forget forget{pending_};
      socket_->send(out, name, deadline);
      Bytes found;
      process();
      while (!pending.is_done) {
        if (socket_->receive(found, name, deadline.left())) {
          take(found);
        } else if (deadline.left() <= 0) {
          is_late = true;
          return;
        }
      }
    });
    if (is_late) {
      abandoned_.insert(pending.sequence);
      throw deadline.error(name);
    }
    if (pending.is_refused) throw Refused("NACK", name + ": the driver has no such request, or refused it");
    return pending.body;
  }
  struct Forget {
    Pending*& pending;
    ~Forget() { pending = nullptr; }
  };

  bool has_ended() override {
    // Data may be waiting in front of the end; it is taken first, so that a peek sees the end itself.
    try {
      Bytes found;
      while (socket_->receive(found, "read", 0)) take(found);
      return false;
    } catch (const ClientError&) {
      return true;
    }
  }
  void connected(const detail::Deadline& deadline) override {
    banner_.clear();
    abandoned_.clear();
    is_reading_ = false;
    Bytes found;
    while (banner_.empty()) {
      if (socket_->receive(found, "connect", deadline.left())) {
        take(found);
      } else if (deadline.left() <= 0) {
        throw deadline.error("connect");
      }
    }
    if (key_) {
      Bytes key(key_->begin(), key_->end());
      key.push_back(0);
      ask_connected(1, 0, 7, "authenticate", pack("the key", key), deadline);
    }
    ask_connected(1, 0, 5, "mode", pack("mode", std::uint8_t{static_cast<std::uint8_t>(pull_ ? 2 : 1)}), deadline);
    // Newer data replaces older data of the same device and kind; -1 is all.
    if (pull_) ask_connected(1, 0, 10, "replace_rule", pack("rule", -1, -1, 1, -1, 1), deadline);
    for (const auto& [interface, index] : devices_) {
      const std::string name = "open " + player::DeviceInfo{interface, index}.name();
      const player::Subscription wanted{{0, 0, interface, index}, 1, ""};
      const Bytes body = ask_connected(1, 0, 3, name, pack(name, wanted), deadline);
      check_access(name, unpack<player::Subscription>(body, name));
    }
  }

  bool is_waiting() const { return events_.empty() && (!pull_ || is_reading_); }
  void take(const Bytes& found) {
    received_.insert(received_.end(), found.begin(), found.end());
    process();
  }
  /// Takes all whole messages out of what was received.
  void process() {
    std::size_t at = 0;
    if (banner_.empty() && received_.size() >= banner_len) {
      const std::string text(received_.begin(), received_.begin() + banner_len);
      if (text.compare(0, 6, "Player") != 0) throw BadReply("this is no Player server: it does not begin with Player");
      banner_ = text.substr(0, text.find('\0'));
      at = banner_len;
    }
    while (!banner_.empty() && received_.size() - at >= header_len) {
      player::Parser head(received_.data() + at, header_len, "header");
      player::Address address;
      std::uint32_t kind, number, sequence, size;
      double time;
      head(address.host, address.robot, address.interface, address.index, kind, number, time, sequence, size);
      if (size > max_body || kind < player::data || kind > player::refuse) {
        throw BadReply("a message of kind " + std::to_string(kind) + " with " + std::to_string(size) +
                       " bytes: the stream is out of step");
      }
      if (received_.size() - at < header_len + size) break;
      const std::uint8_t* start = received_.data() + at + header_len;
      handle({address.interface, address.index, static_cast<std::uint8_t>(number)}, kind, time, sequence,
             Bytes(start, start + size));
      at += header_len + size;
    }
    received_.erase(received_.begin(), received_.begin() + static_cast<std::ptrdiff_t>(at));
  }
  void handle(const Key& key, std::uint32_t kind, double time, std::uint32_t sequence, Bytes body) {
    if (kind == player::data) {
      if (events_.size() >= max_events) events_.pop_front();
      events_.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), time});
      latest_[key] = std::move(body);
    } else if (kind == player::synch) {
      // 2: the server dropped data.
      if (std::get<2>(key) == 2 && body.size() >= 4) lost_data_ += detail::get<std::uint32_t>(body.data(), true);
      is_reading_ = false;
    } else if (abandoned_.erase(sequence) > 0) {
      // The answer to a question whose time limit passed.
    } else if (key == Key{1, 0, 4}) {
      is_reading_ = false;
    } else if (pending_ != nullptr && pending_->key == key) {
      pending_->is_done = true;
      pending_->is_refused = kind == player::refuse;
      pending_->body = std::move(body);
    }
  }

  bool pull_;
  std::optional<std::string> key_;
  std::string banner_;
  std::uint64_t lost_data_ = 0;
  std::uint32_t sequence_ = 0;
  std::set<std::uint32_t> abandoned_;
  std::set<std::pair<std::uint16_t, std::uint16_t>> devices_;
  std::map<Key, Bytes> latest_;
  std::deque<player::Data> events_;
  Pending* pending_ = nullptr;
  bool is_reading_ = false;
};

namespace player {

/// A device that is open. The Player must live longer.
template <std::uint16_t Interface>
class Device {
 public:
  static constexpr std::uint16_t interface = Interface;
  Device(dragoman_clients::Player& player, std::uint16_t index) : player_(&player), index_(index) {}
  std::uint16_t index() const { return index_; }

  /// Closes the device: what its last command began ends.
  void close_device() { player_->close_device(Interface, index_); }

  // Properties of a driver. Refused: it has none of this name and kind.
  void set_bool_property(const std::string& name, bool value) { ask(247, "set_bool_property", name, value); }
  bool get_bool_property(const std::string& name) { return property(248, "get_bool_property", name, false); }
  void set_text_property(const std::string& name, const std::string& value) {
    ask(249, "set_text_property", name, value);
  }
  std::string get_text_property(const std::string& name) {
    return property(250, "get_text_property", name, std::string());
  }
  void set_double_property(const std::string& name, double value) { ask(251, "set_double_property", name, value); }
  double get_double_property(const std::string& name) { return property(252, "get_double_property", name, 0.0); }
  void set_int_property(const std::string& name, std::int32_t value) { ask(253, "set_int_property", name, value); }
  std::int32_t get_int_property(const std::string& name) {
    return property(254, "get_int_property", name, std::int32_t{0});
  }
  /// Asks whether the device handles a message. Refused: it does not. Kinds: 2 command, 3 request.
  void has_message(std::uint32_t kind, std::uint32_t number) { ask(255, "has_message", kind, number); }

 protected:
  template <class... T>
  void tell(std::uint8_t number, const char* name, const T&... values) {
    player_->command(Interface, index_, number, full(name), values...);
  }
  template <class... T>
  void ask(std::uint8_t number, const char* name, const T&... values) {
    player_->request(Interface, index_, number, full(name), values...);
  }
  template <class Answer, class... T>
  Answer get(std::uint8_t number, const char* name, const T&... values) {
    const std::string what = full(name);
    return dragoman_clients::Player::unpack<Answer>(player_->request(Interface, index_, number, what, values...), what);
  }
  template <class T>
  std::optional<T> latest(std::uint8_t number) {
    return player_->latest<T>(Interface, index_, number);
  }
  template <class... T>
  Bytes raw(std::uint8_t number, const char* name, const T&... values) {
    return player_->request(Interface, index_, number, full(name), values...);
  }

 private:
  static std::string full(const char* name) { return interface_names().at(Interface) + " " + name; }
  template <class T>
  T property(std::uint8_t number, const char* name, const std::string& of, const T& empty) {
    const Bytes body = player_->request(Interface, index_, number, full(name), of, empty);
    Parser parser(body.data(), body.size(), full(name));
    std::string repeated;
    T value;
    parser(repeated, value);
    return value;
  }

  dragoman_clients::Player* player_;
  std::uint16_t index_;
};

/// A battery.
struct Power : Device<2> {
  using Device::Device;
  auto state() { return latest<PowerState>(1); }
  /// Whether it may be charged, and may charge others.
  void set_charging_policy(bool input, bool output) { ask(1, "set_charging_policy", input, output); }
};

struct Gripper : Device<3> {
  using Device::Device;
  auto state() { return latest<GripperState>(1); }
  void open() { tell(1, "open"); }
  void close() { tell(2, "close"); }
  void stop() { tell(3, "stop"); }
  /// Put the held object into the store.
  void store() { tell(4, "store"); }
  /// Take an object out of the store.
  void retrieve() { tell(5, "retrieve"); }
  auto get_geometry() { return get<GripperGeometry>(1, "get_geometry"); }
};

/// A base that moves on the plane.
struct Position2d : Device<4> {
  using Device::Device;
  auto state() { return latest<Position2dState>(1); }
  auto geometry_changed() { return latest<Geometry>(2); }
  /// Drive with a velocity until the next command: ahead, to the left, counter-clockwise.
  void set_velocity(double x, double y, double yaw, bool motors_on = true) {
    tell(1, "set_velocity", x, y, yaw, motors_on);
  }
  /// Drive to a pose of the odometry's frame; maximum velocities, 0: the driver's.
  void set_position(const Pose2d& pose, const Pose2d& velocity = {}, bool motors_on = true) {
    tell(2, "set_position", pose, velocity, motors_on);
  }
  /// Drive with a steering angle.
  void set_car(double speed, double angle) { tell(3, "set_car", speed, angle); }
  /// Drive in a direction of the odometry's frame.
  void set_velocity_heading(double speed, double heading) { tell(4, "set_velocity_heading", speed, heading); }
  /// Size, and pose of its origin on the robot.
  auto get_geometry() { return get<Geometry>(1, "get_geometry"); }
  void set_motor_power(bool on) { ask(2, "set_motor_power", on); }
  /// How velocities are controlled; the driver defines the numbers.
  void set_velocity_mode(std::uint32_t mode) { ask(3, "set_velocity_mode", mode); }
  /// 0: controlled by velocity, 1: by position.
  void set_position_mode(std::uint32_t mode) { ask(4, "set_position_mode", mode); }
  void set_odometry(double x, double y, double yaw) { ask(5, "set_odometry", x, y, yaw); }
  /// Client libraries send set_odometry instead.
  void reset_odometry() { ask(6, "reset_odometry"); }
  void set_speed_pid(float p, float i, float d) { ask(7, "set_speed_pid", p, i, d); }
  void set_position_pid(float p, float i, float d) { ask(8, "set_position_pid", p, i, d); }
  /// Maximum speed and acceleration of motions to positions.
  void set_speed_profile(float speed, float acceleration) { ask(9, "set_speed_profile", speed, acceleration); }
};

/// Ultrasonic sensors.
struct Sonar : Device<5> {
  using Device::Device;
  auto ranges() { return latest<SonarRanges>(1); }
  auto geometry_changed() { return latest<Poses>(2); }
  auto get_geometry() { return get<Poses>(1, "get_geometry"); }
  void set_power(bool on) { ask(2, "set_power", on); }
};

/// A scanner, by the interface before ranger.
struct Laser : Device<6> {
  using Device::Device;
  auto scan() { return latest<LaserScan>(1); }
  auto posed_scan() { return latest<LaserPosedScan>(2); }
  auto angled_scan() { return latest<LaserAngledScan>(3); }
  auto get_geometry() { return get<Geometry>(1, "get_geometry"); }
  /// Returns the configuration in effect.
  auto set_config(const LaserConfig& config) { return get<LaserConfig>(2, "set_config", config); }
  auto get_config() { return get<LaserConfig>(3, "get_config"); }
  void set_power(bool on) { ask(4, "set_power", on); }
  /// Serial number.
  std::uint32_t get_id() { return get<Single<std::uint32_t>>(5, "get_id").value; }
  void set_filter(LaserFilter kind, const std::vector<float>& parameters = {}) {
    if (parameters.size() > 8) throw BadArgument("a filter has at most 8 parameters");
    ask(6, "set_filter", kind, parameters);
  }
};

struct Bumper : Device<14> {
  using Device::Device;
  auto state() { return latest<BumperState>(1); }
  auto geometry_changed() { return latest<BumperGeometry>(2); }
  auto get_geometry() { return get<BumperGeometry>(1, "get_geometry"); }
};

/// Infrared sensors.
struct Ir : Device<22> {
  using Device::Device;
  auto ranges() { return latest<IrRanges>(1); }
  auto get_geometry() { return get<Poses>(1, "get_geometry"); }
  void set_power(bool on) { ask(2, "set_power", on); }
};

/// Where the robot is on a map.
struct Localize : Device<25> {
  using Device::Device;
  auto hypotheses() { return latest<Hypotheses>(1); }
  /// Start the localization at a pose.
  void set_pose(const Pose2d& pose, const Covariance& covariance = {0.25, 0.25, 0.07, 0, 0, 0}) {
    ask(1, "set_pose", pose, covariance);
  }
  auto get_particles() { return get<Particles>(2, "get_particles"); }
};

/// A simulated world.
struct Simulation : Device<31> {
  using Device::Device;
  /// Pause the simulation, or continue it.
  void pause() { tell(1, "pause"); }
  /// Put everything back to where it was at the start.
  void reset() { tell(2, "reset"); }
  void save() { tell(3, "save"); }
  auto get_pose2d(const std::string& name) { return get<NamedPose2d>(1, "get_pose2d", NamedPose2d{name, {}}); }
  void set_pose2d(const std::string& name, const Pose2d& pose) { ask(2, "set_pose2d", NamedPose2d{name, pose}); }
  auto get_pose3d(const std::string& name) { return get<NamedPose3d>(3, "get_pose3d", NamedPose3d{name, {}, 0}); }
  void set_pose3d(const std::string& name, const Pose3d& pose) { ask(4, "set_pose3d", NamedPose3d{name, pose, 0}); }
  /// A property of an object, of this many bytes.
  auto get_property(const std::string& name, const std::string& property, std::size_t size) {
    return get<ObjectProperty>(5, "get_property", ObjectProperty{name, property, 0, Bytes(size)});
  }
  void set_property(const std::string& name, const std::string& property, const Bytes& value) {
    ask(6, "set_property", ObjectProperty{name, property, 0, value});
  }
};

struct Camera : Device<40> {
  using Device::Device;
  auto image() { return latest<Image>(1); }
  /// The input in use.
  auto get_source() { return get<ImageSource>(1, "get_source"); }
  void set_source(const std::string& norm, std::int32_t source) { ask(2, "set_source", norm, source); }
  /// An image now.
  auto get_image() { return get<Image>(3, "get_image"); }
};

struct Map : Device<42> {
  using Device::Device;
  auto info() { return latest<MapInfo>(1); }
  auto get_info() { return get<MapInfo>(1, "get_info"); }
  /// A tile of the grid: first cell along x and y, number of cells.
  MapTile get_tile(std::uint32_t column, std::uint32_t row, std::uint32_t width, std::uint32_t height) {
    // The cells are the only bytes with a number between their two lengths.
    const std::uint32_t none = 0;
    const Bytes body = raw(2, "get_tile", column, row, width, height, none, none, none);
    Parser parser(body.data(), body.size(), "map get_tile");
    MapTile tile;
    std::uint32_t length, size;
    parser(tile.column, tile.row, tile.width, tile.height, length, tile.value_range, size);
    const std::uint64_t count = std::uint64_t{tile.width} * tile.height;
    if (count > 64 << 20) throw BadReply("map get_tile: a tile of " + std::to_string(count) + " cells");
    const std::uint8_t* compressed = parser.take(size);
    const Bytes cells = detail::inflate_zlib(compressed, size, static_cast<std::size_t>(count), "map get_tile");
    if (cells.size() != count) {
      throw BadReply("map get_tile: " + std::to_string(cells.size()) + " cells in a tile of " + std::to_string(count));
    }
    tile.cells.assign(cells.begin(), cells.end());
    return tile;
  }
  /// The map as line segments.
  auto get_vector() { return get<MapVector>(3, "get_vector"); }
};

/// Drives to a goal on the plane.
struct Planner : Device<44> {
  using Device::Device;
  auto state() { return latest<PlannerState>(1); }
  /// Plan a path to a pose, and drive along it.
  void set_goal(const Pose2d& pose) { tell(1, "set_goal", pose); }
  /// Plan from this pose instead of where the robot is.
  void set_start(const Pose2d& pose) { tell(2, "set_start", pose); }
  /// The path.
  auto get_waypoints() { return get<Waypoints>(1, "get_waypoints"); }
  /// Let the robot drive, or stop it.
  void enable(bool on) { ask(2, "enable", on); }
};

/// Recording to a file, and playing it back.
struct Log : Device<45> {
  using Device::Device;
  /// Start or stop recording.
  void set_write_state(bool on) { ask(1, "set_write_state", on); }
  /// Start or stop playing back.
  void set_read_state(bool on) { ask(2, "set_read_state", on); }
  auto get_state() { return get<LogState>(3, "get_state"); }
  /// Play back from the start.
  void rewind() { ask(4, "rewind"); }
  void set_file_name(const std::string& name) { ask(5, "set_file_name", detail::text(name, "name", 255)); }
};

/// Bytes whose meaning a driver and its clients agree on.
struct Opaque : Device<51> {
  using Device::Device;
  auto state() { return latest<OpaqueData>(1); }
  void command(const Bytes& data) { tell(1, "command", data); }
  Bytes request(const Bytes& data) { return get<OpaqueData>(1, "request", data).data; }
};

/// A chain of joints, numbered from 0; m or rad.
struct Actarray : Device<53> {
  using Device::Device;
  auto state() { return latest<ActarrayState>(1); }
  void set_position(std::int32_t joint, float position) { tell(1, "set_position", joint, position); }
  void set_positions(const std::vector<float>& positions) { tell(2, "set_positions", positions); }
  void set_speed(std::int32_t joint, float speed) { tell(3, "set_speed", joint, speed); }
  void set_speeds(const std::vector<float>& speeds) { tell(4, "set_speeds", speeds); }
  /// Move a joint to its home position; -1: all.
  void home(std::int32_t joint = -1) { tell(5, "home", joint); }
  /// Move a joint with a current, A; -1: all.
  void set_current(std::int32_t joint, float current) { tell(6, "set_current", joint, current); }
  void set_currents(const std::vector<float>& currents) { tell(7, "set_currents", currents); }
  /// Power of all joints; they may move when it is switched on.
  void set_power(bool on) { ask(1, "set_power", on); }
  void set_brakes(bool on) { ask(2, "set_brakes", on); }
  /// Links, axes and limits.
  auto get_geometry() { return get<ActarrayGeometry>(3, "get_geometry"); }
  /// Speed of a joint's motions from now on.
  void set_joint_speed(std::int32_t joint, float speed) { ask(4, "set_joint_speed", joint, speed); }
  void set_joint_acceleration(std::int32_t joint, float acceleration) {
    ask(5, "set_joint_acceleration", joint, acceleration);
  }
};

/// An arm, by the pose of its end effector in the robot's frame.
struct Limb : Device<54> {
  using Device::Device;
  auto state() { return latest<LimbState>(1); }
  /// Move to the home position.
  void home() { tell(1, "home"); }
  void stop() { tell(2, "stop"); }
  void set_pose(const Point3d& position, const Point3d& approach, const Point3d& orientation) {
    tell(3, "set_pose", position, approach, orientation);
  }
  /// Move to a position, with any orientation.
  void set_position(const Point3d& position) { tell(4, "set_position", position); }
  /// Move along a straight line.
  void move_along(const Point3d& direction, float length) { tell(5, "move_along", direction, length); }
  /// The arm may move when the power is switched on.
  void set_power(bool on) { ask(1, "set_power", on); }
  void set_brakes(bool on) { ask(2, "set_brakes", on); }
  /// Position of the base in the robot's frame.
  auto get_geometry() { return get<Point3d>(3, "get_geometry"); }
  /// Speed of the end effector from now on.
  void set_speed(float speed) { ask(4, "set_speed", speed); }
};

/// An inertial measurement unit.
struct Imu : Device<60> {
  using Device::Device;
  auto state() { return latest<Pose3d>(1); }
  auto calibrated() { return latest<ImuCalibrated>(2); }
  auto quaternion() { return latest<ImuQuaternion>(3); }
  auto euler() { return latest<ImuEuler>(4); }
  auto full_state() { return latest<ImuFullState>(5); }
  /// Choose the data that is sent.
  void set_data_kind(ImuDataKind kind) { ask(1, "set_data_kind", kind); }
  /// The driver defines the number.
  void reset_orientation(std::uint32_t value = 0) { ask(2, "reset_orientation", value); }
  void reset_euler(const Pose3d& pose) { ask(3, "reset_euler", pose); }
};

/// Range sensors.
struct Ranger : Device<62> {
  using Device::Device;
  auto ranges() { return latest<RangerValues>(1); }
  auto stamped_ranges() { return latest<RangerStampedValues>(2); }
  auto intensities() { return latest<RangerValues>(3); }
  auto stamped_intensities() { return latest<RangerStampedValues>(4); }
  auto geometry_changed() { return latest<RangerGeometry>(5); }
  auto get_geometry() { return get<RangerGeometry>(1, "get_geometry"); }
  void set_power(bool on) { ask(2, "set_power", on); }
  /// Whether intensities are sent.
  void send_intensities(bool on) { ask(3, "send_intensities", on); }
  /// Returns the configuration in effect.
  auto set_config(const RangerConfig& config) { return get<RangerConfig>(4, "set_config", config); }
  auto get_config() { return get<RangerConfig>(5, "get_config"); }
};

/// A map of shapes in layers.
struct Vectormap : Device<63> {
  using Device::Device;
  /// Layers and bounds.
  auto get_info() { return get<VectormapInfo>(1, "get_info"); }
  /// The shapes of a layer.
  auto get_layer(const std::string& name) { return get<Layer>(3, "get_layer", Layer{name, {}}); }
  /// Replace the shapes of a layer.
  void write_layer(const Layer& layer) { ask(4, "write_layer", layer); }
};

}  // namespace player
}  // namespace dragoman_clients
