//! Behaviour of an arm with servos and a gripper: it moves until an obstacle, its fingers stop at an object between
//! them and hold it, and an object that they release falls.
//!
//! The fingers hold a body by a rule, not by friction: a graspable body between the fingers that both touch is carried
//! rigidly until they open. Before that, the first finger that touches it pushes it towards the other.

use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};

use super::state::{Body, Role, World};
use crate::geometry::scene::Collider;
use crate::geometry::{Geometry, Pose, Solid, Vector, to_parry};
use crate::limits::MAX_SIZE;
use crate::robots::arm::{Arm, Gripper};

/// Maximum motion of a joint in one step, rad or m: the motion of a servo in 10 ms.
const MAX_STEP: f64 = 0.06;
/// Maximum number of steps in one call: after a pause the steps are longer.
const MAX_STEPS: f64 = 100.0;
/// Number of bisections of a blocked motion.
const HALVINGS: u32 = 6;
/// Distance between a resting object and the surface below it, m.
const GAP: f64 = 1e-4;
/// Minimum overlap of a body with the region between the fingers, along them and across, m.
const MIN_GRIP: f64 = 0.004;
/// Opening of the gripper's joint at which it releases the object, rad; tolerates the servos' jitter.
const LET_GO: f64 = 0.05;
/// Maximum distance by which a falling object is moved away from an edge, m, and the step.
const ASIDE: [f64; 2] = [0.3, 0.005];

impl World {
    /// Moves the joints of an arm towards these positions until an obstacle: first all together, then one by one. An
    /// arm that was placed in an obstacle can leave it.
    pub(crate) fn follow_joints(&mut self, at: usize, wanted: &[f64]) {
        let Some(arm) = self.arm_at(at) else { return };
        let before = arm.positions();
        let mut target = before.clone();
        for ((target, wanted), joint) in target.iter_mut().zip(wanted).zip(&arm.joints) {
            if wanted.is_finite() {
                *target = wanted.clamp(joint.lower, joint.upper);
            }
        }
        let way = before.iter().zip(&target).map(|(before, target)| (target - before).abs());
        let way = way.fold(0.0, f64::max);
        if way == 0.0 {
            return;
        }
        // In steps, so that no obstacle is skipped.
        let parts = (way / MAX_STEP).ceil().min(MAX_STEPS);
        for part in 1..parts as u32 {
            let share = f64::from(part) / parts;
            let between = before.iter().zip(&target);
            let between = between.map(|(before, target)| before + share * (target - before));
            self.step_joints(at, &between.collect::<Vec<_>>());
        }
        self.step_joints(at, &target);
    }

    /// [`World::follow_joints`] for one step.
    fn step_joints(&mut self, at: usize, target: &[f64]) {
        let before = self.joint_positions(at);
        let is_stuck = self.touches_now(at);
        self.revision += 1;
        self.put_joints(at, target);
        if is_stuck || !self.touches_now(at) {
            return;
        }
        let between = |share: f64| -> Vec<f64> {
            before.iter().zip(target).map(|(before, target)| before + share * (target - before)).collect()
        };
        let (mut free, mut blocked) = (0.0, 1.0);
        for _ in 0..HALVINGS {
            let middle = (free + blocked) / 2.0;
            self.put_joints(at, &between(middle));
            if self.touches_now(at) { blocked = middle } else { free = middle }
        }
        let mut reached = between(free);
        for joint in 0..reached.len() {
            let mut further = reached.clone();
            if let (Some(position), Some(target)) = (further.get_mut(joint), target.get(joint)) {
                *position = *target;
            }
            self.put_joints(at, &further);
            if !self.touches_now(at) {
                reached = further;
            }
        }
        self.put_joints(at, &reached);
    }

