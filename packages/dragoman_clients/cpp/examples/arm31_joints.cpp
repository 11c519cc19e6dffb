// Moves the Ranger arm through two joint via points and back, and prints where its tool is.
//     arm31_joints [PORT]
#include <cstdio>
#include <cstdlib>
#include <dragoman_clients/arm31.hpp>

using dragoman_clients::Arm31;

namespace {

/// Starts the motion; the arm refuses that while another one ends.
void start(Arm31& arm) {
  for (int attempt = 1;; ++attempt) {
    try {
      return arm.execute_joint_via_points();
    } catch (const dragoman_clients::Refused&) {
      if (attempt == 20) throw;
      arm.wait_notices(0.2);
    }
  }
}

}  // namespace

int main(int count, char** words) {
  try {
    Arm31 arm("127.0.0.1", static_cast<std::uint16_t>(count > 1 ? std::atoi(words[1]) : 5031));
    arm.enable();
    arm.set_command_mode(Arm31::CommandMode::joint);
    const auto at = arm.joint_positions();
    arm.clear_joint_via_points();
    const double offsets[] = {0.1, -0.1, 0};
    for (std::uint8_t index = 0; index < 3; ++index) {
      arm.set_joint_via_point(index, {at[0] + offsets[index], at[1], at[2], at[3], at[4], at[5]});
    }
    start(arm);
    double last = -10;
    for (int step = 0; step < 120; ++step) {
      const double joint = arm.joint_positions()[0];
      const auto tool = arm.pose().position;
      std::printf("joint 1 %6.3f rad, tool at %6.3f %6.3f %6.3f m\n", joint, tool[0], tool[1], tool[2]);
      for (const auto& notice : arm.wait_notices(0.5)) std::printf("notice: %s\n", notice.text.c_str());
      if (joint == last && std::abs(joint - at[0]) < 0.002) break;
      last = joint;
    }
    arm.stop();
    arm.set_command_mode(Arm31::CommandMode::off);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
