//! Declared parameters: one struct per node, whose fields have a type, a default, bounds and a description; the six
//! parameter services, their refusals, `/parameter_events` and the documentation derive from it.
//!
//! | name | what it is |
//! | --- | --- |
//! | [`parameters!`](crate::parameters!) | declares the struct |
//! | [`NodeTasks::declare`](crate::tasks::NodeTasks::declare) | declares its parameters for a node |
//! | [`Parameters`] | their values, as such a struct |
//! | [`ParameterSet`] | what the struct implements; by hand for parameters whose names are known at run time only |
//!
//! r2r's own handler accepts undeclared names and has no ranges, so this is built on top of both implementations.

mod changes;
mod declaration;
mod fields;

pub use declaration::{Declaration, Range};
pub use fields::{Field, Initial, ParameterSet, Values, text};

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use futures::{Stream, StreamExt};
use parking_lot::Mutex;

use crate::rcl_interfaces::msg::{
    ListParametersResult, Parameter as ParameterMessage, ParameterEvent, ParameterValue as ValueMessage,
    SetParametersResult,
};
use crate::rcl_interfaces::srv;
use crate::{Clock, Node, ParameterValue, Publisher, QosProfile, ServiceRequest};

/// Maximum number of names that a request may ask for, and of parameters that it may set: many times those of a node.
/// The node answers besides its work.
const MAX_NAMES: usize = 10_000;
const MAX_SET: usize = 1000;
/// Maximum length of a value that is set, bytes: a node keeps it in memory.
const MAX_VALUE_LEN: usize = 1 << 20;

/// The parameters of a node. Clones share them.
#[derive(Clone)]
pub struct Parameters<P> {
    store: SharedStore,
    current: Arc<Mutex<Arc<P>>>,
}

/// Declares the parameters of `defaults` and `use_sim_time` for `node`, takes the command line's values, and offers the
/// parameter services while the returned future is polled.
///
/// # Errors
/// The command line gives a value that its declaration refuses; an error of the middleware. An undeclared parameter is
/// not an error here: it may be for another node. [`crate::startup`] compares the command line with what the program has.
pub fn declare<P: ParameterSet>(
    node: &mut Node,
    defaults: P,
) -> Result<(Parameters<P>, impl Future<Output = ()> + Send + use<P>), ParameterError> {
    let declarations = defaults.declarations();
    let current = Arc::new(Mutex::new(Arc::new(defaults)));
    let changed = Arc::clone(&current);
    let apply = move |values: &Values| {
        let mut current = changed.lock();
        current.check(values)?;
        Arc::make_mut(&mut current).update(values);
        Ok(())
    };
    let store = SharedStore::new(node, declarations, Box::new(apply))?;
    let server = store.serve(node)?;
    store.announce_all();
    Ok((Parameters { store, current }, server))
}

impl<P: ParameterSet> Parameters<P> {
    /// The current values.
    pub fn read(&self) -> Arc<P> {
        Arc::clone(&self.current.lock())
    }

    /// The names of parameters changed from outside; a name still in the queue is not repeated.
    pub fn changes(&self) -> impl Stream<Item = Cow<'static, str>> + Send + Unpin + use<P> {
        let (listener, changes) = changes::channel();
        self.store.0.lock().listeners.push(listener);
        changes
    }

    /// Changes values, all or none.
    ///
    /// # Errors
    /// The reason of a refusal, for the user.
    pub fn update(&self, change: impl FnOnce(&mut P)) -> Result<(), String> {
        let old = self.read();
        let mut new = P::clone(&old);
        change(&mut new);
        let both = new.declarations().into_iter().zip(old.declarations());
        let changed = both.filter(|(new, old)| new.default != old.default);
        self.set(changed.map(|(new, _)| (new.name.into_owned(), new.default)).collect())
    }

    /// Sets parameters whose names are known at run time only, all or none.
    ///
    /// # Errors
    /// The reason of a refusal, for the user.
    pub fn set(&self, values: Vec<(String, ParameterValue)>) -> Result<(), String> {
        self.store.set(values)
    }
}

