//! `dragoman evaluate run`: drives an arm through the tests, and records what was commanded and measured.

#![allow(clippy::unnecessary_cast)] // r2r gives every constant its own enum type.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use dragoman_kinematics::calibration::is_way_allowed;
use dragoman_kinematics::evaluation::{Path, Sample, static_points};
use dragoman_kinematics::nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion};
use dragoman_kinematics::{IkOptions, Robot, RobotSettings};
use dragoman_ros::builtin_interfaces::msg::Time;
use dragoman_ros::dragoman_msgs::msg::MotionStatus;
use dragoman_ros::dragoman_msgs::srv::{BeginCircle, BeginSinusoid, SetCommandMode, SetViaPoint};
use dragoman_ros::geometry_msgs::msg::{PointStamped, PoseStamped};
use dragoman_ros::std_srvs::srv::Trigger;
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::times::Seconds;
use dragoman_ros::{Client, Context, Node, QosProfile, WrappedServiceTypeSupport, outln, poses};
use dragoman_time::watch;
use dragoman_time::{sleep, timeout};
use futures::FutureExt;
use parking_lot::Mutex;

use super::{ReportCommand, name, report, tables};
use crate::arms::{sign, whereabouts};
use crate::calibrate::measure::{
    MeasureCommand, MeasuringSetup, Reading, SEARCH_TIME, TRACKER, measure_poses,
};
use crate::calibrate::progress::DurationText;
use crate::calibrate::{Arm, Result, Space, check_pose, positive};

/// The command line of `dragoman evaluate run`.
#[derive(Debug, Clone, Args)]
pub struct RunCommand {
    /// Folder for records and plots; made if it is missing.
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// Tests, separated by commas.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "TESTS",
          default_values_t = [Test::Static, Test::Rectangle, Test::Circle, Test::X, Test::Z])]
    tests: Vec<Test>,
    /// Measured points of the static test.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(4..=1000))]
    points: u32,
    /// Messages that are averaged at each point of the static test.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    samples: u32,
    /// Cycles of each circle and sinusoid; the rectangle is run half as often again, in the thesis 12 times.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=100))]
    cycles: u32,
    /// Periods of circles and sinusoids, s, separated by commas; by default those of the thesis for each.
    #[arg(long, value_name = "PERIODS", value_delimiter = ',', value_parser = positive)]
    periods: Vec<f64>,
    /// The arm: a built-in robot or a file; its limits are checked before anything moves.
    #[arg(long, value_name = "ROBOT", default_value = "ranger_mk1")]
    pub robot: String,
    /// Namespace of the arm.
    #[arg(long, value_name = "NAMESPACE", default_value = "/ranger")]
    namespace: String,
    /// Topic of the measurements, geometry_msgs/PointStamped; by default tracker/point of the arm, the simulated
    /// tracker.
    #[arg(long, value_name = "TOPIC")]
    topic: Option<String>,
    /// Maximum speed of a joint on the way to points and paths, rad/s.
    #[arg(long, value_name = "SPEED", default_value_t = 0.2, value_parser = positive)]
    speed: f64,
    /// Attitude of the tool in all tests, in the base frame: roll, pitch, yaw, rad; by default level, along y.
    #[arg(long, value_name = "RPY", value_delimiter = ',', num_args = 1, allow_hyphen_values = true,
          default_values_t = [0.0, std::f64::consts::FRAC_PI_2, std::f64::consts::FRAC_PI_2])]
    attitude: Vec<f64>,
    #[command(flatten)]
    space: Space,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Test {
    /// Static positional accuracy (Ranger thesis, 4.3).
    Static,
    /// Rectangle through via points (4.5.2).
    Rectangle,
    /// Circles (table 4.3).
    Circle,
    /// Sinusoids in x (table 4.4).
    X,
    /// Sinusoids in z (table 4.5).
    Z,
}

