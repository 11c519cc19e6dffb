//! `dragoman calibrate measure`: drives an arm to poses, and reads the measuring device at each.

use std::error::Error;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use dragoman_kinematics::Robot;
use dragoman_kinematics::calibration::is_way_allowed;
use dragoman_kinematics::nalgebra::{Point3, Vector3};
use dragoman_ros::control_msgs::action::FollowJointTrajectory;
use dragoman_ros::geometry_msgs::msg::PointStamped;
use dragoman_ros::sensor_msgs::msg::JointState;
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::trajectory_msgs::msg::{JointTrajectory, JointTrajectoryPoint};
use dragoman_ros::{ActionClient, Context, GoalStatus, Node, QosProfile, outln, times};
use dragoman_time::watch;
use dragoman_time::{sleep, timeout};
use futures::StreamExt;
use futures::channel::mpsc;

use super::progress::{DurationText, Progress, motion_time};
use super::{Arm, Result, Space, check_pose, files, positive};
use crate::arms::{sign, whereabouts};

/// The command line of `dragoman calibrate measure`.
#[derive(Debug, Clone, Args)]
pub struct MeasureCommand {
    /// Poses to measure: a CSV file with a column for each joint, as dragoman calibrate plan writes it.
    #[arg(value_name = "POSES.csv")]
    pub(crate) poses: PathBuf,
    /// File for the measurements; each is written at once.
    #[arg(long, short, value_name = "FILE.csv")]
    pub(crate) output: PathBuf,
    /// Continue a file: poses that it has are not measured again.
    #[arg(long)]
    pub(crate) append: bool,
    /// The arm: a built-in robot or a file; its limits are checked before anything moves.
    #[arg(long, value_name = "ROBOT", default_value = "ranger_mk1")]
    pub robot: String,
    /// Namespace of the arm.
    #[arg(long, value_name = "NAMESPACE", default_value = "/ranger")]
    pub(crate) namespace: String,
    /// Where readings come from.
    #[arg(long, value_enum, default_value_t = Reading::Topic)]
    pub(crate) reading: Reading,
    /// Topic of the readings, geometry_msgs/PointStamped; by default tracker/point of the arm, the simulated tracker.
    #[arg(long, value_name = "TOPIC")]
    pub(crate) topic: Option<String>,
    /// Messages that are averaged at each pose.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) samples: u32,
    /// Maximum speed of a joint, rad/s or m/s.
    #[arg(long, value_name = "SPEED", default_value_t = 0.2, value_parser = positive)]
    pub(crate) speed: f64,
    #[command(flatten)]
    pub(crate) space: Space,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Reading {
    /// A topic.
    Topic,
    /// Numbers that the user types.
    Keyboard,
}

/// Topic of the simulated measuring device, in the namespace of its arm.
pub(crate) const TRACKER: &str = "tracker/point";
/// Time for servers, topics and first messages to appear.
pub(crate) const SEARCH_TIME: Duration = Duration::from_secs(10);
/// Time in which no joint may move before a reading, and how much movement counts, rad or m.
const STILL: (Duration, f64) = (Duration::from_millis(300), 1e-4);
/// Time within which an arm comes to rest after a motion.
const SETTLE_TIME: Duration = Duration::from_secs(20);
/// Age of joint states beyond which the arm counts as lost.
const STALE: Duration = Duration::from_secs(5);
/// Time for all samples of one reading, beyond what the slowest device needs.
const READING_TIME: Duration = Duration::from_secs(30);
/// Readings of one pose that are farther apart are refused, m: something moves.
const UNSTEADY: f64 = 0.02;
/// Poses closer than this are the same, rad or m.
const SAME: f64 = 0.02;

/// Measures until all poses are done.
///
/// # Errors
/// Poses that the arm must not take (then nothing moves); an arm or a device that does not answer; `stop` resolved before.
pub async fn measure(
    context: &Context,
    command: &MeasureCommand,
    arm: &Arm,
    stop: impl Future<Output = ()>,
) -> Result<()> {
    let names: Vec<&str> = arm.model.joints().iter().map(|joint| joint.name.as_str()).collect();
    let poses = files::joints(&command.poses, &names)?;
    measure_poses((context, "calibrate"), command, arm, poses, stop).await
}

/// As [`measure`], at `poses`, by a node of this name.
pub(crate) async fn measure_poses(
    (context, node): (&Context, &str),
    command: &MeasureCommand,
    arm: &Arm,
    mut poses: Vec<Vec<f64>>,
    stop: impl Future<Output = ()>,
) -> Result<()> {
    let names: Vec<String> = arm.model.joints().iter().map(|joint| joint.name.clone()).collect();
    let borrowed: Vec<&str> = names.iter().map(String::as_str).collect();
    let robot = Robot::new(&arm.model)?;
    let is_allowed = |joints: &[f64]| command.space.allows(arm, &robot, joints);
    for (row, pose) in poses.iter().enumerate() {
        check_pose(pose, is_allowed).map_err(|why| {
            format!("{}: pose {}: {why}; nothing has moved", command.poses.display(), row + 1)
        })?;
    }
    let mut file = Output::new(&command.output, &borrowed, command.append)?;
    let count = poses.len();
    poses.retain(|pose| {
        !file.measured.iter().any(|old| pose.iter().zip(old).all(|(a, b)| (a - b).abs() < SAME))
    });
    if poses.len() < count {
        outln!("{} of {count} poses are in {} already", count - poses.len(), command.output.display());
    }
    let mut setup = MeasuringSetup::start(
        (context, node),
        &command.namespace,
        Some((command.reading, command.topic.as_deref())),
        names,
    )?;
    let measured = async {
        setup.find(context, &command.namespace).await?;
        let here = setup.positions()?;
        let begins = std::iter::once(&here).chain(&poses);
        for (row, (from, to)) in begins.zip(&poses).enumerate() {
            if !is_way_allowed(from, to, is_allowed) {
                return Err(format!(
                    "the way to pose {} leaves the workspace, or is below --min-height; nothing has moved",
                    row + 1
                )
                .into());
            }
        }
        let begins = std::iter::once(&here).chain(&poses);
        let motions = begins.zip(&poses).map(|(from, to)| motion_time(from, to, command.speed));
        let progress = Progress::begin(motions.collect());
        for (row, pose) in poses.iter().enumerate() {
            setup.drive(pose, command.speed).await?;
            let joints = setup.settled().await?;
            let Some(point) = setup.read(command, row + 1, poses.len()).await? else { continue };
            file.write(&joints, &point)?;
            let (done, left) = (row + 1, DurationText(progress.left(row + 1)));
            let [x, y, z] = point.coords.into();
            outln!("{done} of {}: x {x:.5}, y {y:.5}, z {z:.5} m; {left} left", poses.len());
        }
        Ok::<(), Box<dyn Error>>(())
    };
    let ended = tokio::select! {
        biased;
        () = stop => Err("stopped before the last pose".into()),
        result = measured => result,
    };
    setup.cancel().await;
    if !file.measured.is_empty() {
        outln!("{} measurements in {}", file.measured.len(), command.output.display());
    }
    ended
}

/// The file of measurements. It is made with the first one.
struct Output {
    path: PathBuf,
    header: String,
    file: Option<File>,
    measured: Vec<Vec<f64>>,
}

impl Output {
    fn new(path: &Path, joints: &[&str], append: bool) -> Result<Self> {
        let header = format!("{},x,y,z", joints.join(","));
        let mut output = Self { path: path.to_owned(), header, file: None, measured: Vec::new() };
        if append && path.exists() {
            output.measured = files::joints(path, joints)?;
            output.file =
                Some(OpenOptions::new().append(true).open(path).map_err(|error| output.failed(&error))?);
        } else if path.exists() {
            return Err(format!("{} exists: use --append to continue it", path.display()).into());
        }
        Ok(output)
    }

