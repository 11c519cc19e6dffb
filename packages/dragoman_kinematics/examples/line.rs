//! An arm moves its tool along a line: the pipeline turns a goal into joint commands, one in each cycle.
//!
//!     cargo run -p dragoman_kinematics --example line

use std::error::Error;
use std::time::Duration;

use dragoman_kinematics::motion::{CommandMode, Event, MotionConfig, Pipeline, RawPose};
use dragoman_kinematics::{Model, Robot};

const URDF: &str = include_str!("../../../urdf/ranger_mk1.urdf");
const CYCLE: Duration = Duration::from_millis(4);

fn main() -> Result<(), Box<dyn Error>> {
    let robot = Robot::new(&Model::from_urdf(URDF, Some("base_link"), Some("tool0"))?)?;
    let mut joints = [1.57, 0.3, 1.0, 0.0, 1.8, 0.0];
    let goal = robot.forward(&[1.57, 0.4, 0.9, 0.1, 1.8, 0.0]);
    let config = MotionConfig::for_robot(&robot);
    let mut pipeline = Pipeline::new(robot, config)?;
    pipeline.set_command_mode(CommandMode::Cartesian);
    for cycle in 0..5000 {
        let now = CYCLE * cycle;
        // An ideal arm: it is where it was commanded to be.
        let step = pipeline.step(now, &joints, true);
        let finished = step.events.iter().any(|event| matches!(event, Event::MotionFinished));
        if let Some(command) = step.command {
            joints.copy_from_slice(command);
        }
        if finished {
            println!("at the goal after {now:?}: {joints:.3?}");
            return Ok(());
        }
        if cycle == 10 {
            let goal = RawPose { position: goal.translation.into(), quaternion: goal.rotation.coords.into() };
            pipeline.set_goal_pose(&goal, 2.0)?;
            pipeline.begin_motion()?;
        }
    }
    Err("the goal was not reached".into())
}
