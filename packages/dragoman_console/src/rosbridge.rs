//! rosbridge v2 without I/O (RobotWebTools, "rosbridge v2.1 protocol specification").
//!
//! A [`Session`] is one client. It takes frames of the client, messages of ROS and the time, and gives frames and
//! [`Order`]s, which its owner executes in ROS.
//!
//! | file | holds |
//! | --- | --- |
//! | `rosbridge.rs` | frames, orders, messages |
//! | `rosbridge/session.rs` | the session |
//! | `rosbridge/operation.rs` | what a client's frame says |
//! | `rosbridge/subscription.rs` | throttling and queues of a subscribed topic |
//! | `rosbridge/fragments.rs` | frames in several parts |
//! | `rosbridge/picture.rs` | compression `png`: text as a picture |

mod fragments;
mod operation;
mod picture;
mod session;
mod subscription;

pub use fragments::Incomplete;
pub use session::Session;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use dragoman_types::cdr::ConvertError;
use dragoman_types::schema::Structure;
use serde_json::Value;

use crate::cbor;
use dragoman_types::json;

/// A WebSocket message.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Frame {
    Text(Arc<str>),
    Binary(Arc<[u8]>),
}

impl Frame {
    /// Its length in bytes.
    pub fn len(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Binary(bytes) => bytes.len(),
        }
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A message for the client.
#[derive(Clone, Debug, PartialEq)]
pub struct Outgoing {
    /// The message in one frame.
    pub frame: Frame,
    /// Whether a slow client may lose it: messages of topics are, answers are not.
    pub may_drop: bool,
    /// The client wants it in fragments, if it is long.
    pub split: Option<Split>,
}

/// Fragments of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// Maximum number of bytes of the message in each.
    pub size: usize,
    /// The same in all fragments of a message, and in no other's.
    pub id: u64,
}

/// Minimum size of the fragments that a client gets: smaller ones are mostly overhead.
pub const MIN_FRAGMENT: usize = 1024;

impl Outgoing {
    /// A message that is not split.
    pub fn whole(frame: Frame, may_drop: bool) -> Self {
        Self { frame, may_drop, split: None }
    }

    /// The frames on the wire. They are made when the message is sent: until then it is one, in queues and when it is
    /// dropped.
    pub fn into_frames(self) -> Vec<Frame> {
        match (self.frame, self.split) {
            (Frame::Text(text), Some(split)) => {
                let size = split.size.max(MIN_FRAGMENT);
                fragments::split(&text, size, &split.id.to_string()).into_iter().map(Frame::Text).collect()
            }
            (frame, _) => vec![frame],
        }
    }
}

/// How a client wants its frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Compression {
    #[default]
    None,
    /// JSON text as the pixels of a PNG picture.
    Png,
    Cbor,
    /// CBOR with the serialized message.
    CborRaw,
}

/// The form of an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// The client's name for the request.
    pub id: Option<Value>,
    /// Maximum length of a frame, bytes of text.
    pub fragment_size: Option<usize>,
    /// The compression of the answer.
    pub compression: Compression,
}

/// A request of a client that is executed in ROS.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // The fields are those of the protocol.
pub enum Order {
    Advertise {
        id: Option<Value>,
        topic: String,
        type_name: String,
        latch: bool,
    },
    Unadvertise {
        topic: String,
    },
    Publish {
        id: Option<Value>,
        topic: String,
        type_name: Option<String>,
        message: Value,
    },
    /// The client wants a topic, which it may have already.
    Subscribe {
        id: Option<Value>,
        topic: String,
        type_name: Option<String>,
    },
    /// The client has no subscription to the topic any more.
    Unsubscribe {
        topic: String,
    },
    CallService {
        reply: Reply,
        service: String,
        type_name: Option<String>,
        args: Value,
        timeout: Option<Duration>,
    },
    AdvertiseService {
        id: Option<Value>,
        service: String,
        type_name: String,
    },
    UnadvertiseService {
        service: String,
    },
    /// The answer to [`Session::call_service`].
    ServiceResponse {
        id: String,
        service: String,
        values: Value,
        result: bool,
    },
    SendGoal {
        reply: Reply,
        action: String,
        type_name: String,
        goal: Value,
        feedback: bool,
    },
    CancelGoal {
        id: Option<Value>,
        action: String,
    },
    AdvertiseAction {
        id: Option<Value>,
        action: String,
        type_name: String,
    },
    UnadvertiseAction {
        action: String,
    },
    /// Feedback of a goal given by [`Session::send_goal`].
    ActionFeedback {
        id: String,
        action: String,
        values: Value,
    },
    /// The end of a goal given by [`Session::send_goal`]. `status` is a code of `action_msgs/msg/GoalStatus`.
    ActionResult {
        id: String,
        action: String,
        values: Value,
        status: i8,
        result: bool,
    },
}

