/** The parts of the lab: who is there, in which state, and what it costs. */

import { isServer, levelOf, valueOf, worst } from '../diagnostics.js';
import { card, foldable, h, put } from '../dom.js';
import { number, onLanguage, t } from '../i18n.js';
import { logView } from '../log.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../diagnostics.js').Level} Level */
/**
 * @typedef {object} Part
 * @property {HTMLDetailsElement} root
 * @property {HTMLElement} dot
 * @property {HTMLElement} message
 * @property {HTMLElement} facts
 * @property {number} seen Time of the last report, ms.
 * @property {Level} level
 */

const STALE_MS = 5000;
/** Period of messages to this page from a topic whose rate is measured, ms: only the first one. */
const NEVER = 24 * 3600 * 1000;
/** @param {App} app @returns {import('../app.js').Page} */
export function partsPage(app) {
  const { bridge } = app;
  /** @type {Map<string, Part>} */
  const parts = new Map();
  const list = h('div', { class: 'parts' });
  const empty = h('p', { class: 'hint', t: 'lab.noParts' });
  const tiles = { good: tile('lab.good'), warn: tile('lab.warn'), bad: tile('lab.bad'), rate: tile('lab.rate') };
  const load = tile('lab.load');
  const memory = tile('lab.memory');
  const version = h('span', { class: 'hint' });
  const portRows = h('tbody');
  /** @type {Map<string, HTMLElement>} */
  const served = new Map();
  const ports = card(
    'lab.ports',
    h(
      'div',
      { class: 'scroll', label: 'lab.ports', attrs: { tabindex: 0, role: 'region' } },
      h(
        'table',
        {},
        h(
          'thead',
          {},
          h('tr', {}, h('th', { t: 'lab.port' }), h('th', { t: 'lab.protocol' }), h('th', { t: 'lab.clients' })),
        ),
        portRows,
      ),
    ),
  );
  ports.hidden = true;
  const robots = h('p', { class: 'hint' });

  // Every node of the graph, with its state if /diagnostics has one.
  const nodeList = h('ul', { class: 'nodes', label: 'lab.nodes' });
  const nodes = foldable('lab.nodes', false, nodeList);
  /** @param {string[]} names */
  const showNodes = (names) => {
    const shown = [...nodeList.children].map((one) => /** @type {HTMLElement} */ (one).dataset.node);
    if (shown.join() !== names.join()) {
      nodeList.replaceChildren(
        ...names.map((name) =>
          h('li', { attrs: { 'data-node': name } }, h('span', { class: 'dot' }), h('span', { class: 'mono' }, name)),
        ),
      );
    }
    for (const one of nodeList.children) {
      const name = /** @type {HTMLElement} */ (one).dataset.node?.slice(1);
      const own = [...parts].filter(([part]) => part.split(':')[0] === name).map(([, { level }]) => level);
      const level = worst(own);
      const dot = /** @type {HTMLElement} */ (one.firstChild);
      dot.className = `dot ${level ?? ''}`;
      dot.title = level ? t(/** @type {import('../texts.js').Key} */ (`lab.${level}`)) : '';
    }
  };

  // The console counts messages of topics that a client subscribes to.
  const rateRows = h('tbody');
  /** @type {Map<string, { row: HTMLElement, rate: HTMLElement, bytes: HTMLElement, end: () => unknown }>} */
  const measured = new Map();
  /** The last counts. @type {{ seconds: number, received: Record<string, [number, number]> } | null} */
  let counted = null;
  const rates = foldable(
    'lab.rates',
    false,
    h('p', { class: 'hint', t: 'lab.ratesHint' }),
    h(
      'div',
      { class: 'scroll rates' },
      h(
        'table',
        {},
        h(
          'thead',
          {},
          h(
            'tr',
            {},
            h('th', { t: 'lab.topic' }),
            h('th', { class: 'number', t: 'lab.perSecond' }),
            h('th', { class: 'number', t: 'lab.bytes' }),
          ),
        ),
        rateRows,
      ),
    ),
  );
  const measure = () => {
    // Types of actions have no names that a client could subscribe with.
    const named = [...app.graph.topics].filter(([name]) => !name.includes('/_action/'));
    const wanted = new Map(rates.open && isShown && bridge.isOpen ? named : []);
    for (const [name, { row, end }] of measured) {
      if (wanted.has(name)) continue;
      end();
      row.remove();
      measured.delete(name);
    }
    for (const [name, type] of [...wanted].sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (measured.has(name)) continue;
      const [rate, bytes] = [h('td', { class: 'number' }, '–'), h('td', { class: 'number' }, '–')];
      const topic = h('td', { class: 'mono' }, h('div', {}, name), h('div', { class: 'hint' }, type));
      const row = h('tr', {}, topic, rate, bytes);
      const after = [...measured].filter(([other]) => other > name).sort(([a], [b]) => (a < b ? -1 : 1))[0];
      rateRows.insertBefore(row, after?.[1].row ?? null);
      // What the page subscribes to is counted already.
      const isOwn = bridge.topics.has(name);
      const id = `rate:${name}`;
      if (!isOwn) bridge.send({ op: 'subscribe', id, topic: name, type, throttle_rate: NEVER, queue_length: 1 });
      const end = () => isOwn || bridge.send({ op: 'unsubscribe', id, topic: name });
      measured.set(name, { row, rate, bytes, end });
    }
  };
  /** @param {any} lab */
  const showRates = (lab) => {
    if (!lab.received) return;
    for (const [name, { rate, bytes }] of measured) {
      const [now, before] = [lab.received[name], counted?.received[name]];
      if (!now || !before || !counted || now[0] < before[0]) continue;
      const seconds = lab.seconds - counted.seconds;
      put(rate, number((now[0] - before[0]) / seconds, 1, 'Hz'));
      put(bytes, number((now[1] - before[1]) / seconds / 1000, 1, 'kB/s'));
    }
    counted = lab;
  };
  let isShown = false;
  rates.addEventListener('toggle', measure);
  app.graph.addEventListener('read', measure);
  bridge.addEventListener('state', () => {
    // Subscriptions end with the connection.
    for (const { row } of measured.values()) row.remove();
    measured.clear();
    measure();
  });

  const log = logView(app);

  const root = h(
    'div',
    { class: 'page' },
    h(
      'div',
      { class: 'tiles' },
      tiles.good.root,
      tiles.warn.root,
      tiles.bad.root,
      tiles.rate.root,
      load.root,
      memory.root,
    ),
    h(
      'section',
      { class: 'card' },
      h('div', { class: 'row spread' }, h('h2', { t: 'lab.parts' }), version),
      empty,
      list,
      robots,
    ),
    ports,
    nodes,
    rates,
    card('lab.log', log.root),
  );

  /** @param {any} array DiagnosticArray */
  const diagnostics = (array) => {
    for (const status of array.status ?? []) {
      report(status);
      showPort(status);
    }
    count();
  };
  /** @param {any} status */
  const report = (status) => {
    let part = parts.get(status.name);
    if (!part) {
      const dot = h('span', { class: 'dot' });
      const message = h('div', { class: 'part-message' });
      const facts = h('dl', { class: 'facts' });
      const text = h('div', { class: 'part-text' }, h('div', { class: 'part-name' }, status.name), message);
      const details = h('details', { class: 'part' }, h('summary', {}, dot, text), facts);
      part = { root: details, dot, message, facts, seen: 0, level: 'stale' };
      parts.set(status.name, part);
      const after = [...parts.keys()].sort().find((name) => name > status.name);
      list.insertBefore(details, after ? (parts.get(after)?.root ?? null) : null);
      empty.hidden = true;
    }
    part.seen = Date.now();
    setLevel(part, levelOf(status));
    put(part.message, status.message);
    part.root.dataset.name = status.name;
    const values = status.values ?? [];
    while (part.facts.children.length > 2 * values.length) part.facts.lastChild?.remove();
    while (part.facts.children.length < 2 * values.length) part.facts.append(h('dt'), h('dd'));
    values.forEach((/** @type {any} */ pair, /** @type {number} */ at) => {
      put(/** @type {Element} */ (part.facts.children[2 * at]), pair.key);
      put(/** @type {Element} */ (part.facts.children[2 * at + 1]), pair.value);
    });
  };
  /** @param {Part} part @param {Level} level */
  const setLevel = (part, level) => {
    part.level = level;
    part.dot.className = `dot ${level}`;
    part.root.dataset.level = level;
    part.dot.title = t(/** @type {import('../texts.js').Key} */ (`lab.${level}`));
  };
  const count = () => {
    const counts = { good: 0, warn: 0, bad: 0, stale: 0, idle: 0 };
    for (const part of parts.values()) counts[part.level] += 1;
    put(tiles.good.value, number(counts.good + counts.idle, 0));
    put(tiles.warn.value, number(counts.warn, 0));
    put(tiles.bad.value, number(counts.bad + counts.stale, 0));
    tiles.warn.value.className = `big ${counts.warn ? 'warn' : ''}`;
    tiles.bad.value.className = `big ${counts.bad + counts.stale ? 'bad' : ''}`;
  };
  /** What the server knows beyond ROS. All of it may be missing. @param {any} lab */
  const facts = (lab) => {
    load.root.hidden = typeof lab.load !== 'number';
    put(load.value, number((lab.load ?? 0) * 100, 0, '%'));
    memory.root.hidden = typeof lab.memory_bytes !== 'number';
    put(memory.value, number((lab.memory_bytes ?? 0) / 2 ** 20, 0, 'MB'));
    showRates(lab);
    showNodes(lab.nodes ?? []);
    put(version, lab.version ? `Dragoman ${lab.version}` : '');
  };
  /**
   * Servers of old protocols: their diagnostics have the address as the hardware, and the number of clients.
   *
   * @param {any} status
   */
  const showPort = (status) => {
    if (!isServer(status)) return;
    let line = served.get(status.name);
    if (!line) {
      const name = h('td', {}, h('div'), h('div', { class: 'hint mono' }));
      line = h('tr', {}, h('td'), name, h('td', { class: 'number' }));
      served.set(status.name, line);
      portRows.append(line);
      ports.hidden = false;
    }
    const [address, name, count] = line.children;
    const [protocol, from] = name.children;
    put(address, status.hardware_id);
    put(protocol, status.name.replace(/^.*?: /, ''));
    const addresses = valueOf(status, 'addresses');
    put(count, valueOf(status, 'clients') ?? '');
    put(from, addresses ? t('lab.from', { names: addresses }) : '');
  };
  const showRobots = () => {
    const { platforms, arms, bases, worlds } = app.graph.machines;
    put(robots, t('lab.machines', { names: [...platforms, ...arms, ...bases, ...worlds].join(', ') }));
  };
  app.addEventListener('lab', (event) => facts(/** @type {CustomEvent} */ (event).detail));
  app.graph.addEventListener('change', showRobots);
  onLanguage(() => {
    count();
    showRobots();
  });
  load.root.hidden = memory.root.hidden = true;
  showRobots();

  const enter = () => {
    const ends = [
      bridge.subscribe('/diagnostics', 'diagnostic_msgs/msg/DiagnosticArray', diagnostics, { queue: 100 }),
      log.follow(),
    ];
    isShown = true;
    measure();
    let before = { ...bridge.received, time: performance.now() };
    const timer = setInterval(() => {
      const now = { ...bridge.received, time: performance.now() };
      const seconds = (now.time - before.time) / 1000;
      const rate = (now.messages - before.messages) / seconds;
      const bytes = (now.bytes - before.bytes) / seconds / 1000;
      put(tiles.rate.value, `${number(rate, 0, '/s')} · ${number(bytes, 0, 'kB/s')}`);
      before = now;
      for (const part of parts.values()) if (Date.now() - part.seen > STALE_MS) setLevel(part, 'stale');
      count();
    }, 1000);
    return () => {
      clearInterval(timer);
      for (const end of ends) end();
      isShown = false;
      measure();
    };
  };
  return { root, enter };

  /** @param {import('../texts.js').Key} key */
  function tile(key) {
    const value = h('span', { class: 'big' }, '–');
    return { root: h('div', { class: 'tile' }, h('span', { class: 'hint', t: key }), value), value };
  }
}
