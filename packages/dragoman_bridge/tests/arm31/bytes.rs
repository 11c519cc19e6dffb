//! Every command, every answer and every error text through the server, byte by byte.
//! Source: Ranger thesis, appendix A and listing of the message handler; protocol page where these disagree.

use std::f64::consts::FRAC_1_SQRT_2;

use dragoman_bridge::arm31::wire::Command;
use dragoman_bridge::arm31::{ArmCall, CommandMode, MotionEvent, Outcome};

use crate::arm31::support::{REFUSED, ServerFixture, message, plain, text};

/// Commands without data: the answer has no data either, whatever the request's unused fields contain.
#[test]
fn commands_without_data() {
    for (request, answer, call) in [
        (b"BG", b"GB", ArmCall::Plain(Command::BeginMotion)),
        (b"jB", b"Bj", ArmCall::Plain(Command::BeginJointMotion)),
        (b"jC", b"Cj", ArmCall::Plain(Command::ClearJointViaPoints)),
        (b"jE", b"Ej", ArmCall::Plain(Command::ExecuteJointViaPoints)),
        (b"jR", b"Rj", ArmCall::Plain(Command::ResetJointMotion)),
        (b"OF", b"FO", ArmCall::Plain(Command::Disable)),
        (b"ON", b"NO", ArmCall::Plain(Command::Enable)),
        (b"ST", b"TS", ArmCall::Plain(Command::Stop)),
        (b"VC", b"CV", ArmCall::Plain(Command::ClearViaPoints)),
        (b"VE", b"EV", ArmCall::Plain(Command::ExecuteViaPoints)),
    ] {
        let mut expected = [0; 31];
        expected[..2].copy_from_slice(answer);
        assert_eq!(ServerFixture::new().served(&plain(request), Outcome::Done), (call, expected));
        let noisy = message(request, [f32::NAN; 7], 99);
        assert_eq!(ServerFixture::new().served(&noisy, Outcome::Done), (call, expected));
        assert_eq!(ServerFixture::new().served(&noisy[..30], Outcome::Done), (call, expected));
    }
}

#[test]
fn cm_answers_with_the_mode_in_force() {
    let mut fixture = ServerFixture::new();
    let request = message(b"CM", [1.7, 5.0, f32::NAN, 0.0, 0.0, 0.0, 9.0], 4);
    let call = ArmCall::SetCommandMode { mode: CommandMode::Cartesian };
    let two = *b"MC\0\0\0\x40\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    assert_eq!(fixture.served(&request, Outcome::Done), (call, two));
    let one = *b"MC\0\0\x80\x3f\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    assert_eq!(fixture.served(&request, Outcome::Mode(CommandMode::Joint)), (call, one));
    for mode in [-1.5, 2.5, 3.0, 1e30, f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let request = message(b"CM", [mode, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], 0);
        assert_eq!(fixture.answered(&request), text("ER20 Cmd CM rejected"), "{mode}");
    }
}

#[test]
fn gl_normalizes_and_echoes_the_normalized_quaternion() {
    let mut fixture = ServerFixture::new();
    let request = message(b"GL", [0.1, -0.2, 0.3, 0.0, 3.0, 0.0, 4.0], 7);
    let (call, answer) = fixture.served(&request, Outcome::Done);
    assert_eq!(answer, message(b"LG", [0.1, -0.2, 0.3, 0.0, 0.6, 0.0, 0.8], 0));
    let ArmCall::SetGoalPose { position, quaternion_xyzw, min_duration } = call else { panic!("{call:?}") };
    assert_eq!(position, [0.1_f32, -0.2, 0.3].map(f64::from));
    assert_eq!((quaternion_xyzw, min_duration), ([0.0, 0.6, 0.0, 0.8], 0.0));
    let zero = message(b"GL", [0.1, -0.2, 0.3, 0.0, -0.0, 0.0, 0.0], 0);
    assert_eq!(fixture.answered(&zero), text("ER20 Cmd GL rejected"));
}

