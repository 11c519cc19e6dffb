//! The list of devices, subscriptions, geometry, data, maps.

use dragoman_bridge::player::client::{DeviceInfo, DeviceState, Refusal};

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
    let mut fixture = ClientFixture::new(server);
    let events = fixture.take();
    assert_eq!(events[0], ClientEvent::Connected { version: "Player v.3.1.0".to_owned() });
    let lists = listed(&events);
    let [devices] = &lists[..] else { panic!("{events:?}") };
    let states: Vec<_> = devices.iter().map(|info| (info.device, info.state.clone())).collect();
    let expected = [
        (BASE, DeviceState::Open),
        (laser, DeviceState::Open),
        (log, DeviceState::Open),
        (unknown, DeviceState::NotShown),
    ];
    assert_eq!(states, expected);
    assert_eq!(devices[0].driver, "maker");
    assert_eq!(
        devices[0].facts,
        [Answer::Position2d(position2d::Answer::GetGeometry(position2d::Geometry::default()))]
    );
    // The laser refused both questions.
    assert_eq!(devices[1].facts, []);
    let subtypes = fixture.server.subtypes(laser);
    assert_eq!(subtypes, [laser::GET_GEOMETRY.subtype, laser::GET_CONFIG.subtype]);
    let subscriptions = fixture.server.subtypes(SERVER);
    assert_eq!(subscriptions, [5, 1, 2, 3, 2, 3, 2, 3, 2]);
}

#[test]
fn a_device_that_cannot_be_opened_is_tried_again() {
    let power = power::INTERFACE.device(0);
    let mut server = Server::with_base();
    server.devices.insert(0, power);
    server.broken.push(power);
    let mut fixture = ClientFixture::new(server);
    let lists = listed(&fixture.take());
    assert_eq!(lists[0][0].state, DeviceState::Refused(Refusal::Refused));
    assert_eq!(lists[0][1].state, DeviceState::Open);
    fixture.pass(35_000 * MS);
    assert_eq!(listed(&fixture.take()), Vec::<Vec<DeviceInfo>>::new(), "nothing has changed");
    let tries = |fixture: &ClientFixture| {
        let body = |message: &Message| player::SUBSCRIBE.question(&message.body);
        let is_try = |message: &&Message| {
            message.header.subtype == player::SUBSCRIBE.subtype
                && body(message).is_ok_and(|asked| asked.address.device == power)
        };
        fixture.server.received.iter().filter(is_try).count()
    };
    assert_eq!(tries(&fixture), 4);
    fixture.server.broken.clear();
    fixture.pass(10_000 * MS);
    assert_eq!(listed(&fixture.take())[0][0].state, DeviceState::Open);
    fixture.pass(60_000 * MS);
    assert_eq!(tries(&fixture), 5, "an open device is not opened again");
}

#[test]
fn a_device_that_does_not_answer_does_not_hold_up_the_others() {
    let (sonar, power) = (sonar::INTERFACE.device(0), power::INTERFACE.device(0));
    let mut server = Server::with_base();
    server.devices = vec![sonar, power, BASE];
    server.ignores.push((sonar, sonar::GET_GEOMETRY.subtype));
    let mut fixture = ClientFixture::new(server);
    assert_eq!(listed(&fixture.take()).len(), 0);
    fixture.pass(5000 * MS);
    let lists = listed(&fixture.take());
    assert!(lists[0].iter().all(|info| info.state == DeviceState::Open), "{lists:?}");
    assert_eq!(fixture.client.statistics().timeouts, 1);
}

