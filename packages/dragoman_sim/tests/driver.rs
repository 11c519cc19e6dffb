//! The driver of `dragoman_arm` against simulated drives, frame by frame, on virtual time.

#[path = "driver/faults.rs"]
mod faults;
#[path = "driver/lab.rs"]
mod lab;
#[path = "driver/motion.rs"]
mod motion;
