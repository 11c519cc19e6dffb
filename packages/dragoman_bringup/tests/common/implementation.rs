//! Features that programs on rcl (`DRAGOMAN_TEST_PROGRAM`) do not have: the only list, queried by tests.
//!
//! `docs/middleware.md` ("On r2r") has the same table; `processes/implementation.rs` compares the two.

use super::peers::{lab_middleware, report};

/// Features of the embedded implementation only, with the reason. [`embedded_does`] takes the first of each pair.
pub const EMBEDDED_ONLY: &[(&str, &str)] = &[
    ("several types on a topic", "rcl's middlewares refuse a second type of a topic within a process"),
    ("both mappings of services", "a server on rcl answers clients of its own middleware's mapping only"),
    (
        "memory back after joins and leaves",
        "Fast DDS keeps what it knew of some 800 participants that have left",
    ),
    (
        "messages of another distribution",
        "a program on rcl has the messages of the ROS that it was built with",
    ),
    ("plain Fast DDS 2.9", "Debian's Fast DDS 2.9 gets nothing from Jazzy's 2.14; the cause is not known"),
    ("security is refused", "rcl honours ROS's security settings itself"),
    (
        "services and actions of the console's clients",
        "r2r has neither servers nor actions of types known at run time",
    ),
    (
        "a list of services",
        "r2r does not list services, and keeps the handle for rcl's own call private; Foxglove shows none",
    ),
    (
        "the end of an embedded subscription",
        "rcl's count of subscribers does not fall when one of the embedded layer ends; the cause is not known",
    ),
    ("types of own packages", "r2r has the types that it was built with"),
];

/// Whether the lab under test supports `what`, a row of [`EMBEDDED_ONLY`]. If not, prints that the test skips
/// something.
#[track_caller]
pub fn embedded_does(what: &str) -> bool {
    let Some((_, reason)) = EMBEDDED_ONLY.iter().find(|(name, _)| *name == what) else {
        panic!("{what} is not in the table");
    };
    let on_rcl = lab_middleware().is_some();
    if on_rcl {
        report(&format!("SKIPPED on rcl: {what}: {reason}"));
    }
    !on_rcl
}
