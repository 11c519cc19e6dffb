//! The lab's platform as old programs use it: raw sockets at PlatformCtrl's ports, with the true pose from the world.

mod commands;
mod example;
mod hostile;
mod original;
#[cfg(target_os = "linux")]
mod story;
#[cfg(target_os = "linux")]
mod vanished;

use std::path::PathBuf;

use crate::common::apolo::ApoloClient;
use crate::common::{Lab, domain};

/// A lab with a separate data folder for the platform.
struct Site {
    lab: Lab,
    folder: PathBuf,
    world: ApoloClient,
}

impl Site {
    fn new(test: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("dragoman_neobotix_{test}_{}", std::process::id()));
        let data = format!("platform:data_folder:={}", folder.display());
        let lab = Lab::start_with(domain(), &["up"], &["-p", "arm31:port:=0", "-p", &data]);
        assert_eq!(lab.neobotix.len(), 2, "{:?}", lab.banner);
        let world = ApoloClient::new(lab.apolo);
        Self { lab, folder, world }
    }

    /// True pose of the platform: x, y, z, heading.
    fn truth(&mut self) -> [f64; 4] {
        self.world.values(b'g', "neobotix_platform").try_into().unwrap()
    }

    /// Whether it is at rest for some time.
    fn stands(&mut self) -> bool {
        let before = self.truth();
        std::thread::sleep(std::time::Duration::from_millis(500));
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
        walk(&self.folder, &mut found);
        found.sort();
        found
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
