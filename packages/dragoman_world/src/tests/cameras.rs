//! Cameras, compared with rays and closed forms.

use std::cell::Cell;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use super::super::geometry::{to_parry, vector};
use super::super::{CameraFigures, ColorImage, DepthImage, Worlds};
use super::{load, near, refusal};

/// Smaller than the Kinect's, to save time.
const SMALL: &str = "image: {width: 160, height: 120, horizontal_angle: 1.0, vertical_angle: 0.76, min_range: 0.1, max_range: 30}";

/// A camera at the origin that faces along x, and bodies.
fn room(camera: &str, bodies: &str) -> Worlds {
    load(&format!(
        "worlds:\n- name: A\n  seed: 3\n  bodies:\n{bodies}\n  cameras: [{{name: eye, {camera}}}]\n"
    ))
}

fn depth(worlds: &mut Worlds) -> DepthImage {
    let mut image = DepthImage::default();
    worlds.view(None, "eye").unwrap().depth(&mut image);
    image
}

fn color(worlds: &mut Worlds) -> ColorImage {
    let mut image = ColorImage::default();
    worlds.view(None, "eye").unwrap().color(&mut image);
    image
}

/// Depth by a ray through the centre of a pixel, or beside it; `None` if nothing is hit.
fn depth_by_ray(worlds: &Worlds, column: f64, row: f64) -> Option<f64> {
    let world = worlds.world(None).unwrap();
    let figures = world.camera_figures("eye").unwrap();
    let pose = world.pose("eye").unwrap();
    let ([fx, fy], [cx, cy]) = (figures.focal_lengths(), figures.principal_point());
    let ray = nalgebra::Vector3::new(1.0, -(column - cx) / fx, -(row - cy) / fy);
    let length = ray.norm();
    let direction = pose.rotation * (ray / length);
    let way = world.scene.ray(to_parry(&pose).translation, vector(direction.into()), 1000.0, |_| false)?;
    Some(way / length)
}

#[test]
fn figures_of_the_kinect() {
    let kinect = CameraFigures::KINECT;
    let ([fx, fy], [cx, cy]) = (kinect.focal_lengths(), kinect.principal_point());
    // Half the picture is half the angle.
    near((320.0 / fx).atan().to_degrees(), 28.5, 1e-12);
    near((240.0 / fy).atan().to_degrees(), 21.5, 1e-12);
    assert_eq!((cx, cy), (319.5, 239.5));
}

#[test]
fn a_wall_ahead() {
    let mut room = room("kind: kinect", "  - {name: wall, xyz: [2.1, 0, 0], shapes: [{box: [0.2, 9, 9]}]}");
    let image = depth(&mut room);
    assert_eq!((image.width(), image.height(), image.depths().len()), (640, 480, 640 * 480));
    assert!(image.depths().iter().all(|depth| (depth - 2.0).abs() < 1e-6), "depth is along the optical axis");
    // Too near, and too far.
    for x in [0.45, 5.0] {
        room.place_xyz(None, "wall", [x, 0.0, 0.0]).unwrap();
        assert!(depth(&mut room).depths().iter().all(|depth| depth.is_nan()), "{x}");
    }
    assert_eq!(image.depth(640, 0), None);
}

#[test]
fn what_is_too_near_hides_what_is_behind() {
    let mut room = room(
        "kind: kinect",
        "  - {name: wall, xyz: [2.1, 0, 0], shapes: [{box: [0.2, 9, 9]}]}
  - {name: finger, xyz: [0.2, 0, 0], shapes: [{box: [0.02, 0.02, 0.5]}]}",
    );
    let image = depth(&mut room);
    assert!(image.depth(320, 240).unwrap().is_nan());
    near(image.depth(100, 240).unwrap().into(), 2.0, 1e-6);
    // Behind the camera it hides nothing.
    room.place_xyz(None, "finger", [-0.2, 0.0, 0.0]).unwrap();
    near(depth(&mut room).depth(320, 240).unwrap().into(), 2.0, 1e-6);
}

