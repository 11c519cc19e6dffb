/**
 * Walks through the pages with a real Chromium, does what a user does, and asks the lab over its own connection whether
 * it happened. Each step is independent of the others as far as possible; a failed one does not end the walk.
 */

import assert from 'node:assert/strict';
import { mkdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createSocket } from 'node:dgram';
import { connect as connectTcp } from 'node:net';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { connect } from '../ros.mjs';

const SIZES = [
  { name: 'wide', viewport: { width: 1400, height: 900 }, hasTouch: false },
  { name: 'narrow', viewport: { width: 800, height: 900 }, hasTouch: false },
  { name: 'phone', viewport: { width: 360, height: 780 }, hasTouch: true },
];
const PAGES = [
  'lab',
  'parts',
  'platform',
  'map',
  'roadmap',
  'program',
  'hardware',
  'parameters',
  'arms',
  'turtlebot',
  'world',
  'recorder',
];
/** First bytes of an MCAP file. */
const MCAP = Buffer.from([0x89, 0x4d, 0x43, 0x41, 0x50, 0x30, 0x0d, 0x0a]);

/**
 * @typedef {{ url: string, token: string, stop: () => void }} Second
 * @param {string} url
 * @param {{ isReal: boolean, out: string, executable: string, only?: string, second?: () => Promise<Second>,
 *   freeArm?: () => Promise<{ url: string, stop: () => Promise<unknown> }> }} options
 * @returns {Promise<number>} Number of failed steps.
 */
