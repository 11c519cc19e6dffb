//! Control at the host: the drives follow currents, which a controller on this computer computes in every cycle.

use std::fmt;
use std::sync::Arc;

/// Input of a controller in a cycle. One value per joint, base of the chain first; rad or m.
#[derive(Debug, Clone, Copy)]
pub struct Feedback<'a> {
    /// Positions now: as reported, and moved on with the velocity since then.
    pub position: &'a [f64],
    /// Measured velocities, from the last two reports.
    pub velocity: &'a [f64],
    /// Where the joints should be, how fast, and with which acceleration.
    pub target: [&'a [f64]; 3],
    /// Time for which the torques hold, s.
    pub period: f64,
}

/// The payload of the arm, as its controller has learned it.
#[derive(Debug, Clone, PartialEq)]
pub struct Payload {
    /// The link in whose frame its centre is.
    pub link: Arc<str>,
    /// kg.
    pub mass: f64,
    /// Centre of mass, m; not known without a mass.
    pub center: [f64; 3],
}

/// What has been learned so far.
type Learned = Box<dyn Fn() -> Payload + Send>;

/// Torques (N m or N) from the feedback, into the second argument.
type Compute = Box<dyn FnMut(&Feedback<'_>, &mut [f64]) + Send>;

/// Computes torques from feedback in every cycle, and may learn the payload.
pub struct Controller {
    compute: Compute,
    learned: Option<Learned>,
    velocity: Vec<f64>,
    acceleration: Vec<f64>,
    torques: Vec<f64>,
}

impl fmt::Debug for Controller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Controller").field("torques", &self.torques).finish_non_exhaustive()
    }
}

impl Controller {
    /// `compute` puts torques into its second argument; torques that are not numbers count as 0.
    pub fn new(compute: impl FnMut(&Feedback<'_>, &mut [f64]) + Send + 'static) -> Self {
        Self {
            compute: Box::new(compute),
            learned: None,
            velocity: Vec::new(),
            acceleration: Vec::new(),
            torques: Vec::new(),
        }
    }

    /// A controller that learns what the arm carries.
    #[must_use]
    pub fn learning(self, learned: impl Fn() -> Payload + Send + 'static) -> Self {
        Self { learned: Some(Box::new(learned)), ..self }
    }

    /// What it has learned; `None` if it does not learn.
    pub(super) fn payload(&self) -> Option<Payload> {
        self.learned.as_ref().map(|learned| learned())
    }

    /// The set-points have come to rest, or were moved.
    pub(super) fn rest(&mut self) {
        self.velocity.fill(0.0);
    }

    /// The torques of a cycle. `set` are positions and velocities of the set-points.
    pub(super) fn torques(
        &mut self,
        position: &[f64],
        velocity: &[f64],
        set: [&[f64]; 2],
        period: f64,
    ) -> &[f64] {
        for list in [&mut self.velocity, &mut self.acceleration, &mut self.torques] {
            list.resize(position.len(), 0.0);
        }
        let rows = self.acceleration.iter_mut().zip(&mut self.velocity).zip(set[1]);
        for ((acceleration, before), now) in rows {
            *acceleration = (now - *before) / period;
            *before = *now;
        }
        self.torques.fill(0.0);
        let target = [set[0], set[1], self.acceleration.as_slice()];
        (self.compute)(&Feedback { position, velocity, target, period }, &mut self.torques);
        self.torques.iter_mut().filter(|torque| !torque.is_finite()).for_each(|torque| *torque = 0.0);
        &self.torques
    }
}
