//! `--fault`: makes parts fail on purpose, for tests.

use std::pin::Pin;
use std::str::FromStr;
use std::task::{Context, Poll};
use std::time::Duration;

use dragoman_time::Sleep;
use futures::FutureExt;
use futures::future::BoxFuture;

/// One fault to inject into a part.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    part: String,
    kind: FaultKind,
    is_used: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FaultKind {
    panics: bool,
    after: Duration,
}

impl Fault {
    /// Whether it is for the part of this name, and still unused.
    pub(crate) fn takes(&self, part: &str) -> bool {
        self.part == part && !self.is_used
    }

    /// Marks it as used.
    pub(crate) fn kind(&mut self) -> FaultKind {
        self.is_used = true;
        self.kind
    }
}

/// `PART=panic@SECONDS` or `PART=end@SECONDS`.
impl FromStr for Fault {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = || {
            let (part, rest) = text.split_once('=')?;
            let (kind, seconds) = rest.split_once('@')?;
            let panics = match kind {
                "panic" => true,
                "end" => false,
                _ => return None,
            };
            let after = Duration::try_from_secs_f64(seconds.parse().ok()?).ok()?;
            Some(Self { part: part.to_owned(), kind: FaultKind { panics, after }, is_used: false })
        };
        parsed().ok_or_else(|| format!("'{text}' is not PART=panic@SECONDS or PART=end@SECONDS"))
    }
}

/// A part that may fail on purpose.
pub(crate) struct Failing {
    part: BoxFuture<'static, ()>,
    fault: Option<(bool, Sleep)>,
}

impl Failing {
    pub(crate) fn new(part: BoxFuture<'static, ()>, fault: Option<FaultKind>) -> Self {
        let fault = fault.map(|kind| (kind.panics, dragoman_time::sleep(kind.after)));
        Self { part, fault }
    }
}

impl Future for Failing {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<()> {
        if let Some((panics, time)) = &mut self.fault
            && time.poll_unpin(task).is_ready()
        {
            assert!(!*panics, "a fault on purpose");
            return Poll::Ready(());
        }
        self.part.poll_unpin(task)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_read() {
        let fault: Fault = "/ranger/arm=panic@2.5".parse().unwrap();
        assert!(fault.takes("/ranger/arm") && !fault.takes("/ranger"));
        assert_eq!(fault.kind, FaultKind { panics: true, after: Duration::from_millis(2500) });
        for bad in ["", "/ranger", "/ranger=panic", "/ranger=stop@1", "/ranger=end@-1", "/ranger=end@x"] {
            assert!(bad.parse::<Fault>().unwrap_err().contains(bad));
        }
    }
}
