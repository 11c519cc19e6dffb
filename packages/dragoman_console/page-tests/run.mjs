/**
 * All tests of the page: types, pure modules, and a walk through the pages with Chromium.
 *
 *   node run.mjs                                       against the stand-in
 *   DRAGOMAN=target/debug/dragoman node run.mjs        against a lab that this starts
 *   CONSOLE=http://127.0.0.1:8080 node run.mjs         against a lab that runs already
 */

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = dirname(fileURLToPath(import.meta.url));
const CHROMIUM = process.env.CHROMIUM ?? ['/usr/bin/chromium', '/usr/bin/google-chrome'].find(existsSync);
const OUT = process.env.OUT ?? join(HERE, 'out');

if (!existsSync(join(HERE, 'node_modules'))) run('npm', ['install', '--no-fund', '--no-audit']);
if (!process.env.ONLY) {
  run(process.execPath, [join(HERE, 'node_modules/typescript/bin/tsc'), '-p', HERE]);
  run(process.execPath, ['--test', join(HERE, 'unit/')]);
}
if (!CHROMIUM) fail('no Chromium: install it, or set CHROMIUM');
const { startLab, startFreeArm } = await import('./lab.mjs');
const { walk } = await import('./walk/walk.mjs');
const lab = await start();
let failed = 1;
try {
  const { isReal, second } = lab;
  const freeArm = process.env.DRAGOMAN ? () => startFreeArm(OUT) : undefined;
  failed = await walk(lab.url, { isReal, second, freeArm, out: OUT, executable: CHROMIUM, only: process.env.ONLY });
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

/** The lab to walk through. */
async function start() {
  if (process.env.CONSOLE) return { url: process.env.CONSOLE, isReal: true, stop: async () => {} };
  if (process.env.DRAGOMAN) return startLab(OUT);
  const { serve } = await import('./standin.mjs');
  const { url, close } = await serve();
  return { url, isReal: false, stop: close };
}
