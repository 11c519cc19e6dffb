//! Control of the simulation (TurtleBot thesis, A.5): start, pause, stop, reset, speed, time step, with the simulated
//! TurtleBot and its driver.

use std::time::Duration;

use crate::common::{Lab, Log, Program, call, last, latched, sleep, until};
use dragoman_ros::dragoman_msgs::srv::{AdvanceWorlds, SetSimulationSpeed, SetTimeStep};
use dragoman_ros::geometry_msgs::msg::{PoseStamped, Twist};
use dragoman_ros::kobuki_ros_interfaces::msg::{DigitalOutput, ExternalPower};
use dragoman_ros::nav_msgs::msg::Odometry;
use dragoman_ros::sensor_msgs::msg::JointState;
use dragoman_ros::std_msgs::msg::{Float64, String as Text};
use dragoman_ros::std_srvs::srv::Trigger;
use dragoman_ros::{Client, Publisher, QosProfile};

struct User {
    _lab: Lab,
    time: Log<Float64>,
    pose: Log<PoseStamped>,
    odometry: Log<Odometry>,
    joints: Log<JointState>,
    state: Log<Text>,
    velocity: Publisher<Twist>,
    joint: Publisher<Float64>,
    triggers: [Client<Trigger::Service>; 4],
    speed: Client<SetSimulationSpeed::Service>,
    time_step: Client<SetTimeStep::Service>,
    advance: Client<AdvanceWorlds::Service>,
}

impl User {
    fn new() -> Self {
        let lab = Lab::only("turtlebot,apolo");
        let mut program = Program::new(&lab);
        let queue = || QosProfile::default().keep_last(100);
        let time = program.record("/simulation/sim_time", queue());
        let pose = program.record("/simulation/pose", queue());
        let odometry = program.record("/odom", queue());
        let joints = program.record("/joint_states", queue());
        let state = program.record("/simulation/state", latched());
        let velocity = program.publisher("/mobile_base/commands/velocity");
        let joint = program.publisher("/arm_3_joint/command");
        let triggers =
            ["start", "pause", "stop", "reset"].map(|name| program.client(&format!("/simulation/{name}")));
        let speed = program.client("/simulation/set_speed");
        let time_step = program.client("/simulation/set_time_step");
        let advance = program.client("/apolo/advance");
        program.start();
        until("everything arrives", || {
            last(&time).is_some()
                && last(&pose).is_some()
                && last(&odometry).is_some()
                && last(&joints).is_some()
        });
        Self {
            _lab: lab,
            time,
            pose,
            odometry,
            joints,
            state,
            velocity,
            joint,
            triggers,
            speed,
            time_step,
            advance,
        }
    }

    #[track_caller]
    fn trigger(&self, name: &str) {
        let at = ["start", "pause", "stop", "reset"].iter().position(|known| *known == name).unwrap();
        let answer = call(&self.triggers[at], &Trigger::Request::default());
        assert!(answer.success, "{name}: {}", answer.message);
    }

    /// The next time of the simulation.
    fn now(&self) -> f64 {
        self.time.lock().unwrap().clear();
        until("time", || last(&self.time).is_some());
        last(&self.time).unwrap().data
    }

    /// The true place of the robot.
    fn place(&self) -> [f64; 2] {
        self.pose.lock().unwrap().clear();
        until("pose", || last(&self.pose).is_some());
        let at = last(&self.pose).unwrap().pose.position;
        [at.x, at.y]
    }

    /// Commands 0.2 m/s for some time, whatever time passes in the simulator.
    fn drive(&self, seconds: f64) {
        let began = dragoman_time::now();
        while dragoman_time::since(began).as_secs_f64() < seconds {
            let mut twist = Twist::default();
            twist.linear.x = 0.2;
            self.velocity.publish(&twist).unwrap();
            sleep(Duration::from_millis(20));
        }
    }

    /// Distance of the robot from a place.
    fn way(&self, [x, y]: [f64; 2]) -> f64 {
        let [now_x, now_y] = self.place();
        (now_x - x).hypot(now_y - y)
    }
}

#[test]
fn a_paused_simulation_stands_still_and_continues_with_the_drivers() {
    let user = User::new();
    user.drive(1.0);
    user.trigger("pause");
    until("the state", || last(&user.state).is_some_and(|state| state.data == "paused"));
    let (time, place) = (user.now(), user.place());
    user.odometry.lock().unwrap().clear();
    // Also with commands, and for longer than any timeout of the drivers.
    user.drive(1.5);
    assert_eq!((user.now(), user.place()), (time, place));
    assert!(user.odometry.lock().unwrap().len() <= 1, "a base that stands still measures nothing");
    // A request lets the time of everything pass: the last command was 0.2 m/s.
    let answer = call(&user.advance, &AdvanceWorlds::Request { duration: 0.4 });
    assert!(answer.success && (answer.time - time - 0.4).abs() < 1e-6, "{answer:?} {time}");
    let way = user.way(place);
    assert!((0.03..0.1).contains(&way), "{way}");
    user.trigger("start");
    until("odometry", || user.odometry.lock().unwrap().len() > 10);
    let place = user.place();
    user.drive(1.0);
    assert!(user.way(place) > 0.12, "it drives again: {}", user.way(place));
    assert!(user.now() < time + 10.0);
}

