//! What a line needs of a driver.

use std::time::Duration;

/// A driver of what is at the end of a serial line, a base or an arm, without I/O. Times are those of a clock that begins anywhere.
pub trait SerialDriver: Send + 'static {
    /// The line was opened.
    fn opened(&mut self, now: Duration);

    /// The line was lost, or closed.
    fn lost(&mut self, now: Duration);

    /// Takes bytes up to the next measurement. `true`: there was one, it can be read, and there may be more in the rest; `false`: all was
    /// taken.
    fn receive(&mut self, now: Duration, bytes: &mut &[u8]) -> bool;

    /// Lets time pass.
    fn poll(&mut self, now: Duration);

    /// When [`SerialDriver::poll`] has to be called at the latest.
    fn deadline(&self) -> Option<Duration>;

    /// All bytes that are to be sent; none are left.
    fn transmit(&mut self) -> &[u8];

    /// Brings to rest what moves: the line is given to others.
    fn stop(&mut self);

    /// Whether everything at the end of the line is heard.
    fn is_alive(&self) -> bool;

    /// Whether motors are on.
    fn has_power(&self) -> bool;

    /// Switches the motors on or off. `false`: they may not be switched now.
    fn set_power(&mut self, now: Duration, on: bool) -> bool;

    /// Why nothing moves, or what is not heard.
    fn trouble(&self) -> Option<String>;
}