#[test]
fn gt_takes_roll_pitch_yaw_and_clamps_negative_time() {
    let mut fixture = ServerFixture::new();
    let quarter = std::f32::consts::FRAC_PI_2;
    let request = message(b"GT", [0.1, -0.2, 0.3, quarter, 0.0, 0.0, -2.0], 7);
    let (call, answer) = fixture.served(&request, Outcome::Done);
    assert_eq!(answer, message(b"TG", [0.1, -0.2, 0.3, quarter, 0.0, 0.0, 0.0], 0));
    let ArmCall::SetGoalPose { quaternion_xyzw, min_duration, .. } = call else { panic!("{call:?}") };
    assert_eq!(min_duration, 0.0);
    for (component, expected) in quaternion_xyzw.iter().zip([FRAC_1_SQRT_2, 0.0, 0.0, FRAC_1_SQRT_2]) {
        assert!((component - expected).abs() < 1e-7, "{quaternion_xyzw:?}");
    }
    let timed = message(b"GT", [0.0, -0.0, 0.0, 7.0, -9.0, 0.0, 2.5], 0);
    let (call, answer) = fixture.served(&timed, Outcome::Done);
    assert_eq!(answer, message(b"TG", [0.0, -0.0, 0.0, 7.0, -9.0, 0.0, 2.5], 0));
    assert!(matches!(call, ArmCall::SetGoalPose { min_duration: 2.5, .. }));
}

#[test]
fn via_points_are_echoed_with_their_index() {
    let mut fixture = ServerFixture::new();
    let values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
    let (call, answer) = fixture.served(&message(b"jV", values, 19), Outcome::Done);
    assert_eq!(answer, message(b"Vj", values, 19));
    let position = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    assert_eq!(call, ArmCall::SetJointViaPoint { index: 19, position, min_duration: 7.0 });

    let values = [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 7.0];
    let (call, answer) = fixture.served(&message(b"VP", values, 255), Outcome::Done);
    assert_eq!(answer, message(b"PV", values, 255));
    let expected = ArmCall::SetViaPoint {
        index: 255,
        position: [1.0, 2.0, 3.0],
        quaternion_xyzw: [0.0, 0.0, 0.0, 1.0],
        min_duration: 7.0,
    };
    assert_eq!(call, expected);

    // 30 bytes: index 0.
    let (call, answer) = fixture.served(&message(b"VP", values, 9)[..30], Outcome::Done);
    assert!(matches!(call, ArmCall::SetViaPoint { index: 0, .. }));
    assert_eq!(answer, message(b"PV", values, 0));
}

/// Six angles; the seventh float is unused, so it is neither checked nor changed in the echo.
#[test]
fn a_joint_goal_echoes_every_bit() {
    let mut fixture = ServerFixture::new();
    let position = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let (request, expected) = six_angles(b"jG", b"Gj");
    let call = ArmCall::SetJointGoal { position, min_duration: 0.0 };
    assert_eq!(fixture.served(&request, Outcome::Done), (call, expected));
}

/// A request with six angles and the bits of a NaN behind them, and its answer.
fn six_angles(letters: &[u8; 2], answer: &[u8; 2]) -> ([u8; 31], [u8; 31]) {
    let [mut request, mut expected] = [(letters, 3), (answer, 0)]
        .map(|(letters, index)| message(letters, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0.0], index));
    for bytes in [&mut request, &mut expected] {
        bytes[26..30].copy_from_slice(&[0x01, 0x00, 0xa0, 0xff]);
    }
    (request, expected)
}

/// The first measurements after the call may have been on their way.
#[test]
fn a_recalibration_is_answered_when_the_measurements_show_it() {
    let mut fixture = ServerFixture::new();
    let (request, expected) = six_angles(b"RC", b"CR");
    let position = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let begin = |fixture: &mut ServerFixture| {
        fixture.receive(1, &request);
        let (id, call) = fixture.call();
        assert_eq!(call, ArmCall::Recalibrate { position });
        fixture.receive(1, &plain(b"jP"));
        fixture.result(id, Outcome::Done);
    };
    begin(&mut fixture);
    for measured in [[0.0; 6], position, position] {
        assert_eq!(fixture.sent(), []);
        fixture.server.handle_joint_state(fixture.now, &measured);
        assert_eq!(fixture.sent(), []);
        fixture.server.handle_pose(fixture.now, [0.0; 3], [0.0, 0.0, 0.0, 1.0]);
    }
    let shown = message(b"Pj", [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0.0], 0);
    assert_eq!(fixture.sent(), [(1, expected), (1, shown)]);
    // Without measurements at the latest after 0.2 s.
    begin(&mut fixture);
    assert_eq!(fixture.server.poll_timeout(), Some(fixture.now + std::time::Duration::from_millis(200)));
    fixture.pass(199);
    assert_eq!(fixture.sent(), []);
    fixture.pass(1);
    assert_eq!(fixture.sent(), [(1, expected), (1, shown)]);
    // A refusal waits for nothing.
    fixture.receive(1, &request);
    let (id, _) = fixture.call();
    fixture.result(id, REFUSED);
    assert_eq!(fixture.sent(), [(1, text("ER20 Cmd RC rejected"))]);
}

