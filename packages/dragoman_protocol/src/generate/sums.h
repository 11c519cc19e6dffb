/* Check sums; each part begins with its name. */
=sum
static inline uint64_t WIRE_sum(const uint8_t *bytes, size_t size) {
  uint64_t sum = 0;
  size_t i;
  for (i = 0; i < size; i++) {
    sum += bytes[i];
  }
  return sum;
}
=xor
static inline uint64_t WIRE_xor(const uint8_t *bytes, size_t size) {
  uint8_t sum = 0;
  size_t i;
  for (i = 0; i < size; i++) {
    sum ^= bytes[i];
  }
  return sum;
}
=words
static inline uint64_t WIRE_words(const uint8_t *bytes, size_t size) {
  uint16_t sum = 0;
  size_t i;
  for (i = 0; i + 1 < size; i += 2) {
    sum = (uint16_t)(sum + (bytes[i] << 8 | bytes[i + 1]));
  }
  return size % 2 != 0 ? (uint64_t)(sum ^ bytes[size - 1]) : sum;
}
=crc
static inline uint32_t WIRE_reversed(uint32_t number, unsigned width) {
  uint32_t result = 0;
  unsigned i;
  for (i = 0; i < width; i++) {
    result |= (number >> i & 1) << (width - 1 - i);
  }
  return result;
}

/* A CRC, bit by bit, with the parameters of the catalogue of CRC algorithms. */
static inline uint64_t WIRE_crc(const uint8_t *bytes, size_t size, unsigned width, uint32_t poly, uint32_t init,
                                bool refin, bool refout, uint32_t xorout) {
  const uint32_t top = (uint32_t)1 << (width - 1), mask = (uint32_t)WIRE_mask(width);
  uint32_t crc = init;
  size_t i;
  unsigned bit;
  for (i = 0; i < size; i++) {
    crc ^= (refin ? WIRE_reversed(bytes[i], 8) : bytes[i]) << (width - 8);
    for (bit = 0; bit < 8; bit++) {
      crc = ((crc & top) != 0 ? crc << 1 ^ poly : crc << 1) & mask;
    }
  }
  return (refout ? WIRE_reversed(crc, width) : crc) ^ xorout;
}
