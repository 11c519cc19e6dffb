//! The node of a machine, in its namespace: the topics and services of its description, its link, its diagnostics.

mod actions;
mod goals;
mod inner;
mod parameters;
mod report;
mod shared;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use dragoman_ros::diagnostics::Refusals;
use dragoman_ros::geometry_msgs::msg::Twist;
use dragoman_ros::std_srvs::srv::{SetBool, Trigger};
use dragoman_ros::tasks::{NodeError, NodeTasks};
use dragoman_ros::{Context, Node, QosProfile, raw, velocity};
use dragoman_types::json;
use dragoman_types::schema::Types;
use futures::channel::oneshot;
use futures::future::{BoxFuture, FutureExt};
use futures::stream::StreamExt;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::Notify;

use goals::Goals;
use inner::{Inner, Outputs};
use parameters::MachineParameters;
pub use parameters::names;
use report::report;
pub(crate) use shared::Shared;

use super::conversation::{Conversation, Refusal};
use super::interface::{Interface, Publication, Service, Subscription, Switch, Velocity};
use super::link::{self, Place};
use super::outbox::Outbox;
use super::services;
use crate::client_node::{ClientNode, FirstAnswer};

/// Name of the node.
pub const NODE_NAME: &str = "machine";
/// Requests of a service that are open at the same time.
const MAX_REQUESTS: usize = 16;
/// How long the end waits for a stop to be sent.
const STOP_TIME: Duration = Duration::from_millis(500);
const STOP_STEP: Duration = Duration::from_millis(2);

/// A running machine.
pub struct MachineNode {
    /// The node, and whether the machine has been heard.
    pub client: ClientNode,
    /// Where the machine is.
    pub place: String,
    /// Stops the machine and closes its link; await it before dropping the node.
    pub stop: BoxFuture<'static, ()>,
}

/// Error starting the node of a machine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MachineError {
    /// The frames of the description cannot be found in a stream.
    #[error("{0}")]
    Frames(String),
    /// It is not known where the machine is.
    #[error("{0}")]
    Link(String),
    /// Error of the middleware.
    #[error(transparent)]
    Node(NodeError),
}

dragoman_ros::from_node_error!(MachineError);

/// The types of messages that this program knows.
pub fn types() -> Types {
    let distribution = dragoman_ros::Distribution::from_variables(dragoman_time::variable);
    let installed = dragoman_time::variable_os("AMENT_PREFIX_PATH").unwrap_or_default();
    // With rcl the installed definitions are the program's; without, the built-in ones are.
    Types::of_program(distribution.name(), &installed, raw::CALLS_ARE_JSON)
}

/// Reads where the machine is.
pub type OpenPlace = Box<dyn FnOnce(&str) -> Result<Place, String> + Send>;

/// Where a machine is: what a user has given, and what that means. A parameter of the node may say something else.
pub struct Link {
    /// The text; empty if none is given.
    pub given: String,
    /// What a text means.
    pub open: OpenPlace,
}

