//! The interface between a line and a driver.

use std::time::Duration;

/// A driver of a device on a serial line, a base or an arm, without I/O. Times are those of a clock with any epoch.
pub trait SerialDriver: Send + 'static {
    /// The line was opened.
    fn handle_connected(&mut self, now: Duration);

    /// The line was lost, or closed.
    fn handle_disconnected(&mut self, now: Duration);

    /// Takes bytes up to the next measurement. `true`: there was one, it can be read, and bytes may remain; `false`:
    /// all bytes were taken.
    fn handle_bytes(&mut self, now: Duration, bytes: &mut &[u8]) -> bool;

    /// Advances the time.
    fn handle_timeout(&mut self, now: Duration);

    /// When [`SerialDriver::handle_timeout`] must be called at the latest.
    fn poll_timeout(&self) -> Option<Duration>;

    /// Takes all bytes to send.
    fn poll_transmit(&mut self) -> &[u8];

    /// Stops all motion before the line is closed.
    fn stop(&mut self);

    /// Whether all devices on the line respond.
    fn is_alive(&self) -> bool;

    /// Whether motors are on.
    fn has_power(&self) -> bool;

    /// Switches the motors on or off. `false`: they must not be switched now.
    fn set_power(&mut self, now: Duration, on: bool) -> bool;

    /// Why nothing moves, or which device does not respond.
    fn trouble(&self) -> Option<String>;
}

/// In an implementation of [`SerialDriver`]: the methods that call those of the driver with the same names.
#[macro_export]
macro_rules! forward_to_driver {
    () => {
        fn handle_connected(&mut self, now: ::std::time::Duration) {
            self.handle_connected(now);
        }

        fn handle_disconnected(&mut self, now: ::std::time::Duration) {
            self.handle_disconnected(now);
        }

        fn handle_bytes(&mut self, now: ::std::time::Duration, bytes: &mut &[u8]) -> bool {
            self.handle_bytes(now, bytes)
        }

        fn handle_timeout(&mut self, now: ::std::time::Duration) {
            self.handle_timeout(now);
        }

        fn poll_timeout(&self) -> ::core::option::Option<::std::time::Duration> {
            self.poll_timeout()
        }

        fn poll_transmit(&mut self) -> &[u8] {
            self.poll_transmit()
        }
    };
}
