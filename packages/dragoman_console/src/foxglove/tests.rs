use std::time::Duration;

use dragoman_types::json::to_cdr;
use dragoman_types::schema::Builtin;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::rosbridge::{Frame, Level, Sample};

fn types() -> Types {
    Types::new(vec![Box::new(Builtin::default())])
}

const NUMBER: &str = "std_msgs/msg/Int64";
const SET_BOOL: &str = "std_srvs/srv/SetBool";

fn catalogue(topics: &[&str], services: &[&str]) -> Catalogue {
    let mut catalogue = Catalogue::default();
    update(&mut catalogue, topics, services);
    catalogue
}

fn update(catalogue: &mut Catalogue, topics: &[&str], services: &[&str]) -> Arc<Offered> {
    let nodes = |names: &[&str]| -> Nodes {
        names.iter().map(|name| ((*name).to_owned(), BTreeSet::from(["/node".to_owned()]))).collect()
    };
    let connections =
        Connections { publishers: nodes(topics), subscribers: Nodes::new(), providers: nodes(services) };
    let topics = topics.iter().map(|name| (*name, NUMBER)).collect();
    let services = services.iter().map(|name| (*name, SET_BOOL)).collect();
    Arc::clone(catalogue.update(&types(), &topics, &services, connections))
}

fn sample(topic: &str, number: i64) -> Sample {
    let structure = types().message(NUMBER).unwrap();
    let data = to_cdr(&structure, &json!({ "data": number })).unwrap();
    Sample::new(topic.into(), structure, data, Duration::new(7, 8))
}

/// A client of a server with these topics and services, after the first frames.
fn session(topics: &[&str], services: &[&str]) -> (Session, Catalogue) {
    let catalogue = catalogue(topics, services);
    let mut session = Session::new("jazzy", "1");
    session.handle_offered(catalogue.offered());
    frames(&mut session);
    (session, catalogue)
}

fn frames(session: &mut Session) -> Vec<Frame> {
    std::iter::from_fn(|| session.poll_frame()).map(|outgoing| outgoing.frame).collect()
}

fn texts(session: &mut Session) -> Vec<Value> {
    let text = |frame| match frame {
        Frame::Text(text) => serde_json::from_str(&text).unwrap(),
        Frame::Binary(bytes) => panic!("{bytes:?}"),
    };
    frames(session).into_iter().map(text).collect()
}

fn orders(session: &mut Session, frame: &Value) -> Vec<Order> {
    session.handle_text(&frame.to_string());
    std::iter::from_fn(|| session.poll_order()).collect()
}

/// The one refusal that a frame gets.
fn refusal(session: &mut Session, frame: &Value) -> String {
    assert_eq!(orders(session, frame), []);
    let texts = texts(session);
    let [status] = texts.as_slice() else { panic!("{texts:?}") };
    assert_eq!(status["op"], "status");
    status["message"].as_str().unwrap().to_owned()
}

#[test]
fn a_new_client_receives_what_is_offered() {
    let catalogue = catalogue(&["/n", "/a/_action/status"], &["/s"]);
    let mut session = Session::new("jazzy", "5");
    session.handle_offered(catalogue.offered());
    let greeting = texts(&mut session);
    let [info, channels, services] = greeting.as_slice() else { panic!("{greeting:?}") };
    assert_eq!((&info["op"], &info["metadata"]["ROS_DISTRO"]), (&json!("serverInfo"), &json!("jazzy")));
    assert_eq!((&info["supportedEncodings"], &info["sessionId"]), (&json!(["cdr", "json"]), &json!("5")));
    let channel = json!({ "id": 1, "topic": "/n", "encoding": "cdr", "schemaName": NUMBER,
        "schemaEncoding": "ros2msg", "schema": "int64 data\n" });
    assert_eq!(*channels, json!({ "op": "advertise", "channels": [channel] }));
    let part = |name: &str, schema: &str| {
        let encoding = "ros2msg";
        json!({ "encoding": "cdr", "schemaName": name, "schemaEncoding": encoding, "schema": schema })
    };
    let service = json!({ "id": 2, "name": "/s", "type": SET_BOOL,
        "request": part("std_srvs/srv/SetBool_Request", "bool data\n"),
        "response": part("std_srvs/srv/SetBool_Response", "bool success\nstring message\n") });
    assert_eq!(*services, json!({ "op": "advertiseServices", "services": [service] }));
}

