//! A node: the owner of a name, of parameters and of a clock.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use futures::{Stream, StreamExt};
use indexmap::IndexMap;

use super::action::{ActionClient, ActionServer, ActionServerGoalRequest, RESULT_TIMEOUT};
use super::client::{Client, IsAvailablePollable};
use super::clock::{Clock, ClockType, TimeSource, Timer, lock};
use super::context::Context;
use super::dds::{Endpoint, Reader, Writer, WriterInfo};
use super::error::{Error, Result};
use super::graph::GraphNode;
use super::names::{dds_type, parts_of_topic, ros_type};
use super::parameter::{Parameter, ParameterValue, WrongParameterType};
use super::publisher::Publisher;
use super::qos::QosProfile;
use super::service::{Server, ServiceRequest, answer_all, request_handler};
use super::subscription::{RawSubscription, Subscription};
use super::{WrappedActionTypeSupport, WrappedServiceTypeSupport, WrappedTypesupport, type_hash};
use crate::names::{NameKind, NodeName};
use crate::qos_overrides::{self, Side};
use crate::service_calls::RecordedService;
use crate::times::SharedClock;

/// One publisher of a topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicEndpointInfo {
    /// `_NODE_NAME_UNKNOWN_` for nodes of other processes, as rmw writes for unknown names.
    pub node_name: String,
    /// `_NODE_NAMESPACE_UNKNOWN_` for nodes of other processes.
    pub node_namespace: String,
    /// `package/msg/Name`.
    pub topic_type: String,
    /// Globally unique id of the publisher.
    pub endpoint_gid: [u8; 16],
    /// The offered policies; history and depth are unknown for publishers in other processes.
    pub qos_profile: QosProfile,
}

/// A ROS node. Publishers, clients and streams that it has created outlive it.
pub struct Node {
    /// The values from the command line, by name.
    pub params: Arc<Mutex<IndexMap<String, Parameter>>>,
    context: Context,
    name: NodeName,
    logger: String,
    entry: Arc<GraphNode>,
    clock: SharedClock,
    time_source: TimeSource,
}

impl Node {
    /// Creates node `name` in `namespace`, which may be empty, unless the command line renames it.
    ///
    /// # Errors
    /// An invalid name.
    pub fn create(context: Context, name: &str, namespace: &str) -> Result<Self> {
        let name = NodeName::resolve(name, namespace, context.arguments().rules())?;
        let params = context.arguments().parameters_of(&name);
        let clock = Arc::new(Mutex::new(Clock::create(ClockType::RosTime)?));
        Ok(Self {
            params: Arc::new(Mutex::new(
                params.into_iter().map(|(name, value)| (name, Parameter::new(value))).collect(),
            )),
            logger: name.fully_qualified().trim_start_matches('/').replace('/', "."),
            entry: context.graph().add_node(name.clone()),
            time_source: TimeSource::new(&clock),
            context,
            name,
            clock,
        })
    }

    /// The name without namespace.
    ///
    /// # Errors
    /// None in this implementation.
    pub fn name(&self) -> Result<String> {
        Ok(self.name.name.clone())
    }

    /// The namespace, beginning with a slash.
    ///
    /// # Errors
    /// None in this implementation.
    pub fn namespace(&self) -> Result<String> {
        Ok(self.name.namespace.clone())
    }

    /// Namespace and name.
    ///
    /// # Errors
    /// None in this implementation.
    pub fn fully_qualified_name(&self) -> Result<String> {
        Ok(self.name.fully_qualified())
    }

    /// The name under which the node logs: the qualified name with dots.
    pub fn logger(&self) -> &str {
        &self.logger
    }

    /// The value from the command line for a parameter.
    ///
    /// # Errors
    /// It has another type than `T`, or is missing and `T` is not an option.
    pub fn get_parameter<T>(&self, name: &str) -> Result<T>
    where
        ParameterValue: TryInto<T, Error = WrongParameterType>,
    {
        let value = lock(&self.params).get(name).map_or(ParameterValue::NotSet, |given| given.value.clone());
        value.try_into().map_err(|error: WrongParameterType| Error::ParameterWrongType {
            name: name.to_owned(),
            expected_type: error.expected_type_name,
            actual_type: error.actual_type_name,
        })
    }

