//! Joysticks: the meaning of axes and buttons, and Linux' joystick devices without libraries.

use std::io::Read;

/// The axes and buttons of a joystick, by their numbers in `sensor_msgs/Joy` or of the device.
#[derive(Debug, Clone)]
pub(super) struct Mapping {
    /// Axes that move along, or turn about, x, y and z.
    pub(super) axes: [usize; 3],
    /// Nothing moves unless it is pressed.
    pub(super) dead_man: usize,
    /// While it is pressed the axes turn the tool.
    pub(super) turn: usize,
}

/// Deflection that counts as none: sticks do not return to exactly zero.
const DEAD_ZONE: f64 = 0.1;

impl Mapping {
    /// Deflections along and about x, y, z, -1 to 1; `None` unless the dead-man button is pressed.
    pub(super) fn deflection(&self, axes: &[f64], buttons: &[bool]) -> Option<[f64; 6]> {
        let pressed = |button: usize| buttons.get(button).copied().unwrap_or_default();
        if !pressed(self.dead_man) {
            return None;
        }
        let mut deflection = [0.0; 6];
        let first = if pressed(self.turn) { 3 } else { 0 };
        for (to, axis) in deflection.iter_mut().skip(first).zip(self.axes) {
            let value = axes.get(axis).copied().filter(|value| value.is_finite()).unwrap_or_default();
            *to = if value.abs() < DEAD_ZONE { 0.0 } else { value.clamp(-1.0, 1.0) };
        }
        Some(deflection)
    }
}

/// Size of an event of `/dev/input/js*`: time in ms (u32), value (i16), type, number.
/// Source: Linux kernel, "Programming Interface" of the joystick API.
const EVENT_LEN: usize = 8;
const BUTTON: u8 = 1;
const AXIS: u8 = 2;
/// Flag of the events that report the state at the start.
const INITIAL: u8 = 0x80;

/// The state of a joystick device.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Joystick {
    /// -1 to 1; up and left are positive, as in `sensor_msgs/Joy`.
    pub(super) axes: Vec<f64>,
    pub(super) buttons: Vec<bool>,
}

impl Joystick {
    fn handle_event(&mut self, event: [u8; EVENT_LEN]) {
        let [_, _, _, _, low, high, kind, number] = event;
        let value = i16::from_le_bytes([low, high]);
        let number = usize::from(number);
        match kind & !INITIAL {
            BUTTON => *slot(&mut self.buttons, number) = value != 0,
            AXIS => *slot(&mut self.axes, number) = -(f64::from(value) / f64::from(i16::MAX)).max(-1.0),
            _ => {}
        }
    }

    /// Reads events until the device ends or `report` returns false.
    pub(super) fn read(mut device: impl Read, mut report: impl FnMut(&Self) -> bool) -> std::io::Result<()> {
        let mut joystick = Self::default();
        let mut event = [0; EVENT_LEN];
        loop {
            device.read_exact(&mut event)?;
            joystick.handle_event(event);
            if !report(&joystick) {
                return Ok(());
            }
        }
    }
}

fn slot<T: Default + Clone>(list: &mut Vec<T>, number: usize) -> &mut T {
    if list.len() <= number {
        list.resize(number + 1, T::default());
    }
    #[expect(clippy::indexing_slicing, reason = "the list was made long enough")]
    &mut list[number]
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPPING: Mapping = Mapping { axes: [1, 0, 4], dead_man: 4, turn: 5 };

    #[test]
    fn only_the_dead_man_button_lets_the_sticks_move() {
        let axes = [0.5, -2.0, 1.0, 1.0, 0.05];
        let buttons = |pressed: &[usize]| (0..6).map(|button| pressed.contains(&button)).collect::<Vec<_>>();
        assert_eq!(MAPPING.deflection(&axes, &buttons(&[])), None);
        assert_eq!(MAPPING.deflection(&axes, &buttons(&[5])), None);
        assert_eq!(MAPPING.deflection(&axes, &buttons(&[4])), Some([-1.0, 0.5, 0.0, 0.0, 0.0, 0.0]));
        assert_eq!(MAPPING.deflection(&axes, &buttons(&[4, 5])), Some([0.0, 0.0, 0.0, -1.0, 0.5, 0.0]));
        assert_eq!(MAPPING.deflection(&[f64::NAN, f64::INFINITY], &buttons(&[4])), Some([0.0; 6]));
        assert_eq!(MAPPING.deflection(&[], &[]), None);
    }

    #[test]
    fn events_of_the_device_are_read_and_its_end_is_an_error() {
        let event = |value: i16, kind: u8, number: u8| {
            let [low, high] = value.to_le_bytes();
            [1, 2, 3, 4, low, high, kind, number]
        };
        let events =
            [event(0, 0x81, 4), event(-32767, 2, 1), event(1, 1, 4), event(i16::MIN, 2, 0), event(7, 9, 9)];
        let mut states = Vec::new();
        let error = Joystick::read(events.concat().as_slice(), |state| {
            states.push(state.clone());
            true
        });
        assert_eq!(error.unwrap_err().kind(), std::io::ErrorKind::UnexpectedEof);
        assert_eq!(states[1], Joystick { axes: vec![0.0, 1.0], buttons: vec![false; 5] });
        let last = Joystick { axes: vec![1.0, 1.0], buttons: vec![false, false, false, false, true] };
        assert_eq!(states[3], last);
        assert_eq!(states[4], last);
    }
}
