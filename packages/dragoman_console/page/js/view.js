/**
 * A drawing in the plane with pan, zoom, fit and grid. World coordinates are m, x to the right and y up.
 *
 * Mouse: drag pans, the wheel zooms. Touch: one finger pans, two fingers zoom. Keyboard: arrows pan, + and - zoom, 0
 * fits; Shift and arrows move a cross, which clicks with the space key, and drags from one Shift and space to the next.
 * A tool sees every pointer first, and may take it.
 */

import { boundsOf, gridStep } from './geometry.js';
import { withNextFrame } from './layout.js';

/** @typedef {import('./geometry.js').Point} Point */
/** @typedef {import('./geometry.js').Bounds} Bounds */
/**
 * @typedef {object} Pointer
 * @property {Point} at Position in the world, m.
 * @property {Point} screen Position on the canvas, px.
 * @property {number} reach Radius in the world within which things count as touched, m.
 * @property {PointerEvent | MouseEvent} event
 */
/**
 * @typedef {object} Tool
 * @property {(pointer: Pointer) => boolean | void} [down] True: the tool takes the pointer until it is released.
 * @property {(pointer: Pointer) => void} [move] While it is taken.
 * @property {(pointer: Pointer) => void} [up]
 * @property {(pointer: Pointer) => void} [hover] While nothing is pressed.
 * @property {(pointer: Pointer) => void} [alternate] Right click, or a long touch.
 * @property {() => void} [cancel]
 * @property {string} [cursor]
 */

const MIN_SCALE = 2;
const MAX_SCALE = 5000;
const LONG_TOUCH_MS = 550;
const MOUSE_REACH = 8;
const TOUCH_REACH = 18;
/** Steps of the keyboard's cross, px: for one press, and while the key is held. */
const CROSS_STEP = 4;
const CROSS_HELD_STEP = 16;

export class View {
  /** @param {HTMLCanvasElement} canvas @param {(view: View) => void} draw */
  constructor(canvas, draw) {
    this.canvas = canvas;
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
    this.draw = draw;
    /** Pixels per m. */
    this.scale = 40;
    /** @type {Point} */
    this.center = { x: 0, y: 0 };
    this.size = { width: 0, height: 0 };
    this.hasGrid = true;
    /** @type {Tool | null} */
    this.tool = null;
    /** Called when the user has moved the view. @type {() => void} */
    this.onMoved = () => {};
    /** @type {Map<number, Point>} */
    this.pointers = new Map();
    this.taken = -1;
    /** The keyboard's pointer. @type {Point | null} */
    this.cross = null;
    /** Whether the keyboard drags. */
    this.isCrossDown = false;
    /** Draws once, with the next frame. */
    this.request = withNextFrame(() => this.paint());
    /** @type {Bounds | null} */
    this.pendingFit = null;
    /** Names to be drawn last. @type {{ at: Point, text: string, color: string, size: number }[]} */
    this.names = [];
    /** @type {Record<string, string>} */
    this.colors = {};
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(canvas);
    this.scheme = matchMedia('(prefers-color-scheme: dark)');
    this.schemeChanged = () => {
      this.colors = {};
      this.request();
    };
    this.scheme.addEventListener('change', this.schemeChanged);
    this.listen();
  }

  dispose() {
    this.observer.disconnect();
    this.scheme.removeEventListener('change', this.schemeChanged);
  }

  resize() {
    const { width, height } = this.canvas.getBoundingClientRect();
    const ratio = window.devicePixelRatio || 1;
    this.size = { width, height };
    this.canvas.width = Math.max(1, Math.round(width * ratio));
    this.canvas.height = Math.max(1, Math.round(height * ratio));
    if (this.pendingFit && width > 0) this.fit(this.pendingFit);
    this.paint();
  }

  paint() {
    const { width, height } = this.size;
    if (width === 0) return;
    const ratio = window.devicePixelRatio || 1;
    const context = this.context;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = this.color('canvas');
    context.fillRect(0, 0, width, height);
    context.lineJoin = 'round';
    context.lineCap = 'round';
    if (this.hasGrid) this.paintGrid();
    this.names = [];
    this.draw(this);
    this.paintNames();
    this.paintCross();
    // For programs that operate the page: pixels per m, and the middle.
    const shown = `${this.scale} ${this.center.x} ${this.center.y}`;
    if (this.canvas.dataset.view !== shown) this.canvas.dataset.view = shown;
  }

