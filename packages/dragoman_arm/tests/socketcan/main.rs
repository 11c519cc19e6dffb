//! What needs a real SocketCAN interface, in one program, so that it can be taken to where there is one.
//!
//! ```console
//! $ program=$(cargo test -p dragoman_arm --test socketcan --no-run --message-format=json |
//!       sed -n 's/.*"executable":"\([^"]*\/socketcan-[^"]*\)".*/\1/p')
//! $ .ci/can-runner "$program"
//! ```
//!
//! Tests of the program `dragoman` need its path in `DRAGOMAN_PROGRAM`, and in `DRAGOMAN_CAN_FILES` so that it is taken
//! into the virtual machine.
//!
//! On a machine without one, every test says `SKIPPED`, which is a failure where `DRAGOMAN_REQUIRE_CAN` is set.
//!
//! | file | holds |
//! | --- | --- |
//! | `orphans.rs` | drives whose driver is killed or stopped |
//! | `support.rs` | interfaces and programs for tests, or the reason why there are none |
//! | `arm.rs` | an arm: the driver on one place of a bus, simulated drives on another |
//! | `faults.rs` | every fault at every phase of an arm |
//! | `frames.rs` | frames to and from others |
//! | `link.rs` | interfaces that go down, disappear, come back, are overloaded or report errors |
//! | `monitor.rs` | `dragoman can monitor` |
//! | `trajectory.rs` | what comes out at the drives, as candump and the drives tell |
//! | `up.rs` | `dragoman up` |
//! | `whistles.rs` | `dragoman device whistles` |
//! | `witness.rs` | candump that sees all of a test |

#![cfg(target_os = "linux")]

mod arm;
mod faults;
mod frames;
mod link;
mod monitor;
mod orphans;
mod support;
mod trajectory;
mod up;
mod whistles;
mod witness;
