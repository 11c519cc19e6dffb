//! Parameters (PlatformCtrl guide, 6.3 and 6.4). Table of the parameters: [`crate::parameters`].

use crate::codes::{ParameterCategory, ParameterType};
use crate::parameters::{Declaration, Value};

use super::field::layout;
use super::{Coded, Text};

layout! {
    /// CMD_SET_PLTF_PARAM.
    #[derive(Eq, Default)]
    pub struct SetParameter {
        pub key: Text,
        /// The value as text.
        pub value: Text,
    }

    /// CMD_GET_PLTF_PARAM.
    #[derive(Eq, Default)]
    pub struct GetParameter {
        pub key: Text,
    }

    /// Reply to CMD_GET_PLTF_PARAM, and one of those to CMD_GET_PLTF_PARAM_VEC.
    #[derive(Eq, Default)]
    pub struct ParameterReply {
        pub key: Text,
        /// The value as text.
        pub value: Text,
        /// INT.
        pub category: Coded<ParameterCategory>,
        /// INT.
        pub kind: Coded<ParameterType>,
        /// Minimum.
        pub minimum: i32,
        /// Maximum.
        pub maximum: i32,
    }

    /// Reply to CMD_GET_PLTF_PARAM_VEC.
    #[derive(Eq, Default)]
    pub struct ParameterReplies {
        /// All parameters.
        pub parameters: Vec<ParameterReply>,
    }
}

impl ParameterReply {
    /// A parameter with its value.
    pub fn new(declaration: &Declaration, value: Value) -> Self {
        Self {
            key: declaration.key.into(),
            value: value.to_string().into(),
            category: declaration.category.into(),
            kind: declaration.kind().into(),
            minimum: declaration.minimum,
            maximum: declaration.maximum,
        }
    }
}

#[cfg(test)]
#[allow(clippy::expect_used, reason = "a test may panic")]
mod tests {
    use crate::parameters::Parameters;

    use super::*;
    use crate::wire::{Framing, Message, Reply};

    #[test]
    fn replies_are_made_of_the_table() {
        let parameters = Parameters::default();
        let replies: Vec<_> =
            parameters.iter().map(|(declaration, value)| ParameterReply::new(declaration, value)).collect();
        assert_eq!(replies.len(), 94);
        for (reply, (declaration, value)) in replies.iter().zip(parameters.iter()) {
            assert_eq!(declaration.parse(&reply.value.to_str()), Ok(value));
            assert_eq!(reply.category.known(), Some(declaration.category));
        }
        let turn = replies.into_iter().find(|reply| reply.key.to_str() == "IpoRotvel").expect("a parameter");
        let bytes = Reply::GetPltfParam(turn).encode(Framing::Bare).expect("a message");
        let expected =
            b"\0\0\0\x25\x26\0\0\0\x09IpoRotvel\0\0\0\x030.6\0\0\0\x02\0\0\0\x02\0\0\0\0\0\0\0\x0a";
        assert_eq!(bytes, expected);
    }
}
