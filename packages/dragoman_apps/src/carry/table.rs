//! Detects a table by its two front legs in the depth image. By odometry alone the gripper misses the cube: it opens 37
//! mm at most, the cube has 30 mm, and a heading error of a tenth of a degree puts the robot 5 mm off after 3 m.

use dragoman_geometry::Pose;

use crate::depth::{CameraMount, DepthImage};

/// Distance between the front legs, and its tolerance, m.
const LEG_DISTANCE: [f64; 2] = [0.5, 0.03];
/// Minimum and maximum visible width of a leg, m.
const LEG_WIDTH: [f64; 2] = [0.02, 0.09];
/// Distance from the visible surface of a leg to its middle, along the view, m.
const LEG_DEPTH: f64 = 0.02;
/// Range of heights with legs but without the table top, m above the floor.
const LEG_HEIGHTS: [f64; 2] = [0.1, 0.38];
/// Maximum difference between adjacent columns of a cluster, m.
const GAP: f64 = 0.05;
/// Minimum distance of the background behind a leg, m.
const ISOLATED: f64 = 0.15;
/// Maximum difference between the two legs' distances, m: the sides of the table are as long as its front.
const SLANT: f64 = 0.15;
/// Maximum deviation from the expected position, m, before and after the first detection.
const SURPRISE: [f64; 2] = [0.4, 0.1];
/// Minimum weight of a new measurement.
const NEWEST: f64 = 0.1;

/// Measured position of a table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Table {
    /// Middle between the front legs, in the frame of the odometry, m.
    pub(super) legs: [f64; 2],
    /// Number of detections.
    pub(super) count: u32,
}

/// Adjacent columns of an image.
#[derive(Debug, Clone, Copy)]
struct Cluster {
    sum_x: f64,
    count: f64,
    /// Tangents of the directions from the camera to the left and the right end.
    ends: [f64; 2],
    /// y of the left and the right end, and x of the last point, in the robot's frame.
    left: f64,
    right: f64,
    last: f64,
}

impl Cluster {
    /// The middle of a leg: behind the middle of its outline. The mean of the points would be biased towards the
    /// visible side.
    fn middle(&self, mount: CameraMount) -> [f64; 2] {
        let depth = self.sum_x / self.count - mount.x;
        let tangent = (self.ends[0] + self.ends[1]) / 2.0;
        [mount.x + depth + LEG_DEPTH, mount.y + (depth + LEG_DEPTH) * tangent]
    }
}

/// The middle between the two front legs nearest to `expected`, within `most`; all in the robot's frame, m.
fn front(image: &DepthImage, mount: CameraMount, expected: [f64; 2], most: f64) -> Option<[f64; 2]> {
    let [lowest, highest] = LEG_HEIGHTS;
    // The nearest point of every column, from the left to the right.
    let columns = image.columns(mount, 1).map(|column| {
        let seen = column.points.into_iter().filter(|[_, _, z]| (lowest..highest).contains(z));
        seen.min_by(|a, b| a[0].total_cmp(&b[0])).map(|[x, y, _]| [x, y])
    });
    let tangent = |x: f64, y: f64| (y - mount.y) / (x - mount.x);
    let mut clusters: Vec<Option<Cluster>> = Vec::new();
    for point in columns {
        match (point, clusters.last_mut()) {
            (Some([x, y]), Some(Some(cluster))) if (x - cluster.last).abs() < GAP => {
                cluster.sum_x += x;
                cluster.count += 1.0;
                (cluster.ends[1], cluster.right, cluster.last) = (tangent(x, y), y, x);
            }
            (Some([x, y]), _) => {
                let ends = [tangent(x, y); 2];
                clusters.push(Some(Cluster { sum_x: x, count: 1.0, ends, left: y, right: y, last: x }));
            }
            (None, Some(None)) => {}
            (None, _) => clusters.push(None),
        }
    }
    // A leg stands in front of its background.
    let is_behind = |other: Option<&Option<Cluster>>, x: f64| match other {
        Some(Some(other)) => other.sum_x / other.count > x + ISOLATED,
        Some(None) => true,
        None => false,
    };
    let legs: Vec<[f64; 2]> = clusters
        .iter()
        .enumerate()
        .filter_map(|(at, cluster)| {
            let cluster = (*cluster)?;
            let x = cluster.sum_x / cluster.count;
            let before = at.checked_sub(1).and_then(|before| clusters.get(before));
            let is_leg = (LEG_WIDTH[0]..LEG_WIDTH[1]).contains(&(cluster.left - cluster.right))
                && is_behind(before, x)
                && is_behind(clusters.get(at + 1), x);
            is_leg.then(|| cluster.middle(mount))
        })
        .collect();
    let pairs = legs
        .iter()
        .enumerate()
        .flat_map(|(at, left)| legs.iter().skip(at + 1).map(move |right| (left, right)));
    let middles = pairs.filter_map(|(left, right)| {
        let distance = (left[0] - right[0]).hypot(left[1] - right[1]);
        let middle = [(left[0] + right[0]) / 2.0, (left[1] + right[1]) / 2.0];
        let is_front = (left[0] - right[0]).abs() < SLANT;
        (is_front && (distance - LEG_DISTANCE[0]).abs() < LEG_DISTANCE[1]).then_some(middle)
    });
    let surprise = |middle: &[f64; 2]| (middle[0] - expected[0]).hypot(middle[1] - expected[1]);
    let found = middles.min_by(|a, b| surprise(a).total_cmp(&surprise(b)))?;
    (surprise(&found) < most).then_some(found)
}

