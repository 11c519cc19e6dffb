/**
 * The room in three dimensions: the shapes of a world or of robots, drawn when something has changed, at most 15 times
 * a second; by WebGL 2, and where there is none by the painter of `solid.js`.
 */

import { h, put } from './dom.js';
import { Orbit } from './orbit.js';
import { apply, ofPose } from './spatial.js';
import { LIGHT, begin, normalOf, paintFaces } from './solid.js';

/** @typedef {import('./spatial.js').Motion} Motion */
/** @typedef {import('./spatial.js').Vector} Vector */
/**
 * A shape in the room.
 * @typedef {object} Piece
 * @property {string} owner What it belongs to, such as `Puma560/fore arm`.
 * @property {Vector[][]} triangles In its own frame, m, counter-clockwise seen from outside.
 * @property {readonly number[]} color Red, green, blue, opacity, 0 to 1.
 * @property {Motion} pose
 * @property {boolean} isGround Whether it is flat, and only seen from above.
 */
/** A name in the picture. @typedef {{ text: string, at: Vector, isChosen: boolean, choose: () => void }} Label */

const PERIOD_MS = 66;
const SIDES = 20;
/** Depth that the picture has, m. */
const DEPTH = 400;
/** Types of markers. */
export const [CUBE, SPHERE, CYLINDER, TRIANGLES] = [1, 2, 3, 11];
/** What is higher, longer and thinner than this is a wall, and is drawn as glass: m. */
const WALL = { height: 0.6, length: 1.5, thickness: 0.35 };
const GLASS = 0.22;

const VERTEX = `#version 300 es
in vec3 corner;
in vec3 normal;
uniform mat4 pose;
uniform mat4 eye;
uniform vec4 color;
uniform vec3 light;
out vec4 tint;
void main() {
  gl_Position = eye * pose * vec4(corner, 1.0);
  float shade = 0.55 + 0.45 * max(dot(mat3(pose) * normal, light), 0.0);
  tint = vec4(min(color.rgb * shade + 0.04, 1.0), color.a);
}`;
const FRAGMENT = `#version 300 es
precision mediump float;
in vec4 tint;
out vec4 result;
void main() {
  result = vec4(tint.rgb * tint.a, tint.a);
}`;

/** The piece of a marker. @param {any} marker visualization_msgs/Marker @returns {Piece} */
export function pieceOf(marker) {
  const { x: sx, y: sy, z: sz } = marker.scale;
  const { r, g, b, a } = marker.color;
  const triangles =
    marker.type === CUBE
      ? cube(sx / 2, sy / 2, sz / 2)
      : marker.type === CYLINDER
        ? cylinder(sx / 2, sy / 2, sz / 2)
        : marker.type === SPHERE
          ? ball(sx / 2, sy / 2, sz / 2)
          : marker.type === TRIANGLES
            ? threes(marker.points.map((/** @type {any} */ one) => [one.x, one.y, one.z]))
            : [];
  const sides = [sx, sy].sort((one, other) => one - other);
  const isWall = marker.type === CUBE && sz > WALL.height && sides[0] < WALL.thickness && sides[1] > WALL.length;
  const pose = ofPose(marker.pose);
  const isGround = marker.type === CUBE && pose[11] + sz / 2 <= 0.002;
  return { owner: marker.ns, triangles, color: [r, g, b, isWall ? GLASS : a || 1], pose, isGround };
}

/** @template T @param {T[]} list @returns {T[][]} */
const threes = (list) => Array.from({ length: Math.floor(list.length / 3) }, (_, at) => list.slice(3 * at, 3 * at + 3));

/** Triangles of a flat face with its corners counter-clockwise. @param {readonly Vector[]} corners
 * @returns {Vector[][]} */
export const fan = (corners) => corners.slice(2).map((corner, at) => [corners[0], corners[at + 1], corner]);

/** @param {number} x @param {number} y @param {number} z Half of each edge. @returns {Vector[][]} */
function cube(x, y, z) {
  const corners = /** @type {[number, number][]} */ ([
    [x, y],
    [-x, y],
    [-x, -y],
    [x, -y],
  ]);
  return column(corners, corners, -z, z);
}

/** @param {number} x @param {number} y Half of each diameter. @param {number} z Half of its length. */
function cylinder(x, y, z) {
  const round = circle(x, y);
  return column(round, round, -z, z);
}