    fn failed(&self, error: &std::io::Error) -> String {
        format!("cannot write {}: {error}", self.path.display())
    }

    fn write(&mut self, joints: &[f64], point: &Point3<f64>) -> Result<()> {
        let mut file = match self.file.take() {
            Some(file) => file,
            None => {
                let mut file = File::create_new(&self.path).map_err(|error| self.failed(&error))?;
                writeln!(file, "{}", self.header).map_err(|error| self.failed(&error))?;
                file
            }
        };
        let numbers = joints.iter().map(|value| format!("{value:.7}"));
        let numbers = numbers.chain(point.iter().map(|value| format!("{value:.6}")));
        writeln!(file, "{}", numbers.collect::<Vec<_>>().join(",")).map_err(|error| self.failed(&error))?;
        self.file = Some(file);
        self.measured.push(joints.to_vec());
        Ok(())
    }
}

type Readings = Pin<Box<dyn futures::Stream<Item = PointStamped> + Send>>;

/// The arm and the measuring device.
pub(crate) struct MeasuringSetup {
    names: Vec<String>,
    states: watch::Receiver<Option<(Instant, Vec<f64>)>>,
    readings: Option<Readings>,
    client: ActionClient<FollowJointTrajectory::Action>,
    goal: Option<dragoman_ros::ActionClientGoal<FollowJointTrajectory::Action>>,
    lines: Option<mpsc::UnboundedReceiver<String>>,
    _running: dragoman_time::Task<()>,
}

impl MeasuringSetup {
    /// The arm in `namespace`, with readings from the device or the topic. `node` is the name of the node.
    pub(crate) fn start(
        (context, node): (&Context, &str),
        namespace: &str,
        reading: Option<(Reading, Option<&str>)>,
        names: Vec<String>,
    ) -> Result<Self> {
        let mut tasks = NodeTasks::new(Node::create(context.clone(), node, namespace)?);
        let (sender, states) = watch::channel(None);
        let wanted = names.clone();
        tasks.subscribe("joint_states", QosProfile::default(), move |state: JointState| {
            let position = |name: &String| {
                let index = state.name.iter().position(|other| other == name)?;
                state.position.get(index).copied().filter(|position| position.is_finite())
            };
            if let Some(positions) = wanted.iter().map(position).collect::<Option<Vec<f64>>>() {
                sender.send_replace(Some((dragoman_time::now(), positions)));
            }
        })?;
        let client = tasks.node().create_action_client("follow_joint_trajectory")?;
        let (mut readings, mut lines) = (None, None);
        match reading {
            None => {}
            Some((Reading::Topic, topic)) => {
                let topic = topic.unwrap_or(TRACKER);
                // Devices publish either way.
                let qos = QosProfile::default().best_effort();
                readings = Some(Box::pin(tasks.node().subscribe::<PointStamped>(topic, qos)?) as Readings);
            }
            Some((Reading::Keyboard, _)) => {
                let (sender, receiver) = mpsc::unbounded();
                // Ends with the process: a read of the terminal cannot be interrupted.
                std::thread::spawn(move || {
                    for line in std::io::stdin().lock().lines().map_while(std::result::Result::ok) {
                        if sender.unbounded_send(line).is_err() {
                            break;
                        }
                    }
                });
                lines = Some(receiver);
            }
        }
        let running = tasks.start()?;
        let running = dragoman_time::spawn(async move {
            running.await;
        });
        Ok(Self { names, states, readings, client, goal: None, lines, _running: running })
    }