/// Severity of a `status` frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Level {
    None,
    Error,
    Warning,
    Info,
}

const LEVELS: [(&str, Level); 4] =
    [("none", Level::None), ("error", Level::Error), ("warning", Level::Warning), ("info", Level::Info)];

impl Level {
    fn named(name: &str) -> Option<Self> {
        LEVELS.iter().find(|(known, _)| *known == name).map(|(_, level)| *level)
    }

    fn name(self) -> &'static str {
        LEVELS.iter().find(|(_, level)| *level == self).map_or("", |(name, _)| name)
    }
}

/// A message of a topic. Its frames are made once for all clients.
#[derive(Debug)]
pub struct Sample {
    topic: Arc<str>,
    structure: Arc<Structure>,
    data: Vec<u8>,
    /// When it arrived, since 1970.
    received: Duration,
    text: OnceLock<Result<Arc<str>, ConvertError>>,
    picture: OnceLock<Result<Arc<str>, ConvertError>>,
    cbor: OnceLock<Result<Arc<[u8]>, ConvertError>>,
    raw: OnceLock<Arc<[u8]>>,
}

impl Sample {
    /// `data` is a serialized `structure` with encapsulation header, received at `received` since 1970.
    pub fn new(topic: Arc<str>, structure: Arc<Structure>, data: Vec<u8>, received: Duration) -> Self {
        let (text, picture, cbor, raw) = Default::default();
        Self { topic, structure, data, received, text, picture, cbor, raw }
    }

    /// The serialized message.
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// `package/msg/Name`.
    pub fn type_name(&self) -> &str {
        &self.structure.name
    }

    /// When it arrived, since 1970.
    pub fn received(&self) -> Duration {
        self.received
    }

    /// Its frame.
    ///
    /// # Errors
    /// The data is not a message of the type.
    pub fn frame(&self, compression: Compression) -> Result<Frame, ConvertError> {
        match compression {
            Compression::None => self.text().map(Frame::Text),
            Compression::Png => {
                let made = self.picture.get_or_init(|| Ok(picture::wrap(&self.text()?).into()));
                made.clone().map(Frame::Text)
            }
            Compression::Cbor => self.cbor.get_or_init(|| self.make_cbor()).clone().map(Frame::Binary),
            Compression::CborRaw => {
                Ok(Frame::Binary(Arc::clone(self.raw.get_or_init(|| self.make_raw().into()))))
            }
        }
    }

    fn text(&self) -> Result<Arc<str>, ConvertError> {
        let make = || {
            let message = json::from_cdr(&self.structure, &self.data)?;
            let topic = quoted(&self.topic);
            Ok(format!(r#"{{"op":"publish","topic":{topic},"msg":{message}}}"#).into())
        };
        self.text.get_or_init(make).clone()
    }

    fn make_cbor(&self) -> Result<Arc<[u8]>, ConvertError> {
        let message = cbor::from_cdr(&self.structure, &self.data)?;
        let mut frame = self.begin_cbor(message.len());
        frame.raw(&message);
        Ok(frame.finish().into())
    }

    fn make_raw(&self) -> Vec<u8> {
        use dragoman_types::cdr::Sink;
        let mut frame = self.begin_cbor(self.data.len() + 40);
        frame.map(3);
        frame.text("secs");
        frame.unsigned(self.received.as_secs());
        frame.text("nsecs");
        frame.unsigned(self.received.subsec_nanos().into());
        frame.text("bytes");
        frame.bytes(&self.data);
        frame.finish()
    }

    fn begin_cbor(&self, length: usize) -> cbor::Writer {
        use dragoman_types::cdr::Sink;
        let mut frame = cbor::Writer::with_capacity(length + self.topic.len() + 32);
        frame.map(3);
        frame.text("op");
        frame.text("publish");
        frame.text("topic");
        frame.text(&self.topic);
        frame.text("msg");
        frame
    }
}

/// Text as a JSON string.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