    /// Moves the fingers of an arm's gripper towards this position of their joint. Returns the position beyond which
    /// they cannot close, if an object is between them.
    pub(crate) fn grip(&mut self, at: usize, wanted: f64) -> Option<f64> {
        let arm = self.arm_at(at)?;
        let gripper = arm.gripper?;
        let joint = arm.joints.get(gripper.joint)?;
        let (now, wanted) = (joint.position, wanted.clamp(joint.lower, joint.upper));
        if let Some(holds_at) = gripper.holds_at {
            // Another request may have taken the object away.
            let held = self.held_by(at);
            if let Some(held) = held.filter(|_| gripper.closing(holds_at, wanted) < -LET_GO) {
                self.note_hold(at, None);
                self.let_go(held, at);
            } else if held.is_none() {
                self.note_hold(at, None);
            } else {
                self.put_gripper(at, if gripper.closing(holds_at, wanted) < 0.0 { wanted } else { holds_at });
                return Some(holds_at);
            }
        }
        if gripper.closing(now, wanted) <= 0.0 {
            self.put_gripper(at, wanted);
            return None;
        }
        match self.between_fingers(at, &gripper) {
            Some(found) if self.held_by(at).is_none() => {
                Some(self.close_on(at, &gripper, &found, now, wanted))
            }
            _ => {
                let mut target = self.arm_at(at)?.positions();
                *target.get_mut(gripper.joint)? = wanted;
                self.follow_joints(at, &target);
                let reached = self.arm_at(at)?.joints.get(gripper.joint)?.position;
                (gripper.closing(reached, wanted) > 0.0).then_some(reached)
            }
        }
    }

    /// Load of gravity on the joints of an arm with its held object: N m, or N for a sliding joint.
    pub(crate) fn gravity_load(&self, at: usize) -> Vec<f64> {
        let (Some(object), Some(arm)) = (self.objects.get(at), self.arm_at(at)) else { return Vec::new() };
        let links = self.parts.get(object.parts.clone()).unwrap_or_default().iter();
        let poses: Vec<_> = links.map(|part| part.pose).collect();
        let held = self.held_by(at).and_then(|held| {
            let mass = match self.objects.get(held)?.role {
                Role::Body(Body { mass, .. }) => mass,
                _ => 0.0,
            };
            let [low, high] = self.extent(held, &Isometry3::identity())?;
            Some((mass, Point3::from((low + high) / 2.0)))
        });
        arm.gravity_load(&poses, held)
    }

    /// Positions of the joints of an arm.
    pub(crate) fn joint_positions(&self, at: usize) -> Vec<f64> {
        self.arm_at(at).map(Arm::positions).unwrap_or_default()
    }

    fn put_joints(&mut self, at: usize, positions: &[f64]) {
        let Some(object) = self.objects.get_mut(at) else { return };
        let (base, Role::Arm(arm)) = (object.pose, &mut object.role) else { return };
        for (joint, position) in arm.joints.iter_mut().zip(positions) {
            joint.position = *position;
        }
        self.move_object(at, base);
    }

    fn put_gripper(&mut self, at: usize, position: f64) {
        let Some(arm) = self.arm_at(at) else { return };
        let mut positions = arm.positions();
        let joint = arm.gripper.and_then(|gripper| positions.get_mut(gripper.joint));
        if let Some(joint) = joint.filter(|joint| **joint != position) {
            *joint = position;
            self.revision += 1;
            self.put_joints(at, &positions);
        }
    }

    fn touches_now(&self, at: usize) -> bool {
        self.arm_at(at).is_some_and(|arm| self.arm_touches(at, arm).is_some())
    }

    fn note_hold(&mut self, at: usize, holds_at: Option<f64>) {
        if let Some(Role::Arm(Arm { gripper: Some(gripper), .. })) =
            self.objects.get_mut(at).map(|object| &mut object.role)
        {
            gripper.holds_at = holds_at;
        }
    }

    /// The minimum and maximum corner of the bounding box of an object, in a frame with this pose.
    pub(crate) fn extent(&self, at: usize, frame: &Isometry3<f64>) -> Option<[Vector3<f64>; 2]> {
        let parts = self.parts.get(self.objects.get(at)?.parts.clone())?.iter();
        self.extent_of(parts.flat_map(|part| part.colliders.clone()), frame)
    }

    fn extent_of(
        &self,
        colliders: impl Iterator<Item = usize>,
        frame: &Isometry3<f64>,
    ) -> Option<[Vector3<f64>; 2]> {
        let to_frame = to_parry(&frame.inverse());
        let boxes = colliders.flat_map(|at| self.scene.colliders(at..at + 1)).map(|collider| {
            let bounds = collider.solid.bounds(&(to_frame * collider.pose));
            [bounds.mins, bounds.maxs].map(|Vector { x, y, z }| Vector3::new(x, y, z))
        });
        boxes.reduce(|[low, high], [other_low, other_high]| [low.inf(&other_low), high.sup(&other_high)])
    }

