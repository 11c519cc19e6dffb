//! Failures of the programs, and robustness: no input makes them command impossible values.

use std::time::Duration;

use dragoman_apps::carry::Carry;
use dragoman_apps::depth::DepthImage;
use dragoman_apps::navigate::{Navigate, NavigateSettings};
use dragoman_apps::program::{Action, Contacts, Failure, Observation, Positions, Program, Stamped, Status};
use dragoman_geometry::{Pose, Twist};
use proptest::prelude::*;

const STEP: Duration = Duration::from_millis(20);

/// A test's inputs for a program.
#[derive(Debug, Clone, Default)]
struct Seen {
    pose: Option<Pose>,
    contacts: Option<Contacts>,
    depth: Option<DepthImage>,
    refusal: Option<String>,
}

/// Calls the program every 20 ms with the inputs from `see` until it ends. Returns the status, the time and the last
/// actions.
fn run(
    program: &mut impl Program,
    limit: Duration,
    mut see: impl FnMut(Duration, Option<Twist>) -> Seen,
) -> (Status, Duration, Twist) {
    let (mut now, mut velocity, mut actions) = (Duration::ZERO, None, Vec::new());
    let mut last = Seen::default();
    let (mut odometry, mut contacts, mut depth) = (None, None, None);
    loop {
        let seen = see(now, velocity);
        odometry = seen.pose.map(|value| Stamped { at: now, value }).or(odometry);
        contacts = seen.contacts.map(|value| Stamped { at: now, value }).or(contacts);
        if seen.depth.is_some() {
            depth = Some(now);
            last.depth = seen.depth;
        }
        let depth = depth.zip(last.depth.as_ref()).map(|(at, value)| Stamped { at, value });
        let refusal = seen.refusal.as_deref();
        let joints = Positions::default();
        let status =
            program.step(&Observation { now, odometry, contacts, joints, depth, refusal }, &mut actions);
        for action in actions.drain(..) {
            match action {
                Action::Velocity(twist) => {
                    assert!(
                        twist.linear.abs() <= 0.7 && twist.angular.abs() <= std::f64::consts::PI,
                        "{twist}"
                    );
                    velocity = Some(twist);
                }
                Action::Command(joint, position) => assert!(position.abs() < 3.0, "{joint:?} {position}"),
                Action::SetSpeed(joint, speed) => assert!(speed > 0.0 && speed < 2.0, "{joint:?} {speed}"),
                Action::Relax(_) | Action::Say(_) => {}
            }
        }
        if status != Status::Running || now >= limit {
            return (status, now, velocity.unwrap_or_default());
        }
        now += STEP;
    }
}

/// A robot on an infinite plane with given contacts and pictures.
fn rolling(
    contacts: impl Fn(Pose) -> Contacts,
    depth: Option<DepthImage>,
) -> impl FnMut(Duration, Option<Twist>) -> Seen {
    let mut pose = Pose::ORIGIN;
    move |_, velocity| {
        let Twist { linear, angular, .. } = velocity.unwrap_or_default();
        pose.heading += angular * STEP.as_secs_f64();
        pose.x += linear * pose.heading.cos() * STEP.as_secs_f64();
        pose.y += linear * pose.heading.sin() * STEP.as_secs_f64();
        Seen { pose: Some(pose), contacts: Some(contacts(pose)), depth: depth.clone(), refusal: None }
    }
}

fn wall(distance: f32) -> DepthImage {
    DepthImage { width: 64, height: 48, rows: [12, 24].map(|row| (row, vec![distance; 64])).to_vec() }
}

const HOUR: Duration = Duration::from_secs(3600);

#[test]
fn a_silent_robot_is_given_up() {
    let (status, time, last) = run(&mut Carry::new(), HOUR, |_, _| Seen::default());
    assert_eq!(status, Status::Failed(Failure::Silent { topic: "/odom", seconds: 3.0 }));
    assert!(time > Duration::from_secs(3) && time < Duration::from_secs(4) && last == Twist::ZERO);
    let see = |now: Duration, _| Seen {
        pose: Some(Pose::ORIGIN),
        contacts: (now < Duration::from_secs(1)).then(Contacts::default),
        depth: Some(wall(3.0)),
        refusal: None,
    };
    let (status, time, last) = run(&mut Navigate::new(NavigateSettings::default()), HOUR, see);
    assert_eq!(
        status.clone(),
        Status::Failed(Failure::Silent { topic: "/mobile_base/sensors/core", seconds: 3.0 })
    );
    assert!(time < Duration::from_secs(5) && last == Twist::ZERO, "{status:?}");
}

/// Without pictures the robot stops, and then the program ends.
#[test]
fn a_robot_without_pictures_stops() {
    let mut roll = rolling(|_| Contacts::default(), None);
    let mut blind = Vec::new();
    let see = |now: Duration, velocity| {
        if now > Duration::from_millis(1500) {
            blind.push(velocity);
        }
        Seen { depth: (now < Duration::from_secs(1)).then(|| wall(3.0)), ..roll(now, velocity) }
    };
    let (status, _, last) = run(&mut Navigate::new(NavigateSettings::default()), HOUR, see);
    assert_eq!(status, Status::Failed(Failure::Silent { topic: "/camera/depth/image", seconds: 3.0 }));
    assert_eq!(last, Twist::ZERO);
    assert!(blind.len() > 50 && blind.iter().all(|velocity| *velocity == Some(Twist::ZERO)));
}

