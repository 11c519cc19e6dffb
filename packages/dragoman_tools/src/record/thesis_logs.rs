//! The six text files of the Ranger thesis' logger: 3.4.2, `logger.cpp`, `messagehandler.cpp`.
//!
//! | file | line after the time in seconds | from |
//! | --- | --- | --- |
//! | `log1.dat` | `MSG:` letters, seven values, index of each message of a client | `arm31/messages` |
//! | `log2.dat` | `POS:` measured position, m, and quaternion x y z w of the tool | `pose` |
//! | `log3.dat` | `SP:` the same of the set-point | `setpoint` |
//! | `log4.dat` | `OUT:` each text sent to a client | `arm31/messages` |
//! | `log5.dat` | `Jnt:` measured joint positions, rad or m | `joint_states` |
//! | `log6.dat` | `Drv:` commanded joint positions, rad or m | `joint_command` |
//!
//! Messages are written as they come, the others in every fifth cycle of 25 ms as there. Unlike there, a value that has
//! not come for a second is left out, because it is no longer true.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use dragoman_ros::poses::Placement;
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{Context, Node, QosProfile, geometry_msgs, sensor_msgs, std_msgs};
use futures::StreamExt;
use futures::channel::mpsc::{UnboundedSender, unbounded};

use super::RecordError;

/// Every fifth cycle of the thesis' message handler.
const PERIOD: Duration = Duration::from_millis(125);

/// Age at which a value is left out.
const MAX_AGE: Duration = Duration::from_secs(1);

/// Something to log.
#[derive(Clone, Debug)]
enum Input {
    /// `MSG: ...` or `OUT: ...`.
    Message(String),
    Pose(geometry_msgs::msg::Pose),
    SetPoint(geometry_msgs::msg::Pose),
    Joints(Vec<f64>),
    Command(Vec<f64>),
}

/// The content of the files: lines from inputs and time. Times are since the start.
#[derive(Debug, Default)]
struct Log {
    /// The latest `POS`, `SP`, `Jnt` and `Drv`, in the order of the files, and when each came.
    values: [Option<(Duration, String)>; 4],
}

/// Files of [`Log::values`].
const FILES: [usize; 4] = [2, 3, 5, 6];

impl Log {
    /// Takes an input; returns the file and its line if it is written at once.
    fn handle_input(&mut self, now: Duration, input: Input) -> Option<(usize, String)> {
        let [pose, set_point, joints, command] = &mut self.values;
        match input {
            Input::Message(text) => {
                let file = if text.starts_with("OUT:") { 4 } else { 1 };
                return Some((file, line(now, &text)));
            }
            Input::Pose(value) => *pose = Some((now, format!("POS:{}", pose_words(&value)))),
            Input::SetPoint(value) => *set_point = Some((now, format!("SP:{}", pose_words(&value)))),
            Input::Joints(values) => *joints = Some((now, format!("Jnt:{}", words(&values)))),
            Input::Command(values) => *command = Some((now, format!("Drv:{}", words(&values)))),
        }
        None
    }

    /// The lines of a cycle.
    fn lines(&self, now: Duration) -> impl Iterator<Item = (usize, String)> {
        FILES.into_iter().zip(&self.values).filter_map(move |(file, value)| {
            let (came, text) = value.as_ref()?;
            (now.saturating_sub(*came) <= MAX_AGE).then(|| (file, line(now, text)))
        })
    }
}

fn line(now: Duration, text: &str) -> String {
    format!("[{:010.4}] {text}", now.as_secs_f64())
}

fn words(values: &[f64]) -> String {
    values.iter().map(|value| format!(" {value:.6}")).collect()
}

fn pose_words(pose: &geometry_msgs::msg::Pose) -> String {
    let (position, quaternion) = pose.parts();
    words(&position) + &words(&quaternion)
}

/// The files of an arm being written.
pub(super) struct ThesisLogs {
    files: Vec<(PathBuf, BufWriter<File>)>,
}

impl ThesisLogs {
    /// Creates `log1.dat` to `log6.dat` in `folder`, which is made if it is missing; the files must not exist.
    pub(super) fn create(folder: &Path) -> Result<Self, RecordError> {
        let failed = |path: &Path, source| RecordError::Create { path: path.to_owned(), source };
        std::fs::create_dir_all(dragoman_time::on_disk(folder)).map_err(|source| failed(folder, source))?;
        let paths = (1..=6).map(|number| folder.join(format!("log{number}.dat")));
        let files = paths.map(|path| {
            let file = OpenOptions::new().write(true).create_new(true).open(dragoman_time::on_disk(&path));
            file.map_err(|source| failed(&path, source)).map(|file| (path, BufWriter::new(file)))
        });
        Ok(Self { files: files.collect::<Result<_, _>>()? })
    }

