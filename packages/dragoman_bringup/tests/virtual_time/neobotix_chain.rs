//! Server side against client side: the lab's platform in one program, `dragoman neobotix` connected to its port in
//! another program and another ROS domain. Both domains publish the same data, and commands in the second move the
//! first.

use std::any::Any;
use std::collections::HashMap;
use std::time::Duration;

use crate::common::beside::Beside;
use crate::common::{Folder, Lab, block_on};
use crate::host::{now, sleep};
use dragoman_ros::dragoman_msgs::msg::PlatformStatus;
use dragoman_ros::dragoman_msgs::srv::{
    GetLocationMRobot, PlatformGetDocument, PlatformGetParameter, PlatformGetParameters, PlatformGetPosition,
    PlatformGetStatus, PlatformMoveToStation, PlatformMoveVelocity, PlatformSetDocument, PlatformSetMode,
    PlatformSetParameter,
};
use dragoman_ros::geometry_msgs::msg::{Point32, Quaternion, Twist};
use dragoman_ros::nav_msgs::msg::{OccupancyGrid, Odometry, Path};
use dragoman_ros::sensor_msgs::msg::{BatteryState, LaserScan};
use dragoman_ros::std_srvs::srv::Trigger;
use dragoman_ros::tf2_msgs::msg::TFMessage;
use dragoman_ros::{Client, Node, QosProfile, WrappedServiceTypeSupport};
use futures::FutureExt;
use futures::stream::{BoxStream, StreamExt};

/// Domains of the lab and of the client side.
const NEAR: u16 = 1;
const FAR: u16 = 2;
/// Timeout of an answer.
const TIME_LIMIT: Duration = Duration::from_secs(30);
/// Timeout of a motion through the lab.
const JOURNEY: Duration = Duration::from_secs(15);

/// The lab, and its platform behind the protocol.
struct Chain {
    /// In the lab's domain.
    near: Operator,
    /// In the client side's domain.
    far: Operator,
    _lab: Lab,
    _client: Lab,
    folder: Folder,
}

/// A node that keeps its clients: hundreds of requests are made here.
struct Operator {
    beside: Beside,
    clients: HashMap<String, Box<dyn Any>>,
}

impl Operator {
    fn new(domain: u16) -> Self {
        Self { beside: Beside::new(domain), clients: HashMap::new() }
    }

    #[track_caller]
    fn call<S: WrappedServiceTypeSupport + 'static>(
        &mut self,
        name: &str,
        request: S::Request,
    ) -> S::Response {
        if !self.clients.contains_key(name) {
            let client = self.beside.node.create_client::<S>(name, QosProfile::services_default()).unwrap();
            let found = block_on(async {
                dragoman_time::timeout(TIME_LIMIT, Node::is_available(&client).unwrap()).await
            });
            assert!(found.is_ok(), "{name} is not there");
            self.clients.insert(name.to_owned(), Box::new(client));
        }
        let client: &Client<S> = self.clients[name].downcast_ref().unwrap();
        let answer = client.request(&request).unwrap();
        let answered = block_on(async { dragoman_time::timeout(TIME_LIMIT, answer).await });
        answered.unwrap_or_else(|_| panic!("{name} does not answer")).unwrap()
    }
}

impl Chain {
    fn new() -> Self {
        let folder = Folder::new();
        let data = format!("platform:data_folder:={}", folder.0.display());
        let arguments = ["-p", "platform:base_battery:=/battery", "-p", &data];
        let lab = Lab::start_with(NEAR, &["up", "--only", "apolo,neobotix"], &arguments);
        let server = lab.neobotix[0].to_string();
        let arguments = [
            "-p",
            "neobotix_client:laser_pose:=[0.4, 0.0, 0.0]",
            "-p",
            "neobotix_client:map_period:=0.5",
            "-p",
            "neobotix_client:initialize_timeout:=3.0",
        ];
        let client = Lab::start_with(FAR, &["neobotix", "--server", &server], &arguments);
        let (near, far) = (Operator::new(lab.domain), Operator::new(client.domain));
        let mut chain = Self { near, far, _lab: lab, _client: client, folder };
        // Data of the base must have been received.
        chain.until("the platform is initialized", |chain| {
            chain.order("connect_to_pltf").is_ok() && chain.order("init_pltf").is_ok()
        });
        chain
    }

