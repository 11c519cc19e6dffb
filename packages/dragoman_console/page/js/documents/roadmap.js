/**
 * Roadmap documents (PlatformCtrl guide, 6.5, "Roadmap"). The file has mm and degrees; here everything is m and rad.
 */

import { append, elements, numberOf, parseXml, remove, setNumber, writeXml } from '../xml.js';

/** @typedef {import('../geometry.js').Point} Point */
/**
 * @typedef {object} Station
 * @property {string} id Identifier that edges use.
 * @property {string} name
 * @property {Point} point m
 * @property {number} theta rad
 * @property {number} [element] Number of its element in the document.
 */
/**
 * @typedef {object} Edge
 * @property {string} start Identifier of a station.
 * @property {string} end
 * @property {Point[]} points Path points between them, m.
 * @property {number} [element]
 */
/** @typedef {{ document: XMLDocument, stations: readonly Station[], edges: readonly Edge[] }} RoadmapState */

const EMPTY = `<?xml version="1.0" encoding="UTF-8"?>
<roadmap Version="1.0">
  <stations>
  </stations>
  <edges>
  </edges>
</roadmap>
`;
const MM = 1000;
const DEGREES = 180 / Math.PI;

/** @returns {RoadmapState} */
export const emptyRoadmap = () => readRoadmap(EMPTY);

/** @param {Element | undefined} element @returns {Point} */
const readPoint = (element) => ({ x: numberOf(element, 'x') / MM, y: numberOf(element, 'y') / MM });

/** @param {Element} element @param {Point} point */
function writePoint(element, point) {
  setNumber(element, 'x', point.x * MM);
  setNumber(element, 'y', point.y * MM);
}

/** @param {XMLDocument} document @param {'stations' | 'edges'} list @param {'station' | 'edge'} name */
function listed(document, list, name) {
  return elements(document.documentElement, list).flatMap((one) => elements(one, name));
}

/** Path points, directly in the edge or in its element `points`. @param {Element} edge */
function pathPoints(edge) {
  return [...elements(edge, 'point'), ...elements(edge, 'points').flatMap((one) => elements(one, 'point'))];
}

/** @param {string} text XML. @returns {RoadmapState} */
export function readRoadmap(text) {
  const document = parseXml(text, 'roadmap');
  const stations = listed(document, 'stations', 'station').map((element, at) => ({
    id: element.getAttribute('id') ?? '',
    name: element.getAttribute('name') ?? '',
    theta: numberOf(element, 'angle') / DEGREES,
    point: readPoint(elements(element, 'point')[0]),
    element: at,
  }));
  const edges = listed(document, 'edges', 'edge').map((element, at) => ({
    start: element.getAttribute('startstation') ?? '',
    end: element.getAttribute('endstation') ?? '',
    points: pathPoints(element).map(readPoint),
    element: at,
  }));
  return { document, stations, edges };
}

/** @param {XMLDocument} document @param {'stations' | 'edges'} name */
function listElement(document, name) {
  const present = elements(document.documentElement, name)[0];
  if (present) return present;
  const created = document.createElement(name);
  append(document.documentElement, created);
  return created;
}

/** @param {Element} element @param {Record<string, string>} values */
function setTexts(element, values) {
  for (const [name, value] of Object.entries(values)) {
    if (element.getAttribute(name) !== value) element.setAttribute(name, value);
  }
}

/** @param {RoadmapState} state @returns {string} XML. */
export function writeRoadmap(state) {
  const document = /** @type {XMLDocument} */ (state.document.cloneNode(true));
  const known = { station: listed(document, 'stations', 'station'), edge: listed(document, 'edges', 'edge') };
  const kept = new Set();
  /** @param {'station' | 'edge'} name @param {number | undefined} at */
  const element = (name, at) => {
    const present = at === undefined ? undefined : known[name][at];
    const one = present ?? document.createElement(name);
    if (!present) append(listElement(document, name === 'station' ? 'stations' : 'edges'), one);
    kept.add(one);
    return one;
  };
  for (const station of state.stations) {
    const one = element('station', station.element);
    setTexts(one, { id: station.id, name: station.name });
    setNumber(one, 'angle', station.theta * DEGREES);
    const point = elements(one, 'point')[0];
    writePoint(point ?? /** @type {Element} */ (one.appendChild(document.createElement('point'))), station.point);
  }
  for (const edge of state.edges) {
    const one = element('edge', edge.element);
    setTexts(one, { startstation: edge.start, endstation: edge.end });
    const present = pathPoints(one);
    for (const extra of present.slice(edge.points.length)) remove(extra);
    edge.points.forEach((point, at) => {
      if (present[at]) {
        writePoint(present[at], point);
        return;
      }
      const list = elements(one, 'points')[0] ?? one.appendChild(document.createElement('points'));
      writePoint(/** @type {Element} */ (list.appendChild(document.createElement('point'))), point);
    });
    if (!elements(one, 'points')[0] && edge.element === undefined) one.appendChild(document.createElement('points'));
  }
  for (const one of [...known.station, ...known.edge]) if (!kept.has(one)) remove(one);
  return writeXml(document);
}

/** @param {RoadmapState} state @param {string} id */
export const stationOf = (state, id) => state.stations.find((station) => station.id === id);

/** The whole way of an edge; empty if a station is missing. @param {RoadmapState} state @param {Edge} edge
 * @returns {Point[]} */
export function wayOf(state, edge) {
  const [start, end] = [stationOf(state, edge.start), stationOf(state, edge.end)];
  return start && end ? [start.point, ...edge.points, end.point] : [];
}

/** A name that no station has, nor an identifier. @param {RoadmapState} state */
export function freeName(state) {
  const used = new Set(state.stations.flatMap((station) => [station.id, station.name]));
  for (let number = state.stations.length + 1; ; number += 1) {
    if (!used.has(`station${number}`)) return `station${number}`;
  }
}

/** @param {RoadmapState} state @returns {Point[]} */
export const roadmapPoints = (state) => [
  ...state.stations.map((station) => station.point),
  ...state.edges.flatMap((edge) => edge.points),
];
