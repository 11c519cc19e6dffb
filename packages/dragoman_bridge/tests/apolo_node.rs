//! Apolo's protocol over sockets and ROS, with a fake world behind the services.

#[path = "fake_world/mod.rs"]
mod fake_world;

#[path = "apolo_node/chain.rs"]
mod chain;
#[allow(dead_code, reason = "the tests of dragoman_bringup use more of it")]
#[path = "apolo_node/client.rs"]
mod client;
#[path = "apolo_node/crowds.rs"]
mod crowds;
#[path = "apolo_node/diagnostics.rs"]
mod diagnostics;
#[path = "apolo_node/lab.rs"]
mod lab;
#[path = "apolo_node/manual.rs"]
mod manual;
#[path = "apolo_node/octave.rs"]
mod octave;
#[path = "apolo_node/real.rs"]
mod real;
#[path = "apolo_node/robots.rs"]
mod robots;
#[path = "apolo_node/run_octave.rs"]
mod run_octave;
