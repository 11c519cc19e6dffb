use dragoman_types::schema::{Builtin, Types};

use super::*;
use crate::cbor as binary;
use dragoman_types::json as text;

const NOW: Duration = Duration::from_secs(1);

fn types() -> Types {
    Types::new(vec![Box::new(Builtin::default())])
}

fn sample(number: i64) -> Arc<Sample> {
    let structure = types().message("std_msgs/Int64").unwrap();
    let data = text::to_cdr(&structure, &json!({ "data": number })).unwrap();
    Arc::new(Sample::new("/n".into(), structure, data, Duration::new(7, 8)))
}

fn drain(session: &mut Session) -> Vec<Value> {
    std::iter::from_fn(|| session.poll_frame())
        .flat_map(Outgoing::into_frames)
        .map(|frame| match frame {
            Frame::Text(text) => serde_json::from_str(&text).unwrap(),
            Frame::Binary(bytes) => binary::to_json(&bytes).unwrap(),
        })
        .collect()
}

fn orders(session: &mut Session, frame: &Value) -> Vec<Order> {
    session.handle_text(NOW, &frame.to_string());
    std::iter::from_fn(|| session.poll_order()).collect()
}

fn numbers(frames: &[Value]) -> Vec<i64> {
    frames.iter().map(|frame| frame["msg"]["data"].as_i64().unwrap()).collect()
}

fn subscribed(request: Value) -> Session {
    let mut session = Session::default();
    let mut frame = json!({ "op": "subscribe", "topic": "/n", "type": "std_msgs/Int64" });
    frame.as_object_mut().unwrap().extend(request.as_object().unwrap().clone());
    let order = Order::Subscribe {
        id: request.get("id").cloned(),
        topic: "/n".to_owned(),
        type_name: Some("std_msgs/Int64".to_owned()),
    };
    assert_eq!(orders(&mut session, &frame), [order]);
    session
}

#[test]
fn messages_of_subscribed_topics_are_sent() {
    let mut session = subscribed(json!({}));
    session.handle_sample(NOW, "/n", &sample(5));
    session.handle_sample(NOW, "/other", &sample(6));
    assert_eq!(drain(&mut session), [json!({ "op": "publish", "topic": "/n", "msg": { "data": 5 } })]);
    let ended = orders(&mut session, &json!({ "op": "unsubscribe", "topic": "/n" }));
    assert_eq!(ended, [Order::Unsubscribe { topic: "/n".to_owned() }]);
    session.handle_sample(NOW, "/n", &sample(7));
    assert_eq!(session.poll_frame(), None);
}

#[test]
fn throttled_messages_are_dropped_or_queued() {
    let mut session = subscribed(json!({ "throttle_rate": 100 }));
    for (milliseconds, number) in [(0, 1), (50, 2), (100, 3), (150, 4)] {
        session.handle_sample(NOW + Duration::from_millis(milliseconds), "/n", &sample(number));
    }
    assert_eq!(numbers(&drain(&mut session)), [1, 3]);
    let mut session = subscribed(json!({ "throttle_rate": 100, "queue_length": 2 }));
    for number in 1..=4 {
        session.handle_sample(NOW, "/n", &sample(number));
    }
    assert_eq!(numbers(&drain(&mut session)), [1]);
    assert_eq!(session.poll_timeout(), Some(NOW + Duration::from_millis(100)));
    session.handle_timeout(NOW + Duration::from_millis(100));
    assert_eq!(numbers(&drain(&mut session)), [3]);
    session.handle_timeout(NOW + Duration::from_millis(200));
    assert_eq!((numbers(&drain(&mut session)), session.poll_timeout()), (vec![4], None));
}

#[test]
fn the_most_demanding_of_several_subscriptions_counts() {
    let mut session = subscribed(json!({ "id": "slow", "throttle_rate": 1000 }));
    let fast = json!({ "op": "subscribe", "id": "fast", "topic": "/n" });
    assert_eq!(orders(&mut session, &fast).len(), 1);
    for number in 1..=3 {
        session.handle_sample(NOW, "/n", &sample(number));
    }
    assert_eq!(numbers(&drain(&mut session)), [1, 2, 3]);
    assert_eq!(orders(&mut session, &json!({ "op": "unsubscribe", "topic": "/n", "id": "fast" })), []);
    assert_eq!(orders(&mut session, &json!({ "op": "unsubscribe", "topic": "/n", "id": "slow" })).len(), 1);
}

