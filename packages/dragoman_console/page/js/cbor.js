/**
 * Decoder of CBOR (RFC 8949) with typed arrays (RFC 8746), as rosbridge sends with the compression `cbor`.
 * Integers beyond 2^53 become the nearest number.
 */

/** Typed arrays by tag, little-endian. @type {Partial<Record<number, (bytes: ArrayBuffer) => ArrayLike<any>>>} */
const TYPED = {
  64: (bytes) => new Uint8Array(bytes),
  69: (bytes) => new Uint16Array(bytes),
  70: (bytes) => new Uint32Array(bytes),
  71: (bytes) => Array.from(new BigUint64Array(bytes), Number),
  72: (bytes) => new Int8Array(bytes),
  77: (bytes) => new Int16Array(bytes),
  78: (bytes) => new Int32Array(bytes),
  79: (bytes) => Array.from(new BigInt64Array(bytes), Number),
  85: (bytes) => new Float32Array(bytes),
  86: (bytes) => new Float64Array(bytes),
};
const MAX_DEPTH = 64;

/** @param {ArrayBuffer} buffer @returns {any} */
export function decodeCbor(buffer) {
  const view = new DataView(buffer);
  const text = new TextDecoder();
  let at = 0;

  /** @param {number} size */
  const skip = (size) => {
    const start = at;
    if (size < 0 || start + size > view.byteLength) throw new RangeError('CBOR: end of data');
    at += size;
    return start;
  };
  /** @param {number} info */
  const argument = (info) => {
    if (info < 24) return info;
    if (info === 24) return view.getUint8(skip(1));
    if (info === 25) return view.getUint16(skip(2));
    if (info === 26) return view.getUint32(skip(4));
    if (info === 27) return Number(view.getBigUint64(skip(8)));
    throw new RangeError('CBOR: indefinite length is not supported');
  };
  /** @param {number} depth @returns {any} */
  const item = (depth) => {
    if (depth > MAX_DEPTH) throw new RangeError('CBOR: nested too deeply');
    const head = view.getUint8(skip(1));
    const [major, info] = [head >> 5, head & 31];
    if (major === 7) return simple(info);
    const value = argument(info);
    switch (major) {
      case 0:
        return value;
      case 1:
        return -1 - value;
      case 2: {
        const start = skip(value);
        return new Uint8Array(buffer.slice(start, start + value));
      }
      case 3:
        return text.decode(new Uint8Array(buffer, skip(value), value));
      case 4: {
        if (value > view.byteLength - at) throw new RangeError('CBOR: end of data');
        return Array.from({ length: value }, () => item(depth + 1));
      }
      case 5: {
        /** @type {Record<string, any>} */
        const fields = {};
        for (let count = 0; count < value; count += 1) {
          const key = String(item(depth + 1));
          fields[key] = item(depth + 1);
        }
        return fields;
      }
      default: {
        const inner = item(depth + 1);
        const typed = TYPED[value];
        return typed && inner instanceof Uint8Array ? typed(/** @type {ArrayBuffer} */ (inner.buffer)) : inner;
      }
    }
  };
  /** @param {number} info */
  const simple = (info) => {
    if (info === 20 || info === 21) return info === 21;
    if (info === 22) return null;
    if (info === 23) return undefined;
    if (info === 25) return half(view.getUint16(skip(2)));
    if (info === 26) return view.getFloat32(skip(4));
    if (info === 27) return view.getFloat64(skip(8));
    throw new RangeError('CBOR: unknown simple value');
  };
  return item(0);
}

/** A half-precision number. @param {number} bits */
function half(bits) {
  const [sign, exponent, fraction] = [bits >> 15 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** Bytes of an `uint8[]` field, from JSON (base64 or numbers) or from CBOR. @param {any} value @returns {Uint8Array} */
export function bytesOf(value) {
  if (value instanceof Uint8Array) return value;
  if (typeof value === 'string') return Uint8Array.from(atob(value), (one) => one.charCodeAt(0));
  return Uint8Array.from(value ?? []);
}
