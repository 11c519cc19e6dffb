//! A camera does not allocate after its first picture. A separate test binary, because the counting allocator is
//! global, and without the test harness, whose thread also allocates.

use std::alloc::System;

use dragoman_world::{ColorImage, DepthImage, View, Worlds};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn main() {
    let mut worlds = Worlds::load_default().unwrap();
    let (mut view, mut depth, mut color) = (View::default(), DepthImage::default(), ColorImage::default());
    let mut take = |heading: f64| {
        let [x, y, z, _] = worlds.location_m_robot(None, "turtlebot2_widowx").unwrap();
        worlds.place(None, "turtlebot2_widowx", [x, y, z], [0.0, 0.0, heading]).unwrap();
        worlds.look(None, "Kinect", &mut view).unwrap();
        let region = Region::new(ALLOCATOR);
        view.depth(&mut depth);
        view.color(&mut color);
        let change = region.change();
        change.allocations + change.reallocations + change.deallocations
    };
    // One full turn: afterwards the memory suffices for any picture.
    let turn = |step: i32| f64::from(step) * 0.3;
    assert!((0..21).any(|step| take(turn(step)) > 0));
    for step in 0..21 {
        assert_eq!(take(turn(step)), 0, "step {step}");
    }
}
