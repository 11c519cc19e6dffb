//! The platform's pose: odometry, localization, mapping.

use dragoman_geometry::{Pose, relative};

use super::{Event, Input};
use crate::localization::Localizer;
use crate::mapping::Mapper;
use crate::mapping::extract::{Line, extract};
use crate::planning::field::DistanceField;
use crate::settings::{LocalizationSettings, MappingSettings, Settings};

#[derive(Debug)]
pub(super) struct Position {
    /// The last pose by odometry; `None` before the first cycle.
    pub(super) odometry: Option<Pose>,
    pub(super) localizer: Localizer,
    /// Estimated pose, in the map.
    pub(super) pose: Pose,
    pub(super) is_mapping: bool,
    pub(super) mapper: Mapper,
    /// Lines of the last scan, in the platform's frame.
    pub(super) scanned: Vec<Line>,
}

impl Default for Position {
    fn default() -> Self {
        Self {
            odometry: None,
            localizer: Localizer::new(Pose::ORIGIN),
            pose: Pose::ORIGIN,
            is_mapping: false,
            mapper: Mapper::default(),
            scanned: Vec::new(),
        }
    }
}

impl Position {
    /// Takes the odometry, the pose of an external localization or the scan; `lines` are those of the map.
    pub(super) fn update(
        &mut self,
        input: &Input<'_>,
        lines: &DistanceField,
        settings: &Settings,
    ) -> Option<Event> {
        let (mapping, settings) = (&settings.mapping, &settings.localization);
        let was_lost = self.localizer.is_lost();
        if input.odometry.is_finite()
            && let Some(before) = self.odometry.replace(input.odometry)
        {
            self.localizer.predict(relative(before, input.odometry), settings);
        }
        match (input.localized.filter(Pose::is_finite), input.scan) {
            (Some(pose), _) => self.localizer.set(pose, [0.0; 3]),
            (None, Some(scan)) if self.is_mapping => self.localizer.follow(scan, settings),
            (None, Some(scan)) => self.localizer.correct(scan, lines, settings),
            (None, None) => {}
        }
        self.pose = self.localizer.pose();
        if let Some(scan) = input.scan {
            self.scanned = extract(scan, mapping);
            if self.is_mapping && self.mapper.add(self.pose, &self.scanned, mapping) {
                self.localizer.map_from(self.mapper.lines(mapping));
            }
        }
        match (was_lost, self.localizer.is_lost()) {
            (false, true) => Some(Event::LocalizationLost),
            (true, false) => Some(Event::LocalizationFound),
            _ => None,
        }
    }
    pub(super) fn start_mapping(&mut self, settings: &MappingSettings) {
        self.is_mapping = true;
        self.localizer.map_from(self.mapper.lines(settings));
    }

    pub(super) fn reset_mapping(&mut self) {
        self.mapper.clear();
        if self.is_mapping {
            self.localizer.map_from(std::iter::empty());
        }
    }

    pub(super) fn place(&mut self, pose: Pose, settings: &LocalizationSettings) {
        if self.is_mapping {
            self.localizer.set(pose, [0.0; 3]);
        } else {
            self.localizer.place(pose, settings);
        }
        self.pose = self.localizer.pose();
    }
}
