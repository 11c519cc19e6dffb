/** The start page: the room with everything in it; what is chosen there is shown and driven beside it. */

import { markOld } from '../aging.js';
import { controlsOf } from '../controls.js';
import { isServer, levelOf, valueOf, worst } from '../diagnostics.js';
import { button, card, h } from '../dom.js';
import { number, onLanguage, t } from '../i18n.js';
import { logView } from '../log.js';
import { isThing, machinesIn } from '../machines.js';
import { CUBE, CYLINDER, Room, fan, movedOf, pieceOf } from '../room.js';
import { multiply } from '../spatial.js';
import { Transforms } from '../transforms.js';
import { readUrdf } from '../urdf.js';
import { isTouch, toolGroup, zoomButtons } from '../layout.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../machines.js').Machine} Machine */
/** @typedef {import('../room.js').Piece} Piece */
/** @typedef {import('../spatial.js').Motion} Motion */
/** A piece at an origin in a frame of the transforms. @typedef {Piece & { frame: string, origin: Motion }} Placed */

const MARKERS = 'visualization_msgs/msg/MarkerArray';
const DELETE_ALL = 3;
const AHEAD = { orientation: { x: 0, y: 0, z: 0, w: 1 }, position: { x: 0, y: 0, z: 0 } };
/** What stands for the ground where there is no world: a marker. */
const FLOOR = {
  ns: '',
  type: CUBE,
  pose: { ...AHEAD, position: { x: 0, y: 0, z: -0.002 } },
  scale: { x: 4, y: 4, z: 0.002 },
  color: { r: 0.82, g: 0.81, b: 0.77, a: 1 },
};
/** The plain body of a base (the size of a Kobuki) or of a platform, as a marker. @param {Machine} machine */
const bodyOf = ({ kind, tokens }) => {
  const [type, x, y, z] = kind === 'base' ? [CYLINDER, 0.355, 0.355, 0.11] : [CUBE, 0.8, 0.6, 0.35];
  const pose = { ...AHEAD, position: { x: 0, y: 0, z: z / 2 } };
  return {
    ns: tokens[0],
    type,
    pose,
    scale: { x, y, z },
    color: { r: 0.3, g: 0.32, b: 0.36, a: 1 },
  };
};
/**
 * What works without ROS comes first; only what this lab has.
 *
 * @param {{ domain: number, port: (protocol: RegExp) => number, hasBase: boolean }} lab
 * @returns {{ key: import('../texts.js').Key, text: string }[]}
 */
function nextSteps({ domain, port, hasBase }) {
  const [neobotix, apolo] = [port(/Neobotix/), port(/Apolo/)];
  const inDomain = domain ? `ROS_DOMAIN_ID=${domain} ` : '';
  const python = [
    'from dragoman_clients.neobotix import Neobotix',
    `with Neobotix("${location.hostname}", ${neobotix}) as platform:`,
    '    print(platform.go_to_station("middle"))',
  ];
  const octave = [`apoloConnect('${location.hostname}', ${apolo}, 5)`, "apoloMoveMRobot('Pioneer3AT', [0.3 0.2], 2)"];
  return [
    ...(neobotix ? [{ key: /** @type {const} */ ('start.python'), text: python.join('\n') }] : []),
    ...(apolo ? [{ key: /** @type {const} */ ('start.octave'), text: octave.join('\n') }] : []),
    ...(hasBase ? [{ key: /** @type {const} */ ('start.teleop'), text: `${inDomain}dragoman teleop` }] : []),
    { key: 'start.ros', text: `${inDomain}ros2 topic list` },
  ];
}
/** Counters of `/diagnostics` that count what clients have sent. */
const SENT = ['datagrams', 'requests', 'commands', 'messages'];

/** Time without poses after which a world counts as another one. */
const SILENCE_MS = 4000;

