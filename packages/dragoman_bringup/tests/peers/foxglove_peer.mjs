// A program with Foxglove's client library (npm @foxglove/ws-protocol) beside a lab, started in the folder that has
// node_modules: node --input-type=module --eval "$(cat foxglove_peer.mjs)" -- ADDRESS. It knows no types: it reads and
// writes messages with the schemas that it gets. Prints lines `name: value`.

import { createRequire } from "node:module";

// Their ES modules are for bundlers: node cannot load them.
const require = createRequire(`${process.cwd()}/`);
const { FoxgloveClient } = require("@foxglove/ws-protocol");
const { MessageReader, MessageWriter } = require("@foxglove/rosmsg2-serialization");
const { parse } = require("@foxglove/rosmsg");
const { WebSocket } = require("ws");

const address = process.argv.at(-1);

const TIME_LIMIT = 120_000;
const report = (name, value) => console.log(`${name}: ${value}`);

const client = new FoxgloveClient({ ws: new WebSocket(`ws://${address}`, [FoxgloveClient.SUPPORTED_SUBPROTOCOL]) });
client.on("error", (error) => {
  throw error;
});

/** The first event of a kind that `accept` takes. */
const next = (kind, accept = () => true, what = kind) =>
  new Promise((resolve, fail) => {
    const timer = setTimeout(() => fail(new Error(`no ${what}`)), TIME_LIMIT);
    const take = (event) => {
      if (accept(event)) {
        clearTimeout(timer);
        client.off(kind, take);
        resolve(event);
      }
    };
    client.on(kind, take);
  });

const channels = new Map();
const services = new Map();
client.on("advertise", (list) => list.forEach((channel) => channels.set(channel.id, channel)));
client.on("unadvertise", (ids) => ids.forEach((id) => channels.delete(id)));
client.on("advertiseServices", (list) => list.forEach((service) => services.set(service.name, service)));

const statuses = [];
client.on("status", (status) => statuses.push(status.message));

const info = await next("serverInfo");
report("capabilities", info.capabilities.join(" "));
report("distribution", info.metadata.ROS_DISTRO);

/** A topic, which may have several types. */
async function channel(topic, schemaName) {
  const is = (c) => c.topic === topic && (schemaName === undefined || c.schemaName === schemaName);
  for (;;) {
    const found = [...channels.values()].find(is);
    if (found) return found;
    await next("advertise", (list) => list.some(is), topic);
  }
}

/** The first message of a topic that `accept` takes. */
async function first(topic, accept = () => true) {
  const { id, schema, schemaEncoding, encoding } = await channel(topic);
  if (schemaEncoding !== "ros2msg" || encoding !== "cdr") throw new Error(`${topic}: ${schemaEncoding} ${encoding}`);
  const reader = new MessageReader(parse(schema, { ros2: true }));
  const subscription = client.subscribe(id);
  let message;
  await next(
    "message",
    (event) => {
      if (event.subscriptionId !== subscription) return false;
      const age = Date.now() - Number(event.timestamp / 1_000_000n);
      if (Math.abs(age) > TIME_LIMIT) throw new Error(`${topic}: received ${age} ms ago`);
      message = reader.readMessage(event.data);
      return accept(message);
    },
    topic,
  );
  client.unsubscribe(subscription);
  return message;
}

const scan = await first("/scan");
report("scan", scan.ranges.length);
const picture = await first("/camera/rgb/image_color");
report("picture", `${picture.width} x ${picture.height}, ${picture.data.length} bytes`);
// A latched topic.
report("description", (await first("/robot_description")).data.includes("<robot"));

