//! rustdds 0.15.1 as published, with patches. The source is not in this repository:
//!
//! | place | content |
//! | --- | --- |
//! | `build.rs` | copies the published source from cargo's registry, and applies the patches |
//! | `patches/` | the changes, one file each; the message of each says why, and which test needs it |
//! | `README.md` | how to add a patch, and how to follow a release of rustdds |
//! | `OUT_DIR/src/` | the result, which the line below includes |

#![allow(warnings, clippy::all, clippy::pedantic)]

include!(concat!(env!("OUT_DIR"), "/src/crate.rs"));