    #[track_caller]
    fn until(&mut self, what: &str, mut holds: impl FnMut(&mut Self) -> bool) {
        let end = now() + JOURNEY;
        while !holds(self) {
            assert!(now() < end, "{what}: {:?}", self.statuses());
            sleep(Duration::from_millis(50));
        }
    }

    /// Calls a service of the client side.
    #[track_caller]
    fn call<S: WrappedServiceTypeSupport + 'static>(
        &mut self,
        name: &str,
        request: S::Request,
    ) -> S::Response {
        self.far.call::<S>(&format!("/neobotix/{name}"), request)
    }

    /// Calls a service of the platform itself, and of the client side.
    #[track_caller]
    fn both<S: WrappedServiceTypeSupport + 'static>(
        &mut self,
        name: &str,
        request: S::Request,
    ) -> [S::Response; 2]
    where
        S::Request: Clone,
    {
        let name = format!("/neobotix/{name}");
        [self.near.call::<S>(&name, request.clone()), self.far.call::<S>(&name, request)]
    }

    #[track_caller]
    fn order(&mut self, name: &str) -> Result<(), String> {
        let answer = self.call::<Trigger::Service>(name, Trigger::Request::default());
        if answer.success { Ok(()) } else { Err(answer.message) }
    }

    #[track_caller]
    fn set_mode(&mut self, mode: u8) -> Result<(), String> {
        let answer = self.call::<PlatformSetMode::Service>("set_mode", PlatformSetMode::Request { mode });
        if answer.success { Ok(()) } else { Err(answer.message) }
    }

    #[track_caller]
    fn statuses(&mut self) -> [PlatformStatus; 2] {
        self.both::<PlatformGetStatus::Service>("get_status", Default::default()).map(|answer| {
            assert!(answer.success, "{}", answer.message);
            answer.status
        })
    }

    /// Compares the status of both sides, of a platform that stands: they are asked one after the other.
    #[track_caller]
    fn same_picture(&mut self) {
        let mut before = self.statuses();
        self.until("it stands", |chain| {
            let now = chain.statuses();
            let rests = before.iter().zip(&now).all(|(before, now)| {
                now.translation_velocity == 0.0
                    && now.rotation_velocity == 0.0
                    && (now.gyro_angle - before.gyro_angle).abs() < 5e-5
            });
            before = now;
            rests
        });
        same_status(self.statuses());
    }

    fn far_status(&mut self) -> PlatformStatus {
        self.call::<PlatformGetStatus::Service>("get_status", Default::default()).status
    }

    /// True pose of the platform: x, y, heading.
    fn truth(&mut self) -> [f64; 3] {
        let request =
            GetLocationMRobot::Request { robot: "neobotix_platform".to_owned(), ..Default::default() };
        let answer = self.near.call::<GetLocationMRobot::Service>("/apolo/get_location_m_robot", request);
        assert!(answer.success, "{}", answer.message);
        [answer.position.x, answer.position.y, answer.yaw]
    }

    /// Pose of the base in the map by the transforms: x, y, heading; in the lab's and in the client side's domain.
    fn placed(&mut self) -> [[f64; 3]; 2] {
        [&mut self.near.beside, &mut self.far.beside].map(|beside| {
            let mut transforms = beside.subscribe::<TFMessage>("/tf");
            let mut place = |child: &str| loop {
                let message = beside.next(child, &mut transforms);
                let known =
                    message.transforms.into_iter().find(|transform| transform.child_frame_id == child);
                if let Some(found) = known {
                    let shift = found.transform.translation;
                    break ([shift.x, shift.y, heading(&found.transform.rotation)], found.header.frame_id);
                }
            };
            let ([x, y, turn], map) = place("neobotix/odom");
            let ([dx, dy, more], odom) = place("neobotix/base_footprint");
            assert_eq!([map.as_str(), odom.as_str()], ["map", "neobotix/odom"]);
            let (sin, cos) = turn.sin_cos();
            [x + cos * dx - sin * dy, y + sin * dx + cos * dy, turn + more]
        })
    }
}

/// The last message received after this call.
fn newest<T>(messages: &mut BoxStream<'static, T>) -> Option<T> {
    std::iter::from_fn(|| messages.next().now_or_never().flatten()).last()
}

fn heading(turn: &Quaternion) -> f64 {
    2.0 * turn.z.atan2(turn.w)
}

#[track_caller]
fn near(what: &str, a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance, "{what}: {a} and {b}");
}

#[track_caller]
fn near_angle(what: &str, a: f64, b: f64, tolerance: f64) {
    near(what, (a - b).sin().atan2((a - b).cos()), 0.0, tolerance);
}

