/** Robot descriptions (URDF): links, joints, shapes, and where they are for joint positions. */

import { IDENTITY, apply, fromRpy, multiply, rotation } from './spatial.js';
import { elements, numberOf, parseXml } from './xml.js';

/** @typedef {import('./spatial.js').Motion} Motion */
/** @typedef {import('./spatial.js').Vector} Vector */
/**
 * @typedef {object} Joint
 * @property {string} name
 * @property {string} type `revolute`, `continuous`, `prismatic` or `fixed`; others are taken as fixed.
 * @property {string} parent
 * @property {string} child
 * @property {Motion} origin
 * @property {Vector} axis
 * @property {number} lower rad or m
 * @property {number} upper
 * @property {number} velocity rad/s or m/s; 0: not given.
 * @property {{ joint: string, multiplier: number, offset: number } | null} mimic
 */
/** @typedef {{ origin: Motion, faces: Vector[][], color: [number, number, number] }} Shape */
/** @typedef {{ root: string, joints: Joint[], shapes: Map<string, Shape[]> }} Robot */

const SIDES = 14;

/** @param {Element | undefined} element @param {string} name @param {Vector} otherwise @returns {Vector} */
function vector(element, name, otherwise) {
  const parts = (element?.getAttribute(name) ?? '').trim().split(/\s+/).map(Number);
  return parts.length === 3 && parts.every(Number.isFinite) ? [parts[0], parts[1], parts[2]] : otherwise;
}

/** @param {Element | undefined} element */
const originOf = (element) => fromRpy(vector(element, 'xyz', [0, 0, 0]), vector(element, 'rpy', [0, 0, 0]));

/** @param {Element} geometry @returns {Vector[][]} */
function facesOf(geometry) {
  const [shape] = elements(geometry);
  if (shape?.nodeName === 'box') {
    const [x, y, z] = vector(shape, 'size', [0, 0, 0]).map((side) => side / 2);
    return prism(
      [
        [x, y],
        [-x, y],
        [-x, -y],
        [x, -y],
      ],
      z,
    );
  }
  if (shape?.nodeName === 'cylinder') {
    return prism(circle(numberOf(shape, 'radius')), numberOf(shape, 'length') / 2);
  }
  if (shape?.nodeName === 'sphere') {
    const radius = numberOf(shape, 'radius');
    return [0.4, 0.75, 0.95].flatMap((height) => {
      const flat = Math.sqrt(1 - height * height) * radius;
      return prism(circle(flat), height * radius);
    });
  }
  return [];
}

/** @param {number} radius @returns {[number, number][]} */
function circle(radius) {
  return Array.from({ length: SIDES }, (_, at) => {
    const angle = (at / SIDES) * 2 * Math.PI;
    return [radius * Math.cos(angle), radius * Math.sin(angle)];
  });
}

/**
 * @param {[number, number][]} base Counter-clockwise.
 * @param {number} half Half of its height.
 * @returns {Vector[][]}
 */
function prism(base, half) {
  const sides = base.map(([x, y], at) => {
    const [nextX, nextY] = base[(at + 1) % base.length];
    return /** @type {Vector[]} */ ([
      [x, y, -half],
      [nextX, nextY, -half],
      [nextX, nextY, half],
      [x, y, half],
    ]);
  });
  const top = base.map(([x, y]) => /** @type {Vector} */ ([x, y, half]));
  const bottom = base.map(([x, y]) => /** @type {Vector} */ ([x, y, -half])).reverse();
  return [...sides, top, bottom];
}

/** Declares undeclared prefixes: browsers refuse them, other readers of descriptions do not.
 * @param {string} text XML. */
function declared(text) {
  const bare = text.replace(/<!--[\s\S]*?-->/g, '');
  const used = new Set([...bare.matchAll(/[<\s/]([A-Za-z_][\w.-]*):[A-Za-z_]/g)].map(([, prefix]) => prefix));
  const missing = [...used].filter((prefix) => !/^xml/.test(prefix) && !bare.includes(`xmlns:${prefix}`));
  return bare.replace(/<robot\b/, `<robot${missing.map((prefix) => ` xmlns:${prefix}="urn:${prefix}"`).join('')}`);
}

