//! Figures of a running lab: which resources attackers take and whether they are released, how long good clients wait
//! meanwhile, and what a lab costs. Attackers are processes of this program, each on one core.
//!
//! `cargo bench --workspace --bench figures` prints tables in Markdown; `-- --help` has the options. [`rows`] has the
//! measurements, [`attackers`] the attackers, [`good`] the clients that wait meanwhile.

#[cfg(target_os = "linux")]
mod attacker;
#[cfg(target_os = "linux")]
mod attackers;
#[cfg(target_os = "linux")]
mod bench;
#[cfg(target_os = "linux")]
mod good;
#[cfg(target_os = "linux")]
mod rows;
#[cfg(target_os = "linux")]
mod table;
#[cfg(target_os = "linux")]
mod watch;

#[cfg(target_os = "linux")]
#[path = "../../tests/common/mod.rs"]
mod common;
#[cfg(target_os = "linux")]
#[path = "../../tests/common/host.rs"]
mod host;
#[cfg(target_os = "linux")]
#[path = "../../tests/attacks/packets.rs"]
mod packets;
#[cfg(target_os = "linux")]
#[path = "../../tests/attacks/peer.rs"]
mod peer;
#[cfg(target_os = "linux")]
#[path = "../../../dragoman_ros/tests/packets/wire.rs"]
mod wire;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    bench::main()
}

/// Processes are watched in `/proc`.
#[cfg(not(target_os = "linux"))]
fn main() {}
