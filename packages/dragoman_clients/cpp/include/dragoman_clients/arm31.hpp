// Client of the 31-byte protocol of the Ranger arm (UDP port 5031): the commands of the Ranger thesis, appendix A.
//
//     dragoman_clients::Arm31 arm("127.0.0.1", 5031);
//     arm.set_command_mode(dragoman_clients::Arm31::CommandMode::joint);
//
// A datagram has two letters, seven little-endian floats and one byte. An answer has the letters swapped; errors and
// warnings are texts that begin with "ER" or "WN", two digits and a blank. Lengths in m, angles in rad, times in s.
#pragma once

#include <array>
#include <deque>
#include <optional>

#include "net.hpp"

namespace dragoman_clients {

class Arm31 {
 public:
  enum class CommandMode { off = 0, joint = 1, cartesian = 2 };
  using Vector = std::array<double, 3>;
  using Joints = std::array<double, 6>;
  using Quaternion = std::array<double, 4>;

  /// Pose of the tool in the arm's base frame; the quaternion is x, y, z, w.
  struct Pose {
    Vector position;
    Quaternion quaternion;
  };
  /// An error or a warning of the controller that belongs to no command, such as "WN12 Joint limit."
  struct Notice {
    std::string code;
    std::string text;
  };

  /// Only requests of which a second copy does no harm are repeated, every `repeat_interval`. `recalibrate_unanswered`
  /// is for the original controller, which never answers RC.
  explicit Arm31(std::string host = "127.0.0.1", std::uint16_t port = 5031, double timeout = 6.0,
                 double repeat_interval = 0.5, bool recalibrate_unanswered = false)
      : host_(std::move(host)),
        port_(port),
        timeout_(detail::duration(timeout, "the timeout")),
        repeat_interval_(detail::duration(repeat_interval, "the repeat interval")),
        recalibrate_unanswered_(recalibrate_unanswered) {}

  /// Closes the port. The next call opens another one.
  void close() {
    const std::lock_guard<std::mutex> lock(mutex_);
    socket_.reset();
  }

  /// BG: begin the motion to the Cartesian goal.
  void begin_motion() { ask({"begin_motion", "BG", {}, 0, Repeat::no}); }
  /// CM: switch the command mode. Refused: another one is in force.
  void set_command_mode(CommandMode mode) {
    const float wanted = static_cast<float>(mode);
    const auto found = ask({"set_command_mode", "CM", {wanted}, 0, Repeat::no});
    if (found[0] != wanted) {
      throw Refused("MC", "MC " + detail::print(found[0]), "the mode is not " + detail::print(wanted));
    }
  }
  /// GL: Cartesian goal. The controller normalizes the quaternion x, y, z, w; it must not be zero.
  void set_goal_pose(const Vector& position, const Quaternion& quaternion) {
    double square = 0;
    for (const double one : quaternion) square += one * one;
    if (std::sqrt(square) < 1e-6) throw BadArgument("quaternion must not be zero");
    ask({"set_goal_pose", "GL", floats("position", position, "quaternion", quaternion), 0});
  }
  /// GT: Cartesian goal with a minimum duration: position and roll, pitch, yaw.
  void set_timed_goal_pose(const Vector& position, const Vector& rpy, double min_duration = 0.0) {
    ask({"set_timed_goal_pose", "GT", timed(floats("position", position, "rpy", rpy), min_duration), 0});
  }
  /// jB: begin the motion to the joint goal.
  void begin_joint_motion() { ask({"begin_joint_motion", "jB", {}, 0, Repeat::no}); }
  /// jC: clear the joint via points.
  void clear_joint_via_points() { ask({"clear_joint_via_points", "jC", {}, 0}); }
  /// jE: execute the joint via points.
  void execute_joint_via_points() { ask({"execute_joint_via_points", "jE", {}, 0, Repeat::no}); }
  /// jG: joint goal.
  void set_joint_goal(const Joints& joints) { ask({"set_joint_goal", "jG", floats("joints", joints), 0}); }
  /// jP: measured joint positions; seven numbers, those of missing joints are 0.
  std::array<double, 7> joint_positions() { return ask({"joint_positions", "jP", {}, 0}); }
  /// jR: reset the generator of joint motions.
  void reset_joint_motion() { ask({"reset_joint_motion", "jR", {}, 0}); }
  /// jV: joint via point with this index, from 0, and the minimum duration of the motion to it.
  void set_joint_via_point(std::uint8_t index, const Joints& joints, double min_duration = 0.0) {
    ask({"set_joint_via_point", "jV", timed(floats("joints", joints), min_duration), index});
  }
  /// OF: disable the arm.
  void disable() { ask({"disable", "OF", {}, 0}); }
  /// ON: enable the arm.
  void enable() { ask({"enable", "ON", {}, 0, Repeat::no}); }
  /// PS: measured pose of the tool.
  Pose pose() {
    const auto v = ask({"pose", "PS", {}, 0});
    return {{v[0], v[1], v[2]}, {v[3], v[4], v[5], v[6]}};
  }
  /// RC: declare the present joint angles.
  void recalibrate(const Joints& joints) {
    ask({"recalibrate", "RC", floats("joints", joints), 0, Repeat::no}, !recalibrate_unanswered_);
  }
  /// ST: stop.
  void stop() { ask({"stop", "ST", {}, 0}); }
  /// TM: temperatures of the drives, degrees Celsius; no value where there is no drive.
  std::array<std::optional<double>, 7> temperatures() {
    std::array<std::optional<double>, 7> found;
    const auto v = ask({"temperatures", "TM", {}, 0});
    // The value of absent drives.
    for (std::size_t i = 0; i < 7; ++i) found[i] = v[i] <= -1000 ? std::nullopt : std::optional<double>(v[i]);
    return found;
  }
  /// VC: clear the Cartesian via points.
  void clear_via_points() { ask({"clear_via_points", "VC", {}, 0}); }
  /// VE: execute the Cartesian via points.
  void execute_via_points() { ask({"execute_via_points", "VE", {}, 0, Repeat::no}); }
  /// VP: Cartesian via point with this index, from 0, and the minimum duration of the motion to it.
  void set_via_point(std::uint8_t index, const Vector& position, const Vector& rpy, double min_duration = 0.0) {
    ask({"set_via_point", "VP", timed(floats("position", position, "rpy", rpy), min_duration), index});
  }

