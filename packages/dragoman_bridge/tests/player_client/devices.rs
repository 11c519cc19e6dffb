//! The list of devices, subscriptions, geometry, data, maps.

use dragoman_bridge::player::client::{DeviceInfo, Refusal, State};

use super::*;

fn listed(events: &[ClientEvent]) -> Vec<Vec<DeviceInfo>> {
    let of = |event: &ClientEvent| match event {
        ClientEvent::Devices(devices) => Some(devices.clone()),
        _ => None,
    };
    events.iter().filter_map(of).collect()
}

#[test]
fn every_known_device_is_opened_and_asked_for_its_geometry() {
    let laser = laser::INTERFACE.device(0);
    let log = log::INTERFACE.device(0);
    let unknown = Device { interface: 999, index: 3 };
    let mut server = Server::with_base();
    // Some twice, and the server itself.
    server.devices.extend([laser, log, unknown, BASE, SERVER]);
    let mut bench = Bench::new(server);
    let events = bench.take();
    assert_eq!(events[0], ClientEvent::Connected { version: "Player v.3.1.0".to_owned() });
    let lists = listed(&events);
    let [devices] = &lists[..] else { panic!("{events:?}") };
    let states: Vec<_> = devices.iter().map(|info| (info.device, info.state.clone())).collect();
    let expected =
        [(BASE, State::Open), (laser, State::Open), (log, State::Open), (unknown, State::NotShown)];
    assert_eq!(states, expected);
    assert_eq!(devices[0].driver, "maker");
    assert_eq!(
        devices[0].facts,
        [Answer::Position2d(position2d::Answer::GetGeometry(position2d::Geometry::default()))]
    );
    // The laser refused both questions.
    assert_eq!(devices[1].facts, []);
    let subtypes = bench.server.subtypes(laser);
    assert_eq!(subtypes, [laser::GET_GEOMETRY.subtype, laser::GET_CONFIG.subtype]);
    let subscriptions = bench.server.subtypes(SERVER);
    assert_eq!(subscriptions, [5, 1, 2, 3, 2, 3, 2, 3, 2]);
}

#[test]
fn a_device_that_cannot_be_opened_is_tried_again() {
    let power = power::INTERFACE.device(0);
    let mut server = Server::with_base();
    server.devices.insert(0, power);
    server.broken.push(power);
    let mut bench = Bench::new(server);
    let lists = listed(&bench.take());
    assert_eq!(lists[0][0].state, State::Refused(Refusal::Refused));
    assert_eq!(lists[0][1].state, State::Open);
    bench.pass(35_000 * MS);
    assert_eq!(listed(&bench.take()), Vec::<Vec<DeviceInfo>>::new(), "nothing has changed");
    let tries = |bench: &Bench| {
        let body = |message: &Message| player::SUBSCRIBE.question(&message.body);
        let is_try = |message: &&Message| {
            message.header.subtype == player::SUBSCRIBE.subtype
                && body(message).is_ok_and(|asked| asked.address.device == power)
        };
        bench.server.received.iter().filter(is_try).count()
    };
    assert_eq!(tries(&bench), 4);
    bench.server.broken.clear();
    bench.pass(10_000 * MS);
    assert_eq!(listed(&bench.take())[0][0].state, State::Open);
    bench.pass(60_000 * MS);
    assert_eq!(tries(&bench), 5, "an open device is not opened again");
}

#[test]
fn a_device_that_does_not_answer_does_not_hold_up_the_others() {
    let (sonar, power) = (sonar::INTERFACE.device(0), power::INTERFACE.device(0));
    let mut server = Server::with_base();
    server.devices = vec![sonar, power, BASE];
    server.ignores.push((sonar, sonar::GET_GEOMETRY.subtype));
    let mut bench = Bench::new(server);
    assert_eq!(listed(&bench.take()).len(), 0);
    bench.pass(5000 * MS);
    let lists = listed(&bench.take());
    assert!(lists[0].iter().all(|info| info.state == State::Open), "{lists:?}");
    assert_eq!(bench.client.statistics().timeouts, 1);
}

#[test]
fn data_of_open_devices_are_events_and_malformed_ones_are_counted() {
    let mut bench = Bench::new(Server::with_base());
    bench.take();
    let state = position2d::State { stalled: true, ..Default::default() };
    bench.receive(&data(BASE, position2d::STATE.subtype, &state.to_bytes()));
    assert_eq!(
        bench.take(),
        [ClientEvent::Data {
            device: BASE,
            timestamp: 2.5,
            data: Data::Position2d(position2d::Data::State(state))
        }]
    );
    bench.receive(&data(BASE, position2d::STATE.subtype, &[1, 2, 3]));
    let events = bench.take();
    assert!(matches!(&events[..], [ClientEvent::Problem { device: BASE, .. }]), "{events:?}");
    bench.receive(&data(BASE, 99, &[]));
    bench.receive(&data(position2d::INTERFACE.device(1), 1, &[]));
    bench.receive(&data(Device { interface: 999, index: 0 }, 1, &[]));
    assert_eq!(bench.take(), []);
    let statistics = bench.client.statistics();
    assert_eq!((statistics.data, statistics.undecodable, statistics.ignored), (1, 1, 3));
    assert!(bench.client.is_connected());
}

