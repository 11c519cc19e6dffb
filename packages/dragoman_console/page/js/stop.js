/**
 * The emergency stop: who must be stopped, how, and who has confirmed it. A machine counts as stopped only when it says
 * so itself: a message that was sent may not have arrived.
 */

import { jointToken } from './names.js';

/** PlatformStatus.EMERGENCY_ACTIVE. */
export const EMERGENCY_ACTIVE = 1;
export const TWIST = 'geometry_msgs/msg/Twist';
export const TWIST_STAMPED = 'geometry_msgs/msg/TwistStamped';
const BOOL = 'std_msgs/msg/Bool';
const MOTOR_POWER = 'kobuki_ros_interfaces/msg/MotorPower';
const SWITCH = 'std_srvs/srv/SetBool';
/** Commands are repeated, because the first one may be sent before the machine has discovered this publisher. */
const REPEAT_MS = 100;
/** Time for a machine to confirm. */
const CONFIRM_MS = 3000;
/** Speeds below which a base, or a joint, counts as standing: m/s and rad/s. */
const RESTING = 0.01;
const RESTING_JOINT = 0.005;

/** @typedef {import('./rosbridge.js').Rosbridge} Bridge */
/**
 * What is known of the graph.
 * @typedef {object} Known
 * @property {string[]} platforms
 * @property {string[]} arms
 * @property {string[]} bases Namespaces of Kobuki bases.
 * @property {string[]} motors Namespaces that have, or may have, a service `set_motor_power`.
 * @property {boolean} [isGuess] Whether they only may have it, because the middleware lists no services.
 * @property {Map<string, string>} velocities Type by topic of velocity commands.
 * @property {Set<string>} withoutSubscriber Those of them without a subscriber: they get zeros, but are not machines.
 * @property {Map<string, string[]>} servoArms
 * @property {string[]} odometry Topics of odometry.
 */
/**
 * The result of a machine: it has confirmed; it `isUnconfirmed`, because it has nothing that can confirm, and the stop
 * was sent; or it has failed, for a `reason`.
 *
 * @typedef {{ name: string, reason: string | null, isUnconfirmed: boolean }} Result
 */
/**
 * `run` fails unless the machine confirms; false: it cannot confirm.
 *
 * @typedef {{ name: string, run: () => Promise<boolean> }} Machine
 */

/** The namespace above a name; empty for the root. @param {string} name */
const above = (name) => name.slice(0, name.lastIndexOf('/'));

/**
 * The machines, each with the way to stop it.
 *
 * @param {Bridge} bridge @param {Known} known
 * @returns {Machine[]}
 */
export function machinesOf(bridge, known) {
  const { platforms, arms, bases, servoArms, odometry } = known;
  const motors = known.motors.filter((name) => !platforms.includes(name));
  const wheeled = [...new Set([...motors, ...bases])].sort();
  // Every topic of velocities gets zeros; those that belong to no other machine are machines of their own. A base's
  // topic may be beside it: /cmd_vel of /mobile_base.
  const isOwned = (/** @type {string} */ topic) =>
    [...wheeled, ...platforms, ...arms].some((owner) => topic.startsWith(`${owner}/`)) ||
    wheeled.some((owner) => above(owner) === above(topic));
  const orphans = [...known.velocities].filter(([topic]) => !isOwned(topic) && !known.withoutSubscriber.has(topic));
  const odometryOf = (/** @type {string} */ namespace) =>
    odometry.find((topic) => above(topic) === namespace) ??
    odometry.find((topic) => above(topic) === above(namespace));
  const zeroOf = (/** @type {string} */ name) =>
    [...known.velocities].filter(([topic]) => topic.startsWith(`${name}/`) || above(topic) === above(name));
  const base = (/** @type {string} */ name) => ({
    name,
    run: async () => {
      const isKobuki = bases.includes(name);
      const send = () => {
        for (const [topic, type] of zeroOf(name)) bridge.publish(topic, type, zero(type));
        if (isKobuki) bridge.publish(`${name}/commands/motor_power`, MOTOR_POWER, { state: 0 });
      };
      let isMissing = false;
      const off = async () => {
        const isOff = await switchMotors(bridge, name, false, known.isGuess);
        isMissing = !isOff;
        return isOff;
      };
      const topic = odometryOf(name);
      // A driver that others wrote may have no such service: then its odometry shows it.
      const checks = [...(motors.includes(name) ? [off] : []), ...(topic ? [() => stands(bridge, topic)] : [])];
      try {
        return await confirmed(bridge, send, checks);
      } catch (error) {
        // The service may not exist, and nothing else could confirm.
        if (isMissing && !topic && bridge.isOpen) return false;
        throw error;
      }
    },
  });
  return [
    ...platforms.map((name) => ({
      name,
      run: () => {
        const send = () => bridge.publish(`${name}/emergency_stop`, BOOL, { data: true });
        return confirmed(bridge, send, [() => isStopped(bridge, name)]);
      },
    })),
    ...wheeled.map(base),
    ...orphans.map(([topic, type]) => ({
      name: topic,
      run: () => {
        const odometer = odometryOf(above(topic));
        const send = () => bridge.publish(topic, type, zero(type));
        return confirmed(bridge, send, odometer ? [() => stands(bridge, odometer)] : []);
      },
    })),
    ...arms.map((name) => ({
      name,
      run: async () => {
        await bridge.request(`${name}/halt`, {}, { timeout: CONFIRM_MS });
        return true;
      },
    })),
    ...[...servoArms].map(([namespace, joints]) => ({
      name: `${namespace || '/'} (${joints.join(', ')})`,
      run: () => holdServos(bridge, namespace, joints),
    })),
  ];
}

