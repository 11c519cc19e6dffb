//! Tests that need a real SocketCAN interface, in one program, so that it can be run on another machine that has one.
//!
//! ```console
//! $ program=$(cargo test -p dragoman_arm --test socketcan --no-run --message-format=json |
//!       sed -n 's/.*"executable":"\([^"]*\/socketcan-[^"]*\)".*/\1/p')
//! $ .ci/can-runner "$program"
//! ```
//!
//! Tests of the program `dragoman` need its path in `DRAGOMAN_PROGRAM`, and in `DRAGOMAN_CAN_FILES` to copy it into the
//! virtual machine.
//!
//! On a machine without an interface, every test prints `SKIPPED`, which is a failure if `DRAGOMAN_REQUIRE_CAN` is set.
//!
//! | file | holds |
//! | --- | --- |
//! | `lost_driver.rs` | drives whose driver is killed or stopped |
//! | `support.rs` | interfaces and programs for tests, or the reason for skipping |
//! | `arm.rs` | an arm: the driver on one socket of a bus, simulated drives on another |
//! | `faults.rs` | every fault at every phase of an arm |
//! | `frames.rs` | frames to and from other programs |
//! | `link.rs` | interfaces that go down, disappear, come back, are overloaded or report errors |
//! | `machine.rs` | `dragoman bridge` with the motor of a DBC file |
//! | `monitor.rs` | `dragoman can monitor` |
//! | `trajectory.rs` | set-points and positions, as candump and the drives report them |
//! | `up.rs` | `dragoman up` |
//! | `whistles.rs` | `dragoman device whistles` |
//! | `recorder.rs` | candump that records a whole test |

#![cfg(target_os = "linux")]

mod arm;
mod faults;
mod frames;
mod link;
mod lost_driver;
#[cfg(feature = "node")]
mod machine;
mod monitor;
mod recorder;
mod support;
mod trajectory;
mod up;
mod whistles;
