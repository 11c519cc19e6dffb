// Client of the robot server Player, 2.1 to 3.1 (TCP port 6665): all 21 interfaces that Dragoman's servers have.
//
//     dragoman_clients::Player player("127.0.0.1", 6665);
//     auto base = player.open<dragoman_clients::player::Position2d>(0);
//     base.set_velocity(0.2, 0.0, 0.1);
//     player.read(1.0);
//     if (const auto state = base.state()) std::printf("%g m\n", state->pose.x);
//
// Values are XDR (RFC 4506) with Player's differences: every integer takes four bytes; a list has its length twice,
// then its elements; bytes and texts are padded to four bytes, and a text that is not empty ends with a NUL that
// counts.
// Units: m, rad, s, and their combinations.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "inflate.hpp"
#include "net.hpp"

namespace dragoman_clients {
namespace player {

// Structures are written and read by their function `fields`, which lists the members in the order of the wire.

class Writer {
 public:
  Bytes out;
  std::string what;

  template <class... T>
  void operator()(const T&... values) {
    (put(values), ...);
  }

 private:
  void put(double value) { detail::put_be(out, detail::finite(value, what)); }
  void put(float value) { detail::put_be(out, detail::single(value, what)); }
  void put(bool value) { detail::put_be(out, std::uint32_t{value}); }
  template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
  void put(T value) {
    detail::put_be(out, static_cast<std::uint32_t>(value));
  }
  template <class T, std::enable_if_t<std::is_enum_v<T>, int> = 0>
  void put(T value) {
    detail::put_be(out, static_cast<std::uint32_t>(value));
  }
  void put(const Bytes& value) {
    (*this)(static_cast<std::uint32_t>(value.size()), static_cast<std::uint32_t>(value.size()));
    out.insert(out.end(), value.begin(), value.end());
    out.resize((out.size() + 3) / 4 * 4);
  }
  void put(const std::string& value) {
    if (detail::text(value, what, 4096).find('\0') != std::string::npos) throw BadArgument(what + " contains a NUL");
    Bytes bytes(value.begin(), value.end());
    if (!bytes.empty()) bytes.push_back(0);
    put(bytes);
  }
  template <class T>
  void put(const std::vector<T>& values) {
    (*this)(static_cast<std::uint32_t>(values.size()), static_cast<std::uint32_t>(values.size()));
    for (const T& one : values) put(one);
  }
  template <class T, std::size_t N>
  void put(const std::array<T, N>& values) {
    for (const T& one : values) put(one);
  }
  template <class T, std::enable_if_t<std::is_class_v<T>, int> = 0>
  void put(const T& value) {
    const_cast<T&>(value).fields(*this);
  }
};

class Parser : public detail::Reader {
 public:
  using Reader::Reader;

  template <class... T>
  void operator()(T&... values) {
    (take_value(values), ...);
  }

 private:
  void take_value(double& value) { value = be<double>(); }
  void take_value(float& value) { value = be<float>(); }
  void take_value(bool& value) { value = be<std::uint32_t>() != 0; }
  /// Only the low bits are used if the type is narrower than the field.
  template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
  void take_value(T& value) {
    value = static_cast<T>(be<std::uint32_t>());
  }
  template <class T, std::enable_if_t<std::is_enum_v<T>, int> = 0>
  void take_value(T& value) {
    value = static_cast<T>(static_cast<std::underlying_type_t<T>>(be<std::uint32_t>()));
  }
  /// The length is written twice; the last one is used.
  std::size_t length(std::size_t least_size) {
    be<std::uint32_t>();
    return count(be<std::uint32_t>(), least_size);
  }
  void take_value(Bytes& value) {
    const std::size_t size = length(1);
    const std::uint8_t* found = take(size);
    value.assign(found, found + size);
    take((4 - size % 4) % 4);
  }
  void take_value(std::string& value) {
    Bytes bytes;
    take_value(bytes);
    value.assign(bytes.begin(), std::find(bytes.begin(), bytes.end(), 0));
  }
  template <class T>
  void take_value(std::vector<T>& values) {
    values.resize(length(4));
    for (T& one : values) take_value(one);
  }
  template <class T, std::size_t N>
  void take_value(std::array<T, N>& values) {
    for (T& one : values) take_value(one);
  }
  template <class T, std::enable_if_t<std::is_class_v<T>, int> = 0>
  void take_value(T& value) {
    value.fields(*this);
  }
};

#define DRAGOMAN_FIELDS(...)      \
  template <class Archive>        \
  void fields(Archive& archive) { \
    archive(__VA_ARGS__);         \
  }

#include "generated/player.hpp"

namespace server = numbers::player;

/// xx, yy, yaw-yaw, xy, y-yaw, x-yaw; m^2, rad^2 and m rad.
using Covariance = std::array<double, 6>;

/// A tile of a grid in rows along x: -value_range if a cell is free, 0 unknown, value_range occupied.
struct MapTile {
  std::uint32_t column = 0, row = 0, width = 0, height = 0;
  std::int8_t value_range = 0;
  std::vector<std::int8_t> cells;
};

struct OpaqueData {
  Bytes data;
  DRAGOMAN_FIELDS(data)
};

struct Nothing {
  template <class Archive>
  void fields(Archive&) {}
};
/// A single value as a structure.
template <class T>
struct Single {
  T value{};
  DRAGOMAN_FIELDS(value)
};

#undef DRAGOMAN_FIELDS

/// Kinds of messages.
enum Kind : std::uint32_t { data = 1, command = 2, request = 3, acknowledge = 4, synch = 5, refuse = 6 };

/// A device of a server.
struct DeviceInfo {
  std::uint16_t interface;
  std::uint16_t index;
  /// As "position2d:0"; the number of the interface if this client does not know it.
  std::string name() const {
    const auto found = interface_names().find(interface);
    return (found == interface_names().end() ? std::to_string(interface) : found->second) + ":" + std::to_string(index);
  }
};

/// Received data of a device.
struct Data {
  std::uint16_t interface;
  std::uint16_t index;
  /// Number of the message, as in docs/reference/player.md.
  std::uint8_t number;
  /// The server's time, s.
  double time;
};

}  // namespace player

/// A connection to a Player server. With `pull` the server sends data with each `read`, newest only; otherwise when
/// there is some. `key` is for servers that ask for one. After a lost connection the next call opens the same devices
/// again.
class Player : private detail::TcpClient {
 public:
  explicit Player(const std::string& host = "127.0.0.1", std::uint16_t port = 6665, double timeout = 5.0,
                  bool pull = false, std::optional<std::string> key = std::nullopt)
      : TcpClient(host, port, timeout), pull_(pull), key_(std::move(key)) {
    if (key_) detail::text(*key_, "the key", 255);
  }

