/**
 * Arms: joints with limits, temperatures and faults; driving of joints and of the tool by hand; goals, events, and a
 * drawing from
 * the robot's description.
 */

import { markOld } from '../aging.js';
import { SERVO } from '../app.js';
import { button, card, h, put, say, setAvailable } from '../dom.js';
import { Hold, holdButton } from '../drive.js';
import { number, onLanguage, t } from '../i18n.js';
import { jointToken } from '../names.js';
import { Solid } from '../solid.js';
import { fromRpy, ofPose, rpyOf } from '../spatial.js';
import { movingJoints, readUrdf } from '../urdf.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../texts.js').Key} Key */
/** @typedef {import('../urdf.js').Joint} Joint */
/**
 * One joint on the page.
 * @typedef {object} Row
 * @property {HTMLElement} root
 * @property {HTMLElement} value
 * @property {HTMLElement} bar
 * @property {HTMLElement} temperature
 * @property {Joint | null} joint
 * @property {Hold} hold
 */

const [OFF, JOINT, CARTESIAN] = [0, 1, 2];
/** @type {Key[]} */
const MODES = ['arm.mode.off', 'arm.mode.joint', 'arm.mode.cartesian'];
const PERIOD_S = 0.1;
/** Maximum speed of driving by hand at full scale: rad/s or m/s for joints, then m/s and rad/s for the tool. */
const JOINT_SPEED = 0.4;
const TOOL_SPEED = 0.05;
const TOOL_RATE = 0.3;
const DEGREES = 180 / Math.PI;
const STALE_MS = 1500;
const MAX_EVENTS = 60;
/**
 * Keys that move the tool along x, y, z and turn it about them, as in the Ranger thesis' client (figure 3.3) and in
 * `dragoman station`.
 * @type {Record<string, number[]>}
 */
const TOOL_KEYS = {
  ArrowUp: [1, 0, 0, 0, 0, 0],
  ArrowDown: [-1, 0, 0, 0, 0, 0],
  ArrowLeft: [0, 1, 0, 0, 0, 0],
  ArrowRight: [0, -1, 0, 0, 0, 0],
  PageUp: [0, 0, 1, 0, 0, 0],
  PageDown: [0, 0, -1, 0, 0, 0],
  KeyU: [0, 0, 0, 1, 0, 0],
  KeyJ: [0, 0, 0, -1, 0, 0],
  KeyI: [0, 0, 0, 0, 1, 0],
  KeyK: [0, 0, 0, 0, -1, 0],
  KeyO: [0, 0, 0, 0, 0, 1],
  KeyL: [0, 0, 0, 0, 0, -1],
};

