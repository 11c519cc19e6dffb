import assert from 'node:assert/strict';
import { test } from 'node:test';

import { jointToken } from '../../page/js/names.js';

test('joints of any name have topics, the same as in Rust', () => {
  for (const [name, expected] of [
    ['lift_joint', 'lift_joint'],
    ['_hidden_', '_hidden_'],
    ['X2e_x2', 'X2e_x2'],
    ['lift.joint', 'lift_x2ejoint'],
    ['lift-joint', 'lift_x2djoint'],
    ['lift joint', 'lift_x20joint'],
    ['1_joint', 'x31_joint'],
    ['lift__joint', 'lift_x5f_joint'],
    ['lift_.joint', 'lift_x5f_x2ejoint'],
    ['lift_x2ejoint', 'lift_x5fx2ejoint'],
    ['x31_joint', 'x7831_joint'],
    ['\u00fc', 'xc3_xbc'],
  ]) {
    assert.equal(jointToken(name), expected);
  }
});
