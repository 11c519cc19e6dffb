/** Plane geometry: pure functions of points in m and angles in rad, counter-clockwise from the x axis. */

/** @typedef {{ x: number, y: number }} Point */
/** @typedef {{ x: number, y: number, theta: number }} Pose */
/** @typedef {{ a: Point, b: Point }} Segment */
/** @typedef {{ min: Point, max: Point }} Bounds */

const PARALLEL = 1e-9;

/** @param {Point} a @param {Point} b */
export const distance = (a, b) => Math.hypot(b.x - a.x, b.y - a.y);

/** @param {Point} a @param {Point} b @param {number} part 0: a; 1: b. @returns {Point} */
export const between = (a, b, part) => ({ x: a.x + (b.x - a.x) * part, y: a.y + (b.y - a.y) * part });

/** Between -pi and pi. @param {number} angle */
export function normalize(angle) {
  const turns = Math.round(angle / (2 * Math.PI));
  return angle - turns * 2 * Math.PI;
}

/** Direction from one point to another. @param {Point} from @param {Point} to */
export const heading = (from, to) => Math.atan2(to.y - from.y, to.x - from.x);

/** A point of a body's frame in the frame of its pose. @param {Pose} pose @param {Point} point @returns {Point} */
export function transform(pose, point) {
  const [cos, sin] = [Math.cos(pose.theta), Math.sin(pose.theta)];
  return { x: pose.x + cos * point.x - sin * point.y, y: pose.y + sin * point.x + cos * point.y };
}

/** @param {Pose} a @param {Pose} b Pose in the frame of `a`. @returns {Pose} */
export const compose = (a, b) => ({ ...transform(a, b), theta: normalize(a.theta + b.theta) });

/** Rotation about z of a quaternion. @param {{ x: number, y: number, z: number, w: number }} q */
export const yawOf = (q) => Math.atan2(2 * (q.w * q.z + q.x * q.y), 1 - 2 * (q.y * q.y + q.z * q.z));

/** @param {Point} point @param {Point} center @param {number} angle @returns {Point} */
export function rotate(point, center, angle) {
  const turned = transform({ x: 0, y: 0, theta: angle }, { x: point.x - center.x, y: point.y - center.y });
  return { x: center.x + turned.x, y: center.y + turned.y };
}

/** Position along a line, as a part of its length, of the point nearest to another. Not limited to 0 to 1.
 * @param {Segment} line @param {Point} point */
export function foot(line, point) {
  const [dx, dy] = [line.b.x - line.a.x, line.b.y - line.a.y];
  const square = dx * dx + dy * dy;
  return square === 0 ? 0 : ((point.x - line.a.x) * dx + (point.y - line.a.y) * dy) / square;
}

/** Distance of a point from a segment. @param {Segment} line @param {Point} point */
export function distanceToSegment(line, point) {
  const part = Math.min(1, Math.max(0, foot(line, point)));
  return distance(point, between(line.a, line.b, part));
}

/** Where two endless lines meet; null if they are parallel. @param {Segment} one @param {Segment} other
 * @returns {Point | null} */
export function intersection(one, other) {
  const [ux, uy] = [one.b.x - one.a.x, one.b.y - one.a.y];
  const [vx, vy] = [other.b.x - other.a.x, other.b.y - other.a.y];
  const cross = ux * vy - uy * vx;
  const size = Math.hypot(ux, uy) * Math.hypot(vx, vy);
  if (size === 0 || Math.abs(cross) <= PARALLEL * size) return null;
  const part = ((other.a.x - one.a.x) * vy - (other.a.y - one.a.y) * vx) / cross;
  return between(one.a, one.b, part);
}

/**
 * Cuts a line where it crosses a reference; the side of `keep` stays. Null if it does not cross the endless reference.
 *
 * @param {Segment} line @param {Segment} reference @param {Point} keep A point on the side that stays.
 * @returns {Segment | null}
 */
export function trim(line, reference, keep) {
  const cut = intersection(line, reference);
  if (!cut) return null;
  const part = foot(line, cut);
  if (part <= PARALLEL || part >= 1 - PARALLEL) return null;
  return foot(line, keep) < part ? { a: line.a, b: cut } : { a: cut, b: line.b };
}

/** Moves the nearer end of a line to the endless reference; null if that would not make it longer.
 * @param {Segment} line @param {Segment} reference @returns {Segment | null} */
export function extend(line, reference) {
  const target = intersection(line, reference);
  if (!target) return null;
  const part = foot(line, target);
  if (part > 1 + PARALLEL) return { a: line.a, b: target };
  if (part < -PARALLEL) return { a: target, b: line.b };
  return null;
}

/** Turns a line about its centre to an angle from the reference; its length and sense stay.
 * @param {Segment} line @param {Segment} reference @param {number} angle 0: parallel. @returns {Segment} */
export function align(line, reference, angle) {
  const wanted = heading(reference.a, reference.b) + angle;
  const half = normalize(wanted - heading(line.a, line.b));
  const turn = Math.abs(half) > Math.PI / 2 ? half - Math.sign(half) * Math.PI : half;
  const center = between(line.a, line.b, 0.5);
  return { a: rotate(line.a, center, turn), b: rotate(line.b, center, turn) };
}

/** @param {Segment} line @param {Segment} reference */
export const parallel = (line, reference) => align(line, reference, 0);

