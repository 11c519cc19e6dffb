/** Drawings that several pages share: map, roadmap, platform. */

import { between, distance, transform } from './geometry.js';
import { isArea, isLine } from './documents/map.js';
import { wayOf } from './documents/roadmap.js';

/** @typedef {import('./view.js').View} View */
/** @typedef {import('./geometry.js').Pose} Pose */
/** @typedef {import('./documents/map.js').Item} Item */
/** @typedef {import('./documents/roadmap.js').RoadmapState} RoadmapState */

/** Colours of the kinds of a map, names of the style sheet. @type {Record<string, string>} */
const COLORS = {
  line: 'ink',
  auxline: 'aux',
  linemapped: 'mapped',
  auxlinemapped: 'aux',
  reflmark: 'reflector',
  circle: 'ink',
  workarea: 'workarea',
  prohibit: 'prohibit',
  hiddenpolygon: 'hidden',
  hiddenlabel: 'hidden',
};
const FRONT_PX = 6;

/** @param {View} view @param {Item} item @param {boolean} [isSelected] @param {boolean} [showsFront] */
export function paintItem(view, item, isSelected = false, showsFront = false) {
  const color = view.color(isSelected ? 'select' : COLORS[item.kind]);
  const width = isSelected ? 3 : 2;
  if (isArea(item)) {
    const fill = view.color(`${COLORS[item.kind]}-soft`);
    view.polygon(
      item.points,
      fill,
      color,
      item.kind === 'workarea' ? 1.5 : width,
      item.kind === 'prohibit' ? [] : [7, 5],
    );
  } else if (isLine(item)) {
    const dash = item.kind.startsWith('aux') ? [4, 4] : [];
    view.polyline(item.points, color, item.kind === 'reflmark' ? 5 : width, dash);
    if (showsFront || isSelected) paintFront(view, item, color);
  } else if (item.kind === 'circle') {
    view.circle(item.points[0], item.radius ?? 0, null, color, width);
    if (isSelected) view.disc(item.points[0], 3, color);
  } else {
    view.disc(item.points[0], 2.5, color);
    view.name(item.points[0], item.text ?? '', color);
  }
}

/** A tick in the middle of a line, to its front. @param {View} view @param {Item} item @param {string} color */
function paintFront(view, item, color) {
  const [a, b] = item.points;
  const length = distance(a, b);
  if (length * view.scale < 3 * FRONT_PX) return;
  const middle = between(a, b, 0.5);
  const out = FRONT_PX / view.scale / length;
  const tip = { x: middle.x - (b.y - a.y) * out, y: middle.y + (b.x - a.x) * out };
  view.polyline([middle, tip], color, 1.5);
}

/** @param {View} view @param {readonly Item[]} items @param {(item: Item) => boolean} [isShown] */
export function paintMap(view, items, isShown = () => true) {
  for (const item of items) if (isArea(item) && isShown(item)) paintItem(view, item);
  for (const item of items) if (!isArea(item) && isShown(item)) paintItem(view, item);
}

/**
 * @param {View} view @param {RoadmapState} state
 * @param {{ stations?: ReadonlySet<string>, edges?: ReadonlySet<number>, points?: boolean }} [selected]
 */
export function paintRoadmap(view, state, selected = {}) {
  const pairs = new Set(state.edges.map((edge) => `${edge.start} ${edge.end}`));
  state.edges.forEach((edge, at) => {
    const way = wayOf(state, edge);
    if (way.length === 0) return;
    const color = view.color(selected.edges?.has(at) ? 'select' : 'edge');
    view.polyline(way, color, selected.edges?.has(at) ? 3 : 1.75);
    for (const point of edge.points) view.disc(point, selected.points ? 4 : 2.5, color);
    let longest = 0;
    for (let leg = 1; leg < way.length; leg += 1) {
      if (distance(way[leg - 1], way[leg]) > distance(way[longest], way[longest + 1])) longest = leg - 1;
    }
    const isPair = pairs.has(`${edge.end} ${edge.start}`);
    view.arrow(way[longest], between(way[longest], way[longest + 1], isPair ? 0.62 : 0.55), color, 10);
  });
  for (const station of state.stations) {
    const color = view.color(selected.stations?.has(station.id) ? 'select' : 'station');
    view.disc(station.point, 7, view.color('canvas'), color, 2.5);
    const reach = 16 / view.scale;
    const tip = transform({ ...station.point, theta: station.theta }, { x: reach, y: 0 });
    view.polyline([station.point, tip], color, 2.5);
    view.name(station.point, station.name, color, 13);
  }
}

/**
 * A platform as a rectangle with its front.
 *
 * @param {View} view @param {Pose} pose @param {{ length: number, width: number }} size m
 * @param {string} color @param {string | null} fill @param {number[]} [dash]
 */
export function paintPlatform(view, pose, size, color, fill, dash = []) {
  const [x, y] = [size.length / 2, size.width / 2];
  const corners = [
    { x, y },
    { x: -x, y },
    { x: -x, y: -y },
    { x, y: -y },
  ].map((corner) => transform(pose, corner));
  view.polygon(corners, fill, color, 2, dash);
  const nose = [
    { x: x * 0.55, y: y * 0.5 },
    { x: x * 0.9, y: 0 },
    { x: x * 0.55, y: -y * 0.5 },
  ].map((corner) => transform(pose, corner));
  view.polyline(nose, color, 2, dash);
}

/** A flag on a pose, with its direction. @param {View} view @param {Pose} pose @param {string} color */
export function paintFlag(view, pose, color) {
  const { context } = view;
  const { x, y } = view.toScreen(pose);
  view.disc(pose, 4, color);
  const tip = transform(pose, { x: 26 / view.scale, y: 0 });
  view.polyline([pose, tip], color, 2.5);
  view.arrow(pose, tip, color, 8);
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x, y - 26);
  context.lineTo(x + 15, y - 21);
  context.lineTo(x, y - 15);
  context.strokeStyle = color;
  context.lineWidth = 2;
  context.stroke();
  context.fillStyle = color;
  context.fill();
}

/** An ellipse of standard deviations. @param {View} view @param {import('./geometry.js').Point} center
 * @param {number} principal m @param {number} minor m @param {number} axis rad @param {string} color */
export function paintEllipse(view, center, principal, minor, axis, color) {
  const points = Array.from({ length: 33 }, (_, at) => {
    const angle = (at / 32) * 2 * Math.PI;
    return transform({ ...center, theta: axis }, { x: principal * Math.cos(angle), y: minor * Math.sin(angle) });
  });
  view.polyline(points, color, 1.5);
}
