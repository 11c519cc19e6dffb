//! The queue of PT motion: the tables `QP` and `QT`, and the parameters `MP` that determine how they are read.

use dragoman_arm::simpliq::commands::{error, motion};
use dragoman_arm::simpliq::{QUEUE_ROWS, emergencies};

/// Rows, and their validity.
///
/// The rows from the read pointer up to the one before `MP[6]` are queued. If none is queued, but all rows from `MP[1]`
/// to `MP[2]` were written by `QP`, a cyclic motion repeats them endlessly, and a motion that is not cyclic executes
/// them once: the method of the Ranger thesis, which never changes `MP[6]`.
#[derive(Debug)]
pub(super) struct Queue {
    positions: Vec<i32>,
    times: Vec<i32>,
    /// Rows written by `QP`.
    is_written: Vec<bool>,
    first: u16,
    last: u16,
    cyclic: u16,
    /// Number of position loops between two rows.
    pub(super) sample_ratio: u16,
    low_mark: u16,
    write: u16,
    read: u16,
    /// Number of queued rows from the read pointer on.
    queued: u16,
    /// All rows were written since the write pointer was set.
    is_full: bool,
    /// The start row was set since the last motion.
    is_start_set: bool,
    is_running: bool,
    is_endless: bool,
    is_low: bool,
}

/// Step after a row.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Continue; the position of the next row, and of the one after it if there is one.
    Row(i32, Option<i32>),
    /// That was the last row.
    End,
}

impl Queue {
    pub(super) fn new() -> Self {
        Self {
            positions: vec![0; usize::from(QUEUE_ROWS)],
            times: vec![0; usize::from(QUEUE_ROWS)],
            is_written: vec![false; usize::from(QUEUE_ROWS)],
            first: 1,
            last: QUEUE_ROWS,
            cyclic: 0,
            sample_ratio: 1,
            low_mark: 0,
            write: 1,
            read: 1,
            queued: 0,
            is_full: false,
            is_start_set: false,
            is_running: false,
            is_endless: false,
            is_low: false,
        }
    }

    /// The last row that the motion has reached.
    pub(super) fn read_row(&self) -> u16 {
        self.read
    }

    /// `MP`.
    pub(super) fn parameter(&self, index: u16) -> Option<i32> {
        Some(i32::from(match index {
            motion::FIRST_ROW => self.first,
            motion::LAST_ROW => self.last,
            motion::CYCLIC => self.cyclic,
            motion::SAMPLE_RATIO => self.sample_ratio,
            motion::LOW_MARK => self.low_mark,
            motion::WRITE_ROW => self.write,
            _ => return None,
        }))
    }

    /// Sets `MP`; during a motion only the low mark and the write pointer.
    pub(super) fn set_parameter(&mut self, index: u16, value: i32) -> Result<(), u8> {
        let value = u16::try_from(value).map_err(|_| error::OUT_OF_RANGE)?;
        let (range, place) = match index {
            motion::FIRST_ROW => (1..=QUEUE_ROWS, &mut self.first),
            motion::LAST_ROW => (1..=QUEUE_ROWS, &mut self.last),
            motion::CYCLIC => (0..=1, &mut self.cyclic),
            motion::SAMPLE_RATIO => (1..=255, &mut self.sample_ratio),
            motion::LOW_MARK => (0..=QUEUE_ROWS, &mut self.low_mark),
            motion::WRITE_ROW => (1..=QUEUE_ROWS, &mut self.write),
            _ => return Err(error::BAD_INDEX),
        };
        if !range.contains(&value) {
            return Err(error::OUT_OF_RANGE);
        }
        if self.is_running && !matches!(index, motion::LOW_MARK | motion::WRITE_ROW) {
            return Err(error::NOT_READY);
        }
        *place = value;
        if index == motion::WRITE_ROW && !self.is_running && !self.is_start_set {
            self.read = self.write;
        }
        if index != motion::LOW_MARK && index != motion::SAMPLE_RATIO {
            self.is_full = false;
            self.count();
        }
        Ok(())
    }

    /// `QP`.
    pub(super) fn position(&self, row: u16) -> Option<i32> {
        self.positions.get(place(row)?).copied()
    }

    /// Sets `QP`; does not move the write pointer.
    pub(super) fn set_position(&mut self, row: u16, value: i32) -> Result<(), u8> {
        let at = place(row).ok_or(error::BAD_INDEX)?;
        *self.positions.get_mut(at).ok_or(error::BAD_INDEX)? = value;
        *self.is_written.get_mut(at).ok_or(error::BAD_INDEX)? = true;
        Ok(())
    }

    /// `QT`.
    pub(super) fn time(&self, row: u16) -> Option<i32> {
        self.times.get(place(row)?).copied()
    }

    /// Sets `QT`, which is stored without effect; the times of the rows are those of `MP[4]`.
    pub(super) fn set_time(&mut self, row: u16, value: i32) -> Result<(), u8> {
        if !(0..=i32::from(u16::MAX)).contains(&value) {
            return Err(error::OUT_OF_RANGE);
        }
        *place(row).and_then(|at| self.times.get_mut(at)).ok_or(error::BAD_INDEX)? = value;
        Ok(())
    }

