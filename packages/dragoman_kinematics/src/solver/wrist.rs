//! All configurations of a six-joint arm with a spherical wrist, in closed form.
//!
//! Where the axes of the last three joints meet in one point, its position depends on the first three joints alone, and
//! the last three give the orientation: Pieper, *The kinematics of manipulators under computer control* (1968), in the
//! form of Craig (1989), section 4.6. With the wrist centre `w` seen from joint 1,
//!
//! ```text
//! w = Rz(q1) g,   g = t2 + Rx(alpha2) Rz(q2) h,   h = t3 + Rx(alpha3) Rz(q3) w3
//! ```
//!
//! `w_z = g_z` and `|w| = |g|` do not contain joint 1. They are linear in `X` and `Y`, the first two entries of
//! `Rz(q2) h`, and `X^2 + Y^2 = h_x^2 + h_y^2` leaves one equation for joint 3: linear in its cosine and sine if the
//! first two axes meet or are parallel, of degree two otherwise.

use super::chain::{Chain, Vec3};
use std::f64::consts::{FRAC_PI_2, TAU};

/// Lengths below this are zero, m; the axes of a description with rounded angles do not meet, which the numeric search
/// then solves.
const SMALL: f64 = 1e-9;
/// Sines of twists below this belong to parallel axes.
const PARALLEL: f64 = 1e-9;
/// Distance of the wrist centre from the axis of joint 2 below which the axis may stand anywhere, m.
const DEGENERATE: f64 = 1e-7;
/// Evaluations of the equation of degree two over one turn of joint 3.
const SAMPLES: usize = 48;
/// Maximum number of positions of the wrist centre: two or four of joint 3 with two of joint 2 each, and touching roots twice.
const MAX_ROOTS: usize = 8;

/// The geometry of an arm with a spherical wrist.
#[derive(Debug, Clone)]
pub(super) struct SphericalWrist {
    base: [Vec3; 2],
    translation: [Vec3; 3],
    /// Cosine and sine of each twist.
    twist: [(f64, f64); 6],
    offset: [f64; 6],
    lower: [f64; 6],
    upper: [f64; 6],
    /// Wrist centre in the frame after joint 3, m.
    centre: Vec3,
    /// Wrist centre in the tool frame, m.
    centre_in_tool: Vec3,
    tool_rotation: [Vec3; 3],
    /// `t2` in the frame whose z axis is that of joint 2.
    shift: Vec3,
}

/// A configuration within the limits, and the distance by which a joint was moved there, rad.
#[derive(Clone, Copy)]
pub(super) struct Branch {
    pub(super) q: [f64; 6],
    pub(super) moved: f64,
}

/// Configurations within the limits.
pub(super) struct Branches {
    found: [Branch; 2 * MAX_ROOTS],
    len: usize,
    /// Whether there may be others: the first two axes are skew, or the equations leave a joint undetermined, for example
    /// with the wrist centre on its axis.
    pub(super) is_incomplete: bool,
}

impl Branches {
    /// Takes the one that is nearest to `seed`.
    pub(super) fn take_nearest(&mut self, seed: &[f64; 6]) -> Option<Branch> {
        let distance =
            |branch: &Branch| branch.q.iter().zip(seed).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
        let found = self.found.get(..self.len)?;
        let distances = found.iter().map(distance).enumerate();
        let (nearest, _) = distances.min_by(|one, other| one.1.total_cmp(&other.1))?;
        self.len -= 1;
        self.found.swap(nearest, self.len);
        self.found.get(self.len).copied()
    }

    fn push(&mut self, branch: Branch) {
        if let Some(slot) = self.found.get_mut(self.len) {
            *slot = branch;
            self.len += 1;
        }
    }
}

/// A quantity that is linear in the cosine and the sine of joint 3: constant, cosine's and sine's factor.
#[derive(Clone, Copy)]
struct Linear(f64, f64, f64);

impl Linear {
    fn at(self, cosine: f64, sine: f64) -> f64 {
        self.0 + self.1 * cosine + self.2 * sine
    }

    fn plus(self, factor: f64, other: Self) -> Self {
        Self(self.0 + factor * other.0, self.1 + factor * other.1, self.2 + factor * other.2)
    }

    fn times(self, factor: f64) -> Self {
        Self(factor * self.0, factor * self.1, factor * self.2)
    }

    /// Whether joint 3 does not change it.
    fn is_constant(self) -> bool {
        self.1.hypot(self.2) < DEGENERATE
    }

