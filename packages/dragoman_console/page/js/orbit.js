/**
 * The eye of a drawing in space: a parallel projection that the user turns by dragging or with the arrow keys, zooms
 * with the wheel, two fingers, plus and minus, and moves with the right button, Shift or two fingers.
 */

/** @typedef {import('./spatial.js').Vector} Vector */

const MIN_SCALE = 12;
const MAX_SCALE = 6000;
/** Motion of a pointer up to which it was a click, px. */
const CLICK = 5;

export class Orbit {
  /** @param {HTMLCanvasElement} canvas @param {() => void} changed Draws again. */
  constructor(canvas, changed) {
    this.canvas = canvas;
    this.changed = changed;
    this.azimuth = -2.2;
    this.elevation = 0.42;
    /** Pixels per m; 0: not chosen yet. */
    this.scale = 0;
    /** What is in the middle. @type {number[]} */
    this.center = [0, 0, 0.3];
    /** Called with the place of a click. @type {(x: number, y: number) => void} */
    this.clicked = () => {};
    /** Pointers that are down, by their numbers. @type {Map<number, { x: number, y: number }>} */
    this.pointers = new Map();
    this.moved = 0;
    this.listen();
  }

  /** Directions in space: to the right, up, and towards the viewer. @returns {[Vector, Vector, Vector]} */
  axes() {
    const [ca, sa] = [Math.cos(this.azimuth), Math.sin(this.azimuth)];
    const [ce, se] = [Math.cos(this.elevation), Math.sin(this.elevation)];
    return [
      [-sa, ca, 0],
      [-se * ca, -se * sa, ce],
      [ca * ce, sa * ce, se],
    ];
  }

  /** A function that says where a point is seen. @param {number} width px @param {number} height px */
  projection(width, height) {
    const [right, up, near] = this.axes();
    const scale = this.scale || 200;
    return (/** @type {Vector} */ point) => {
      const [x, y, z] = point.map((value, axis) => value - this.center[axis]);
      const along = (/** @type {Vector} */ axis) => axis[0] * x + axis[1] * y + axis[2] * z;
      return { x: width / 2 + along(right) * scale, y: height / 2 - along(up) * scale, depth: along(near) };
    };
  }

  /** Chooses scale and middle so that all points are seen. @param {readonly Vector[]} points
   * @param {number} width px @param {number} height px */
  fit(points, width, height) {
    if (!points.length) return;
    this.scale = 1;
    this.center = [0, 0, 0];
    const project = this.projection(0, 0);
    const [min, max] = [
      [Infinity, Infinity, Infinity],
      [-Infinity, -Infinity, -Infinity],
    ];
    for (const point of points) {
      const { x, y, depth } = project(point);
      [x, -y, depth].forEach((value, axis) => {
        min[axis] = Math.min(min[axis], value);
        max[axis] = Math.max(max[axis], value);
      });
    }
    const size = (/** @type {number} */ axis) => Math.max(max[axis] - min[axis], 0.1);
    const middle = [0, 1, 2].map((axis) => (min[axis] + max[axis]) / 2);
    const axes = this.axes();
    this.center = [0, 1, 2].map((at) => axes.reduce((sum, axis, each) => sum + axis[at] * middle[each], 0));
    this.scale = Math.min(MAX_SCALE, Math.max(MIN_SCALE, 0.94 * Math.min(width / size(0), height / size(1))));
  }

  /** @param {number} dx px @param {number} dy px */
  turn(dx, dy) {
    this.azimuth -= dx / 120;
    this.elevation = Math.min(1.56, Math.max(-1.2, this.elevation + dy / 120));
    this.changed();
  }

  /** @param {number} dx px @param {number} dy px */
  move(dx, dy) {
    const [right, up] = this.axes();
    const scale = this.scale || 200;
    this.center = this.center.map((value, axis) => value - (right[axis] * dx - up[axis] * dy) / scale);
    this.changed();
  }

  /** @param {number} factor */
  zoom(factor) {
    this.scale = Math.min(MAX_SCALE, Math.max(MIN_SCALE, this.scale * factor));
    this.changed();
  }

  listen() {
    const { canvas, pointers } = this;
    canvas.addEventListener('pointerdown', (event) => {
      canvas.setPointerCapture(event.pointerId);
      if (!pointers.size) this.moved = 0;
      pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    });
    canvas.addEventListener('pointermove', (event) => {
      const before = pointers.get(event.pointerId);
      if (!before) return;
      const [dx, dy] = [event.clientX - before.x, event.clientY - before.y];
      this.moved += Math.hypot(dx, dy);
      if (this.moved < CLICK) return;
      const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
      pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
      if (other) {
        const apart = (/** @type {{ x: number, y: number }} */ one) =>
          Math.hypot(one.x - other.x, one.y - other.y) || 1;
        this.move(dx / 2, dy / 2);
        this.zoom(apart({ x: event.clientX, y: event.clientY }) / apart(before));
      } else if (event.buttons & 2 || event.shiftKey) {
        this.move(dx, dy);
      } else {
        this.turn(dx, dy);
      }
    });
    const end = (/** @type {PointerEvent} */ event) => {
      if (!pointers.delete(event.pointerId) || event.type !== 'pointerup') return;
      if (this.moved >= CLICK || pointers.size) return;
      const box = canvas.getBoundingClientRect();
      this.clicked(event.clientX - box.left, event.clientY - box.top);
    };
    for (const name of /** @type {const} */ (['pointerup', 'pointercancel', 'lostpointercapture']))
      canvas.addEventListener(name, end);
    canvas.addEventListener('contextmenu', (event) => event.preventDefault());
    canvas.addEventListener(
      'wheel',
      (event) => {
        event.preventDefault();
        this.zoom(Math.exp(-event.deltaY / 500));
      },
      { passive: false },
    );
    canvas.addEventListener('keydown', (event) => {
      const act = event.shiftKey
        ? (/** @type {number} */ dx, /** @type {number} */ dy) => this.move(dx, dy)
        : (/** @type {number} */ dx, /** @type {number} */ dy) => this.turn(dx, dy);
      /** @type {Record<string, () => void>} */
      const keys = {
        ArrowLeft: () => act(-12, 0),
        ArrowRight: () => act(12, 0),
        ArrowUp: () => act(0, 12),
        ArrowDown: () => act(0, -12),
        '+': () => this.zoom(1.2),
        '-': () => this.zoom(0.8),
      };
      if (!keys[event.key] || event.ctrlKey) return;
      event.preventDefault();
      keys[event.key]();
    });
  }
}
