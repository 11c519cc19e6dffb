//! r2r's context; r2r panics on arguments that rcl refuses.

use std::panic::{catch_unwind, set_hook, take_hook};
use std::sync::Arc;

use parking_lot::Mutex;

use super::spin::Threads;
use crate::{Error, Result};

/// The connection to ROS, one per process. Clones share it.
#[derive(Clone, Debug)]
pub struct Context {
    pub(super) inner: r2r::Context,
    pub(crate) threads: Arc<Threads>,
}

impl Context {
    /// Joins the domain of the environment, with the arguments of the command line.
    ///
    /// # Errors
    /// An error of rcl, with its reason.
    pub fn create() -> Result<Self> {
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let _guard = ONE_AT_A_TIME.lock();
        // r2r panics with rcl's reason; convert it to one error.
        let hook = take_hook();
        set_hook(Box::new(|_| {}));
        let created = catch_unwind(r2r::Context::create);
        set_hook(hook);
        let inner = created.unwrap_or_else(|panic| {
            let reason = panic.downcast::<String>().map_or_else(|_| "unknown".to_owned(), |text| *text);
            Err(Error::ParameterValueConv { name: "--ros-args".to_owned(), msg: reason })
        })?;
        Ok(Self { inner, threads: Arc::default() })
    }

    /// The domain, where rcl finds it: in the environment.
    pub fn domain_id(&self) -> u16 {
        let variable = dragoman_time::variable("ROS_DOMAIN_ID");
        variable.and_then(|text| text.trim().parse().ok()).unwrap_or_default()
    }

    /// Whether the context is valid.
    pub fn is_valid(&self) -> bool {
        self.inner.is_valid()
    }
}
