// Drives a wheeled robot of Apolo around a square, and prints where it is and where its odometry believes it to be.
//     apolo_course [PORT]
#include <cstdio>
#include <cstdlib>
#include <dragoman_clients/apolo.hpp>

namespace {

const char* const robot = "Pioneer3AT";

/// Drives in small steps, so that the robot does not jump over obstacles.
void drive(dragoman_clients::Apolo& apolo, double speed, double turn_rate, double seconds) {
  for (double left = seconds; left > 1e-9; left -= 0.05) {
    if (!apolo.move_m_robot(robot, speed, turn_rate, std::min(left, 0.05))) {
      throw std::runtime_error("the robot stands in front of an obstacle");
    }
    apolo.update();
  }
}

}  // namespace

int main(int count, char** words) {
  try {
    dragoman_clients::Apolo apolo("127.0.0.1", static_cast<std::uint16_t>(count > 1 ? std::atoi(words[1]) : 12000));
    if (!apolo.place_m_robot(robot, {0.7, 0.7, 0}, 0)) throw std::runtime_error("there is no room for the robot");
    apolo.reset_odometry(robot, {0.7, 0.7, 0});
    std::puts("side    x       y    heading   odometry x, y");
    for (int side = 0; side < 4; ++side) {
      drive(apolo, 0.5, 0, 2);
      drive(apolo, 0, 0.8, 1.5707963 / 0.8);
      const auto is = apolo.get_location_m_robot(robot);
      const auto believed = apolo.get_odometry(robot);
      std::printf("%d  %7.3f %7.3f %7.3f   %7.3f %7.3f\n", side, is.x, is.y, is.yaw, believed.x, believed.y);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
