//! `dragoman up --fast`: the lab on virtual time, as fast as it goes, driven by a script.
//!
//! | file | holds |
//! | --- | --- |
//! | `fast.rs` | the run |
//! | `fast/script.rs` | the format of scripts |
//! | `fast/player.rs` | clients that execute it |
//! | `fast/summary.rs` | the summary of a run |
//! | `fast/tour.yaml` | the script for those without one |

mod player;
mod script;
mod summary;

use std::collections::BTreeMap;
use std::error::Error;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dragoman_ros::{Context, logging, outln};
use dragoman_time::{Program, Simulation, Surroundings};
use dragoman_tools::record::{self, RecordOptions};
use futures::channel::oneshot;
use tracing::instrument::WithSubscriber;

use crate::commands::up::FastOptions;
use crate::lab::{Lab, LabOptions, run_until};
use script::Script;
use summary::Summary;

/// Runs the lab of this command line for its time.
pub(crate) fn run(options: &FastOptions, log: &str) -> Result<(), Box<dyn Error>> {
    let script = match &options.script {
        Some(path) => Script::read(path)?,
        None => Script::tour(),
    };
    // Shown on request only: its lines would hide the progress.
    let dispatch = logging::of_lab(log, std::env::var_os("RUST_LOG").is_some())?;
    let folder = Folder::new()?;
    let simulation = Simulation::new(options.seed);
    let _guard = simulation.guard();
    // The lab sees no other environment variables: its runs would not repeat on other machines.
    let kept = ["RUST_LOG", "ROS_DISTRO"];
    let variables: BTreeMap<String, String> =
        kept.into_iter().filter_map(|name| Some((name.to_owned(), std::env::var(name).ok()?))).collect();
    let _log = tracing::dispatcher::set_default(&dispatch);

    let began = std::time::Instant::now();
    let arguments = std::env::args().skip(1).collect();
    let of_programs = Surroundings { variables: variables.clone(), ..Surroundings::default() };
    let lab = Lab::start(&simulation, LabOptions { arguments, variables, folder: folder.0.clone() })?;
    outln_outside(lab.banner());
    let domain = lab.domain();
    let mut labs = [lab];

    let observer = Program::new(of_programs.clone());
    let recorder = Program::new(of_programs);
    let (stop_recorder, stopped) = oneshot::channel::<()>();
    let recording = async {
        let stopped = async {
            // The sender ends with the run.
            let _ = stopped.await;
        };
        let Some(path) = &options.output else {
            stopped.await;
            return Ok(None);
        };
        let record = RecordOptions::of_lab(path, options.pictures);
        // Its log names the file, which is not a part of the history.
        let recorded = record::run(context(domain)?, record, stopped)
            .with_subscriber(tracing::subscriber::NoSubscriber::default());
        Ok::<_, Box<dyn Error>>(Some(recorded.await?))
    };
    let mut recording = Box::pin(recorder.run(recording));
    let mut summary = Summary::default();
    let driving = observer.run(player::play(domain, &script, &summary));
    let mut driving = Box::pin(driving);

    let mut progress = Progress::new(options.time);
    let start = simulation.elapsed();
    let ended = loop {
        let passed = simulation.elapsed() - start;
        progress.show(passed, began.elapsed());
        let Some(rest) = options.time.checked_sub(passed).filter(|rest| !rest.is_zero()) else {
            break Ok(());
        };
        let slice = rest.min(Duration::from_secs(1));
        let run = run_until(&mut labs, async {
            tokio::select! {
                biased;
                failed = &mut recording => failed.map(|_| ()),
                failed = &mut driving => failed,
                () = dragoman_time::sleep(slice) => Ok(()),
            }
        });
        match simulation.block_on(run) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => break Err(error),
            Err((_, ended)) => {
                break Err(ended.err().unwrap_or_else(|| "the lab has ended".to_owned()).into());
            }
        }
    };
    progress.clear();
    ended?;
    drop(driving);
    let _ = stop_recorder.send(());
    let recorded = simulation.block_on(run_until(&mut labs, recording));
    let recorded = recorded.map_err(|(_, ended)| ended.err().unwrap_or_default())??;
    summary.finish(&simulation, began.elapsed(), options.seed);
    outln_outside(&summary.to_string());
    if let Some(recorded) = recorded {
        outln_outside(&format!("recorded {}", recorded.in_short()));
        if !options.pictures {
            outln_outside("pictures of cameras are left out; --pictures records them");
        }
    }
    // The tour is for all parts of the lab: of some its steps are refused.
    if options.script.is_some() { summary.complete(&script).map_err(Into::into) } else { Ok(()) }
}

/// The context of another program of the lab's domain.
fn context(domain: u16) -> dragoman_ros::Result<Context> {
    Context::in_memory(domain, dragoman_ros::Arguments::default())
}

/// Prints a line of this program: in the simulation it would be one of the lab.
fn outln_outside(text: &str) {
    dragoman_time::outside(|| outln!("{}", text.trim_end()));
}

/// One line on the terminal about how far the run is.
struct Progress {
    time: Duration,
    is_shown: bool,
    shown: Duration,
}

impl Progress {
    fn new(time: Duration) -> Self {
        Self { time, is_shown: std::io::stderr().is_terminal(), shown: Duration::ZERO }
    }

    fn show(&mut self, passed: Duration, real: Duration) {
        if !self.is_shown || real < self.shown + Duration::from_millis(500) {
            return;
        }
        self.shown = real;
        let factor = passed.as_secs_f64() / real.as_secs_f64();
        eprint!(
            "\r{:.0} s of {:.0} s, {factor:.0} times as fast   ",
            passed.as_secs_f64(),
            self.time.as_secs_f64()
        );
    }

    fn clear(&self) {
        if self.is_shown {
            eprint!("\r{:60}\r", "");
        }
    }
}

/// The folder of the lab's files, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> std::io::Result<Self> {
        let name = u64::from_le_bytes(dragoman_time::random_bytes("folder"));
        let path = std::env::temp_dir().join(format!("dragoman_fast_{name:016x}"));
        std::fs::create_dir(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        remove(&self.0);
    }
}

fn remove(folder: &Path) {
    if let Err(error) = std::fs::remove_dir_all(folder) {
        eprintln!("cannot remove {}: {error}", folder.display());
    }
}
