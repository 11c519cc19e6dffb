//! Names, and their remapping by the command line.

use std::time::Duration;

use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{Context, Node, QosProfile, parameters, std_msgs};
use futures::StreamExt;

use super::{first, namespace, node, run, soon, started_with, within};

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

parameters! {
    struct ArmParameters {
        /// Hz
        rate: f64 = 1.0, settable;
        /// Frame.
        frame: String = "base", settable;
        /// None.
        gain: f64 = 2.0, settable;
    }
}

#[test]
fn the_command_line_renames_nodes_and_topics_and_sets_parameters() {
    let arguments = "-r __node:=renamed -r __ns:=/elsewhere -r published:=remapped -r renamed:/absolute:=own \
         -p rate:=7.5 -p renamed:frame:=tool -p another:rate:=1.0 -p unknown:=true";
    let words: Vec<&str> = arguments.split_whitespace().collect();
    let test = "names::the_command_line_renames_nodes_and_topics_and_sets_parameters";
    if !started_with(test, &words) {
        return;
    }
    let mut node = Node::create(Context::create().unwrap(), "arm", "/lab").unwrap();
    assert_eq!(node.fully_qualified_name().unwrap(), "/elsewhere/renamed");
    let (values, _server) = parameters::declare(&mut node, ArmParameters::default()).unwrap();
    let values = values.read();
    assert_eq!((values.rate, values.gain), (7.5, 2.0));
    assert_eq!(values.frame, "tool");

    let qos = || QosProfile::default().transient_local();
    let publishers = ["published", "/absolute"]
        .map(|name| node.create_publisher::<std_msgs::msg::String>(name, qos()).unwrap());
    let mut streams = ["/elsewhere/remapped", "/elsewhere/own"]
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

#[test]
fn the_command_line_decides_on_the_quality_of_service() {
    let arguments = "-r state:=published \
         -p talker:qos_overrides./elsewhere/published.publisher.durability:=transient_local \
         -p talker:qos_overrides./elsewhere/published.publisher.depth:=2 \
         -p late:qos_overrides./elsewhere/published.subscription.durability:=transient_local \
         -p qos_overrides./elsewhere/bad.publisher.depth:=many";
    let words: Vec<&str> = arguments.split_whitespace().collect();
    if !started_with("names::the_command_line_decides_on_the_quality_of_service", &words) {
        return;
    }
    let context = Context::create().unwrap();
    let mut talker = Node::create(context.clone(), "talker", "/elsewhere").unwrap();
    let publisher = talker.create_publisher::<std_msgs::msg::String>("state", QosProfile::default()).unwrap();
    for data in ["first", "second", "third"] {
        publisher.publish(&std_msgs::msg::String { data: data.into() }).unwrap();
    }
    let refused = talker.create_publisher::<std_msgs::msg::String>("bad", QosProfile::default());
    let error = refused.err().unwrap().to_string();
    assert!(error.contains("qos_overrides./elsewhere/bad.publisher.depth"), "{error}");

    // The publisher keeps its message for late subscribers: one requests it by its parameters, the other does not.
    let mut late = Node::create(context.clone(), "late", "/elsewhere").unwrap();
    let mut kept = late.subscribe::<std_msgs::msg::String>("state", QosProfile::default()).unwrap();
    let mut other = Node::create(context, "other", "/elsewhere").unwrap();
    let mut fresh = other.subscribe::<std_msgs::msg::String>("state", QosProfile::default()).unwrap();
    let _working = [talker, late, other].map(|node| run(NodeTasks::new(node)));
    assert_eq!([first(&mut kept).data, first(&mut kept).data], ["second", "third"]);
    let publish = || publisher.publish(&std_msgs::msg::String { data: "last".into() }).unwrap();
    let last = std::iter::repeat_with(|| {
        publish();
        within(Duration::from_millis(100), fresh.next())
    });
    assert_eq!(last.take(200).flatten().next().unwrap().unwrap().data, "last");
}
