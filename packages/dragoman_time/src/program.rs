//! Programs on virtual time: each has surroundings of its own, as a process has.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use parking_lot::Mutex;

use crate::executor::current;
use crate::surroundings::Surroundings;

pub(crate) type Values = Mutex<BTreeMap<TypeId, Arc<dyn Any + Send + Sync>>>;

/// A program in a [`Simulation`](crate::Simulation), with its surroundings and its values of [`own`](crate::own). Tasks
/// belong to the program that has spawned them. Clones are the same program.
#[derive(Clone)]
pub struct Program(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) surroundings: Surroundings,
    pub(crate) own: Values,
    pub(crate) output: Mutex<String>,
}

impl Program {
    /// A program that does nothing yet.
    pub fn new(surroundings: Surroundings) -> Self {
        Self(Arc::new(Inner { surroundings, own: Mutex::default(), output: Mutex::default() }))
    }

    /// Calls `act` as if in a task of this program.
    ///
    /// # Panics
    /// Outside a simulation: see [`Simulation::enter`](crate::Simulation::enter).
    #[expect(clippy::panic, reason = "documented")]
    pub fn enter<R>(&self, act: impl FnOnce() -> R) -> R {
        let Some(executor) = current() else { panic!("a program exists in a simulation only") };
        let _entered = executor.enter_program(Some(self.clone()));
        act()
    }

    /// `future` as a part of this program.
    pub fn run<F: Future>(&self, future: F) -> Run<F> {
        Run { program: self.clone(), future: Some(Box::pin(future)) }
    }

    /// What was printed on standard output since the last call.
    pub fn take_output(&self) -> String {
        std::mem::take(&mut *self.0.output.lock())
    }
}

impl std::fmt::Debug for Program {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Program").field(&self.0.surroundings).finish()
    }
}

/// A part of a program. See [`Program::run`].
pub struct Run<F> {
    program: Program,
    future: Option<Pin<Box<F>>>,
}

impl<F: Future> Future for Run<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<F::Output> {
        let program = self.program.clone();
        let Some(future) = &mut self.future else { return Poll::Pending };
        program.enter(|| future.as_mut().poll(task))
    }
}

/// Its end belongs to the program as well.
impl<F> Drop for Run<F> {
    fn drop(&mut self) {
        let future = self.future.take();
        if current().is_some() {
            self.program.enter(|| drop(future));
        }
    }
}

impl<F> std::fmt::Debug for Run<F> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Run").field("program", &self.program).finish_non_exhaustive()
    }
}
