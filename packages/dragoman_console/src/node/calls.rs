//! Services: those of ROS for clients, and those of clients for ROS.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use dragoman_ros::raw::{self, Body};
use dragoman_types::json::{from_cdr, to_cdr, to_cdr_at};
use dragoman_types::schema::{ElementType, Primitive, Shape, Structure, full_name};
use futures::StreamExt;
use futures::future::{AbortHandle, abortable};
use parking_lot::Mutex;
use serde_json::{Map, Value};
use tokio::sync::Semaphore;

use super::bounds::{SERVICES, bytes_of};
use super::client::{Client, while_new};
use super::hub::Hub;
use super::ros::Inside;
use super::temporary::Place;
use crate::bounded::MAX_NAME_LEN;
use crate::rosbridge::Reply;

/// Maximum number of clients of ROS services that are kept for further calls.
const MAX_KEPT: usize = 200;
/// Time for finding a service, unless the client asks for another time.
const SEARCH_TIME: Duration = Duration::from_secs(2);
/// Maximum of this time: a missing service is not a slow one.
const MAX_SEARCH: Duration = Duration::from_secs(10);
/// Time that finding a service takes, though it is there: shorter times of clients do not include it.
const MATCH_TIME: Duration = Duration::from_millis(500);
/// Maximum number of requests to a service of a client that wait for its response.
const MAX_PENDING: usize = 256;
/// Time for a client's response, if many are missing: its caller may wait longer than that.
const PENDING_TIME: Duration = Duration::from_secs(60);

/// New requests at a service at a time, of all clients: the queue of a service in ROS has ten places by default, and loses what
/// is beyond them. Further ones wait, in the order in which they came.
const MAX_NEW: usize = 8;
/// Time for which a request is new at a service: one that takes longer for each may work at many.
const NEW_TIME: Duration = Duration::from_millis(50);

type Known = BTreeMap<(String, String), (Arc<Caller>, Instant)>;

/// A client of a service in ROS, which all web clients share.
struct Caller {
    client: Mutex<raw::Client>,
    new_requests: Semaphore,
    /// Its node.
    _place: Arc<Place>,
}

impl Caller {
    /// The response to a request, after those before it.
    async fn call(&self, request: Body) -> Result<Body, dragoman_ros::Error> {
        // It is never closed.
        let place = self.new_requests.acquire().await;
        let response = self.client.lock().request(request)?;
        while_new(place, NEW_TIME, response).await
    }
}

/// What clients have in services.
pub(crate) struct Calls {
    timeout: Duration,
    /// Clients of ROS services by service and type, with the time of the last use.
    known: Mutex<Known>,
    /// Services of clients by name.
    offered: Mutex<BTreeMap<String, Offered>>,
    last_request: AtomicU64,
}

/// A service that a client offers.
struct Offered {
    client: u64,
    response: Arc<Structure>,
    pending: BTreeMap<String, (raw::Request, Instant)>,
    receiving: AbortHandle,
    /// Its node.
    _place: Arc<Place>,
}

impl Drop for Offered {
    fn drop(&mut self) {
        self.receiving.abort();
    }
}

/// Time limits of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallTime {
    /// For finding the service.
    pub(crate) search: Duration,
    /// For everything.
    pub(crate) all: Duration,
}

/// A serialized response.
pub(crate) type Response = (Arc<Structure>, Vec<u8>);

impl Calls {
    pub(crate) fn new(timeout: Duration) -> Self {
        Self { timeout, known: Mutex::default(), offered: Mutex::default(), last_request: AtomicU64::new(0) }
    }

    /// The times for a call, of a client that asks for one.
    pub(crate) fn time(&self, asked: Option<Duration>) -> CallTime {
        match asked {
            Some(all) => CallTime { search: all.clamp(MATCH_TIME, MAX_SEARCH), all },
            None => CallTime { search: SEARCH_TIME, all: self.timeout },
        }
    }

    /// Ends the services of a client.
    pub(crate) fn leave(&self, client: &Client) {
        self.offered.lock().retain(|_, offered| offered.client != client.id);
    }

    /// Ends a service of a client.
    pub(crate) fn withdraw(&self, client: &Client, service: &str) {
        let mut offered = self.offered.lock();
        if offered.get(service).is_some_and(|offered| offered.client == client.id) {
            offered.remove(service);
        }
    }