#[test]
fn a_robot_that_is_lifted_ends_both() {
    let lifted = Contacts { wheel_drop: true, ..Contacts::default() };
    let (status, ..) = run(&mut Carry::new(), HOUR, rolling(move |_| lifted, None));
    assert_eq!(status, Status::Failed(Failure::WheelDrop));
    let mut navigate = Navigate::new(NavigateSettings::default());
    let (status, _, last) = run(&mut navigate, HOUR, rolling(move |_| lifted, Some(wall(3.0))));
    assert_eq!((status, last), (Status::Failed(Failure::WheelDrop), Twist::ZERO));
}

#[test]
fn a_service_that_fails_ends_the_program() {
    let mut roll = rolling(|_| Contacts::default(), None);
    let see = |now: Duration, velocity| {
        let refusal =
            (now == Duration::from_secs(2)).then(|| "/arm_2_joint/set_speed does not answer".to_owned());
        Seen { refusal, ..roll(now, velocity) }
    };
    let (status, time, last) = run(&mut Carry::new(), HOUR, see);
    let Status::Failed(failure) = status else { panic!("{status:?}") };
    assert_eq!(failure.to_string(), "/arm_2_joint/set_speed does not answer");
    assert!(time == Duration::from_secs(2) && last == Twist::ZERO);
}

/// After a reset of the simulation nothing that the program knows is valid.
#[test]
fn a_displaced_robot_ends_the_program() {
    let mut roll = rolling(|_| Contacts::default(), None);
    let see = |now: Duration, velocity| {
        let seen = roll(now, velocity);
        let is_reset = now >= Duration::from_secs(5);
        Seen { pose: if is_reset { Some(Pose::ORIGIN) } else { seen.pose }, ..seen }
    };
    let (status, time, last) = run(&mut Carry::new(), HOUR, see);
    let Status::Failed(failure) = status else { panic!("{status:?}") };
    assert!(failure.to_string().starts_with("the odometry has jumped by "), "{failure}");
    assert!(time == Duration::from_secs(5) && last == Twist::ZERO);
}

/// It backs off from a wall, tries to pass it, and finally fails.
#[test]
fn an_endless_wall_ends_the_program() {
    let at_wall = |pose: Pose| Contacts { bumpers: [false, pose.x > 1.0, false], ..Contacts::default() };
    let (status, time, last) = run(&mut Carry::new(), HOUR, rolling(at_wall, None));
    let Status::Failed(failure) = status else { panic!("{status:?}") };
    assert_eq!(failure.to_string(), "the way to x = 2.915 m: blocked 9 times");
    assert!(time < Duration::from_secs(120) && last == Twist::ZERO);
    let mut navigate =
        Navigate::new(NavigateSettings { targets: vec![[3.0, 0.0]], ..NavigateSettings::default() });
    // A wall that the camera does not see.
    let (status, _, last) = run(&mut navigate, HOUR, rolling(at_wall, Some(wall(4.4))));
    assert!(
        matches!(&status, Status::Failed(Failure::Blocked { .. } | Failure::TimeOut { .. })),
        "{status:?}"
    );
    assert_eq!(last, Twist::ZERO);
}

/// A wall all around in every picture: no contact, and the target is given up.
#[test]
fn no_way_out_is_given_up_without_a_contact() {
    let mut navigate =
        Navigate::new(NavigateSettings { targets: vec![[3.0, 0.0]], ..NavigateSettings::default() });
    let (status, time, last) = run(&mut navigate, HOUR, rolling(|_| Contacts::default(), Some(wall(0.45))));
    let Status::Failed(failure) = status else { panic!("{status:?}") };
    assert_eq!(failure.to_string(), "target 1 at x 3 m, y 0 m did not finish within 60 s");
    assert!(time < Duration::from_secs(90) && last == Twist::ZERO);
}

fn any_number() -> impl Strategy<Value = f64> {
    prop_oneof![-10.0..10.0, Just(f64::NAN), Just(f64::INFINITY), Just(1e300), Just(-1e300)]
}

prop_compose! {
    fn any_seen()(
        numbers in proptest::option::of([any_number(), any_number(), any_number()]),
        contacts in proptest::option::of(any::<([bool; 3], bool)>()),
        size in (0_usize..9, 0_usize..9),
        depths in proptest::option::of(proptest::collection::vec((0_usize..12, proptest::collection::vec(any::<f32>(), 0..9)), 0..4)),
    ) -> Seen {
        Seen {
            pose: numbers.map(|[x, y, heading]| Pose { x, y, heading }),
            contacts: contacts.map(|(bumpers, cliff)| Contacts { bumpers, cliff, wheel_drop: false }),
            depth: depths.map(|rows| DepthImage { width: size.0, height: size.1, rows }),
            refusal: None,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// For any inputs: no panic, and no velocity or position beyond the robot's limits; `run` checks each.
    #[test]
    fn commands_stay_within_the_limits_for_any_inputs(seen in proptest::collection::vec(any_seen(), 1..40)) {
        let limit = STEP * 200;
        let mut next = seen.iter().cycle().cloned();
        run(&mut Carry::new(), limit, |_, _| next.next().unwrap_or_default());
        let mut next = seen.iter().cycle().cloned();
        run(&mut Navigate::new(NavigateSettings::default()), limit, |_, _| next.next().unwrap_or_default());
    }
}
