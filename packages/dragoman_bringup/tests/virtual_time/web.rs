//! Clients of the console: rosbridge and Foxglove's protocol.

use std::collections::BTreeMap;
use std::time::Duration;

use dragoman_ros::QosProfile;
use dragoman_ros::std_msgs::msg::String as Text;
use dragoman_ros::std_srvs::srv::Trigger;
use futures::StreamExt;
use serde_json::{Value, json};
use tungstenite::{Error, Message};

use crate::common::beside::Beside;
use crate::common::web::{self, Client, get, until_zero};
use crate::common::{Lab, sleep};
use crate::host::now;

/// Time without a sign of a driver after which the console stops what it drives.
const HEARTBEAT: Duration = Duration::from_millis(500);
/// What the network and the console's queues take.
const SLACK: Duration = Duration::from_millis(20);

/// The lab of these tests.
fn lab() -> Lab {
    Lab::only("player,console")
}

/// A client that receives velocity commands.
fn listener(lab: &Lab) -> Client {
    let mut listener = Client::connect(lab.console);
    listener.subscribe("/cmd_vel", "geometry_msgs/Twist");
    listener
}

/// A client that drives, after its first command has arrived.
fn rosbridge_driver(lab: &Lab, listener: &mut Client) -> Client {
    let mut driver = Client::connect(lab.console);
    driver.send(&command(0.1));
    assert_eq!(listener.message("/cmd_vel")["linear"]["x"], 0.1);
    driver
}

/// The same with Foxglove's protocol, and its command.
fn foxglove_driver(lab: &Lab, listener: &mut Client) -> (Client, Message) {
    let (mut driver, forward) = web::foxglove_driver(lab.foxglove);
    driver.socket.send(forward.clone()).unwrap();
    assert_eq!(listener.message("/cmd_vel")["linear"]["x"], 0.1);
    (driver, forward)
}

fn command(speed: f64) -> Value {
    json!({ "op": "publish", "topic": "/cmd_vel", "type": "geometry_msgs/Twist",
        "msg": { "linear": { "x": speed } } })
}

/// Whether it took the time of a heartbeat. The last message may be a ping's answer, received up to a third of that
/// time earlier.
fn is_a_heartbeat(time: Duration) -> bool {
    (HEARTBEAT..HEARTBEAT * 4 / 3 + SLACK).contains(&time)
}

#[test]
fn what_a_lost_client_drives_stops() {
    let lab = lab();
    let mut listener = listener(&lab);
    // The page is closed.
    drop(rosbridge_driver(&lab, &mut listener));
    let closed = until_zero(&mut listener);
    assert!(closed < SLACK, "{closed:?}");
    // It does not answer: this client reads nothing, and so sends no pongs.
    let mut driver = rosbridge_driver(&lab, &mut listener);
    let silent = until_zero(&mut listener);
    assert!(is_a_heartbeat(silent), "{silent:?}");
    // A client that has stopped its robot itself needs no help.
    driver.send(&command(0.1));
    driver.send(&command(0.0));
    until_zero(&mut listener);
    drop(driver);
    listener.send(&command(0.25));
    assert_eq!(listener.message("/cmd_vel")["linear"]["x"], 0.25, "no second zero");
}

#[test]
fn what_a_lost_client_of_foxgloves_protocol_drives_stops() {
    let lab = lab();
    let mut listener = listener(&lab);
    drop(foxglove_driver(&lab, &mut listener));
    let closed = until_zero(&mut listener);
    assert!(closed < SLACK, "{closed:?}");
    let (_silent, _) = foxglove_driver(&lab, &mut listener);
    let silent = until_zero(&mut listener);
    assert!(is_a_heartbeat(silent), "{silent:?}");
}

