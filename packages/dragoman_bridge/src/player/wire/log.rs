//! `log`: recording to a file, and playing it back.

use super::table::interface;
use super::xdr::{codes, structures};

interface! {
    /// Recording to a file, and playing it back.
    45 "log"
    requests {
        SET_WRITE_STATE 1: bool => (), "start or stop recording";
        SET_READ_STATE 2: bool => (), "start or stop playing back";
        GET_STATE 3: () => State, "what it does";
        REWIND 4: () => (), "play back from the start";
        SET_FILE_NAME 5: String => (), "file to record to, at most 255 bytes";
    }
}

codes! {
    /// What a device does with its file.
    pub enum LogKind: u8 {
        /// It plays back.
        Read = 1,
        /// It records.
        Write = 2,
    }
}

structures! {
    /// What a device does.
    pub struct State {
        /// Whether it records or plays back.
        pub kind: LogKind,
        /// Whether it does so now.
        pub enabled: bool,
    }
}