  using TcpClient::close;
  using TcpClient::connect;
  using TcpClient::is_connected;

  /// The server's banner.
  const std::string& banner() const { return banner_; }
  /// Data messages that the server dropped because this client did not read them in time.
  std::uint64_t lost_data() const { return lost_data_; }

  /// The server's devices.
  std::vector<player::DeviceInfo> devices() {
    std::vector<player::DeviceInfo> found;
    for (const auto& one :
         ask_server<player::Single<std::vector<player::Address>>>("devices", player::server::devices).value) {
      found.push_back({one.interface, one.index});
    }
    return found;
  }
  /// Name of a device's driver.
  std::string driver(std::uint16_t interface, std::uint16_t index) {
    const player::Driver device{{0, 0, interface, index}, ""};
    return ask_server<player::Driver>("driver", player::server::driver, device).name;
  }
  /// The port of the robot with this name. Refused: there is none.
  std::uint16_t port_of(const std::string& name) {
    return ask_server<player::NameService>("port_of", player::server::name_service, player::NameService{name, 0}).port;
  }
  /// What happens to waiting data: 0 it is kept, 1 newer data replaces it, 2 it is not sent. -1 stands for all.
  void replace_rule(std::int32_t interface = -1, std::int32_t index = -1, std::int32_t number = -1,
                    std::int32_t rule = 1) {
    if (rule < 0 || rule > 2) throw BadArgument("rule must be between 0 and 2, not " + std::to_string(rule));
    ask_server<player::Nothing>("replace_rule", player::server::replace_rule,
                                player::ReplaceRule{interface, index, player::data, number, rule});
  }
  /// Data received since the last call; waits for the first message. Empty after `seconds`.
  std::vector<player::Data> read(double seconds = 1.0) {
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    const detail::Deadline deadline(detail::duration(seconds, "the time limit"));
    ensure(deadline);
    guarded([&] {
      if (pull_) {
        // A read that still runs from the last call is not started again.
        if (!is_reading_)
          socket_->send(message(player::server::interface, 0, player::request, player::server::read, {}), "read",
                        deadline);
        is_reading_ = true;
      }
      Bytes found;
      process();
      // Available data is received; without any, the first message is awaited.
      while (socket_->receive(found, "read", is_waiting() ? deadline.left() : 0)) take(found);
    });
    std::vector<player::Data> events(events_.begin(), events_.end());
    events_.clear();
    return events;
  }

  /// Opens a device: player.open<player::Laser>(1). Refused: there is none, or it does not work.
  template <class Device>
  Device open(std::uint16_t index = 0) {
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    if (devices_.count({Device::interface, index}) == 0) {
      access(Device::interface, index, player::server::open);
      devices_.insert({Device::interface, index});
    }
    return Device(*this, index);
  }

  // Functions for the devices.

  void close_device(std::uint16_t interface, std::uint16_t index) {
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    if (devices_.erase({interface, index}) > 0) access(interface, index, player::server::close);
  }
  template <class... T>
  void command(std::uint16_t interface, std::uint16_t index, std::uint8_t number, const std::string& name,
               const T&... values) {
    const Bytes body = pack(name, values...);
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    const detail::Deadline deadline(timeout_);
    ensure(deadline);
    guarded([&] { socket_->send(message(interface, index, player::command, number, body), name, deadline); });
  }
  template <class... T>
  Bytes request(std::uint16_t interface, std::uint16_t index, std::uint8_t number, const std::string& name,
                const T&... values) {
    return ask_device(interface, index, number, name, pack(name, values...));
  }
  template <class T>
  std::optional<T> latest(std::uint16_t interface, std::uint16_t index, std::uint8_t number) {
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    const auto found = latest_.find({interface, index, number});
    if (found == latest_.end()) return std::nullopt;
    return unpack<T>(found->second, "data");
  }
  /// Reads a body. Additional bytes are ignored: newer servers may have more fields.
  template <class T>
  static T unpack(const Bytes& body, const std::string& what) {
    player::Parser parser(body.data(), body.size(), what);
    T value;
    parser(value);
    return value;
  }