    /// Passes the response of a client to the caller in ROS. `now`: of the stamps that it leaves out; `None`: the client
    /// reports a failure.
    pub(crate) fn answer(
        &self,
        client: &Client,
        id: &str,
        service: &str,
        values: &Value,
        now: Option<Duration>,
    ) -> Result<(), String> {
        let (request, structure) = {
            let mut all = self.offered.lock();
            let offered = all.get_mut(service).filter(|offered| offered.client == client.id);
            let offered = offered.ok_or("the client does not offer it")?;
            let (request, _) = offered.pending.remove(id).ok_or("the request is unknown or too old")?;
            (request, Arc::clone(&offered.response))
        };
        if now.is_none() {
            // ROS has no failed response: the caller's timeout ends the call.
            tracing::warn!(service, client = %client.address, %values, "client reported a failed service call");
            return Ok(());
        }
        let data = to_cdr_at(&structure, values, now).map_err(|error| error.to_string())?;
        request.respond(&data).map_err(|error| error.to_string())
    }

    /// Removes the clients of ROS services. Those with calls that wait end after these.
    pub(crate) fn remove_kept(&self) {
        self.known.lock().clear();
    }

    /// The type of a service that was called before, and is there: looking it up in the graph would take far longer.
    fn type_in_use(&self, service: &str) -> Option<String> {
        let known = self.known.lock();
        let all = known.range((service.to_owned(), String::new())..);
        let mut of_service = all.take_while(|((name, _), _)| name == service);
        let there = of_service.find(|(_, (caller, _))| caller.client.lock().is_available_now());
        there.map(|((_, type_name), _)| type_name.clone())
    }
}

impl Hub {
    /// Calls a service for a client, in the background.
    pub(crate) fn begin_call(
        self: &Arc<Self>,
        client: &Arc<Client>,
        reply: Reply,
        service: String,
        type_name: Option<String>,
        args: Value,
        timeout: Option<Duration>,
    ) {
        let (hub, asking, name) = (Arc::clone(self), Arc::clone(client), service.clone());
        let answer = reply.clone();
        client.commands.take(&service);
        let begun = client.in_background(bytes_of(&args), async move {
            let time = hub.calls.time(timeout);
            let answered = dragoman_time::timeout(time.all, hub.ask_rosapi(&service, &args)).await;
            let response = match answered {
                Ok(Some(response)) => response,
                Ok(None) => hub.call(&service, type_name.as_deref(), args, timeout).await,
                Err(_late) => Err(late(&service, time.all)),
            };
            let response = response.and_then(|response| asking.room(response.1.len()).map(|()| response));
            asking.with(|session| match &response {
                Ok((structure, data)) => session.service_response(&answer, &service, Ok((structure, data))),
                Err(reason) => session.service_response(&answer, &service, Err(reason)),
            });
        });
        if let Err(reason) = begun {
            client.with(|session| session.service_response(&reply, &name, Err(&reason)));
        }
    }

    /// Calls a service.
    pub(crate) async fn call(
        &self,
        service: &str,
        type_name: Option<&str>,
        args: Value,
        timeout: Option<Duration>,
    ) -> Result<Response, String> {
        let type_name = match type_name.filter(|name| !name.is_empty()) {
            Some(name) => full_name(name, "srv").map_err(|error| error.to_string())?,
            None => self.type_of_service(service).await?,
        };
        let [request, response] = self.types.service(&type_name).map_err(|error| error.to_string())?;
        let args = named(&request, args)?;
        let data = to_cdr_at(&request, &args, Some(self.now())).map_err(|error| error.to_string())?;
        let time = self.calls.time(timeout);
        self.call_serialized(service, &type_name, [&request, &response], data, time).await
    }

    /// Calls a service of `type_name`, whose structures are `request` and `response`, with a serialized request.
    pub(crate) async fn call_serialized(
        &self,
        service: &str,
        type_name: &str,
        [request, response]: [&Arc<Structure>; 2],
        data: Vec<u8>,
        time: CallTime,
    ) -> Result<Response, String> {
        let begun = dragoman_time::now();
        let caller = self.caller(service, type_name).await?;
        let body = if raw::CALLS_ARE_JSON { Body::Json(plain(request, &data)?) } else { Body::Cdr(data) };
        let available = caller.client.lock().available().map_err(|error| error.to_string())?;
        if !matches!(dragoman_time::timeout(time.search, available).await, Ok(Ok(()))) {
            return Err(format!("service {service} is not available"));
        }
        let found = if time.all < MATCH_TIME { Duration::ZERO } else { dragoman_time::since(begun) };
        let answer = dragoman_time::timeout(time.all.saturating_sub(found), caller.call(body)).await;
        let answer = answer.map_err(|_| late(service, time.all))?;
        let data = match answer.map_err(|error| error.to_string())? {
            Body::Cdr(data) => data,
            Body::Json(value) => {
                to_cdr(response, &without_underscores(response, value)).map_err(|error| error.to_string())?
            }
        };
        Ok((Arc::clone(response), data))
    }

