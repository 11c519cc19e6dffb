// Sends one query per line of standard input, and prints the result; for the tests of faults.
//     PROTOCOL PORT SECONDS     a new client
//     again                     the same client once more
#include <iostream>
#include <memory>
#include <sstream>

#include "dragoman_clients/apolo.hpp"
#include "dragoman_clients/arm31.hpp"
#include "dragoman_clients/neobotix.hpp"
#include "dragoman_clients/player.hpp"

using namespace dragoman_clients;

namespace {

/// A client, and its question.
class Probe {
 public:
  Probe(const std::string& protocol, std::uint16_t port, double seconds) {
    if (protocol == "apolo") apolo_ = std::make_unique<Apolo>("127.0.0.1", port, seconds);
    if (protocol == "neobotix") neobotix_ = std::make_unique<Neobotix>("127.0.0.1", port, seconds);
    if (protocol == "arm31") arm31_ = std::make_unique<Arm31>("127.0.0.1", port, seconds, 0.1);
    if (protocol == "arm31_start") starting_ = std::make_unique<Arm31>("127.0.0.1", port, seconds, 0.1);
    if (protocol == "player") player_ = std::make_unique<Player>("127.0.0.1", port, seconds);
  }
  double ask() {
    if (apolo_) return apolo_->get_location_m_robot("Neo").x;
    if (neobotix_) return neobotix_->get_position().x;
    if (arm31_) return arm31_->joint_positions()[0];
    if (starting_) {
      starting_->begin_motion();
      return 0;
    }
    return static_cast<double>(player_->devices().size());
  }

 private:
  std::unique_ptr<Apolo> apolo_;
  std::unique_ptr<Neobotix> neobotix_;
  std::unique_ptr<Arm31> arm31_, starting_;
  std::unique_ptr<Player> player_;
};

template <class Error>
bool is(const std::exception& error) {
  return dynamic_cast<const Error*>(&error) != nullptr;
}

}  // namespace

int main() {
  std::unique_ptr<Probe> probe;
  std::string line;
  while (std::getline(std::cin, line)) {
    try {
      if (line != "again") {
        std::istringstream words(line);
        std::string protocol;
        unsigned port = 0;
        double seconds = 0;
        words >> protocol >> port >> seconds;
        probe = std::make_unique<Probe>(protocol, static_cast<std::uint16_t>(port), seconds);
      }
      const double found = probe->ask();
      std::cout << "OK " << found << std::endl;
    } catch (const std::exception& error) {
      const char* kind = is<BadArgument>(error)      ? "BadArgument"
                         : is<ConnectionLost>(error) ? "ConnectionLost"
                         : is<Timeout>(error)        ? "Timeout"
                         : is<BadReply>(error)       ? "BadReply"
                         : is<Refused>(error)        ? "Refused"
                                                     : "other";
      std::cout << kind << " " << error.what() << std::endl;
    }
  }
}
