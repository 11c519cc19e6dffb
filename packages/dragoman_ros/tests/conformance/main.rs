//! Requirements of our nodes on both implementations of the API: with the embedded one these are ordinary tests. With
//! feature `r2r` and a sourced ROS 2 they are the same tests on rcl; with `r2r-doc-only` they are type-checked against
//! r2r without ROS. r2r's documentation build has few packages, so only interfaces of those are used here.
//!
//! | file | content |
//! | --- | --- |
//! | `api` | every call of r2r's API that our nodes make |
//! | `topics`, `services`, `actions` | delivery and order |
//! | `names` | names and parameters from the command line |
//! | `time` | clocks, timers, simulated time |
//! | `lifecycle` | life cycles as used by other nodes |
//! | `refusals` | values that make r2r panic |
//! | `velocity` | velocities with and without a header |
//!
//! rcl has one context per process. All tests share it, each with its own namespace.

#![allow(clippy::unnecessary_cast)] // r2r's constants are `u32`.

mod actions;
mod api;
mod health;
mod lifecycle;
mod names;
#[cfg(feature = "r2r")]
mod refusals;
mod services;
mod time;
mod topics;
mod velocity;

use std::process::Command;
use std::thread::JoinHandle;
use std::time::Duration;

use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{Context, Node};
use futures::channel::oneshot;
use futures::executor::block_on;
use futures::future::{Either, pending, select};
use futures::{Stream, StreamExt};

const TIMEOUT: Duration = Duration::from_secs(30);

/// The result of `future`, with a timeout.
fn within<T>(time: Duration, future: impl Future<Output = T>) -> Option<T> {
    match block_on(select(Box::pin(future), futures_timer::Delay::new(time))) {
        Either::Left((value, _)) => Some(value),
        Either::Right(_) => None,
    }
}

#[track_caller]
fn soon<T>(future: impl Future<Output = T>) -> T {
    within(TIMEOUT, future).unwrap_or_else(|| panic!("nothing happens for {TIMEOUT:?}"))
}

#[track_caller]
fn first<T>(stream: &mut (impl Stream<Item = T> + Unpin)) -> T {
    soon(stream.next()).expect("the stream goes on")
}

/// A node in the namespace of a test, unique to this process.
fn node(name: &str, test: &str) -> Node {
    Node::create(Context::create().unwrap(), name, &namespace(test)).unwrap()
}

fn namespace(test: &str) -> String {
    format!("/run{}/{test}", std::process::id())
}

/// A running node; ends when dropped.
struct Working {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

fn run(mut tasks: NodeTasks) -> Working {
    // Without tasks it would end at once.
    tasks.spawn(pending());
    let running = tasks.start().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let thread = std::thread::spawn(move || {
        block_on(select(running, stopped));
    });
    Working { stop: Some(stop), thread: Some(thread) }
}

impl Drop for Working {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Runs `test` alone in a process started with `arguments`; returns whether this is that process.
#[track_caller]
fn started_with(test: &str, arguments: &[&str]) -> bool {
    const MARK: &str = "DRAGOMAN_TEST_STARTED";
    if std::env::var_os(MARK).is_some() {
        return true;
    }
    // The test runner would take the arguments for names of further tests.
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--", "--ros-args"]).args(arguments).env(MARK, "1");
    assert!(command.status().unwrap().success(), "{test} with {arguments:?}");
    false
}