    /// The client of a service in ROS, new or kept.
    async fn caller(&self, service: &str, type_name: &str) -> Result<Arc<Caller>, String> {
        if service.len() > MAX_NAME_LEN {
            return Err(format!("the name of the service has more than {MAX_NAME_LEN} bytes"));
        }
        let key = (service.to_owned(), type_name.to_owned());
        if let Some((known, used)) = self.calls.known.lock().get_mut(&key) {
            *used = dragoman_time::now();
            return Ok(Arc::clone(known));
        }
        let (name, type_name) = key.clone();
        let made = self
            .temporary
            .make(&self.temporary.calls, move |inside| {
                raw::create_client(&mut inside.node, &name, &type_name)
            })
            .await;
        let (made, place) = made.map_err(|error| error.to_string())?;
        let client = Mutex::new(made.map_err(|error| error.to_string())?);
        let caller = Arc::new(Caller { client, new_requests: Semaphore::new(MAX_NEW), _place: place });
        let mut known = self.calls.known.lock();
        if known.len() >= MAX_KEPT {
            let oldest = known.iter().min_by_key(|(_, (_, used))| *used).map(|(key, _)| key.clone());
            oldest.map(|oldest| known.remove(&oldest));
        }
        let (caller, _) = known.entry(key).or_insert((caller, dragoman_time::now()));
        Ok(Arc::clone(caller))
    }

    async fn type_of_service(&self, service: &str) -> Result<String, String> {
        if let Some(type_name) = self.calls.type_in_use(service) {
            return Ok(type_name);
        }
        let name = service.to_owned();
        let found = self.ros.look(move |graph, node| {
            let listed = graph.services.iter().find(|endpoint| endpoint.name == name);
            listed.map(|endpoint| endpoint.type_name.clone()).or_else(|| {
                // r2r does not list services, but knows the topics of which they consist.
                let replies = format!("rr{name}Reply");
                let writers = node.get_publishers_info_by_topic(&replies, true).ok()?;
                let (package, short) = writers.first()?.topic_type.split_once("::srv::dds_::")?;
                Some(format!("{package}/srv/{}", short.strip_suffix("_Response_")?))
            })
        });
        let found = found.await.map_err(|error| error.to_string())?;
        found.ok_or_else(|| format!("service {service} does not exist"))
    }

    /// Offers a service of a client in ROS.
    pub(crate) async fn offer_service(
        self: &Arc<Self>,
        client: &Arc<Client>,
        service: &str,
        type_name: &str,
    ) -> Result<(), String> {
        let [request, response] = self.types.service(type_name).map_err(|error| error.to_string())?;
        {
            let offered = self.calls.offered.lock();
            match offered.get(service) {
                Some(present) if present.client == client.id => {}
                Some(_) => return Err("another client offers it".to_owned()),
                None => {
                    let own = offered.values().filter(|offered| offered.client == client.id).count();
                    SERVICES.check(own + 1, offered.len() + 1)?;
                }
            }
        }
        let full = full_name(type_name, "srv").map_err(|error| error.to_string())?;
        let name = service.to_owned();
        let make = move |inside: &mut Inside| raw::create_service(&mut inside.node, &name, &full);
        let made = self.temporary.offer(&client.offers, make).await;
        let (made, place) = made.map_err(|error| error.to_string())?;
        let mut requests = made.map_err(|error| error.to_string())?;
        let (hub, asked, name) = (Arc::downgrade(self), Arc::downgrade(client), service.to_owned());
        let (receiving, handle) = abortable(async move {
            while let Some(call) = requests.next().await {
                let (Some(hub), Some(client)) = (Weak::upgrade(&hub), Weak::upgrade(&asked)) else { return };
                hub.ask_client(&client, &name, &request, call);
            }
        });
        dragoman_time::spawn(receiving);
        let new = Offered {
            client: client.id,
            response,
            pending: BTreeMap::new(),
            receiving: handle,
            _place: place,
        };
        let mut offered = self.calls.offered.lock();
        // Meanwhile another one may have offered it.
        if offered.get(service).is_some_and(|present| present.client != client.id) {
            return Err("another client offers it".to_owned());
        }
        offered.insert(service.to_owned(), new);
        Ok(())
    }

