/**
 * Takes the pictures of the docs from what a walk has left.
 *
 *   node pictures.mjs out          needs `pngquant` (apt-get install pngquant)
 */

import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const DOCS = join(dirname(fileURLToPath(import.meta.url)), '../../../docs/console');
/** Steps of the walk in which a page shows more than it does when it is opened. @type {Record<string, string>} */
const STEPS = { lab: 'lab', parts: 'parts', program: 'program-run', roadmap: 'roadmap', recorder: 'recorder-earlier' };
const PAGES = 'arms hardware lab map parameters parts platform program recorder roadmap turtlebot world'.split(' ');
const SIZES = ['lab', 'platform', 'arms'].flatMap((page) => [`${page}-narrow`, `${page}-phone`]);

const from = process.argv[2] ?? 'out';
for (const picture of [...PAGES, ...SIZES]) {
  const source = STEPS[picture] ?? (SIZES.includes(picture) ? `${picture}-light` : `${picture}-wide-light`);
  // The pages have few colours: a third of the bytes.
  const options = ['64', '--strip', '--force', '--output', join(DOCS, `${picture}.png`), join(from, `${source}.png`)];
  const { status, error } = spawnSync('pngquant', options, { stdio: 'inherit' });
  if (status !== 0) {
    console.error(error?.message ?? `${source}.png could not be taken`);
    process.exit(1);
  }
}
