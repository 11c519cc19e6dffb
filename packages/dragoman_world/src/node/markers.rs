//! The worlds as markers for rviz2, sent by a task in a thread of its own: meshes are large, and must not delay
//! requests.

use dragoman_ros::Publisher;
use dragoman_ros::builtin_interfaces::msg::Time;
use dragoman_ros::geometry_msgs::msg::{Point, Vector3};
use dragoman_ros::poses;
use dragoman_ros::std_msgs::msg::ColorRGBA;
use dragoman_ros::visualization_msgs::msg::{Marker, MarkerArray};
use dragoman_time::{Thread, spawn_thread};
use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use futures::{FutureExt, StreamExt};
use nalgebra::{Isometry3, Translation3};

use super::frames::world_frame;
use crate::World;
use crate::{Geometry, Landmark, Shape, Worlds};

/// Namespace of the markers of landmarks.
const LANDMARKS: &str = "landmarks";
/// Displayed diameter of a landmark, m.
const LANDMARK_SIZE: f64 = 0.1;
const LANDMARK_COLOR: [f64; 4] = [0.95, 0.8, 0.1, 1.0];

/// Poses of all markers, in their order, and their time. Nothing else has to be copied from the worlds.
pub(super) struct Places {
    poses: Vec<Isometry3<f64>>,
    stamp: Time,
}

impl Places {
    pub(super) fn of(worlds: &Worlds, stamp: &Time) -> Self {
        Self { poses: worlds.worlds().iter().flat_map(places).collect(), stamp: stamp.clone() }
    }
}

/// Sends the markers; its task ends when it is dropped.
pub(super) struct Board {
    places: Option<UnboundedSender<Places>>,
    thread: Option<Thread>,
}

impl Board {
    /// # Errors
    /// The system cannot create a thread.
    pub(super) fn new(worlds: &Worlds, publisher: Publisher<MarkerArray>) -> std::io::Result<Self> {
        let mut markers = Markers::new(worlds);
        let (places, mut moved) = unbounded();
        let send = async move {
            while let Some(places) = newest(&mut moved).await {
                if let Err(error) = publisher.publish(markers.at(&places)) {
                    tracing::warn!(%error, "publishing markers failed");
                }
            }
        };
        let thread = spawn_thread("markers", send)?;
        Ok(Self { places: Some(places), thread: Some(thread) })
    }

    /// Shows the markers at these poses, as soon as the previous ones have been sent.
    pub(super) fn show(&self, places: Places) {
        if let Some(board) = &self.places {
            // The task lives as long as this.
            let _ = board.unbounded_send(places);
        }
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        self.places.take();
        if let Some(thread) = self.thread.take() {
            thread.join();
        }
    }
}

/// Waits for the next poses, and skips outdated ones; `None` at the end.
async fn newest(moved: &mut UnboundedReceiver<Places>) -> Option<Places> {
    let mut newest = moved.next().await?;
    while let Some(Some(places)) = moved.next().now_or_never() {
        newest = places;
    }
    Some(newest)
}

/// A marker for each shape of each part, in the part's namespace, and one for each landmark. The first message begins
/// with one that deletes all markers of this topic in a viewer. Their appearance does not change.
struct Markers {
    message: MarkerArray,
    is_shown: bool,
}

impl Markers {
    fn new(worlds: &Worlds) -> Self {
        let worlds = worlds.worlds().iter().enumerate();
        let markers = worlds.flat_map(|(at, world)| of_world(world, &world_frame(at, world), at > 0));
        let clear = Marker { action: Marker::DELETEALL as i32, ..Default::default() };
        Self {
            message: MarkerArray { markers: std::iter::once(clear).chain(markers).collect() },
            is_shown: false,
        }
    }

    fn at(&mut self, places: &Places) -> &MarkerArray {
        if self.is_shown && self.message.markers.len() > places.poses.len() {
            self.message.markers.remove(0);
        }
        self.is_shown = true;
        let moving = self.message.markers.iter_mut().rev();
        for (marker, pose) in moving.zip(places.poses.iter().rev()) {
            marker.header.stamp = places.stamp.clone();
            marker.pose = poses::pose(pose);
        }
        &self.message
    }
}

/// In the order of [`of_world`].
fn places(world: &World) -> impl Iterator<Item = Isometry3<f64>> {
    let parts = world.parts().iter();
    let shapes = parts.flat_map(|part| part.shapes.iter().map(|shape| part.pose() * shape.pose));
    shapes.chain(world.landmarks().iter().map(|mark| Translation3::from(mark.position).into()))
}

