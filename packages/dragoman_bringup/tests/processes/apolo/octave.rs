//! The manual's examples, and every other function, in GNU Octave with the functions of `dragoman_clients/matlab/apolo`: real,
//! because Octave is another program.

#[path = "../../../../dragoman_bridge/tests/apolo_node/run_octave.rs"]
mod run_octave;

use run_octave::has_octave;

use crate::common::Lab;
use crate::common::peers::report;

/// Runs `script` in Octave with our functions; returns its output.
fn octave(lab: &Lab, script: &str) -> String {
    run_octave::run(lab.apolo.port(), script)
}

#[test]
fn the_manual_s_examples() {
    if !has_octave() {
        return;
    }
    let lab = Lab::start();
    let printed = octave(&lab, "examples");
    for expected in [
        "Puma560 would not collide",
        "-0.250000   0.200000   0.060000   1.570800   0.691200   0.942500",
        "ans = 1",
    ] {
        assert!(printed.contains(expected), "{expected}:\n{printed}");
    }
}

#[test]
fn a_guidance_program_like_those_of_users() {
    if !has_octave() {
        return;
    }
    let lab = Lab::start();
    let printed = octave(
        &lab,
        "
        assert(apoloPlaceMRobot('Marvin', [0 -2.5 0], 0) == 1);
        assert(apoloPlaceMRobot('Pioneer3AT', [4 0.5 0], 0) == 1);
        apoloResetOdometry('Marvin', [0 0 0]);
        began = tic;
        for i = 1:200
          assert(apoloMoveMRobot('Marvin', [0.3 0.15], 0.1) == 1);
          apoloUpdate;
          odometry = apoloGetOdometry('Marvin');
          ranges = apoloGetLaserData('LMS100');
          marks = apoloGetLaserLandMarks('LMS100');
          assert(numel(odometry) == 3 && numel(ranges) == 541 && numel(marks.id) == numel(marks.angle));
        end
        printf('200 steps in Octave: %.2f s\\n', toc(began));
        assert(abs(odometry(3) - 3) < 0.2);
        assert(numel(apoloGetAllultrasonicSensors('Marvin')) == 3);
        assert(apoloGetUltrasonicSensor('uc0') > 0);
        apoloSetRobotJoints('Puma560', [0.5 0.23 -0.1], 'world1');
        apoloLinkToRobotTCP('Puma560', 'pieza');
        before = apoloGetLocation('pieza');
        assert(apoloCheckRobotJoints('Puma560', [1 0.23 -0.1]) == 0);
        assert(norm(apoloGetLocation('pieza') - before) > 0.01);
        apoloPlaceXYZ('pieza', 1, 1, 1);
        assert(isequal(apoloGetLocation('pieza'), [1 1 1 0 0 0]));
        assert(isempty(apoloGetLocation('nobody')));
        ",
    );
    report(printed.trim());
}