/// Time without messages after which arm or device count as lost.
const STALE: Duration = Duration::from_secs(5);
/// Time that is recorded before and after a motion, s.
const REST: f64 = 0.5;
/// Time within which a motion that ends comes to rest.
const END_TIME: Duration = Duration::from_secs(30);
/// About the time before and after a path.
const APPROACH: Duration = Duration::from_secs(5);
/// Polling interval of the recording.
const LOOK: Duration = Duration::from_millis(20);
/// Joint configurations from which inverse kinematics begins.
const SEEDS: u32 = 40;
/// Points of a path at which inverse kinematics is checked.
const CHECKS: usize = 200;
/// Maximum motion of a joint between two of them, rad or m: more is a change of configuration.
const JUMP: f64 = 0.3;

/// Runs the tests until all are done.
///
/// # Errors
/// Existing files, tests that the arm cannot do (then nothing moves); an arm or a device that does not answer; `stop`
/// resolved before.
pub async fn run(
    context: &Context,
    command: &RunCommand,
    arm: &Arm,
    stop: impl Future<Output = ()>,
) -> Result<()> {
    let plan = Plan::new(command, arm)?;
    fs::create_dir_all(&command.folder).map_err(|error| format!("{}: {error}", command.folder.display()))?;
    let stop = stop.shared();
    let mut rig = Rig::start(context, command, plan.attitude)?;
    rig.find(context, command).await?;
    rig.mode(SetCommandMode::Request::OFF as u32).await?;
    let mut setup = MeasuringSetup::start((context, "evaluate_drive"), &command.namespace, None, names(arm))?;
    let tests = async {
        setup.find(context, &command.namespace).await?;
        if let Some(first) = plan.points.first() {
            for pose in plan.way(&setup.positions()?, first, "the static test")? {
                setup.drive(&pose, command.speed).await?;
            }
            let poses: Vec<_> = plan.points.iter().cycle().take(command.points as usize).cloned().collect();
            let measuring = MeasureCommand {
                poses: "static test".into(),
                output: command.folder.join("static.csv"),
                append: false,
                robot: command.robot.clone(),
                namespace: command.namespace.clone(),
                reading: Reading::Topic,
                topic: command.topic.clone(),
                samples: command.samples,
                speed: command.speed,
                space: command.space.clone(),
            };
            measure_poses((context, "evaluate_static"), &measuring, arm, poses, stop.clone()).await?;
        }
        for (index, (path, start)) in plan.paths.iter().enumerate() {
            let left = plan.paths.iter().skip(index).map(|(path, _)| path_time(command, *path)).sum();
            outln!("{}: {} cycles; {} left ...", name(*path), cycles(command, *path), DurationText(left));
            rig.mode(SetCommandMode::Request::OFF as u32).await?;
            for pose in plan.way(&setup.positions()?, start, &name(*path))? {
                setup.drive(&pose, command.speed).await?;
            }
            setup.settled().await?;
            rig.follow(command, *path).await?;
        }
        rig.mode(SetCommandMode::Request::OFF as u32).await?;
        // Back home, where other programs expect the arm.
        if let Some(home) = arm.settings.as_ref().map(RobotSettings::calibrated_home) {
            for pose in plan.way(&setup.positions()?, &home, "home")? {
                setup.drive(&pose, command.speed).await?;
            }
        }
        Ok::<(), Box<dyn std::error::Error>>(())
    };
    let ended = tokio::select! {
        biased;
        () = stop.clone() => None,
        result = tests => Some(result),
    };
    if !matches!(ended, Some(Ok(()))) {
        setup.cancel().await;
        rig.stop().await;
    }
    match ended {
        None => {
            let folder = command.folder.display();
            Err(format!("stopped before the last test; the records so far are in {folder}").into())
        }
        Some(Err(error)) => Err(error),
        Some(Ok(())) => {
            let folder = command.folder.clone();
            report(&ReportCommand { folder, robot: command.robot.clone(), force: false }, arm)
        }
    }
}

/// Number of runs of a path.
fn cycles(command: &RunCommand, path: Path) -> u32 {
    match path {
        Path::Rectangle => command.cycles + command.cycles / 2,
        _ => command.cycles,
    }
}

