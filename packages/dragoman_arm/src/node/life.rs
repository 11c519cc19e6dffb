//! The life cycle of the drives: unconfigured while a drive is missing or a fault is not acknowledged, inactive while
//! they are off, active while they are on, whatever switched them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dragoman_ros::lifecycle::{self, CallbackReturn, Change, Lifecycle, LifecycleState, Managed};
use dragoman_ros::tasks::NodeTasks;

use super::{SharedArm, Switch, switch};
use crate::driver::{Fault, GroupState};

/// Period of updating the life cycle from the drives' state.
const PERIOD: Duration = Duration::from_millis(100);
/// Timeout of the drives in `configure`.
const CONFIGURE_TIMEOUT: Duration = Duration::from_secs(5);

struct ManagedDrives {
    arm: SharedArm,
    /// The state "unconfigured" was requested: the drives alone do not leave it.
    released: Arc<AtomicBool>,
}

/// Offers the life cycle services.
pub(super) fn serve(tasks: &mut NodeTasks, arm: &SharedArm) -> dragoman_ros::Result<()> {
    let released = Arc::new(AtomicBool::new(false));
    let managed = ManagedDrives { arm: Arc::clone(arm), released: Arc::clone(&released) };
    let (lifecycle, server) = lifecycle::manage(tasks.node(), managed)?;
    tasks.spawn(server);
    let arm = Arc::clone(arm);
    tasks.spawn(async move {
        loop {
            dragoman_time::sleep(PERIOD).await;
            follow(&lifecycle, &arm, &released).await;
        }
    });
    Ok(())
}

/// Moves the life cycle one step towards the drives' state.
async fn follow(lifecycle: &Lifecycle, arm: &SharedArm, released: &AtomicBool) {
    let drives = arm.lock().drives.clone();
    let (state, fault) = drives.with(|_, group| (group.state(), group.fault().map(Fault::to_string)));
    let change = match (lifecycle.state(), state) {
        (
            LifecycleState::Inactive | LifecycleState::Active,
            GroupState::Unconfigured | GroupState::Faulted,
        ) => {
            return lifecycle.report_error(fault.unwrap_or_else(|| "a drive is missing".to_owned()));
        }
        (LifecycleState::Unconfigured, GroupState::Disabled | GroupState::Enabling | GroupState::Enabled)
            if !released.load(Ordering::Relaxed) =>
        {
            Change::Configure
        }
        (LifecycleState::Inactive, GroupState::Enabled) => Change::Activate,
        (LifecycleState::Active, GroupState::Disabled) => Change::Deactivate,
        _ => return,
    };
    // Refused while another client changes it: retried at the next turn.
    let _ = lifecycle.change(change).await;
}

impl ManagedDrives {
    async fn switch(&self, to: Switch) -> CallbackReturn {
        match switch(&self.arm, to).await {
            (true, _) => CallbackReturn::Success,
            (false, _) => CallbackReturn::Failure,
        }
    }
}

impl Managed for ManagedDrives {
    async fn configure(&mut self) -> CallbackReturn {
        self.released.store(false, Ordering::Relaxed);
        let drives = self.arm.lock().drives.clone();
        let there = async {
            // Configuring acknowledges a fault.
            while drives.with(|_, group| group.recover()).is_err() {
                dragoman_time::sleep(PERIOD).await;
            }
        };
        match dragoman_time::timeout(CONFIGURE_TIMEOUT, there).await {
            Ok(()) => CallbackReturn::Success,
            Err(_) => CallbackReturn::Failure,
        }
    }

    async fn activate(&mut self) -> CallbackReturn {
        self.switch(Switch::On).await
    }

    async fn deactivate(&mut self) -> CallbackReturn {
        self.switch(Switch::Off).await
    }

    async fn clean_up(&mut self) -> CallbackReturn {
        self.released.store(true, Ordering::Relaxed);
        self.switch(Switch::Off).await
    }

    async fn shut_down(&mut self, _from: LifecycleState) -> CallbackReturn {
        self.switch(Switch::Off).await
    }

    async fn process_error(&mut self) -> CallbackReturn {
        // The driver has stopped the drives, and sets them up again when they respond.
        CallbackReturn::Success
    }
}
