//! An answer means that the next question sees what was set, also if both came in one packet. The same holds for commands
//! without an answer.

use super::assert_near;
use crate::common::Lab;
use crate::common::apolo::{TRUE, request};
use dragoman_bridge::apolo::wire::Command;

/// Commands that set a value which no question returns, and the questions.
const WITHOUT_QUESTION: [Command; 9] = [
    Command::Update,
    Command::SetRobotJoints,
    Command::CheckRobotJoints,
    Command::GetAllultrasonicSensors,
    Command::GetLaserData,
    Command::GetLaserLandMarks,
    Command::GetUltrasonicSensor,
    Command::GetLocation,
    Command::GetLocationMRobot,
];

#[test]
fn what_was_set_is_in_the_next_answer() {
    let lab = Lab::only("apolo");
    let mut client = lab.apolo();
    let mut pair = |set: Vec<u8>, is_answered: bool, letter: u8, name: &str| -> Vec<f64> {
        client.send(&[set, request(letter, "", &[name], &[])].concat());
        if is_answered {
            assert_eq!(client.answer(), TRUE);
        }
        let answer = client.answer();
        assert_eq!(answer[4], b'D');
        answer[7..].chunks_exact(8).map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap())).collect()
    };
    let mut tried = vec![Command::GetOdometry];
    for x in [0.7, 0.9, 0.8] {
        let pose = [x, 1.0, 1.0, 0.5, 0.0, 0.0];
        let placed = request(b'P', "", &["pieza"], &pose);
        assert_near(&pair(placed, false, b'G', "pieza"), &pose);
        let pose = [x, 0.7, 0.0, 0.0];
        let placed = request(b'p', "", &["Pioneer3AT"], &pose);
        assert_near(&pair(placed.clone(), true, b'g', "Pioneer3AT"), &pose);
        assert_near(&pair(placed, true, b'G', "Pioneer3AT"), &[x, 0.7, 0.0, 0.0, 0.0, 0.0]);
        let odometry = [x, 2.0, 0.25];
        let set = request(b'R', "", &["Pioneer3AT"], &odometry);
        assert_near(&pair(set, false, b'o', "Pioneer3AT"), &odometry);
        let moved = request(b'm', "", &["Pioneer3AT"], &[0.1, 0.0, 0.1]);
        assert_near(&pair(moved.clone(), true, b'g', "Pioneer3AT"), &[x + 0.01, 0.7, 0.0, 0.0]);
        let before = pair(request(b'U', "", &[], &[]), false, b'o', "Pioneer3AT");
        assert_ne!(pair(moved, true, b'o', "Pioneer3AT"), before);
    }
    tried.extend([Command::Place, Command::PlaceMRobot, Command::ResetOdometry, Command::MoveMRobot]);
    // What is at a tool moves with the arm.
    let linked = request(b'L', "", &["Puma560", "pieza"], &[]);
    let before = pair(linked, false, b'G', "pieza");
    let turned = request(b'J', "", &["Puma560"], &[0.5, 0.23, -0.1]);
    assert_ne!(pair(turned, false, b'G', "pieza"), before);
    tried.push(Command::LinkToRobotTcp);
    for command in Command::all() {
        assert!(
            WITHOUT_QUESTION.contains(&command) != tried.contains(&command),
            "{command:?} is in one of the lists"
        );
    }
}
