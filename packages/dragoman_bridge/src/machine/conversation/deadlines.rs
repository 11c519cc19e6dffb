//! What becomes due: answers that do not come, commands that are not renewed, periodic messages, silence.

use std::sync::Arc;
use std::time::Duration;

use super::{Conversation, Event, Kind, LinkState, Queued};

impl Conversation {
    /// Advances the time.
    pub fn handle_timeout(&mut self, now: Duration) {
        self.late.advance(now);
        while let Some(at) = self.open.iter().position(|open| now >= open.deadline) {
            if let Some(open) = self.open.remove(at) {
                self.not_answered(now, open.queued);
            }
        }
        if self.moving.values().any(|until| now >= *until) {
            self.statistics.expired += 1;
            let _ = self.stop();
            self.event(Event::Expired);
        }
        if self.link == LinkState::Up {
            self.queue_periodic(now);
            if !self.is_silent && now >= self.heard + self.timings.silence {
                self.is_silent = true;
                // The rest of an incomplete frame does not come any more.
                self.cutter.reset();
                if !self.moving.is_empty() {
                    let _ = self.stop();
                }
                self.event(Event::Silent);
                self.change_state_silent(now);
            }
        }
        if let Some((to, after)) = self.later_state()
            && now >= self.entered + after
        {
            self.enter(now, to);
        }
    }

    fn queue_periodic(&mut self, now: Duration) {
        let plan = Arc::clone(&self.plan);
        for (number, every) in plan.every.iter().enumerate() {
            let Some(due) = self.due.get_mut(number).and_then(Option::as_mut).filter(|due| now >= **due)
            else {
                continue;
            };
            *due += every.period;
            if *due <= now {
                // It was late by more than a period.
                *due = now + every.period;
            }
            let kind = Kind::Every(number);
            let is_open = self.open.iter().any(|open| open.queued.kind == kind);
            if !is_open && !self.queue.iter().any(|queued| queued.kind == kind) {
                self.send_own(kind, &every.outgoing, every.state);
            }
        }
    }

    fn later_state(&self) -> Option<(usize, Duration)> {
        let state = self.plan.states.get(self.state).filter(|_| self.link == LinkState::Up)?;
        let all = state.next.iter().filter_map(|change| change.after.map(|after| (change.to, after)));
        all.min_by_key(|(_, after)| *after)
    }

    fn not_answered(&mut self, now: Duration, queued: Queued) {
        if queued.is_stop() {
            if queued.tries < self.timings.retries && self.moving.is_empty() {
                self.statistics.repeated += 1;
                self.expect_late(now, &queued, 1);
                self.urgent.push_back(Queued { tries: queued.tries + 1, ..queued });
                return;
            }
        } else if queued.prepared.is_repeatable
            && queued.tries < self.timings.retries
            && !queued.moves
            && !self.queue.iter().any(|newer| newer.kind == queued.kind)
        {
            // What moves is not sent again: it may have been stopped meanwhile.
            self.statistics.repeated += 1;
            self.queue.push_front(Queued { tries: queued.tries + 1, ..queued });
            return;
        }
        let copies = if queued.is_stop() { 1 } else { queued.tries.saturating_add(1) };
        self.expect_late(now, &queued, copies);
        self.statistics.unanswered += 1;
        let name = self.plan.name_of(queued.prepared.message);
        match queued.kind {
            Kind::Call(ticket) | Kind::Cancel(ticket) => {
                let reason = format!("no answer to {name} within {} s", self.timings.answer.as_secs_f64());
                self.event(Event::Failed(ticket, reason));
            }
            Kind::Start => {
                self.event(Event::NotAnswered(name));
                // The start begins again: a machine that was off does not know of it.
                if let LinkState::Starting(_) = self.link {
                    self.link = LinkState::Starting(0);
                    self.continue_start(now);
                }
            }
            _ => self.event(Event::NotAnswered(name)),
        }
    }

    /// When [`handle_timeout`](Self::handle_timeout) must be called at the latest.
    pub fn poll_timeout(&self) -> Option<Duration> {
        let open = self.open.iter().map(|open| open.deadline);
        let due = self.due.iter().copied().flatten();
        let silence =
            (self.link == LinkState::Up && !self.is_silent).then(|| self.heard + self.timings.silence);
        let later = self.later_state().map(|(_, after)| self.entered + after);
        let pace = self.next_queued().and(self.last_sent).map(|last| last + self.timings.pace);
        let all =
            open.chain(due).chain(self.moving.values().copied()).chain(silence).chain(later).chain(pace);
        all.chain(self.gap_end).chain(self.late.deadline()).min()
    }
}
