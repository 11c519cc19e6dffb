//! Foxglove's WebSocket protocol without I/O (Foxglove, "WebSocket protocol v1"; subprotocols `foxglove.websocket.v1`
//! and `foxglove.sdk.v1`, which are the same on the wire).
//!
//! A [`Session`] is one client. It takes the client's frames, messages of ROS and what is [`Offered`] in ROS, and gives
//! frames and [`Order`]s, which its owner executes in ROS.
//!
//! | file | holds |
//! | --- | --- |
//! | `foxglove.rs` | what is offered, orders |
//! | `foxglove/session.rs` | the session |
//! | `foxglove/wire.rs` | frames of both sides |

mod session;
mod wire;

pub use session::Session;
pub use wire::Parameter;

use dragoman_types::schema::{SchemaError, Types};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The subprotocols that are served.
pub const SUBPROTOCOLS: [&str; 2] = ["foxglove.sdk.v1", "foxglove.websocket.v1"];

/// A topic of one type.
#[derive(Debug, PartialEq, Eq)]
pub struct Channel {
    /// Never used again for another topic or type.
    pub id: u32,
    /// Full name.
    pub topic: String,
    /// `package/msg/Name`.
    pub type_name: String,
    /// Of the form `ros2msg`.
    pub schema: Arc<str>,
}

/// A service of one type.
#[derive(Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct Service {
    /// Never used again for another service or type.
    pub id: u32,
    /// Full name.
    pub name: String,
    /// `package/srv/Name`.
    pub type_name: String,
    /// Of the request, of the form `ros2msg`.
    pub request: Arc<str>,
    pub response: Arc<str>,
}

/// The nodes by the names of topics or services.
pub type Nodes = BTreeMap<String, BTreeSet<String>>;

/// Which node publishes, subscribes to and offers what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Connections {
    pub publishers: Nodes,
    pub subscribers: Nodes,
    pub providers: Nodes,
}

/// The content of the graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offered {
    /// By id.
    pub channels: BTreeMap<u32, Arc<Channel>>,
    /// By id.
    pub services: BTreeMap<u32, Arc<Service>>,
    /// For the connection graph.
    pub connections: Connections,
}

/// Follows the graph: makes schemas, and gives ids to topics and services.
#[derive(Debug, Default)]
pub struct Catalogue {
    last_id: u32,
    channels: BTreeMap<(String, String), Arc<Channel>>,
    services: BTreeMap<(String, String), Arc<Service>>,
    /// `None` for types without a valid definition.
    schemas: BTreeMap<String, Option<Arc<str>>>,
    errors: Vec<SchemaError>,
    offered: Arc<Offered>,
}

/// Maximum number of types whose schemas are kept.
const MAX_SCHEMAS: usize = 2000;

impl Catalogue {
    /// What was offered at the last [`update`](Self::update).
    pub fn offered(&self) -> &Arc<Offered> {
        &self.offered
    }

    /// Takes the graph: topics and services with their types. Those with unknown types are left out, and those whose
    /// names have a part that begins with `_`, such as the topics of actions.
    pub fn update(
        &mut self,
        types: &Types,
        topics: &BTreeSet<(&str, &str)>,
        services: &BTreeSet<(&str, &str)>,
        connections: Connections,
    ) -> &Arc<Offered> {
        if self.schemas.len() > MAX_SCHEMAS {
            self.schemas.clear();
        }
        let (mut channels, mut known) = (BTreeMap::new(), std::mem::take(&mut self.channels));
        for (topic, type_name) in topics.iter().filter(|(name, _)| !is_hidden(name)) {
            let key = ((*topic).to_owned(), (*type_name).to_owned());
            let channel = known.remove(&key).or_else(|| {
                let schema = self.schema(types, type_name)?;
                let (topic, type_name) = key.clone();
                Some(Arc::new(Channel { id: self.next_id(), topic, type_name, schema }))
            });
            channels.extend(channel.map(|channel| (key, channel)));
        }
        self.channels = channels;
        let (mut found, mut known) = (BTreeMap::new(), std::mem::take(&mut self.services));
        for (name, type_name) in services.iter().filter(|(name, _)| !is_hidden(name)) {
            let key = ((*name).to_owned(), (*type_name).to_owned());
            let service = known.remove(&key).or_else(|| {
                let request = self.schema(types, &format!("{type_name}_Request"))?;
                let response = self.schema(types, &format!("{type_name}_Response"))?;
                let (name, type_name) = key.clone();
                Some(Arc::new(Service { id: self.next_id(), name, type_name, request, response }))
            });
            found.extend(service.map(|service| (key, service)));
        }
        self.services = found;
        let offered = Offered {
            channels: self.channels.values().map(|channel| (channel.id, Arc::clone(channel))).collect(),
            services: self.services.values().map(|service| (service.id, Arc::clone(service))).collect(),
            connections,
        };
        if *self.offered != offered {
            self.offered = Arc::new(offered);
        }
        &self.offered
    }

    /// The next error of a type in the graph: topics and services of this type are left out.
    pub fn poll_error(&mut self) -> Option<SchemaError> {
        self.errors.pop()
    }

    fn schema(&mut self, types: &Types, name: &str) -> Option<Arc<str>> {
        if let Some(known) = self.schemas.get(name) {
            return known.clone();
        }
        let schema = match types.schema(name) {
            Ok(schema) => Some(Arc::from(schema)),
            Err(error) => {
                self.errors.push(error);
                None
            }
        };
        self.schemas.insert(name.to_owned(), schema.clone());
        schema
    }

    fn next_id(&mut self) -> u32 {
        self.last_id = self.last_id.wrapping_add(1);
        self.last_id
    }
}

fn is_hidden(name: &str) -> bool {
    name.split('/').any(|part| part.starts_with('_'))
}

/// How a client writes messages and requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Encoding {
    Cdr,
    Json,
}

const ENCODINGS: [(&str, Encoding); 2] = [("cdr", Encoding::Cdr), ("json", Encoding::Json)];

impl Encoding {
    fn named(name: &str) -> Option<Self> {
        ENCODINGS.iter().find(|(known, _)| *known == name).map(|(_, encoding)| *encoding)
    }

    fn name(self) -> &'static str {
        ENCODINGS.iter().find(|(_, encoding)| *encoding == self).map_or("", |(name, _)| name)
    }
}

/// A request to a service.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct Call {
    pub service: Arc<Service>,
    /// The client's number.
    pub id: u32,
    /// Of the request, and of the response.
    pub encoding: Encoding,
}

/// A request of a client that is executed in ROS.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Order {
    Subscribe { channel: Arc<Channel> },
    Unsubscribe { topic: String },
    Advertise { channel: u32, topic: String, type_name: String },
    Unadvertise { topic: String },
    Publish { topic: String, encoding: Encoding, data: Vec<u8> },
    Call { call: Call, data: Vec<u8> },
    GetParameters { names: Vec<String>, id: Option<String> },
    SetParameters { parameters: Vec<Parameter>, id: Option<String> },
    FetchAsset { uri: String, request: u32 },
}

#[cfg(test)]
mod tests;
