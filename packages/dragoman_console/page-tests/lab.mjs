/** A lab of its own, for the tests and the figures. */

import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { join } from 'node:path';

const READY_MS = 60000;

/** Number of labs that this process has started: each has a domain of its own. */
let started = 0;

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

/**
 * Starts `dragoman up` of the program `DRAGOMAN` on free ports.
 * @param {string} out Folder of recordings.
 * @param {string[]} more Arguments before `--ros-args`.
 * @param {string[]} parameters `NODE:NAME:=VALUE`.
 */
export async function startLab(out, more = [], parameters = []) {
  const program = process.env.DRAGOMAN ?? '';
  const port = await freePort();
  const args = ['up', '--console', `127.0.0.1:${port}`, '--foxglove', 'off', '--log', 'warn', ...more, '--ros-args'];
  for (const parameter of parameters) args.push('-p', parameter);
  const ports = { apolo: await freePort(), neobotix: await freePort(), player: await freePort() };
  args.push('-p', `apolo:port:=${ports.apolo}`, '-p', `player:port:=${ports.player}`, '-p', 'arm31:port:=0');
  args.push('-p', `neobotix:ports:=[${ports.neobotix}, 0]`, '-p', `recorder:folder:=${join(out, 'recordings')}`, '-p', `console:recordings:=${join(out, 'recordings')}`);
  const domain = process.env.ROS_DOMAIN_ID ?? String(100 + ((process.pid + started) % 100));
  started += 1;
  const child = spawn(program, args, {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ROS_DOMAIN_ID: domain },
  });
  const url = `http://127.0.0.1:${port}`;
  const end = Date.now() + READY_MS;
  for (;;) {
    if (child.exitCode !== null) throw new Error(`the lab ended with status ${child.exitCode}`);
    const answer = await fetch(url).catch(() => null);
    if (answer?.ok) break;
    if (Date.now() > end) throw new Error('the lab does not serve its console');
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  const stop = () =>
    new Promise((resolve) => {
      child.once('exit', () => resolve(undefined));
      child.kill('SIGTERM');
    });
  return { url, ports, pid: child.pid ?? 0, isReal: true, stop, second: () => startSecond(domain) };
}

/** A lab with an arm alone, whose drives obey currents: one that is not held back ends in a fault. @param {string} out */
export const startFreeArm = (out) =>
  startLab(out, ['--only', 'ranger,console'], ['/ranger/arm:control_mode:=torque']);

/** A second console beside the lab, on all addresses, and so with a token. @param {string} domain */
async function startSecond(domain) {
  const args = ['console', '--listen', '0.0.0.0:0', '--foxglove', 'off', '--log', 'warn'];
  const child = spawn(process.env.DRAGOMAN ?? '', args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ROS_DOMAIN_ID: domain },
  });
  let text = '';
  // The pipe stays open: the program ends if it cannot print.
  const found = await new Promise((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      text += chunk;
      const match = /http:\/\/0\.0\.0\.0:(\d+)\/\?token=([\w-]+)\s/.exec(text);
      if (match) resolve(match);
    });
    child.once('exit', () => reject(new Error(`the second console has ended: ${text}`)));
  });
  return { url: `http://127.0.0.1:${found[1]}`, token: found[2], stop: () => child.kill('SIGTERM') };
}