  /// Received errors and warnings; waits for the first one. Empty after `seconds`.
  std::vector<Notice> wait_notices(double seconds) {
    const detail::Deadline deadline(detail::duration(seconds, "the time limit"));
    const std::lock_guard<std::mutex> lock(mutex_);
    ensure(deadline);
    Bytes data;
    do {
      while (receive(data, "wait_notices", notices_.empty() ? deadline.left() : 0)) {
        if (is_notice(data)) keep(notice(data));
      }
    } while (notices_.empty() && deadline.left() > 0);
    std::vector<Notice> found(notices_.begin(), notices_.end());
    notices_.clear();
    return found;
  }

 private:
  enum class Repeat { yes, no };
  struct Request {
    const char* name;
    std::string letters;
    std::vector<float> values;
    std::uint8_t index;
    Repeat repeat = Repeat::yes;
  };

  template <std::size_t N>
  static std::vector<float> floats(const std::string& what, const std::array<double, N>& values) {
    std::vector<float> out;
    for (std::size_t i = 0; i < N; ++i) {
      out.push_back(detail::single(values[i], what + "[" + std::to_string(i) + "]"));
    }
    return out;
  }
  template <std::size_t N, std::size_t M>
  static std::vector<float> floats(const std::string& what, const std::array<double, N>& values,
                                   const std::string& more, const std::array<double, M>& others) {
    std::vector<float> out = floats(what, values);
    for (const float one : floats(more, others)) out.push_back(one);
    return out;
  }
  static std::vector<float> timed(std::vector<float> values, double min_duration) {
    values.push_back(detail::single(min_duration, "min_duration"));
    if (min_duration < 0) throw BadArgument("min_duration must not be negative, not " + detail::print(min_duration));
    return values;
  }

  static bool is_notice(const Bytes& data) {
    const auto digit = [](std::uint8_t one) { return one >= '0' && one <= '9'; };
    return data.size() >= 5 && ((data[0] == 'E' && data[1] == 'R') || (data[0] == 'W' && data[1] == 'N')) &&
           digit(data[2]) && digit(data[3]) && data[4] == ' ';
  }
  static Notice notice(const Bytes& data) {
    const std::string text(data.begin(), std::find(data.begin(), data.end(), 0));
    return {text.substr(0, 4), text};
  }
  /// At most 1000 are kept for the program.
  void keep(Notice one) {
    if (notices_.size() >= 1000) notices_.pop_front();
    notices_.push_back(std::move(one));
  }
  /// The letters of the command that an error belongs to.
  static std::string concerned(const Notice& one) {
    if (one.code == "ER10") return "OF";
    if (one.code == "ER11") return "ON";
    const std::string kind = one.text.substr(std::min<std::size_t>(5, one.text.size()), 4);
    return kind == "Cmd " || kind == "Msg " ? one.text.substr(9, 2) : "";
  }

