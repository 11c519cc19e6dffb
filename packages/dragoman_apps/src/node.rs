//! A program on the topics and services of the robot (seed 003, table A.2), simulated or real. The only file, with its parts, that
//! knows ROS.

mod image;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use dragoman_geometry::{Pose, Twist};
use dragoman_ros::arbotix_msgs::srv::{Relax, SetSpeed};
use dragoman_ros::geometry_msgs::msg::Twist as Velocity;
use dragoman_ros::kobuki_ros_interfaces::msg::SensorState;
use dragoman_ros::nav_msgs::msg::Odometry;
use dragoman_ros::sensor_msgs::msg::Image;
use dragoman_ros::std_msgs::msg::{Empty, Float64, String as Text};
use dragoman_ros::tasks::{NodeError, NodeTasks};
use dragoman_ros::{Client, Context, Node, Publisher, QosProfile, WrappedServiceTypeSupport, parameters};
use tokio::sync::Notify;

pub use image::ImageError;

use crate::depth::DepthImage;
use crate::program::{Action, Contacts, Joint, Observation, Program, Stamped, Status};

/// How long the robot is waited for.
const START_PATIENCE: Duration = Duration::from_secs(20);
/// How long a service may take.
const CALL_PATIENCE: Duration = Duration::from_secs(5);
/// Without a message for so long the program is called all the same.
const LONGEST_WAIT: Duration = Duration::from_millis(100);
/// How often the stop at the end is said, and how long between.
const STOPS: u32 = 3;
const STOP_PERIOD: Duration = Duration::from_millis(50);
/// A bumper bit of `SensorState`: right, centre, left.
const BUMPER_BITS: [u8; 3] = [0x04, 0x02, 0x01];

/// Why a program could not run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AppError {
    /// The node cannot start.
    #[error(transparent)]
    Node(#[from] NodeError),
    /// The middleware refused.
    #[error(transparent)]
    Ros(#[from] dragoman_ros::Error),
    /// There is no robot, or it does not tell all.
    #[error("nothing comes on {topics} after {} s: is the robot in this domain?", START_PATIENCE.as_secs())]
    NoRobot {
        /// The topics on which nothing came.
        topics: String,
    },
}

impl From<std::io::Error> for AppError {
    fn from(error: std::io::Error) -> Self {
        Self::Node(error.into())
    }
}

impl From<parameters::ParameterError> for AppError {
    fn from(error: parameters::ParameterError) -> Self {
        Self::Node(error.into())
    }
}

/// How it ended.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    /// By itself.
    Program(Status),
    /// It was stopped from outside; the base stands still.
    Stopped,
}

/// What has come last.
#[derive(Default)]
struct Inbox {
    odometry: Option<Stamped<Pose>>,
    contacts: Option<Stamped<Contacts>>,
    depth: Option<Stamped<Arc<DepthImage>>>,
}

struct Shared {
    began: Instant,
    inbox: Mutex<Inbox>,
    came: Notify,
}

