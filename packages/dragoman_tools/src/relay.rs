//! `dragoman relay`: connects programs in one namespace with robots in others. A program's commands go to all robots;
//! data of the first robot goes to the programs; a request is answered when all robots have answered.
//!
//! | file | holds |
//! | --- | --- |
//! | `relay.rs` | the options, the node |
//! | `relay/table.rs` | the relayed names, and the check for circles |
//! | `relay/types.rs` | the supported types |
//! | `relay/topics.rs` | topics |
//! | `relay/services.rs` | services, and reports of each robot's response |

mod services;
mod table;
mod topics;
mod types;

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use dragoman_ros::diagnostics::{Diagnostics, Severity};
use dragoman_ros::parameters;
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{Context, Node, outln};
use futures::future::BoxFuture;

use services::Reports;

pub use table::{Namespaces, Service, Table, TableError, To, Topic};
use topics::{Counts, Listeners, OnDemand};
use types::{with_message_type, with_service_type};

#[derive(Debug, Clone, clap::Args)]
/// The command line of `dragoman relay`.
pub struct RelayOptions {
    /// Namespaces of the robots, separated by commas; programs receive the data of the first.
    #[arg(long, value_name = "NAMESPACES", value_delimiter = ',', default_values = ["/real", "/sim"])]
    robots: Vec<String>,
    /// Namespace of the programs.
    #[arg(long, value_name = "NAMESPACE", default_value = "/")]
    programs: String,
    /// Relayed topics and services: a YAML file like launch/config/relay/turtlebot2_widowx.yaml, which is the default.
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,
}

/// Name of the node, without its namespace.
pub const NODE_NAME: &str = "relay";
/// Period of `/diagnostics`.
const REPORT_PERIOD: Duration = Duration::from_secs(1);

/// Starts the relay with these options, and prints the number of relayed names.
///
/// # Errors
/// The table cannot be read; as [`start`].
pub fn start_with_options(
    context: &Context,
    options: &RelayOptions,
) -> Result<BoxFuture<'static, ()>, Box<dyn Error>> {
    let table = match &options.table {
        None => Table::turtlebot()?,
        Some(path) => {
            let wrong = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
            let bytes = std::fs::read(path).map_err(|error| wrong(&error))?;
            let (text, note) = dragoman_text::decode(&bytes);
            let table = Table::from_yaml(&text).map_err(|error| wrong(&error))?;
            for note in note.iter().chain(&table.notes) {
                tracing::warn!("{}, {note}", path.display());
            }
            table
        }
    };
    let namespaces = Namespaces::new(&options.programs, &options.robots);
    let relay = start(context, &table, &namespaces)?;
    let robots: Vec<&str> = namespaces.robots().collect();
    outln!("{} topics and {} services of {}", table.topics.len(), table.services.len(), robots.join(" and "));
    Ok(relay)
}

parameters! {
    /// The parameters of the node.
    pub struct RelayParameters {
        /// Timeout of a robot's response, s.
        service_timeout: Duration = 2.0, in 0.01..=60.0;
    }
}

/// Starts node `relay` in the root namespace.
///
/// # Errors
/// A circle; a type that is not supported; an error of the middleware.
pub fn start(
    context: &Context,
    table: &Table,
    namespaces: &Namespaces,
) -> Result<BoxFuture<'static, ()>, Box<dyn Error>> {
    table.check(namespaces)?;
    let mut tasks = NodeTasks::new(Node::create(context.clone(), NODE_NAME, "")?);
    let parameters = tasks.declare(RelayParameters::default())?.read();
    let mut demand_node = Node::create(context.clone(), "relay_on_demand", "")?;
    let mut on_demand = OnDemand::default();
    let counts = Arc::new(Counts::default());
    // For each robot the subscriber counts of its command topics.
    let mut listeners: Vec<Vec<Listeners>> = namespaces.robots().map(|_| Vec::new()).collect();
    for topic in &table.topics {
        let (programs, robots) = (namespaces.of_programs(&topic.name), namespaces.all_of_robots(&topic.name));
        let first = robots.first().map_or("", String::as_str);
        let made = with_message_type!(topic.type_name.as_str(), Message => match (topic.to, topic.on_demand) {
            (To::Robots, _) => {
                let listening = topics::to_robots::<Message>(&mut tasks, topic, &programs, &robots, &counts);
                listening.map(|all| listeners.iter_mut().zip(all).for_each(|(robot, one)| robot.push(one)))
            }
            (To::Programs, false) => topics::to_programs::<Message>(&mut tasks, topic, first, &programs, &counts),
            (To::Programs, true) => {
                on_demand.add::<Message>(&mut demand_node, topic, first, &programs, &counts)
            }
        });
        made.ok_or_else(|| format!("{}: type {} cannot be relayed", topic.name, topic.type_name))??;
    }
    let reports = Reports::new(tasks.node())?;
    let timeout = parameters.service_timeout;
    for service in &table.services {
        let name = namespaces.of_programs(&service.name);
        let shown = namespaces.robots().map(str::to_owned);
        let robots = shown.zip(namespaces.all_of_robots(&service.name)).collect();
        let made = with_service_type!(service.type_name.as_str(), Type => {
            services::serve::<Type>(&mut tasks, service, name, robots, timeout, &reports)
        });
        made.ok_or_else(|| format!("{}: type {} cannot be relayed", service.name, service.type_name))??;
    }
    let robots: Vec<String> = namespaces.robots().map(str::to_owned).collect();
    let mut diagnostics = Diagnostics::new(tasks.node(), "relay", &robots.join(", "))?;
    tasks.every(REPORT_PERIOD, move || report(&mut diagnostics, &robots, &listeners, &counts, &reports))?;
    let node = tasks.start()?;
    let (attendant, mut beginning) = on_demand.start(demand_node)?;
    Ok(Box::pin(async move {
        let _attendant = attendant;
        let forward = async {
            while let Some(forwarding) = beginning.recv().await {
                dragoman_time::spawn(forwarding);
            }
            std::future::pending().await
        };
        tokio::select! {
            biased;
            () = node => {}
            () = forward => {}
        }
    }))
}

fn report(
    diagnostics: &mut Diagnostics,
    robots: &[String],
    listeners: &[Vec<Listeners>],
    counts: &Counts,
    reports: &Reports,
) {
    let is_there = |listeners: &&Vec<Listeners>| listeners.iter().any(|count| count() > 0);
    let missing: Vec<&str> = robots
        .iter()
        .zip(listeners)
        .filter(|(_, listeners)| !listeners.is_empty() && !is_there(listeners))
        .map(|(robot, _)| robot.as_str())
        .collect();
    let tally = reports.take();
    let count = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed).to_string();
    let values = [
        ("messages to robots", count(&counts.commands)),
        ("messages to programs", count(&counts.data)),
        ("messages lost", count(&counts.lost)),
        ("requests", tally.requests.to_string()),
        ("requests that all robots answered alike", tally.agreed.to_string()),
        ("missing robots", missing.join(", ")),
    ];
    let (severity, message) = match (tally.trouble, missing.is_empty()) {
        (Some(trouble), _) => (Severity::Warn, trouble),
        (None, false) => (Severity::Warn, format!("no subscribers at {}", missing.join(", "))),
        (None, true) => (Severity::Ok, "relaying".to_owned()),
    };
    diagnostics.publish(severity, &message, &values);
}