// Services: with CDR, with JSON, refused, unknown.
let calls = 0;
async function call(name, request, encoding = "cdr") {
  while (!services.has(name)) await next("advertiseServices", () => true, name);
  const service = services.get(name);
  const definitions = (part) => parse(part.schema, { ros2: true });
  const data =
    encoding === "cdr"
      ? new MessageWriter(definitions(service.request)).writeMessage(request)
      : new TextEncoder().encode(JSON.stringify(request));
  const callId = ++calls;
  const answered = next("serviceCallResponse", (event) => event.callId === callId, name);
  const failed = next("serviceCallFailure", (event) => event.callId === callId, name);
  answered.catch(() => {});
  failed.catch(() => {});
  client.sendServiceCallRequest({ serviceId: service.id, callId, encoding, data });
  const event = await Promise.race([answered, failed]);
  if (event.message) return event.message;
  return encoding === "cdr"
    ? new MessageReader(definitions(service.response)).readMessage(event.data)
    : JSON.parse(new TextDecoder().decode(event.data));
}
const geometry = "/mobile_base/get_geometry";
report("geometry", (await call(geometry, { structure_needs_at_least_one_member: 0 })).size.x);
report("geometry_json", (await call(geometry, {}, "json")).size.x);
report("wrong_request", await call("/mobile_base/set_motor_power", { power: true }, "json"));

// Publishes until the odometry shows it; then the driver's channel ends, and so does the motion.
const twist = "geometry_msgs/msg/Twist";
const { schema } = await channel("/cmd_vel", twist);
const writer = new MessageWriter(parse(schema, { ros2: true }));
const velocity = client.advertise({ topic: "/cmd_vel", encoding: "cdr", schemaName: twist });
const forward = writer.writeMessage({ linear: { x: 0.2, y: 0, z: 0 }, angular: { x: 0, y: 0, z: 0 } });
const driving = setInterval(
  () => client.sendMessage(velocity, forward),
  100,
);
await first("/odom", (message) => message.twist.twist.linear.x > 0.1);
report("moving", true);
clearInterval(driving);
client.sendMessage(velocity, new Uint8Array([0, 1, 0, 0, 1, 2, 3]));
await next("status", (status) => status.message.includes("/cmd_vel"), "refusal of a short message");
report("short_message", statuses.at(-1));
client.sendMessage(velocity, new Uint8Array(4 + 48 + 8).fill(1, 1, 2));
await next("status", (status) => status.message.includes("/cmd_vel"), "refusal of a long message");
report("long_message", statuses.at(-1));
client.unadvertise(velocity);
await first("/odom", (message) => message.twist.twist.linear.x === 0);
report("stopped", true);

// Parameters: all, one, set, refused, followed.
const parameters = async (names) => {
  const id = `get ${names} ${++calls}`;
  client.getParameters(names, id);
  return (await next("parameterValues", (event) => event.id === id, id)).parameters;
};
const all = await parameters([]);
report("parameters", all.length > 200 && all.some((parameter) => parameter.name === "/console.max_clients"));
const [clients] = await parameters(["/console.max_clients", "/console.none"]);
report("parameter", `${clients.value} ${clients.type}`);
const [limit] = await parameters(["/mobile_base.linear.max_velocity"]);
report("double", limit.type);
client.subscribeParameterUpdates([limit.name]);
client.setParameters([{ name: limit.name, value: limit.value / 2, type: "float64" }], "set");
report("set", (await next("parameterValues", (event) => event.id === "set")).parameters[0].value === limit.value / 2);
client.setParameters([{ ...limit, value: limit.value }]);
const told = (event) => event.id === undefined && event.parameters[0].value === limit.value;
report("followed", (await next("parameterValues", told, "parameter update")).parameters[0].name === limit.name);
client.setParameters([{ name: "/console.max_clients", value: 5 }]);
report("read_only", (await next("status", (status) => status.message.includes("max_clients"))).message);

// Assets and the connection graph.
const asset = async (uri) => {
  const requestId = ++calls;
  client.fetchAsset(uri, requestId);
  const event = await next("fetchAssetResponse", (response) => response.requestId === requestId, uri);
  return event.status === 0 ? new TextDecoder().decode(event.data) : event.error;
};
report("asset", (await asset("package://dragoman_bringup/urdf/turtlebot2_widowx.urdf")).includes("<robot"));
report("no_asset", await asset("package://dragoman_bringup/../Cargo.toml"));
const graph = next("connectionGraphUpdate");
client.subscribeConnectionGraph();
const { publishedTopics, advertisedServices } = await graph;
const ids = (list, name, key) => list.find((entry) => entry.name === name)?.[key].join(" ");
report("publishers", ids(publishedTopics, "/odom", "publisherIds"));
report("providers", ids(advertisedServices, geometry, "providerIds"));
report("done", true);
process.exit(0);