#[test]
fn left_is_left_and_up_is_up() {
    let mut room = room(
        "kind: kinect, color_offset: [0, 0, 0]",
        "  - {name: left, xyz: [2, 0.5, 0], shapes: [{box: [0.1, 0.2, 0.2], color: [1, 0, 0, 1]}]}
  - {name: top, xyz: [2, 0, 0.5], shapes: [{box: [0.1, 0.2, 0.2], color: [0, 0, 1, 1]}]}",
    );
    let (image, depths) = (color(&mut room), depth(&mut room));
    let [fx, fy] = CameraFigures::KINECT.focal_lengths();
    let (left, top) = (320 - (fx * 0.5 / 1.95) as usize, 240 - (fy * 0.5 / 1.95) as usize);
    let [red, green, blue] = image.pixel(left, 240).unwrap();
    assert!(red > 100 && green == 0 && blue == 0, "{red} {green} {blue}");
    let [red, green, blue] = image.pixel(320, top).unwrap();
    assert!(red == 0 && green == 0 && blue > 100, "{red} {green} {blue}");
    near(depths.depth(left, 240).unwrap().into(), 1.95, 1e-6);
    assert!(depths.depth(640 - left, 240).unwrap().is_nan());
    // Nothing is there: the background colour.
    let [red, green, blue] = image.pixel(640 - left, 240).unwrap();
    assert!(red > 150 && green > 150 && blue > 150);
    assert_eq!(image.pixel(640, 0), None);
    assert_eq!(image.rgb().len(), 3 * 640 * 480);
}

#[test]
fn the_camera_for_colour_is_beside_the_one_for_depth() {
    let bodies = "  - {name: post, xyz: [1, 0, 0], shapes: [{box: [0.02, 0.02, 2], color: [1, 0, 0, 1]}]}";
    let mut room = room("kind: kinect", bodies);
    let image = color(&mut room);
    let red =
        |column: &usize| image.pixel(*column, 240).is_some_and(|[red, green, _]| red > 90 && green < 40);
    let columns: Vec<usize> = (0..640).filter(red).collect();
    let middle = columns.iter().sum::<usize>() as f64 / columns.len() as f64;
    // It is 25 mm to the right: the post is seen to the left.
    near(middle, 319.5 - 0.025 / 0.99 * CameraFigures::KINECT.focal_lengths()[0], 1.0);
}

#[test]
fn a_face_in_the_light_is_brighter() {
    let mut room = room(
        SMALL,
        "  - {name: box, xyz: [2, 0, -0.5], shapes: [{box: [1, 1, 0.6], color: [0.8, 0.8, 0.8, 1]}]}",
    );
    // Seen from above: its top is lit, its front is not.
    room.place(None, "eye", [0.0, 0.0, 0.8], [0.0, 0.5, 0.0]).unwrap();
    let image = color(&mut room);
    let column: Vec<u8> = (0..120).filter_map(|row| image.pixel(80, row)).map(|[red, ..]| red).collect();
    assert!(
        column.iter().any(|red| *red > 170) && column.iter().any(|red| (90..130).contains(red)),
        "{column:?}"
    );
}

#[test]
fn a_view_keeps_the_poses_of_its_time() {
    let mut room = room("kind: kinect", "  - {name: wall, xyz: [2.1, 0, 0], shapes: [{box: [0.2, 9, 9]}]}");
    let view = room.view(None, "eye").unwrap();
    room.place_xyz(None, "wall", [3.1, 0.0, 0.0]).unwrap();
    let mut image = DepthImage::default();
    view.depth(&mut image);
    near(image.depth(320, 240).unwrap().into(), 2.0, 1e-6);
    near(depth(&mut room).depth(320, 240).unwrap().into(), 3.0, 1e-6);
}

