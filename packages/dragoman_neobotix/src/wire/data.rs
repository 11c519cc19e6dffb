//! Maps, roadmaps and programs (PlatformCtrl guide, 6.3 and 6.4). Content of the documents: [`crate::documents`].

use super::Text;
use super::field::layout;

layout! {
    /// CMD_SET_MAP and CMD_SET_ROADMAP.
    #[derive(Eq, Default)]
    pub struct NamedDocument {
        /// Name of the map or roadmap.
        pub name: Text,
        /// XML-document.
        pub document: Text,
    }

    /// CMD_SET_PROGRAM, and the reply to CMD_GET_PROGRAM.
    #[derive(Eq, Default)]
    pub struct ProgramDocument {
        /// XML-document.
        pub document: Text,
    }

    /// Reply to CMD_GET_MAP and CMD_GET_ROADMAP.
    #[derive(Eq, Default)]
    pub struct DocumentReply {
        /// Characters of the name, modulo 256; the name has a length of its own.
        pub character_count: u8,
        /// XML-document.
        pub document: Text,
        /// Name of the map or roadmap.
        pub name: Text,
    }
}

impl DocumentReply {
    /// The reply with this document.
    pub fn new(NamedDocument { name, document }: NamedDocument) -> Self {
        let [.., character_count] = name.0.len().to_be_bytes();
        Self { character_count, document, name }
    }
}