/**
 * Stops all machines at once.
 *
 * @param {Bridge} bridge @param {Known} known @returns {Promise<Result[]>} One for each machine.
 */
export function stopAll(bridge, known) {
  return runAll(bridge, machinesOf(bridge, known));
}

/** @param {Bridge} bridge @param {Machine[]} machines @returns {Promise<Result[]>} */
function runAll(bridge, machines) {
  return Promise.all(
    machines.map(async ({ name, run }) => {
      try {
        if (!bridge.isOpen) throw new Error('not connected');
        return { name, reason: null, isUnconfirmed: !(await run()) };
      } catch (error) {
        return { name, reason: error instanceof Error ? error.message : String(error), isUnconfirmed: false };
      }
    }),
  );
}

/** Makes the publishers beforehand, so that the machines have discovered them when the button is pressed.
 * @param {Bridge} bridge @param {Known} known */
export function prepare(bridge, known) {
  for (const name of known.platforms) bridge.advertise(`${name}/emergency_stop`, BOOL);
  for (const name of known.bases) bridge.advertise(`${name}/commands/motor_power`, MOTOR_POWER);
  for (const [topic, type] of known.velocities) bridge.advertise(topic, type);
}

/**
 * Ends the stop. Nothing moves before the next command.
 *
 * @param {Bridge} bridge @param {Known} known @returns {Promise<Result[]>}
 */
export function releaseMachines(bridge, known) {
  const motors = known.motors.filter((name) => !known.platforms.includes(name));
  const kobukis = known.bases.filter((name) => !motors.includes(name));
  for (const name of kobukis) bridge.publish(`${name}/commands/motor_power`, MOTOR_POWER, { state: 1 });
  const platform = (/** @type {string} */ name) => {
    const send = () => bridge.publish(`${name}/emergency_stop`, BOOL, { data: false });
    return { name, run: () => confirmed(bridge, send, [async () => !(await isStopped(bridge, name))]) };
  };
  return runAll(bridge, [
    ...known.platforms.map(platform),
    ...motors.map((name) => ({ name, run: () => switchMotors(bridge, name, true, known.isGuess) })),
  ]);
}

/**
 * Repeats `send` until one of `checks` says true. A check that fails is tried again. Without checks it is repeated for
 * a while.
 *
 * @param {Bridge} bridge @param {() => unknown} send @param {(() => Promise<boolean>)[]} checks
 * @returns {Promise<boolean>} Whether it was confirmed; false without checks.
 */
async function confirmed(bridge, send, checks) {
  const end = performance.now() + CONFIRM_MS;
  let isDone = false;
  let reason = 'no confirmation';
  send();
  const timer = setInterval(send, REPEAT_MS);
  const ask = async (/** @type {() => Promise<boolean>} */ check) => {
    while (!isDone && performance.now() < end && bridge.isOpen) {
      try {
        if (await check()) isDone = true;
      } catch (error) {
        reason = error instanceof Error ? error.message : String(error);
      }
      if (!isDone) await pause(REPEAT_MS);
    }
  };
  await Promise.race([
    Promise.all(checks.length ? checks.map(ask) : [pause(CONFIRM_MS / 3)]),
    until(() => isDone || !bridge.isOpen || performance.now() > end),
  ]);
  clearInterval(timer);
  if (!bridge.isOpen && !isDone) throw new Error('connection lost');
  if (!isDone && checks.length) throw new Error(reason);
  return isDone;
}