/// The declarations and the values by name, for the services.
#[derive(Clone)]
struct SharedStore(Arc<Mutex<Store>>);

struct Store {
    node: String,
    declarations: BTreeMap<Cow<'static, str>, Declaration>,
    values: Values,
    apply: Apply,
    listeners: Vec<changes::Listener>,
    events: Publisher<ParameterEvent>,
    clock: Clock,
}

/// Copies the values to the node's struct, unless they do not go together.
type Apply = Box<dyn FnMut(&Values) -> Result<(), String> + Send>;

/// Users type `2` for a floating-point number, so an integer is accepted there.
fn promoted(value: ParameterValue, default: &ParameterValue) -> ParameterValue {
    #[allow(clippy::cast_precision_loss)]
    match (value, default) {
        (ParameterValue::Integer(value), ParameterValue::Double(_)) => ParameterValue::Double(value as f64),
        (ParameterValue::IntegerArray(values), ParameterValue::DoubleArray(_)) => {
            ParameterValue::DoubleArray(values.into_iter().map(|value| value as f64).collect())
        }
        (value, _) => value,
    }
}

/// Error setting up a node's parameters.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ParameterError {
    /// A value from the command line or a file breaks its declaration.
    #[error("node {node}: {reason}")]
    Refused {
        /// The node's full name.
        node: String,
        /// Parameter, value and violated rule.
        reason: String,
    },
    /// The middleware refused.
    #[error(transparent)]
    Ros(#[from] crate::Error),
}

impl SharedStore {
    fn new(
        node: &mut Node,
        declarations: Vec<Declaration>,
        mut apply: Apply,
    ) -> Result<Self, ParameterError> {
        let text = "Follow the time of /clock instead of the system's.";
        let use_sim_time = Declaration::new("use_sim_time", &false, text);
        let declarations = declarations.into_iter().chain([use_sim_time]);
        let declarations: BTreeMap<_, _> =
            declarations.map(|declared| (declared.name.clone(), declared)).collect();
        let defaults =
            declarations.values().map(|declared| (declared.name.clone(), declared.default.clone()));
        let mut values = Values(defaults.collect());
        let full_name = node.fully_qualified_name()?;
        for (name, given) in node.params.lock().unwrap_or_else(std::sync::PoisonError::into_inner).iter() {
            // A file's /** and -p without a node are for all nodes: unknown parameters may belong to others.
            let Some(declared) = declarations.get(name.as_str()) else {
                tracing::debug!(node = full_name, name, "parameter ignored: not declared");
                continue;
            };
            let value = promoted(given.value.clone(), &declared.default);
            declared
                .check(&value)
                .map_err(|reason| ParameterError::Refused { node: full_name.clone(), reason })?;
            values.0.insert(declared.name.clone(), value);
        }
        // r2r's documentation build has no /clock.
        #[cfg(not(feature = "r2r-doc-only"))]
        if values.0.get("use_sim_time") == Some(&ParameterValue::Bool(true)) {
            node.get_time_source().enable_sim_time(node)?;
        }
        apply(&values).map_err(|reason| ParameterError::Refused { node: full_name.clone(), reason })?;
        Ok(Self(Arc::new(Mutex::new(Store {
            node: full_name,
            declarations,
            values,
            apply,
            listeners: Vec::new(),
            events: node.create_publisher("/parameter_events", QosProfile::parameter_events())?,
            clock: Clock::create(crate::ClockType::SystemTime)?,
        }))))
    }