  /** A colour of the style sheet: `canvas` is `--canvas`. @param {string} name */
  color(name) {
    this.colors[name] ??= getComputedStyle(this.canvas).getPropertyValue(`--${name}`).trim() || '#888';
    return this.colors[name];
  }

  paintGrid() {
    const { context } = this;
    const { width, height } = this.size;
    const step = gridStep(this.scale, 22);
    const min = this.toWorld({ x: 0, y: height });
    const max = this.toWorld({ x: width, y: 0 });
    context.lineWidth = 1;
    for (const [axis, from, to] of /** @type {['x' | 'y', number, number][]} */ ([
      ['x', min.x, max.x],
      ['y', min.y, max.y],
    ])) {
      for (let count = Math.ceil(from / step); count * step <= to; count += 1) {
        context.strokeStyle = this.color(count === 0 ? 'grid-axis' : count % 5 === 0 ? 'grid-strong' : 'grid');
        context.beginPath();
        const at = this.toScreen(axis === 'x' ? { x: count * step, y: 0 } : { x: 0, y: count * step });
        const place = Math.round(axis === 'x' ? at.x : at.y) + 0.5;
        context.moveTo(axis === 'x' ? place : 0, axis === 'x' ? 0 : place);
        context.lineTo(axis === 'x' ? place : width, axis === 'x' ? height : place);
        context.stroke();
      }
    }
    const bar = gridStep(this.scale, 60);
    const [left, base] = [12, height - 12];
    context.strokeStyle = context.fillStyle = this.color('muted');
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(left, base - 4);
    context.lineTo(left, base);
    context.lineTo(left + bar * this.scale, base);
    context.lineTo(left + bar * this.scale, base - 4);
    context.stroke();
    context.font = '11px system-ui, sans-serif';
    context.textAlign = 'left';
    context.textBaseline = 'alphabetic';
    context.fillText(bar >= 1 ? `${bar} m` : `${Math.round(bar * 1000)} mm`, left + 5, base - 5);
  }

  paintCross() {
    if (!this.cross) return;
    const { context } = this;
    const { x, y } = this.toScreen(this.cross);
    context.strokeStyle = this.color('text');
    context.lineWidth = this.isCrossDown ? 3 : 1.5;
    context.beginPath();
    for (const [dx, dy] of [
      [14, 0],
      [0, 14],
    ]) {
      context.moveTo(x - dx, y - dy);
      context.lineTo(x + dx, y + dy);
    }
    context.stroke();
  }

  /** The keyboard's cross as a pointer. @returns {Pointer} */
  crossPointer() {
    this.cross ??= { ...this.center };
    const screen = this.toScreen(this.cross);
    const box = this.canvas.getBoundingClientRect();
    const event = new MouseEvent('click', { clientX: box.left + screen.x, clientY: box.top + screen.y });
    return { at: this.cross, screen, reach: MOUSE_REACH / this.scale, event };
  }

  /** @param {number} dx Pixels to the right. @param {number} dy Pixels down. */
  moveCross(dx, dy) {
    const { screen } = this.crossPointer();
    const { width, height } = this.size;
    const inside = { x: Math.min(width, Math.max(0, screen.x + dx)), y: Math.min(height, Math.max(0, screen.y + dy)) };
    this.cross = this.toWorld(inside);
    this.canvas.dataset.cross = `${this.cross.x} ${this.cross.y}`;
    const pointer = this.crossPointer();
    if (this.isCrossDown) this.tool?.move?.(pointer);
    else this.tool?.hover?.(pointer);
    this.request();
  }

  /** Presses at the cross, or releases there. */
  pressCross() {
    const pointer = this.crossPointer();
    if (this.isCrossDown) {
      this.isCrossDown = false;
      this.tool?.up?.(pointer);
    } else {
      this.isCrossDown = Boolean(this.tool?.down?.(pointer));
    }
    this.request();
  }

  /** Removes the cross; a drag with it is given up. */
  dropCross() {
    if (this.isCrossDown) this.tool?.cancel?.();
    this.isCrossDown = false;
    this.cross = null;
    delete this.canvas.dataset.cross;
    this.request();
  }