#[test]
fn changes_of_the_graph_are_sent() {
    let (mut session, mut catalogue) = session(&["/n", "/m"], &["/s"]);
    orders(&mut session, &json!({ "op": "subscribe", "subscriptions": [{ "id": 0, "channelId": 1 }] }));
    session.handle_offered(&update(&mut catalogue, &["/n", "/m"], &["/s"]));
    assert_eq!(texts(&mut session), [] as [Value; 0]);
    // `/m` was channel 1, in the order of names.
    session.handle_offered(&update(&mut catalogue, &["/n", "/new"], &[]));
    let frames = texts(&mut session);
    assert_eq!(frames[0], json!({ "op": "unadvertise", "channelIds": [1] }));
    assert_eq!(frames[1], json!({ "op": "unadvertiseServices", "serviceIds": [3] }));
    assert_eq!((&frames[2]["op"], &frames[2]["channels"][0]["topic"]), (&json!("advertise"), &json!("/new")));
    assert_eq!(session.poll_order(), Some(Order::Unsubscribe { topic: "/m".to_owned() }));
    // A topic that comes back has a new number.
    session.handle_offered(&update(&mut catalogue, &["/m"], &[]));
    assert_eq!(texts(&mut session)[1]["channels"][0]["id"], 5);
}

#[test]
fn topics_of_unknown_types_are_left_out_and_reported_once() {
    let mut catalogue = Catalogue::default();
    for _ in 0..2 {
        let topics = BTreeSet::from([("/n", NUMBER), ("/x", "none/msg/Such")]);
        let offered = catalogue.update(&types(), &topics, &BTreeSet::new(), Connections::default());
        assert_eq!(offered.channels.len(), 1);
    }
    assert_eq!(catalogue.poll_error(), Some(SchemaError::Unknown { name: "none/msg/Such".to_owned() }));
    assert_eq!(catalogue.poll_error(), None);
}

#[test]
fn messages_are_sent_with_the_number_of_the_subscription() {
    let (mut session, catalogue) = session(&["/n"], &[]);
    let subscribe = json!({ "op": "subscribe", "subscriptions": [{ "id": 9, "channelId": 1 }] });
    let channel = Arc::clone(&catalogue.offered().channels[&1]);
    assert_eq!(orders(&mut session, &subscribe), [Order::Subscribe { channel }]);
    session.handle_sample("/n", &sample("/n", 5));
    session.handle_sample("/other", &sample("/other", 6));
    let sent = session.poll_frame().unwrap();
    assert!(sent.may_drop);
    let Frame::Binary(bytes) = sent.frame else { panic!("{sent:?}") };
    let time = 7_000_000_008_u64.to_le_bytes();
    assert_eq!(
        &*bytes,
        [&[1, 9, 0, 0, 0][..], &time, &[0, 1, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0]].concat().as_slice()
    );
    assert_eq!(session.poll_frame(), None);
    assert!(refusal(&mut session, &subscribe).contains("in use"));
    let again = json!({ "op": "subscribe", "subscriptions": [{ "id": 10, "channelId": 1 }] });
    assert!(refusal(&mut session, &again).contains("already"));
    let unknown = json!({ "op": "subscribe", "subscriptions": [{ "id": 10, "channelId": 77 }] });
    assert!(refusal(&mut session, &unknown).contains("does not exist"));
    let unsubscribe = json!({ "op": "unsubscribe", "subscriptionIds": [9] });
    assert_eq!(orders(&mut session, &unsubscribe), [Order::Unsubscribe { topic: "/n".to_owned() }]);
    assert!(refusal(&mut session, &unsubscribe).contains("no subscription 9"));
}

