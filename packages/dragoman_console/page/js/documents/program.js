/**
 * Checks of programs (PlatformCtrl guide, 6.5, "Program" and "Task"), with the line of each fault. The platform checks
 * again, and
 * decides; this is for the user who is typing.
 */

import { DocumentError, elements, parseXml } from '../xml.js';

/** @typedef {'text' | 'number' | 'whole' | 'flag' | 'output' | 'angle'} Type */
/**
 * @typedef {object} Rule
 * @property {Record<string, Type>} [attributes] A name that ends in `?` may be missing.
 * @property {string[]} [children] Names of the children that are allowed.
 * @property {[number, number]} [count] Minimum and maximum number of children.
 */
/** @typedef {import('../texts.js').Key} Key */
/** @typedef {{ line: number, key: Key, values: Record<string, string | number> }} Problem */

const OUTPUTS = Object.fromEntries(
  Array.from({ length: 12 }, (_, at) => [`D${at + 1}?`, /** @type {Type} */ ('output')]),
);
const STEPS = [
  'ioevent',
  'goto',
  'label',
  'load',
  'log',
  'motion',
  'parameter',
  'surveillance',
  'audio',
  'turnhead',
  'wait',
];
const EVENTS = [
  'collision',
  'movingobject',
  'movingobjects',
  'person',
  'ball',
  'lostlocalization',
  'lostlocalisation',
  'target',
  'infrared',
  'radar',
  'date',
  'delay',
  'userevent',
  'random',
  'batterycharge',
];

/** @type {Record<string, Rule>} */
export const RULES = {
  program: { attributes: { 'version?': 'text' }, children: ['task'] },
  task: {
    attributes: { name: 'text', 'id?': 'text', 'priority?': 'whole', 'version?': 'text' },
    children: STEPS,
  },
  ioevent: { children: ['digitalout'], count: [1, 1] },
  digitalout: { attributes: OUTPUTS },
  goto: { attributes: { label: 'text', 'condition?': 'text' } },
  label: { attributes: { name: 'text' } },
  load: { attributes: { 'map?': 'text', 'roadmap?': 'text' } },
  log: { attributes: { 'type?': 'text', message: 'text' } },
  motion: { attributes: { 'stop?': 'flag' }, children: ['settarget', 'moveto'], count: [0, 1] },
  settarget: { children: ['coord', 'station'], count: [1, 1] },
  coord: { attributes: { x: 'number', y: 'number', angle: 'angle' } },
  station: { attributes: { name: 'text' } },
  moveto: {
    attributes: { 'onErrorTask?': 'text' },
    children: ['trackedperson', 'trackedball', 'trackedmovingobject', 'chargingstation'],
    count: [1, 1],
  },
  parameter: { children: ['set'], count: [1, 1] },
  set: { attributes: { key: 'text', value: 'text' } },
  surveillance: { children: ['grab', 'movecamera'], count: [1, 1] },
  grab: {
    attributes: { filename: 'text', 'grabscan?': 'flag', 'grabimage?': 'flag', 'autoobservation?': 'flag' },
  },
  movecamera: { attributes: { position: 'text' } },
  audio: { children: ['speak', 'play'], count: [1, 1] },
  speak: { attributes: { text: 'text' } },
  play: { attributes: { filename: 'text' } },
  turnhead: { attributes: { angle: 'angle' } },
  wait: { attributes: { 'timeoutlabel?': 'text', 'timeout?': 'whole', 'for?': 'text' }, children: EVENTS },
  infrared: { attributes: { 'direction?': 'text' } },
  radar: { attributes: { 'direction?': 'text' } },
  date: {
    attributes: {
      'day?': 'whole',
      'month?': 'whole',
      'year?': 'whole',
      'hour?': 'whole',
      'minute?': 'whole',
      'second?': 'whole',
    },
  },
  delay: { attributes: { amount: 'whole' } },
  userevent: { attributes: { id: 'text' } },
  random: { attributes: { min: 'whole', max: 'whole' } },
  batterycharge: { attributes: { limit: 'number' } },
};

/** Whether an attribute has a value of its type. @param {string} text @param {Type} type */
function isOf(text, type) {
  const value = text.trim();
  switch (type) {
    case 'number':
      return value !== '' && Number.isFinite(Number(value));
    case 'angle':
      return value !== '' && Math.abs(Number(value)) <= 360;
    case 'whole':
      return /^[+-]?\d+$/.test(value);
    case 'flag':
      return /^(true|false|1|0)$/.test(value);
    case 'output':
      return /^(-1|0|1)$/.test(value);
    default:
      return true;
  }
}

/** Lines of all start tags, in the order of the document. @param {string} text @returns {number[]} */
export function linesOfTags(text) {
  const pattern = /<!--[\s\S]*?-->|<!\[CDATA\[[\s\S]*?\]\]>|<\?[\s\S]*?\?>|<!DOCTYPE[^>]*>|<([A-Za-z_][\w.:-]*)/g;
  /** @type {number[]} */
  const lines = [];
  let [line, from] = [1, 0];
  for (const match of text.matchAll(pattern)) {
    for (let at = from; at < match.index; at += 1) if (text.charCodeAt(at) === 10) line += 1;
    from = match.index;
    if (match[1]) lines.push(line);
  }
  return lines;
}

