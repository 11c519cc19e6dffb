//! The second application on virtual time, checked against the true state of the world.

mod common;

use common::virtual_lab::ROBOT;
use common::{run, start};
use dragoman_apps::navigate::{ARRIVED, CORRIDOR, Navigate, NavigateSettings};
use dragoman_apps::program::Status;

#[test]
fn it_reaches_the_goal_and_touches_nothing_from_every_seed() {
    for seed in 1..=5 {
        let mut lab = start("corridor", seed);
        let [start_x, start_y, _, start_heading] = lab.worlds().location_m_robot(None, ROBOT).unwrap();
        let end = run(&mut lab, &mut Navigate::new(NavigateSettings::default()), seed);
        assert_eq!(end.status, Status::Done, "seed {seed}");
        let [goal_x, goal_y] = CORRIDOR[CORRIDOR.len() - 1];
        let odometry = lab.odometry();
        // It stops a little after the stop command.
        assert!((odometry.x - goal_x).hypot(odometry.y - goal_y) < ARRIVED + 0.01, "{odometry:?}");
        // The goal of the odometry in the world; after 17 m it may differ by the drift of the gyro: a degree or two.
        let (sin, cos) = start_heading.sin_cos();
        let (goal_x, goal_y) = (start_x + goal_x * cos - goal_y * sin, start_y + goal_x * sin + goal_y * cos);
        let [x, y, ..] = lab.worlds().location_m_robot(None, ROBOT).unwrap();
        let off = (x - goal_x).hypot(y - goal_y);
        println!("  {off:.3} m from the goal");
        assert!(off < ARRIVED + 0.25, "seed {seed}: {off} m");
        // In the laboratory at the top left.
        assert!((-8.0..-3.5).contains(&x) && (4.5..8.0).contains(&y), "{x} {y}");
    }
}