  /** @param {Point} point @returns {Point} */
  toScreen(point) {
    return {
      x: this.size.width / 2 + (point.x - this.center.x) * this.scale,
      y: this.size.height / 2 - (point.y - this.center.y) * this.scale,
    };
  }

  /** @param {Point} point @returns {Point} */
  toWorld(point) {
    return {
      x: this.center.x + (point.x - this.size.width / 2) / this.scale,
      y: this.center.y - (point.y - this.size.height / 2) / this.scale,
    };
  }

  /** Shows a rectangle whole. @param {Bounds | null} bounds */
  fit(bounds) {
    if (!bounds) return;
    if (this.size.width === 0) {
      this.pendingFit = bounds;
      return;
    }
    this.pendingFit = null;
    const [wide, high] = [bounds.max.x - bounds.min.x, bounds.max.y - bounds.min.y];
    const margin = Math.min(48, this.size.width / 12);
    const scale = Math.min(
      (this.size.width - 2 * margin) / Math.max(wide, 0.5),
      (this.size.height - 2 * margin) / Math.max(high, 0.5),
    );
    this.scale = Math.min(MAX_SCALE, Math.max(MIN_SCALE, scale));
    this.center = { x: (bounds.min.x + bounds.max.x) / 2, y: (bounds.min.y + bounds.max.y) / 2 };
    this.request();
  }

  /** @param {number} factor @param {Point} [at] The point on the canvas that stays, px; the middle by default. */
  zoom(factor, at = { x: this.size.width / 2, y: this.size.height / 2 }) {
    const before = this.toWorld(at);
    this.scale = Math.min(MAX_SCALE, Math.max(MIN_SCALE, this.scale * factor));
    const after = this.toWorld(at);
    this.center = { x: this.center.x + before.x - after.x, y: this.center.y + before.y - after.y };
    this.onMoved();
    this.request();
  }

  /** @param {number} dx Pixels to the right. @param {number} dy Pixels down. */
  pan(dx, dy) {
    this.center = { x: this.center.x - dx / this.scale, y: this.center.y + dy / this.scale };
    this.onMoved();
    this.request();
  }

  /** @param {Tool | null} tool */
  setTool(tool) {
    this.tool?.cancel?.();
    this.isCrossDown = false;
    this.tool = tool;
    this.canvas.dataset.cursor = tool?.cursor ?? 'grab';
    this.request();
  }

  /** @param {PointerEvent | MouseEvent} event @returns {Pointer} */
  pointer(event) {
    const box = this.canvas.getBoundingClientRect();
    const screen = { x: event.clientX - box.left, y: event.clientY - box.top };
    const touch = 'pointerType' in event && event.pointerType === 'touch';
    return { at: this.toWorld(screen), screen, reach: (touch ? TOUCH_REACH : MOUSE_REACH) / this.scale, event };
  }

