//! The nodes of all commands, and their parameters: the command line may give no others.

use dragoman_bridge::machine::node::NODE_NAME;
use dragoman_ros::startup::{KnownNodes, Preset};

/// The nodes with sections in `docs/reference/`, and their parameters; `tests/reference.rs` compares and rewrites it.
const REFERENCE: &str = include_str!("known_parameters.txt");

/// The other nodes, which have no parameters. Those of a Player server's devices are named by interface and index.
const OTHERS: &str = "\
calibrate:
dragoman_latency:
dragoman_play:
dragoman_record:
dragoman_thesis_logs:
evaluate:
machine:
platform_camera:
platform_laser:
platform_ultrasonics:
player_devices:
relay_on_demand:
station:
task:
teleop:
";

/// Arguments besides those of the command line: none.
pub(crate) fn preset() -> Preset {
    with_machines([])
}

/// As [`preset`], with the names of the parameters of each machine's node, which come from its description.
pub(crate) fn with_machines(machines: impl IntoIterator<Item = Vec<String>>) -> Preset {
    let rows = machines.into_iter().map(|names| format!("{NODE_NAME}: {}\n", names.join(" ")));
    let table = [REFERENCE, OTHERS, &rows.collect::<String>()].concat();
    let known = KnownNodes::from_table(&table);
    Preset { known: Some(known), ..Preset::default() }
}
