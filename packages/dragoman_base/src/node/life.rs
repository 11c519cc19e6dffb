//! The life cycle of a base: unconfigured while it is not heard, inactive while its motors are off, active while they are on,
//! whoever has switched them. Cleaning up closes the line for others to have it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dragoman_ros::lifecycle::{self, CallbackReturn, Change, Lifecycle, Managed, State};
use dragoman_ros::tasks::NodeTasks;

use crate::base::Base;
use crate::line::Line;

/// How often the life cycle is brought up to the base's state.
const PERIOD: Duration = Duration::from_millis(100);
/// How long `configure` waits for the base.
const PATIENCE: Duration = Duration::from_secs(5);

/// Serves the life cycle.
pub(super) fn serve<B: Base>(tasks: &mut NodeTasks, line: &Line<B>) -> dragoman_ros::Result<()> {
    let following = Arc::new(AtomicBool::new(false));
    let managed = ManagedBase { line: line.clone(), following: Arc::clone(&following) };
    let (lifecycle, server) = lifecycle::manage(tasks.node(), managed)?;
    tasks.spawn(server);
    let line = line.clone();
    tasks.spawn(async move {
        loop {
            tokio::time::sleep(PERIOD).await;
            follow(&lifecycle, &line, &following).await;
        }
    });
    Ok(())
}

/// Brings the life cycle a step nearer to the base's state.
async fn follow<B: Base>(lifecycle: &Lifecycle, line: &Line<B>, following: &AtomicBool) {
    let motion = line.look(|driver| driver.motion());
    let change = match (lifecycle.state(), motion.alive, motion.motor_power) {
        (State::Inactive | State::Active, false, _) => {
            let reason = line.failure().or_else(|| motion.standstill.map(|reason| reason.to_string()));
            return lifecycle.report_error(reason.unwrap_or_default());
        }
        (State::Unconfigured, true, _) => Change::Configure,
        (State::Inactive, true, true) => Change::Activate,
        (State::Active, true, false) => Change::Deactivate,
        _ => return,
    };
    following.store(true, Ordering::Relaxed);
    // Refused where somebody else is changing it: looked at again at the next turn.
    let _ = lifecycle.change(change).await;
    following.store(false, Ordering::Relaxed);
}

struct ManagedBase<B> {
    line: Line<B>,
    /// The life cycle follows the base, and not the base the life cycle.
    following: Arc<AtomicBool>,
}

impl<B: Base> ManagedBase<B> {
    fn switch_motors(&self, on: bool) -> CallbackReturn {
        let switched = if self.following.load(Ordering::Relaxed) {
            self.line.look(|driver| driver.motion().motor_power) == on
        } else {
            self.line.with(|_, driver| driver.set_motor_power(on)).is_ok()
        };
        if switched { CallbackReturn::Success } else { CallbackReturn::Failure }
    }
}

impl<B: Base> Managed for ManagedBase<B> {
    async fn configure(&mut self) -> CallbackReturn {
        if !self.following.load(Ordering::Relaxed) {
            self.line.open();
        }
        let alive = async {
            while !self.line.look(|driver| driver.motion().alive) {
                tokio::time::sleep(PERIOD).await;
            }
        };
        match tokio::time::timeout(PATIENCE, alive).await {
            Ok(()) => CallbackReturn::Success,
            Err(_) => CallbackReturn::Failure,
        }
    }

    async fn activate(&mut self) -> CallbackReturn {
        self.switch_motors(true)
    }

    async fn deactivate(&mut self) -> CallbackReturn {
        self.switch_motors(false)
    }

    async fn clean_up(&mut self) -> CallbackReturn {
        self.line.close().await;
        CallbackReturn::Success
    }

    async fn shut_down(&mut self, _from: State) -> CallbackReturn {
        self.clean_up().await
    }

    async fn process_error(&mut self) -> CallbackReturn {
        // The driver has stopped the base, and is there again as soon as the base is.
        CallbackReturn::Success
    }
}
