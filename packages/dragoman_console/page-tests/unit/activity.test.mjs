import { test } from 'node:test';
import assert from 'node:assert/strict';
import { Mode, Operation, activity, nextButton, obstacleOf, stepsTo, target } from '../../page/js/activity.js';

/** A status with these values, of a platform that stands. */
const status = (values = {}) => ({
  operation_state: Operation.STARTED,
  motion_mode: Mode.AUTOMATIC,
  planner_state: 0,
  emergency_state: 0,
  target_reached: false,
  collision: false,
  translation_velocity: 0,
  rotation_velocity: 0,
  lateral_velocity: 0,
  ...values,
});
const FRESH = status({ operation_state: Operation.NOT_INITIALIZED, motion_mode: Mode.NONE });
const [STANDBY, PLANNING, FOUND] = [0, 1, 3];

test('only a velocity is called moving', () => {
  const key = (values) => activity(status(values)).key;
  assert.equal(activity(FRESH).key, 'state.off');
  assert.equal(key({ motion_mode: Mode.NONE }), 'state.noMode');
  assert.equal(key({ motion_mode: Mode.JOYSTICK }), 'state.waits');
  assert.equal(key({}), 'state.noTarget');
  assert.equal(key({ target_reached: true }), 'state.arrived');
  assert.equal(key({ planner_state: PLANNING }), 'state.planning');
  assert.equal(key({ planner_state: FOUND, collision: true }), 'state.blocked');
  for (const planner of [2, 4, 5]) assert.equal(key({ planner_state: planner }), 'state.noWay');
  for (const axis of ['translation_velocity', 'rotation_velocity', 'lateral_velocity'])
    for (const mode of [Mode.NONE, Mode.AUTOMATIC, Mode.REPLAY])
      assert.equal(key({ [axis]: -0.1, motion_mode: mode }), 'state.moving');
});

test('a target is on the way only while there is one', () => {
  assert.equal(target(FRESH), 'fact.noTarget');
  assert.equal(target(status({ motion_mode: Mode.NONE })), 'fact.noTarget');
  assert.equal(target(status({ planner_state: FOUND })), 'fact.notReached');
  assert.equal(target(status({ planner_state: STANDBY, target_reached: true })), 'fact.reached');
});

test('the steps to driving are those that are missing', () => {
  const services = (from, mode = Mode.AUTOMATIC) => stepsTo(from, mode).map((step) => step.service);
  assert.deepEqual(services(FRESH), ['connect_to_pltf', 'init_pltf', 'set_mode', 'start']);
  assert.deepEqual(services(status()), []);
  assert.deepEqual(services(status({ motion_mode: Mode.NONE })), ['stop', 'set_mode', 'start']);
  assert.deepEqual(services(status({ operation_state: Operation.INTERRUPTED })), ['stop', 'start']);
  assert.deepEqual(services(status({ operation_state: Operation.READY })), ['start']);
  assert.deepEqual(services(status(), Mode.JOYSTICK), ['stop', 'set_mode', 'start']);
});

test('each step is done when the status says so', () => {
  const [connect, initialize, mode, start] = stepsTo(FRESH, Mode.AUTOMATIC);
  assert.ok(connect.isDone(FRESH));
  assert.ok(!initialize.isDone(FRESH) && initialize.isDone(status({ operation_state: Operation.READY })));
  assert.deepEqual(mode.args, { mode: Mode.AUTOMATIC });
  assert.ok(!mode.isDone(FRESH) && mode.isDone(status({ operation_state: Operation.READY })));
  assert.ok(!start.isDone(FRESH) && start.isDone(status()));
});

test('a button without an effect has a reason, and the next one is marked', () => {
  assert.equal(obstacleOf('start', null), 'why.silent');
  assert.equal(obstacleOf('start', FRESH), 'why.off');
  assert.equal(obstacleOf('connect', FRESH), null);
  assert.equal(nextButton(FRESH, false), 'connect');
  assert.equal(nextButton(FRESH, true), 'initialize');
  const ready = status({ operation_state: Operation.READY });
  assert.equal(nextButton(ready, true), 'start');
  assert.equal(nextButton({ ...ready, motion_mode: Mode.NONE }, true), null);
  assert.equal(obstacleOf('start', { ...ready, motion_mode: Mode.NONE }), 'why.noMode');
  assert.equal(obstacleOf('drive', { ...ready, emergency_state: 1 }), 'why.emergency');
  assert.equal(nextButton(status({ operation_state: Operation.INTERRUPTED }), true), 'continue');
  for (const action of ['connect', 'initialize', 'start', 'stop', 'continue']) {
    const offered = [FRESH, ready, status()].filter((one) => nextButton(one, true) === action);
    for (const one of offered) assert.equal(obstacleOf(action, one), null, action);
  }
});
