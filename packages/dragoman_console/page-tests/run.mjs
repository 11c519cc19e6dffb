/**
 * All tests of the page: types, pure modules, and a walk through the pages with Chromium.
 *
 *   node run.mjs                                       against the stand-in
 *   DRAGOMAN=target/debug/dragoman node run.mjs        against a lab that this starts
 *   CONSOLE=http://127.0.0.1:8080 node run.mjs         against a lab that runs already
 */

import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = dirname(fileURLToPath(import.meta.url));
const CHROMIUM = process.env.CHROMIUM ?? ['/usr/bin/chromium', '/usr/bin/google-chrome'].find(existsSync);
const OUT = process.env.OUT ?? join(HERE, 'out');
const READY_MS = 60000;

if (!existsSync(join(HERE, 'node_modules'))) run('npm', ['install', '--no-fund', '--no-audit']);
if (!process.env.ONLY) {
  run(process.execPath, [join(HERE, 'node_modules/typescript/bin/tsc'), '-p', HERE]);
  run(process.execPath, ['--test', join(HERE, 'unit/')]);
}
if (!CHROMIUM) fail('no Chromium: install it, or set CHROMIUM');
const { walk } = await import('./walk/walk.mjs');
const lab = await start();
let failed = 1;
try {
  const { isReal, second } = lab;
  failed = await walk(lab.url, { isReal, second, out: OUT, executable: CHROMIUM, only: process.env.ONLY });
} finally {
  await lab.stop();
}
console.log(failed ? `${failed} failed; pictures in ${OUT}` : `all passed; pictures in ${OUT}`);
process.exit(failed ? 1 : 0);

/** @param {string} program @param {string[]} args */
function run(program, args) {
  const { status } = spawnSync(program, args, { cwd: HERE, stdio: 'inherit' });
  if (status !== 0) fail(`${program} ${args.join(' ')} failed`);
}

/** @param {string} text @returns {never} */
function fail(text) {
  console.error(text);
  process.exit(1);
}

/** A port that is free now. @returns {Promise<number>} */
function freePort() {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

/** The lab to walk through. */
async function start() {
  if (process.env.CONSOLE) return { url: process.env.CONSOLE, isReal: true, stop: async () => {} };
  if (!process.env.DRAGOMAN) {
    const { serve } = await import('./standin.mjs');
    const { url, close } = await serve();
    return { url, isReal: false, stop: close };
  }
  const port = await freePort();
  const args = ['up', '--console', `127.0.0.1:${port}`, '--foxglove', 'off', '--log', 'warn', '--ros-args'];
  for (const name of ['apolo:port', 'arm31:port', 'player:port']) args.push('-p', `${name}:=0`);
  args.push('-p', 'neobotix:ports:=[0, 0]', '-p', `recorder:folder:=${join(OUT, 'recordings')}`);
  const domain = process.env.ROS_DOMAIN_ID ?? String(100 + (process.pid % 100));
  const child = spawn(process.env.DRAGOMAN, args, {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ROS_DOMAIN_ID: domain },
  });
  const url = `http://127.0.0.1:${port}`;
  const end = Date.now() + READY_MS;
  for (;;) {
    if (child.exitCode !== null) fail(`the lab ended with status ${child.exitCode}`);
    const answer = await fetch(url).catch(() => null);
    if (answer?.ok) break;
    if (Date.now() > end) fail('the lab does not serve its console');
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  const stop = () =>
    new Promise((resolve) => {
      child.once('exit', () => resolve(undefined));
      child.kill('SIGTERM');
    });
  return { url, isReal: true, stop, second: () => startSecond(domain) };
}

/** A second console beside the lab, on all addresses, and so with a token. @param {string} domain */
async function startSecond(domain) {
  const args = ['console', '--listen', '0.0.0.0:0', '--foxglove', 'off', '--log', 'warn'];
  const child = spawn(process.env.DRAGOMAN ?? '', args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ROS_DOMAIN_ID: domain },
  });
  let text = '';
  for await (const chunk of child.stdout) {
    text += chunk;
    const found = /http:\/\/0\.0\.0\.0:(\d+)\/\?token=([\w-]+)\s/.exec(text);
    if (found) return { url: `http://127.0.0.1:${found[1]}`, token: found[2], stop: () => child.kill('SIGTERM') };
  }
  throw new Error(`the second console has ended: ${text}`);
}
