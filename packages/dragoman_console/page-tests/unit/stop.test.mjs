import { test } from 'node:test';
import assert from 'node:assert/strict';
import { Graph } from '../../page/js/graph.js';
import { machinesOf, prepare, releaseMachines, stopAll } from '../../page/js/stop.js';

const TWIST = 'geometry_msgs/msg/Twist';
const NOTHING = {
  platforms: [],
  arms: [],
  bases: [],
  motors: [],
  velocities: new Map(),
  withoutSubscriber: new Set(),
  servoArms: new Map(),
  odometry: [],
};

/** A connection whose services are functions, and whose topics repeat a message. */
class Fake extends EventTarget {
  constructor(services = {}, topics = {}) {
    super();
    Object.assign(this, { services, repeated: topics, isOpen: true, published: [], advertised: [], topics: new Map() });
  }
  advertise(topic) {
    this.advertised.push(topic);
  }
  publish(topic, _type, message) {
    this.published.push([topic, message]);
    return true;
  }
  async call(service, args) {
    const answer = this.services[service];
    if (!answer) throw new Error(`service ${service} does not exist`);
    return answer(args);
  }
  async request(service, args) {
    const values = await this.call(service, args);
    if (values.success === false) throw new Error(values.message);
    return values;
  }
  subscribe(topic, _type, receive) {
    const message = this.repeated[topic];
    const timer = message && setInterval(() => receive(structuredClone(message)), 5);
    return () => clearInterval(timer);
  }
}

/** @param {string[]} services @param {Record<string, string>} topics */
async function graphOf(services, topics, subscribers = ['/x']) {
  const bridge = new Fake({
    '/rosapi/topics': () => ({ topics: Object.keys(topics), types: Object.values(topics) }),
    '/rosapi/services': () => ({ services }),
    '/rosapi/nodes': () => ({ nodes: ['/a'] }),
    '/rosapi/subscribers': () => ({ subscribers }),
  });
  bridge.isOpen = false;
  globalThis.document ??= /** @type {any} */ ({ hidden: true });
  const timer = globalThis.setInterval;
  globalThis.setInterval = /** @type {any} */ (() => 0);
  const graph = new Graph(/** @type {any} */ (bridge));
  globalThis.setInterval = timer;
  await graph.read();
  return graph;
}

const TOPICS = {
  '/neobotix/status': 'dragoman_msgs/msg/PlatformStatus',
  '/ranger/motion_status': 'dragoman_msgs/msg/MotionStatus',
  '/arm_1_joint/command': 'std_msgs/msg/Float64',
  '/mobile_base/sensors/core': 'kobuki_ros_interfaces/msg/SensorState',
  '/mobile_base/commands/velocity': TWIST,
  '/cmd_vel': TWIST,
  '/apolo/Marvin/cmd_vel': TWIST,
  '/neobotix/cmd_vel': TWIST,
  '/odom': 'nav_msgs/msg/Odometry',
};
const SERVICES = ['/neobotix/get_pltf_param_vec', '/ranger/set_command_mode', '/arm_1_joint/relax'].concat(
  ['/mobile_base', '/apolo/Marvin', '/neobotix'].map((name) => `${name}/set_motor_power`),
);
const NAMES = ['/neobotix', '/apolo/Marvin', '/mobile_base', '/ranger', '/ (arm_1_joint)'];

test('machines are found by services, and by topics where the middleware lists no services', async () => {
  for (const services of [SERVICES, []]) {
    const { known } = await graphOf(services, TOPICS);
    const names = machinesOf(/** @type {any} */ (new Fake()), known).map(({ name }) => name);
    assert.deepEqual(names.sort(), [...NAMES].sort(), services.length ? 'with services' : 'without');
  }
});

test('a robot with only a velocity topic is a machine while somebody subscribes', async () => {
  const topics = { '/other/cmd_vel': 'geometry_msgs/msg/TwistStamped' };
  const found = async (subscribers) => {
    const { known } = await graphOf(['/s'], topics, subscribers);
    return machinesOf(/** @type {any} */ (new Fake()), known).map(({ name }) => name);
  };
  assert.deepEqual(await found(['/driver']), ['/other/cmd_vel']);
  assert.deepEqual(await found([]), []);
});