    /// Writes what the arm in `namespace` does; returns only with an error.
    pub(super) async fn write(mut self, context: Context, namespace: &str) -> RecordError {
        let (sender, mut inputs) = unbounded();
        let tasks = subscribe(context, namespace, sender);
        match tasks.and_then(|tasks| tasks.start().map_err(RecordError::Thread)) {
            // It ends with the process.
            Ok(node) => dragoman_time::spawn(node),
            Err(error) => return error,
        };
        let (mut log, start) = (Log::default(), dragoman_time::now());
        let mut cycle = dragoman_time::interval(PERIOD);
        loop {
            let now = || dragoman_time::since(start);
            let written = tokio::select! {
                biased;
                () = cycle.tick() => self.append(log.lines(now())).and_then(|()| self.flush()),
                Some(input) = inputs.next() => {
                    log.handle_input(now(), input).map_or(Ok(()), |line| self.append([line]))
                }
            };
            if let Err(error) = written {
                return error;
            }
        }
    }

    fn append(&mut self, lines: impl IntoIterator<Item = (usize, String)>) -> Result<(), RecordError> {
        lines.into_iter().try_for_each(|(number, line)| {
            let Some((path, file)) = self.files.get_mut(number - 1) else { return Ok(()) };
            writeln!(file, "{line}").map_err(|source| RecordError::Write { path: path.clone(), source })
        })
    }

    /// So that a killed process loses at most a cycle.
    fn flush(&mut self) -> Result<(), RecordError> {
        self.files.iter_mut().try_for_each(|(path, file)| {
            file.flush().map_err(|source| RecordError::Write { path: path.clone(), source })
        })
    }
}

fn subscribe(
    context: Context,
    namespace: &str,
    inputs: UnboundedSender<Input>,
) -> Result<NodeTasks, RecordError> {
    use geometry_msgs::msg::PoseStamped;
    use sensor_msgs::msg::JointState;
    let mut tasks = NodeTasks::new(Node::create(context, "dragoman_thesis_logs", namespace)?);
    let newest = || QosProfile::default().keep_last(1);
    // Fails only when the recording has ended.
    let send = move |input| drop(inputs.unbounded_send(input));
    let forward = send.clone();
    tasks.subscribe("arm31/messages", QosProfile::default().keep_last(1000), {
        move |text: std_msgs::msg::String| forward(Input::Message(text.data))
    })?;
    let forward = send.clone();
    tasks.subscribe("pose", newest(), move |pose: PoseStamped| forward(Input::Pose(pose.pose)))?;
    let forward = send.clone();
    tasks.subscribe("setpoint", newest(), move |pose: PoseStamped| forward(Input::SetPoint(pose.pose)))?;
    let forward = send.clone();
    tasks.subscribe("joint_states", newest(), move |state: JointState| {
        forward(Input::Joints(state.position));
    })?;
    tasks.subscribe("joint_command", newest(), move |state: JointState| {
        send(Input::Command(state.position));
    })?;
    Ok(tasks)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    /// The formats of `messagehandler.cpp`.
    #[test]
    fn lines_have_the_form_of_the_thesis() {
        let mut log = Log::default();
        let message = Input::Message("MSG: CM 2.0000 0.0000 0.0000 0.0000 0.0000 0.0000 0.0000 (0)".into());
        let expected = "[00012.3450] MSG: CM 2.0000 0.0000 0.0000 0.0000 0.0000 0.0000 0.0000 (0)";
        assert_eq!(log.handle_input(ms(12_345), message), Some((1, expected.to_owned())));
        let text = Input::Message("OUT: ER20 Cmd BG rejected".into());
        assert_eq!(
            log.handle_input(ms(500), text),
            Some((4, "[00000.5000] OUT: ER20 Cmd BG rejected".into()))
        );
        let mut pose = geometry_msgs::msg::Pose::default();
        (pose.position.y, pose.position.z, pose.orientation.w) = (0.58, 0.4, 1.0);
        let now = ms(1_000);
        assert_eq!(log.handle_input(now, Input::Pose(pose.clone())), None);
        log.handle_input(now, Input::SetPoint(pose));
        log.handle_input(now, Input::Joints(vec![1.234_567_89, -0.5]));
        log.handle_input(now, Input::Command(vec![1.5, -0.5]));
        let lines: Vec<_> = log.lines(ms(1_125)).collect();
        let words = "0.000000 0.580000 0.400000 0.000000 0.000000 0.000000 1.000000";
        assert_eq!(
            lines,
            [
                (2, format!("[00001.1250] POS: {words}")),
                (3, format!("[00001.1250] SP: {words}")),
                (5, "[00001.1250] Jnt: 1.234568 -0.500000".to_owned()),
                (6, "[00001.1250] Drv: 1.500000 -0.500000".to_owned()),
            ]
        );
    }

    #[test]
    fn what_is_no_longer_measured_is_left_out() {
        let mut log = Log::default();
        assert_eq!(log.lines(ms(0)).count(), 0);
        log.handle_input(ms(100), Input::Joints(vec![0.0]));
        log.handle_input(ms(900), Input::Command(vec![0.0]));
        assert_eq!(log.lines(ms(1_100)).count(), 2);
        assert_eq!(log.lines(ms(1_101)).map(|(file, _)| file).collect::<Vec<_>>(), [6]);
    }
}
