/** TurtleBot: the panels of the TurtleBot thesis for the base, its sensors, camera, arm, console and the simulation. */

import { markOld } from '../aging.js';
import { twist } from '../app.js';
import { bytesOf } from '../cbor.js';
import { button, card, checkbox, h, put } from '../dom.js';
import { jogPad } from '../drive.js';
import { yawOf } from '../geometry.js';
import { number, t } from '../i18n.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../texts.js').Key} Key */

const SPEED = 0.5;
const RATE = 1.5;
const DEGREES = 180 / Math.PI;
/** Joints of the WidowX and their ranges, rad (TurtleBot thesis, 3.6). @type {[string, number, number][]} */
const JOINTS = [
  ['arm_1_joint', -3.14, 3.14],
  ['arm_2_joint', -1.57, 1.57],
  ['arm_3_joint', -1.57, 1.57],
  ['arm_4_joint', -1.57, 1.57],
  ['arm_5_joint', -2.62, 2.62],
  ['gripper_1_joint', 0, 2.5],
];
/** @type {Key[]} */
const COLORS = ['led.black', 'led.green', 'led.orange', 'led.red'];
/** Topics of pictures, in the order in which they are offered, and how much darker than the screen they are. */
const PICTURES = [
  { topic: '/camera/rgb/image_color/compressed', key: /** @type {Key} */ ('turtle.color'), gain: 1 },
  { topic: '/camera/depth/image/compressed', key: /** @type {Key} */ ('turtle.depth'), gain: 8 },
];

