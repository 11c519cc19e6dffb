// Client of Neobotix' PlatformCtrl (TCP ports 10000 and 10002): the commands and replies of the PlatformCtrl guide,
// chapter 6.
//
//     dragoman_clients::Neobotix platform("127.0.0.1", 10000);
//     platform.go_to_station("middle");
//
// A message is the header FF 01 FE 02, which may be missing, the length of the data, and the data: the number of a
// command and its arguments, all big-endian. Lengths in m, angles in rad, velocities in m/s and rad/s.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <initializer_list>
#include <limits>
#include <optional>

#include "net.hpp"

namespace dragoman_clients {
namespace neobotix {

/// Motion mode: the source of the platform's motion (guide, 4.3).
enum class MotionMode { no, joyhard, joysoft, vel, automatic, program, post_process_replay };
/// State of the platform (guide, 4.2).
enum class OperationState { ready, running, broken, not_initialized };
enum class EmergencyState { not_active, active, reset };
enum class PlannerState { standby, planning, no_path, path_found, collision_start, collision_target };

/// Determines the state of a commanded motion from the platform's status. The protocol does not number motions, and the
/// first status after a command may be older than the command.
class MotionWatch {
 public:
  enum class Report { under_way, reached, failed };
  /// Maximum time from the first status that was queried after a command until a status shows its effect, s.
  static constexpr double settle_time = 1;

  /// Follows a motion that is commanded now; the argument is the planner's present state.
  explicit MotionWatch(PlannerState before)
      : is_failure_old_(has_no_way(before)), planning_(is_busy(before) ? Planning::on_earlier : Planning::not_yet) {}

  /// Processes the next status, which was queried after the command, at this time, s. A reported target counts as
  /// reached if a status since the command has reported the opposite, or after `settle_time` since the first status,
  /// because the command itself may be slow. The motion has failed if the planner reports it, or if it is idle again
  /// although the target is not reached: the platform has aborted the motion.
  Report report(double seconds, PlannerState state, bool is_target_reached) {
    first_ = std::min(first_, seconds);
    const bool is_settled = seconds - first_ >= settle_time;
    is_seen_ |= !is_target_reached || is_settled;
    is_failure_old_ &= has_no_way(state) && !is_settled;
    const bool has_earlier = planning_ == Planning::on_earlier || planning_ == Planning::earlier_ended;
    if (has_earlier && is_settled) {
      planning_ = Planning::seen;
    } else if (planning_ == Planning::on_earlier && !is_busy(state)) {
      planning_ = Planning::earlier_ended;
    } else if (planning_ != Planning::on_earlier && is_busy(state)) {
      planning_ = Planning::seen;
    }
    if (is_target_reached && is_seen_) return Report::reached;
    if (has_no_way(state) && !is_failure_old_) return Report::failed;
    const bool is_given_up = state == PlannerState::standby && !is_target_reached && planning_ == Planning::seen;
    return is_given_up ? Report::failed : Report::under_way;
  }

 private:
  /// Whether the planner has worked on this motion, or perhaps still on the previous one.
  enum class Planning { not_yet, on_earlier, earlier_ended, seen };
  static bool has_no_way(PlannerState state) {
    return state == PlannerState::no_path || state == PlannerState::collision_start ||
           state == PlannerState::collision_target;
  }
  static bool is_busy(PlannerState state) {
    return state == PlannerState::planning || state == PlannerState::path_found;
  }