    /// Publishes on `topic`; parameters `qos_overrides./topic.publisher...` take precedence over `qos`.
    ///
    /// # Errors
    /// An invalid name or override; an error of the middleware.
    pub fn create_publisher<T: WrappedTypesupport>(
        &mut self,
        topic: &str,
        qos: QosProfile,
    ) -> Result<Publisher<T>> {
        Ok(Publisher::new(self.topic_writer(topic, T::TYPE_NAME, qos)?))
    }

    /// The messages that arrive on `topic`, from now on; parameters `qos_overrides./topic.subscription...` take
    /// precedence over `qos`.
    ///
    /// # Errors
    /// An invalid name or override; an error of the middleware.
    pub fn subscribe<T: WrappedTypesupport + 'static>(
        &mut self,
        topic: &str,
        qos: QosProfile,
    ) -> Result<impl Stream<Item = T> + Send + Unpin + use<T>> {
        self.subscription::<T>(topic, &qos)
    }

    /// The messages of any type that arrive on `topic`, as CDR with its four bytes of encapsulation header.
    ///
    /// # Errors
    /// An invalid name; an error of the middleware.
    pub fn subscribe_raw(
        &mut self,
        topic: &str,
        topic_type: &str,
        qos: QosProfile,
    ) -> Result<impl Stream<Item = Vec<u8>> + Send + Unpin + use<>> {
        Ok(self.subscribe_serialized(topic, topic_type, qos)?.map(|message| message.data))
    }

    /// As [`subscribe_raw`](Self::subscribe_raw), with the time of publication. Not in r2r; see [`crate::raw`].
    pub(crate) fn subscribe_serialized(
        &mut self,
        topic: &str,
        topic_type: &str,
        qos: QosProfile,
    ) -> Result<RawSubscription> {
        Ok(RawSubscription::new(self.topic_reader(topic, topic_type, qos)?))
    }

    /// Offers `service`: a stream of requests, each of which must be answered with `respond`.
    ///
    /// # Errors
    /// An invalid name; an error of the middleware.
    pub fn create_service<T: WrappedServiceTypeSupport + 'static>(
        &mut self,
        service: &str,
        qos: QosProfile,
    ) -> Result<impl Stream<Item = ServiceRequest<T>> + Send + Unpin + use<T>> {
        let requests = self.server::<T>(service, &qos)?;
        let recorded = RecordedService::new(&self.service_name(service)?, T::Request::TYPE_NAME);
        Ok(requests.map(move |mut request| {
            request.call = Some(recorded.call());
            request
        }))
    }

    /// Offers `service`: answers requests while the returned future is polled, up to `limit` at the same time.
    pub(crate) fn serve<T, F>(
        &mut self,
        service: &str,
        limit: usize,
        act: impl FnMut(T::Request) -> F + Send + 'static,
    ) -> Result<BoxFuture<'static, ()>>
    where
        T: WrappedServiceTypeSupport + 'static,
        F: Future<Output = T::Response> + Send + 'static,
    {
        let types = [T::Request::TYPE_NAME, T::Response::TYPE_NAME];
        let endpoints = self.server_endpoints(service, types, &QosProfile::services_default())?;
        let recorded = RecordedService::new(&self.service_name(service)?, T::Request::TYPE_NAME);
        Ok(Box::pin(answer_all(endpoints, recorded, limit, request_handler::<T, F>(act))))
    }

    /// A client of `service`.
    ///
    /// # Errors
    /// An invalid name; an error of the middleware.
    pub fn create_client<T: WrappedServiceTypeSupport + 'static>(
        &mut self,
        service: &str,
        qos: QosProfile,
    ) -> Result<Client<T>> {
        let types = [T::Request::TYPE_NAME, T::Response::TYPE_NAME];
        let (reader, writer) = self.client_endpoints(service, types, &qos)?;
        Ok(Client::new(reader, writer, self.context.background()))
    }

    /// Offers `action`: a stream of goals, each of which must be accepted or rejected. Results are kept for 15 minutes.
    ///
    /// # Errors
    /// An invalid name; an error of the middleware.
    pub fn create_action_server<T: WrappedActionTypeSupport + 'static>(
        &mut self,
        action: &str,
    ) -> Result<impl Stream<Item = ActionServerGoalRequest<T>> + Send + Unpin + use<T>> {
        ActionServer::new(self, action, RESULT_TIMEOUT)
    }

    /// A client of `action`.
    ///
    /// # Errors
    /// An invalid name; an error of the middleware.
    pub fn create_action_client<T: WrappedActionTypeSupport + 'static>(
        &mut self,
        action: &str,
    ) -> Result<ActionClient<T>> {
        ActionClient::new(self, action)
    }

    /// Resolves when the client's service or action is available.
    ///
    /// # Errors
    /// None in this implementation.
    pub fn is_available(
        client: &dyn IsAvailablePollable,
    ) -> Result<impl Future<Output = Result<()>> + Send + use<>> {
        Ok(client.available())
    }

    /// A timer on steady time, independent of `/clock`.
    ///
    /// # Errors
    /// The period is zero.
    pub fn create_wall_timer(&mut self, period: Duration) -> Result<Timer> {
        Timer::new(Arc::new(Mutex::new(Clock::create(ClockType::SteadyTime)?)), period)
    }

    /// A timer on the node's clock.
    ///
    /// # Errors
    /// The period is zero.
    pub fn create_timer(&mut self, period: Duration) -> Result<Timer> {
        Timer::new(Arc::clone(&self.clock), period)
    }

    /// The node's clock: system time, or `/clock` after [`TimeSource::enable_sim_time`].
    pub fn get_ros_clock(&self) -> SharedClock {
        Arc::clone(&self.clock)
    }

    /// The time source of the node's clock.
    pub fn get_time_source(&self) -> TimeSource {
        self.time_source.clone()
    }

    /// Names of all topics that have publishers, with their types.
    ///
    /// # Errors
    /// None in this implementation.
    pub fn get_topic_names_and_types(&self) -> Result<HashMap<String, Vec<String>>> {
        let mut topics: HashMap<String, Vec<String>> = HashMap::new();
        for writer in self.context.participant().writers() {
            let Some(("rt", topic)) = parts_of_topic(&writer.topic) else { continue };
            let Some(type_name) = ros_type(&writer.type_name) else { continue };
            let types = topics.entry(topic.to_owned()).or_default();
            if !types.contains(&type_name) {
                types.push(type_name);
            }
        }
        topics.values_mut().for_each(|types| types.sort());
        Ok(topics)
    }

    /// The publishers of `topic`, which is a full name, with their offered policies. With `no_mangle`, it is a DDS
    /// topic without ROS's prefix.
    ///
    /// # Errors
    /// None in this implementation.
    pub fn get_publishers_info_by_topic(
        &self,
        topic: &str,
        no_mangle: bool,
    ) -> Result<Vec<TopicEndpointInfo>> {
        let info = |topic_type: String, writer: WriterInfo| {
            let node = self.context.graph().node_of(writer.guid);
            let (node_name, node_namespace) = node.map_or_else(
                || ("_NODE_NAME_UNKNOWN_".to_owned(), "_NODE_NAMESPACE_UNKNOWN_".to_owned()),
                |node| (node.name, node.namespace),
            );
            let (endpoint_gid, qos_profile) = (writer.guid, writer.qos);
            TopicEndpointInfo { node_name, node_namespace, topic_type, endpoint_gid, qos_profile }
        };
        let participant = self.context.participant();
        if no_mangle {
            let writers = participant.writers_on(topic).into_iter();
            return Ok(writers.map(|writer| info(writer.type_name.clone(), writer)).collect());
        }
        let writers = participant.writers_on(&format!("rt{topic}")).into_iter();
        Ok(writers.filter_map(|writer| Some(info(ros_type(&writer.type_name)?, writer))).collect())
    }

    /// Waits for `timeout`. This implementation delivers in the background; r2r delivers in this call.
    pub fn spin_once(&mut self, timeout: Duration) {
        std::thread::sleep(timeout);
    }

    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    pub(crate) fn subscription<T: WrappedTypesupport>(
        &mut self,
        topic: &str,
        qos: &QosProfile,
    ) -> Result<Subscription<T>> {
        Ok(Subscription::new(self.topic_reader(topic, T::TYPE_NAME, qos.clone())?))
    }

    pub(crate) fn server<T: WrappedServiceTypeSupport>(
        &mut self,
        service: &str,
        qos: &QosProfile,
    ) -> Result<Server<T>> {
        let types = [T::Request::TYPE_NAME, T::Response::TYPE_NAME];
        let (reader, writer) = self.server_endpoints(service, types, qos)?;
        Ok(Server::new(reader, writer))
    }

    // The following functions are not generic, so that they are compiled once.

    pub(crate) fn topic_writer(&self, topic: &str, ros_type: &str, qos: QosProfile) -> Result<Arc<Writer>> {
        let (topic, qos) = self.dds_topic(topic, Side::Publisher, qos)?;
        self.writer(&topic, ros_type, &qos)
    }

    fn topic_reader(&self, topic: &str, ros_type: &str, qos: QosProfile) -> Result<Arc<Reader>> {
        let (topic, qos) = self.dds_topic(topic, Side::Subscription, qos)?;
        self.reader(&topic, ros_type, &qos)
    }

    pub(crate) fn client_endpoints(
        &self,
        service: &str,
        [request_type, reply_type]: [&str; 2],
        qos: &QosProfile,
    ) -> Result<(Arc<Reader>, Arc<Writer>)> {
        let (request, reply) = self.service_topics(service)?;
        let reader = self.reader(&reply, reply_type, qos)?;
        Ok((reader, self.writer(&request, request_type, qos)?))
    }

    pub(crate) fn server_endpoints(
        &self,
        service: &str,
        [request_type, reply_type]: [&str; 2],
        qos: &QosProfile,
    ) -> Result<(Arc<Reader>, Arc<Writer>)> {
        let (request, reply) = self.service_topics(service)?;
        let reader = self.reader(&request, request_type, qos)?;
        Ok((reader, self.writer(&reply, reply_type, qos)?))
    }

    fn service_name(&self, service: &str) -> Result<String> {
        Ok(self.name.resolve_name(service, NameKind::Service, self.context.arguments().rules())?)
    }

    /// A topic's DDS name, and its quality of service after overrides.
    fn dds_topic(&self, topic: &str, side: Side, qos: QosProfile) -> Result<(String, QosProfile)> {
        let name = self.name.resolve_name(topic, NameKind::Topic, self.context.arguments().rules())?;
        let qos = qos_overrides::overridden(&lock(&self.params), &name, side, qos)?;
        let topic = if qos.avoid_ros_namespace_conventions {
            name.trim_start_matches('/').to_owned()
        } else {
            format!("rt{name}")
        };
        Ok((topic, qos))
    }

    fn service_topics(&self, service: &str) -> Result<(String, String)> {
        let name = self.service_name(service)?;
        Ok((format!("rq{name}Request"), format!("rr{name}Reply")))
    }

    fn writer(&self, topic: &str, ros_type: &str, qos: &QosProfile) -> Result<Arc<Writer>> {
        let endpoint =
            Endpoint { topic, type_name: &dds_type(ros_type), type_hash: type_hash(ros_type), qos };
        let writer = self.context.participant().writer(endpoint)?;
        self.entry.add_writer(&writer, self.context.graph());
        Ok(writer)
    }

    fn reader(&self, topic: &str, ros_type: &str, qos: &QosProfile) -> Result<Arc<Reader>> {
        let endpoint =
            Endpoint { topic, type_name: &dds_type(ros_type), type_hash: type_hash(ros_type), qos };
        let reader = Arc::new(self.context.participant().reader(endpoint)?);
        self.entry.add_reader(&reader, self.context.graph());
        Ok(reader)
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.context.graph().remove_node(&self.entry);
    }
}
