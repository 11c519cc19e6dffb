//! How well Ranger Mark I follows the circles of its thesis when the drives control the joints, and when the host does.
//! Prints a table in Markdown; times are virtual, so the figures are the same on every machine.

#![allow(dead_code, reason = "shared with the tests")]

#[path = "../tests/host/circles.rs"]
mod circles;

use circles::{ControlledBy, Fixture, payload};
use dragoman_kinematics::control::Method;
use dragoman_kinematics::dynamics::Inertia;

fn main() {
    println!("| T, s | payload, kg | cycle, ms | drives | computed torque | adaptive | learned, kg |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for sample_ratio in [14, 28] {
        for period in [5.0, 7.0, 10.0, 15.0, 20.0] {
            for body in [Inertia::default(), payload()] {
                let run = |who| {
                    let mut fixture = Fixture::enabled(who, &body, sample_ratio);
                    (fixture.circle(period, 2.0).map(|error| 1e3 * error), fixture.learned())
                };
                let whos = [
                    ControlledBy::Drives,
                    ControlledBy::Host(Method::ComputedTorque),
                    ControlledBy::Host(Method::Adaptive),
                ];
                let errors = whos.map(run);
                let cells = errors.map(|([mean, most], _)| format!("{mean:.2} ({most:.2})"));
                let cycle = f64::from(sample_ratio) * 0.36;
                let learned = errors[2].1;
                println!("| {period} | {} | {cycle:.1} | {} | {learned:.2} |", body.mass, cells.join(" | "));
            }
        }
    }
}