  /// When the first status arrived.
  double first_ = std::numeric_limits<double>::infinity();
  bool is_seen_ = false, is_failure_old_;
  Planning planning_;
};

enum class Motor { right = 1, left = 2 };
enum class Board { io, relay };
/// Places the obstacle of the mouse, or removes it.
enum class MouseButton { rbutton_down = 2, rbutton_up = 5 };
enum class PostProcessEvent {
  start_recording = 1,
  stop_recording,
  start_replay,
  stop_replay,
  break_replay,
  continue_replay
};
enum class ParameterType { boolean, integer, real };

namespace detail {

using dragoman_clients::detail::Reader;
constexpr double degree = 180 / 3.14159265358979323846;

/// Reads the fields of replies: whole numbers of the guide's units as SI units.
class Fields : public Reader {
 public:
  using Reader::Reader;
  void i32(std::int32_t& value) { value = be<std::int32_t>(); }
  void byte(std::uint8_t& value) { value = be<std::uint8_t>(); }
  void flag(bool& value) { value = be<std::uint8_t>() != 0; }
  void real(double& value, double per_unit = 1) { value = be<double>() / per_unit; }
  void scaled(double& value, double per_unit) { value = be<std::int32_t>() / per_unit; }
  void mm(double& value) { scaled(value, 1000); }
  void mdeg(double& value) { scaled(value, 1000 * degree); }
  void scaled16(double& value, double per_unit) { value = be<std::int16_t>() / per_unit; }
  void string(std::string& value) { value = text(count(be<std::int32_t>(), 1)); }
  /// Numbers that the guide does not list are kept.
  template <class Enum>
  void code(Enum& value) {
    value = static_cast<Enum>(be<std::int32_t>());
  }
  template <class Enum>
  void code8(Enum& value) {
    value = static_cast<Enum>(be<std::uint8_t>());
  }
  template <class T>
  void list(std::vector<T>& values, std::size_t least_size) {
    values.resize(count(be<std::int32_t>(), least_size));
    for (T& one : values) one.read(*this);
  }
  template <class T, std::size_t N>
  void array(std::array<T, N>& values) {
    for (T& one : values) one.read(*this);
  }
  template <std::size_t N>
  void i32s(std::array<std::int32_t, N>& values) {
    for (auto& one : values) i32(one);
  }
  template <std::size_t N>
  void scaleds(std::array<double, N>& values, double per_unit) {
    for (auto& one : values) scaled(one, per_unit);
  }
};

}  // namespace detail

/// In the world; for relative motions in the platform's frame.
struct Pose {
  double x = 0, y = 0, angle = 0;
  void read(detail::Fields& f) { f.mm(x), f.mm(y), f.mdeg(angle); }
};
struct Point {
  double x = 0, y = 0;
  void read(detail::Fields& f) { f.mm(x), f.mm(y); }
};
/// A point of a scan in the world.
struct ScanPoint {
  double x = 0, y = 0;
  void read(detail::Fields& f) { f.scaled16(x, 1000), f.scaled16(y, 1000); }
};
/// An observed line in the platform's frame; its end comes first.
struct Line {
  Point target, source;
  void read(detail::Fields& f) { target.read(f), source.read(f); }
};
/// A straight line in the world.
struct Segment {
  Point source, target;
  void read(detail::Fields& f) { source.read(f), target.read(f); }
};
struct Circle {
  Point center;
  double radius = 0;
  void read(detail::Fields& f) { center.read(f), f.mm(radius); }
};
/// Uncertainty of the estimated pose: deviations along the axes and of the angle, direction of the principal axis.
struct Covariance {
  double principal = 0, minor = 0, angle = 0, principal_axis = 0;
  void read(detail::Fields& f) { f.mm(principal), f.mm(minor), f.mdeg(angle), f.mdeg(principal_axis); }
};

/// Reply to CMD_GET_STATUS. Poses and points are in the world. Boards have the guide's numbers, which have no unit.
struct Status {
  Pose commanded, estimated;
  Covariance covariance;
  std::vector<ScanPoint> scan;
  std::vector<Point> reflectors;
  std::vector<Line> lines;
  std::vector<Circle> circles;
  std::vector<Point> corners;
  std::vector<Point> path;
  std::vector<bool> joystick_buttons;
  double translation = 0, rotation = 0;
  struct RelayBoard {
    std::int32_t digital_in = 0, status = 0;
    std::array<std::int32_t, 8> analog_in{};
    std::array<std::int32_t, 4> optical_distance{};
  } relay_board;
  /// Dragoman's platforms have mV.
  struct IoBoard {
    std::int32_t battery_voltage = 0, digital_in = 0, digital_out = 0, status = 0;
    std::array<std::int32_t, 8> analog_in{};
  } io_board;
  struct MotorBoards {
    std::int32_t right_status = 0, left_status = 0, right_temperature = 0, left_temperature = 0;
  } motors;
  /// Distances of sensors 1 to 16; 10 m from Dragoman's platforms: not measured.
  std::array<double, 16> ultrasonic{};
  std::array<std::int32_t, 8> ultrasonic_analog_in{};
  std::int32_t ultrasonic_status = 0;
  std::array<double, 4> radar_velocity{};
  std::int32_t radar_status = 0;
  double latitude = 0, longitude = 0;
  struct Gyro {
    std::array<double, 3> acceleration{};
    double angle = 0;
    std::int32_t temperature = 0, status = 0;
  } gyro;
  bool is_initialized = false, is_target_reached = false;
  MotionMode motion_mode{};
  OperationState operation_state{};
  EmergencyState emergency_state{};
  std::uint8_t application_mode = 0;
  PlannerState planner_state{};
  /// Dragoman's platforms have ms.
  std::int32_t time_stamp = 0;
  /// 0 none, 1 docking.
  std::int32_t application_error = 0;
  bool is_docked = false, is_localization_lost = false, is_colliding = false;
  std::uint8_t lookup_percent = 0;
  std::array<bool, 4> infrared{};
  bool siren = false, flash_light = false;
  double head_angle = 0;

