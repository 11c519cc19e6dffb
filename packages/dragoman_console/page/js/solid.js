/**
 * A drawing of a robot in space: seen from a point that the user turns by dragging, by the arrow keys or by the wheel.
 */

import { facesAt, linkPoses } from './urdf.js';
import { apply } from './spatial.js';
import { h } from './dom.js';
import { withNextFrame } from './layout.js';

/** @typedef {import('./urdf.js').Robot} Robot */
/** @typedef {import('./spatial.js').Vector} Vector */
/** @typedef {import('./spatial.js').Motion} Motion */

const AXES = /** @type {const} */ ([
  [[1, 0, 0], '#e5484d'],
  [[0, 1, 0], '#30a46c'],
  [[0, 0, 1], '#3b82f6'],
]);
const LIGHT = [0.35, -0.45, 0.82];

export class Solid {
  constructor() {
    this.canvas = h('canvas', { label: 'arm.canvas', attrs: { tabindex: 0, role: 'img' } });
    /** @type {Robot | null} */
    this.robot = null;
    /** @type {Map<string, number>} */
    this.positions = new Map();
    /** Poses to show as axes, in the root's frame. @type {{ motion: Motion, isGhost: boolean }[]} */
    this.frames = [];
    this.azimuth = -2.2;
    this.elevation = 0.42;
    /** Pixels per m; 0: not chosen yet. */
    this.scale = 0;
    /** @type {number[]} */
    this.center = [0, 0, 0.3];
    /** Draws once, with the next frame. */
    this.request = withNextFrame(() => this.paint());
    new ResizeObserver(() => this.request()).observe(this.canvas);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.request());
    this.listen();
  }

  /** @param {Robot} robot */
  show(robot) {
    this.robot = robot;
    this.scale = 0;
    this.request();
  }

  /** Chooses scale and centre so that the robot is seen whole. @param {Vector[]} points @param {number} side px */
  fit(points, side) {
    const min = [Infinity, Infinity, Infinity];
    const max = [-Infinity, -Infinity, -Infinity];
    for (const point of points) {
      for (const axis of [0, 1, 2]) {
        min[axis] = Math.min(min[axis], point[axis]);
        max[axis] = Math.max(max[axis], point[axis]);
      }
    }
    if (!Number.isFinite(min[0])) return;
    this.center = [(min[0] + max[0]) / 2, (min[1] + max[1]) / 2, (min[2] + max[2]) / 2];
    const size = Math.hypot(max[0] - min[0], max[1] - min[1], max[2] - min[2]);
    this.scale = (0.95 * side) / Math.max(size, 0.1);
  }

  paint() {
    const { width, height } = this.canvas.getBoundingClientRect();
    if (width === 0) return;
    const ratio = window.devicePixelRatio || 1;
    if (this.canvas.width !== Math.round(width * ratio)) this.canvas.width = Math.round(width * ratio);
    if (this.canvas.height !== Math.round(height * ratio)) this.canvas.height = Math.round(height * ratio);
    const context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext('2d'));
    const style = getComputedStyle(this.canvas);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = style.getPropertyValue('--canvas');
    context.fillRect(0, 0, width, height);
    const { robot } = this;
    const poses = robot ? linkPoses(robot, this.positions) : new Map();
    const faces = robot ? facesAt(robot, poses) : [];
    if (this.scale === 0)
      this.fit(
        faces.flatMap((face) => face.corners),
        Math.min(width, height),
      );
    const scale = this.scale || 200;

    const [ca, sa] = [Math.cos(this.azimuth), Math.sin(this.azimuth)];
    const [ce, se] = [Math.cos(this.elevation), Math.sin(this.elevation)];
    /** Right, up, towards the viewer. @param {Vector} point */
    const project = (point) => {
      const [x, y, z] = [point[0] - this.center[0], point[1] - this.center[1], point[2] - this.center[2]];
      const right = -sa * x + ca * y;
      const ahead = ca * x + sa * y;
      return {
        x: width / 2 + right * scale,
        y: height / 2 - (ce * z - se * ahead) * scale,
        depth: ce * ahead + se * z,
      };
    };
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
    const view = [ca * ce, sa * ce, se];
    const drawn = faces
      .map((face) => {
        const corners = face.corners.map(project);
        return {
          corners,
          normal: normalOf(face.corners),
          color: face.color,
          depth: mean(corners.map((one) => one.depth)),
        };
      })
      .filter((face) => dot(face.normal, view) > 0)
      .sort((a, b) => a.depth - b.depth);
    for (const face of drawn) {
      const shade = 0.55 + 0.45 * Math.max(0, dot(face.normal, LIGHT));
      const parts = face.color.map((part) => Math.round(255 * Math.min(1, part * shade + 0.04)));
      context.fillStyle = `rgb(${parts.join(',')})`;
      context.strokeStyle = context.fillStyle;
      context.lineWidth = 1;
      context.beginPath();
      face.corners.forEach(({ x, y }, at) => (at ? context.lineTo(x, y) : context.moveTo(x, y)));
      context.closePath();
      context.fill();
      context.stroke();
    }
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

  listen() {
    const { canvas } = this;
    const turn = (/** @type {number} */ dx, /** @type {number} */ dy) => {
      this.azimuth -= dx / 120;
      this.elevation = Math.min(1.5, Math.max(-1.2, this.elevation + dy / 120));
      this.request();
    };
    const zoom = (/** @type {number} */ factor) => {
      this.scale = Math.min(6000, Math.max(30, this.scale * factor));
      this.request();
    };
    canvas.addEventListener('pointerdown', (event) => canvas.setPointerCapture(event.pointerId));
    canvas.addEventListener('pointermove', (event) => {
      if (canvas.hasPointerCapture(event.pointerId)) turn(event.movementX, event.movementY);
    });
    canvas.addEventListener(
      'wheel',
      (event) => {
        event.preventDefault();
        zoom(Math.exp(-event.deltaY / 500));
      },
      { passive: false },
    );
    canvas.addEventListener('keydown', (event) => {
      /** @type {Record<string, () => void>} */
      const keys = {
        ArrowLeft: () => turn(-12, 0),
        ArrowRight: () => turn(12, 0),
        ArrowUp: () => turn(0, 12),
        ArrowDown: () => turn(0, -12),
        '+': () => zoom(1.2),
        '-': () => zoom(0.8),
      };
      if (!keys[event.key] || event.ctrlKey) return;
      event.preventDefault();
      keys[event.key]();
    });
  }
}

/** @param {readonly number[]} a @param {readonly number[]} b */
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

/** @param {number[]} values */
const mean = (values) => values.reduce((sum, one) => sum + one, 0) / values.length;

/** Unit normal of a face with its corners counter-clockwise. @param {Vector[]} corners */
function normalOf([a, b, c]) {
  const [u, v] = [
    [b[0] - a[0], b[1] - a[1], b[2] - a[2]],
    [c[0] - a[0], c[1] - a[1], c[2] - a[2]],
  ];
  const normal = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
  const size = Math.hypot(...normal) || 1;
  return normal.map((part) => part / size);
}
