import { test } from 'node:test';
import assert from 'node:assert/strict';
import { Hold, isAnyHeld, releaseAll, whenReleased } from '../../page/js/drive.js';

const VECTOR = { x: 1, y: 0, turn: 0 };
const turn = () => new Promise((resolve) => setTimeout(resolve, 5));

test('a hold sends until it is released, then a zero', () => {
  const sent = [];
  const hold = new Hold(({ x }) => sent.push(x));
  hold.release();
  hold.set(VECTOR);
  hold.set({ ...VECTOR, x: 0.5 });
  assert.ok(isAnyHeld() && hold.isHeld);
  releaseAll();
  assert.deepEqual(sent, [1, 0]);
  assert.ok(!isAnyHeld());
});

test('what would draw the page anew waits until nothing is held', async () => {
  let count = 0;
  const draw = () => (count += 1);
  whenReleased(draw);
  assert.equal(count, 1, 'nothing is held');
  const [one, other] = [new Hold(() => {}), new Hold(() => {})];
  one.set(VECTOR);
  other.set(VECTOR);
  whenReleased(draw);
  whenReleased(draw);
  one.release();
  await turn();
  assert.equal(count, 1, 'the other one is held');
  other.release();
  assert.equal(count, 1, 'the event that released it comes first');
  // Held again before it is its turn.
  one.set(VECTOR);
  await turn();
  assert.equal(count, 1);
  one.release();
  await turn();
  assert.equal(count, 2, 'once');
});