/// Most of `found` are also in `known`: the laser is noisy, and each side has another scan.
#[track_caller]
fn same_points(what: &str, known: &[Point32], found: &[Point32], tolerance: f32) {
    let away = |a: &Point32, b: &Point32| (a.x - b.x).hypot(a.y - b.y);
    let seen = found.iter().filter(|point| known.iter().any(|other| away(point, other) < tolerance)).count();
    assert!(
        known.len().abs_diff(found.len()) <= 5 + known.len() / 50 && seen * 100 >= found.len() * 97,
        "{what}: {} and {}, {seen} alike",
        known.len(),
        found.len()
    );
}

/// Compares all fields of the status of a platform at rest: exactly, except those measured again each time.
#[track_caller]
fn same_status([a, b]: [PlatformStatus; 2]) {
    for (what, one, other) in
        [("commanded", &a.commanded, &b.commanded), ("estimated", &a.estimated, &b.estimated)]
    {
        near(what, one.x, other.x, 0.01);
        near(what, one.y, other.y, 0.01);
        near_angle(what, one.theta, other.theta, 0.01);
    }
    for (what, one, other, tolerance) in [
        ("principal deviation", a.principal_deviation, b.principal_deviation, 0.01),
        ("minor deviation", a.minor_deviation, b.minor_deviation, 0.01),
        ("heading's deviation", a.heading_deviation, b.heading_deviation, 0.01),
        ("translation", a.translation_velocity, b.translation_velocity, 0.0005),
        ("rotation", a.rotation_velocity, b.rotation_velocity, 0.0005),
        ("head", a.head_angle, b.head_angle, 0.01),
        ("gyro", a.gyro_angle, b.gyro_angle, 1e-4),
        ("latitude", a.latitude, b.latitude, 0.0),
        ("longitude", a.longitude, b.longitude, 0.0),
    ] {
        near(what, one, other, tolerance);
    }
    same_points("scan", &a.scan, &b.scan, 0.1);
    assert!(a.scan.len() > 100, "{}", a.scan.len());
    same_points("path", &a.path, &b.path, 0.01);
    same_points("reflectors", &a.reflectors, &b.reflectors, 0.05);
    assert!(!a.reflectors.is_empty());
    let own = |status: PlatformStatus| PlatformStatus {
        commanded: Default::default(),
        estimated: Default::default(),
        principal_deviation: 0.0,
        minor_deviation: 0.0,
        heading_deviation: 0.0,
        principal_axis: 0.0,
        translation_velocity: 0.0,
        rotation_velocity: 0.0,
        head_angle: 0.0,
        gyro_angle: 0.0,
        acceleration: Vec::new(),
        scan: Vec::new(),
        lines: Vec::new(),
        // Found in the lines, which are noisy.
        corners: Vec::new(),
        reflectors: Vec::new(),
        path: Vec::new(),
        ..status
    };
    let (mut a, mut b) = (own(a), own(b));
    let seconds = |status: &PlatformStatus| f64::from(status.header.stamp.sec);
    near("stamps", seconds(&a), seconds(&b), 30.0);
    (a.header.stamp, b.header.stamp) = Default::default();
    assert_eq!(a, b);
}