 private:
  static constexpr std::size_t header_len = 40, banner_len = 32, max_body = (8 << 20) - header_len, max_events = 1000;
  using Key = std::tuple<std::uint16_t, std::uint16_t, std::uint8_t>;
  struct Pending {
    Key key;
    std::uint32_t sequence;
    bool is_done = false, is_refused = false;
    Bytes body;
  };

  template <class... T>
  static Bytes pack(const std::string& what, const T&... values) {
    player::Writer writer;
    writer.what = what;
    writer(values...);
    if (writer.out.size() > max_body) throw BadArgument(what + ": too many bytes for a message");
    return writer.out;
  }
  template <class Answer, class... T>
  Answer ask_server(const std::string& name, std::uint8_t number, const T&... values) {
    return unpack<Answer>(ask_device(player::server::interface, 0, number, name, pack(name, values...)), name);
  }
  void access(std::uint16_t interface, std::uint16_t index, std::uint8_t how) {
    const std::string name =
        (how == player::server::open ? "open " : "close ") + player::DeviceInfo{interface, index}.name();
    const auto found = ask_server<player::Subscription>(name, player::server::subscribe,
                                                        player::Subscription{{0, 0, interface, index}, how, ""});
    check_access(name, found);
  }
  static void check_access(const std::string& name, const player::Subscription& found) {
    if (found.access == player::server::denied) {
      throw Refused("DENIED", name + ": denied", "there is no such device, or it does not work");
    }
  }

  Bytes message(std::uint16_t interface, std::uint16_t index, std::uint32_t kind, std::uint8_t number,
                const Bytes& body) {
    sequence_ = sequence_ % 0xffff + 1;
    Bytes out;
    for (const std::uint32_t one :
         {0U, 0U, std::uint32_t{interface}, std::uint32_t{index}, kind, std::uint32_t{number}}) {
      detail::put_be(out, one);
    }
    detail::put_be(out, 0.0);
    detail::put_be(out, sequence_);
    detail::put_be(out, static_cast<std::uint32_t>(body.size()));
    out.insert(out.end(), body.begin(), body.end());
    return out;
  }

  Bytes ask_device(std::uint16_t interface, std::uint16_t index, std::uint8_t number, const std::string& name,
                   const Bytes& body) {
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    const detail::Deadline deadline(timeout_);
    ensure(deadline);
    return ask_connected(interface, index, number, name, body, deadline);
  }
  /// The connection stays open after a time-out, because answers identify their requests.
  Bytes ask_connected(std::uint16_t interface, std::uint16_t index, std::uint8_t number, const std::string& name,
                      const Bytes& body, const detail::Deadline& deadline) {
    bool is_late = false;
    Pending pending;
    guarded([&] {
      const Bytes out = message(interface, index, player::request, number, body);
      pending.key = {interface, index, number};
      pending.sequence = sequence_;
      pending_ = &pending;
      const Forget forget{pending_};
      socket_->send(out, name, deadline);
      Bytes found;
      process();
      while (!pending.is_done) {
        if (socket_->receive(found, name, deadline.left())) {
          take(found);
        } else if (deadline.left() <= 0) {
          is_late = true;
          return;
        }
      }
    });
    if (is_late) {
      abandoned_.insert(pending.sequence);
      throw deadline.error(name);
    }
    if (pending.is_refused) throw Refused("NACK", name + ": the driver has no such request, or refused it");
    return pending.body;
  }
  struct Forget {
    Pending*& pending;
    ~Forget() { pending = nullptr; }
  };

  bool has_ended() override {
    // Waiting data before the end is received first, so that a peek detects the end.
    try {
      Bytes found;
      while (socket_->receive(found, "read", 0)) take(found);
      return false;
    } catch (const ClientError&) {
      return true;
    }
  }
  void connected(const detail::Deadline& deadline) override {
    banner_.clear();
    abandoned_.clear();
    is_reading_ = false;
    Bytes found;
    while (banner_.empty()) {
      if (socket_->receive(found, "connect", deadline.left())) {
        take(found);
      } else if (deadline.left() <= 0) {
        throw deadline.error("connect");
      }
    }
    if (key_) {
      Bytes key(key_->begin(), key_->end());
      key.push_back(0);
      ask_connected(player::server::interface, 0, player::server::authenticate, "authenticate", pack("the key", key),
                    deadline);
    }
    ask_connected(player::server::interface, 0, player::server::mode, "mode",
                  pack("mode", std::uint8_t{pull_ ? player::server::pull : player::server::push}), deadline);
    // Newer data replaces older data of the same device and kind; -1 is all.
    if (pull_)
      ask_connected(player::server::interface, 0, player::server::replace_rule, "replace_rule",
                    pack("rule", player::ReplaceRule{-1, -1, player::data, -1, 1}), deadline);
    for (const auto& [interface, index] : devices_) {
      const std::string name = "open " + player::DeviceInfo{interface, index}.name();
      const player::Subscription wanted{{0, 0, interface, index}, player::server::open, ""};
      const Bytes body =
          ask_connected(player::server::interface, 0, player::server::subscribe, name, pack(name, wanted), deadline);
      check_access(name, unpack<player::Subscription>(body, name));
    }
  }

