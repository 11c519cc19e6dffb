// Client of the simulator Apolo (TCP port 12000): the functions of the Apolo port manual.
//
//     dragoman_clients::Apolo apolo("127.0.0.1", 12000);
//     apolo.place_m_robot("Pioneer3AT", {0.7, 0.7, 0.0}, 0.23);
//
// A frame is "aa", two bytes of size, a letter and the payload; the size counts all five bytes of the header. Doubles
// are little-endian. A name is its length with a final NUL, its bytes, and the NUL; an empty name is a zero byte.
// Lengths in m, angles in rad, speeds in m/s and rad/s. An empty world is the first one that has the object.
#pragma once

#include <array>

#include "net.hpp"

namespace dragoman_clients {

/// Position and orientation in the frame of the world.
struct Location {
  double x, y, z, roll, pitch, yaw;
};

/// Position and heading of a wheeled robot in the frame of the world.
struct RobotLocation {
  double x, y, z, yaw;
};

/// Odometry of a wheeled robot.
struct Odometry {
  double x, y, yaw;
};

/// A landmark that a laser sees; the angle is counter-clockwise from straight ahead.
struct LandMark {
  std::uint16_t id;
  double angle;
  double distance;
};

class Apolo : private detail::TcpClient {
 public:
  using Vector = std::array<double, 3>;

  /// `size_base` 255 is for servers before 2018, which write sizes to that base; answers with both bases are supported.
  explicit Apolo(const std::string& host = "127.0.0.1", std::uint16_t port = 12000, double timeout = 5.0,
                 unsigned size_base = 256)
      : TcpClient(host, port, timeout), size_base_(size_base) {
    if (size_base != 255 && size_base != 256) throw BadArgument("the base of sizes is 255 or 256");
  }

  using TcpClient::close;
  using TcpClient::connect;
  using TcpClient::is_connected;

