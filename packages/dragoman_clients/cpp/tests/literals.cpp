// Bodies of Player's messages as the original writes them, read and written again: the same bytes.
//     literals packages/dragoman_bridge/tests/player/literals.txt
// And arguments that cannot be sent: refused before there is a connection.
#include <fstream>
#include <functional>
#include <iostream>
#include <sstream>

#include "dragoman_clients/apolo.hpp"
#include "dragoman_clients/arm31.hpp"
#include "dragoman_clients/neobotix.hpp"
#include "dragoman_clients/player.hpp"

using namespace dragoman_clients;
using namespace dragoman_clients::player;

namespace {

template <class T>
Bytes again(const Bytes& body) {
  T value = dragoman_clients::Player::unpack<T>(body, "a literal");
  Writer writer;
  writer(value);
  return writer.out;
}

using Again = std::function<Bytes(const Bytes&)>;

/// Data, and answers that are structures.
const std::map<std::string, Again>& forms() {
  static const std::map<std::string, Again> all = {
      {"power data 1", again<PowerState>},
      {"gripper data 1", again<GripperState>},
      {"gripper request 1", again<GripperGeometry>},
      {"position2d data 1", again<Position2dState>},
      {"position2d data 2", again<Geometry>},
      {"position2d request 1", again<Geometry>},
      {"sonar data 1", again<SonarRanges>},
      {"sonar data 2", again<Poses>},
      {"sonar request 1", again<Poses>},
      {"laser data 1", again<LaserScan>},
      {"laser data 2", again<LaserPosedScan>},
      {"laser data 3", again<LaserAngledScan>},
      {"laser request 1", again<Geometry>},
      {"laser request 2", again<LaserConfig>},
      {"laser request 3", again<LaserConfig>},
      {"bumper data 1", again<BumperState>},
      {"bumper data 2", again<BumperGeometry>},
      {"bumper request 1", again<BumperGeometry>},
      {"ir data 1", again<IrRanges>},
      {"ir request 1", again<Poses>},
      {"localize data 1", again<Hypotheses>},
      {"localize request 2", again<Particles>},
      {"simulation request 1", again<NamedPose2d>},
      {"simulation request 3", again<NamedPose3d>},
      {"simulation request 5", again<ObjectProperty>},
      {"camera data 1", again<Image>},
      {"camera request 1", again<ImageSource>},
      {"camera request 3", again<Image>},
      {"map data 1", again<MapInfo>},
      {"map request 1", again<MapInfo>},
      {"map request 3", again<MapVector>},
      {"planner data 1", again<PlannerState>},
      {"planner request 1", again<Waypoints>},
      {"log request 3", again<LogState>},
      {"opaque data 1", again<OpaqueData>},
      {"opaque request 1", again<OpaqueData>},
      {"actarray data 1", again<ActarrayState>},
      {"actarray request 3", again<ActarrayGeometry>},
      {"limb data 1", again<LimbState>},
      {"limb request 3", again<Point3d>},
      {"imu data 1", again<Pose3d>},
      {"imu data 2", again<ImuCalibrated>},
      {"imu data 3", again<ImuQuaternion>},
      {"imu data 4", again<ImuEuler>},
      {"imu data 5", again<ImuFullState>},
      {"ranger data 1", again<RangerValues>},
      {"ranger data 2", again<RangerStampedValues>},
      {"ranger data 3", again<RangerValues>},
      {"ranger data 4", again<RangerStampedValues>},
      {"ranger data 5", again<RangerGeometry>},
      {"ranger request 1", again<RangerGeometry>},
      {"ranger request 4", again<RangerConfig>},
      {"ranger request 5", again<RangerConfig>},
      {"vectormap request 1", again<VectormapInfo>},
      {"vectormap request 3", again<Layer>},
      {"vectormap request 4", again<Layer>},
  };
  return all;
}

int faults = 0;

void expect(bool holds, const std::string& what) {
  if (holds) return;
  std::cerr << what << "\n";
  ++faults;
}

void literals(const char* file) {
  std::map<std::string, Bytes> found;
  std::ifstream in(file);
  std::string line, key;
  while (std::getline(in, line)) {
    if (line.rfind("    ", 0) == 0) {
      for (std::size_t at = 4; at + 1 < line.size(); at += 2) {
        found[key].push_back(static_cast<std::uint8_t>(std::stoi(line.substr(at, 2), nullptr, 16)));
      }
    } else if (line[0] != '#') {
      key = line;
    }
  }
  for (const auto& [name, form] : forms()) {
    expect(found.count(name) == 1 && form(found[name]) == found[name], name + " is written differently");
  }
  for (const auto& [name, body] : found) {
    expect(name.find(" data ") == std::string::npos || forms().count(name) == 1, name + " is left out");
    // A body cut at any place is an error, never a crash.
    for (std::size_t size = 0; forms().count(name) == 1 && size < body.size(); ++size) {
      try {
        forms().at(name)(Bytes(body.begin(), body.begin() + static_cast<std::ptrdiff_t>(size)));
        expect(false, name + " without its end is no error");
      } catch (const BadReply&) {
      }
    }
  }
  std::cout << "  literals: " << forms().size() << std::endl;
}

void arguments() {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Apolo a("127.0.0.1", 1);
  Arm31 r("127.0.0.1", 1);
  Neobotix n("127.0.0.1", 1);
  dragoman_clients::Player p("127.0.0.1", 1);
  Position2d base(p, 0);
  const std::string long_name(5000, 'x');
  const std::vector<std::function<void()>> bad = {
      [&] { Apolo("127.0.0.1", 12000, 0); },
      [&] { Apolo("127.0.0.1", 12000, 1, 100); },
      [&] { a.move_m_robot("x", nan, 0, 1); },
      [&] {
        a.place("", {1, 2, 3});
      },
      [&] {
        a.place(long_name, {1, 2, 3});
      },
      [&] {
        a.place(std::string("a\0b", 3), {1, 2, 3});
      },
      [&] { a.set_robot_joints("x", {}); },
      [&] { a.set_robot_joints("x", std::vector<double>(256)); },
      [&] {
        r.set_goal_pose({0, 0, 0}, {0, 0, 0, 0});
      },
      [&] {
        r.set_goal_pose({0, 0, 1e39}, {0, 0, 0, 1});
      },
      [&] {
        r.set_joint_goal({nan, 0, 0, 0, 0, 0});
      },
      [&] { r.set_joint_via_point(0, {}, -1); },
      [&] { n.move_abs(nan, 0, 0); },
      [&] { n.move_abs(3e6, 0, 0); },
      [&] { n.move_path({}); },
      [&] { n.move_to_station(""); },
      [&] { n.move_to_station(long_name); },
      [&] { n.add_can_listening_id(1 << 29); },
      [&] { n.speak_text(std::string(65537, 'x')); },
      [&] { n.set_map("", "a"); },
      [&] { base.set_velocity(nan, 0, 0); },
      [&] { base.get_text_property(long_name); },
      [&] { Laser(p, 0).set_filter(LaserFilter::mean, std::vector<float>(9)); },
      [&] { p.replace_rule(-1, -1, -1, 3); },
  };
  for (std::size_t i = 0; i < bad.size(); ++i) {
    try {
      bad[i]();
      expect(false, "bad argument " + std::to_string(i) + " was accepted");
    } catch (const BadArgument&) {
    } catch (const ClientError& error) {
      expect(false, "bad argument " + std::to_string(i) + ": " + error.what());
    }
  }
  std::cout << "  bad arguments: " << bad.size() << std::endl;
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  literals(words[1]);
  arguments();
  return faults == 0 ? 0 : 1;
}
