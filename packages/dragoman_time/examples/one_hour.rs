//! Two tasks run for an hour of virtual time, which takes no time at all.
//!
//!     cargo run -p dragoman_time --example one_hour

use std::time::Duration;

use dragoman_time::{Simulation, interval, spawn, timeout};

fn main() {
    let simulation = Simulation::new(1);
    simulation.block_on(async {
        let counting = spawn(async {
            let mut ticks = interval(Duration::from_secs(600));
            for count in 0_u64.. {
                ticks.tick().await;
                println!("after {} min", 10 * count);
            }
        });
        if timeout(Duration::from_secs(3600), std::future::pending::<()>()).await.is_err() {
            println!("the hour is over");
        }
        counting.abort();
    });
    println!("{:?} of virtual time", simulation.elapsed());
}
