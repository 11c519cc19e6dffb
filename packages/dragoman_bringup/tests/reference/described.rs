//! The services that descriptions of protocols name: their rows are generated.

use std::sync::LazyLock;

use dragoman_protocol::model::Code;
use dragoman_protocol::{Protocol, protocols};

/// The protocols of the lab's machines, by their namespaces. Read once: the tables are compared until the graph is complete.
static PROTOCOLS: LazyLock<[(&str, Protocol); 3]> = LazyLock::new(|| {
    [("/ranger", protocols::ARM31), ("/apolo", protocols::APOLO), ("/neobotix", protocols::NEOBOTIX)]
        .map(|(namespace, text)| (namespace, Protocol::read(text).unwrap()))
});

/// Names of the services that a node may have by the description of its machine, with what they mean there.
pub(super) fn services(node: &str, heading: &str) -> Vec<[String; 2]> {
    let Some((namespace, protocol)) = PROTOCOLS.iter().find(|(namespace, _)| node.starts_with(namespace))
    else {
        return Vec::new();
    };
    let named = protocol.messages.iter().filter_map(|message| {
        let code = match &message.code {
            Code::Number(number) => number.to_string(),
            Code::Text(text) => format!("`{text}`"),
        };
        let meaning = match heading {
            _ if heading.ends_with("server side") => format!("for {code}"),
            _ if heading.ends_with("client side") => format!("sends {code}"),
            _ => message.meaning.clone(),
        };
        message.ros_name().map(|name| [format!("{namespace}/{name}"), meaning])
    });
    named.collect()
}
