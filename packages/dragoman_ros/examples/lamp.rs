//! A node with a topic and a service, and a node that uses both.
//!
//!     cargo run -p dragoman_ros --example lamp

use std::error::Error;
use std::pin::pin;

use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{Client, Context, Node, QosProfile, std_msgs, std_srvs};
use futures::StreamExt;
use futures::future::select;

async fn run(context: Context) -> Result<(), Box<dyn Error>> {
    let mut lamp = NodeTasks::new(Node::create(context.clone(), "lamp", "/lab")?);
    let state = lamp.node().create_publisher::<std_msgs::msg::Bool>("state", QosProfile::default())?;
    lamp.serve::<std_srvs::srv::SetBool::Service>("switch", move |request| {
        let published = state.publish(&std_msgs::msg::Bool { data: request.data });
        std_srvs::srv::SetBool::Response { success: published.is_ok(), ..Default::default() }
    })?;

    let mut user = NodeTasks::new(Node::create(context, "user", "/lab")?);
    let mut states = user.node().subscribe::<std_msgs::msg::Bool>("state", QosProfile::default())?;
    let switch: Client<std_srvs::srv::SetBool::Service> =
        user.node().create_client("switch", QosProfile::services_default())?;
    let is_there = Node::is_available(&switch)?;
    let work = async move {
        is_there.await?;
        for data in [true, false] {
            let answer = switch.request(&std_srvs::srv::SetBool::Request { data })?.await?;
            let state = states.next().await.map(|state| state.data);
            println!("switched: {}, state: {state:?}", answer.success);
        }
        Ok::<_, dragoman_ros::Error>(())
    };
    user.spawn(async {
        if let Err(error) = work.await {
            println!("{error}");
        }
    });
    select(pin!(lamp.start()?), pin!(user.start()?)).await;
    Ok(())
}

/// On virtual time, without network. On the network as any ROS 2 node: `block_on(run(Context::create()?))`.
#[cfg(not(feature = "r2r"))]
fn main() -> Result<(), Box<dyn Error>> {
    let simulation = dragoman_time::Simulation::new(1);
    simulation.block_on(async { run(Context::in_memory(0, dragoman_ros::Arguments::default())?).await })
}

#[cfg(feature = "r2r")]
fn main() -> Result<(), Box<dyn Error>> {
    futures::executor::block_on(run(Context::create()?))
}