impl Shared {
    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    fn inbox(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs a program as node `name` until its end, or until `stop` resolves. `tell` gets what it says, for the terminal.
///
/// # Errors
/// The middleware refuses, or there is no robot.
pub async fn run(
    context: &Context,
    name: &str,
    mut program: impl Program,
    mut tell: impl FnMut(&str),
    stop: impl Future<Output = ()>,
) -> Result<End, AppError> {
    let mut tasks = NodeTasks::new(Node::create(context.clone(), name, "")?);
    let (_, server) = parameters::declare(tasks.node(), Vec::new())?;
    tasks.spawn(server);
    let shared = Arc::new(Shared { began: Instant::now(), inbox: Mutex::default(), came: Notify::new() });
    subscribe(&mut tasks, &shared)?;
    let robot = Robot::new(tasks.node(), name)?;
    let node = tasks.start()?;
    tokio::select! {
        end = drive(&robot, &shared, &mut program, &mut tell) => end,
        () = node => Ok(End::Stopped),
        () = stop => {
            robot.stop().await?;
            Ok(End::Stopped)
        }
    }
}

fn subscribe(tasks: &mut NodeTasks, shared: &Arc<Shared>) -> Result<(), AppError> {
    let inbox = Arc::clone(shared);
    tasks.subscribe("/odom", QosProfile::default().keep_last(1), move |message: Odometry| {
        let pose = message.pose.pose;
        let [x, y, z, w] = [pose.orientation.x, pose.orientation.y, pose.orientation.z, pose.orientation.w];
        let heading = (2.0 * (w * z + x * y)).atan2(1.0 - 2.0 * (y * y + z * z));
        let pose = Pose::new(pose.position.x, pose.position.y, heading);
        if pose.is_finite() {
            inbox.inbox().odometry = Some(Stamped { at: inbox.now(), value: pose });
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
        inbox.inbox().contacts = Some(Stamped { at: inbox.now(), value: contacts });
    })?;
    let inbox = Arc::clone(shared);
    let topic = "/camera/depth/image";
    tasks.subscribe(topic, QosProfile::sensor_data().keep_last(1), move |message: Image| {
        match image::depth_image(&message) {
            Ok(image) => inbox.inbox().depth = Some(Stamped { at: inbox.now(), value: Arc::new(image) }),
            Err(error) => tracing::warn!(%error, "{topic}"),
        }
    })?;
    Ok(())
}

/// Waits for the robot, and then calls the program with all that comes.
async fn drive(
    robot: &Robot,
    shared: &Shared,
    program: &mut impl Program,
    tell: &mut impl FnMut(&str),
) -> Result<End, AppError> {
    tell("waiting for the robot");
    loop {
        let missing = {
            let inbox = shared.inbox();
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
        if shared.now() > START_PATIENCE {
            return Err(AppError::NoRobot { topics: missing.join(", ") });
        }
        tokio::time::sleep(LONGEST_WAIT).await;
    }
    let (mut actions, mut refusal) = (Vec::new(), None::<String>);
    loop {
        // Without messages the program is called to see that there are none.
        let _ = tokio::time::timeout(LONGEST_WAIT, shared.came.notified()).await;
        let (odometry, contacts, depth) = {
            let inbox = shared.inbox();
            (inbox.odometry, inbox.contacts, inbox.depth.clone())
        };
        let depth = depth.as_ref().map(|depth| Stamped { at: depth.at, value: depth.value.as_ref() });
        let seen = Observation { now: shared.now(), odometry, contacts, depth, refusal: refusal.as_deref() };
        let status = program.step(&seen, &mut actions);
        refusal = None;
        for action in actions.drain(..) {
            if let Action::Say(text) = &action {
                tell(text);
            }
            if let Err(error) = robot.act(action).await {
                refusal = Some(error);
                break;
            }
        }
        if status != Status::Running {
            robot.stop().await?;
            return Ok(End::Program(status));
        }
    }
}

/// What the program can do to the robot.
struct Robot {
    velocity: Publisher<Velocity>,
    joints: HashMap<Joint, JointHandles>,
    console: Publisher<Text>,
}

struct JointHandles {
    command: Publisher<Float64>,
    set_speed: Client<SetSpeed::Service>,
    relax: Client<Relax::Service>,
}

impl Robot {
    fn new(node: &mut Node, name: &str) -> Result<Self, AppError> {
        let services = QosProfile::services_default;
        let mut joints = HashMap::new();
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
        Ok(Self {
            velocity: node
                .create_publisher("/mobile_base/commands/velocity", QosProfile::default().keep_last(1))?,
            joints,
            console: node
                .create_publisher("/vrep/aux_console/print", QosProfile::default().keep_last(100))?,
        })
    }

    async fn stop(&self) -> Result<(), AppError> {
        for _ in 0..STOPS {
            self.velocity.publish(&Velocity::default())?;
            tokio::time::sleep(STOP_PERIOD).await;
        }
        Ok(())
    }

    /// Does it; the error is for the program.
    async fn act(&self, action: Action) -> Result<(), String> {
        let told = |result: dragoman_ros::Result<()>| result.map_err(|error| error.to_string());
        let joint =
            |joint: &Joint| self.joints.get(joint).ok_or_else(|| format!("{} is unknown", joint.name()));
        match action {
            Action::Velocity(Twist { linear, angular }) => {
                let mut velocity = Velocity::default();
                (velocity.linear.x, velocity.angular.z) = (linear, angular);
                told(self.velocity.publish(&velocity))
            }
            Action::Command(which, position) => {
                told(joint(&which)?.command.publish(&Float64 { data: position }))
            }
            Action::SetSpeed(which, speed) => {
                let name = format!("/{}/set_speed", which.name());
                call(&joint(&which)?.set_speed, &SetSpeed::Request { speed }, &name).await
            }
            Action::Relax(which) => {
                let name = format!("/{}/relax", which.name());
                call(&joint(&which)?.relax, &Relax::Request::default(), &name).await
            }
            Action::Say(text) => told(self.console.publish(&Text { data: text })),
        }
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
    match tokio::time::timeout(CALL_PATIENCE, answered).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(format!("{name}: {error}")),
        Err(_) => Err(format!("{name} does not answer")),
    }
}
