import { test } from 'node:test';
import assert from 'node:assert/strict';
import { isThing, machinesIn } from '../../page/js/machines.js';
import { Graph } from '../../page/js/graph.js';
import { Orbit } from '../../page/js/orbit.js';
import { eyeMatrix, movedOf, pieceOf } from '../../page/js/room.js';

/** A graph with these topics and services. */
const graph = (topics, services = []) => {
  const one = Object.create(Graph.prototype);
  return Object.assign(one, {
    topics: new Map(topics),
    services: new Set(services),
    machines: { platforms: ['/neobotix'], arms: ['/ranger'], bases: ['/mobile_base'], worlds: ['/apolo'] },
    servoArms: new Map([['', ['arm_1_joint', 'arm_2_joint']]]),
  });
};
const TWIST = 'geometry_msgs/msg/Twist';

test('every machine of the lab is offered once, with its page', () => {
  const machines = machinesIn(
    graph([
      ['/apolo/marvin/cmd_vel', TWIST],
      ['/neobotix/cmd_vel', TWIST],
      ['/cmd_vel', TWIST],
    ]),
  );
  assert.deepEqual(
    machines.map(({ kind, name }) => [kind, name]),
    [
      ['platform', '/neobotix'],
      ['base', '/mobile_base'],
      ['arm', '/ranger'],
      ['servos', ''],
      ['robot', '/apolo/marvin'],
    ],
  );
  assert.equal(machines[4].velocity, '/apolo/marvin/cmd_vel');
});

test('a machine is found in the world by its name', () => {
  const [platform, base, , , marvin] = machinesIn(graph([['/apolo/marvin/cmd_vel', TWIST]]));
  assert.ok(isThing(platform, 'neobotix_platform/base_link'));
  assert.ok(isThing(base, 'turtlebot2_widowx/wheel'));
  assert.ok(isThing(marvin, 'Marvin') && !isThing(marvin, 'Marvin 2'));
  assert.ok(!isThing(platform, 'Neo'));
});

/** A marker of this type and size at a place. */
const marker = (type, [x, y, z], [px, py, pz] = [0, 0, 0], points = []) => ({
  type,
  ns: 'thing',
  scale: { x, y, z },
  color: { r: 1, g: 0, b: 0, a: 1 },
  pose: { position: { x: px, y: py, z: pz }, orientation: { x: 0, y: 0, z: 0, w: 1 } },
  points,
});
const [CUBE, SPHERE, CYLINDER, TRIANGLES] = [1, 2, 3, 11];

/** Volume within triangles whose corners are counter-clockwise seen from outside. */
const volume = (triangles) =>
  triangles.reduce((sum, [a, b, c]) => {
    const cross = [b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0]];
    return sum + (a[0] * cross[0] + a[1] * cross[1] + a[2] * cross[2]) / 6;
  }, 0);

test('shapes are closed, and seen from outside', () => {
  const of = (type) => volume(pieceOf(marker(type, [1, 2, 3])).triangles);
  assert.ok(Math.abs(of(CUBE) - 6) < 1e-9);
  assert.ok(Math.abs(of(CYLINDER) / ((Math.PI / 4) * 6) - 1) < 0.03);
  assert.ok(Math.abs(of(SPHERE) / Math.PI - 1) < 0.06);
  const points = [1, 2, 3, 4].map((x) => ({ x, y: 0, z: 0 }));
  assert.equal(pieceOf(marker(TRIANGLES, [1, 1, 1], [0, 0, 0], points)).triangles.length, 1);
});

test('walls are seen through, and the ground is known', () => {
  assert.ok(pieceOf(marker(CUBE, [4, 0.1, 2], [0, 0, 1])).color[3] < 0.5);
  assert.equal(pieceOf(marker(CUBE, [0.5, 0.5, 2], [0, 0, 1])).color[3], 1);
  assert.ok(pieceOf(marker(CUBE, [9, 9, 0.1], [0, 0, -0.05])).isGround);
});

test('poses are read by their numbers', () => {
  const message = { index: [4, 2], poses: Float32Array.from([1, 2, 3, 0, 0, 0, 1, 5, 6, 7, 0, 0, 1, 0]) };
  const [[first, pose], [second, turned]] = movedOf(message);
  assert.deepEqual([first, second], [4, 2]);
  assert.deepEqual([pose[3], pose[7], pose[11]], [1, 2, 3]);
  // Half a turn about z.
  assert.deepEqual([turned[0], turned[5], turned[3]], [-1, -1, 5]);
});

test('both ways to draw agree where a point is, and what is fitted is in the picture', () => {
  const listeners = { addEventListener: () => {} };
  const eye = new Orbit(/** @type {any} */ (listeners), () => {});
  const [width, height] = [300, 200];
  const corners = /** @type {[number, number, number][]} */ ([
    [0, 0, 0],
    [5, 0, 0],
    [5, 4, 0],
    [0, 4, 3],
  ]);
  for (const [azimuth, elevation] of [
    [-2, 0.85],
    [1, 0.2],
    [0.3, 1.5],
  ]) {
    Object.assign(eye, { azimuth, elevation });
    eye.fit(corners, width, height);
    const project = eye.projection(width, height);
    const matrix = eyeMatrix(eye, width, height);
    for (const corner of corners) {
      const { x, y } = project(corner);
      assert.ok(x > -1e-6 && x < width + 1e-6 && y > -1e-6 && y < height + 1e-6, `${x} ${y}`);
      const [u, v] = [0, 4].map((row) =>
        [0, 1, 2].reduce((sum, at) => sum + matrix[row + at] * corner[at], matrix[row + 3]),
      );
      assert.ok(Math.abs(((u + 1) / 2) * width - x) < 1e-6 && Math.abs(((1 - v) / 2) * height - y) < 1e-6);
    }
  }
});
