// Round trips of every command of every protocol against a lab:
//     lab APOLO_PORT NEOBOTIX_PORT OTHER_NEOBOTIX_PORT ARM31_PORT PLAYER_PORT FOLDER_OF_DOCUMENTS
// tests/run.py counts the messages between this program and the lab.
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <sstream>
#include <thread>

#include "dragoman_clients/apolo.hpp"
#include "dragoman_clients/arm31.hpp"
#include "dragoman_clients/neobotix.hpp"
#include "dragoman_clients/player.hpp"

using namespace dragoman_clients;

namespace {

[[noreturn]] void fail(const char* file, int line, const std::string& what) {
  throw std::runtime_error(std::string(file) + ":" + std::to_string(line) + ": " + what);
}
#define CHECK(condition) ((condition) ? void() : fail(__FILE__, __LINE__, "not so: " #condition))

void until(const char* what, const std::function<bool()>& condition, double seconds = 60) {
  const detail::Deadline deadline(seconds);
  while (!condition()) {
    if (deadline.left() <= 0) throw std::runtime_error(std::string("not in time: ") + what);
    detail::sleep(0.05);
  }
}

/// Whether a call is carried out; a refusal is not an error here.
bool is_done(const std::function<void()>& call) {
  try {
    call();
    return true;
  } catch (const ClientError&) {
    return false;
  }
}

Refused refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Refused& error) {
    return error;
  }
  throw std::runtime_error("not refused");
}

/// Player's servers refuse messages that the lab's devices do not support.
#define REFUSED(...) (is_done([&] { __VA_ARGS__; }) ? fail(__FILE__, __LINE__, "not refused: " #__VA_ARGS__) : void())

std::string text_of(const std::string& file) {
  std::ifstream in(file);
  std::stringstream out;
  out << in.rdbuf();
  CHECK(!out.str().empty());
  return out.str();
}

void apolo(std::uint16_t port) {
  Apolo a("127.0.0.1", port);
  a.check_robot_joints("Puma560", {0.5, 0.23, -0.1}, "world1");
  a.set_robot_joints("Puma560", {0.5, 0.23, -0.1}, "world1");
  a.place("pieza", {1, 1, 1}, {0.5, 0, 0});
  const Location there = a.get_location("pieza");
  CHECK(there.x == 1 && there.z == 1 && std::abs(there.roll - 0.5) < 1e-9);
  a.place_xyz("pieza", -0.25, 0.2, 0.06);
  CHECK(a.get_location("pieza").roll == 0);
  CHECK(a.place_m_robot("Pioneer3AT", {0.7, 0.7, 0}, 0.23));
  const RobotLocation place = a.get_location_m_robot("Pioneer3AT");
  CHECK(place.x == 0.7 && place.y == 0.7 && std::abs(place.yaw - 0.23) < 1e-9);
  a.reset_odometry("Pioneer3AT", {1, 2, 0.5});
  const Odometry odometry = a.get_odometry("Pioneer3AT");
  CHECK(odometry.x == 1 && odometry.y == 2 && odometry.yaw == 0.5);
  CHECK(a.move_m_robot("Pioneer3AT", 0.1, 0.0, 0.1));
  // The server answers; this answer is not taken for the answer to the next question.
  a.move_m_robot_unanswered("Pioneer3AT", 0.1, 0.0, 0.1);
  CHECK(a.get_laser_data("LMS100").size() == 541);
  CHECK(!a.get_laser_land_marks("LMS100").empty());
  CHECK(a.get_ultrasonic_sensor("uc0") <= 10);
  CHECK(!a.get_allultrasonic_sensors("Marvin").empty());
  a.link_to_robot_tcp("Puma560", "pieza");
  a.update("World1");
  a.update();
  const Refused error = refusal([&] { a.get_location("nobody"); });
  CHECK(error.code == "F" && error.text == "get_location: F");
}

void neobotix_documents(Neobotix& n, const std::string& folder) {
  n.set_pltf_param("IpoTransVel", "900");
  until("a parameter", [&] { return std::stod(n.get_pltf_param("IpoTransVel").value) == 900; });
  n.set_pltf_param("IpoTransVel", "1000");
  CHECK(n.get_pltf_param_vec().size() == 94);
  n.set_map(text_of(folder + "/map.xml"), "test-map");
  until("map", [&] { return n.get_map().name == "test-map"; });
  n.save_map();
  n.load_map();
  n.set_roadmap(text_of(folder + "/roadmap.xml"), "test-roadmap");
  until("roadmap", [&] {
    const neobotix::Document found = n.get_roadmap();
    return found.name == "test-roadmap" && found.xml.find("middle") != std::string::npos;
  });
  n.save_roadmap();
  n.load_roadmap();
  n.set_program(text_of(folder + "/program.xml"));
  until("program", [&] { return n.get_program().find("Please let me pass.") != std::string::npos; });
  n.save_program();
  n.load_program();
}