  void read(detail::Fields& f) {
    commanded.read(f), estimated.read(f), covariance.read(f);
    f.list(scan, 4), f.list(reflectors, 8), f.list(lines, 16), f.list(circles, 12), f.list(corners, 8);
    f.list(path, 8);
    joystick_buttons.resize(f.count(f.be<std::int32_t>(), 1));
    for (auto one : joystick_buttons) one = f.be<std::uint8_t>() != 0;
    f.mm(translation), f.mm(rotation);
    f.i32(relay_board.digital_in), f.i32(relay_board.status);
    f.i32s(relay_board.analog_in), f.i32s(relay_board.optical_distance);
    f.i32(io_board.battery_voltage), f.i32(io_board.digital_in), f.i32(io_board.digital_out);
    f.i32(io_board.status), f.i32s(io_board.analog_in);
    f.i32(motors.right_status), f.i32(motors.left_status);
    f.i32(motors.right_temperature), f.i32(motors.left_temperature);
    f.scaleds(ultrasonic, 1000), f.i32s(ultrasonic_analog_in), f.i32(ultrasonic_status);
    f.scaleds(radar_velocity, 1000), f.i32(radar_status);
    f.real(latitude), f.real(longitude);
    f.scaleds(gyro.acceleration, 10000), f.scaled(gyro.angle, 10000), f.i32(gyro.temperature), f.i32(gyro.status);
    f.flag(is_initialized), f.flag(is_target_reached);
    f.code8(motion_mode), f.code8(operation_state), f.code(emergency_state), f.byte(application_mode);
    f.code(planner_state), f.i32(time_stamp), f.i32(application_error);
    f.flag(is_docked), f.flag(is_localization_lost), f.flag(is_colliding), f.byte(lookup_percent);
    for (bool& one : infrared) f.flag(one);
    f.flag(siren), f.flag(flash_light), f.scaled(head_angle, detail::degree);
  }
};

/// Reply to CMD_GET_POSITION.
struct Position {
  double x = 0, y = 0, angle = 0, translation = 0, rotation = 0;
  void read(detail::Fields& f) { f.mm(x), f.mm(y), f.real(angle), f.real(translation, 1000), f.real(rotation); }
};

/// A stored CAN message; the guide has no unit for its time.
struct CanMessage {
  double time_stamp = 0;
  std::int32_t id = 0;
  std::array<std::uint8_t, 8> data{};
  void read(detail::Fields& f) {
    f.real(time_stamp), f.i32(id);
    std::copy_n(f.take(8), 8, data.begin());
  }
};

/// A parameter: its value as text in the guide's units (section 5.9), category, type and limits as whole numbers.
struct Parameter {
  std::string key, value;
  std::int32_t category = 0;
  ParameterType type{};
  std::int32_t minimum = 0, maximum = 0;
  void read(detail::Fields& f) {
    f.string(key), f.string(value), f.i32(category), f.code(type), f.i32(minimum), f.i32(maximum);
  }
};

/// Position of the camera.
struct Camera {
  std::string address, id;
  void read(detail::Fields& f) { f.string(address), f.string(id); }
};

/// Reply to CMD_GET_MAP and CMD_GET_ROADMAP.
struct Document {
  std::string xml, name;
  void read(detail::Fields& f) {
    // The number of the name's characters, modulo 256: not needed.
    f.be<std::uint8_t>();
    f.string(xml), f.string(name);
  }
};

/// Reply to CMD_GET_PROGRAM.
struct ProgramText {
  std::string xml;
  void read(detail::Fields& f) { f.string(xml); }
};

/// A pose with an angle in whole radians.
struct PathPose {
  double x = 0, y = 0, angle = 0;
  void read(detail::Fields& f) { f.mm(x), f.mm(y), f.scaled(angle, 1); }
};
/// A gate of the localization.
struct ValidationGate {
  std::array<Point, 4> corners;
  void read(detail::Fields& f) { f.array(corners); }
};
/// Data of the mapping mode; the last three are possible poses of the platform.
struct Mapping {
  std::vector<Segment> segments, explored_segments;
  std::vector<PathPose> frames;
  std::vector<Segment> visible_lines;
  std::vector<ValidationGate> validation_gates;
  void read(detail::Fields& f) {
    f.list(segments, 16), f.list(explored_segments, 16), f.list(frames, 12), f.list(visible_lines, 16);
    f.list(validation_gates, 32);
  }
};
/// A graphical object of the platform; kind and color as in the guide, 6.4.
struct GraphicalObject {
  std::int32_t kind = 0, color = 0;
  double x = 0, y = 0, angle = 0, second_x = 0, second_y = 0, second_angle = 0;
  std::int32_t reserved = 0;
  void read(detail::Fields& f) {
    f.i32(kind), f.i32(color), f.mm(x), f.mm(y), f.scaled(angle, detail::degree);
    f.mm(second_x), f.mm(second_y), f.mdeg(second_angle), f.i32(reserved);
  }
};
struct Variable {
  std::int32_t id = 0;
  std::string value;
  void read(detail::Fields& f) { f.i32(id), f.string(value); }
};
/// Points of a scan that belong together.
struct Cluster {
  double x = 0, y = 0;
  std::int32_t index = 0;
  void read(detail::Fields& f) { f.mm(x), f.mm(y), f.i32(index); }
};
struct QueuedText {
  std::string text;
  void read(detail::Fields& f) { f.string(text); }
};
/// Reply to CMD_GET_DEBUG_DATA.
struct DebugData {
  std::vector<ValidationGate> validation_gates;
  std::optional<Mapping> mapping;
  std::vector<PathPose> path;
  std::vector<GraphicalObject> graphical_objects;
  std::vector<Variable> variables;
  std::vector<Cluster> moving_clusters, person_clusters, ball_clusters;
  /// Messages of programs, and from Dragoman's platforms the refused commands with the reasons.
  std::vector<QueuedText> protocol_queue;
  /// Network statistics: s, percent, bytes/s, telegrams/s.
  struct Tcp {
    std::int32_t receive_time = 0, receive_percent = 0, send_time = 0, send_percent = 0, received_bytes = 0,
                 sent_bytes = 0, received_telegrams = 0, sent_telegrams = 0, wait_time = 0, wait_percent = 0;
  } tcp;
  /// Maximum permitted velocities: forward and backward by the laser, by the ultrasonic sensors, and by optocouplers.
  std::array<double, 5> safe_velocities{};
  void read(detail::Fields& f) {
    f.list(validation_gates, 32);
    bool has_mapping = false;
    f.flag(has_mapping);
    if (has_mapping) mapping.emplace().read(f);
    f.list(path, 12), f.list(graphical_objects, 36), f.list(variables, 8);
    f.list(moving_clusters, 12), f.list(person_clusters, 12), f.list(ball_clusters, 12), f.list(protocol_queue, 4);
    f.i32(tcp.receive_time), f.i32(tcp.receive_percent), f.i32(tcp.send_time), f.i32(tcp.send_percent);
    f.i32(tcp.received_bytes), f.i32(tcp.sent_bytes), f.i32(tcp.received_telegrams), f.i32(tcp.sent_telegrams);
    f.i32(tcp.wait_time), f.i32(tcp.wait_percent), f.scaleds(safe_velocities, 1000);
  }
};

}  // namespace neobotix

/// A connection to a PlatformCtrl. Most commands have no answer: they are done when they are sent, and the status shows
/// their effect. `with_header` false is for platforms that have messages as the guide's example, without a header.
class Neobotix : private detail::TcpClient {
 public:
  using MotionMode = neobotix::MotionMode;