/**
 * The line of a step of a task, counted from 0; null if there is none.
 *
 * @param {string} text @param {string} task @param {number} step @returns {number | null}
 */
export function lineOfStep(text, task, step) {
  let root;
  try {
    root = parseXml(text, 'program').documentElement;
  } catch {
    return null;
  }
  const owner = elements(root, 'task').find((one) => one.getAttribute('name') === task);
  const found = owner && elements(owner)[step];
  const at = found ? [...walk(root)].indexOf(found) : -1;
  return linesOfTags(text)[at] ?? null;
}

/** All elements in the order of the document. @param {Element} root @returns {Generator<Element>} */
function* walk(root) {
  yield root;
  for (const child of elements(root)) yield* walk(child);
}

/**
 * @param {string} text XML of a program.
 * @param {{ stations?: ReadonlySet<string>, parameters?: ReadonlySet<string> }} [known] Names that exist; missing: not
 * checked.
 * @returns {Problem[]} In the order of the lines.
 */
export function checkProgram(text, known = {}) {
  /** @type {Problem[]} */
  const problems = [];
  let document;
  try {
    document = parseXml(text, 'program');
  } catch (error) {
    const reason = error instanceof DocumentError ? error.message : String(error);
    const found = /line (?:number )?(\d+)/i.exec(reason);
    const skipped = text.length - text.trimStart().length;
    const before = text.slice(0, skipped).split('\n').length - 1;
    return [{ line: Number(found?.[1] ?? 1) + before, key: 'check.xml', values: { reason } }];
  }
  const lines = linesOfTags(text);
  const all = [...walk(document.documentElement)];
  const lineOf = new Map(all.map((element, at) => [element, lines[at] ?? 1]));
  /** @param {Element} element @param {Key} key @param {Record<string, string | number>} [values] */
  const report = (element, key, values = {}) => {
    problems.push({ line: lineOf.get(element) ?? 1, key, values: { element: element.nodeName, ...values } });
  };
  const tasks = elements(document.documentElement, 'task');
  const taskNames = namesOf(tasks, report, 'check.twice');
  for (const element of all) checkElement(element, report);
  for (const task of tasks) {
    const inside = [...walk(task)];
    const labels = namesOf(elements(task, 'label'), report, 'check.twice');
    for (const element of inside) {
      for (const attribute of ['label', 'timeoutlabel']) {
        const name = element.getAttribute(attribute);
        const isUsed = (element.nodeName === 'goto' && attribute === 'label') || attribute === 'timeoutlabel';
        if (isUsed && name && !labels.has(name)) report(element, 'check.label', { name });
      }
      const errorTask = element.nodeName === 'moveto' ? element.getAttribute('onErrorTask') : null;
      if (errorTask && !taskNames.has(errorTask)) report(element, 'check.task', { name: errorTask });
      const key = element.nodeName === 'set' ? element.getAttribute('key') : null;
      if (key && known.parameters && !known.parameters.has(key)) report(element, 'check.parameter', { name: key });
      const station = element.nodeName === 'station' ? element.getAttribute('name') : null;
      if (station && known.stations && !known.stations.has(station))
        report(element, 'check.station', { name: station });
    }
  }
  return problems.sort((a, b) => a.line - b.line);
}

/** @param {Element[]} list @param {(element: Element, key: Key, values?: Record<string, string>) => void} report
 * @param {Key} key */
function namesOf(list, report, key) {
  const names = new Set();
  for (const element of list) {
    const name = element.getAttribute('name') ?? '';
    if (names.has(name)) report(element, key, { name });
    names.add(name);
  }
  return names;
}

/**
 * @param {Element} element
 * @param {(element: Element, key: Key, values?: Record<string, string | number>) => void} report
 */
function checkElement(element, report) {
  const rule = RULES[element.nodeName];
  for (const [name, type] of Object.entries(rule?.attributes ?? {})) {
    const key = name.replace('?', '');
    const value = element.getAttribute(key);
    if (value === null && !name.endsWith('?')) report(element, 'check.missing', { name: key });
    if (value !== null && !isOf(value, type)) report(element, `check.${type}`, { name: key, value });
  }
  const children = elements(element);
  const allowed = rule?.children ?? (EVENTS.includes(element.nodeName) || rule ? [] : null);
  for (const child of children) {
    if (allowed && !allowed.includes(child.nodeName)) {
      report(child, 'check.unknown', { element: child.nodeName, parent: element.nodeName });
    }
  }
  const count = rule?.count;
  if (count && (children.length < count[0] || children.length > count[1])) {
    report(element, 'check.count', { names: (rule.children ?? []).join(', ') });
  }
  if (element.nodeName === 'motion' && children.length === 0 && element.getAttribute('stop') === null) {
    report(element, 'check.count', { names: 'settarget, moveto' });
  }
  const waits = children.length > 0 || Number(element.getAttribute('timeout')) > 0;
  if (element.nodeName === 'wait' && !waits) report(element, 'check.wait');
}