  listen() {
    const { canvas } = this;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let long;
    canvas.addEventListener('pointerdown', (event) => {
      canvas.focus({ preventScroll: true });
      const pointer = this.pointer(event);
      this.pointers.set(event.pointerId, pointer.screen);
      try {
        canvas.setPointerCapture(event.pointerId);
      } catch {
        // A pointer that has gone already.
      }
      clearTimeout(long);
      if (this.pointers.size > 1) {
        if (this.taken >= 0) this.tool?.cancel?.();
        this.taken = -1;
        return;
      }
      if (event.button === 0 && this.tool?.down?.(pointer)) this.taken = event.pointerId;
      if (event.pointerType === 'touch' && this.tool?.alternate) {
        const start = pointer.screen;
        long = setTimeout(() => {
          const now = this.pointers.get(event.pointerId);
          if (this.pointers.size !== 1 || !now || Math.hypot(now.x - start.x, now.y - start.y) > TOUCH_REACH) return;
          this.tool?.alternate?.(this.pointer(event));
        }, LONG_TOUCH_MS);
      }
    });
    canvas.addEventListener('pointermove', (event) => {
      const pointer = this.pointer(event);
      const before = this.pointers.get(event.pointerId);
      if (!before) {
        this.tool?.hover?.(pointer);
        return;
      }
      this.pointers.set(event.pointerId, pointer.screen);
      if (this.taken === event.pointerId) {
        this.tool?.move?.(pointer);
      } else if (this.pointers.size === 2) {
        const other = [...this.pointers].find(([id]) => id !== event.pointerId);
        if (!other) return;
        const apart = (/** @type {Point} */ p) => Math.hypot(p.x - other[1].x, p.y - other[1].y);
        const middle = { x: (pointer.screen.x + other[1].x) / 2, y: (pointer.screen.y + other[1].y) / 2 };
        this.pan((pointer.screen.x - before.x) / 2, (pointer.screen.y - before.y) / 2);
        if (apart(before) > 5) this.zoom(apart(pointer.screen) / apart(before), middle);
      } else if (this.taken < 0) {
        this.pan(pointer.screen.x - before.x, pointer.screen.y - before.y);
      }
    });
    const released = (/** @type {PointerEvent} */ event) => {
      clearTimeout(long);
      if (!this.pointers.delete(event.pointerId)) return;
      if (this.taken === event.pointerId) {
        this.taken = -1;
        this.tool?.up?.(this.pointer(event));
      }
    };
    canvas.addEventListener('pointerup', released);
    canvas.addEventListener('pointercancel', released);
    canvas.addEventListener('contextmenu', (event) => {
      event.preventDefault();
      if (!('pointerType' in event) || event.pointerType !== 'touch') this.tool?.alternate?.(this.pointer(event));
    });
    canvas.addEventListener(
      'wheel',
      (event) => {
        event.preventDefault();
        const pixels = event.deltaMode === 1 ? event.deltaY * 24 : event.deltaY;
        this.zoom(Math.exp(-pixels / 500), this.pointer(event).screen);
      },
      { passive: false },
    );
    canvas.addEventListener('keydown', (event) => {
      /** @type {Record<string, () => void>} */
      const keys = {
        ArrowLeft: () => this.pan(40, 0),
        ArrowRight: () => this.pan(-40, 0),
        ArrowUp: () => this.pan(0, 40),
        ArrowDown: () => this.pan(0, -40),
        '+': () => this.zoom(1.25),
        '-': () => this.zoom(0.8),
      };
      const step = event.repeat ? CROSS_HELD_STEP : CROSS_STEP;
      /** @type {Record<string, () => void>} */
      const cross = {
        ArrowLeft: () => this.moveCross(-step, 0),
        ArrowRight: () => this.moveCross(step, 0),
        ArrowUp: () => this.moveCross(0, -step),
        ArrowDown: () => this.moveCross(0, step),
        ' ': () => this.pressCross(),
      };
      if (event.ctrlKey || event.metaKey) return;
      if (event.key === 'Escape' && this.cross) this.dropCross();
      if (event.key === ' ' && !event.shiftKey) {
        event.preventDefault();
        // A click; a drag that was begun ends.
        this.pressCross();
        if (this.isCrossDown) this.pressCross();
        return;
      }
      const run = event.shiftKey && cross[event.key] ? cross[event.key] : keys[event.key];
      if (!run) return;
      event.preventDefault();
      run();
    });
    canvas.addEventListener('blur', () => this.dropCross());
  }

  // Drawing, in world coordinates; widths are pixels.

  /** @param {Point[]} points @param {boolean} [isClosed] */
  path(points, isClosed = false) {
    const { context } = this;
    context.beginPath();
    points.forEach((point, at) => {
      const { x, y } = this.toScreen(point);
      if (at === 0) context.moveTo(x, y);
      else context.lineTo(x, y);
    });
    if (isClosed) context.closePath();
  }

  /** @param {Point[]} points @param {string} color @param {number} [width] @param {number[]} [dash] */
  polyline(points, color, width = 2, dash = []) {
    if (points.length < 2) return;
    const { context } = this;
    this.path(points);
    context.setLineDash(dash);
    context.strokeStyle = color;
    context.lineWidth = width;
    context.stroke();
    context.setLineDash([]);
  }

  /** @param {Point[]} corners @param {string | null} fill @param {string | null} stroke @param {number} [width]
   * @param {number[]} [dash] */
  polygon(corners, fill, stroke, width = 2, dash = []) {
    if (corners.length < 2) return;
    const { context } = this;
    this.path(corners, true);
    if (fill) {
      context.fillStyle = fill;
      context.fill();
    }
    if (stroke) {
      context.setLineDash(dash);
      context.strokeStyle = stroke;
      context.lineWidth = width;
      context.stroke();
      context.setLineDash([]);
    }
  }