#[test]
fn maps_come_in_tiles_of_whole_rows() {
    let device = map::INTERFACE.device(0);
    let info = map::Info { scale: 0.05, width: 700, height: 1000, ..Default::default() };
    let mut server = Server::with_base();
    server.devices.push(device);
    server.answers.insert((device, map::GET_INFO.subtype), info.to_bytes());
    // The second tile is not the one that is asked for.
    let tile = MapData { width: 700, height: 585, range: 2, data: vec![2; 700 * 585], ..Default::default() };
    server.answers.insert((device, map::GET_DATA.subtype), tile.compress().to_bytes());
    let mut bench = Bench::new(server);
    let asked: Vec<MapData> = bench
        .server
        .received
        .iter()
        .filter(|message| message.header.address.device == device && message.header.subtype == 2)
        .map(|message| map::GET_DATA.question(&message.body).unwrap())
        .collect();
    let rows: Vec<_> = asked.iter().map(|tile| (tile.row, tile.height, tile.width)).collect();
    assert_eq!(rows, [(0, 585, 700), (585, 415, 700)]);
    let events = bench.take();
    assert!(matches!(events.last(), Some(ClientEvent::Problem { .. })), "{events:?}");

    let info = map::Info { scale: 0.05, width: 2, height: 2, ..Default::default() };
    let tile = MapData { width: 2, height: 2, range: 2, data: vec![254, 0, 1, 2], ..Default::default() };
    bench.server.answers.insert((device, map::GET_INFO.subtype), info.to_bytes());
    bench.server.answers.insert((device, map::GET_DATA.subtype), tile.compress().to_bytes());
    // The map has changed.
    bench.receive(&data(device, map::INFO.subtype, &info.to_bytes()));
    let events = bench.take();
    let [ClientEvent::Map { map, .. }] = &events[..] else { panic!("{events:?}") };
    assert_eq!((&map.info, &map.cells[..]), (&info, &[0, -1, 75, 100][..]));

    for info in [
        map::Info { scale: 0.0, ..info.clone() },
        map::Info { scale: f32::NAN, ..info.clone() },
        map::Info { width: u32::MAX, height: u32::MAX, ..info.clone() },
    ] {
        bench.server.answers.insert((device, map::GET_INFO.subtype), info.to_bytes());
        bench.receive(&data(device, map::INFO.subtype, &info.to_bytes()));
        let events = bench.take();
        assert!(matches!(&events[..], [ClientEvent::Problem { .. }]), "{events:?}");
    }
}

/// A server says nothing about a map that has changed: Player's own clients could not take it.
#[test]
fn a_map_is_asked_for_again_and_is_an_event_when_it_has_changed() {
    let device = map::INTERFACE.device(0);
    let serve = |server: &mut Server, info: &map::Info, cell: u8| {
        server.cell = Some(cell);
        server.answers.insert((device, map::GET_INFO.subtype), info.to_bytes());
    };
    let maps = |bench: &mut Bench, seconds: u64| {
        bench.pass(Duration::from_secs(seconds));
        let events = bench.take().into_iter();
        let maps = events.filter_map(|event| match event {
            ClientEvent::Map { map, .. } => Some((map.info.width, map.cells[0])),
            ClientEvent::Problem { reason, .. } => panic!("{reason}"),
            _ => None,
        });
        maps.collect::<Vec<_>>()
    };
    let small = map::Info { scale: 0.05, width: 20, height: 10, ..Default::default() };
    let mut server = Server::with_base();
    server.devices.push(device);
    serve(&mut server, &small, 1);
    let mut bench = Bench::new(server);
    assert_eq!(maps(&mut bench, 0), [(20, 100)]);
    assert_eq!(maps(&mut bench, 60), [], "it is the same");
    serve(&mut bench.server, &small, 255);
    assert_eq!(maps(&mut bench, 6), [(20, 0)]);
    // It has no map for a while.
    bench.server.answers.remove(&(device, map::GET_INFO.subtype));
    bench.pass(Duration::from_secs(6));
    assert!(bench.take().iter().any(|event| matches!(event, ClientEvent::Problem { .. })));
    serve(&mut bench.server, &small, 255);
    assert_eq!(maps(&mut bench, 6), [(20, 0)]);

    // Several tiles are read when size or pose have changed, or a server says so.
    let large = map::Info { width: 641, height: 640, ..small };
    serve(&mut bench.server, &large, 1);
    assert_eq!(maps(&mut bench, 6), [(641, 100)]);
    serve(&mut bench.server, &large, 255);
    bench.server.received.clear();
    assert_eq!(maps(&mut bench, 60), []);
    let asked = bench.server.subtypes(device);
    assert!(asked.len() > 8 && asked.iter().all(|subtype| *subtype == map::GET_INFO.subtype), "{asked:?}");
    bench.receive(&data(device, map::INFO.subtype, &large.to_bytes()));
    assert_eq!(maps(&mut bench, 0), [(641, 0)]);
}