test('the stop is repeated until each machine confirms it', async () => {
  let asked = 0;
  const bridge = new Fake({
    '/p/get_status': () => ({ status: { emergency_state: (asked += 1) > 3 ? 1 : 0 } }),
    '/b/set_motor_power': ({ data }) => ({ success: data === false }),
    '/a/halt': () => ({ success: true }),
  });
  const known = {
    ...NOTHING,
    platforms: ['/p'],
    arms: ['/a'],
    motors: ['/b'],
    velocities: new Map([['/b/cmd_vel', TWIST]]),
  };
  prepare(/** @type {any} */ (bridge), known);
  assert.deepEqual(bridge.advertised, ['/p/emergency_stop', '/b/cmd_vel'], 'discovery needs time before the press');
  const results = await stopAll(/** @type {any} */ (bridge), known);
  assert.deepEqual(
    results.map(({ name, reason }) => [name, reason]),
    [
      ['/p', null],
      ['/b', null],
      ['/a', null],
    ],
  );
  assert.ok(bridge.published.filter(([topic]) => topic === '/p/emergency_stop').length >= 3, 'repeated');
  assert.ok(bridge.published.some(([topic, { linear }]) => topic === '/b/cmd_vel' && linear.x === 0));
});

test('what does not confirm is not stopped', async () => {
  const moving = { twist: { twist: { linear: { x: 0.3, y: 0 }, angular: { z: 0 } } } };
  const bridge = new Fake(
    {
      '/p/get_status': () => ({ status: { emergency_state: 0 } }),
      '/a/halt': () => ({ success: false, message: 'the drives are off' }),
    },
    { '/odom': moving },
  );
  const known = {
    ...NOTHING,
    platforms: ['/p'],
    arms: ['/a'],
    bases: ['/mobile_base'],
    velocities: new Map([
      ['/lone/cmd_vel', TWIST],
      ['/hall/mute/cmd_vel', TWIST],
    ]),
    odometry: ['/odom'],
  };
  const results = await stopAll(/** @type {any} */ (bridge), known);
  assert.equal(results.length, 5);
  // The mute robot has nothing that could confirm: the stop is sent, and it has not failed.
  const unconfirmed = results.filter(({ reason }) => reason === null);
  assert.deepEqual(unconfirmed, [{ name: '/hall/mute/cmd_vel', reason: null, isUnconfirmed: true }]);
  assert.ok(bridge.published.filter(([topic]) => topic === '/hall/mute/cmd_vel').length >= 5, 'repeated');
  assert.equal(results.filter(({ reason, isUnconfirmed }) => reason && !isUnconfirmed).length, 4);
  assert.equal(results.find(({ name }) => name === '/a')?.reason, 'the drives are off');
  bridge.isOpen = false;
  assert.ok((await stopAll(/** @type {any} */ (bridge), known)).every(({ reason }) => reason === 'not connected'));
});

test('where services are not listed, a robot without one gets the stop, and has not failed', async () => {
  const bridge = new Fake({ '/b/set_motor_power': () => ({ success: false, message: 'it is locked' }) });
  const known = { ...NOTHING, motors: ['/b', '/hall/mute'], velocities: new Map([['/hall/mute/cmd_vel', TWIST]]) };
  const run = (isGuess) => stopAll(/** @type {any} */ (bridge), { ...known, isGuess });
  const [other, mute] = await run(true);
  assert.deepEqual(mute, { name: '/hall/mute', reason: null, isUnconfirmed: true });
  assert.equal(other.reason, 'it is locked', 'a refusal is a failure');
  assert.ok(bridge.published.some(([topic]) => topic === '/hall/mute/cmd_vel'));
  assert.match((await run(false))[1].reason ?? '', /does not exist/, 'a service that was listed and has gone');
  const released = await releaseMachines(/** @type {any} */ (bridge), { ...known, isGuess: true });
  assert.deepEqual(
    released.map(({ reason }) => reason),
    ['it is locked', null],
  );
});

test('a base without a service is confirmed by its odometry', async () => {
  const standing = { twist: { twist: { linear: { x: 0, y: 0 }, angular: { z: 0.001 } } } };
  const bridge = new Fake({}, { '/odom': standing });
  const known = { ...NOTHING, bases: ['/mobile_base'], odometry: ['/odom'] };
  const stopped = [{ name: '/mobile_base', reason: null, isUnconfirmed: false }];
  assert.deepEqual(await stopAll(/** @type {any} */ (bridge), known), stopped);
  assert.deepEqual(bridge.published[0], ['/mobile_base/commands/motor_power', { state: 0 }]);
});
