//! Where the joints should be: set-points, commanded rates, and the trajectory in progress.

use std::time::Duration;

use super::super::axis::Axis;
use super::super::config::{AxisConfig, GroupConfig};
use super::super::execution::{End, Execution, History};
use super::super::reference::Reference;
use super::super::trajectory::{Tolerances, Trajectory};

#[derive(Debug)]
pub(super) struct Setpoints {
    pub(super) reference: Reference,
    /// The last commanded velocities or currents, and their time.
    pub(super) rates: Vec<f64>,
    rates_at: Duration,
    /// The last set-points.
    pub(super) history: History,
    pub(super) execution: Option<Execution>,
    /// Number of trajectories.
    executions: u64,
}

impl Setpoints {
    pub(super) fn new(now: Duration, config: &GroupConfig, home: &[f64]) -> Self {
        let limits = |of: fn(&AxisConfig) -> f64| config.axes.iter().map(of).collect();
        Self {
            reference: Reference::new(
                home,
                limits(|axis| axis.max_velocity),
                limits(|axis| axis.max_deceleration),
            ),
            rates: vec![0.0; home.len()],
            rates_at: now,
            history: History::new(home.len(), usize::from(config.lead_rows()) + 2),
            execution: None,
            executions: 0,
        }
    }

    /// The cycle of enabled drives that was due at `due`. `relaxed` are the positions of relaxed joints: a suppressed
    /// joint follows its set-point.
    pub(super) fn advance(
        &mut self,
        now: Duration,
        due: Duration,
        config: &GroupConfig,
        relaxed: impl Iterator<Item = (usize, f64)>,
    ) {
        self.reference.advance(due, config.cycle().as_secs_f64());
        relaxed.for_each(|(joint, position)| self.reference.place(joint, position));
        self.history.push(self.reference.planned());
        if now.saturating_sub(self.rates_at) > config.command_loss {
            self.rates.fill(0.0);
        }
    }

    /// The joints are here, and stay.
    pub(super) fn rest_at(&mut self, position: &[f64]) {
        self.reference.rest_at(position);
        self.history.reset(position);
    }

    pub(super) fn set_rates(&mut self, now: Duration, rates: &[f64]) {
        self.rates.copy_from_slice(rates);
        self.rates_at = now;
    }

    /// Starts a trajectory; returns its number.
    pub(super) fn follow_trajectory(&mut self, trajectory: Trajectory, tolerances: Tolerances) -> u64 {
        self.executions += 1;
        self.reference.follow_trajectory(trajectory);
        self.execution = Some(Execution::new(self.executions, tolerances));
        self.executions
    }

    /// How the trajectory in progress has ended; `None`: it goes on, or there is none.
    pub(super) fn check(&self, config: &GroupConfig, axes: &[Axis]) -> Option<End> {
        let (execution, (elapsed, duration)) = (self.execution.as_ref()?, self.reference.progress()?);
        let lead = config.lead_rows();
        let cycle = config.cycle().as_secs_f64();
        let delay = cycle * f64::from(lead);
        let late = elapsed - duration - delay;
        let goal = self.reference.goal();
        let errors = axes.iter().enumerate().map(|(joint, axis)| {
            let ago = axis.delay(lead);
            let planned = self.history.ago(joint, ago);
            let (position, velocity) = match goal.get(joint) {
                Some(goal) if late >= 0.0 => (*goal, 0.0),
                _ => (planned, (planned - self.history.ago(joint, ago + 1)) / cycle),
            };
            (position - axis.position(), velocity - axis.velocity())
        });
        execution.check(late, errors)
    }

    /// Ends the trajectory in progress; returns its number.
    pub(super) fn end_trajectory(&mut self, end: &End) -> Option<u64> {
        let Execution { id, .. } = self.execution.take()?;
        if *end == End::Reached {
            self.reference.end_trajectory();
        }
        Some(id)
    }
}