/** @param {string} text XML. @returns {Robot} */
export function readUrdf(text) {
  const robot = parseXml(declared(text), 'robot').documentElement;
  /** @type {Map<string, [number, number, number]>} */
  const materials = new Map();
  /** @param {Element | undefined} material @returns {[number, number, number] | undefined} */
  const colorOf = (material) => {
    const rgba = elements(material ?? robot, 'color')[0]?.getAttribute('rgba');
    if (!material || !rgba) return materials.get(material?.getAttribute('name') ?? '');
    const [r, g, b] = rgba.trim().split(/\s+/).map(Number);
    return [r, g, b];
  };
  for (const material of elements(robot, 'material')) {
    const color = colorOf(material);
    if (color) materials.set(material.getAttribute('name') ?? '', color);
  }
  const joints = elements(robot, 'joint').map((element) => {
    const limit = elements(element, 'limit')[0];
    const mimic = elements(element, 'mimic')[0];
    /** @type {Joint} */
    const joint = {
      name: element.getAttribute('name') ?? '',
      type: element.getAttribute('type') ?? 'fixed',
      parent: elements(element, 'parent')[0]?.getAttribute('link') ?? '',
      child: elements(element, 'child')[0]?.getAttribute('link') ?? '',
      origin: originOf(elements(element, 'origin')[0]),
      axis: vector(elements(element, 'axis')[0], 'xyz', [1, 0, 0]),
      lower: numberOf(limit, 'lower', -Math.PI),
      upper: numberOf(limit, 'upper', Math.PI),
      velocity: numberOf(limit, 'velocity', 0),
      mimic: mimic && {
        joint: mimic.getAttribute('joint') ?? '',
        multiplier: numberOf(mimic, 'multiplier', 1),
        offset: numberOf(mimic, 'offset', 0),
      },
    };
    return joint;
  });
  /** @type {Map<string, Shape[]>} */
  const shapes = new Map();
  for (const link of elements(robot, 'link')) {
    const list = elements(link, 'visual').flatMap((visual) => {
      const geometry = elements(visual, 'geometry')[0];
      if (!geometry) return [];
      /** @type {Shape} */
      const shape = {
        origin: originOf(elements(visual, 'origin')[0]),
        faces: facesOf(geometry),
        color: colorOf(elements(visual, 'material')[0]) ?? [0.6, 0.64, 0.68],
      };
      return [shape];
    });
    shapes.set(link.getAttribute('name') ?? '', list);
  }
  const children = new Set(joints.map((joint) => joint.child));
  const root = [...shapes.keys()].find((link) => !children.has(link)) ?? '';
  return { root, joints, shapes };
}

/** Joints that can be moved, in the order of the description. @param {Robot} robot */
export const movingJoints = (robot) =>
  robot.joints.filter((joint) => ['revolute', 'continuous', 'prismatic'].includes(joint.type) && !joint.mimic);

/** Poses of all links in the root's frame. @param {Robot} robot @param {ReadonlyMap<string, number>} positions
 * Joints that are missing are at 0. @returns {Map<string, Motion>} */
export function linkPoses(robot, positions) {
  /** @type {Map<string, Joint[]>} */
  const branches = new Map();
  for (const joint of robot.joints) branches.set(joint.parent, [...(branches.get(joint.parent) ?? []), joint]);
  /** @type {Map<string, Motion>} */
  const poses = new Map([[robot.root, IDENTITY]]);
  const open = [robot.root];
  while (open.length) {
    const link = /** @type {string} */ (open.pop());
    for (const joint of branches.get(link) ?? []) {
      if (poses.has(joint.child)) continue;
      const pose = multiply(/** @type {Motion} */ (poses.get(link)), joint.origin);
      poses.set(joint.child, multiply(pose, motionOf(joint, positions)));
      open.push(joint.child);
    }
  }
  return poses;
}

/** @param {Joint} joint @param {ReadonlyMap<string, number>} positions @returns {Motion} */
function motionOf(joint, positions) {
  const { mimic } = joint;
  const value = mimic
    ? (positions.get(mimic.joint) ?? 0) * mimic.multiplier + mimic.offset
    : (positions.get(joint.name) ?? 0);
  if (joint.type === 'revolute' || joint.type === 'continuous') return rotation(joint.axis, value);
  if (joint.type !== 'prismatic') return IDENTITY;
  const size = Math.hypot(...joint.axis) || 1;
  const [x, y, z] = joint.axis.map((part) => (part / size) * value);
  return [1, 0, 0, x, 0, 1, 0, y, 0, 0, 1, z];
}

/** Faces of all links in the root's frame. @param {Robot} robot @param {Map<string, Motion>} poses
 * @returns {{ corners: Vector[], color: [number, number, number] }[]} */
export function facesAt(robot, poses) {
  return [...robot.shapes].flatMap(([link, shapes]) => {
    const pose = poses.get(link);
    if (!pose) return [];
    return shapes.flatMap(({ origin, faces, color }) => {
      const motion = multiply(pose, origin);
      return faces.map((face) => ({ corners: face.map((corner) => apply(motion, corner)), color }));
    });
  });
}