void neobotix_commands(std::uint16_t port, bool with_header, const std::string& folder) {
  using neobotix::MotionMode;
  using neobotix::OperationState;
  Neobotix n("127.0.0.1", port, 10, with_header);
  const auto state = [&](OperationState wanted) {
    until("a state", [&] { return n.get_status().operation_state == wanted; });
  };
  n.connect_to_pltf();
  n.init_pltf();
  until("initialized", [&] { return n.get_status().is_initialized; });
  n.stop();
  state(OperationState::ready);
  n.set_mode(MotionMode::automatic);
  CHECK(n.get_status().motion_mode == MotionMode::automatic);
  n.start();
  state(OperationState::running);
  n.break_();
  state(OperationState::broken);
  n.continue_();
  state(OperationState::running);
  n.move_to_station("north");
  n.move_abs(4.5, 3.7, -1.57);
  n.move_rel(0.05, 0, 0);
  n.move_path({{4.5, 3.7, -1.57}, {4.5, 3.6, -1.57}});
  until("a path", [&] { return !n.get_status().path.empty() || n.get_status().is_target_reached; });
  CHECK(!n.get_status().scan.empty());
  n.stop();
  n.prepare(MotionMode::vel);
  const neobotix::Position before = n.get_position();
  until("motion", [&] {
    n.move_vel_wheel(0.05, 0.05);
    n.move_vel(0.05, 0);
    const neobotix::Position now = n.get_position();
    return std::hypot(now.x - before.x, now.y - before.y) > 0;
  });
  n.stop();
  neobotix_documents(n, folder);
  n.set_brake(neobotix::Motor::left, false);
  n.set_brake(neobotix::Motor::left, true);
  n.set_digout(neobotix::Board::relay, 1, true);
  n.start_ultrasonic(1);
  n.stop_ultrasonic();
  n.add_can_listening_id(0x181);
  n.send_can_message(0x601, {});
  CHECK(n.get_can_messages().empty());
  n.remove_can_listening_id(0x181);
  n.mapping_start();
  until("mapping", [&] { return n.get_debug_data().mapping.has_value(); });
  n.mapping_reset();
  n.mapping_stop();
  const neobotix::Position pose = n.get_position();
  n.set_frm_pltf(pose.x, pose.y, pose.angle);
  n.speak_text("Good morning");
  n.play_sound("bell.wav");
  n.grab_image("now");
  n.set_pos_head_drive(0.5);
  n.set_vel_head_drive(0.1);
  n.set_pos_pan_tilt_camera("home");
  n.debug1(), n.debug2(), n.debug3(), n.debug4();
  n.set_log_enabled();
  n.set_post_process_filename();
  n.mouse_move(0, 0, neobotix::MouseButton::rbutton_down);
  n.mouse_move(0, 0, neobotix::MouseButton::rbutton_up);
  n.set_event(neobotix::PostProcessEvent::stop_recording);
  n.get_camera();
  const neobotix::Position there = n.go_to_station("north");
  CHECK(std::hypot(there.x - 4.5, there.y - 3.8) < 0.05);
  CHECK(refusal([&] { n.go_to_station("nowhere"); }).code == "PLANNER_NO_PATH");
  n.shutdown_pltf();
  state(OperationState::not_initialized);
  n.exit();
  // The original ends here; Dragoman closes the connection.
  until("it answers again", [&] { return is_done([&] { n.get_position(); }); });
  n.close_socket();
  until("it answers again", [&] { return is_done([&] { n.get_position(); }); });
}