  /// Moves the joints of an arm, and returns whether it then collides.
  bool check_robot_joints(const std::string& robot, const std::vector<double>& values, const std::string& world = "") {
    return verdict("check_robot_joints", 'j', {world, robot}, joints(values));
  }
  /// Ranges of all ultrasonic sensors of a robot.
  std::vector<double> get_allultrasonic_sensors(const std::string& robot, const std::string& world = "") {
    return values("get_allultrasonic_sensors", 'd', {world, robot});
  }
  /// Ranges of a laser, counter-clockwise.
  std::vector<double> get_laser_data(const std::string& laser, const std::string& world = "") {
    return values("get_laser_data", 'l', {world, laser});
  }
  /// Landmarks that a laser sees.
  std::vector<LandMark> get_laser_land_marks(const std::string& laser, const std::string& world = "") {
    const Answer answer = question("get_laser_land_marks", 'B', {world, laser}, {}, 'b');
    std::vector<LandMark> found;
    for (std::size_t at = 2; at + 18 <= answer.payload.size(); at += 18) {
      const std::uint8_t* one = answer.payload.data() + at;
      found.push_back({detail::get<std::uint16_t>(one, false), detail::get<double>(one + 2, false),
                       detail::get<double>(one + 10, false)});
    }
    return found;
  }
  /// Position and orientation of an object or a robot.
  Location get_location(const std::string& object, const std::string& world = "") {
    const auto v = values("get_location", 'G', {world, object}, 6);
    return {v[0], v[1], v[2], v[3], v[4], v[5]};
  }
  /// Position and heading of a wheeled robot.
  RobotLocation get_location_m_robot(const std::string& robot, const std::string& world = "") {
    const auto v = values("get_location_m_robot", 'g', {world, robot}, 4);
    return {v[0], v[1], v[2], v[3]};
  }
  /// Odometry of a wheeled robot since its last reset.
  Odometry get_odometry(const std::string& robot, const std::string& world = "") {
    const auto v = values("get_odometry", 'o', {world, robot}, 3);
    return {v[0], v[1], v[2]};
  }
  /// Range of an ultrasonic sensor.
  double get_ultrasonic_sensor(const std::string& sensor, const std::string& world = "") {
    return values("get_ultrasonic_sensor", 'u', {world, sensor}, 1)[0];
  }
  /// Fixes an object to the tool of an arm: from now on it moves with it.
  void link_to_robot_tcp(const std::string& robot, const std::string& object, const std::string& world = "") {
    command("link_to_robot_tcp", 'L', {world, robot, object}, {});
  }
  /// Moves a wheeled robot for some time. False: it would have collided, and did not move. With small steps the robot
  /// does not jump over obstacles.
  bool move_m_robot(const std::string& robot, double speed, double turn_rate, double seconds,
                    const std::string& world = "") {
    return verdict("move_m_robot", 'm', {world, robot}, motion(speed, turn_rate, seconds));
  }
  /// As move_m_robot, for servers of the manual's age, which do not answer it.
  void move_m_robot_unanswered(const std::string& robot, double speed, double turn_rate, double seconds,
                               const std::string& world = "") {
    command("move_m_robot_unanswered", 'm', {world, robot}, motion(speed, turn_rate, seconds));
    // If an answer arrives anyway, it must not be taken for the answer to the next question.
    is_unanswered_ = true;
  }
  /// Places an object, without a check for collisions: x, y, z and roll, pitch, yaw.
  void place(const std::string& object, const Vector& position, const Vector& orientation = {},
             const std::string& world = "") {
    Bytes data = doubles(position.data(), 3, "position");
    const Bytes turn = doubles(orientation.data(), 3, "orientation");
    data.insert(data.end(), turn.begin(), turn.end());
    command("place", 'P', {world, object}, data);
  }
  /// Drops a wheeled robot onto what is below a position. False: it cannot stand there, and was not moved.
  bool place_m_robot(const std::string& robot, const Vector& position, double angle, const std::string& world = "") {
    Bytes data = doubles(position.data(), 3, "position");
    detail::put_le(data, detail::finite(angle, "angle"));
    return verdict("place_m_robot", 'p', {world, robot}, data);
  }
  /// Places an object upright, without a check for collisions.
  void place_xyz(const std::string& object, double x, double y, double z, const std::string& world = "") {
    place(object, {x, y, z}, {0, 0, 0}, world);
  }
  /// Resets the odometry of a wheeled robot to x, y and heading.
  void reset_odometry(const std::string& robot, const Vector& pose = {}, const std::string& world = "") {
    command("reset_odometry", 'R', {world, robot}, doubles(pose.data(), 3, "pose"));
  }
  /// Moves the joints of an arm, without a check for collisions.
  void set_robot_joints(const std::string& robot, const std::vector<double>& values, const std::string& world = "") {
    command("set_robot_joints", 'J', {world, robot}, joints(values));
  }
  /// Updates the display of a world; without a name of all worlds.
  void update(const std::string& world = "") { command("update", 'U', {world}, {}); }

 private:
  struct Answer {
    char letter = 0;
    Bytes payload;
  };

  static Bytes doubles(const double* values, std::size_t count, const std::string& what) {
    Bytes out;
    for (std::size_t i = 0; i < count; ++i) {
      detail::put_le(out, detail::finite(values[i], what + "[" + std::to_string(i) + "]"));
    }
    return out;
  }
  static Bytes motion(double speed, double turn_rate, double seconds) {
    const double values[] = {speed, turn_rate, seconds};
    return doubles(values, 3, "motion");
  }
  static Bytes joints(const std::vector<double>& values) {
    if (values.empty() || values.size() > 255) {
      throw BadArgument("values must have 1 to 255 numbers, not " + std::to_string(values.size()));
    }
    Bytes data = doubles(values.data(), values.size(), "values");
    data.insert(data.begin(), static_cast<std::uint8_t>(values.size()));
    return data;
  }

  /// The first name is the world, which may be empty; the last one before the data is the object of the command.
  Bytes frame(const std::string& name, char letter, const std::vector<std::string>& names, const Bytes& data) const {
    Bytes payload;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string what = i == 0 ? "world" : "name";
      if (i > 0) detail::not_empty(names[i], what);
      if (names[i].find('\0') != std::string::npos) throw BadArgument(what + " contains a NUL");
      const std::size_t size = detail::text(names[i], what, 254).size();
      payload.push_back(static_cast<std::uint8_t>(size == 0 ? 0 : size + 1));
      if (size == 0) continue;
      detail::put_text(payload, names[i]);
      payload.push_back(0);
    }
    payload.insert(payload.end(), data.begin(), data.end());
    const std::size_t size = payload.size() + 5;
    if (size / size_base_ > 255) throw BadArgument(name + ": " + std::to_string(size) + " bytes are too many");
    Bytes out = {'a', 'a', static_cast<std::uint8_t>(size % size_base_), static_cast<std::uint8_t>(size / size_base_),
                 static_cast<std::uint8_t>(letter)};
    out.insert(out.end(), payload.begin(), payload.end());
    return out;
  }

