/** What all pages share: connection, graph, messages to the user, and the emergency stop. */

import { h } from './dom.js';
import { Graph } from './graph.js';
import { t } from './i18n.js';
import { releaseAll } from './drive.js';
import { Rosbridge } from './rosbridge.js';
import { EMERGENCY_ACTIVE, prepare, releaseMachines, stopAll } from './stop.js';

/** @typedef {import('./texts.js').Key} Key */
/**
 * A page. It is made when it is shown first. `enter` begins its subscriptions and returns a function that ends them.
 * @typedef {object} Page
 * @property {HTMLElement} root
 * @property {() => (() => void)} enter
 * @property {() => void} [refresh] Called after a change of the language.
 */

/** Beginning of the names of arms whose joints are servos with services of their own. */
export const SERVO = 'servo:';
/** Times after a change of a platform's emergency stop at which the platform is asked for its state. */
const FOLLOWED_MS = [150, 800];
/** Time in which a platform reacts to the button. */
const SETTLE_MS = 500;
const TOAST_MS = { info: 4000, error: 9000 };

/** @typedef {import('./stop.js').Result} Result */

/**
 * Events: `emergency` when {@link App.isStopped} or {@link App.report} changes; `platform`, `arm`, `base` when another
 * one is chosen.
 */
export class App extends EventTarget {
  constructor() {
    super();
    const scheme = location.protocol === 'https:' ? 'wss:' : 'ws:';
    const token = new URLSearchParams(location.search).get('token');
    this.query = token ? `?token=${encodeURIComponent(token)}` : '';
    this.bridge = new Rosbridge(`${scheme}//${location.host}/rosbridge${this.query}`);
    this.graph = new Graph(this.bridge);
    this.toasts = h('div', { class: 'toasts', attrs: { role: 'status', 'aria-live': 'polite' } });
    /** Namespaces of the machines that the pages show. */
    this.platform = '/neobotix';
    this.arm = '/ranger';
    this.base = '/mobile_base';
    /** Emergency stops by the platform's namespace, as the platforms say. @type {Map<string, boolean>} */
    this.stopped = new Map();
    /**
     * Result of the last press of the button: `sending` until all machines have confirmed, or the time is over;
     * null before it, and after the release.
     * @type {{ isSending: boolean, results: Result[] } | null}
     */
    this.report = null;
    /** Platforms for which the user has agreed that they are prepared. @type {Set<string>} */
    this.agreed = new Set();
    /** When the button was pressed last, ms. */
    this.pressed = -Infinity;
    /** @type {Map<string, () => void>} */
    this.watched = new Map();
    this.graph.addEventListener('change', () => this.machinesChanged());
    this.graph.addEventListener('read', () => {
      prepare(this.bridge, this.graph.known);
      void this.readStops();
    });
    this.bridge.addEventListener('state', () => this.bridge.isOpen || this.forgetStops());
    this.machinesChanged();
  }

  /** Without a connection it is unknown whether the machines are still stopped. */
  forgetStops() {
    this.stopped.clear();
    const { report } = this;
    if (report && !report.isSending && report.results.every(({ reason }) => reason === null)) this.report = null;
    this.dispatchEvent(new Event('emergency'));
  }

  machinesChanged() {
    const { platforms, arms, bases } = this.graph.machines;
    if (bases.length && !bases.includes(this.base)) this.choose('base', bases[0]);
    if (platforms.length && !platforms.includes(this.platform)) this.choose('platform', platforms[0]);
    const allArms = [...arms, ...[...this.graph.servoArms.keys()].map((one) => SERVO + one)];
    if (allArms.length && !allArms.includes(this.arm)) this.choose('arm', allArms[0]);
    for (const [platform, end] of this.watched) {
      if (platforms.includes(platform)) continue;
      end();
      this.watched.delete(platform);
      this.stopped.delete(platform);
    }
    for (const platform of platforms) {
      if (this.watched.has(platform)) continue;
      const end = this.bridge.subscribe(`${platform}/emergency_stop`, 'std_msgs/msg/Bool', () => {
        // The topic has the requests of any client; only the platform knows whether it is stopped.
        for (const time of FOLLOWED_MS) setTimeout(() => void this.readStop(platform), time);
      });
      this.watched.set(platform, end);
    }
  }