void arm31(std::uint16_t port) {
  Arm31 a("127.0.0.1", port);
  a.stop();
  a.enable();
  a.set_command_mode(Arm31::CommandMode::joint);
  a.reset_joint_motion();
  const auto at = a.joint_positions();
  const Arm31::Joints home = {at[0], at[1], at[2], at[3], at[4], at[5]};
  Arm31::Joints goal = home;
  goal[0] += 0.02;
  a.set_joint_goal(goal);
  a.begin_joint_motion();
  until("the goal", [&] { return std::abs(a.joint_positions()[0] - goal[0]) < 0.002; });
  a.clear_joint_via_points();
  a.set_joint_via_point(0, goal);
  a.set_joint_via_point(1, home, 0.1);
  until("the start", [&] { return is_done([&] { a.execute_joint_via_points(); }); });
  until("the last point", [&] { return std::abs(a.joint_positions()[0] - home[0]) < 0.002; });
  a.stop();
  // Joint 5 of Ranger Mark I begins at 0.785 rad.
  goal = home;
  goal[4] = 0;
  a.set_joint_goal(goal);
  a.begin_joint_motion();
  const auto notices = a.wait_notices(30);
  CHECK(!notices.empty() && notices[0].text == "WN12 Joint limit." && notices[0].code == "WN12");
  a.stop();
  a.set_joint_goal(home);
  until("the start", [&] { return is_done([&] { a.begin_joint_motion(); }); });
  until("the start of all", [&] { return std::abs(a.joint_positions()[4] - home[4]) < 0.002; });
  a.stop();
  a.set_command_mode(Arm31::CommandMode::cartesian);
  const Arm31::Pose pose = a.pose();
  const auto [x, y, z] = pose.position;
  a.set_goal_pose({x, y, z - 0.005}, pose.quaternion);
  until("the start", [&] { return is_done([&] { a.begin_motion(); }); });
  until("the pose", [&, height = z] { return std::abs(a.pose().position[2] - height + 0.005) < 0.001; });
  a.set_timed_goal_pose({x, y, z}, {0, 0, -1.5707963}, 1);
  a.clear_via_points();
  a.set_via_point(0, {x, y, z}, {0, 0, -1.5707963});
  until("the start", [&] { return is_done([&] { a.execute_via_points(); }); });
  a.stop();
  a.temperatures();
  a.set_command_mode(Arm31::CommandMode::off);
  // Refused until the arm is at rest.
  until("rest", [&] {
    const auto now = a.joint_positions();
    return is_done([&] { a.recalibrate({now[0], now[1], now[2], now[3], now[4], now[5]}); });
  });
  const Refused error = refusal([&] { a.begin_motion(); });
  CHECK(error.code == "ER20" && error.text == "ER20 Cmd BG rejected");
  a.disable();
  a.enable();
}

/// Sends all messages of all interfaces that the lab has; `ir` and `opaque` have labs of their own.
class PlayerTest {
 public:
  PlayerTest(std::uint16_t port, bool pull) : p_("127.0.0.1", port, 10, pull), pull_(pull) {}

  void run() {
    p_.connect();
    CHECK(p_.banner().rfind("Player v", 0) == 0);
    const auto devices = p_.devices();
    CHECK(std::any_of(devices.begin(), devices.end(), [](const auto& one) { return one.name() == "position2d:0"; }));
    CHECK(!p_.driver(4, 0).empty());
    CHECK(p_.port_of("TurtleBot 2") > 0);
    p_.replace_rule();
    refusal([&] { p_.open<player::Position2d>(77); });
    base();
    joints();
    sensors();
    places();
    properties();
  }

 private:
  template <class State>
  void wait_for(const char* what, State state) {
    until(what, [&] {
      p_.read(1.0);
      return state().has_value();
    });
  }

  void base() {
    auto base = p_.open<player::Position2d>();
    CHECK(base.get_geometry().size.width == 0.354);
    base.set_motor_power(true);
    base.set_velocity_mode(0);
    base.set_position_mode(0);
    base.set_odometry(1, 2, 0.5);
    until("the odometry", [&] {
      p_.read(1.0);
      return base.state() && std::abs(base.state()->pose.y - 2) < 1e-3;
    });
    base.reset_odometry();
    base.set_speed_pid(1, 0, 0);
    base.set_position_pid(1, 0, 0);
    base.set_speed_profile(0.3F, 0.5F);
    base.set_velocity(0, 0, 0.3);
    until("motion", [&] {
      p_.read(1.0);
      return std::abs(base.state()->pose.yaw) > 0.05;
    });
    base.set_position({});
    base.set_car(0, 0);
    base.set_velocity_heading(0, 0);
    base.set_velocity(0, 0, 0);
    base.close_device();
    auto power = p_.open<player::Power>();
    wait_for("power", [&] { return power.state(); });
    CHECK(power.state()->volts > 10);
    REFUSED(power.set_charging_policy(true, false));
  }