/// Starts the node of a machine in `namespace`; its frames have `frame_prefix` in front, unless a parameter says otherwise.
///
/// # Errors
/// An error of the middleware; frames that cannot be found; a parameter that is not possible; no place where the machine is.
pub fn start(
    context: &Context,
    namespace: &str,
    interface: Interface,
    types: &Types,
    link: Link,
    frame_prefix: &str,
) -> Result<MachineNode, MachineError> {
    let mut tasks = NodeTasks::new(Node::create(context.clone(), NODE_NAME, namespace)?);
    let (shared, rest) = share(&mut tasks, interface, &link.given, frame_prefix)?;
    let Rest { subscriptions, velocity, parameters, motor_power, refusals, answered } = rest;
    let parameters = tasks.declare(parameters)?;
    shared.with(|_, inner| inner.outputs.prefix_frames(&parameters.read().frame_prefix));
    let place = (link.open)(&parameters.read().link).map_err(MachineError::Link)?;
    let plan = Arc::clone(&shared.plan);

    for (number, subscription) in subscriptions.into_iter().enumerate() {
        let (shared, refusals) = (Arc::clone(&shared), refusals.clone());
        let mut messages =
            raw::subscribe(tasks.node(), &subscription.topic, &subscription.kind, subscription.qos.clone())?;
        tasks.spawn(async move {
            while let Some(message) = messages.next().await {
                let command = &subscription.command;
                let sent = json::from_cdr(&command.structure, &message.data)
                    .map_err(|error| error.to_string())
                    .and_then(|text| serde_json::from_str::<Value>(&text).map_err(|error| error.to_string()))
                    .and_then(|value| {
                        let lookup = command.lookup(&value);
                        shared
                            .command(
                                &[(number + 1, &command.outgoing)],
                                &lookup,
                                command.timeout,
                                command.state,
                            )
                            .map_err(|refusal| refusal.to_string())
                    });
                if let Err(reason) = sent {
                    refusals.note(&format_args!("{}: {reason}", subscription.topic));
                }
            }
        });
    }
    let values = parameters.read().velocities.clone();
    if let (Some(velocity), Some(values)) = (velocity, values) {
        let (shared, refusals) = (Arc::clone(&shared), refusals.clone());
        let handle = move |twist: Twist| {
            let velocities = [twist.linear.x, twist.linear.y, twist.angular.z];
            // What stands still needs no end.
            let timeout = (velocities != [0.0; 3]).then_some(values.timeout);
            let limits =
                parameters.read().velocities.as_ref().map(|values| values.limits).unwrap_or_default();
            // The first is output 0; further ones are behind those of all topics.
            let outputs = velocity.outgoing.iter().enumerate();
            let outputs = outputs.map(|(at, one)| (if at == 0 { 0 } else { usize::MAX - at }, one));
            let outputs: Vec<_> = outputs.collect();
            let sent = Velocity::limited(velocities, limits)
                .map_err(Refusal::Values)
                .and_then(|limited| shared.command(&outputs, &limited, timeout, velocity.state));
            if let Err(reason) = sent {
                refusals.note(&format_args!("cmd_vel: {reason}"));
            }
        };
        // Of queued velocities only the last counts.
        let newest = QosProfile::default().keep_last(1);
        velocity::subscribe(&mut tasks, &values.stamped, "cmd_vel", newest, handle)?;
    }
    let services = shared.with(|_, inner| Arc::clone(&inner.outputs.services));
    for number in 0..services.len() {
        services::serve(&mut tasks, types, &services, number, MAX_REQUESTS, {
            let shared = Arc::clone(&shared);
            move |services: &Arc<Vec<Service>>, request| shared.ask(services, number, &request)
        })?;
    }
    if !plan.stop.is_empty() {
        let shared = Arc::clone(&shared);
        tasks.serve::<Trigger::Service>("stop", move |_request| match shared.stop() {
            Ok(()) => Trigger::Response { success: true, message: "stopping the machine".to_owned() },
            Err(refusal) => Trigger::Response { success: false, message: refusal.to_string() },
        })?;
    }
    let actions = shared.with(|_, inner| Arc::clone(&inner.outputs.goals.actions));
    actions::serve_all(&mut tasks, types, &shared, &actions)?;
    if let Some(switches) = motor_power {
        let shared = Arc::clone(&shared);
        tasks.serve_together::<SetBool::Service, _>("set_motor_power", MAX_REQUESTS, move |request| {
            let [on, off] = &switches;
            let outcome = shared.switch(if request.data { on } else { off });
            outcome.map(move |outcome| match outcome {
                Ok(()) => SetBool::Response {
                    success: true,
                    message: if request.data { "motors on" } else { "motors off" }.to_owned(),
                },
                Err(message) => SetBool::Response { success: false, message },
            })
        })?;
    }
    report(&mut tasks, &shared, &place)?;
    let text = place.to_string();
    tasks.spawn(link::run(Arc::clone(&shared), place));
    let stop = async move {
        shared.stop_at_the_end();
        let sent = async {
            while shared.is_stopping() {
                dragoman_time::sleep(STOP_STEP).await;
            }
        };
        if dragoman_time::timeout(STOP_TIME, sent).await.is_err() {
            tracing::warn!("the machine could not be stopped in time");
        }
        shared.close();
    };
    let client = ClientNode { node: tasks.start()?, answered };
    Ok(MachineNode { client, place: text, stop: stop.boxed() })
}

/// What is not shared with the link.
struct Rest {
    subscriptions: Vec<Subscription>,
    velocity: Option<Arc<Velocity>>,
    motor_power: Option<[Arc<Switch>; 2]>,
    parameters: MachineParameters,
    refusals: Refusals,
    answered: oneshot::Receiver<()>,
}

/// Opens the topics of what the machine says, and makes what the tasks share.
fn share(
    tasks: &mut NodeTasks,
    interface: Interface,
    link: &str,
    frame_prefix: &str,
) -> Result<(Arc<Shared>, Rest), MachineError> {
    let Interface {
        plan,
        publications,
        subscriptions,
        services,
        actions,
        velocity,
        motor_power,
        mut standard,
    } = interface;
    let clock = tasks.node().get_ros_clock();
    let conversation = Conversation::new(Arc::clone(&plan)).map_err(MachineError::Frames)?;
    standard.open(tasks.node())?;
    let mut topics: Vec<(Publication, raw::Publisher)> = Vec::new();
    for publication in publications {
        let qos = publication.qos.clone();
        let publisher = match topics.iter().find(|(other, _)| other.topic == publication.topic) {
            Some((_, publisher)) => publisher.clone(),
            None => raw::create_publisher(tasks.node(), &publication.topic, &publication.kind, qos)?,
        };
        topics.push((publication, publisher));
    }
    let (first, answered) = FirstAnswer::new();
    let refusals = Refusals::default();
    let motor_power = motor_power.map(|switches| switches.map(Arc::new));
    let switched = motor_power.iter().flatten().map(|switch| switch.outgoing.clone());
    let constant = switched.chain(actions.iter().flat_map(|action| action.cancel.clone())).collect();
    let outputs = Outputs {
        publications: topics,
        standard,
        services: Arc::new(services),
        waiting: BTreeMap::new(),
        goals: Goals::new(Arc::new(actions)),
        out: Outbox::default(),
        first,
        refusals: refusals.clone(),
        trouble: None,
    };
    let inner = Inner {
        conversation,
        outputs,
        failure: Some("it has not been opened yet".to_owned()),
        is_closing: false,
        is_sending: false,
        again: None,
        heard_before: 0,
        reported: BTreeSet::new(),
        unanswered: BTreeSet::new(),
    };
    let velocity = velocity.map(Arc::new);
    let shared = Arc::new(Shared {
        inner: Mutex::new(inner),
        wake: Notify::new(),
        clock,
        plan,
        constant,
        velocity: velocity.clone(),
    });
    let parameters = MachineParameters::new(&shared, link, frame_prefix);
    Ok((shared, Rest { subscriptions, velocity, motor_power, parameters, refusals, answered }))
}
