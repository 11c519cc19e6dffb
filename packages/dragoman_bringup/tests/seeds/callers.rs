//! Programs in ROS that call random services with random requests.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use dragoman_ros::Node;
use dragoman_ros::introspection::Introspection;
use dragoman_ros::raw::{self, Body, Client};
use dragoman_types::json;
use dragoman_types::schema::{Builtin, ElementType, Field, Primitive, Shape, Structure, Types};
use futures::future::join_all;
use serde_json::{Map, Value};

use super::common::{block_on, context};

/// Name of the stream of random numbers.
const STREAM: &str = "callers";

/// Time for an answer: more than the longest time limit of a protocol.
const ANSWER_TIME: Duration = Duration::from_secs(120);

/// Programs that call at the same time.
const CALLERS: usize = 8;

/// Services that do not belong to a machine, stop its time, or write files of any name.
const LEFT_OUT: [&str; 16] = [
    "/get_parameters",
    "/get_parameter_types",
    "/set_parameters",
    "/set_parameters_atomically",
    "/describe_parameters",
    "/list_parameters",
    "/change_state",
    "/get_state",
    "/get_available_states",
    "/get_available_transitions",
    "/get_transition_graph",
    "/exit",
    "/simulation/pause",
    "/simulation/save",
    "/start_playback",
    "/start_recording",
];

/// Names that the lab knows, and some that it does not.
const NAMES: [&str; 16] = [
    "",
    "World 1",
    "Puma560",
    "Neo",
    "Pioneer3AT",
    "Marvin",
    "pieza",
    "LMS100",
    "uc0",
    "west",
    "middle",
    "north",
    "turtlebot2_widowx",
    "nobody",
    "a\nb\u{1b}[31mc",
    "\u{202e}\u{1f980}",
];

/// Programs in ROS that call the services of machines.
pub(super) struct Callers {
    services: Vec<Service>,
    /// The values of texts in requests.
    texts: &'static [&'static str],
    /// Whether calls are printed.
    is_printed: bool,
    answered: Rc<Cell<u64>>,
    refused: Rc<Cell<u64>>,
    _node: Node,
}

struct Service {
    name: String,
    client: Client,
    request: std::sync::Arc<Structure>,
    response: std::sync::Arc<Structure>,
}

impl Callers {
    /// Callers of all services of machines in this domain.
    pub(super) fn new(domain: u16) -> Self {
        let mut node = Node::create(context(domain), "callers", "").unwrap();
        let mut introspection = Introspection::new(&mut node).unwrap();
        let types = Types::new(vec![Box::new(Builtin::default())]);
        let graph = introspection.graph(&node).unwrap();
        let wanted = graph.services.iter().filter(|service| {
            let of_machine = ["/ranger/", "/apolo/", "/neobotix/", "/player/"];
            of_machine.iter().any(|namespace| service.name.starts_with(namespace))
                && !LEFT_OUT.iter().any(|end| service.name.ends_with(end))
                && !service.name.contains("/_action/")
        });
        let services: Vec<Service> = wanted
            .map(|service| {
                let [request, response] = types.service(&service.type_name).unwrap();
                let client = raw::create_client(&mut node, &service.name, &service.type_name).unwrap();
                Service { name: service.name.clone(), client, request, response }
            })
            .collect();
        assert!(services.len() > 60, "{} services", services.len());
        let is_printed = std::env::var_os("DRAGOMAN_SEED").is_some();
        Self {
            services,
            texts: &NAMES,
            is_printed,
            answered: Rc::default(),
            refused: Rc::default(),
            _node: node,
        }
    }

    pub(super) fn answered(&self) -> u64 {
        self.answered.get()
    }

    pub(super) fn refused(&self) -> u64 {
        self.refused.get()
    }

    /// Calls each service once, with `texts` in every field that is one.
    pub(super) fn call_each_with(&mut self, texts: &'static [&'static str]) {
        self.texts = texts;
        let calls = self.services.iter().map(|service| self.call(service));
        block_on(async { join_all(calls).await });
    }

    /// Calls for `time`, and waits for all answers: each call has one.
    pub(super) fn call_for(&mut self, time: Duration) {
        let callers = (0..CALLERS).map(async |_| {
            let begin = dragoman_time::now();
            while dragoman_time::since(begin) < time {
                let number = dragoman_time::random(STREAM) as usize % self.services.len();
                self.call(&self.services[number]).await;
                dragoman_time::sleep(Duration::from_millis(dragoman_time::random(STREAM) % 1000)).await;
            }
        });
        block_on(async { join_all(callers).await });
    }

    fn log(&self, service: &Service, text: &str) {
        if self.is_printed {
            println!("{:.6} s: {} {text}", dragoman_time::wall_time().as_secs_f64(), service.name);
        }
    }

    async fn call(&self, service: &Service) {
        let request = value(&service.request, self.texts);
        self.log(service, &request.to_string());
        let request = json::to_cdr(&service.request, &request).unwrap();
        let answer = service.client.request(Body::Cdr(request)).unwrap();
        let answer = dragoman_time::timeout(ANSWER_TIME, answer).await;
        let Body::Cdr(answer) =
            answer.unwrap_or_else(|_| panic!("{} does not answer", service.name)).unwrap()
        else {
            panic!("an answer is CDR")
        };
        let text = json::from_cdr(&service.response, &answer).unwrap();
        self.log(service, &format!("answers {text}"));
        let answer: Value = serde_json::from_str(&text).unwrap();
        let count =
            if answer.get("success") == Some(&Value::Bool(false)) { &self.refused } else { &self.answered };
        count.set(count.get() + 1);
    }
}

/// A random value of this type.
fn value(structure: &Structure, texts: &[&str]) -> Value {
    let fields = structure.fields.iter();
    Value::Object(fields.map(|field| (field.name.clone(), of_field(field, texts))).collect::<Map<_, _>>())
}

fn of_field(field: &Field, texts: &[&str]) -> Value {
    let count = match field.shape {
        Shape::Single => return element(&field.kind, texts),
        Shape::Array(count) => count,
        Shape::Sequence(most) => dragoman_time::random(STREAM) as usize % (most.unwrap_or(8).min(8) + 1),
    };
    Value::Array((0..count).map(|_| element(&field.kind, texts)).collect())
}

fn element(kind: &ElementType, texts: &[&str]) -> Value {
    let primitive = match kind {
        ElementType::Structure(structure) => return value(structure, texts),
        ElementType::Primitive(primitive) => *primitive,
    };
    let random = dragoman_time::random(STREAM);
    match primitive {
        Primitive::Bool => Value::Bool(random.is_multiple_of(2)),
        Primitive::String | Primitive::WString => {
            Value::String(texts[random as usize % texts.len()].to_owned())
        }
        Primitive::Float32 | Primitive::Float64 => match random % 16 {
            0 => Value::Null,
            1 => Value::from(1e30),
            2 => Value::from(-1e30),
            3 => Value::from(0.0),
            _ => Value::from(4.0 * dragoman_time::random_unit(STREAM) - 2.0),
        },
        // Small numbers are the meaningful ones.
        _ => Value::from(random % 12),
    }
}
