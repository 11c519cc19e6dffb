//! The table of features that programs on rcl do not have, which decides which tests of processes run there.

use crate::common::implementation::EMBEDDED_ONLY;

#[test]
fn what_only_one_implementation_does_is_documented() {
    let page = include_str!("../../../../docs/middleware.md");
    for (what, reason) in EMBEDDED_ONLY {
        let row = format!("| {what} | {reason} |");
        assert!(page.lines().any(|line| line == row), "{row}");
    }
}