#[test]
fn a_camera_moves_with_its_robot_and_can_see_it() {
    let lab = |sees: bool| {
        load(&format!(
            "worlds:
- name: A
  bodies: [{{name: wall, xyz: [4, 0, 0.3], shapes: [{{box: [0.2, 9, 9]}}]}}, {{name: floor, xyz: [0, 0, -0.5], shapes: [{{box: [9, 9, 1]}}]}}]
  wheeled_robots:
  - name: Cart
    wheel_radius: 0.1
    supports: [[0.2, 0.2], [0.2, -0.2], [-0.2, 0]]
    body: [{{box: [0.6, 0.5, 0.4], xyz: [0, 0, 0.3]}}, {{box: [0.02, 0.02, 1], xyz: [0.6, 0, 0.6]}}]
  cameras: [{{name: eye, on: Cart, xyz: [0.1, 0, 0.3], kind: kinect, sees_carrier: {sees}}}]
"
        ))
    };
    // The box around the camera is seen from inside only, and so not at all; the post ahead hides the wall.
    let mut worlds = lab(true);
    near(depth(&mut worlds).depth(320, 240).unwrap().into(), 0.49, 1e-6);
    let mut worlds = lab(false);
    near(depth(&mut worlds).depth(320, 240).unwrap().into(), 3.8, 1e-6);
    assert!(worlds.move_m_robot(None, "Cart", [1.0, 0.0], 0.5).unwrap());
    near(depth(&mut worlds).depth(320, 240).unwrap().into(), 3.3, 1e-6);
    near(worlds.location(None, "eye").unwrap()[0], 0.6, 1e-9);
    assert_eq!(worlds.world(None).unwrap().carrier("eye").map(|object| object.name()), Some("Cart"));
}

#[test]
fn noise_grows_with_the_square_of_the_depth_and_depends_on_the_seed() {
    let picture = |x: f64| {
        let mut room = room(
            "kind: kinect, depth_noise: 0.002",
            &format!("  - {{name: wall, xyz: [{}, 0, 0], shapes: [{{box: [0.2, 99, 99]}}]}}", x + 0.1),
        );
        (depth(&mut room), depth(&mut room))
    };
    for distance in [1.0, 3.0] {
        let (first, second) = picture(distance);
        assert_ne!(first.depths(), second.depths());
        assert_eq!(first.depths(), picture(distance).0.depths());
        let squares = first.depths().iter().map(|depth| (f64::from(*depth) - distance).powi(2));
        let deviation = (squares.sum::<f64>() / first.depths().len() as f64).sqrt();
        near(deviation / (0.002 * distance * distance), 1.0, 0.1);
    }
}

#[test]
fn pictures_are_the_same_until_something_moves() {
    let mut room = room(
        "kind: kinect",
        "  - {name: ball, xyz: [2, 0, 0], shapes: [{sphere: {radius: 0.2}}]}\n  - {name: post, xyz: [3, 1, 0], shapes: [{box: [0.1, 0.1, 1]}]}",
    );
    let (first, again) = (room.view(None, "eye").unwrap(), room.view(None, "eye").unwrap());
    assert!(first.shows_the_same(&again) && !first.is_noisy());
    room.place(None, "ball", [2.0, 0.001, 0.0], [0.0; 3]).unwrap();
    let moved = room.view(None, "eye").unwrap();
    assert!(!first.shows_the_same(&moved));
    room.place(None, "ball", [2.0, 0.0, 0.0], [0.0; 3]).unwrap();
    assert!(first.shows_the_same(&room.view(None, "eye").unwrap()));
}

#[test]
fn depths_with_noise_are_known_to_differ() {
    let mut room = room(
        "kind: kinect, depth_noise: 0.002",
        "  - {name: ball, xyz: [2, 0, 0], shapes: [{sphere: {radius: 0.2}}]}",
    );
    assert!(room.view(None, "eye").unwrap().is_noisy());
}