  explicit Neobotix(const std::string& host = "127.0.0.1", std::uint16_t port = 10000, double timeout = 5.0,
                    bool with_header = true)
      : TcpClient(host, port, timeout), with_header_(with_header) {}

  using TcpClient::close;
  using TcpClient::connect;
  using TcpClient::is_connected;

  /// Connect the platform's CAN nodes, and test them.
  void connect_to_pltf() { send("connect_to_pltf", 0); }
  /// Disconnect the CAN nodes.
  void shutdown_pltf() { send("shutdown_pltf", 1); }
  /// Initialize the hardware, and test the platform.
  void init_pltf() { send("init_pltf", 2); }
  /// Hold or release the brake of a motor.
  void set_brake(neobotix::Motor motor, bool released) {
    send("set_brake", 3, {static_cast<std::uint8_t>(motor), static_cast<std::uint8_t>(released)});
  }
  /// Set a digital output.
  void set_digout(neobotix::Board board, std::int32_t channel, bool high) {
    Bytes data = ints({static_cast<std::int32_t>(board), channel});
    data.push_back(high);
    send("set_digout", 4, data);
  }
  /// Start measuring with ultrasonic sensors; Dragoman's platforms take a bit mask.
  void start_ultrasonic(std::int32_t channel) { send("start_ultrasonic", 5, ints({channel})); }
  /// Stop measuring with ultrasonic sensors.
  void stop_ultrasonic() { send("stop_ultrasonic", 6); }
  /// Store received CAN messages with this id.
  void add_can_listening_id(std::int32_t id) { send("add_can_listening_id", 7, ints({can_id(id)})); }
  /// Store no more CAN messages with this id.
  void remove_can_listening_id(std::int32_t id) { send("remove_can_listening_id", 8, ints({can_id(id)})); }
  /// Send a CAN message.
  void send_can_message(std::int32_t id, const std::array<std::uint8_t, 8>& bytes) {
    Bytes data = ints({can_id(id)});
    data.insert(data.end(), bytes.begin(), bytes.end());
    send("send_can_message", 9, data);
  }
  /// Stored CAN messages; whether they are deleted after reading.
  std::vector<neobotix::CanMessage> get_can_messages(bool remove = true) {
    return get<List<neobotix::CanMessage, 20>>("get_can_messages", 10, {static_cast<std::uint8_t>(remove)}).values;
  }
  /// Start the motion mode.
  void start() { send("start", 11); }
  /// CMD_BREAK: pause the motion.
  void break_() { send("break", 12); }
  /// CMD_CONTINUE: continue after a pause.
  void continue_() { send("continue", 13); }
  /// Stop the motion mode.
  void stop() { send("stop", 14); }
  /// Change the motion mode; only while the platform is ready.
  void set_mode(MotionMode mode) { send("set_mode", 15, ints({static_cast<std::int32_t>(mode)})); }
  /// Shut the platform down.
  void exit() { send("exit", 16); }
  /// Let the platform close the connection.
  void close_socket() { send("close_socket", 17); }
  /// Status of the platform.
  neobotix::Status get_status() { return get<neobotix::Status>("get_status", 18, {}, true); }
  /// Drive on a path to its end: poses in the world.
  void move_path(const std::vector<neobotix::Pose>& path) {
    if (path.empty() || path.size() > 10000) throw BadArgument("path must have 1 to 10000 poses");
    Bytes data = ints({static_cast<std::int32_t>(path.size())});
    for (const auto& one : path) put_frame(data, one.x, one.y, one.angle);
    send("move_path", 19, data);
  }
  /// Drive on the roadmap to a station.
  void move_to_station(const std::string& station) { send("move_to_station", 20, named(station, "station")); }
  /// Drive to a pose in the world.
  void move_abs(double x, double y, double angle) { send("move_abs", 21, frame(x, y, angle)); }
  /// Drive to a pose relative to the platform.
  void move_rel(double x, double y, double angle) { send("move_rel", 22, frame(x, y, angle)); }
  /// Velocities of the wheels; to be repeated. In the velocity mode.
  void move_vel_wheel(double right, double left) {
    send("move_vel_wheel", 23, ints({mm(right, "right"), mm(left, "left")}));
  }
  /// Velocities of the platform; to be repeated. In the modes of software joystick and velocity. `lateral` is to the
  /// left; only omnidirectional platforms of Dragoman understand it.
  void move_vel(double translation, double rotation, double lateral = 0) {
    Bytes data = ints({mm(translation, "translation"), mm(rotation, "rotation")});
    // The guide's telegram ends before it.
    if (lateral != 0) detail::put_be(data, mm(lateral, "lateral"));
    send("move_vel", 24, data);
  }
  /// Set the active map: its XML text, and its name.
  void set_map(const std::string& xml, const std::string& name) { send("set_map", 25, document(xml, name)); }
  /// The active map.
  neobotix::Document get_map() { return get<neobotix::Document>("get_map", 26); }
  /// Load the map from the platform's disk.
  void load_map() { send("load_map", 27); }
  /// Save the map to the platform's disk.
  void save_map() { send("save_map", 28); }
  /// Start mapping.
  void mapping_start() { send("mapping_start", 29); }
  /// Delete the mapped lines.
  void mapping_reset() { send("mapping_reset", 30); }
  /// Stop mapping.
  void mapping_stop() { send("mapping_stop", 31); }
  /// Set the active roadmap: its XML text, and its name.
  void set_roadmap(const std::string& xml, const std::string& name) { send("set_roadmap", 32, document(xml, name)); }
  /// The active roadmap.
  neobotix::Document get_roadmap() { return get<neobotix::Document>("get_roadmap", 33); }
  /// Load the roadmap from the platform's disk.
  void load_roadmap() { send("load_roadmap", 34); }
  /// Save the roadmap to the platform's disk.
  void save_roadmap() { send("save_roadmap", 35); }
  /// Set the platform's pose: where it is in the world.
  void set_frm_pltf(double x, double y, double angle) { send("set_frm_pltf", 36, frame(x, y, angle)); }
  /// Set a parameter, in the guide's units (section 5.9).
  void set_pltf_param(const std::string& key, const std::string& value) {
    Bytes data = named(key, "key");
    put_text(data, detail::text(value, "value", max_name));
    send("set_pltf_param", 37, data);
  }
  /// A parameter.
  neobotix::Parameter get_pltf_param(const std::string& key) {
    return get<neobotix::Parameter>("get_pltf_param", 38, named(key, "key"));
  }
  /// All parameters.
  std::vector<neobotix::Parameter> get_pltf_param_vec() {
    return get<List<neobotix::Parameter, 24>>("get_pltf_param_vec", 39).values;
  }
  /// Set the program: its XML text.
  void set_program(const std::string& xml) {
    Bytes data;
    put_text(data, detail::text(detail::not_empty(xml, "the program"), "the program", max_data));
    send("set_program", 40, data);
  }
  /// The program: its XML text.
  std::string get_program() { return get<neobotix::ProgramText>("get_program", 41).xml; }
  /// Load the program from the platform's disk.
  void load_program() { send("load_program", 42); }
  /// Save the program to the platform's disk.
  void save_program() { send("save_program", 43); }
  /// Speak a text.
  void speak_text(const std::string& text) { send("speak_text", 44, long_text(text, "text")); }
  /// Play a sound file of the platform.
  void play_sound(const std::string& file_name) { send("play_sound", 45, named(file_name, "file_name")); }
  /// Save an image of the camera on the platform.
  void grab_image(const std::string& file_name) { send("grab_image", 46, named(file_name, "file_name")); }
  /// Turn the head to an angle; sent as whole degrees.
  void set_pos_head_drive(double angle) {
    send("set_pos_head_drive", 47, ints({detail::scaled<std::int32_t>(angle, neobotix::detail::degree, "angle")}));
  }
  /// Turn the head with a velocity; sent as hundredths of a degree per second.
  void set_vel_head_drive(double velocity) {
    send("set_vel_head_drive", 48,
         ints({detail::scaled<std::int32_t>(velocity, 100 * neobotix::detail::degree, "velocity")}));
  }
  /// Turn the pan-tilt camera: a position in the camera's own format.
  void set_pos_pan_tilt_camera(const std::string& position) {
    send("set_pos_pan_tilt_camera", 49, long_text(position, "position"));
  }
  /// Debug data.
  neobotix::DebugData get_debug_data() { return get<neobotix::DebugData>("get_debug_data", 50, {}, true); }
  /// Debug commands; they raise the user events debug1 to debug4 on Dragoman's platforms.
  void debug1() { send("debug1", 51); }
  void debug2() { send("debug2", 52); }
  void debug3() { send("debug3", 53); }
  void debug4() { send("debug4", 54); }
  /// Place the obstacle of the mouse, or remove it.
  void mouse_move(double x, double y, neobotix::MouseButton button) {
    send("mouse_move", 55, ints({mm(x, "x"), mm(y, "y"), static_cast<std::int32_t>(button)}));
  }
  /// Enable logging; the original does not use it.
  void set_log_enabled() { send("set_log_enabled", 56); }
  /// Set the file of recordings; the original does not use it.
  void set_post_process_filename() { send("set_post_process_filename", 57); }
  /// Start or stop a recording or a replay.
  void set_event(neobotix::PostProcessEvent event) { send("set_event", 58, ints({static_cast<std::int32_t>(event)})); }
  /// Address of the camera.
  neobotix::Camera get_camera() { return get<neobotix::Camera>("get_camera", 59); }
  /// Position and velocities.
  neobotix::Position get_position() { return get<neobotix::Position>("get_position", 74); }