/** @param {number} x @param {number} y @param {number} z Half of each diameter. */
function ball(x, y, z) {
  const steps = SIDES / 2;
  const ring = (/** @type {number} */ step) => {
    const angle = (step / steps - 0.5) * Math.PI;
    return { round: circle(x * Math.cos(angle), y * Math.cos(angle)), height: z * Math.sin(angle) };
  };
  return Array.from({ length: steps }, (_, step) => {
    const [low, high] = [ring(step), ring(step + 1)];
    return sides(low.round, high.round, low.height, high.height);
  }).flat();
}

/** @param {number} x @param {number} y @returns {[number, number][]} */
const circle = (x, y) =>
  Array.from({ length: SIDES }, (_, at) => {
    const angle = (at / SIDES) * 2 * Math.PI;
    return [x * Math.cos(angle), y * Math.sin(angle)];
  });

/** A body between two outlines, counter-clockwise. @param {[number, number][]} low @param {[number, number][]} high
 * @param {number} bottom @param {number} top @returns {Vector[][]} */
function column(low, high, bottom, top) {
  const lid = high.map(([x, y]) => /** @type {Vector} */ ([x, y, top]));
  const base = low.map(([x, y]) => /** @type {Vector} */ ([x, y, bottom])).reverse();
  return [...sides(low, high, bottom, top), ...fan(lid), ...fan(base)];
}

/** @param {[number, number][]} low @param {[number, number][]} high @param {number} bottom @param {number} top
 * @returns {Vector[][]} */
function sides(low, high, bottom, top) {
  return low.flatMap(([x, y], at) => {
    const next = (at + 1) % low.length;
    return fan([
      [x, y, bottom],
      [low[next][0], low[next][1], bottom],
      [high[next][0], high[next][1], top],
      [high[at][0], high[at][1], top],
    ]);
  });
}

