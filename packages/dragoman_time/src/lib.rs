//! Time, tasks and chance of all nodes, from one place.
//!
//! A program runs in real time: on tokio's clock, tokio's tasks and the random numbers of the system. A [`Simulation`]
//! runs the same code on virtual time in one thread: time jumps to the next timer when no task is ready, and the same
//! seed gives the same history. No node needs to know which of the two it runs in.
//!
//! ```
//! use std::time::Duration;
//! let simulation = dragoman_time::Simulation::new(7);
//! let hour = Duration::from_secs(3600);
//! simulation.block_on(async { dragoman_time::sleep(hour).await }); // returns at once
//! assert_eq!(simulation.elapsed(), hour);
//! ```
//!
//! | file | holds |
//! | --- | --- |
//! | `clock` | [`now`], [`since`], [`wall_time`], [`is_virtual`] |
//! | `sleep` | [`sleep()`], [`sleep_until`], [`timeout`], [`Interval`] |
//! | `task` | [`spawn`], [`Task`], [`Tasks`] |
//! | `thread` | [`spawn_thread`], [`spawn_server`]: tasks with a thread of their own in real time |
//! | [`watch`] | a value whose changes can be awaited |
//! | `work` | [`off_thread`], [`yield_after`]: long computations; the table of what they cost in virtual time |
//! | `chance` | [`random`], [`random_bytes`] |
//! | `surroundings` | arguments, environment, standard output, [`own`]: what belongs to a lab |
//! | `held` | [`Held`]: what bounded things hold |
//! | `history` | [`note`], [`Fingerprint`]: whether two histories are the same |
//! | `simulation` | [`Simulation`] |
//! | `program` | [`Program`]: one of several programs in a simulation |
//! | `watchdog` | ends the process if a task of a simulation does not yield |
//! | `executor` | the executor of a simulation, and of threads with a task of their own |

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod chance;
mod clock;
mod executor;
mod held;
mod history;
mod program;
mod simulation;
mod sleep;
mod surroundings;
mod task;
mod thread;
pub mod watch;
mod watchdog;
mod work;

pub use chance::{random, random_bytes, random_unit};
pub use clock::{is_virtual, now, since, wall_time};
pub use held::{Figures, Held};
pub use history::{Event, Fingerprint, note};
pub use program::{Program, Run};
pub use simulation::{Simulation, SimulationGuard};
pub use sleep::{
    Elapsed, Interval, MissedTicks, Sleep, interval, precise_sleep, precise_sleep_until, sleep, sleep_until,
    timeout, timeout_at,
};
pub use surroundings::{
    LAB_FOLDER, Surroundings, arguments, on_disk, outside, own, print, process_id, shared, temporary_folder,
    thread_name, variable, variable_os,
};
pub use task::{AbortHandle, Task, TaskError, Tasks, can_spawn, spawn, yield_now};
pub use thread::{Thread, spawn_server, spawn_thread};
pub use work::{Work, WorkClock, off_thread, yield_after};