  // Actions of several commands: each is sent, and its effect is checked in the status.

  /// Connects and initializes the platform, chooses a motion mode and starts it; returns when it is started.
  neobotix::Status prepare(MotionMode mode, double seconds = 20) {
    using neobotix::OperationState;
    neobotix::Status status = get_status();
    const auto is_ready = [](const neobotix::Status& one) {
      return one.is_initialized && one.operation_state != OperationState::not_initialized;
    };
    if (!is_ready(status)) {
      connect_to_pltf();
      init_pltf();
      wait_for("init_pltf", is_ready, seconds);
    }
    stop();
    wait_for(
        "stop", [](const auto& one) { return one.operation_state == OperationState::ready; }, seconds);
    set_mode(mode);
    wait_for(
        "set_mode", [mode](const auto& one) { return one.motion_mode == mode; }, seconds);
    start();
    return wait_for(
        "start", [](const auto& one) { return one.operation_state == OperationState::running; }, seconds);
  }
  /// Waits until the target of a motion that was commanded now is reached. Refused: the planner found no way, the
  /// platform has aborted the motion, or its localization is lost. A report about an earlier motion counts after 1 s.
  neobotix::Status wait_until_reached(double seconds = 120) { return wait_until_reached(seconds, std::nullopt); }
  /// Prepares the platform, drives to a station, and returns its pose.
  neobotix::Position go_to_station(const std::string& station, double seconds = 120) {
    named(station, "station");
    const neobotix::PlannerState before = prepare_to_drive();
    move_to_station(station);
    wait_until_reached(seconds, before);
    return get_position();
  }
  /// Prepares the platform, drives to a pose in the world, and returns its pose.
  neobotix::Position go_to(double x, double y, double angle, double seconds = 120) {
    frame(x, y, angle);
    const neobotix::PlannerState before = prepare_to_drive();
    move_abs(x, y, angle);
    wait_until_reached(seconds, before);
    return get_position();
  }

