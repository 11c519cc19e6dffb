// Common parts of the clients of all protocols: errors, time limits, sockets, checks of arguments, bytes.
//
// C++17 and POSIX sockets, nothing else.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace dragoman_clients {

/// An error of a client.
class ClientError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The value cannot be sent. Nothing was sent.
class BadArgument : public ClientError {
 public:
  using ClientError::ClientError;
};

/// There is no connection, or it ended. The next call connects again.
class ConnectionLost : public ClientError {
 public:
  using ClientError::ClientError;
};

/// The time limit passed without the answer. The command may have been carried out.
class Timeout : public ClientError {
 public:
  using ClientError::ClientError;
};

/// The answer does not follow the protocol.
class BadReply : public ClientError {
 public:
  using ClientError::ClientError;
};

/// The server refused the command. `code` and `text` are the protocol's own, such as "ER20" and "ER20 Cmd BG rejected".
class Refused : public ClientError {
 public:
  Refused(std::string code, std::string text, const std::string& explanation = "")
      : ClientError(explanation.empty() ? text : text + ": " + explanation),
        code(std::move(code)),
        text(std::move(text)) {}
  std::string code;
  std::string text;
};

using Bytes = std::vector<std::uint8_t>;

namespace detail {

/// A number as text in messages: 0.4, not 0.400000.
inline std::string print(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

inline double finite(double value, const std::string& what) {
  if (!std::isfinite(value)) throw BadArgument(what + " must be finite, not " + print(value));
  return value;
}

/// A finite number that is finite as an f32 as well.
inline float single(double value, const std::string& what) {
  // The largest number that rounds to a finite f32.
  if (std::abs(finite(value, what)) >= 3.4028235677973362e38) {
    throw BadArgument(what + " is too large for the protocol: " + print(value));
  }
  return static_cast<float>(value);
}

inline double duration(double seconds, const std::string& what) {
  if (!(seconds > 0 && seconds <= 86400)) {
    throw BadArgument(what + " must be above 0 and at most 86400 s, not " + print(seconds));
  }
  return seconds;
}

inline const std::string& text(const std::string& value, const std::string& what, std::size_t maximum) {
  if (value.size() > maximum) {
    throw BadArgument(what + " must have at most " + std::to_string(maximum) + " bytes, not " +
                      std::to_string(value.size()));
  }
  return value;
}

inline const std::string& not_empty(const std::string& value, const std::string& what) {
  if (value.empty()) throw BadArgument(what + " must not be empty");
  return value;
}

/// A number of SI units as a whole number of the protocol's unit.
template <class Int>
Int scaled(double value, double per_unit, const std::string& what) {
  constexpr double low = std::numeric_limits<Int>::min(), high = std::numeric_limits<Int>::max();
  const double exact = finite(value, what) * per_unit;
  if (!(exact >= low - 0.5 && exact <= high + 0.5)) {
    throw BadArgument(what + " must be between " + print(low / per_unit) + " and " + print(high / per_unit) + ", not " +
                      print(value));
  }
  return static_cast<Int>(std::clamp(std::nearbyint(exact), low, high));
}

// Bytes

template <std::size_t Size>
using Unsigned = std::conditional_t<
    Size == 1, std::uint8_t,
    std::conditional_t<Size == 2, std::uint16_t, std::conditional_t<Size == 4, std::uint32_t, std::uint64_t>>>;

template <class T>
void put(Bytes& out, T value, bool big) {
  Unsigned<sizeof(T)> bits;
  std::memcpy(&bits, &value, sizeof bits);
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    out.push_back(static_cast<std::uint8_t>(bits >> (8 * (big ? sizeof(T) - 1 - i : i))));
  }
}
template <class T>
void put_be(Bytes& out, T value) {
  put(out, value, true);
}
template <class T>
void put_le(Bytes& out, T value) {
  put(out, value, false);
}

inline void put_text(Bytes& out, const std::string& value) { out.insert(out.end(), value.begin(), value.end()); }

template <class T>
T get(const std::uint8_t* data, bool big) {
  Unsigned<sizeof(T)> bits = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    bits = static_cast<Unsigned<sizeof(T)>>(bits | static_cast<Unsigned<sizeof(T)>>(data[i])
                                                       << (8 * (big ? sizeof(T) - 1 - i : i)));
  }
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// Reads the data of an answer; throws BadReply where bytes are missing.
class Reader {
 public:
  Reader(const std::uint8_t* data, std::size_t size, std::string what)
      : data_(data), size_(size), what_(std::move(what)) {}

