//! The scans of lasers, while they have subscribers.

use std::time::Duration;

use dragoman_ros::builtin_interfaces::msg::Time;
use dragoman_ros::sensor_msgs::msg::LaserScan;
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{QosProfile, Result};

use super::rhythm::Rhythm;
use super::sensors::{Sensor, SensorKind};
use super::{Live, Stamps, listened};
use crate::LaserFigures;

/// Publishes the scans; at `rate`, Hz, by default.
///
/// Reliable, although a lost scan should not be repeated: a reliable subscription, the default, does not match a
/// best-effort publisher; a best-effort subscription matches both.
pub(super) fn serve(
    tasks: &mut NodeTasks,
    live: &Live,
    stamps: &Stamps,
    sensors: &[Sensor],
    rate: f64,
    rhythm: &mut Rhythm,
) -> Result<()> {
    for sensor in sensors {
        let SensorKind::Laser(figures) = sensor.kind else { continue };
        let publisher = tasks.node().create_publisher(&sensor.topic, QosProfile::default().keep_last(5))?;
        let (live, stamps, sensor) = (live.clone(), stamps.clone(), sensor.clone());
        let rate = sensor.rate.unwrap_or(rate);
        rhythm.every(tasks, Duration::from_secs_f64(1.0 / rate), move || {
            if !listened(&publisher) {
                return;
            }
            let measured = live.with(|state| {
                let stamp = stamps.now(&state.pace);
                let ranges = state.pace.worlds().laser_data(Some(&sensor.world), &sensor.name)?;
                Ok::<_, crate::WorldError>((stamp, ranges))
            });
            let sent = match measured {
                Ok((stamp, ranges)) => {
                    publisher.publish(&scan(&figures, &ranges, stamp, &sensor.frame, 1.0 / rate))
                }
                Err(error) => return tracing::warn!(%error, "reading a laser failed"),
            };
            if let Err(error) = sent {
                tracing::warn!(%error, "publishing a scan failed");
            }
        })?;
    }
    Ok(())
}

/// Beams that hit nothing are infinite (REP 117). All beams have the same time.
fn scan(figures: &LaserFigures, ranges: &[f64], stamp: Time, frame: &str, period: f64) -> LaserScan {
    let last_angle = figures.first_angle + ranges.len().saturating_sub(1) as f64 * figures.angle_step;
    let single = |range: &f64| if *range >= figures.max_range { f32::INFINITY } else { *range as f32 };
    let mut scan = LaserScan {
        angle_min: figures.first_angle as f32,
        angle_max: last_angle as f32,
        angle_increment: figures.angle_step as f32,
        scan_time: period as f32,
        range_min: figures.min_range as f32,
        range_max: figures.max_range as f32,
        ranges: ranges.iter().map(single).collect(),
        ..Default::default()
    };
    scan.header.stamp = stamp;
    frame.clone_into(&mut scan.header.frame_id);
    scan
}
