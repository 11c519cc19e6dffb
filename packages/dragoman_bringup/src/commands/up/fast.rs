//! The options of `dragoman up --fast`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

/// Options of `up` for virtual time.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "On virtual time")]
pub(crate) struct FastOptions {
    /// Run on virtual time, as fast as the machine can, in one thread and without network; the same seed gives the same
    /// history.
    #[arg(long)]
    fast: bool,
    /// How long to run, of the lab's time: 90s, 5m, 1h.
    #[arg(long = "for", value_name = "TIME", default_value = "1m", value_parser = duration, requires = "fast")]
    pub(crate) time: Duration,
    /// Seed of all chance.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "fast")]
    pub(crate) seed: u64,
    /// Record all topics without pictures to this MCAP file, which must not exist.
    #[arg(short, long, value_name = "FILE", requires = "fast")]
    pub(crate) output: Option<PathBuf>,
    /// Record pictures as well: they cost most of the time.
    #[arg(long, requires = "output")]
    pub(crate) pictures: bool,
    /// What clients do (docs/virtual-time.md); by default a short tour drives every robot, again and again.
    #[arg(long, value_name = "FILE", requires = "fast")]
    pub(crate) script: Option<PathBuf>,
}

impl FastOptions {
    pub(crate) fn is_fast(&self) -> bool {
        self.fast
    }
}

/// A time with a unit: s, m or h.
fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = text.split_at(text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len()));
    let factor = match unit {
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err("a time has the unit s, m or h, for example 90s, 5m or 1h".to_owned()),
    };
    let seconds = number.parse::<f64>().map(|number| number * factor);
    seconds
        .ok()
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .filter(|time| !time.is_zero())
        .ok_or_else(|| format!("'{number}' is not a number of {unit} above zero"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        for (text, seconds) in [("90s", 90.0), ("5m", 300.0), ("1.5h", 5400.0), ("2min", 120.0)] {
            assert_eq!(duration(text).unwrap().as_secs_f64(), seconds, "{text}");
        }
        for wrong in ["", "5", "h", "-1s", "0s", "1d", "nans", "1e30h"] {
            duration(wrong).unwrap_err();
        }
    }
}
