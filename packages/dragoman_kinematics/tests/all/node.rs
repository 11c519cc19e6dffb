//! The node over its topics, services and parameters, with an arm that follows commands at once.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use dragoman_kinematics::motion::MotionConfig;
use dragoman_kinematics::node::{KinematicsSettings, start};
use dragoman_kinematics::{Model, Robot};
use dragoman_ros::dragoman_msgs::msg::{DriveStatus, MotionStatus};
use dragoman_ros::dragoman_msgs::srv::{SetCommandMode, SetGoalPose};
use dragoman_ros::geometry_msgs::msg::{Pose, PoseStamped, Twist, TwistStamped, Vector3};
use dragoman_ros::rcl_interfaces::msg::{Parameter, ParameterValue, SetParametersResult};
use dragoman_ros::rcl_interfaces::srv::{GetParameters, SetParameters};
use dragoman_ros::sensor_msgs::msg::JointState;
use dragoman_ros::std_srvs::srv::Trigger;
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{
    Arguments, Context, Discovery, DiscoveryRange, Node, QosProfile, WrappedServiceTypeSupport,
    WrappedTypesupport,
};
use futures::executor::block_on;

const REACHING: [f64; 6] = [-1.57, 1.5, 1.0, 0.0, 2.0, 0.0];
const TIMEOUT: Duration = Duration::from_secs(20);

/// State shared by the arm and its observer.
#[derive(Default)]
struct World {
    joints: Vec<f64>,
    /// Set to stop publishing joint states.
    silent: bool,
    pose: Option<PoseStamped>,
    status: Option<MotionStatus>,
}

struct Fixture {
    world: Arc<Mutex<World>>,
    node: Node,
    robot: Robot,
    twists: dragoman_ros::Publisher<TwistStamped>,
}

impl Fixture {
    /// Ranger Mark I in namespace `/arm`, without workspace limits; `test` selects the domain of the test.
    fn new(test: u16) -> Self {
        let domain_id = 91 + (std::process::id() % 3) as u16 * 4 + test;
        let discovery = Discovery { domain_id, range: DiscoveryRange::Localhost, static_peers: Vec::new() };
        let context = Context::with_options(&discovery, Arguments::default()).unwrap();
        let model = Model::from_dh_yaml(include_str!("../data/ranger_mk1.yaml")).unwrap();
        let robot = Robot::new(&model).unwrap();
        let settings = KinematicsSettings {
            namespace: "/arm".to_owned(),
            urdf: String::new(),
            motion: MotionConfig::for_robot(&robot),
            model,
        };
        let kinematics = start(&context, settings).unwrap();
        let world = Arc::new(Mutex::new(World { joints: REACHING.to_vec(), ..World::default() }));
        let mut tasks = NodeTasks::new(Node::create(context.clone(), "arm", "/arm").unwrap());
        simulate(&mut tasks, &world);
        let arm = tasks.start().unwrap();
        std::thread::spawn(move || block_on(futures::future::join(kinematics.node, arm)));
        let mut node = Node::create(context, "observer", "/arm").unwrap();
        let twists = node.create_publisher("delta_twist_cmds", QosProfile::default()).unwrap();
        Self { world, node, robot, twists }
    }

