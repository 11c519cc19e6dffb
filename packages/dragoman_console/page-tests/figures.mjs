/**
 * What the console costs: processor time of the server for one page with map, laser and camera, and how quickly clients
 * of the four old protocols are answered with and without open pages. Prints tables for `docs/console.md`; the exit
 * status is 1 if the console needs 30 % of a core, or the 99th percentile of a protocol is more than 20 % higher with
 * pages. Takes about seven minutes; nothing else should run on the machine.
 *
 *   DRAGOMAN=target/release/dragoman node figures.mjs
 *
 * ROUNDS is the number of rounds (15), SECONDS the time for the processor (15). The pages are WebSockets with the
 * subscriptions of the real ones, so that no browser takes the processors. They are in a process of their own: what they
 * receive does not delay the clients that are measured. Answers of all rounds count together.
 */

import { fork } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { readFile, readdir } from 'node:fs/promises';
import { setPriority, tmpdir } from 'node:os';
import WebSocket from 'ws';
import { connect } from './ros.mjs';
import { startLab } from './lab.mjs';

const SECONDS = Number(process.env.SECONDS ?? 15);
const ROUNDS = Number(process.env.ROUNDS ?? 15);
const QUESTIONS = Number(process.env.QUESTIONS ?? 600);
const PAGES = 20;
const TICKS_PER_SECOND = 100;
const wait = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** What a page with map, laser at 10 Hz and camera at 10 Hz subscribes to. */
const DRIVING = [
  ['/neobotix/map', 'nav_msgs/msg/OccupancyGrid', 0, 'cbor'],
  ['/neobotix/status', 'dragoman_msgs/msg/PlatformStatus', 100, 'none'],
  ['/scan', 'sensor_msgs/msg/LaserScan', 100, 'cbor'],
  ['/camera/rgb/image_color/compressed', 'sensor_msgs/msg/CompressedImage', 100, 'cbor'],
];
/** What every page subscribes to, and those of the lab and the platform. */
const OPEN = [
  ['/diagnostics', 'diagnostic_msgs/msg/DiagnosticArray', 0, 'none'],
  ['/rosout', 'rcl_interfaces/msg/Log', 0, 'none'],
  ['/neobotix/status', 'dragoman_msgs/msg/PlatformStatus', 100, 'none'],
  ['/neobotix/battery_state', 'sensor_msgs/msg/BatteryState', 0, 'none'],
];

