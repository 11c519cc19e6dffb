//! A client whose host vanishes without closing its connection: TCP detects it, and its port becomes free. Real, since the
//! system's TCP is what detects it.

use std::io::Read;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::common::hosts::{Hosts, hosts};

/// Connects, requests the position, and prints how many bytes have come: 41 if it is served, 0 if it is refused. Then
/// it waits.
fn client(hosts: &Hosts, host: usize, seconds: u32) -> (Child, String) {
    let script = format!(
        "exec 3<>/dev/tcp/10.77.0.1/10000; printf '\\xff\\x01\\xfe\\x02\\0\\0\\0\\x01\\x4a' >&3; timeout 20 head -c 41 <&3 | wc -c; exec sleep {seconds}"
    );
    let mut command = hosts.command(host, &["bash", "-c", &script]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut reply = String::new();
    let mut byte = [0];
    let stdout = child.stdout.as_mut().unwrap();
    while !reply.ends_with('\n') && stdout.read(&mut byte).unwrap_or(0) == 1 {
        reply.push(char::from(byte[0]));
    }
    (child, reply.trim().to_owned())
}

fn end(mut child: Child) {
    let _ = child.kill();
    let _ = child.wait();
}

#[test]
fn a_vanished_client_frees_its_port() {
    let Some(mut hosts) = hosts("vanished", 2, true) else { return };
    let keepalive = ["idle", "interval", "probes"].map(|part| format!("neobotix:keepalive_{part}:=1"));
    let mut arguments = vec!["--bind", "0.0.0.0", "--ros-args"];
    keepalive.iter().for_each(|part| arguments.extend(["-p", part]));
    hosts.start_lab(&arguments);
    let deadline = Instant::now() + Duration::from_secs(60);
    let vanishing = loop {
        let (child, reply) = client(&hosts, 2, 100);
        if reply == "41" {
            break child;
        }
        end(child);
        assert!(Instant::now() < deadline, "the lab does not answer: '{reply}'");
        std::thread::sleep(Duration::from_millis(200));
    };
    let ask_at_home = || {
        let (child, reply) = client(&hosts, 1, 0);
        end(child);
        reply
    };
    assert_eq!(ask_at_home(), "0", "the port is reserved for a client that is connected");
    hosts.cable(2, "down");
    let cut = Instant::now();
    while ask_at_home() != "41" {
        assert!(cut.elapsed() < Duration::from_secs(60), "the port does not become free");
        std::thread::sleep(Duration::from_millis(200));
    }
    println!("the port was free again {:?} after the cable was pulled", cut.elapsed());
    end(vanishing);
}