#[test]
fn clients_publish_what_they_have_advertised() {
    let (mut session, _) = session(&[], &[]);
    let channel = |id: u32, encoding: &str, type_name: &str| {
        json!({ "op": "advertise",
            "channels": [{ "id": id, "topic": "/t", "encoding": encoding, "schemaName": type_name }] })
    };
    let advertised = orders(&mut session, &channel(3, "cdr", "std_msgs/Int64"));
    let (topic, type_name) = ("/t".to_owned(), NUMBER.to_owned());
    assert_eq!(advertised, [Order::Advertise { channel: 3, topic: topic.clone(), type_name }]);
    session.handle_binary(&[1, 3, 0, 0, 0, 8, 9]);
    let published = Order::Publish { topic: topic.clone(), encoding: Encoding::Cdr, data: vec![8, 9] };
    assert_eq!(session.poll_order(), Some(published));
    assert!(refusal(&mut session, &channel(3, "cdr", NUMBER)).contains("in use"));
    assert!(refusal(&mut session, &channel(4, "protobuf", NUMBER)).contains("use cdr or json"));
    assert!(refusal(&mut session, &channel(4, "json", "Int64")).contains("name of a type"));
    session.handle_binary(&[1, 4, 0, 0, 0]);
    assert!(texts(&mut session)[0]["message"].as_str().unwrap().contains("channel 4 is not advertised"));
    let unadvertise = json!({ "op": "unadvertise", "channelIds": [3] });
    assert_eq!(orders(&mut session, &unadvertise), [Order::Unadvertise { topic }]);
}

#[test]
fn services_are_called_by_number() {
    let (mut session, catalogue) = session(&[], &["/s"]);
    let request = |service: u8, encoding: &[u8]| {
        let length = u8::try_from(encoding.len()).unwrap();
        [&[2, service, 0, 0, 0, 6, 0, 0, 0, length, 0, 0, 0][..], encoding, &[0, 1, 0, 0, 1]].concat()
    };
    session.handle_binary(&request(1, b"cdr"));
    let service = Arc::clone(&catalogue.offered().services[&1]);
    let call = Call { service, id: 6, encoding: Encoding::Cdr };
    let order = Order::Call { call: call.clone(), data: vec![0, 1, 0, 0, 1] };
    assert_eq!(session.poll_order(), Some(order));
    session.call_response(&call, Ok(&[7]));
    let expected = [&[3, 1, 0, 0, 0, 6, 0, 0, 0, 3, 0, 0, 0][..], b"cdr", &[7]].concat();
    assert_eq!(frames(&mut session), [Frame::Binary(expected.into())]);
    session.call_response(&call, Err("no"));
    let failure = json!({ "op": "serviceCallFailure", "serviceId": 1, "callId": 6, "message": "no" });
    assert_eq!(texts(&mut session), [failure]);
    for (service, encoding, reason) in
        [(2, &b"cdr"[..], "service 2 does not exist"), (1, b"xml", "use cdr or json")]
    {
        session.handle_binary(&request(service, encoding));
        assert_eq!(session.poll_order(), None);
        let failure = &texts(&mut session)[0];
        assert_eq!((&failure["op"], &failure["callId"]), (&json!("serviceCallFailure"), &json!(6)));
        assert!(failure["message"].as_str().unwrap().contains(reason), "{failure}");
    }
}

#[test]
fn parameters_assets_and_connections() {
    let (mut session, mut catalogue) = session(&["/n"], &[]);
    let get = json!({ "op": "getParameters", "parameterNames": ["/a.x"], "id": "7" });
    let names = vec!["/a.x".to_owned()];
    assert_eq!(orders(&mut session, &get), [Order::GetParameters { names, id: Some("7".to_owned()) }]);
    let x = Parameter { name: "/a.x".to_owned(), value: Some(json!(2)), kind: Some("float64".to_owned()) };
    let set =
        json!({ "op": "setParameters", "parameters": [{ "name": "/a.x", "value": 2, "type": "float64" }] });
    assert_eq!(orders(&mut session, &set), [Order::SetParameters { parameters: vec![x.clone()], id: None }]);
    session.parameter_values(std::slice::from_ref(&x), Some("7"));
    let values = json!({ "op": "parameterValues", "id": "7",
        "parameters": [{ "name": "/a.x", "value": 2, "type": "float64" }] });
    assert_eq!(texts(&mut session), [values]);
    // Only those that are watched.
    session.handle_parameters(std::slice::from_ref(&x));
    for (names, expected) in [(json!(["/a.y"]), 0), (json!(["/a.x"]), 1), (json!([]), 1)] {
        orders(&mut session, &json!({ "op": "subscribeParameterUpdates", "parameterNames": names }));
        session.handle_parameters(std::slice::from_ref(&x));
        assert_eq!(texts(&mut session).len(), expected, "{names}");
    }
    orders(&mut session, &json!({ "op": "unsubscribeParameterUpdates", "parameterNames": [] }));
    session.handle_parameters(&[x]);
    assert_eq!(session.poll_frame(), None);

    let fetch = json!({ "op": "fetchAsset", "uri": "package://a/b.urdf", "requestId": 4 });
    let uri = "package://a/b.urdf".to_owned();
    assert_eq!(orders(&mut session, &fetch), [Order::FetchAsset { uri, request: 4 }]);
    session.asset(4, Ok(b"<r/>"));
    session.asset(5, Err("no"));
    let expected = [&b"\x04\x04\0\0\0\0\0\0\0\0<r/>"[..], b"\x04\x05\0\0\0\x01\x02\0\0\0no"]
        .map(|b| Frame::Binary(b.into()));
    assert_eq!(frames(&mut session), expected);

    orders(&mut session, &json!({ "op": "subscribeConnectionGraph" }));
    let all = &texts(&mut session)[0];
    assert_eq!(all["publishedTopics"], json!([{ "name": "/n", "publisherIds": ["/node"] }]));
    session.handle_offered(&update(&mut catalogue, &["/m"], &[]));
    let change = texts(&mut session).pop().unwrap();
    assert_eq!(change["removedTopics"], json!(["/n"]));
    assert_eq!(change["publishedTopics"][0], json!({ "name": "/m", "publisherIds": ["/node"] }));
}

