//! Every call of r2r's API that our nodes make, in one place.

use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use dragoman_ros::diagnostics::{Diagnostics, Severity};
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{
    Clock, ClockType, Context, Node, ParameterValue, Publisher, QosProfile, ServiceRequest, diagnostic_msgs,
    geometry_msgs, parameters, rcl_interfaces, sensor_msgs,
};
use futures::StreamExt;
use rcl_interfaces::srv::{DescribeParameters, GetParameters, ListParameters, SetParameters};

use super::{TIMEOUT, first, run, soon};

fn names(node: &Node) -> [String; 3] {
    [node.name().unwrap(), node.namespace().unwrap(), node.fully_qualified_name().unwrap()]
}

parameters! {
    struct ConformanceParameters {
        /// Hz
        rate: f64 = 100.0, in 1.0..=1000.0, settable;
        /// Frame.
        frame: String = "base_link";
    }
}

#[test]
fn the_api_does_what_our_nodes_rely_on() {
    let context = Context::create().unwrap();
    assert!(context.is_valid());
    let mut tasks = NodeTasks::new(Node::create(context.clone(), "conformance", "/lab").unwrap());
    assert_eq!(names(tasks.node()), ["conformance", "/lab", "/lab/conformance"]);
    assert_eq!(tasks.node().logger(), "lab.conformance");

    // Parameters.
    let parameters = tasks.declare(ConformanceParameters::default()).unwrap();
    assert_eq!(parameters.read().rate, 100.0);
    let mut changes = parameters.changes();

    // Topics, timers and the clock.
    let clock: Arc<Mutex<Clock>> = tasks.node().get_ros_clock();
    let poses: Publisher<geometry_msgs::msg::PoseStamped> =
        tasks.node().create_publisher("pose", QosProfile::default().keep_last(1).transient_local()).unwrap();
    tasks
        .every(Duration::from_millis(20), move || {
            let mut pose = geometry_msgs::msg::PoseStamped::default();
            pose.header.stamp = Clock::to_builtin_time(&clock.lock().unwrap().get_now().unwrap());
            poses.publish(&pose).unwrap();
        })
        .unwrap();
    let (sender, received) = mpsc::channel();
    tasks
        .subscribe("/lab/imu", QosProfile::sensor_data(), move |imu: sensor_msgs::msg::Imu| {
            let _ = sender.send(imu);
        })
        .unwrap();
    let mut diagnostics = Diagnostics::new(tasks.node(), "test", "none").unwrap();
    tasks.every(Duration::from_millis(50), move || diagnostics.publish(Severity::Ok, "fine", &[])).unwrap();
    assert_eq!(diagnostic_msgs::msg::DiagnosticStatus::ERROR as u8, Severity::Error as u8);

    // Services, answered at once and later.
    tasks
        .serve::<ListParameters::Service>("prompt", |request| {
            let mut response = ListParameters::Response::default();
            response.result.names = request.prefixes;
            response
        })
        .unwrap();
    let mut requests = tasks
        .node()
        .create_service::<ListParameters::Service>("~/patient", QosProfile::services_default())
        .unwrap();
    let mut timer = tasks.node().create_wall_timer(Duration::from_millis(10)).unwrap();
    tasks.spawn(async move {
        while let Some(request) = requests.next().await {
            let request: ServiceRequest<ListParameters::Service> = request;
            timer.tick().await.unwrap();
            request.respond(ListParameters::Response::default()).unwrap();
        }
    });
    let _serving = run(tasks);

    // The other side.
    let mut node = Node::create(context, "client", "/lab").unwrap();
    let mut poses = node
        .subscribe::<geometry_msgs::msg::PoseStamped>("pose", QosProfile::default().transient_local())
        .unwrap();
    let mut raw = node.subscribe_raw("pose", "geometry_msgs/msg/PoseStamped", QosProfile::default()).unwrap();
    let imus = node.create_publisher::<sensor_msgs::msg::Imu>("imu", QosProfile::sensor_data()).unwrap();
    let prompt =
        node.create_client::<ListParameters::Service>("/lab/prompt", QosProfile::services_default()).unwrap();
    let patient = node
        .create_client::<ListParameters::Service>("/lab/conformance/patient", QosProfile::services_default())
        .unwrap();
    let set = node
        .create_client::<SetParameters::Service>("/lab/conformance/set_parameters", QosProfile::parameters())
        .unwrap();
    let get = node
        .create_client::<GetParameters::Service>("/lab/conformance/get_parameters", QosProfile::parameters())
        .unwrap();
    let describe = node
        .create_client::<DescribeParameters::Service>(
            "/lab/conformance/describe_parameters",
            QosProfile::parameters(),
        )
        .unwrap();
    let available = [
        Box::pin(Node::is_available(&prompt).unwrap()) as std::pin::Pin<Box<dyn Future<Output = _>>>,
        Box::pin(Node::is_available(&patient).unwrap()),
        Box::pin(Node::is_available(&set).unwrap()),
    ];
    let mut spinning = NodeTasks::new(node);
    let topics = spinning.node().get_topic_names_and_types().unwrap();
    assert!(topics.values().all(|types| !types.is_empty()));
    let _client = run(spinning);
    for service in available {
        let ready: dragoman_ros::Result<()> = soon(service);
        ready.unwrap();
    }

    let stamped = first(&mut poses);
    assert!(stamped.header.stamp.sec > 0);
    assert!(first(&mut raw).len() > 4);
    soon(imus.wait_for_inter_process_subscribers().unwrap()).unwrap();
    assert!(imus.get_inter_process_subscription_count().unwrap() > 0);
    imus.publish(&sensor_msgs::msg::Imu::default()).unwrap();
    assert_eq!(received.recv_timeout(TIMEOUT).unwrap().orientation.w, 1.0);

    let request = ListParameters::Request { prefixes: vec!["echo".into()], depth: 0 };
    assert_eq!(soon(prompt.request(&request).unwrap()).unwrap().result.names, ["echo"]);
    assert!(soon(patient.request(&request).unwrap()).unwrap().result.names.is_empty());

    // Values outside a declaration are refused with a reason; allowed ones are published.
    let change = |name: &str, value: f64| {
        let value =
            rcl_interfaces::msg::ParameterValue { type_: 3, double_value: value, ..Default::default() };
        rcl_interfaces::msg::Parameter { name: name.into(), value }
    };
    let changes_asked =
        vec![change("rate", 50.0), change("rate", 0.0), change("nothing", 1.0), change("frame", 1.0)];
    let results =
        soon(set.request(&SetParameters::Request { parameters: changes_asked }).unwrap()).unwrap().results;
    let successes: Vec<bool> = results.iter().map(|result| result.successful).collect();
    assert_eq!(successes, [true, false, false, false]);
    assert!(results[1].reason.contains("between 1 and 1000"), "{}", results[1].reason);
    assert!(results[2].reason.contains("not declared") && results[3].reason.contains("read-only"));
    assert_eq!(parameters.read().rate, 50.0);
    assert_eq!(soon(changes.next()).as_deref(), Some("rate"));
    assert!(matches!(ParameterValue::Double(1.0).try_into(), Ok(1.0_f64)));
    let names = vec!["rate".to_owned(), "frame".to_owned()];
    let values = soon(get.request(&GetParameters::Request { names: names.clone() }).unwrap()).unwrap().values;
    assert_eq!((values[0].double_value, values[1].string_value.as_str()), (50.0, "base_link"));
    let unknown = GetParameters::Request { names: vec!["rate".into(), "nothing".into()] };
    assert!(soon(get.request(&unknown).unwrap()).unwrap().values.is_empty());
    let described = soon(describe.request(&DescribeParameters::Request { names }).unwrap()).unwrap();
    assert_eq!(described.descriptors[0].floating_point_range[0].to_value, 1000.0);
    assert!(described.descriptors[1].read_only);

    let mut steady = Clock::create(ClockType::SteadyTime).unwrap();
    let before = steady.get_now().unwrap();
    std::thread::sleep(Duration::from_millis(5));
    assert!(steady.get_now().unwrap() > before);
}
