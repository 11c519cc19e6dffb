//! The node of the world: with its parts, the only file of this package that knows ROS.
//!
//! | file | holds |
//! | --- | --- |
//! | this | start-up |
//! | [`parameters`] | the parameters, and which worlds they mean |
//! | `pace` | the worlds as time goes by, and velocities that expire; no ROS, no clock |
//! | `rhythm` | what is done again and again, by the real clock or by the worlds' time |
//! | `services` | Apolo's functions, a service each |
//! | `topics` | what is published, and when |
//! | `robots` | what each robot on wheels has besides: velocities, odometry |
//! | `driven` | robots with drivers of their own: their devices and the worlds know of each other |
//! | `descriptions` | the URDFs of robots, and where their links are |
//! | `lasers` | scans |
//! | `cameras`, `pictures` | pictures, from a thread for each camera; what they are as messages |
//! | `markers`, `frames` | the world as markers, and as transforms |
//! | `report` | `/diagnostics` |
//! | [`hardware`] | a node of its own: ultrasonic sensors and battery of the lab's platform |
//! | [`simulation`] | a node of its own: the robot's true pose, the simulator's console, buttons and LEDs of the base |

mod cameras;
mod descriptions;
mod driven;
mod frames;
pub mod hardware;
mod lasers;
mod markers;
mod pace;
pub mod parameters;
mod pictures;
mod report;
mod rhythm;
mod robots;
mod sensors;
mod services;
pub mod simulation;
mod topics;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use dragoman_ros::builtin_interfaces::msg::Time;
use dragoman_ros::tasks::{NodeError, NodeTasks, RunningNode};
use dragoman_ros::{Clock, Context, Node, Publisher, WrappedTypesupport, parameters as ros_parameters};

use crate::WorldError;
use crate::{LoadError, Worlds};
use driven::Driven;
pub use driven::{Devices, DrivenRobot};
use pace::{Pace, Speed};
use rhythm::Rhythm;
use topics::Told;

/// Name of the node.
pub const NODE_NAME: &str = "world";
/// How often `/diagnostics` is published.
const REPORT_PERIOD: Duration = Duration::from_secs(1);

/// A world's node at work.
pub struct WorldNode {
    /// What the node does: give it to an executor.
    pub node: RunningNode,
    /// Names of the worlds, in order.
    pub worlds: Vec<String>,
    /// The worlds themselves.
    pub live: Live,
}

/// Why a world's node cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorldNodeError {
    /// The world file cannot be read.
    #[error("world file {path}: {source}")]
    File {
        /// Which file.
        path: String,
        /// Why not.
        source: std::io::Error,
    },
    /// The world file makes no sense.
    #[error("world file {path}: {source}")]
    World {
        /// Which file; empty for the default lab.
        path: String,
        /// What is wrong.
        source: LoadError,
    },
    /// Two things would be told with the same frame: names in ROS have fewer letters than those of the world file.
    #[error("world file {path}: {} and {} would both have the frame {frame}: rename one of them", .things[0], .things[1])]
    Frames {
        /// Which file; empty for the default lab.
        path: String,
        /// The name that both would have in ROS.
        frame: String,
        /// Their names in the file.
        things: [String; 2],
    },
    /// Two sensors would have the same topics.
    #[error("two sensors would have the topic {topic}: give one of them another in the world file")]
    Sensors {
        /// The topic, or what the topics of a camera begin with.
        topic: String,
    },
    /// As any node's.
    #[error(transparent)]
    Node(NodeError),
}

impl<E> From<E> for WorldNodeError
where
    NodeError: From<E>,
{
    fn from(error: E) -> Self {
        Self::Node(NodeError::from(error))
    }
}

