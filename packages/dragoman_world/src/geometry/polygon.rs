//! Simple polygons: triangulated by ear clipping, decomposed into convex pieces, extruded to prisms.

/// Twice the area up to which three corners are on a straight line, m^2: nothing that a body could have.
const FLAT: f64 = 1e-9;

/// The polygon itself if it is convex, otherwise its triangles.
pub(crate) fn convex_pieces(polygon: &[[f64; 2]]) -> Result<Vec<Vec<[f64; 2]>>, String> {
    let corners = counter_clockwise(polygon)?;
    let len = corners.len();
    let turns_left = (0..len).all(|at| {
        matches!((corners.get(at), corners.get((at + 1) % len), corners.get((at + 2) % len)),
            (Some(&a), Some(&b), Some(&c)) if turn(a, b, c) > FLAT)
    });
    // A star also turns left everywhere, but more than once; it is not simple, which ear clipping detects.
    let triangles = cut(&corners)?;
    Ok(if turns_left { vec![corners] } else { triangles.into_iter().map(Vec::from).collect() })
}

/// The surface of the prism with this height; empty for a polygon that is not simple.
pub(crate) fn extrude(polygon: &[[f64; 2]], height: f64) -> Vec<[[f64; 3]; 3]> {
    let Ok(corners) = counter_clockwise(polygon) else { return Vec::new() };
    let Ok(triangles) = cut(&corners) else { return Vec::new() };
    let at = |[x, y]: [f64; 2], z: f64| [x, y, z];
    let mut surface = Vec::new();
    for [a, b, c] in triangles {
        surface.push([at(a, height), at(b, height), at(c, height)]);
        surface.push([at(a, 0.0), at(c, 0.0), at(b, 0.0)]);
    }
    for (&a, &b) in corners.iter().zip(corners.iter().cycle().skip(1)) {
        surface.push([at(a, 0.0), at(b, 0.0), at(b, height)]);
        surface.push([at(a, 0.0), at(b, height), at(a, height)]);
    }
    surface
}

fn counter_clockwise(polygon: &[[f64; 2]]) -> Result<Vec<[f64; 2]>, String> {
    if polygon.len() < 3 {
        return Err(format!("a polygon has three corners or more, not {}", polygon.len()));
    }
    let next = polygon.iter().cycle().skip(1);
    let area: f64 = polygon.iter().zip(next).map(|([ax, ay], [bx, by])| ax * by - bx * ay).sum::<f64>() / 2.0;
    let mut corners = polygon.to_vec();
    if area < 0.0 {
        corners.reverse();
    }
    if area.abs() < 1e-12 {
        return Err("the polygon has no area".to_owned());
    }
    Ok(corners)
}

/// Triangulates by ear clipping; the corners are counter-clockwise.
fn cut(corners: &[[f64; 2]]) -> Result<Vec<[[f64; 2]; 3]>, String> {
    let mut rest = corners.to_vec();
    let mut triangles = Vec::new();
    while rest.len() > 2 {
        let len = rest.len();
        let ear = (0..len).find_map(|at| {
            let (a, b, c) = (*rest.get((at + len - 1) % len)?, *rest.get(at)?, *rest.get((at + 1) % len)?);
            let in_it = |point: &[f64; 2]| {
                ![a, b, c].contains(point)
                    && turn(a, b, *point) >= 0.0
                    && turn(b, c, *point) >= 0.0
                    && turn(c, a, *point) >= 0.0
            };
            (turn(a, b, c) > FLAT && !rest.iter().any(in_it)).then_some((at, [a, b, c]))
        });
        let straight = || {
            (0..len).find(|&at| {
                matches!((rest.get((at + len - 1) % len), rest.get(at), rest.get((at + 1) % len)),
                    (Some(&a), Some(&b), Some(&c)) if turn(a, b, c).abs() <= FLAT)
            })
        };
        match ear {
            Some((at, triangle)) => {
                rest.remove(at);
                triangles.push(triangle);
            }
            // A corner on a straight edge encloses no area.
            None => match straight() {
                Some(at) => {
                    rest.remove(at);
                }
                None => return Err("the polygon's edges cross each other".to_owned()),
            },
        }
    }
    let area = |[a, b, c]: &[[f64; 2]; 3]| turn(*a, *b, *c);
    let whole: f64 =
        corners.iter().zip(corners.iter().cycle().skip(1)).map(|(a, b)| a[0] * b[1] - b[0] * a[1]).sum();
    let cut: f64 = triangles.iter().map(area).sum();
    if (whole - cut).abs() > 1e-9 * whole.abs() + FLAT * corners.len() as f64 {
        return Err("the polygon's edges cross each other".to_owned());
    }
    Ok(triangles)
}

/// Twice the area of the triangle; positive for a left turn at `b`.
fn turn(a: [f64; 2], b: [f64; 2], c: [f64; 2]) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}
