/** Hardware monitor (PlatformCtrl guide, 5.8): motors, boards, ultrasonic and radar sensors, battery, CAN. */

import { button, card, h, put } from '../dom.js';
import { number, onLanguage, t } from '../i18n.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../texts.js').Key} Key */

const CHANNELS = Array.from({ length: 16 }, (_, at) => at);
const IDLE_RANGE = 9.9;
const RIGHT = 1;
const LEFT = 2;
const [IO_BOARD, RELAY_BOARD] = [0, 1];
const MAX_MESSAGES = 50;

/** @param {App} app @returns {import('../app.js').Page} */
export function hardwarePage(app) {
  const { bridge } = app;
  const name = (/** @type {string} */ rest) => `${app.platform}/${rest}`;
  /** Functions that show a status. @type {((status: any) => void)[]} */
  const shows = [];
  /** @type {any} */
  let last = null;
  /** Sensors that measure, as bits. */
  let measuring = 0;

  /** A value with its name. @param {Key} key @param {(status: any) => string} text */
  const fact = (key, text) => {
    const value = h('dd', {}, '–');
    shows.push((status) => put(value, text(status)));
    return [h('dt', { t: key }), value];
  };
  const facts = (/** @type {[Key, (status: any) => string][]} */ ...list) =>
    h('dl', { class: 'facts' }, ...list.flatMap(([key, text]) => fact(key, text)));

  /** Lamps for the bits of a value. @param {Key} key @param {(status: any) => number} bits */
  const lamps = (key, bits) => {
    const all = CHANNELS.map((at) => h('span', { class: 'lamp' }, String(at)));
    shows.push((status) => all.forEach((lamp, at) => lamp.classList.toggle('on', Boolean((bits(status) >> at) & 1))));
    return h('div', {}, h('p', { class: 'hint', t: key }), h('div', { class: 'lamps' }, ...all));
  };
  /** Switches for digital outputs. @param {Key} key @param {number} board @param {string} topic */
  const switches = (key, board, topic) => {
    let bits = 0;
    const all = CHANNELS.map((at) =>
      h(
        'button',
        {
          class: 'lamp',
          attrs: { type: 'button', 'aria-pressed': 'false', 'aria-label': `${at}` },
          on: { click: () => void app.order(name('set_digout'), { board, channel: at, high: !((bits >> at) & 1) }) },
        },
        String(at),
      ),
    );
    const show = (/** @type {any} */ message) => {
      bits = message.data;
      all.forEach((one, at) => {
        const isOn = Boolean((bits >> at) & 1);
        one.classList.toggle('on', isOn);
        one.setAttribute('aria-pressed', String(isOn));
      });
    };
    outputs.push([topic, show]);
    return h('div', {}, h('p', { class: 'hint', t: key }), h('div', { class: 'lamps' }, ...all));
  };
  /** @type {[string, (message: any) => void][]} */
  const outputs = [];
  const list = (/** @type {number[] | undefined} */ values) => (values ?? []).join(' · ');

  const brake = (/** @type {number} */ motor, /** @type {boolean} */ disabled) => () =>
    void app.order(name('set_brake'), { motor, disabled });
  const motor = (/** @type {Key} */ title, /** @type {'right' | 'left'} */ side, /** @type {number} */ number_) =>
    card(
      title,
      h(
        'div',
        { class: 'stack' },
        facts(
          ['hw.status', (status) => hex(status[`motor_${side}_status`])],
          ['hw.temperature', (status) => String(status[`motor_${side}_temperature`])],
        ),
        h(
          'div',
          { class: 'row tight' },
          button('hw.brakeOn', brake(number_, false), { class: 'small' }),
          button('hw.brakeOff', brake(number_, true), { class: 'small' }),
        ),
      ),
    );

  const sonicBars = CHANNELS.map((at) => {
    const bar = h('i');
    const value = h('span', { class: 'value' }, '–');
    const check = h('input', {
      attrs: { type: 'checkbox', 'aria-label': String(at + 1) },
      on: {
        change: () => {
          measuring = check.checked ? measuring | (1 << at) : measuring & ~(1 << at);
          void app.order(
            name(measuring ? 'start_ultrasonic' : 'stop_ultrasonic'),
            measuring ? { channel: measuring } : {},
          );
        },
      },
    });
    shows.push((status) => {
      const range = status.ultrasonic?.[at] ?? IDLE_RANGE;
      const isIdle = range >= IDLE_RANGE;
      if (document.activeElement !== check) check.checked = !isIdle;
      measuring = isIdle ? measuring & ~(1 << at) : measuring | (1 << at);
      bar.style.width = isIdle ? '0' : `${Math.min(100, (range / 3) * 100)}%`;
      bar.className = range < 0.3 ? 'bad' : range < 0.8 ? 'warn' : '';
      put(value, isIdle ? t('common.off') : number(range, 2, 'm'));
    });
    return h(
      'label',
      { class: 'sonic' },
      check,
      h('span', {}, String(at + 1)),
      h('span', { class: 'meter' }, bar),
      value,
    );
  });

  const battery = h('dl', { class: 'facts' });
  const showBattery = (/** @type {any} */ message) => {
    const rows = [
      [t('hw.voltage'), number(message.voltage, 2, 'V')],
      [t('hw.current'), number(message.current, 2, 'A')],
      [t('hw.charge'), message.percentage === null ? '–' : number(message.percentage * 100, 0, '%')],
      [t('hw.capacity'), number(message.capacity, 1, 'Ah')],
    ];
    battery.replaceChildren(...rows.flatMap(([key, value]) => [h('dt', {}, key), h('dd', {}, value)]));
  };

  const siren = button('hw.siren', () => void toggle('SirenEnabled', last?.siren));
  const flash = button('hw.flash', () => void toggle('FlashlightEnabled', last?.flash_light));
  shows.push((status) => {
    siren.setAttribute('aria-pressed', String(Boolean(status.siren)));
    flash.setAttribute('aria-pressed', String(Boolean(status.flash_light)));
  });
  /** @param {string} key @param {boolean} isOn */
  const toggle = (key, isOn) => app.order(name('set_pltf_param'), { key, value: String(!isOn) });

  /** The servers of the platform's protocol, and this page's own connection. */
  const tcp = h('dl', { class: 'facts' });
  /** @type {[string, string][]} */
  let served = [];
  let before = { ...bridge.received };
  const diagnostics = (/** @type {any} */ array) => {
    const own = `${app.platform.slice(1)}/neobotix`;
    for (const status of array.status ?? []) {
      if (!status.name.startsWith(`${own}:`) && !status.name.startsWith(`${own}_client:`)) continue;
      served = [
        [t('lab.port'), status.hardware_id],
        ...status.values.map((/** @type {any} */ pair) => /** @type {[string, string]} */ ([pair.key, pair.value])),
      ];
    }
  };
  /** Called once a second. */
  function showTcp() {
    const now = { ...bridge.received };
    const bytes = number((now.bytes - before.bytes) / 1000, 1, 'kB/s');
    const rows = [[t('lab.rate'), `${number(now.messages - before.messages, 0, '/s')} · ${bytes}`], ...served];
    before = now;
    tcp.replaceChildren(...rows.flatMap(([key, value]) => [h('dt', {}, key), h('dd', {}, value)]));
  }

  const messages = h('tbody');
  const listen = h('input', { label: 'hw.canId', attrs: { type: 'text', size: 6, value: '0x' } });
  const canId = () => Number(listen.value);
  const canOrder = (/** @type {string} */ service) => () => {
    if (Number.isInteger(canId())) void app.order(name(service), { id: canId() });
    else app.toast('error', t('hw.canBad'));
  };
  async function readCan() {
    try {
      const answer = await bridge.request(name('get_can_messages'), { delete_after_read: true });
      for (const message of answer.messages ?? []) {
        const data =
          typeof message.data === 'string' ? [...atob(message.data)].map((one) => one.charCodeAt(0)) : message.data;
        const bytes = [...data].map((/** @type {number} */ one) => one.toString(16).padStart(2, '0')).join(' ');
        const time = new Date(message.stamp.sec * 1000).toLocaleTimeString([], { hour12: false });
        messages.prepend(
          h(
            'tr',
            {},
            h('td', {}, time),
            h('td', { class: 'mono' }, hex(message.id)),
            h('td', { class: 'mono' }, bytes),
          ),
        );
      }
      while (messages.children.length > MAX_MESSAGES) messages.lastChild?.remove();
    } catch {
      // The platform is silent; its chip says so.
    }
  }

  const silent = h('p', { class: 'chip bad old-mark', t: 'state.silent' });
  const root = h(
    'div',
    { class: 'page' },
    silent,
    h(
      'div',
      { class: 'columns narrow' },
      motor('hw.motorLeft', 'left', LEFT),
      motor('hw.motorRight', 'right', RIGHT),
      card('hw.battery', battery),
      card('hw.signals', h('div', { class: 'row' }, siren, flash)),
    ),
    h(
      'div',
      { class: 'columns' },
      card(
        'hw.ioBoard',
        h(
          'div',
          { class: 'stack' },
          facts(['hw.status', (status) => hex(status.io_status)], ['hw.analog', (status) => list(status.io_analog_in)]),
          lamps('hw.digitalIn', (status) => status.io_digital_in),
          switches('hw.digitalOut', IO_BOARD, 'digital_out/io'),
        ),
      ),
      card(
        'hw.relayBoard',
        h(
          'div',
          { class: 'stack' },
          facts(
            ['hw.status', (status) => hex(status.relay_status)],
            ['hw.analog', (status) => list(status.relay_analog_in)],
            ['hw.optical', (status) => list(status.optical_distance)],
            // The protocol has one list for both: "Joystick Buttons" of CMD_GET_STATUS.
            [
              'hw.keypad',
              (status) =>
                (status.joystick_buttons ?? [])
                  .map((/** @type {boolean} */ one, /** @type {number} */ at) => `${at + 1} ${one ? '●' : '○'}`)
                  .join('  ') || '–',
            ],
          ),
          lamps('hw.digitalIn', (status) => status.relay_digital_in),
          switches('hw.relayOut', RELAY_BOARD, 'digital_out/relay'),
        ),
      ),
    ),
    card(
      'hw.usBoard',
      h(
        'div',
        { class: 'stack' },
        h(
          'div',
          { class: 'row tight' },
          button('hw.sonicAll', () => void app.order(name('start_ultrasonic'), { channel: 0xffff }), {
            class: 'small',
          }),
          button('sonic.stop', () => void app.order(name('stop_ultrasonic')), { class: 'small' }),
        ),
        h('div', { class: 'sonics' }, ...sonicBars),
        facts(
          ['hw.status', (status) => hex(status.ultrasonic_status)],
          ['hw.analog', (status) => list(status.ultrasonic_analog_in)],
        ),
      ),
    ),
    h(
      'div',
      { class: 'columns' },
      card(
        'hw.gyro',
        facts(
          ['hw.angle', (status) => number((status.gyro_angle * 180) / Math.PI, 1, '°')],
          [
            'hw.acceleration',
            (status) => (status.acceleration ?? []).map((/** @type {number} */ one) => number(one, 2)).join(' · '),
          ],
          ['hw.temperature', (status) => String(status.gyro_temperature)],
          ['hw.status', (status) => hex(status.gyro_status)],
        ),
      ),
      card(
        'hw.radar',
        facts(
          [
            'hw.speed',
            (status) => (status.radar_velocity ?? []).map((/** @type {number} */ one) => number(one, 2)).join(' · '),
          ],
          ['hw.status', (status) => hex(status.radar_status)],
          [
            'hw.infrared',
            (status) => (status.infrared ?? []).map((/** @type {boolean} */ one) => (one ? '●' : '○')).join(' '),
          ],
          ['hw.docked', (status) => t(status.docked ? 'common.on' : 'common.off')],
          ['hw.position', (status) => `${number(status.latitude, 5, '°')} · ${number(status.longitude, 5, '°')}`],
        ),
      ),
      card('hw.tcp', tcp),
      card(
        'hw.can',
        h(
          'div',
          { class: 'stack' },
          h(
            'div',
            { class: 'row tight' },
            listen,
            button('hw.canListen', canOrder('add_can_listening_id'), { class: 'small' }),
            button('hw.canForget', canOrder('remove_can_listening_id'), { class: 'small' }),
          ),
          h('div', { class: 'scroll' }, h('table', {}, messages)),
        ),
      ),
    ),
  );

  let seen = 0;
  const show = (/** @type {any} */ status) => {
    last = status;
    seen = performance.now();
    silent.hidden = true;
    root.classList.remove('old');
    for (const one of shows) one(status);
  };
  onLanguage(() => last && shows.forEach((one) => one(last)));

  const enter = () => {
    const ends = [
      bridge.subscribe(name('status'), 'dragoman_msgs/msg/PlatformStatus', show, { throttle: 200 }),
      bridge.subscribe(name('battery_state'), 'sensor_msgs/msg/BatteryState', showBattery),
      bridge.subscribe('/diagnostics', 'diagnostic_msgs/msg/DiagnosticArray', diagnostics, { queue: 100 }),
      ...outputs.map(([topic, receive]) => bridge.subscribe(name(topic), 'std_msgs/msg/UInt16', receive)),
    ];
    const timer = setInterval(() => {
      silent.hidden = performance.now() - seen < 2000;
      root.classList.toggle('old', !silent.hidden);
      showTcp();
      if (bridge.isOpen && !document.hidden) void readCan();
    }, 1000);
    return () => {
      clearInterval(timer);
      for (const end of ends) end();
    };
  };
  return { root, enter };
}

/** @param {number | undefined} value */
const hex = (value) => `0x${(value ?? 0).toString(16).padStart(2, '0')}`;