export class Room {
  constructor() {
    this.canvas = h('canvas', { label: 'room.canvas', attrs: { tabindex: 0, role: 'img' } });
    this.names = h('div', { class: 'room-names' });
    this.root = h('div', { class: 'stage room' }, this.canvas, this.names);
    /** @type {Piece[]} */
    this.pieces = [];
    /** Names in the picture, asked for with each drawing. @type {() => Label[]} */
    this.labels = () => [];
    /** Whether a piece belongs to what is chosen. @type {(owner: string) => boolean} */
    this.isChosen = () => false;
    /** Called with the owner of what was clicked; null: nothing. @type {(owner: string | null) => void} */
    this.clicked = () => {};
    /** The time of the last drawing, ms, and whether another one is due. */
    this.painted = -Infinity;
    this.isDue = false;
    this.eye = new Orbit(this.canvas, () => this.request());
    [this.eye.azimuth, this.eye.elevation] = [-2.0, 0.85];
    this.eye.clicked = (x, y) => this.clicked(this.ownerAt(x, y));
    this.screen = screenOf(this.canvas);
    this.isFitted = false;
    /** Whether the ground belongs to what is to be seen. */
    this.fitsGround = false;
    new ResizeObserver(() => this.request()).observe(this.canvas);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.request());
    this.canvas.addEventListener('keydown', (event) => {
      if (event.key === '0') this.fit();
    });
  }

  /** @param {Piece[]} pieces */
  show(pieces) {
    this.pieces = pieces;
    this.screen?.load(pieces);
    this.request();
  }

  /** Shows everything. */
  fit() {
    const { width, height } = this.canvas.getBoundingClientRect();
    const corners = this.pieces
      .filter((piece) => this.fitsGround || !piece.isGround)
      .flatMap((piece) => piece.triangles.flat().map((corner) => apply(piece.pose, corner)));
    this.isFitted = width > 0 && corners.length > 0;
    if (this.isFitted) this.eye.fit(corners, width, height);
    this.request();
  }

  /** Draws soon; several calls at once are one. */
  request() {
    if (this.isDue) return;
    this.isDue = true;
    const wait = this.painted + PERIOD_MS - performance.now();
    const paint = () => requestAnimationFrame(() => this.paint());
    if (wait > 0) setTimeout(paint, wait);
    else paint();
  }

  paint() {
    this.isDue = false;
    this.painted = performance.now();
    if (!this.isFitted && this.pieces.length) this.fit();
    const { width, height } = this.canvas.getBoundingClientRect();
    if (width === 0) return;
    const colorOf = (/** @type {Piece} */ piece) => {
      if (!this.isChosen(piece.owner)) return piece.color;
      return piece.color.map((part, at) => (at < 3 ? part * 0.45 + HIGHLIGHT[at] * 0.55 : 1));
    };
    if (this.screen) this.screen.draw(this.pieces, this.eye, colorOf);
    else this.paintPlainly(colorOf);
    this.paintNames(width, height);
  }

  /** Without WebGL. @param {(piece: Piece) => readonly number[]} colorOf */
  paintPlainly(colorOf) {
    const sheet = begin(this.canvas);
    if (!sheet) return;
    const project = this.eye.projection(sheet.width, sheet.height);
    const faces = (/** @type {boolean} */ isGround) =>
      this.pieces
        .filter((piece) => piece.isGround === isGround)
        .flatMap((piece) => {
          const color = colorOf(piece);
          return piece.triangles.map((corners) => ({ corners: corners.map((one) => apply(piece.pose, one)), color }));
        });
    // A large floor would hide what stands on it: faces are ordered by their middles.
    paintFaces(sheet.context, faces(true), this.eye, project);
    paintFaces(sheet.context, faces(false), this.eye, project);
  }

  /** @param {number} width @param {number} height */
  paintNames(width, height) {
    const project = this.eye.projection(width, height);
    /** @type {{ x: number, y: number, half: number }[]} */
    const placed = [];
    const labels = this.labels()
      .map((label) => ({ ...label, seen: project(label.at) }))
      .sort((a, b) => Number(b.isChosen) - Number(a.isChosen) || b.seen.depth - a.seen.depth)
      .filter(({ text, seen: { x, y } }) => {
        const half = 4 * text.length + 10;
        if (x < half || y < 12 || x > width - half || y > height) return false;
        if (placed.some((one) => Math.abs(one.y - y) < 26 && Math.abs(one.x - x) < one.half + half)) return false;
        placed.push({ x, y, half });
        return true;
      });
    while (this.names.children.length > labels.length) this.names.lastChild?.remove();
    while (this.names.children.length < labels.length)
      this.names.append(h('button', { class: 'room-name', attrs: { type: 'button' } }));
    labels.forEach(({ text, isChosen, choose, seen }, at) => {
      const name = /** @type {HTMLButtonElement} */ (this.names.children[at]);
      put(name, text);
      name.onclick = choose;
      name.setAttribute('aria-pressed', String(isChosen));
      name.style.transform = `translate(${Math.round(seen.x)}px, ${Math.round(seen.y)}px) translate(-50%, -100%)`;
    });
  }

  /** The owner of the nearest piece at a place of the picture. @param {number} x px @param {number} y px */
  ownerAt(x, y) {
    const { width, height } = this.canvas.getBoundingClientRect();
    const project = this.eye.projection(width, height);
    /** @type {string | null} */
    let owner = null;
    let nearest = -Infinity;
    for (const piece of this.pieces) {
      if (piece.isGround || (piece.color[3] ?? 1) < 0.5) continue;
      for (const triangle of piece.triangles) {
        const [a, b, c] = triangle.map((corner) => project(apply(piece.pose, corner)));
        const area = (b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y);
        if (Math.abs(area) < 1e-9) continue;
        const second = ((x - a.x) * (c.y - a.y) - (c.x - a.x) * (y - a.y)) / area;
        const third = ((b.x - a.x) * (y - a.y) - (x - a.x) * (b.y - a.y)) / area;
        if (second < 0 || third < 0 || second + third > 1) continue;
        const depth = a.depth + second * (b.depth - a.depth) + third * (c.depth - a.depth);
        if (depth > nearest) [nearest, owner] = [depth, piece.owner];
      }
    }
    return owner;
  }
}

/** Colour of what is chosen. */
const HIGHLIGHT = [0.15, 0.4, 0.95];

/** A screen that draws by WebGL 2; null where there is none. @param {HTMLCanvasElement} canvas */
function screenOf(canvas) {
  const gl = canvas.getContext('webgl2', { antialias: true, premultipliedAlpha: true });
  if (!gl) return null;
  try {
    return new Screen(canvas, gl);
  } catch (error) {
    console.warn('WebGL 2 cannot be used', error);
    return null;
  }
}

class Screen {
  /** @param {HTMLCanvasElement} canvas @param {WebGL2RenderingContext} gl */
  constructor(canvas, gl) {
    this.canvas = canvas;
    this.gl = gl;
    /** First corner and number of corners of each piece. @type {[number, number][]} */
    this.ranges = [];
    /** @type {Piece[]} */
    this.loaded = [];
    this.prepare();
    // A browser may take the graphics away, and give them back.
    canvas.addEventListener('webglcontextlost', (event) => event.preventDefault());
    canvas.addEventListener('webglcontextrestored', () => {
      this.prepare();
      this.load(this.loaded);
    });
  }