#[test]
fn a_device_whose_data_nobody_wants_is_closed_and_opened_again() {
    let power = power::INTERFACE.device(0);
    let mut server = Server::with_base();
    server.devices.push(power);
    let mut bench = Bench::new(server);
    assert_eq!(listed(&bench.take()).len(), 1);
    bench.server.received.clear();
    let accesses = |bench: &mut Bench, interests: &[bool]| {
        for is_wanted in interests {
            bench.client.handle_interest(bench.now, power, *is_wanted);
        }
        bench.settle();
        let asked = std::mem::take(&mut bench.server.received).into_iter();
        asked.map(|message| player::SUBSCRIBE.question(&message.body).unwrap().access).collect::<Vec<_>>()
    };
    assert_eq!(accesses(&mut bench, &[true, true]), [0_u8; 0]);
    assert_eq!(accesses(&mut bench, &[false, false]), [player::CLOSE]);
    assert_eq!(accesses(&mut bench, &[true, false, true]), [player::OPEN, player::CLOSE, player::OPEN]);
    assert_eq!(bench.take(), []);

    // It is gone meanwhile: tried again as long as it is wanted.
    accesses(&mut bench, &[false]);
    bench.server.broken.push(power);
    assert_eq!(accesses(&mut bench, &[true]), [player::OPEN]);
    let events = bench.take();
    assert!(matches!(&events[..], [ClientEvent::Problem { device, .. }] if *device == power), "{events:?}");
    bench.server.broken.clear();
    assert_eq!(accesses(&mut bench, &[true]), [player::OPEN]);
    assert_eq!(accesses(&mut bench, &[true]), [0_u8; 0]);
    // With a new connection everything is wanted.
    accesses(&mut bench, &[false]);
    bench.client.handle_disconnected(bench.now, "lost");
    bench.pass(60_000 * MS);
    bench.server.received.clear();
    assert_eq!(accesses(&mut bench, &[true]), [0_u8; 0]);
    assert_eq!(accesses(&mut bench, &[false]), [player::CLOSE]);
}

/// Stage stops the data of a device for all clients when one of them closes it.
#[test]
fn a_device_of_stage_that_falls_silent_is_opened_again() {
    let power = power::INTERFACE.device(0);
    let accesses = |bench: &mut Bench| {
        let asked = std::mem::take(&mut bench.server.received).into_iter();
        let is_ours = |message: &Message| message.header.subtype == player::SUBSCRIBE.subtype;
        let asked = asked.filter(is_ours).map(|message| player::SUBSCRIBE.question(&message.body).unwrap());
        asked.map(|asked| (asked.address.device, asked.access)).collect::<Vec<_>>()
    };
    let state = data(BASE, position2d::STATE.subtype, &position2d::State::default().to_bytes());
    for driver in ["stage", "amcl"] {
        let mut server = Server { driver: Some(driver), ..Server::with_base() };
        // It never sends data, so it is not expected to.
        server.devices.push(power);
        let mut bench = Bench::new(server);
        bench.server.received.clear();
        for _ in 0..4 {
            bench.receive(&state);
            bench.pass(4000 * MS);
        }
        assert_eq!(accesses(&mut bench), [], "{driver}");
        bench.take();
        bench.pass(2000 * MS);
        let events = bench.take();
        if driver == "amcl" {
            assert_eq!((accesses(&mut bench), events), (Vec::new(), Vec::new()));
            continue;
        }
        assert_eq!(accesses(&mut bench), [(BASE, player::CLOSE), (BASE, player::OPEN)]);
        assert!(matches!(&events[..], [ClientEvent::Problem { device: BASE, .. }]), "{events:?}");
        // Its data is taken as before, and it is no new device.
        bench.receive(&state);
        assert!(matches!(&bench.take()[..], [ClientEvent::Data { device: BASE, .. }]));
        // A device whose data nobody wants stays closed.
        bench.client.handle_interest(bench.now, BASE, false);
        bench.settle();
        assert_eq!(accesses(&mut bench), [(BASE, player::CLOSE)]);
        bench.receive(&state);
        bench.pass(60_000 * MS);
        assert_eq!(accesses(&mut bench), []);
    }
}
