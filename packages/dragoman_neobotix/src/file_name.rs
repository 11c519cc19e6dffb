//! Names of files in commands and programs: sounds, images, maps and roadmaps of the platform's data folder.

/// The most bytes of a name; a folder's file system wants no more than 255 with what is appended.
pub const MAX_FILE_NAME_LEN: usize = 200;

/// Why a name is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FileNameError {
    /// Nothing.
    #[error("the name of the file is empty")]
    Empty,
    /// More than [`MAX_FILE_NAME_LEN`].
    #[error("the name of the file has {len} bytes; at most {MAX_FILE_NAME_LEN} are allowed")]
    TooLong {
        /// Its bytes.
        len: usize,
    },
    /// It leads out of the folder, or into another one, or to a hidden file.
    #[error("'{}' is no plain name of a file: {found:?} is not allowed in it", name.escape_debug())]
    NotPlain {
        /// The name.
        name: String,
        /// What is wrong with it.
        found: char,
    },
}

/// The name, if it is one of a file within the folder that it is looked for in, on every system: no separators, drives or
/// streams, no control characters, no dot at the beginning and neither dot nor blank at the end.
///
/// # Errors
/// It is none.
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
