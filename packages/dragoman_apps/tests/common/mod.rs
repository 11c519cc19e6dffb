//! A lab that depends on a random seed, and a monitored run in it.

#![allow(unreachable_pub)] // Every test target uses its part.

pub mod virtual_lab;

use std::time::{Duration, Instant};

use dragoman_apps::program::Program;
use dragoman_geometry::Pose;
use dragoman_sim::kobuki::Noise;
use dragoman_world::Worlds;
use oorandom::Rand64;
use virtual_lab::{ARM, LabSettings, ROBOT, Run, VirtualLab};

/// Maximum offset of the robot's start from the scene, m, and rotation, rad.
const START_OFFSET: f64 = 0.03;
const START_TURN: f64 = 0.03;

/// A scene with noise and a start pose from this seed.
#[allow(dead_code)]
pub fn start(scene: &str, seed: u64) -> VirtualLab {
    start_in(Worlds::scene(scene).unwrap().unwrap(), seed)
}

/// The same in any worlds.
pub fn start_in(worlds: Worlds, seed: u64) -> VirtualLab {
    let mut random = Rand64::new(u128::from(seed) << 64);
    let mut off = |most: f64| (2.0 * random.rand_float() - 1.0) * most;
    let start = Pose::new(off(START_OFFSET), off(START_OFFSET), off(START_TURN));
    VirtualLab::new(worlds, LabSettings { seed, noise: Noise::Typical, start }).unwrap()
}

/// Runs a program to its end. Checks that nothing was touched, by the world's collisions and the bumpers, and that it
/// is faster than real time.
#[allow(dead_code)]
#[track_caller]
pub fn run(lab: &mut VirtualLab, program: &mut impl Program, seed: u64) -> Run {
    let began = Instant::now();
    let mut touched = Vec::new();
    let end = lab
        .run(program, Duration::from_secs(600), |lab| {
            let bumpers = lab.kobuki().inputs.bumpers;
            let world = lab.worlds().worlds().first().unwrap();
            let found = world.collisions();
            // Fingers touch the object that they grasp.
            let own =
                found.iter().filter(|pair| [pair.0, pair.1].iter().any(|name| [ROBOT, ARM].contains(name)));
            touched.extend(
                own.filter(|pair| **pair != (ARM, "cube")).map(|pair| format!("{:?} {pair:?}", world.time())),
            );
            if bumpers.left || bumpers.center || bumpers.right {
                touched.push(format!("{bumpers:?}"));
            }
        })
        .unwrap();
    let (truth, odometry) = (lab.worlds().location_m_robot(None, ROBOT).unwrap(), lab.odometry());
    println!("seed {seed}: {:?} after {:?}, in {:?}", end.status, end.time, began.elapsed());
    println!("  truth {truth:.3?}, odometry {odometry:.3?}");
    for (at, text) in end.said.iter().filter(|(_, text)| !text.starts_with("x ")) {
        println!("  {:6.2} {text}", at.as_secs_f64());
    }
    assert!(touched.is_empty(), "seed {seed}: {} {:?}", touched.len(), touched.first());
    end
}
