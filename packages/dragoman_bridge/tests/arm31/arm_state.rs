//! The state that the client side derives for its arm, on virtual time.

use std::time::Duration;

use dragoman_bridge::arm31::wire::Command;
use dragoman_bridge::arm31::{
    ArmCall, ArmState, CommandMode, MotionEvent, MotionState, Outcome, Refusal, Tolerances, ToolPose,
};

const IDENTITY: [f64; 4] = [0.0, 0.0, 0.0, 1.0];
const AT_REST: MotionState = MotionState {
    mode: CommandMode::Off,
    moving: false,
    via_point: None,
    has_goal_pose: false,
    has_joint_goal: false,
};

struct Arm {
    state: ArmState,
    now: Duration,
}

impl Arm {
    /// An arm in `mode`.
    fn new(mode: CommandMode) -> Self {
        let state = ArmState::new(Tolerances { pose: 1e-3, joint: 1e-3 });
        let mut arm = Self { state, now: Duration::ZERO };
        arm.ends(ArmCall::SetCommandMode { mode }, Outcome::Mode(mode));
        arm
    }

    fn ends(&mut self, call: ArmCall, outcome: Outcome) {
        self.state.handle_result(self.now, &call, outcome);
    }

    fn done(&mut self, call: ArmCall) {
        self.ends(call, Outcome::Done);
    }

    /// Measures the joints at `position` for this time.
    fn joints(&mut self, position: f64, milliseconds: u64) -> bool {
        let mut arrived = false;
        for _ in 0..=milliseconds / 25 {
            arrived |= self.state.handle_joints(self.now, &[position; 6]);
            self.now += Duration::from_millis(25);
        }
        arrived
    }

    fn is_moving(&self) -> bool {
        self.state.motion().moving
    }
}

fn at(x: f64) -> ToolPose {
    ToolPose { position: [x, 0.0, 0.3], quaternion_xyzw: IDENTITY }
}

fn goal(x: f64) -> ArmCall {
    ArmCall::SetGoalPose { position: at(x).position, quaternion_xyzw: IDENTITY, min_duration: 0.0 }
}

fn via(index: u8, x: f64) -> ArmCall {
    ArmCall::SetViaPoint { index, position: at(x).position, quaternion_xyzw: IDENTITY, min_duration: 0.0 }
}

#[test]
fn a_controller_starts_in_mode_off_with_its_drives_on() {
    let state = ArmState::new(Tolerances { pose: 1e-3, joint: 1e-3 });
    assert_eq!(state.motion(), AT_REST);
    assert!(state.is_enabled() && state.setpoint().is_none());
}

#[test]
fn a_motion_lasts_from_its_begin_to_the_goal_and_the_goal_stays_the_setpoint() {
    let mut arm = Arm::new(CommandMode::Cartesian);
    arm.done(goal(0.5));
    assert_eq!(arm.state.setpoint(), None, "it does not move there yet");
    arm.ends(ArmCall::Plain(Command::BeginMotion), Outcome::Refused(Refusal::Rejected));
    assert!(!arm.is_moving());
    arm.done(ArmCall::Plain(Command::BeginMotion));
    // A goal that is set meanwhile is for the next motion.
    arm.done(goal(0.9));
    let moving = MotionState { mode: CommandMode::Cartesian, moving: true, has_goal_pose: true, ..AT_REST };
    assert_eq!(arm.state.motion(), moving);
    assert_eq!(arm.state.setpoint(), Some(at(0.5)));
    assert!(!arm.state.handle_pose(&at(0.498)));
    assert!(arm.is_moving());
    let opposite = ToolPose { quaternion_xyzw: IDENTITY.map(|component| -component), ..at(0.4995) };
    assert!(arm.state.handle_pose(&opposite), "the same rotation");
    assert_eq!(arm.state.motion(), MotionState { moving: false, ..moving });
    assert_eq!(arm.state.setpoint(), Some(at(0.5)));
    assert!(!arm.state.handle_pose(&opposite), "reported once");
}

#[test]
fn everything_that_stops_the_arm_ends_the_motion() {
    let off = ArmCall::SetCommandMode { mode: CommandMode::Off };
    for (call, outcome) in [
        (ArmCall::Plain(Command::Stop), Outcome::Done),
        (ArmCall::Plain(Command::Disable), Outcome::Done),
        (off, Outcome::Mode(CommandMode::Off)),
    ] {
        let mut arm = Arm::new(CommandMode::Cartesian);
        arm.done(goal(0.5));
        arm.done(ArmCall::Plain(Command::BeginMotion));
        arm.ends(call, Outcome::Refused(Refusal::TimedOut));
        arm.done(ArmCall::Plain(Command::ResetJointMotion));
        arm.state.handle_event(MotionEvent::JointLimit);
        assert!(arm.is_moving(), "{call:?}");
        arm.ends(call, outcome);
        assert!(!arm.is_moving() && arm.state.setpoint().is_none(), "{call:?}");
    }
    for event in [MotionEvent::WorkspaceLimit, MotionEvent::InverseKinematicsDivergence] {
        let mut arm = Arm::new(CommandMode::Cartesian);
        arm.done(goal(0.5));
        arm.done(ArmCall::Plain(Command::BeginMotion));
        arm.state.handle_event(event);
        assert!(!arm.is_moving());
    }
}

