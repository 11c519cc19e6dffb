//! Cost of pictures and scans of the default lab, and whether they allocate.
//!
//! ```text
//! cargo bench -p dragoman_world --bench camera
//! ```

use criterion::{Criterion, criterion_group, criterion_main};
use dragoman_world::{ColorImage, DepthImage, View, Worlds};

/// Directions of the lab's Kinect: along the wall, into the room, at the robots.
const HEADINGS: [(&str, f64); 3] = [("wall", 0.0), ("room", 1.2), ("arm", 2.6)];

fn pictures(criterion: &mut Criterion) {
    let mut worlds = Worlds::load_default().unwrap();
    let (mut view, mut depth, mut color) = (View::default(), DepthImage::default(), ColorImage::default());
    for (name, heading) in HEADINGS {
        let [x, y, z, _] = worlds.location_m_robot(None, "turtlebot2_widowx").unwrap();
        worlds.place(None, "turtlebot2_widowx", [x, y, z], [0.0, 0.0, heading]).unwrap();
        let mut group = criterion.benchmark_group(format!("Kinect, 640 x 480, {name}"));
        group.bench_function("view", |bencher| {
            bencher.iter(|| worlds.look(None, "Kinect", &mut view).unwrap());
        });
        group.bench_function("depth", |bencher| bencher.iter(|| view.depth(&mut depth)));
        group.bench_function("color", |bencher| bencher.iter(|| view.color(&mut color)));
    }
}

/// The corridor's Kinect has noise.
fn noise(criterion: &mut Criterion) {
    let mut worlds = Worlds::scene("corridor").unwrap().unwrap();
    let (mut view, mut depth) = (View::default(), DepthImage::default());
    worlds.look(None, "Kinect", &mut view).unwrap();
    criterion.bench_function("Kinect, 640 x 480, depth with noise", |bencher| {
        bencher.iter(|| view.depth(&mut depth))
    });
}

fn scans(criterion: &mut Criterion) {
    let mut worlds = Worlds::load_default().unwrap();
    criterion.bench_function("Hokuyo, 684 beams", |bencher| {
        bencher.iter(|| worlds.laser_data(None, "Hokuyo").unwrap());
    });
}

criterion_group!(benches, pictures, noise, scans);
criterion_main!(benches);
