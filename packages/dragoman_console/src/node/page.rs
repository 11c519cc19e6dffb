//! The files of the page, built into the program.

use std::io::Read;
use std::path::Path;

use dragoman_ros::files::open_below;

include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// For developers of the page: a folder that replaces the built-in files.
pub(crate) const FOLDER_VARIABLE: &str = "DRAGOMAN_CONSOLE_PAGE";

/// A file of the page.
pub(crate) struct File {
    pub(crate) content_type: &'static str,
    pub(crate) etag: Option<&'static str>,
    pub(crate) contents: Contents,
}

/// Built in, or read from a folder.
pub(crate) enum Contents {
    Builtin(&'static [u8]),
    Read(Vec<u8>),
}

/// The file at `path`, which begins with a slash.
pub(crate) fn file(path: &str) -> Option<File> {
    let name = match path.trim_start_matches('/') {
        "" => "index.html",
        name => name,
    };
    let content_type = content_type(name);
    if let Some(folder) = dragoman_time::variable_os(FOLDER_VARIABLE) {
        let mut contents = Vec::new();
        open_below(Path::new(&folder), Path::new(name)).ok()?.read_to_end(&mut contents).ok()?;
        return Some(File { content_type, etag: None, contents: Contents::Read(contents) });
    }
    let at = FILES.binary_search_by_key(&name, |(known, _, _)| known).ok()?;
    let (_, etag, contents) = FILES.get(at)?;
    Some(File { content_type, etag: Some(etag), contents: Contents::Builtin(contents) })
}

fn content_type(name: &str) -> &'static str {
    const TYPES: [(&str, &str); 12] = [
        ("html", "text/html; charset=utf-8"),
        ("css", "text/css; charset=utf-8"),
        ("js", "text/javascript; charset=utf-8"),
        ("mjs", "text/javascript; charset=utf-8"),
        ("json", "application/json"),
        ("webmanifest", "application/manifest+json"),
        ("svg", "image/svg+xml"),
        ("png", "image/png"),
        ("ico", "image/x-icon"),
        ("woff2", "font/woff2"),
        ("txt", "text/plain; charset=utf-8"),
        ("md", "text/plain; charset=utf-8"),
    ];
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    TYPES
        .iter()
        .find(|(known, _)| *known == ending)
        .map_or("application/octet-stream", |(_, content_type)| content_type)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_those_of_browsers() {
        assert_eq!(content_type("js/main.js"), "text/javascript; charset=utf-8");
        assert_eq!(content_type("LICENSE"), "application/octet-stream");
        assert!(file("/../Cargo.toml").is_none());
    }
}