/** @param {App} app @returns {import('../app.js').Page} */
export function labPage(app) {
  const { bridge } = app;
  const room = new Room();
  /** @type {Machine[]} */
  let machines = [];
  /** The chosen machine's name, and what is shown of it. @type {string} */
  let chosen = '';
  /** @type {ReturnType<typeof controlsOf> | null} */
  let controls = null;
  let isShown = false;
  let world = '';

  const tabs = h('div', { class: 'row tight machines', label: 'start.machines', attrs: { role: 'group' } });
  const emptyHint = h('p', { class: 'hint', t: 'start.noMachine' });
  const chosenPart = h('div', { class: 'stack', attrs: { id: 'chosen' } });
  const connections = h('div', { class: 'connections' });
  const noConnections = h('p', { class: 'hint', t: 'start.noConnections' });
  const log = logView(app);

  // The room.
  const thingOf = (/** @type {Machine} */ machine) => room.pieces.filter((piece) => isThing(machine, piece.owner));
  room.isChosen = (owner) => {
    const machine = machines.find(({ name }) => name === chosen);
    return machine !== undefined && isThing(machine, owner);
  };
  room.labels = () =>
    machines.flatMap((machine) => {
      const own = thingOf(machine).filter((piece) => piece.triangles.length);
      if (!own.length || machine.kind === 'servos') return [];
      const top = Math.max(...own.map(({ pose }) => pose[11])) + 0.25;
      const at = /** @type {const} */ ([own[0].pose[3], own[0].pose[7], top]);
      return [{ text: machine.title, at, isChosen: machine.name === chosen, choose: () => choose(machine.name) }];
    });
  room.clicked = (owner) => {
    const machine = owner === null ? null : machines.find((one) => isThing(one, owner));
    if (machine) choose(machine.name);
  };

  /** Shows the shapes of a world, and then follows their poses. @returns {() => void} Ends that. */
  function followWorld() {
    let hasShapes = false;
    /** Poses that came before the shapes. @type {[number, Motion][]} */
    let early = [];
    const shapes = (/** @type {any} */ array) => {
      if (hasShapes) return;
      hasShapes = true;
      const markers = array.markers.filter((/** @type {any} */ marker) => marker.action !== DELETE_ALL);
      const frame = markers[0]?.header.frame_id;
      room.show(
        markers.map((/** @type {any} */ marker) => {
          const piece = pieceOf(marker);
          // Further worlds have frames of their own; only the first one is shown.
          return marker.header.frame_id === frame ? piece : { ...piece, triangles: [] };
        }),
      );
      for (const [at, pose] of early) if (room.pieces[at]) room.pieces[at].pose = pose;
      early = [];
      // They are large, and do not change.
      queueMicrotask(endShapes);
    };
    const endShapes = bridge.subscribe(`${world}/markers`, MARKERS, shapes, { compression: 'cbor' });
    let last = performance.now();
    const moved = (/** @type {any} */ message) => {
      // After a silence it may be another world.
      if (performance.now() - last > SILENCE_MS && hasShapes) return again();
      last = performance.now();
      const poses = movedOf(message);
      if (!hasShapes) early.push(...poses);
      for (const [at, pose] of poses) if (room.pieces[at]) room.pieces[at].pose = pose;
      room.request();
    };
    const endPoses = bridge.subscribe(`${world}/scene_poses`, 'dragoman_msgs/msg/ScenePoses', moved, {
      compression: 'cbor',
    });
    const endMarks = markOld(bridge, [[room.root, () => `${world}/scene_poses`]]);
    return () => {
      endShapes();
      endPoses();
      endMarks();
    };
  }

  /**
   * Without a world: a floor, and the robots at their transforms, as their descriptions have them. If there are no
   * descriptions, each base and platform is a plain body where its odometry has it.
   *
   * @returns {() => void} Ends that.
   */
  function followTransforms() {
    const transforms = new Transforms();
    /** All pieces. @type {Placed[]} */
    let placed = [];
    /** @type {Map<string, Placed[]>} */
    const robots = new Map();
    const place = (
      /** @type {string} */ topic,
      /** @type {Placed[]} */ pieces,
    ) => {
      robots.set(topic, pieces);
      placed = [...robots.values()].flat();
      room.show(placed);
      room.isFitted = false;
      move();
    };
    const move = () => {
      for (const piece of placed) piece.pose = multiply(transforms.find(piece.frame).motion, piece.origin);
      room.request();
    };
    const strings = app.graph.topicsOf('std_msgs/msg/String');
    const descriptions = strings.filter((topic) => topic.endsWith('/robot_description'));
    const ends = descriptions.map((topic) =>
      bridge.subscribe(topic, 'std_msgs/msg/String', ({ data }) => {
        const owner = topic.split('/').at(-2) ?? '';
        const robot = readUrdf(data);
        /** @type {Placed[]} */
        const pieces = [...robot.shapes].flatMap(([frame, shapes]) =>
          shapes.map(({ origin, faces, color }) => {
            const triangles = faces.flatMap(fan);
            return { owner: `${owner}/${frame}`, triangles, color, pose: origin, isGround: false, frame, origin };
          }),
        );
        place(topic, pieces);
      }),
    );
    const odometries = descriptions.length ? [] : app.graph.topicsOf('nav_msgs/msg/Odometry');
    for (const topic of odometries) {
      const end = bridge.subscribe(topic, 'nav_msgs/msg/Odometry', ({ child_frame_id: frame }) => {
        const space = topic.slice(0, topic.lastIndexOf('/'));
        const mobile = machines.filter(({ kind }) => kind === 'base' || kind === 'platform');
        const machine = mobile.find(({ name }) => name === space) ?? mobile[0];
        if (!machine || robots.has(topic)) return;
        queueMicrotask(end);
        const piece = pieceOf(bodyOf(machine));
        place(topic, [{ ...piece, frame, origin: piece.pose }]);
      });
      ends.push(end);
    }
    const floor = pieceOf(FLOOR);
    place('', [{ ...floor, frame: '', origin: floor.pose }]);
    const endTransforms = transforms.follow(bridge, app.graph.root, move);
    return () => {
      endTransforms();
      for (const end of ends) end();
    };
  }

  /** @type {() => void} */
  let endRoom = () => {};
  /** The sources of the picture. */
  let source = '';
  function followRoom() {
    const { worlds } = app.graph.machines;
    world = worlds[0] ?? '';
    const of = (/** @type {string} */ type) => app.graph.topicsOf(type).join();
    const now = !isShown ? '' : world || `transforms ${of('std_msgs/msg/String')} ${of('nav_msgs/msg/Odometry')}`;
    if (now === source) return;
    source = now;
    endRoom();
    room.fitsGround = !world;
    endRoom = !now ? () => {} : world ? followWorld() : followTransforms();
  }

  /** Takes the shapes again, which may be those of another world. */
  function again() {
    source = '';
    if (bridge.isOpen) followRoom();
  }

  // What is chosen.
  /** @param {string} name */
  function choose(name) {
    if (name === chosen && controls) return;
    chosen = name;
    controls?.leave();
    controls = null;
    const machine = machines.find((one) => one.name === name);
    if (machine && isShown) {
      controls = controlsOf(app, machine);
      chosenPart.replaceChildren(controls.root);
    } else {
      chosenPart.replaceChildren();
    }
    showTabs();
    room.request();
  }
  /** Level of each subject of `/diagnostics`. @type {Map<string, import('../diagnostics.js').Level>} */
  const levels = new Map();
  const worstOf = (/** @type {string} */ machine) =>
    worst([...levels].filter(([name]) => name.replace(':', '/').startsWith(`${machine}/`)).map(([, level]) => level));
  function showTabs() {
    emptyHint.hidden = machines.length > 0;
    tabs.replaceChildren(
      ...machines.map((machine) => {
        const level = worstOf(machine.name.slice(1));
        const dot = h('span', { class: `dot ${level ?? ''}` });
        return h(
          'button',
          {
            class: 'button',
            attrs: { type: 'button', 'aria-pressed': String(machine.name === chosen), 'data-machine': machine.name },
            on: { click: () => choose(machine.name) },
          },
          dot,
          machine.title,
        );
      }),
    );
  }
  function showMachines() {
    const before = JSON.stringify(machines);
    machines = machinesIn(app.graph);
    followRoom();
    if (JSON.stringify(machines) === before) return;
    if (!machines.some(({ name }) => name === chosen)) {
      controls?.leave();
      controls = null;
      choose(machines[0]?.name ?? '');
    }
    showTabs();
    room.request();
  }

  // Old programs that are here.
  /** @type {Map<string, { seen: number, count: number, at: number, rate: number, refusal: string, status: any }>} */
  const servers = new Map();
  /** @param {any} array DiagnosticArray */
  function diagnostics(array) {
    for (const status of array.status ?? []) {
      levels.set(status.name, levelOf(status));
      if (!isServer(status)) continue;
      const count = Number(SENT.map((key) => valueOf(status, key)).find((one) => one !== undefined) ?? 0);
      const now = performance.now();
      const before = servers.get(status.name);
      const rate = before && now > before.at ? Math.max(0, (count - before.count) / ((now - before.at) / 1000)) : 0;
      const refusal = /^refused/.test(status.message) ? status.message : (before?.refusal ?? '');
      servers.set(status.name, { seen: now, count, at: now, rate, refusal, status });
    }
    showConnections();
    showNext();
  }
  function showConnections() {
    const lines = [...servers].flatMap(([name, { rate, refusal, status }]) => {
      if (valueOf(status, 'clients') === '0' && !refusal) return [];
      return [
        h(
          'div',
          { class: 'connection' },
          h('strong', {}, name.replace(/^.*?: /, '')),
          h('span', { class: 'hint mono' }, valueOf(status, 'addresses') || t('start.noPrograms')),
          h(
            'span',
            { class: 'value' },
            valueOf(status, 'clients') === '0' ? '' : t('start.rate', { rate: number(rate, 0) }),
          ),
          refusal && h('p', { class: 'hint' }, refusal),
        ),
      ];
    });
    noConnections.hidden = lines.length > 0;
    connections.replaceChildren(...lines);
  }

  const next = h('div', { class: 'stack' });
  let domain = 0;
  /** Shows what to do next, with the addresses and the domain of this lab. */
  function showNext() {
    const port = (/** @type {RegExp} */ protocol) => {
      const server = [...servers.values()].find(({ status }) => protocol.test(status.name));
      return Number(server?.status.hardware_id.split(',')[0].split(':').at(-1)) || 0;
    };
    const steps = nextSteps({ domain, port, hasBase: machines.some(({ kind }) => kind === 'base') });
    const shown = JSON.stringify(steps);
    if (next.dataset.shown === shown) return;
    next.dataset.shown = shown;
    next.replaceChildren(
      h('p', { t: 'start.here' }),
      ...steps.map(({ key, text }) => {
        const copy = button('lab.copy', () => void copyText(text), { icon: 'copy', iconOnly: true, class: 'small' });
        return h('div', { class: 'command' }, h('span', { class: 'hint', t: key }), h('code', {}, text), copy);
      }),
    );
  }
  app.addEventListener('lab', (event) => {
    domain = /** @type {CustomEvent} */ (event).detail.domain ?? 0;
    showNext();
  });
  showNext();
  /** @param {string} text */
  async function copyText(text) {
    try {
      await navigator.clipboard.writeText(text);
      app.toast('info', t('lab.copied'));
    } catch (error) {
      app.fail(error);
    }
  }
  const tools = h('div', { class: 'floating row' }, toolGroup(...zoomButtons(room.eye, () => room.fit())));
  room.root.append(tools, h('div', { class: 'guide-line', t: isTouch() ? 'room.guideTouch' : 'room.guide' }));
  const root = h(
    'div',
    { class: 'split start' },
    h('div', { class: 'drawing' }, h('div', { class: 'tools' }, tabs, emptyHint), room.root),
    h(
      'div',
      { class: 'panel' },
      h('section', { class: 'card stack' }, chosenPart, h('p', { class: 'hint', t: 'start.choose' })),
      card('start.connections', connections, noConnections),
      card('start.next', next),
      card('lab.log', log.root),
    ),
  );
  onLanguage(() => {
    showConnections();
    room.request();
  });

  const enter = () => {
    isShown = true;
    showMachines();
    choose(chosen || machines[0]?.name || '');
    const ends = [
      bridge.subscribe('/diagnostics', 'diagnostic_msgs/msg/DiagnosticArray', diagnostics, { queue: 100 }),
      log.follow(),
    ];
    app.graph.addEventListener('read', showMachines);
    bridge.addEventListener('state', again);
    const timer = setInterval(() => {
      showTabs();
      controls?.show();
    }, 1000);
    return () => {
      isShown = false;
      clearInterval(timer);
      app.graph.removeEventListener('read', showMachines);
      bridge.removeEventListener('state', again);
      for (const end of ends) end();
      controls?.leave();
      controls = null;
      followRoom();
    };
  };
  return { root, enter };
}
