//! Lines and tables of received frames.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

use dragoman_arm::canopen::Service;
use dragoman_arm::describe::describe;
use dragoman_io::can::statistics::BusStatistics;
use dragoman_io::can::{Frame, Received};

/// Period of the summaries, and averaging time of their rates.
const PERIOD: Duration = Duration::from_secs(1);
/// Maximum number of identifiers in the table; a normal bus has far fewer.
const MAX_ROWS: usize = 512;
/// Clears a terminal from the top.
const REPAINT: &str = "\x1b[H\x1b[J";

/// Shows received frames, each one or as a table. Times are since the start.
pub(super) struct Monitor<W> {
    output: W,
    bit_rate: u32,
    statistics: BusStatistics,
    due: Duration,
    faults: u64,
    emergencies: u64,
    /// `None` if every frame is shown.
    table: Option<Table>,
}

struct Table {
    repaint: bool,
    rows: BTreeMap<String, IdentifierRow>,
    beyond: u64,
    last_fault: String,
}

struct IdentifierRow {
    frame: Frame,
    at: Duration,
    count: u64,
    /// Frames in the previous period, and in the present one.
    rate: (u64, u64),
}

impl<W: Write> Monitor<W> {
    /// For a bus of `bit_rate` bit/s. With `summary` a table at the end; with `repaint` in every period.
    pub(super) fn new(output: W, bit_rate: u32, summary: bool, repaint: bool) -> Self {
        let table = Table { repaint, rows: BTreeMap::new(), beyond: 0, last_fault: String::new() };
        Self {
            output,
            bit_rate,
            statistics: BusStatistics::new(bit_rate, PERIOD),
            due: PERIOD,
            faults: 0,
            emergencies: 0,
            table: summary.then_some(table),
        }
    }

    /// When [`Monitor::advance`] must be called.
    pub(super) fn due(&self) -> Duration {
        self.due
    }

    /// Takes a frame or fault.
    pub(super) fn show(&mut self, now: Duration, received: &Received) -> io::Result<()> {
        let seconds = now.as_secs_f64();
        match received {
            Received::Frame(frame) => {
                self.statistics.count(now, frame);
                let described = describe(frame);
                self.emergencies += u64::from(matches!(described.service, Some(Service::Emergency(_))));
                if let Some(table) = &mut self.table {
                    table.count(now, frame);
                    return Ok(());
                }
                let service = service_name(described.service);
                let line = format!(
                    "{seconds:12.6}  {service:15}  {frame:20}  {}",
                    described.text,
                    frame = frame.to_string()
                );
                writeln!(self.output, "{}", line.trim_end())
            }
            Received::Fault(fault) => {
                self.faults += 1;
                if let Some(table) = &mut self.table {
                    table.last_fault = format!("; last, at {seconds:.3} s: {fault}");
                    return Ok(());
                }
                writeln!(self.output, "{seconds:12.6}  BUS              {fault}")
            }
        }
    }

    /// Writes the summary if it is due; returns whether it was.
    pub(super) fn advance(&mut self, now: Duration) -> io::Result<bool> {
        if now < self.due {
            return Ok(false);
        }
        // One for a gap, which in a recording may be as long as a jump of its clock.
        let end = std::mem::replace(&mut self.due, PERIOD * (now.as_secs() as u32).saturating_add(1));
        self.statistics.advance(end);
        match &mut self.table {
            None => self.write_summary(end)?,
            Some(Table { repaint: true, .. }) => self.write_table(end)?,
            Some(_) => {}
        }
        if let Some(table) = &mut self.table {
            table.rows.values_mut().for_each(|row| row.rate = (row.rate.1, 0));
        }
        Ok(true)
    }

    /// Flushes the output.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }

    /// Writes the end: the table, or a last summary.
    pub(super) fn finish(&mut self, now: Duration) -> io::Result<()> {
        self.statistics.advance(now);
        match &self.table {
            None => self.write_summary(now)?,
            Some(_) => self.write_table(now)?,
        }
        self.flush()
    }

    fn write_summary(&mut self, now: Duration) -> io::Result<()> {
        let last_fault = self.table.as_ref().map_or("", |table| &table.last_fault);
        writeln!(
            self.output,
            "---- {:.1} s: {:.0} frames/s, load {:.1} % of {} kbit/s; {} frames, {} emergencies, {} bus faults{last_fault}",
            now.as_secs_f64(),
            self.statistics.frame_rate(),
            100.0 * self.statistics.load(),
            f64::from(self.bit_rate) / 1000.0,
            self.statistics.total(),
            self.emergencies,
            self.faults,
        )
    }

    fn write_table(&mut self, now: Duration) -> io::Result<()> {
        if self.table.as_ref().is_some_and(|table| table.repaint) {
            self.output.write_all(REPAINT.as_bytes())?;
        }
        self.write_summary(now)?;
        let Some(table) = &self.table else { return Ok(()) };
        writeln!(self.output, "{:15}  {:>9}  {:>8}  {:>9}  LAST", "WHAT", "FRAMES", "FRAMES/s", "AGE, s")?;
        for row in table.rows.values() {
            let described = describe(&row.frame);
            let line = format!(
                "{:15}  {:>9}  {:>8}  {:>9.3}  {:20}  {}",
                service_name(described.service),
                row.count,
                // In the first period there is no previous one.
                if now <= PERIOD { row.rate.1 } else { row.rate.0 },
                now.saturating_sub(row.at).as_secs_f64(),
                row.frame.to_string(),
                described.text
            );
            writeln!(self.output, "{}", line.trim_end())?;
        }
        if table.beyond > 0 {
            writeln!(self.output, "and {} frames with other identifiers", table.beyond)?;
        }
        Ok(())
    }
}