  const std::uint8_t* take(std::size_t count) {
    if (count > left()) {
      throw BadReply(what_ + ": " + std::to_string(count - left()) + " bytes are missing after byte " +
                     std::to_string(size_));
    }
    const std::uint8_t* found = data_ + offset_;
    offset_ += count;
    return found;
  }
  template <class T>
  T be() {
    return get<T>(take(sizeof(T)), true);
  }
  template <class T>
  T le() {
    return get<T>(take(sizeof(T)), false);
  }
  std::string text(std::size_t count) {
    const auto* found = take(count);
    return std::string(found, found + count);
  }
  /// Checks a number of elements before memory is reserved for them.
  std::size_t count(std::int64_t found, std::size_t least_size) const {
    if (found < 0 || static_cast<std::uint64_t>(found) * std::max<std::size_t>(least_size, 1) > left()) {
      throw BadReply(what_ + ": " + std::to_string(found) + " elements at byte " + std::to_string(offset_) + ", " +
                     std::to_string(left()) + " bytes are left");
    }
    return static_cast<std::size_t>(found);
  }
  std::size_t left() const { return size_ - offset_; }
  void end() const {
    if (left() > 0) throw BadReply(what_ + ": " + std::to_string(left()) + " bytes too many");
  }
  const std::string& what() const { return what_; }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t offset_ = 0;
  std::string what_;
};

// Time

using Clock = std::chrono::steady_clock;

class Deadline {
 public:
  explicit Deadline(double seconds)
      : seconds_(seconds),
        end_(Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))) {}
  double seconds() const { return seconds_; }
  Clock::time_point end() const { return end_; }
  /// The remaining time, s; at least 0.
  double left() const { return std::max(0.0, std::chrono::duration<double>(end_ - Clock::now()).count()); }
  Timeout error(const std::string& name) const {
    return Timeout(name + ": no answer within " + print(seconds_) + " s");
  }

 private:
  double seconds_;
  Clock::time_point end_;
};

