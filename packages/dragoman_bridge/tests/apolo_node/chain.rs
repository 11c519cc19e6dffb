//! Client, server side, ROS, client side, second server: the answers are those of the second server alone.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::rc::Rc;
use std::time::Duration;

use dragoman_bridge::apolo::node::{start_client, start_server};
use dragoman_ros::dragoman_msgs::srv::{GetLocation, Place, PlaceXyz};
use dragoman_ros::{Context, Node, QosProfile, WrappedServiceTypeSupport, geometry_msgs};

use crate::apolo_node::client::{ApoloClient, FALSE, request};
use crate::apolo_node::lab::{Lab, TIME_LIMIT, context, until};
use crate::common::{Simulated, block_on};

/// A client side connected to `server`, and a node that calls its services.
struct Ros {
    context: Context,
    node: Node,
    // The last, since the others end in it.
    _simulated: Rc<Simulated>,
}

impl Ros {
    fn start(server: SocketAddr, parameters: &[&str]) -> Self {
        let simulated = Simulated::present();
        let context = context(parameters);
        dragoman_time::spawn(start_client(&context, "/apolo", server).unwrap().node);
        let node = Node::create(context.clone(), "user", "").unwrap();
        Self { context, node, _simulated: simulated }
    }

    fn ask<S: WrappedServiceTypeSupport + 'static>(
        &mut self,
        service: &str,
        request: &S::Request,
    ) -> S::Response {
        let client = self
            .node
            .create_client::<S>(&format!("/apolo/{service}"), QosProfile::services_default())
            .unwrap();
        block_on(async {
            dragoman_time::timeout(TIME_LIMIT, client.request(request).unwrap())
                .await
                .expect("an answer")
                .unwrap()
        })
    }

    fn location(&mut self, object: &str) -> dragoman_ros::dragoman_msgs::srv::GetLocation::Response {
        let request = GetLocation::Request { world: String::new(), object: object.to_owned() };
        self.ask::<GetLocation::Service>("get_location", &request)
    }
}

#[test]
fn a_chain_answers_as_the_server_alone() {
    let lab = Lab::start(&[]);
    let ros = Ros::start(lab.address, &["port:=12001"]);
    let server = start_server(&ros.context, "/apolo", IpAddr::V4(Ipv4Addr::LOCALHOST)).unwrap();
    let address = server.address;
    dragoman_time::spawn(server.node);
    let mut chain = ApoloClient::new(address);
    let mut alone = lab.client();
    let requests = [
        request(b'G', "", &["pieza"], &[]),
        request(b'g', "World 1", &["Neo"], &[]),
        request(b'm', "", &["Neo"], &[0.1, 0.2, 0.1]),
        request(b'm', "", &["Neo"], &[2.0, 0.0, 100.0]),
        request(b'U', "", &[], &[]),
        request(b'o', "", &["Neo"], &[]),
        request(b'R', "", &["Neo"], &[0.1, 0.2, 0.3]),
        request(b'o', "", &["Neo"], &[]),
        request(b'l', "", &["LMS100"], &[]),
        request(b'B', "", &["LMS100"], &[]),
        request(b'u', "", &["uc0"], &[]),
        request(b'd', "", &["Neo"], &[]),
        request(b'p', "", &["Pioneer3AT"], &[0.7, 0.7, 0.0, 0.23]),
        request(b'p', "", &["Pioneer3AT"], &[70.0, 0.7, 0.0, 0.23]),
        request(b'P', "", &["pieza"], &[1.0, 1.0, 1.0, 0.5, 0.0, 0.0]),
        request(b'G', "", &["pieza"], &[]),
        request(b'J', "world1", &["Puma560"], &[0.5, 0.23, -0.1]),
        request(b'j', "world1", &["Puma560"], &[1.5, 0.23, -0.1]),
        request(b'L', "", &["Puma560", "pieza"], &[]),
        request(b'G', "", &["nobody"], &[]),
    ];
    // Each run begins with the same world.
    let script = |client: &mut ApoloClient| {
        client.send(&request(b'P', "", &["Neo"], &[0.0; 6]));
        client.send(&request(b'R', "", &["Neo"], &[0.0; 3]));
        client.send(&request(b'P', "", &["pieza"], &[0.0; 6]));
        requests
            .iter()
            .filter_map(|request| {
                client.send(request);
                (!b"PJURL".contains(&request[4])).then(|| client.answer())
            })
            .collect::<Vec<_>>()
    };
    let expected = script(&mut alone);
    let asked = std::mem::take(&mut lab.world.lock().unwrap().asked);
    assert_eq!(script(&mut chain), expected);
    assert_eq!(expected.last().unwrap(), FALSE);
    assert_eq!(lab.world.lock().unwrap().asked, asked, "the world gets the same calls in the same order");
}

#[test]
fn its_services_are_those_of_a_world() {
    let lab = Lab::start(&[]);
    let mut ros = Ros::start(lab.address, &[]);
    until("the client side connects", || ros.location("pieza").success);
    let position = geometry_msgs::msg::Point { x: 1.0, y: 2.0, z: 3.0 };
    let rpy = geometry_msgs::msg::Vector3 { x: 0.1, y: 0.2, z: 0.3 };
    let (world, object) = (String::new(), "pieza".to_owned());
    let place =
        Place::Request { world: world.clone(), object: object.clone(), position: position.clone(), rpy };
    assert!(ros.ask::<Place::Service>("place", &place).success);
    let location = ros.location("pieza");
    assert_eq!((location.position.y, location.rpy.z, location.found), (2.0, 0.3, true));
    let place = PlaceXyz::Request { world, object, position };
    assert!(ros.ask::<PlaceXyz::Service>("place_xyz", &place).success);
    let location = ros.location("pieza");
    assert_eq!((location.position.z, location.rpy.z), (3.0, 0.0));
    let unknown = ros.location("nobody");
    assert_eq!((unknown.success, unknown.found), (false, false));
    let place = Place::Request {
        position: geometry_msgs::msg::Point { x: f64::NAN, ..Default::default() },
        ..place_of("pieza")
    };
    let refused = ros.ask::<Place::Service>("place", &place);
    assert_eq!((refused.success, refused.found), (false, true));
    assert_eq!(refused.message, "a value is not finite");
}

fn place_of(object: &str) -> Place::Request {
    Place::Request { object: object.to_owned(), ..Default::default() }
}

/// An original server does not answer unknown names.
#[test]
fn a_silent_server_costs_a_second_and_causes_no_wrong_answer() {
    let lab = Lab::start(&["silent_on_unknown:=true"]);
    let mut ros = Ros::start(lab.address, &[]);
    until("the client side connects", || ros.location("pieza").success);
    let start = dragoman_time::now();
    let silent = ros.location("nobody");
    assert_eq!(dragoman_time::since(start), Duration::from_secs(1));
    assert!(!silent.success && silent.message.starts_with("no answer in time"), "{}", silent.message);
    assert!(ros.location("pieza").success, "it has reconnected");
}

#[test]
fn without_a_server_the_services_refuse_until_it_is_back() {
    let address = SocketAddr::from(([127, 0, 0, 1], 12000));
    let mut ros = Ros::start(address, &[]);
    for _ in 0..3 {
        let refused = ros.location("pieza");
        assert_eq!((refused.success, refused.message.as_str()), (false, "not connected to the server"));
    }
    for _ in 0..2 {
        let lab = Lab::start(&[]);
        until("the client side connects", || ros.location("pieza").success);
        drop(lab);
        until("the client side notices", || !ros.location("pieza").success);
    }
}
