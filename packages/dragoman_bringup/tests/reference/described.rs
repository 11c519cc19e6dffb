//! The services that descriptions of protocols name. Nobody writes their rows by hand.

use dragoman_protocol::model::Code;
use dragoman_protocol::{Protocol, protocols};

/// The namespaces of the lab's machines.
const NAMESPACES: [(&str, &str); 3] =
    [("/ranger", protocols::ARM31), ("/apolo", protocols::APOLO), ("/neobotix", protocols::NEOBOTIX)];

/// Names of the services that a node may have by the description of its machine, with what they mean there.
pub(super) fn services(node: &str, heading: &str) -> Vec<[String; 2]> {
    let Some((namespace, text)) = NAMESPACES.iter().find(|(namespace, _)| node.starts_with(namespace)) else {
        return Vec::new();
    };
    let protocol = Protocol::read(text).unwrap();
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