fn of_world(world: &World, frame: &str, is_further: bool) -> Vec<Marker> {
    let named = |mut marker: Marker, name: &str, id: usize| {
        frame.clone_into(&mut marker.header.frame_id);
        marker.ns = if is_further { format!("{}/{name}", world.name()) } else { name.to_owned() };
        marker.id = i32::try_from(id).unwrap_or(i32::MAX);
        marker
    };
    let mut markers = Vec::new();
    for part in world.parts() {
        let shapes = part.shapes.iter().enumerate();
        markers.extend(shapes.map(|(id, shape)| named(of_shape(shape), &part.name, id)));
    }
    let landmark = |mark: &Landmark| {
        let geometry = Geometry::Sphere { radius: LANDMARK_SIZE / 2.0 };
        let shape = Shape { geometry, pose: Isometry3::identity(), color: LANDMARK_COLOR };
        named(of_shape(&shape), LANDMARKS, usize::from(mark.id))
    };
    markers.extend(world.landmarks().iter().map(landmark));
    markers
}

fn of_shape(shape: &Shape) -> Marker {
    let (type_, [x, y, z]) = match &shape.geometry {
        Geometry::Box { size } => (Marker::CUBE as i32, *size),
        Geometry::Cylinder { radius, length } => {
            (Marker::CYLINDER as i32, [2.0 * radius, 2.0 * radius, *length])
        }
        Geometry::Sphere { radius } => (Marker::SPHERE as i32, [2.0 * radius; 3]),
        Geometry::Mesh { .. } | Geometry::Extrusion { .. } => (Marker::TRIANGLE_LIST as i32, [1.0; 3]),
    };
    let [r, g, b, a] = shape.color.map(|part| part as f32);
    Marker {
        type_,
        action: Marker::ADD as i32,
        scale: Vector3 { x, y, z },
        color: ColorRGBA { r, g, b, a },
        points: shape.geometry.triangles().into_iter().flatten().map(|[x, y, z]| Point { x, y, z }).collect(),
        ..Default::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dragoman_ros::geometry_msgs::msg::Pose;

    const WORLDS: &str = "worlds:
- name: A
  bodies:
  - name: roof
    shapes:
    - {extrusion: {polygon: [[0, 0], [1, 0], [0, 1]], height: 1}, xyz: [0, 0, 5]}
    - {sphere: {radius: 1}}
  landmarks: [{name: m, id: 7, xyz: [1, 2, 3]}]
- name: B
  landmarks: [{name: n, id: 8, xyz: [4, 5, 6]}]
";

    fn worlds() -> Worlds {
        Worlds::from_yaml(WORLDS, &|name| Err(format!("no {name}"))).unwrap()
    }

    fn position(pose: &Pose) -> [f64; 3] {
        [pose.position.x, pose.position.y, pose.position.z]
    }

    #[test]
    fn what_moves_is_shown_there_and_nothing_is_built_again() {
        let mut worlds = worlds();
        let mut markers = Markers::new(&worlds);
        let first = markers.at(&Places::of(&worlds, &Time::default()));
        assert_eq!((first.markers.len(), first.markers[0].action), (5, Marker::DELETEALL as i32));
        let points = first.markers[1].points.as_ptr();
        assert_eq!(
            first.markers[1].points.len(),
            worlds.worlds()[0].parts()[0].shapes[0].geometry.triangles().len() * 3
        );

        worlds.place(None, "roof", [10.0, 0.0, 0.0], [0.0; 3]).unwrap();
        worlds.place(None, "n", [7.0, 8.0, 9.0], [0.0; 3]).unwrap();
        let stamp = Time { sec: 3, nanosec: 4 };
        let second = markers.at(&Places::of(&worlds, &stamp));
        let shown =
            second.markers.iter().map(|marker| (marker.ns.as_str(), marker.id, position(&marker.pose)));
        let expected = [
            ("roof", 0, [10.0, 0.0, 5.0]),
            ("roof", 1, [10.0, 0.0, 0.0]),
            ("landmarks", 7, [1.0, 2.0, 3.0]),
            ("B/landmarks", 8, [7.0, 8.0, 9.0]),
        ];
        assert_eq!(shown.collect::<Vec<_>>(), expected);
        assert!(second.markers.iter().all(|marker| marker.header.stamp == stamp));
        assert_eq!(second.markers[0].points.as_ptr(), points, "points have been built again");
    }

    #[test]
    fn only_the_newest_places_are_shown() {
        let (worlds, (sender, mut receiver)) = (worlds(), unbounded());
        for sec in 1..=3 {
            sender.unbounded_send(Places::of(&worlds, &Time { sec, nanosec: 0 })).unwrap();
        }
        let shown = newest(&mut receiver).now_or_never().unwrap();
        assert_eq!(shown.map(|places| places.stamp.sec), Some(3));
        drop(sender);
        assert!(newest(&mut receiver).now_or_never().unwrap().is_none());
    }
}