#[test]
fn joint_motions_end_at_their_goal_or_with_a_reset() {
    let mut arm = Arm::new(CommandMode::Joint);
    arm.joints(0.0, 100);
    arm.done(ArmCall::SetJointGoal { position: [0.5; 6], min_duration: 0.0 });
    arm.done(ArmCall::Plain(Command::BeginJointMotion));
    arm.state.handle_event(MotionEvent::WorkspaceLimit);
    assert!(!arm.state.handle_pose(&at(0.5)) && arm.is_moving());
    assert!(!arm.joints(0.3, 100));
    assert!(arm.joints(0.5, 0));
    assert_eq!(arm.state.motion(), MotionState { mode: CommandMode::Joint, has_joint_goal: true, ..AT_REST });
    arm.done(ArmCall::Plain(Command::BeginJointMotion));
    arm.done(ArmCall::Plain(Command::ResetJointMotion));
    assert!(!arm.is_moving());
}

#[test]
fn a_sequence_goes_through_the_points_up_to_the_first_gap() {
    let mut arm = Arm::new(CommandMode::Cartesian);
    for (index, x) in [(0, 0.1), (1, 0.2), (3, 0.4)] {
        arm.done(via(index, x));
    }
    arm.done(via(20, 0.5));
    arm.done(ArmCall::Plain(Command::ExecuteViaPoints));
    arm.done(ArmCall::Plain(Command::ClearViaPoints));
    assert_eq!((arm.state.motion().via_point, arm.state.setpoint()), (Some(0), Some(at(0.1))));
    assert!(!arm.state.handle_pose(&at(0.1)));
    assert_eq!((arm.state.motion().via_point, arm.state.setpoint()), (Some(1), Some(at(0.2))));
    assert!(arm.state.handle_pose(&at(0.2)));
    assert_eq!((arm.state.motion().via_point, arm.is_moving()), (None, false));
    assert_eq!(arm.state.setpoint(), Some(at(0.2)));
}

#[test]
fn a_motion_whose_goal_is_not_known_or_not_reached_ends_when_the_joints_rest() {
    let mut unknown = Arm::new(CommandMode::Cartesian);
    unknown.joints(0.0, 10_000);
    unknown.done(ArmCall::Plain(Command::BeginMotion));
    assert_eq!(unknown.state.setpoint(), None);
    let mut short = Arm::new(CommandMode::Joint);
    short.done(ArmCall::SetJointGoal { position: [9.0; 6], min_duration: 0.0 });
    short.ends(ArmCall::Plain(Command::BeginJointMotion), Outcome::Refused(Refusal::TimedOut));
    for mut arm in [unknown, short] {
        for step in 1..200 {
            assert!(!arm.joints(f64::from(step) * 0.002, 0) && arm.is_moving(), "step {step}");
        }
        assert!(!arm.joints(0.4, 1900) && arm.is_moving());
        assert!(!arm.joints(0.4, 200) && !arm.is_moving());
    }
}

#[test]
fn a_goal_that_got_no_answer_is_not_known() {
    let mut arm = Arm::new(CommandMode::Cartesian);
    arm.done(goal(0.5));
    arm.ends(goal(0.7), Outcome::Refused(Refusal::TimedOut));
    arm.done(ArmCall::Plain(Command::BeginMotion));
    assert!(!arm.state.handle_pose(&at(0.5)) && !arm.state.handle_pose(&at(0.7)));
    assert_eq!((arm.is_moving(), arm.state.setpoint()), (true, None));
}

#[test]
fn drives_are_on_or_off_as_last_accepted() {
    let mut arm = Arm::new(CommandMode::Off);
    arm.ends(ArmCall::Plain(Command::Disable), Outcome::Refused(Refusal::DidNotStop));
    assert!(arm.state.is_enabled());
    arm.done(ArmCall::Plain(Command::Disable));
    assert!(!arm.state.is_enabled());
    arm.ends(ArmCall::Plain(Command::Enable), Outcome::Refused(Refusal::DidNotStart));
    assert!(!arm.state.is_enabled());
    arm.done(ArmCall::Plain(Command::Enable));
    assert!(arm.state.is_enabled());
}
