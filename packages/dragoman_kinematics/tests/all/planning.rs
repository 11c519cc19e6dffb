//! Planned paths keep the clearance, by a check that shares no code with the planner.

mod scenes;

use crate::common::urdf;
use dragoman_kinematics::planning::{Checker, PlanOptions, plan, time};
use scenes::{CLEARANCE, setups};

/// Random problems in each of the five scenes.
const PROBLEMS: usize = 200;

#[test]
fn no_path_of_a_thousand_comes_nearer_than_the_clearance() {
    let mut random = oorandom::Rand64::new(20);
    for setup in setups(urdf) {
        let limits: Vec<[f64; 2]> =
            setup.robot.joints().iter().map(|joint| [joint.velocity, joint.acceleration]).collect();
        let (mut bent, mut least) = (0, f64::INFINITY);
        for problem in 0..PROBLEMS {
            let [start, goal] = [(); 2].map(|()| setup.random(&mut random));
            let mut checker = Checker::new(&setup.robot, &setup.bodies, &setup.scene);
            let goals = [goal];
            let planned = plan(&mut checker, &start, &goals, &PlanOptions::default());
            let planned = planned.unwrap_or_else(|error| panic!("{}, {problem}: {error}", setup.name));
            bent += usize::from(planned.path.len() > 2);
            let distance = setup.min_distance(&planned.path);
            assert!(distance >= CLEARANCE - 1e-6, "{}, {problem}: {distance}", setup.name);
            least = least.min(distance);
            // The lines between the points of the motion are not quite its curve.
            if problem % 10 == 0 {
                let timed = time(&mut checker, &planned.path, &limits, 0.5, 0.02).unwrap();
                let points: Vec<Vec<f64>> = timed.points.into_iter().map(|point| point.position).collect();
                let distance = setup.min_distance(&points);
                assert!(distance >= 0.9 * CLEARANCE, "{}, {problem}, in time: {distance}", setup.name);
            }
        }
        println!("{}: {bent} of {PROBLEMS} paths are not straight; least distance {least:.4} m", setup.name);
        // The check sees what is near.
        assert!(setup.name == "free" || least < 2.0 * CLEARANCE, "{}: {least}", setup.name);
    }
}