/** @param {Segment} line @param {Segment} reference */
export const orthogonal = (line, reference) => align(line, reference, Math.PI / 2);

/** @param {Segment} line @returns {Segment} */
export const invert = (line) => ({ a: line.b, b: line.a });

/** Whether a point is inside of a polygon. @param {Point[]} corners @param {Point} point */
export function contains(corners, point) {
  let inside = false;
  for (let at = 0, before = corners.length - 1; at < corners.length; before = at++) {
    const [a, b] = [corners[at], corners[before]];
    if (a.y > point.y === b.y > point.y) continue;
    if (point.x < ((b.x - a.x) * (point.y - a.y)) / (b.y - a.y) + a.x) inside = !inside;
  }
  return inside;
}

/** The smallest rectangle around points; null without points. @param {Iterable<Point>} points
 * @returns {Bounds | null} */
export function boundsOf(points) {
  const min = { x: Infinity, y: Infinity };
  const max = { x: -Infinity, y: -Infinity };
  for (const { x, y } of points) {
    if (!Number.isFinite(x) || !Number.isFinite(y)) continue;
    [min.x, min.y] = [Math.min(min.x, x), Math.min(min.y, y)];
    [max.x, max.y] = [Math.max(max.x, x), Math.max(max.y, y)];
  }
  return min.x <= max.x ? { min, max } : null;
}

/** The line through points with the least squares of distances, between the feet of the first and the last.
 * @param {Point[]} points Two or more. @returns {Segment} */
export function fitLine(points) {
  const count = points.length;
  const center = { x: 0, y: 0 };
  for (const point of points) {
    center.x += point.x / count;
    center.y += point.y / count;
  }
  let [xx, xy, yy] = [0, 0, 0];
  for (const point of points) {
    const [dx, dy] = [point.x - center.x, point.y - center.y];
    xx += dx * dx;
    xy += dx * dy;
    yy += dy * dy;
  }
  const angle = Math.atan2(2 * xy, xx - yy) / 2;
  const line = { a: center, b: { x: center.x + Math.cos(angle), y: center.y + Math.sin(angle) } };
  const [first, last] = [points[0], points[count - 1]];
  return { a: between(line.a, line.b, foot(line, first)), b: between(line.a, line.b, foot(line, last)) };
}

/**
 * @typedef {object} ScanOptions
 * @property {number} [gap] Distance between neighbouring points that separates objects, m.
 * @property {number} [tolerance] Maximum distance of a point from its line, m.
 * @property {number} [points] Minimum number of points of a line.
 * @property {number} [length] Minimum length of a line, m.
 */

/**
 * Lines in a laser's scan, by splitting and fitting. Their fronts, which are on the left, face the sensor.
 *
 * @param {Point[]} scan Points in the order of the beams. @param {Point} sensor Position of the laser.
 * @param {ScanOptions} [options] @returns {Segment[]}
 */
export function linesOfScan(scan, sensor, options = {}) {
  const { gap = 0.35, tolerance = 0.03, points: least = 6, length = 0.3 } = options;
  /** @type {Segment[]} */
  const lines = [];
  /** @param {number} from @param {number} to Both included. */
  const split = (from, to) => {
    if (to - from + 1 < least) return;
    const chord = { a: scan[from], b: scan[to] };
    let [farthest, at] = [0, -1];
    for (let one = from + 1; one < to; one += 1) {
      const part = foot(chord, scan[one]);
      const away = distance(scan[one], between(chord.a, chord.b, part));
      if (away > farthest) [farthest, at] = [away, one];
    }
    if (farthest > tolerance) {
      split(from, at);
      split(at, to);
      return;
    }
    const line = fitLine(scan.slice(from, to + 1));
    if (distance(line.a, line.b) >= length) lines.push(isLeft(line, sensor) ? line : invert(line));
  };
  let start = 0;
  for (let at = 1; at <= scan.length; at += 1) {
    if (at < scan.length && distance(scan[at - 1], scan[at]) <= gap) continue;
    split(start, at - 1);
    start = at;
  }
  return lines;
}

/** Whether a point is on the left of a line. @param {Segment} line @param {Point} point */
export function isLeft(line, point) {
  const [ux, uy] = [line.b.x - line.a.x, line.b.y - line.a.y];
  return ux * (point.y - line.a.y) - uy * (point.x - line.a.x) > 0;
}

/** Convex hull, counter-clockwise. @param {Point[]} points @returns {Point[]} */
export function hull(points) {
  const sorted = [...points].sort((a, b) => a.x - b.x || a.y - b.y);
  if (sorted.length < 3) return sorted;
  /** @param {Point[]} list */
  const half = (list) => {
    /** @type {Point[]} */
    const chain = [];
    for (const point of list) {
      while (chain.length > 1 && !isLeft({ a: chain[chain.length - 2], b: chain[chain.length - 1] }, point))
        chain.pop();
      chain.push(point);
    }
    chain.pop();
    return chain;
  };
  return [...half(sorted), ...half(sorted.reverse())];
}

/** Distance between the lines of a grid, m: 1, 2 or 5 times a power of ten, at least `pixels` apart.
 * @param {number} scale Pixels per m. @param {number} pixels */
export function gridStep(scale, pixels) {
  const least = pixels / scale;
  const power = 10 ** Math.floor(Math.log10(least));
  for (const factor of [1, 2, 5, 10]) if (factor * power >= least) return factor * power;
  return 10 * power;
}
