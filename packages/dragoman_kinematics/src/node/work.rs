//! Work that takes longer than a cycle of the motion.

use std::sync::Arc;

use dragoman_time::{Work, WorkClock, off_thread};

/// Runs `work` beside the node's task. It gets the clock for its time limits, and can check whether the answer is still
/// needed: the node may have ended.
///
/// # Errors
/// There is no thread, or `work` has panicked.
pub(super) async fn beside<T: Send + 'static>(
    kind: Work,
    name: &str,
    work: impl FnOnce(&WorkClock, &dyn Fn() -> bool) -> T + Send + 'static,
) -> Result<T, String> {
    let asking = Arc::new(());
    let asked = Arc::downgrade(&asking);
    let answer = off_thread(kind, move |clock| work(clock, &|| asked.strong_count() > 0)).await;
    drop(asking);
    answer.map_err(|_| format!("{name} has failed"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use dragoman_time::Simulation;

    use super::*;

    #[test]
    fn on_virtual_time_a_limit_depends_on_iterations() {
        let limit = Duration::from_millis(100);
        let asked = |seed| {
            let simulation = Simulation::new(seed);
            let count = simulation.block_on(beside(Work::MOTION, "planning", move |clock, is_wanted| {
                let mut count = 0;
                while clock.elapsed() < limit && is_wanted() {
                    clock.step();
                    count += 1;
                }
                count
            }));
            (count.unwrap(), simulation.elapsed())
        };
        let (count, took) = asked(1);
        assert!(count > 100 && took >= limit && took < 2 * limit, "{count} {took:?}");
        assert_eq!(asked(2), (count, took));
    }

    #[test]
    fn work_that_panics_has_failed() {
        let simulation = Simulation::new(1);
        let failed =
            simulation.block_on(beside(Work::MOTION, "planning", |_, _| -> u32 { panic!("a fault") }));
        assert_eq!(failed, Err("planning has failed".to_owned()));
    }
}