#[test]
fn data_of_open_devices_are_events_and_malformed_ones_are_counted() {
    let mut fixture = ClientFixture::new(Server::with_base());
    fixture.take();
    let state = position2d::State { stalled: true, ..Default::default() };
    fixture.receive(&data(BASE, position2d::STATE.subtype, &state.to_bytes()));
    assert_eq!(
        fixture.take(),
        [ClientEvent::Data {
            device: BASE,
            timestamp: 2.5,
            data: Data::Position2d(position2d::Data::State(state))
        }]
    );
    fixture.receive(&data(BASE, position2d::STATE.subtype, &[1, 2, 3]));
    let events = fixture.take();
    assert!(matches!(&events[..], [ClientEvent::Problem { device: BASE, .. }]), "{events:?}");
    fixture.receive(&data(BASE, 99, &[]));
    fixture.receive(&data(position2d::INTERFACE.device(1), 1, &[]));
    fixture.receive(&data(Device { interface: 999, index: 0 }, 1, &[]));
    assert_eq!(fixture.take(), []);
    let statistics = fixture.client.statistics();
    assert_eq!((statistics.data, statistics.undecodable, statistics.ignored), (1, 1, 3));
    assert!(fixture.client.is_connected());
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
    let mut fixture = ClientFixture::new(server);
    let asked: Vec<MapData> = fixture
        .server
        .received
        .iter()
        .filter(|message| message.header.address.device == device && message.header.subtype == 2)
        .map(|message| map::GET_DATA.question(&message.body).unwrap())
        .collect();
    let rows: Vec<_> = asked.iter().map(|tile| (tile.row, tile.height, tile.width)).collect();
    assert_eq!(rows, [(0, 585, 700), (585, 415, 700)]);
    let events = fixture.take();
    assert!(matches!(events.last(), Some(ClientEvent::Problem { .. })), "{events:?}");

    let info = map::Info { scale: 0.05, width: 2, height: 2, ..Default::default() };
    let tile = MapData { width: 2, height: 2, range: 2, data: vec![254, 0, 1, 2], ..Default::default() };
    fixture.server.answers.insert((device, map::GET_INFO.subtype), info.to_bytes());
    fixture.server.answers.insert((device, map::GET_DATA.subtype), tile.compress().to_bytes());
    // The map has changed.
    fixture.receive(&data(device, map::INFO.subtype, &info.to_bytes()));
    let events = fixture.take();
    let [ClientEvent::Map { map, .. }] = &events[..] else { panic!("{events:?}") };
    assert_eq!((&map.info, &map.cells[..]), (&info, &[0, -1, 75, 100][..]));

    for info in [
        map::Info { scale: 0.0, ..info.clone() },
        map::Info { scale: f32::NAN, ..info.clone() },
        map::Info { width: u32::MAX, height: u32::MAX, ..info.clone() },
    ] {
        fixture.server.answers.insert((device, map::GET_INFO.subtype), info.to_bytes());
        fixture.receive(&data(device, map::INFO.subtype, &info.to_bytes()));
        let events = fixture.take();
        assert!(matches!(&events[..], [ClientEvent::Problem { .. }]), "{events:?}");
    }
}