    fn set(&self, changes: Vec<(String, ParameterValue)>) -> Result<(), String> {
        let mut guard = self.0.lock();
        let store = &mut *guard;
        let mut accepted = Vec::new();
        for (name, value) in changes {
            let declared = store
                .declarations
                .get(name.as_str())
                .ok_or_else(|| format!("parameter '{name}' cannot be set because it was not declared"))?;
            if declared.read_only {
                return Err(format!("parameter '{name}' cannot be set because it is read-only"));
            }
            declared.check(&value)?;
            accepted.push((declared.name.clone(), value));
        }
        let changed: Vec<_> = accepted.iter().map(|(name, value)| message(name, value)).collect();
        let mut values = store.values.clone();
        values.0.extend(accepted.iter().cloned());
        (store.apply)(&values)?;
        store.values = values;
        for (name, value) in accepted {
            tracing::info!(node = store.node, %name, ?value, "parameter set");
            store.listeners.retain(|listener| listener.notify(name.clone()));
        }
        store.publish(ParameterEvent { changed_parameters: changed, ..Default::default() });
        Ok(())
    }

    fn announce_all(&self) {
        let mut store = self.0.lock();
        let new_parameters = store.values.0.iter().map(|(name, value)| message(name, value)).collect();
        store.publish(ParameterEvent { new_parameters, ..Default::default() });
    }

    fn serve(&self, node: &mut Node) -> crate::Result<impl Future<Output = ()> + Send + use<>> {
        let qos = QosProfile::parameters();
        let mut get =
            node.create_service::<srv::GetParameters::Service>("~/get_parameters", qos.clone())?.fuse();
        let mut types = node
            .create_service::<srv::GetParameterTypes::Service>("~/get_parameter_types", qos.clone())?
            .fuse();
        let mut set =
            node.create_service::<srv::SetParameters::Service>("~/set_parameters", qos.clone())?.fuse();
        let mut set_atomically = node
            .create_service::<srv::SetParametersAtomically::Service>(
                "~/set_parameters_atomically",
                qos.clone(),
            )?
            .fuse();
        let mut describe = node
            .create_service::<srv::DescribeParameters::Service>("~/describe_parameters", qos.clone())?
            .fuse();
        let mut list = node.create_service::<srv::ListParameters::Service>("~/list_parameters", qos)?.fuse();
        let store = self.clone();
        Ok(async move {
            loop {
                let answered = futures::select_biased! {
                    request = set.select_next_some() => store.set_each(request),
                    request = set_atomically.select_next_some() => store.set_all(request),
                    request = get.select_next_some() => store.get(request),
                    request = types.select_next_some() => store.types(request),
                    request = describe.select_next_some() => store.describe(request),
                    request = list.select_next_some() => store.list(request),
                    complete => return,
                };
                if let Err(error) = answered {
                    tracing::warn!(%error, "sending a response failed");
                }
            }
        })
    }

    fn get(&self, request: ServiceRequest<srv::GetParameters::Service>) -> crate::Result<()> {
        let store = self.0.lock();
        let value = |name: &str| store.values.0.get(name).map(value_message);
        let values = of_all(&request.message.names, value);
        request.respond(srv::GetParameters::Response { values })
    }

    fn types(&self, request: ServiceRequest<srv::GetParameterTypes::Service>) -> crate::Result<()> {
        let store = self.0.lock();
        let code = |name: &str| store.values.0.get(name).map(type_code);
        let types = of_all(&request.message.names, code);
        request.respond(srv::GetParameterTypes::Response { types })
    }

    fn set_each(&self, request: ServiceRequest<srv::SetParameters::Service>) -> crate::Result<()> {
        let given = &request.message.parameters;
        let results = match check_number(given) {
            Ok(()) => given.iter().map(|one| change(one).and_then(|one| self.set(vec![one]))).collect(),
            Err(reason) => vec![Err(reason)],
        };
        let results = results.into_iter().map(set_result).collect();
        request.respond(srv::SetParameters::Response { results })
    }