    /// Angles at which it is zero, the same one twice where it only touches, and by how much it misses zero, as
    /// [`arc_cosine`]; none if it misses by more than `margin`.
    fn roots(self, margin: f64) -> Option<([f64; 2], f64)> {
        let amplitude = self.1.hypot(self.2);
        let (half, over) = arc_cosine(-self.0 / amplitude, margin)?;
        let middle = self.2.atan2(self.1);
        Some(([middle - half, middle + half], over))
    }
}

/// The angle with a cosine. One beyond 1 is a target beyond the reach, or rounding at its border: the nearest angle,
/// and the angle by which it misses, rad. `None` if that exceeds `margin`.
fn arc_cosine(cosine: f64, margin: f64) -> Option<(f64, f64)> {
    let over = (2.0 * (cosine.abs() - 1.0).max(0.0)).sqrt();
    // NaN, of a length of zero, fails too.
    (cosine.abs() <= 1.0 || over <= margin).then(|| (cosine.clamp(-1.0, 1.0).acos(), over))
}

impl SphericalWrist {
    /// The geometry of a chain of six turning joints whose last three axes meet.
    pub(super) fn of<const N: usize>(chain: &Chain<N>) -> Option<Self> {
        let six = |values: &[f64; N]| -> Option<[f64; 6]> { values.as_slice().try_into().ok() };
        let translation: [Vec3; 6] = chain.translation.as_slice().try_into().ok()?;
        let twist: [(f64, f64); 6] = chain.twist.as_slice().try_into().ok()?;
        let [t1, t2, t3, t4, t5, t6] = translation;
        let [_, (c2, s2), _, (c4, s4), (c5, s5), (c6, s6)] = twist;
        let oblique = s5.abs() > 1e-3 && s6.abs() > 1e-3;
        if !chain.all_turning || !oblique || t5.x.abs() > SMALL || t6.x.abs() > SMALL {
            return None;
        }
        // Where axis 5 crosses axis 4: distance along axis 5, and along axis 4.
        let along_5 = t5.y / s5;
        let along_4 = t5.z + along_5 * c5;
        let along_6 = t6.y / s6;
        if (t6.z + along_6 * c6 - along_5).abs() > SMALL {
            return None;
        }
        let centre = t4 + Vec3::new(0.0, -s4, c4) * along_4;
        let from_tool = Vec3::new(0.0, 0.0, along_6) - chain.tool_point;
        let centre_in_tool = Vec3::from_fn(|row, _| chain.tool_rotation[row].dot(&from_tool));
        let shift = Vec3::new(t2.x, c2 * t2.y + s2 * t2.z, c2 * t2.z - s2 * t2.y);
        Some(Self {
            base: chain.base,
            translation: [t1, t2, t3],
            twist,
            offset: six(&chain.angle_offset)?,
            lower: six(&chain.lower)?,
            upper: six(&chain.upper)?,
            centre,
            centre_in_tool,
            tool_rotation: chain.tool_rotation,
            shift,
        })
    }

