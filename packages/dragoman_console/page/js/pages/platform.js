/** The platform (PlatformCtrl guide, 5.2 to 5.7): map, sensors, targets, motion modes, driving by hand. */

import { Mode, Operation, activity, nextButton, obstacleOf, target as targetOf } from '../activity.js';
import { markOld } from '../aging.js';
import { twist } from '../app.js';
import { button, card, checkbox, foldable, h, icon, put, say, setAvailable } from '../dom.js';
import { mapPoints, readMap } from '../documents/map.js';
import { readRoadmap, roadmapPoints } from '../documents/roadmap.js';
import { explainer, jogPad } from '../drive.js';
import { boundsOf, compose, distance, heading, transform } from '../geometry.js';
import { number, onLanguage, t } from '../i18n.js';
import { OF_MAP, OF_ROADMAP, legend, split, toolGroup, zoomButtons } from '../layout.js';
import { paintEllipse, paintFlag, paintMap, paintPlatform, paintRoadmap } from '../paint.js';
import { Preparation } from '../prepare.js';
import { View } from '../view.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../geometry.js').Pose} Pose */
/** @typedef {import('../geometry.js').Point} Point */
/** @typedef {import('../texts.js').Key} Key */
/** @typedef {'pan' | 'area' | 'pose' | 'target' | 'station' | 'obstacle'} ToolName */

/** @type {Key[]} */
const MODES = ['mode.0', 'mode.1', 'mode.2', 'mode.3', 'mode.4', 'mode.5', 'mode.6'];
/** @type {Key[]} */
const PLANNER = ['planner.0', 'planner.1', 'planner.2', 'planner.3', 'planner.4', 'planner.5'];
/** @type {{ name: ToolName, icon: import('../dom.js').Icon, key: Key, hint: Key, cursor: string }[]} */
const TOOLS = [
  { name: 'pan', icon: 'hand', key: 'tool.pan', hint: 'tool.pan.hint', cursor: 'grab' },
  { name: 'area', icon: 'area', key: 'tool.area', hint: 'tool.area.hint', cursor: 'cross' },
  { name: 'pose', icon: 'robot', key: 'tool.pose', hint: 'tool.pose.hint', cursor: 'move' },
  { name: 'target', icon: 'flag', key: 'tool.target', hint: 'tool.target.hint', cursor: 'cross' },
  { name: 'station', icon: 'station', key: 'tool.station', hint: 'tool.station.hint', cursor: 'pointer' },
  { name: 'obstacle', icon: 'obstacle', key: 'tool.obstacle', hint: 'tool.obstacle.hint', cursor: 'cross' },
];
/** View options (guide, 5.7) and whether they are on at first. @type {[string, Key, boolean][]} */
const OPTIONS = [
  ['grid', 'view.grid', true],
  ['map', 'view.map', true],
  ['areas', 'view.areas', true],
  ['labels', 'view.labels', true],
  ['roadmap', 'view.roadmap', true],
  ['scan', 'view.scan', true],
  ['ultrasonic', 'view.ultrasonic', true],
  ['path', 'view.path', true],
  ['obstacles', 'view.obstacles', true],
  ['lines', 'view.lines', false],
  ['covariance', 'view.covariance', true],
  ['particles', 'view.particles', true],
  ['commanded', 'view.commanded', false],
  ['follow', 'view.follow', false],
];
const OPTIONS_KEY = 'dragoman.view';
const IDLE_RANGE = 9.9;
const DEBUG_MS = 500;
/** Age after which a status is not shown as the present one. */
const STALE_MS = 2000;
const SENSORS = Array.from({ length: 16 }, (_, at) => at + 1);

