//! Triangulation of shapes.

use nalgebra::{Point3, Vector3};

use crate::geometry::Geometry;

/// Maximum distance between the triangles and the round surface that they approximate, m, inside and outside.
const ROUNDNESS: f64 = 2.5e-4;
/// Minimum and maximum number of corners of a circle.
const SEGMENTS: [f64; 2] = [12.0, 256.0];
/// Maximum number of corners of a sphere's equator: the number of triangles is proportional to its square.
const SPHERE_SEGMENTS: f64 = 96.0;

/// The surface of a shape, in the shape's frame, m.
#[derive(Debug)]
pub(crate) struct Surface {
    pub(super) corners: Vec<Point3<f64>>,
    /// Counter-clockwise seen from outside.
    pub(super) triangles: Vec<[u32; 3]>,
    /// A bounding sphere of all corners.
    pub(super) centre: Point3<f64>,
    pub(super) radius: f64,
    /// Whether it is closed; then its inside is never visible.
    pub(super) closed: bool,
}

impl Surface {
    pub(crate) fn new(geometry: &Geometry) -> Self {
        let (corners, triangles) = match geometry {
            Geometry::Box { size } => cuboid(size.map(|length| length / 2.0)),
            Geometry::Cylinder { radius, length } => cylinder(*radius, length / 2.0),
            Geometry::Sphere { radius } => sphere(*radius),
            Geometry::Mesh { mesh, .. } => (mesh.vertices.clone(), mesh.indices.clone()),
            Geometry::Extrusion { .. } => {
                let corners: Vec<[f64; 3]> = geometry.triangles().into_iter().flatten().collect();
                let triangles =
                    (0..corners.len() as u32 / 3).map(|at| [0, 1, 2].map(|corner| 3 * at + corner));
                let triangles = triangles.collect();
                (corners, triangles)
            }
        };
        let closed = !matches!(geometry, Geometry::Mesh { .. }) || is_closed(&corners, &triangles);
        let (mut low, mut high) = (Vector3::repeat(f64::INFINITY), Vector3::repeat(f64::NEG_INFINITY));
        for corner in &corners {
            let corner = Vector3::from(*corner);
            (low, high) = (low.inf(&corner), high.sup(&corner));
        }
        let centre = Point3::from((low + high) / 2.0);
        let corners: Vec<Point3<f64>> = corners.into_iter().map(Point3::from).collect();
        let radius = corners.iter().map(|corner| (corner - centre).norm()).fold(0.0, f64::max);
        Self { corners, triangles, centre, radius, closed }
    }
}

type Triangles = (Vec<[f64; 3]>, Vec<[u32; 3]>);

fn cuboid([x, y, z]: [f64; 3]) -> Triangles {
    let sign = |at: u32, bit: u32| if at & bit == 0 { -1.0 } else { 1.0 };
    let corners = (0..8).map(|at| [x * sign(at, 1), y * sign(at, 2), z * sign(at, 4)]).collect();
    let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    (corners, faces.into_iter().flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]]).collect())
}

/// Number of corners of a circle such that its edges are at most `sagitta` inside it, and the distance of the edges'
/// centres from the middle relative to that of the corners.
fn segments(radius: f64, sagitta: f64, most: f64) -> (u32, f64) {
    let half_step = (1.0 - (sagitta / radius).min(1.0)).acos();
    let count = (std::f64::consts::PI / half_step).ceil().clamp(SEGMENTS[0], most);
    (count as u32, (std::f64::consts::PI / count).cos())
}

fn circle(count: u32) -> impl Iterator<Item = [f64; 2]> {
    let angle = move |at: u32| std::f64::consts::TAU * f64::from(at) / f64::from(count);
    (0..count).map(move |at| angle(at).sin_cos()).map(|(sin, cos)| [cos, sin])
}

fn cylinder(radius: f64, half_length: f64) -> Triangles {
    // The circle is half-way between corners and edges.
    let (count, edge) = segments(radius, 2.0 * ROUNDNESS, SEGMENTS[1]);
    let radius = radius * 2.0 / (1.0 + edge);
    let mut corners: Vec<[f64; 3]> = circle(count)
        .flat_map(|[cos, sin]| [-half_length, half_length].map(|z| [radius * cos, radius * sin, z]))
        .collect();
    corners.extend([[0.0, 0.0, -half_length], [0.0, 0.0, half_length]]);
    let (below, above) = (2 * count, 2 * count + 1);
    let wall = |at: u32| {
        let (low, next) = (2 * at, 2 * ((at + 1) % count));
        [[low, next, next + 1], [low, next + 1, low + 1], [below, next, low], [above, low + 1, next + 1]]
    };
    (corners, (0..count).flat_map(wall).collect())
}

