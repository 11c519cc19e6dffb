//! The context of a program that has its own options for the domain and for parameter files.

use std::path::PathBuf;

use crate::Context;
pub use crate::given::KnownNodes;
use crate::given::{self, Given};
use crate::remapping::Rules;

/// ROS arguments that come from options of the program. Those of the command line take precedence over all.
#[derive(Debug, Default)]
pub struct Preset {
    /// Parameter files take precedence over them, for example over those of another kind of file.
    pub below_files: Vec<String>,
    /// They take precedence over parameter files.
    pub above_files: Vec<String>,
    /// Rules for names. Of several rules for a name, the first counts.
    pub rules: Vec<String>,
    /// What is added to the domain of the environment; not to one that is given.
    pub more_domains: u16,
    /// The nodes that the program may have: the command line and files may give parameters to no others. `None`: to any.
    pub known: Option<KnownNodes>,
}

/// Why a program has no context.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartupError {
    /// A parameter of a node that does not exist, or that the node does not have; or a file that cannot be read.
    #[error("{0}")]
    Given(String),
    /// An error of the middleware.
    #[error(transparent)]
    Ros(#[from] crate::Error),
}

impl Preset {
    /// Compares the parameters of the command line and files with those of the program. An unknown name in a file that
    /// does not resemble a known one is a warning.
    fn check(&self, files: &[PathBuf]) -> Result<(), StartupError> {
        let Some(known) = &self.known else { return Ok(()) };
        let of_files = files.iter().map(|file| given::of_file(file)).collect::<Result<Vec<_>, _>>();
        let mut all: Vec<Given> = of_files.map_err(StartupError::Given)?.concat();
        all.extend(given::of_command_line(dragoman_time::arguments()).map_err(StartupError::Given)?);
        let rules = Rules::accepted(dragoman_time::arguments());
        for warning in known.check(&all, &rules).map_err(StartupError::Given)? {
            tracing::warn!("{warning}");
        }
        Ok(())
    }

    /// The domain to join: the one that is given, or else that of the environment, or one behind it.
    fn domain(&self, given: Option<u16>, of_environment: u16) -> u16 {
        given.unwrap_or(of_environment.saturating_add(self.more_domains))
    }

    /// What stands before the arguments of the command line, and what behind them.
    fn with(&self, files: &[PathBuf]) -> [Vec<String>; 2] {
        let files = files.iter().flat_map(|file| ["--params-file".to_owned(), file.display().to_string()]);
        let above = self.above_files.iter().cloned();
        // The last value of a parameter counts.
        let values = self.below_files.iter().cloned().chain(files).chain(above).collect();
        [values, self.rules.clone()].map(|part: Vec<String>| match &part[..] {
            [] => part,
            _ => [vec!["--ros-args".to_owned()], part, vec!["--".to_owned()]].concat(),
        })
    }
}

/// Joins `domain`, or the one of the environment, with the preset and the parameters of `files`; the ROS arguments of
/// the command line take precedence.
///
/// # Errors
/// An invalid file or argument; no participant can be created.
#[cfg(not(feature = "r2r"))]
pub fn context(domain: Option<u16>, files: &[PathBuf], preset: &Preset) -> Result<Context, StartupError> {
    preset.check(files)?;
    #[cfg(unix)]
    allow_files(FILES);
    crate::embedded::security::check(dragoman_time::variable)?;
    for warning in crate::embedded::environment::not_followed(dragoman_time::variable) {
        tracing::warn!("{warning}");
    }
    let mut discovery = crate::Discovery::from_variables(dragoman_time::variable)?;
    discovery.domain_id = preset.domain(domain, discovery.domain_id);
    Ok(Context::with_options(&discovery, arguments(files, preset)?)?)
}

/// As [`context`], without network: see [`Context::in_memory`].
///
/// # Errors
/// An invalid file or argument.
#[cfg(not(feature = "r2r"))]
pub fn context_in_memory(
    domain: Option<u16>,
    files: &[PathBuf],
    preset: &Preset,
) -> Result<Context, StartupError> {
    preset.check(files)?;
    let of_environment = crate::Discovery::from_variables(dragoman_time::variable)?.domain_id;
    Ok(Context::in_memory(preset.domain(domain, of_environment), arguments(files, preset)?)?)
}

#[cfg(not(feature = "r2r"))]
fn arguments(files: &[PathBuf], preset: &Preset) -> crate::Result<crate::Arguments> {
    let [values, rules] = preset.with(files);
    let given = dragoman_time::arguments().into_iter().skip(1);
    crate::Arguments::parse(values.into_iter().chain(given).chain(rules))
}

/// Joins `domain`, or the one of the environment, with the preset and the parameters of `files`; the ROS arguments of
/// the command line take precedence.
///
/// rcl reads both from the process itself, so the process restarts itself with the right environment and arguments.
///
/// # Errors
/// An error of rcl.
#[cfg(feature = "r2r")]
pub fn context(domain: Option<u16>, files: &[PathBuf], preset: &Preset) -> Result<Context, StartupError> {
    use std::os::unix::process::CommandExt;
    const MARK: &str = "DRAGOMAN_RESTARTED";
    let [values, rules] = preset.with(files);
    let is_given = domain.is_some() || preset.more_domains > 0 || !values.is_empty() || !rules.is_empty();
    if is_given && std::env::var_os(MARK).is_none() {
        let mut own = std::env::args_os();
        let mut command = std::process::Command::new(own.next().unwrap_or_default());
        command.args(values).args(own).args(rules).env(MARK, "1");
        // rcl has its own rules if the variable is missing or not a number.
        let of_environment = std::env::var("ROS_DOMAIN_ID").unwrap_or_default();
        if domain.is_some() || preset.more_domains > 0 {
            let domain = preset.domain(domain, of_environment.trim().parse().unwrap_or_default());
            command.env("ROS_DOMAIN_ID", domain.to_string());
        }
        let error = command.exec();
        tracing::error!(%error, "restarting the program failed");
    }
    // The command line has the files now.
    preset.check(&[])?;
    Ok(Context::create()?)
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
        tracing::warn!(%error, wanted, "raising the limit of open files failed");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_takes_precedence_over_files_and_the_preset() {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let (below_files, above_files) = (words("-p a:=1"), words("-p b:=2"));
        let preset = Preset { below_files, above_files, rules: words("-r c:=d"), ..Preset::default() };
        let files = ["x.yaml", "y.yaml"].map(PathBuf::from);
        let expected = "--ros-args -p a:=1 --params-file x.yaml --params-file y.yaml -p b:=2 --";
        assert_eq!(preset.with(&files), [words(expected), words("--ros-args -r c:=d --")]);
        assert_eq!(Preset::default().with(&[]), [words(""), words("")]);
    }

    #[test]
    fn a_domain_that_is_given_holds() {
        let third = Preset { more_domains: 2, ..Preset::default() };
        assert_eq!((third.domain(None, 5), third.domain(Some(1), 5)), (7, 1));
        assert_eq!(Preset::default().domain(None, 5), 5);
    }
}