/** @param {App} app @returns {import('../app.js').Page} */
export function turtlebotPage(app) {
  const { bridge } = app;
  const base = () => app.base;
  const above = () => app.graph.rootOf(app.base);
  const named = (/** @type {string} */ rest) => `${above()}${rest}`;
  const command = (/** @type {string} */ rest) => `${base()}/commands/${rest}`;

  const pad = jogPad((vector, scale) => {
    bridge.publish(
      command('velocity'),
      'geometry_msgs/msg/Twist',
      twist(vector.x * scale * SPEED, vector.turn * scale * RATE),
    );
  });

  /** Lamps of the bits of a field, with names. @param {Key[]} names @param {boolean} isAlarm */
  const lamps = (names, isAlarm) => {
    const all = names.map((key) => h('span', { class: 'lamp', t: key }));
    return {
      root: h('div', { class: 'lamps' }, ...all),
      show: (/** @type {number} */ bits, /** @type {number[]} */ masks) =>
        all.forEach((lamp, at) => lamp.classList.toggle(isAlarm ? 'alarm' : 'on', Boolean(bits & masks[at]))),
    };
  };
  /** @type {Key[]} */
  const three = ['turtle.left', 'turtle.centre', 'turtle.right'];
  const bumpers = lamps(three, true);
  const cliffs = lamps(three, true);
  const drops = lamps(['turtle.left', 'turtle.right'], true);
  const pressed = [0, 1, 2].map((at) =>
    h(
      'button',
      {
        class: 'lamp',
        attrs: { type: 'button', 'aria-label': `B${at}` },
        on: { click: () => void app.order(named('/simulation/press_button'), { button: at, duration: 0.4 }) },
      },
      `B${at}`,
    ),
  );
  const values = {
    battery: h('dd', {}, '–'),
    charger: h('dd', {}, '–'),
    encoders: h('dd', {}, '–'),
    pwm: h('dd', {}, '–'),
    floor: h('dd', {}, '–'),
    heading: h('dd', {}, '–'),
    rate: h('dd', {}, '–'),
    pose: h('dd', {}, '–'),
    speed: h('dd', {}, '–'),
    truth: h('dd', {}, '–'),
    time: h('dd', {}, '–'),
    state: h('dd', {}, '–'),
  };
  const facts = (/** @type {[Key, HTMLElement][]} */ ...list) =>
    h('dl', { class: 'facts' }, ...list.flatMap(([key, value]) => [h('dt', { t: key }), value]));

  const leds = [1, 2].map((at) => {
    const lamp = h('span', { class: 'dot led' });
    const select = h(
      'select',
      { label: at === 1 ? 'turtle.led1' : 'turtle.led2' },
      ...COLORS.map((key, value) => h('option', { t: key, attrs: { value } })),
    );
    select.addEventListener('change', () => {
      bridge.publish(command(`led${at}`), 'kobuki_ros_interfaces/msg/Led', { value: Number(select.value) });
    });
    return { lamp, select, root: h('label', { class: 'row nowrap' }, lamp, h('span', {}, `LED ${at}`), select) };
  });
  const sounds = h(
    'select',
    { label: 'turtle.sound' },
    h('option', { t: 'turtle.sound', attrs: { value: '' } }),
    ...['ON', 'OFF', 'RECHARGE', 'BUTTON', 'ERROR', 'CLEANINGSTART', 'CLEANINGEND'].map((name, value) =>
      h('option', { attrs: { value } }, name),
    ),
  );
  sounds.addEventListener('change', () => {
    if (sounds.value !== '')
      bridge.publish(command('sound'), 'kobuki_ros_interfaces/msg/Sound', { value: Number(sounds.value) });
    sounds.value = '';
  });

  // Pictures: only while they are wanted, because they cost the most.
  const pictures = PICTURES.map(({ topic, key, gain }) => {
    const canvas = h('canvas', { class: 'picture', label: key, attrs: { width: 640, height: 480, role: 'img' } });
    /** @type {(() => void) | null} */
    let end = null;
    let isBusy = false;
    let isWanted = gain === 1;
    const show = async (/** @type {any} */ message) => {
      if (isBusy) return;
      isBusy = true;
      try {
        const type = /png/.test(message.format) ? 'image/png' : 'image/jpeg';
        const bitmap = await createImageBitmap(new Blob([/** @type {BlobPart} */ (bytesOf(message.data))], { type }));
        if (canvas.width !== bitmap.width) [canvas.width, canvas.height] = [bitmap.width, bitmap.height];
        const context = canvas.getContext('2d');
        if (context) {
          context.filter = gain > 1 && /16UC1/.test(message.format) ? `brightness(${gain})` : 'none';
          context.drawImage(bitmap, 0, 0);
        }
        bitmap.close();
      } catch {
        // A broken picture is left out; the next one comes soon.
      }
      isBusy = false;
    };
    const follow = (/** @type {boolean} */ isOn) => {
      end?.();
      end =
        isOn && isWanted
          ? bridge.subscribe(named(topic), 'sensor_msgs/msg/CompressedImage', show, {
              throttle: 100,
              compression: 'cbor',
            })
          : null;
      canvas.hidden = !isWanted;
    };
    const check = checkbox(key, isWanted, (checked) => {
      isWanted = checked;
      follow(true);
    });
    return { canvas, check, follow };
  });

  // Arm.
  /** @type {Map<string, { slider: HTMLInputElement, value: HTMLElement }>} */
  const arm = new Map();
  const armRows = JOINTS.map(([joint, lower, upper]) => {
    const value = h('span', { class: 'value' }, '–');
    const slider = h('input', {
      attrs: { type: 'range', min: lower, max: upper, step: 0.01, value: 0, 'aria-label': joint },
    });
    slider.addEventListener('change', () => {
      bridge.publish(`${above()}/${joint}/command`, 'std_msgs/msg/Float64', { data: Number(slider.value) });
    });
    arm.set(joint, { slider, value });
    const relax = h('button', {
      class: 'button small',
      t: 'turtle.relax',
      attrs: { type: 'button' },
      on: { click: () => void bridge.call(`${above()}/${joint}/relax`).catch((error) => app.fail(error)) },
    });
    return h(
      'div',
      { class: 'joint' },
      h('div', { class: 'joint-head' }, h('span', { class: 'mono' }, joint), value),
      h('div', { class: 'joint-row' }, slider, relax),
    );
  });

  // Console and simulation.
  const consoleText = h('pre', { class: 'console', attrs: { tabindex: 0 } });
  const statusBar = h('output', { label: 'turtle.statusBar' }, '–');
  /** A line of text that is published. @param {string} topic @param {Key} hint @param {Key} send */
  const entry = (topic, hint, send) => {
    const line = h('input', { class: 'grow', hint, label: hint, attrs: { type: 'text', maxlength: 200 } });
    const publish = () => {
      if (!line.value) return;
      bridge.publish(named(topic), 'std_msgs/msg/String', { data: line.value });
      line.value = '';
    };
    line.addEventListener('keydown', (event) => event.key === 'Enter' && publish());
    return h('div', { class: 'row nowrap' }, line, button(send, publish, { class: 'small' }));
  };
  const empty = (/** @type {string} */ topic) => () => bridge.publish(named(topic), 'std_msgs/msg/Empty', {});
  const resetOdometry = () => bridge.publish(command('reset_odometry'), 'std_msgs/msg/Empty', {});
  const trigger = (/** @type {string} */ name) => () => void app.order(named(`/simulation/${name}`));
  /** A number that a service takes. @param {Key} key @param {object} attrs @param {(value: number) => void} give */
  const setting = (key, attrs, give) => {
    const input = h('input', { label: key, attrs: { type: 'number', ...attrs } });
    input.addEventListener('change', () => input.reportValidity() && input.value !== '' && give(Number(input.value)));
    return h('label', { class: 'field' }, h('span', { t: key }), input);
  };
  const speed = setting(
    'turtle.speed',
    { min: 0.01, max: 100, step: 'any', value: 1 },
    (factor) => void app.order(named('/simulation/set_speed'), { factor }),
  );
  const step = setting(
    'turtle.step',
    { min: 0, max: 0.5, step: 'any', value: 0 },
    (seconds) => void app.order(named('/simulation/set_time_step'), { time_step: seconds }),
  );
  const power = (/** @type {number} */ state) => () =>
    bridge.publish(command('motor_power'), 'kobuki_ros_interfaces/msg/MotorPower', { state });

  const choice = h('select', {
    label: 'turtle.choose',
    on: { change: (event) => app.choose('base', event.target.value) },
  });
  function showChoice() {
    const { bases } = app.graph.machines;
    choice.hidden = bases.length < 2;
    choice.replaceChildren(
      ...bases.map((one) => h('option', { attrs: { value: one, selected: one === app.base } }, one)),
    );
  }

  const sensorCard = card(
    'turtle.sensors',
    h(
      'dl',
      { class: 'facts lampfacts' },
      h('dt', { t: 'turtle.buttons' }),
      h('dd', {}, h('div', { class: 'lamps' }, ...pressed)),
      h('dt', { t: 'turtle.bumpers' }),
      h('dd', {}, bumpers.root),
      h('dt', { t: 'turtle.cliffs' }),
      h('dd', {}, cliffs.root),
      h('dt', { t: 'turtle.drops' }),
      h('dd', {}, drops.root),
    ),
    facts(
      ['fact.battery', values.battery],
      ['turtle.charger', values.charger],
      ['turtle.encoders', values.encoders],
      ['turtle.pwm', values.pwm],
      ['turtle.floor', values.floor],
    ),
  );
  const odometryCard = card(
    'turtle.odometry',
    facts(
      ['fact.pose', values.pose],
      ['fact.velocity', values.speed],
      ['turtle.heading', values.heading],
      ['turtle.rate', values.rate],
      ['turtle.truth', values.truth],
    ),
    h('div', { class: 'row tight' }, button('turtle.resetOdometry', resetOdometry, { class: 'small' })),
    h('div', { class: 'stack leds' }, ...leds.map((led) => led.root), sounds),
  );
  const armCard = card('turtle.arm', ...armRows);
  const root = h(
    'div',
    { class: 'page' },
    h(
      'div',
      { class: 'columns' },
      card(
        'turtle.drive',
        h(
          'div',
          { class: 'stack' },
          choice,
          pad.root,
          h(
            'div',
            { class: 'row tight' },
            button('turtle.motorsOn', power(1), { class: 'small' }),
            button('turtle.motorsOff', power(0), { class: 'small' }),
          ),
        ),
      ),
      sensorCard,
      odometryCard,
      card(
        'turtle.camera',
        h('div', { class: 'row' }, ...pictures.map((one) => one.check)),
        ...pictures.map((one) => one.canvas),
      ),
      armCard,
      card(
        'turtle.simulation',
        h(
          'div',
          { class: 'stack' },
          facts(['turtle.state', values.state], ['turtle.time', values.time]),
          h(
            'div',
            { class: 'grid2' },
            button('turtle.start', trigger('start'), { icon: 'play' }),
            button('turtle.pause', trigger('pause'), { icon: 'pause' }),
            button('turtle.stop', trigger('stop'), { icon: 'stop' }),
            button('turtle.reset', trigger('reset'), { icon: 'refresh' }),
          ),
          speed,
          step,
        ),
      ),
      card(
        'turtle.console',
        h(
          'div',
          { class: 'stack' },
          consoleText,
          entry('/vrep/aux_console/print', 'turtle.print', 'turtle.send'),
          h(
            'div',
            { class: 'row tight' },
            ...['create', 'show', 'hide', 'clear', 'delete'].map((name) =>
              h(
                'button',
                { class: 'button small', attrs: { type: 'button' }, on: { click: empty(`/vrep/aux_console/${name}`) } },
                name,
              ),
            ),
          ),
          entry('/vrep/status_bar_message', 'turtle.status', 'turtle.show'),
          h('p', { class: 'row nowrap' }, h('span', { class: 'hint', t: 'turtle.statusBar' }), statusBar),
        ),
      ),
    ),
  );

  /** @param {any} core SensorState */
  function sensors(core) {
    bumpers.show(core.bumper, [4, 2, 1]);
    cliffs.show(core.cliff, [4, 2, 1]);
    drops.show(core.wheel_drop, [2, 1]);
    pressed.forEach((lamp, at) => lamp.classList.toggle('on', Boolean((core.buttons >> at) & 1)));
    put(values.battery, number(core.battery / 10, 1, 'V'));
    put(values.charger, t(core.charger === 0 ? 'turtle.discharging' : 'turtle.charging'));
    put(values.encoders, `${core.left_encoder} · ${core.right_encoder}`);
    put(values.pwm, `${core.left_pwm} · ${core.right_pwm}`);
    put(values.floor, Array.from(core.bottom ?? []).join(' · '));
  }
  /** @param {any} odom Odometry */
  function odometry(odom) {
    const { position, orientation } = odom.pose.pose;
    put(values.pose, poseText(position, orientation));
    const { linear, angular } = odom.twist.twist;
    put(values.speed, `${number(linear.x, 2, 'm/s')} · ${number(angular.z * DEGREES, 0, '°/s')}`);
  }
  /** @param {any} imu Imu */
  function gyro(imu) {
    put(values.heading, number(yawOf(imu.orientation) * DEGREES, 1, '°'));
    put(values.rate, number(imu.angular_velocity.z * DEGREES, 1, '°/s'));
  }
  /** @param {any} states JointState */
  function joints(states) {
    states.name.forEach((/** @type {string} */ joint, /** @type {number} */ at) => {
      const one = arm.get(joint);
      if (!one) return;
      put(one.value, number(states.position[at] * DEGREES, 0, '°'));
      if (document.activeElement !== one.slider) one.slider.value = String(states.position[at]);
    });
  }

  const enter = () => {
    const slow = { throttle: 200 };
    /** @type {(() => void)[]} */
    let ends = [];
    const begin = () => {
      pad.release();
      for (const end of ends) end();
      showChoice();
      ends = [
        bridge.subscribe(`${base()}/sensors/core`, 'kobuki_ros_interfaces/msg/SensorState', sensors, { throttle: 100 }),
        bridge.subscribe(named('/odom'), 'nav_msgs/msg/Odometry', odometry, slow),
        bridge.subscribe(`${base()}/sensors/imu_data`, 'sensor_msgs/msg/Imu', gyro, slow),
        bridge.subscribe(named('/joint_states'), 'sensor_msgs/msg/JointState', joints, slow),
        bridge.subscribe(named('/simulation/state'), 'std_msgs/msg/String', ({ data }) => put(values.state, data)),
        bridge.subscribe(
          named('/simulation/sim_time'),
          'std_msgs/msg/Float64',
          (message) => put(values.time, number(message.data, 1, 's')),
          slow,
        ),
        bridge.subscribe(
          named('/simulation/pose'),
          'geometry_msgs/msg/PoseStamped',
          (message) => {
            const { position, orientation } = message.pose;
            put(values.truth, poseText(position, orientation));
          },
          slow,
        ),
        ...leds.map(({ lamp, select }, at) =>
          bridge.subscribe(`${above()}/simulation/led${at + 1}`, 'std_msgs/msg/ColorRGBA', ({ r, g, b }) => {
            const parts = [r, g, b].map((one) => Math.round(one * 255));
            lamp.style.background = r || g || b ? `rgb(${parts.join(',')})` : '';
            // Off is grey; orange is red and green.
            const value = b ? 0 : g ? (r ? 2 : 1) : r ? 3 : 0;
            if (document.activeElement !== select) select.value = String(value);
          }),
        ),
        bridge.subscribe(named('/vrep/aux_console/text'), 'std_msgs/msg/String', (message) => {
          put(consoleText, message.data);
          consoleText.scrollTop = consoleText.scrollHeight;
        }),
        bridge.subscribe(named('/vrep/status_bar'), 'std_msgs/msg/String', (message) => put(statusBar, message.data)),
      ];
    };
    begin();
    app.addEventListener('base', begin);
    app.graph.addEventListener('change', showChoice);
    for (const picture of pictures) picture.follow(true);
    const hidden = () => pictures.forEach((picture) => picture.follow(!document.hidden));
    document.addEventListener('visibilitychange', hidden);
    const endMarks = markOld(bridge, [
      [sensorCard, () => `${base()}/sensors/core`],
      [odometryCard, () => named('/odom')],
      [armCard, () => named('/joint_states')],
    ]);
    return () => {
      endMarks();
      pad.release();
      document.removeEventListener('visibilitychange', hidden);
      app.removeEventListener('base', begin);
      app.graph.removeEventListener('change', showChoice);
      for (const picture of pictures) picture.follow(false);
      for (const end of ends) end();
    };
  };
  return { root, enter };
}

/** @param {{ x: number, y: number }} position @param {import('../spatial.js').Quaternion} orientation */
function poseText(position, orientation) {
  return `${number(position.x, 2)} · ${number(position.y, 2, 'm')} · ${number(yawOf(orientation) * DEGREES, 0, '°')}`;
}
