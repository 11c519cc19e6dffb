//! Poses of the shapes that have moved, for web pages that show the worlds.

use dragoman_ros::builtin_interfaces::msg::Time;
use dragoman_ros::dragoman_msgs::msg::ScenePoses;
use dragoman_ros::poses::Placement;
use dragoman_ros::{Publisher, Result};
use nalgebra::{Isometry3, Translation3};

use super::listened;
use crate::Worlds;

/// Messages per second.
const RATE: f64 = 10.0;
/// Messages from one with all poses to the next.
const ALL_EVERY: u32 = 10;

/// Publishes the poses while their topic has subscribers.
pub(super) struct Moved {
    publisher: Publisher<ScenePoses>,
    /// Calls for one message, and since the last one.
    calls: (u32, u32),
    /// Messages since the last one with all poses.
    sent: u32,
    /// Revisions of the worlds that were sent last.
    revisions: Vec<u64>,
}

impl Moved {
    /// For `rate` calls of [`Moved::message`] per second.
    pub(super) fn new(publisher: Publisher<ScenePoses>, rate: f64) -> Self {
        let calls = (rate / RATE).round().max(1.0) as u32;
        Self { publisher, calls: (calls, 0), sent: 0, revisions: Vec::new() }
    }

    /// What is to be sent now.
    pub(super) fn message(&mut self, worlds: &Worlds, stamp: &Time) -> Option<ScenePoses> {
        if !listened(&self.publisher) {
            self.revisions.clear();
            return None;
        }
        self.calls.1 += 1;
        if !self.revisions.is_empty() && self.calls.1 < self.calls.0 {
            return None;
        }
        self.calls.1 = 0;
        self.sent += 1;
        let all = self.revisions.is_empty() || self.sent >= ALL_EVERY;
        let since = std::mem::replace(
            &mut self.revisions,
            worlds.worlds().iter().map(|world| world.revision()).collect(),
        );
        let mut message = moved(worlds, (!all).then_some(&since[..]));
        if all {
            self.sent = 0;
        } else if message.index.is_empty() {
            return None;
        }
        message.header.stamp = stamp.clone();
        Some(message)
    }

    pub(super) fn send(&self, message: &ScenePoses) -> Result<()> {
        self.publisher.publish(message)
    }
}

/// The poses in the order of the markers: those of parts that have moved since these revisions, or all.
fn moved(worlds: &Worlds, since: Option<&[u64]>) -> ScenePoses {
    let mut message = ScenePoses::default();
    let mut at = 0;
    let mut next = |pose: Option<Isometry3<f64>>| {
        if let Some(pose) = pose {
            let (position, rotation) = pose.parts();
            message.index.push(at);
            message.poses.extend(position.into_iter().chain(rotation).map(|value| value as f32));
        }
        at += 1;
    };
    for (world_at, world) in worlds.worlds().iter().enumerate() {
        let since = since.and_then(|since| since.get(world_at));
        for part in world.parts() {
            let has_moved = since.is_none_or(|&since| part.revision() > since);
            for shape in &part.shapes {
                next(has_moved.then(|| part.pose() * shape.pose));
            }
        }
        for mark in world.landmarks() {
            next(since.is_none().then(|| Translation3::from(mark.position).into()));
        }
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORLDS: &str = "worlds:
- name: A
  bodies:
  - name: roof
    shapes: [{sphere: {radius: 1}, xyz: [0, 0, 5]}, {sphere: {radius: 1}}]
  - {name: floor, shapes: [{box: [1, 1, 1]}]}
  landmarks: [{name: m, id: 7, xyz: [1, 2, 3]}]
- name: B
  bodies: [{name: crate, shapes: [{box: [1, 1, 1]}]}]
";

    #[test]
    fn only_what_has_moved_is_sent_in_the_order_of_the_markers() {
        let mut worlds = Worlds::from_yaml(WORLDS, &|name| Err(format!("no {name}"))).unwrap();
        let all = moved(&worlds, None);
        assert_eq!((all.index, all.poses.len()), (vec![0, 1, 2, 3, 4], 5 * 7));
        assert_eq!(all.poses[3 * 7..4 * 7], [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0]);

        let revisions =
            |worlds: &Worlds| -> Vec<u64> { worlds.worlds().iter().map(|world| world.revision()).collect() };
        let before = revisions(&worlds);
        assert!(moved(&worlds, Some(&before)).index.is_empty());
        worlds.place(None, "roof", [10.0, 0.0, 0.0], [0.0; 3]).unwrap();
        let roof = moved(&worlds, Some(&before));
        assert_eq!(roof.index, [0, 1]);
        assert_eq!(roof.poses[..3], [10.0, 0.0, 5.0]);
        assert!(moved(&worlds, Some(&revisions(&worlds))).index.is_empty());
    }
}
