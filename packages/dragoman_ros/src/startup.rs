//! The context of a program that has its own options for the domain and for parameter files.

use std::path::PathBuf;

use crate::Context;

/// Joins `domain`, or the one of the environment, with the parameters of `files` and with `arguments`, in the form of
/// `--ros-args`; those of the command line follow and take precedence.
///
/// # Errors
/// An invalid file or argument; no participant can be created.
#[cfg(not(feature = "r2r"))]
pub fn context(domain: Option<u16>, files: &[PathBuf], arguments: &[String]) -> crate::Result<Context> {
    #[cfg(unix)]
    allow_files(FILES);
    crate::embedded::security::check(|name| std::env::var(name).ok())?;
    let mut discovery = crate::Discovery::from_variables(|name| std::env::var(name).ok())?;
    if let Some(domain) = domain {
        discovery.domain_id = domain;
    }
    let given = files.iter().flat_map(|file| ["--params-file".to_owned(), file.display().to_string()]);
    let all = std::iter::once("--ros-args".to_owned())
        .chain(given)
        .chain(arguments.iter().cloned())
        .chain(std::iter::once("--".to_owned()))
        .chain(std::env::args().skip(1));
    Context::with_options(&discovery, crate::Arguments::parse(all)?)
}

/// Joins `domain`, or the one of the environment, with the parameters of `files` and with `arguments`, in the form of
/// `--ros-args`; those of the command line follow and take precedence.
///
/// rcl reads both from the process itself, so the process restarts itself with the right environment and arguments.
///
/// # Errors
/// An error of rcl.
#[cfg(feature = "r2r")]
pub fn context(domain: Option<u16>, files: &[PathBuf], arguments: &[String]) -> crate::Result<Context> {
    use std::os::unix::process::CommandExt;
    const MARK: &str = "DRAGOMAN_RESTARTED";
    if (domain.is_some() || !files.is_empty() || !arguments.is_empty()) && std::env::var_os(MARK).is_none() {
        let mut own = std::env::args_os();
        let mut command = std::process::Command::new(own.next().unwrap_or_default());
        command.args(own).arg("--ros-args").args(arguments).env(MARK, "1");
        command.args(files.iter().flat_map(|file| ["--params-file".into(), file.clone().into_os_string()]));
        if let Some(domain) = domain {
            command.env("ROS_DOMAIN_ID", domain.to_string());
        }
        let error = command.exec();
        tracing::error!(%error, "the program could not restart itself");
    }
    Context::create()
}

/// Open files needed by a program with hundreds of topics and services: each of them has several sockets.
#[cfg(all(unix, not(feature = "r2r")))]
const FILES: u64 = 8192;

/// Raises the process's limit of open files to `wanted`, as far as the system allows. The usual default is 1024.
#[cfg(unix)]
pub fn allow_files(wanted: u64) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = maximum.map_or(wanted, |maximum| maximum.min(wanted));
    if current.is_some_and(|current| current < wanted)
        && let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum })
    {
        tracing::warn!(%error, wanted, "the limit of open files cannot be raised");
    }
}