 private:
  static constexpr std::size_t max_data = 16 << 20, max_name = 1024, max_text = 64 << 10;

  template <class T, std::size_t LeastSize>
  struct List {
    std::vector<T> values;
    void read(neobotix::detail::Fields& f) { f.list(values, LeastSize); }
  };

  static Bytes ints(std::initializer_list<std::int32_t> values) {
    Bytes out;
    for (const std::int32_t one : values) detail::put_be(out, one);
    return out;
  }
  static std::int32_t mm(double value, const std::string& what) {
    return detail::scaled<std::int32_t>(value, 1000, what);
  }
  static void put_frame(Bytes& out, double x, double y, double angle) {
    detail::put_be(out, mm(x, "x"));
    detail::put_be(out, mm(y, "y"));
    detail::put_be(out, detail::scaled<std::int32_t>(angle, 1000 * neobotix::detail::degree, "angle"));
  }
  static Bytes frame(double x, double y, double angle) {
    Bytes out;
    put_frame(out, x, y, angle);
    return out;
  }
  static std::int32_t can_id(std::int32_t id) {
    if (id < 0 || id >= 1 << 29) throw BadArgument("id must be between 0 and 536870911, not " + std::to_string(id));
    return id;
  }
  static void put_text(Bytes& out, const std::string& value) {
    detail::put_be(out, static_cast<std::int32_t>(value.size()));
    detail::put_text(out, value);
  }
  static Bytes named(const std::string& value, const std::string& what) {
    Bytes out;
    put_text(out, detail::text(detail::not_empty(value, what), what, max_name));
    return out;
  }
  static Bytes long_text(const std::string& value, const std::string& what) {
    Bytes out;
    put_text(out, detail::text(value, what, max_text));
    return out;
  }
  static Bytes document(const std::string& xml, const std::string& name) {
    Bytes out = named(name, "name");
    put_text(out, detail::text(detail::not_empty(xml, "the document"), "the document", max_data));
    return out;
  }