/// About how long a path takes.
fn path_time(command: &RunCommand, path: Path) -> Duration {
    Duration::from_secs_f64(f64::from(cycles(command, path)) * path.period()) + APPROACH
}

fn names(arm: &Arm) -> Vec<String> {
    arm.model.joints().iter().map(|joint| joint.name.clone()).collect()
}

/// The plan of the tests, which the arm can do.
struct Plan<'a> {
    arm: &'a Arm,
    robot: Robot,
    space: &'a Space,
    attitude: UnitQuaternion<f64>,
    /// Joint positions of the static test.
    points: Vec<Vec<f64>>,
    /// Paths, with the joint positions at their start.
    paths: Vec<(Path, Vec<f64>)>,
}

impl<'a> Plan<'a> {
    fn new(command: &'a RunCommand, arm: &'a Arm) -> Result<Self> {
        let attitude = match command.attitude.as_slice() {
            [roll, pitch, yaw] if command.attitude.iter().all(|angle| angle.is_finite()) => {
                UnitQuaternion::from_euler_angles(*roll, *pitch, *yaw)
            }
            _ => return Err("--attitude needs three numbers: roll,pitch,yaw".into()),
        };
        let robot = Robot::new(&arm.model)?;
        let mut plan =
            Self { arm, robot, space: &command.space, attitude, points: Vec::new(), paths: Vec::new() };
        let mut files = Vec::new();
        for test in &command.tests {
            let of = |path: fn(f64) -> Path| -> Vec<Path> {
                let (thesis, _) = tables::of_thesis(path(1.0));
                let thesis: Vec<f64> = thesis.iter().map(|(period, ..)| *period).collect();
                let periods = if command.periods.is_empty() { &thesis } else { &command.periods };
                // The slowest first: it shows the position of the device.
                periods.iter().rev().map(|period| path(*period)).collect()
            };
            let (paths, plot) = match test {
                Test::Static => (Vec::new(), "static.svg"),
                Test::Rectangle => (vec![Path::Rectangle], "rectangle.svg"),
                Test::Circle => (of(|period| Path::Circle { period }), "circle.svg"),
                Test::X => (of(|period| Path::SinusoidX { period }), "x.svg"),
                Test::Z => (of(|period| Path::SinusoidZ { period }), "z.svg"),
            };
            files.push(plot.to_owned());
            if *test == Test::Static {
                plan.points = plan.joints(&static_points(), "the static test")?;
                files.push("static.csv".to_owned());
            }
            for path in paths {
                let points: Vec<_> = (0..=CHECKS).map(|step| path.at(step as f64 / CHECKS as f64)).collect();
                let joints = plan.joints(&points, &name(path))?;
                let start = joints.into_iter().next().unwrap_or_default();
                plan.paths.push((path, start));
                files.extend(["commanded", "measured"].map(|which| format!("{}_{which}.csv", name(path))));
            }
        }
        for file in files {
            let file = command.folder.join(file);
            if file.exists() {
                return Err(format!("{} exists: choose another folder", file.display()).into());
            }
        }
        Ok(plan)
    }

    fn allows(&self, joints: &[f64]) -> bool {
        self.space.allows(self.arm, &self.robot, joints)
    }

    /// Joint positions along `points` without a change of configuration; of several ways the shortest.
    fn joints(&self, points: &[Point3<f64>], what: &str) -> Result<Vec<Vec<f64>>> {
        let mut best: Option<(f64, Vec<Vec<f64>>)> = None;
        for seed in (0..SEEDS).map(|index| self.seed(index)) {
            let Some(joints) = self.joints_from(&seed, points) else { continue };
            let length =
                |(a, b): (&Vec<f64>, &Vec<f64>)| a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum::<f64>();
            let length: f64 = joints.iter().zip(joints.iter().skip(1)).map(length).sum();
            // The same way, found again, differs in its last digits.
            if best.as_ref().is_none_or(|(shortest, _)| length < shortest - 1e-3) {
                best = Some((length, joints));
            }
        }
        let (_, joints) = best.ok_or_else(|| {
            format!(
                "{what} is out of reach of this arm, or leaves its limits or its workspace; nothing has moved"
            )
        })?;
        Ok(joints)
    }