    /// All configurations, within `margin` (rad) of the limits and then moved to them, that put the tool at a pose:
    /// columns of its rotation, and its position. Each joint is as near to `seed` as full turns allow.
    pub(super) fn branches(
        &self,
        rotation: &[Vec3; 3],
        position: &Vec3,
        seed: &[f64; 6],
        margin: f64,
    ) -> Branches {
        let mut branches = Branches {
            found: [Branch { q: [0.0; 6], moved: 0.0 }; 2 * MAX_ROOTS],
            len: 0,
            is_incomplete: false,
        };
        let [x, y, z] = rotation;
        let c = &self.centre_in_tool;
        let centre = position + x * c.x + y * c.y + z * c.z;
        // Orientation of the frame after joint 6.
        let last = [0, 1, 2].map(|row| {
            x * self.tool_rotation[0][row] + y * self.tool_rotation[1][row] + z * self.tool_rotation[2][row]
        });
        let [bx, by] = &self.base;
        let seen = Vec3::new(bx.dot(&centre), by.dot(&centre), centre.z) - self.translation[0];
        let (c1, s1) = self.twist[0];
        let w = Vec3::new(seen.x, c1 * seen.y + s1 * seen.z, c1 * seen.z - s1 * seen.y);

        let (c2, s2) = self.twist[1];
        let (c3, s3) = self.twist[2];
        let (t3, a) = (&self.translation[2], &self.centre);
        let hx = Linear(t3.x, a.x, -a.y);
        let hy = Linear(t3.y - s3 * a.z, c3 * a.y, c3 * a.x);
        let hz = Linear(t3.z + c3 * a.z, s3 * a.y, s3 * a.x);
        // |h|^2 = |t3|^2 + |a|^2 + 2 t3 . (h - t3)
        let squared = {
            let t = t3.norm_squared();
            Linear(a.norm_squared() - t, 0.0, 0.0)
                .plus(2.0 * t3.x, hx)
                .plus(2.0 * t3.y, hy)
                .plus(2.0 * t3.z, hz)
        };
        let k = &self.shift;
        // s2 Y = height, kx X + ky Y = half.
        let height = Linear(w.z - self.translation[1].z, 0.0, 0.0).plus(-c2, hz);
        let half =
            Linear(0.5 * (w.norm_squared() - k.norm_squared()), 0.0, 0.0).plus(-0.5, squared).plus(-k.z, hz);

        // Y from the first equation, which leaves a linear one for joint 3 if the first two axes meet.
        let (meets, is_parallel) = (k.x.abs() < SMALL, s2.abs() <= PARALLEL);
        let meeting = half.plus(-k.y / s2, height);
        branches.is_incomplete = match (is_parallel, meets) {
            (true, _) => height.is_constant() || k.x.hypot(k.y) < SMALL,
            (false, true) => meeting.is_constant(),
            // Two zeros between two samples may be missed.
            (false, false) => true,
        };
        let mut visit = |angle: f64, over: f64, pick: Pick| {
            let (sine, cosine) = angle.sin_cos();
            let h = Vec3::new(hx.at(cosine, sine), hy.at(cosine, sine), hz.at(cosine, sine));
            let radius = h.x.hypot(h.y);
            let (height, half) = (height.at(cosine, sine), half.at(cosine, sine));
            let towards = h.y.atan2(h.x);
            if radius < DEGENERATE {
                branches.is_incomplete = true;
                return;
            }
            let (seconds, missed) = match pick {
                // X has either sign.
                Pick::Meeting => match arc_cosine(height / (s2 * radius), margin) {
                    Some((off, over)) => ([FRAC_PI_2 - off, FRAC_PI_2 + off], over),
                    None => return,
                },
                Pick::Parallel => match arc_cosine(half / (radius * k.x.hypot(k.y)), margin) {
                    Some((off, over)) => ([k.y.atan2(k.x) - off, k.y.atan2(k.x) + off], over),
                    None => return,
                },
                Pick::General => {
                    let y = height / s2;
                    ([y.atan2((half - k.y * y) / k.x), f64::NAN], 0.0)
                }
            };
            let over = over.max(missed);
            let Some(third) = self.place(2, angle, seed, margin) else { return };
            for second in seconds.into_iter().filter(|angle| angle.is_finite()) {
                let second = second - towards;
                let Some(second_placed) = self.place(1, second, seed, margin) else { continue };
                let (sine, cosine) = second.sin_cos();
                let (x, y) = (cosine * h.x - sine * h.y, sine * h.x + cosine * h.y);
                let t2 = &self.translation[1];
                let (gx, gy) = (t2.x + x, t2.y + c2 * y - s2 * h.z);
                let on_axis = gx.hypot(gy) < SMALL;
                let first = if on_axis { seed[0] + self.offset[0] } else { w.y.atan2(w.x) - gy.atan2(gx) };
                if let Some(first_placed) = self.place(0, first, seed, margin) {
                    let arm = [first_placed, second_placed, third];
                    self.turn_wrist(&arm, over, &last, seed, margin, &mut branches);
                }
            }
        };
        if !is_parallel && meets {
            if let Some((angles, over)) = meeting.roots(margin) {
                angles.into_iter().for_each(|angle| visit(angle, over, Pick::Meeting));
            }
        } else if !is_parallel {
            let y = height.times(1.0 / s2);
            let x = half.plus(-k.y, y).times(1.0 / k.x);
            each_root(
                |cosine, sine| {
                    let [x, y, hx, hy] = [x, y, hx, hy].map(|quantity| quantity.at(cosine, sine));
                    x * x + y * y - hx * hx - hy * hy
                },
                |angle| visit(angle, 0.0, Pick::General),
            );
        } else if k.x.hypot(k.y) > SMALL
            && let Some((angles, over)) = height.roots(margin)
        {
            angles.into_iter().for_each(|angle| visit(angle, over, Pick::Parallel));
        }
        branches
    }

