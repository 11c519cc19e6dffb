//! The web page, rosbridge and Foxglove's protocol.

use std::error::Error;

use clap::Args;

use super::part::{Lab, Part, Row, Started};
use crate::console::{AccessOptions, RECORDER, Where, address_or_off, start_console};

pub(super) struct Console;

#[derive(Args)]
pub(super) struct ConsoleOptions {
    /// Address of the web page and of rosbridge: ADDRESS:PORT, ADDRESS for port 8080, PORT on loopback, or off, then
    /// without Foxglove's protocol as well. Others than loopback need a token.
    #[arg(long, value_name = "ADDRESS|off", default_value = "127.0.0.1:8080", value_parser = address_or_off)]
    console: Where,
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
        let options = &lab.options.console;
        let Where::At(address) = options.console else { return Ok(Started::default()) };
        let advice = "choose another with --console ADDRESS:PORT, or --console off";
        let console = start_console(lab.process, lab.below(RECORDER), address, &options.access, advice)?;
        let row = |protocol, address: &str| Row {
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
