// Evaluation of the platform's status while the client waits for a motion.
//     motion packages/dragoman_neobotix/src/program/motions.txt
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "dragoman_clients/neobotix.hpp"

using namespace dragoman_clients::neobotix;

namespace {

PlannerState state(const std::string& name) {
  const std::map<std::string, PlannerState> states{{"standby", PlannerState::standby},
                                                   {"planning", PlannerState::planning},
                                                   {"noPath", PlannerState::no_path},
                                                   {"pathFound", PlannerState::path_found},
                                                   {"collisionStart", PlannerState::collision_start},
                                                   {"collisionTarget", PlannerState::collision_target}};
  const auto found = states.find(name);
  return found == states.end() ? static_cast<PlannerState>(77) : found->second;
}

}  // namespace

int main(int, char** words) {
  const std::map<std::string, MotionWatch::Report> reports{{"underway", MotionWatch::Report::under_way},
                                                           {"reached", MotionWatch::Report::reached},
                                                           {"failed", MotionWatch::Report::failed}};
  std::ifstream file(words[1]);
  std::string line, name;
  MotionWatch watch(PlannerState::standby);
  int cases = 0, lines = 0;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#') continue;
    if (line.rfind("case ", 0) == 0) {
      name = line;
      std::getline(file, line);
      watch = MotionWatch(state(line.substr(0, line.find(' '))));
      ++cases;
      continue;
    }
    std::istringstream fields(line);
    double seconds = 0;
    std::string planner, expected;
    bool is_reached = false;
    fields >> seconds >> planner >> is_reached >> expected;
    if (watch.report(seconds, state(planner), is_reached) != reports.at(expected)) {
      std::cerr << name << ": " << line << "\n";
      return 1;
    }
    ++lines;
  }
  std::cout << "motions: " << cases << ", statuses: " << lines << "\n";
  return cases == 14 ? 0 : 1;
}
