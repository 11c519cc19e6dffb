// Decompresses zlib's format (RFC 1950, RFC 1951): tiles of Player's maps have it.
#pragma once

#include <array>
#include <iterator>

#include "net.hpp"

namespace dragoman_clients {
namespace detail {

/// One block after the other; every fault of the data is a BadReply.
class Inflate {
 public:
  Inflate(const std::uint8_t* data, std::size_t size, std::size_t maximum, const std::string& what)
      : data_(data), size_(size), maximum_(maximum), what_(what) {}

  Bytes run() {
    const unsigned method = bits(8), flags = bits(8);
    if ((method & 0x0f) != 8 || (method * 256 + flags) % 31 != 0 || (flags & 0x20) != 0) fail();
    for (bool is_last = false; !is_last;) {
      is_last = bits(1) != 0;
      const unsigned kind = bits(2);
      if (kind == 0) {
        stored();
      } else if (kind == 1) {
        fixed();
      } else if (kind == 2) {
        dynamic();
      } else {
        fail();
      }
    }
    buffer_ = count_ = 0;
    std::uint32_t sum = 0;
    for (int i = 0; i < 4; ++i) sum = sum << 8 | bits(8);
    std::uint32_t a = 1, b = 0;
    for (const std::uint8_t one : out_) a = (a + one) % 65521, b = (b + a) % 65521;
    if (sum != (b << 16 | a)) fail();
    return std::move(out_);
  }

 private:
  /// Canonical Huffman code: number of codes of each length, and the symbols in their order.
  struct Code {
    std::array<std::uint16_t, 16> counts{};
    std::vector<std::uint16_t> symbols;
  };

  [[noreturn]] void fail() const { throw BadReply(what_ + ": bytes that cannot be decompressed"); }

  unsigned bits(unsigned wanted) {
    while (count_ < wanted) {
      if (at_ >= size_) fail();
      buffer_ |= static_cast<std::uint32_t>(data_[at_++]) << count_;
      count_ += 8;
    }
    const unsigned value = buffer_ & ((1U << wanted) - 1);
    buffer_ >>= wanted;
    count_ -= wanted;
    return value;
  }

  void put(std::uint8_t byte) {
    if (out_.size() >= maximum_) fail();
    out_.push_back(byte);
  }

  static Code code_of(const std::vector<std::uint8_t>& lengths) {
    Code code;
    for (const std::uint8_t one : lengths) ++code.counts[one];
    code.counts[0] = 0;
    for (std::uint8_t length = 1; length < 16; ++length) {
      for (std::size_t symbol = 0; symbol < lengths.size(); ++symbol) {
        if (lengths[symbol] == length) code.symbols.push_back(static_cast<std::uint16_t>(symbol));
      }
    }
    return code;
  }

  unsigned symbol(const Code& code) {
    int value = 0, first = 0;
    std::size_t index = 0;
    for (std::size_t length = 1; length < 16; ++length) {
      value |= static_cast<int>(bits(1));
      const int count = code.counts[length];
      if (value - first < count) {
        const std::size_t place = index + static_cast<std::size_t>(value - first);
        if (place >= code.symbols.size()) fail();
        return code.symbols[place];
      }
      index += static_cast<std::size_t>(count);
      first = (first + count) << 1;
      value <<= 1;
    }
    fail();
  }

  void stored() {
    buffer_ = count_ = 0;
    const unsigned size = bits(16), inverse = bits(16);
    if (size != (~inverse & 0xffff)) fail();
    for (unsigned i = 0; i < size; ++i) put(static_cast<std::uint8_t>(bits(8)));
  }

  void fixed() {
    std::vector<std::uint8_t> lengths(288, 8);
    std::fill(lengths.begin() + 144, lengths.begin() + 256, std::uint8_t{9});
    std::fill(lengths.begin() + 256, lengths.begin() + 280, std::uint8_t{7});
    block(code_of(lengths), code_of(std::vector<std::uint8_t>(30, 5)));
  }

  void dynamic() {
    static constexpr std::uint8_t order[] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    const unsigned literals = bits(5) + 257, distances = bits(5) + 1, others = bits(4) + 4;
    if (literals > 286 || distances > 30) fail();
    std::vector<std::uint8_t> lengths(19, 0);
    for (unsigned i = 0; i < others; ++i) lengths[order[i]] = static_cast<std::uint8_t>(bits(3));
    const Code code = code_of(lengths);
    lengths.clear();
    while (lengths.size() < literals + distances) {
      const unsigned found = symbol(code);
      if (found < 16) {
        lengths.push_back(static_cast<std::uint8_t>(found));
        continue;
      }
      if (found == 16 && lengths.empty()) fail();
      const std::uint8_t value = found == 16 ? lengths.back() : std::uint8_t{0};
      const unsigned times = found == 16 ? 3 + bits(2) : found == 17 ? 3 + bits(3) : 11 + bits(7);
      lengths.insert(lengths.end(), times, value);
    }
    if (lengths.size() != literals + distances) fail();
    const auto middle = lengths.begin() + literals;
    block(code_of({lengths.begin(), middle}), code_of({middle, lengths.end()}));
  }

  void block(const Code& literals, const Code& distances) {
    static constexpr std::uint16_t length_base[] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                                    31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    static constexpr std::uint8_t length_bits[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                                   2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    static constexpr std::uint16_t distance_base[] = {1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
                                                      33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
                                                      1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
    while (true) {
      unsigned found = symbol(literals);
      if (found < 256) {
        put(static_cast<std::uint8_t>(found));
        continue;
      }
      if (found == 256) return;
      found -= 257;
      if (found >= std::size(length_base)) fail();
      const std::size_t length = length_base[found] + bits(length_bits[found]);
      const unsigned far = symbol(distances);
      if (far >= std::size(distance_base)) fail();
      const std::size_t distance = distance_base[far] + bits(far < 2 ? 0 : far / 2 - 1);
      if (distance > out_.size()) fail();
      for (std::size_t i = 0; i < length; ++i) put(out_[out_.size() - distance]);
    }
  }

  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t maximum_;
  const std::string& what_;
  std::size_t at_ = 0;
  std::uint32_t buffer_ = 0;
  unsigned count_ = 0;
  Bytes out_;
};

/// The decompressed bytes, at most `maximum`.
inline Bytes inflate_zlib(const std::uint8_t* data, std::size_t size, std::size_t maximum, const std::string& what) {
  return Inflate(data, size, maximum, what).run();
}

}  // namespace detail
}  // namespace dragoman_clients