/** @param {App} app @returns {import('../app.js').Page} */
export function platformPage(app) {
  const { bridge } = app;
  const name = (/** @type {string} */ rest) => `${app.platform}/${rest}`;
  /** @type {any} */
  let status = null;
  let seen = 0;
  /** @type {import('../documents/map.js').MapState | null} */
  let map = null;
  /** @type {import('../documents/roadmap.js').RoadmapState | null} */
  let roadmap = null;
  /** Markers of the debug data. @type {any[]} */
  let markers = [];
  /** @type {(Pose & { range: number })[]} */
  let sensors = [];
  let size = { length: 0.9, width: 0.6 };
  let cone = 0.5;
  let limits = { linear: 0.5, angular: 0.6 };
  /** The pose that is dragged, or the flag. @type {Pose | null} */
  let ghost = null;
  /** @type {Pose | null} */
  let target = null;
  /** @type {[Point, Point] | null} */
  let frame = null;
  let hovered = '';
  let isFitted = false;
  /** @type {ToolName} */
  let toolName = 'pan';
  const shown = loadOptions();

  // Drawing.
  const canvas = h('canvas', { label: 'platform.canvas', attrs: { tabindex: 0, role: 'img' } });
  const view = new View(canvas, draw);
  view.hasGrid = shown.grid;

  function draw() {
    if (map) {
      paintMap(view, map.items, (item) => {
        if (['workarea', 'prohibit', 'hiddenpolygon'].includes(item.kind)) return shown.areas;
        return item.kind === 'hiddenlabel' ? shown.labels : shown.map;
      });
    }
    if (roadmap && shown.roadmap) {
      const stations = hovered ? new Set([hovered]) : undefined;
      paintRoadmap(view, roadmap, { stations });
    }
    for (const marker of markers) drawMarker(marker);
    if (status) drawStatus();
    if (ghost) paintPlatform(view, ghost, size, view.color('select'), null, [5, 4]);
    if (target) paintFlag(view, target, view.color('bad'));
    if (frame) {
      const [a, b] = frame;
      view.polygon([a, { x: b.x, y: a.y }, b, { x: a.x, y: b.y }], null, view.color('select'), 1.5, [5, 4]);
    }
  }

  function drawStatus() {
    const pose = status.estimated;
    if (performance.now() - seen > STALE_MS) {
      paintPlatform(view, pose, size, view.color('ghost'), null, [4, 4]);
      return;
    }
    if (shown.ultrasonic) drawUltrasonics(pose);
    if (shown.path) view.polyline(status.path ?? [], view.color('path'), 2.5);
    if (shown.lines) {
      const lines = status.lines ?? [];
      for (let at = 0; at + 1 < lines.length; at += 2) {
        view.polyline([transform(pose, lines[at]), transform(pose, lines[at + 1])], view.color('mapped'), 2);
      }
      for (const circle of status.circles ?? []) view.circle(circle, circle.z, null, view.color('mapped'));
    }
    if (shown.scan) view.dots(status.scan ?? [], view.color('laser'), 2.5);
    for (const reflector of status.reflectors ?? []) view.disc(reflector, 4, view.color('reflector'));
    if (shown.commanded) paintPlatform(view, status.commanded, size, view.color('ghost'), null, [4, 4]);
    paintPlatform(view, pose, size, view.color('robot'), view.color('robot-soft'));
    if (shown.covariance) {
      const { principal_deviation: a, minor_deviation: b, principal_axis: axis } = status;
      if (a > 0) paintEllipse(view, pose, 2 * a, 2 * b, axis, view.color('particle'));
    }
  }

  /** @param {Pose} pose */
  function drawUltrasonics(pose) {
    sensors.forEach((sensor, at) => {
      const range = status.ultrasonic?.[at] ?? IDLE_RANGE;
      if (range >= IDLE_RANGE) return;
      const origin = compose(pose, sensor);
      const arc = Array.from({ length: 9 }, (_, step) => {
        const angle = (step / 8 - 0.5) * cone;
        return transform(origin, { x: range * Math.cos(angle), y: range * Math.sin(angle) });
      });
      view.polygon([origin, ...arc], view.color('sonic'), null);
      view.polyline(arc, view.color('sonic-line'), 1.5);
    });
  }

  /** Markers of the debug data: path, obstacles, goal, mapped lines, candidate poses. @param {any} marker */
  function drawMarker(marker) {
    const points = marker.points ?? [];
    if (marker.id === 1 && shown.obstacles) view.dots(points, view.color('obstacle'), Math.max(3, 0.05 * view.scale));
    if (marker.id === 2) for (const point of points) view.disc(point, 6, null, view.color('good'), 2.5);
    if (marker.id === 3 && shown.lines) {
      for (let at = 0; at + 1 < points.length; at += 2)
        view.polyline([points[at], points[at + 1]], view.color('mapped'), 2.5);
    }
    if (marker.id === 4 && shown.particles) for (const point of points) view.disc(point, 3, view.color('particle'));
  }

  // Tools.
  const stationAt = (/** @type {import('../view.js').Pointer} */ pointer) =>
    roadmap?.stations.find((one) => distance(one.point, pointer.at) < Math.max(pointer.reach * 1.6, 10 / view.scale));

  /** Drags a pose: from its middle it moves, further out it turns. @param {() => Pose | null} start
   * @param {(pose: Pose) => void} change @param {(pose: Pose) => void} done @returns {import('../view.js').Tool} */
  const poseTool = (start, change, done) => {
    /** @type {{ from: Pose, at: Point, turns: boolean } | null} */
    let drag = null;
    /** @type {Pose | null} */
    let pose = null;
    return {
      down(pointer) {
        const from = start() ?? { ...pointer.at, theta: 0 };
        const away = distance(from, pointer.at);
        const turns = away > Math.max(0.5 * size.length, pointer.reach);
        const isNear = away < Math.max(0.9 * size.length, 42 / view.scale);
        if (!isNear) {
          pose = { x: pointer.at.x, y: pointer.at.y, theta: from.theta };
          drag = { from: pose, at: pointer.at, turns: false };
        } else {
          pose = from;
          drag = { from, at: pointer.at, turns };
        }
        change(pose);
        return true;
      },
      move(pointer) {
        if (!drag) return;
        const { from, at } = drag;
        if (drag.turns) pose = { ...from, theta: heading(from, pointer.at) };
        else pose = { ...from, x: from.x + pointer.at.x - at.x, y: from.y + pointer.at.y - at.y };
        change(pose);
      },
      up() {
        if (pose) done(pose);
        drag = null;
      },
      alternate(pointer) {
        const from = pose ?? start();
        if (!from) return;
        pose = { ...from, theta: heading(from, pointer.at) };
        change(pose);
        done(pose);
      },
      cancel() {
        drag = null;
      },
    };
  };

  /** @type {Record<ToolName, import('../view.js').Tool>} */
  const tools = {
    pan: {
      cursor: 'grab',
      hover: (pointer) => {
        const id = stationAt(pointer)?.id ?? '';
        if (id !== hovered) {
          hovered = id;
          view.request();
        }
      },
    },
    area: {
      down: (pointer) => {
        frame = [pointer.at, pointer.at];
        return true;
      },
      move: (pointer) => {
        if (frame) frame = [frame[0], pointer.at];
        view.request();
      },
      up: () => {
        const chosen = frame;
        frame = null;
        if (chosen && distance(...chosen) * view.scale > 12) view.fit(boundsOf(chosen));
        setTool('pan');
      },
      cancel: () => (frame = null),
    },
    pose: poseTool(
      () => ghost ?? status?.estimated ?? null,
      (pose) => {
        ghost = pose;
        view.request();
      },
      (pose) => void place(pose),
    ),
    target: poseTool(
      () => target ?? (status ? { ...status.estimated } : null),
      (pose) => {
        target = pose;
        showTarget();
        view.request();
      },
      () => showTarget(),
    ),
    station: {
      hover: (pointer) => tools.pan.hover?.(pointer),
      down: (pointer) => {
        const station = stationAt(pointer);
        if (!station) return false;
        void toStation(station.name);
        return true;
      },
    },
    obstacle: {
      down: (pointer) => {
        void app.order(name('mouse_move'), { x: pointer.at.x, y: pointer.at.y, present: true });
        return true;
      },
      alternate: (pointer) => {
        void app.order(name('mouse_move'), { x: pointer.at.x, y: pointer.at.y, present: false });
      },
    },
  };

  const hint = h('div', { class: 'guide-line', attrs: { role: 'status' } });
  /** @type {Map<ToolName, HTMLButtonElement>} */
  const toolButtons = new Map();
  for (const tool of TOOLS) {
    const one = button(tool.key, () => setTool(tool.name), { icon: tool.icon, iconOnly: true });
    one.dataset.tool = tool.name;
    toolButtons.set(tool.name, one);
  }
  /** @param {ToolName} next */
  function setTool(next) {
    toolName = next;
    ghost = null;
    const tool = TOOLS.find((one) => one.name === next);
    view.setTool({ ...tools[next], cursor: tool?.cursor });
    for (const [one, element] of toolButtons) element.setAttribute('aria-pressed', String(one === next));
    if (next === 'target' && !target && status) target = { ...status.estimated };
    if (next !== 'target') target = null;
    showTarget();
    showHint();
    view.request();
  }
  function showHint() {
    const tool = TOOLS.find((one) => one.name === toolName);
    put(hint, tool && toolName !== 'pan' ? t(tool.hint) : '');
  }
  const fit = () => {
    const points = [
      ...(map ? mapPoints(map) : []),
      ...(roadmap ? roadmapPoints(roadmap) : []),
      ...(status ? [status.estimated] : []),
    ];
    view.fitPoints(points);
  };
  const go = button('target.go', () => void toTarget(), { class: 'primary', icon: 'flag' });
  /** Fields of the target: x and y in m, direction in degrees. */
  const targetFields = /** @type {const} */ (['x', 'y', 'theta']).map((axis) => {
    const shownName = axis === 'theta' ? '°' : `${axis}, m`;
    const input = h('input', { attrs: { type: 'number', step: axis === 'theta' ? 5 : 0.1, 'aria-label': shownName } });
    input.addEventListener('change', () => {
      const value = Number(input.value);
      if (!target || input.value === '' || !Number.isFinite(value)) return;
      target = { ...target, [axis]: axis === 'theta' ? (value * Math.PI) / 180 : value };
      view.request();
    });
    return { axis, input, root: h('label', { class: 'field' }, h('span', {}, shownName), input) };
  });
  const targetCard = h(
    'div',
    { class: 'stack' },
    h('div', { class: 'grid3' }, ...targetFields.map((one) => one.root)),
    go,
  );
  targetCard.hidden = true;
  function showTarget() {
    targetCard.hidden = !target;
    if (!target) return;
    for (const { axis, input } of targetFields) {
      const value = axis === 'theta' ? degrees(target.theta) : target[axis];
      if (document.activeElement !== input) input.value = value.toFixed(axis === 'theta' ? 0 : 2);
    }
  }

  // Orders.
  const preparation = new Preparation(app, name, () => (isSilent() ? null : status));
  async function toTarget() {
    if (!target || !(await preparation.to(Mode.AUTOMATIC, t('prepare.target')))) return;
    if (target) await app.order(name('move_abs'), { pose: target });
  }
  /** @param {string} station */
  async function toStation(station) {
    if (!(await preparation.to(Mode.AUTOMATIC, t('prepare.station', { name: station })))) return;
    if (await app.order(name('move_to_station'), { station })) app.toast('info', t('station.sent', { name: station }));
  }
  /** @param {Pose} pose */
  async function place(pose) {
    if (await app.order(name('set_frm_pltf'), { pose })) app.toast('info', t('pose.sent'));
    ghost = null;
    view.request();
  }
  const handDrive = () => preparation.to(Mode.JOYSTICK, t('prepare.hand'));

  // Panel.
  const stateChip = h('span', { class: 'chip', attrs: { id: 'platform-state' } });
  const warnings = h('div', { class: 'row tight' });
  const modeSelect = h(
    'select',
    { class: 'grow', label: 'platform.mode', on: { change: () => void setMode() } },
    ...MODES.map((key, at) => h('option', { t: key, attrs: { value: at } })),
  );
  const modeWhy = h('span', { class: 'hint' });
  let modeBusy = false;
  async function setMode() {
    modeBusy = true;
    await app.order(name('set_mode'), { mode: Number(modeSelect.value) });
    modeBusy = false;
    showStatus();
  }
  const poseValue = h('dd', { attrs: { id: 'platform-pose' } });
  const velocity = h('dd');
  const deviation = h('dd');
  const battery = h('dd');
  const planner = h('dd');
  const stations = h('div', { class: 'grid2' });
  const log = h('ul', { class: 'log' });
  let loggedNumber = 0;
  const sayOnce = explainer((why) => app.toast('info', t(why)));
  const pad = jogPad((vector, scale) => {
    if (!pad.root.classList.contains('ready')) return sayOnce(vector, 'platform.handHint');
    const message = twist(
      vector.x * scale * limits.linear,
      vector.turn * scale * limits.angular,
      vector.y * scale * limits.linear,
    );
    bridge.publish(name('cmd_vel'), 'geometry_msgs/msg/Twist', message);
  });
  const handHint = h('p', { class: 'hint', t: 'platform.handHint' });
  const handButton = button('platform.hand', () => void handDrive(), { icon: 'robot' });
  const choice = h('select', {
    class: 'grow',
    label: 'platform.choose',
    on: { change: (event) => app.choose('platform', event.target.value) },
  });
  const trigger = (/** @type {string} */ service) => () => void app.order(name(service));
  let isConnected = false;
  /** The buttons of the state machine: the button, and what it does. */
  const buttons = {
    connect: stateButton('connect', 'platform.connect', 'help.connect', async () => {
      isConnected = await app.order(name('connect_to_pltf'));
      showStatus();
    }),
    initialize: stateButton('initialize', 'platform.init', 'help.initialize', trigger('init_pltf')),
    shutdown: stateButton('shutdown', 'platform.shutdown', 'help.shutdown', () => {
      isConnected = false;
      void app.order(name('shutdown_pltf'));
    }),
    start: stateButton('start', 'motion.start', 'help.start', trigger('start'), 'play'),
    stop: stateButton('stop', 'motion.stop', 'help.stop', trigger('stop'), 'stop'),
    break: stateButton('break', 'motion.break', 'help.break', trigger('break'), 'pause'),
    continue: stateButton('continue', 'motion.continue', 'help.continue', trigger('continue'), 'resume'),
  };
  /**
   * @param {Exclude<Parameters<typeof obstacleOf>[0], 'mode' | 'drive'>} id @param {Key} key @param {Key} help
   * @param {() => unknown} act @param {import('../dom.js').Icon} [sign]
   */
  function stateButton(id, key, help, act, sign) {
    const click = () => {
      const why = obstacleOf(id, isSilent() ? null : status);
      if (why) app.toast('info', t(why));
      else void act();
    };
    const element = button(key, click, { icon: sign, class: sign ? '' : 'small' });
    element.dataset.action = id;
    return { element, help };
  }

  /** Recording and replay of motions: 1 and 2 start and stop a recording, 3 and 4 a replay. */
  const motionEvent = (/** @type {number} */ event) => () => void app.order(name('set_event'), { event });

  const stateCard = card(
    'platform.state',
    h(
      'dl',
      { class: 'facts' },
      ...fact('fact.pose', poseValue),
      ...fact('fact.velocity', velocity),
      ...fact('fact.deviation', deviation),
      ...fact('fact.battery', battery),
      ...fact('fact.planner', planner),
    ),
  );
  const panel = h(
    'div',
    { class: 'panel' },
    choice,
    h(
      'section',
      { class: 'card stack' },
      h('div', { class: 'row spread' }, stateChip, warnings),
      h('div', { class: 'grid3' }, buttons.connect.element, buttons.initialize.element, buttons.shutdown.element),
      h('label', { class: 'field' }, h('span', { t: 'platform.mode' }), modeSelect, modeWhy),
      h(
        'div',
        { class: 'grid2' },
        buttons.start.element,
        buttons.stop.element,
        buttons.break.element,
        buttons.continue.element,
      ),
      targetCard,
    ),
    card('platform.stations', stations),
    h(
      'section',
      { class: 'card stack' },
      h('div', { class: 'row spread' }, h('h2', { t: 'platform.jog' }), handButton),
      pad.root,
      handHint,
    ),
    stateCard,
    foldable(
      'view.title',
      false,
      ...OPTIONS.map(([option, key]) =>
        checkbox(key, shown[option], (checked) => {
          shown[option] = checked;
          view.hasGrid = shown.grid;
          saveOptions();
          view.request();
        }),
      ),
    ),
    foldable(
      'platform.sensors',
      false,
      h(
        'div',
        { class: 'row tight' },
        button('sonic.start', () => void app.order(name('start_ultrasonic'), { channel: 0xffff }), { class: 'small' }),
        button('sonic.stop', trigger('stop_ultrasonic'), { class: 'small' }),
      ),
      h(
        'div',
        { class: 'row tight' },
        button('mapping.start', trigger('mapping_start'), { class: 'small' }),
        button('mapping.stop', trigger('mapping_stop'), { class: 'small' }),
        button('mapping.reset', trigger('mapping_reset'), { class: 'small' }),
      ),
      h(
        'div',
        { class: 'row tight' },
        button('record.start', motionEvent(1), { class: 'small' }),
        button('record.stop', motionEvent(2), { class: 'small' }),
        button('record.replay', motionEvent(3), { class: 'small' }),
        button('record.end', motionEvent(4), { class: 'small' }),
      ),
      h(
        'div',
        { class: 'row tight' },
        ...[1, 2, 3, 4].map((event) =>
          h(
            'button',
            { class: 'button small', attrs: { type: 'button' }, on: { click: trigger(`debug${event}`) } },
            `debug${event}`,
          ),
        ),
      ),
    ),
    foldable('platform.messages', false, log),
  );
  const coordinates = h('span', { class: 'chip value hide-narrow' });
  canvas.addEventListener('pointermove', (event) => {
    const { x, y } = view.pointer(event).at;
    put(coordinates, `${number(x, 2)} · ${number(y, 2, 'm')}`);
  });
  const colors = legend([
    ['robot', 'legend.platform'],
    ...OF_MAP,
    ...OF_ROADMAP,
    ['laser', 'legend.laser'],
    ['path', 'legend.path'],
    ['obstacle', 'legend.obstacle'],
    ['particle', 'legend.particle'],
  ]);
  const again = button('tool.refresh', () => void refresh(), { icon: 'refresh', iconOnly: true });
  const root = split(
    'map.tools',
    [toolGroup(again, ...zoomButtons(view, fit)), toolGroup(...toolButtons.values())],
    [h('div', { class: 'stage' }, canvas, h('div', { class: 'corner' }, coordinates), colors, hint)],
    panel,
  );
  canvas.addEventListener('keydown', (event) => {
    if (event.key === '0') fit();
    if (event.key === 'Escape') setTool('pan');
  });

  // What arrives.
  function received(/** @type {any} */ message) {
    status = message;
    seen = performance.now();
    if (shown.follow) view.center = { x: status.estimated.x, y: status.estimated.y };
    if (!isFitted && map) {
      isFitted = true;
      fit();
    }
    showStatus();
    view.request();
  }
  const isSilent = () => !status || performance.now() - seen > STALE_MS;
  function showButtons() {
    const known = isSilent() ? null : status;
    const next = nextButton(known, isConnected);
    for (const [id, { element, help }] of Object.entries(buttons)) {
      const action = /** @type {keyof typeof buttons} */ (id);
      setAvailable(element, obstacleOf(action, known), /** @type {Key} */ (help));
      element.classList.toggle('primary', action === next);
    }
    const why = obstacleOf('mode', known);
    modeSelect.disabled = why !== null;
    put(modeWhy, why && known ? t(why) : '');
  }
  function showStatus() {
    showButtons();
    if (isSilent()) {
      markers = [];
      view.request();
      stateChip.className = 'chip bad';
      say(stateChip, 'state.silent');
      return;
    }
    const state = status.operation_state;
    const { key, level } = activity(status);
    stateChip.className = `chip ${level}`;
    say(stateChip, key);
    stateChip.dataset.state = String(state);
    if (!modeBusy && document.activeElement !== modeSelect) modeSelect.value = String(status.motion_mode);
    /** @type {[boolean, Key][]} */
    const list = [
      [status.emergency_state === 1, 'warn.emergency'],
      [status.emergency_state === 2, 'warn.reset'],
      [status.collision, 'warn.collision'],
      [status.localization_lost, 'warn.lost'],
      [status.blind, 'warn.blind'],
    ];
    const active = list.filter(([on]) => on).map(([, key]) => key);
    if (warnings.dataset.keys !== active.join()) {
      warnings.dataset.keys = active.join();
      warnings.replaceChildren(...active.map((key) => h('span', { class: 'chip bad', t: key })));
    }
    put(poseValue, poseText(status.estimated));
    put(
      velocity,
      `${number(status.translation_velocity, 2, 'm/s')} · ${number(degrees(status.rotation_velocity), 0, '°/s')}`,
    );
    put(
      deviation,
      `${number(status.principal_deviation, 3, 'm')} · ${number(degrees(status.heading_deviation), 1, '°')}`,
    );
    const isHand = state === Operation.STARTED && [Mode.JOYSTICK, Mode.VELOCITY].includes(status.motion_mode);
    handHint.hidden = isHand;
    pad.root.classList.toggle('ready', isHand);
    put(planner, `${t(targetOf(status))} · ${t(PLANNER[status.planner_state] ?? 'planner.0')}`);
  }
  async function readMapDocument() {
    try {
      const answer = await bridge.request(name('get_map'));
      map = readMap(answer.document);
      if (!isFitted && map.items.length) {
        isFitted = Boolean(status);
        fit();
      }
    } catch (error) {
      map = null;
      if (bridge.isOpen) app.fail(error);
    }
    view.request();
  }
  async function readRoadmapDocument() {
    try {
      roadmap = readRoadmap((await bridge.request(name('get_roadmap'))).document);
    } catch {
      roadmap = null;
    }
    stations.replaceChildren(
      ...(roadmap?.stations ?? []).map((station) =>
        h(
          'button',
          {
            class: 'button',
            attrs: { type: 'button', 'data-station': station.name },
            on: { click: () => void toStation(station.name) },
          },
          icon('station'),
          station.name,
        ),
      ),
    );
    if (!roadmap?.stations.length) stations.replaceChildren(h('p', { class: 'hint', t: 'platform.noStations' }));
    view.request();
  }
  async function readGeometry() {
    try {
      const { parameters } = await bridge.request(name('get_pltf_param_vec'));
      /** @type {Map<string, number>} */
      const values = new Map(parameters.map((/** @type {any} */ one) => [one.key, Number(one.value)]));
      const value = (/** @type {string} */ key, /** @type {number} */ otherwise) => values.get(key) ?? otherwise;
      size = { ...size, length: value('PltfLength', 900) / 1000 };
      limits = { linear: value('IpoTransVel', 500) / 1000, angular: value('IpoRotvel', 0.6) };
      sensors = SENSORS.map((at) => ({
        x: value(`UltraSonic${at}X`, 0) / 1000,
        y: value(`UltraSonic${at}Y`, 0) / 1000,
        theta: (value(`UltraSonic${at}Angle`, 0) * Math.PI) / 180,
        range: 0,
      }));
      const geometry = await bridge.request(name('get_geometry'));
      size = { length: geometry.size.x, width: geometry.size.y };
    } catch (error) {
      if (bridge.isOpen) app.fail(error);
    }
    view.request();
  }
  async function readDebug() {
    try {
      const { data } = await bridge.request(name('get_debug_data'), {}, { timeout: 2000 });
      markers = data.objects?.markers ?? [];
      const numbers = data.log_numbers ?? [];
      numbers.forEach((/** @type {number} */ one, /** @type {number} */ at) => {
        if (one <= loggedNumber) return;
        loggedNumber = one;
        log.prepend(
          h('li', {}, h('time', {}, new Date().toLocaleTimeString([], { hour12: false })), h('span'), data.log[at]),
        );
      });
      while (log.children.length > 100) log.lastChild?.remove();
    } catch {
      markers = [];
    }
    view.request();
  }
  async function refresh() {
    await Promise.all([readMapDocument(), readRoadmapDocument(), readGeometry()]);
  }
  function showChoice() {
    const { platforms } = app.graph.machines;
    choice.hidden = platforms.length < 2;
    choice.replaceChildren(
      ...platforms.map((one) => h('option', { attrs: { value: one, selected: one === app.platform } }, one)),
    );
  }
  onLanguage(() => {
    showHint();
    showStatus();
    view.request();
  });
  setTool('pan');
  showChoice();

  const enter = () => {
    /** @type {(() => void)[]} */
    let ends = [];
    let isPolling = false;
    const begin = () => {
      for (const end of ends) end();
      status = null;
      isConnected = false;
      ends = [
        bridge.subscribe(name('status'), 'dragoman_msgs/msg/PlatformStatus', received, { throttle: 100 }),
        bridge.subscribe(name('battery_state'), 'sensor_msgs/msg/BatteryState', (message) => {
          const charge = message.percentage === null ? '' : ` · ${number(message.percentage * 100, 0, '%')}`;
          put(battery, `${number(message.voltage, 1, 'V')}${charge}`);
        }),
        bridge.subscribe(name('map'), 'nav_msgs/msg/OccupancyGrid', () => void readMapDocument(), {
          compression: 'cbor',
        }),
      ];
      if (bridge.isOpen) void refresh();
    };
    begin();
    const opened = () => bridge.isOpen && void refresh();
    bridge.addEventListener('state', opened);
    app.addEventListener('platform', begin);
    app.graph.addEventListener('change', showChoice);
    const timer = setInterval(async () => {
      showStatus();
      const wants = shown.obstacles || shown.particles || shown.lines;
      if (isPolling || document.hidden || !bridge.isOpen || !wants) return;
      isPolling = true;
      await readDebug();
      isPolling = false;
    }, DEBUG_MS);
    const slow = setInterval(() => bridge.isOpen && !document.hidden && void readRoadmapDocument(), 15000);
    const endMarks = markOld(bridge, [[stateCard, () => name('status')]]);
    return () => {
      endMarks();
      pad.release();
      clearInterval(timer);
      clearInterval(slow);
      bridge.removeEventListener('state', opened);
      app.removeEventListener('platform', begin);
      app.graph.removeEventListener('change', showChoice);
      for (const end of ends) end();
    };
  };
  return { root, enter };

  function loadOptions() {
    /** @type {Record<string, boolean>} */
    const options = Object.fromEntries(OPTIONS.map(([option, , isOn]) => [option, isOn]));
    try {
      Object.assign(options, JSON.parse(localStorage.getItem(OPTIONS_KEY) ?? '{}'));
    } catch {
      // The defaults.
    }
    return options;
  }
  function saveOptions() {
    try {
      localStorage.setItem(OPTIONS_KEY, JSON.stringify(shown));
    } catch {
      // They last for this visit only.
    }
  }
}

/** @param {Key} key @param {HTMLElement} value */
function fact(key, value) {
  return [h('dt', { t: key }), value];
}

/** @param {number} radians */
const degrees = (radians) => (radians * 180) / Math.PI;

/** @param {Pose} pose */
function poseText(pose) {
  return `${number(pose.x, 2)} · ${number(pose.y, 2, 'm')} · ${number(degrees(pose.theta), 0, '°')}`;
}
