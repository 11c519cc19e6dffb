//! Names, and what the command line makes of them.

use dragoman_ros::parameters::{self, Declaration};
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{Context, Node, QosProfile, std_msgs};

use super::{first, namespace, node, run, soon, started_with};

#[test]
fn names_are_relative_private_or_absolute() {
    let mut node = node("talker", "names");
    let qos = || QosProfile::default().transient_local();
    let names = ["plain", "~/private", "below/it"];
    let publishers = names.map(|name| {
        let publisher = node.create_publisher::<std_msgs::msg::String>(name, qos()).unwrap();
        publisher.publish(&std_msgs::msg::String { data: name.into() }).unwrap();
        publisher
    });
    let full = ["plain", "talker/private", "below/it"].map(|name| format!("{}/{name}", namespace("names")));
    let mut streams = full.map(|name| node.subscribe::<std_msgs::msg::String>(&name, qos()).unwrap());
    assert!(node.create_publisher::<std_msgs::msg::String>("no name", qos()).is_err());
    let _working = run(NodeTasks::new(node));
    assert_eq!(streams.each_mut().map(|stream| first(stream).data), names);
    drop(publishers);
}

#[test]
fn the_command_line_renames_nodes_and_topics_and_sets_parameters() {
    let arguments = "-r __node:=renamed -r __ns:=/elsewhere -r told:=heard -r renamed:/absolute:=own \
         -p rate:=7.5 -p renamed:frame:=tool -p another:rate:=1.0 -p unknown:=true";
    let words: Vec<&str> = arguments.split_whitespace().collect();
    let test = "names::the_command_line_renames_nodes_and_topics_and_sets_parameters";
    if !started_with(test, &words) {
        return;
    }
    let mut node = Node::create(Context::create().unwrap(), "arm", "/lab").unwrap();
    assert_eq!(node.fully_qualified_name().unwrap(), "/elsewhere/renamed");
    let declarations = vec![
        Declaration::new("rate", 1.0, "Hz"),
        Declaration::new("frame", "base", "Frame."),
        Declaration::new("gain", 2.0, "None."),
    ];
    let (values, _server) = parameters::declare(&mut node, declarations).unwrap();
    assert_eq!((values.value::<f64>("rate"), values.value::<f64>("gain")), (7.5, 2.0));
    assert_eq!(values.value::<String>("frame"), "tool");

    let qos = || QosProfile::default().transient_local();
    let publishers = ["told", "/absolute"]
        .map(|name| node.create_publisher::<std_msgs::msg::String>(name, qos()).unwrap());
    let mut streams = ["/elsewhere/heard", "/elsewhere/own"]
        .map(|name| node.subscribe::<std_msgs::msg::String>(name, qos()).unwrap());
    let subscribed =
        publishers.each_ref().map(|publisher| publisher.wait_for_inter_process_subscribers().unwrap());
    let _working = run(NodeTasks::new(node));
    for subscribed in subscribed {
        soon(subscribed).unwrap();
    }
    for (publisher, data) in publishers.iter().zip(["relative", "absolute"]) {
        publisher.publish(&std_msgs::msg::String { data: data.into() }).unwrap();
    }
    assert_eq!(streams.each_mut().map(|stream| first(stream).data), ["relative", "absolute"]);
}