  bool is_waiting() const { return events_.empty() && (!pull_ || is_reading_); }
  void take(const Bytes& found) {
    received_.insert(received_.end(), found.begin(), found.end());
    process();
  }
  /// Processes all complete messages of the received bytes.
  void process() {
    std::size_t at = 0;
    if (banner_.empty() && received_.size() >= banner_len) {
      const std::string text(received_.begin(), received_.begin() + banner_len);
      if (text.compare(0, 6, "Player") != 0) throw BadReply("this is no Player server: it does not begin with Player");
      banner_ = text.substr(0, text.find('\0'));
      at = banner_len;
    }
    while (!banner_.empty() && received_.size() - at >= header_len) {
      player::Parser head(received_.data() + at, header_len, "header");
      player::Address address;
      std::uint32_t kind, number, sequence, size;
      double time;
      head(address.host, address.robot, address.interface, address.index, kind, number, time, sequence, size);
      if (size > max_body || kind < player::data || kind > player::refuse) {
        throw BadReply("a message of kind " + std::to_string(kind) + " with " + std::to_string(size) +
                       " bytes: the stream is out of step");
      }
      if (received_.size() - at < header_len + size) break;
      const std::uint8_t* start = received_.data() + at + header_len;
      handle({address.interface, address.index, static_cast<std::uint8_t>(number)}, kind, time, sequence,
             Bytes(start, start + size));
      at += header_len + size;
    }
    received_.erase(received_.begin(), received_.begin() + static_cast<std::ptrdiff_t>(at));
  }
  void handle(const Key& key, std::uint32_t kind, double time, std::uint32_t sequence, Bytes body) {
    if (kind == player::data) {
      if (events_.size() >= max_events) events_.pop_front();
      events_.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), time});
      latest_[key] = std::move(body);
    } else if (kind == player::synch) {
      if (std::get<2>(key) == player::server::synch_overflow && body.size() >= 4)
        lost_data_ += detail::get<std::uint32_t>(body.data(), true);
      is_reading_ = false;
    } else if (abandoned_.erase(sequence) > 0) {
      // The answer to a request that has timed out.
    } else if (key == Key{player::server::interface, 0, player::server::read}) {
      is_reading_ = false;
    } else if (pending_ != nullptr && pending_->key == key) {
      pending_->is_done = true;
      pending_->is_refused = kind == player::refuse;
      pending_->body = std::move(body);
    }
  }

  bool pull_;
  std::optional<std::string> key_;
  std::string banner_;
  std::uint64_t lost_data_ = 0;
  std::uint32_t sequence_ = 0;
  std::set<std::uint32_t> abandoned_;
  std::set<std::pair<std::uint16_t, std::uint16_t>> devices_;
  std::map<Key, Bytes> latest_;
  std::deque<player::Data> events_;
  Pending* pending_ = nullptr;
  bool is_reading_ = false;
};

namespace player {

/// A device that is open. The Player must live longer.
template <std::uint16_t Interface>
class Device {
 public:
  static constexpr std::uint16_t interface = Interface;
  Device(dragoman_clients::Player& player, std::uint16_t index) : player_(&player), index_(index) {}
  std::uint16_t index() const { return index_; }

  /// Closes the device; this ends the effect of its last command.
  void close_device() { player_->close_device(Interface, index_); }

  // Properties of a driver. Refused: it has none of this name and kind.
  void set_bool_property(const std::string& name, bool value) {
    ask(numbers::every_interface::set_bool, "set_bool_property", BoolProperty{name, value});
  }
  bool get_bool_property(const std::string& name) {
    return property(numbers::every_interface::get_bool, "get_bool_property", name, false);
  }
  void set_text_property(const std::string& name, const std::string& value) {
    ask(numbers::every_interface::set_text, "set_text_property", TextProperty{name, value});
  }
  std::string get_text_property(const std::string& name) {
    return property(numbers::every_interface::get_text, "get_text_property", name, std::string());
  }
  void set_double_property(const std::string& name, double value) {
    ask(numbers::every_interface::set_double, "set_double_property", DoubleProperty{name, value});
  }
  double get_double_property(const std::string& name) {
    return property(numbers::every_interface::get_double, "get_double_property", name, 0.0);
  }
  void set_int_property(const std::string& name, std::int32_t value) {
    ask(numbers::every_interface::set_int, "set_int_property", IntProperty{name, value});
  }
  std::int32_t get_int_property(const std::string& name) {
    return property(numbers::every_interface::get_int, "get_int_property", name, std::int32_t{0});
  }
  /// Asks whether the device handles a message. Refused: it does not. Kinds: 2 command, 3 request.
  void has_message(std::uint32_t kind, std::uint32_t number) {
    ask(numbers::every_interface::capability, "has_message", Capability{kind, number});
  }

