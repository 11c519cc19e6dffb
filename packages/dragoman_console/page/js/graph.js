/**
 * Which machines are in the ROS graph. They are recognized by their services and topics, so other namespaces than
 * those of the
 * default lab work as well. Asked again every few seconds; without `rosapi` the names of the default lab are used.
 */

const PERIOD_MS = 5000;
const DEFAULTS = { platforms: ['/neobotix'], arms: ['/ranger'], worlds: ['/apolo'], bases: ['/mobile_base'] };

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
    /** @type {Set<string>} */
    this.services = new Set();
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
      const [topics, services] = await Promise.all([
        this.bridge.call('/rosapi/topics', {}),
        this.bridge.call('/rosapi/services', {}),
      ]);
      this.topics = new Map(
        topics.topics.map((/** @type {string} */ name, /** @type {number} */ at) => [name, longType(topics.types[at])]),
      );
      this.services = new Set(services.services);
      this.isKnown = true;
    } catch {
      if (!this.isKnown) return;
    }
    const before = JSON.stringify([this.machines, [...this.servoArms]]);
    this.servoArms = this.findServoArms();
    const found = {
      platforms: this.owners('/get_pltf_param_vec'),
      arms: this.owners('/set_command_mode'),
      worlds: this.owners('/link_to_robot_tcp'),
      bases: [...this.topics.keys()]
        .filter((name) => name.endsWith('/sensors/core'))
        .map((name) => name.slice(0, -'/sensors/core'.length))
        .sort(),
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

  /** Namespaces with a service of this name. @param {string} suffix */
  owners(suffix) {
    const names = [...this.services].filter((name) => name.endsWith(suffix));
    return names.map((name) => name.slice(0, -suffix.length)).sort();
  }

  /** Joints with the service `relax` that belong to no arm with a motion node. */
  findServoArms() {
    /** @type {Map<string, string[]>} */
    const found = new Map();
    const arms = new Set(this.owners('/set_command_mode'));
    for (const owner of this.owners('/relax')) {
      const at = owner.lastIndexOf('/');
      const [namespace, joint] = [owner.slice(0, at), owner.slice(at + 1)];
      if (!arms.has(namespace)) found.set(namespace, [...(found.get(namespace) ?? []), joint]);
    }
    return found;
  }

  /** Nodes with parameters. */
  parameterNodes() {
    return this.owners('/describe_parameters').filter((name) => name !== '' && name !== '/rosapi');
  }

  /** Topics with a type. @param {string} type */
  topicsOf(type) {
    return [...this.topics]
      .filter(([, one]) => one === type)
      .map(([name]) => name)
      .sort();
  }
}

/** `std_msgs/Bool` as `std_msgs/msg/Bool`. @param {string} type */
function longType(type) {
  const parts = type.split('/');
  return parts.length === 2 ? `${parts[0]}/msg/${parts[1]}` : type;
}
