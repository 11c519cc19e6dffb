//! Sensor data in programs and the status: events, docking, moving objects, safe speeds.

use dragoman_neobotix::documents::{self, Document};

use super::*;
use crate::program::interpreter::Conditions;

/// A platform that runs this task.
fn running(steps: &str) -> Fixture {
    let text = format!("<program version=\"1.0\"><task name=\"t\" version=\"1.0\">{steps}</task></program>");
    let program = Program::from(&documents::Program::read(text.as_bytes()).unwrap());
    let mut fixture = Fixture::new(without_planning());
    let mode = Command::SetMode(MotionMode::Program);
    for command in [Command::SetProgram(program), Command::Connect, Command::Initialize, mode, Command::Start]
    {
        fixture.send(command).unwrap();
    }
    fixture.run(0.1);
    fixture
}

fn logs(fixture: &Fixture) -> Vec<&str> {
    let messages = fixture.events.iter().filter_map(|event| match event {
        Event::Program(Effect::Log { message, .. }) => Some(message.as_str()),
        _ => None,
    });
    messages.collect()
}

/// PlatformCtrl guide, 6.5: the events of `wait`.
#[test]
fn events_of_the_sensors_and_the_user_go_on_with_the_program() {
    let named = |name: &str| -> &'static [String] { vec![name.to_owned()].leak() };
    let [front, stop] = ["front", "stop"].map(named);
    for (event, conditions) in [
        ("<userevent id=\"stop\"/>", Conditions { user_events: stop, ..Conditions::default() }),
        ("<person/>", Conditions { person: true, ..Conditions::default() }),
        ("<ball/>", Conditions { ball: true, ..Conditions::default() }),
        ("<movingobject/>", Conditions { moving_object: true, ..Conditions::default() }),
        ("<infrared direction=\"front\"/>", Conditions { infrared: front, ..Conditions::default() }),
        ("<radar direction=\"front\"/>", Conditions { radar: front, ..Conditions::default() }),
    ] {
        let steps = format!("<wait>{event}</wait><log type=\"info\" message=\"seen\"/>");
        let mut fixture = running(&steps);
        fixture.run(1.0);
        assert!(logs(&fixture).is_empty(), "{event}");
        fixture.input.conditions = conditions;
        fixture.cycle();
        assert_eq!(logs(&fixture), ["seen"], "{event}");
    }
}

/// PlatformCtrl guide, 6.4: APP_ERR_DOCKING.
#[test]
fn a_program_docks_at_a_charging_station_and_says_if_it_failed() {
    let dock = "<motion><moveto><chargingstation/></moveto></motion>";
    let mut fixture = running(dock);
    fixture.run(0.5);
    // No station was detected.
    assert_eq!(fixture.platform.status().docking, Docking::Failed);
    assert!(
        fixture
            .events
            .contains(&Event::ProgramRefused(Refusal::NoTrackedObject(TrackedObject::ChargingStation)))
    );

    let station = Pose::new(1.5, 0.5, 0.3);
    let wait = "<wait><delay amount=\"200\"/></wait>";
    let mut fixture = running(&format!("{wait}{dock}"));
    let found: &'static [(TrackedObject, Pose)] = vec![(TrackedObject::ChargingStation, station)].leak();
    fixture.input.conditions = Conditions { tracked_objects: found, ..Conditions::default() };
    fixture.run(1.0);
    assert_eq!(fixture.platform.status().docking, Docking::UnderWay);
    fixture.run(15.0);
    fixture.assert_at(station);
    // After three seconds it should be docked.
    assert_eq!(fixture.platform.status().docking, Docking::Arrived);
    fixture.send(Command::Stop).unwrap();
    fixture.send(Command::SetMode(MotionMode::Automatic)).unwrap();
    fixture.send(Command::Start).unwrap();
    fixture.send(Command::MoveAbsolute(Pose::ORIGIN)).unwrap();
    assert_eq!(fixture.platform.status().docking, Docking::None);
}

/// PlatformCtrl guide, 5.9: TrackingEnabled.
#[test]
fn moving_objects_are_tracked_while_the_parameter_is_on() {
    for tracking in [true, false] {
        let mut fixture = Fixture::moving(Settings { tracking, ..Settings::default() }, MotionMode::None);
        for step in 0..60 {
            let x = 2.0 + 0.02 * f64::from(step);
            fixture.things = [-0.05, 0.0, 0.05].map(|part| Point::new(x, 1.0 + part)).to_vec();
            fixture.cycle();
        }
        let found: Vec<Point> = fixture.platform.moving_objects().map(|object| object.place).collect();
        assert_eq!(found.len(), usize::from(tracking));
        assert!(found.iter().all(|place| (place - Point::new(3.18, 1.0)).norm() < 0.05), "{found:?}");
    }
}

/// PlatformCtrl guide, 6.4, CMD_GET_DEBUG_DATA: safe velocities for the forward and the backward laser.
#[test]
fn safe_speeds_are_those_at_which_it_stops_in_time() {
    let mut fixture = Fixture::moving(Settings::default(), MotionMode::None);
    let free = [1.5; 4];
    assert_eq!(fixture.platform.safe_speeds(), free);
    fixture.things = vec![Point::new(0.9, 0.0)];
    fixture.run(0.1);
    let [ahead, back, ultrasonic, _] = fixture.platform.safe_speeds();
    // 0.3 m are free in front of the margin of 0.15 m: less than the 0.05 m of reaction and 0.25 m of braking at 0.7
    // m/s.
    assert!((0.5..0.75).contains(&ahead), "{ahead}");
    assert_eq!([back, ultrasonic], [1.5; 2]);
}

#[test]
fn corners_are_where_two_lines_of_the_scan_meet() {
    let mut fixture = Fixture::moving(Settings::default(), MotionMode::None);
    let wall = |from: [f64; 2], to: [f64; 2]| {
        (0..=20).map(move |part| {
            let part = f64::from(part) / 20.0;
            Point::new(from[0] + (to[0] - from[0]) * part, from[1] + (to[1] - from[1]) * part)
        })
    };
    fixture.things = wall([1.0, -2.0], [3.0, -2.0]).chain(wall([3.0, -1.9], [3.0, 0.0])).collect();
    fixture.run(0.1);
    let corners: Vec<Point> = fixture.platform.corners().collect();
    assert_eq!(corners.len(), 1, "{corners:?}");
    assert!((corners[0] - Point::new(3.0, -2.0)).norm() < 0.05, "{corners:?}");
}
