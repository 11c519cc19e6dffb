//! The charge of the platform's battery, from its topic: PlatformCtrl's protocol has only the voltage.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dragoman_ros::sensor_msgs::msg::BatteryState;
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{QosProfile, Result};
use parking_lot::Mutex;

/// Name of the topic, in the platform's namespace.
const TOPIC: &str = "battery_state";
/// A charge that was not published again for this time is unknown. Batteries are published about once a second.
const CHARGE_TIME: Duration = Duration::from_secs(10);

/// The charge as it was published last. Clones share it.
#[derive(Clone)]
struct Charge(Arc<Mutex<Option<(Instant, f64)>>>);

impl Charge {
    fn set(&self, now: Instant, message: &BatteryState) {
        // NaN: the charge was not measured.
        let charge = f64::from(message.percentage);
        *self.0.lock() = charge.is_finite().then(|| (now, charge.clamp(0.0, 1.0)));
    }

    fn at(&self, now: Instant) -> Option<f64> {
        let last = *self.0.lock();
        last.filter(|(when, _)| now.saturating_duration_since(*when) < CHARGE_TIME).map(|(_, charge)| charge)
    }
}

/// Subscribes to the battery.
pub(super) struct Battery {
    charge: Charge,
    /// Since when it has been unknown; `None`: it is known, or the user has been informed.
    unknown_since: Option<Instant>,
    is_known: bool,
}

impl Battery {
    /// # Errors
    /// An error of the middleware.
    pub(super) fn subscribe(tasks: &mut NodeTasks) -> Result<Self> {
        let charge = Charge(Arc::default());
        let received = charge.clone();
        tasks.subscribe(TOPIC, QosProfile::default().keep_last(1), move |message: BatteryState| {
            received.set(dragoman_time::now(), &message);
        })?;
        Ok(Self { charge, unknown_since: Some(dragoman_time::now()), is_known: false })
    }

    /// The charge, 0 to 1; `None`: unknown.
    pub(super) fn charge(&self) -> Option<f64> {
        self.charge.at(dragoman_time::now())
    }

    /// A message for the user when the charge becomes or stays unknown: a wait for it would not end.
    pub(super) fn notice(&mut self) -> Option<String> {
        self.notice_at(dragoman_time::now())
    }

    fn notice_at(&mut self, now: Instant) -> Option<String> {
        if self.charge.at(now).is_some() {
            (self.is_known, self.unknown_since) = (true, None);
            return None;
        }
        if std::mem::take(&mut self.is_known) {
            return Some(format!("{TOPIC} has stopped, or has no percentage: the charge is unknown"));
        }
        self.unknown_since
            .take_if(|since| now.saturating_duration_since(*since) >= CHARGE_TIME)
            .map(|_| format!("{TOPIC} with a percentage is not published: the charge is unknown"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(percentage: f32) -> BatteryState {
        BatteryState { percentage, ..BatteryState::default() }
    }

    #[test]
    fn a_charge_is_known_while_it_is_published() {
        let charge = Charge(Arc::default());
        let now = Instant::now();
        assert_eq!(charge.at(now), None);
        charge.set(now, &state(0.5));
        assert_eq!(charge.at(now + CHARGE_TIME / 2), Some(0.5));
        assert_eq!(charge.at(now + CHARGE_TIME), None);
        charge.set(now, &state(f32::NAN));
        assert_eq!(charge.at(now), None);
        charge.set(now, &state(7.0));
        assert_eq!(charge.at(now), Some(1.0));
    }

    #[test]
    fn an_unknown_charge_is_reported_once() {
        let now = Instant::now();
        let charge = Charge(Arc::default());
        let mut battery = Battery { charge: charge.clone(), unknown_since: Some(now), is_known: false };
        assert_eq!(battery.notice_at(now), None);
        let notice = battery.notice_at(now + CHARGE_TIME);
        assert_eq!(
            notice.as_deref(),
            Some("battery_state with a percentage is not published: the charge is unknown")
        );
        assert_eq!(battery.notice_at(now + 2 * CHARGE_TIME), None);
        let later = now + 3 * CHARGE_TIME;
        charge.set(later, &state(0.5));
        assert_eq!(battery.notice_at(later), None);
        let notice = battery.notice_at(later + CHARGE_TIME);
        assert_eq!(
            notice.as_deref(),
            Some("battery_state has stopped, or has no percentage: the charge is unknown")
        );
        assert_eq!(battery.notice_at(later + 2 * CHARGE_TIME), None);
    }
}
