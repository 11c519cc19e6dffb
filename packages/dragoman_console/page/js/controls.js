/** One machine on the start page: what it is, its state, who commands it, its controls and its stop. */

import { Mode, activity } from './activity.js';
import { twist } from './app.js';
import { button, h, put, say } from './dom.js';
import { explainer, Hold, holdButton, jogPad } from './drive.js';
import { number, t } from './i18n.js';
import { jointToken } from './names.js';
import { Preparation } from './prepare.js';
import { EMERGENCY_ACTIVE, machinesOf, TWIST, TWIST_STAMPED } from './stop.js';

/** @typedef {import('./app.js').App} App */
/** @typedef {import('./machines.js').Machine} Machine */
/** @typedef {import('./texts.js').Key} Key */
/**
 * What the controls of a kind of machine need.
 * @typedef {object} Parts
 * @property {HTMLElement[]} elements
 * @property {() => void} [show] Called every second.
 * @property {string[]} commands Topics and services by which it is commanded.
 */

const SPEED = { base: { linear: 0.4, angular: 1.2 }, robot: { linear: 0.4, angular: 0.8 } };
const JOINT_SPEED = 0.25;
/** Programs that are shown of one server. */
const MAX_PROGRAMS = 5;
/** Age beyond which a call of a page does not count as a command, s. */
const RECENT_S = 60;
const PERIOD_S = 0.1;
const STANDING = 0.01;
const OLD_MS = 2000;
/** SetCommandMode: joints follow their topics. */
const MODE_OFF = 0;

/**
 * @param {App} app @param {Machine} machine
 * @returns {{ root: HTMLElement, show: () => void, leave: () => void }}
 */
