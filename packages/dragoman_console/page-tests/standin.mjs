/**
 * A small stand-in for `dragoman up`: serves the page with the same headers, and speaks enough rosbridge for it, with a
 * simple platform, arm, base and world. For work on the page alone; the real lab is what counts.
 */

import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WebSocketServer } from 'ws';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const PAGE = join(HERE, '../page');
const CONFIG = join(HERE, '../../../launch/config/neobotix');
const URDF = join(HERE, '../../../urdf');
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };
const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** @param {number} port 0: any. @returns {Promise<{ url: string, lab: Lab, close: () => Promise<void> }>} */
export async function serve(port = 0) {
  const lab = await Lab.create();
  const server = createServer(async (request, response) => {
    const path = new URL(request.url ?? '/', 'http://x').pathname;
    const headers = {
      'Content-Security-Policy': CSP,
      'X-Content-Type-Options': 'nosniff',
      'Cache-Control': 'no-store',
    };
    if (path === '/api/lab') {
      response.writeHead(200, { ...headers, 'Content-Type': 'application/json' });
      response.end(JSON.stringify({ version: 'stand-in' }));
      return;
    }
    try {
      const file = join(PAGE, normalize(path === '/' ? '/index.html' : path));
      if (!file.startsWith(PAGE)) throw new Error('outside');
      const body = await readFile(file);
      response.writeHead(200, { ...headers, 'Content-Type': `${TYPES[extname(file)]}; charset=utf-8` });
      response.end(body);
    } catch {
      response.writeHead(404, headers).end();
    }
  });
  const sockets = new WebSocketServer({ server, path: '/rosbridge' });
  sockets.on('connection', (socket) => lab.client(socket));
  await new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve(undefined)));
  const timer = setInterval(() => lab.tick(0.05), 50);
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : port}`,
    lab,
    close: async () => {
      clearInterval(timer);
      for (const socket of sockets.clients) socket.terminate();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const OK = { success: true, message: '' };
const JOINTS = ['joint_1', 'joint_2', 'joint_3', 'joint_4', 'joint_5', 'joint_6'];

class Lab {
  static async create() {
    const lab = new Lab();
    lab.documents = {
      map: { name: 'lab', document: await readFile(join(CONFIG, 'map.xml'), 'utf8') },
      roadmap: { name: 'lab', document: await readFile(join(CONFIG, 'roadmap.xml'), 'utf8') },
      program: { name: '', document: await readFile(join(CONFIG, 'program.xml'), 'utf8') },
    };
    lab.urdf = await readFile(join(URDF, 'ranger_mk1.urdf'), 'utf8');
    return lab;
  }

  constructor() {
    this.clients = new Set();
    this.time = 0;
    this.pose = { x: 4.5, y: 3.8, theta: -1.57 };
    this.velocity = { x: 0, turn: 0, until: 0 };
    this.state = 3;
    this.mode = 0;
    this.armMode = 1;
    this.emergency = 0;
    this.goal = null;
    this.joints = [1.57, 0, 1.57, 0, 1.57, 0];
    this.calls = [];
    this.published = [];
    /** Topics of the motion of arms that the tests publish. */
    this.arms = new Set();
    this.latched = new Map();
    this.parameters = [
      ['PltfLength', '900', 2, 0, 10, 10000],
      ['IpoTransVel', '1000', 2, 2, 0, 10000],
      ['IpoRotvel', '0.6', 2, 2, 0, 10],
      ['PlanningEnabled', 'true', 0, 1, 0, 1],
      ['CollLaserMinDist', '150', 2, 5, 0, 10000],
      ['SirenEnabled', 'false', 0, 6, 0, 1],
      ['MappingMode', '0', 1, 3, 0, 1],
      ...[0, 22.5, 45, 67.5, 90].flatMap((angle, at) => [
        [`UltraSonic${at + 1}X`, String([450, 450, 300, 124, 0][at]), 2, 9, -10000, 10000],
        [`UltraSonic${at + 1}Y`, String([0, 186, 300, 300, 300][at]), 2, 9, -10000, 10000],
        [`UltraSonic${at + 1}Angle`, String(angle), 2, 9, -360, 360],
      ]),
    ].map(([key, value, type, category, minimum, maximum]) => ({ key, value, type, category, minimum, maximum }));
    this.poses = {
      column: [3, 2, 0.6, 0],
      pieza: [-0.25, 0.2, 0.06, 0.9],
      Marvin: [0, -2.5, 0, 0],
      Pioneer3AT: [2, -1, 0, 0],
      turtlebot2_widowx: [-1, -4, 0, 0],
    };
  }

  client(socket) {
    const client = { socket, topics: new Map() };
    this.clients.add(client);
    socket.on('close', () => this.clients.delete(client));
    socket.on('message', (data) => {
      const operation = JSON.parse(String(data));
      if (operation.op === 'subscribe') {
        client.topics.set(operation.topic, { throttle: operation.throttle_rate ?? 0, last: -1e9 });
        const latched = this.latched.get(operation.topic);
        if (latched) this.to(client, operation.topic, latched);
      } else if (operation.op === 'unsubscribe') {
        client.topics.delete(operation.topic);
      } else if (operation.op === 'publish') {
        this.published.push({ topic: operation.topic, msg: operation.msg, time: Date.now() });
        if (this.published.length > 2000) this.published.shift();
        this.receive(operation.topic, operation.msg);
      } else if (operation.op === 'unadvertise') {
        this.arms.delete(operation.topic);
      } else if (operation.op === 'call_service') {
        const values = this.serve(operation.service, operation.args ?? {});
        this.calls.push({ service: operation.service, args: operation.args });
        const result = typeof values !== 'string';
        socket.send(
          JSON.stringify({ op: 'service_response', id: operation.id, service: operation.service, values, result }),
        );
      }
    });
  }

  to(client, topic, msg) {
    client.socket.send(JSON.stringify({ op: 'publish', topic, msg }));
  }

  publish(topic, msg, isLatched = false) {
    if (isLatched) this.latched.set(topic, msg);
    for (const client of this.clients) {
      const wanted = client.topics.get(topic);
      if (!wanted || this.time * 1000 - wanted.last < wanted.throttle - 1) continue;
      wanted.last = this.time * 1000;
      this.to(client, topic, msg);
    }
  }

  receive(topic, msg) {
    if (topic === '/neobotix/cmd_vel') {
      this.velocity = { x: msg.linear.x, turn: msg.angular.z, until: this.time + 0.6 };
    } else if (topic === '/neobotix/emergency_stop') {
      this.emergency = msg.data ? 1 : 0;
      if (msg.data) {
        this.goal = null;
        if (this.state === 1) this.state = 2;
      } else if (this.state === 2) this.state = 0;
      this.publish(topic, msg);
    } else if (topic.endsWith('/motion_status')) {
      this.arms.add(topic);
    } else if (topic.startsWith('/ranger/joint_') && topic.endsWith('/command')) {
      this.joints[Number(topic.match(/joint_(\d)/)?.[1]) - 1] = msg.data;
    }
  }

  serve(service, args) {
    const own = service.replace(/^\/(neobotix|ranger|apolo|rosapi|simulation)\//, '');
    if (service.startsWith('/rosapi/')) return this.rosapi(own);
    const document = own.match(/^(get|set|save|load)_(map|roadmap|program)$/);
    if (document) {
      if (document[1] === 'get') return { ...OK, ...this.documents[document[2]] };
      if (document[1] === 'set') this.documents[document[2]] = { name: args.name, document: args.document };
      return OK;
    }
    const handlers = {
      connect_to_pltf: () => OK,
      init_pltf: () => ((this.state = 0), OK),
      start: () => (this.state === 3 ? { success: false, message: 'not initialized' } : ((this.state = 1), OK)),
      stop: () => ((this.state = this.state === 3 ? 3 : 0), (this.goal = null), OK),
      break: () => ((this.state = 2), OK),
      continue: () => ((this.state = 1), OK),
      set_mode: () =>
        this.state === 0 ? ((this.mode = args.mode), OK) : { success: false, message: 'only in state ready' },
      move_abs: () => this.drive(args.pose),
      move_to_station: () => this.drive({ x: 1, y: 3, theta: 2.97 }),
      set_frm_pltf: () => ((this.pose = { ...args.pose }), OK),
      get_status: () => ({ ...OK, status: this.status() }),
      get_pltf_param_vec: () => ({ ...OK, parameters: this.parameters }),
      set_pltf_param: () => {
        const one = this.parameters.find(({ key }) => key === args.key);
        if (!one) return { success: false, message: `unknown parameter ${args.key}` };
        one.value = args.value;
        return OK;
      },
      get_geometry: () => ({ ...OK, pose: { x: 0, y: 0, theta: 0 }, size: { x: 0.9, y: 0.6, z: 0 } }),
      get_debug_data: () => ({
        ...OK,
        data: {
          objects: {
            markers: [
              {
                id: 1,
                points: [
                  { x: 2, y: 1, z: 0 },
                  { x: 2.05, y: 1, z: 0 },
                ],
              },
              { id: 4, points: [{ x: 4.4, y: 3.7 }] },
            ],
          },
          log_numbers: [1],
          log: ['a message'],
          names: [],
          values: [],
        },
      }),
      set_command_mode: () => ((this.armMode = args.mode), this.motion(), { ...OK, mode: args.mode }),
      set_joint_goal: () => ((this.joints = [...args.position]), OK),
      get_location: () => {
        const pose = this.poses[args.object];
        if (!pose) return { ...OK, found: false, position: { x: 0, y: 0, z: 0 }, rpy: { x: 0, y: 0, z: 0 } };
        return {
          ...OK,
          found: true,
          position: { x: pose[0], y: pose[1], z: pose[2] },
          rpy: { x: 0, y: 0, z: pose[3] },
        };
      },
      place: () => {
        const { x, y, z } = args.position;
        this.poses[args.object] = [x, y, z, args.rpy.z];
        this.world();
        return { ...OK, found: true };
      },
      place_m_robot: () => {
        if (!['Marvin', 'Pioneer3AT', 'turtlebot2_widowx'].includes(args.robot))
          return { ...OK, found: false, placed: false };
        this.poses[args.robot] = [args.position.x, args.position.y, 0, args.yaw];
        this.world();
        return { ...OK, found: true, placed: true };
      },
    };
    return handlers[own]?.() ?? OK;
  }

  rosapi(name) {
    if (name === 'topics') {
      const arms = [...this.arms].map(() => 'dragoman_msgs/msg/MotionStatus');
      const types = ['kobuki_ros_interfaces/msg/SensorState', ...arms];
      return { topics: ['/mobile_base/sensors/core', ...this.arms], types };
    }
    if (name === 'nodes') return { nodes: ['/mobile_base', '/neobotix/platform', '/ranger/arm'] };
    if (name === 'services') {
      return {
        services: [
          '/neobotix/get_pltf_param_vec',
          '/ranger/set_command_mode',
          '/apolo/link_to_robot_tcp',
          '/simulation/press_button',
          '/mobile_base/set_motor_power',
        ],
      };
    }
    return {};
  }

  /** State of the arm's motion. */
  motion() {
    const goals = { has_goal_pose: false, has_joint_goal: false };
    this.publish('/ranger/motion_status', { mode: this.armMode, moving: false, via_point: -1, ...goals }, true);
  }

  drive(pose) {
    if (this.state !== 1 || this.mode !== 4)
      return { success: false, message: 'the platform is not started in mode automatic' };
    this.goal = pose;
    return OK;
  }

  world() {
    const shape = (ns, at, type, scale, color) => ({
      ns,
      id: 0,
      type,
      action: 0,
      scale,
      color: { ...color, a: 1 },
      points: [],
      pose: {
        position: { x: at[0], y: at[1], z: at[2] },
        orientation: { x: 0, y: 0, z: Math.sin(at[3] / 2), w: Math.cos(at[3] / 2) },
      },
    });
    const grey = { r: 0.5, g: 0.5, b: 0.55 };
    const markers = [
      shape('wall', [0, 5.05, 0.6, 0], 1, { x: 12.2, y: 0.1, z: 1.2 }, grey),
      shape('wall', [0, -5.05, 0.6, 0], 1, { x: 12.2, y: 0.1, z: 1.2 }, grey),
      ...Object.entries(this.poses).map(([name, pose]) =>
        shape(name, pose, name === 'column' ? 3 : 1, { x: 0.4, y: 0.35, z: 0.3 }, { r: 0.2, g: 0.5, b: 0.3 }),
      ),
    ];
    this.publish('/apolo/markers', { markers }, true);
    const transforms = Object.entries(this.poses).map(([name, pose]) => ({
      header: { frame_id: 'map' },
      child_frame_id: name,
      transform: {
        translation: { x: pose[0], y: pose[1], z: pose[2] },
        rotation: { x: 0, y: 0, z: Math.sin(pose[3] / 2), w: Math.cos(pose[3] / 2) },
      },
    }));
    this.publish('/apolo/poses', { transforms }, true);
  }

  tick(step) {
    const second = Math.floor(this.time) !== Math.floor(this.time + step);
    this.time += step;
    this.move(step);
    const stamp = { sec: Math.floor(Date.now() / 1000), nanosec: 0 };
    this.publish('/neobotix/status', this.status());
    this.publish('/ranger/joint_states', {
      name: JOINTS,
      position: this.joints,
      velocity: JOINTS.map(() => 0),
      effort: [],
    });
    if (!second) return;
    if (!this.latched.has('/apolo/markers')) this.world();
    const parts = [
      'apolo/world: World',
      'neobotix/platform: platform',
      'ranger/arm: drives',
      'ranger/kinematics: motion',
      'mobile_base: base',
      'dragoman: parts',
      'dragoman: middleware',
    ];
    const status = parts.map((name, at) => ({
      level: at === 4 ? 1 : 0,
      name,
      message: at === 4 ? 'battery low' : 'running',
      hardware_id: '',
      values: [{ key: 'requests', value: String(Math.round(this.time)) }],
    }));
    this.publish('/diagnostics', { header: { stamp }, status });
    this.publish('/rosout', {
      stamp,
      level: 20,
      name: 'neobotix.platform',
      msg: `alive for ${Math.round(this.time)} s`,
    });
    this.publish('/neobotix/battery_state', { voltage: 25.1, percentage: 0.87 });
    this.publish(
      '/ranger/drive_status',
      { enabled: true, name: JOINTS, temperature: [31, 32, 30, 35, 29, 30], command: this.joints },
      true,
    );
    this.motion();
    this.publish('/ranger/robot_description', { data: this.urdf }, true);
    this.publish('/ranger/pose', {
      pose: { position: { x: 0.2, y: 0.1, z: 0.5 }, orientation: { x: 0, y: 0, z: 0, w: 1 } },
    });
    this.publish('/mobile_base/sensors/core', {
      bumper: 1,
      wheel_drop: 0,
      cliff: 0,
      left_encoder: 100,
      right_encoder: 120,
      left_pwm: 0,
      right_pwm: 0,
      buttons: 2,
      charger: 0,
      battery: 158,
      bottom: [900, 910, 905],
      current: 'AAA=',
      over_current: 0,
      digital_input: 0,
      analog_input: [],
    });
  }

  move(step) {
    const move = (forward, turn) => {
      this.pose.theta += turn * step;
      this.pose.x += Math.cos(this.pose.theta) * forward * step;
      this.pose.y += Math.sin(this.pose.theta) * forward * step;
    };
    if (this.state !== 1) return;
    if ([2, 3].includes(this.mode) && this.time < this.velocity.until) move(this.velocity.x, this.velocity.turn);
    if (this.mode === 4 && this.goal) {
      const [dx, dy] = [this.goal.x - this.pose.x, this.goal.y - this.pose.y];
      const away = Math.hypot(dx, dy);
      const part = Math.min(1, (2 * step) / (away || 1));
      this.pose = { x: this.pose.x + dx * part, y: this.pose.y + dy * part, theta: Math.atan2(dy, dx) };
      if (away < 0.05) this.pose = { ...this.goal };
      if (away < 0.05) this.goal = null;
    }
  }

  status() {
    const scan = Array.from({ length: 270 }, (_, at) => {
      const angle = this.pose.theta + ((at - 135) * Math.PI) / 180;
      const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
      const range =
        Math.min(
          cos > 0 ? (6 - this.pose.x) / cos : (-6 - this.pose.x) / (cos || -1e-9),
          sin > 0 ? (5 - this.pose.y) / sin : (-5 - this.pose.y) / (sin || -1e-9),
        ) +
        Math.sin(at * 7 + this.time) * 0.01;
      return { x: this.pose.x + cos * range, y: this.pose.y + sin * range, z: 0 };
    });
    return {
      commanded: this.pose,
      estimated: this.pose,
      principal_deviation: 0.05,
      minor_deviation: 0.02,
      heading_deviation: 0.01,
      principal_axis: 0.5,
      scan,
      reflectors: [],
      lines: [],
      circles: [],
      corners: [],
      path: this.goal
        ? [
            { ...this.pose, z: 0 },
            { ...this.goal, z: 0 },
          ]
        : [],
      joystick_buttons: [],
      translation_velocity: 0,
      rotation_velocity: this.state === 1 && this.time < this.velocity.until ? this.velocity.turn : 0,
      relay_digital_in: 5,
      io_digital_in: 3,
      io_digital_out: 1,
      relay_status: 0,
      relay_analog_in: [0, 0, 0, 0, 0, 0, 0, 0],
      optical_distance: [0, 0, 0, 0],
      battery_voltage: 25100,
      io_status: 0,
      io_analog_in: [1, 2, 3, 4, 5, 6, 7, 8],
      motor_right_status: 0,
      motor_left_status: 0,
      motor_right_temperature: 31,
      motor_left_temperature: 30,
      ultrasonic_analog_in: [0, 0, 0, 0, 0, 0, 0, 0],
      ultrasonic: [3, 1.2, 0.8, 2, 3, ...Array(11).fill(10)],
      ultrasonic_status: 0,
      radar_velocity: [0, 0, 0, 0],
      radar_status: 0,
      latitude: 0,
      longitude: 0,
      acceleration: [0, 0, 9.81],
      gyro_angle: 0.1,
      gyro_temperature: 0,
      gyro_status: 0,
      initialized: this.state !== 3,
      target_reached: !this.goal,
      motion_mode: this.mode,
      operation_state: this.state,
      emergency_state: this.emergency,
      application_mode: 0,
      planner_state: 0,
      application_error: 0,
      docked: false,
      localization_lost: false,
      collision: false,
      blind: false,
      lookup_percent: 0,
      infrared: [false, false, false, false],
      siren: false,
      flash_light: false,
      head_angle: 0,
    };
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { url } = await serve(Number(process.argv[2] ?? 8089));
  console.log(url);
}