/** @param {App} app @returns {import('../app.js').Page} */
export function armsPage(app) {
  const { bridge } = app;
  const isServo = () => app.arm.startsWith(SERVO);
  const namespace = () => (isServo() ? app.arm.slice(SERVO.length) : app.arm);
  const name = (/** @type {string} */ rest) => `${namespace()}/${rest}`;
  const solid = new Solid();
  /** @type {Map<string, Row>} */
  const rows = new Map();
  /** Joints of the description. @type {Map<string, Joint>} */
  let described = new Map();
  /** @type {Map<string, number>} */
  const positions = new Map();
  /** Joints of the arm, base first. @type {string[]} */
  let order = [];
  let mode = OFF;
  /** Whether the drives are on; null: unknown. @type {boolean | null} */
  let isEnabled = null;
  let seen = 0;
  /** @type {any} */
  let pose = null;
  /** @type {any} */
  let setpoint = null;

  const chips = {
    drives: h('span', { class: 'chip' }),
    moving: h('span', { class: 'chip' }),
    fault: h('span', { class: 'chip bad', attrs: { hidden: true } }),
  };
  const joints = h('div', { class: 'joints' });
  const scale = h('input', { label: 'arm.scale', attrs: { type: 'range', min: 1, max: 100, value: 25 } });
  const scaleValue = h('output', { class: 'value' });
  const speed = () => Number(scale.value) / 100;
  const showScale = () => put(scaleValue, number(Number(scale.value), 0, '%'));
  scale.addEventListener('input', showScale);
  const modes = h(
    'div',
    { class: 'grid3', label: 'arm.mode', attrs: { role: 'group' } },
    ...MODES.map((key, at) =>
      h('button', {
        class: 'button small',
        t: key,
        attrs: { type: 'button', 'data-mode': at },
        on: { click: () => void setMode(at) },
      }),
    ),
  );
  const trigger = (/** @type {string} */ service) => () => void app.order(name(service));
  const choice = h('select', { label: 'arm.choose', on: { change: (event) => app.choose('arm', event.target.value) } });
  const events = h('ul', { class: 'log' });
  const poseFacts = h('dl', { class: 'facts motion-only' });
  const frame = h(
    'select',
    { label: 'arm.frame' },
    h('option', { t: 'arm.base', attrs: { value: '' } }),
    h('option', { t: 'arm.tool', attrs: { value: 'tool0' } }),
  );
  const tool = h('div', { class: 'grid4 jogs motion-only' });
  const holds = [
    ['X', [1, 0, 0, 0, 0, 0]],
    ['Y', [0, 1, 0, 0, 0, 0]],
    ['Z', [0, 0, 1, 0, 0, 0]],
    ['Rx', [0, 0, 0, 1, 0, 0]],
    ['Ry', [0, 0, 0, 0, 1, 0]],
    ['Rz', [0, 0, 0, 0, 0, 1]],
  ];
  for (const [axis, direction] of /** @type {[string, number[]][]} */ (holds)) {
    for (const sign of [-1, 1]) {
      const one = h(
        'button',
        { class: 'button jog-button', attrs: { type: 'button', 'data-axis': `${axis}${sign < 0 ? '-' : '+'}` } },
        `${axis} ${sign < 0 ? '−' : '+'}`,
      );
      const hold = new Hold(({ x }) => sendTwist(direction.map((part) => part * x * sign)));
      holdButton(one, hold, () => {
        if (mode !== CARTESIAN) void setMode(CARTESIAN);
        return { x: 1, y: 0, turn: 0 };
      });
      tool.append(one);
    }
  }

  // By keyboard.
  /** @type {Set<string>} */
  const keys = new Set();
  const keyHold = new Hold(({ x }) =>
    sendTwist([0, 1, 2, 3, 4, 5].map((axis) => x * [...keys].reduce((sum, key) => sum + TOOL_KEYS[key][axis], 0))),
  );
  const keyPad = h(
    'div',
    {
      class: 'key-pad hint hide-narrow motion-only',
      label: 'arm.keys',
      attrs: { tabindex: 0, role: 'application', id: 'tool-keys' },
    },
    h('span', { t: 'arm.keysHint' }),
  );
  const byKeys = () => {
    keyPad.classList.toggle('held', keys.size > 0);
    if (keys.size === 0) return keyHold.release();
    if (mode !== CARTESIAN && !keyHold.isHeld) void setMode(CARTESIAN);
    keyHold.set({ x: 1, y: 0, turn: 0 });
  };
  const endKeys = () => {
    keys.clear();
    byKeys();
  };
  keyPad.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const factor = event.key === '+' ? 2 : event.key === '-' ? 0.5 : 0;
    if (event.code === 'Space' || event.code === 'Escape') {
      endKeys();
      // The desired pose is the present one again.
      if (event.code === 'Space' && !event.repeat) void app.order(name('halt'));
    } else if (factor) {
      scale.value = String(Math.min(100, Math.max(1, Math.round(Number(scale.value) * factor))));
      showScale();
    } else if (TOOL_KEYS[event.code]) {
      // A key that is still down after a stop repeats: that is not a new command.
      if (!event.repeat) {
        keys.add(event.code);
        byKeys();
      }
    } else {
      return;
    }
    event.preventDefault();
  });
  keyPad.addEventListener('keyup', (event) => keys.delete(event.code) && byKeys());
  keyPad.addEventListener('blur', endKeys);
  window.addEventListener('blur', endKeys);

  /** @param {number[]} direction */
  function sendTwist(direction) {
    // Before the mode has changed, a twist would be refused.
    if (mode !== CARTESIAN) return;
    const [vx, vy, vz] = direction.slice(0, 3).map((part) => part * TOOL_SPEED * speed());
    const [wx, wy, wz] = direction.slice(3).map((part) => part * TOOL_RATE * speed());
    bridge.publish(name('delta_twist_cmds'), 'geometry_msgs/msg/TwistStamped', {
      header: { frame_id: frame.value },
      twist: { linear: { x: vx, y: vy, z: vz }, angular: { x: wx, y: wy, z: wz } },
    });
  }

  /** @param {number} next */
  async function setMode(next) {
    if (await app.order(name('set_command_mode'), { mode: next })) mode = next;
    showMode();
  }
  function showMode() {
    for (const one of modes.children) {
      one.setAttribute('aria-pressed', String(Number(/** @type {HTMLElement} */ (one).dataset.mode) === mode));
    }
  }

  // Joints.
  /** @param {string} joint @returns {Row} */
  function row(joint) {
    const value = h('span', { class: 'value' }, '–');
    const temperature = h('span', { class: 'hint value' });
    const bar = h('i', { class: 'mark' });
    /** The commanded position while it is driven. @type {number | null} */
    let reference = null;
    const hold = new Hold(({ x }) => {
      const now = positions.get(joint);
      if (now === undefined) return;
      if (x === 0) {
        reference = null;
        return;
      }
      if (mode !== OFF && !isServo()) return;
      const limit = described.get(joint);
      const next = (reference ?? now) + x * JOINT_SPEED * speed() * PERIOD_S;
      reference = limit && limit.type !== 'continuous' ? Math.min(limit.upper, Math.max(limit.lower, next)) : next;
      bridge.publish(name(`${jointToken(joint)}/command`), 'std_msgs/msg/Float64', { data: reference });
    });
    const jog = (/** @type {number} */ sign) => {
      const one = h(
        'button',
        {
          class: 'button small square',
          attrs: {
            type: 'button',
            'aria-label': `${joint} ${sign < 0 ? '−' : '+'}`,
            'data-jog': `${joint}${sign < 0 ? '-' : '+'}`,
          },
        },
        sign < 0 ? '−' : '+',
      );
      holdButton(one, hold, () => {
        if (mode !== OFF && !isServo()) void setMode(OFF);
        return { x: sign, y: 0, turn: 0 };
      });
      return one;
    };
    const relax = h('button', {
      class: 'button small',
      t: 'turtle.relax',
      attrs: { type: 'button' },
      on: { click: () => void bridge.call(name(`${jointToken(joint)}/relax`)).catch((error) => app.fail(error)) },
    });
    const root = h(
      'div',
      { class: 'joint' },
      h(
        'div',
        { class: 'joint-head' },
        h('span', { class: 'mono' }, joint),
        h('span', { class: 'row tight' }, temperature, value),
      ),
      h('div', { class: 'joint-row' }, jog(-1), h('span', { class: 'meter' }, bar), jog(1), relax),
    );
    return { root, value, bar, temperature, joint: null, hold };
  }
  /** @param {any} message JointState */
  function jointStates(message) {
    seen = performance.now();
    const own = isServo() ? app.graph.servoArms.get(namespace()) : null;
    const names = message.name.filter((/** @type {string} */ joint) => !own || own.includes(jointToken(joint)));
    message.name.forEach((/** @type {string} */ joint, /** @type {number} */ at) => {
      if (Number.isFinite(message.position[at])) positions.set(joint, message.position[at]);
    });
    // A button that is held stays: without it the joint would stop.
    const isHeld = [...rows.values()].some(({ hold }) => hold.isHeld);
    if (order.join() !== names.join() && names.length >= order.length && !isHeld) {
      order = names;
      solid.refit();
      rows.clear();
      for (const joint of order) rows.set(joint, row(joint));
      joints.replaceChildren(...[...rows.values()].map((one) => one.root));
      fillGoal();
    }
    for (const [joint, one] of rows) showJoint(joint, one);
    solid.positions = positions;
    solid.request();
  }
  /** @param {string} joint @param {Row} one */
  function showJoint(joint, one) {
    const position = positions.get(joint) ?? 0;
    const limits = described.get(joint);
    const isSliding = limits?.type === 'prismatic';
    const unit = isSliding ? 1000 : DEGREES;
    const shown = isSliding ? number(position * 1000, 1, 'mm') : number(position * DEGREES, 1, '°');
    const [lower, upper] = limits ? [limits.lower, limits.upper] : [-Math.PI, Math.PI];
    const part = Math.min(1, Math.max(0, (position - lower) / (upper - lower || 1)));
    put(one.value, part < 0.02 || part > 0.98 ? `${t('arm.atLimit')} · ${shown}` : shown);
    one.bar.style.left = `calc(${(part * 100).toFixed(1)}% - 2px)`;
    one.bar.className = `mark ${part < 0.02 || part > 0.98 ? 'bad' : part < 0.07 || part > 0.93 ? 'warn' : ''}`;
    one.root.title = limits ? `${number(lower * unit, 0)} … ${number(upper * unit, 0, isSliding ? 'mm' : '°')}` : '';
  }
  /** @param {any} message DriveStatus */
  function driveStatus(message) {
    isEnabled = message.enabled;
    showActions();
    chips.drives.className = `chip ${message.enabled ? 'good' : 'warn'}`;
    say(chips.drives, message.enabled ? 'arm.drivesOn' : 'arm.drivesOff');
    message.name.forEach((/** @type {string} */ joint, /** @type {number} */ at) => {
      const degrees = message.temperature?.[at] ?? -1000;
      const one = rows.get(joint);
      if (!one) return;
      put(one.temperature, degrees > -999 ? number(degrees, 0, '°C') : '');
      one.temperature.classList.toggle('bad', degrees > 70);
    });
  }
  /** @param {any} message MotionStatus */
  function motionStatus(message) {
    mode = message.mode;
    showMode();
    chips.moving.className = `chip ${message.moving ? 'good' : ''}`;
    put(
      chips.moving,
      t(message.moving ? 'arm.moving' : 'arm.still') + (message.via_point >= 0 ? ` · ${message.via_point}` : ''),
    );
  }
  /** @param {any} message MotionEvent */
  function motionEvent(message) {
    const time = new Date().toLocaleTimeString([], { hour12: false });
    const kind = message.kind === 5 ? '' : 'warn';
    events.prepend(
      h(
        'li',
        { class: kind },
        h('time', {}, time),
        h('span', { class: 'who' }, t(/** @type {Key} */ (`event.${message.kind}`))),
        h('span', { class: 'what' }, message.text),
      ),
    );
    while (events.children.length > MAX_EVENTS) events.lastChild?.remove();
  }
  /** Faults of the drives are on the diagnostics. @param {any} array */
  function diagnostics(array) {
    const prefix = app.arm.replace(/^\//, '');
    for (const status of array.status ?? []) {
      if (!status.name.startsWith(`${prefix}/arm:`)) continue;
      chips.fault.hidden = Number(status.level) < 2;
      put(chips.fault, status.message);
      showActions();
    }
  }

  // Pose and goals.
  const goal = ['x', 'y', 'z', 'roll', 'pitch', 'yaw'].map((axis) =>
    h('input', { attrs: { type: 'number', step: axis.length > 1 ? 1 : 0.01, 'aria-label': axis, name: axis } }),
  );
  const jointGoal = h('div', { class: 'axes' });
  const duration = h('input', { label: 'arm.duration', attrs: { type: 'number', min: 0, step: 1, value: 0 } });
  function showPose() {
    const rows_ = [
      [t('arm.pose'), pose],
      [t('arm.setpoint'), setpoint],
    ];
    poseFacts.replaceChildren(
      ...rows_.flatMap(([key, one]) => {
        if (!one) return [h('dt', {}, key), h('dd', {}, '–')];
        const { x, y, z } = one.position;
        const [roll, pitch, yaw] = rpyOf(ofPose(one)).map((angle) => angle * DEGREES);
        const place = `${number(x, 3)} · ${number(y, 3)} · ${number(z, 3, 'm')}`;
        const { x: qx, y: qy, z: qz, w } = one.orientation;
        const rotation = [qx, qy, qz, w].map((part) => number(part, 3)).join(' · ');
        return [
          h('dt', {}, key),
          h('dd', {}, place, h('br'), `${number(roll, 1)} · ${number(pitch, 1)} · ${number(yaw, 1, '°')}`),
          h('dt', {}, t('arm.quaternion')),
          h('dd', {}, rotation),
        ];
      }),
    );
  }
  /** What was typed stays when the description or the first pose come. @type {WeakSet<EventTarget>} */
  let typed = new WeakSet();
  for (const one of [...goal, jointGoal]) one.addEventListener('input', ({ target }) => target && typed.add(target));
  function takePresent() {
    typed = new WeakSet();
    fillGoal();
  }
  function fillGoal() {
    if (pose) {
      const { x, y, z } = pose.position;
      const values = [x, y, z, ...rpyOf(ofPose(pose)).map((angle) => angle * DEGREES)];
      goal.forEach((input, at) => {
        if (!typed.has(input)) input.value = fixed(values[at], at < 3 ? 4 : 2);
      });
    }
    const before = [...jointGoal.querySelectorAll('input')].filter((input) => typed.has(input));
    jointGoal.replaceChildren(
      ...order.flatMap((joint) => {
        const isSliding = described.get(joint)?.type === 'prismatic';
        const unit = isSliding ? 'm' : '°';
        const value = (positions.get(joint) ?? 0) * (isSliding ? 1 : DEGREES);
        const input =
          before.find(({ dataset }) => dataset.joint === joint && dataset.unit === unit) ??
          h('input', {
            attrs: {
              type: 'number',
              step: isSliding ? 0.01 : 1,
              value: fixed(value, isSliding ? 4 : 2),
              'data-joint': joint,
              'data-unit': unit,
              'aria-label': joint,
            },
          });
        return [h('span', { class: 'hint mono' }, joint), input, h('span', { class: 'hint' }, unit)];
      }),
    );
  }
  /** Whether all fields of a goal are filled; says so if not. @param {HTMLInputElement[]} inputs */
  function isFilledIn(inputs) {
    const isWhole = inputs.every((input) => input.value !== '');
    if (!isWhole) app.toast('error', t('arm.blank'));
    return isWhole;
  }
  async function moveTool() {
    if (!isFilledIn(goal)) return;
    const [x, y, z, roll, pitch, yaw] = goal.map((input) => Number(input.value));
    const orientation = quaternion(fromRpy([0, 0, 0], [roll / DEGREES, pitch / DEGREES, yaw / DEGREES]));
    const request = { pose: { position: { x, y, z }, orientation }, min_duration: Number(duration.value) || 0 };
    if (mode !== CARTESIAN) await setMode(CARTESIAN);
    if (await app.order(name('set_goal_pose'), request)) await app.order(name('begin_motion'));
  }
  async function moveJoints() {
    const inputs = [...jointGoal.querySelectorAll('input')];
    if (!isFilledIn(inputs)) return;
    const position = inputs.map((input) => Number(input.value) / (input.dataset.unit === 'm' ? 1 : DEGREES));
    if (mode !== JOINT) await setMode(JOINT);
    const request = { position, min_duration: Number(duration.value) || 0 };
    if (await app.order(name('set_joint_goal'), request)) await app.order(name('begin_joint_motion'));
  }

  /** The buttons of the drives: what they do, and why they have no effect now. */
  const actions = /** @type {{ element: HTMLButtonElement, help: Key, why: () => Key | null }[]} */ ([]);
  const action = (
    /** @type {string} */ service,
    /** @type {Key} */ key,
    /** @type {Key} */ help,
    /** @type {() => Key | null} */ why,
  ) => {
    const click = () => {
      const reason = why();
      if (reason) app.toast('info', t(reason));
      else trigger(service)();
    };
    actions.push({ element: button(key, click, { class: 'small' }), help, why });
  };
  const whenOn = () => (isEnabled === false ? /** @type {Key} */ ('why.disabled') : null);
  action('enable', 'arm.enable', 'help.enable', () => (isEnabled ? 'why.enabled' : null));
  action('disable', 'arm.disable', 'help.disable', whenOn);
  action('halt', 'arm.halt', 'help.halt', () => null);
  action('stop', 'arm.stop', 'help.stopArm', () => null);
  action('recover', 'arm.recover', 'help.recover', () => (chips.fault.hidden ? 'why.noFault' : null));
  function showActions() {
    for (const { element, help, why } of actions) setAvailable(element, why(), help);
    // What comes next: a fault is cleared, then the drives are switched on.
    const next = !chips.fault.hidden ? 4 : isEnabled === false ? 0 : -1;
    actions.forEach(({ element }, at) => element.classList.toggle('primary', at === next));
  }
  showActions();
  const picture = h('section', { class: 'card' }, h('div', { class: 'arm-stage' }, solid.canvas), poseFacts);
  const jointCard = card('arm.joints', joints);
  const byHand = card(
    'arm.jog',
    h(
      'div',
      { class: 'stack' },
      h(
        'label',
        { class: 'field' },
        h('span', { t: 'arm.scale' }),
        h('span', { class: 'row nowrap' }, scale, scaleValue),
      ),
      h('div', { class: 'motion-only' }, h('p', { class: 'hint', t: 'arm.mode' }), modes),
      h('div', { class: 'row spread motion-only' }, h('span', { class: 'hint', t: 'arm.toolJog' }), frame),
      tool,
      keyPad,
      h('p', { class: 'hint motion-only', t: 'arm.jogHint' }),
    ),
  );
  const toolCard = card(
    'arm.goalPose',
    h(
      'div',
      { class: 'stack' },
      h(
        'div',
        { class: 'grid3' },
        ...goal.map((input) =>
          h('label', { class: 'field' }, h('span', {}, `${input.name}, ${input.name.length > 1 ? '°' : 'm'}`), input),
        ),
      ),
      h(
        'div',
        { class: 'row spread bottom' },
        h('label', { class: 'field narrow' }, h('span', { t: 'arm.duration' }), duration),
        button('arm.moveTool', () => void moveTool(), { class: 'primary' }),
      ),
      button('arm.take', takePresent, { class: 'small' }),
    ),
  );
  const jointGoals = card(
    'arm.goalJoints',
    h(
      'div',
      { class: 'stack' },
      jointGoal,
      button('arm.moveJoints', () => void moveJoints(), { class: 'primary' }),
    ),
  );
  const eventCard = card('arm.events', events);
  for (const one of [toolCard, jointGoals, eventCard]) one.classList.add('motion-only');
  eventCard.classList.add('last');
  const column = (/** @type {HTMLElement[]} */ ...cards) => h('div', { class: 'column' }, ...cards);
  const root = h(
    'div',
    { class: 'page arms' },
    h(
      'div',
      { class: 'card row spread' },
      h('div', { class: 'row' }, choice, chips.drives, chips.moving, chips.fault),
      h('div', { class: 'row tight motion-only' }, ...actions.map((one) => one.element)),
    ),
    h(
      'div',
      { class: 'columns wide' },
      column(picture, eventCard),
      column(byHand, toolCard),
      column(jointCard, jointGoals),
    ),
  );

  function showChoice() {
    const servos = [...app.graph.servoArms].map(([space, list]) => [SERVO + space, `${space || '/'} · ${list[0]} …`]);
    const all = [...app.graph.machines.arms.map((one) => [one, one]), ...servos];
    choice.replaceChildren(
      ...all.map(([value, text]) => h('option', { attrs: { value, selected: value === app.arm } }, text)),
    );
    root.classList.toggle('servo', isServo());
    for (const one of Object.values(chips)) one.hidden = isServo() || (one === chips.fault && !chips.fault.textContent);
  }
  onLanguage(() => {
    showPose();
    showScale();
  });
  showScale();
  showMode();
  showPose();

  const enter = () => {
    /** @type {(() => void)[]} */
    let ends = [];
    let isFilled = false;
    const begin = () => {
      for (const end of ends) end();
      order = [];
      typed = new WeakSet();
      for (const input of goal) input.value = '';
      jointGoal.replaceChildren();
      rows.clear();
      joints.replaceChildren();
      positions.clear();
      described = new Map();
      pose = setpoint = null;
      solid.frames = [];
      showPose();
      showChoice();
      ends = [
        bridge.subscribe(name('joint_states'), 'sensor_msgs/msg/JointState', jointStates, { throttle: 66 }),
        bridge.subscribe(name('drive_status'), 'dragoman_msgs/msg/DriveStatus', driveStatus),
        bridge.subscribe(name('motion_status'), 'dragoman_msgs/msg/MotionStatus', motionStatus),
        bridge.subscribe(name('motion_events'), 'dragoman_msgs/msg/MotionEvent', motionEvent, { queue: 20 }),
        bridge.subscribe('/diagnostics', 'diagnostic_msgs/msg/DiagnosticArray', diagnostics, { queue: 100 }),
        bridge.subscribe(
          name('pose'),
          'geometry_msgs/msg/PoseStamped',
          (message) => {
            pose = message.pose;
            solid.frames = [
              { motion: ofPose(pose), isGhost: false },
              ...(setpoint ? [{ motion: ofPose(setpoint), isGhost: true }] : []),
            ];
            showPose();
            if (!isFilled && order.length) {
              isFilled = true;
              fillGoal();
            }
          },
          { throttle: 100 },
        ),
        bridge.subscribe(name('setpoint'), 'geometry_msgs/msg/PoseStamped', (message) => (setpoint = message.pose), {
          throttle: 100,
        }),
        bridge.subscribe(name('robot_description'), 'std_msgs/msg/String', (message) => {
          try {
            const robot = readUrdf(message.data);
            described = new Map(movingJoints(robot).map((joint) => [joint.name, joint]));
            solid.show(robot);
            fillGoal();
          } catch (error) {
            app.fail(error);
          }
        }),
      ];
    };
    begin();
    app.addEventListener('arm', begin);
    app.graph.addEventListener('change', showChoice);
    const timer = setInterval(() => {
      if (performance.now() - seen < STALE_MS) return;
      chips.drives.hidden = false;
      chips.drives.className = 'chip bad';
      say(chips.drives, 'common.silent');
      put(chips.moving, '');
    }, 1000);
    const states = () => name('joint_states');
    const endMarks = markOld(bridge, [
      [picture, states],
      [jointCard, states],
    ]);
    return () => {
      endMarks();
      clearInterval(timer);
      for (const one of rows.values()) one.hold.release();
      endKeys();
      app.removeEventListener('arm', begin);
      app.graph.removeEventListener('change', showChoice);
      for (const end of ends) end();
    };
  };
  return { root, enter };
}

/** With this number of digits, and no sign before a zero. @param {number} value @param {number} digits */
const fixed = (value, digits) => value.toFixed(digits).replace(/^-(?=[0.]*$)/, '');

/** The rotation of a motion. @param {import('../spatial.js').Motion} m */
function quaternion(m) {
  const [roll, pitch, yaw] = rpyOf(m).map((angle) => angle / 2);
  const [cr, sr, cp, sp, cy, sy] = [
    Math.cos(roll),
    Math.sin(roll),
    Math.cos(pitch),
    Math.sin(pitch),
    Math.cos(yaw),
    Math.sin(yaw),
  ];
  return {
    x: sr * cp * cy - cr * sp * sy,
    y: cr * sp * cy + sr * cp * sy,
    z: cr * cp * sy - sr * sp * cy,
    w: cr * cp * cy + sr * sp * sy,
  };
}