    fn set_all(&self, request: ServiceRequest<srv::SetParametersAtomically::Service>) -> crate::Result<()> {
        let given = &request.message.parameters;
        let changes = check_number(given).and_then(|()| given.iter().map(change).collect());
        let result = set_result(changes.and_then(|changes| self.set(changes)));
        request.respond(srv::SetParametersAtomically::Response { result })
    }

    fn describe(&self, request: ServiceRequest<srv::DescribeParameters::Service>) -> crate::Result<()> {
        let store = self.0.lock();
        let descriptor = |name: &str| store.declarations.get(name).map(Declaration::descriptor);
        let descriptors = of_all(&request.message.names, descriptor);
        request.respond(srv::DescribeParameters::Response { descriptors })
    }

    fn list(&self, request: ServiceRequest<srv::ListParameters::Service>) -> crate::Result<()> {
        let srv::ListParameters::Request { prefixes, depth } = &request.message;
        let prefixes = prefixes.get(..MAX_NAMES).unwrap_or(prefixes);
        let store = self.0.lock();
        let names: Vec<String> = store
            .values
            .0
            .keys()
            .filter(|name| is_listed(name, prefixes, *depth))
            .map(|name| name.clone().into_owned())
            .collect();
        let mut prefixes: Vec<String> =
            names.iter().filter_map(|name| Some(name.rsplit_once('.')?.0.to_owned())).collect();
        prefixes.dedup();
        request.respond(srv::ListParameters::Response { result: ListParametersResult { names, prefixes } })
    }
}

impl Store {
    fn publish(&mut self, mut event: ParameterEvent) {
        event.node.clone_from(&self.node);
        event.stamp = Clock::to_builtin_time(&self.clock.get_now().unwrap_or_default());
        if let Err(error) = self.events.publish(&event) {
            tracing::warn!(%error, topic = "/parameter_events", "publishing failed");
        }
    }
}

/// Whether `name` lies below one of `prefixes`, at most `depth` levels deep; 0 is any depth, no prefix is the root.
fn is_listed(name: &str, prefixes: &[String], depth: u64) -> bool {
    let shallow = |rest: &str| depth == 0 || (rest.matches('.').count() as u64) < depth;
    if prefixes.is_empty() {
        return shallow(name);
    }
    prefixes.iter().any(|prefix| match name.strip_prefix(prefix.as_str()) {
        Some("") => true,
        Some(rest) => rest.strip_prefix('.').is_some_and(shallow),
        None => false,
    })
}

fn set_result(result: Result<(), String>) -> SetParametersResult {
    match result {
        Ok(()) => SetParametersResult { successful: true, reason: String::new() },
        Err(reason) => SetParametersResult { successful: false, reason },
    }
}

/// A value for each name. As in rclcpp one that is not declared makes the whole response empty; so do too many.
fn of_all<T>(names: &[String], value: impl Fn(&str) -> Option<T>) -> Vec<T> {
    let are_few = names.len() <= MAX_NAMES;
    are_few.then(|| names.iter().map(|name| value(name)).collect()).flatten().unwrap_or_default()
}

fn check_number(given: &[ParameterMessage]) -> Result<(), String> {
    if given.len() > MAX_SET {
        return Err(format!("more than {MAX_SET} parameters in one request"));
    }
    Ok(())
}

fn change(given: &ParameterMessage) -> Result<(String, ParameterValue), String> {
    let bytes = len(&given.value);
    if bytes > MAX_VALUE_LEN {
        return Err(format!("a value of {bytes} bytes; the maximum is {MAX_VALUE_LEN}"));
    }
    Ok((given.name.clone(), value_of(&given.value)))
}

/// Bytes of a value, about.
fn len(value: &ValueMessage) -> usize {
    let texts: usize = value.string_array_value.iter().map(|text| size_of::<String>() + text.len()).sum();
    let numbers = value.integer_array_value.len() + value.double_array_value.len();
    let bytes = value.byte_array_value.len() + value.bool_array_value.len();
    value.string_value.len() + texts + 8 * numbers + bytes
}