    /// Both positions of the wrist for one position of the first three joints.
    fn turn_wrist(
        &self,
        arm: &[Placed; 3],
        over: f64,
        last: &[Vec3; 3],
        seed: &[f64; 6],
        margin: f64,
        branches: &mut Branches,
    ) {
        let [bx, by] = self.base;
        let mut frame = [bx, by, Vec3::z()];
        for (i, (q, _)) in arm.iter().enumerate() {
            frame = advance(&frame, self.twist[i], q + self.offset[i]);
        }
        frame = about_x(&frame, self.twist[3]);
        let ((c5, s5), (c6, s6)) = (self.twist[4], self.twist[5]);
        let [across, aside, along] = [0, 1, 2].map(|axis| frame[axis].dot(&last[2]));
        let Some((angle, missed)) = arc_cosine((c5 * c6 - along) / (s5 * s6), margin) else { return };
        let over = over.max(missed);
        for fifth in [angle, -angle] {
            let (x, y) = (s6 * fifth.sin(), -c5 * s6 * fifth.cos() - s5 * c6);
            // With axes 4 and 6 in line only their sum counts.
            let is_aligned = across.hypot(aside) < 1e-7;
            let fourth = if is_aligned { seed[3] + self.offset[3] } else { aside.atan2(across) - y.atan2(x) };
            let turned =
                advance(&advance(&about_z(&frame, fourth), self.twist[4], fifth), self.twist[5], 0.0);
            let sixth = turned[1].dot(&last[0]).atan2(turned[0].dot(&last[0]));
            let placed =
                [(3, fourth), (4, fifth), (5, sixth)].map(|(i, angle)| self.place(i, angle, seed, margin));
            if let [Some(fourth), Some(fifth), Some(sixth)] = placed {
                let [first, second, third] = *arm;
                let all = [first, second, third, fourth, fifth, sixth];
                let moved = all.iter().map(|(_, moved)| *moved).fold(over, f64::max);
                branches.push(Branch { q: all.map(|(q, _)| q), moved });
            }
        }
    }

    /// The position of joint `i` at an angle, near the seed.
    fn place(&self, i: usize, angle: f64, seed: &[f64; 6], margin: f64) -> Option<Placed> {
        let (lower, upper) = (self.lower[i], self.upper[i]);
        let q = angle - self.offset[i];
        let mut q = q + ((seed[i] - q) / TAU).round() * TAU;
        if q > upper {
            q -= ((q - upper - margin) / TAU).ceil().max(0.0) * TAU;
        } else if q < lower {
            q += ((lower - margin - q) / TAU).ceil().max(0.0) * TAU;
        }
        let placed = q.max(lower).min(upper);
        let moved = (q - placed).abs();
        (moved <= margin).then_some((placed, moved))
    }
}

/// A position within the limits, and the distance by which it was moved there.
type Placed = (f64, f64);

/// Rule by which joint 2 follows from joint 3.
#[derive(Clone, Copy)]
enum Pick {
    Meeting,
    Parallel,
    General,
}

/// Zeros of a trigonometric polynomial of degree two over one turn, and its minima near zero.
fn each_root(value: impl Fn(f64, f64) -> f64, mut found: impl FnMut(f64)) {
    let at = |angle: f64| {
        let (sine, cosine) = angle.sin_cos();
        value(cosine, sine)
    };
    let step = TAU / SAMPLES as f64;
    let mut values = [0.0; SAMPLES];
    for (i, value) in values.iter_mut().enumerate() {
        *value = at(i as f64 * step);
    }
    for i in 0..SAMPLES {
        let (before, here, next) =
            (values[(i + SAMPLES - 1) % SAMPLES], values[i], values[(i + 1) % SAMPLES]);
        let angle = i as f64 * step;
        if (here < 0.0) != (next < 0.0) {
            let (mut low, mut high) = (angle, angle + step);
            for _ in 0..40 {
                let middle = 0.5 * (low + high);
                if (at(middle) < 0.0) == (here < 0.0) { low = middle } else { high = middle }
            }
            found(0.5 * (low + high));
        } else if (before < 0.0) == (here < 0.0) && here.abs() <= before.abs() && here.abs() <= next.abs() {
            // The vertex of the parabola through the three: two zeros may hide here, or one that only touches.
            let curve = before - 2.0 * here + next;
            let vertex = if curve == 0.0 { 0.0 } else { 0.5 * (before - next) / curve };
            let lowest = angle + vertex * step;
            let crosses = (at(lowest) < 0.0) != (here < 0.0);
            if crosses {
                for (mut inside, mut outside) in [(lowest, angle - step), (lowest, angle + step)] {
                    for _ in 0..40 {
                        let middle = 0.5 * (inside + outside);
                        if (at(middle) < 0.0) == (here < 0.0) { outside = middle } else { inside = middle }
                    }
                    found(0.5 * (inside + outside));
                }
            } else if at(lowest).abs() < 1e-2 * curve.abs() {
                found(lowest);
            }
        }
    }
}

