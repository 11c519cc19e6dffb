/** A drawing of a robot in space: seen from a point that the user turns ({@link Orbit}). */

import { facesAt, linkPoses } from './urdf.js';
import { apply } from './spatial.js';
import { h } from './dom.js';
import { withNextFrame } from './layout.js';
import { Orbit } from './orbit.js';

/** @typedef {import('./urdf.js').Robot} Robot */
/** @typedef {import('./spatial.js').Vector} Vector */
/** @typedef {import('./spatial.js').Motion} Motion */
/** A flat part of a surface, with its corners counter-clockwise.
 * @typedef {{ corners: Vector[], color: readonly number[] }} Face */

const AXES = /** @type {const} */ ([
  [[1, 0, 0], '#e5484d'],
  [[0, 1, 0], '#30a46c'],
  [[0, 0, 1], '#3b82f6'],
]);
/** Direction to the light. */
export const LIGHT = [0.35, -0.45, 0.82];

export class Solid {
  constructor() {
    this.canvas = h('canvas', { label: 'arm.canvas', attrs: { tabindex: 0, role: 'img' } });
    /** @type {Robot | null} */
    this.robot = null;
    /** @type {Map<string, number>} */
    this.positions = new Map();
    /** Poses to show as axes, in the root's frame. @type {{ motion: Motion, isGhost: boolean }[]} */
    this.frames = [];
    /** Draws once, with the next frame. */
    this.request = withNextFrame(() => this.paint());
    this.eye = new Orbit(this.canvas, this.request);
    new ResizeObserver(() => this.request()).observe(this.canvas);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.request());
  }

  /** @param {Robot} robot */
  show(robot) {
    this.robot = robot;
    this.refit();
  }

  /** Chooses scale and middle again with the next drawing. */
  refit() {
    this.eye.scale = 0;
    this.request();
  }

  paint() {
    const sheet = begin(this.canvas);
    if (!sheet) return;
    const { context, style, width, height } = sheet;
    const { robot, eye } = this;
    const poses = robot ? linkPoses(robot, this.positions) : new Map();
    const faces = robot ? facesAt(robot, poses) : [];
    if (eye.scale === 0)
      eye.fit(
        faces.flatMap((face) => face.corners),
        width,
        height,
      );
    const project = eye.projection(width, height);
    const line = (
      /** @type {Vector} */ from,
      /** @type {Vector} */ to,
      /** @type {string} */ color,
      /** @type {number} */ wide,
    ) => {
      const [a, b] = [project(from), project(to)];
      context.strokeStyle = color;
      context.lineWidth = wide;
      context.beginPath();
      context.moveTo(a.x, a.y);
      context.lineTo(b.x, b.y);
      context.stroke();
    };
    const reach = 0.6;
    for (let step = -6; step <= 6; step += 1) {
      const at = step / 10;
      const color = style.getPropertyValue(step === 0 ? '--grid-axis' : '--grid-strong');
      line([at, -reach, 0], [at, reach, 0], color, 1);
      line([-reach, at, 0], [reach, at, 0], color, 1);
    }
    paintFaces(context, faces, eye, project);
    for (const { motion, isGhost } of this.frames) {
      context.setLineDash(isGhost ? [4, 4] : []);
      for (const [axis, color] of AXES) {
        line(
          apply(motion, [0, 0, 0]),
          apply(motion, [axis[0] * 0.08, axis[1] * 0.08, axis[2] * 0.08]),
          color,
          isGhost ? 1.5 : 3,
        );
      }
      context.setLineDash([]);
    }
  }

  /** Pose of a link at the present positions. @param {string} link @returns {Motion | undefined} */
  pose(link) {
    return this.robot ? linkPoses(this.robot, this.positions).get(link) : undefined;
  }
}

/**
 * Makes a canvas as large as it is shown, and empties it; null while it is not shown.
 *
 * @param {HTMLCanvasElement} canvas
 */
export function begin(canvas) {
  const { width, height } = canvas.getBoundingClientRect();
  const context = canvas.getContext('2d');
  if (width === 0 || !context) return null;
  const ratio = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
  if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
  const style = getComputedStyle(canvas);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = style.getPropertyValue('--canvas');
  context.fillRect(0, 0, width, height);
  return { context, style, width, height };
}

/**
 * Paints the faces that the eye sees, the farthest first.
 *
 * @param {CanvasRenderingContext2D} context @param {Face[]} faces @param {Orbit} eye
 * @param {ReturnType<Orbit['projection']>} project
 */
export function paintFaces(context, faces, eye, project) {
  const [, , near] = eye.axes();
  const drawn = faces
    .map((face) => {
      const corners = face.corners.map(project);
      const depth = mean(corners.map((one) => one.depth));
      return { corners, normal: normalOf(face.corners), color: face.color, depth };
    })
    .filter((face) => dot(face.normal, near) > 0)
    .sort((a, b) => a.depth - b.depth);
  for (const face of drawn) {
    const shade = 0.55 + 0.45 * Math.max(0, dot(face.normal, LIGHT));
    const parts = face.color.slice(0, 3).map((part) => Math.round(255 * Math.min(1, part * shade + 0.04)));
    context.fillStyle = `rgba(${parts.join(',')},${face.color[3] ?? 1})`;
    context.strokeStyle = context.fillStyle;
    context.lineWidth = 1;
    context.beginPath();
    face.corners.forEach(({ x, y }, at) => (at ? context.lineTo(x, y) : context.moveTo(x, y)));
    context.closePath();
    context.fill();
    context.stroke();
  }
}

/** @param {readonly number[]} a @param {readonly number[]} b */
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

/** @param {number[]} values */
const mean = (values) => values.reduce((sum, one) => sum + one, 0) / values.length;

/** Unit normal of a face with its corners counter-clockwise. @param {Vector[]} corners */
export function normalOf([a, b, c]) {
  const [u, v] = [
    [b[0] - a[0], b[1] - a[1], b[2] - a[2]],
    [c[0] - a[0], c[1] - a[1], c[2] - a[2]],
  ];
  const normal = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
  const size = Math.hypot(...normal) || 1;
  return normal.map((part) => part / size);
}