    fn call<S: WrappedServiceTypeSupport + 'static>(
        &mut self,
        name: &str,
        request: S::Request,
    ) -> S::Response {
        let client = self.node.create_client::<S>(name, QosProfile::services_default()).unwrap();
        block_on(async {
            Node::is_available(&client).unwrap().await.unwrap();
            client.request(&request).unwrap().await.unwrap()
        })
    }

    fn trigger(&mut self, name: &str) -> Trigger::Response {
        self.call::<Trigger::Service>(name, Trigger::Request::default())
    }

    fn set(&mut self, values: &[(&str, &[f64])]) -> Vec<SetParametersResult> {
        let parameters = values.iter().map(|(name, value)| Parameter {
            name: (*name).to_owned(),
            value: match *value {
                [number] => ParameterValue { type_: 3, double_value: *number, ..Default::default() },
                list => ParameterValue { type_: 8, double_array_value: list.to_vec(), ..Default::default() },
            },
        });
        let request = SetParameters::Request { parameters: parameters.collect() };
        self.call::<SetParameters::Service>("kinematics/set_parameters", request).results
    }

    fn get(&mut self, name: &str) -> ParameterValue {
        let request = GetParameters::Request { names: vec![name.to_owned()] };
        let mut values = self.call::<GetParameters::Service>("kinematics/get_parameters", request).values;
        values.remove(0)
    }

    fn until<T>(&self, what: &str, mut holds: impl FnMut(&World) -> Option<T>) -> T {
        let start = Instant::now();
        loop {
            if let Some(value) = holds(&self.world.lock().unwrap()) {
                return value;
            }
            assert!(start.elapsed() < TIMEOUT, "{what}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Cartesian mode, as soon as the arm is measured and its drives known.
    fn ready(&mut self) {
        self.until("a pose is published", |world| world.pose.clone());
        let mode = SetCommandMode::Request { mode: 2 };
        assert!(self.call::<SetCommandMode::Service>("set_command_mode", mode).success);
        let start = Instant::now();
        while self.trigger("begin_motion").message != "no goal has been set" {
            assert!(start.elapsed() < TIMEOUT);
        }
    }

    /// Sets a goal `height` metres above the tool.
    fn set_goal(&mut self, height: f64) -> Pose {
        let mut pose = self.until("a pose is published", |world| world.pose.clone()).pose;
        pose.position.z += height;
        let request = SetGoalPose::Request { pose: pose.clone(), min_duration: 0.0 };
        assert!(self.call::<SetGoalPose::Service>("set_goal_pose", request).success);
        pose
    }

    fn steer(&self, frame: &str) {
        let mut message = TwistStamped {
            twist: Twist { linear: Vector3 { z: 0.02, ..Default::default() }, ..Default::default() },
            ..Default::default()
        };
        message.header.frame_id = frame.to_owned();
        self.twists.publish(&message).unwrap();
    }
}

fn simulate(tasks: &mut NodeTasks, world: &Arc<Mutex<World>>) {
    fn keep<T: WrappedTypesupport + Send + 'static>(
        tasks: &mut NodeTasks,
        topic: &str,
        world: &Arc<Mutex<World>>,
        mut note: impl FnMut(&mut World, T) + Send + 'static,
    ) {
        let world = Arc::clone(world);
        tasks
            .subscribe(topic, QosProfile::default(), move |message| note(&mut world.lock().unwrap(), message))
            .unwrap();
    }
    keep(tasks, "joint_command", world, |world, command: JointState| world.joints = command.position);
    keep(tasks, "pose", world, |world, pose| world.pose = Some(pose));
    keep(tasks, "motion_status", world, |world, status| world.status = Some(status));
    let states = tasks.node().create_publisher("joint_states", QosProfile::default()).unwrap();
    let latched = QosProfile::default().keep_last(1).transient_local();
    let drives = tasks.node().create_publisher("drive_status", latched).unwrap();
    let (world, mut count) = (Arc::clone(world), 0);
    let publish = move || {
        if count % 50 == 0 {
            drives.publish(&DriveStatus { enabled: true, ..Default::default() }).unwrap();
        }
        count += 1;
        let world = world.lock().unwrap();
        if !world.silent {
            let mut state = JointState { position: world.joints.clone(), ..Default::default() };
            // A time that no clock reports.
            (state.header.stamp.sec, state.header.stamp.nanosec) = (1000, 7);
            states.publish(&state).unwrap();
        }
    };
    tasks.every(Duration::from_millis(10), publish).unwrap();
}

#[test]
fn a_parameter_counts_for_the_next_motion_and_one_that_fits_no_other_comes_back() {
    let mut fixture = Fixture::new(0);
    fixture.ready();
    fixture.set_goal(0.002);
    let z = fixture.until("a pose", |world| world.pose.clone()).pose.position.z;
    let low = [-2.0, 2.0, -2.0, 2.0, -2.0, z - 0.1];
    let high = [-2.0, 2.0, -2.0, 2.0, -2.0, 2.0];
    assert!(fixture.set(&[("workspace.bounds", &low)])[0].successful);
    let start = Instant::now();
    while !fixture.trigger("begin_motion").message.contains("workspace limit") {
        assert!(start.elapsed() < TIMEOUT);
        fixture.trigger("stop");
    }
    assert!(fixture.set(&[("workspace.bounds", &high)])[0].successful);
    let start = Instant::now();
    while !fixture.trigger("begin_motion").success {
        assert!(start.elapsed() < TIMEOUT);
    }

    let refused = fixture.set(&[("twist_timeout", &[-1.0])]).remove(0);
    assert!(!refused.successful && refused.reason.contains("0.000001"), "{}", refused.reason);
    assert!(!fixture.set(&[("max_time_step", &[0.2])])[0].successful, "fixed once the node runs");
    // Within its range, but inconsistent with the others.
    fixture.set(&[("twist_timeout", &[0.4]), ("via_points.cartesian", &[0.2])]);
    let start = Instant::now();
    while fixture.get("via_points.cartesian").double_value != 0.002 {
        assert!(start.elapsed() < TIMEOUT);
    }
    assert_eq!(fixture.get("twist_timeout").double_value, 0.5, "all or none");
    fixture.set(&[("joint.max_rate", &[0.1, 0.1])]);
    let start = Instant::now();
    while fixture.get("joint.max_rate").double_array_value.len() != 6 {
        assert!(start.elapsed() < TIMEOUT);
    }
}

#[test]
fn twists_count_in_the_base_and_the_tool_frame_and_poses_have_the_stamp_of_the_joints() {
    let mut fixture = Fixture::new(1);
    fixture.ready();
    let stamp = fixture.until("a pose", |world| world.pose.clone()).header.stamp;
    assert_eq!((stamp.sec, stamp.nanosec), (1000, 7));
    let from = fixture.robot.forward(&REACHING);
    let axis_of_tool = from.rotation * nalgebra::Vector3::z();
    for (frame, axis) in
        [("tool", axis_of_tool), ("", nalgebra::Vector3::z()), ("base", nalgebra::Vector3::z())]
    {
        let began = fixture.world.lock().unwrap().joints.clone();
        let began = fixture.robot.forward(&began).translation.vector;
        let moved = loop {
            fixture.steer(frame);
            std::thread::sleep(Duration::from_millis(20));
            let joints = fixture.world.lock().unwrap().joints.clone();
            let moved = fixture.robot.forward(&joints).translation.vector - began;
            if moved.norm() > 0.005 {
                break moved;
            }
        };
        assert!((moved.normalize() - axis).norm() < 1e-3, "{frame}: {moved} along {axis}");
        fixture.trigger("stop");
        fixture.until("it stands", |world| world.status.as_ref().is_some_and(|s| !s.moving).then_some(()));
    }
    let joints = fixture.world.lock().unwrap().joints.clone();
    for _ in 0..10 {
        fixture.steer("map");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(fixture.world.lock().unwrap().joints, joints, "a frame that is not known moves nothing");
}

#[test]
fn a_motion_ends_with_the_joint_states_and_is_not_resumed() {
    let mut fixture = Fixture::new(2);
    fixture.ready();
    fixture.set_goal(0.2);
    assert!(fixture.trigger("begin_motion").success);
    fixture.until("it moves", |world| world.status.as_ref()?.moving.then_some(()));
    fixture.world.lock().unwrap().silent = true;
    fixture.until("the motion ends", |world| (!world.status.as_ref()?.moving).then_some(()));
    assert!(fixture.trigger("begin_motion").message.contains("not being measured"));
    let joints = fixture.world.lock().unwrap().joints.clone();
    {
        let mut world = fixture.world.lock().unwrap();
        (world.silent, world.pose) = (false, None);
    }
    fixture.until("the arm is back", |world| world.pose.clone());
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(fixture.world.lock().unwrap().joints, joints);
}

#[test]
fn only_a_complete_and_finite_measurement_has_a_pose() {
    let mut fixture = Fixture::new(3);
    fixture.ready();
    let names: Vec<String> = fixture.robot.joints().iter().map(|joint| joint.name.clone()).collect();
    let states = fixture.node.create_publisher("joint_states", QosProfile::default()).unwrap();
    let publish = |name: &[String], position: &[f64]| {
        let mut state = JointState { name: name.to_vec(), position: position.to_vec(), ..Default::default() };
        state.header.stamp.sec = 3000;
        states.publish(&state).unwrap();
    };
    // The publisher is matched: the joints come in reverse order, from the tool to the base.
    let (backwards, other_way): (Vec<String>, Vec<f64>) = names.iter().cloned().zip(REACHING).rev().unzip();
    let is_published_here = |world: &World| world.pose.clone().filter(|pose| pose.header.stamp.sec == 3000);
    fixture.world.lock().unwrap().silent = true;
    let pose = fixture.until("the pose of joints in another order", |world| {
        publish(&backwards, &other_way);
        std::thread::sleep(Duration::from_millis(20));
        is_published_here(world)
    });
    let expected = fixture.robot.forward(&REACHING).translation.vector;
    let position = pose.pose.position;
    assert!((nalgebra::Vector3::new(position.x, position.y, position.z) - expected).norm() < 1e-6);
    std::thread::sleep(Duration::from_millis(200));

    fixture.world.lock().unwrap().pose = None;
    for _ in 0..10 {
        publish(&["gripper".to_owned()], &[0.02]);
        publish(&names[..3], &REACHING[..3]);
        publish(&names, &REACHING[..5]);
        publish(&[], &REACHING[..1]);
        publish(&names, &[f64::NAN; 6]);
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(fixture.world.lock().unwrap().pose, None);
}
