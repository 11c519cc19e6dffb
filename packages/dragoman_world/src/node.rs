//! The node of the world: together with its parts the only file of this package that knows ROS.
//!
//! | file | holds |
//! | --- | --- |
//! | this | start-up |
//! | [`parameters`] | the parameters, and loading the worlds |
//! | `pace` | the worlds' time, and velocities that expire; no ROS, no clock |
//! | `rhythm` | periodic tasks, by the real clock or by the worlds' time |
//! | `services` | Apolo's functions as services |
//! | `topics` | publishing |
//! | `robots` | robots on wheels: velocities, odometry |
//! | `driven` | robots with drivers of their own: coupling of devices and worlds |
//! | `descriptions` | the URDFs of robots, and the poses of their links |
//! | `lasers` | scans |
//! | `cameras`, `pictures` | pictures, from one task per camera, in a thread of its own; their messages |
//! | `markers`, `frames` | the world as markers, and as transforms |
//! | `moved` | poses of what has moved, for web pages |
//! | `scenes` | what is near an arm, for its planner |
//! | `report` | `/diagnostics` |
//! | [`hardware`] | a separate node: ultrasonic sensors and battery of the lab's platform |
//! | `control` | start, pause, stop, reset, speed and time step of the simulation |
//! | [`tracker`] | a separate node: a simulated measuring arm or motion tracker |
//! | [`simulation`] | a separate node: the robot's true pose, the simulator's console, buttons and LEDs of the base |

mod cameras;
mod control;
mod descriptions;
mod driven;
mod frames;
pub mod hardware;
mod lasers;
mod markers;
mod moved;
mod pace;
pub mod parameters;
mod pictures;
mod report;
mod rhythm;
mod robots;
mod scenes;
mod sensors;
mod services;
pub mod simulation;
mod topics;
pub mod tracker;

use std::sync::Arc;
use std::time::{Duration, Instant};

use dragoman_geometry::Twist;
use dragoman_ros::builtin_interfaces::msg::Time;
use dragoman_ros::shared::listened;
use dragoman_ros::tasks::{NodeError, NodeTasks, RunningNode};
use dragoman_ros::times::SharedClock;
use dragoman_ros::{Clock, Context, Node};
use parking_lot::Mutex;

use crate::WorldError;
use crate::{LoadError, World, Worlds};
use control::{Control, Loader};
pub use control::{ControlError, RunState};
use dragoman_sim::serial::edge::Timeline;
use driven::Driven;
pub use driven::{Devices, DrivenRobot};
use pace::{Pace, Speed};
use parameters::WorldParameters;
use rhythm::Rhythm;
use topics::Sources;

/// Name of the node, without its namespace.
pub const NODE_NAME: &str = "world";
/// Period of `/diagnostics`.
const REPORT_PERIOD: Duration = Duration::from_secs(1);

/// A running world node.
pub struct WorldNode {
    /// The node, to be run by an executor.
    pub node: RunningNode,
    /// Names of the worlds, in order.
    pub worlds: Vec<String>,
    /// The worlds themselves.
    pub live: Live,
}

/// Error starting a world node.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorldNodeError {
    /// Neither a scene nor a file.
    #[error("there is no world '{name}', and no such file{hint}")]
    Unknown {
        /// As it was given.
        name: String,
        /// The scene that was meant, or those that there are.
        hint: String,
    },
    /// Reading the world file failed.
    #[error("world file {path}: {source}")]
    File {
        /// Path of the file.
        path: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// The world file is invalid.
    #[error("world file {path}: {source}")]
    World {
        /// Path of the file; empty for the default lab.
        path: String,
        /// The error.
        source: LoadError,
    },
    /// Two objects have the same frame: names in ROS have fewer permitted characters than those of the world file.
    #[error("world file {path}: {} and {} would both have the frame {frame}: rename one of them", .things[0], .things[1])]
    Frames {
        /// Path of the file; empty for the default lab.
        path: String,
        /// The common frame.
        frame: String,
        /// Their names in the file.
        things: [String; 2],
    },
    /// Two sensors have the same topics.
    #[error("two sensors would have the topic {topic}: give one of them another in the world file")]
    Sensors {
        /// The topic, or the prefix of a camera's topics.
        topic: String,
    },
    /// An entry of parameter `planners` is not an arm and a namespace.
    #[error("parameter planners: '{entry}' is not ARM=NAMESPACE")]
    Planner {
        /// The entry, as in the parameter.
        entry: String,
    },
    /// Error of the ROS node.
    #[error(transparent)]
    Node(NodeError),
}

dragoman_ros::from_node_error!(WorldNodeError);

