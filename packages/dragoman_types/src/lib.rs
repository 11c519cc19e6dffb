//! Messages of ROS whose types are known at run time only: their definitions, CDR and JSON.
//!
//! | module | content |
//! | --- | --- |
//! | [`schema`] | types, from the text of their definitions |
//! | [`cdr`] | serialized messages of such types |
//! | [`json`] | to JSON and back, with rosbridge's conventions |
//!
//! ```
//! use dragoman_types::json;
//! use dragoman_types::schema::{Builtin, Types};
//!
//! let types = Types::new(vec![Box::new(Builtin::default())]);
//! let point = types.message("geometry_msgs/Point")?;
//! let data = json::to_cdr(&point, &serde_json::json!({ "x": 1.5 }))?;
//! assert_eq!(json::from_cdr(&point, &data)?, r#"{"x":1.5,"y":0.0,"z":0.0}"#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

pub mod cdr;
pub mod json;
pub mod schema;

include!(concat!(env!("OUT_DIR"), "/every_type.rs"));
