//! The recorder.

use std::error::Error;

use dragoman_tools::record::node;

use super::part::{Lab, Part, Started};

pub(super) struct Recorder;

impl Part for Recorder {
    fn name(&self) -> &'static str {
        "recorder"
    }

    fn help(&self) -> &'static str {
        "Services that record topics in MCAP files"
    }

    fn start(&self, lab: &Lab<'_>) -> Result<Started, Box<dyn Error>> {
        let recorder = node::start(&lab.process.context, &lab.below("/"))?;
        let supervisor = &lab.process.supervisor;
        supervisor.on_stop(recorder.stop);
        let (context, namespace) = (lab.process.context.clone(), lab.below("/"));
        supervisor.spawn_restartable_node(recorder.node, move || {
            node::start(&context, &namespace).map(|recorder| recorder.node)
        });
        Ok(Started::default())
    }
}
