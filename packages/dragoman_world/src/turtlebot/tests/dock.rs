//! The docking station: its signals guide the robot in, and its contacts charge it.

use super::*;
use dragoman_base::kobuki::wire::{Charger, DockSignals};
use std::f64::consts::PI;

/// A station at the origin that looks along x.
const STATION: &str = "  - {name: dock, docking_station: true}\n";

const LEFT: DockSignals = DockSignals::NEAR_LEFT.union(DockSignals::FAR_LEFT);
const CENTER: DockSignals = DockSignals::NEAR_CENTER.union(DockSignals::FAR_CENTER);
const RIGHT: DockSignals = DockSignals::NEAR_RIGHT.union(DockSignals::FAR_RIGHT);

fn at_station(x: f64, y: f64, heading: f64, bodies: &str) -> Lab {
    let mut worlds = room(&format!("{STATION}{bodies}"));
    // The robot of `room` begins in the station.
    assert!(worlds.place_m_robot(None, ROBOT, [x, y, 0.1], heading).unwrap());
    let robot = Turtlebot::new(&mut worlds, None, ROBOT).unwrap();
    let settings =
        KobukiSettings { noise: Noise::None, boot_time: Duration::ZERO, ..KobukiSettings::default() };
    let widowx = Widowx::new(WidowxSettings { positions: FOLDED, ..WidowxSettings::default() });
    let mut lab = Lab { worlds, kobuki: Kobuki::new(settings), widowx, robot, now: Duration::ZERO };
    lab.run(0.1);
    lab
}

/// Docks as the guide of the manufacturer describes it: turn until a receiver sees a field, drive across to the middle
/// field, turn to it, follow it.
fn dock(lab: &mut Lab) -> bool {
    // The last turn, and for how many steps it still goes on: until the station is in the middle of the receiver's field.
    let (mut turn, mut rest) = (0.5, 0);
    for _ in 0..1500 {
        let FrontSensors { left, center, right } = lab.kobuki.inputs.dock_ir;
        if lab.kobuki.inputs.charger.is_some() {
            lab.stop();
            return lab.kobuki.inputs.charger.is_some();
        }
        let (linear, angular) = if rest > 0 {
            rest -= 1;
            (0.0, turn)
        } else if center.intersects(CENTER) {
            // The left of the station is on the right of a robot that faces it.
            let [left, right] = [LEFT, RIGHT].map(|side| f64::from(u8::from(center.intersects(side))));
            (0.05, 0.3 * (left - right))
        } else if right.intersects(CENTER) || left.intersects(CENTER) {
            turn = if right.intersects(CENTER) { -0.5 } else { 0.5 };
            (0.0, turn)
        } else if right.intersects(LEFT) || left.intersects(RIGHT) {
            (0.1, 0.0)
        } else {
            (0.0, turn)
        };
        let was_seen = center.intersects(CENTER);
        lab.drive(linear, angular, 0.1);
        if !was_seen && lab.kobuki.inputs.dock_ir.center.intersects(CENTER) {
            rest = 7;
        }
    }
    false
}

#[test]
fn its_signals_guide_the_robot_to_its_contacts() {
    for (x, y, heading) in [(1.2, 0.0, PI), (1.5, 0.05, 2.0), (1.0, 0.5, -1.0), (1.0, -0.5, 1.0)] {
        let mut lab = at_station(x, y, heading, "");
        assert_eq!(lab.kobuki.charger(), Charger::DISCHARGING);
        assert!(dock(&mut lab), "from {x} {y} {heading}: {:?}", lab.place());
        assert_eq!(lab.kobuki.charger(), Charger::DOCK_CHARGING);
        let before = lab.kobuki.battery_volts();
        lab.run(60.0);
        assert!(lab.kobuki.battery_volts() > before, "it is charged");
        lab.drive(-0.1, 0.0, 1.0);
        assert_eq!(lab.kobuki.charger(), Charger::DISCHARGING);
    }
}

#[test]
fn what_stands_between_hides_the_signals() {
    let post = "  - {name: post, xyz: [0.5, 0, 0.2], shapes: [{box: [0.05, 0.3, 0.4]}]}\n";
    for (bodies, is_hidden) in [("", false), (post, true)] {
        let lab = at_station(1.0, 0.0, PI, bodies);
        assert_eq!(lab.kobuki.inputs.dock_ir.center.is_empty(), is_hidden);
    }
}

#[test]
fn the_packets_of_the_base_have_signals_and_charger() {
    let mut lab = at_station(0.18, 0.0, PI, "");
    lab.run(1.0);
    let mut bytes = Vec::new();
    while let Some(packet) = lab.kobuki.poll_transmit() {
        bytes = packet;
    }
    // Sub-payload 3: right, centre, left; at 1 cm from the station the near field of the middle.
    let at = bytes.windows(5).position(|window| window == [3, 3, 0, 0x02, 0]);
    assert!(at.is_some(), "{bytes:02x?}");
    // The charger's byte of the core sensors: charging in a docking station.
    assert_eq!(lab.kobuki.charger(), Charger::DOCK_CHARGING);
}
