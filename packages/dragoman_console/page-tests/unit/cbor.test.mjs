import { test } from 'node:test';
import assert from 'node:assert/strict';
import { bytesOf, decodeCbor } from '../../page/js/cbor.js';

const decode = (hex) => decodeCbor(Uint8Array.from(hex.match(/../g), (one) => parseInt(one, 16)).buffer);

test('the examples of RFC 8949, appendix A', () => {
  const examples = {
    '00': 0,
    1864: 100,
    '1903e8': 1000,
    '1a000f4240': 1000000,
    '1b000000e8d4a51000': 1000000000000,
    '3903e7': -1000,
    f93c00: 1,
    f97bff: 65504,
    fa47c35000: 100000,
    fb3ff199999999999a: 1.1,
    f90001: 5.960464477539063e-8,
    f97c00: Infinity,
    f4: false,
    f5: true,
    f6: null,
    6449455446: 'IETF',
    '62c3bc': 'ü',
  };
  for (const [hex, value] of Object.entries(examples)) assert.deepEqual(decode(hex), value, hex);
  assert.ok(Number.isNaN(decode('f97e00')));
  assert.deepEqual(decode('8301820203820405'), [1, [2, 3], [4, 5]]);
  assert.deepEqual(decode('a26161016162820203'), { a: 1, b: [2, 3] });
});

test('typed arrays of RFC 8746', () => {
  assert.deepEqual(Array.from(decode('d84044010203ff')), [1, 2, 3, 255]);
  assert.deepEqual(Array.from(decode('d8554400000040')), [2]);
  assert.deepEqual(Array.from(decode('d85648000000000000f03f')), [1]);
  assert.deepEqual(Array.from(decode('d84844ff017f80')), [-1, 1, 127, -128]);
});

test('broken data is an error, not a hang', () => {
  for (const hex of ['', '18', '9b7fffffffffffffff', '5f', '64616263', 'ff'.repeat(3), '81'.repeat(300)]) {
    assert.throws(() => decodeCbor(Uint8Array.from(hex.match(/../g) ?? [], (one) => parseInt(one, 16)).buffer), hex);
  }
});

test('bytes come from base64, numbers or bytes', () => {
  for (const value of ['AQL/', [1, 2, 255], Uint8Array.of(1, 2, 255)])
    assert.deepEqual([...bytesOf(value)], [1, 2, 255]);
});