type Frame = [Vec3; 3];

fn about_x([x, y, z]: &Frame, (cosine, sine): (f64, f64)) -> Frame {
    [*x, y * cosine + z * sine, z * cosine - y * sine]
}

fn about_z([x, y, z]: &Frame, angle: f64) -> Frame {
    let (sine, cosine) = angle.sin_cos();
    [x * cosine + y * sine, y * cosine - x * sine, *z]
}

/// The orientation after a twist and a turn of a joint.
fn advance(frame: &Frame, twist: (f64, f64), angle: f64) -> Frame {
    about_z(&about_x(frame, twist), angle)
}

#[cfg(test)]
mod tests {
    use super::super::chain::Pass;
    use super::*;
    use crate::Model;

    /// Rows `a`, `alpha`, `d` of the first three joints, then a wrist with an offset along axis 4.
    fn chain(arm: [[f64; 3]; 3]) -> Chain<6> {
        let wrist = [[0.05, -1.4, 0.4], [0.0, 1.3, 0.0], [0.0, -1.5, 0.0]];
        let rows = arm.iter().chain(&wrist).enumerate().map(|(i, [a, alpha, d])| {
            let length = format!("a: {a}, alpha: {alpha}, d: {d}, theta: 0.3");
            format!("  - {{name: j{i}, type: revolute, {length}, lower: -3, upper: 3}}\n")
        });
        let text =
            format!("joints:\n{}tool: {{a: 0.1, alpha: 0.4, d: 0.2, theta: 1}}\n", rows.collect::<String>());
        Chain::compile(&Model::from_dh_yaml(&text).unwrap()).unwrap()
    }

    #[test]
    fn every_branch_reaches_the_pose_and_the_known_one_is_among_them() {
        let arms = [
            ("meeting", [[0.0, 0.0, 0.3], [0.0, 1.5, 0.1], [0.5, 0.2, 0.0]]),
            ("general", [[0.0, 0.0, 0.3], [0.15, 1.5, 0.1], [0.5, 0.2, 0.0]]),
            ("parallel", [[0.0, 0.0, 0.3], [0.4, 0.0, 0.0], [0.3, 1.1, 0.05]]),
        ];
        for (name, arm) in arms {
            let chain = chain(arm);
            let wrist = chain.wrist.as_ref().unwrap_or_else(|| panic!("{name} has a spherical wrist"));
            let mut known = 0;
            for case in 0..2000 {
                let q: [f64; 6] =
                    std::array::from_fn(|i| 2.9 * (f64::from(case) * (1.1 + i as f64) + 0.7).sin());
                let mut pass = Pass::EMPTY;
                chain.pass(&q, &mut pass);
                let mut branches = wrist.branches(&pass.rotation, &pass.position, &q, 1e-6);
                let mut nearest = f64::INFINITY;
                while let Some(branch) = branches.take_nearest(&q) {
                    let mut reached = Pass::EMPTY;
                    chain.pass(&branch.q, &mut reached);
                    let off = (reached.position - pass.position).norm();
                    let turned: f64 =
                        reached.rotation.iter().zip(&pass.rotation).map(|(a, b)| (a - b).norm()).sum();
                    // Rounding grows where two branches meet, where the general arm also has near misses: a descent
                    // follows.
                    let most = if name == "general" { 0.03 } else { 1e-4 };
                    assert!(off < most && turned < 1e-3, "{name} {q:?}: {off} {turned} at {:?}", branch.q);
                    let far = branch.q.iter().zip(&q).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                    nearest = nearest.min(far);
                }
                known += usize::from(nearest < 1e-3);
            }
            let least = if name == "general" { 1990 } else { 1998 };
            assert!(known >= least, "{name}: {known} of 2000 known configurations are found");
        }
    }
}