#[test]
fn invalid_frames_are_refused() {
    let (mut session, _) = session(&["/n"], &[]);
    for frame in
        [json!(5), json!({}), json!({ "op": "fly" }), json!({ "op": "subscribe", "subscriptions": 5 })]
    {
        assert!(refusal(&mut session, &frame).contains("invalid message"), "{frame}");
    }
    for frame in [&[][..], &[0], &[1, 2], &[2, 1, 0, 0, 0, 1, 0, 0, 0, 255, 255, 255, 255], &[9; 40]] {
        session.handle_binary(frame);
        assert_eq!(texts(&mut session)[0]["level"], 2, "{frame:?}");
    }
    session.status(Level::Info, "x");
    assert_eq!(texts(&mut session), [json!({ "op": "status", "level": 0, "message": "x" })]);
}

proptest! {
    /// For any order of subscriptions and of changes of the graph: the client gets each message once for each
    /// subscription, and ROS is asked for exactly the topics that it has.
    #[test]
    fn subscriptions_follow_the_client_and_the_graph(
        steps in proptest::collection::vec((0..3_u8, 0..4_u32, 0..8_u32), 0..60),
    ) {
        let names = ["/a", "/b", "/c"];
        let (mut session, mut catalogue) = session(&names, &[]);
        let mut in_ros = BTreeSet::new();
        let mut present: Vec<&str> = names.to_vec();
        for (kind, id, other) in steps {
            match kind {
                0 => session.handle_text(
                    &json!({ "op": "subscribe", "subscriptions": [{ "id": id, "channelId": other }] }).to_string(),
                ),
                1 => session
                    .handle_text(&json!({ "op": "unsubscribe", "subscriptionIds": [id] }).to_string()),
                _ => {
                    let chosen = names.into_iter().enumerate().filter(|(i, _)| other >> i & 1 == 1);
                    present = chosen.map(|(_, name)| name).collect();
                    session.handle_offered(&update(&mut catalogue, &present, &[]));
                }
            }
            while let Some(order) = session.poll_order() {
                match order {
                    Order::Subscribe { channel } => prop_assert!(in_ros.insert(channel.topic.clone())),
                    Order::Unsubscribe { topic } => prop_assert!(in_ros.remove(&topic)),
                    other => prop_assert!(false, "{other:?}"),
                }
            }
            frames(&mut session);
            for name in names {
                session.handle_sample(name, &sample(name, 1));
                let expected = usize::from(in_ros.contains(name));
                prop_assert_eq!(frames(&mut session).len(), expected);
                prop_assert!(!in_ros.contains(name) || present.contains(&name));
            }
        }
    }

    #[test]
    fn any_frame_is_handled(texts in proptest::collection::vec(".{0,40}", 0..5), bytes in any::<Vec<u8>>()) {
        let (mut session, _) = session(&["/a"], &["/s"]);
        for text in texts {
            session.handle_text(&text);
        }
        session.handle_binary(&bytes);
    }
}