fn message(name: &str, value: &ParameterValue) -> ParameterMessage {
    ParameterMessage { name: name.to_owned(), value: value_message(value) }
}

/// `rcl_interfaces/msg/ParameterType`.
fn type_code(value: &ParameterValue) -> u8 {
    match value {
        ParameterValue::NotSet => 0,
        ParameterValue::Bool(_) => 1,
        ParameterValue::Integer(_) => 2,
        ParameterValue::Double(_) => 3,
        ParameterValue::String(_) => 4,
        ParameterValue::ByteArray(_) => 5,
        ParameterValue::BoolArray(_) => 6,
        ParameterValue::IntegerArray(_) => 7,
        ParameterValue::DoubleArray(_) => 8,
        ParameterValue::StringArray(_) => 9,
    }
}

fn value_message(value: &ParameterValue) -> ValueMessage {
    let mut message = ValueMessage { type_: type_code(value), ..Default::default() };
    match value {
        ParameterValue::NotSet => {}
        ParameterValue::Bool(value) => message.bool_value = *value,
        ParameterValue::Integer(value) => message.integer_value = *value,
        ParameterValue::Double(value) => message.double_value = *value,
        ParameterValue::String(value) => message.string_value.clone_from(value),
        ParameterValue::ByteArray(values) => message.byte_array_value.clone_from(values),
        ParameterValue::BoolArray(values) => message.bool_array_value.clone_from(values),
        ParameterValue::IntegerArray(values) => message.integer_array_value.clone_from(values),
        ParameterValue::DoubleArray(values) => message.double_array_value.clone_from(values),
        ParameterValue::StringArray(values) => message.string_array_value.clone_from(values),
    }
    message
}

fn value_of(message: &ValueMessage) -> ParameterValue {
    match message.type_ {
        1 => ParameterValue::Bool(message.bool_value),
        2 => ParameterValue::Integer(message.integer_value),
        3 => ParameterValue::Double(message.double_value),
        4 => ParameterValue::String(message.string_value.clone()),
        5 => ParameterValue::ByteArray(message.byte_array_value.clone()),
        6 => ParameterValue::BoolArray(message.bool_array_value.clone()),
        7 => ParameterValue::IntegerArray(message.integer_array_value.clone()),
        8 => ParameterValue::DoubleArray(message.double_array_value.clone()),
        9 => ParameterValue::StringArray(message.string_array_value.clone()),
        _ => ParameterValue::NotSet,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_and_values_have_a_bound() {
        let names = |count: usize| vec!["rate".to_owned(); count];
        assert_eq!(of_all(&names(MAX_NAMES), |_| Some(())).len(), MAX_NAMES);
        assert!(of_all(&names(MAX_NAMES + 1), |_| Some(())).is_empty());
        let given = |length: usize| {
            let value = ValueMessage { type_: 4, string_value: "x".repeat(length), ..Default::default() };
            ParameterMessage { name: "name".to_owned(), value }
        };
        assert!(change(&given(MAX_VALUE_LEN)).is_ok());
        let refused = change(&given(MAX_VALUE_LEN + 1)).unwrap_err();
        assert_eq!(refused, "a value of 1048577 bytes; the maximum is 1048576");
        assert!(check_number(&vec![given(0); MAX_SET + 1]).is_err());
    }

    #[test]
    fn lists_know_prefixes_and_depth() {
        let below = |prefix: &str| vec![prefix.to_owned()];
        assert!(is_listed("limits.joint.upper", &[], 0));
        assert!(!is_listed("limits.joint.upper", &[], 2));
        assert!(is_listed("limits.joint.upper", &below("limits"), 2));
        assert!(!is_listed("limits.joint.upper", &below("limits"), 1));
        assert!(!is_listed("limits_other", &below("limits"), 0));
    }
}