    fn joints_from(&self, seed: &[f64], points: &[Point3<f64>]) -> Option<Vec<Vec<f64>>> {
        let pose =
            |point: &Point3<f64>| Isometry3::from_parts(Translation3::from(point.coords), self.attitude);
        let options = IkOptions { max_joint_step: 10.0 * JUMP, ..IkOptions::default() };
        let mut joints: Vec<Vec<f64>> = Vec::new();
        for point in points {
            let mut next = seed.to_vec();
            match joints.last() {
                None => self.robot.inverse(&pose(point), seed, &options, &mut next).ok()?,
                Some(before) => {
                    let report = self.robot.track(&pose(point), before, &options, &mut next).ok()?;
                    let farthest = before.iter().zip(&next).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                    // Points of the static test are farther apart than those of a path.
                    if points.len() > CHECKS && farthest > JUMP {
                        return None;
                    }
                    report
                }
            };
            check_pose(&next, |joints| self.allows(joints)).ok()?;
            joints.push(next);
        }
        Some(joints)
    }

    /// Poses on the way: straight in joint space, or by home or another pose where that is blocked.
    fn way(&self, from: &[f64], to: &[f64], what: &str) -> Result<Vec<Vec<f64>>> {
        let is_free = |from: &[f64], to: &[f64]| is_way_allowed(from, to, |joints| self.allows(joints));
        if is_free(from, to) {
            return Ok(vec![to.to_vec()]);
        }
        let home = self.arm.settings.as_ref().map(RobotSettings::calibrated_home);
        let between = home.into_iter().chain((0..SEEDS).map(|index| self.seed(index)));
        let pose = between.into_iter().find(|pose| is_free(from, pose) && is_free(pose, to));
        let pose = pose.ok_or_else(|| {
            format!("every way to {what} leaves the workspace or the limits, or is below --min-height")
        })?;
        Ok(vec![pose, to.to_vec()])
    }

    /// Joint positions evenly spread over the limits (Weyl's sequence).
    fn seed(&self, index: u32) -> Vec<f64> {
        let limits = &self.arm.motion.joint;
        let parts = [0.8192, 0.6711, 0.5498, 0.4504, 0.3690, 0.3023, 0.2476];
        let between = |((lower, upper), part): ((&f64, &f64), &f64)| {
            lower + (upper - lower) * (0.5 + f64::from(index) * part).fract()
        };
        limits.lower.iter().zip(&limits.upper).zip(parts.iter().cycle()).map(between).collect()
    }
}

/// Samples of a topic while they are wanted.
#[derive(Clone, Default)]
struct Record(Arc<Mutex<(Vec<Sample>, Option<Instant>)>>);

impl Record {
    fn push(&self, stamp: &Time, x: f64, y: f64, z: f64) {
        let time = stamp.seconds();
        let mut inner = self.0.lock();
        if inner.0.last().is_none_or(|last| last.time < time)
            && [x, y, z].iter().all(|value| value.is_finite())
        {
            inner.0.push(Sample { time, point: Point3::new(x, y, z) });
            inner.1 = Some(dragoman_time::now());
        }
    }

    fn clear(&self) {
        self.0.lock().0.clear();
    }

    fn samples(&self) -> Vec<Sample> {
        self.0.lock().0.clone()
    }

    /// First and last time, s; `None` while there is no message.
    fn span(&self) -> Option<[f64; 2]> {
        let inner = self.0.lock();
        Some([inner.0.first()?.time, inner.0.last()?.time])
    }

    fn is_stale(&self) -> bool {
        self.0.lock().1.is_none_or(|at| dragoman_time::since(at) > STALE)
    }
}