  /** Asks the platforms for their emergency stops: the topic has only changes. */
  async readStops() {
    await Promise.all([...this.watched.keys()].map((platform) => this.readStop(platform)));
  }

  /** @param {string} platform */
  async readStop(platform) {
    const asked = performance.now();
    try {
      const { status } = await this.bridge.request(`${platform}/get_status`, {}, { timeout: 3000 });
      // An answer from before the button was pressed does not count.
      if (asked <= this.pressed + SETTLE_MS || !this.watched.has(platform)) return;
      const isStopped = status.emergency_state === EMERGENCY_ACTIVE;
      this.stopped.set(platform, isStopped);
      // Another client has released a machine that had confirmed this page's stop.
      const had = this.report?.results.some(({ name, reason }) => name === platform && reason === null);
      if (!isStopped && had) this.report = null;
    } catch {
      // A silent platform is shown as such by its page.
    }
    this.dispatchEvent(new Event('emergency'));
  }

  /** @param {'platform' | 'arm' | 'base'} kind @param {string} name */
  choose(kind, name) {
    this[kind] = name;
    this.dispatchEvent(new Event(kind));
  }

  /**
   * Whether the lab is stopped: all machines have confirmed the stop of this page, or, if another one stopped them, a
   * platform says that its emergency stop is active.
   */
  get isStopped() {
    if (this.report) {
      const hasConfirmed = (/** @type {Result} */ { reason, isUnconfirmed }) => reason === null && !isUnconfirmed;
      return !this.report.isSending && this.report.results.every(hasConfirmed);
    }
    return [...this.stopped.values()].some(Boolean);
  }

  /** Stops all machines that the page knows, and shows which have confirmed it. */
  async emergencyStop() {
    this.pressed = performance.now();
    releaseAll();
    const report = { isSending: true, results: /** @type {Result[]} */ ([]) };
    this.report = report;
    this.dispatchEvent(new Event('emergency'));
    if (!this.bridge.isOpen) {
      report.results = [{ name: '', reason: t('stop.unsent'), isUnconfirmed: false }];
    } else {
      report.results = await stopAll(this.bridge, this.graph.known);
      if (!report.results.length) report.results = [{ name: '', reason: t('stop.noMachine'), isUnconfirmed: false }];
    }
    report.isSending = false;
    if (this.report !== report) return;
    this.dispatchEvent(new Event('emergency'));
  }

  /** Ends the emergency stop. Nothing moves before the next command. */
  async releaseStop() {
    this.pressed = performance.now();
    if (!this.bridge.isOpen) return this.toast('error', t('stop.unsent'));
    this.report = null;
    const { known } = this.graph;
    for (const platform of known.platforms) this.stopped.set(platform, false);
    this.dispatchEvent(new Event('emergency'));
    for (const { name, reason } of await releaseMachines(this.bridge, known))
      if (reason !== null) this.toast('error', t('stop.unreleased', { name, reason }));
  }

  /** @param {'info' | 'error'} kind @param {string} text */
  toast(kind, text) {
    const toast = h('div', { class: `toast ${kind}` }, text);
    this.toasts.append(toast);
    while (this.toasts.children.length > 4) this.toasts.firstChild?.remove();
    setTimeout(() => toast.remove(), TOAST_MS[kind]);
  }

  /** @param {unknown} error */
  fail(error) {
    const reason = error instanceof Error ? error.message : String(error);
    const service = error && typeof error === 'object' && 'service' in error ? `${error.service}: ` : '';
    this.toast('error', `${service}${reason}`);
  }

  /**
   * Calls a service, and shows a failure.
   *
   * @param {string} service @param {object} [args] @returns {Promise<boolean>} Whether it succeeded.
   */
  async order(service, args = {}) {
    try {
      await this.bridge.request(service, args);
      return true;
    } catch (error) {
      this.fail(error);
      return false;
    }
  }
}

/** @param {number} forward m/s @param {number} turn rad/s @param {number} [lateral] m/s to the left. */
export function twist(forward, turn, lateral = 0) {
  return { linear: { x: forward, y: lateral, z: 0 }, angular: { x: 0, y: 0, z: turn } };
}
