// All replies of PlatformCtrl, read field by field: each field has a number of its own (python/tests/replies.py).
//     replies PORT
#include <cmath>
#include <iostream>

#include "dragoman_clients/neobotix.hpp"

using namespace dragoman_clients;
using namespace dragoman_clients::neobotix;

namespace {

int checks = 0, faults = 0;

void is(const char* what, double found, double expected) {
  ++checks;
  if (std::abs(found - expected) <= 1e-12) return;
  std::cerr << what << " is " << found << ", not " << expected << "\n";
  ++faults;
}
#define IS(found, expected) is(#found, static_cast<double>(found), expected)

template <class List>
void row(const char* what, const List& values, int first, double per_unit = 1) {
  for (const auto one : values) is(what, static_cast<double>(one), first++ / per_unit);
}

constexpr double mdeg = 3.14159265358979323846 / 180000;

void pose(const char* what, const Pose& found, int first) {
  is(what, found.x, first / 1000.0), is(what, found.y, (first + 1) / 1000.0), is(what, found.angle, (first + 2) * mdeg);
}
void point(const char* what, const Point& found, int first) {
  is(what, found.x, first / 1000.0), is(what, found.y, (first + 1) / 1000.0);
}
void segment(const char* what, const Segment& found, int first) {
  point(what, found.source, first), point(what, found.target, first + 2);
}
void gate(const char* what, const ValidationGate& found, int first) {
  for (const Point& corner : found.corners) point(what, corner, first), first += 2;
}
void path_pose(const char* what, const PathPose& found, int first) {
  is(what, found.x, first / 1000.0), is(what, found.y, (first + 1) / 1000.0), is(what, found.angle, first + 2);
}
void cluster(const char* what, const std::vector<Cluster>& found, int first) {
  is(what, static_cast<double>(found.size()), 1);
  is(what, found.at(0).x, first / 1000.0), is(what, found.at(0).y, (first + 1) / 1000.0);
  is(what, found.at(0).index, first + 2);
}

void status(const Status& s) {
  pose("commanded", s.commanded, 1), pose("estimated", s.estimated, 4);
  IS(s.covariance.principal, 0.007), IS(s.covariance.minor, 0.008);
  IS(s.covariance.angle, 9 * mdeg), IS(s.covariance.principal_axis, 10 * mdeg);
  IS(s.scan.size(), 2), IS(s.scan.at(0).x, 0.011), IS(s.scan.at(0).y, 0.012);
  IS(s.scan.at(1).x, 0.013), IS(s.scan.at(1).y, 0.014);
  point("reflector", s.reflectors.at(0), 15);
  point("line", s.lines.at(0).target, 17), point("line", s.lines.at(0).source, 19);
  point("circle", s.circles.at(0).center, 21), IS(s.circles.at(0).radius, 0.023);
  point("corner", s.corners.at(0), 24), point("path", s.path.at(0), 26);
  IS(s.joystick_buttons.size(), 2), IS(s.joystick_buttons.at(1), 1);
  IS(s.translation, 0.030), IS(s.rotation, 0.031);
  IS(s.relay_board.digital_in, 32), IS(s.relay_board.status, 33);
  row("relay analog", s.relay_board.analog_in, 34), row("optical", s.relay_board.optical_distance, 42);
  IS(s.io_board.battery_voltage, 46), IS(s.io_board.digital_in, 47), IS(s.io_board.digital_out, 48);
  IS(s.io_board.status, 49), row("io analog", s.io_board.analog_in, 50);
  IS(s.motors.right_status, 58), IS(s.motors.left_status, 59);
  IS(s.motors.right_temperature, 60), IS(s.motors.left_temperature, 61);
  row("ultrasonic", s.ultrasonic, 62, 1000), row("ultrasonic analog", s.ultrasonic_analog_in, 78);
  IS(s.ultrasonic_status, 86), row("radar", s.radar_velocity, 87, 1000), IS(s.radar_status, 91);
  IS(s.latitude, 92), IS(s.longitude, 93);
  row("acceleration", s.gyro.acceleration, 94, 10000), IS(s.gyro.angle, 0.0097);
  IS(s.gyro.temperature, 98), IS(s.gyro.status, 99), IS(s.is_initialized, 1), IS(s.is_target_reached, 1);
  IS(s.motion_mode, 102), IS(s.operation_state, 103), IS(s.emergency_state, 104), IS(s.application_mode, 105);
  IS(s.planner_state, 106), IS(s.time_stamp, 107), IS(s.application_error, 108);
  IS(s.is_docked, 1), IS(s.is_localization_lost, 1), IS(s.is_colliding, 1), IS(s.lookup_percent, 112);
  for (const bool one : s.infrared) IS(one, 1);
  IS(s.siren, 1), IS(s.flash_light, 1), IS(s.head_angle, 119 * 1000 * mdeg);
}

void debug_data(const DebugData& d) {
  gate("gate", d.validation_gates.at(0), 1);
  const Mapping& m = d.mapping.value();
  segment("segment", m.segments.at(0), 9), segment("explored", m.explored_segments.at(0), 13);
  path_pose("frame", m.frames.at(0), 17), segment("visible", m.visible_lines.at(0), 20);
  gate("gate of the mapping", m.validation_gates.at(0), 24);
  path_pose("path", d.path.at(0), 32);
  const GraphicalObject& g = d.graphical_objects.at(0);
  IS(g.kind, 35), IS(g.color, 36), IS(g.x, 0.037), IS(g.y, 0.038), IS(g.angle, 39 * 1000 * mdeg);
  IS(g.second_x, 0.040), IS(g.second_y, 0.041), IS(g.second_angle, 42 * mdeg), IS(g.reserved, 43);
  IS(d.variables.at(0).id, 44), IS(d.variables.at(0).value == "v", 1);
  cluster("moving", d.moving_clusters, 45), cluster("person", d.person_clusters, 48);
  cluster("ball", d.ball_clusters, 51), IS(d.protocol_queue.at(0).text == "ab", 1);
  const auto& t = d.tcp;
  row("tcp",
      std::array<std::int32_t, 10>{t.receive_time, t.receive_percent, t.send_time, t.send_percent, t.received_bytes,
                                   t.sent_bytes, t.received_telegrams, t.sent_telegrams, t.wait_time, t.wait_percent},
      54);
  row("safe velocities", d.safe_velocities, 64, 1000);
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  Neobotix n("127.0.0.1", static_cast<std::uint16_t>(std::stoi(words[1])), 10);
  status(n.get_status());
  debug_data(n.get_debug_data());
  const Position p = n.get_position();
  IS(p.x, 0.001), IS(p.y, 0.002), IS(p.angle, 3), IS(p.translation, 0.004), IS(p.rotation, 5);
  const auto can = n.get_can_messages();
  IS(can.size(), 2), IS(can.at(1).time_stamp, 11), IS(can.at(1).id, 12), row("can", can.at(1).data, 13);
  IS(n.get_map().xml == "<map/>", 1), IS(n.get_roadmap().name == "hall", 1), IS(n.get_program() == "<program/>", 1);
  const Camera camera = n.get_camera();
  IS(camera.address == "10.0.0.2", 1), IS(camera.id == "c", 1);
  const Parameter one = n.get_pltf_param("k");
  IS(one.key == "k", 1), IS(one.value == "42", 1), IS(one.category, 1), IS(one.type, 2);
  IS(one.minimum, 3), IS(one.maximum, 4), IS(n.get_pltf_param_vec().size(), 2);
  std::cout << "  fields of replies: " << checks << std::endl;
  return faults == 0 ? 0 : 1;
}