  void ensure(const detail::Deadline& deadline) {
    if (!socket_) socket_ = std::make_unique<detail::Socket>(host_, port_, SOCK_DGRAM, deadline);
  }
  /// Receives a datagram within this time; false: none, or the port is closed at present.
  bool receive(Bytes& data, const char* name, double seconds) {
    try {
      return socket_->receive(data, name, seconds, false);
    } catch (const ConnectionLost&) {
      is_refused_ = true;
      return false;
    }
  }

  std::array<double, 7> ask(const Request& request, bool is_answered = true) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const detail::Deadline deadline(timeout_);
    ensure(deadline);
    Bytes message(request.letters.begin(), request.letters.end());
    std::vector<float> values = request.values;
    values.resize(7);
    for (const float one : values) detail::put_le(message, one);
    message.push_back(request.index);
    int copies = 0;
    std::array<double, 7> answer{};
    bool is_there = false;
    try {
      while (!is_there) {
        if ((copies > 0 && request.repeat == Repeat::no) || deadline.left() <= 0) unanswered(request, deadline);
        is_refused_ = false;
        send(request.name, message, deadline);
        ++copies;
        if (!is_answered) return answer;
        const double limit = deadline.left();
        is_there =
            wait(request, values, answer, request.repeat == Repeat::no ? limit : std::min(limit, repeat_interval_));
        if (!is_there && is_refused_ && request.repeat == Repeat::yes) {
          if (deadline.left() <= repeat_interval_) unanswered(request, deadline);
          detail::sleep(repeat_interval_);
        }
      }
    } catch (...) {
      // The answer may still arrive; it belongs to no call.
      socket_.reset();
      throw;
    }
    // Answers to the other copies may still arrive.
    if (copies > 1) socket_.reset();
    return answer;
  }
  void send(const char* name, const Bytes& message, const detail::Deadline& deadline) {
    try {
      socket_->send(message, name, deadline);
    } catch (const ConnectionLost&) {
      // The error of the previous datagram, which the system reports once.
      socket_->send(message, name, deadline);
    }
  }
  [[noreturn]] void unanswered(const Request& request, const detail::Deadline& deadline) const {
    if (is_refused_) {
      throw ConnectionLost(std::string(request.name) + ": nothing listens on " + socket_->place());
    }
    throw deadline.error(request.name);
  }

  bool wait(const Request& request, const std::vector<float>& sent, std::array<double, 7>& answer, double seconds) {
    const detail::Deadline deadline(seconds);
    Bytes data;
    while (receive(data, request.name, deadline.left())) {
      if (is_notice(data)) {
        Notice one = notice(data);
        if (concerned(one) == request.letters) throw Refused(one.code, one.text);
        keep(std::move(one));
      } else if (is_answer(request, sent, data)) {
        for (std::size_t i = 0; i < 7; ++i) answer[i] = detail::get<float>(data.data() + 2 + 4 * i, false);
        return true;
      }
      // Anything else is garbage or a late answer.
    }
    return false;
  }
  static bool is_answer(const Request& request, const std::vector<float>& sent, const Bytes& data) {
    if (data.size() != 30 && data.size() != 31) return false;
    const std::string letters(data.begin(), data.begin() + 2);
    const std::string swapped(request.letters.rbegin(), request.letters.rend());
    // The original answers VC with the letters of VP.
    if (letters != swapped && !(request.letters == "VC" && letters == "PV")) return false;
    for (std::size_t i = 0; i < echoed(request.letters); ++i) {
      if (detail::get<float>(data.data() + 2 + 4 * i, false) != sent[i]) return false;
    }
    const bool is_indexed = request.letters == "VP" || request.letters == "jV";
    return !is_indexed || request.index == (data.size() == 31 ? data[30] : 0);
  }
  /// The number of values that the answer repeats exactly. The controller may change the other values, or the original
  /// does not set them.
  static std::size_t echoed(const std::string& letters) {
    if (letters == "GL" || letters == "GT" || letters == "VP") return 3;
    return letters == "jG" || letters == "jV" || letters == "RC" ? 6 : 0;
  }

  std::string host_;
  std::uint16_t port_;
  double timeout_;
  double repeat_interval_;
  bool recalibrate_unanswered_;
  std::mutex mutex_;
  std::unique_ptr<detail::Socket> socket_;
  std::deque<Notice> notices_;
  bool is_refused_ = false;
};

}  // namespace dragoman_clients
