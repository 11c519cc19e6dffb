import { test } from 'node:test';
import assert from 'node:assert/strict';
import { isServer, levelOf, worst } from '../../page/js/diagnostics.js';

test('a level is a number, a byte or base64, and what is idle is not good', () => {
  for (const level of [1, '\u0001', 'AQ==']) assert.equal(levelOf({ level, values: [] }), 'warn');
  const idle = [{ key: 'idle', value: 'true' }];
  assert.equal(levelOf({ level: 0, values: idle }), 'idle');
  assert.equal(levelOf({ level: 2, values: idle }), 'bad');
  assert.equal(levelOf({ level: 9 }), 'stale');
});

test('the gravest level counts', () => {
  assert.equal(worst(['idle', 'good']), 'good');
  assert.equal(worst(['good', 'stale', 'warn']), 'stale');
  assert.equal(worst([]), undefined);
});

test('a server has an address and clients', () => {
  const values = [{ key: 'clients', value: '0' }];
  assert.ok(isServer({ hardware_id: '127.0.0.1:5031', values }));
  assert.ok(isServer({ hardware_id: '[::1]:10000, [::1]:10002', values }));
  assert.ok(!isServer({ hardware_id: 'Kobuki', values }) && !isServer({ hardware_id: '127.0.0.1:1', values: [] }));
});