#[test]
fn messages_come_in_every_compression() {
    for (compression, message) in [
        ("none", json!({ "data": 5 })),
        ("cbor", json!({ "data": 5 })),
        ("cbor-raw", json!({ "secs": 7, "nsecs": 8, "bytes": "AAEAAAUAAAAAAAAA" })),
    ] {
        let mut session = subscribed(json!({ "compression": compression }));
        session.handle_sample(NOW, "/n", &sample(5));
        let expected = json!({ "op": "publish", "topic": "/n", "msg": message });
        assert_eq!(drain(&mut session), [expected], "{compression}");
    }
    let mut session = subscribed(json!({ "compression": "png" }));
    session.handle_sample(NOW, "/n", &sample(5));
    let frames = drain(&mut session);
    let inner = picture::unwrap(frames[0]["data"].as_str().unwrap()).unwrap();
    assert_eq!(inner, r#"{"op":"publish","topic":"/n","msg":{"data":5}}"#);
}

#[test]
fn long_frames_are_sent_in_fragments_and_joined_on_the_way_in() {
    let structure = types().message("std_msgs/String").unwrap();
    let words = "ä b ".repeat(1500);
    let data = text::to_cdr(&structure, &json!({ "data": words })).unwrap();
    let long = Arc::new(Sample::new("/n".into(), structure, data, Duration::new(7, 8)));
    // Fragments are not smaller than 1 KiB, even if the client requests smaller ones.
    let mut session = subscribed(json!({ "fragment_size": 10 }));
    session.handle_sample(NOW, "/n", &long);
    let outgoing = session.poll_frame().unwrap();
    assert_eq!(session.poll_frame(), None, "it is one entry of the queue");
    let frames: Vec<Value> = outgoing
        .into_frames()
        .into_iter()
        .map(|frame| match frame {
            Frame::Text(text) => serde_json::from_str(&text).unwrap(),
            Frame::Binary(_) => panic!("binary"),
        })
        .collect();
    assert!((7..10).contains(&frames.len()) && frames.iter().all(|frame| frame["op"] == "fragment"));
    let text: String = frames.iter().map(|frame| frame["data"].as_str().unwrap()).collect();
    let whole: Value = serde_json::from_str(&text).unwrap();
    assert!(whole == json!({ "op": "publish", "topic": "/n", "msg": { "data": words } }));
    let mut other = Session::default();
    for frame in frames {
        other.handle_text(NOW, &frame.to_string());
    }
    assert!(matches!(other.poll_order(), Some(Order::Publish { topic, .. }) if topic == "/n"));
    session.handle_sample(NOW, "/n", &sample(5));
    assert_eq!(numbers(&drain(&mut session)), [5], "short ones are whole");
}

#[test]
fn requests_become_orders() {
    let mut session = Session::default();
    let call = json!({ "op": "call_service", "id": 7, "service": "/s", "args": [1], "timeout": 2.5, "compression": "cbor" });
    let reply = Reply { id: Some(json!(7)), fragment_size: None, compression: Compression::Cbor };
    let expected = Order::CallService {
        reply: reply.clone(),
        service: "/s".to_owned(),
        type_name: None,
        args: json!([1]),
        timeout: Some(Duration::from_millis(2500)),
    };
    assert_eq!(orders(&mut session, &call), [expected]);
    let [_, response] = types().service("std_srvs/SetBool").unwrap();
    let data = text::to_cdr(&response, &json!({ "success": true, "message": "on" })).unwrap();
    let answered = json!({ "op": "service_response", "id": 7, "service": "/s", "result": true,
        "values": { "success": true, "message": "on" } });
    for compression in [Compression::Cbor, Compression::None] {
        session.service_response(&Reply { compression, ..reply.clone() }, "/s", Ok((&response, &data)));
        assert_eq!(drain(&mut session), std::slice::from_ref(&answered));
    }
    session.service_response(&reply, "/s", Err("it is \"gone\""));
    assert_eq!(
        drain(&mut session),
        [
            json!({ "op": "service_response", "id": 7, "service": "/s", "result": false, "values": "it is \"gone\"" })
        ]
    );
}

#[test]
fn invalid_frames_are_reported_at_the_wanted_level() {
    let mut session = Session::default();
    let invalid = [
        "",
        "[]",
        "{",
        "{}",
        r#"{"op":1}"#,
        r#"{"op":"nothing"}"#,
        r#"{"op":"publish"}"#,
        r#"{"op":"subscribe","topic":"/t","throttle_rate":-1}"#,
        r#"{"op":"subscribe","topic":"/t","compression":"zip"}"#,
        r#"{"op":"fragment","id":"1","num":3,"total":2,"data":""}"#,
        r#"{"op":"png","data":"?"}"#,
    ];
    for frame in invalid {
        session.handle_text(NOW, frame);
        assert_eq!(drain(&mut session)[0]["level"], "error", "{frame}");
        assert_eq!(session.poll_order(), None);
    }
    session.handle_text(NOW, r#"{"op":"nothing","id":"x"}"#);
    let expected =
        json!({ "op": "status", "level": "error", "msg": "nothing: unknown operation", "id": "x" });
    assert_eq!(drain(&mut session), [expected]);
    session.handle_text(NOW, r#"{"op":"set_level","level":"none"}"#);
    session.handle_text(NOW, "{");
    session.handle_binary(NOW, &[0xff]);
    assert_eq!(session.poll_frame(), None);
}

#[test]
fn a_frame_that_is_never_completed_is_dropped_and_reported() {
    let mut session = Session::default();
    let part = json!({ "op": "fragment", "id": "big", "num": 0, "total": 2, "data": "xyz" });
    assert_eq!(orders(&mut session, &part), []);
    let timeout = session.poll_timeout().unwrap();
    session.handle_timeout(timeout);
    let message = "fragment: an incomplete frame is dropped: the next part did not come within 10 s";
    let status = json!({ "op": "status", "level": "error", "msg": message, "id": "big" });
    assert_eq!((drain(&mut session), session.poll_timeout()), (vec![status], None));
    assert_eq!((session.poll_warning().as_deref(), session.poll_warning()), (Some(message), None));
}

#[test]
fn subscriptions_are_bounded_and_those_that_exist_work() {
    let mut session = Session::default();
    let subscribe = |topic: &str, id: Value| json!({ "op": "subscribe", "topic": topic, "id": id });
    for number in 0..500 {
        assert_eq!(orders(&mut session, &subscribe(&format!("/n{number}"), json!(number))).len(), 1);
    }
    assert_eq!(orders(&mut session, &subscribe("/more", json!("x"))), []);
    let message = "subscribe /more: more than 500 topics";
    assert_eq!(drain(&mut session), [json!({ "op": "status", "level": "error", "msg": message, "id": "x" })]);
    session.handle_sample(NOW, "/n7", &sample(5));
    assert_eq!(numbers(&drain(&mut session)), [5]);
    // Several subscriptions to a topic, whose first one has an id already.
    for number in 0..63 {
        assert_eq!(orders(&mut session, &subscribe("/n7", json!(1000 + number))).len(), 1);
    }
    assert_eq!(orders(&mut session, &subscribe("/n7", json!("y"))), []);
    let message = "subscribe /n7: more than 64 subscriptions to it";
    assert_eq!(drain(&mut session), [json!({ "op": "status", "level": "error", "msg": message, "id": "y" })]);
}

#[test]
fn long_ids_and_names_are_refused() {
    let mut session = Session::default();
    let long = "x".repeat(2000);
    for (frame, message) in [
        (json!({ "op": "subscribe", "topic": "/t", "id": long }), "subscribe: 'id' has more than 512 bytes"),
        (json!({ "op": "send_action_goal", "id": [long] }), "send_action_goal: 'id' has more than 512 bytes"),
        (json!({ "op": "subscribe", "topic": long }), "subscribe: 'topic' has more than 1000 bytes"),
    ] {
        assert_eq!(orders(&mut session, &frame), []);
        assert_eq!(drain(&mut session), [json!({ "op": "status", "level": "error", "msg": message })]);
    }
}

#[test]
fn refusals_are_logged_less_and_less_often() {
    let mut session = Session::default();
    let mut logged = Vec::new();
    for _ in 0..100 {
        session.handle_text(NOW, "{");
        logged.extend(session.poll_warning());
    }
    assert_eq!(logged.len(), 8, "{logged:?}");
    assert!(
        logged[0].starts_with("request refused (1): ") && logged[7].starts_with("request refused (64): "),
        "{logged:?}"
    );
}
