//! The motion pipeline on virtual time: paths of the Ranger thesis (`paths`), its rules (`rules`, `limits`), and random
//! commands (`storm`).

mod five_joints;
mod lab;
mod limits;
mod paths;
mod rules;
mod singular;
mod storm;
