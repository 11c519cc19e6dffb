//! The life cycle of a base: unconfigured while it is not heard, inactive while its motors are off, active while they are on,
//! whoever has switched them. Cleaning up closes the line for others to have it.

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
    let (lifecycle, server) = lifecycle::manage(tasks.node(), ManagedBase { line: line.clone() })?;
    tasks.spawn(server);
    let line = line.clone();
    tasks.spawn(async move {
        loop {
            tokio::time::sleep(PERIOD).await;
            follow(&lifecycle, &line).await;
        }
    });
    Ok(())
}

/// Brings the life cycle a step nearer to the base's state.
async fn follow<B: Base>(lifecycle: &Lifecycle, line: &Line<B>) {
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
    // Refused where somebody else is changing it: looked at again at the next turn.
    let _ = lifecycle.change(change).await;
}

struct ManagedBase<B> {
    line: Line<B>,
}

impl<B: Base> ManagedBase<B> {
    fn switch_motors(&self, on: bool) -> CallbackReturn {
        match self.line.with(|_, driver| driver.set_motor_power(on)) {
            Ok(()) => CallbackReturn::Success,
            Err(_) => CallbackReturn::Failure,
        }
    }
}

impl<B: Base> Managed for ManagedBase<B> {
    async fn configure(&mut self) -> CallbackReturn {
        self.line.set_wanted(true);
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
        let stopped = self.switch_motors(false);
        self.line.set_wanted(false);
        stopped
    }

    async fn shut_down(&mut self, _from: State) -> CallbackReturn {
        self.clean_up().await
    }

    async fn process_error(&mut self) -> CallbackReturn {
        // The driver has stopped the base, and is there again as soon as the base is.
        CallbackReturn::Success
    }
}
