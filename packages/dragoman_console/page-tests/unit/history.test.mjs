import { test } from 'node:test';
import assert from 'node:assert/strict';
import { History } from '../../page/js/history.js';

test('a thousand steps are undone and done again', () => {
  const states = Array.from({ length: 1001 }, (_, at) => ({ at }));
  const history = new History(states[0]);
  for (const state of states.slice(1)) history.set(state);
  for (let at = 999; at >= 0; at -= 1) {
    assert.ok(history.undo());
    assert.equal(history.state, states[at]);
  }
  assert.equal(history.undo(), false);
  for (let at = 1; at <= 1000; at += 1) {
    assert.ok(history.redo());
    assert.equal(history.state, states[at]);
  }
  assert.equal(history.redo(), false);
});

test('a change after undo forgets what was undone', () => {
  const history = new History('a');
  history.set('b');
  history.undo();
  history.set('c');
  assert.equal(history.redo(), false);
  assert.ok(history.isChanged);
  history.markSaved();
  assert.ok(!history.isChanged);
});
