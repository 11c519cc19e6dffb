import { test } from 'node:test';
import assert from 'node:assert/strict';
import * as g from '../../page/js/geometry.js';

const near = (a, b, within = 1e-9) => assert.ok(Math.abs(a - b) <= within, `${a} is not ${b}`);
const same = (a, b, within = 1e-9) => (near(a.x, b.x, within), near(a.y, b.y, within));
const line = (ax, ay, bx, by) => ({ a: { x: ax, y: ay }, b: { x: bx, y: by } });
let seed = 7;
const random = () => ((seed = (seed * 48271) % 2147483647) / 2147483647) * 10 - 5;

test('a trimmed line keeps the part that was clicked', () => {
  const cut = g.trim(line(0, 0, 10, 0), line(4, -1, 4, 1), { x: 9, y: 0 });
  same(cut.a, { x: 4, y: 0 });
  same(cut.b, { x: 10, y: 0 });
  same(g.trim(line(0, 0, 10, 0), line(4, -1, 4, 1), { x: 1, y: 0 }).b, { x: 4, y: 0 });
  assert.equal(g.trim(line(0, 0, 10, 0), line(0, 1, 10, 1), { x: 1, y: 0 }), null);
  assert.equal(g.trim(line(0, 0, 10, 0), line(12, -1, 12, 1), { x: 1, y: 0 }), null);
});

test('a line is extended at its nearer end, never shortened', () => {
  const longer = g.extend(line(0, 0, 2, 0), line(5, -1, 5, 1));
  same(longer.b, { x: 5, y: 0 });
  same(g.extend(line(0, 0, 2, 0), line(-3, -1, -3, 1)).a, { x: -3, y: 0 });
  assert.equal(g.extend(line(0, 0, 2, 0), line(1, -1, 1, 1)), null);
});

test('aligned lines keep centre, length and sense', () => {
  for (let at = 0; at < 200; at += 1) {
    const one = line(random(), random(), random(), random());
    const other = line(random(), random(), random(), random());
    const [p, o] = [g.parallel(one, other), g.orthogonal(one, other)];
    const cross = (l, m) => (l.b.x - l.a.x) * (m.b.y - m.a.y) - (l.b.y - l.a.y) * (m.b.x - m.a.x);
    const dot = (l, m) => (l.b.x - l.a.x) * (m.b.x - m.a.x) + (l.b.y - l.a.y) * (m.b.y - m.a.y);
    near(cross(p, other), 0, 1e-7);
    near(dot(o, other), 0, 1e-7);
    for (const turned of [p, o]) {
      same(g.between(turned.a, turned.b, 0.5), g.between(one.a, one.b, 0.5), 1e-9);
      near(g.distance(turned.a, turned.b), g.distance(one.a, one.b), 1e-9);
      assert.ok(dot(turned, one) >= -1e-9);
    }
  }
});

test('angles are normalized', () => {
  near(g.normalize(3 * Math.PI - 0.1), Math.PI - 0.1);
  near(g.normalize(-2 * Math.PI), 0);
});

test('lines of a scan of a rectangular room are its walls, with their fronts inside', () => {
  const sensor = { x: 0.5, y: -0.3 };
  const scan = [];
  for (let degrees = 0; degrees < 360; degrees += 0.5) {
    const [cos, sin] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
    const wide = cos > 0 ? (3 - sensor.x) / cos : (-3 - sensor.x) / cos;
    const high = sin > 0 ? (2 - sensor.y) / sin : (-2 - sensor.y) / sin;
    const range = Math.min(Math.abs(wide), Math.abs(high)) + Math.sin(degrees * 17) * 0.004;
    scan.push({ x: sensor.x + cos * range, y: sensor.y + sin * range });
  }
  const lines = g.linesOfScan(scan, sensor);
  assert.ok(lines.length >= 4 && lines.length <= 6, `${lines.length} lines`);
  for (const one of lines) {
    const onWall =
      [one.a, one.b].every((p) => Math.abs(Math.abs(p.x) - 3) < 0.02) ||
      [one.a, one.b].every((p) => Math.abs(Math.abs(p.y) - 2) < 0.02);
    assert.ok(onWall, JSON.stringify(one));
    assert.ok(g.isLeft(one, sensor));
  }
});

test('a hull contains its points', () => {
  const points = Array.from({ length: 60 }, () => ({ x: random(), y: random() }));
  const corners = g.hull(points);
  const center = {
    x: corners.reduce((s, p) => s + p.x, 0) / corners.length,
    y: corners.reduce((s, p) => s + p.y, 0) / corners.length,
  };
  assert.ok(g.contains(corners, center));
  corners.forEach((a, at) => {
    const side = { a, b: corners[(at + 1) % corners.length] };
    for (const point of points) assert.ok(g.isLeft(side, point) || g.distanceToSegment(side, point) < 1e-9);
  });
});

test('grid steps are 1, 2 or 5 times a power of ten', () => {
  for (const scale of [0.3, 7, 40, 333, 5000]) {
    const step = g.gridStep(scale, 20);
    assert.ok(step * scale >= 20 - 1e-9);
    const mantissa = step / 10 ** Math.floor(Math.log10(step) + 1e-9);
    assert.ok(
      [1, 2, 5].some((one) => Math.abs(one - mantissa) < 1e-6),
      String(step),
    );
  }
});