    /// Sets the start row of the next motion.
    pub(super) fn start_at(&mut self, row: i32) -> Result<(), u8> {
        let row = u16::try_from(row).map_err(|_| error::OUT_OF_RANGE)?;
        if self.is_running {
            return Err(error::NOT_READY);
        }
        if !(self.first..=self.last).contains(&row) {
            return Err(error::OUT_OF_RANGE);
        }
        (self.read, self.is_start_set) = (row, true);
        self.count();
        Ok(())
    }

    /// Writes positions at the write pointer, all or none.
    ///
    /// # Errors
    /// The emergency code.
    pub(super) fn put(&mut self, positions: &[i32]) -> Result<(), u8> {
        let rows = self.rows();
        let end = usize::from(self.write) + positions.len();
        let is_outside = !(self.first..=self.last).contains(&self.write)
            || !self.is_cyclic() && end > usize::from(self.last) + 1;
        if is_outside {
            return Err(emergencies::code::BAD_HEAD);
        }
        if usize::from(self.queued) + positions.len() > usize::from(rows) || self.is_endless {
            return Err(emergencies::code::QUEUE_FULL);
        }
        for position in positions {
            if let Some(row) = place(self.write).and_then(|at| self.positions.get_mut(at)) {
                *row = *position;
            }
            // Behind the last row if the queue is not cyclic: then nothing more can be written.
            self.write = self.after(self.write).unwrap_or(self.last + 1);
            self.queued += 1;
        }
        self.is_full = self.queued == rows;
        self.is_low &= self.is_short();
        Ok(())
    }

    /// Begins a motion; returns the position of its first row.
    pub(super) fn begin(&mut self) -> Result<i32, u8> {
        let rows = self.first..=self.last;
        let is_write_row = rows.contains(&self.write) || !self.is_cyclic() && self.write == self.last + 1;
        if self.first >= self.last || !rows.contains(&self.read) || !is_write_row {
            return Err(error::BAD_INITIAL_DATA);
        }
        if self.queued == 0 {
            let all = usize::from(self.first - 1)..usize::from(self.last);
            if !self.is_written.get(all).is_some_and(|rows| rows.iter().all(|is_written| *is_written)) {
                return Err(error::BAD_INITIAL_DATA);
            }
            self.queued = if self.is_cyclic() { self.rows() } else { self.last - self.read + 1 };
            self.is_endless = self.is_cyclic();
        }
        if self.queued < 2 {
            self.is_endless = false;
            return Err(error::BAD_INITIAL_DATA);
        }
        self.is_running = true;
        self.is_low = self.is_short();
        self.position(self.read).ok_or(error::BAD_INITIAL_DATA)
    }

    /// The step after the current row.
    pub(super) fn next(&self) -> Next {
        let Some(next) = self.after(self.read).filter(|_| self.ahead() > 0) else { return Next::End };
        let behind = self.after(next).filter(|_| self.ahead() > 1).and_then(|row| self.position(row));
        match self.position(next) {
            Some(position) => Next::Row(position, behind),
            None => Next::End,
        }
    }

    /// The next row was reached; returns whether the queue has become low.
    pub(super) fn reach_next(&mut self) -> bool {
        if let Some(next) = self.after(self.read) {
            self.read = next;
        }
        if self.is_endless {
            return false;
        }
        self.queued = self.queued.saturating_sub(1);
        self.is_full = false;
        let was_low = self.is_low;
        self.is_low = self.is_short();
        self.is_low && !was_low
    }

    /// The motion has ended, or its preparation was cancelled.
    pub(super) fn end(&mut self) {
        self.is_running = false;
        self.is_endless = false;
        self.is_start_set = false;
        self.count();
    }

    /// An emergency with the write and the read pointer.
    pub(super) fn emergency(&self, code: u8) -> dragoman_arm::canopen::Emergency {
        emergencies::queue_emergency(code, self.write, self.read)
    }

    /// Number of rows queued after the current one.
    fn ahead(&self) -> u16 {
        self.queued.saturating_sub(1)
    }

    fn is_cyclic(&self) -> bool {
        self.cyclic == 1
    }

    fn is_short(&self) -> bool {
        self.low_mark > 0 && self.ahead() <= self.low_mark
    }

    fn rows(&self) -> u16 {
        (self.last + 1).saturating_sub(self.first)
    }

    fn after(&self, row: u16) -> Option<u16> {
        if row < self.last { Some(row + 1) } else { self.is_cyclic().then_some(self.first) }
    }

    /// Counts the rows from the read pointer to the write pointer. If both are equal, all rows are queued if they were
    /// written at the pointer or a motion is running; otherwise none.
    fn count(&mut self) {
        let rows = self.rows();
        if self.is_endless || rows == 0 {
            return;
        }
        self.queued = if self.write >= self.read {
            self.write - self.read
        } else if self.is_cyclic() {
            (self.write + rows).saturating_sub(self.read)
        } else {
            0
        };
        if self.queued == 0 && (self.is_running || self.is_full) {
            self.queued = rows;
        }
    }
}

fn place(row: u16) -> Option<usize> {
    (1..=QUEUE_ROWS).contains(&row).then(|| usize::from(row) - 1)
}
