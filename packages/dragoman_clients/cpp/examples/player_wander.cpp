// Lets a robot of a Player server wander for five seconds: ahead, and to the freer side before obstacles.
//     player_wander [PORT]
#include <cstdio>
#include <cstdlib>
#include <dragoman_clients/player.hpp>

using namespace dragoman_clients;

int main(int count, char** words) {
  try {
    Player server("127.0.0.1", static_cast<std::uint16_t>(count > 1 ? std::atoi(words[1]) : 6665));
    auto base = server.open<player::Position2d>(2);
    auto laser = server.open<player::Laser>(2);
    base.set_motor_power(true);
    for (const detail::Deadline end(5); end.left() > 0;) {
      server.read(1.0);
      const auto scan = laser.scan();
      if (!scan || scan->ranges.size() < 3) continue;
      const auto third = static_cast<std::ptrdiff_t>(scan->ranges.size() / 3);
      const auto first = scan->ranges.begin(), last = scan->ranges.end();
      const float right = *std::min_element(first, first + third), left = *std::min_element(last - third, last);
      const float ahead = *std::min_element(first + third, last - third);
      base.set_velocity(ahead > 0.5F ? 0.2 : 0, 0, ahead > 0.8F ? 0 : left > right ? 0.5 : -0.5);
    }
    base.set_velocity(0, 0, 0);
    if (const auto state = base.state()) {
      std::printf("the odometry ends at x %.3f m, y %.3f m, %.3f rad\n", state->pose.x, state->pose.y, state->pose.yaw);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
