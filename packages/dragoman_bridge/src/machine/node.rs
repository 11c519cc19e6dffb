//! The node of a machine, in its namespace: the topics and services of its description, its link, its diagnostics.

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
use futures::future::{BoxFuture, FutureExt};
use futures::stream::StreamExt;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::Notify;

use report::report;
pub(crate) use shared::Shared;
use shared::{Inner, Outputs};

use super::conversation::{Conversation, Refusal};
use super::interface::{Interface, Service};
use super::link::{self, Place};
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

/// Starts the node of a machine in `namespace`.
///
/// # Errors
/// An error of the middleware; frames that cannot be found.
pub fn start(
    context: &Context,
    namespace: &str,
    interface: Interface,
    types: &Types,
    place: Place,
) -> Result<MachineNode, MachineError> {
    let Interface { plan, publications, subscriptions, services, velocity, motor_power, mut standard } =
        interface;
    let mut tasks = NodeTasks::new(Node::create(context.clone(), NODE_NAME, namespace)?);
    let clock = tasks.node().get_ros_clock();
    let conversation = Conversation::new(Arc::clone(&plan)).map_err(MachineError::Frames)?;
    standard.open(tasks.node())?;
    let mut topics = Vec::new();
    for publication in publications {
        let qos = publication.qos.clone();
        let publisher = raw::create_publisher(tasks.node(), &publication.topic, &publication.kind, qos)?;
        topics.push((publication, publisher));
    }
    let services = Arc::new(services);
    let (first, answered) = FirstAnswer::new();
    let refusals = Refusals::default();
    let outputs = Outputs {
        publications: topics,
        standard,
        services: Arc::clone(&services),
        waiting: BTreeMap::new(),
        first,
        refusals: refusals.clone(),
        trouble: None,
    };
    let failure = Some("it has not been opened yet".to_owned());
    let inner = Inner {
        conversation,
        outputs,
        failure,
        is_closing: false,
        is_sending: false,
        again: None,
        heard_before: 0,
        reported: BTreeSet::new(),
        unanswered: BTreeSet::new(),
    };
    let shared =
        Arc::new(Shared { inner: Mutex::new(inner), wake: Notify::new(), clock, plan: Arc::clone(&plan) });

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
                            .command(number + 1, &command.outgoing, &lookup, command.timeout, command.state)
                            .map_err(|refusal| refusal.to_string())
                    });
                if let Err(reason) = sent {
                    refusals.note(&format_args!("{}: {reason}", subscription.topic));
                }
            }
        });
    }
    if let Some(limits) = velocity {
        let (shared, refusals) = (Arc::clone(&shared), refusals.clone());
        let limits = Arc::new(limits);
        let handle = move |twist: Twist| {
            let velocities = [twist.linear.x, twist.linear.y, twist.angular.z];
            // What stands still needs no end.
            let timeout = (velocities != [0.0; 3]).then_some(limits.timeout);
            let sent = limits
                .limited(velocities)
                .map_err(Refusal::Values)
                .and_then(|limited| shared.command(0, &limits.outgoing, &limited, timeout, limits.state));
            if let Err(reason) = sent {
                refusals.note(&format_args!("cmd_vel: {reason}"));
            }
        };
        // Of queued velocities only the last counts.
        let newest = QosProfile::default().keep_last(1);
        velocity::subscribe(&mut tasks, &velocity::VelocityParameters::default(), "cmd_vel", newest, handle)?;
    }
    for number in 0..services.len() {
        services::serve(&mut tasks, types, &services, number, MAX_REQUESTS, {
            let shared = Arc::clone(&shared);
            move |services: &Arc<Vec<Service>>, request| shared.ask(services, number, &request)
        })?;
    }
    if !plan.stop.is_empty() {
        let shared = Arc::clone(&shared);
        tasks.serve::<Trigger::Service>("stop", move |_request| match shared.stop() {
            Ok(()) => Trigger::Response { success: true, message: "the stop is sent".to_owned() },
            Err(refusal) => Trigger::Response { success: false, message: refusal.to_string() },
        })?;
    }
    if let Some(messages) = motor_power {
        let shared = Arc::clone(&shared);
        tasks.serve::<SetBool::Service>("set_motor_power", move |request| {
            let [on, off] = &messages;
            let outgoing = if request.data { on } else { off };
            match shared.command(usize::MAX, outgoing, &super::plan::Missing, None, None) {
                Ok(()) => SetBool::Response {
                    success: true,
                    message: if request.data { "motors on" } else { "motors off" }.to_owned(),
                },
                Err(refusal) => SetBool::Response { success: false, message: refusal.to_string() },
            }
        })?;
    }
    report(&mut tasks, &shared, &place)?;
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
    Ok(MachineNode { client: ClientNode { node: tasks.start()?, answered }, stop: stop.boxed() })
}
