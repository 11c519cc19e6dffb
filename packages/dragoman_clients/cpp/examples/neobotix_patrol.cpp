// Lets a Neobotix platform patrol between two stations of its roadmap.
//     neobotix_patrol [PORT]
#include <cstdio>
#include <cstdlib>
#include <dragoman_clients/neobotix.hpp>

int main(int count, char** words) {
  try {
    dragoman_clients::Neobotix platform("127.0.0.1",
                                        static_cast<std::uint16_t>(count > 1 ? std::atoi(words[1]) : 10000));
    for (const char* station : {"middle", "north"}) {
      const auto there = platform.go_to_station(station);
      const double degrees = there.angle * 180 / 3.14159265;
      std::printf("%s: x %.2f m, y %.2f m, %.0f degrees\n", station, there.x, there.y, degrees);
    }
    platform.stop();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
