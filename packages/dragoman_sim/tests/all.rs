//! All tests of devices with their drivers in one program, which is linked once.

mod driver;
mod driver_in_process;
mod host;
mod kobuki;
mod pauses;
mod rack;
mod widowx;
