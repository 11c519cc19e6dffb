//! Names of files in commands and programs: sounds, images, maps and roadmaps of the platform's data folder.

/// Maximum length of a name, bytes; file systems permit 255 with the extension.
pub const MAX_FILE_NAME_LEN: usize = 200;

/// Error in the name of a sound, image, map or roadmap.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub enum FileNameError {
    /// The name is empty.
    #[error("the name of the file is empty")]
    Empty,
    /// More than [`MAX_FILE_NAME_LEN`].
    #[error("the name of the file has {len} bytes; at most {MAX_FILE_NAME_LEN} are allowed")]
    TooLong {
        /// Length of the name, bytes.
        len: usize,
    },
    /// The name is that of a file in another folder, or of a hidden file.
    #[error("'{}' is not a plain file name: {found:?} is not permitted", name.escape_debug())]
    NotPlain {
        name: String,
        /// The forbidden character.
        found: char,
    },
}

/// Returns the name if it is that of a file in the folder on every system: without separators, drives, streams and
/// control characters, without a dot at the beginning, and without a dot or blank at the end.
///
/// # Errors
/// The name is not valid.
pub fn plain_file_name(name: &str) -> Result<&str, FileNameError> {
    let (Some(first), Some(last)) = (name.chars().next(), name.chars().next_back()) else {
        return Err(FileNameError::Empty);
    };
    if name.len() > MAX_FILE_NAME_LEN {
        return Err(FileNameError::TooLong { len: name.len() });
    }
    let forbidden =
        |c: &char| c.is_control() || matches!(c, '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|');
    let edge = [first, last].into_iter().find(|character| matches!(character, '.' | ' '));
    match name.chars().find(forbidden).or(edge) {
        Some(found) => Err(FileNameError::NotPlain { name: name.to_owned(), found }),
        None => Ok(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        for name in ["hall.map", "siren 2.wav", "Küche", "a..b", &"x".repeat(MAX_FILE_NAME_LEN)] {
            assert_eq!(plain_file_name(name), Ok(name));
        }
        let bad = [
            ("..", '.'),
            (".", '.'),
            (".ssh", '.'),
            ("../x", '/'),
            ("a/b", '/'),
            ("/etc/passwd", '/'),
            ("..\\x", '\\'),
            ("C:x", ':'),
            ("a\0b", '\0'),
            ("a\nb", '\n'),
            ("a.", '.'),
            (" a", ' '),
            ("a*", '*'),
        ];
        for (name, found) in bad {
            let error = FileNameError::NotPlain { name: name.to_owned(), found };
            assert_eq!(plain_file_name(name), Err(error), "{name}");
        }
        assert_eq!(plain_file_name(""), Err(FileNameError::Empty));
        assert_eq!(plain_file_name(&"x".repeat(201)), Err(FileNameError::TooLong { len: 201 }));
    }
}