 protected:
  template <class... T>
  void tell(std::uint8_t number, const char* name, const T&... values) {
    player_->command(Interface, index_, number, full(name), values...);
  }
  template <class... T>
  void ask(std::uint8_t number, const char* name, const T&... values) {
    player_->request(Interface, index_, number, full(name), values...);
  }
  template <class Answer, class... T>
  Answer get(std::uint8_t number, const char* name, const T&... values) {
    const std::string what = full(name);
    return dragoman_clients::Player::unpack<Answer>(player_->request(Interface, index_, number, what, values...), what);
  }
  template <class T>
  std::optional<T> latest(std::uint8_t number) {
    return player_->latest<T>(Interface, index_, number);
  }
  template <class... T>
  Bytes raw(std::uint8_t number, const char* name, const T&... values) {
    return player_->request(Interface, index_, number, full(name), values...);
  }

 private:
  static std::string full(const char* name) { return interface_names().at(Interface) + " " + name; }
  template <class T>
  T property(std::uint8_t number, const char* name, const std::string& of, const T& empty) {
    const Bytes body = player_->request(Interface, index_, number, full(name), of, empty);
    Parser parser(body.data(), body.size(), full(name));
    std::string repeated;
    T value;
    parser(repeated, value);
    return value;
  }

  dragoman_clients::Player* player_;
  std::uint16_t index_;
};

/// A battery.
struct Power : Device<numbers::power::interface> {
  using Device::Device;
  auto state() { return latest<PowerState>(numbers::power::state); }
  /// Whether it may be charged, and may charge others.
  void set_charging_policy(bool input, bool output) {
    ask(numbers::power::set_charging_policy, "set_charging_policy", PowerPolicy{input, output});
  }
};

struct Gripper : Device<numbers::gripper::interface> {
  using Device::Device;
  auto state() { return latest<GripperState>(numbers::gripper::state); }
  void open() { tell(numbers::gripper::open, "open"); }
  void close() { tell(numbers::gripper::close, "close"); }
  void stop() { tell(numbers::gripper::stop, "stop"); }
  /// Put the held object into the store.
  void store() { tell(numbers::gripper::store, "store"); }
  /// Take an object out of the store.
  void retrieve() { tell(numbers::gripper::retrieve, "retrieve"); }
  auto get_geometry() { return get<GripperGeometry>(numbers::gripper::get_geometry, "get_geometry"); }
};

/// A base that moves on the plane.
struct Position2d : Device<numbers::position2d::interface> {
  using Device::Device;
  auto state() { return latest<Position2dState>(numbers::position2d::state); }
  auto geometry_changed() { return latest<Geometry>(numbers::position2d::geometry_changed); }
  /// Drive with a velocity until the next command: ahead, to the left, counter-clockwise.
  void set_velocity(double x, double y, double yaw, bool motors_on = true) {
    tell(numbers::position2d::velocity, "set_velocity", Position2dVelocity{{x, y, yaw}, motors_on});
  }
  /// Drive to a pose of the odometry's frame; maximum velocities, 0: the driver's.
  void set_position(const Pose2d& pose, const Pose2d& velocity = {}, bool motors_on = true) {
    tell(numbers::position2d::position, "set_position", Position2dPosition{pose, velocity, motors_on});
  }
  /// Drive with a steering angle.
  void set_car(double speed, double angle) {
    tell(numbers::position2d::car, "set_car", Position2dSteering{speed, angle});
  }
  /// Drive in a direction of the odometry's frame.
  void set_velocity_heading(double speed, double heading) {
    tell(numbers::position2d::velocity_heading, "set_velocity_heading", Position2dSteering{speed, heading});
  }
  /// Size, and pose of its origin on the robot.
  auto get_geometry() { return get<Geometry>(numbers::position2d::get_geometry, "get_geometry"); }
  void set_motor_power(bool on) { ask(numbers::position2d::motor_power, "set_motor_power", on); }
  /// How velocities are controlled; the driver defines the numbers.
  void set_velocity_mode(std::uint32_t mode) { ask(numbers::position2d::velocity_mode, "set_velocity_mode", mode); }
  /// 0: controlled by velocity, 1: by position.
  void set_position_mode(std::uint32_t mode) { ask(numbers::position2d::position_mode, "set_position_mode", mode); }
  void set_odometry(double x, double y, double yaw) {
    ask(numbers::position2d::set_odometry, "set_odometry", Pose2d{x, y, yaw});
  }
  /// Client libraries send set_odometry instead.
  void reset_odometry() { ask(numbers::position2d::reset_odometry, "reset_odometry"); }
  void set_speed_pid(float p, float i, float d) {
    ask(numbers::position2d::speed_pid, "set_speed_pid", Position2dPid{p, i, d});
  }
  void set_position_pid(float p, float i, float d) {
    ask(numbers::position2d::position_pid, "set_position_pid", Position2dPid{p, i, d});
  }
  /// Maximum speed and acceleration of motions to positions.
  void set_speed_profile(float speed, float acceleration) {
    ask(numbers::position2d::speed_profile, "set_speed_profile", Position2dProfile{speed, acceleration});
  }
};

/// Ultrasonic sensors.
struct Sonar : Device<numbers::sonar::interface> {
  using Device::Device;
  auto ranges() { return latest<SonarRanges>(numbers::sonar::ranges); }
  auto geometry_changed() { return latest<Poses>(numbers::sonar::geometry_changed); }
  auto get_geometry() { return get<Poses>(numbers::sonar::get_geometry, "get_geometry"); }
  void set_power(bool on) { ask(numbers::sonar::power, "set_power", on); }
};

/// A scanner, by the interface before ranger.
struct Laser : Device<numbers::laser::interface> {
  using Device::Device;
  auto scan() { return latest<LaserScan>(numbers::laser::scan); }
  auto posed_scan() { return latest<LaserPosedScan>(numbers::laser::posed_scan); }
  auto angled_scan() { return latest<LaserAngledScan>(numbers::laser::angled_scan); }
  auto get_geometry() { return get<Geometry>(numbers::laser::get_geometry, "get_geometry"); }
  /// Returns the configuration in effect.
  auto set_config(const LaserConfig& config) {
    return get<LaserConfig>(numbers::laser::set_config, "set_config", config);
  }
  auto get_config() { return get<LaserConfig>(numbers::laser::get_config, "get_config"); }
  void set_power(bool on) { ask(numbers::laser::power, "set_power", on); }
  /// Serial number.
  std::uint32_t get_id() { return get<Single<std::uint32_t>>(numbers::laser::get_id, "get_id").value; }
  void set_filter(LaserFilter kind, const std::vector<float>& parameters = {}) {
    if (parameters.size() > numbers::laser::max_filter_parameters)
      throw BadArgument("a filter has at most 8 parameters");
    ask(numbers::laser::set_filter, "set_filter", LaserFilterSettings{kind, parameters});
  }
};

struct Bumper : Device<numbers::bumper::interface> {
  using Device::Device;
  auto state() { return latest<BumperState>(numbers::bumper::state); }
  auto geometry_changed() { return latest<BumperGeometry>(numbers::bumper::geometry_changed); }
  auto get_geometry() { return get<BumperGeometry>(numbers::bumper::get_geometry, "get_geometry"); }
};

/// Infrared sensors.
struct Ir : Device<numbers::ir::interface> {
  using Device::Device;
  auto ranges() { return latest<IrRanges>(numbers::ir::ranges); }
  auto get_geometry() { return get<Poses>(numbers::ir::get_geometry, "get_geometry"); }
  void set_power(bool on) { ask(numbers::ir::power, "set_power", on); }
};

/// Where the robot is on a map.
struct Localize : Device<numbers::localize::interface> {
  using Device::Device;
  auto hypotheses() { return latest<Hypotheses>(numbers::localize::hypotheses); }
  /// Start the localization at a pose.
  void set_pose(const Pose2d& pose, const Covariance& covariance = {0.25, 0.25, 0.07, 0, 0, 0}) {
    ask(numbers::localize::set_pose, "set_pose", Estimate{pose, covariance});
  }
  auto get_particles() { return get<Particles>(numbers::localize::get_particles, "get_particles"); }
};

/// A simulated world.
struct Simulation : Device<numbers::simulation::interface> {
  using Device::Device;
  /// Pause the simulation, or continue it.
  void pause() { tell(numbers::simulation::pause, "pause"); }
  /// Put all objects back to their initial poses.
  void reset() { tell(numbers::simulation::reset, "reset"); }
  void save() { tell(numbers::simulation::save, "save"); }
  auto get_pose2d(const std::string& name) {
    return get<NamedPose2d>(numbers::simulation::get_pose2d, "get_pose2d", NamedPose2d{name, {}});
  }
  void set_pose2d(const std::string& name, const Pose2d& pose) {
    ask(numbers::simulation::set_pose2d, "set_pose2d", NamedPose2d{name, pose});
  }
  auto get_pose3d(const std::string& name) {
    return get<NamedPose3d>(numbers::simulation::get_pose3d, "get_pose3d", NamedPose3d{name, {}, 0});
  }
  void set_pose3d(const std::string& name, const Pose3d& pose) {
    ask(numbers::simulation::set_pose3d, "set_pose3d", NamedPose3d{name, pose, 0});
  }
  /// A property of an object, of this many bytes.
  auto get_property(const std::string& name, const std::string& property, std::size_t size) {
    return get<ObjectProperty>(numbers::simulation::get_property, "get_property",
                               ObjectProperty{name, property, 0, Bytes(size)});
  }
  void set_property(const std::string& name, const std::string& property, const Bytes& value) {
    ask(numbers::simulation::set_property, "set_property", ObjectProperty{name, property, 0, value});
  }
};

struct Camera : Device<numbers::camera::interface> {
  using Device::Device;
  auto image() { return latest<Image>(numbers::camera::image); }
  /// The input in use.
  auto get_source() { return get<ImageSource>(numbers::camera::get_source, "get_source"); }
  void set_source(const std::string& norm, std::int32_t source) {
    ask(numbers::camera::set_source, "set_source", ImageSource{norm, source});
  }
  /// A current image.
  auto get_image() { return get<Image>(numbers::camera::get_image, "get_image"); }
};

struct Map : Device<numbers::map::interface> {
  using Device::Device;
  auto info() { return latest<MapInfo>(numbers::map::info); }
  auto get_info() { return get<MapInfo>(numbers::map::get_info, "get_info"); }
  /// A tile of the grid: first cell along x and y, number of cells.
  MapTile get_tile(std::uint32_t column, std::uint32_t row, std::uint32_t width, std::uint32_t height) {
    // The cells are the only bytes with a number between their two lengths.
    const std::uint32_t none = 0;
    const Bytes body = raw(numbers::map::get_data, "get_tile", column, row, width, height, none, none, none);
    Parser parser(body.data(), body.size(), "map get_tile");
    MapTile tile;
    std::uint32_t length, size;
    parser(tile.column, tile.row, tile.width, tile.height, length, tile.value_range, size);
    const std::uint64_t count = std::uint64_t{tile.width} * tile.height;
    if (count > 64 << 20) throw BadReply("map get_tile: a tile of " + std::to_string(count) + " cells");
    const std::uint8_t* compressed = parser.take(size);
    const Bytes cells = detail::inflate_zlib(compressed, size, static_cast<std::size_t>(count), "map get_tile");
    if (cells.size() != count) {
      throw BadReply("map get_tile: " + std::to_string(cells.size()) + " cells in a tile of " + std::to_string(count));
    }
    tile.cells.assign(cells.begin(), cells.end());
    return tile;
  }
  /// The map as line segments.
  auto get_vector() { return get<MapVector>(numbers::map::get_vector, "get_vector"); }
};

/// Drives to a goal on the plane.
struct Planner : Device<numbers::planner::interface> {
  using Device::Device;
  auto state() { return latest<PlannerState>(numbers::planner::state); }
  /// Plan a path to a pose, and drive along it.
  void set_goal(const Pose2d& pose) { tell(numbers::planner::goal, "set_goal", pose); }
  /// Plan from this pose instead of the robot's pose.
  void set_start(const Pose2d& pose) { tell(numbers::planner::start, "set_start", pose); }
  /// The path.
  auto get_waypoints() { return get<Waypoints>(numbers::planner::get_waypoints, "get_waypoints"); }
  /// Let the robot drive, or stop it.
  void enable(bool on) { ask(numbers::planner::enable, "enable", on); }
};

/// Recording to a file, and playing it back.
struct Log : Device<numbers::log::interface> {
  using Device::Device;
  /// Start or stop recording.
  void set_write_state(bool on) { ask(numbers::log::set_write_state, "set_write_state", on); }
  /// Start or stop playing back.
  void set_read_state(bool on) { ask(numbers::log::set_read_state, "set_read_state", on); }
  auto get_state() { return get<LogState>(numbers::log::get_state, "get_state"); }
  /// Play back from the start.
  void rewind() { ask(numbers::log::rewind, "rewind"); }
  void set_file_name(const std::string& name) {
    ask(numbers::log::set_file_name, "set_file_name", detail::text(name, "name", 255));
  }
};

/// Bytes whose meaning a driver and its clients agree on.
struct Opaque : Device<numbers::opaque::interface> {
  using Device::Device;
  auto state() { return latest<OpaqueData>(numbers::opaque::state); }
  void command(const Bytes& data) { tell(numbers::opaque::command, "command", data); }
  Bytes request(const Bytes& data) { return get<OpaqueData>(numbers::opaque::request, "request", data).data; }
};

/// A chain of joints, numbered from 0; m or rad.
struct Actarray : Device<numbers::actarray::interface> {
  using Device::Device;
  auto state() { return latest<ActarrayState>(numbers::actarray::state); }
  void set_position(std::int32_t joint, float position) {
    tell(numbers::actarray::position, "set_position", ActarrayJointPosition{joint, position});
  }
  void set_positions(const std::vector<float>& positions) {
    tell(numbers::actarray::multi_position, "set_positions", positions);
  }
  void set_speed(std::int32_t joint, float speed) {
    tell(numbers::actarray::speed, "set_speed", ActarrayJointSpeed{joint, speed});
  }
  void set_speeds(const std::vector<float>& speeds) { tell(numbers::actarray::multi_speed, "set_speeds", speeds); }
  /// Move a joint to its home position; -1: all.
  void home(std::int32_t joint = -1) { tell(numbers::actarray::home, "home", joint); }
  /// Move a joint with a current, A; -1: all.
  void set_current(std::int32_t joint, float current) {
    tell(numbers::actarray::current, "set_current", ActarrayJointCurrent{joint, current});
  }
  void set_currents(const std::vector<float>& currents) {
    tell(numbers::actarray::multi_current, "set_currents", currents);
  }
  /// Power of all joints; they may move when it is switched on.
  void set_power(bool on) { ask(numbers::actarray::power, "set_power", on); }
  void set_brakes(bool on) { ask(numbers::actarray::brakes, "set_brakes", on); }
  /// Links, axes and limits.
  auto get_geometry() { return get<ActarrayGeometry>(numbers::actarray::get_geometry, "get_geometry"); }
  /// Speed of a joint's motions from now on.
  void set_joint_speed(std::int32_t joint, float speed) {
    ask(numbers::actarray::set_speed, "set_joint_speed", ActarrayJointSpeed{joint, speed});
  }
  void set_joint_acceleration(std::int32_t joint, float acceleration) {
    ask(numbers::actarray::set_acceleration, "set_joint_acceleration", ActarrayJointAcceleration{joint, acceleration});
  }
};

/// An arm, by the pose of its end effector in the robot's frame.
struct Limb : Device<numbers::limb::interface> {
  using Device::Device;
  auto state() { return latest<LimbState>(numbers::limb::state); }
  /// Move to the home position.
  void home() { tell(numbers::limb::home, "home"); }
  void stop() { tell(numbers::limb::stop, "stop"); }
  void set_pose(const Point3d& position, const Point3d& approach, const Point3d& orientation) {
    tell(numbers::limb::set_pose, "set_pose", LimbPose{position, approach, orientation});
  }
  /// Move to a position, with any orientation.
  void set_position(const Point3d& position) { tell(numbers::limb::set_position, "set_position", position); }
  /// Move along a straight line.
  void move_along(const Point3d& direction, float length) {
    tell(numbers::limb::move_along, "move_along", LimbMove{direction, length});
  }
  /// The arm may move when the power is switched on.
  void set_power(bool on) { ask(numbers::limb::power, "set_power", on); }
  void set_brakes(bool on) { ask(numbers::limb::brakes, "set_brakes", on); }
  /// Position of the base in the robot's frame.
  auto get_geometry() { return get<Point3d>(numbers::limb::get_geometry, "get_geometry"); }
  /// Speed of the end effector from now on.
  void set_speed(float speed) { ask(numbers::limb::set_speed, "set_speed", speed); }
};

/// An inertial measurement unit.
struct Imu : Device<numbers::imu::interface> {
  using Device::Device;
  auto state() { return latest<Pose3d>(numbers::imu::state); }
  auto calibrated() { return latest<ImuCalibrated>(numbers::imu::calibrated); }
  auto quaternion() { return latest<ImuQuaternion>(numbers::imu::quaternion); }
  auto euler() { return latest<ImuEuler>(numbers::imu::euler); }
  auto full_state() { return latest<ImuFullState>(numbers::imu::full_state); }
  /// Choose the data that is sent.
  void set_data_kind(ImuDataKind kind) { ask(numbers::imu::set_data_kind, "set_data_kind", kind); }
  /// The driver defines the number.
  void reset_orientation(std::uint32_t value = 0) { ask(numbers::imu::reset_orientation, "reset_orientation", value); }
  void reset_euler(const Pose3d& pose) { ask(numbers::imu::reset_euler, "reset_euler", pose); }
};

/// Range sensors.
struct Ranger : Device<numbers::ranger::interface> {
  using Device::Device;
  auto ranges() { return latest<RangerValues>(numbers::ranger::ranges); }
  auto stamped_ranges() { return latest<RangerStampedValues>(numbers::ranger::stamped_ranges); }
  auto intensities() { return latest<RangerValues>(numbers::ranger::intensities); }
  auto stamped_intensities() { return latest<RangerStampedValues>(numbers::ranger::stamped_intensities); }
  auto geometry_changed() { return latest<RangerGeometry>(numbers::ranger::geometry_changed); }
  auto get_geometry() { return get<RangerGeometry>(numbers::ranger::get_geometry, "get_geometry"); }
  void set_power(bool on) { ask(numbers::ranger::power, "set_power", on); }
  /// Whether intensities are sent.
  void send_intensities(bool on) { ask(numbers::ranger::send_intensities, "send_intensities", on); }
  /// Returns the configuration in effect.
  auto set_config(const RangerConfig& config) {
    return get<RangerConfig>(numbers::ranger::set_config, "set_config", config);
  }
  auto get_config() { return get<RangerConfig>(numbers::ranger::get_config, "get_config"); }
};

/// A map of shapes in layers.
struct Vectormap : Device<numbers::vectormap::interface> {
  using Device::Device;
  /// Layers and bounds.
  auto get_info() { return get<VectormapInfo>(numbers::vectormap::get_info, "get_info"); }
  /// The shapes of a layer.
  auto get_layer(const std::string& name) {
    return get<Layer>(numbers::vectormap::get_layer, "get_layer", Layer{name, {}});
  }
  /// Replace the shapes of a layer.
  void write_layer(const Layer& layer) { ask(numbers::vectormap::write_layer, "write_layer", layer); }
};

}  // namespace player
}  // namespace dragoman_clients
