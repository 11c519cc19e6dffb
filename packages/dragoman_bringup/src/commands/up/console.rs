//! The web page, rosbridge and Foxglove's protocol.

use std::error::Error;

use clap::Args;

use super::part::{ConnectionRow, Lab, Part, Started};
use crate::commands::console::{
    AccessOptions, FOXGLOVE_PORT, PORT, Places, RECORDER, Where, address_or_off, loopback, start_console,
};

pub(super) struct Console;

#[derive(Args)]
pub(super) struct ConsoleOptions {
    /// Address of the web page and of rosbridge: ADDRESS:PORT, ADDRESS for port 8080, PORT on loopback, or off, then
    /// without Foxglove's protocol as well; by default 127.0.0.1:8080. Others than loopback need a token.
    #[arg(long, value_name = "ADDRESS|off", value_parser = address_or_off)]
    console: Option<Where>,
    #[command(flatten)]
    access: AccessOptions,
}

impl Part for Console {
    fn name(&self) -> &'static str {
        "console"
    }

    fn help(&self) -> &'static str {
        "the web page, rosbridge and Foxglove's protocol"
    }

    fn start(&self, lab: &Lab<'_>) -> Result<Started, Box<dyn Error>> {
        let (options, instance) = (&lab.options.console, lab.options.instance);
        let here = |port| loopback(instance.port(port));
        let Where::At(console) = options.console.unwrap_or(Where::At(here(PORT))) else {
            return Ok(Started::default());
        };
        let advice = "--console ADDRESS:PORT, or --console off";
        let places = Places { console, foxglove: here(FOXGLOVE_PORT), advice };
        let console = start_console(lab.process, lab.below(RECORDER), &places, &options.access)?;
        let row = |protocol, address: &str| ConnectionRow {
            robot: "all".to_owned(),
            protocol,
            address: address.split('?').next().unwrap_or_default().to_owned(),
            namespace: lab.below("/"),
        };
        let mut rows = vec![row("web page and rosbridge", &console.page)];
        rows.extend(console.foxglove.as_deref().map(|address| row("Foxglove's protocol", address)));
        Ok(Started { rows, last: console.lines(), ..Started::default() })
    }
}
