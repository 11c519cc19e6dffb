//! Requests and responses.

use std::time::Duration;

use dragoman_ros::rcl_interfaces::srv::ListParameters;
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{Client, Node, QosProfile};

use super::{node, run, soon, within};

fn repeat(request: ListParameters::Request) -> ListParameters::Response {
    let mut response = ListParameters::Response::default();
    response.result.names = request.prefixes;
    response
}

#[test]
fn each_client_gets_the_answers_to_its_own_requests() {
    let mut server = NodeTasks::new(node("server", "services"));
    server.serve::<ListParameters::Service>("repeat", repeat).unwrap();
    let mut user = node("user", "services");
    let clients: [Client<ListParameters::Service>; 3] =
        [0; 3].map(|_| user.create_client("repeat", QosProfile::services_default()).unwrap());
    let available = clients.each_ref().map(|client| Node::is_available(client).unwrap());
    let _working = [run(server), run(NodeTasks::new(user))];
    for available in available {
        soon(available).unwrap();
    }
    for round in 0..20 {
        // All at once, and the last is awaited first.
        let asked = [0, 1, 2].map(|client: usize| {
            let words = vec![format!("{round} of {client}")];
            let request = ListParameters::Request { prefixes: words.clone(), depth: 0 };
            (words, clients[client].request(&request).unwrap())
        });
        for (words, answer) in asked.into_iter().rev() {
            assert_eq!(soon(answer).unwrap().result.names, words);
        }
    }
}

#[test]
fn an_answer_of_many_datagrams_arrives() {
    let mut server = NodeTasks::new(node("server", "long"));
    server.serve::<ListParameters::Service>("repeat", repeat).unwrap();
    let mut user = node("user", "long");
    let client: Client<ListParameters::Service> =
        user.create_client("repeat", QosProfile::services_default()).unwrap();
    let available = Node::is_available(&client).unwrap();
    let _working = [run(server), run(NodeTasks::new(user))];
    soon(available).unwrap();
    // Slightly more than a datagram of a network card, and several of the loopback interface.
    for count in [1, 40, 60, 3000, 10_000] {
        let prefixes: Vec<String> =
            (0..count).map(|number| format!("a prefix of some length, {number:5}")).collect();
        let request = ListParameters::Request { prefixes: prefixes.clone(), depth: 0 };
        let answer = soon(client.request(&request).unwrap()).unwrap();
        assert_eq!(answer.result.names, prefixes);
    }
}

#[test]
fn a_service_without_a_server_is_not_available() {
    let mut user = node("user", "unserved");
    let client: Client<ListParameters::Service> =
        user.create_client("nothing", QosProfile::services_default()).unwrap();
    let available = Node::is_available(&client).unwrap();
    let _working = run(NodeTasks::new(user));
    assert!(within(Duration::from_millis(600), available).is_none());
}