  Bytes message(std::uint8_t number, const Bytes& data) const {
    if (data.size() + 1 > max_data)
      throw BadArgument(std::to_string(data.size()) + " bytes are too many for a message");
    Bytes out;
    if (with_header_) out = {0xff, 0x01, 0xfe, 0x02};
    detail::put_be(out, static_cast<std::uint32_t>(data.size() + 1));
    out.push_back(number);
    out.insert(out.end(), data.begin(), data.end());
    return out;
  }
  void send(const char* name, std::uint8_t number, const Bytes& data = {}) { tell(name, message(number, data)); }

  /// Sends a query, and reads the reply to its end; `is_checked`: it ends with -1.
  template <class Reply>
  Reply get(const char* name, std::uint8_t number, const Bytes& data = {}, bool is_checked = false) {
    Bytes answer;
    ask(name, message(number, data), [&] { return next(number, answer); });
    neobotix::detail::Fields fields(answer.data(), answer.size(), name);
    fields.take(1);
    Reply reply;
    reply.read(fields);
    if (is_checked && fields.be<std::int32_t>() != -1) {
      throw BadReply(std::string(name) + ": the message check at its end is not -1");
    }
    fields.end();
    return reply;
  }
  bool next(std::uint8_t number, Bytes& answer) {
    static constexpr std::uint8_t header[] = {0xff, 0x01, 0xfe, 0x02};
    while (true) {
      const bool has_header = received_.size() >= 4 && std::equal(header, header + 4, received_.begin());
      const std::size_t start = has_header ? 4 : 0;
      if (received_.size() < start + 4) return false;
      const auto size = detail::get<std::uint32_t>(received_.data() + start, true);
      if (size < 1 || size > max_data) {
        throw BadReply("a message of " + std::to_string(size) + " bytes: the stream is out of step");
      }
      const std::size_t end = start + 4 + size;
      if (received_.size() < end) return false;
      answer.assign(received_.begin() + static_cast<std::ptrdiff_t>(start) + 4,
                    received_.begin() + static_cast<std::ptrdiff_t>(end));
      received_.erase(received_.begin(), received_.begin() + static_cast<std::ptrdiff_t>(end));
      if (answer[0] == number) return true;
      // Telegrams without a request are skipped; the protocol has none.
    }
  }