/// The motion node of the arm, and the measuring device.
struct Rig {
    commanded: Record,
    measured: Record,
    status: watch::Receiver<Option<MotionStatus>>,
    mode: Client<SetCommandMode::Service>,
    circle: Client<BeginCircle::Service>,
    sinusoid: Client<BeginSinusoid::Service>,
    via_point: Client<SetViaPoint::Service>,
    clear: Client<Trigger::Service>,
    execute: Client<Trigger::Service>,
    end: Client<Trigger::Service>,
    stop: Client<Trigger::Service>,
    attitude: UnitQuaternion<f64>,
    _running: dragoman_time::Task<()>,
}

impl Rig {
    fn start(context: &Context, command: &RunCommand, attitude: UnitQuaternion<f64>) -> Result<Self> {
        let mut tasks = NodeTasks::new(Node::create(context.clone(), "evaluate", &command.namespace)?);
        let (commanded, measured) = (Record::default(), Record::default());
        let record = commanded.clone();
        tasks.subscribe("setpoint", QosProfile::default(), move |PoseStamped { header, pose }| {
            record.push(&header.stamp, pose.position.x, pose.position.y, pose.position.z);
        })?;
        let record = measured.clone();
        let topic = command.topic.as_deref().unwrap_or(TRACKER);
        // Devices publish either way.
        let qos = QosProfile::default().best_effort().keep_last(100);
        tasks.subscribe(topic, qos, move |PointStamped { header, point }| {
            record.push(&header.stamp, point.x, point.y, point.z);
        })?;
        let (sender, status) = watch::channel(None);
        let latched = QosProfile::default().keep_last(1).transient_local();
        tasks.subscribe("motion_status", latched, move |status: MotionStatus| {
            sender.send_replace(Some(status));
        })?;
        let node = tasks.node();
        let qos = QosProfile::services_default;
        let (mode, circle) =
            (node.create_client("set_command_mode", qos())?, node.create_client("begin_circle", qos())?);
        let sinusoid = node.create_client("begin_sinusoid", qos())?;
        let (via_point, clear) =
            (node.create_client("set_via_point", qos())?, node.create_client("clear_via_points", qos())?);
        let (execute, end) =
            (node.create_client("execute_via_points", qos())?, node.create_client("end_shape", qos())?);
        let stop = node.create_client("stop", qos())?;
        let running = tasks.start()?;
        let running = dragoman_time::spawn(async move {
            running.await;
        });
        Ok(Self {
            commanded,
            measured,
            status,
            mode,
            circle,
            sinusoid,
            via_point,
            clear,
            execute,
            end,
            stop,
            attitude,
            _running: running,
        })
    }

    /// Waits for the arm and the device.
    async fn find(&mut self, context: &Context, command: &RunCommand) -> Result<()> {
        let missing = |what: &str| {
            let namespace = &command.namespace;
            format!("{what} in {namespace}{}", whereabouts(context, namespace, sign::MOTION))
        };
        for server in [Node::is_available(&self.mode)?, Node::is_available(&self.execute)?] {
            timeout(SEARCH_TIME, server).await.map_err(|_| missing("no motion services"))??;
        }
        let status = self.status.wait_for(Option::is_some);
        timeout(SEARCH_TIME, status).await.map_err(|_| missing("no motion_status"))??;
        let begun = dragoman_time::now();
        while self.measured.span().is_none() {
            if dragoman_time::since(begun) > SEARCH_TIME {
                return Err(missing("no readings of the measuring device (see --topic)").into());
            }
            sleep(LOOK).await;
        }
        Ok(())
    }

    async fn mode(&self, mode: u32) -> Result<()> {
        let mode = u8::try_from(mode)?;
        let answer = call(&self.mode, &SetCommandMode::Request { mode }).await?;
        if answer.success {
            Ok(())
        } else {
            Err(format!("the arm refuses the mode: {}", answer.message).into())
        }
    }

    async fn trigger(client: &Client<Trigger::Service>) -> Result<()> {
        let answer = call(client, &Trigger::Request::default()).await?;
        if answer.success { Ok(()) } else { Err(answer.message.into()) }
    }

