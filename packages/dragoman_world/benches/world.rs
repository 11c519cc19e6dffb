//! Cost of the world's functions, in the default lab and in a cluttered room.
//!
//! ```text
//! cargo bench -p dragoman_world --bench world
//! ```

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use dragoman_arm::dynamixel::wire::{sync_write_words, table};
use dragoman_base::kobuki::wire::{BaseControl, Command};
use dragoman_sim::serial::SerialDevice;
use dragoman_sim::{Kobuki, KobukiSettings, Widowx, WidowxSettings};
use dragoman_world::{Turtlebot, Worlds};

const LAB: &str = include_str!("../../../launch/config/worlds/lab.yaml");

/// Random numbers in [0, 1); the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// The lab with 200 boxes, cylinders and spheres, 100 of them within the Puma's reach.
fn cluttered() -> Worlds {
    let mut random = Random(1);
    let mut bodies = String::new();
    for at in 0..200 {
        let reach = if at < 100 { 1.2 } else { 4.0 };
        let [x, y, z] = [0.0; 3].map(|_| reach * (2.0 * random.next() - 1.0));
        let shape =
            ["box: [0.1, 0.08, 0.06]", "cylinder: { radius: 0.05, length: 0.1 }", "sphere: { radius: 0.05 }"]
                [at % 3];
        let (x, y, z) = (x - 2.5, y + 2.5, z + 1.2);
        writeln!(bodies, "      - {{ name: clutter{at}, xyz: [{x}, {y}, {z}], shapes: [{{ {shape} }}] }}")
            .unwrap();
    }
    let text = LAB.replacen("    bodies:\n", &format!("    bodies:\n{bodies}"), 1);
    let file = |name: &str| match name {
        "ranger_mk1.urdf" => Ok(include_bytes!("../../../urdf/ranger_mk1.urdf").to_vec()),
        _ => Ok(include_bytes!("../../../urdf/turtlebot2_widowx.urdf").to_vec()),
    };
    Worlds::from_yaml(&text, &file).unwrap()
}

fn collisions(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("check_robot_joints, Puma560, random joints");
    for (name, mut worlds) in [("default lab", Worlds::load_default().unwrap()), ("200 bodies", cluttered())]
    {
        let limits: Vec<(f64, f64)> = {
            let joints = worlds.robot_joints(None, "Puma560").unwrap();
            joints.iter().map(|joint| (joint.lower, joint.upper)).collect()
        };
        let mut random = Random(2);
        let (mut asked, mut hit) = (0_u64, 0_u64);
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let joints: Vec<f64> =
                    limits.iter().map(|(lower, upper)| lower + random.next() * (upper - lower)).collect();
                asked += 1;
                hit += u64::from(worlds.check_robot_joints(None, "Puma560", &joints).unwrap());
            });
        });
        println!("{name}: {:.0} % of {asked} collide", 100.0 * hit as f64 / asked as f64);
    }
}

fn sensors(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("sensors");
    for (name, mut worlds) in [("default lab", Worlds::load_default().unwrap()), ("200 bodies", cluttered())]
    {
        group.bench_function(format!("laser_data, LMS100, {name}"), |bencher| {
            bencher.iter(|| black_box(worlds.laser_data(None, "LMS100").unwrap()));
        });
        group.bench_function(format!("laser_landmarks, {name}"), |bencher| {
            bencher.iter(|| black_box(worlds.laser_landmarks(None, "LMS100").unwrap()));
        });
        group.bench_function(format!("all_ultrasonics, {name}"), |bencher| {
            bencher.iter(|| black_box(worlds.all_ultrasonics(None, "Marvin").unwrap()));
        });
    }
}

fn motion(criterion: &mut Criterion) {
    let mut worlds = Worlds::load_default().unwrap();
    criterion.bench_function("move_m_robot and odometry", |bencher| {
        let mut forwards = 0.1;
        bencher.iter(|| {
            forwards = -forwards;
            assert!(worlds.move_m_robot(None, "Marvin", [forwards, 0.01], 0.1).unwrap());
            black_box(worlds.odometry(None, "Marvin").unwrap())
        });
    });
}

/// One exchange between a TurtleBot's devices and its world, 10 ms after the last; without the devices' own time.
fn exchange(criterion: &mut Criterion) {
    const ROBOT: &str = "turtlebot2_widowx";
    const STEP: Duration = Duration::from_millis(10);
    let mut group = criterion.benchmark_group("exchange of a TurtleBot");
    for (name, start, speed) in [
        ("at rest", [-1.0, -4.0], 0.0),
        ("turning, with the arm moving", [-1.0, -4.0], 0.3),
        ("pushing against a wall", [-5.7, -4.0], -0.5),
    ] {
        let mut worlds = Worlds::load_default().unwrap();
        let mut kobuki =
            Kobuki::new(KobukiSettings { boot_time: Duration::ZERO, ..KobukiSettings::default() });
        let mut widowx = Widowx::new(WidowxSettings::default());
        let mut robot = Turtlebot::new(&mut worlds, None, ROBOT).unwrap();
        assert!(worlds.place_m_robot(None, ROBOT, [start[0], start[1], 0.1], 0.0).unwrap());
        let turn = if speed > 0.0 { 1.0 } else { 0.0 };
        let mut command = Vec::new();
        let forwards = if speed < 0.0 { speed } else { 0.0 };
        Command::BaseControl(BaseControl::from_velocities(forwards, turn)).encode_frame(&mut command);
        let mut now = Duration::ZERO;
        group.bench_function(name, |bencher| {
            bencher.iter_custom(|rounds| {
                let mut spent = Duration::ZERO;
                for _ in 0..rounds {
                    now += STEP;
                    kobuki.handle_bytes(now, &command);
                    let goal = if (now.as_millis() / 500).is_multiple_of(2) { 1024_u16 } else { 3072 };
                    if turn != 0.0 {
                        let mut goals = Vec::new();
                        let words = (1..=5).map(|id| (id, goal));
                        sync_write_words(&mut goals, table::GOAL_POSITION.address, words).unwrap();
                        widowx.handle_bytes(now, &goals);
                    }
                    widowx.handle_timeout(now);
                    let start = Instant::now();
                    robot.exchange(&mut worlds, &mut kobuki, Some(&mut widowx)).unwrap();
                    spent += start.elapsed();
                }
                spent
            });
        });
    }
}

criterion_group!(benches, collisions, sensors, motion, exchange);
criterion_main!(benches);