/// Starts node `world` in `namespace`. `world_file` is the default of the parameter of that name; empty: the default lab.
/// `driven` are robots with drivers of their own: the node takes no velocities for them and tells no odometry.
///
/// # Errors
/// A wrong parameter; a world file that cannot be used; the middleware's refusal.
pub fn start(
    context: &Context,
    namespace: &str,
    world_file: &str,
    driven: Vec<DrivenRobot>,
) -> Result<WorldNode, WorldNodeError> {
    let mut tasks = NodeTasks::new(Node::create(context.clone(), NODE_NAME, namespace)?);
    let (values, server) = ros_parameters::declare(tasks.node(), parameters::declarations(world_file))?;
    tasks.spawn(server);
    let worlds = parameters::worlds(&values)?;
    let names = worlds.worlds().iter().map(|world| world.name().to_owned()).collect();
    let timeout = Duration::from_secs_f64(values.value("command_timeout"));
    let is_free = values.value("as_fast_as_possible");
    let speed =
        if is_free { Speed::AsFastAsPossible } else { Speed::Factor(values.value("real_time_factor")) };
    let pace = Pace::new(worlds, speed, timeout);
    let mut rhythm = Rhythm::new(is_free);
    let live = Live::new(pace, driven.into_iter().map(Driven::new).collect());
    let stamps = Stamps::new(tasks.node(), is_free || values.value("publish_clock"));
    services::serve(&mut tasks, &live)?;
    driven::serve(&mut tasks, &live)?;
    let robots = robots::serve(&mut tasks, &live)?;
    let descriptions = descriptions::serve(&mut tasks, &live)?;
    let sensors = sensors::find(&live)?;
    lasers::serve(&mut tasks, &live, &stamps, &sensors, values.value("rate"), &mut rhythm)?;
    cameras::serve(&mut tasks, &live, &stamps, &sensors)?;
    topics::serve(&mut tasks, &live, &stamps, Told { robots, descriptions, sensors }, &values, &mut rhythm)?;
    rhythm.start(&mut tasks, &live);
    let report = report::report(tasks.node(), &live)?;
    tasks.every(REPORT_PERIOD, report)?;
    Ok(WorldNode { node: tasks.start()?, worlds: names, live })
}

/// What time messages bear. Clones are the same.
#[derive(Clone)]
struct Stamps {
    /// None: the worlds' time.
    clock: Option<Arc<Mutex<Clock>>>,
}

impl Stamps {
    fn new(node: &mut Node, in_worlds_time: bool) -> Self {
        Self { clock: (!in_worlds_time).then(|| node.get_ros_clock()) }
    }

    /// Whether everybody is to go by the worlds' time.
    fn are_the_worlds(&self) -> bool {
        self.clock.is_none()
    }

    fn now(&self, pace: &Pace) -> Time {
        let time = match &self.clock {
            None => pace.time(),
            Some(clock) => clock.lock().unwrap_or_else(PoisonError::into_inner).get_now().unwrap_or_default(),
        };
        Clock::to_builtin_time(&time)
    }
}

/// Whether anybody listens, here or elsewhere.
fn listened<T: WrappedTypesupport + 'static>(publisher: &Publisher<T>) -> bool {
    publisher.get_inter_process_subscription_count().is_ok_and(|count| count > 0)
}

/// The worlds at the present time, shared by all that the node does. Clones are the same.
#[derive(Clone)]
pub struct Live {
    start: Instant,
    state: Arc<Mutex<State>>,
}

struct State {
    pace: Pace,
    driven: Vec<Driven>,
    requests: u64,
    refused: u64,
    /// The last refusal in words; taken by the report.
    refusal: Option<String>,
}

/// A request that was refused.
struct Refused {
    /// The world has something of that name.
    found: bool,
    message: String,
}

impl Live {
    fn new(pace: Pace, driven: Vec<Driven>) -> Self {
        let state = State { pace, driven, requests: 0, refused: 0, refusal: None };
        Self { start: Instant::now(), state: Arc::new(Mutex::new(state)) }
    }

    /// Does something with the worlds as they are now.
    fn with<R>(&self, action: impl FnOnce(&mut State) -> R) -> R {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.start.elapsed();
        state.pace.advance_to(now);
        state.exchange(now);
        action(&mut state)
    }

    /// Answers a request, and counts it.
    fn ask<R>(&self, request: impl FnOnce(&mut Worlds) -> Result<R, WorldError>) -> Result<R, Refused> {
        self.with(|state| {
            state.requests += 1;
            request(state.pace.worlds()).map_err(|error| {
                let found =
                    !matches!(error, WorldError::UnknownWorld { .. } | WorldError::UnknownName { .. });
                Refused { found, message: state.refuse(&error) }
            })
        })
    }

    /// Lets a robot drive until the command expires.
    fn command(&self, world: &str, robot: &str, twist: [f64; 2]) {
        self.with(|state| {
            if let Err(error) = state.pace.command(world, robot, twist) {
                state.refuse(&error);
            }
        });
    }
}

impl State {
    /// Notes a refusal; its words. The log gets the first since the last report.
    fn refuse(&mut self, error: &WorldError) -> String {
        let reason = error.to_string();
        self.refused += 1;
        if self.refusal.is_none() {
            tracing::debug!(reason, "refused");
        }
        self.refusal = Some(reason.clone());
        reason
    }
}
