//! The text of each definition with those of all nested types, for recorders.
//!
//! The parser makes such texts too, but repeats a type for each that contains it: some have a thousand parts.

use std::collections::{BTreeMap, BTreeSet};

use roslibrust_codegen::{FieldInfo, MessageFile};

use crate::emit::Packages;

/// Messages by `package/Name`.
type Messages<'a> = BTreeMap<String, &'a MessageFile>;

/// The definitions by type name.
pub(crate) fn definitions(packages: &Packages<'_>) -> BTreeMap<String, String> {
    let messages = packages.values().flat_map(|package| &package.messages);
    let messages: Messages<'_> = messages.map(|message| (message.get_full_name(), *message)).collect();
    let mut definitions = BTreeMap::new();
    for (name, package) in packages {
        let mut add = |type_name: String, text: String| {
            definitions.insert(format!("{name}/{type_name}"), text);
        };
        for message in &package.messages {
            add(format!("msg/{}", message.get_short_name()), definition(message, &messages));
        }
        for service in &package.services {
            let short = service.get_short_name();
            add(format!("srv/{short}_Request"), definition(service.request(), &messages));
            add(format!("srv/{short}_Response"), definition(service.response(), &messages));
        }
        for (action, parts) in &package.actions {
            for (part, message) in parts {
                add(format!("action/{action}_{part}"), definition(message, &messages));
            }
            if let Some(feedback) = parts.get("Feedback") {
                let mut text = "unique_identifier_msgs/UUID goal_id\n".to_owned();
                text += &format!("{action}_Feedback feedback");
                text += &nested(&format!("{name}/{action}_Feedback"), &definition(feedback, &messages));
                text += &nested("unique_identifier_msgs/UUID", "uint8[16] uuid");
                add(format!("action/{action}_FeedbackMessage"), text);
            }
        }
    }
    definitions
}

/// The text of a structure, and that of each type in it, once.
fn definition(message: &MessageFile, messages: &Messages<'_>) -> String {
    let mut names = BTreeSet::new();
    collect_nested(message.get_fields(), messages, &mut names);
    let mut text = message.parsed.source.trim().to_owned();
    for name in names {
        if let Some(message) = messages.get(&name) {
            text += &nested(&name, message.parsed.source.trim());
        }
    }
    text
}

fn collect_nested(fields: &[FieldInfo], messages: &Messages<'_>, names: &mut BTreeSet<String>) {
    for field in fields {
        let name = field.get_full_type_name();
        // Others are primitive.
        if let Some(message) = messages.get(&name)
            && names.insert(name)
        {
            collect_nested(message.get_fields(), messages, names);
        }
    }
}

/// A part for a nested type, as `rosbag2` and MCAP have them.
fn nested(name: &str, text: &str) -> String {
    format!("\n{}\nMSG: {name}\n{text}", "=".repeat(80))
}
