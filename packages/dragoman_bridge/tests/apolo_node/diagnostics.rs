//! `/diagnostics` of both sides.

use dragoman_bridge::apolo::node::start_client;
use dragoman_ros::diagnostic_msgs::msg::{DiagnosticArray, DiagnosticStatus};
use dragoman_ros::{Context, Node, QosProfile};
use futures::stream::{BoxStream, StreamExt};

use crate::apolo_node::client::request;
use crate::apolo_node::lab::{Lab, TIME_LIMIT, client_context};
use crate::common::{Simulated, block_on};

struct Watch {
    arrays: BoxStream<'static, DiagnosticArray>,
    _node: Node,
}

impl Watch {
    fn new(context: &Context) -> Self {
        let mut node = Node::create(context.clone(), "watch", "").unwrap();
        let arrays = node.subscribe("/diagnostics", QosProfile::default()).unwrap().boxed();
        Self { arrays, _node: node }
    }

    /// The first status for which `holds` is true.
    fn until(&mut self, holds: impl Fn(&DiagnosticStatus) -> bool) -> DiagnosticStatus {
        let arrays = &mut self.arrays;
        let found = async {
            loop {
                let array = arrays.next().await.expect("the stream goes on");
                if let Some(status) = array.status.into_iter().find(&holds) {
                    return status;
                }
            }
        };
        block_on(async { dragoman_time::timeout(TIME_LIMIT, found).await })
            .expect("such a status is published")
    }
}

#[test]
fn the_server_side_reports_refusals_with_reasons() {
    let lab = Lab::start(&[]);
    let mut watch = Watch::new(&lab.context);
    let serving = watch.until(|status| status.level == 0);
    assert_eq!(
        (serving.name.as_str(), serving.message.as_str()),
        ("apolo/apolo: Apolo's protocol", "serving")
    );
    assert_eq!(serving.hardware_id, lab.address.to_string());
    let mut client = lab.client();
    // It is never answered, so the client does not notice the refusal.
    assert_eq!(client.silent(&request(b'P', "", &["nobody"], &[0.0; 6])), 1.5);
    let refused = watch.until(|status| status.level == 1);
    assert_eq!(refused.message, "refused: place \"\" \"nobody\" 0 0 0 0 0 0: there is no 'nobody'");
    let value = |key: &str| refused.values.iter().find(|value| value.key == key).map(|v| v.value.clone());
    assert_eq!((value("clients").as_deref(), value("refused").as_deref()), (Some("1"), Some("1")));
    watch.until(|status| status.level == 0);
}

#[test]
fn the_client_side_reports_its_connection() {
    let lab = Lab::start(&[]);
    let context = client_context(&["robots:=[nobody]"]);
    let mut watch = Watch::new(&context);
    dragoman_time::spawn(start_client(&context, "/apolo", lab.address).unwrap().node);
    let refused = watch.until(|status| status.level == 1);
    assert_eq!(refused.name, "apolo/apolo_client: Apolo");
    assert!(refused.message.starts_with("robot nobody: the server answered F"), "{}", refused.message);
}

#[test]
fn the_client_side_reports_a_missing_connection() {
    let _simulated = Simulated::present();
    let context = client_context(&[]);
    let mut watch = Watch::new(&context);
    dragoman_time::spawn(start_client(&context, "/apolo", ([127, 0, 0, 1], 12000).into()).unwrap().node);
    let status = watch.until(|status| status.level == 2);
    assert_eq!(status.message, "not connected");
}