#[test]
fn invalid_cameras_are_refused() {
    let image = "width: 9, height: 9, horizontal_angle: 1, vertical_angle: 1";
    for (camera, words) in [
        ("name: c".to_owned(), "either a kind or an image"),
        (format!("name: c, image: {{{image}, min_range: 2, max_range: 1}}"), "beyond min_range"),
        (format!("name: c, image: {{{}, min_range: 1, max_range: 2}}", image.replace('9', "0")), "1 to 2048"),
        (
            format!("name: c, image: {{{}, min_range: 1, max_range: 2}}", image.replace("1,", "3.2,")),
            "3.2 is out of range",
        ),
        ("name: c, kind: kinect, on: nobody".to_owned(), "on nobody"),
        ("name: c, kind: kinect, topic: '', frame: a".to_owned(), "are names"),
        ("name: c, kind: kinect, topic: /a".to_owned(), "given together"),
        ("name: c, kind: kinect, rate: 0".to_owned(), "0 is out of range"),
    ] {
        let error = refusal(&format!("worlds:\n- name: A\n  cameras: [{{{camera}}}]\n"));
        assert!(error.to_string().contains(words), "{camera}: {error}");
    }
    let mut room = room("kind: kinect", "  - {name: ball, shapes: [{sphere: {radius: 1}}]}");
    assert!(room.view(None, "ball").is_err() && room.laser_data(None, "eye").is_err());
}

/// Bodies of every kind, with a floor.
fn bodies() -> impl Strategy<Value = String> {
    let shape = prop_oneof![
        (0.05..0.8_f64, 0.05..0.8_f64, 0.05..0.8_f64).prop_map(|(x, y, z)| format!("{{box: [{x}, {y}, {z}]}}")),
        (0.02..0.4_f64, 0.05..1.0_f64)
            .prop_map(|(r, l)| format!("{{cylinder: {{radius: {r}, length: {l}}}}}")),
        (0.02..0.4_f64).prop_map(|r| format!("{{sphere: {{radius: {r}}}}}")),
        (0.1..0.5_f64).prop_map(|h| format!(
            "{{extrusion: {{polygon: [[0, 0], [0.6, 0], [0.6, 0.2], [0.2, 0.2], [0.2, 0.6], [0, 0.6]], height: {h}}}}}"
        )),
    ];
    let at = (-3.0..3.0_f64, -3.0..3.0_f64, -0.5..1.5_f64, -3.0..3.0_f64, -1.5..1.5_f64, -3.0..3.0_f64);
    prop::collection::vec((shape, at), 1..12).prop_map(|bodies| {
        let mut text = "  - {name: floor, xyz: [0, 0, -0.55], shapes: [{box: [12, 10, 0.1]}]}".to_owned();
        for (index, (shape, (x, y, z, roll, pitch, yaw))) in bodies.into_iter().enumerate() {
            text += &format!(
                "\n  - {{name: b{index}, xyz: [{x}, {y}, {z}], rpy: [{roll}, {pitch}, {yaw}], shapes: [{shape}]}}"
            );
        }
        text
    })
}

