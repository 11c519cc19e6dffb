//! Runs a program on the topics and services of the robot (TurtleBot thesis, table A.2), simulated or real. Together
//! with its parts the only file that knows ROS.

mod image;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dragoman_geometry::{Pose, Twist};
use dragoman_ros::arbotix_msgs::srv::{Relax, SetSpeed};
use dragoman_ros::geometry_msgs::msg::Twist as Velocity;
use dragoman_ros::kobuki_ros_interfaces::msg::SensorState;
use dragoman_ros::nav_msgs::msg::Odometry;
use dragoman_ros::sensor_msgs::msg::{Image, JointState};
use dragoman_ros::shared::SharedPublisher;
use dragoman_ros::std_msgs::msg::{Empty, Float64, String as Text};
use dragoman_ros::supervision::Supervisor;
use dragoman_ros::tasks::{NodeError, NodeTasks};
use dragoman_ros::{Client, Context, Node, Publisher, QosProfile, WrappedServiceTypeSupport, poses};
use parking_lot::Mutex;
use tokio::sync::Notify;

pub use image::ImageError;

use crate::depth::DepthImage;
use crate::program::{Action, Contacts, Joint, Observation, Positions, Program, Stamped, Status};

/// Time limit for the robot's first messages.
const START_TIMEOUT: Duration = Duration::from_secs(20);
/// Time limit of a service call.
const CALL_TIMEOUT: Duration = Duration::from_secs(5);
/// The program is called at least this often, even without messages.
const MAX_WAIT: Duration = Duration::from_millis(100);
/// Number of stop commands at the end, and the time between them.
const STOPS: u32 = 3;
const STOP_PERIOD: Duration = Duration::from_millis(50);
/// A bumper bit of `SensorState`: right, centre, left.
const BUMPER_BITS: [u8; 3] = [0x04, 0x02, 0x01];

/// Error running a program.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AppError {
    /// Starting the node failed.
    #[error(transparent)]
    Node(NodeError),
    /// The robot is missing, or does not publish all topics.
    #[error("no messages on {topics} after {} s: is the robot in this domain?", START_TIMEOUT.as_secs())]
    NoRobot {
        /// The topics without messages.
        topics: String,
    },
}

dragoman_ros::from_node_error!(AppError);

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    /// The program ended.
    Program(Status),
    /// It was stopped from outside.
    Stopped,
}

/// The last received messages.
#[derive(Default)]
struct Inbox {
    odometry: Option<Stamped<Pose>>,
    contacts: Option<Stamped<Contacts>>,
    joints: Positions,
    depth: Option<Stamped<Arc<DepthImage>>>,
}

struct Shared {
    began: Instant,
    inbox: Mutex<Inbox>,
    came: Notify,
}

impl Shared {
    fn now(&self) -> Duration {
        dragoman_time::since(self.began)
    }
}

/// Runs a program as node `name` until its end, or until `stop` resolves. `print` gets the program's texts for the
/// terminal. `supervisor` gets the node; when it shuts down, it stops the robot.
///
/// # Errors
/// An error of the middleware; the robot is missing.
pub async fn run(
    context: &Context,
    supervisor: &Supervisor,
    name: &str,
    mut program: impl Program,
    mut print: impl FnMut(&str),
    stop: impl Future<Output = ()>,
) -> Result<End, AppError> {
    let mut tasks = NodeTasks::new(Node::create(context.clone(), name, "")?);
    tasks.declare(())?;
    let shared =
        Arc::new(Shared { began: dragoman_time::now(), inbox: Mutex::default(), came: Notify::new() });
    subscribe(&mut tasks, &shared)?;
    let (robot, velocity) = Robot::new(tasks.node(), name)?;
    supervisor.on_stop(Box::pin(stop_base(velocity)));
    supervisor.spawn_node(tasks.start()?);
    tokio::select! {
        biased;
        () = stop => Ok(End::Stopped),
        end = drive(&robot, &shared, &mut program, &mut print) => end,
    }
}

fn subscribe(tasks: &mut NodeTasks, shared: &Arc<Shared>) -> Result<(), AppError> {
    let inbox = Arc::clone(shared);
    tasks.subscribe("/odom", QosProfile::default().keep_last(1), move |message: Odometry| {
        let pose = poses::planar(&message.pose.pose);
        if pose.is_finite() {
            inbox.inbox.lock().odometry = Some(Stamped { at: inbox.now(), value: pose });
            inbox.came.notify_one();
        }
    })?;
    let inbox = Arc::clone(shared);
    let topic = "/mobile_base/sensors/core";
    tasks.subscribe(topic, QosProfile::default().keep_last(1), move |message: SensorState| {
        let contacts = Contacts {
            bumpers: BUMPER_BITS.map(|bit| message.bumper & bit != 0),
            cliff: message.cliff != 0,
            wheel_drop: message.wheel_drop != 0,
        };
        inbox.inbox.lock().contacts = Some(Stamped { at: inbox.now(), value: contacts });
    })?;
    let inbox = Arc::clone(shared);
    tasks.subscribe("/joint_states", QosProfile::default().keep_last(10), move |message: JointState| {
        let positions = message.name.iter().map(String::as_str).zip(message.position.iter().copied());
        let now = inbox.now();
        inbox.inbox.lock().joints.take(now, positions);
    })?;
    let inbox = Arc::clone(shared);
    let topic = "/camera/depth/image";
    tasks.subscribe(topic, QosProfile::sensor_data().keep_last(1), move |message: Image| {
        match image::depth_image(&message) {
            Ok(image) => inbox.inbox.lock().depth = Some(Stamped { at: inbox.now(), value: Arc::new(image) }),
            Err(error) => tracing::warn!(%error, topic, "invalid depth image ignored"),
        }
    })?;
    Ok(())
}

