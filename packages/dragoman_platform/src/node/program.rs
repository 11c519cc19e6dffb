//! What a program looks at, and what it does beside moving.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use dragoman_neobotix::codes::ParameterType;
use dragoman_neobotix::file_name::plain_file_name;
use dragoman_neobotix::parameters::declarations;

use super::documents::{Kind, load_named, write};
use super::picture::MOST_WANTED;
use super::services::set_parameter;
use super::state::{Refused, State};
use crate::program::{Date, Deed};

impl State {
    /// The parameters that are true, for the conditions of a program.
    pub(super) fn true_parameters(&self) -> Vec<String> {
        let flags = declarations().iter().filter(|declared| declared.kind() == ParameterType::Boolean);
        flags
            .filter(|declared| self.values.value::<bool>(declared.key))
            .map(|declared| declared.key.to_owned())
            .collect()
    }

    /// Does what a program wants.
    pub(super) fn perform(&mut self, deed: Deed) -> Result<(), Refused> {
        match deed {
            Deed::Load { map, roadmap } => {
                for (kind, name) in [(Kind::Map, map), (Kind::Roadmap, roadmap)] {
                    if let Some(name) = name {
                        load_named(self, kind, &name)?;
                    }
                }
                Ok(())
            }
            Deed::Log { kind, message } => {
                tracing::info!(kind, "the program: {message}");
                Ok(())
            }
            Deed::SetParameter { key, value } => set_parameter(self, &key, &value),
            // The controller has set them.
            Deed::SetOutputs(_) => Ok(()),
            Deed::Speak(text) => self.outlets.speak(text),
            Deed::Play(name) => self.play(&name),
            Deed::TurnHead(angle) => self.turn_head(angle),
            Deed::MoveCamera(position) => self.outlets.move_camera(position),
            Deed::Grab { file_name, scan, image, .. } => {
                let name = plain_file_name(&file_name)?;
                if scan {
                    let points = self.heard.points.iter().map(|point| format!("{} {}\n", point.x, point.y));
                    let text: String = points.collect();
                    write(&self.data_folder.join("scans").join(format!("{name}.dat")), text.as_bytes())?;
                }
                if image {
                    let busy = |_| Refused(format!("{MOST_WANTED} pictures are waiting already"));
                    self.pictures.try_send(name.to_owned()).map_err(busy)?;
                }
                Ok(())
            }
        }
    }
}

/// The present date and time, UTC.
pub(super) fn now() -> Date {
    date(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

/// The date and time so long after the beginning of 1970: days are counted in eras of 400 years that begin in March.
fn date(since: Duration) -> Date {
    let seconds = since.as_secs();
    let (days, in_day) = (seconds / 86_400 + 719_468, (seconds % 86_400) as u32);
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    Date {
        year: u32::try_from(year).ok(),
        month: u32::try_from(month).ok(),
        day: u32::try_from(day).ok(),
        hour: Some(in_day / 3600),
        minute: Some(in_day / 60 % 60),
        second: Some(in_day % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        let told = |seconds| {
            let Date { year, month, day, hour, minute, second } = date(Duration::from_secs(seconds));
            [year, month, day, hour, minute, second].map(Option::unwrap)
        };
        assert_eq!(told(0), [1970, 1, 1, 0, 0, 0]);
        assert_eq!(told(951_827_696), [2000, 2, 29, 12, 34, 56]);
        assert_eq!(told(1_772_323_199), [2026, 2, 28, 23, 59, 59]);
        assert_eq!(told(1_772_323_200), [2026, 3, 1, 0, 0, 0]);
    }
}
