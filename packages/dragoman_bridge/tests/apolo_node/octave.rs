//! The functions for MATLAB, run by GNU Octave: a program of others, so these tests are in real time.

use crate::apolo_node::real::RealLab;
use crate::apolo_node::run_octave::{has_octave, run};

/// Runs `script` in Octave with our functions; returns its output.
fn octave(lab: &RealLab, script: &str) -> String {
    run(lab.address.port(), script)
}

#[test]
fn the_manual_s_examples() {
    if !has_octave() {
        return;
    }
    let lab = RealLab::start();
    let printed = octave(&lab, "examples");
    println!("{printed}");
    for expected in [
        "Puma560 would not collide",
        "-0.250000   0.200000   0.060000   1.570800   0.691200   0.942500",
        "1.0000   2.0000   0.1000   0.5000",
    ] {
        assert!(printed.contains(expected), "{expected}");
    }
    let world = lab.world.lock().unwrap();
    assert_eq!(world.joints, [0.5, 0.23, -0.1]);
    assert_eq!(world.poses["pieza"], [1.0, 1.0, 1.0, 0.5, 0.0, 0.0]);
    // Placed, and then lifted up.
    assert_eq!(world.poses["Pioneer3AT"], [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
    assert_eq!(world.updates, 3);
}

#[test]
fn every_function_has_the_results_of_the_manual() {
    if !has_octave() {
        return;
    }
    let lab = RealLab::start();
    octave(
        &lab,
        "
        assert(apoloCheckRobotJoints('Puma560', [0.5 0.23 -0.1], 'world1') == 0);
        assert(apoloCheckRobotJoints('Puma560', [1.5 0.23 -0.1]) == 1);
        apoloSetRobotJoints('Puma560', [0.1 0.2 0.3]');
        p = apoloGetLocation('pieza');
        assert(isequal(size(p), [1 6]) && abs(p(4) - 1.5708) < 1e-12);
        assert(isequal(apoloGetLocation('pieza', 'World 1'), p));
        assert(isequal(apoloGetLocationMRobot('Neo'), [1 2 0.1 0.5]));
        assert(apoloMoveMRobot('Pioneer3AT', [0.1 0.0], 0.1) == 1);
        assert(apoloMoveMRobot('Pioneer3AT', [2 0], 100, 'World 1') == 0);
        apoloUpdate;
        apoloUpdate('World1');
        assert(norm(apoloGetOdometry('Pioneer3AT') - [0.01 0 0]) < 1e-12);
        assert(apoloPlaceMRobot('Pioneer3AT', [0.7 0.7 0], 0.23) == 1);
        assert(apoloPlaceMRobot('Pioneer3AT', [70 0.7 0], 0.23, 'World 1') == 0);
        apoloResetOdometry('Pioneer3AT', [1 2 3]);
        assert(isequal(apoloGetOdometry('Pioneer3AT', 'World 1'), [1 2 3]));
        apoloResetOdometry('Pioneer3AT');
        assert(isequal(apoloGetOdometry('Pioneer3AT'), [0 0 0]));
        d = apoloGetLaserData('LMS100');
        assert(isequal(size(d), [1 541]) && abs(d(541) - 5.4) < 1e-12);
        m = apoloGetLaserLandMarks('LMS100');
        assert(isequal(m.id, [1 300]) && isequal(m.angle, [-0.5 0.25]) && isequal(m.distance, [2 4.5]));
        assert(apoloGetUltrasonicSensor('uc0') == 1.5);
        assert(isequal(apoloGetAllultrasonicSensors('Pioneer3AT'), [1.5 2.5]));
        apoloPlace('pieza', [1 2 3], [0.1 0.2 0.3], 'World 1');
        assert(norm(apoloGetLocation('pieza') - [1 2 3 0.1 0.2 0.3]) < 1e-12);
        apoloPlaceXYZ('pieza', 4, 5, 6);
        assert(isequal(apoloGetLocation('pieza'), [4 5 6 0 0 0]));
        apoloLinkToRobotTCP('Puma560', 'pieza', 'World 1');
        assert(isempty(apoloGetLocation('nobody')));
        assert(isempty(apoloGetLaserData('nobody')));
        failed = false;
        try
          apoloMoveMRobot('Neo', [1 2 3], 0.1);
        catch err
          failed = ~isempty(strfind(err.message, 'two'));
        end
        assert(failed);
        ",
    );
    let world = lab.world.lock().unwrap();
    assert_eq!((world.joints.as_slice(), world.updates), (&[0.1, 0.2, 0.3][..], 2));
    assert_eq!(world.links, [("Puma560".to_owned(), "pieza".to_owned())]);
}

/// The server stops and restarts: the next call connects again.
#[test]
fn a_lost_connection_is_made_again() {
    if !has_octave() {
        return;
    }
    let lab = RealLab::start();
    let address = lab.address.port();
    octave(
        &lab,
        &format!(
            "
            p = apoloGetLocation('pieza');
            apoloConnect('127.0.0.1', {address});
            assert(isequal(apoloGetLocation('pieza'), p));
            apoloDisconnect;
            assert(isequal(apoloGetLocation('pieza'), p));
            failed = false;
            try
              apoloConnect('127.0.0.1', 1);
            catch err
              failed = ~isempty(strfind(err.message, '127.0.0.1:1'));
            end
            assert(failed);
            apoloConnect;
            assert(isequal(apoloGetLocation('pieza'), p));
            "
        ),
    );
}

/// The first connection ends after one answer. A question is repeated on the next one; a move is not.
#[test]
fn a_connection_that_the_server_ends_is_made_again() {
    use std::io::Read;

    use crate::apolo_node::client::{TRUE, doubles, request};

    if !has_octave() {
        return;
    }
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || {
        let question = request(b'u', "", &["uc0"], &[]);
        let step = request(b'm', "", &["Neo"], &[0.1, 0.0, 0.1]);
        let mut served = Vec::new();
        // Question; close. Question; close at the move. Move.
        for expected in [vec![&question], vec![&question, &step], vec![&step]] {
            let mut stream = listener.accept().unwrap().0;
            for asked in expected {
                let mut bytes = vec![0; asked.len()];
                stream.read_exact(&mut bytes).unwrap();
                assert_eq!(&bytes, asked);
                served.push(bytes[4]);
                let answer = if bytes[4] == b'u' { doubles(&[1.5]) } else { TRUE.to_vec() };
                if served.len() != 3 {
                    std::io::Write::write_all(&mut stream, &answer).unwrap();
                }
            }
        }
        served
    });
    let lab = RealLab::start();
    octave(
        &lab,
        &format!(
            "
            apoloConnect('127.0.0.1', {port});
            assert(apoloGetUltrasonicSensor('uc0') == 1.5);
            pause(0.2);
            assert(apoloGetUltrasonicSensor('uc0') == 1.5);
            failed = false;
            try
              apoloMoveMRobot('Neo', [0.1 0], 0.1);
            catch err
              failed = strcmp(err.identifier, 'apolo:connectionLost');
            end
            assert(failed);
            assert(apoloMoveMRobot('Neo', [0.1 0], 0.1) == 1);
            "
        ),
    );
    assert_eq!(server.join().unwrap(), *b"uumm");
}
