/** The machines of the lab, for the start page: what they are called, and what they are in the world. */

/** @typedef {import('./texts.js').Key} Key */
/**
 * @typedef {object} Machine
 * @property {'platform' | 'arm' | 'servos' | 'base' | 'robot'} kind `robot`: one of the world that follows velocities.
 * @property {string} name Its namespace; of the stop's machine, too.
 * @property {string} title
 * @property {string} page Page with all of it.
 * @property {string[]} tokens Beginnings of the names that it may have in the world.
 * @property {string} [velocity] Topic of its velocity commands, and their type.
 * @property {string} [type]
 */

/** What a Kobuki may be called in a world. */
const BASES = ['turtlebot', 'kobuki'];

/** The last part of a name. @param {string} name */
const last = (name) => name.slice(name.lastIndexOf('/') + 1);

/** The name that ROS gives a thing of the world. @param {string} name */
export const tokenOf = (name) =>
  name
    .split('/')[0]
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_');

/** @param {import('./graph.js').Graph} graph @returns {Machine[]} */
export function machinesIn(graph) {
  const { platforms, arms, bases, worlds } = graph.machines;
  /** @param {Machine['kind']} kind @param {string} page @param {string[]} tokens */
  const of =
    (kind, page, tokens = []) =>
    (/** @type {string} */ name) =>
      /** @type {Machine} */ ({ kind, name, title: last(name) || name, page, tokens: [last(name), ...tokens] });
  const servos = [...graph.servoArms.keys()].map((name) => {
    const machine = of('servos', 'arms', BASES)(name);
    return { ...machine, title: last(name) || 'widowx' };
  });
  const others = [
    ...platforms.map(of('platform', 'platform')),
    ...bases.map(of('base', 'turtlebot', BASES)),
    ...arms.map(of('arm', 'arms')),
    ...servos,
  ];
  const robots = [...graph.velocities].flatMap(([velocity, type]) => {
    const name = velocity.replace(/\/cmd_vel$/, '');
    const isOfWorld = worlds.some((world) => name.startsWith(`${world}/`)) && name !== velocity;
    // The robot below a platform or an arm is driven by that.
    const isOther = others.some((machine) => isThing(machine, last(name)));
    return isOfWorld && !isOther ? [{ ...of('robot', 'world')(name), velocity, type }] : [];
  });
  return [...others, ...robots];
}

/** Whether a thing of the world is this machine. @param {Machine} machine @param {string} owner */
export function isThing(machine, owner) {
  const token = tokenOf(owner);
  return machine.kind === 'robot'
    ? token === machine.tokens[0]
    : machine.tokens.some((one) => one !== '' && token.startsWith(one));
}