impl Table {
    /// Updates the table with an image taken at `pose`. `expected` is the expected position, in the frame of the
    /// odometry.
    pub(super) fn look(
        known: Option<Self>,
        image: &DepthImage,
        mount: CameraMount,
        pose: Pose,
        expected: [f64; 2],
    ) -> Option<Self> {
        let (sin, cos) = pose.heading.sin_cos();
        let [before, after] = SURPRISE;
        let (expected, most) = known.map_or((expected, before), |known| (known.legs, after));
        let (x, y) = (expected[0] - pose.x, expected[1] - pose.y);
        let Some([ahead, left]) = front(image, mount, [x * cos + y * sin, y * cos - x * sin], most) else {
            return known;
        };
        let seen = [pose.x + ahead * cos - left * sin, pose.y + ahead * sin + left * cos];
        let Some(Self { legs, count }) = known else { return Some(Self { legs: seen, count: 1 }) };
        let share = NEWEST.max(1.0 / f64::from(count + 1));
        let legs = [legs[0] + share * (seen[0] - legs[0]), legs[1] + share * (seen[1] - legs[1])];
        Some(Self { legs, count: count.saturating_add(1) })
    }
}

#[cfg(test)]
mod tests {
    use dragoman_world::DepthImage as Picture;
    use dragoman_world::Worlds;

    use super::*;
    use crate::depth::sampled_rows;

    /// Position of the front legs of the far table in the laboratory.
    const LEGS: [f64; 2] = [3.205, 0.0];

    /// The Kinect's image at this pose.
    fn picture(worlds: &mut Worlds, pose: Pose) -> DepthImage {
        assert!(
            worlds.place_m_robot(None, "turtlebot2_widowx", [pose.x, pose.y, 0.0], pose.heading).unwrap()
        );
        let mut picture = Picture::default();
        worlds.view(None, "Kinect").unwrap().depth(&mut picture);
        let (width, height) = (picture.width(), picture.height());
        let row = |row| (row, picture.depths()[row * width..][..width].to_vec());
        DepthImage { width, height, rows: sampled_rows(height).map(row).collect() }
    }

    #[test]
    fn the_legs_are_found_from_every_viewpoint() {
        let mut worlds = Worlds::scene("laboratory").unwrap().unwrap();
        for (x, y, heading) in [(0.0, 0.0, 0.0), (1.5, 0.2, -0.1), (2.2, -0.15, 0.2), (2.6, 0.02, -0.03)] {
            let pose = Pose::new(x, y, heading);
            let mut table = None;
            for _ in 0..30 {
                let image = picture(&mut worlds, pose);
                table = Table::look(table, &image, CameraMount::KINECT, pose, [3.3, 0.1]);
            }
            let Some(Table { legs, count }) = table else { panic!("not seen from {pose:?}") };
            let off = [legs[0] - LEGS[0], legs[1] - LEGS[1]];
            println!("{pose:?}: off by {off:.4?} m, seen {count} times");
            // Errors across the view matter more than along it.
            assert!(off[0].abs() < 0.03 && off[1].abs() < 0.004 && count >= 10, "{pose:?} {off:?} {count}");
        }
    }

    #[test]
    fn no_table_is_found_elsewhere() {
        let mut worlds = Worlds::scene("corridor").unwrap().unwrap();
        for heading in [0.0, 1.0, 2.0, 3.0, -1.0, -2.0] {
            let pose = Pose::new(0.0, 0.0, heading);
            let (sin, cos) = heading.sin_cos();
            let image = picture(&mut worlds, pose);
            let table = Table::look(None, &image, CameraMount::KINECT, pose, [2.0 * cos, 2.0 * sin]);
            assert_eq!(table, None, "{heading}");
        }
    }
}