  void joints() {
    auto gripper = p_.open<player::Gripper>();
    gripper.get_geometry();
    gripper.close(), gripper.open(), gripper.store(), gripper.retrieve(), gripper.stop();
    wait_for("gripper", [&] { return gripper.state(); });
    auto arm = p_.open<player::Actarray>();
    CHECK(arm.get_geometry().joints.size() == 5);
    arm.set_power(true);
    arm.set_joint_speed(0, 0.5F);
    REFUSED(arm.set_brakes(false));
    REFUSED(arm.set_joint_acceleration(0, 0.5F));
    arm.set_position(0, 0.1F);
    until("a joint", [&] {
      p_.read(1.0);
      return arm.state() && std::abs(arm.state()->joints.at(0).position - 0.1F) < 0.02F;
    });
    arm.set_positions({0.1F, 0, 0, 0, 0});
    arm.set_speed(0, 0), arm.set_speeds({0, 0, 0, 0, 0});
    arm.set_current(0, 0), arm.set_currents({0, 0, 0, 0, 0});
    arm.home();
    auto limb = p_.open<player::Limb>();
    limb.get_geometry();
    limb.set_power(true);
    // The lab's arm has no brakes.
    REFUSED(limb.set_brakes(false));
    limb.set_speed(0.1F);
    wait_for("limb", [&] { return limb.state(); });
    const player::LimbState at = *limb.state();
    limb.move_along({0, 0, -1}, 0.01F);
    limb.set_position(at.position);
    limb.set_pose(at.position, at.approach, at.orientation);
    limb.home();
    limb.stop();
  }

  void sensors() {
    auto sonar = p_.open<player::Sonar>();
    CHECK(sonar.get_geometry().poses.size() == 16);
    sonar.set_power(true);
    wait_for("sonar", [&] { return sonar.ranges(); });
    CHECK(sonar.ranges()->ranges.size() == 16);
    auto laser = p_.open<player::Laser>();
    laser.get_geometry(), laser.get_id();
    CHECK(laser.get_config().max_range > 3);
    player::LaserConfig config;
    config.min_angle = -1, config.max_angle = 1, config.resolution = 0.01F, config.max_range = 4;
    laser.set_config(config);
    laser.set_power(true);
    REFUSED(laser.set_filter(player::LaserFilter::median, {3}));
    wait_for("laser", [&] { return laser.scan(); });
    auto ranger = p_.open<player::Ranger>();
    ranger.get_geometry(), ranger.get_config(), ranger.set_power(true), ranger.send_intensities(false);
    player::RangerConfig other;
    other.min_angle = -1, other.max_angle = 1, other.angular_resolution = 0.01, other.min_range = 0.1;
    other.max_range = 4;
    ranger.set_config(other);
    until("ranger", [&] {
      p_.read(1.0);
      return ranger.ranges() || ranger.stamped_ranges();
    });
    auto bumper = p_.open<player::Bumper>();
    CHECK(!bumper.get_geometry().bumpers.empty());
    auto camera = p_.open<player::Camera>();
    camera.get_source();
    REFUSED(camera.set_source("ntsc", 0));
    until("an image", [&] { return is_done([&] { CHECK(camera.get_image().width > 0); }); });
    auto imu = p_.open<player::Imu>();
    imu.set_data_kind(player::ImuDataKind::euler);
    REFUSED(imu.reset_orientation());
    REFUSED(imu.reset_euler({}));
    wait_for("imu", [&] { return imu.euler(); });
  }

