import { test } from 'node:test';
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { DOMParser as XmlParser, XMLSerializer as XmlWriter } from '@xmldom/xmldom';

// Browsers report a parse error as an element; this library throws.
Object.assign(globalThis, { DOMParser: XmlParser, XMLSerializer: XmlWriter });
const { moved, newItem, readMap, writeMap } = await import('../../page/js/documents/map.js');
const { freeName, readRoadmap, wayOf, writeRoadmap } = await import('../../page/js/documents/roadmap.js');
const { checkProgram, lineOfStep, linesOfTags } = await import('../../page/js/documents/program.js');
const { linkPoses, movingJoints, readUrdf } = await import('../../page/js/urdf.js');
const lab = (name) => readFile(new URL(`../../../../launch/config/neobotix/${name}.xml`, import.meta.url), 'utf8');

test('a map that was not edited is written as it was read', async () => {
  const text = await lab('map');
  assert.equal(writeMap(readMap(text)).trim(), text.trim());
});

test('an edited map keeps what the editor does not know', () => {
  const text = `<map Version="1.0" author="me"><!-- note --><layer index="3" color="red">
  <line weight="7"><point x="1000.5" y="-2000"/><point x="0" y="0"/></line>
  <gate name="g"><point x="1" y="2"/></gate>
  <circle><center x="1" y="2"/><radius r="300"/></circle>
</layer></map>`;
  const state = readMap(text);
  assert.deepEqual(
    state.items.map((item) => item.kind),
    ['line', 'circle'],
  );
  assert.deepEqual(state.items[0].points[0], { x: 1.0005, y: -2 });
  const items = [
    moved(state.items[0], 1, 0),
    newItem({
      kind: 'prohibit',
      points: [
        { x: 0, y: 0 },
        { x: 1, y: 0 },
        { x: 1, y: 1 },
      ],
    }),
  ];
  const written = writeMap({ ...state, items });
  for (const kept of [
    'author="me"',
    '<!-- note -->',
    'color="red"',
    'weight="7"',
    '<gate name="g"><point x="1" y="2"/></gate>',
    'x="2000.5"',
  ]) {
    assert.ok(written.includes(kept), `${kept} in ${written}`);
  }
  assert.ok(!written.includes('<circle>'));
  const again = readMap(written);
  const rounded = ({ x, y }) => [x, y].map((one) => Number(one.toFixed(6)));
  assert.deepEqual(
    again.items.map(({ kind, points }) => ({ kind, points: points.map(rounded) })),
    items.map(({ kind, points }) => ({ kind, points: points.map(rounded) })),
  );
});

test('a roadmap that was not edited is written as it was read; edited, it keeps identifiers', async () => {
  const text = await lab('roadmap');
  const state = readRoadmap(text);
  assert.equal(writeRoadmap(state).trim(), text.trim());
  assert.equal(freeName(state), 'station4');
  const station = { ...state.stations[0], name: 'door', theta: Math.PI / 2 };
  const added = { id: 'station4', name: 'station4', point: { x: 1, y: 1 }, theta: 0 };
  const edges = [...state.edges.slice(1), { start: 'station4', end: 'north', points: [{ x: 2, y: 2.5 }] }];
  const again = readRoadmap(writeRoadmap({ ...state, stations: [station, ...state.stations.slice(1), added], edges }));
  assert.equal(again.stations[0].name, 'door');
  assert.equal(again.stations[0].id, 'north');
  assert.ok(Math.abs(again.stations[0].theta - Math.PI / 2) < 1e-9);
  assert.equal(again.edges.length, state.edges.length);
  assert.deepEqual(wayOf(again, again.edges[again.edges.length - 1]), [
    { x: 1, y: 1 },
    { x: 2, y: 2.5 },
    { x: 4.5, y: 3.8 },
  ]);
});

test('the program of the lab has no faults; broken ones have them at their lines', async () => {
  const text = await lab('program');
  const stations = new Set(['north', 'middle', 'west']);
  assert.deepEqual(checkProgram(text, { stations, parameters: new Set() }), []);
  assert.deepEqual(linesOfTags('<a>\n<!-- <b> -->\n<c/></a>'), [1, 3]);
  /** @type {[string, string, number][]} */
  const faults = [
    ['<label name="again"/>\n', 'check.twice', 4],
    ['<goto label="nowhere"/>', 'check.label', 3],
    ['<goto/>', 'check.missing', 3],
    ['<dance/>', 'check.unknown', 3],
    ['<wait/>', 'check.wait', 3],
    ['<wait><delay amount="soon"/></wait>', 'check.whole', 3],
    ['<motion><settarget/></motion>', 'check.count', 3],
    ['<motion><settarget><station name="moon"/></settarget></motion>', 'check.station', 3],
    ['<ioevent><digitalout D3="2"/></ioevent>', 'check.output', 3],
    ['<turnhead angle="400"/>', 'check.angle', 3],
    ['<parameter><set key="Nope" value="1"/></parameter>', 'check.parameter', 3],
  ];
  for (const [step, key, line] of faults) {
    const program = `<program version="1.0">\n<task name="t">\n${step}<label name="again"/>\n</task></program>`;
    const [first] = checkProgram(program, { stations, parameters: new Set() });
    assert.equal(first?.key, key, step);
    assert.equal(first.line, line, step);
  }
  assert.equal(checkProgram('<program><task></program>')[0].key, 'check.xml');
});

test('links of a described arm have rigid poses', async () => {
  const text = await readFile(new URL('../../../../urdf/ranger_mk1.urdf', import.meta.url), 'utf8');
  const robot = readUrdf(text);
  assert.deepEqual(
    movingJoints(robot).map((joint) => joint.name),
    [1, 2, 3, 4, 5, 6].map((at) => `joint_${at}`),
  );
  const poses = linkPoses(
    robot,
    new Map([
      ['joint_1', 0.3],
      ['joint_2', 0.4],
    ]),
  );
  for (const pose of poses.values()) {
    const [a, b, c] = [0, 4, 8].map((row) => pose.slice(row, row + 3));
    for (const row of [a, b, c]) assert.ok(Math.abs(Math.hypot(...row) - 1) < 1e-9);
  }
  assert.ok(poses.has('tool0'));
});

test('a step of a task has a line', () => {
  const text = [
    '<program version="1.0">',
    '<task name="a"><label name="x"/></task>',
    '<task name="b">',
    '<!-- <wait/> -->',
    '<parameter><set key="k" value="v"/></parameter>',
    '<motion>',
    '</motion>',
    '</task>',
    '</program>',
  ].join('\n');
  const lines = [['a', 0], ['b', 0], ['b', 1], ['b', 2], ['c', 0]].map(([task, step]) => lineOfStep(text, task, step));
  assert.deepEqual(lines, [2, 5, 6, null, null]);
  assert.equal(lineOfStep('<program><task', 'a', 0), null);
});
