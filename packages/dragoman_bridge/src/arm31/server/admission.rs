//! Converts a request's values to the service call.

use super::super::call::{ArmCall, CommandMode};
use super::super::rotation;
use super::super::wire::{Command, Datagram, JOINT_COUNT, Request, Role};

/// How to process a request.
#[derive(Debug)]
pub(super) enum Admission {
    /// Answer from measured data.
    Query,
    /// Call this service; on success answer with this datagram.
    Call(ArmCall, Datagram),
    /// The values are unusable.
    Rejected,
}

/// Checks the values of a request. NaN and infinite values are refused if the command uses them; the other fields are
/// ignored, because old clients fill them with the previous content of their buffer.
pub(super) fn admit(command: Command, datagram: Datagram) -> Admission {
    let request = Request::from_datagram(command, &datagram);
    if !request.is_finite() {
        return Admission::Rejected;
    }
    // As in the listing of the message handler: only via points have their index echoed, and only commands with values
    // have values echoed.
    let echo = datagram.echo();
    let echo = if command.is_indexed() { echo } else { echo.with_index(0) };
    match request {
        _ if command.role() == Role::Query => Admission::Query,
        _ if command.is_plain() => Admission::Call(ArmCall::Plain(command), request.encode().echo()),
        Request::SetCommandMode { mode } => match command_mode(mode) {
            Some(mode) => {
                let in_force = Request::SetCommandMode { mode: f32::from(u8::from(mode)) };
                Admission::Call(ArmCall::SetCommandMode { mode }, in_force.encode().echo())
            }
            None => Admission::Rejected,
        },
        Request::SetGoalPose { position, quaternion } => {
            match rotation::normalized(quaternion.map(f64::from)) {
                Some(quaternion) => Admission::Call(
                    ArmCall::SetGoalPose {
                        position: position.map(f64::from),
                        quaternion_xyzw: quaternion,
                        min_duration: 0.0,
                    },
                    // The listing echoes the normalized quaternion.
                    Request::SetGoalPose { position, quaternion: quaternion.map(single) }.encode().echo(),
                ),
                None => Admission::Rejected,
            }
        }
        Request::SetTimedGoalPose { position, rpy, min_duration } => {
            let min_duration = if min_duration < 0.0 { 0.0 } else { min_duration };
            Admission::Call(
                ArmCall::SetGoalPose {
                    position: position.map(f64::from),
                    quaternion_xyzw: rotation::quaternion_from_rpy(rpy.map(f64::from)),
                    min_duration: f64::from(min_duration),
                },
                Request::SetTimedGoalPose { position, rpy, min_duration }.encode().echo(),
            )
        }
        Request::SetViaPoint { position, rpy, min_duration, index } => Admission::Call(
            ArmCall::SetViaPoint {
                index,
                position: position.map(f64::from),
                quaternion_xyzw: rotation::quaternion_from_rpy(rpy.map(f64::from)),
                min_duration: duration(min_duration),
            },
            echo,
        ),
        Request::SetJointGoal { joints } => {
            Admission::Call(ArmCall::SetJointGoal { position: angles(joints), min_duration: 0.0 }, echo)
        }
        Request::SetJointViaPoint { joints, min_duration, index } => Admission::Call(
            ArmCall::SetJointViaPoint {
                index,
                position: angles(joints),
                min_duration: duration(min_duration),
            },
            echo,
        ),
        Request::Recalibrate { joints } => {
            Admission::Call(ArmCall::Recalibrate { position: angles(joints) }, echo)
        }
        _ => Admission::Rejected,
    }
}

/// Rounds as the listing does: adds 0.5 and truncates. So -1.4 is still mode 0, and 2.5 is not a mode.
fn command_mode(value: f32) -> Option<CommandMode> {
    let rounded = (f64::from(value) + 0.5).trunc();
    if rounded == 0.0 {
        Some(CommandMode::Off)
    } else if rounded == 1.0 {
        Some(CommandMode::Joint)
    } else if rounded == 2.0 {
        Some(CommandMode::Cartesian)
    } else {
        None
    }
}

/// A negative minimum has no effect, since every motion takes longer. For the services, 0 means "no minimum".
fn duration(min_duration: f32) -> f64 {
    f64::from(min_duration).max(0.0)
}

fn angles(joints: [f32; JOINT_COUNT]) -> [f64; JOINT_COUNT] {
    joints.map(f64::from)
}

#[expect(clippy::cast_possible_truncation, reason = "components of a unit quaternion fit an f32")]
fn single(value: f64) -> f32 {
    value as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_round_as_the_listing_does() {
        let mode = |value| command_mode(value).map(u8::from);
        for (value, expected) in [
            (0.0, Some(0)),
            (-0.0, Some(0)),
            (0.49, Some(0)),
            (0.5, Some(1)),
            (1.49, Some(1)),
            (1.5, Some(2)),
            (2.0, Some(2)),
            (2.49, Some(2)),
            (2.5, None),
            (3.0, None),
            (-0.5, Some(0)),
            (-1.4, Some(0)),
            (-1.5, None),
            (f32::MAX, None),
            (f32::MIN, None),
        ] {
            assert_eq!(mode(value), expected, "{value}");
        }
    }
}