    /// The body between the fingers that is nearest to their middle.
    fn between_fingers(&self, at: usize, gripper: &Gripper) -> Option<Between> {
        let first_part = self.objects.get(at)?.parts.start;
        let arm = self.arm_at(at)?;
        let rail = arm.links.get(gripper.fingers[0])?.parent?;
        let frame = self.parts.get(first_part + rail)?.pose;
        let axis = arm.links.get(gripper.fingers[0])?.motion?.axis;
        // Fingers that slide along another axis than y are not supported.
        let across = axis.y.abs();
        let finger = |link: usize| {
            let part = self.parts.get(first_part + link)?;
            self.extent_of(part.colliders.clone(), &frame)
        };
        let [first, second] = gripper.fingers.map(finger);
        let (first, second) = (first?, second?);
        let (left, right) = if first[0].y > second[0].y { (first, second) } else { (second, first) };
        let (low, high) = (left[0].sup(&right[0]), left[1].inf(&right[1]));
        let (inner_right, inner_left) = (right[1].y, left[0].y);
        let size =
            [high.x - low.x - 2.0 * MIN_GRIP, inner_left - inner_right, high.z - low.z - 2.0 * MIN_GRIP];
        if across < 0.999 || size.iter().any(|size| *size <= 0.0) {
            return None;
        }
        let middle = Vector3::new(low.x + high.x, inner_left + inner_right, low.z + high.z) / 2.0;
        let grip = Geometry::Box { size }.solids().ok()?;
        let place = frame * Translation3::from(middle);
        let fits = |body: usize| {
            let [low, high] = self.extent(body, &frame)?;
            let distance = ((low + high) / 2.0 - middle).norm();
            // A body thicker than the opening is an obstacle, and not between the fingers.
            (high.y - low.y <= size[1] + GAP).then_some(Between {
                body,
                low: low.y,
                high: high.y,
                half: size[1] / 2.0,
                middle: middle.y,
                frame,
                distance,
            })
        };
        let is_free =
            |body: &Body| body.graspable && body.held.is_none_or(|(by, _)| self.arm_at(by).is_none());
        let bodies = self.objects.iter().enumerate();
        let bodies = bodies.filter(|(_, object)| matches!(&object.role, Role::Body(body) if is_free(body)));
        let there = bodies.filter(|(body, _)| self.is_in(&grip, &place, *body));
        there.filter_map(|(body, _)| fits(body)).min_by(|a, b| a.distance.total_cmp(&b.distance))
    }

    /// Whether a body overlaps this region.
    fn is_in(&self, space: &[(Solid, Pose)], place: &Isometry3<f64>, body: usize) -> bool {
        let place = to_parry(place);
        let others = |collider: &Collider| collider.object != body;
        space
            .iter()
            .any(|(solid, local)| self.scene.touching_solid(solid, &(place * *local), others).is_some())
    }

    /// Closes the fingers on a body between them. Returns the position of their joint at which both touch it.
    fn close_on(&mut self, at: usize, gripper: &Gripper, found: &Between, now: f64, wanted: f64) -> f64 {
        let half_width = (found.high - found.low) / 2.0;
        // Each finger moves by the rate.
        let holds_at = now + ((half_width - found.half) / gripper.rate);
        let is_held = gripper.closing(holds_at, wanted) >= 0.0;
        let reached = if is_held { holds_at } else { wanted };
        let half = if is_held { half_width } else { found.half + (wanted - now) * gripper.rate };
        let (high, low) = (found.high - found.middle, found.low - found.middle);
        let push = (half - high).min(0.0) + (-half - low).max(0.0);
        if let Some(pose) = self.objects.get(found.body).map(|object| object.pose).filter(|_| push != 0.0) {
            let aside = found.frame.rotation * Vector3::new(0.0, push, 0.0);
            self.revision += 1;
            self.move_object(found.body, Translation3::from(aside) * pose);
        }
        self.put_gripper(at, reached);
        if is_held {
            self.hold(at, found.body, holds_at);
        }
        holds_at
    }

    fn hold(&mut self, at: usize, body: usize, holds_at: f64) {
        let (Some(arm), Some(object)) = (self.arm_at(at), self.objects.get(at)) else { return };
        let tool = self.parts.get(object.parts.start + arm.tool.0).map(|link| link.pose * arm.tool.1);
        let (Some(tool), Some(pose)) = (tool, self.objects.get(body).map(|object| object.pose)) else {
            return;
        };
        // The surface below it does not hold it back.
        let raised = Translation3::new(0.0, 0.0, GAP) * pose;
        if let Some(body) = self.body_mut(body) {
            body.held = Some((at, tool.inverse() * raised));
        }
        self.note_hold(at, Some(holds_at));
        self.revision += 1;
        self.move_object(body, raised);
    }

