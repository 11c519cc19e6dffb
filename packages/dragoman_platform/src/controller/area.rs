//! The map and the roadmap in force.

use std::sync::Arc;

use dragoman_neobotix::map::{Map, MapError, Roadmap};

use crate::localization::Lines;
use crate::planning::Ground;
use crate::settings::{PlanningSettings, Settings};

/// A map with precomputed data. For a large map the computation takes longer than a cycle, so it is done before the
/// platform gets the map.
#[derive(Debug)]
pub struct PreparedMap {
    map: Arc<Map>,
    pub(super) ground: Arc<Ground>,
    pub(super) lines: Arc<Lines>,
    planning: PlanningSettings,
}

impl PreparedMap {
    /// Computes the data for a platform with these settings.
    ///
    /// # Errors
    /// The map is invalid.
    pub fn new(map: Map, settings: &Settings) -> Result<Self, MapError> {
        map.check()?;
        Ok(Self {
            ground: Arc::new(Ground::new(&map, settings)),
            lines: Arc::new(Lines::new(&map.lines)),
            map: Arc::new(map),
            planning: settings.planning,
        })
    }
}

#[derive(Debug)]
pub(super) struct Area {
    pub(super) map: Arc<Map>,
    /// Of the map.
    pub(super) lines: Arc<Lines>,
    /// Of the map.
    pub(super) ground: Arc<Ground>,
    pub(super) roadmap: Roadmap,
}

impl Area {
    /// An empty map.
    pub(super) fn new(settings: &Settings) -> Self {
        let map = Map::default();
        Self {
            ground: Arc::new(Ground::new(&map, settings)),
            lines: Arc::default(),
            map: Arc::new(map),
            roadmap: Roadmap::default(),
        }
    }

    /// Sets the map. The settings may have changed since its preparation.
    pub(super) fn set_map(&mut self, prepared: PreparedMap, settings: &Settings) {
        let PreparedMap { map, ground, lines, planning } = prepared;
        let is_valid = planning.has_grid_of(&settings.planning);
        self.ground = if is_valid { ground } else { Arc::new(Ground::new(&map, settings)) };
        self.lines = lines;
        self.map = map;
    }

    /// Computes the ground again for these settings.
    pub(super) fn lay_out(&mut self, settings: &Settings) {
        self.ground = Arc::new(Ground::new(&self.map, settings));
    }
}
