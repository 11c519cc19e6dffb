//! The command line of a program in ROS. The arguments between each `--ros-args` and the next `--` (or the end) belong
//! to ROS, all others to the program.

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue};
use clap::{Command, FromArgMatches, Parser};
use dragoman_text::nearest;

/// Options of ROS that users know from other programs.
const OF_ROS: [&str; 5] = ["-p", "--param", "-r", "--remap", "--params-file"];

/// Reads the arguments of this program, without those of ROS.
///
/// # Errors
/// The arguments are wrong, or ask for help; with a tip if they are for ROS.
pub fn parse<T: Parser>() -> Result<T, clap::Error> {
    parse_as(T::command())
}

/// As [`parse`], with this command line in place of that of `T`: for another help.
///
/// # Errors
/// As [`parse`].
pub fn parse_as<T: FromArgMatches>(mut command: Command) -> Result<T, clap::Error> {
    let (own, _) = split(dragoman_time::arguments());
    let matches = command.try_get_matches_from_mut(own).map_err(with_tip)?;
    T::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

fn with_tip(mut error: clap::Error) -> clap::Error {
    let of_ros = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(argument)) => OF_ROS.into_iter().find(|option| option == argument),
        _ => None,
    };
    if let Some(option) = of_ros {
        let tip =
            StyledStr::from(format!("arguments for ROS stand behind --ros-args: --ros-args {option} ..."));
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
    }
    // Of several similar commands the nearest one: clap names `help` before `teleop` for `telop`.
    let given = error.get(ContextKind::InvalidSubcommand);
    let similar = error.get(ContextKind::SuggestedSubcommand);
    if let (Some(ContextValue::String(given)), Some(ContextValue::Strings(similar))) = (given, similar)
        && let Some(nearest) = nearest(given, similar.iter().map(String::as_str))
    {
        let only = vec![nearest.to_owned()];
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(only));
    }
    error
}

/// Splits a command line into the arguments of the program and those of ROS, without the marks.
pub fn split(arguments: impl IntoIterator<Item = String>) -> (Vec<String>, Vec<String>) {
    let (mut own, mut ros, mut inside) = (Vec::new(), Vec::new(), false);
    for argument in arguments {
        match argument.as_str() {
            "--ros-args" => inside = true,
            "--" if inside => inside = false,
            _ if inside => ros.push(argument),
            _ => own.push(argument),
        }
    }
    (own, ros)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Parser)]
    struct Options {
        #[arg(long)]
        domain: u16,
    }

    #[test]
    fn arguments_for_ros_that_stand_alone_get_a_tip() {
        for (words, tip) in [
            (&["up", "-p", "x:=1"][..], "tip: arguments for ROS stand behind --ros-args: --ros-args -p ..."),
            (&["up", "--params-file", "x.yaml"], "--ros-args --params-file ..."),
            (&["up", "--domaim", "3"], "tip: a similar argument exists: '--domain'"),
        ] {
            let error = with_tip(Options::try_parse_from(words).unwrap_err()).to_string();
            assert!(error.contains(tip), "{error}");
        }
        assert_eq!(Options::try_parse_from(["up", "--domain", "3"]).unwrap().domain, 3);
    }

    #[test]
    fn of_similar_commands_the_nearest_is_named() {
        let command = ["teleop", "station"]
            .into_iter()
            .fold(Command::new("dragoman"), |command, name| command.subcommand(Command::new(name)));
        let error = with_tip(command.try_get_matches_from(["dragoman", "telop"]).unwrap_err()).to_string();
        assert!(error.contains("tip: a similar subcommand exists: 'teleop'"), "{error}");
    }

    #[test]
    fn each_part_goes_to_its_reader() {
        let split = |text: &str| {
            let (own, ros) = split(text.split_whitespace().map(str::to_owned));
            (own.join(" "), ros.join(" "))
        };
        let cases = [
            ("dragoman up --ros-args -p a:=1 -- --domain 3", "dragoman up --domain 3", "-p a:=1"),
            ("up --ros-args -r a:=b -- x --ros-args -e /lab", "up x", "-r a:=b -e /lab"),
            ("up -- --domain", "up -- --domain", ""),
            ("--ros-args", "", ""),
        ];
        for (given, own, ros) in cases {
            assert_eq!(split(given), (own.to_owned(), ros.to_owned()), "{given}");
        }
    }
}