  void command(const std::string& name, char letter, const std::vector<std::string>& names, const Bytes& data) {
    tell(name, frame(name, letter, names, data));
  }

  Answer ask_once(const std::string& name, char letter, const std::vector<std::string>& names, const Bytes& data) {
    const Bytes message = frame(name, letter, names, data);
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    if (std::exchange(is_unanswered_, false)) drop();
    Answer answer;
    ask(name, message, [&] { return next(answer); });
    return answer;
  }
  Answer question(const std::string& name, char letter, const std::vector<std::string>& names, const Bytes& data,
                  char expected) {
    Answer answer = ask_once(name, letter, names, data);
    if (answer.letter == 'F') throw Refused("F", name + ": F", "the name may be unknown");
    if (answer.letter != expected) {
      throw BadReply(name + ": the answer is " + answer.letter + ", not " + expected);
    }
    return answer;
  }
  bool verdict(const std::string& name, char letter, const std::vector<std::string>& names, const Bytes& data) {
    const Answer answer = ask_once(name, letter, names, data);
    if (answer.letter != 'T' && answer.letter != 'F') {
      throw BadReply(name + ": the answer is " + answer.letter + ", not T or F");
    }
    return answer.letter == 'T';
  }
  /// A count other than `wanted` is an error; 0: any.
  std::vector<double> values(const std::string& name, char letter, const std::vector<std::string>& names,
                             std::size_t wanted = 0) {
    const Answer answer = question(name, letter, names, {}, 'D');
    std::vector<double> found;
    for (std::size_t at = 2; at + 8 <= answer.payload.size(); at += 8) {
      found.push_back(detail::get<double>(answer.payload.data() + at, false));
    }
    if (wanted != 0 && found.size() != wanted) {
      throw BadReply(name + ": " + std::to_string(found.size()) + " numbers instead of " + std::to_string(wanted));
    }
    return found;
  }

  /// Removes the first complete answer from the received bytes. Garbage is skipped up to the next header.
  bool next(Answer& answer) {
    static constexpr std::uint8_t head[] = {'a', 'a'};
    while (true) {
      const auto start = std::search(received_.begin(), received_.end(), std::begin(head), std::end(head));
      const bool has_half = start == received_.end() && !received_.empty() && received_.back() == 'a';
      received_.erase(received_.begin(), has_half ? received_.end() - 1 : start);
      if (received_.size() < 5) return false;
      const Size size = frame_size();
      if (size.is_unknown || (size.bytes > 0 && received_.size() < size.bytes)) return false;
      if (size.bytes == 0) {
        // Not an answer: "aa" occurs by chance.
        received_.erase(received_.begin());
        continue;
      }
      answer.letter = static_cast<char>(received_[4]);
      answer.payload.assign(received_.begin() + 5, received_.begin() + static_cast<std::ptrdiff_t>(size.bytes));
      received_.erase(received_.begin(), received_.begin() + static_cast<std::ptrdiff_t>(size.bytes));
      return true;
    }
  }
  struct Size {
    bool is_unknown;
    std::size_t bytes;
  };
  /// The length of the first frame; 0: it is not an answer.
  Size frame_size() const {
    const std::size_t low = received_[2], high = received_[3];
    const char letter = static_cast<char>(received_[4]);
    if (letter == 'T' || letter == 'F') return {false, low == 5 && high == 0 ? 5U : 0U};
    const std::size_t element = letter == 'D' ? 8 : letter == 'b' ? 18 : 0;
    if (element == 0) return {false, 0};
    if (received_.size() < 7) return {true, 0};
    // The base with which count and size match, so that servers with both bases are supported.
    for (const std::size_t base : {std::size_t{size_base_}, std::size_t{511} - size_base_}) {
      const std::size_t size = low + high * base, count = received_[5] + received_[6] * base;
      if (size == 7 + count * element) return {false, size};
    }
    return {false, 0};
  }

  unsigned size_base_;
  bool is_unanswered_ = false;
};

}  // namespace dragoman_clients