#[test]
fn the_speed_is_that_of_the_worlds_and_the_robot() {
    let user = User::new();
    for factor in [0.25, 4.0] {
        let answer = call(&user.speed, &SetSimulationSpeed::Request { factor });
        assert!(answer.success, "{}", answer.message);
        let (place, time, began) = (user.place(), user.now(), dragoman_time::now());
        user.drive(1.5);
        let (passed, real) = (user.now() - time, dragoman_time::since(began).as_secs_f64());
        let way = user.way(place);
        // Both are seen within a millisecond of a step.
        assert!((passed - factor * real).abs() < 0.001 * factor + 1e-6, "{factor}: {passed} s in {real} s");
        // At 0.2 m/s, less what it takes to start.
        assert!(way > 0.13 * passed && way < 0.22 * passed, "{factor}: {way} m in {passed} s");
        user.drive(0.0);
        sleep(Duration::from_secs_f64(1.0 / factor));
    }
    for factor in [0.0, -1.0, 101.0, f64::NAN] {
        let answer = call(&user.speed, &SetSimulationSpeed::Request { factor });
        assert!(!answer.success && answer.message.contains("not within"), "{factor}: {}", answer.message);
    }
}

#[test]
fn time_goes_in_the_steps_of_the_thesis() {
    let user = User::new();
    let answer = call(&user.time_step, &SetTimeStep::Request { time_step: 0.05 });
    assert!(answer.success, "{}", answer.message);
    user.now();
    let first = user.now();
    user.drive(1.5);
    let times: Vec<f64> = user.time.lock().unwrap().iter().map(|time| time.data).collect();
    for time in &times {
        let steps = (time - first) / 0.05;
        assert!((steps - steps.round()).abs() < 1e-6, "{time}");
    }
    assert!(times.last().unwrap() > &(first + 1.0));
    let answer = call(&user.time_step, &SetTimeStep::Request { time_step: 0.7 });
    assert!(!answer.success && answer.message.contains("neither 0 nor within"), "{}", answer.message);
}

#[test]
fn a_reset_puts_everything_back_and_a_stop_waits_there() {
    let user = User::new();
    let start = user.place();
    for name in ["reset", "stop"] {
        user.drive(2.0);
        user.joint.publish(&Float64 { data: 0.5 }).unwrap();
        sleep(Duration::from_secs(1));
        let before = user.now();
        assert!(user.way(start) > 0.2 && before > 2.0, "{} {before}", user.way(start));
        user.trigger(name);
        assert_eq!(user.place(), start, "{name}");
        assert!(user.now() < before, "{name}: the time begins at zero");
        if name == "stop" {
            until("the state", || last(&user.state).is_some_and(|state| state.data == "stopped"));
            assert_eq!(user.now(), 0.0);
            user.drive(1.0);
            assert_eq!((user.now(), user.place()), (0.0, start));
            user.trigger("start");
        }
        until("the odometry is at its origin, the arm at home", || {
            let odometry = last(&user.odometry).unwrap().pose.pose.position;
            let joints = last(&user.joints).unwrap();
            let biceps =
                joints.name.iter().position(|name| name == "arm_3_joint").map(|at| joints.position[at]);
            odometry.x.abs() < 0.01
                && odometry.y.abs() < 0.01
                && biceps.is_some_and(|angle| (angle + std::f64::consts::FRAC_PI_4).abs() < 0.02)
        });
        sleep(Duration::from_secs(1));
        assert!(user.way(start) < 1e-3, "{name}: nothing moves it: {}", user.way(start));
    }
}

/// That the base obeys these commands: `commands_reach_the_firmware`.
#[test]
fn a_reset_switches_the_outputs_off_and_the_power_outlets_on() {
    let lab = Lab::only("turtlebot");
    let mut program = Program::new(&lab);
    let outputs =
        program.record::<DigitalOutput>("/mobile_base/commands/digital_output", QosProfile::default());
    let outlets =
        program.record::<ExternalPower>("/mobile_base/commands/external_power", QosProfile::default());
    let reset = program.client::<Trigger::Service>("/simulation/reset");
    program.start();
    let answer = call(&reset, &Trigger::Request::default());
    assert!(answer.success, "{}", answer.message);
    until("the commands", || outlets.lock().unwrap().len() == 4);
    let off = DigitalOutput { values: vec![false; 4], mask: vec![true; 4] };
    assert_eq!(*outputs.lock().unwrap(), [off]);
    let on: Vec<_> = outlets.lock().unwrap().iter().map(|outlet| (outlet.source, outlet.state)).collect();
    assert_eq!(on, [0, 1, 2, 3].map(|source| (source, ExternalPower::ON as u8)));
}