fn sphere(radius: f64) -> Triangles {
    // A face is below the corners by the sagittas of both directions.
    let (count, edge) = segments(radius, ROUNDNESS, SPHERE_SEGMENTS);
    let radius = radius * 2.0 / (1.0 + edge * edge);
    let bands = count / 2;
    let mut corners = Vec::new();
    for band in 1..bands {
        let (across, up) = (std::f64::consts::PI * f64::from(band) / f64::from(bands)).sin_cos();
        corners.extend(circle(count).map(|[cos, sin]| [across * cos, across * sin, up].map(|x| radius * x)));
    }
    let (top, bottom) = (corners.len() as u32, corners.len() as u32 + 1);
    corners.extend([[0.0, 0.0, radius], [0.0, 0.0, -radius]]);
    let mut triangles = Vec::new();
    for at in 0..count {
        let next = (at + 1) % count;
        triangles.push([top, at, next]);
        let last = (bands - 2) * count;
        triangles.push([bottom, last + next, last + at]);
        for band in 0..bands - 2 {
            let (high, low) = (band * count, (band + 1) * count);
            triangles.extend([[high + at, low + at, low + next], [high + at, low + next, high + next]]);
        }
    }
    (corners, triangles)
}

/// Whether every edge is used once in each direction. Corners are compared by their positions: an STL file repeats each
/// corner several times.
fn is_closed(corners: &[[f64; 3]], triangles: &[[u32; 3]]) -> bool {
    // Adding zero converts -0 to +0.
    let place = |at: u32| corners.get(at as usize).copied().unwrap_or_default().map(|x| (x + 0.0).to_bits());
    let mut edges = Vec::with_capacity(3 * triangles.len());
    for &[a, b, c] in triangles {
        let [a, b, c] = [a, b, c].map(place);
        for (from, to) in [(a, b), (b, c), (c, a)] {
            if from != to {
                edges.push((from.min(to), from.max(to), from < to));
            }
        }
    }
    edges.sort_unstable();
    let there = |at: &[([u64; 3], [u64; 3], bool)]| at.iter().filter(|edge| edge.2).count();
    !edges.is_empty()
        && edges.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).all(|same| 2 * there(same) == same.len())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::geometry::Mesh;

    fn shapes() -> Vec<Geometry> {
        vec![
            Geometry::Box { size: [1.0, 2.0, 3.0] },
            Geometry::Cylinder { radius: 0.2, length: 1.0 },
            Geometry::Sphere { radius: 0.15 },
            Geometry::Sphere { radius: 1e-4 },
            Geometry::Extrusion {
                polygon: vec![[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [1.0, 0.2]],
                height: 0.5,
            },
        ]
    }

    #[test]
    fn surfaces_are_closed_and_turned_outwards() {
        for shape in shapes() {
            let surface = Surface::new(&shape);
            let corners: Vec<[f64; 3]> = surface.corners.iter().map(|corner| corner.coords.into()).collect();
            assert!(is_closed(&corners, &surface.triangles), "{shape:?}");
            let corner = |at: u32| surface.corners[at as usize].coords;
            let six_volumes =
                surface.triangles.iter().map(|&[a, b, c]| corner(a).dot(&corner(b).cross(&corner(c))));
            let volume = six_volumes.sum::<f64>() / 6.0;
            let expected = match shape {
                Geometry::Box { .. } => 6.0,
                Geometry::Cylinder { radius, length } => std::f64::consts::PI * radius * radius * length,
                Geometry::Sphere { radius } => 4.0 / 3.0 * std::f64::consts::PI * radius.powi(3),
                // Shoelace formula of the polygon above.
                _ => 0.5 * 0.5 * (2.0 * 1.0 + (2.0 * 0.2 - 1.0 * 1.0)),
            };
            let tolerance =
                if matches!(shape, Geometry::Sphere { radius } if radius < 0.01) { 0.1 } else { 0.01 };
            assert!((volume / expected - 1.0).abs() < tolerance, "{shape:?}: {volume}, {expected}");
        }
    }

    #[test]
    fn open_and_closed_meshes_are_distinguished() {
        let closed = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
        let open = closed.trim_end_matches("f 1 4 3\n");
        for (text, expected) in [(closed, true), (open, false)] {
            let mesh = Arc::new(Mesh::parse("a.obj", text.as_bytes(), [1.0; 3]).unwrap());
            assert_eq!(Surface::new(&Geometry::Mesh { mesh, convex: false }).closed, expected);
        }
    }
}
