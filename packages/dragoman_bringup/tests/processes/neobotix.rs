//! The lab's platform as old programs use it. Real, since they are programs of others, ports of the system, and its network.

mod example;
#[cfg(target_os = "linux")]
mod vanished;

use crate::common::neobotix::{GET_STATUS, HEADER, NeobotixClient, SET_MAP, message, texts};
use crate::common::{Lab, domain};

/// Messages of 16 MB.
#[test]
fn hostile_clients_do_not_disturb_the_platform() {
    const ROUNDS: u32 = 24;
    let folder = std::env::temp_dir().join(format!("dragoman_neobotix_hostile_{}", std::process::id()));
    let data = format!("platform:data_folder:={}", folder.display());
    let lab = Lab::start_with(domain(), &["up", "--only", "apolo,neobotix"], &["-p", &data]);
    let client = &mut NeobotixClient::new(lab.neobotix[0]);
    let attacked = lab.neobotix[1];
    let before = client.status().operation;
    let flat = format!("<map Version=\"1.0\"><layer index=\"0\">{}</layer></map>", "<a/>".repeat(2_000_000));
    // A client that announces 16 MB and sends half of it, and a document of 8 MB.
    let long = [&HEADER[..], &[1, 0, 0, 0, 25], &vec![0; 8 << 20]].concat();
    for _ in 0..ROUNDS {
        NeobotixClient::next(attacked).send(&long);
        NeobotixClient::next(attacked).silent(&texts(SET_MAP, &["bomb", &flat]));
        client.status();
    }
    let mut last = NeobotixClient::next(attacked);
    last.send(&message(&HEADER, &[GET_STATUS]));
    assert_eq!(last.reply()[0], GET_STATUS);
    assert_eq!(client.status().operation, before);
    drop(lab);
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn a_taken_port_is_named_with_the_option_that_changes_it() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_dragoman"))
        .args(["up", "--console", "off", "--domain", &domain().to_string(), "--ros-args"])
        .args(["-p", "arm31:port:=0", "-p", "apolo:port:=0", "-p", "player:port:=0"])
        .args(["-p", &format!("neobotix:ports:=[{port},0]")])
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        error.contains(&port.to_string()) && error.contains("--bind") && error.contains("neobotix:ports"),
        "{error}"
    );
}
