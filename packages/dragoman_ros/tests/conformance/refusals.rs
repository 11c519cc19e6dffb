//! Values that make r2r panic are errors here. The embedded implementation sends strings with a NUL.

use dragoman_ros::rcl_interfaces::srv::ListParameters;
use dragoman_ros::std_msgs::msg::String as Text;
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{Client, Context, Node, QosProfile};

use super::{first, node, run, soon, started_with};

#[test]
fn texts_with_a_nul_are_refused_and_the_node_continues() {
    let mut talker = node("talker", "nul");
    let publisher = talker.create_publisher::<Text>("text", QosProfile::default()).unwrap();
    let mut texts = talker.subscribe::<Text>("text", QosProfile::default()).unwrap();
    let mut server = NodeTasks::new(node("server", "nul"));
    server
        .serve::<ListParameters::Service>("repeat", |request| {
            let mut response = ListParameters::Response::default();
            response.result.names = request.prefixes;
            // This response cannot be sent.
            if request.depth == 1 {
                response.result.names.push("not\0fine".into());
            }
            response
        })
        .unwrap();
    let client: Client<ListParameters::Service> =
        talker.create_client("repeat", QosProfile::services_default()).unwrap();
    let available = Node::is_available(&client).unwrap();
    let _working = [run(server), run(NodeTasks::new(talker))];
    soon(available).unwrap();

    let publish = |text: &str| publisher.publish(&Text { data: text.into() });
    assert!(publish("not\0fine").is_err());
    publish("fine").unwrap();
    assert_eq!(first(&mut texts).data, "fine");
    let request = |prefix: &str, depth| ListParameters::Request { prefixes: vec![prefix.into()], depth };
    assert!(client.request(&request("not\0fine", 0)).is_err());
    assert!(soon(client.request(&request("fine", 1)).unwrap()).is_err());
    let answer = soon(client.request(&request("fine", 0)).unwrap()).unwrap();
    assert_eq!(answer.result.names, ["fine"]);
}

#[test]
fn arguments_that_rcl_refuses_are_an_error() {
    let name = "refusals::arguments_that_rcl_refuses_are_an_error";
    if started_with(name, &["-p", "not a parameter"]) {
        let error = Context::create().unwrap_err().to_string();
        assert!(error.contains("not a parameter"), "{error}");
    }
}