  void places() {
    auto simulation = p_.open<player::Simulation>();
    simulation.set_pose2d("pieza", {-0.25, 0.2, 0});
    CHECK(simulation.get_pose3d("pieza").name == "pieza");
    simulation.set_pose3d("pieza", {{-0.25, 0.2, 0.06}, {}});
    CHECK(std::abs(simulation.get_pose2d("pieza").pose.x + 0.25) < 1e-9);
    REFUSED(simulation.get_property("pieza", "color", 4));
    REFUSED(simulation.set_property("pieza", "color", {0, 0, 0, 0}));
    simulation.save();
    simulation.pause();
    // Two at once may be carried out in any order.
    detail::sleep(0.5);
    simulation.pause();
    detail::sleep(0.5);
    simulation.reset();
    auto localize = p_.open<player::Localize>();
    wait_for("localize", [&] { return localize.hypotheses(); });
    localize.set_pose({4.5, 3.8, -1.57});
    CHECK(localize.get_particles().particles.size() == 1);
    auto map = p_.open<player::Map>();
    const player::MapInfo info = map.get_info();
    const std::uint32_t width = std::min(info.width, 200U), height = std::min(info.height, 200U);
    const player::MapTile tile = map.get_tile(0, 0, width, height);
    CHECK(tile.cells.size() == width * height);
    CHECK(std::all_of(tile.cells.begin(), tile.cells.end(),
                      [&](int one) { return one >= -tile.value_range && one <= tile.value_range; }));
    CHECK(!map.get_vector().segments.empty());
    auto vectormap = p_.open<player::Vectormap>();
    const player::VectormapInfo layers = vectormap.get_info();
    CHECK(layers.layers.at(0).name == "walls");
    CHECK(!vectormap.get_layer("walls").features.empty());
    REFUSED(vectormap.write_layer({"walls", {}}));
    auto planner = p_.open<player::Planner>();
    planner.enable(true);
    planner.set_start({4.5, 3.8, -1.57});
    planner.set_goal({4.5, 3.4, -1.57});
    wait_for("planner", [&] { return planner.state(); });
    until("a path", [&] { return planner.get_waypoints().waypoints.size() > 0; });
    planner.enable(false);
    auto log = p_.open<player::Log>();
    CHECK(log.get_state().kind == player::LogKind::write);
    log.set_file_name(pull_ ? "cpp-pull.log" : "cpp-push.log");
    // The recorder is found a little after the device is opened.
    until("the start of a recording", [&] { return is_done([&] { log.set_write_state(true); }); });
    until("a recording", [&] { return log.get_state().enabled; });
    // Some messages, to be played.
    std::this_thread::sleep_for(std::chrono::seconds(1));
    log.set_write_state(false);
    // It is short: a busy machine may see it after its end.
    until("a playback", [&] {
      is_done([&] { log.set_read_state(true); });
      return log.get_state().kind == player::LogKind::read;
    });
    log.set_read_state(false);
    until("the end of the playback", [&] { return !log.get_state().enabled; });
    log.rewind();
  }

  void properties() {
    auto base = p_.open<player::Position2d>();
    is_done([&] { base.has_message(3, 1); });
    REFUSED(base.set_bool_property("none", true));
    REFUSED(base.get_bool_property("none"));
    REFUSED(base.set_text_property("none", "a"));
    REFUSED(base.get_text_property("none"));
    REFUSED(base.set_double_property("none", 0.5));
    REFUSED(base.get_double_property("none"));
    REFUSED(base.set_int_property("none", 1));
    REFUSED(base.get_int_property("none"));
  }

  Player p_;
  bool pull_;
};

/// A lab with no other devices than ir:0 and opaque:0, which gives back what it is sent.
void player_others(std::uint16_t port) {
  Player p("127.0.0.1", port);
  auto ir = p.open<player::Ir>();
  CHECK(ir.get_geometry().poses.at(0).position.x == 0.45);
  ir.set_power(true);
  auto opaque = p.open<player::Opaque>();
  CHECK(!is_done([&] { opaque.request({1, 2, 3}); }));
  until("ranges and bytes", [&] {
    opaque.command({7, 8, 9});
    p.read(1.0);
    return ir.ranges() && opaque.state();
  });
  CHECK(ir.ranges()->ranges.size() == 1);
  CHECK((opaque.state()->data == Bytes{7, 8, 9}));
}

}  // namespace

int main(int count, char** words) {
  const auto port = [&](int place) { return static_cast<std::uint16_t>(std::atoi(words[place])); };
  try {
    if (count == 3 && std::string(words[1]) == "player") {
      PlayerTest(port(2), false).run();
      PlayerTest(port(2), true).run();
    } else if (count == 3) {
      player_others(port(2));
    } else if (count == 7) {
      apolo(port(1));
      std::cout << "apolo" << std::endl;
      arm31(port(4));
      std::cout << "arm31" << std::endl;
      neobotix_commands(port(2), true, words[6]);
      neobotix_commands(port(3), false, words[6]);
      std::cout << "neobotix" << std::endl;
      PlayerTest(port(5), false).run();
      PlayerTest(port(5), true).run();
      std::cout << "player" << std::endl;
    } else {
      std::cerr << "see the head of the source\n";
      return 2;
    }
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
  return 0;
}
