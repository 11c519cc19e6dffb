//! Assets: descriptions and meshes by `package://PACKAGE/PATH`.

use std::io::Read;
use std::path::PathBuf;

use dragoman_ros::files::open_regular;

include!(concat!(env!("OUT_DIR"), "/urdf.rs"));

/// The package whose `urdf/` is built into the program.
const OWN_PACKAGE: &str = "dragoman_bringup";
/// Endings of files that are given away: descriptions, meshes and their textures.
const ENDINGS: [&str; 16] = [
    "urdf", "xacro", "sdf", "dae", "fbx", "glb", "gltf", "mtl", "obj", "stl", "jpeg", "jpg", "png", "tif",
    "tiff", "webp",
];

/// The asset at `uri`, of at most `most` bytes.
pub(crate) fn asset(uri: &str, most: usize) -> Result<Vec<u8>, String> {
    asset_below(uri, most, &dragoman_time::variable_os("AMENT_PREFIX_PATH").unwrap_or_default())
}

fn asset_below(uri: &str, most: usize, prefixes: &std::ffi::OsStr) -> Result<Vec<u8>, String> {
    let invalid = || format!("'{uri}' is not package://PACKAGE/PATH");
    let (package, path) =
        uri.strip_prefix("package://").and_then(|rest| rest.split_once('/')).ok_or_else(invalid)?;
    let parts: Vec<&str> = std::iter::once(package).chain(path.split('/')).collect();
    let is_name = |part: &&str| {
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_. +@%()".contains(letter);
        !part.starts_with('.') && !part.is_empty() && part.chars().all(is_plain)
    };
    if !parts.iter().all(is_name) {
        return Err(invalid());
    }
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending).to_ascii_lowercase();
    if !ENDINGS.contains(&ending.as_str()) {
        return Err(format!("'{uri}' is not an asset: its ending is not one of {}", ENDINGS.join(", ")));
    }
    let relative: PathBuf = ["share"].iter().chain(&parts).collect();
    let installed = std::env::split_paths(prefixes).filter(|prefix| prefix.is_absolute());
    for path in installed.map(|prefix| prefix.join(&relative)) {
        // Links are followed: workspaces are installed with them.
        let Ok(file) = open_regular(&path) else { continue };
        let mut contents = Vec::new();
        let read = file.take(most as u64 + 1).read_to_end(&mut contents);
        read.map_err(|error| format!("'{uri}': {error}"))?;
        return if contents.len() > most {
            Err(format!("'{uri}' is longer than {most} bytes"))
        } else {
            Ok(contents)
        };
    }
    let own = path.strip_prefix("urdf/").filter(|_| package == OWN_PACKAGE);
    let own = own.and_then(|name| DESCRIPTIONS.iter().find(|(known, _)| *known == name));
    own.map(|(_, contents)| contents.to_vec())
        .ok_or_else(|| format!("'{uri}' does not exist here: neither built in nor below AMENT_PREFIX_PATH"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assets_are_built_in_or_installed() {
        let prefix = std::env::temp_dir().join(format!("dragoman_assets_{}", std::process::id()));
        let folder = prefix.join("share/robot/meshes");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("base.STL"), b"solid").unwrap();
        std::fs::write(folder.join("key.pem"), b"secret").unwrap();
        std::fs::write(prefix.join("outside.stl"), b"outside").unwrap();
        let get = |uri: &str| asset_below(uri, 1 << 20, prefix.as_os_str());
        assert_eq!(get("package://robot/meshes/base.STL"), Ok(b"solid".to_vec()));
        assert!(get("package://dragoman_bringup/urdf/puma560.urdf").unwrap().starts_with(b"<?xml"));
        for (uri, reason) in [
            ("package://robot/meshes/key.pem", "not an asset"),
            ("package://robot/meshes/none.stl", "does not exist"),
            ("package://robot/../../outside.stl", "is not package://"),
            ("package://../outside.stl", "is not package://"),
            ("package://robot//etc/x.stl", "is not package://"),
            ("file:///etc/x.stl", "is not package://"),
            ("package://robot", "is not package://"),
        ] {
            assert!(get(uri).unwrap_err().contains(reason), "{uri}");
        }
        let long = asset_below("package://robot/meshes/base.STL", 4, prefix.as_os_str());
        assert!(long.unwrap_err().contains("longer than 4"));
        std::fs::remove_dir_all(prefix).unwrap();
    }
}
