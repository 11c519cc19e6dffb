/** The world from above: bodies, robots, lasers and landmarks; what is dragged is placed. */

import { markOld } from '../aging.js';
import { button, card, checkbox, foldable, h } from '../dom.js';
import { boundsOf, contains, hull, normalize, yawOf } from '../geometry.js';
import { onLanguage, t } from '../i18n.js';
import { split, toolGroup, zoomButtons } from '../layout.js';
import { apply, ofPose } from '../spatial.js';
import { Transforms } from '../transforms.js';
import { View } from '../view.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../geometry.js').Point} Point */
/**
 * A shape seen from above.
 * @typedef {object} Shape
 * @property {string} owner Namespace of the marker.
 * @property {Point[][]} polygons m
 * @property {string} color
 * @property {number} top Its highest z, m.
 * @property {boolean} isFloor
 * @property {boolean} isLandmark
 */
/** @typedef {{ x: number, y: number, z: number, yaw: number }} Place m and rad. */

const [CUBE, SPHERE, CYLINDER, TRIANGLES] = [1, 2, 3, 11];
const DELETE_ALL = 3;
const ROUND = Array.from({ length: 16 }, (_, at) => (at / 16) * 2 * Math.PI);
const SCAN = 'sensor_msgs/msg/LaserScan';
const STEP = Math.PI / 12;

/** @param {any} marker @returns {Shape} */
function shapeOf(marker) {
  const pose = ofPose(marker.pose);
  const { x: sx, y: sy, z: sz } = marker.scale;
  /** @type {[number, number, number][]} */
  let points = [];
  /** @type {Point[][]} */
  let polygons = [];
  const flat = (/** @type {[number, number, number]} */ [x, y]) => ({ x, y });
  if (marker.type === TRIANGLES) {
    points = marker.points.map((/** @type {any} */ one) => apply(pose, [one.x, one.y, one.z]));
    for (let at = 0; at + 2 < points.length; at += 3) polygons.push(points.slice(at, at + 3).map(flat));
  } else {
    if (marker.type === CUBE) {
      for (const x of [-sx / 2, sx / 2]) {
        for (const y of [-sy / 2, sy / 2]) for (const z of [-sz / 2, sz / 2]) points.push(apply(pose, [x, y, z]));
      }
    } else if (marker.type === CYLINDER) {
      for (const angle of ROUND) {
        const [x, y] = [(sx / 2) * Math.cos(angle), (sy / 2) * Math.sin(angle)];
        points.push(apply(pose, [x, y, -sz / 2]), apply(pose, [x, y, sz / 2]));
      }
    } else if (marker.type === SPHERE) {
      points = ROUND.map((angle) => [
        pose[3] + (sx / 2) * Math.cos(angle),
        pose[7] + (sx / 2) * Math.sin(angle),
        pose[11] + sx / 2,
      ]);
    }
    polygons = points.length ? [hull(points.map(flat))] : [];
  }
  const top = Math.max(...points.map(([, , z]) => z), -Infinity);
  const { r, g, b, a } = marker.color;
  const color = `rgba(${[r, g, b].map((one) => Math.round(one * 255)).join(',')},${a || 1})`;
  const isLandmark = /(^|\/)landmarks$/.test(marker.ns);
  return { owner: marker.ns, polygons, color, top, isFloor: top <= 0.002 && !isLandmark, isLandmark };
}

