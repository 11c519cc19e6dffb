//! The second application on virtual time, judged by the world's own truth.

use std::time::Duration;

use dragoman_apps::navigate::{Navigate, NavigateSettings};
use dragoman_apps::program::Status;
use dragoman_apps::virtual_lab::{LabSettings, ROBOT, VirtualLab};
use dragoman_base::motion::Pose;
use dragoman_sim::kobuki::Noise;

const SCENE: &str = include_str!("../../../launch/config/worlds/corridor.yaml");

#[test]
fn it_reaches_the_goal_and_touches_nothing() {
    for seed in 1..=5 {
        let began = std::time::Instant::now();
        let settings = LabSettings { seed, noise: Noise::Typical, start: Pose::new(0.0, 0.0, 0.0) };
        let mut lab = VirtualLab::new(SCENE, settings).unwrap();
        let mut program = Navigate::new(NavigateSettings::default());
        let run = lab.run(&mut program, Duration::from_secs(300)).unwrap();
        let odometry = lab.odometry();
        let truth = lab.worlds().location_m_robot(None, ROBOT).unwrap();
        println!(
            "seed {seed}: {:?} after {:?} ({:?}), {odometry:?} {truth:?} {:?}",
            run.status,
            run.time,
            began.elapsed(),
            run.touched
        );
        for (at, text) in &run.said {
            println!("  {at:?} {text}");
        }
        assert_eq!(run.status, Status::Done);
        assert!(run.touched.is_empty());
    }
}