/// A server does not announce a changed map, because Player's own clients could not process it.
#[test]
fn a_map_is_asked_for_again_and_is_an_event_when_it_has_changed() {
    let device = map::INTERFACE.device(0);
    let serve = |server: &mut Server, info: &map::Info, cell: u8| {
        server.cell = Some(cell);
        server.answers.insert((device, map::GET_INFO.subtype), info.to_bytes());
    };
    let maps = |fixture: &mut ClientFixture, seconds: u64| {
        fixture.pass(Duration::from_secs(seconds));
        let events = fixture.take().into_iter();
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
    let mut fixture = ClientFixture::new(server);
    assert_eq!(maps(&mut fixture, 0), [(20, 100)]);
    assert_eq!(maps(&mut fixture, 60), [], "it is the same");
    serve(&mut fixture.server, &small, 255);
    assert_eq!(maps(&mut fixture, 6), [(20, 0)]);
    // It has no map for a while.
    fixture.server.answers.remove(&(device, map::GET_INFO.subtype));
    fixture.pass(Duration::from_secs(6));
    assert!(fixture.take().iter().any(|event| matches!(event, ClientEvent::Problem { .. })));
    serve(&mut fixture.server, &small, 255);
    assert_eq!(maps(&mut fixture, 6), [(20, 0)]);

    // Several tiles are read when size or pose have changed, or the server announces it.
    let large = map::Info { width: 641, height: 640, ..small };
    serve(&mut fixture.server, &large, 1);
    assert_eq!(maps(&mut fixture, 6), [(641, 100)]);
    serve(&mut fixture.server, &large, 255);
    fixture.server.received.clear();
    assert_eq!(maps(&mut fixture, 60), []);
    let asked = fixture.server.subtypes(device);
    assert!(asked.len() > 8 && asked.iter().all(|subtype| *subtype == map::GET_INFO.subtype), "{asked:?}");
    fixture.receive(&data(device, map::INFO.subtype, &large.to_bytes()));
    assert_eq!(maps(&mut fixture, 0), [(641, 0)]);
}

#[test]
fn a_device_whose_data_is_not_needed_is_closed_and_opened_again() {
    let power = power::INTERFACE.device(0);
    let mut server = Server::with_base();
    server.devices.push(power);
    let mut fixture = ClientFixture::new(server);
    assert_eq!(listed(&fixture.take()).len(), 1);
    fixture.server.received.clear();
    let accesses = |fixture: &mut ClientFixture, interests: &[bool]| {
        for is_wanted in interests {
            fixture.client.handle_interest(fixture.now, power, *is_wanted);
        }
        fixture.settle();
        let asked = std::mem::take(&mut fixture.server.received).into_iter();
        asked.map(|message| player::SUBSCRIBE.question(&message.body).unwrap().access).collect::<Vec<_>>()
    };
    assert_eq!(accesses(&mut fixture, &[true, true]), [0_u8; 0]);
    assert_eq!(accesses(&mut fixture, &[false, false]), [player::CLOSE]);
    assert_eq!(accesses(&mut fixture, &[true, false, true]), [player::OPEN, player::CLOSE, player::OPEN]);
    assert_eq!(fixture.take(), []);

    // It has disappeared meanwhile: it is tried again while its data is needed.
    accesses(&mut fixture, &[false]);
    fixture.server.broken.push(power);
    assert_eq!(accesses(&mut fixture, &[true]), [player::OPEN]);
    let events = fixture.take();
    assert!(matches!(&events[..], [ClientEvent::Problem { device, .. }] if *device == power), "{events:?}");
    fixture.server.broken.clear();
    assert_eq!(accesses(&mut fixture, &[true]), [player::OPEN]);
    assert_eq!(accesses(&mut fixture, &[true]), [0_u8; 0]);
    // After a new connection all data is needed.
    accesses(&mut fixture, &[false]);
    fixture.client.handle_disconnected(fixture.now, "lost");
    fixture.pass(60_000 * MS);
    fixture.server.received.clear();
    assert_eq!(accesses(&mut fixture, &[true]), [0_u8; 0]);
    assert_eq!(accesses(&mut fixture, &[false]), [player::CLOSE]);
}

/// Stage stops the data of a device for all clients when one of them closes it.
#[test]
fn a_device_of_stage_that_falls_silent_is_opened_again() {
    let power = power::INTERFACE.device(0);
    let accesses = |fixture: &mut ClientFixture| {
        let asked = std::mem::take(&mut fixture.server.received).into_iter();
        let is_ours = |message: &Message| message.header.subtype == player::SUBSCRIBE.subtype;
        let asked = asked.filter(is_ours).map(|message| player::SUBSCRIBE.question(&message.body).unwrap());
        asked.map(|asked| (asked.address.device, asked.access)).collect::<Vec<_>>()
    };
    let state = data(BASE, position2d::STATE.subtype, &position2d::State::default().to_bytes());
    for driver in ["stage", "amcl"] {
        let mut server = Server { driver: Some(driver), ..Server::with_base() };
        // It never sends data, so no data is expected.
        server.devices.push(power);
        let mut fixture = ClientFixture::new(server);
        fixture.server.received.clear();
        for _ in 0..4 {
            fixture.receive(&state);
            fixture.pass(4000 * MS);
        }
        assert_eq!(accesses(&mut fixture), [], "{driver}");
        fixture.take();
        fixture.pass(2000 * MS);
        let events = fixture.take();
        if driver == "amcl" {
            assert_eq!((accesses(&mut fixture), events), (Vec::new(), Vec::new()));
            continue;
        }
        assert_eq!(accesses(&mut fixture), [(BASE, player::CLOSE), (BASE, player::OPEN)]);
        assert!(matches!(&events[..], [ClientEvent::Problem { device: BASE, .. }]), "{events:?}");
        // Its data is accepted as before, and it is not a new device.
        fixture.receive(&state);
        assert!(matches!(&fixture.take()[..], [ClientEvent::Data { device: BASE, .. }]));
        // A device whose data is not needed stays closed.
        fixture.client.handle_interest(fixture.now, BASE, false);
        fixture.settle();
        assert_eq!(accesses(&mut fixture), [(BASE, player::CLOSE)]);
        fixture.receive(&state);
        fixture.pass(60_000 * MS);
        assert_eq!(accesses(&mut fixture), []);
    }
}