  prepare() {
    const { gl } = this;
    const program = gl.createProgram();
    for (const [kind, text] of /** @type {[number, string][]} */ ([
      [gl.VERTEX_SHADER, VERTEX],
      [gl.FRAGMENT_SHADER, FRAGMENT],
    ])) {
      const shader = /** @type {WebGLShader} */ (gl.createShader(kind));
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program) ?? 'WebGL');
    gl.useProgram(program);
    const at = (/** @type {string} */ name) => gl.getUniformLocation(program, name);
    this.places = { pose: at('pose'), eye: at('eye'), color: at('color'), light: at('light') };
    this.attributes = [gl.getAttribLocation(program, 'corner'), gl.getAttribLocation(program, 'normal')];
    this.buffer = gl.createBuffer();
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.CULL_FACE);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    const size = Math.hypot(...LIGHT);
    gl.uniform3fv(
      this.places.light,
      LIGHT.map((part) => part / size),
    );
  }

  /** Gives the shapes to the graphics: each as corners with normals. @param {Piece[]} pieces */
  load(pieces) {
    const { gl } = this;
    this.loaded = pieces;
    this.ranges = [];
    const numbers = [];
    for (const { triangles } of pieces) {
      this.ranges.push([numbers.length / 6, 3 * triangles.length]);
      for (const triangle of triangles) {
        const normal = normalOf(triangle);
        for (const corner of triangle) numbers.push(...corner, ...normal);
      }
    }
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer ?? null);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(numbers), gl.STATIC_DRAW);
    (this.attributes ?? []).forEach((attribute, at) => {
      gl.enableVertexAttribArray(attribute);
      gl.vertexAttribPointer(attribute, 3, gl.FLOAT, false, 24, 12 * at);
    });
  }

  /** @param {Piece[]} pieces Those that were loaded. @param {Orbit} eye
   * @param {(piece: Piece) => readonly number[]} colorOf */
  draw(pieces, eye, colorOf) {
    const { gl, canvas, places } = this;
    if (gl.isContextLost() || !places) return;
    const { width, height } = canvas.getBoundingClientRect();
    const ratio = window.devicePixelRatio || 1;
    const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== wide) canvas.width = wide;
    if (canvas.height !== high) canvas.height = high;
    gl.viewport(0, 0, wide, high);
    const [r, g, b] = rgbOf(getComputedStyle(canvas).getPropertyValue('--canvas'));
    gl.clearColor(r, g, b, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.uniformMatrix4fv(places.eye, true, eyeMatrix(eye, width, height));
    const one = (/** @type {number} */ at) => {
      const { pose } = pieces[at];
      gl.uniformMatrix4fv(places.pose, true, [...pose, 0, 0, 0, 1]);
      gl.uniform4fv(places.color, colorOf(pieces[at]));
      gl.drawArrays(gl.TRIANGLES, ...this.ranges[at]);
    };
    const all = pieces.map((_, at) => at).filter((at) => this.ranges[at]);
    const isGlass = (/** @type {number} */ at) => colorOf(pieces[at])[3] < 1;
    gl.disable(gl.BLEND);
    gl.depthMask(true);
    for (const at of all) if (!isGlass(at)) one(at);
    // What is seen through comes last, and hides nothing.
    gl.enable(gl.BLEND);
    gl.depthMask(false);
    for (const at of all) if (isGlass(at)) one(at);
    gl.depthMask(true);
  }
}

/** The matrix of a parallel projection, row by row. @param {Orbit} eye @param {number} width @param {number} height */
export function eyeMatrix(eye, width, height) {
  const scale = eye.scale || 200;
  const factors = [(2 * scale) / width, (2 * scale) / height, -2 / DEPTH];
  const rows = eye.axes().map((axis, row) => {
    const middle = axis.reduce((sum, part, at) => sum + part * eye.center[at], 0);
    return [...axis.map((part) => part * factors[row]), -middle * factors[row]];
  });
  return [...rows.flat(), 0, 0, 0, 1];
}

/** Red, green and blue of `#rrggbb`, 0 to 1. @param {string} color */
const rgbOf = (color) => [1, 3, 5].map((at) => parseInt(color.trim().slice(at, at + 2), 16) / 255);

/** The poses of a message for pieces, by their numbers. @param {any} message dragoman_msgs/ScenePoses
 * @returns {[number, Motion][]} */
export function movedOf(message) {
  const { index, poses } = message;
  return Array.from(index, (/** @type {number} */ at, /** @type {number} */ order) => {
    const [x, y, z, qx, qy, qz, w] = Array.from(poses.slice(7 * order, 7 * order + 7));
    return [at, ofPose({ position: { x, y, z }, orientation: { x: qx, y: qy, z: qz, w } })];
  });
}
