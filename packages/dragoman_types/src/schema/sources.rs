//! Where definitions come from.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::PathBuf;

include!(concat!(env!("OUT_DIR"), "/interfaces.rs"));

/// Gives the text of definitions.
pub trait Source: Send + Sync {
    /// The text of `package/kind/name`, where `kind` is `msg`, `srv` or `action`. All three are plain tokens.
    fn definition(&self, package: &str, kind: &str, name: &str) -> Option<Cow<'static, str>>;
}

/// Names and texts, sorted by name.
type Table = &'static [(&'static str, &'static str)];

/// The definitions that are built into the program. By default Jazzy's.
#[derive(Clone, Copy, Debug)]
pub struct Builtin {
    /// Later ones are for what earlier ones do not have.
    tables: &'static [Table],
}

impl Default for Builtin {
    fn default() -> Self {
        Self::of("jazzy")
    }
}

impl Builtin {
    /// Those of a distribution: `humble`, `jazzy`, `kilted` or `lyrical`; Jazzy's for other names.
    pub fn of(distribution: &str) -> Self {
        let tables: &'static [Table] = match distribution {
            "humble" => &[HUMBLE, JAZZY],
            "kilted" => &[KILTED, JAZZY],
            "lyrical" => &[LYRICAL, KILTED, JAZZY],
            _ => &[JAZZY],
        };
        Self { tables }
    }

    /// The names of all definitions: `package/kind/Name`.
    pub fn names() -> impl Iterator<Item = &'static str> {
        JAZZY.iter().map(|(name, _)| *name)
    }
}

impl Source for Builtin {
    fn definition(&self, package: &str, kind: &str, name: &str) -> Option<Cow<'static, str>> {
        let name = format!("{package}/{kind}/{name}");
        self.tables.iter().find_map(|table| {
            let at = table.binary_search_by_key(&name.as_str(), |(known, _)| known).ok()?;
            table.get(at).map(|(_, text)| Cow::Borrowed(*text))
        })
    }
}

/// The definitions of installed packages.
#[derive(Clone, Debug, Default)]
pub struct Installed {
    prefixes: Vec<PathBuf>,
}

/// Maximum length of a definition file, bytes.
const MAX_LENGTH: u64 = 1 << 20;

impl Installed {
    /// Those below `paths`, as `AMENT_PREFIX_PATH` has them.
    pub fn below(paths: &OsStr) -> Self {
        Self { prefixes: std::env::split_paths(paths).filter(|path| path.is_absolute()).collect() }
    }
}

impl Source for Installed {
    fn definition(&self, package: &str, kind: &str, name: &str) -> Option<Cow<'static, str>> {
        self.prefixes.iter().find_map(|prefix| {
            let path = prefix.join("share").join(package).join(kind).join(format!("{name}.{kind}"));
            let file = std::fs::metadata(&path).ok()?;
            if !file.is_file() || file.len() > MAX_LENGTH {
                return None;
            }
            std::fs::read_to_string(path).ok().map(Cow::Owned)
        })
    }
}