export async function walk(url, { isReal, out, executable, only, second, freeArm }) {
  await mkdir(out, { recursive: true });
  const browser = await chromium.launch({ executablePath: executable, args: ['--no-sandbox'] });
  const ros = await connect(url);
  let failed = 0;
  const problems = [];
  const open = async (size = SIZES[0], options = {}) => {
    const { viewport, hasTouch } = size;
    const context = await browser.newContext({ viewport, hasTouch, locale: 'en-US', ...options });
    const page = await context.newPage();
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(`${message.text()} ${message.location().url}`);
    });
    page.on('pageerror', (error) => problems.push(String(error.stack)));
    return page;
  };
  const go = async (page, name) => {
    await page.goto(`${url}/#/${name}`);
    await page.waitForSelector(`main[data-ready="${name}"]`);
    await page.waitForSelector('.bar .chip.good', { timeout: 8000 });
    await page.waitForSelector('body[data-graph]', { timeout: 8000 });
  };
  const step = async (name, run) => {
    if (only && !new RegExp(only).test(name)) return;
    const page = await open();
    const start = Date.now();
    try {
      await run(page);
      console.log(`ok      ${name} (${((Date.now() - start) / 1000).toFixed(1)} s)`);
    } catch (error) {
      failed += 1;
      console.log(`FAILED  ${name}: ${error instanceof Error ? error.stack : error}`);
      await page.screenshot({ path: join(out, `failed-${name.replace(/\W+/g, '-')}.png`) }).catch(() => {});
    }
    await page.context().close();
  };
  /** Screen position of a point of the world on the page's canvas. */
  const at = async (page, x, y) => {
    const canvas = page.locator('.stage canvas');
    const box = await canvas.boundingBox();
    const [scale, cx, cy] = (await canvas.getAttribute('data-view')).split(' ').map(Number);
    return [box.x + box.width / 2 + (x - cx) * scale, box.y + box.height / 2 - (y - cy) * scale];
  };
  const click = async (page, x, y, options = {}) => page.mouse.click(...(await at(page, x, y)), options);
  const drag = async (page, from, to) => {
    await page.mouse.move(...(await at(page, ...from)));
    await page.mouse.down();
    await page.mouse.move(...(await at(page, (from[0] + to[0]) / 2, (from[1] + to[1]) / 2)));
    await page.mouse.move(...(await at(page, ...to)));
    await page.mouse.up();
  };
  const tool = (page, name) => page.click(`button[data-tool="${name}"]`);
  const until = async (what, check, seconds = 10) => {
    const end = Date.now() + seconds * 1000;
    for (;;) {
      const value = await check();
      if (value) return value;
      if (Date.now() > end) throw new Error(`not within ${seconds} s: ${what}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  /** The angle from one heading to another. */
  const turn = (to, from) => Math.atan2(Math.sin(to - from), Math.cos(to - from));
  /** Waits until two values of `read`, 0.4 s apart, differ by less than `most`; returns the last. */
  const still = async (what, read, most) => {
    let last = NaN;
    await until(what, async () => {
      const before = last;
      last = await read();
      await new Promise((resolve) => setTimeout(resolve, 400));
      return Math.abs(turn(last, before)) < most;
    });
    return last;
  };
  /** Pixels of the drawing in a colour of the page. */
  const pixels = (page, color) =>
    page.locator('.stage canvas').evaluate((canvas, name) => {
      const probe = document.createElement('canvas').getContext('2d');
      probe.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`);
      probe.fillRect(0, 0, 1, 1);
      const [r, g, b] = probe.getImageData(0, 0, 1, 1).data;
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      let count = 0;
      for (let at = 0; at < data.length; at += 4)
        count += Number(data[at] === r && data[at + 1] === g && data[at + 2] === b);
      return count;
    }, color);
  /** A view option shows and hides what has this colour. */
  const isOption = async (page, label, color) => {
    const shown = await until(label, async () => {
      const count = await pixels(page, color);
      return count > 20 && count;
    });
    await page.getByLabel(label, { exact: true }).uncheck();
    await until(`no ${label}`, async () => (await pixels(page, color)) < shown / 4);
    await page.getByLabel(label, { exact: true }).check();
    await until(`${label} again`, async () => (await pixels(page, color)) > shown / 4);
  };
  /** Waits until the drawing has its contents and scale. */
  const settled = async (page) => {
    let last = '';
    await until('the drawing', async () => {
      const before = last;
      last = (await page.locator('.stage canvas').getAttribute('data-view')) ?? '';
      await new Promise((resolve) => setTimeout(resolve, 300));
      return last !== '' && last === before;
    });
  };
  /** Closes the toasts that are there, does something, and returns the text of the toast of this kind that follows. */
  const toast = async (page, kind, act) => {
    await page.locator('.toast').evaluateAll((all) => all.forEach((one) => one.remove()));
    await act();
    const found = page.locator('.toast').first();
    await found.waitFor({ timeout: 8000 });
    const text = (await found.textContent()) ?? '';
    assert.ok((await found.getAttribute('class'))?.split(' ').includes(kind), `a toast of kind ${kind}: ${text}`);
    return text;
  };
  /** Takes the platform over once the page knows that it is ready, and agrees to its preparation. */
  const takeOver = async (page) => {
    await page.waitForSelector('#platform-state[data-state="0"]');
    await page.getByRole('button', { name: 'Take over' }).click();
    await page.locator('dialog').getByRole('button', { name: 'Yes, drive' }).click();
  };
  /** Port and address of a server of an old protocol. */
  const served = async (protocol) => {
    const name = (status) => status.name.replace(/^.*?: /, '');
    const { status: list } = await ros.next('/diagnostics', 'diagnostic_msgs/msg/DiagnosticArray', ({ status: all }) =>
      all.some((one) => name(one) === protocol),
    );
    const { hardware_id: id } = list.find((one) => name(one) === protocol);
    const [address, port] = id.split(',')[0].split(':');
    return { port: Number(port), address };
  };
  const status = async () => (await ros.call('/neobotix/get_status')).status;
  const ready = async () => {
    await ros.call('/neobotix/stop');
    await ros.call('/neobotix/connect_to_pltf');
    await ros.call('/neobotix/init_pltf');
    await until('ready', async () => (await status()).operation_state === 0);
  };
  const where = async () => {
    if (!isReal) return (await status()).estimated;
    const { position, yaw } = await ros.call('/apolo/get_location_m_robot', { world: '', robot: 'neobotix_platform' });
    return { x: position.x, y: position.y, theta: yaw };
  };

  await step('lab: the room, and a machine that is driven from it', async (page) => {
    if (!isReal) return;
    await ros.call('/neobotix/shutdown_pltf');
    await go(page, 'lab');
    const machine = (name) => page.locator(`.machines [data-machine="${name}"]`);
    await machine('/neobotix').click();
    await page.locator('.room-name[aria-pressed="true"]', { hasText: 'neobotix' }).waitFor();
    await page.screenshot({ path: join(out, 'lab.png') });
    // From nothing to a driving platform: one click and one answer.
    const before = await where();
    await page.locator('#chosen [data-station="west"]').click();
    const dialog = page.locator('dialog');
    await dialog.getByText('Initialize it').waitFor();
    assert.equal((await status()).operation_state, 3, 'nothing before the answer');
    await page.screenshot({ path: join(out, 'lab-question.png') });
    await dialog.getByRole('button', { name: 'Yes, drive' }).click();
    await page.locator('#machine-state', { hasText: 'Moving' }).waitFor();
    await until('motion', async () => Math.hypot((await where()).x - before.x, (await where()).y - before.y) > 0.1);
    await page.locator('#chosen').getByRole('button', { name: 'Stop it' }).click();
    await page.locator('#chosen', { hasText: 'It has confirmed the stop.' }).waitFor();
    await page.click('#stop');
    await until('released', async () => (await status()).emergency_state !== 1, 8);
    // By its pad: the base.
    await machine('/mobile_base').click();
    await page.focus('#chosen .jog-pad');
    const turned = ros.next('/odom', 'nav_msgs/msg/Odometry', ({ twist: { twist } }) => Math.abs(twist.angular.z) > 0.1);
    await page.keyboard.down('ArrowLeft');
    await turned;
    await page.locator('#chosen .commanders', { hasText: 'a page or program at' }).waitFor();
    await page.keyboard.up('ArrowLeft');
    await page.locator('#machine-state', { hasText: 'Ready, stands' }).waitFor();
  });

  await step('lab: an old program is seen with its last request', async (page) => {
    if (!isReal) return;
    await go(page, 'lab');
    await page.locator('.machines [data-machine="/ranger"]').click();
    const { port, address } = await served('31-byte arm protocol');
    const client = createSocket('udp4');
    const ask = () => client.send(Buffer.concat([Buffer.from('PS'), Buffer.alloc(29)]), port, address);
    const timer = setInterval(ask, 200);
    try {
      await page.locator('#chosen .commanders', { hasText: 'last: PS' }).waitFor();
      await page.locator('.connection', { hasText: '31-byte arm protocol' }).waitFor();
      await page.screenshot({ path: join(out, 'lab-program.png') });
    } finally {
      clearInterval(timer);
      client.close();
    }
  });

  await step('parts: all parts, first paint', async (page) => {
    await go(page, 'parts');
    await until('parts', async () => (await page.locator('.part').count()) >= 5);
    const paint = () =>
      page.evaluate(
        () => performance.getEntriesByType('paint').find((one) => one.name === 'first-contentful-paint')?.startTime,
      );
    console.log(`        first paint after ${Math.round(await until('a paint', paint))} ms`);
    await page.screenshot({ path: join(out, 'parts.png') });
  });

  await step('parts: nodes, and who uses the old protocols', async (page) => {
    if (!isReal) return;
    await go(page, 'parts');
    await page.getByText('Nodes', { exact: true }).click();
    await page.locator('.nodes [data-node="/neobotix/platform"] .dot.good').waitFor();
    assert.ok((await page.locator('.nodes li').count()) > 10);
    const { port, address } = await served("Neobotix' protocol");
    const client = connectTcp(port, address);
    await new Promise((resolve) => client.once('connect', resolve));
    const own = `${client.localAddress}:${client.localPort}`;
    await page.locator('tr', { hasText: own }).waitFor();
    await page.screenshot({ path: join(out, 'parts-nodes.png') });
    client.destroy();
    await page.locator('tr', { hasText: own }).waitFor({ state: 'detached' });
  });

  await step('parts: rates of topics', async (page) => {
    if (!isReal) return;
    await go(page, 'parts');
    await page.getByText('Topics and their rates').click();
    const rate = async (topic) => {
      const row = page.locator('.rates tbody tr', { has: page.getByText(topic, { exact: true }) });
      return (await row.count()) ? parseFloat(await row.locator('td').nth(1).textContent()) : NaN;
    };
    // What the page itself subscribes to, and what it does not.
    await until('diagnostics', async () => (await rate('/diagnostics')) > 1);
    await until('a laser', async () => (await rate('/scan')) > 3);
    console.log(`        /diagnostics ${await rate('/diagnostics')} Hz, /scan ${await rate('/scan')} Hz`);
    await page.locator('.rates').scrollIntoViewIfNeeded();
    await page.screenshot({ path: join(out, 'parts-rates.png') });
    await page.getByText('Topics and their rates').click();
    await until('the end', async () => {
      const { received } = await (await page.request.get(`${url}/api/lab`)).json();
      return !('/scan' in received) && '/diagnostics' in received;
    });
  });

  await step('language: German without reloading', async (page) => {
    await go(page, 'platform');
    await page.evaluate(() => (window.name = 'kept'));
    await page.click('#language');
    assert.equal(await page.textContent('h1'), 'Plattform');
    assert.equal(await page.textContent('#stop'), 'Not-Halt');
    assert.equal(await page.getAttribute('html', 'lang'), 'de');
    assert.equal(await page.evaluate(() => window.name), 'kept');
    await page.screenshot({ path: join(out, 'platform-de.png') });
  });

  await step('platform: to a station by clicks', async (page) => {
    await ros.call('/neobotix/shutdown_pltf');
    await go(page, 'platform');
    const button = (name) => page.getByRole('button', { name, exact: true });
    // What cannot be done says why, and the next sensible button is marked.
    await page.locator('[data-action="connect"].primary').waitFor();
    await toast(page, 'info', () => page.locator('[data-action="start"]').click({ force: true }));
    await button('Connect').click();
    await page.locator('[data-action="initialize"].primary').click();
    await page.waitForSelector('#platform-state[data-state="0"]', { timeout: 15000 });
    await page.selectOption('.panel .field select', '4');
    await until('mode', async () => (await status()).motion_mode === 4);
    await page.locator('[data-action="start"].primary').click();
    await page.locator('#platform-state', { hasText: 'Started, without a target' }).waitFor();
    // From here the station prepares it, after one question.
    await button('Disconnect').click();
    await page.waitForSelector('#platform-state[data-state="3"]');
    await settled(page);
    await tool(page, 'station');
    await click(page, 1, 3);
    await page.locator('dialog').getByRole('button', { name: 'Cancel' }).click();
    assert.equal((await status()).operation_state, 3, 'nothing happens without a yes');
    await click(page, 1, 3);
    await page.locator('dialog').getByRole('button', { name: 'Yes, drive' }).click();
    const target = await until(
      'arrival',
      async () => {
        const { x, y } = await where();
        return Math.hypot(x - 1, y - 3) < 0.15 && { x, y };
      },
      60,
    );
    console.log(`        the world says ${target.x.toFixed(2)}, ${target.y.toFixed(2)}`);
    await page.locator('#platform-state', { hasText: 'Has arrived' }).waitFor();
    await page.screenshot({ path: join(out, 'platform-station.png') });
    await button('Stop').click();
  });

  await step('platform: the target flag and the pose', async (page) => {
    await ready();
    await ros.call('/neobotix/set_mode', { mode: 4 });
    await ros.call('/neobotix/start');
    await go(page, 'platform');
    await settled(page);
    const pose = await where();
    await tool(page, 'target');
    await drag(page, [pose.x, pose.y], [pose.x + 0.6, pose.y - 0.6]);
    await page.getByRole('button', { name: 'Drive there' }).click();
    await until(
      'arrival',
      async () => {
        const { x, y } = await where();
        return Math.hypot(x - pose.x - 0.6, y - pose.y + 0.6) < 0.12;
      },
      40,
    );
    await ros.call('/neobotix/stop');
    await still('it stands', async () => (await status()).estimated.x, 0.005);
    await settled(page);
    const { estimated } = await status();
    await tool(page, 'pose');
    // The localization may correct it at once; that it was taken is what counts.
    await toast(page, 'info', () => drag(page, [estimated.x, estimated.y], [estimated.x + 0.3, estimated.y]));
    await ros.call('/neobotix/set_frm_pltf', { pose: estimated });
  });

  await step('platform: by hand, and the emergency stop', async (page) => {
    await ready();
    await go(page, 'platform');
    await takeOver(page);
    await page.waitForSelector('#platform-state[data-state="1"]');
    const before = (await where()).theta;
    const heading = async () => (await where()).theta;
    await page.focus('.jog-pad');
    await page.keyboard.down('ArrowLeft');
    await until('turned', async () => Math.abs(turn(await heading(), before)) > 0.1);
    await page.keyboard.up('ArrowLeft');
    await still('it stands after the release', heading, 0.02);
    await page.click('#stop');
    await until('emergency stop', async () => (await status()).emergency_state !== 0, 8);
    await until('confirmed', async () => (await page.textContent('#stop')) === 'Release stop', 8);
    await page.screenshot({ path: join(out, 'platform-stopped.png') });
    await page.click('#stop');
    await until('released', async () => (await status()).emergency_state === 0, 8);
  });

  await step('platform: by keypad', async (page) => {
    await ready();
    await go(page, 'platform');
    await takeOver(page);
    await page.waitForSelector('#platform-state[data-state="1"]');
    await page.focus('.jog-pad');
    /** How far it has driven ahead since a pose, and turned. */
    const since = (from, to) => ({
      ahead: (to.x - from.x) * Math.cos(from.theta) + (to.y - from.y) * Math.sin(from.theta),
      turned: turn(to.theta, from.theta),
    });
    const stands = () => still('it stands', async () => (await status()).rotation_velocity + (await where()).theta, 0.01);
    const press = async (key, moves) => {
      const from = await where();
      await page.keyboard.down(key);
      await until(key, async () => moves(since(from, await where())));
      await page.keyboard.up(key);
      await stands();
    };
    await press('Numpad4', ({ turned }) => turned > 0.15);
    await press('Numpad6', ({ turned }) => turned < -0.15);
    await press('Numpad2', ({ ahead }) => ahead < -0.08);
    await press('Numpad8', ({ ahead }) => ahead > 0.08);
    // Both at once.
    await press('Numpad7', ({ ahead, turned }) => ahead > 0.03 && turned > 0.05);
    await press('Numpad1', ({ ahead, turned }) => ahead < -0.03 && turned > 0.05);
    await press('Numpad9', ({ ahead, turned }) => ahead > 0.03 && turned < -0.05);
    await press('Numpad3', ({ ahead, turned }) => ahead < -0.03 && turned < -0.05);
    // 5 stops, although the other key is still down.
    const from = await where();
    await page.keyboard.down('Numpad4');
    await until('turned', async () => since(from, await where()).turned > 0.1);
    await page.keyboard.down('Numpad5');
    await stands();
    // It repeats itself, as a key does that is held.
    const stopped = await where();
    await page.keyboard.down('Numpad4');
    await page.waitForTimeout(500);
    assert.ok(Math.abs(since(stopped, await where()).turned) < 0.02, 'it still stands');
    await page.keyboard.up('Numpad5');
    await page.keyboard.up('Numpad4');
    await ros.call('/neobotix/stop');
  });

  await step('platform: by touch', async () => {
    await ready();
    await ros.call('/neobotix/set_mode', { mode: 2 });
    await ros.call('/neobotix/start');
    const page = await open(SIZES[2]);
    await go(page, 'platform');
    await page.locator('.jog-pad').scrollIntoViewIfNeeded();
    const box = await page.locator('.jog-pad').boundingBox();
    const touch = await page.context().newCDPSession(page);
    const [x, y] = [box.x + 20, box.y + box.height / 2];
    const heading = async () => (await where()).theta;
    const before = await heading();
    await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [{ x, y }] });
    await until('turned', async () => Math.abs(turn(await heading(), before)) > 0.1);
    await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
    await still('it stands', heading, 0.02);
    await page.context().close();
    await ros.call('/neobotix/stop');
  });

  await step('platform: two fingers zoom', async () => {
    const page = await open(SIZES[2]);
    await go(page, 'platform');
    await settled(page);
    const canvas = page.locator('.stage canvas');
    const scale = async () => Number((await canvas.getAttribute('data-view')).split(' ')[0]);
    const box = await canvas.boundingBox();
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    const fingers = (distance) => [
      { x: x - distance, y, id: 1 },
      { x: x + distance, y, id: 2 },
    ];
    const touch = await page.context().newCDPSession(page);
    const before = await scale();
    await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: fingers(30) });
    for (const distance of [40, 50, 60])
      await touch.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: fingers(distance) });
    await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
    await until('twice as large', async () => Math.abs((await scale()) / before - 2) < 0.1, 4);
    await page.context().close();
  });

  await step('platform: zoom and view options', async (page) => {
    if (!isReal) return;
    await ready();
    await go(page, 'platform');
    await settled(page);
    const canvas = page.locator('.stage canvas');
    const view = async () => ((await canvas.getAttribute('data-view')) ?? '').split(' ').map(Number);
    const press = (name) => page.getByRole('button', { name, exact: true }).click();
    const becomes = (what, holds) => until(what, async () => holds(await view()), 4);
    const [all, x, y] = await view();
    await press('Zoom in');
    await becomes('larger', ([scale]) => Math.abs(scale / all - 1.3) < 0.01);
    await press('Zoom out');
    await becomes('as before', ([scale]) => Math.abs(scale / all - 1) < 0.01);
    await tool(page, 'area');
    await drag(page, [-2, 1], [0, -1]);
    await becomes('the area', ([scale, cx, cy]) => scale > 2 * all && Math.hypot(cx + 1, cy) < 0.05);
    const [near, from] = await view();
    const [left, top] = await at(page, -1, 0);
    await page.mouse.move(left, top);
    await page.mouse.down();
    await page.mouse.move(left + 80, top, { steps: 4 });
    await page.mouse.up();
    await becomes('scrolled', ([, cx]) => Math.abs(cx - from + 80 / near) < 0.05);
    await page.mouse.wheel(0, 300);
    await becomes('smaller by the wheel', ([scale]) => scale < 0.7 * near);
    await press('Zoom all');
    await becomes('all', ([scale, cx, cy]) => Math.abs(scale / all - 1) < 0.05 && Math.hypot(cx - x, cy - y) < 0.5);

    await page.getByText('View options').click();
    await isOption(page, 'Laser', 'laser');
    await isOption(page, 'Work area and prohibited areas', 'prohibit');
    await isOption(page, 'Roadmap', 'edge');
    // While it drives: the way.
    await ros.call('/neobotix/set_mode', { mode: 4 });
    await ros.call('/neobotix/start');
    await ros.call('/neobotix/move_to_station', { station: 'west' });
    await isOption(page, 'Path', 'path');
    await page.screenshot({ path: join(out, 'platform-options.png') });
    await ros.call('/neobotix/stop');
  });

  await step('platform: a motion recorded and replayed', async (page) => {
    if (!isReal) return;
    await ready();
    await go(page, 'platform');
    await page.getByText('Sensors, mapping, events').click();
    const card = page.locator('.row', { has: page.getByRole('button', { name: 'Record the motion' }) });
    const press = (name) => card.getByRole('button', { name, exact: true }).last().click();
    await takeOver(page);
    await page.waitForSelector('#platform-state[data-state="1"]');
    const start = await where();
    await press('Record the motion');
    await page.focus('.jog-pad');
    await page.keyboard.down('ArrowLeft');
    await until('turned', async () => Math.abs(turn((await where()).theta, start.theta)) > 0.4);
    await page.keyboard.up('ArrowLeft');
    await still('it stands', async () => (await where()).theta, 0.01);
    await press('Stop');
    const end = await where();
    // Back to the start of the recording, and the same again.
    await page.focus('.jog-pad');
    await page.keyboard.down('ArrowRight');
    await until('turned back', async () => turn((await where()).theta, start.theta) < 0.1);
    await page.keyboard.up('ArrowRight');
    await ros.call('/neobotix/stop');
    await page.selectOption('.panel .field select', '6');
    await until('mode', async () => (await status()).motion_mode === 6);
    await press('Replay it');
    await until('replayed', async () => Math.abs(turn((await where()).theta, end.theta)) < 0.15, 20);
    await press('End');
    await ros.call('/neobotix/stop');
  });

  await step('platform: mapping', async (page) => {
    if (!isReal) return;
    await ready();
    const old = (await ros.call('/neobotix/get_map')).document;
    const lines = (document) => (document.match(/<linemapped/g) ?? []).length;
    assert.equal(lines(old), 0);
    // A wall that the map does not have.
    await ros.call('/neobotix/set_map', { name: 'lab', document: old.replace(/<line [^>]*\/>/, '') });
    await go(page, 'platform');
    await page.getByText('Sensors, mapping, events').click();
    const card = page.locator('.row', { has: page.getByRole('button', { name: 'Start mapping' }) });
    await card.getByRole('button', { name: 'Start mapping' }).click();
    await takeOver(page);
    await page.waitForSelector('#platform-state[data-state="1"]');
    const start = (await where()).theta;
    await page.focus('.jog-pad');
    await page.keyboard.down('ArrowLeft');
    await until('half a turn', async () => Math.abs(turn((await where()).theta, start)) > 2.5, 20);
    await page.keyboard.up('ArrowLeft');
    await page.screenshot({ path: join(out, 'platform-mapping.png') });
    await ros.call('/neobotix/stop');
    await card.getByRole('button', { name: 'Stop', exact: true }).click();
    const found = await until('lines', async () => lines((await ros.call('/neobotix/get_map')).document), 8);
    console.log(`        ${found} lines mapped`);
    await card.getByRole('button', { name: 'Reset' }).click();
    await ros.call('/neobotix/set_map', { name: 'lab', document: old });
  });

  await step('emergency stop: all machines', async (page) => {
    if (!isReal) return;
    await go(page, 'lab');
    const motors = () =>
      new Promise((resolve) => {
        ros.subscribe('/diagnostics', 'diagnostic_msgs/msg/DiagnosticArray', ({ status: list }) => {
          const base = list.find((one) => one.name === 'mobile_base: base');
          if (base) resolve(base.values.find((one) => one.key === 'motors').value);
        });
      });
    assert.equal(await motors(), 'on');
    // Arms as well: one that moves brakes and holds.
    await ros.call('/ranger/enable');
    const joint = async () => {
      const { name, position, velocity } = await ros.next('/ranger/joint_states', 'sensor_msgs/msg/JointState');
      const at = name.indexOf('joint_1');
      return { position: position[at], speed: Math.abs(velocity[at]) };
    };
    const away = (await joint()).position > 0 ? -1.2 : 1.2;
    ros.publish('/ranger/joint_1/command', 'std_msgs/msg/Float64', { data: away });
    await until('the arm moves', async () => (await joint()).speed > 0.05);
    await page.click('#stop');
    await until('platform', async () => (await status()).emergency_state === 1, 8);
    await until('base', async () => (await motors()) === 'off', 8);
    await until('arm', async () => (await joint()).speed < 0.005, 8);
    assert.ok(Math.abs((await joint()).position - away) > 0.05, 'it has not reached its goal');
    await until('confirmed', async () => (await page.textContent('#stop')) === 'Release stop', 8);
    const report = await page.textContent('.stop-report');
    for (const name of ['/neobotix', '/mobile_base', '/ranger', '/apolo/marvin', '/ (arm_1_joint'])
      assert.ok(report?.includes(name), `${name} has confirmed: ${report}`);
    await page.screenshot({ path: join(out, 'stopped.png') });
    const other = await open();
    await go(other, 'arms');
    await until('another page', async () => (await other.textContent('#stop')) === 'Release stop', 8);
    await other.context().close();
    await page.click('#stop');
    await until('platform', async () => (await status()).emergency_state === 0, 8);
    await until('base', async () => (await motors()) === 'on', 4);
  });

  /** After `lose` the platform gets a zero velocity from the console, and then stands. */
  const lost = async (name, lose) => {
    await ready();
    await ros.call('/neobotix/set_mode', { mode: 2 });
    await ros.call('/neobotix/start');
    const page = await open();
    await go(page, 'platform');
    await page.focus('.jog-pad');
    let zero = Infinity;
    let start = Infinity;
    ros.subscribe('/neobotix/cmd_vel', 'geometry_msgs/msg/Twist', ({ angular }) => {
      if (angular.z === 0 && Date.now() >= start) zero = Math.min(zero, Date.now());
    });
    await page.keyboard.down('ArrowLeft');
    await until('motion', async () => Math.abs((await status()).rotation_velocity) > 0.05, 5);
    start = Date.now();
    lose(page);
    await until('a zero velocity', async () => zero < Infinity, 5);
    await until('stop', async () => Math.abs((await status()).rotation_velocity) < 0.02, 3);
    ros.unsubscribe('/neobotix/cmd_vel');
    await page.context().close();
    await ros.call('/neobotix/stop');
    console.log(`        ${name}: zero velocity after ${zero - start} ms`);
  };

  await step('lost page: a closed tab stops the platform', async () => {
    if (isReal) await lost('closed', (page) => void page.close());
  });

  await step('lost page: a killed renderer stops it', async () => {
    if (!isReal) return;
    await lost('killed', (page) => {
      const crash = async () => (await page.context().newCDPSession(page)).send('Page.crash');
      crash().catch(() => {});
    });
  });

  await step('lost page: one that hangs stops it', async () => {
    if (!isReal) return;
    await lost('hanging', (page) => {
      const hang = () => {
        const end = performance.now() + 3000;
        while (performance.now() < end);
      };
      page.evaluate(hang).catch(() => {});
    });
  });

  await step('access: the token is refused and accepted', async () => {
    if (!second) return;
    const other = await second();
    try {
      const page = await open();
      const status = async (address) => (await page.goto(address))?.status();
      assert.equal(await status(`${other.url}/`), 401);
      assert.match(await page.textContent('body'), /token is missing or wrong/);
      assert.equal(await status(`${other.url}/?token=0123456789abcdef0123456789abcdef`), 401);
      assert.equal(await status(`${other.url}/?token=${other.token}`), 200);
      assert.ok(!page.url().includes('token'), 'the token leaves the address line');
      await page.waitForSelector('.bar .chip.good', { timeout: 8000 });
      await page.goto(`${other.url}/#/parts`);
      await until('nodes', async () => (await page.locator('.part').count()) > 3);
      // The end of the console is seen at once, and what the page knew is marked.
      other.stop();
      await page.locator('.banner', { hasText: 'Not connected since' }).waitFor({ timeout: 8000 });
      assert.ok(await page.evaluate(() => document.body.classList.contains('offline')));
      await page.context().close();
    } finally {
      other.stop();
    }
    // The refusals were intended; the browser reports them, and that the server does not answer.
    const refusals = problems.filter((one) => /401|ERR_CONNECTION|WebSocket/.test(one));
    for (const one of refusals) problems.splice(problems.indexOf(one), 1);
  });

  await step('editors: files, all and nothing, what is not saved', async (page) => {
    /** What the next question of the browser is answered with. @type {string | boolean} */
    let answer = true;
    /** @type {string[]} */
    const asked = [];
    page.on('dialog', async (dialog) => {
      asked.push(dialog.type());
      if (answer === false) await dialog.dismiss();
      else await dialog.accept(typeof answer === 'string' ? answer : undefined);
    });
    const press = (name) => page.getByRole('button', { name, exact: true }).click();
    const count = () => page.locator('.items button').count();
    /** Name and text of the file that this saves. */
    const saved = async (act) => {
      const [file] = await Promise.all([page.waitForEvent('download'), act()]);
      return { name: file.suggestedFilename(), text: await readFile(await file.path(), 'utf8') };
    };
    /** Loads a file. */
    const load = async (name, text) => {
      const [chooser] = await Promise.all([page.waitForEvent('filechooser'), press('Load from this computer')]);
      await chooser.setFiles({ name, mimeType: 'application/xml', buffer: Buffer.from(text) });
    };
    for (const kind of ['map', 'roadmap']) {
      const document = (await ros.call(`/neobotix/get_${kind}`)).document;
      await go(page, kind);
      await until(kind, async () => (await count()) >= 3);
      const all = await count();
      // What was not edited is written as it was read.
      const first = await saved(() => press('Save on this computer'));
      assert.equal(first.text, document);
      answer = 'other name';
      const second = await saved(() => press('Save as …'));
      assert.deepEqual(second, { name: 'other name.xml', text: document });
      await press('Select all');
      await page.focus('.stage canvas');
      await page.keyboard.press('Delete');
      assert.equal(await count(), 0);
      await press('Undo');
      assert.equal(await count(), all);
      await press('Redo');
      assert.equal(await count(), 0);
      await press('Undo');
      await press('Clear');
      assert.equal(await count(), 0);
      // What is not saved is not given up without a question.
      answer = false;
      await press('New');
      assert.equal(asked.at(-1), 'confirm');
      assert.ok((await page.textContent('.stage')).includes('•'), 'it is still changed');
      await press('Undo');
      assert.equal(await count(), all, 'the question was answered with no');
      await press('Clear');
      answer = true;
      const other = document.replace(`<${kind}`, `<!-- of a test -->\n<${kind}`);
      await load('other.xml', other);
      await until('the file', async () => (await count()) === all);
      const third = await saved(() => press('Save on this computer'));
      assert.deepEqual(third, { name: 'other.xml', text: other });
      await toast(page, 'error', () => load('broken.xml', '<map><layer>'));
      assert.equal(await count(), all, 'a broken file replaces nothing');
      await press('New');
      assert.equal(await count(), 0);
      await press('Get');
      await until('the platform has it', async () => (await count()) === all);
      // The browser asks before the page is left with changes.
      await press('Clear');
      asked.length = 0;
      answer = false;
      await page.reload({ timeout: 2000 }).catch(() => {});
      await until('a question', async () => asked.includes('beforeunload'));
      assert.equal(await count(), 0);
      answer = true;
      await press('Get');
    }
    // The browser's element for a document that is not well-formed has a style, which the policy refuses.
    const styles = problems.filter((one) => one.includes('inline style'));
    for (const one of styles) problems.splice(problems.indexOf(one), 1);
  });

  await step('map: every tool', async (page) => {
    const old = (await ros.call('/neobotix/get_map')).document;
    await go(page, 'map');
    await until('map', async () => (await page.locator('.items button').count()) > 20);
    const kinds = async (name) => page.locator('.items button', { hasText: name }).count();
    const more = async (name, run) => {
      const before = await kinds(name);
      await run();
      assert.equal(await kinds(name), before + 1, name);
    };
    await more('Line', async () => {
      await tool(page, 'line');
      await drag(page, [-4, -1], [-2, -1.3]);
    });
    await more('Line', () => drag(page, [-1, -2], [-1, 0.6]));
    await more('Reflector', async () => {
      await tool(page, 'reflector');
      await drag(page, [1, -2], [2, -2]);
    });
    await more('Circle', async () => {
      await tool(page, 'circle');
      await drag(page, [4, 0], [4.4, 0]);
    });
    for (const [name, kind, x] of [
      ['prohibit', 'Prohibited area', -1],
      ['polygon', 'Hidden polygon', 0.5],
    ]) {
      await more(kind, async () => {
        await tool(page, name);
        for (const [dx, dy] of [
          [0, 0],
          [0.8, 0],
          [0.8, 0.6],
          [0, 0.6],
          [0, 0],
        ])
          await click(page, x + dx, 3.6 + dy);
      });
    }
    await tool(page, 'workarea');
    for (const [x, y] of [
      [-5.6, -4.6],
      [5.6, -4.6],
      [5.6, 4.6],
      [-5.6, 4.6],
    ])
      await click(page, x, y);
    await page.keyboard.press('Enter');
    assert.equal(await kinds('Work area'), 1);
    await more('Label', async () => {
      await tool(page, 'label');
      await click(page, 2, 4);
      await page.fill('dialog input', 'a door');
      await page.keyboard.press('Enter');
      await page.waitForSelector('dialog', { state: 'detached' });
    });
    const fields = async () => page.locator('.points input').evaluateAll((all) => all.map((one) => Number(one.value)));
    const choose = async (x, y) => {
      await tool(page, 'select');
      await click(page, x, y);
      return fields();
    };
    await tool(page, 'extend');
    await click(page, -2.5, -1.225);
    await click(page, -1, -0.5);
    const extended = await fields();
    assert.ok(Math.abs(extended[2] + 1) < 0.02, `extended to ${extended}`);
    await tool(page, 'trim');
    await click(page, -1, 0.3);
    await click(page, -3, -1.15);
    const trimmed = await fields();
    assert.ok(Math.abs(Math.min(trimmed[1], trimmed[3]) + 1.45) < 0.05, `trimmed to ${trimmed}`);
    await tool(page, 'orthogonal');
    await click(page, -3, -1.15);
    await click(page, -1, 0.3);
    const right = await fields();
    assert.ok(Math.abs(right[1] - right[3]) < 0.02, `orthogonal ${right}`);
    await tool(page, 'parallel');
    await click(page, (right[0] + right[2]) / 2, right[1]);
    await click(page, -1, 0.3);
    const upright = await fields();
    assert.ok(Math.abs(upright[0] - upright[2]) < 0.02, `parallel ${upright}`);
    await tool(page, 'invert');
    await click(page, -1, 0.3);
    const inverted = await fields();
    assert.ok(Math.abs(inverted[1] - trimmed[3]) < 1e-6 && Math.abs(inverted[3] - trimmed[1]) < 1e-6, 'inverted');
    const circle = await choose(4.4, 0);
    await drag(page, [4.4, 0], [4.9, -0.5]);
    const shifted = await fields();
    assert.ok(Math.abs(shifted[0] - circle[0] - 0.5) < 0.03, 'moved');
    await tool(page, 'vertices');
    await click(page, -1, 3.9);
    await drag(page, [-1, 3.6], [-1.4, 3.3]);
    const corners = await fields();
    assert.ok(Math.abs(corners[0] + 1.4) < 0.03, `vertex ${corners}`);
    await tool(page, 'delete');
    const before = await page.locator('.items button').count();
    await click(page, 1.5, -2);
    assert.equal(await page.locator('.items button').count(), before - 1);
    await page.screenshot({ path: join(out, 'map-tools.png') });

    const press = (name) => page.getByRole('button', { name, exact: true }).click();
    await toast(page, 'info', () => press('Send'));
    const sent = (await ros.call('/neobotix/get_map')).document;
    await toast(page, 'info', () => press('Get'));
    await toast(page, 'info', () => press('Send'));
    assert.equal((await ros.call('/neobotix/get_map')).document, sent, 'sent, fetched and sent again, it is identical');
    assert.ok(sent.includes('a door'));
    await ros.call('/neobotix/set_map', { name: 'lab', document: old });
  });

  await step('map: lines from the scan', async (page) => {
    await ready();
    await go(page, 'map');
    await until('map', async () => (await page.locator('.items button').count()) > 5);
    await settled(page);
    const before = await page.locator('.items button').count();
    await tool(page, 'scan');
    await page.focus('.stage canvas');
    // The scan may not have arrived yet.
    const found = await until('lines', async () => {
      await page.keyboard.press('Enter');
      const more = (await page.locator('.items button').count()) - before;
      return more >= 2 && more;
    });
    console.log(`        ${found} lines`);
    await page.screenshot({ path: join(out, 'map-scan.png') });
    await page.keyboard.press('Control+z');
    assert.equal(await page.locator('.items button').count(), before);
  });

  await step('map: a hundred steps undone and done again', async (page) => {
    await go(page, 'map');
    await until('map', async () => (await page.locator('.items button').count()) > 5);
    const before = await page.locator('.items button').count();
    await tool(page, 'line');
    for (let count = 0; count < 100; count += 1) {
      const x = -5 + (count % 20) * 0.5;
      const y = -4 + Math.floor(count / 20) * 0.4;
      await drag(page, [x, y], [x + 0.3, y + 0.2]);
    }
    assert.equal(await page.locator('.items button').count(), before + 100);
    await page.focus('.stage canvas');
    for (let count = 0; count < 100; count += 1) await page.keyboard.press('Control+z');
    assert.equal(await page.locator('.items button').count(), before);
    for (let count = 0; count < 100; count += 1) await page.keyboard.press('Control+y');
    assert.equal(await page.locator('.items button').count(), before + 100);
  });

  await step('map: by keyboard alone', async (page) => {
    await go(page, 'map');
    await until('map', async () => (await page.locator('.items button').count()) > 5);
    const before = await page.locator('.items button').count();
    await page.focus('button[data-tool="circle"]');
    await page.keyboard.press('Enter');
    await page.focus('.stage canvas');
    await page.keyboard.press('Insert');
    assert.equal(await page.locator('.items button').count(), before + 1);
    await page.locator('.points input').first().fill('2.5');
    await page.keyboard.press('Tab');
    assert.equal(await page.locator('.points input').first().inputValue(), '2.5');
    await page.focus('.stage canvas');
    await page.keyboard.press('Delete');
    assert.equal(await page.locator('.items button').count(), before);
  });

  /** Moves the keyboard's cross to a point of the world, by arrow keys alone. */
  const cross = async (page, x, y) => {
    const canvas = page.locator('.stage canvas');
    const [scale] = (await canvas.getAttribute('data-view')).split(' ').map(Number);
    if (!(await canvas.getAttribute('data-cross'))) await page.keyboard.press('Shift+ArrowLeft');
    for (const [at, wanted, less, more] of /** @type {const} */ ([
      [0, x, 'ArrowLeft', 'ArrowRight'],
      [1, y, 'ArrowDown', 'ArrowUp'],
    ])) {
      await until(`the cross at ${wanted}`, async () => {
        const now = Number((await canvas.getAttribute('data-cross')).split(' ')[at]);
        const steps = Math.round(((wanted - now) * scale) / 4);
        for (let count = 0; count < Math.abs(steps); count += 1)
          await page.keyboard.press(`Shift+${steps < 0 ? less : more}`);
        return steps === 0;
      });
    }
  };

  await step('keyboard: lines, trimming, edges and the pose', async (page) => {
    await ready();
    await go(page, 'map');
    await until('map', async () => (await page.locator('.items button').count()) > 5);
    await settled(page);
    const press = async (name) => {
      await page.focus(`button[data-tool="${name}"]`);
      await page.keyboard.press('Enter');
      await page.focus('.stage canvas');
    };
    const before = await page.locator('.items button').count();
    for (const [from, to] of [
      [
        [-1, -2],
        [-1, 1],
      ],
      [
        [-3, -1],
        [0, -1],
      ],
    ]) {
      await press('line');
      await cross(page, from[0], from[1]);
      await page.keyboard.press('Shift+Space');
      await cross(page, to[0], to[1]);
      await page.keyboard.press('Shift+Space');
    }
    assert.equal(await page.locator('.items button').count(), before + 2);
    await press('trim');
    await cross(page, -1, 0.5);
    await page.keyboard.press('Space');
    await cross(page, -2, -1);
    await page.keyboard.press('Space');
    const fields = await page.locator('.points input').evaluateAll((all) => all.map((one) => Number(one.value)));
    assert.ok(Math.abs(Math.max(fields[0], fields[2]) + 1) < 0.1, `trimmed to ${fields}`);

    await go(page, 'roadmap');
    await until('stations', async () => (await page.locator('.items button').count()) >= 3);
    await settled(page);
    const things = await page.locator('.items button').count();
    await press('station');
    await cross(page, 4.5, 1);
    await page.keyboard.press('Shift+Space');
    await cross(page, 4.5, 1.8);
    await page.keyboard.press('Shift+Space');
    await press('twoway');
    await cross(page, 4.5, 1);
    await page.keyboard.press('Space');
    await cross(page, 1, 3);
    await page.keyboard.press('Space');
    assert.equal(await page.locator('.items button').count(), things + 1);
    assert.match(await page.locator('.items button').last().textContent(), /middle/, 'the edge is there');

    await go(page, 'platform');
    await settled(page);
    const { estimated } = await status();
    await press('pose');
    await cross(page, estimated.x, estimated.y);
    await page.keyboard.press('Shift+Space');
    await cross(page, estimated.x + 0.3, estimated.y);
    await toast(page, 'info', () => page.keyboard.press('Shift+Space'));
    await ros.call('/neobotix/set_frm_pltf', { pose: estimated });
  });

  await step('roadmap: drawn, sent, driven on', async (page) => {
    await ready();
    const old = (await ros.call('/neobotix/get_roadmap')).document;
    await go(page, 'roadmap');
    await until('stations', async () => (await page.locator('.items button').count()) >= 3);
    await settled(page);
    await tool(page, 'station');
    await drag(page, [4.5, 1], [4.5, 1.8]);
    await tool(page, 'twoway');
    await click(page, 4.5, 3.8);
    await click(page, 4.8, 2.2);
    await click(page, 4.5, 1);
    await tool(page, 'oneway');
    await click(page, 4.5, 1);
    await click(page, 1, 3);
    await tool(page, 'invert');
    await click(page, 2.75, 2);
    await page.screenshot({ path: join(out, 'roadmap.png') });
    await toast(page, 'info', () => page.getByRole('button', { name: 'Send', exact: true }).click());
    const document = (await ros.call('/neobotix/get_roadmap')).document;
    const edges = [...document.matchAll(/startstation="(\w+)" endstation="(\w+)"/g)].map(
      (one) => `${one[1]} ${one[2]}`,
    );
    for (const edge of ['north station4', 'station4 north', 'middle station4']) assert.ok(edges.includes(edge), edge);
    await ros.call('/neobotix/set_mode', { mode: 4 });
    await ros.call('/neobotix/start');
    await go(page, 'platform');
    if (isReal) {
      await page.click('button[data-station="station4"]');
      await until(
        'arrival',
        async () => {
          const { x, y } = await where();
          return Math.hypot(x - 4.5, y - 1) < 0.2;
        },
        60,
      );
    }
    await ros.call('/neobotix/stop');
    await ros.call('/neobotix/set_roadmap', { name: 'lab', document: old });
  });

  await step('program: checked and run', async (page) => {
    await ready();
    const old = (await ros.call('/neobotix/get_program')).document;
    await go(page, 'program');
    await until('program', async () => (await page.inputValue('textarea')).includes('<program'));
    await page.fill('textarea', '<program version="1.0">\n<task name="t">\n<dance/>\n</task>\n</program>');
    await page.waitForSelector('.problems li');
    assert.match(await page.textContent('.problems li'), /Line 3/);
    await page.fill(
      'textarea',
      [
        '<program version="1.0">',
        '  <task name="t" id="1" priority="1" version="1.0">',
        '    <log type="info" message="from the console"/>',
        '    <parameter><set key="SirenEnabled" value="true"/></parameter>',
        '    <wait><delay amount="3000"/></wait>',
        '    <parameter><set key="SirenEnabled" value="false"/></parameter>',
        '  </task>',
        '</program>',
      ].join('\n'),
    );
    await page.waitForSelector('.tools .chip.good');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    if (isReal) {
      // The third step waits; its line is marked.
      await until('step', async () => (await page.textContent('.source pre')).includes('▶5'), 8);
      await until('message', async () => (await page.textContent('.panel')).includes('from the console'), 8);
      await until('siren', async () => (await status()).siren, 4);
    }
    await page.screenshot({ path: join(out, 'program-run.png') });
    await ros.call('/neobotix/stop');
    await ros.call('/neobotix/set_program', { name: '', document: old });
    await ros.call('/neobotix/set_pltf_param', { key: 'SirenEnabled', value: 'false' });
  });

  await step('parameters: set, with unit and range', async (page) => {
    await go(page, 'parameters');
    const row = page.locator('tr[data-key="IpoRotvel"]');
    await row.waitFor();
    assert.match(await row.textContent(), /rad\/s/);
    const input = row.locator('input');
    const old = await input.inputValue();
    await input.fill('0.55');
    // What is being typed stays when the list is read again, as it is when another machine appears.
    const other = page.locator('tr[data-key="IpoTransVel"] input');
    const otherBefore = await other.inputValue();
    await ros.call('/neobotix/set_pltf_param', { key: 'IpoTransVel', value: '405' });
    await page.getByRole('button', { name: 'Read again' }).evaluate((one) => one.click());
    await until('the other value', async () => (await other.inputValue()) === '405');
    assert.equal(await input.inputValue(), '0.55');
    await toast(page, 'info', () => input.press('Enter'));
    const value = async (name) =>
      (await ros.call('/neobotix/get_pltf_param_vec')).parameters.find((one) => one.key === name).value;
    assert.equal(Number(await value('IpoRotvel')), 0.55);
    // What another program sets after the page was read is in the file too.
    await ros.call('/neobotix/set_pltf_param', { key: 'IpoTransVel', value: '410' });
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save as .ini' }).click(),
    ]);
    assert.equal(file.suggestedFilename(), 'platform.ini');
    const lines = (await readFile(await file.path(), 'utf8')).split('\n');
    const saved = new Map(lines.flatMap((line) => (line.includes(' = ') ? [line.split(' = ')] : [])));
    for (const { key, value: current } of (await ros.call('/neobotix/get_pltf_param_vec')).parameters) {
      assert.equal(saved.get(key), current, key);
    }
    assert.equal(Number(saved.get('IpoRotvel')), 0.55);
    assert.equal(Number(saved.get('IpoTransVel')), 410);
    await ros.call('/neobotix/set_pltf_param', { key: 'IpoTransVel', value: otherBefore });
    await input.fill('99');
    await input.press('Enter');
    if (isReal) await page.waitForSelector('.toast.error');
    await ros.call('/neobotix/set_pltf_param', { key: 'IpoRotvel', value: old });
    await page.screenshot({ path: join(out, 'parameters.png') });
    if (!isReal) return;
    await page.selectOption('.filters select', '/ranger/kinematics');
    await page.locator('tr[data-key="cartesian.max_velocity"]').waitFor();
    await page.screenshot({ path: join(out, 'parameters-node.png') });
  });

  await step('hardware: outputs and ultrasonic sensors', async (page) => {
    await ready();
    await go(page, 'hardware');
    await page.getByRole('button', { name: 'Start all' }).click();
    if (isReal) await until('sensors', async () => (await status()).ultrasonic.every((one) => one < 9.9), 5);
    if (isReal) {
      const output = page.locator('button.lamp').first();
      await output.click();
      await until('output', async () => ((await status()).io_digital_out & 1) === 1, 4);
      await output.click();
    }
    const keys = page.locator('dt', { hasText: 'Keypad' }).locator('xpath=following-sibling::dd[1]');
    await until('keys', async () => {
      ros.publish('/joy', 'sensor_msgs/msg/Joy', { axes: [0, 0], buttons: [0, 1, 0] });
      return (await keys.textContent())?.replace(/\s+/g, ' ') === '1 ○ 2 ● 3 ○';
    });
    await page.screenshot({ path: join(out, 'hardware.png') });
    await ros.call('/neobotix/stop_ultrasonic');
  });

  await step('hardware: brakes', async (page) => {
    if (!isReal) return;
    await ready();
    await ros.call('/neobotix/set_mode', { mode: 2 });
    await ros.call('/neobotix/start');
    await go(page, 'hardware');
    const all = async (name) => {
      for (const button of await page.getByRole('button', { name }).all()) await button.click();
    };
    // A braked platform does not follow velocities.
    const turned = async () => {
      const before = (await where()).theta;
      for (let count = 0; count < 10; count += 1) {
        await ros.call('/neobotix/move_vel', { translation: 0, rotation: 0.4 });
        await page.waitForTimeout(100);
      }
      return Math.abs(turn((await where()).theta, before));
    };
    await all('Apply brake');
    await until('it stands', async () => (await turned()) < 0.02);
    // A brake interrupts, as /neobotix/break does.
    await all('Release brake');
    await ros.call('/neobotix/continue');
    await until('it turns', async () => (await turned()) > 0.1);
    await ros.call('/neobotix/stop');
  });

  await step('hardware: CAN messages', async (page) => {
    if (!isReal) return;
    await ready();
    await go(page, 'hardware');
    const identifier = page.getByLabel('Identifier, for example');
    await identifier.fill('nothing');
    await page.getByRole('button', { name: 'Listen' }).click();
    await page.locator('.toast.error').first().waitFor();
    await identifier.fill('0x181');
    await page.getByRole('button', { name: 'Listen' }).click();
    const send = (id) =>
      ros.publish('/neobotix/can/received', 'dragoman_msgs/CanMessage', { id, data: [222, 173, 0, 1, 2, 3, 4, 5] });
    const row = page.locator('tr', { hasText: 'de ad 00 01' });
    await until('the message', async () => {
      send(0x181);
      send(0x182);
      return (await row.count()) > 0;
    });
    assert.equal(await page.locator('tr', { hasText: '0x182' }).count(), 0, 'only what is listened to');
    await page.screenshot({ path: join(out, 'hardware-can.png') });
    await page.getByRole('button', { name: 'Forget' }).click();
    await until('forgotten', async () => {
      const count = await row.count();
      for (let sent = 0; sent < 20; sent += 1) send(0x181);
      await page.waitForTimeout(2500);
      return (await row.count()) === count;
    });
  });

  if (isReal) await step('recorder: chosen topics in a file, downloaded; earlier files', async (page) => {
    await go(page, 'recorder');
    await page.locator('.chip', { hasText: 'Not recording' }).waitFor();
    await page.getByLabel('All topics').uncheck();
    await page.getByRole('button', { name: 'Record' }).click();
    await page.waitForSelector('.toast.error');
    await page.locator('.toast').evaluateAll((all) => all.forEach((one) => one.remove()));
    await page.fill('#rec-filter', '/odom');
    await page.locator('#rec-topics [data-topic="/odom"] input').check();
    await page.getByRole('button', { name: 'Record' }).click();
    let last = /** @type {any} */ ({});
    ros.subscribe('/recording_status', 'dragoman_msgs/msg/RecordingStatus', (message) => {
      last = message;
    });
    await until('messages', async () => last.recording && last.messages > 20, 10);
    await page.screenshot({ path: join(out, 'recorder.png') });
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await until('the end', async () => !last.recording, 10);
    assert.equal(last.topics, 1);
    const link = page.locator('#rec-download');
    await link.waitFor({ state: 'visible' });
    const answer = await page.request.get(url + (await link.getAttribute('href')));
    const bytes = await answer.body();
    assert.equal(answer.status(), 200);
    assert.equal(bytes.length, Number(last.bytes));
    assert.ok(bytes.subarray(0, MCAP.length).equals(MCAP));
    assert.equal((await page.request.get(`${url}/recordings/other.mcap`)).status(), 404);
    const first = String(await link.getAttribute('download'));
    // Files of an earlier walk may be there.
    const second = `second_${Date.now()}`;
    await page.fill('#rec-name', second);
    await page.getByRole('button', { name: 'Record' }).click();
    await until('another recording', async () => last.recording, 10);
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await page.locator('#rec-earlier a', { hasText: second }).waitFor();
    const old = page.locator('#rec-earlier a', { hasText: first });
    assert.equal((await page.request.get(url + (await old.getAttribute('href')))).status(), 200);
    await page.screenshot({ path: join(out, 'recorder-earlier.png') });
  });

  await step('arms: a joint and the tool by hand', async (page) => {
    await go(page, 'arms');
    await page.waitForSelector('[data-jog="joint_1+"]');
    const angle = () =>
      new Promise((resolve) =>
        ros.subscribe('/ranger/joint_states', 'sensor_msgs/msg/JointState', (message) => resolve(message.position[0])),
      );
    const before = await angle();
    const button = await page.locator('[data-jog="joint_1-"]').boundingBox();
    await page.mouse.move(button.x + 5, button.y + 5);
    await page.mouse.down();
    await until('it moves', async () => before - (await angle()) > 0.05);
    await page.mouse.up();
    const after = await still('it stands', angle, 0.005);
    console.log(`        joint_1 from ${before.toFixed(3)} to ${after.toFixed(3)}`);
    await page.screenshot({ path: join(out, 'arms.png') });
    if (!isReal) return;
    const pose = () =>
      new Promise((resolve) =>
        ros.subscribe('/ranger/pose', 'geometry_msgs/msg/PoseStamped', (message) => resolve(message.pose.position.z)),
      );
    const low = await pose();
    const up = await page.locator('[data-axis="Z+"]').boundingBox();
    await page.mouse.move(up.x + 5, up.y + 5);
    await page.mouse.down();
    await until('it rises', async () => (await pose()) > low + 0.005);
    await page.mouse.up();
    console.log(`        z from ${low.toFixed(4)} to ${(await still('it stands', pose, 0.0005)).toFixed(4)}`);
  });

  await step('arms: a fault is acknowledged', async (page) => {
    if (!freeArm) return;
    const lab = await freeArm();
    const arm = await connect(lab.url);
    try {
      await page.goto(`${lab.url}/#/arms`);
      const press = (name) => page.getByRole('button', { name, exact: true }).click();
      const chips = page.locator('.arms .row .chip');
      const fault = chips.nth(2);
      const areDrives = (text) => until(text, async () => (await chips.first().textContent()) === text, 15);
      await areDrives('Drives on');
      assert.equal(await fault.isVisible(), false);
      // A current of the base's joint, which nothing holds back: its drive stops at its limit of speed.
      const joints = await arm.next('/ranger/joint_states', 'sensor_msgs/msg/JointState');
      const command = (effort) => arm.publish('/ranger/joint_command', 'sensor_msgs/msg/JointState', { name: joints.name, effort });
      const none = joints.name.map(() => 0);
      await until('the fault is shown', async () => {
        command([2, ...none.slice(1)]);
        return (await fault.isVisible()) && /speed limit exceeded/.test((await fault.textContent()) ?? '');
      });
      await areDrives('Drives off');
      await page.screenshot({ path: join(out, 'arms-fault.png') });
      await toast(page, 'error', () => press('Enable'));
      await press('Recover');
      await until('the fault is gone', async () => !(await fault.isVisible()), 15);
      await areDrives('Drives off');
      await press('Enable');
      await areDrives('Drives on');
      assert.equal(await fault.isVisible(), false);
    } finally {
      arm.close();
      await lab.stop();
    }
  });

  await step('arms: the tool by keyboard', async (page) => {
    if (!isReal) return;
    await ros.call('/ranger/enable');
    await go(page, 'arms');
    await page.waitForSelector('[data-jog="joint_1+"]');
    const pose = async (topic) => (await ros.next(topic, 'geometry_msgs/msg/PoseStamped')).pose.position;
    const place = () => pose('/ranger/pose');
    const scale = page.locator('.arms input[type="range"]').first();
    await page.focus('#tool-keys');
    await page.keyboard.press('+');
    assert.equal(await scale.inputValue(), '50');
    await page.keyboard.press('-');
    assert.equal(await scale.inputValue(), '25');
    for (const [key, axis, sign] of /** @type {const} */ ([
      ['PageUp', 'z', 1],
      ['PageDown', 'z', -1],
      ['ArrowUp', 'x', 1],
      ['ArrowDown', 'x', -1],
      ['ArrowLeft', 'y', 1],
      ['ArrowRight', 'y', -1],
    ])) {
      const before = (await place())[axis];
      await page.keyboard.down(key);
      await until(key, async () => sign * ((await place())[axis] - before) > 0.004);
      await page.keyboard.up(key);
      await still('it stands', async () => (await place())[axis], 0.0005);
    }
    // The space key stops, although the other key is still down; the desired pose is the present one.
    const low = (await place()).z;
    await page.keyboard.down('PageUp');
    await until('it rises', async () => (await place()).z > low + 0.004);
    await page.keyboard.press('Space');
    const height = await still('it stands', async () => (await place()).z, 0.0005);
    await page.keyboard.down('PageUp');
    await page.waitForTimeout(500);
    assert.ok(Math.abs((await place()).z - height) < 0.001, 'a key that repeats itself is no new command');
    await page.keyboard.up('PageUp');
    await until('the desired pose', async () => Math.abs((await pose('/ranger/setpoint')).z - height) < 0.002);
    await page.screenshot({ path: join(out, 'arms-keys.png') });
  });

  await step('arms: another arm appears while a joint is driven', async (page) => {
    await go(page, 'arms');
    await page.waitForSelector('[data-jog="joint_1+"]');
    const angle = async () => (await ros.next('/ranger/joint_states', 'sensor_msgs/msg/JointState')).position[0];
    const before = await angle();
    const button = page.locator('[data-jog="joint_1+"]');
    const box = await button.boundingBox();
    // Slowly, so that the joint does not come to its limit.
    await page.locator('.arms input[type="range"]').first().fill('4');
    await page.mouse.move(box.x + 5, box.y + 5);
    await page.mouse.down();
    await until('it moves', async () => (await angle()) - before > 0.005);
    ros.publish('/far/motion_status', 'dragoman_msgs/msg/MotionStatus', {});
    const isShown = async () => (await page.locator('.arms select option[value="/far"]').count()) === 1;
    await until('the page shows it', isShown, 20);
    assert.ok(await button.evaluate((one) => one.classList.contains('held')), 'the button is held');
    const then = await angle();
    await until('it still moves', async () => (await angle()) - then > 0.01, 5);
    await page.mouse.up();
    await still('it stands', angle, 0.005);
    // A goal that is typed before the arm's description has come stays.
    const choice = page.locator('.arms select', { has: page.locator('option[value="/far"]') });
    await choice.selectOption('/far');
    const goal = page.locator('input[data-joint="elbow"]');
    const move = () =>
      ros.publish('/far/joint_states', 'sensor_msgs/msg/JointState', { name: ['elbow'], position: [0.1] });
    await until('its joint', async () => {
      move();
      return (await goal.count()) === 1;
    });
    await goal.fill('12');
    const elbow = '<joint name="elbow" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>';
    const limit = '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>';
    await until('its limits', async () => {
      // Some descriptions have undeclared prefixes.
      const camera = '<gazebo><sensor:camera/></gazebo>';
      const data = `<robot name="far"><link name="a"/><link name="b"/>${elbow}${limit}${camera}</robot>`;
      ros.publish('/far/robot_description', 'std_msgs/msg/String', { data });
      move();
      return /^-57 … 57\s°$/.test((await page.locator('.joint', { hasText: 'elbow' }).getAttribute('title')) ?? '');
    });
    assert.equal(await goal.inputValue(), '12');
    // An empty field is not a zero.
    await toast(page, 'error', () => page.getByRole('button', { name: 'Move on a line' }).click());
    await choice.selectOption('/ranger');
    for (const topic of ['motion_status', 'joint_states', 'robot_description']) ros.unadvertise(`/far/${topic}`);
    await until('it is gone again', async () => !(await isShown()), 20);
  });

  await step('stop: a robot that cannot confirm it', async (page) => {
    if (!isReal) return;
    let zeros = 0;
    ros.subscribe('/hall/mute/cmd_vel', 'geometry_msgs/msg/Twist', ({ linear }) => (zeros += Number(linear.x === 0)));
    await go(page, 'lab');
    // The page looks at the graph every five seconds.
    await page.waitForTimeout(6000);
    // The longest name of who drives, and where the button ended then: both last for as long as the stop is repeated.
    await page.evaluate(() => {
      const driver = /** @type {HTMLElement} */ (document.querySelector('.chip.driver'));
      const longest = { text: '', right: 0 };
      Object.assign(window, { longest });
      new MutationObserver(() => {
        if (driver.textContent.length <= longest.text.length) return;
        longest.text = driver.textContent;
        longest.right = document.querySelector('#stop').getBoundingClientRect().right;
      }).observe(driver, { childList: true, characterData: true, subtree: true, attributes: true });
    });
    await page.click('#stop');
    const of = (kind) => page.locator(`.stop-report [data-kind="${kind}"]`);
    await until('who cannot confirm', async () => (await of('unconfirmed').count()) === 1, 8);
    // Where the middleware lists no services, the robot may have some, and has a name.
    assert.match((await of('unconfirmed').textContent()) ?? '', /: \/hall\/mute(\/cmd_vel)?$/);
    assert.ok((await of('confirmed').textContent())?.includes('/neobotix'));
    assert.equal(await of('failed').count(), 0);
    assert.ok(zeros > 0);
    // The stop is a command on many topics, and all of them are named as driven.
    const longest = () => page.evaluate(() => /** @type {any} */ (window).longest);
    await until('who drives', async () => (await longest()).text.length > 150, 8);
    assert.ok((await longest()).right <= SIZES[0].viewport.width, 'the button is in view');
    assert.notEqual(await page.textContent('#stop'), 'Release stop', 'not all have confirmed');
    await page.screenshot({ path: join(out, 'stop-unconfirmed.png') });
    ros.unsubscribe('/hall/mute/cmd_vel');
    await page.locator('.stop-report button').click();
    await until('released', async () => (await status()).emergency_state === 0, 8);
  });

  await step('arms: goals of the joints and the tool', async (page) => {
    if (!isReal) return;
    await ros.call('/ranger/enable');
    await go(page, 'arms');
    await page.waitForSelector('[data-joint="joint_1"]');
    const of = (name) => page.locator('section.card', { has: page.getByRole('button', { name }) });
    const take = (name) => of(name).getByRole('button', { name: 'Take present values' }).click();
    const angle = async () => {
      const { name, position } = await ros.next('/ranger/joint_states', 'sensor_msgs/msg/JointState');
      return position[name.indexOf('joint_1')];
    };
    const input = page.locator('[data-joint="joint_1"]');
    const now = (await angle()) * (180 / Math.PI);
    await until('present values', async () => {
      await take('Move on a line');
      return Math.abs(Number(await input.inputValue()) - now) < 0.5;
    });
    const goal = Number(await input.inputValue()) + 6;
    await input.fill(String(goal));
    await page.getByRole('button', { name: 'Move the joints' }).click();
    await until('the joint', async () => Math.abs((await angle()) * (180 / Math.PI) - goal) < 0.3, 20);
    const height = async () => (await ros.next('/ranger/pose', 'geometry_msgs/msg/PoseStamped')).pose.position.z;
    await still('the tool stands', height, 0.0005);
    await take('Move on a line');
    const z = page.locator('input[name="z"]');
    const up = Number(await z.inputValue()) + 0.03;
    await z.fill(up.toFixed(4));
    await page.getByRole('button', { name: 'Move on a line' }).click();
    await until('the tool', async () => Math.abs((await height()) - up) < 0.002, 20);
    // A goal beyond a joint's limits is clamped, and the page says so.
    await still('the tool stands', height, 0.0005);
    await input.fill('9999');
    await page.getByRole('button', { name: 'Move the joints' }).click();
    await page.locator('.log li', { hasText: 'Joint limit' }).first().waitFor();
    await ros.call('/ranger/halt');
    // Without power a motion is refused with a reason, and nothing moves.
    const low = await still('the tool stands', height, 0.0005);
    await ros.call('/ranger/disable');
    await toast(page, 'error', () => page.getByRole('button', { name: 'Move on a line' }).click());
    assert.ok(Math.abs((await height()) - low) < 0.003);
    await ros.call('/ranger/enable');
    await page.screenshot({ path: join(out, 'arms-goals.png') });
  });

  await step('arms: a servo by hand', async (page) => {
    if (!isReal) return;
    await go(page, 'arms');
    await until('arms', async () => (await page.locator('.arms select option').count()) > 1);
    await page.selectOption('.arms select', 'servo:');
    await page.waitForSelector('[data-jog="arm_1_joint+"]');
    const angle = () =>
      new Promise((resolve) =>
        ros.subscribe('/joint_states', 'sensor_msgs/msg/JointState', ({ name, position }) => {
          if (name.includes('arm_1_joint')) resolve(position[name.indexOf('arm_1_joint')]);
        }),
      );
    const before = await angle();
    const button = await page.locator('[data-jog="arm_1_joint+"]').boundingBox();
    await page.mouse.move(button.x + 5, button.y + 5);
    await page.mouse.down();
    await until('it moves', async () => (await angle()) > before + 0.05);
    await page.mouse.up();
    console.log(`        arm_1_joint from ${before.toFixed(3)} to ${(await still('it stands', angle, 0.005)).toFixed(3)}`);
    await page.screenshot({ path: join(out, 'arms-servo.png') });
  });

  await step('world: a thing is dragged', async (page) => {
    await go(page, 'world');
    await until('world', async () => (await page.locator('.items button').count()) > 3);
    await settled(page);
    const place = async () => (await ros.call('/apolo/get_location_m_robot', { world: '', robot: 'Marvin' })).position;
    const from = isReal ? await place() : { x: 0, y: -2.5 };
    await click(page, from.x, from.y);
    await drag(page, [from.x, from.y], [from.x + 0.7, from.y + 0.4]);
    if (isReal) await until('placed', async () => Math.abs((await place()).x - from.x - 0.7) < 0.05, 4);
    await page.screenshot({ path: join(out, 'world.png') });
  });

  await step('world: things that are no robots, lasers and landmarks', async (page) => {
    if (!isReal) return;
    await go(page, 'world');
    await until('world', async () => (await page.locator('.items button').count()) > 3);
    await settled(page);
    await isOption(page, 'Lasers', 'laser');
    await isOption(page, 'Landmarks', 'reflector');
    const place = async () => (await ros.call('/apolo/get_location', { world: '', object: 'pieza' })).position;
    const from = await place();
    await page.locator('.items button', { hasText: 'pieza' }).click();
    await drag(page, [from.x, from.y], [from.x + 0.5, from.y + 0.3]);
    await until('placed', async () => Math.abs((await place()).x - from.x - 0.5) < 0.05, 8);
    await page.getByLabel('x', { exact: true }).fill(String(from.x));
    await page.getByLabel('y', { exact: true }).fill(String(from.y));
    await page.getByRole('button', { name: 'Place' }).click();
    await until('back', async () => Math.abs((await place()).x - from.x) < 0.01, 8);
  });

  await step('turtlebot: panels and driving', async (page) => {
    await go(page, 'turtlebot');
    if (!isReal) return;
    const heading = async () =>
      (await ros.call('/apolo/get_location_m_robot', { world: '', robot: 'turtlebot2_widowx' })).yaw;
    const before = await heading();
    await page.focus('.jog-pad');
    await page.keyboard.down('KeyA');
    await until('turned', async () => Math.abs(turn(await heading(), before)) > 0.1);
    await page.keyboard.up('KeyA');
    await still('it stands', heading, 0.02);
    const values = () =>
      page
        .locator('canvas.picture')
        .first()
        .evaluate((canvas) => {
          const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
          return new Set(data).size;
        });
    const drawn = await until('a picture', async () => ((await values()) > 20 ? values() : 0));
    console.log(`        camera: ${drawn} different values`);
    await page.screenshot({ path: join(out, 'turtlebot.png') });
  });

  await step('turtlebot: sounds, lights, console, status bar, time step', async (page) => {
    if (!isReal) return;
    await go(page, 'turtlebot');
    let sound = -1;
    ros.subscribe('/mobile_base/commands/sound', 'kobuki_ros_interfaces/msg/Sound', ({ value }) => (sound = value));
    // Until the two have discovered each other.
    await until('the sound', async () => {
      await page.getByLabel('Sound …').selectOption('RECHARGE');
      return sound === 2;
    });
    const green = ros.next('/simulation/led1', 'std_msgs/msg/ColorRGBA', ({ r, g }) => g > 0 && r === 0);
    await page.getByLabel('LED 1').selectOption('1');
    await green;
    await page.reload();
    const shown = (value) => until(`colour ${value}`, async () => (await page.getByLabel('LED 1').inputValue()) === value);
    await shown('1');
    await ros.call('/simulation/reset');
    await shown('0');
    await page.getByLabel('Text to print').fill('from the page');
    await page.keyboard.press('Enter');
    await until('console', async () => (await page.textContent('.console')).includes('from the page'));
    await page.getByLabel('Text for the status bar').fill('all is well');
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    const bar = page.getByLabel('Status bar:', { exact: true });
    await until('status bar', async () => (await bar.textContent()) === 'all is well');
    const step = page.getByLabel('Time step');
    await step.fill('0.02');
    await step.press('Tab');
    await step.fill('7');
    await step.press('Tab');
    // A refusal would come within this time.
    await page.waitForTimeout(300);
    assert.equal(await page.locator('.toast.error').count(), 0, 'what is out of range is not sent');
    await step.fill('0');
    await step.press('Tab');
    await page.screenshot({ path: join(out, 'turtlebot-console.png') });
  });

  await step('turtlebot: a button, bumpers, cliffs, wheel drops, odometry, pause, speed, reset', async (page) => {
    if (!isReal) return;
    await go(page, 'turtlebot');
    const lamp = page.getByRole('button', { name: 'B1', exact: true });
    await until('the button', async () => {
      await lamp.click();
      return page.locator('button.lamp.on', { hasText: 'B1' }).waitFor({ timeout: 1500 }).then(() => true, () => false);
    });
    // Against a wall, and in the air.
    const robot = 'turtlebot2_widowx';
    const alarms = (name) =>
      page.locator('.lampfacts dt', { hasText: name }).locator('xpath=following-sibling::dd[1]').locator('.alarm').count();
    assert.equal((await alarms('Bumpers')) + (await alarms('Cliffs')) + (await alarms('Wheel drops')), 0);
    await ros.call('/apolo/place_m_robot', { world: '', robot, position: { x: 5.6, y: 0, z: 0.05 }, yaw: 0 });
    await page.focus('.jog-pad');
    await page.keyboard.down('KeyW');
    await until('the bumper', async () => (await alarms('Bumpers')) > 0);
    await page.keyboard.up('KeyW');
    await ros.call('/apolo/place', { world: '', object: robot, position: { x: 3, y: -1, z: 0.5 }, rpy: {} });
    await until('the cliffs', async () => (await alarms('Cliffs')) === 3 && (await alarms('Wheel drops')) === 2);
    await page.screenshot({ path: join(out, 'turtlebot-alarms.png') });
    await ros.call('/apolo/place_m_robot', { world: '', robot, position: { x: 3, y: -1, z: 0.05 }, yaw: 0 });
    await until('the floor', async () => (await alarms('Cliffs')) + (await alarms('Wheel drops')) === 0);

    const odometry = async () => (await ros.next('/odom', 'nav_msgs/msg/Odometry')).pose.pose;
    await page.focus('.jog-pad');
    await page.keyboard.down('KeyA');
    await until('turned', async () => Math.abs((await odometry()).orientation.z) > 0.05);
    await page.keyboard.up('KeyA');
    await page.getByRole('button', { name: 'Reset odometry' }).click();
    await until('a new odometry', async () => Math.abs((await odometry()).orientation.z) < 0.02);
    const time = async () => (await ros.next('/simulation/sim_time', 'std_msgs/msg/Float64')).data;
    const press = (name) => page.getByRole('button', { name, exact: true }).click();
    await press('Pause');
    await until('it is paused', async () => {
      const before = await time();
      await page.waitForTimeout(300);
      return (await time()) === before;
    });
    await press('Start');
    const paused = await time();
    await until('the time passes', async () => (await time()) > paused);
    const speed = page.getByLabel('Speed: simulated per real time');
    await speed.fill('4');
    await speed.press('Tab');
    await until('it is faster', async () => {
      const [from, start] = [await time(), Date.now()];
      await page.waitForTimeout(1000);
      return (await time()) - from > ((Date.now() - start) / 1000) * 1.5;
    });
    await speed.fill('1');
    await speed.press('Tab');
    const before = await time();
    await press('Reset');
    await until('the start', async () => (await time()) < before);
    await page.screenshot({ path: join(out, 'turtlebot-simulation.png') });
  });

  await step('all pages: rules of accessibility', async () => {
    const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
    const faults = [];
    // Wide in English, narrow in German, whose words are longer; each light and dark.
    for (const [size, locale, colorScheme] of /** @type {const} */ ([
      [0, 'en-US', 'light'],
      [0, 'de-DE', 'dark'],
      [1, 'en-US', 'light'],
      [2, 'de-DE', 'light'],
      [2, 'en-US', 'dark'],
    ])) {
      const page = await open(SIZES[size], { bypassCSP: true, colorScheme, locale });
      for (const name of PAGES) {
        await go(page, name);
        await page.waitForTimeout(1500);
        await page.evaluate(axe);
        const { violations } = await page.evaluate(() => /** @type {any} */ (window).axe.run());
        for (const { id, nodes } of violations) {
          const parts = nodes.slice(0, 3).map((one) => one.html.slice(0, 110));
          faults.push(`${name} (${SIZES[size].name}, ${locale}, ${colorScheme}): ${id}: ${parts.join(' | ')}`);
        }
        const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
        if (wide) faults.push(`${name} is wider than the window (${SIZES[size].name}, ${locale})`);
      }
      await page.context().close();
    }
    assert.equal(faults.length, 0, `\n${faults.join('\n')}`);
  });

  for (const size of SIZES) {
    for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
      if (only && !new RegExp(only).test('pictures')) continue;
      const page = await open(size, { colorScheme });
      for (const name of PAGES) {
        await go(page, name);
        await page.waitForTimeout(1500);
        await page.screenshot({ path: join(out, `${name}-${size.name}-${colorScheme}.png`) });
        const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
        if (wide) {
          failed += 1;
          console.log(`FAILED  ${name} is wider than the window (${size.name})`);
        }
      }
      await page.context().close();
    }
  }
  ros.close();
  await browser.close();
  const real = [...new Set(problems)];
  if (real.length) {
    failed += 1;
    console.log(`FAILED  messages of the browser:\n${real.slice(0, 20).join('\n')}`);
  }
  return failed;
}
