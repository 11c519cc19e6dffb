//! `dragoman platform`: a mobile platform in front of any base that is in ROS. Also the ports for old programs.

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use clap::Args;
use dragoman_bridge::neobotix::node::start_server;
use dragoman_platform::node::{PlatformParameters, Setup, start as start_node};
use dragoman_ros::naming::below;
use dragoman_ros::outln;
use dragoman_ros::process::Process;

use crate::address::with_advice;
use crate::program::{Later, Server};

#[derive(Args)]
pub(crate) struct PlatformOptions {
    /// Namespace in which the platform appears.
    #[arg(long, value_name = "NAMESPACE", default_value = "/neobotix")]
    namespace: String,
    /// Topic for velocities to the base; the parameters of the node take precedence over this option and those below.
    #[arg(long, value_name = "TOPIC", default_value = "/cmd_vel")]
    cmd_vel: String,
    /// Topic of the base's odometry.
    #[arg(long, value_name = "TOPIC", default_value = "/odom")]
    odom: String,
    /// Topic of the laser's scans.
    #[arg(long, value_name = "TOPIC", default_value = "/scan")]
    scan: String,
    /// Address for PlatformCtrl's protocol; 0.0.0.0 is every interface.
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    bind: IpAddr,
    /// Parameter file to load at the start, or a folder of files with the guide's names (Interpolation.ini and so on).
    #[arg(long, value_name = "PATH", default_value = "")]
    ini: String,
}

impl Server for PlatformOptions {
    async fn start(&self, process: &Process) -> Result<Later, Box<dyn Error>> {
        let namespace = below(&self.namespace, "");
        let parameters = PlatformParameters {
            base_cmd_vel: self.cmd_vel.clone(),
            base_odom: self.odom.clone(),
            base_scan: Some(self.scan.clone()).filter(|topic| !topic.is_empty()),
            parameters_file: Some(self.ini.clone()).filter(|path| !path.is_empty()),
            ..PlatformParameters::default()
        };
        let setup = Setup { parameters, ..Setup::default() };
        let node = start_node(&process.context, &namespace, &setup)?;
        outln!("platform with the base at {} appears as {}", self.odom, node.name());
        process.supervisor.spawn_node(node);
        let addresses = serve(process, &namespace, self.bind)?;
        for address in addresses {
            outln!("PlatformCtrl's protocol, TCP: {address}");
        }
        Ok(None)
    }
}

/// Serves PlatformCtrl's protocol in front of the platform in `namespace`; returns the addresses.
pub(crate) fn serve(
    process: &Process,
    namespace: &str,
    bind: IpAddr,
) -> Result<Vec<SocketAddr>, Box<dyn Error>> {
    let server = start_server(&process.context, namespace, bind)
        .map_err(|error| with_advice(error, "neobotix:ports:=[PORT,PORT]"))?;
    let (context, again) = (process.context.clone(), namespace.to_owned());
    process.supervisor.spawn_restartable_node(server.node, move || {
        start_server(&context, &again, bind).map(|server| server.node)
    });
    Ok(server.addresses)
}