export function controlsOf(app, machine) {
  const { bridge } = app;
  const state = h('span', { class: 'chip', attrs: { id: 'machine-state' } });
  /** @type {(() => void)[]} */
  const ends = [];
  let seen = -Infinity;
  const sayOnce = explainer((why) => app.toast('info', t(why)));
  const follow = (
    /** @type {string} */ topic,
    /** @type {string} */ type,
    /** @type {(message: any) => void} */ take,
  ) =>
    ends.push(
      bridge.subscribe(
        topic,
        type,
        (message) => {
          seen = performance.now();
          take(message);
        },
        { throttle: 100 },
      ),
    );
  const setState = (/** @type {Key} */ key, /** @type {string} */ level) => {
    state.className = `chip ${level}`;
    say(state, key);
  };
  const isSilent = () => performance.now() - seen > OLD_MS;
  const kinds = { platform: platformParts, base: baseParts, arm: armParts, servos: servoParts, robot: robotParts };
  const parts = kinds[machine.kind]();

  const stopResult = h('span', { class: 'hint', attrs: { role: 'status' } });
  const stop = button('start.stop', () => void stopIt(), { icon: 'stop', class: 'danger' });
  async function stopIt() {
    const { known } = app.graph;
    const all = machinesOf(bridge, known);
    const own = all.filter(
      ({ name }) => name === machine.name || name === machine.velocity || name.startsWith(`${machine.name}/`),
    );
    put(stopResult, '…');
    try {
      const confirmed = await Promise.all(own.map(({ run }) => run()));
      put(stopResult, t(confirmed.length && confirmed.every(Boolean) ? 'start.stopped' : 'start.stopSent'));
    } catch (error) {
      put(stopResult, '');
      app.fail(error);
    }
  }

  // Who commands it.
  const commanders = h('ul', { class: 'commanders' });
  /** Nodes that publish its commands, other than the console. @type {string[]} */
  let nodes = [];
  let isAsking = false;
  async function readNodes() {
    if (isAsking || !bridge.isOpen) return;
    isAsking = true;
    try {
      const asked = parts.commands.filter((topic) => app.graph.topics.has(topic));
      const answers = await Promise.all(asked.map((topic) => bridge.call('/rosapi/publishers', { topic })));
      nodes = [...new Set(answers.flatMap(({ publishers }) => publishers ?? []))]
        .filter((node) => !/\/console(_\w+)?$/.test(node))
        .sort();
    } catch {
      nodes = [];
    }
    isAsking = false;
    showCommanders();
  }
  /** @type {{ topic: string, address: string, seconds: number }[]} */
  let drivers = [];
  /** Services that pages have called. @type {{ name: string, address: string, seconds: number }[]} */
  let calls = [];
  /** Programs at the servers of old protocols, by the server's node. @type {Map<string, any>} */
  const servers = new Map();
  ends.push(
    bridge.subscribe(
      '/dragoman/clients',
      'dragoman_msgs/msg/ProtocolClients',
      (message) => {
        servers.set(message.node, message);
        showCommanders();
      },
      { queue: 100 },
    ),
  );
  const showCommanders = () => {
    const own = drivers.filter(({ topic }) => parts.commands.includes(topic));
    const isOwn = (/** @type {string} */ node) => {
      const above = node.slice(0, node.lastIndexOf('/'));
      // The robots of a world are commanded through the world's server.
      return (
        above === machine.name || (machine.kind === 'robot' && machine.name.startsWith(`${above}/`) && above !== '')
      );
    };
    const programs = [...servers.values()].filter(({ node }) => isOwn(node)).flatMap(programsOf);
    const lines = [
      ...programs,
      ...calls
        .filter(({ name, seconds }) => name.startsWith(`${machine.name}/`) && seconds < RECENT_S)
        .map(({ name, address, seconds }) => {
          const command = name.slice(machine.name.length + 1);
          return t('start.byCall', { command, address, seconds: number(seconds, 0) });
        }),
      ...own.map(({ address, seconds }) => t('start.byPage', { address, seconds: number(seconds, 0) })),
      ...nodes.map((node) => t('start.byNode', { node })),
    ];
    commanders.replaceChildren(...(lines.length ? lines : [t('start.byNone')]).map((text) => h('li', {}, text)));
  };
  const lab = (/** @type {Event} */ event) => {
    ({ drivers = [], commands: calls = [] } = /** @type {CustomEvent} */ (event).detail);
    showCommanders();
  };
  app.addEventListener('lab', lab);
  void readNodes();
  showCommanders();

  const root = h(
    'div',
    { class: 'stack', attrs: { 'data-kind': machine.kind } },
    h('div', { class: 'row spread' }, h('strong', {}, machine.title), state),
    h(
      'div',
      { class: 'row spread' },
      h('span', { class: 'hint', t: /** @type {Key} */ (`kind.${machine.kind}`) }),
      stop,
    ),
    stopResult,
    ...parts.elements,
    h('div', {}, h('span', { class: 'hint', t: 'start.commandedBy' }), commanders),
    h('a', { t: 'start.more', attrs: { href: `#/${machine.page}` } }),
  );
  let turn = 0;
  const show = () => {
    if (isSilent() && machine.kind !== 'robot') setState('common.silent', 'bad');
    parts.show?.();
    turn += 1;
    if (turn % 3 === 0) void readNodes();
  };
  return {
    root,
    show,
    leave: () => {
      app.removeEventListener('lab', lab);
      for (const end of ends) end();
    },
  };

  /** @returns {Parts} */
  function platformParts() {
    const name = (/** @type {string} */ rest) => `${machine.name}/${rest}`;
    /** @type {any} */
    let status = null;
    const preparation = new Preparation(app, name, () => (isSilent() ? null : status));
    let isHand = false;
    const pad = jogPad((vector, scale) => {
      if (!isHand) return sayOnce(vector, 'platform.handHint');
      const [linear, angular] = [0.5 * scale, 0.6 * scale];
      bridge.publish(name('cmd_vel'), TWIST, twist(vector.x * linear, vector.turn * angular, vector.y * linear));
    });
    const takeOver = button('platform.hand', () => void preparation.to(Mode.JOYSTICK, t('prepare.hand')), {
      icon: 'robot',
    });
    const stations = h('div', { class: 'row tight' });
    const toStation = async (/** @type {string} */ station) => {
      if (!(await preparation.to(Mode.AUTOMATIC, t('prepare.station', { name: station })))) return;
      if (await app.order(name('move_to_station'), { station }))
        app.toast('info', t('station.sent', { name: station }));
    };
    const readStations = async () => {
      try {
        const { readRoadmap } = await import('./documents/roadmap.js');
        const roadmap = readRoadmap((await bridge.request(name('get_roadmap'))).document);
        stations.replaceChildren(
          ...roadmap.stations.map((station) =>
            h(
              'button',
              {
                class: 'button small',
                attrs: { type: 'button', 'data-station': station.name },
                on: { click: () => void toStation(station.name) },
              },
              station.name,
            ),
          ),
        );
      } catch {
        // The platform has no roadmap, or is silent, which its state says.
      }
    };
    void readStations();
    follow(name('status'), 'dragoman_msgs/msg/PlatformStatus', (message) => {
      status = message;
      const { key, level } = activity(status);
      if (status.emergency_state === EMERGENCY_ACTIVE) setState('warn.emergency', 'bad');
      else setState(key, level);
      isHand = status.operation_state === 1 && [Mode.JOYSTICK, Mode.VELOCITY].includes(status.motion_mode);
      pad.root.classList.toggle('ready', isHand);
      takeOver.hidden = isHand;
    });
    ends.push(() => pad.release());
    return {
      elements: [pad.root, takeOver, h('span', { class: 'hint', t: 'platform.stations' }), stations],
      commands: [name('cmd_vel')],
    };
  }

  /** @returns {Parts} */
  function baseParts() {
    const topic = `${machine.name}/commands/velocity`;
    let isOn = true;
    const pad = jogPad((vector, scale) => {
      if (!isOn) return sayOnce(vector, 'start.motorsOffHint');
      const { linear, angular } = SPEED.base;
      bridge.publish(topic, TWIST, twist(vector.x * scale * linear, vector.turn * scale * angular));
    });
    pad.root.classList.add('ready');
    follow(`${app.graph.rootOf(machine.name)}/odom`, 'nav_msgs/msg/Odometry', ({ twist: { twist: speed } }) => {
      const isMoving = Math.hypot(speed.linear.x, speed.angular.z) > STANDING;
      if (!isOn) setState('start.motorsOff', 'warn');
      else setState(isMoving ? 'state.moving' : 'start.ready', 'good');
    });
    ends.push(
      bridge.subscribe(`${machine.name}/motors_on`, 'std_msgs/msg/Bool', ({ data }) => {
        isOn = data;
        pad.root.classList.toggle('ready', isOn);
      }),
    );
    ends.push(() => pad.release());
    return { elements: [pad.root], commands: [topic, `${app.graph.rootOf(machine.name)}/cmd_vel`] };
  }

  /** @returns {Parts} */
  function robotParts() {
    const { velocity = '', type = TWIST } = machine;
    const pad = jogPad((vector, scale) => {
      const { linear, angular } = SPEED.robot;
      const command = twist(vector.x * scale * linear, vector.turn * scale * angular);
      bridge.publish(velocity, type, type === TWIST_STAMPED ? { header: { frame_id: '' }, twist: command } : command);
    });
    pad.root.classList.add('ready');
    setState('start.ready', 'good');
    ends.push(() => pad.release());
    return { elements: [pad.root], commands: [velocity] };
  }

  /** @returns {Parts} */
  function armParts() {
    const name = (/** @type {string} */ rest) => `${machine.name}/${rest}`;
    let isEnabled = false;
    let mode = MODE_OFF;
    const enable = button('arm.enable', () => void app.order(name('enable')), { class: 'primary' });
    const joints = jointRows(async () => {
      if (mode !== MODE_OFF) await app.order(name('set_command_mode'), { mode: MODE_OFF });
    });
    follow(name('drive_status'), 'dragoman_msgs/msg/DriveStatus', ({ enabled }) => {
      isEnabled = enabled;
      enable.hidden = isEnabled;
      if (!isEnabled) setState('arm.drivesOff', 'warn');
    });
    follow(name('motion_status'), 'dragoman_msgs/msg/MotionStatus', (message) => (mode = message.mode));
    follow(name('joint_states'), 'sensor_msgs/msg/JointState', (message) => {
      joints.take(message);
      if (isEnabled) setState(joints.isMoving() ? 'arm.moving' : 'start.ready', 'good');
    });
    return { elements: [enable, joints.root], commands: joints.commands };
  }

  /** @returns {Parts} */
  function servoParts() {
    const own = app.graph.servoArms.get(machine.name) ?? [];
    const joints = jointRows(async () => {}, own);
    follow(`${machine.name}/joint_states`, 'sensor_msgs/msg/JointState', (message) => {
      joints.take(message);
      setState(joints.isMoving() ? 'arm.moving' : 'start.ready', 'good');
    });
    return { elements: [joints.root], commands: joints.commands };
  }

  /**
   * A row for each joint with buttons that move it while they are held.
   *
   * @param {() => Promise<void>} prepare Lets joints follow their topics. @param {string[]} [own] Only these joints.
   */
  function jointRows(prepare, own) {
    /** @type {Map<string, { position: number, velocity: number, value: HTMLElement, hold: Hold }>} */
    const rows = new Map();
    const table = h('div', { class: 'joints' });
    /** @type {string[]} */
    const commands = [];
    const add = (/** @type {string} */ joint) => {
      const value = h('span', { class: 'value' });
      /** @type {number | null} */
      let reference = null;
      const topic = `${machine.name}/${jointToken(joint)}/command`;
      commands.push(topic);
      const hold = new Hold(({ x }) => {
        const row = rows.get(joint);
        if (x === 0 || !row) {
          reference = null;
          return;
        }
        reference = (reference ?? row.position) + x * JOINT_SPEED * PERIOD_S;
        bridge.publish(topic, 'std_msgs/msg/Float64', { data: reference });
      });
      const jog = (/** @type {number} */ sign) => {
        const text = sign < 0 ? '−' : '+';
        const attrs = { type: 'button', 'aria-label': `${joint} ${text}` };
        const one = h('button', { class: 'button square', attrs }, text);
        holdButton(one, hold, () => {
          void prepare();
          return { x: sign, y: 0, turn: 0 };
        });
        return one;
      };
      ends.push(() => hold.release());
      rows.set(joint, { position: 0, velocity: 0, value, hold });
      table.append(
        h(
          'div',
          { class: 'row spread nowrap' },
          h('span', { class: 'mono' }, joint),
          h('span', { class: 'row tight nowrap' }, value, jog(-1), jog(1)),
        ),
      );
    };
    return {
      root: table,
      commands,
      /** @param {any} message JointState */
      take: (message) => {
        message.name.forEach((/** @type {string} */ joint, /** @type {number} */ at) => {
          if (own && !own.includes(jointToken(joint))) return;
          if (!rows.has(joint)) add(joint);
          const row = /** @type {NonNullable<ReturnType<typeof rows.get>>} */ (rows.get(joint));
          row.position = message.position[at];
          row.velocity = message.velocity[at] ?? 0;
          put(row.value, number(row.position * (180 / Math.PI), 0, '°'));
        });
      },
      isMoving: () => [...rows.values()].some(({ velocity }) => Math.abs(velocity) > STANDING),
    };
  }
}

/** Lines about the programs at a server. @param {any} message dragoman_msgs/ProtocolClients @returns {string[]} */
function programsOf({ protocol, clients }) {
  return clients.slice(0, MAX_PROGRAMS).map((/** @type {any} */ client) => {
    const since = clockTime(client.since);
    const values = { protocol, address: client.address, since };
    if (!client.last_request) return t('start.byProgram', values);
    return t('start.byRequest', { ...values, request: client.last_request, time: clockTime(client.last_time) });
  });
}

/** @param {{ sec: number }} stamp */
const clockTime = ({ sec }) => new Date(sec * 1000).toLocaleTimeString([], { hour12: false });
