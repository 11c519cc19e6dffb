//! Masses, inertias and friction of a URDF.

use dragoman_urdf::About;
use nalgebra::{Isometry3, Matrix3, Translation3, UnitQuaternion, Vector3};

use super::{Body, Dynamics, DynamicsError, GRAVITY, Inertia};
use crate::model::{Model, urdf};

pub(super) fn parse<const N: usize>(
    xml: &str,
    base: Option<&str>,
    tip: Option<&str>,
) -> Result<Dynamics<N>, DynamicsError> {
    let model = Model::from_urdf(xml, base, tip)?;
    let description = urdf::read(xml)?;
    let robot = &description.robot;
    let mut bodies = Vec::new();
    for (joint, placement) in model.joints().iter().zip(model.placements()) {
        let described = robot.joints.iter().find(|described| described.name == joint.name);
        let (damping, friction) = described
            .and_then(|described| described.dynamics.as_ref())
            .map_or((0.0, 0.0), |dynamics| (dynamics.damping, dynamics.friction));
        for (name, value) in [("damping", damping), ("friction", friction)] {
            if !value.is_finite() || value < 0.0 {
                let problem = format!("the {name} is {value}");
                return Err(DynamicsError::Inertia { element: joint.name.clone(), problem });
            }
        }
        bodies.push(Body {
            kind: joint.kind,
            origin: placement.origin,
            axis: placement.axis,
            inertia: Inertia::default(),
            damping,
            friction,
            rotor: 0.0,
        });
    }
    // Depth first from the base: a link with the index of the joint that moves it, and its pose in that joint's frame.
    let mut open = vec![(model.base_link().to_owned(), None, Isometry3::identity())];
    while let Some((parent, moved_by, pose)) = open.pop() {
        let link = robot.links.iter().find(|link| link.name == parent);
        if let (Some(link), Some(body)) = (link, moved_by.and_then(|index: usize| bodies.get_mut(index))) {
            urdf::check(&description, &About::Inertia(parent.clone()))?;
            body.inertia = body.inertia + inertia_of(link)?.seen_from(&pose);
        }
        for joint in robot.joints.iter().filter(|joint| joint.parent.link == parent) {
            let child = joint.child.link.clone();
            match model.joints().iter().position(|moving| moving.name == joint.name) {
                Some(index) => open.push((child, Some(index), Isometry3::identity())),
                None => open.push((child, moved_by, pose * urdf::origin_of(joint))),
            }
        }
    }
    let got = bodies.len();
    let bodies = bodies.try_into().map_err(|_| DynamicsError::Joints { expected: N, got })?;
    let gravity = Vector3::new(0.0, 0.0, -GRAVITY);
    Ok(Dynamics { bodies, payload: Inertia::default(), gravity, tool: *model.tool() })
}

/// The inertia of a link in its own frame.
fn inertia_of(link: &urdf_rs::Link) -> Result<Inertia, DynamicsError> {
    let urdf_rs::Inertial { origin, mass, inertia } = &link.inertial;
    let urdf_rs::Inertia { ixx, ixy, ixz, iyy, iyz, izz } = *inertia;
    let [x, y, z] = *origin.xyz;
    let [roll, pitch, yaw] = *origin.rpy;
    let matrix = Matrix3::new(ixx, ixy, ixz, ixy, iyy, iyz, ixz, iyz, izz);
    let frame = Isometry3::from_parts(
        Translation3::new(x, y, z),
        UnitQuaternion::from_euler_angles(roll, pitch, yaw),
    );
    // A link without mass is a frame; its inertia has no meaning.
    if mass.value == 0.0 {
        return Ok(Inertia::default());
    }
    let own = Inertia::about_center(mass.value, Vector3::zeros(), matrix).checked(&link.name)?;
    own.seen_from(&frame).checked(&link.name)
}
