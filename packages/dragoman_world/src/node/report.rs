//! `/diagnostics` of the worlds.

use dragoman_ros::diagnostics::{Diagnostics, Severity};
use dragoman_ros::{Node, Result};

use super::Live;

/// Returns a function that publishes the state at each call.
pub(super) fn report(node: &mut Node, live: &Live) -> Result<impl FnMut() + Send + 'static> {
    let mut diagnostics = Diagnostics::new(node, "World", "simulated")?;
    let live = live.clone();
    Ok(move || {
        let (values, refusal) = live.with(|state| {
            let (time, worlds) = (state.pace.time(), state.pace.worlds());
            let updates: u64 = worlds.worlds().iter().map(|world| world.updates()).sum();
            let objects: usize = worlds.worlds().iter().map(|world| world.objects().len()).sum();
            let values = [
                ("worlds", worlds.worlds().len().to_string()),
                ("objects", objects.to_string()),
                ("time, s", format!("{:.1}", time.as_secs_f64())),
                ("requests", state.requests.to_string()),
                ("requests refused", state.refused.to_string()),
                ("updates", updates.to_string()),
            ];
            (values, state.refusal.take())
        });
        match refusal {
            None => diagnostics.publish(Severity::Ok, "simulating", &values),
            Some(refusal) => diagnostics.publish(Severity::Warn, &format!("refused: {refusal}"), &values),
        }
    })
}
