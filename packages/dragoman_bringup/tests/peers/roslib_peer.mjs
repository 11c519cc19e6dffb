// A program with roslib (npm) beside a lab, started in the folder that has node_modules:
// node --input-type=module --eval "$(cat roslib_peer.mjs)" -- ADDRESS. Prints lines `name: value`.

import { Action, Ros, Service, Topic } from "roslib";

const address = process.argv.at(-1);

const TIME_LIMIT = 120_000;
const report = (name, value) => console.log(`${name}: ${value}`);
const within = (promise, what) =>
  Promise.race([promise, new Promise((_, fail) => setTimeout(() => fail(new Error(`no ${what}`)), TIME_LIMIT).unref())]);

const ros = new Ros({});
const connected = new Promise((resolve, fail) => {
  ros.on("connection", resolve);
  ros.on("error", fail);
});
ros.connect(`ws://${address}/rosbridge`);
await within(connected, "connection");
report("connected", ros.isConnected);

const first = (name, messageType, options = {}, accept = () => true) =>
  within(
    new Promise((resolve) => {
      const topic = new Topic({ ros, name, messageType, ...options });
      topic.subscribe((message) => {
        if (accept(message)) {
          topic.unsubscribe();
          resolve(message);
        }
      });
    }),
    name,
  );
const call = (name, serviceType, request = {}) => {
  const service = new Service({ ros, name, serviceType });
  return within(new Promise((resolve, fail) => service.callService(request, resolve, fail)), name);
};

const topics = await within(new Promise((resolve, fail) => ros.getTopics(resolve, fail)), "topics");
report("topics", topics.topics.includes("/odom") && topics.topics.length === topics.types.length);
const nodes = await within(new Promise((resolve, fail) => ros.getNodes(resolve, fail)), "nodes");
report("node", nodes.includes("/mobile_base"));
const details = await within(
  new Promise((resolve, fail) => ros.getMessageDetails("nav_msgs/Odometry", resolve, fail)),
  "details",
);
report("details", Object.keys(ros.decodeTypeDefs(details)).join(" "));
report("geometry", (await call("/mobile_base/get_geometry", "dragoman_msgs/GetGeometry")).size.x);
report("unknown_service", await call("/nothing", "std_srvs/Trigger").catch((error) => error));

for (const compression of ["none", "png", "cbor"]) {
  const scan = await first("/scan", "sensor_msgs/LaserScan", { compression, throttle_rate: 100 });
  report(`scan_${compression}`, scan.ranges.length);
}
const throttled = { compression: "cbor", throttle_rate: 200 };
const picture = await first("/camera/rgb/image_color", "sensor_msgs/Image", throttled);
report("picture", `${picture.width} x ${picture.height}, ${picture.data.length} bytes`);

const velocity = new Topic({ ros, name: "/cmd_vel", messageType: "geometry_msgs/Twist" });
const driving = setInterval(() => velocity.publish({ linear: { x: 0.2 } }), 100);
await first("/odom", "nav_msgs/Odometry", {}, (message) => message.twist.twist.linear.x > 0.1);
clearInterval(driving);
report("moving", true);

const offered = new Service({ ros, name: "/peer/add", serviceType: "std_srvs/SetBool" });
offered.advertise((request, response) => {
  response.success = request.data;
  response.message = "switched";
  return true;
});
await new Promise((resolve) => setTimeout(resolve, 1000));
report("own_service", JSON.stringify(await call("/peer/add", "std_srvs/SetBool", { data: true })));
offered.unadvertise();

// An action of this program, whose client is this program too, through ROS.
const server = new Action({ ros, name: "/peer/fibonacci", actionType: "test_msgs/action/Fibonacci" });
server.advertise(
  (goal, id) => {
    server.sendFeedback(id, { sequence: [0, 1] });
    setTimeout(() => server.setSucceeded(id, { sequence: Array(goal.order).fill(1) }), 300);
  },
  (id) => server.setCanceled(id, { sequence: [] }),
);
await new Promise((resolve) => setTimeout(resolve, 1000));
const client = new Action({ ros, name: "/peer/fibonacci", actionType: "test_msgs/action/Fibonacci" });
const steps = [];
const result = await within(
  new Promise((resolve, fail) => client.sendGoal({ order: 5 }, resolve, (step) => steps.push(step), fail)),
  "result",
);
report("action", `${result.sequence.join(" ")} after ${steps.length} feedback`);
report("done", true);
// The connection ends with the program: what it drives stops.
process.exit(0);