inline void sleep(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

// Sockets

/// A connected socket, TCP or UDP. It never blocks longer than a time limit.
class Socket {
 public:
  Socket(const std::string& host, std::uint16_t port, int kind, const Deadline& deadline)
      : place_(host + ":" + std::to_string(port)) {
    if (host.empty() || port == 0) throw BadArgument("the host must not be empty, and the port not 0");
    addrinfo hints{};
    hints.ai_socktype = kind;
    addrinfo* found = nullptr;
    const int fault = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
    if (fault != 0) throw ConnectionLost("cannot connect to " + place_ + ": " + ::gai_strerror(fault));
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> guard(found, ::freeaddrinfo);
    std::string problem;
    for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
      fd_ = ::socket(one->ai_family, one->ai_socktype | SOCK_CLOEXEC, one->ai_protocol);
      if (fd_ < 0) {
        problem = std::strerror(errno);
        continue;
      }
      ::fcntl(fd_, F_SETFL, ::fcntl(fd_, F_GETFL) | O_NONBLOCK);
      int error = ::connect(fd_, one->ai_addr, one->ai_addrlen) == 0 ? 0 : errno;
      if (error == EINPROGRESS) {
        if (!wait(POLLOUT, deadline.left())) {
          close();
          throw Timeout("cannot connect to " + place_ + " within " + print(deadline.seconds()) + " s");
        }
        socklen_t size = sizeof error;
        ::getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size);
      }
      if (error == 0) {
        const int on = 1;
        if (kind == SOCK_STREAM) ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        return;
      }
      problem = std::strerror(error);
      close();
    }
    throw ConnectionLost("cannot connect to " + place_ + ": " + problem);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() { close(); }

  const std::string& place() const { return place_; }

  /// Whether the socket is ready within this time.
  bool wait(short events, double seconds) const {
    const Deadline deadline(seconds);
    while (true) {
      pollfd one{fd_, events, 0};
      // Rounded up: 0 would be busy waiting.
      const int found = ::poll(&one, 1, static_cast<int>(std::ceil(deadline.left() * 1000)));
      if (found > 0) return true;
      if (found < 0 && errno != EINTR) throw lost("poll", errno);
      if (deadline.left() <= 0) return false;
    }
  }

  void send(const Bytes& data, const std::string& name, const Deadline& deadline) const {
    std::size_t sent = 0;
    while (sent < data.size()) {
      const ssize_t count = ::send(fd_, data.data() + sent, data.size() - sent, MSG_NOSIGNAL);
      if (count >= 0) {
        sent += static_cast<std::size_t>(count);
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        if (!wait(POLLOUT, deadline.left())) throw deadline.error(name);
      } else if (errno != EINTR) {
        throw lost(name, errno);
      }
    }
  }

  /// Receives bytes within this time; false: none. The end of a stream is ConnectionLost.
  bool receive(Bytes& into, const std::string& name, double seconds, bool is_stream = true) const {
    while (true) {
      into.resize(1 << 16);
      const ssize_t count = ::recv(fd_, into.data(), into.size(), 0);
      if (count > 0 || (count == 0 && !is_stream)) {
        into.resize(static_cast<std::size_t>(count));
        return true;
      }
      if (count == 0) throw ConnectionLost(name + ": " + place_ + " closed the connection");
      if (errno == EAGAIN || errno == EWOULDBLOCK) {
        if (seconds <= 0 || !wait(POLLIN, seconds)) return false;
        // Ready, but without data: the time limit must not apply twice.
        seconds = 0;
      } else if (errno != EINTR) {
        throw lost(name, errno);
      }
    }
  }

  /// Whether the server closed the connection between two calls.
  bool has_ended() const {
    std::uint8_t byte;
    const ssize_t count = ::recv(fd_, &byte, 1, MSG_PEEK);
    return count == 0 || (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
  }

 private:
  ConnectionLost lost(const std::string& name, int error) const {
    return ConnectionLost(name + ": connection to " + place_ + " lost: " + std::strerror(error));
  }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

  std::string place_;
  int fd_ = -1;
};

/// A client on TCP that has at most one question open. It connects with the first call, and again after a loss.
/// Threads may share it: their calls wait for each other.
class TcpClient {
 public:
  TcpClient(std::string host, std::uint16_t port, double timeout)
      : host_(std::move(host)), port_(port), timeout_(duration(timeout, "the timeout")) {}
  virtual ~TcpClient() = default;

  /// Opens the connection, if there is none.
  void connect() {
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    ensure(Deadline(timeout_));
  }
  /// Closes the connection. The next call opens it again.
  void close() {
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    drop();
  }
  bool is_connected() const { return socket_ != nullptr; }

 protected:
  /// Sends a message that has no answer.
  void tell(const std::string& name, const Bytes& message) {
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    const Deadline deadline(timeout_);
    ensure(deadline);
    guarded([&] { socket_->send(message, name, deadline); });
  }

  /// Sends a message, and gives received bytes to `is_complete` until it returns true.
  template <class Complete>
  void ask(const std::string& name, const Bytes& message, Complete is_complete) {
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    const Deadline deadline(timeout_);
    ensure(deadline);
    exchange(name, message, is_complete, deadline);
  }

  template <class Complete>
  void exchange(const std::string& name, const Bytes& message, Complete is_complete, const Deadline& deadline) {
    // After any error the connection is closed: a late answer would be taken for the answer to another question.
    guarded([&] {
      socket_->send(message, name, deadline);
      Bytes found;
      while (!is_complete()) {
        if (!socket_->receive(found, name, deadline.left())) {
          if (deadline.left() <= 0) throw deadline.error(name);
          continue;
        }
        received_.insert(received_.end(), found.begin(), found.end());
      }
    });
  }

  void ensure(const Deadline& deadline) {
    if (socket_ && has_ended()) drop();
    if (socket_) return;
    socket_ = std::make_unique<Socket>(host_, port_, SOCK_STREAM, deadline);
    received_.clear();
    try {
      connected(deadline);
    } catch (...) {
      drop();
      throw;
    }
  }
  virtual bool has_ended() { return socket_->has_ended(); }
  /// Sends the first messages on each new connection.
  virtual void connected(const Deadline&) {}

  void drop() { socket_.reset(); }

  template <class Action>
  void guarded(Action action) {
    try {
      action();
    } catch (...) {
      drop();
      throw;
    }
  }

  std::recursive_mutex mutex_;
  std::unique_ptr<Socket> socket_;
  /// Received bytes that are not decoded yet.
  Bytes received_;

 private:
  std::string host_;
  std::uint16_t port_;

 protected:
  double timeout_;
};

}  // namespace detail
}  // namespace dragoman_clients
