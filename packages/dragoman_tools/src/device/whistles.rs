//! `dragoman device whistles`: the drives of an arm on a CAN bus.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::{Args, ValueEnum};
use dragoman_arm::canopen::NodeId;
use dragoman_io::can::Bus;
use dragoman_ros::outln;
use dragoman_sim::device::Application;
use dragoman_sim::{Cia402Drive, Cia402Settings, Device, Fault, Rack, Whistle, WhistleSettings};

use super::{Result, after};

#[derive(Debug, Args)]
pub struct WhistlesOptions {
    /// CAN interface of the drives, for example vcan0.
    #[arg(long, value_name = "INTERFACE")]
    can: String,
    /// Node numbers, 1 to 127, for example 101-106 or 1,2,5; a number given twice means two devices.
    #[arg(long, value_name = "NODES", default_value = "101-106")]
    nodes: Nodes,
    /// Protocol of the drives.
    #[arg(long, value_enum, default_value_t = DriveProtocol::Whistle)]
    kind: DriveProtocol,
    /// Inject a fault: `[NODE:]FAULT[@SECONDS]`, seconds after the start. Faults: power-cycle, silent, exit-enabled,
    /// ignore-sdo, late=MS, storm=PER_SECOND, sdo-abort=INDEX. May be given several times.
    #[arg(long, value_name = "FAULT")]
    fault: Vec<ScheduledFault>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DriveProtocol {
    /// Elmo SimplIQ with its binary interpreter.
    Whistle,
    /// The profile CiA 402 with cyclic synchronous position.
    Cia402,
}

/// Node numbers in the given order.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Nodes(Vec<NodeId>);

/// A fault, its time, and its node; all nodes if none is named.
#[derive(Debug, Clone, Copy, PartialEq)]
struct ScheduledFault {
    node: Option<NodeId>,
    fault: Fault,
    after: Duration,
}

/// Runs the command until SIGINT or SIGTERM.
///
/// # Errors
/// The interface cannot be opened, or a fault names a missing node.
pub(super) fn run(options: &WhistlesOptions) -> Result<()> {
    if let Some(node) = options.fault.iter().filter_map(|fault| fault.node).find(|node| !options.has(*node)) {
        return Err(format!("--fault: node {} is not among {}", node.raw(), options.nodes).into());
    }
    let bus = open(&options.can)?;
    match options.kind {
        DriveProtocol::Whistle => {
            simulate(options, bus, |node| Whistle::new(node, WhistleSettings::default()))
        }
        DriveProtocol::Cia402 => {
            simulate(options, bus, |node| Cia402Drive::new(node, Cia402Settings::default()))
        }
    }
}

#[cfg(target_os = "linux")]
fn open(interface: &str) -> Result<Box<dyn Bus>> {
    Ok(Box::new(dragoman_io::can::SocketCanBus::open(interface, &[])?))
}

#[cfg(not(target_os = "linux"))]
fn open(_: &str) -> Result<Box<dyn Bus>> {
    Err("CAN interfaces are supported on Linux only".into())
}

fn simulate<A: Application + 'static>(
    options: &WhistlesOptions,
    bus: Box<dyn Bus>,
    drive: impl Fn(NodeId) -> Device<A>,
) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let signal = dragoman_ros::signals::first()?;
        let rack = Rack::new(options.nodes.0.iter().copied().map(drive).collect());
        let stopped = Arc::new(AtomicBool::new(false));
        let mut running = tokio::task::spawn_blocking({
            let (rack, stopped) = (rack.clone(), Arc::clone(&stopped));
            move || rack.run(bus, stopped)
        });
        outln!("{} drives, nodes {}, on {}", options.kind, options.nodes, options.can);
        outln!("ready");
        tokio::select! {
            biased;
            () = signal => {}
            ended = &mut running => return Ok(ended?),
            never = inject(&rack, &options.fault) => match never {},
        }
        outln!("stopping");
        stopped.store(true, Ordering::Relaxed);
        Ok(running.await?)
    })
}

/// Injects the faults at their times.
async fn inject<A: Application>(rack: &Rack<A>, faults: &[ScheduledFault]) -> std::convert::Infallible {
    let mut faults = faults.to_vec();
    faults.sort_by_key(|scheduled| scheduled.after);
    for scheduled in faults {
        dragoman_time::sleep(scheduled.after.saturating_sub(rack.now())).await;
        for drive in rack.drives().iter_mut().filter(|drive| scheduled.hits(drive.node())) {
            outln!("node {}: {:?}", drive.node().raw(), scheduled.fault);
            drive.inject(rack.now(), scheduled.fault);
        }
    }
    std::future::pending().await
}

impl WhistlesOptions {
    fn has(&self, node: NodeId) -> bool {
        self.nodes.0.contains(&node)
    }
}

impl ScheduledFault {
    fn hits(&self, node: NodeId) -> bool {
        self.node.is_none_or(|hit| hit == node)
    }
}

impl fmt::Display for DriveProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Whistle => "Whistle",
            Self::Cia402 => "CiA 402",
        })
    }
}

impl fmt::Display for Nodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.0.iter().map(|node| node.raw().to_string()).collect();
        f.write_str(&numbers.join(", "))
    }
}

impl FromStr for Nodes {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let mut nodes = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (node(first)?, node(last)?);
            if last < first {
                return Err(format!("'{part}' is not in ascending order"));
            }
            nodes.extend((first.raw()..=last.raw()).filter_map(|raw| NodeId::new(raw).ok()));
        }
        Ok(Self(nodes))
    }
}

impl FromStr for ScheduledFault {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let (text, after) = match text.split_once('@') {
            None => (text, Duration::ZERO),
            Some((text, seconds)) => (text, after(seconds)?),
        };
        let (node, fault) = match text.split_once(':') {
            None => (None, text),
            Some((number, fault)) => (Some(node(number)?), fault),
        };
        let fault = fault.parse::<Fault>().map_err(|error| error.to_string())?;
        Ok(Self { node, fault, after })
    }
}

fn node(text: &str) -> std::result::Result<NodeId, String> {
    let node = text.trim().parse().ok().and_then(|raw| NodeId::new(raw).ok());
    node.ok_or_else(|| format!("'{text}' is not a node number, 1 to 127"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_numbers_and_ranges() {
        let nodes = |text: &str| text.parse::<Nodes>().map(|nodes| nodes.to_string());
        assert_eq!(nodes("101-103"), Ok("101, 102, 103".to_owned()));
        assert_eq!(nodes("5,1,5-6"), Ok("5, 1, 5, 6".to_owned()));
        for text in ["", "0", "128", "5-", "6-5", "1,,2", "x"] {
            assert!(nodes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn faults_have_a_node_and_a_time() {
        let fault = |text: &str| text.parse::<ScheduledFault>();
        let everybody = ScheduledFault { node: None, fault: Fault::Silent, after: Duration::ZERO };
        assert_eq!(fault("silent"), Ok(everybody));
        let one = ScheduledFault {
            node: NodeId::new(103).ok(),
            fault: Fault::EmergencyStorm { per_second: 9 },
            after: Duration::from_millis(1500),
        };
        assert_eq!(fault("103:storm=9@1.5"), Ok(one));
        for text in ["", "hot", "0:silent", "silent@-1", "silent@", "x:silent", "silent@1e30"] {
            assert!(fault(text).is_err(), "{text}");
        }
    }
}