  /** @param {Point} center @param {number} radius m @param {string | null} fill @param {string | null} stroke
   * @param {number} [width] */
  circle(center, radius, fill, stroke, width = 2) {
    this.disc(center, radius * this.scale, fill, stroke, width);
  }

  /** @param {Point} center @param {number} pixels @param {string | null} fill @param {string | null} [stroke]
   * @param {number} [width] */
  disc(center, pixels, fill, stroke = null, width = 2) {
    const { context } = this;
    const { x, y } = this.toScreen(center);
    context.beginPath();
    context.arc(x, y, Math.max(0.5, pixels), 0, 2 * Math.PI);
    if (fill) {
      context.fillStyle = fill;
      context.fill();
    }
    if (stroke) {
      context.strokeStyle = stroke;
      context.lineWidth = width;
      context.stroke();
    }
  }

  /**
   * Small squares, cheap for many points.
   * @param {Iterable<Point>} points
   * @param {string} color
   * @param {number} size
   */
  dots(points, color, size) {
    const { context } = this;
    context.fillStyle = color;
    for (const point of points) {
      const { x, y } = this.toScreen(point);
      context.fillRect(x - size / 2, y - size / 2, size, size);
    }
  }

  /** @param {Point} at @param {string} text @param {string} color @param {{ dx?: number, dy?: number, size?: number,
   * align?: CanvasTextAlign }} [options] */
  text(at, text, color, options = {}) {
    const { context } = this;
    const { x, y } = this.toScreen(at);
    context.font = `${options.size ?? 12}px system-ui, sans-serif`;
    context.textAlign = options.align ?? 'left';
    context.textBaseline = 'middle';
    context.lineWidth = 3;
    context.strokeStyle = this.color('canvas');
    context.strokeText(text, x + (options.dx ?? 0), y + (options.dy ?? 0));
    context.fillStyle = color;
    context.fillText(text, x + (options.dx ?? 0), y + (options.dy ?? 0));
  }

  /**
   * A name beside a point, drawn last, where it covers no other name; the largest first.
   *
   * @param {Point} at @param {string} text @param {string} color @param {number} [size] px
   */
  name(at, text, color, size = 12) {
    if (text) this.names.push({ at, text, color, size });
  }

  paintNames() {
    const { context } = this;
    /** @type {{ left: number, top: number, right: number, bottom: number }[]} */
    const taken = [];
    for (const { at, text, color, size } of [...this.names].sort((a, b) => b.size - a.size)) {
      const { x, y } = this.toScreen(at);
      context.font = `${size}px system-ui, sans-serif`;
      const width = context.measureText(text).width;
      const places = [
        [size, -size],
        [size, size],
        [-size - width, -size],
        [-size - width, size],
      ];
      const boxOf = (/** @type {number[]} */ [dx, dy]) => {
        const [left, top] = [x + dx, y + dy - size / 2];
        return { left, top, right: left + width, bottom: top + size };
      };
      const isFree = (/** @type {ReturnType<typeof boxOf>} */ box) =>
        taken.every(
          (one) => one.right < box.left || box.right < one.left || one.bottom < box.top || box.bottom < one.top,
        );
      const place = places.find((one) => isFree(boxOf(one)));
      if (!place) continue;
      taken.push(boxOf(place));
      this.text(at, text, color, { dx: place[0], dy: place[1], size });
    }
  }

  /**
   * An arrow's head at the end of a way.
   * @param {Point} from
   * @param {Point} to
   * @param {string} color
   * @param {number} size
   */
  arrow(from, to, color, size) {
    const { context } = this;
    const [start, end] = [this.toScreen(from), this.toScreen(to)];
    const angle = Math.atan2(end.y - start.y, end.x - start.x);
    context.beginPath();
    context.moveTo(end.x, end.y);
    context.lineTo(end.x - size * Math.cos(angle - 0.45), end.y - size * Math.sin(angle - 0.45));
    context.lineTo(end.x - size * Math.cos(angle + 0.45), end.y - size * Math.sin(angle + 0.45));
    context.closePath();
    context.fillStyle = color;
    context.fill();
  }

  /** The rectangle around points, for {@link View.fit}. @param {Iterable<Point>} points */
  fitPoints(points) {
    this.fit(boundsOf(points));
  }
}