    /// Waits for the arm and the device.
    pub(crate) async fn find(&mut self, context: &Context, namespace: &str) -> Result<()> {
        let missing = |what: &str| {
            let whereabouts = whereabouts(context, namespace, sign::TRAJECTORIES);
            format!("{what} in {namespace}{whereabouts}")
        };
        let first = self.states.wait_for(Option::is_some);
        timeout(SEARCH_TIME, first).await.map_err(|_| missing("no joint_states with all joints"))??;
        let server = Node::is_available(&self.client)?;
        timeout(SEARCH_TIME, server).await.map_err(|_| missing("no action follow_joint_trajectory"))??;
        if let Some(readings) = &mut self.readings {
            let what = "no readings of the measuring device (see --topic, --reading)";
            timeout(SEARCH_TIME, readings.next()).await.map_err(|_| missing(what))?;
        }
        Ok(())
    }

    pub(crate) fn positions(&self) -> Result<Vec<f64>> {
        self.state().map(|(_, positions)| positions)
    }

    /// The newest positions, and when they came.
    fn state(&self) -> Result<(Instant, Vec<f64>)> {
        match &*self.states.borrow() {
            Some(state) if dragoman_time::since(state.0) < STALE => Ok(state.clone()),
            _ => Err("the arm's joint_states are missing: it has stopped, or the connection is lost".into()),
        }
    }

