/** States of nodes and devices, as `/diagnostics` has them. */

/** @typedef {'idle' | 'good' | 'warn' | 'bad' | 'stale'} Level */

/** Levels by their numbers. @type {Level[]} */
const LEVELS = ['good', 'warn', 'bad', 'stale'];

/** The value with a name. @param {any} status DiagnosticStatus @param {string} key @returns {string | undefined} */
export const valueOf = (status, key) => status.values?.find((/** @type {any} */ pair) => pair.key === key)?.value;

/** The level of a state. What is switched off is idle, not good. @param {any} status DiagnosticStatus
 * @returns {Level} */
export function levelOf(status) {
  const { level } = status;
  // A byte is a number, or a text, depending on the server.
  const code = typeof level === 'string' ? (level.length > 1 ? atob(level) : level).charCodeAt(0) : Number(level);
  const found = LEVELS[code] ?? 'stale';
  return found === 'good' && valueOf(status, 'idle') ? 'idle' : found;
}

/** The gravest of some levels; undefined without one. @param {Level[]} levels @returns {Level | undefined} */
export function worst(levels) {
  const gravity = (/** @type {Level} */ level) => LEVELS.indexOf(level);
  return [...levels].sort((a, b) => gravity(b) - gravity(a))[0];
}

/** Whether a state is that of a server of an old protocol: its hardware is an address. @param {any} status */
export const isServer = (status) =>
  valueOf(status, 'clients') !== undefined && /^[\w.[\]:]+:\d+(, |$)/.test(status.hardware_id);