    /// Stops the motion of the tool.
    async fn stop(&self) {
        // An arm that does not answer cannot be stopped.
        let _ = timeout(Duration::from_secs(2), Self::trigger(&self.stop)).await;
        let _ = timeout(Duration::from_secs(2), self.mode(SetCommandMode::Request::OFF as u32)).await;
    }

    /// Moves along a path, from its start, and writes the records.
    async fn follow(&mut self, command: &RunCommand, path: Path) -> Result<()> {
        let cycles = cycles(command, path);
        self.mode(SetCommandMode::Request::CARTESIAN as u32).await?;
        self.commanded.clear();
        self.measured.clear();
        self.record_until(|span, _| span[1] - span[0] > REST).await?;
        if path == Path::Rectangle {
            for _ in 0..cycles {
                self.rectangle().await?;
            }
        } else {
            self.begin(path).await?;
            let begin = self.commanded.span().map_or(0.0, |span| span[1]);
            let cycles = f64::from(cycles) - 0.25;
            self.moving_until(|span| span[1] - begin > cycles * path.period()).await?;
            Self::trigger(&self.end).await?;
            self.at_rest(END_TIME).await?;
        }
        // Beyond the lag of the arm.
        let last = self.commanded.span().map_or(0.0, |span| span[1]);
        let more = REST + 0.6 * path.period().min(4.0);
        self.record_until(|_, measured| measured[1] > last + more).await?;
        let (commanded, measured) = (self.commanded.samples(), self.measured.samples());
        let zero = commanded.first().map_or(0.0, |sample| sample.time);
        for (which, samples) in [("commanded", commanded), ("measured", measured)] {
            let file = command.folder.join(format!("{}_{which}.csv", name(path)));
            let mut text = "time,x,y,z\n".to_owned();
            for Sample { time, point } in samples {
                writeln!(text, "{:.6},{:.6},{:.6},{:.6}", time - zero, point.x, point.y, point.z)?;
            }
            fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))?;
        }
        Ok(())
    }

    /// Begins a circle or a sinusoid; an arm that has just changed its mode refuses for two cycles.
    async fn begin(&self, path: Path) -> Result<()> {
        let begun = dragoman_time::now();
        loop {
            let (success, message) = match path {
                Path::Rectangle => return Ok(()),
                Path::Circle { period } => {
                    let radius = Path::RADIUS;
                    let request = BeginCircle::Request { radius, period, start_axis: 0, second_axis: 2 };
                    let answer = call(&self.circle, &request).await?;
                    (answer.success, answer.message)
                }
                Path::SinusoidX { period } | Path::SinusoidZ { period } => {
                    let axis = if matches!(path, Path::SinusoidX { .. }) { 0 } else { 2 };
                    let request = BeginSinusoid::Request { amplitude: Path::AMPLITUDE, period, axis };
                    let answer = call(&self.sinusoid, &request).await?;
                    (answer.success, answer.message)
                }
            };
            if success {
                return Ok(());
            }
            if dragoman_time::since(begun) > STALE {
                return Err(format!("{}: the arm refuses: {message}", name(path)).into());
            }
            sleep(LOOK).await;
        }
    }

    /// Once round the rectangle, from its first corner.
    async fn rectangle(&mut self) -> Result<()> {
        Self::trigger(&self.clear).await?;
        for (index, min_duration) in Path::TIMES.into_iter().enumerate() {
            let corner = Path::CORNERS.get((index + 1) % 4).copied().unwrap_or_default();
            let pose = poses::pose(&(corner, self.attitude.coords.into()));
            let request = SetViaPoint::Request { index: u8::try_from(index)?, pose, min_duration };
            let answer = call(&self.via_point, &request).await?;
            if !answer.success {
                return Err(format!("rectangle: the arm refuses: {}", answer.message).into());
            }
        }
        Self::trigger(&self.execute).await.map_err(|error| format!("rectangle: {error}"))?;
        let begin = self.commanded.span().map_or(0.0, |span| span[1]);
        // Until the motion has begun.
        self.moving_until(|span| span[1] - begin > 1.0).await?;
        // The arm is slower than asked where its limits require it.
        self.at_rest(Duration::from_secs_f64(4.0 * Path::Rectangle.period()) + END_TIME).await
    }

    /// Waits while the arm moves.
    async fn moving_until(&mut self, is_done: impl Fn([f64; 2]) -> bool) -> Result<()> {
        let status = self.status.clone();
        let mut was_moving = false;
        let stopped = Mutex::new(false);
        let begun = dragoman_time::now();
        self.record_until(|span, _| {
            let is_moving = status.borrow().as_ref().is_some_and(|status| status.moving);
            was_moving |= is_moving;
            let has_stopped = !is_moving && (was_moving || dragoman_time::since(begun) > STALE);
            *stopped.lock() = has_stopped;
            has_stopped || is_done(span)
        })
        .await?;
        if stopped.into_inner() {
            return Err("the arm has stopped by itself: see its log and motion_events".into());
        }
        Ok(())
    }

    /// Waits for the end of a motion, at most for `time_limit`.
    async fn at_rest(&mut self, time_limit: Duration) -> Result<()> {
        at_rest([&self.commanded, &self.measured], &self.status, time_limit).await
    }

    /// Records until `is_done` with the first and last times of commands and measurements, s.
    async fn record_until(&self, is_done: impl FnMut([f64; 2], [f64; 2]) -> bool) -> Result<()> {
        record_until([&self.commanded, &self.measured], is_done).await
    }
}