  template <class Reached>
  neobotix::Status wait_for(const std::string& what, Reached is_reached, double seconds) {
    const detail::Deadline deadline(detail::duration(seconds, "seconds"));
    while (true) {
      neobotix::Status status = get_status();
      if (is_reached(status)) return status;
      if (status.emergency_state == neobotix::EmergencyState::active) {
        throw Refused("ST_EM_ACTIVE", what, "the emergency stop is active");
      }
      if (deadline.left() <= 0) {
        throw Timeout(what + ": not within " + detail::print(seconds) + " s; the platform is in state " +
                      std::to_string(static_cast<int>(status.operation_state)));
      }
      detail::sleep(0.1);
    }
  }
  /// The planner's state before the command of a motion.
  neobotix::PlannerState prepare_to_drive() {
    neobotix::Status status = get_status();
    if (status.motion_mode != MotionMode::automatic || status.operation_state != neobotix::OperationState::running) {
      status = prepare(MotionMode::automatic);
    }
    return status.planner_state;
  }
  neobotix::Status wait_until_reached(double seconds, std::optional<neobotix::PlannerState> before) {
    using neobotix::MotionWatch;
    using neobotix::PlannerState;
    const auto began = std::chrono::steady_clock::now();
    std::optional<MotionWatch> watch;
    if (before) watch.emplace(*before);
    return wait_for(
        "wait_until_reached",
        [&](const neobotix::Status& one) {
          const PlannerState state = one.planner_state;
          if (!watch) watch.emplace(state);
          const std::chrono::duration<double> since = std::chrono::steady_clock::now() - began;
          const MotionWatch::Report report = watch->report(since.count(), state, one.is_target_reached);
          if (one.is_localization_lost) {
            throw Refused("LOCALIZATION_LOST", "the platform does not know where it is");
          }
          if (one.operation_state == neobotix::OperationState::not_initialized) {
            throw Refused("ST_OP_NOT_INITIALIZED", "ST_OP_NOT_INITIALIZED", "the platform does not move");
          }
          if (report == MotionWatch::Report::failed) {
            const std::string code = state == PlannerState::no_path            ? "PLANNER_NO_PATH"
                                     : state == PlannerState::collision_start  ? "PLANNER_COLLISION_START"
                                     : state == PlannerState::collision_target ? "PLANNER_COLLISION_TARGET"
                                                                               : "PLANNER_STANDBY";
            const bool is_given_up = state == PlannerState::standby;
            throw Refused(code, code,
                          is_given_up ? "the platform has given the motion up" : "the target cannot be reached");
          }
          return report == MotionWatch::Report::reached;
        },
        seconds);
  }

  bool with_header_;
};

}  // namespace dragoman_clients
