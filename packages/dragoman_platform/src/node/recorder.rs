//! Recording the platform's motion, and driving it again (`CMD_SET_EVENT` of seed 002). There is one recording, `recordings/motion.csv` of the
//! data folder; whatever else happens is written down by `dragoman record`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use dragoman_geometry::Twist;
use dragoman_ros::dragoman_msgs::srv::PlatformSetEvent;
use dragoman_ros::tasks::NodeTasks;

use super::documents::write;
use super::services::serve_order;
use super::state::{Refused, Shared, State};
use crate::controller::{Command, MotionMode, Operation};
use crate::replay::{MAX_TEXT_LEN, Recording, Sample};

/// A recording under way.
pub(super) struct Recorder {
    start: Duration,
    recording: Recording,
}

pub(super) fn serve(tasks: &mut NodeTasks, shared: &Shared) -> dragoman_ros::Result<()> {
    use PlatformSetEvent::Request;
    // In r2r each has a type of its own.
    const START_RECORDING: u8 = Request::START_RECORDING as u8;
    const STOP_RECORDING: u8 = Request::STOP_RECORDING as u8;
    const START_REPLAY: u8 = Request::START_REPLAY as u8;
    const STOP_REPLAY: u8 = Request::STOP_REPLAY as u8;
    const BREAK_REPLAY: u8 = Request::BREAK_REPLAY as u8;
    const CONTINUE_REPLAY: u8 = Request::CONTINUE_REPLAY as u8;
    serve_order::<PlatformSetEvent::Service>(tasks, shared, "set_event", |state, request| {
        match request.event {
            START_RECORDING => state.start_recording(),
            STOP_RECORDING => state.stop_recording(),
            START_REPLAY => {
                if state.recorder.is_some() {
                    return Err(Refused("a recording is under way".to_owned()));
                }
                let recording = read(&state.recording_file())?;
                Ok(state.platform.command(Command::StartReplay(recording))?)
            }
            STOP_REPLAY => state.replaying(Command::Stop),
            BREAK_REPLAY => state.replaying(Command::Break),
            CONTINUE_REPLAY => state.replaying(Command::Continue),
            other => Err(Refused(format!("there is no event {other}; 1 to 6"))),
        }
    })
}

impl State {
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

    /// Writes what was recorded; that before is replaced.
    fn stop_recording(&mut self) -> Result<(), Refused> {
        let recorder = self.recorder.take().ok_or_else(|| Refused("nothing is recorded".to_owned()))?;
        if recorder.recording.samples().len() < 2 {
            return Err(Refused("nothing has been recorded yet".to_owned()));
        }
        Ok(write(&self.recording_file(), recorder.recording.to_string().as_bytes())?)
    }

    /// Notes where the platform is, and how it moves. A recording that is full ends by itself.
    pub(super) fn record(&mut self) {
        let time = self.time();
        let pose = self.platform.status().pose;
        let twist = self.heard.odometry.as_ref().map(|(_, odometry)| &odometry.twist.twist);
        let twist = twist.map_or(Twist::ZERO, |twist| Twist::new(twist.linear.x, twist.angular.z));
        let Some(recorder) = &mut self.recorder else { return };
        let time = time.saturating_sub(recorder.start);
        if !recorder.recording.push(Sample { time, pose, twist })
            && let Err(Refused(reason)) = self.stop_recording()
        {
            self.refuse(&reason);
        }
    }

    /// What a replay is told.
    fn replaying(&mut self, command: Command) -> Result<(), Refused> {
        match self.platform.status().mode {
            MotionMode::Replay => Ok(self.platform.command(command)?),
            mode => Err(Refused(format!("the motion mode is {mode:?}"))),
        }
    }
}

fn read(path: &Path) -> Result<Recording, Refused> {
    let failed = |error: std::io::Error| Refused(format!("{}: {error}", path.display()));
    if std::fs::metadata(path).map_err(failed)?.len() > MAX_TEXT_LEN as u64 {
        return Err(Refused(format!("{}: more than {MAX_TEXT_LEN} bytes", path.display())));
    }
    let text = std::fs::read_to_string(path).map_err(failed)?;
    Recording::read(&text).map_err(|error| Refused(format!("{}: {error}", path.display())))
}