/** @param {App} app @returns {import('../app.js').Page} */
export function worldPage(app) {
  const { bridge } = app;
  const transforms = new Transforms();
  /** @type {Map<string, { key: string, shape: Shape }>} */
  const shapes = new Map();
  /** Shapes from the lowest to the highest. @type {Shape[]} */
  let ordered = [];
  /** @type {Map<string, Place>} */
  const places = new Map();
  /** @type {Map<string, any>} */
  const scans = new Map();
  /** @type {string | null} */
  let selected = null;
  /** Where the selected thing is dragged to. @type {Place | null} */
  let ghost = null;
  let isFitted = false;
  const shown = { labels: true, lasers: true, landmarks: true, grid: true };
  let world = '/apolo';

  const canvas = h('canvas', { label: 'world.canvas', attrs: { tabindex: 0, role: 'img' } });
  const view = new View(canvas, draw);

  /** The thing that a marker belongs to. @param {string} owner */
  function ownerOf(owner) {
    if (places.has(owner)) return owner;
    for (const name of places.keys()) if (owner.startsWith(`${name}/`)) return name;
    return null;
  }

  function draw() {
    for (const shape of ordered) {
      if (shape.isLandmark) {
        if (!shown.landmarks) continue;
        const center = boundsOf(shape.polygons.flat());
        if (center) view.disc(middle(center), 4, view.color('reflector'), view.color('canvas'), 1);
        continue;
      }
      const isChosen = selected !== null && ownerOf(shape.owner) === selected;
      const stroke = isChosen ? view.color('select') : view.color(shape.isFloor ? 'grid-axis' : 'muted');
      view.context.globalAlpha = shape.isFloor ? 0.25 : 0.72;
      for (const polygon of shape.polygons)
        view.polygon(polygon, shape.isFloor ? view.color('grid') : shape.color, null);
      view.context.globalAlpha = 1;
      if (shape.polygons.length === 1) view.polygon(shape.polygons[0], null, stroke, isChosen ? 2.5 : 1);
    }
    if (shown.lasers) drawScans();
    if (selected && ghost) drawGhost();
    drawNames();
  }

  /** Names of things, the chosen one and the highest first; one that would be on another is left out. */
  function drawNames() {
    /** @type {Map<string, number>} */
    const tops = new Map();
    for (const shape of ordered) {
      const owner = ownerOf(shape.owner);
      if (owner) tops.set(owner, Math.max(tops.get(owner) ?? 0, shape.top));
    }
    const rank = (/** @type {string} */ name) => (name === selected ? Infinity : (tops.get(name) ?? 0));
    /** @type {{ x: number, y: number, width: number }[]} */
    const drawn = [];
    for (const [name, place] of [...places].sort(([a], [b]) => rank(b) - rank(a))) {
      const isChosen = name === selected;
      if (isChosen && !ghost) view.disc(place, 4, view.color('select'));
      if (!shown.labels || (!isChosen && /wall|floor/.test(name))) continue;
      const { x, y } = view.toScreen(place);
      const width = 7 * name.length;
      const isFree = drawn.every(
        (one) => Math.abs(one.y - y) >= 12 || x >= one.x + one.width || one.x >= x + width,
      );
      if (!isFree) continue;
      drawn.push({ x, y, width });
      view.text(place, name, view.color(isChosen ? 'select' : 'text'), { dx: 8, dy: -10, size: isChosen ? 13 : 11 });
    }
  }

  function drawGhost() {
    const place = selected && places.get(selected);
    if (!place || !ghost) return;
    const turn = ghost.yaw - place.yaw;
    const [cos, sin] = [Math.cos(turn), Math.sin(turn)];
    for (const shape of ordered) {
      if (ownerOf(shape.owner) !== selected) continue;
      for (const polygon of shape.polygons) {
        const movedTo = polygon.map(({ x, y }) => {
          const [dx, dy] = [x - place.x, y - place.y];
          return {
            x: /** @type {Place} */ (ghost).x + cos * dx - sin * dy,
            y: /** @type {Place} */ (ghost).y + sin * dx + cos * dy,
          };
        });
        view.polygon(movedTo, null, view.color('select'), 1.5, [5, 4]);
      }
    }
  }

  function drawScans() {
    for (const scan of scans.values()) {
      const { root, motion } = transforms.find(scan.header.frame_id);
      if (root === scan.header.frame_id) continue;
      /** @type {Point[]} */
      const points = [];
      scan.ranges.forEach((/** @type {number | null} */ range, /** @type {number} */ at) => {
        if (range === null || !(range >= scan.range_min && range <= scan.range_max)) return;
        const angle = scan.angle_min + at * scan.angle_increment;
        const [x, y] = apply(motion, [range * Math.cos(angle), range * Math.sin(angle), 0]);
        points.push({ x, y });
      });
      view.dots(points, view.color('laser'), 2);
    }
  }

  // Moving things.
  const thingAt = (/** @type {import('../view.js').Pointer} */ pointer) => {
    // What is chosen in the list may be below something else.
    const chosen = selected === null ? undefined : places.get(selected);
    if (chosen && Math.hypot(chosen.x - pointer.at.x, chosen.y - pointer.at.y) <= pointer.reach) return selected;
    for (const shape of [...ordered].reverse()) {
      if (shape.isFloor || shape.isLandmark) continue;
      const owner = ownerOf(shape.owner);
      if (owner && shape.polygons.some((polygon) => contains(polygon, pointer.at))) return owner;
    }
    const near = [...places].find(
      ([name, place]) =>
        !/floor/.test(name) && Math.hypot(place.x - pointer.at.x, place.y - pointer.at.y) <= pointer.reach * 1.5,
    );
    return near?.[0] ?? null;
  };
  /** @type {{ at: Point, from: Place } | null} */
  let drag = null;
  view.setTool({
    cursor: 'pointer',
    down: (pointer) => {
      const name = thingAt(pointer);
      const place = name && places.get(name);
      if (!name || !place) {
        selected = null;
        showSelected();
        return false;
      }
      const wasSelected = selected === name;
      selected = name;
      showSelected();
      if (!wasSelected && /wall/.test(name)) return false;
      drag = { at: pointer.at, from: place };
      return true;
    },
    move: (pointer) => {
      if (!drag) return;
      const [dx, dy] = [pointer.at.x - drag.at.x, pointer.at.y - drag.at.y];
      if (!ghost && Math.hypot(dx, dy) * view.scale < 5) return;
      ghost = { ...drag.from, x: round(drag.from.x + dx), y: round(drag.from.y + dy) };
      showSelected();
    },
    up: () => {
      drag = null;
      if (selected && ghost) void placeAt(selected, ghost);
    },
    alternate: () => turn(STEP),
    cancel: () => {
      drag = null;
      ghost = null;
    },
  });
  canvas.addEventListener('keydown', (event) => {
    if (event.key === '0') fit();
    if (event.key === 'Escape') {
      selected = ghost = null;
      showSelected();
    }
  });

  /** @param {number} angle rad */
  function turn(angle) {
    const place = selected && places.get(selected);
    if (selected && place) void placeAt(selected, { ...place, yaw: normalize(place.yaw + angle) });
  }

  /** Places a thing: a robot on wheels is dropped onto the ground, everything else is put where it says.
   * @param {string} name @param {Place} place */
  async function placeAt(name, place) {
    try {
      const { x, y, yaw } = place;
      // Only a robot on wheels has odometry.
      const { success: isRobot } = await bridge.call(`${world}/get_odometry`, { world: '', robot: name });
      if (isRobot) {
        const position = { x, y, z: Math.max(place.z, 0) + 0.02 };
        const { placed } = await bridge.request(`${world}/place_m_robot`, { world: '', robot: name, position, yaw });
        if (!placed) app.toast('error', t('world.refused', { name }));
      } else {
        const { rpy } = await bridge.request(`${world}/get_location`, { world: '', object: name });
        const position = { x, y, z: place.z };
        await bridge.request(`${world}/place`, { world: '', object: name, position, rpy: { ...rpy, z: yaw } });
      }
    } catch (error) {
      app.fail(error);
    }
    ghost = null;
    showSelected();
  }

  const fields = h('div', { class: 'stack' });
  const list = h('div', { class: 'items' });
  let listed = '';
  function showList() {
    const key = `${[...places.keys()].join()} ${selected}`;
    if (key === listed) return;
    listed = key;
    list.replaceChildren(
      ...[...places.keys()].sort().map((name) =>
        h(
          'button',
          {
            attrs: { type: 'button', 'aria-pressed': String(name === selected) },
            on: {
              click: () => {
                selected = name;
                ghost = null;
                showSelected();
              },
            },
          },
          name,
        ),
      ),
    );
  }
  function showSelected() {
    showList();
    view.request();
    const place = ghost ?? (selected ? places.get(selected) : undefined);
    if (!selected || !place) {
      fields.replaceChildren(h('p', { class: 'hint', t: 'world.hint' }));
      return;
    }
    if (fields.contains(document.activeElement) && fields.dataset.name === selected && !ghost) return;
    fields.dataset.name = selected;
    const name = selected;
    const input = (/** @type {keyof Place} */ axis, /** @type {number} */ value, /** @type {number} */ step) =>
      h('input', { attrs: { type: 'number', step, value: Number(value.toFixed(3)), name: axis, 'aria-label': axis } });
    const inputs = {
      x: input('x', place.x, 0.05),
      y: input('y', place.y, 0.05),
      z: input('z', place.z, 0.05),
      yaw: input('yaw', (place.yaw * 180) / Math.PI, 5),
    };
    const row = (/** @type {keyof Place} */ axis, /** @type {string} */ unit) => [
      h('span', { class: 'hint' }, axis),
      inputs[axis],
      h('span', { class: 'hint' }, unit),
    ];
    fields.replaceChildren(
      h('strong', {}, name),
      h('div', { class: 'axes' }, ...row('x', 'm'), ...row('y', 'm'), ...row('z', 'm'), ...row('yaw', '°')),
      h(
        'div',
        { class: 'row tight' },
        button(
          'world.place',
          () => {
            const value = (/** @type {keyof Place} */ axis) => Number(inputs[axis].value);
            void placeAt(name, { x: value('x'), y: value('y'), z: value('z'), yaw: (value('yaw') * Math.PI) / 180 });
          },
          { class: 'primary' },
        ),
        button('world.left', () => turn(STEP), { class: 'small' }),
        button('world.right', () => turn(-STEP), { class: 'small' }),
      ),
    );
  }

  function fit() {
    view.fitPoints(ordered.flatMap((shape) => shape.polygons.flat()));
  }

  // What arrives.
  /** @param {any} message MarkerArray */
  function markers(message) {
    for (const marker of message.markers) {
      if (marker.action === DELETE_ALL) {
        shapes.clear();
        continue;
      }
      const id = `${marker.ns} ${marker.id}`;
      const key = JSON.stringify(marker.pose);
      if (shapes.get(id)?.key !== key) shapes.set(id, { key, shape: shapeOf(marker) });
    }
    ordered = [...shapes.values()].map((one) => one.shape).sort((a, b) => a.top - b.top);
    if (!isFitted && ordered.length) {
      isFitted = true;
      fit();
    }
    view.request();
  }
  /** @param {any} message TFMessage */
  function poses(message) {
    for (const one of message.transforms) {
      const { translation, rotation } = one.transform;
      places.set(one.child_frame_id, { x: translation.x, y: translation.y, z: translation.z, yaw: yawOf(rotation) });
    }
    if (!drag) showSelected();
    else view.request();
  }

  const lasers = h('div', { class: 'list' });
  const option = (/** @type {keyof typeof shown} */ name, /** @type {import('../texts.js').Key} */ key) =>
    checkbox(key, shown[name], (checked) => {
      shown[name] = checked;
      view.hasGrid = shown.grid;
      follow();
      view.request();
    });
  const simulation = h('span', { class: 'value' }, '–');
  const trigger = (/** @type {string} */ name) => () => void app.order(`${app.graph.root}/simulation/${name}`);
  const stage = h('div', { class: 'stage' }, canvas, h('div', { class: 'guide-line', t: 'world.guide' }));
  const root = split(
    'map.tools',
    [toolGroup(...zoomButtons(view, fit))],
    [stage],
    h(
      'div',
      { class: 'panel' },
      card('edit.selection', fields),
      card(
        'world.simulation',
        h(
          'div',
          { class: 'stack' },
          h('div', { class: 'row spread' }, h('span', { class: 'hint', t: 'turtle.state' }), simulation),
          h(
            'div',
            { class: 'grid2' },
            button('turtle.start', trigger('start'), { icon: 'play' }),
            button('turtle.pause', trigger('pause'), { icon: 'pause' }),
          ),
        ),
      ),
      foldable(
        'view.title',
        true,
        option('grid', 'view.grid'),
        option('labels', 'view.labels'),
        option('landmarks', 'world.landmarks'),
        option('lasers', 'world.lasers'),
        lasers,
      ),
      card('edit.objects', list),
    ),
  );

  /** @type {Map<string, () => void>} */
  const scanEnds = new Map();
  /** @type {(() => void) | null} */
  let endTransforms = null;
  let isShown = false;
  /** Subscribes to the lasers while they are shown. */
  function follow() {
    const wanted = isShown && shown.lasers ? app.graph.topicsOf(SCAN) : [];
    // A platform repeats the scans of its base.
    const topics = wanted.filter(
      (name) => !app.graph.machines.platforms.some((platform) => name === `${platform}/scan`),
    );
    for (const [topic, end] of scanEnds) {
      if (topics.includes(topic)) continue;
      end();
      scanEnds.delete(topic);
      scans.delete(topic);
    }
    for (const topic of topics) {
      if (scanEnds.has(topic)) continue;
      const receive = (/** @type {any} */ scan) => {
        scans.set(topic, scan);
        view.request();
      };
      scanEnds.set(topic, bridge.subscribe(topic, SCAN, receive, { throttle: 200, compression: 'cbor' }));
    }
    if (topics.length && !endTransforms) endTransforms = transforms.follow(bridge, app.graph.root, () => {});
    if (!topics.length && endTransforms) {
      endTransforms();
      endTransforms = null;
    }
    lasers.replaceChildren(...topics.map((topic) => h('span', { class: 'hint mono' }, topic)));
  }
  onLanguage(() => {
    showSelected();
    view.request();
  });
  showSelected();

  const enter = () => {
    isShown = true;
    world = app.graph.machines.worlds[0] ?? '/apolo';
    const ends = [
      bridge.subscribe(`${world}/markers`, 'visualization_msgs/msg/MarkerArray', markers, { throttle: 250 }),
      bridge.subscribe(`${world}/poses`, 'tf2_msgs/msg/TFMessage', poses, { throttle: 100 }),
      bridge.subscribe(
        `${app.graph.root}/simulation/state`,
        'std_msgs/msg/String',
        (message) => (simulation.textContent = message.data),
      ),
    ];
    follow();
    app.graph.addEventListener('read', follow);
    const endMarks = markOld(bridge, [[stage, () => `${world}/poses`]]);
    return () => {
      endMarks();
      isShown = false;
      app.graph.removeEventListener('read', follow);
      follow();
      for (const end of ends) end();
    };
  };
  return { root, enter };
}

/** @param {import('../geometry.js').Bounds} bounds @returns {Point} */
const middle = ({ min, max }) => ({ x: (min.x + max.x) / 2, y: (min.y + max.y) / 2 });

/** To a mm. @param {number} value */
const round = (value) => Math.round(value * 1000) / 1000;