    /// Passes a request of ROS to the client that offers the service.
    fn ask_client(&self, client: &Arc<Client>, service: &str, structure: &Structure, mut call: raw::Request) {
        let number = self.calls.last_request.fetch_add(1, Ordering::Relaxed) + 1;
        let id = format!("service_request:{service}:{number}");
        // While it waits only its origin is needed.
        let data = std::mem::take(&mut call.data);
        {
            let mut all = self.calls.offered.lock();
            let Some(offered) = all.get_mut(service).filter(|offered| offered.client == client.id) else {
                return;
            };
            if offered.pending.len() >= MAX_PENDING {
                offered.pending.retain(|_, (_, since)| dragoman_time::since(*since) < PENDING_TIME);
            }
            // The client is not disconnected because others send it too many requests.
            if offered.pending.len() >= MAX_PENDING || client.is_busy(data.len()) {
                tracing::warn!(service, "request dropped: client does not respond");
                return;
            }
            offered.pending.insert(id.clone(), (call, dragoman_time::now()));
        }
        client.with(|session| session.call_service(&id, service, (structure, &data)));
    }
}

fn late(service: &str, time: Duration) -> String {
    format!("service {service} did not answer within {time:?}")
}

/// Arguments by name; those in an array are in the order of the fields.
pub(crate) fn named(structure: &Structure, args: Value) -> Result<Value, String> {
    match args {
        Value::Array(values) if values.len() > structure.fields.len() => Err(format!(
            "{} has {} fields, {} were given",
            structure.name,
            structure.fields.len(),
            values.len()
        )),
        Value::Array(values) => {
            let fields = structure.fields.iter().map(|field| field.name.clone()).zip(values);
            Ok(Value::Object(fields.collect::<Map<_, _>>()))
        }
        other => Ok(other),
    }
}

/// A message as r2r's JSON: bytes are numbers, and names that are keywords of Rust end with `_`.
fn plain(structure: &Structure, data: &[u8]) -> Result<Value, String> {
    let text = from_cdr(structure, data).map_err(|error| error.to_string())?;
    let value: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    Ok(with_underscores(structure, value))
}

fn with_underscores(structure: &Structure, value: Value) -> Value {
    convert(structure, value, &|field, _| {
        if is_keyword(field) { format!("{field}_") } else { field.to_owned() }
    })
}

fn without_underscores(structure: &Structure, value: Value) -> Value {
    let Value::Object(mut fields) = value else { return value };
    for field in &structure.fields {
        if is_keyword(&field.name)
            && let Some(value) = fields.remove(&format!("{}_", field.name))
        {
            fields.insert(field.name.clone(), value);
        }
        if let ElementType::Structure(inner) = &field.kind
            && let Some(value) = fields.get_mut(&field.name)
        {
            *value = match std::mem::take(value) {
                Value::Array(values) => {
                    values.into_iter().map(|value| without_underscores(inner, value)).collect()
                }
                value => without_underscores(inner, value),
            };
        }
    }
    Value::Object(fields)
}

fn convert(structure: &Structure, value: Value, rename: &dyn Fn(&str, &Structure) -> String) -> Value {
    use base64::Engine;
    let Value::Object(mut fields) = value else { return value };
    let mut converted = Map::new();
    for field in &structure.fields {
        let Some(value) = fields.remove(&field.name) else { continue };
        let value = match (&field.kind, value) {
            (ElementType::Structure(inner), Value::Array(values)) => {
                values.into_iter().map(|value| convert(inner, value, rename)).collect()
            }
            (ElementType::Structure(inner), value) => convert(inner, value, rename),
            (ElementType::Primitive(Primitive::Uint8 | Primitive::Char), Value::String(text))
                if field.shape != Shape::Single =>
            {
                let bytes = base64::engine::general_purpose::STANDARD.decode(text).unwrap_or_default();
                bytes.into_iter().map(Value::from).collect()
            }
            (_, value) => value,
        };
        converted.insert(rename(&field.name, structure), value);
    }
    Value::Object(converted)
}

fn is_keyword(name: &str) -> bool {
    const KEYWORDS: [&str; 12] =
        ["type", "loop", "move", "in", "box", "ref", "self", "static", "mod", "use", "where", "yield"];
    KEYWORDS.contains(&name)
}
