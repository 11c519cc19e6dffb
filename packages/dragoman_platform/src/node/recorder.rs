//! Recording the platform's motion, and replaying it (`CMD_SET_EVENT` of the PlatformCtrl guide). There is one
//! recording, `recordings/motion.csv` of the data folder; use `dragoman record` for all other data.

use std::path::{Path, PathBuf};
use std::time::Duration;

use dragoman_geometry::Twist;
use dragoman_neobotix::wire::CommandKind;
use dragoman_ros::Response;
use dragoman_ros::dragoman_msgs::srv::PlatformSetEvent;
use dragoman_ros::tasks::NodeTasks;

use super::files::{beside, read, save, save_beside};
use super::state::{NodeState, Refused, Shared};
use crate::controller::{Command, MotionMode, Operation};
use crate::replay::{MAX_TEXT_LEN, Recording, Sample};

/// A recording in progress.
pub(super) struct Recorder {
    start: Duration,
    recording: Recording,
}

pub(super) fn serve(tasks: &mut NodeTasks, shared: &Shared) -> dragoman_ros::Result<()> {
    use PlatformSetEvent::Request;
    // In r2r each constant has a type of its own.
    const START_RECORDING: u8 = Request::START_RECORDING as u8;
    const STOP_RECORDING: u8 = Request::STOP_RECORDING as u8;
    const START_REPLAY: u8 = Request::START_REPLAY as u8;
    const STOP_REPLAY: u8 = Request::STOP_REPLAY as u8;
    const BREAK_REPLAY: u8 = Request::BREAK_REPLAY as u8;
    const CONTINUE_REPLAY: u8 = Request::CONTINUE_REPLAY as u8;
    let shared = shared.clone();
    tasks.serve_later::<PlatformSetEvent::Service, _>(CommandKind::SetEvent.service(), move |request| {
        let shared = shared.clone();
        async move {
            let outcome = match request.event {
                START_RECORDING => shared.ask(NodeState::start_recording),
                STOP_RECORDING => save_recording(&shared).await,
                START_REPLAY => replay(&shared).await,
                STOP_REPLAY => shared.ask(|state| state.replaying(Command::Stop)),
                BREAK_REPLAY => shared.ask(|state| state.replaying(Command::Break)),
                CONTINUE_REPLAY => shared.ask(|state| state.replaying(Command::Continue)),
                other => shared.ask(|_| Err(Refused(format!("there is no event {other}; use 1 to 6")))),
            };
            PlatformSetEvent::Response::from_result(outcome)
        }
    })
}

/// Writes the recording, and replaces the last one.
async fn save_recording(shared: &Shared) -> Result<(), Refused> {
    let stopped = shared.with(NodeState::stop_recording);
    let saved = beside(move || {
        let (path, recording) = stopped?;
        Ok::<_, Refused>(save(&path, recording.to_string().as_bytes())?)
    });
    let saved = saved.await;
    shared.ask(|_| saved)
}

/// Starts the replay.
async fn replay(shared: &Shared) -> Result<(), Refused> {
    let file = shared.with(|state| match state.recorder {
        Some(_) => Err(Refused("a recording is under way".to_owned())),
        None => Ok(state.recording_file()),
    });
    let recording = beside(move || read_recording(&file?)).await;
    shared.ask(|state| Ok(state.platform.command(Command::StartReplay(recording?))?))
}

impl NodeState {
    fn recording_file(&self) -> PathBuf {
        self.data_folder.join("recordings").join("motion.csv")
    }

    fn start_recording(&mut self) -> Result<(), Refused> {
        if self.recorder.is_some() {
            return Err(Refused("a recording is under way already".to_owned()));
        }
        if self.platform.status().operation == Operation::NotInitialized {
            return Err(Refused("the platform is not initialized".to_owned()));
        }
        self.recorder = Some(Recorder { start: self.time(), recording: Recording::default() });
        Ok(())
    }

    /// The recording, and the path of its file.
    fn stop_recording(&mut self) -> Result<(PathBuf, Recording), Refused> {
        let recorder = self.recorder.take().ok_or_else(|| Refused("nothing is recorded".to_owned()))?;
        if recorder.recording.samples().len() < 2 {
            return Err(Refused("nothing has been recorded yet".to_owned()));
        }
        Ok((self.recording_file(), recorder.recording))
    }

    /// Adds the platform's pose and velocity. A full recording ends by itself.
    pub(super) fn record(&mut self) {
        let time = self.time();
        let pose = self.platform.status().pose;
        let twist = self.inputs.odometry.as_ref().map(|(_, odometry)| &odometry.twist.twist);
        let twist = twist.map_or(Twist::ZERO, super::base::planar_twist);
        let Some(recorder) = &mut self.recorder else { return };
        let time = time.saturating_sub(recorder.start);
        if !recorder.recording.push(Sample { time, pose, twist }) {
            let saved = self
                .stop_recording()
                .and_then(|(path, recording)| save_beside(path, move || recording.to_string().into_bytes()));
            if let Err(Refused(reason)) = saved {
                self.refuse(&reason);
            }
        }
    }

    /// Passes a command to a replay.
    fn replaying(&mut self, command: Command) -> Result<(), Refused> {
        match self.platform.status().mode {
            MotionMode::Replay => Ok(self.platform.command(command)?),
            mode => Err(Refused(format!("the motion mode is {mode:?}"))),
        }
    }
}

fn read_recording(path: &Path) -> Result<Recording, Refused> {
    let text = read(path, MAX_TEXT_LEN)?;
    Recording::read(&text).map_err(|error| Refused(format!("{}: {error}", path.display())))
}
