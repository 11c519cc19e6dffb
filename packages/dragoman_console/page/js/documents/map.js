/**
 * Map documents (PlatformCtrl guide, 6.5, "Map"). The file has mm; here everything is m.
 *
 * A state of the editor is a list of items that is never changed; each item that came from a document knows the number
 * of its
 * element there. Writing copies the document, and changes only what differs.
 */

import { append, elements, numberOf, parseXml, remove, setNumber, writeXml } from '../xml.js';

/** @typedef {import('../geometry.js').Point} Point */
/**
 * @typedef {'line' | 'auxline' | 'linemapped' | 'auxlinemapped' | 'reflmark' | 'circle' | 'workarea' | 'prohibit'
 *   | 'hiddenpolygon' | 'hiddenlabel'} Kind
 */
/**
 * @typedef {object} Item
 * @property {number} id Unique in the page.
 * @property {Kind} kind
 * @property {Point[]} points Ends of a line, corners of an area, centre of a circle, position of a label; m.
 * @property {number} [radius] Of a circle, m.
 * @property {string} [text] Of a label.
 * @property {number} [element] Number of its element in the document.
 */
/** @typedef {{ document: XMLDocument, elements: Element[] }} Source */
/** @typedef {{ source: Source, items: readonly Item[] }} MapState */

/** @type {readonly Kind[]} */
export const LINES = ['line', 'auxline', 'linemapped', 'auxlinemapped', 'reflmark'];
/** @type {readonly Kind[]} */
export const AREAS = ['workarea', 'prohibit', 'hiddenpolygon'];
const EMPTY = '<?xml version="1.0" encoding="UTF-8"?>\n<map Version="1.0">\n  <layer index="0">\n  </layer>\n</map>\n';
const MM = 1000;

let nextId = 1;

/** @param {Omit<Item, 'id'>} item @returns {Item} */
export const newItem = (item) => ({ ...item, id: nextId++ });

/** @param {Item} item */
export const isLine = (item) => LINES.includes(item.kind);

/** @param {Item} item */
export const isArea = (item) => AREAS.includes(item.kind);

/** @returns {MapState} */
export const emptyMap = () => readMap(EMPTY);

/** @param {Element | undefined} element @returns {Point} */
const readPoint = (element) => ({ x: numberOf(element, 'x') / MM, y: numberOf(element, 'y') / MM });

/** @param {Element} element @param {Point} point */
function writePoint(element, point) {
  setNumber(element, 'x', point.x * MM);
  setNumber(element, 'y', point.y * MM);
}

/** @param {Element} element @returns {Omit<Item, 'id'> | null} */
function readItem(element) {
  const kind = /** @type {Kind} */ (element.nodeName);
  if (kind === 'circle') {
    const [center, radius] = [elements(element, 'center')[0], elements(element, 'radius')[0]];
    return { kind, points: [readPoint(center)], radius: numberOf(radius, 'r') / MM };
  }
  const points = elements(element, 'point').map(readPoint);
  if (kind === 'hiddenlabel') return { kind, points: points.slice(0, 1), text: element.getAttribute('text') ?? '' };
  if (LINES.includes(kind)) return points.length === 2 ? { kind, points } : null;
  if (AREAS.includes(kind)) return points.length > 2 ? { kind, points } : null;
  return null;
}

/** @param {string} text XML. @returns {MapState} */
export function readMap(text) {
  const document = parseXml(text, 'map');
  /** @type {Source} */
  const source = { document, elements: [] };
  /** @type {Item[]} */
  const items = [];
  for (const layer of elements(document.documentElement, 'layer')) {
    for (const element of elements(layer)) {
      const item = readItem(element);
      if (!item || item.points.length === 0) continue;
      items.push(newItem({ ...item, element: source.elements.length }));
      source.elements.push(element);
    }
  }
  return { source, items };
}

/** @param {Element} element @param {Item} item */
function writeItem(element, item) {
  const document = /** @type {Document} */ (element.ownerDocument);
  const child = (/** @type {string} */ name) => {
    const present = elements(element, name)[0];
    return present ?? /** @type {Element} */ (element.appendChild(document.createElement(name)));
  };
  if (item.kind === 'circle') {
    writePoint(child('center'), item.points[0]);
    setNumber(child('radius'), 'r', (item.radius ?? 0) * MM);
    return;
  }
  if (item.kind === 'hiddenlabel' && element.getAttribute('text') !== item.text) {
    element.setAttribute('text', item.text ?? '');
  }
  const present = elements(element, 'point');
  for (const extra of present.slice(item.points.length)) remove(extra);
  item.points.forEach((point, at) => {
    writePoint(present[at] ?? /** @type {Element} */ (element.appendChild(document.createElement('point'))), point);
  });
}

/** @param {MapState} state @returns {string} XML. */
export function writeMap(state) {
  const document = /** @type {XMLDocument} */ (state.source.document.cloneNode(true));
  /** @type {Element[]} */
  const known = [];
  let layers = elements(document.documentElement, 'layer');
  for (const layer of layers) {
    for (const element of elements(layer)) {
      const item = readItem(element);
      if (item && item.points.length > 0) known.push(element);
    }
  }
  if (layers.length === 0) {
    const layer = document.createElement('layer');
    layer.setAttribute('index', '0');
    append(document.documentElement, layer);
    layers = [layer];
  }
  const kept = new Set();
  for (const item of state.items) {
    const element = item.element === undefined ? undefined : known[item.element];
    if (element && element.nodeName === item.kind) {
      kept.add(element);
      writeItem(element, item);
    } else {
      const created = document.createElement(item.kind);
      append(layers[0], created);
      writeItem(created, item);
    }
  }
  for (const element of known) if (!kept.has(element)) remove(element);
  return writeXml(document);
}

/** All points of a map, with the extent of its circles. @param {MapState} state @returns {Point[]} */
export function mapPoints(state) {
  return state.items.flatMap((item) => {
    if (item.kind !== 'circle') return item.points;
    const [{ x, y }, radius] = [item.points[0], item.radius ?? 0];
    return [
      { x: x - radius, y: y - radius },
      { x: x + radius, y: y + radius },
    ];
  });
}

/** @param {Item} item @param {number} dx m @param {number} dy m @returns {Item} */
export const moved = (item, dx, dy) => ({ ...item, points: item.points.map(({ x, y }) => ({ x: x + dx, y: y + dy })) });
