//! Answers that are late. Without a number that the answer repeats, a late answer looks like that to the next question of its
//! kind.
//!
//! So a question whose answer could be confused with one that is missing waits once more for the time of an answer, or until
//! the late one is there. Stops and commands of topics do not wait: their answer is not used, and a stop whose answer
//! was taken for a late one is sent again. An answer that is later than twice the time of an answer is not recognized.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Conversation, Kind, Queued};

/// Answers that may still come, by the kinds of answers: until when, and how many.
#[derive(Debug, Default)]
pub(super) struct Late(BTreeMap<usize, (Duration, u32)>);

impl Late {
    fn expect(&mut self, kind: usize, until: Duration, count: u32) {
        let (last, missing) = self.0.entry(kind).or_insert((until, 0));
        *last = until.max(*last);
        *missing = missing.saturating_add(count);
    }

    fn is_expected(&self, kind: usize) -> bool {
        self.0.contains_key(&kind)
    }

    /// Takes one of those that are missing; whether there is one.
    fn take(&mut self, kind: usize) -> bool {
        let Some((_, missing)) = self.0.get_mut(&kind) else { return false };
        *missing = missing.saturating_sub(1);
        if *missing == 0 {
            self.0.remove(&kind);
        }
        true
    }

    pub(super) fn advance(&mut self, now: Duration) {
        self.0.retain(|_, (until, _)| now < *until);
    }

    pub(super) fn deadline(&self) -> Option<Duration> {
        self.0.values().map(|(until, _)| *until).min()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

impl Conversation {
    /// Whether a question must wait for an answer that is late.
    pub(super) fn waits_for_late(&self, queued: &Queued) -> bool {
        queued.prepared.has_answer
            && !matches!(queued.kind, Kind::Stop | Kind::Topic(_))
            && self.answer_kind(queued).is_some_and(|kind| self.late.is_expected(kind))
    }

    /// The kind of a question's answers, if no number distinguishes them.
    fn answer_kind(&self, queued: &Queued) -> Option<usize> {
        let question = self.plan.questions.get(queued.prepared.message.number)?;
        let is_numbered = question.is_numbered && queued.prepared.sequence.is_some();
        (!is_numbered).then_some(question.kind)
    }

    /// A question was not answered in time: so many answers may still come.
    pub(super) fn expect_late(&mut self, now: Duration, queued: &Queued, count: u32) {
        if let Some(kind) = self.answer_kind(queued) {
            self.late.expect(kind, now + self.timings.answer, count);
        }
    }

    /// Whether what could answer the question at this place of the open ones, or the question with this number if none is open,
    /// is a late answer to an earlier one.
    pub(super) fn is_late(&mut self, open: Option<usize>, number: usize) -> bool {
        let Some(open) = open.and_then(|at| self.open.get(at)) else {
            if let Some(question) = self.plan.questions.get(number) {
                self.late.take(question.kind);
            }
            return false;
        };
        let (tries, deadline, is_stop) = (open.queued.tries, open.deadline, open.queued.is_stop());
        let Some(kind) = self.answer_kind(&open.queued) else { return false };
        if tries > 0 && !is_stop {
            // It was asked several times: each answer is one to it. The others are late for what comes next.
            self.late.expect(kind, deadline, tries);
            return false;
        }
        self.late.take(kind)
    }
}