/** @param {() => boolean} check */
async function until(check) {
  while (!check()) await pause(REPEAT_MS / 4);
}

/** @param {number} time ms */
const pause = (time) => new Promise((resolve) => setTimeout(resolve, time));

/** @param {Bridge} bridge @param {string} platform */
async function isStopped(bridge, platform) {
  const { status } = await bridge.request(`${platform}/get_status`, {}, { timeout: CONFIRM_MS / 3 });
  return status.emergency_state === EMERGENCY_ACTIVE;
}

/**
 * @param {Bridge} bridge @param {string} owner @param {boolean} data
 * @param {boolean} [isGuess] Whether there may be no such service.
 * @returns {Promise<boolean>} Whether it was done; false: there is no such service.
 */
async function switchMotors(bridge, owner, data, isGuess) {
  try {
    // The console looks for the service as long as that, and has to say in time that there is none.
    await bridge.request(`${owner}/set_motor_power`, { data }, { timeout: (CONFIRM_MS * 2) / 3, type: SWITCH });
    return true;
  } catch (error) {
    if (isGuess && error instanceof Error && /^service \S+ (is not available|does not exist)$/.test(error.message))
      return false;
    throw error;
  }
}

/** Whether the next two messages of odometry say that a base stands. @param {Bridge} bridge @param {string} topic */
async function stands(bridge, topic) {
  for (let count = 0; count < 2; count += 1) {
    const { twist } = await next(bridge, topic, 'nav_msgs/msg/Odometry');
    const { linear, angular } = twist.twist;
    if (![linear.x, linear.y, angular.z].every((speed) => Math.abs(speed) < RESTING)) return false;
  }
  return true;
}

/** The next new message of a topic. @param {Bridge} bridge @param {string} topic @param {string} type
 * @returns {Promise<any>} */
function next(bridge, topic, type) {
  return new Promise((resolve, reject) => {
    const kept = bridge.topics.get(topic)?.last;
    const timer = setTimeout(() => {
      end();
      reject(new Error(`nothing arrives on ${topic}`));
    }, CONFIRM_MS);
    const end = bridge.subscribe(topic, type, (message) => {
      // The last message is from before, and does not count.
      if (message === kept) return;
      clearTimeout(timer);
      end();
      resolve(message);
    });
  });
}

/**
 * Lets the moving joints of an arm hold where they are; relaxed ones stay relaxed.
 *
 * @param {Bridge} bridge @param {string} namespace @param {string[]} joints As in the topics.
 */
async function holdServos(bridge, namespace, joints) {
  const states = `${namespace}/joint_states`;
  const end = performance.now() + CONFIRM_MS;
  let isFirst = true;
  for (;;) {
    const { name, velocity } = await next(bridge, states, 'sensor_msgs/msg/JointState');
    // The topic may carry messages of other machines.
    const tokens = name.map(jointToken);
    const at = joints.filter((joint) => tokens.includes(joint));
    const moving = at.filter((joint) => !(Math.abs(velocity[tokens.indexOf(joint)] ?? NaN) <= RESTING_JOINT));
    if (at.length && moving.length === 0) return true;
    if (isFirst && at.length) {
      isFirst = false;
      await Promise.all(moving.map((joint) => bridge.call(`${namespace}/${joint}/enable`, { enable: true })));
    }
    if (performance.now() > end) throw new Error(at.length ? `${moving.join(', ')} moves` : 'no joint states');
  }
}

/** A velocity of zero. @param {string} type */
export function zero(type) {
  const none = { linear: { x: 0, y: 0, z: 0 }, angular: { x: 0, y: 0, z: 0 } };
  if (type !== TWIST_STAMPED) return none;
  const now = Date.now();
  const stamp = { sec: Math.floor(now / 1000), nanosec: (now % 1000) * 1e6 };
  return { header: { stamp, frame_id: '' }, twist: none };
}
