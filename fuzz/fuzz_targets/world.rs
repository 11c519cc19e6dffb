//! Any world file, and the meshes and descriptions that it uses.
//!
//! Input: the file; the data after the first zero byte is the content of every file that it uses. Checked: no panic;
//! all queries of a loaded world work, and its sensors keep to their ranges.

#![no_main]

use dragoman_geometry::Twist;
use dragoman_sim::serial::SerialDevice;
use dragoman_sim::{Kobuki, KobukiSettings, Widowx, WidowxSettings};
use dragoman_world::{ColorImage, DepthImage, ObjectKind, Turtlebot, Worlds};
use libfuzzer_sys::fuzz_target;
use std::time::Duration;

fuzz_target!(|input: &[u8]| {
    let mut halves = input.splitn(2, |byte| *byte == 0);
    let text = String::from_utf8_lossy(halves.next().unwrap_or_default()).into_owned();
    let named = halves.next().unwrap_or_default().to_vec();
    let Ok(mut worlds) = Worlds::from_yaml(&text, &|_| Ok(named.clone())) else { return };
    let mut objects = Vec::new();
    let mut cameras = Vec::new();
    let mut sensors = Vec::new();
    for world in worlds.worlds() {
        let name = world.name().to_owned();
        let _ = world.collisions();
        objects.extend(
            world.objects().iter().map(|object| (name.clone(), object.name().to_owned(), object.kind())),
        );
        sensors.extend(
            world.lasers().chain(world.ultrasonics()).map(|sensor| (name.clone(), sensor.to_owned())),
        );
    }
    for world in worlds.worlds() {
        let small = |camera: &&str| {
            world.camera_figures(camera).is_ok_and(|figures| figures.width * figures.height < 10_000)
        };
        let found = world.cameras().filter(small);
        cameras.extend(found.map(|camera| (world.name().to_owned(), camera.to_owned())));
    }
    for (world, object, kind) in objects.iter().take(8) {
        let world = Some(world.as_str());
        let before = worlds.location(world, object).unwrap();
        assert!(before.iter().all(|value| value.is_finite()));
        match kind {
            ObjectKind::Body => {}
            ObjectKind::Arm => {
                let _ = worlds.check_robot_joints(world, object, &[0.1, -0.1]);
            }
            ObjectKind::Wheeled => {
                let placed = worlds.place_m_robot(world, object, [0.0, 0.0, 1.0], 0.5).unwrap();
                assert!(placed || worlds.location(world, object).unwrap() == before);
                worlds.move_m_robot(world, object, [0.5, 0.3], 0.5).unwrap();
                worlds.set_twist(world, object, Twist::planar(0.2, 0.05, 0.1)).unwrap();
                let mut robot = Turtlebot::new(&mut worlds, world, object).unwrap();
                let mut kobuki = Kobuki::new(KobukiSettings::default());
                let mut widowx = Widowx::new(WidowxSettings { is_held: false, ..WidowxSettings::default() });
                for exchange in 1..=3 {
                    let now = Duration::from_millis(10 * exchange);
                    kobuki.handle_timeout(now);
                    widowx.handle_timeout(now);
                    robot.exchange(&mut worlds, &mut kobuki, Some(&mut widowx)).unwrap();
                }
            }
        }
        let other = &objects[0].1;
        if let Ok(distance) = worlds.distance(world, object, other) {
            assert!(distance >= 0.0);
        }
    }
    worlds.advance(Duration::from_millis(25));
    for (world, sensor) in sensors.iter().take(4) {
        let world = Some(world.as_str());
        if let Ok(figures) = worlds.laser_figures(world, sensor) {
            let ranges = worlds.laser_data(world, sensor).unwrap();
            assert_eq!(ranges.len(), figures.beams);
            assert!(ranges.iter().all(|range| (figures.min_range..=figures.max_range).contains(range)));
            worlds.laser_landmarks(world, sensor).unwrap();
        } else {
            assert!(worlds.ultrasonic(world, sensor).unwrap() > 0.0);
        }
    }
    for (world, camera) in cameras.iter().take(2) {
        let view = worlds.view(Some(world.as_str()), camera).unwrap();
        let figures = *view.figures();
        let (mut depth, mut color) = (DepthImage::default(), ColorImage::default());
        view.depth(&mut depth);
        view.color(&mut color);
        assert_eq!(3 * depth.depths().len(), color.rgb().len());
        let range = figures.min_range as f32..=figures.max_range as f32;
        assert!(depth.depths().iter().all(|depth| depth.is_nan() || range.contains(depth)));
    }
});
