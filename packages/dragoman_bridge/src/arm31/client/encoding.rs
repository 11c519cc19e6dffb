//! Converts a service call to the request that carries it, and matches answers to requests.

use super::super::call::{ArmCall, Refusal};
use super::super::rotation;
use super::super::wire::{Datagram, Request};

/// Maximum difference between the controller's normalized quaternion and ours, per component.
const QUATERNION_TOLERANCE: f32 = 1e-4;

/// The request that carries `call`: `set_goal_pose` becomes `GL`, or `GT` if it has a duration.
///
/// # Errors
/// [`Refusal::InvalidValue`]; [`Refusal::NotEncodable`] for a joint goal with a duration, because the motion would be
/// faster than requested.
pub(super) fn request(call: &ArmCall) -> Result<Request, Refusal> {
    Ok(match *call {
        ArmCall::Plain(command) => {
            Request::from_datagram(command, &Datagram::with_data(command.letters(), &[]))
        }
        ArmCall::SetCommandMode { mode } => Request::SetCommandMode { mode: f32::from(u8::from(mode)) },
        ArmCall::SetGoalPose { position, quaternion_xyzw, min_duration } => {
            let position = singles(position)?;
            let quaternion = normalized(quaternion_xyzw)?;
            match duration(min_duration)? {
                0.0 => Request::SetGoalPose { position, quaternion: singles(quaternion)? },
                min_duration => {
                    let rpy = singles(rotation::rpy_from_quaternion(quaternion))?;
                    Request::SetTimedGoalPose { position, rpy, min_duration }
                }
            }
        }
        ArmCall::SetViaPoint { index, position, quaternion_xyzw, min_duration } => Request::SetViaPoint {
            position: singles(position)?,
            rpy: singles(rotation::rpy_from_quaternion(normalized(quaternion_xyzw)?))?,
            min_duration: duration(min_duration)?,
            index,
        },
        ArmCall::SetJointGoal { position, min_duration } => {
            let joints = singles(position)?;
            if duration(min_duration)? > 0.0 {
                return Err(Refusal::NotEncodable);
            }
            Request::SetJointGoal { joints }
        }
        ArmCall::SetJointViaPoint { index, position, min_duration } => {
            let (joints, min_duration) = (singles(position)?, duration(min_duration)?);
            Request::SetJointViaPoint { joints, min_duration, index }
        }
        ArmCall::Recalibrate { position } => Request::Recalibrate { joints: singles(position)? },
    })
}

/// Whether `echo` answers `request`, and not an earlier one with the same letters.
pub(super) fn is_answer(request: &Request, echo: &Request) -> bool {
    match (*request, *echo) {
        // The mode in force may differ from the requested one.
        (Request::SetCommandMode { .. }, Request::SetCommandMode { .. })
        | (Request::Recalibrate { .. }, Request::Recalibrate { .. }) => true,
        (
            Request::SetGoalPose { position, quaternion },
            Request::SetGoalPose { position: echoed, quaternion: normalized },
        ) => {
            // The controller may have computed it from the rotation, for which both signs are valid.
            let near = |sign: f32| {
                let components = quaternion.iter().zip(&normalized);
                components.into_iter().all(|(a, b)| (a - sign * b).abs() <= QUATERNION_TOLERANCE)
            };
            position == echoed && (near(1.0) || near(-1.0))
        }
        // The original controller echoes angles that it computed from the rotation.
        (
            Request::SetViaPoint { position, min_duration, index, .. },
            Request::SetViaPoint { position: at, min_duration: time, index: place, .. },
        ) => position == at && min_duration == time && index == place,
        // The original controller answers VC with PV.
        (Request::ClearViaPoints, Request::SetViaPoint { position, rpy, min_duration, index }) => {
            position == [0.0; 3] && rpy == [0.0; 3] && min_duration == 0.0 && index == 0
        }
        (request, echo) => request == echo,
    }
}

fn single(value: f64) -> Result<f32, Refusal> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "f32 is the wire's precision; overflow is refused below"
    )]
    let single = value as f32;
    if single.is_finite() { Ok(single) } else { Err(Refusal::InvalidValue) }
}

fn singles<const N: usize>(values: [f64; N]) -> Result<[f32; N], Refusal> {
    let mut singles = [0.0; N];
    for (to, from) in singles.iter_mut().zip(values) {
        *to = single(from)?;
    }
    Ok(singles)
}

fn normalized(quaternion: [f64; 4]) -> Result<[f64; 4], Refusal> {
    rotation::normalized(quaternion).ok_or(Refusal::InvalidValue)
}

/// A negative duration counts as 0, as for an arm in the lab.
fn duration(min_duration: f64) -> Result<f32, Refusal> {
    Ok(single(min_duration)?.max(0.0))
}
