/* What the functions of the messages share. */

typedef struct {
  uint8_t *bytes;
  size_t size;
  size_t at;
  bool ok;
} WIRE_writer;

typedef struct {
  const uint8_t *bytes;
  size_t size; /* bytes that are there; up to the end, others are 0 */
  size_t end;
  size_t at;
  bool ok;
} WIRE_reader;

static inline void WIRE_pad(WIRE_writer *out, size_t to) {
  if (to > out->size) {
    out->ok = false;
    return;
  }
  while (out->at < to) {
    out->bytes[out->at++] = 0;
  }
}

static inline void WIRE_place(uint8_t *bytes, uint64_t value, size_t size, bool little) {
  size_t i;
  for (i = 0; i < size; i++) {
    bytes[little ? i : size - 1 - i] = (uint8_t)(value >> (8 * i));
  }
}

static inline void WIRE_put(WIRE_writer *out, uint64_t value, size_t size, bool little) {
  if (!out->ok || size > out->size - out->at) {
    out->ok = false;
    return;
  }
  WIRE_place(out->bytes + out->at, value, size, little);
  out->at += size;
}

static inline void WIRE_put_bytes(WIRE_writer *out, const void *bytes, size_t count) {
  if (!out->ok || count > out->size - out->at) {
    out->ok = false;
    return;
  }
  if (count > 0) {
    memcpy(out->bytes + out->at, bytes, count);
  }
  out->at += count;
}

static inline void WIRE_patch(WIRE_writer *out, size_t at, uint64_t value, size_t size, bool little) {
  if (!out->ok || (size < 8 && value >> (8 * size) != 0)) {
    out->ok = false;
    return;
  }
  WIRE_place(out->bytes + at, value, size, little);
}

static inline uint64_t WIRE_get(WIRE_reader *in, size_t size, bool little) {
  uint64_t value = 0;
  size_t i;
  if (!in->ok || in->at > in->end || size > in->end - in->at) {
    in->ok = false;
    return 0;
  }
  for (i = 0; i < size; i++) {
    size_t at = in->at + (little ? size - 1 - i : i);
    value = value << 8 | (at < in->size ? in->bytes[at] : 0);
  }
  in->at += size;
  return value;
}

static inline void WIRE_get_bytes(WIRE_reader *in, void *bytes, size_t count) {
  uint8_t *to = (uint8_t *)bytes;
  size_t i;
  if (!in->ok || in->at > in->end || count > in->end - in->at) {
    in->ok = false;
    return;
  }
  for (i = 0; i < count; i++) {
    to[i] = in->at + i < in->size ? in->bytes[in->at + i] : 0;
  }
  in->at += count;
}

static inline uint64_t WIRE_mask(unsigned bits) {
  return bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
}

/* A function, because compilers warn of a comparison whose result a type decides. */
static inline bool WIRE_exceeds(uint64_t count, size_t most) {
  return count > most;
}

/* The bits of a whole number, if it fits. */
static inline uint64_t WIRE_unsigned(WIRE_writer *out, uint64_t value, unsigned bits) {
  if (value > WIRE_mask(bits)) {
    out->ok = false;
  }
  return value & WIRE_mask(bits);
}

static inline uint64_t WIRE_signed(WIRE_writer *out, int64_t value, unsigned bits) {
  uint64_t magnitude = value < 0 ? ~(uint64_t)value : (uint64_t)value;
  if (magnitude > WIRE_mask(bits - 1)) {
    out->ok = false;
  }
  return (uint64_t)value & WIRE_mask(bits);
}

/* The same of a real number, rounded to the nearest whole one; halves away from zero. */
static inline uint64_t WIRE_rounded(WIRE_writer *out, double value, bool is_signed, unsigned bits) {
  double magnitude = value < 0 ? -value : value;
  uint64_t whole, most;
  if (!(magnitude < 18446744073709551616.0)) { /* too large, or not a number */
    out->ok = false;
    return 0;
  }
  whole = (uint64_t)magnitude;
  if (magnitude - (double)whole >= 0.5) {
    whole++;
  }
  most = is_signed ? WIRE_mask(bits - 1) + (value < 0 ? 1 : 0) : value < 0 ? 0 : WIRE_mask(bits);
  if (whole > most) {
    out->ok = false;
  }
  return (value < 0 ? 0 - whole : whole) & WIRE_mask(bits);
}

static inline int64_t WIRE_extend(uint64_t raw, unsigned bits) {
  if ((raw >> (bits - 1) & 1) == 0) {
    return (int64_t)raw;
  }
  return -(int64_t)(~raw & WIRE_mask(bits)) - 1;
}

static inline uint64_t WIRE_bits_of_float(WIRE_writer *out, double value) {
  uint32_t raw;
  float single = (float)0;
  bool is_finite = value - value == 0;
  if (is_finite && (value >= 3.4028235677973366e38 || value <= -3.4028235677973366e38)) {
    out->ok = false;
  } else {
    single = (float)value;
  }
  memcpy(&raw, &single, sizeof raw);
  return raw;
}

static inline uint64_t WIRE_bits_of_double(double value) {
  uint64_t raw;
  memcpy(&raw, &value, sizeof raw);
  return raw;
}

static inline float WIRE_float_of(uint64_t bits) {
  uint32_t raw = (uint32_t)bits;
  float value;
  memcpy(&value, &raw, sizeof value);
  return value;
}

static inline double WIRE_double_of(uint64_t raw) {
  double value;
  memcpy(&value, &raw, sizeof value);
  return value;
}

/* Length of a text of at most so many characters. */
static inline size_t WIRE_length(const char *text, size_t most) {
  size_t length = 0;
  while (length < most && text[length] != 0) {
    length++;
  }
  return length;
}

static inline bool WIRE_contains(const uint8_t *bytes, size_t size, const char *mark, size_t count) {
  size_t at;
  for (at = 0; count > 0 && at + count <= size; at++) {
    if (memcmp(bytes + at, mark, count) == 0) {
      return true;
    }
  }
  return false;
}
