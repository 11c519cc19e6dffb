/**
 * Which machines are in the ROS graph. They are recognized by their services and topics, so other namespaces than
 * those of the default lab work as well. r2r does not list services: there topics alone must do. Asked again every few
 * seconds; without `rosapi` the names of the default lab are used.
 */

import { TWIST, TWIST_STAMPED } from './stop.js';

const PERIOD_MS = 5000;
const DEFAULTS = { platforms: ['/neobotix'], arms: ['/ranger'], worlds: ['/apolo'], bases: ['/mobile_base'] };
const PLATFORM_STATUS = 'dragoman_msgs/msg/PlatformStatus';
const MOTION_STATUS = 'dragoman_msgs/msg/MotionStatus';
const MARKERS = 'visualization_msgs/msg/MarkerArray';

/** Events: `change`. */
export class Graph extends EventTarget {
  /** @param {import('./rosbridge.js').Rosbridge} bridge */
  constructor(bridge) {
    super();
    this.bridge = bridge;
    /** Whether the graph was read. */
    this.isKnown = false;
    /** Type by topic, such as `std_msgs/msg/Bool`. @type {Map<string, string>} */
    this.topics = new Map();
    /** Empty if the middleware does not list them. @type {Set<string>} */
    this.services = new Set();
    /** @type {string[]} */
    this.nodes = [];
    /** Velocity topics without a subscriber. Empty if the middleware does not know. @type {Set<string>} */
    this.withoutSubscriber = new Set();
    /** Namespaces of platforms (PlatformCtrl), arms with the motion node, worlds, and Kobuki bases. */
    this.machines = structuredClone(DEFAULTS);
    /**
     * Joints of arms with servos (WidowX), which have services of their own, by namespace.
     * @type {Map<string, string[]>}
     */
    this.servoArms = new Map();
    bridge.addEventListener('state', () => bridge.isOpen && void this.read());
    setInterval(() => bridge.isOpen && !document.hidden && void this.read(), PERIOD_MS);
  }

  async read() {
    try {
      const [topics, services, nodes] = await Promise.all([
        this.bridge.call('/rosapi/topics', {}),
        this.bridge.call('/rosapi/services', {}),
        this.bridge.call('/rosapi/nodes', {}),
      ]);
      this.topics = new Map(
        topics.topics.map((/** @type {string} */ name, /** @type {number} */ at) => [name, longType(topics.types[at])]),
      );
      this.services = new Set(services.services);
      this.nodes = nodes.nodes ?? [];
      await this.readSubscribers();
      this.isKnown = true;
    } catch {
      if (!this.isKnown) return;
    }
    const before = JSON.stringify([this.machines, [...this.servoArms]]);
    this.servoArms = this.findServoArms();
    const found = {
      platforms: merged(this.owners('/get_pltf_param_vec'), this.above('/status', PLATFORM_STATUS)),
      arms: this.armsFound(),
      worlds: merged(this.owners('/link_to_robot_tcp'), this.worldsFound()),
      bases: this.above('/sensors/core'),
    };
    this.machines = found;
    if (before !== JSON.stringify([found, [...this.servoArms]])) this.dispatchEvent(new Event('change'));
    this.dispatchEvent(new Event('read'));
  }

  /** Namespace above that of the TurtleBot and its simulation; empty for the root. */
  get root() {
    const [base] = this.machines.bases;
    return this.owners('/simulation/press_button')[0] ?? (base ? base.slice(0, base.lastIndexOf('/')) : '');
  }

  /** As {@link root}, for this base. @param {string} base */
  rootOf(base) {
    return base === this.machines.bases[0] ? this.root : base.slice(0, Math.max(0, base.lastIndexOf('/')));
  }

  /** Namespaces with a service of this name. @param {string} suffix */
  owners(suffix) {
    const names = [...this.services].filter((name) => name.endsWith(suffix));
    return names.map((name) => name.slice(0, -suffix.length)).sort();
  }

  /** Topics stay in the graph while this page can publish there, though their robot may have left. */
  async readSubscribers() {
    const ask = async (/** @type {string} */ topic) => {
      const { subscribers } = await this.bridge.call('/rosapi/subscribers', { topic });
      return subscribers?.length ? [] : [topic];
    };
    // r2r does not list subscriptions, as it does not list services.
    const topics = this.services.size ? [...this.velocities.keys()] : [];
    this.withoutSubscriber = new Set((await Promise.all(topics.map(ask))).flat());
  }

  get velocities() {
    return new Map([...this.topics].filter(([, type]) => type === TWIST || type === TWIST_STAMPED));
  }

  /** What the emergency stop needs. @returns {import('./stop.js').Known} */
  get known() {
    const { platforms, arms, bases } = this.machines;
    const { velocities, withoutSubscriber } = this;
    const motors = this.services.size
      ? this.owners('/set_motor_power')
      : [...velocities.keys()].map((topic) => topic.replace(/\/(cmd_vel|commands\/velocity)$/, '')).filter(Boolean);
    return {
      platforms,
      arms,
      bases,
      motors: [...new Set(motors)].filter((name) => !arms.some((arm) => name.startsWith(`${arm}/`))),
      isGuess: this.services.size === 0,
      velocities,
      withoutSubscriber,
      servoArms: this.servoArms,
      odometry: this.topicsOf('nav_msgs/msg/Odometry'),
    };
  }

  /** Namespaces with a topic of this name, of this type if one is given. @param {string} suffix
   * @param {string} [type] */
  above(suffix, type) {
    const names = [...this.topics].filter(([name, one]) => name.endsWith(suffix) && (!type || one === type));
    return names.map(([name]) => name.slice(0, -suffix.length)).sort();
  }

  armsFound() {
    return merged(this.owners('/set_command_mode'), this.above('/motion_status', MOTION_STATUS));
  }

  worldsFound() {
    return this.above('/markers', MARKERS).filter((name) => this.topics.has(`${name}/poses`));
  }

  /** Joints with the service `relax` that belong to no arm with a motion node. */
  findServoArms() {
    /** @type {Map<string, string[]>} */
    const found = new Map();
    const arms = new Set(this.armsFound());
    const joints = this.services.size ? this.owners('/relax') : this.above('/command', 'std_msgs/msg/Float64');
    for (const owner of joints) {
      const at = owner.lastIndexOf('/');
      const [namespace, joint] = [owner.slice(0, at), owner.slice(at + 1)];
      if (!arms.has(namespace)) found.set(namespace, [...(found.get(namespace) ?? []), joint]);
    }
    return found;
  }

  /** Nodes with parameters. */
  parameterNodes() {
    const names = this.services.size ? this.owners('/describe_parameters') : this.nodes;
    return names.filter((name) => name !== '' && name !== '/rosapi');
  }

  /** Topics with a type. @param {string} type */
  topicsOf(type) {
    return [...this.topics]
      .filter(([, one]) => one === type)
      .map(([name]) => name)
      .sort();
  }
}

/** The names in both lists, once each. @param {string[]} one @param {string[]} other */
function merged(one, other) {
  return [...new Set([...one, ...other])].sort();
}

/** `std_msgs/Bool` as `std_msgs/msg/Bool`. @param {string} type */
function longType(type) {
  const parts = type.split('/');
  return parts.length === 2 ? `${parts[0]}/msg/${parts[1]}` : type;
}