    /// Drives to a pose, straight in joint space.
    pub(crate) async fn drive(&mut self, pose: &[f64], speed: f64) -> Result<()> {
        let here = self.positions()?;
        let duration = motion_time(&here, pose, speed);
        let zeros = vec![0.0; pose.len()];
        let point = JointTrajectoryPoint {
            positions: pose.to_vec(),
            velocities: zeros.clone(),
            accelerations: zeros,
            time_from_start: times::duration(duration),
            ..JointTrajectoryPoint::default()
        };
        let trajectory = JointTrajectory {
            joint_names: self.names.clone(),
            points: vec![point],
            ..JointTrajectory::default()
        };
        let goal = FollowJointTrajectory::Goal { trajectory, ..FollowJointTrajectory::Goal::default() };
        let accepted = timeout(SEARCH_TIME, self.client.send_goal_request(goal)?).await;
        let (goal, result, _) = accepted
            .map_err(|_| "the arm does not answer")?
            .map_err(|error| format!("the arm refuses the motion: {error}; see its log and /diagnostics"))?;
        self.goal = Some(goal);
        let ended = timeout(duration + SETTLE_TIME, result).await;
        match ended.map_err(|_| "the motion does not end")?? {
            (GoalStatus::Succeeded, _) => {
                self.goal = None;
                Ok(())
            }
            (_, result) => Err(format!("the motion was stopped: {}", result.error_string).into()),
        }
    }

    /// The joint positions once the arm stands.
    pub(crate) async fn settled(&mut self) -> Result<Vec<f64>> {
        let (duration, size) = STILL;
        let deadline = dragoman_time::now() + SETTLE_TIME;
        // Only new states count: earlier ones may belong to the motion.
        let begin = dragoman_time::now();
        let mut reference: Option<(Instant, Vec<f64>)> = None;
        while dragoman_time::now() < deadline {
            let (at, now) = self.state()?;
            let is_still = |(_, before): &&(Instant, Vec<f64>)| {
                now.iter().zip(before).all(|(a, b)| (a - b).abs() <= size)
            };
            match reference.as_ref().filter(is_still) {
                _ if at < begin => {}
                Some((since, _)) if at.duration_since(*since) >= duration => return Ok(now),
                Some(_) => {}
                None => reference = Some((at, now)),
            }
            sleep(Duration::from_millis(20)).await;
        }
        Err("the arm does not come to rest".into())
    }

    /// A reading; `None` if the user skips the pose.
    async fn read(
        &mut self,
        command: &MeasureCommand,
        row: usize,
        rows: usize,
    ) -> Result<Option<Point3<f64>>> {
        if let Some(lines) = &mut self.lines {
            outln!("pose {row} of {rows}: type x y z in m, or s to skip it, and Enter");
            loop {
                let line = lines.next().await.ok_or("the standard input has ended")?;
                if line.trim() == "s" {
                    return Ok(None);
                }
                let numbers: Vec<f64> = line
                    .split(|c: char| c.is_whitespace() || c == ',')
                    .filter_map(|word| word.parse().ok().filter(|value: &f64| value.is_finite()))
                    .collect();
                match numbers.as_slice() {
                    [x, y, z] => return Ok(Some(Point3::new(*x, *y, *z))),
                    _ => outln!("three numbers are needed: x y z in m"),
                }
            }
        }
        let Some(readings) = &mut self.readings else { return Ok(None) };
        // Readings from before the arm stood.
        while let Some(Some(_)) = futures::FutureExt::now_or_never(readings.next()) {}
        let mut points: Vec<Vector3<f64>> = Vec::new();
        let deadline = dragoman_time::now() + READING_TIME;
        while points.len() < command.samples as usize {
            let left = deadline.saturating_duration_since(dragoman_time::now());
            let message =
                timeout(left, readings.next()).await.map_err(|_| "the measuring device is silent")?;
            let point = message.ok_or("the measuring device is gone")?.point;
            let point = Vector3::new(point.x, point.y, point.z);
            if point.iter().all(|value| value.is_finite()) {
                points.push(point);
            }
        }
        let mean = points.iter().sum::<Vector3<f64>>() / points.len() as f64;
        let farthest = points.iter().map(|point| (point - mean).norm()).fold(0.0, f64::max);
        if farthest > UNSTEADY {
            let farthest = farthest * 1e3;
            return Err(
                format!("pose {row}: readings are {farthest:.0} mm apart: does something move?").into()
            );
        }
        Ok(Some(mean.into()))
    }

    /// Stops a motion.
    pub(crate) async fn cancel(&mut self) {
        if let Some(cancelled) = self.goal.take().and_then(|goal| goal.cancel().ok()) {
            // An arm that does not answer cannot be stopped.
            let _ = timeout(Duration::from_secs(2), cancelled).await;
        }
    }
}