/// Records until `is_done` with the first and last times of commands and measurements, s.
async fn record_until(
    [commanded, measured]: [&Record; 2],
    mut is_done: impl FnMut([f64; 2], [f64; 2]) -> bool,
) -> Result<()> {
    let begun = dragoman_time::now();
    loop {
        if let (Some(commanded), Some(measured)) = (commanded.span(), measured.span())
            && is_done(commanded, measured)
        {
            return Ok(());
        }
        if dragoman_time::since(begun) > STALE {
            if commanded.is_stale() {
                return Err("the arm has stopped: its setpoint is missing; see its log".into());
            }
            if measured.is_stale() {
                return Err("the measuring device is silent".into());
            }
        }
        sleep(LOOK).await;
    }
}

/// Records until a motion ends, at most for `time_limit`.
async fn at_rest(
    records: [&Record; 2],
    status: &watch::Receiver<Option<MotionStatus>>,
    time_limit: Duration,
) -> Result<()> {
    let ended = record_until(records, |_, _| status.borrow().as_ref().is_some_and(|status| !status.moving));
    let ended = timeout(time_limit, ended).await;
    ended.map_err(|_| "the motion does not end: see the arm's log and motion_events")?
}

/// Calls a service of the arm.
async fn call<S: WrappedServiceTypeSupport + 'static>(
    client: &Client<S>,
    request: &S::Request,
) -> Result<S::Response> {
    let answer = timeout(SEARCH_TIME, client.request(request)?).await;
    Ok(answer.map_err(|_| "the arm does not answer")??)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_motion_that_does_not_end_is_an_error() {
        let records = [Record::default(), Record::default()];
        for record in &records {
            record.push(&Time::default(), 0.0, 0.0, 0.0);
        }
        let (sender, status) = watch::channel(Some(MotionStatus { moving: true, ..Default::default() }));
        let wait = |time_limit| at_rest([&records[0], &records[1]], &status, time_limit);
        let error = wait(Duration::from_millis(50)).await.unwrap_err().to_string();
        assert!(error.starts_with("the motion does not end"), "{error}");
        // A motion that ends in time is not an error.
        let end = async {
            sleep(Duration::from_millis(50)).await;
            sender.send_replace(Some(MotionStatus::default()));
        };
        let (ended, ()) = tokio::join!(wait(Duration::from_secs(60)), end);
        ended.unwrap();
    }
}