/** @param {string} url @param {(string | number)[][]} topics */
async function page(url, topics) {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/rosbridge`);
  await new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  const counts = new Map();
  socket.on('message', (data) => {
    // Text or CBOR: both have the name of the topic near the beginning.
    const head = data.subarray(0, 120).toString('latin1');
    const name = topics.map(([topic]) => String(topic)).find((topic) => head.includes(topic));
    counts.set(name, (counts.get(name) ?? 0) + 1);
  });
  for (const [topic, type, throttle, compression] of topics) {
    const options = { throttle_rate: throttle, queue_length: 1, compression };
    socket.send(JSON.stringify({ op: 'subscribe', topic, type, ...options }));
  }
  return { counts, close: () => socket.close() };
}

/** Open pages in another process, which the returned function ends. @param {string} url */
async function openPages(url) {
  const child = fork(import.meta.filename, ['pages', url]);
  // Browsers are on other computers; here they get the processor time that others leave.
  setPriority(child.pid ?? 0, 19);
  await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([status]) => Promise.reject(new Error(`the pages ended with status ${status}`))),
  ]);
  return async () => {
    const ended = once(child, 'exit');
    child.disconnect();
    await ended;
  };
}

if (process.argv[2] === 'pages') {
  process.once('disconnect', () => process.exit());
  await Promise.all(Array.from({ length: PAGES }, () => page(process.argv[3], OPEN)));
  process.send?.('open');
  await new Promise(() => {});
}

/** Processor seconds of a process, all of it and of the console's threads. @param {number} pid */
async function used(pid) {
  let [all, own] = [0, 0];
  for (const task of await readdir(`/proc/${pid}/task`)) {
    const text = await readFile(`/proc/${pid}/task/${task}/stat`, 'utf8').catch(() => '');
    const name = /\((.*)\)/.exec(text)?.[1] ?? '';
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const seconds = (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND || 0;
    all += seconds;
    if (name.startsWith('console')) own += seconds;
  }
  return { all, own };
}

/** Shares of one processor. @param {number} pid */
async function share(pid) {
  const before = await used(pid);
  const start = performance.now();
  await wait(SECONDS * 1000);
  const after = await used(pid);
  const seconds = (performance.now() - start) / 1000;
  return { all: (after.all - before.all) / seconds, own: (after.own - before.own) / seconds };
}

/** Questions of the old protocols for a place, and the length of the answer that is in a buffer, 0 if it is not whole. */
const PROTOCOLS = {
  Apolo: {
    // Where the robot "Neo" is.
    question: Buffer.from('6161000b670004' + Buffer.from('Neo').toString('hex') + '00', 'hex'),
    size: (/** @type {Buffer} */ data) => (data.length < 5 ? 0 : data.readUInt16LE(2)),
  },
  PlatformCtrl: {
    question: Buffer.from('ff01fe02000000014a', 'hex'),
    size: (/** @type {Buffer} */ data) => (data.length < 8 ? 0 : 8 + data.readUInt32BE(4)),
  },
  Player: {
    // The list of devices: interface 1, request 1.
    question: Buffer.from('0000000000001a09000000010000000000000003000000010000000000000000'.padEnd(80, '0'), 'hex'),
    size: (/** @type {Buffer} */ data) => (data.length < 40 ? 0 : 40 + data.readUInt32BE(36)),
  },
};

/** Times of answers, ms. @param {(question: () => void) => Promise<boolean>} answered It sends the question. */
async function times(answered) {
  const found = [];
  for (let count = 0; count < QUESTIONS; count += 1) {
    let start = 0;
    const isThere = await answered(() => (start = performance.now()));
    if (isThere) found.push(performance.now() - start);
    await wait(2);
  }
  if (found.length < QUESTIONS * 0.99) throw new Error(`only ${found.length} of ${QUESTIONS} questions were answered`);
  return found;
}

/** Questions of the 31-byte protocol for the joints. @param {number} port */
async function askArm(port) {
  const socket = createSocket('udp4');
  await new Promise((resolve) => socket.connect(port, '127.0.0.1', () => resolve(undefined)));
  const question = Buffer.alloc(31);
  question.write('jP');
  const found = await times((begin) => {
    const answered = new Promise((resolve) => socket.once('message', () => resolve(true)));
    begin();
    socket.send(question);
    return Promise.race([answered, wait(1000).then(() => false)]);
  });
  socket.close();
  return found;
}

/** Questions on a connection. @param {keyof typeof PROTOCOLS} name @param {number} port */
async function askOn(name, port) {
  const { question, size } = PROTOCOLS[name];
  const socket = createConnection({ port, host: '127.0.0.1', noDelay: true });
  let data = Buffer.alloc(0);
  let arrived = () => {};
  socket.on('data', (chunk) => {
    data = Buffer.concat([data, chunk]);
    arrived();
  });
  await new Promise((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  // Player's server sends its name first.
  await wait(200);
  const found = await times((begin) => {
    data = Buffer.alloc(0);
    const answered = new Promise((resolve) => {
      arrived = () => size(data) && data.length >= size(data) && resolve(true);
    });
    begin();
    socket.write(question);
    return Promise.race([answered, wait(1000).then(() => false)]);
  });
  socket.destroy();
  return found;
}

const quantile = (/** @type {number[]} */ list, /** @type {number} */ share) =>
  [...list].sort((a, b) => a - b)[Math.floor(list.length * share)];
const percent = (/** @type {number} */ value) => `${(value * 100).toFixed(1)} %`;

const lab = await startLab(tmpdir());
const failures = [];
try {
  const ros = await connect(lab.url);
  await wait(5000);
  const idle = await share(lab.pid);
  const one = await page(lab.url, DRIVING);
  await wait(3000);
  one.counts.clear();
  const driving = await share(lab.pid);
  const rates = DRIVING.map(([topic]) => (one.counts.get(topic) ?? 0) / SECONDS);
  one.close();
  console.log('\n| processor time of the lab | without a page | with map, laser and camera |\n| --- | --- | --- |');
  console.log(`| console's threads | ${percent(idle.own)} | ${percent(driving.own)} |`);
  console.log(`| all of the lab | ${percent(idle.all)} | ${percent(driving.all)} |`);
  console.log(`\nstatus ${rates[1].toFixed(1)} Hz, laser ${rates[2].toFixed(1)} Hz, camera ${rates[3].toFixed(1)} Hz`);
  if (driving.own > 0.3) failures.push('the console takes 30 % of a core or more');

  const { status } = await ros.next('/diagnostics', 'diagnostic_msgs/msg/DiagnosticArray', ({ status: list }) =>
    list.some((/** @type {any} */ subject) => subject.name.includes('31-byte')),
  );
  const subject = status.find((/** @type {any} */ one_) => one_.name.includes('31-byte'));
  const port = Number(subject.hardware_id.split(':').pop());
  const asks = new Map([
    ['31-byte protocol', () => askArm(port)],
    ['Apolo', () => askOn('Apolo', lab.ports.apolo)],
    ['PlatformCtrl', () => askOn('PlatformCtrl', lab.ports.neobotix)],
    ['Player', () => askOn('Player', lab.ports.player)],
  ]);
  /** Times of each protocol, ms, without and with pages. @type {Map<string, [number[], number[]]>} */
  const found = new Map([...asks.keys()].map((name) => [name, [[], []]]));
  for (const ask of asks.values()) await ask();
  // In turns, because the load of the machine changes.
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const isBeside of round % 2 ? [true, false] : [false, true]) {
      const closePages = isBeside ? await openPages(lab.url) : async () => {};
      await wait(1000);
      for (const [name, ask] of asks) {
        found.get(name)?.[Number(isBeside)].push(...(await ask()));
      }
      await closePages();
      await wait(500);
    }
  }
  console.log(`\n| answers | no page | ${PAGES} pages | more |\n| --- | --- | --- | --- |`);
  const row = (/** @type {string} */ name, /** @type {number[]} */ [without, beside]) => {
    const both = [without, beside].map((time) => `${(time * 1000).toFixed(0)} µs`).join(' | ');
    console.log(`| ${name} | ${both} | ${(100 * (beside / without - 1)).toFixed(0)} % |`);
  };
  for (const [name, lists] of found) {
    row(`${name}: median`, lists.map((list) => quantile(list, 0.5)));
    const p99 = lists.map((list) => quantile(list, 0.99));
    row(`${name}: 99th percentile`, p99);
    if (p99[1] > p99[0] * 1.2) failures.push(`${name}: the 99th percentile is more than 20 % higher`);
  }
  console.log(`\n${ROUNDS} rounds of ${QUESTIONS} questions each, in turns`);
  ros.close();
} finally {
  await lab.stop();
}
for (const failure of failures) console.log(`FAILED  ${failure}`);
process.exit(failures.length ? 1 : 0);