/// Waits for the robot, then calls the program with all messages.
async fn drive(
    robot: &Robot,
    shared: &Shared,
    program: &mut impl Program,
    print: &mut impl FnMut(&str),
) -> Result<End, AppError> {
    print("waiting for the robot");
    loop {
        let missing = {
            let inbox = shared.inbox.lock();
            let depth_is_missing = program.needs_depth() && inbox.depth.is_none();
            [
                inbox.odometry.is_none().then_some("/odom"),
                inbox.contacts.is_none().then_some("/mobile_base/sensors/core"),
                depth_is_missing.then_some("/camera/depth/image"),
            ]
        };
        let missing: Vec<&str> = missing.into_iter().flatten().collect();
        if missing.is_empty() {
            break;
        }
        if shared.now() > START_TIMEOUT {
            return Err(AppError::NoRobot { topics: missing.join(", ") });
        }
        dragoman_time::sleep(MAX_WAIT).await;
    }
    let (mut actions, mut refusal) = (Vec::new(), None::<String>);
    loop {
        // Call the program even without messages, so that it notices their absence.
        let _ = dragoman_time::timeout(MAX_WAIT, shared.came.notified()).await;
        let (odometry, contacts, joints, depth) = {
            let inbox = shared.inbox.lock();
            (inbox.odometry, inbox.contacts, inbox.joints, inbox.depth.clone())
        };
        let depth = depth.as_ref().map(|depth| Stamped { at: depth.at, value: depth.value.as_ref() });
        let seen =
            Observation { now: shared.now(), odometry, contacts, joints, depth, refusal: refusal.as_deref() };
        let status = program.step(&seen, &mut actions);
        refusal = None;
        for action in actions.drain(..) {
            if let Action::Say(text) = &action {
                print(text);
            }
            if let Err(error) = robot.act(action).await {
                refusal = Some(error);
                break;
            }
        }
        if status != Status::Running {
            return Ok(End::Program(status));
        }
    }
}

/// Executes the program's actions.
struct Robot {
    velocity: SharedPublisher<Velocity>,
    joints: BTreeMap<Joint, JointHandles>,
    console: Publisher<Text>,
}

struct JointHandles {
    command: Publisher<Float64>,
    set_speed: Client<SetSpeed::Service>,
    relax: Client<Relax::Service>,
}

impl Robot {
    /// Also returns the publisher that stops the base.
    fn new(node: &mut Node, name: &str) -> Result<(Self, SharedPublisher<Velocity>), AppError> {
        let services = QosProfile::services_default;
        let mut joints = BTreeMap::new();
        for joint in Joint::ALL {
            let name = joint.name();
            let handles = JointHandles {
                command: node.create_publisher(&format!("/{name}/command"), QosProfile::default())?,
                set_speed: node.create_client(&format!("/{name}/set_speed"), services())?,
                relax: node.create_client(&format!("/{name}/relax"), services())?,
            };
            joints.insert(joint, handles);
        }
        let latched = || QosProfile::default().keep_last(1).transient_local();
        let create: Publisher<Empty> = node.create_publisher("/vrep/aux_console/create", latched())?;
        create.publish(&Empty::default())?;
        let status: Publisher<Text> = node.create_publisher("/vrep/status_bar_message", latched())?;
        status.publish(&Text { data: format!("Program: {name}") })?;
        let velocity =
            node.create_publisher("/mobile_base/commands/velocity", QosProfile::default().keep_last(1))?;
        let velocity = SharedPublisher::from(velocity);
        let console =
            node.create_publisher("/vrep/aux_console/print", QosProfile::default().keep_last(100))?;
        Ok((Self { velocity: velocity.clone(), joints, console }, velocity))
    }

    /// Executes an action; the error is returned to the program.
    async fn act(&self, action: Action) -> Result<(), String> {
        let checked = |result: dragoman_ros::Result<()>| result.map_err(|error| error.to_string());
        let joint =
            |joint: &Joint| self.joints.get(joint).ok_or_else(|| format!("{} is unknown", joint.name()));
        match action {
            Action::Velocity(Twist { linear, angular, .. }) => {
                let mut velocity = Velocity::default();
                (velocity.linear.x, velocity.angular.z) = (linear, angular);
                checked(self.velocity.publish(&velocity))
            }
            Action::Command(which, position) => {
                checked(joint(&which)?.command.publish(&Float64 { data: position }))
            }
            Action::SetSpeed(which, speed) => {
                let name = format!("/{}/set_speed", which.name());
                call(&joint(&which)?.set_speed, &SetSpeed::Request { speed }, &name).await
            }
            Action::Relax(which) => {
                let name = format!("/{}/relax", which.name());
                call(&joint(&which)?.relax, &Relax::Request::default(), &name).await
            }
            Action::Say(text) => checked(self.console.publish(&Text { data: text })),
        }
    }
}

async fn stop_base(velocity: SharedPublisher<Velocity>) {
    for _ in 0..STOPS {
        if let Err(error) = velocity.publish(&Velocity::default()) {
            tracing::error!(%error, "stopping the base failed");
        }
        dragoman_time::sleep(STOP_PERIOD).await;
    }
}

async fn call<S: WrappedServiceTypeSupport + 'static>(
    client: &Client<S>,
    request: &S::Request,
    name: &str,
) -> Result<(), String> {
    let answered = async {
        Node::is_available(client)?.await?;
        client.request(request)?.await.map(|_| ())
    };
    match dragoman_time::timeout(CALL_TIMEOUT, answered).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(format!("{name}: {error}")),
        Err(_) => Err(format!("{name} does not answer")),
    }
}
