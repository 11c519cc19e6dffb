//! Health of the middleware.

use std::time::{Duration, Instant};

use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{Context, Node, health};

use super::{TIMEOUT, run};

#[test]
fn all_threads_of_the_middleware_complete_loops() {
    let context = Context::create().unwrap();
    let node = Node::create(context.clone(), "node", &super::namespace("health")).unwrap();
    let _working = run(NodeTasks::new(node));
    let (before, end) = (health::of(&context).turns, Instant::now() + TIMEOUT);
    assert!(!before.is_empty());
    loop {
        let now = health::of(&context).turns;
        if now.iter().zip(&before).all(|(now, before)| now > before) {
            break;
        }
        assert!(Instant::now() < end, "{before:?} {now:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}