#[test]
fn queries_are_rejected_until_there_are_data() {
    let mut fixture = ServerFixture::new();
    for query in [b"jP", b"PS", b"TM"] {
        let words = format!("ER20 Cmd {} rejected", String::from_utf8_lossy(query));
        assert_eq!(fixture.answered(&plain(query)), text(&words));
    }
    fixture.server.handle_joint_state(fixture.now, &[1.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
    let joints = *b"Pj\0\0\x80\x3f\0\0\x80\x3f\0\0\x80\x3f\0\0\x80\x3f\0\0\x80\x3f\0\0\x80\x3f\0\0\0\0\0";
    assert_eq!(fixture.answered(&plain(b"jP")), joints);
    fixture.server.handle_joint_state(fixture.now, &[2.0; 9]);
    assert_eq!(fixture.answered(&plain(b"jP")), message(b"Pj", [2.0; 7], 0));

    fixture.server.handle_pose(fixture.now, [1.0, -0.5, 0.25], [0.0, 0.0, 0.0, -2.0]);
    let pose = *b"SP\0\0\x80\x3f\0\0\x00\xbf\0\0\x80\x3e\0\0\0\x80\0\0\0\x80\0\0\0\x80\0\0\x80\x3f\0";
    assert_eq!(fixture.answered(&plain(b"PS")), pose);

    fixture.server.handle_drive_status(fixture.now, &[33.0, f64::NAN, -1000.0]);
    let temperatures = [33.0, -1000.0, -1000.0, -1000.0, -1000.0, -1000.0, -1000.0];
    assert_eq!(fixture.answered(&plain(b"TM")), message(b"MT", temperatures, 0));
}

#[test]
fn measurements_that_are_not_numbers_keep_the_last_ones() {
    let mut fixture = ServerFixture::new();
    fixture.server.handle_joint_state(fixture.now, &[1.0; 7]);
    fixture.server.handle_pose(fixture.now, [1.0; 3], [0.0, 0.0, 0.0, 1.0]);
    for bad in [f64::NAN, f64::INFINITY, 1e300] {
        fixture.server.handle_joint_state(fixture.now, &[0.0, bad]);
        fixture.server.handle_pose(fixture.now, [0.0, bad, 0.0], [0.0, 0.0, 0.0, 1.0]);
    }
    fixture.server.handle_joint_state(fixture.now, &[]);
    fixture.server.handle_pose(fixture.now, [0.0; 3], [0.0; 4]);
    fixture.server.handle_pose(fixture.now, [0.0; 3], [0.0, f64::NAN, 0.0, 1.0]);
    assert_eq!(fixture.answered(&plain(b"jP")), message(b"Pj", [1.0; 7], 0));
    assert_eq!(fixture.answered(&plain(b"PS")), message(b"SP", [1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0], 0));
    assert_eq!(fixture.server.statistics().refused_measurements, 9);
}

/// Every value that a command uses, with NaN and the infinities.
#[test]
fn values_that_are_not_finite_are_rejected() {
    for (letters, count) in
        [(b"CM", 1), (b"GL", 7), (b"GT", 7), (b"jG", 6), (b"jV", 7), (b"RC", 6), (b"VP", 7)]
    {
        for field in 0..count {
            for bad in [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                let mut values = [1.0; 7];
                values[field] = bad;
                let words = format!("ER20 Cmd {} rejected", String::from_utf8_lossy(letters));
                assert_eq!(ServerFixture::new().answered(&message(letters, values, 0)), text(&words));
            }
        }
    }
}

#[test]
fn refusals_have_their_texts() {
    for letters in ["BG", "CM", "GL", "GT", "jB", "jC", "jE", "jG", "jR", "jV", "RC", "ST", "VC", "VE", "VP"]
    {
        let bytes: &[u8; 2] = letters.as_bytes().try_into().expect("two letters");
        let (_, answer) = ServerFixture::new().served(&message(bytes, [1.0; 7], 0), REFUSED);
        assert_eq!(answer, text(&format!("ER20 Cmd {letters} rejected")));
    }
    assert_eq!(
        ServerFixture::new().served(&plain(b"ON"), REFUSED).1,
        *b"ER11 Arm did not start\0\0\0\0\0\0\0\0\0"
    );
    assert_eq!(
        ServerFixture::new().served(&plain(b"OF"), REFUSED).1,
        *b"ER10 Arm did not stop\0\0\0\0\0\0\0\0\0\0"
    );
}

#[test]
fn a_service_that_does_not_answer_is_a_refusal() {
    for (letters, words) in [
        (b"BG", "ER20 Cmd BG rejected"),
        (b"ST", "ER20 Cmd ST rejected"),
        (b"ON", "ER11 Arm did not start"),
        (b"OF", "ER10 Arm did not stop"),
    ] {
        let mut fixture = ServerFixture::new();
        fixture.receive(1, &plain(letters));
        let (id, _) = fixture.call();
        fixture.pass(4999);
        assert_eq!(fixture.sent(), []);
        assert_eq!(fixture.server.poll_timeout(), Some(fixture.now + std::time::Duration::from_millis(1)));
        fixture.pass(1);
        assert_eq!(fixture.sent(), [(1, text(words))]);
        fixture.result(id, Outcome::Done);
        assert_eq!(fixture.sent(), []);
        assert_eq!((fixture.server.statistics().late_results, fixture.server.poll_timeout()), (1, None));
    }
}

#[test]
fn conditions_have_their_texts() {
    for (event, words) in [
        (MotionEvent::WorkspaceLimit, "ER21 Work space limit."),
        (MotionEvent::JointLimit, "WN12 Joint limit."),
        (MotionEvent::InverseKinematicsDivergence, "WN22 Inv Kin Divergence."),
    ] {
        let mut fixture = ServerFixture::new();
        fixture.receive(1, b"anything");
        fixture.sent();
        fixture.server.handle_event(fixture.now, event);
        assert_eq!(fixture.sent(), [(1, text(words))]);
    }
}

#[test]
fn sizes_from_nothing_to_a_full_packet() {
    let packet = [b'P'; 2001];
    for size in 0..=2000 {
        let mut fixture = ServerFixture::new();
        fixture.receive(1, &packet[..size]);
        fixture.no_call();
        let expected = match size {
            0 => vec![],
            1 => vec![(1, text("ER01 Msg P? undersized."))],
            2..30 => vec![(1, text("ER01 Msg PP undersized."))],
            _ => vec![(1, text("ER00 Cmd PP not understood"))],
        };
        assert_eq!(fixture.sent(), expected, "{size}");
    }
    // A valid command with one byte too many is not understood either.
    let mut long = plain(b"BG").to_vec();
    long.push(0);
    assert_eq!(ServerFixture::new().answered(&long), text("ER00 Cmd BG not understood"));
}

#[test]
fn every_pair_of_letters_gets_exactly_one_reaction() {
    let mut fixture = ServerFixture::new();
    let mut commands = 0;
    for pair in 0..=u16::MAX {
        let letters = pair.to_be_bytes();
        fixture.now += std::time::Duration::from_millis(1);
        fixture.receive(1, &plain(&letters));
        let call = fixture.server.poll_call();
        if let Some((id, _)) = call {
            fixture.result(id, Outcome::Done);
        }
        if letters == *b"RC" {
            // The time in which measurements show it.
            fixture.pass(200);
        }
        let sent = fixture.sent();
        assert_eq!(sent.len(), 1, "{letters:?}");
        if sent[0].1.starts_with(b"ER00") {
            assert!(sent[0].1[9..11].iter().all(u8::is_ascii_graphic));
        } else {
            commands += 1;
        }
    }
    assert_eq!(commands, Command::all().count());
}

#[test]
fn letters_that_do_not_print_are_shown_as_question_marks() {
    assert_eq!(ServerFixture::new().answered(&plain(b"\0\x1b")), text("ER00 Cmd ?? not understood"));
    assert_eq!(ServerFixture::new().answered(b"\xff9"), text("ER01 Msg ?9 undersized."));
}

/// Two servers that take each other for clients must not exchange errors forever.
#[test]
fn error_texts_are_never_answered() {
    let mut fixture = ServerFixture::new();
    for words in ["ER00 Cmd XX not understood", "ER20 Cmd BG rejected", "WN12 Joint limit."] {
        fixture.receive(1, &text(words));
    }
    fixture.no_call();
    assert_eq!(fixture.sent(), []);
    assert_eq!(fixture.server.statistics().ignored, 3);
}