/// Starts node `world` in `namespace`. `world_file` and `planners` are the defaults of the parameters with these names; no
/// file: the default lab. `driven` are robots with drivers of their own: the node neither accepts velocities for them nor
/// publishes their odometry.
///
/// # Errors
/// A wrong parameter; an invalid world file; an error of the middleware.
pub fn start(
    context: &Context,
    namespace: &str,
    world_file: &str,
    planners: &[String],
    driven: Vec<DrivenRobot>,
) -> Result<WorldNode, WorldNodeError> {
    let mut tasks = NodeTasks::new(Node::create(context.clone(), NODE_NAME, namespace)?);
    let defaults = WorldParameters {
        world_file: world_file.to_owned(),
        planners: planners.to_vec(),
        ..WorldParameters::default()
    };
    let parameters = tasks.declare(defaults)?.read();
    let loader = parameters::loader(&parameters)?;
    let worlds = loader()?;
    let file = &parameters.world_file;
    for note in worlds.worlds().iter().flat_map(World::notes) {
        let separator = if file.is_empty() { "" } else { ", " };
        tracing::warn!("{file}{separator}{note}");
    }
    let names = worlds.worlds().iter().map(|world| world.name().to_owned()).collect();
    let is_free = parameters.as_fast_as_possible;
    let speed = if is_free { Speed::AsFastAsPossible } else { Speed::Factor(parameters.real_time_factor) };
    let pace = Pace::new(worlds, speed, parameters.command_timeout);
    let mut rhythm = Rhythm::new(is_free);
    let live = Live::new(pace, driven.into_iter().map(Driven::new).collect(), loader);
    let stamps = Stamps::new(tasks.node(), is_free || parameters.publish_clock);
    services::serve(&mut tasks, &live)?;
    driven::serve(&mut tasks, &live)?;
    let robots = robots::serve(&mut tasks, &live)?;
    let descriptions = descriptions::serve(&mut tasks, &live)?;
    let sensors = sensors::find(&live)?;
    lasers::serve(&mut tasks, &live, &stamps, &sensors, parameters.rate, &mut rhythm)?;
    let is_grey = parameters.depth_encoding == parameters::GREY;
    cameras::serve(&mut tasks, &live, &stamps, &sensors, is_grey)?;
    topics::serve(
        &mut tasks,
        &live,
        &stamps,
        Sources { robots, descriptions, sensors },
        parameters.rate,
        &mut rhythm,
    )?;
    scenes::serve(&mut tasks, &live, &parameters.planners, &mut rhythm)?;
    rhythm.start(&mut tasks, &live);
    let report = report::report(tasks.node(), &live)?;
    tasks.every(REPORT_PERIOD, report)?;
    Ok(WorldNode { node: tasks.start()?, worlds: names, live })
}

/// The time stamps of messages. Clones share them.
#[derive(Clone)]
struct Stamps {
    /// `None`: the worlds' time.
    clock: Option<SharedClock>,
}

impl Stamps {
    fn new(node: &mut Node, in_worlds_time: bool) -> Self {
        Self { clock: (!in_worlds_time).then(|| node.get_ros_clock()) }
    }

    /// Whether all nodes use the worlds' time.
    fn are_the_worlds(&self) -> bool {
        self.clock.is_none()
    }

    fn now(&self, pace: &Pace) -> Time {
        let time = match &self.clock {
            None => pace.time(),
            Some(clock) => dragoman_ros::times::now(clock),
        };
        Clock::to_builtin_time(&time)
    }
}

/// The worlds at the current time, shared by all tasks of the node. Clones share them.
#[derive(Clone)]
pub struct Live {
    start: Instant,
    /// The time of simulated devices and their drivers.
    timeline: Timeline,
    state: Arc<Mutex<NodeState>>,
}

struct NodeState {
    pace: Pace,
    control: Control,
    driven: Vec<Driven>,
    requests: u64,
    refused: u64,
    /// The last refusal; cleared by the report.
    refusal: Option<String>,
}

/// A refused request.
struct Refused {
    /// Whether an object with that name exists.
    found: bool,
    message: String,
}

impl Live {
    fn new(pace: Pace, driven: Vec<Driven>, loader: Loader) -> Self {
        let control = Control::new(&pace, loader);
        let timeline = Timeline::default();
        // While the worlds' time only advances by requests, devices live in real time.
        timeline.set_factor(pace.factor().filter(|factor| *factor > 0.0).unwrap_or(1.0));
        let state = NodeState { pace, control, driven, requests: 0, refused: 0, refusal: None };
        Self { start: dragoman_time::now(), timeline, state: Arc::new(Mutex::new(state)) }
    }

    /// The time of simulated devices of robots in the worlds, and of their drivers.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// Runs an action with the worlds at the current time.
    fn with<R>(&self, action: impl FnOnce(&mut NodeState) -> R) -> R {
        let mut state = self.state.lock();
        let now = dragoman_time::since(self.start);
        state.pace.advance_to(now);
        state.exchange(now);
        action(&mut state)
    }

    /// Handles a request, and counts it.
    fn ask<R>(&self, request: impl FnOnce(&mut Worlds) -> Result<R, WorldError>) -> Result<R, Refused> {
        self.with(|state| {
            state.requests += 1;
            request(state.pace.worlds()).map_err(|error| {
                let found =
                    !matches!(error, WorldError::UnknownWorld { .. } | WorldError::UnknownName { .. });
                let message = state.refuse(&error);
                let hint = hint(state.pace.worlds(), &error);
                Refused { found, message: format!("{message}{hint}") }
            })
        })
    }

    /// Lets a robot drive until the command expires.
    fn command(&self, world: &str, robot: &str, twist: Twist) {
        self.with(|state| {
            if let Err(error) = state.pace.command(world, robot, twist) {
                state.refuse(&error);
            }
        });
    }
}

/// The end of a sentence about an unknown name: what was meant, or what there is.
fn hint(worlds: &Worlds, error: &WorldError) -> String {
    match error {
        WorldError::UnknownWorld { name } => {
            dragoman_text::hint(name, worlds.worlds().iter().map(|world| world.name()))
        }
        WorldError::UnknownName { name } => {
            let all = worlds.worlds().iter().flat_map(|world| {
                let objects = world.objects().iter().map(|object| object.name.as_str());
                objects.chain(world.lasers()).chain(world.ultrasonics())
            });
            dragoman_text::hint(name, all)
        }
        _ => String::new(),
    }
}

impl NodeState {
    /// Stores a refusal; returns its text. The log gets the first since the last report.
    fn refuse(&mut self, error: &WorldError) -> String {
        let reason = error.to_string();
        self.refused += 1;
        if self.refusal.is_none() {
            tracing::debug!(reason, "request refused");
        }
        self.refusal = Some(reason.clone());
        reason
    }
}
