//! Work that takes longer than a cycle of the motion.

use futures::channel::oneshot;

/// Runs `work` on a thread of its own. `work` can ask whether the answer is still wanted: the node may have ended.
///
/// # Errors
/// There is no thread, or `work` has panicked.
pub(super) async fn on_thread<T: Send + 'static>(
    name: &str,
    work: impl FnOnce(&dyn Fn() -> bool) -> T + Send + 'static,
) -> Result<T, String> {
    let (send, answer) = oneshot::channel();
    let run = move || {
        let done = work(&|| !send.is_canceled());
        // The asking task may be gone.
        let _ = send.send(done);
    };
    std::thread::Builder::new().name(name.into()).spawn(run).map_err(|error| error.to_string())?;
    answer.await.map_err(|_| format!("{name} has failed"))
}