impl Table {
    fn count(&mut self, now: Duration, frame: &Frame) {
        // Sorted as written, extended identifiers last.
        let id = frame.to_string().split('#').next().map(|id| format!("{id:>8}")).unwrap_or_default();
        if self.rows.len() >= MAX_ROWS && !self.rows.contains_key(&id) {
            self.beyond += 1;
            return;
        }
        let row =
            self.rows.entry(id).or_insert(IdentifierRow { frame: *frame, at: now, count: 0, rate: (0, 0) });
        (row.frame, row.at) = (*frame, now);
        row.count += 1;
        row.rate.1 += 1;
    }
}

fn service_name(service: Option<Service>) -> String {
    service.map_or_else(|| "-".to_owned(), |service| service.to_string())
}

#[cfg(test)]
mod tests {
    use dragoman_io::can::BusFault;

    use super::*;

    fn milliseconds(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    fn frame(text: &str) -> Received {
        Received::Frame(text.parse().unwrap())
    }

    fn shown(summary: bool, repaint: bool, received: &[(u64, Received)]) -> String {
        let mut output = Vec::new();
        let mut monitor = Monitor::new(&mut output, 500_000, summary, repaint);
        for (at, received) in received {
            monitor.advance(milliseconds(*at)).unwrap();
            monitor.show(milliseconds(*at), received).unwrap();
        }
        monitor.finish(milliseconds(2500)).unwrap();
        String::from_utf8(output).unwrap()
    }

    fn traffic() -> Vec<(u64, Received)> {
        let mut traffic: Vec<_> = (0..100).map(|cycle| (10 * cycle, frame("080#"))).collect();
        traffic.push((999, frame("0E5#3081110000000000")));
        traffic.push((1000, Received::Fault(BusFault::Passive)));
        traffic.push((1500, frame("2E5#5058000039300000")));
        traffic.push((2000, frame("2E5#505800003A300000")));
        traffic
    }

    #[test]
    fn frames_are_lines_and_every_second_has_a_summary() {
        let shown = shown(false, false, &traffic());
        let lines: Vec<_> = shown.lines().collect();
        assert_eq!(lines.len(), 107, "{shown}");
        assert_eq!(lines[0], "    0.000000  SYNC             080#");
        assert!(lines[100].ends_with("0x8130 heartbeat of the master lost, register 0x11"), "{}", lines[100]);
        assert!(lines[101].starts_with("---- 1.0 s: 100 frames/s, load "), "{}", lines[101]);
        assert!(lines[101].ends_with("101 frames, 1 emergencies, 0 bus faults"), "{}", lines[101]);
        assert_eq!(lines[102], "    1.000000  BUS              the CAN controller is error-passive");
        assert!(lines[103].starts_with("    1.500000  TPDO2 101        2E5#5058000039300000  PX: 12345 "));
        assert!(lines[104].starts_with("---- 2.0 s: 1 frames/s"), "{}", lines[104]);
        assert!(lines[106].ends_with("103 frames, 1 emergencies, 1 bus faults"), "{}", lines[106]);
    }

    #[test]
    fn the_load_is_that_of_the_bit_rate() {
        // 1000 frames of 47 bits and some stuff bits in a second.
        let traffic: Vec<_> =
            (0..1000).map(|at| (at, frame("555#"))).chain([(1000, frame("555#"))]).collect();
        let shown = shown(false, false, &traffic);
        let summary = shown.lines().find(|line| line.starts_with("----")).unwrap();
        let load = summary.split("load ").nth(1).unwrap().split(' ').next().unwrap().parse::<f64>().unwrap();
        assert!((9.4..10.0).contains(&load), "{summary}");
    }

    #[test]
    fn a_gap_has_one_summary() {
        let shown = shown(false, false, &[(0, frame("080#")), (3_600_000, frame("080#"))]);
        assert_eq!(shown.lines().count(), 4, "{shown}");
    }

    #[test]
    fn the_table_has_the_last_frame_of_every_identifier() {
        let shown = shown(true, false, &traffic());
        let lines: Vec<_> = shown.lines().collect();
        assert!(
            lines[0].ends_with("1 bus faults; last, at 1.000 s: the CAN controller is error-passive"),
            "{shown}"
        );
        assert_eq!(lines[2], "SYNC                   100         0      1.510  080#");
        assert!(lines[3].starts_with("EMCY 101                 1"), "{shown}");
        assert!(
            lines[4].starts_with(
                "TPDO2 101                2         1      0.500  2E5#505800003A300000  PX: 12346"
            )
        );
        assert_eq!(lines.len(), 5);
    }

    #[test]
    fn a_terminal_is_painted_again_every_second_and_at_the_end() {
        let painted = shown(true, true, &traffic());
        assert_eq!(painted.matches(REPAINT).count(), 3, "{painted}");
        assert_eq!(painted.rsplit(REPAINT).next(), Some(shown(true, false, &traffic()).as_str()));
    }

    #[test]
    fn the_table_is_bounded_on_a_bus_full_of_random_frames() {
        let rubbish: Vec<_> = (0..2000_u32).map(|id| (0, frame(&format!("{id:08X}#")))).collect();
        let shown = shown(true, false, &rubbish);
        assert_eq!(shown.lines().count(), 2 + MAX_ROWS + 1);
        assert!(shown.ends_with(&format!("and {} frames with other identifiers\n", 2000 - MAX_ROWS)));
    }
}
