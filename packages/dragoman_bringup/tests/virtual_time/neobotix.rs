//! The lab's platform as old programs use it: raw sockets at PlatformCtrl's ports, with the true pose from the world.

mod answers;
mod commands;
mod hostile;
mod original;
mod story;

use std::path::PathBuf;
use std::time::Duration;

use crate::common::apolo::ApoloClient;
use crate::common::{Folder, Lab, sleep};

/// A lab with a separate data folder for the platform.
struct Site {
    world: ApoloClient,
    lab: Lab,
    folder: Folder,
}

impl Site {
    fn new() -> Self {
        let folder = Folder::new();
        let data = format!("platform:data_folder:={}", folder.0.display());
        let lab = Lab::start_with(0, &["up", "--only", "apolo,neobotix"], &["-p", &data]);
        assert_eq!(lab.neobotix.len(), 2, "{:?}", lab.banner);
        let world = ApoloClient::new(lab.apolo);
        Self { world, lab, folder }
    }

    /// True pose of the platform: x, y, z, heading.
    fn truth(&mut self) -> [f64; 4] {
        self.world.values(b'g', "neobotix_platform").try_into().unwrap()
    }

    /// Whether it is at rest for some time.
    fn stands(&mut self) -> bool {
        let before = self.truth();
        sleep(Duration::from_millis(500));
        let after = self.truth();
        before.iter().zip(after).all(|(a, b)| (a - b).abs() < 1e-3)
    }

    /// Names of all files that the platform has written.
    fn files(&self) -> Vec<PathBuf> {
        fn walk(folder: &std::path::Path, found: &mut Vec<PathBuf>) {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                if entry.path().is_dir() {
                    walk(&entry.path(), found);
                } else {
                    found.push(entry.path());
                }
            }
        }
        let mut found = Vec::new();
        walk(&self.folder.0, &mut found);
        found.sort();
        found
    }
}