/// The browser answers pings though its page hangs.
#[test]
fn a_page_that_hangs_stops_what_it_drives() {
    let lab = lab();
    let mut listener = listener(&lab);
    let mut driver = rosbridge_driver(&lab, &mut listener);
    driver.socket.get_mut().set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    listener.socket.get_mut().set_nonblocking(true).unwrap();
    let (start, mut pings) = (now(), 0);
    let stopped = loop {
        match driver.socket.read() {
            Ok(Message::Ping(_)) => pings += 1,
            Err(Error::Io(_)) => {}
            other => panic!("{other:?}"),
        }
        match listener.socket.read() {
            Ok(Message::Text(text)) if text.contains(r#""x":0.0"#) && !text.contains(r#""x":0.1"#) => {
                break now() - start;
            }
            Ok(_) | Err(Error::Io(_)) => {}
            Err(error) => panic!("{error}"),
        }
    };
    assert!(is_a_heartbeat(stopped), "{stopped:?}");
    assert!(pings >= 2, "{pings}");
}

#[test]
fn the_driver_is_known() {
    let lab = lab();
    let mut listener = listener(&lab);
    let driving = || {
        let (_, state) = get(lab.console, "/api/lab", "");
        state.contains(r#""topic":"/cmd_vel""#) && state.contains(r#""moving":true"#)
    };
    assert!(!driving());
    let driver = rosbridge_driver(&lab, &mut listener);
    assert!(driving());
    drop(driver);
    until_zero(&mut listener);
    assert!(!driving());
    let (mut driver, forward) = foxglove_driver(&lab, &mut listener);
    driver.socket.send(forward).unwrap();
    assert!(driving());
}

#[test]
fn long_messages_arrive_in_small_fragments() {
    let lab = lab();
    let (mut listener, mut sender) = (Client::connect(lab.console), Client::connect(lab.console));
    listener.send(
        &json!({ "op": "subscribe", "topic": "/long", "type": "std_msgs/String", "fragment_size": 16 }),
    );
    // Far more fragments than messages may wait.
    let text = "0123456789".repeat(30_000);
    sender.send(
        &json!({ "op": "publish", "topic": "/long", "type": "std_msgs/String", "msg": { "data": text } }),
    );
    let mut whole = String::new();
    loop {
        let fragment = listener.next("fragment");
        whole.push_str(fragment["data"].as_str().unwrap());
        if fragment["num"].as_u64().unwrap() + 1 == fragment["total"].as_u64().unwrap() {
            break;
        }
    }
    let whole: Value = serde_json::from_str(&whole).unwrap();
    assert!(whole["msg"]["data"] == text.as_str());
}

#[test]
fn a_client_that_floods_a_service_delays_only_itself() {
    const CALLS: usize = 400;
    let lab = Lab::start();
    let mut client = Client::connect(lab.console);
    let call = json!({ "op": "call_service", "service": "/mobile_base/get_geometry" });
    (0..CALLS).for_each(|_| client.send(&call));
    for _ in 0..CALLS {
        let response = client.next("service_response");
        assert_eq!(response["result"], true, "{response}");
    }
    let most = lab.simulation().held()["calls of web clients that wait"].most;
    assert!(most <= 4, "{most} at a time");
}

/// A service takes a millisecond for each call, one after the other, and ten clients send theirs as fast as they can.
#[test]
fn clients_that_flood_a_service_do_not_fill_its_queue() {
    let lab = lab();
    let mut beside = Beside::new(lab.domain);
    let mut requests =
        beside.node.create_service::<Trigger::Service>("/slow", QosProfile::services_default()).unwrap();
    dragoman_time::spawn(async move {
        while let Some(request) = requests.next().await {
            dragoman_time::sleep(Duration::from_millis(1)).await;
            request.respond(Trigger::Response::default()).unwrap();
        }
    });
    let mut good = Client::connect(lab.console);
    good.call("/slow", &json!({})).unwrap();
    let call = json!({ "op": "call_service", "service": "/slow", "type": "std_srvs/Trigger" });
    let mut floods: Vec<Client> = (0..10).map(|_| Client::connect(lab.console)).collect();
    floods.iter_mut().for_each(|client| (0..300).for_each(|_| client.send(&call)));
    for _ in 0..5 {
        let asked = now();
        good.call("/slow", &json!({})).unwrap();
        let took = dragoman_time::since(asked);
        // Four of each of the ten are before it, and those of which the service works at eight.
        assert!(took < Duration::from_millis(100), "{took:?}");
        sleep(Duration::from_millis(100));
    }
}

/// Also calls whose request counts as new for a long time.
#[test]
fn calls_end_with_their_client() {
    let lab = lab();
    let mut beside = Beside::new(lab.domain);
    let requests =
        beside.node.create_service::<Trigger::Service>("/silent", QosProfile::services_default()).unwrap();
    dragoman_time::spawn(async move {
        requests.collect::<Vec<_>>().await;
    });
    let mut client = Client::connect(lab.console);
    let call =
        json!({ "op": "call_service", "service": "/silent", "type": "std_srvs/Trigger", "timeout": 100 });
    (0..100).for_each(|_| client.send(&call));
    // It answers no pings, and is lost after twenty.
    sleep(Duration::from_secs(15));
    let waiting = || lab.held().get("calls of web clients that wait").copied();
    assert!(waiting() > Some(40), "{:?}", waiting());
    drop(client);
    sleep(Duration::from_millis(1500));
    assert_eq!(waiting(), None);
}

/// As on r2r, which releases ended endpoints only with their node.
#[test]
fn a_node_on_which_most_has_ended_is_replaced() {
    let lab = Lab::start_with(0, &["up", "--only", "player,console"], &["-p", "console:replaced_after:=8"]);
    let mut beside = Beside::new(lab.domain);
    let latched = QosProfile::default().keep_last(1).transient_local();
    let kept = beside.node.create_publisher::<Text>("/kept", latched).unwrap();
    kept.publish(&Text { data: "once".to_owned() }).unwrap();
    let counted = beside.node.create_publisher::<Text>("/counted", QosProfile::default()).unwrap();

    let nodes = |client: &mut Client| {
        sleep(Duration::from_millis(100));
        let found = client.call("/rosapi/nodes", &json!({})).unwrap();
        let all =
            found["nodes"].as_array().unwrap().iter().filter_map(|name| name.as_str().map(str::to_owned));
        all.filter(|name| name.starts_with("/console_clients")).collect::<Vec<_>>()
    };
    let mut good = Client::connect(lab.console);
    assert_eq!(nodes(&mut good), [""; 0]);
    for topic in ["/kept", "/counted"] {
        good.subscribe(topic, "std_msgs/String");
    }
    assert_eq!(good.message("/kept")["data"], "once");
    assert_eq!(nodes(&mut good), ["/console_clients_1"]);
    good.call("/console/list_parameters", &json!({})).unwrap();
    assert_eq!(nodes(&mut good), ["/console_clients_1", "/console_clients_2"], "calls have their own");

    let mut last = 0;
    for round in 0..4 {
        let mut other = Client::connect(lab.console);
        (0..8).for_each(|number| other.subscribe(&format!("/silent_{round}_{number}"), "std_msgs/String"));
        sleep(Duration::from_millis(100));
        drop(other);
        // Nothing is lost and nothing is doubled, also while the node is replaced.
        for number in last..last + 150 {
            counted.publish(&Text { data: number.to_string() }).unwrap();
            sleep(Duration::from_millis(10));
        }
        let got: Vec<String> = (last..last + 150)
            .map(|_| good.message("/counted")["data"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(got, (last..last + 150).map(|number| number.to_string()).collect::<Vec<_>>());
        last += 150;
        good.call("/console/list_parameters", &json!({})).unwrap();
        assert_eq!(
            nodes(&mut good),
            ["/console_clients_2".to_owned(), format!("/console_clients_{}", round + 3)]
        );
    }
    // What a client offers is on a node of its own.
    let mut other = Client::connect(lab.console);
    for name in ["one", "two"] {
        other.send(
            &json!({ "op": "advertise_service", "service": format!("/{name}"), "type": "std_srvs/Trigger" }),
        );
    }
    assert_eq!(nodes(&mut good).last().map(String::as_str), Some("/console_clients_7"));
    drop(other);
    assert_eq!(nodes(&mut good), ["/console_clients_2", "/console_clients_6"]);
    // What was kept has not come again: this is the next one.
    kept.publish(&Text { data: "twice".to_owned() }).unwrap();
    assert_eq!(good.message("/kept")["data"], "twice");
}

#[test]
fn resources_of_web_clients_are_released() {
    let lab = lab();
    let answers = || Client::connect(lab.console).call("/rosapi/nodes", &json!({})).is_ok();
    assert!(answers());
    sleep(Duration::from_secs(1));
    let (at_rest, tasks) = (lab.held(), lab.simulation().tasks());
    for round in 0..3 {
        let mut clients: Vec<Client> = (0..20).map(|_| Client::connect(lab.console)).collect();
        for (number, client) in clients.iter_mut().enumerate() {
            client.subscribe(&format!("/invented_{round}_{number}"), "std_msgs/String");
            client.subscribe("/diagnostics", "diagnostic_msgs/DiagnosticArray");
            client.send(&json!({ "op": "call_service", "service": "/rosapi/nodes", "id": "never read" }));
            client.send(
                &json!({ "op": "fragment", "id": "half", "num": 0, "total": 2, "data": "x".repeat(100_000) }),
            );
        }
        // Half of a frame, and then nothing.
        let connection = clients[0].socket.get_mut();
        std::io::Write::write_all(connection, &[0x82, 0xfe, 0xff, 0xff, 1, 2, 3, 4, 5]).unwrap();
        sleep(Duration::from_secs(5));
        assert!(lab.held()["connections"] >= 20);
        assert!(answers(), "beside them");
        drop(clients);
        sleep(Duration::from_secs(5));
        assert_eq!(lab.held(), at_rest, "round {round}");
        assert_eq!(lab.simulation().tasks(), tasks, "round {round}");
    }
    let most = lab.simulation().held()["bytes of incomplete web messages"].most;
    assert!(most > 0);
}

/// Beside clients that have subscribed to pictures and do not read, a quick one gets them all.
#[test]
fn slow_clients_lose_messages_and_take_bounded_memory() {
    const PICTURES: &str = "/camera/rgb/image_color";
    let lab = Lab::start();
    let mut quick = Client::connect(lab.console);
    quick.subscribe(PICTURES, "sensor_msgs/Image");
    let mut of_rosbridge: Vec<Client> = (0..3).map(|_| Client::connect(lab.console)).collect();
    of_rosbridge.iter_mut().for_each(|slow| slow.subscribe(PICTURES, "sensor_msgs/Image"));
    let connect = |_| Client::connect_to(lab.foxglove, "/", &[web::FOXGLOVE]).unwrap();
    let mut of_foxglove: Vec<Client> = (0..3).map(connect).collect();
    for slow in &mut of_foxglove {
        let channel = loop {
            let channels = slow.next("advertise")["channels"].take();
            let found = channels.as_array().unwrap().iter().find(|channel| channel["topic"] == PICTURES);
            if let Some(channel) = found {
                break channel["id"].clone();
            }
        };
        let subscription = json!({ "id": 1, "channelId": channel });
        slow.send(&json!({ "op": "subscribe", "subscriptions": [subscription] }));
    }

    for _ in 0..60 {
        quick.message(PICTURES);
    }
    let (_, state) = get(lab.console, "/api/lab", "");
    assert_eq!(state.matches(r#""lost_messages":0"#).count(), 1, "only the quick one loses none: {state}");
    let most = lab.simulation().held()["bytes that wait for web clients"].most;
    assert!(most > 6 * (4 << 20) && most <= 7 * (8 << 20), "{most} bytes");
    // They are served when they read again.
    assert!(matches!(of_rosbridge[0].socket.read(), Ok(Message::Text(_)) | Err(Error::Capacity(_))));
    let is_message = |message| matches!(message, Message::Binary(bytes) if bytes.first() == Some(&1));
    while !is_message(of_foxglove[0].socket.read().unwrap()) {}
}

/// `benches/figures` has a row for the cost.
#[test]
fn the_oldest_incomplete_frames_are_dropped_and_their_senders_informed() {
    let lab = lab();
    let mut good = Client::connect(lab.console);
    let mut greedy: Vec<Client> = (0..40).map(|_| Client::connect(lab.console)).collect();
    let data = "x".repeat(1_000_000);
    for id in 0..8 {
        for client in &mut greedy {
            client
                .send(&json!({ "op": "fragment", "id": id.to_string(), "num": 0, "total": 2, "data": data }));
        }
    }
    // 320 MB were sent, of which 64 MiB are kept: of each client one or two frames.
    for client in &mut greedy {
        let status = client.next("status")["msg"].as_str().unwrap().to_owned();
        assert!(status.contains("the incomplete frames of all clients are too long"), "{status}");
    }
    assert!(good.call("/rosapi/nodes", &json!({})).is_ok());
}

#[test]
fn clients_with_many_subscriptions_leave_room_for_others() {
    let lab = lab();
    let mut greedy: Vec<Client> = (0..5).map(|_| Client::connect(lab.console)).collect();
    let mut refusals = Vec::new();
    for (number, client) in greedy.iter_mut().enumerate() {
        for topic in 0..600 {
            client.subscribe(&format!("/invented_{number}_{topic}"), "std_msgs/String");
        }
        // Executed, and refused, after the subscriptions.
        client.send(&json!({ "op": "advertise", "topic": "/end", "type": "no_package/None" }));
        let mut refused = Vec::new();
        loop {
            let status = client.next("status");
            let message = status["msg"].as_str().unwrap().to_owned();
            if message.starts_with("advertise") {
                break;
            }
            refused.push(message);
        }
        refusals.push(refused);
    }
    let first = refusals[0].first().unwrap();
    assert!(refusals[0].len() == 100 && first.contains("more than 500 topics"), "{first}");
    let mut good = Client::connect(lab.console);
    good.subscribe("/diagnostics", "diagnostic_msgs/DiagnosticArray");
    good.message("/diagnostics");
    assert!(good.call("/rosapi/nodes", &json!({})).is_ok());
    // The bound of all, and shares beyond it.
    let refused: usize = refusals.iter().map(Vec::len).sum();
    assert!((1000..1200).contains(&(5 * 600 - refused)), "{refused} of {} are refused", 5 * 600);
    let reason = "all clients have 1000 topics that are subscribed to: a client may have 32 now";
    assert_eq!(refusals[4].len(), 600 - 32);
    assert!(refusals[4].iter().any(|message| message.ends_with(reason)), "{:?}", refusals[4].first());
}

/// Maximum that is kept for a client, in messages of this length.
const MAX_KEPT: usize = 32;
const LENGTH: usize = 1 << 20;

/// What a lab holds of a kind now.
fn held(lab: &Lab, kind: &str) -> usize {
    lab.simulation().held().get(kind).map_or(0, |figures| figures.now)
}

#[test]
fn the_bytes_of_waiting_calls_are_bounded() {
    let lab = lab();
    let mut client = Client::connect(lab.console);
    client.send(&json!({ "op": "advertise_service", "service": "/never", "type": "rosapi_msgs/TopicType" }));
    let call = json!({ "op": "call_service", "service": "/never", "type": "rosapi_msgs/TopicType",
        "args": { "topic": "x".repeat(LENGTH) } });
    for _ in 1..MAX_KEPT {
        client.send(&call);
        assert_eq!(client.next("call_service")["args"]["topic"].as_str().unwrap().len(), LENGTH);
    }
    client.send(&call);
    let refused = client.next("service_response");
    assert_eq!(refused["values"], "more than 33554432 bytes of calls, latched messages and results");
    // Small ones go on, and another client has a part of its own.
    assert!(client.call("/rosapi/nodes", &json!({})).is_ok());
    let mut other = Client::connect(lab.console);
    other.send(&call);
    client.next("call_service");
    drop((client, other));
    sleep(Duration::from_secs(3));
    assert_eq!(held(&lab, "bytes that are kept for web clients"), 0);
    assert_eq!(held(&lab, "calls of web clients that wait"), 0, "although no call was answered");
}

#[test]
fn latched_messages_have_a_bound() {
    let lab = lab();
    let mut client = Client::connect(lab.console);
    let message = |topic: usize, text: &str| {
        json!({ "op": "publish", "topic": format!("/latched_{topic}"), "type": "std_msgs/String",
            "msg": { "data": text } })
    };
    let text = "x".repeat(LENGTH);
    for topic in 0..MAX_KEPT {
        let name = format!("/latched_{topic}");
        client.send(&json!({ "op": "advertise", "topic": name, "type": "std_msgs/String", "latch": true }));
        // The second one replaces the first.
        client.send(&message(topic, "first"));
        client.send(&message(topic, &text));
    }
    let refused = client.next("status")["msg"].take();
    let reason = "more than 33554432 bytes of calls, latched messages and results";
    assert_eq!(refused, format!("publish /latched_{}: {reason}", MAX_KEPT - 1));
    // What was latched before stays.
    let mut listener = Client::connect(lab.console);
    listener.subscribe("/latched_31", "std_msgs/String");
    assert_eq!(listener.message("/latched_31")["data"], "first");
    client.send(&json!({ "op": "unadvertise", "topic": "/latched_0" }));
    client.send(&message(MAX_KEPT - 1, &text));
    assert_eq!(listener.message("/latched_31")["data"], text.as_str());
    drop(client);
    sleep(Duration::from_secs(5));
    assert_eq!(held(&lab, "bytes that are kept for web clients"), 0);
}

/// The oldest results are removed, because no client may ever request them.
#[test]
fn results_of_a_clients_action_have_a_bound() {
    let lab = lab();
    let (mut server, mut caller) = (Client::connect(lab.console), Client::connect(lab.console));
    let action = ("/follow", "control_msgs/FollowJointTrajectory");
    server.send(&json!({ "op": "advertise_action", "action": action.0, "type": action.1 }));
    sleep(Duration::from_secs(1));
    for number in 0..MAX_KEPT + 8 {
        caller.send(&json!({ "op": "send_action_goal", "id": number, "action": action.0,
            "action_type": action.1, "args": {} }));
        let id = server.next("send_action_goal")["id"].take();
        server
            .send(&json!({ "op": "action_result", "id": id, "action": action.0, "status": 4, "result": true,
            "values": { "error_string": "x".repeat(LENGTH) } }));
        let result = caller.next("action_result");
        assert_eq!(result["values"]["error_string"].as_str().map(str::len), Some(LENGTH), "{number}");
    }
    let kept = held(&lab, "bytes that are kept for web clients");
    assert!((MAX_KEPT - 2) * LENGTH < kept && kept <= MAX_KEPT * LENGTH, "{kept}");
    drop((server, caller));
    sleep(Duration::from_secs(5));
    assert_eq!(held(&lab, "bytes that are kept for web clients"), 0);
}

/// A short text would take many times its length in memory.
#[test]
fn messages_of_many_values_are_refused_in_foxgloves_protocol_too() {
    let lab = lab();
    let (mut client, _) = web::foxglove_driver(lab.foxglove);
    let many = format!(r#"{{ "linear": [{}[]] }}"#, "[],".repeat(1_000_000));
    client.socket.send(Message::binary([&[1, 1, 0, 0, 0], many.as_bytes()].concat())).unwrap();
    let status = client.next("status");
    assert_eq!(status["message"], "publish /cmd_vel: more than 1000000 values", "{status}");
}

/// The answers to a client that sends and does not read are not kept without a limit.
#[test]
fn a_client_that_only_writes_is_disconnected() {
    let lab = lab();
    let mut client = Client::connect(lab.console);
    client.socket.get_mut().set_nonblocking(true).unwrap();
    let call = json!({ "op": "call_service", "service": "/rosapi/topics" }).to_string();
    for sent in 0.. {
        assert!(sent < 100_000, "it is still connected");
        match client.socket.send(Message::text(&*call)) {
            Ok(()) | Err(Error::WriteBufferFull(_)) => {}
            Err(Error::Io(error)) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(_) => break,
        }
        sleep(Duration::from_millis(1));
    }
    sleep(Duration::from_secs(3));
    assert!(lab.simulation().held()["bytes that wait for web clients"].most <= 16 << 20);
    assert_eq!(held(&lab, "bytes that wait for web clients"), 0);
    assert_eq!(held(&lab, "calls of web clients that wait"), 0);
}

/// The lab's time, s since 1970.
fn wall() -> f64 {
    dragoman_time::wall_time().as_secs_f64()
}

/// rosbridge's protocol, 3.3.3; in requests, goals, responses and results as its code does.
#[test]
fn stamps_that_clients_leave_out_are_the_present_time() {
    let lab = lab();
    let (mut listener, mut client) = (Client::connect(lab.console), Client::connect(lab.console));
    let is_now = |message: &Value| {
        let stamp = &message["header"]["stamp"];
        let seconds = stamp["sec"].as_f64().unwrap() + stamp["nanosec"].as_f64().unwrap() * 1e-9;
        assert!((0.0..0.5).contains(&(wall() - seconds)), "{} {message}", wall());
    };
    let stamped = "geometry_msgs/msg/TwistStamped";
    listener.subscribe("/t", stamped);
    client.send(&json!({ "op": "advertise", "topic": "/t", "type": stamped }));
    // One that moved would be followed by a zero.
    let twist = json!({ "linear": { "x": 0 } });
    for message in [
        json!({ "header": { "frame_id": "base" }, "twist": twist }),
        json!({ "twist": twist }),
        json!({ "header": { "stamp": "now" } }),
    ] {
        sleep(Duration::from_secs(2));
        client.send(&json!({ "op": "publish", "topic": "/t", "msg": message }));
        is_now(&listener.message("/t"));
    }
    // A request and its response.
    let plan = ("/plan", "nav_msgs/srv/GetPlan");
    listener.send(&json!({ "op": "advertise_service", "service": plan.0, "type": plan.1 }));
    sleep(Duration::from_secs(1));
    let header = json!({ "header": { "frame_id": "map" } });
    client.send(
        &json!({ "op": "call_service", "service": plan.0, "type": plan.1, "args": { "start": header } }),
    );
    let asked = listener.next("call_service");
    is_now(&asked["args"]["start"]);
    assert_eq!(asked["args"]["goal"]["header"]["stamp"]["sec"], 0, "its header is left out");
    listener.send(&json!({ "op": "service_response", "id": asked["id"], "service": plan.0, "result": true,
        "values": { "plan": { "header": {}, "poses": [header] } } }));
    let plan = client.next("service_response")["values"]["plan"].take();
    is_now(&plan);
    is_now(&plan["poses"][0]);
    // A goal.
    let action = ("/go", "nav2_msgs/action/NavigateToPose");
    listener.send(&json!({ "op": "advertise_action", "action": action.0, "type": action.1 }));
    sleep(Duration::from_secs(1));
    client.send(&json!({ "op": "send_action_goal", "action": action.0, "action_type": action.1, "id": 1,
        "args": { "pose": header } }));
    is_now(&listener.next("send_action_goal")["args"]["pose"]);
}

#[test]
fn a_call_takes_no_longer_than_its_client_asks_for() {
    let lab = lab();
    let mut client = Client::connect(lab.console);
    client.send(&json!({ "op": "advertise_service", "service": "/never", "type": "std_srvs/Trigger" }));
    sleep(Duration::from_secs(1));
    let mut refused = |call: Value| {
        client.send(&call);
        let begun = now();
        let response = client.next("service_response");
        assert_eq!(response["result"], false, "{response}");
        ((now() - begun).as_secs_f64(), response["values"].as_str().unwrap().to_owned())
    };
    let call = |service: &str, timeout: f64| json!({ "op": "call_service", "service": service, "type": "std_srvs/Trigger", "timeout": timeout });
    for (service, timeout, reason) in [
        ("/never", 1.0, "did not answer within 1s"),
        ("/never", 0.1, "did not answer within 100ms"),
        ("/never", 20.0, "did not answer within 20s"),
        ("/nowhere", 0.5, "is not available"),
        ("/nowhere", 10.0, "is not available"),
    ] {
        let (took, words) = refused(call(service, timeout));
        assert!((timeout..timeout + 0.05).contains(&took), "{service} {timeout}: {took}");
        assert!(words.contains(reason), "{words}");
    }
    // Without a requested timeout.
    let (took, _) =
        refused(json!({ "op": "call_service", "service": "/nowhere", "type": "std_srvs/Trigger" }));
    assert!((2.0..2.1).contains(&took), "{took}");
}

/// RFC 6455, 5.5.1 and 7.4.1.
#[test]
fn errors_of_a_web_socket_end_with_a_close_frame() {
    use std::io::Write;
    use tungstenite::protocol::frame::coding::CloseCode;
    let lab = lab();
    let connect = |is_foxglove: bool| {
        if !is_foxglove {
            return Client::connect(lab.console);
        }
        Client::connect_to(lab.foxglove, "/", &[web::FOXGLOVE]).unwrap()
    };
    let closed = |client: &mut Client| loop {
        match client.socket.read() {
            Ok(Message::Close(frame)) => return frame.unwrap(),
            Ok(_) => {}
            Err(error) => panic!("{error}"),
        }
    };
    // Reserved opcode, fragment without a beginning, not UTF-8, 9 MiB.
    let long = [&[0x82, 0xff][..], &(9_u64 << 20).to_be_bytes(), &[0; 4]].concat();
    let cases: [(&[u8], CloseCode, &str); 4] = [
        (&[0x83, 0x80, 0, 0, 0, 0], CloseCode::Protocol, "opcode"),
        (&[0x80, 0x81, 0, 0, 0, 0, b'x'], CloseCode::Protocol, "ontinu"),
        (&[0x81, 0x81, 0, 0, 0, 0, 0xff], CloseCode::Invalid, "UTF-8"),
        (&long, CloseCode::Size, "too long"),
    ];
    for (is_foxglove, (bytes, code, reason)) in
        [false, true].into_iter().flat_map(|is_foxglove| cases.map(|case| (is_foxglove, case)))
    {
        let mut client = connect(is_foxglove);
        client.socket.get_mut().write_all(bytes).unwrap();
        let frame = closed(&mut client);
        assert_eq!(frame.code, code, "{frame}");
        assert!(frame.reason.contains(reason), "{frame}");
    }
    for is_foxglove in [false, true] {
        // The client's own close frame is answered.
        let mut client = connect(is_foxglove);
        client.socket.close(None).unwrap();
        let end = loop {
            if let Err(error) = client.socket.read() {
                break error;
            }
        };
        assert!(matches!(end, Error::ConnectionClosed), "{end}");
    }
}

/// With and without its type, and again as another client.
#[test]
fn every_topic_of_the_lab_can_be_subscribed_to() {
    let lab = Lab::start();
    let _behind = Lab::start_with(0, &["player", "--server", &lab.player.to_string()], &[]);
    sleep(Duration::from_secs(15));
    let mut client = Client::connect(lab.console);
    let topics = client.call("/rosapi/topics", &json!({})).unwrap();
    let list = |key: &str| -> Vec<String> {
        topics[key].as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
    };
    // Of a topic with several types, such as `/cmd_vel`, one can be subscribed to. Those inside of actions have no types of
    // messages.
    let topics: BTreeMap<String, String> = list("topics")
        .into_iter()
        .zip(list("types"))
        .filter(|(name, _)| !name.contains("/_action/"))
        .collect();
    assert!(topics.contains_key("/player/vectormap") && topics.len() > 100, "{topics:?}");
    for with_type in [true, false] {
        let mut client = Client::connect(lab.console);
        for (name, type_name) in &topics {
            let kind = if with_type { json!(type_name) } else { Value::Null };
            client.send(&json!({ "op": "subscribe", "topic": name, "type": kind, "throttle_rate": 100_000 }));
        }
        client.send(&json!({ "op": "call_service", "service": "/rosapi/get_time" }));
        loop {
            let frame = client.receive();
            let has_types = frame["msg"].as_str().is_some_and(|text| text.contains("it has several types"));
            assert!(frame["op"] != "status" || has_types, "{frame}");
            if frame["op"] == "service_response" {
                break;
            }
        }
    }
}