    /// Releases a body: it falls onto the side that was nearest to down, on the surface below its centre; an edge that
    /// would support only its rim is avoided. If there is nothing below, it stays. On a robot it is carried by the
    /// robot.
    fn let_go(&mut self, body: usize, arm: usize) {
        let Some(pose) = self.objects.get(body).map(|object| object.pose) else { return };
        if let Some(body) = self.body_mut(body) {
            body.held = None;
        }
        let Some([low, high]) = self.extent(body, &Isometry3::identity()) else { return };
        let middle = (low + high) / 2.0;
        let upright = Translation3::from(middle)
            * (upright(&pose.rotation) * pose.rotation.inverse())
            * Translation3::from(-middle)
            * pose;
        self.revision += 1;
        self.move_object(body, upright);
        let unseen = |collider: &Collider| collider.object == body || collider.object == arm;
        let below = self.scene.first_hit(
            Vector::new(middle.x, middle.y, middle.z),
            -Vector::Z,
            2.0 * MAX_SIZE,
            unseen,
        );
        let Some((ground, way)) = below.map(|(collider, way)| (collider.object, way)) else { return };
        let Some([low, _]) = self.extent(body, &Isometry3::identity()) else { return };
        let lying = Translation3::new(0.0, 0.0, middle.z - way - low.z + GAP) * upright;
        self.move_object(body, lying);
        self.put_aside(body, arm, middle);
        if let Some(robot) = self.objects.get(ground).filter(|object| matches!(object.role, Role::Wheeled(_)))
        {
            let offset = robot.pose.inverse() * self.objects.get(body).map_or(lying, |object| object.pose);
            if let Some(body) = self.body_mut(body) {
                body.held = Some((ground, offset));
            }
        }
    }

    /// Moves a body sideways away from a contact; it stays if that does not help.
    fn put_aside(&mut self, body: usize, arm: usize, middle: Vector3<f64>) {
        let touched = |world: &Self| {
            let parts = world.parts.get(world.objects.get(body)?.parts.clone())?;
            let unseen = |collider: &Collider| collider.object == body || collider.object == arm;
            parts.iter().find_map(|part| {
                let found = world.scene.touching(part.colliders.clone(), &to_parry(&part.pose), unseen)?;
                Some(found.solid.nearest(&found.pose, Vector::new(middle.x, middle.y, middle.z)))
            })
        };
        let Some(lying) = self.objects.get(body).map(|object| object.pose) else { return };
        let Some(nearest) = touched(self) else { return };
        let away = Vector3::new(middle.x - nearest.x, middle.y - nearest.y, 0.0);
        let Some(away) = away.try_normalize(1e-9) else { return };
        let [farthest, step] = ASIDE;
        let mut way = step;
        while way <= farthest {
            self.move_object(body, Translation3::from(away * way) * lying);
            if touched(self).is_none() {
                return;
            }
            way += step;
        }
        self.move_object(body, lying);
    }
}

/// A body between the fingers, in the frame of the rail on which they slide: m.
struct Between {
    body: usize,
    low: f64,
    high: f64,
    /// Half the distance between them.
    half: f64,
    /// The middle between them.
    middle: f64,
    frame: Isometry3<f64>,
    distance: f64,
}

impl Arm {
    fn positions(&self) -> Vec<f64> {
        self.joints.iter().map(|joint| joint.position).collect()
    }
}

impl Gripper {
    /// How much more closed `to` is than `from`, in units of the joint.
    fn closing(&self, from: f64, to: f64) -> f64 {
        if self.rate < 0.0 { to - from } else { from - to }
    }
}

/// The nearest rotation in which one of the axes points up.
fn upright(rotation: &UnitQuaternion<f64>) -> UnitQuaternion<f64> {
    let axes = [Vector3::x(), Vector3::y(), Vector3::z()].map(|axis| rotation * axis);
    let up = axes.into_iter().max_by(|a, b| a.z.abs().total_cmp(&b.z.abs())).unwrap_or_else(Vector3::z);
    let up = if up.z < 0.0 { -up } else { up };
    UnitQuaternion::rotation_between(&up, &Vector3::z()).unwrap_or_default() * rotation
}

#[cfg(test)]
impl World {
    /// The bounding box of an object.
    pub(crate) fn extent_for_test(&self, name: &str) -> [Vector3<f64>; 2] {
        self.extent(self.index_of(name).unwrap(), &Isometry3::identity()).unwrap()
    }
}