#[test]
fn both_sides_give_the_same_picture_and_the_guide_s_story_works_through_them() {
    let mut chain = Chain::new();
    let mut batteries = [&mut chain.near.beside, &mut chain.far.beside]
        .map(|beside| beside.subscribe::<BatteryState>("/neobotix/battery_state"));
    let battery = BatteryState { voltage: 25.5, percentage: 0.7, ..Default::default() };
    let mut voltages = [None; 2];
    chain.until("the battery's voltage in both", |chain| {
        chain.near.beside.publish("/battery", &battery);
        for (voltage, messages) in voltages.iter_mut().zip(&mut batteries) {
            *voltage = newest(messages).map(|battery| battery.voltage).or(*voltage);
        }
        voltages == [Some(25.5); 2]
    });

    // The guide's session, in the second domain.
    chain.set_mode(4).unwrap();
    chain.order("start").unwrap();
    assert!(chain.set_mode(3).is_err(), "only a platform that is ready does");
    chain.until("the platform knows where it is", |chain| !chain.far_status().localization_lost);
    chain.same_picture();

    let mut odometries = [&mut chain.near.beside, &mut chain.far.beside]
        .map(|beside| beside.subscribe::<Odometry>("/neobotix/odom"));
    let start = chain.truth();
    let request = PlatformMoveToStation::Request { station: "middle".to_owned() };
    let answer = chain.call::<PlatformMoveToStation::Service>("move_to_station", request);
    assert!(answer.success, "{}", answer.message);
    chain.until("it drives", |chain| {
        let [x, y, _] = chain.truth();
        (x - start[0]).hypot(y - start[1]) > 0.3
    });
    for (beside, odometries) in [&chain.near.beside, &chain.far.beside].into_iter().zip(&mut odometries) {
        let drives = |odometry: &Odometry| odometry.twist.twist.linear.x > 0.05;
        let odometry = beside.find("odometry of a platform that drives", odometries, drives);
        let frames = (odometry.header.frame_id.as_str(), odometry.child_frame_id.as_str());
        assert_eq!(frames, ("neobotix/odom", "neobotix/base_footprint"));
    }
    chain.order("break").unwrap();
    chain.until("it stands", |chain| chain.far_status().translation_velocity == 0.0);
    // The rest of the path, point by point.
    let mut paths = [&mut chain.near.beside, &mut chain.far.beside]
        .map(|beside| beside.latched::<Path>("/neobotix/path"));
    let mut last: [Option<Path>; 2] = [None, None];
    chain.until("the same path in both", |_chain| {
        for (path, messages) in last.iter_mut().zip(&mut paths) {
            *path = newest(messages).or(path.take());
        }
        let [known, bridged] = last.each_ref().map(|path| path.as_ref().map_or(0, |path| path.poses.len()));
        known > 1 && known == bridged
    });
    let [known, bridged] = last.map(Option::unwrap);
    assert_eq!([known.header.frame_id.as_str(), bridged.header.frame_id.as_str()], ["map"; 2]);
    for (index, (a, b)) in known.poses.iter().zip(&bridged.poses).enumerate() {
        near("x of the way", a.pose.position.x, b.pose.position.x, 0.01);
        near("y of the way", a.pose.position.y, b.pose.position.y, 0.01);
        // The protocol does not transmit the direction at the goal.
        if index + 1 < known.poses.len() {
            let turns = [a, b].map(|pose| heading(&pose.pose.orientation));
            near_angle("direction of the way", turns[0], turns[1], 0.1);
        }
    }
    chain.same_picture();

    chain.order("continue").unwrap();
    chain.until("it is there", |chain| chain.far_status().target_reached);
    let [x, y, turn] = chain.truth();
    let (away, wrong) = ((x - 1.0).hypot(y - 3.0), (turn - 170_f64.to_radians()).sin().asin().abs());
    assert!(away < 0.02 && wrong < 1_f64.to_radians(), "{x} {y} {turn}");
    chain.same_picture();
    let [known, bridged] = chain.placed();
    near("x of the base", known[0], bridged[0], 0.03);
    near("y of the base", known[1], bridged[1], 0.03);
    near_angle("heading of the base", known[2], bridged[2], 0.03);
    let [known, bridged] = chain.both::<PlatformGetPosition::Service>("get_position", Default::default());
    near("x", known.pose.x, bridged.pose.x, 0.01);
    near("y", known.pose.y, bridged.pose.y, 0.01);
    near_angle("heading", known.pose.theta, bridged.pose.theta, 0.01);

    // The scan, beam by beam.
    let mut scans = [&mut chain.near.beside, &mut chain.far.beside]
        .map(|beside| beside.subscribe::<LaserScan>("/neobotix/scan"));
    let [known, bridged] =
        [chain.near.beside.next("scan", &mut scans[0]), chain.far.beside.next("scan", &mut scans[1])];
    assert_eq!(known.header.frame_id, bridged.header.frame_id);
    assert_eq!(known.ranges.len(), bridged.ranges.len());
    for (what, a, b) in [
        ("first beam", known.angle_min, bridged.angle_min),
        ("last beam", known.angle_max, bridged.angle_max),
        ("between beams", known.angle_increment, bridged.angle_increment),
        ("range", known.range_max, bridged.range_max),
    ] {
        near(what, a.into(), b.into(), 1e-3);
    }
    // At small incidence angles, one beam more or less changes the range much.
    let alike = known
        .ranges
        .iter()
        .zip(&bridged.ranges)
        .filter(|(a, b)| (a.is_infinite() && b.is_infinite()) || (*a - *b).abs() < 0.1);
    let alike = alike.count();
    assert!(alike * 100 >= 95 * known.ranges.len(), "{alike} of {}", known.ranges.len());

    // Velocities on the topic of the second domain turn the platform.
    chain.order("stop").unwrap();
    chain.set_mode(3).unwrap();
    chain.order("continue").unwrap();
    let before = chain.truth()[2];
    let mut twist = Twist::default();
    twist.angular.z = 0.2;
    chain.far.beside.publish("/neobotix/cmd_vel", &twist);
    chain.until("it turns", |chain| (chain.truth()[2] - before).sin() > 0.02);
    let velocity = PlatformMoveVelocity::Request { translation: f64::NAN, ..Default::default() };
    assert!(!chain.call::<PlatformMoveVelocity::Service>("move_vel", velocity).success);
    chain.order("stop").unwrap();
    chain.order("exit").unwrap();
    chain.same_picture();
}

