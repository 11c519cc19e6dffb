//! The state of the lab as JSON, `/api/lab`: what the supervisor, `/diagnostics` and the system say.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use dragoman_ros::diagnostic_msgs::msg::{DiagnosticArray, DiagnosticStatus};
use dragoman_ros::diagnostics::Severity;
use dragoman_ros::introspection::Graph;
use dragoman_ros::supervision::Supervisor;
use parking_lot::{Mutex, MutexGuard};
use serde_json::{Map, Value, json};

use super::hub::Hub;

/// Maximum number of subjects of `/diagnostics` that are kept, and their bytes.
const MAX_SUBJECTS: usize = 1000;
const MAX_BYTES: usize = 16 << 20;
/// Maximum number of values of a subject.
const MAX_VALUES: usize = 1000;
/// Age after which a subject is stale.
const STALE_AFTER: Duration = Duration::from_secs(5);

/// The constant part of the state.
pub(crate) struct Lab {
    supervisor: Option<Supervisor>,
    domain: u16,
    started: Instant,
    diagnostics: Mutex<Known>,
    load: Mutex<Load>,
}

/// What `/diagnostics` has said, by subject.
#[derive(Default)]
struct Known {
    subjects: BTreeMap<String, Subject>,
    bytes: usize,
}

struct Subject {
    status: DiagnosticStatus,
    received: Instant,
    bytes: usize,
}

impl Known {
    /// Takes a state. If there is no room for it, stale ones are removed; otherwise it is dropped.
    fn take(&mut self, status: DiagnosticStatus) {
        let bytes = bytes_of(&status);
        self.remove(&status.name);
        if !self.has_room(bytes) {
            let stale = |one: &Subject| dragoman_time::since(one.received) > STALE_AFTER;
            self.subjects.retain(|_, one| !stale(one));
            self.bytes = self.subjects.values().map(|one| one.bytes).sum();
        }
        if self.has_room(bytes) {
            self.bytes += bytes;
            let received = dragoman_time::now();
            self.subjects.insert(status.name.clone(), Subject { status, received, bytes });
        }
    }

    fn remove(&mut self, name: &str) {
        self.bytes -= self.subjects.remove(name).map_or(0, |one| one.bytes);
    }

    fn has_room(&self, bytes: usize) -> bool {
        self.subjects.len() < MAX_SUBJECTS && self.bytes + bytes <= MAX_BYTES
    }
}

/// Approximate memory of a state, bytes.
fn bytes_of(status: &DiagnosticStatus) -> usize {
    let texts = [&status.name, &status.name, &status.message, &status.hardware_id];
    let values = status.values.iter().map(|pair| size_of_val(pair) + pair.key.len() + pair.value.len());
    size_of::<Subject>() + texts.map(String::len).iter().sum::<usize>() + values.sum::<usize>()
}

/// Anyone can publish a state.
fn make_plain(status: &mut DiagnosticStatus) {
    let own = [&mut status.name, &mut status.message, &mut status.hardware_id];
    status.values.truncate(MAX_VALUES);
    status.values.shrink_to_fit();
    let values = status.values.iter_mut().flat_map(|pair| [&mut pair.key, &mut pair.value]);
    for text in own.into_iter().chain(values) {
        if let Cow::Owned(plain) = dragoman_text::line(text) {
            *text = plain;
        }
    }
}

/// The processor time of this process at two times.
struct Load {
    looked: Instant,
    used: Duration,
    share: f64,
}

impl Lab {
    pub(crate) fn new(supervisor: Option<Supervisor>, domain: u16) -> Self {
        let load = Load { looked: dragoman_time::now(), used: processor_time(), share: 0.0 };
        Self {
            supervisor,
            domain,
            started: dragoman_time::now(),
            diagnostics: Mutex::default(),
            load: Mutex::new(load),
        }
    }

    /// Takes a message of `/diagnostics`.
    pub(crate) fn take(&self, message: DiagnosticArray) {
        let mut known = self.diagnostics.lock();
        for mut status in message.status {
            make_plain(&mut status);
            known.take(status);
        }
    }

    /// All as JSON.
    pub(crate) fn json(&self, hub: &Hub, graph: &Graph) -> Value {
        let (severity, message, parts) = match &self.supervisor {
            Some(supervisor) => supervisor.report(),
            None => (Severity::Ok, String::new(), Vec::new()),
        };
        let parts: Vec<Value> =
            parts.into_iter().map(|(name, state)| json!({ "name": name, "state": state })).collect();
        let all = hub.all_clients();
        let commands: Vec<Value> = all.iter().flat_map(|client| client.commands.list(client)).collect();
        let clients: Vec<Value> = all
            .iter()
            .map(|client| {
                json!({
                    "id": client.id,
                    "address": client.address.to_string(),
                    "seconds": dragoman_time::since(client.since).as_secs_f64(),
                    "lost_messages": client.lost(),
                })
            })
            .collect();
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "distribution": dragoman_time::variable("ROS_DISTRO"),
            "domain": self.domain,
            "seconds": dragoman_time::since(self.started).as_secs_f64(),
            "level": severity as u8,
            "message": message,
            "parts": parts,
            "nodes": graph.nodes,
            "topics": graph.publishers.len(),
            "services": graph.services.len(),
            "diagnostics": self.diagnostics(),
            "drivers": hub.driving.list(),
            "commands": commands,
            "clients": clients,
            "received": hub.topics.received(),
            "load": self.load(),
            "memory_bytes": memory(),
            "allocated_bytes": dragoman_memory::allocated(),
        })
    }

    fn diagnostics(&self) -> Vec<Value> {
        let known = self.diagnostics.lock();
        let subject = |Subject { status, received, .. }: &Subject| {
            let values =
                status.values.iter().map(|value| (value.key.clone(), Value::from(value.value.clone())));
            let is_stale = dragoman_time::since(*received) > STALE_AFTER;
            json!({
                "name": status.name,
                "level": if is_stale { Severity::Stale as u8 } else { status.level },
                "message": status.message,
                "hardware_id": status.hardware_id,
                "values": values.collect::<Map<_, _>>(),
                "age": dragoman_time::since(*received).as_secs_f64(),
            })
        };
        known.subjects.values().map(subject).collect()
    }

    /// Processors in use by this process, measured over at least half a second.
    fn load(&self) -> f64 {
        let mut load: MutexGuard<'_, Load> = self.load.lock();
        let elapsed = dragoman_time::since(load.looked);
        if elapsed >= Duration::from_millis(500) {
            let used = processor_time();
            load.share = used.saturating_sub(load.used).as_secs_f64() / elapsed.as_secs_f64();
            (load.looked, load.used) = (dragoman_time::now(), used);
        }
        load.share
    }
}

#[cfg(unix)]
fn processor_time() -> Duration {
    let time = |time: nix::sys::time::TimeVal| {
        use nix::sys::time::TimeValLike;
        Duration::from_micros(u64::try_from(time.num_microseconds()).unwrap_or_default())
    };
    nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_SELF)
        .map_or(Duration::ZERO, |usage| time(usage.user_time()) + time(usage.system_time()))
}

#[cfg(not(unix))]
fn processor_time() -> Duration {
    Duration::ZERO
}

/// Resident memory in bytes; `None` if the system does not report it.
fn memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib << 10)
}
