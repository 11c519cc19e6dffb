/** What all pages share: connection, graph, messages to the user, and the emergency stop. */

import { h } from './dom.js';
import { Graph } from './graph.js';
import { t } from './i18n.js';
import { releaseAll } from './drive.js';
import { Rosbridge } from './rosbridge.js';

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
/** PlatformStatus.EMERGENCY_ACTIVE. */
const EMERGENCY_ACTIVE = 1;
/** Speed below which a joint counts as standing, rad/s. */
const RESTING = 0.005;
/** Time in which a platform follows the button. */
const SETTLE_MS = 500;
const TOAST_MS = { info: 4000, error: 9000 };

/** Events: `emergency` when {@link App.isStopped} changes, `platform`, `arm` when another one is chosen. */
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
    /** Emergency stops by the platform's namespace, as their topics say. @type {Map<string, boolean>} */
    this.stopped = new Map();
    /** Whether this page has stopped the lab. */
    this.hasStopped = false;
    /** When the button was pressed last, ms. */
    this.pressed = -Infinity;
    /** @type {Map<string, () => void>} */
    this.watched = new Map();
    this.graph.addEventListener('change', () => this.machinesChanged());
    this.graph.addEventListener('read', () => void this.readStops());
    this.machinesChanged();
  }

  machinesChanged() {
    const { platforms, arms } = this.graph.machines;
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
      const end = this.bridge.subscribe(`${platform}/emergency_stop`, 'std_msgs/msg/Bool', (message) => {
        this.setStopped(platform, message.data === true);
      });
      this.watched.set(platform, end);
    }
  }

  /** @param {string} platform @param {boolean} isStopped */
  setStopped(platform, isStopped) {
    this.stopped.set(platform, isStopped);
    if (!isStopped) this.hasStopped = false;
    this.dispatchEvent(new Event('emergency'));
  }

  /** Asks the platforms for their emergency stops: the topic has only changes. */
  async readStops() {
    for (const platform of this.watched.keys()) {
      const asked = performance.now();
      try {
        const { status } = await this.bridge.request(`${platform}/get_status`, {}, { timeout: 3000 });
        // An answer from before the button was pressed says nothing.
        if (asked > this.pressed + SETTLE_MS) this.setStopped(platform, status.emergency_state === EMERGENCY_ACTIVE);
      } catch {
        // A silent platform is shown as such by its page.
      }
    }
  }

  /** @param {'platform' | 'arm'} kind @param {string} name */
  choose(kind, name) {
    this[kind] = name;
    this.dispatchEvent(new Event(kind));
  }

  get isStopped() {
    return this.hasStopped || [...this.stopped.values()].some(Boolean);
  }

  /** Stops all machines that the page knows. */
  emergencyStop() {
    this.pressed = performance.now();
    releaseAll();
    const { platforms, arms, bases } = this.graph.machines;
    let sent = this.bridge.isOpen;
    for (const platform of platforms) {
      sent = this.bridge.publish(`${platform}/emergency_stop`, 'std_msgs/msg/Bool', { data: true }) && sent;
    }
    for (const base of bases) {
      this.bridge.publish(`${base}/commands/velocity`, 'geometry_msgs/msg/Twist', twist(0, 0));
      this.bridge.publish(`${base}/commands/motor_power`, 'kobuki_ros_interfaces/msg/MotorPower', { state: 0 });
    }
    for (const [namespace, joints] of this.graph.servoArms) this.holdServos(namespace, joints);
    for (const arm of arms) this.bridge.request(`${arm}/halt`).catch((error) => this.fail(error));
    if (!sent) return this.toast('error', t('stop.unsent'));
    this.hasStopped = true;
    this.dispatchEvent(new Event('emergency'));
  }

  /** Lets the moving joints of an arm hold where they are; relaxed ones stay relaxed. @param {string} namespace
   * @param {string[]} joints */
  holdServos(namespace, joints) {
    const end = this.bridge.subscribe(`${namespace}/joint_states`, 'sensor_msgs/msg/JointState', (message) => {
      end();
      message.name.forEach((/** @type {string} */ joint, /** @type {number} */ at) => {
        if (!joints.includes(joint) || !(Math.abs(message.velocity[at] ?? 1) > RESTING)) return;
        this.bridge.call(`${namespace}/${joint}/enable`, { enable: true }).catch((error) => this.fail(error));
      });
    });
  }

  /** Ends the emergency stop. Nothing moves before the next command. */
  releaseStop() {
    this.pressed = performance.now();
    const { platforms, bases } = this.graph.machines;
    if (!this.bridge.isOpen) return this.toast('error', t('stop.unsent'));
    for (const platform of platforms) {
      this.bridge.publish(`${platform}/emergency_stop`, 'std_msgs/msg/Bool', { data: false });
      this.stopped.set(platform, false);
    }
    for (const base of bases) {
      this.bridge.publish(`${base}/commands/motor_power`, 'kobuki_ros_interfaces/msg/MotorPower', { state: 1 });
    }
    this.hasStopped = false;
    this.dispatchEvent(new Event('emergency'));
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