#[test]
fn documents_and_parameters_are_the_same_in_both_domains() {
    let mut chain = Chain::new();
    let mut maps = [&mut chain.near.beside, &mut chain.far.beside]
        .map(|beside| beside.latched::<OccupancyGrid>("/neobotix/map"));
    let mut grids = |chain: &Chain, fits: fn(&OccupancyGrid) -> bool| {
        [chain.near.beside.find("map", &mut maps[0], fits), chain.far.beside.find("map", &mut maps[1], fits)]
            .map(|mut grid| {
                grid.header.stamp = Default::default();
                grid.info.map_load_time = Default::default();
                grid
            })
    };
    let [known, bridged] = grids(&chain, |grid| grid.info.width >= 240);
    assert!(known == bridged, "{:?} {:?}", known.info, bridged.info);
    for kind in ["map", "roadmap", "program"] {
        let [known, bridged] =
            chain.both::<PlatformGetDocument::Service>(&format!("get_{kind}"), Default::default());
        assert!(known.success && known == bridged, "{kind}: {bridged:?}");
    }
    let text = "<map Version=\"1.0\"><!-- Größe --><layer index=\"0\"><line><point x=\"0\" y=\"0\"/><point x=\"1000\" y=\"0\"/></line></layer></map>";
    let request = PlatformSetDocument::Request { name: "mine".to_owned(), document: text.to_owned() };
    let answer = chain.call::<PlatformSetDocument::Service>("set_map", request);
    assert!(answer.success, "{}", answer.message);
    // The protocol has no answer to set_map, and the platform reads a map beside its control.
    chain.until("the map is set", |chain| {
        let both = chain.both::<PlatformGetDocument::Service>("get_map", Default::default());
        both.iter().all(|map| map.name == "mine")
    });
    let [known, bridged] = chain.both::<PlatformGetDocument::Service>("get_map", Default::default());
    assert_eq!((known.name.as_str(), known.document.as_str()), ("mine", text));
    assert_eq!(known, bridged);
    let [known, bridged] = grids(&chain, |grid| grid.info.width < 100);
    assert!(known == bridged, "{:?} {:?}", known.info, bridged.info);
    assert_eq!(chain.order("save_map"), Ok(()));
    let file = chain.folder.0.join("maps/mine.xml");
    chain.until("the map is saved", |_| file.exists());
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);

    let set = |chain: &mut Chain, key: &str, value: &str| {
        let request = PlatformSetParameter::Request { key: key.to_owned(), value: value.to_owned() };
        let answer = chain.call::<PlatformSetParameter::Service>("set_pltf_param", request);
        (answer.success, answer.message)
    };
    assert_eq!(set(&mut chain, "IpoTransVel", "750"), (true, String::new()));
    assert_eq!(set(&mut chain, "SirenEnabled", "true"), (true, String::new()));
    assert_eq!(set(&mut chain, "IpoTransVel", "-1"), (false, "no effect: IpoTransVel is 750".to_owned()));
    assert_eq!(set(&mut chain, "Siren", "true"), (false, "there is no parameter 'Siren'".to_owned()));
    let [known, bridged] =
        chain.both::<PlatformGetParameters::Service>("get_pltf_param_vec", Default::default());
    assert!(known.success && known.parameters.len() == 94);
    assert_eq!(known, bridged);
    for key in ["SirenEnabled", "Siren"] {
        let request = PlatformGetParameter::Request { key: key.to_owned() };
        let [known, bridged] = chain.both::<PlatformGetParameter::Service>("get_pltf_param", request);
        assert_eq!(known, bridged);
    }
    assert!(chain.statuses().iter().all(|status| status.siren));
}
