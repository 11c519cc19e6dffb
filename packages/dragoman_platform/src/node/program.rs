//! A program's conditions, and its effects besides motion.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use dragoman_neobotix::codes::ParameterType;
use dragoman_neobotix::file_name::plain_file_name;
use dragoman_neobotix::parameters::declarations;

use super::documents::{Kind, MOST_LOADS};
use super::files::write_beside;
use super::picture::MOST_WANTED;
use super::services::set_parameter;
use super::state::{Refused, State};
use crate::program::{Date, Effect};

impl State {
    /// The parameters whose value is true, for a program's conditions.
    pub(super) fn true_parameters(&self) -> Vec<String> {
        let flags = declarations().iter().filter(|declared| declared.kind() == ParameterType::Boolean);
        flags
            .filter(|declared| self.values.value::<bool>(declared.key))
            .map(|declared| declared.key.to_owned())
            .collect()
    }

    /// Carries out an effect of the program.
    pub(super) fn perform(&mut self, effect: Effect) -> Result<(), Refused> {
        match effect {
            Effect::Load { map, roadmap } => {
                let named = [(Kind::Map, map), (Kind::Roadmap, roadmap)];
                let wanted = named.into_iter().filter_map(|(kind, name)| Some((kind, name?))).collect();
                let busy = |_| Refused(format!("{MOST_LOADS} loads are waiting already"));
                self.loads.try_send(wanted).map_err(busy)?;
                self.loading += 1;
                Ok(())
            }
            Effect::Log { kind, message } => {
                tracing::info!(kind, "the program: {message}");
                Ok(())
            }
            Effect::SetParameter { key, value } => set_parameter(self, &key, &value),
            // Already set by the controller.
            Effect::SetOutputs(_) => Ok(()),
            Effect::Speak(text) => self.outlets.speak(text),
            Effect::Play(name) => self.play(&name),
            Effect::TurnHead(angle) => self.turn_head(angle),
            Effect::MoveCamera(position) => self.outlets.move_camera(position),
            Effect::Grab { file_name, scan, image, .. } => {
                let name = plain_file_name(&file_name)?;
                if scan {
                    let points = self.inputs.points.iter().map(|point| format!("{} {}\n", point.x, point.y));
                    let text: String = points.collect();
                    let file = self.data_folder.join("scans").join(format!("{name}.dat"));
                    write_beside(file, move || text.into_bytes());
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

/// The current date and time, UTC.
pub(super) fn now() -> Date {
    date(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

/// The date and time this long after the beginning of 1970: days are counted in eras of 400 years that begin in March.
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
        let fields = |seconds| {
            let Date { year, month, day, hour, minute, second } = date(Duration::from_secs(seconds));
            [year, month, day, hour, minute, second].map(Option::unwrap)
        };
        assert_eq!(fields(0), [1970, 1, 1, 0, 0, 0]);
        assert_eq!(fields(951_827_696), [2000, 2, 29, 12, 34, 56]);
        assert_eq!(fields(1_772_323_199), [2026, 2, 28, 23, 59, 59]);
        assert_eq!(fields(1_772_323_200), [2026, 3, 1, 0, 0, 0]);
    }
}
