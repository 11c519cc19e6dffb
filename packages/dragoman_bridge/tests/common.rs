//! A simulation in the test's own thread: the nodes and sockets of a test are in it. Nothing happens until [`block_on`], or
//! what is built on it, runs them.

use std::cell::RefCell;
use std::rc::{Rc, Weak};
use std::time::Duration;

use dragoman_time::{Simulation, SimulationGuard};

/// The simulation of this test. It ends with its last owner.
pub(crate) struct Simulated {
    // Fields are dropped in this order.
    _guard: SimulationGuard,
    simulation: Simulation,
}

thread_local! {
    static PRESENT: RefCell<Weak<Simulated>> = const { RefCell::new(Weak::new()) };
}

impl Simulated {
    /// The simulation of this test; a new one if there is none.
    pub(crate) fn present() -> Rc<Self> {
        if let Some(present) = PRESENT.with_borrow(Weak::upgrade) {
            return present;
        }
        let simulation = Simulation::new(1);
        let made = Rc::new(Self { _guard: simulation.guard(), simulation });
        PRESENT.set(Rc::downgrade(&made));
        made
    }
}

/// Runs all nodes until `future` is ready.
#[track_caller]
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    PRESENT.with_borrow(Weak::upgrade).expect("a simulation").simulation.block_on(future)
}

/// Runs all nodes for `time`.
#[track_caller]
pub(crate) fn sleep(time: Duration) {
    block_on(async { dragoman_time::sleep(time).await });
}
