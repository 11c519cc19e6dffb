//! The life cycle of a device on a serial line: unconfigured while it does not respond, inactive while its motors are
//! off, active while they are on, whatever switched them. Cleaning up closes the line for other programs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dragoman_ros::lifecycle::{self, CallbackReturn, Change, Lifecycle, LifecycleState, Managed};
use dragoman_ros::tasks::NodeTasks;

use super::{Line, SerialDriver};

/// Period of updating the life cycle from the device's state.
const PERIOD: Duration = Duration::from_millis(100);
/// Timeout of the device in `configure`.
const CONFIGURE_TIMEOUT: Duration = Duration::from_secs(5);

/// Offers the life cycle services.
///
/// # Errors
/// An error of the middleware.
pub fn serve<B: SerialDriver>(tasks: &mut NodeTasks, line: &Line<B>) -> dragoman_ros::Result<()> {
    let following = Arc::new(AtomicBool::new(false));
    let managed = ManagedLine { line: line.clone(), following: Arc::clone(&following) };
    let (lifecycle, server) = lifecycle::manage(tasks.node(), managed)?;
    tasks.spawn(server);
    let line = line.clone();
    tasks.spawn(async move {
        loop {
            dragoman_time::sleep(PERIOD).await;
            follow(&lifecycle, &line, &following).await;
        }
    });
    Ok(())
}

/// Moves the life cycle one step towards the device's state.
async fn follow<B: SerialDriver>(lifecycle: &Lifecycle, line: &Line<B>, following: &AtomicBool) {
    if line.is_closed() {
        return;
    }
    let (is_alive, has_power) = line.look(|driver| (driver.is_alive(), driver.has_power()));
    let change = match (lifecycle.state(), is_alive, has_power) {
        (LifecycleState::Inactive | LifecycleState::Active, false, _) => {
            let reason = line.failure().or_else(|| line.look(|driver| driver.trouble()));
            return lifecycle.report_error(reason.unwrap_or_default());
        }
        (LifecycleState::Unconfigured, true, _) => Change::Configure,
        (LifecycleState::Inactive, true, true) => Change::Activate,
        (LifecycleState::Active, true, false) => Change::Deactivate,
        _ => return,
    };
    following.store(true, Ordering::Relaxed);
    // Refused while another client changes it: retried at the next turn.
    let _ = lifecycle.change(change).await;
    following.store(false, Ordering::Relaxed);
}

struct ManagedLine<B> {
    line: Line<B>,
    /// The life cycle follows the device, and not the device the life cycle.
    following: Arc<AtomicBool>,
}

impl<B: SerialDriver> ManagedLine<B> {
    fn switch_motors(&self, on: bool) -> CallbackReturn {
        let switched = if self.following.load(Ordering::Relaxed) {
            self.line.look(|driver| driver.has_power()) == on
        } else {
            self.line.with(|now, driver| driver.set_power(now, on))
        };
        if switched { CallbackReturn::Success } else { CallbackReturn::Failure }
    }
}

impl<B: SerialDriver> Managed for ManagedLine<B> {
    async fn configure(&mut self) -> CallbackReturn {
        if !self.following.load(Ordering::Relaxed) {
            self.line.open();
        }
        let alive = async {
            while !self.line.look(|driver| driver.is_alive()) {
                dragoman_time::sleep(PERIOD).await;
            }
        };
        match dragoman_time::timeout(CONFIGURE_TIMEOUT, alive).await {
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

    async fn shut_down(&mut self, _from: LifecycleState) -> CallbackReturn {
        self.clean_up().await
    }

    async fn process_error(&mut self) -> CallbackReturn {
        // The driver has stopped the device, and reconnects when the device responds.
        CallbackReturn::Success
    }
}