/// Pixels compared with rays, except at outlines and on faces seen at less than 25 degrees, where triangles differ from
/// the round surface by more than a millimetre.
#[test]
fn depths_are_those_of_rays() {
    let angles = (-0.3..0.3_f64, -0.5..0.5_f64, -3.2..3.2_f64);
    let eye = (-3.0..3.0_f64, -3.0..3.0_f64, -0.45..1.5_f64);
    let pixels = prop::collection::vec((0_usize..160, 0_usize..120), 200);
    let (mut compared, mut empty) = (0, 0);
    let mut runner = TestRunner::default();
    let (compared, empty) = (Cell::from_mut(&mut compared), Cell::from_mut(&mut empty));
    let checked =
        runner.run(&(bodies(), eye, angles, pixels), |(bodies, (x, y, z), (roll, pitch, yaw), pixels)| {
            let mut room = room(SMALL, &bodies);
            room.place(None, "eye", [x, y, z], [roll, pitch, yaw]).unwrap();
            let image = depth(&mut room);
            let [focal, _] = room.world(None).unwrap().camera_figures("eye").unwrap().focal_lengths();
            for (column, row) in pixels {
                let (u, v) = (column as f64, row as f64);
                let middle = depth_by_ray(&room, u, v);
                let around = [(-1.0, 0.0), (1.0, 0.0), (0.0, -1.0), (0.0, 1.0)]
                    .map(|(right, down)| depth_by_ray(&room, u + right, v + down));
                match middle {
                    Some(expected) => {
                        // From inside a body a ray has length zero, and an image shows no face.
                        let steepest = 2.1 * expected / focal;
                        let smooth =
                            around.iter().flatten().filter(|other| (*other - expected).abs() < steepest);
                        // Near the minimum and the maximum depth a millimetre decides whether a pixel is measured.
                        if !(0.101..=29.999).contains(&expected) || smooth.count() < 4 {
                            continue;
                        }
                        let drawn = f64::from(image.depth(column, row).unwrap());
                        prop_assert!(
                            (drawn - expected).abs() < 1e-3,
                            "({column}, {row}): {drawn}, {expected}"
                        );
                        compared.set(compared.get() + 1);
                    }
                    None if around.iter().all(Option::is_none) => {
                        prop_assert!(image.depth(column, row).unwrap().is_nan(), "({column}, {row})");
                        empty.set(empty.get() + 1);
                    }
                    None => {}
                }
            }
            Ok(())
        });
    // A failure is printed with its seed.
    checked.unwrap_or_else(|error| panic!("{error}\n{runner}"));
    let compared = (compared.get(), empty.get());
    assert!(compared.0 > 5000 && compared.1 > 5000, "{compared:?}");
}

proptest! {
    /// A closed shell of many triangles around the camera: no pixel is between them.
    #[test]
    fn surfaces_have_no_holes(
        inner in 0.5..3.0_f64,
        steps in 1_u32..12,
        eye in (-0.3..0.3_f64, -0.3..0.3_f64, -0.3..0.3_f64, -3.0..3.0_f64, -1.5..1.5_f64, -3.0..3.0_f64),
    ) {
        // A cube of squares, turned inwards, as an open mesh is drawn from both sides: its faces are one sheet each.
        let mut text = String::new();
        let mut count = 0;
        let step = 2.0 * inner / f64::from(steps);
        for axis in 0..3 {
            for side in [-inner, inner] {
                for (i, j) in (0..steps).flat_map(|i| (0..steps).map(move |j| (i, j))) {
                    for (di, dj) in [(0, 0), (1, 0), (1, 1), (0, 1)] {
                        let (a, b) = (f64::from(i + di) * step - inner, f64::from(j + dj) * step - inner);
                        let mut corner = [side, a, b];
                        corner.rotate_right(axis);
                        text += &format!("v {} {} {}\n", corner[0], corner[1], corner[2]);
                    }
                    text += &format!("f {} {} {} {}\n", count + 1, count + 2, count + 3, count + 4);
                    count += 4;
                }
            }
        }
        let yaml = format!(
            "worlds:\n- name: A\n  bodies: [{{name: shell, shapes: [{{mesh: {{file: shell.obj}}}}]}}]\n  cameras: [{{name: eye, {SMALL}}}]\n"
        );
        let mut worlds = Worlds::from_yaml(&yaml, &|_| Ok(text.clone().into_bytes())).unwrap();
        let (x, y, z, roll, pitch, yaw) = eye;
        worlds.place(None, "eye", [x, y, z], [roll, pitch, yaw]).unwrap();
        let image = depth(&mut worlds);
        prop_assert!(image.depths().iter().all(|depth| depth.is_finite()));
        for (column, row) in [(0, 0), (159, 119), (80, 60), (40, 100)] {
            let expected = depth_by_ray(&worlds, column as f64, row as f64).unwrap();
            prop_assert!((f64::from(image.depth(column, row).unwrap()) - expected).abs() < 1e-5);
        }
    }
}
