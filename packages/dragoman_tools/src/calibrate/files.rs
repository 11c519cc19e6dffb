//! Measurements in CSV files: a header, then numbers; lines that begin with # are comments. Angles in radians, lengths
//! in metres. Further columns are named once, and ignored.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use dragoman_kinematics::calibration::Measurement;
use dragoman_kinematics::evaluation::Sample;
use dragoman_kinematics::nalgebra::Point3;

use super::Result;

/// One arc of a joint.
pub(super) enum Arc {
    /// Its length and radius, m.
    Length { counts: f64, length: f64, radius: f64 },
    /// Positions at encoder counts.
    Points(Vec<(f64, Point3<f64>)>),
}

/// A file as rows of the wanted columns.
struct Rows {
    shown: String,
    header: Vec<String>,
    records: Vec<csv::StringRecord>,
}

impl Rows {
    fn read(path: &Path) -> Result<Self> {
        let shown = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|error| format!("{shown}: {error}"))?;
        let (text, note) = dragoman_text::decode(&bytes);
        if let Some(note) = note {
            eprintln!("{shown}: warning: {note}");
        }
        Self::of(shown, &text)
    }

    fn of(shown: String, text: &str) -> Result<Self> {
        let failed = |error: csv::Error| format!("{shown}: {error}");
        let mut reader =
            csv::ReaderBuilder::new().trim(csv::Trim::All).comment(Some(b'#')).from_reader(text.as_bytes());
        let header: Vec<String> = reader.headers().map_err(failed)?.iter().map(str::to_owned).collect();
        let (mut records, mut record) = (Vec::new(), csv::StringRecord::new());
        let (mut read, mut ended) = (0, 0);
        while reader.read_record(&mut record).map_err(failed)? {
            // The library does not count the lines of comments.
            let mut position = reader.position().clone();
            let end = usize::try_from(position.byte()).unwrap_or(text.len());
            let lines = text.get(read..end).unwrap_or_default();
            ended += lines.matches('\n').count() as u64;
            position.set_line(ended + u64::from(!lines.ends_with('\n')));
            record.set_position(Some(position));
            records.push(record.clone());
            read = end;
        }
        if let [only] = header.as_slice()
            && let Some(separator) = only.chars().find(|letter| matches!(letter, ';' | '\t'))
        {
            let reason = format!("columns are separated by commas; in the first line there is {separator:?}");
            return Err(format!("{shown}: {reason}").into());
        }
        if records.is_empty() {
            return Err(format!("{shown} has no rows").into());
        }
        Ok(Self { shown, header, records })
    }

    fn has(&self, name: &str) -> bool {
        self.header.iter().any(|column| column == name)
    }

    fn column(&self, name: &str) -> Result<usize> {
        let mut found = self.header.iter().enumerate().filter(|(_, column)| *column == name);
        match (found.next(), found.next()) {
            (Some((index, _)), None) => Ok(index),
            (Some(_), Some(_)) => Err(format!("{}: column {name} exists twice", self.shown).into()),
            (None, _) => {
                let header = self.header.join(", ");
                let similar = dragoman_text::nearest(name, self.header.iter().map(String::as_str));
                let similar = similar.map(|name| format!("; there is {name}")).unwrap_or_default();
                Err(format!(
                    "{}: there is no column {name}{similar}; the first line must name the columns, it is: {header}",
                    self.shown
                )
                .into())
            }
        }
    }

    /// The columns that are none of these.
    fn others(&self, used: &[usize]) -> Vec<&str> {
        let columns = self.header.iter().enumerate().filter(|(index, _)| !used.contains(index));
        columns.map(|(_, name)| name.as_str()).collect()
    }

    /// Names the columns that are not used.
    fn warn_of_others(&self, used: &[usize]) {
        let others = self.others(used);
        if !others.is_empty() {
            eprintln!("{}: warning: columns that are not used: {}", self.shown, others.join(", "));
        }
    }

    fn text<'a>(&self, record: &'a csv::StringRecord, column: usize) -> &'a str {
        record.get(column).unwrap_or_default()
    }

    /// NaN and infinity are numbers here; the calibration names and refuses them.
    fn number(&self, record: &csv::StringRecord, column: usize) -> Result<f64> {
        let text = self.text(record, column);
        let line = record.position().map_or(0, csv::Position::line);
        let name = self.header.get(column).map_or("", String::as_str);
        Ok(text
            .parse()
            .map_err(|_| format!("{}: line {line}: {name} is not a number: {text:?}", self.shown))?)
    }
}

/// Joint positions.
pub(super) fn joints(path: &Path, joints: &[&str]) -> Result<Vec<Vec<f64>>> {
    let rows = Rows::read(path)?;
    let columns = joints.iter().map(|name| rows.column(name)).collect::<Result<Vec<_>>>()?;
    rows.warn_of_others(&columns);
    let row =
        |record: &csv::StringRecord| columns.iter().map(|column| rows.number(record, *column)).collect();
    rows.records.iter().map(row).collect()
}

/// Joint positions and measured points.
pub(crate) fn measurements(path: &Path, joints: &[&str]) -> Result<Vec<Measurement>> {
    let rows = Rows::read(path)?;
    let columns = joints.iter().map(|name| rows.column(name)).collect::<Result<Vec<_>>>()?;
    let [x, y, z] = [rows.column("x")?, rows.column("y")?, rows.column("z")?];
    rows.warn_of_others(&[columns.as_slice(), &[x, y, z]].concat());
    let row = |record: &csv::StringRecord| {
        let joints = columns.iter().map(|column| rows.number(record, *column)).collect::<Result<Vec<_>>>()?;
        let number = |column| rows.number(record, column);
        Ok(Measurement { joints, point: Point3::new(number(x)?, number(y)?, number(z)?) })
    };
    rows.records.iter().map(row).collect()
}

/// Arcs by the names of their joints.
pub(super) fn arcs(path: &Path) -> Result<BTreeMap<String, Arc>> {
    let rows = Rows::read(path)?;
    let (joint, counts) = (rows.column("joint")?, rows.column("counts")?);
    let mut arcs = BTreeMap::new();
    if rows.has("arc_length") {
        let (length, radius) = (rows.column("arc_length")?, rows.column("radius")?);
        rows.warn_of_others(&[joint, counts, length, radius]);
        for record in &rows.records {
            let number = |column| rows.number(record, column);
            let arc =
                Arc::Length { counts: number(counts)?, length: number(length)?, radius: number(radius)? };
            let name = rows.text(record, joint).to_owned();
            if arcs.insert(name.clone(), arc).is_some() {
                return Err(format!("{}: two arcs of joint {name}", rows.shown).into());
            }
        }
        return Ok(arcs);
    }
    let [x, y, z] = [rows.column("x")?, rows.column("y")?, rows.column("z")?];
    rows.warn_of_others(&[joint, counts, x, y, z]);
    for record in &rows.records {
        let number = |column| rows.number(record, column);
        let point = (number(counts)?, Point3::new(number(x)?, number(y)?, number(z)?));
        match arcs.entry(rows.text(record, joint).to_owned()).or_insert_with(|| Arc::Points(Vec::new())) {
            Arc::Points(points) => points.push(point),
            Arc::Length { .. } => {}
        }
    }
    Ok(arcs)
}

/// Points over time: the columns time (s), x, y and z (m).
pub(crate) fn samples(path: &Path) -> Result<Vec<Sample>> {
    let rows = Rows::read(path)?;
    let [time, x, y, z] = [rows.column("time")?, rows.column("x")?, rows.column("y")?, rows.column("z")?];
    rows.warn_of_others(&[time, x, y, z]);
    let row = |record: &csv::StringRecord| {
        let number = |column| rows.number(record, column);
        Ok(Sample { time: number(time)?, point: Point3::new(number(x)?, number(y)?, number(z)?) })
    };
    rows.records.iter().map(row).collect()
}

/// Poses as a file that [`measurements`] reads once it has x, y and z.
pub(super) fn poses(joints: &[&str], poses: &[Vec<f64>]) -> String {
    let mut text = joints.join(",") + "\n";
    for pose in poses {
        let numbers: Vec<String> = pose.iter().map(|value| format!("{value:.6}")).collect();
        // Writing to a string never fails.
        let _ = writeln!(text, "{}", numbers.join(","));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Result<Rows> {
        Rows::of("a.csv".to_owned(), text)
    }

    #[test]
    fn missing_and_additional_columns_are_named() {
        let rows = rows("# of today\r\nlift, X,y,z,colour\r\n1,2,3,x,red\r\n").unwrap();
        assert_eq!((rows.column("lift").unwrap(), rows.others(&[0, 2, 3])), (0, vec!["X", "colour"]));
        let error = rows.column("x").err().unwrap().to_string();
        let expected =
            "a.csv: there is no column x; there is X; the first line must name the columns, it is: ";
        assert!(error.starts_with(expected), "{error}");
        let error = rows.number(&rows.records[0], 3).unwrap_err().to_string();
        assert_eq!(error, "a.csv: line 3: z is not a number: \"x\"");
    }

    #[test]
    fn other_separators_are_named() {
        for (text, separator) in [("lift;x;y;z\n1;2;3;4\n", "';'"), ("lift\tx\n1\t2\n", "'\\t'")] {
            let error = rows(text).err().unwrap().to_string();
            assert!(error.contains("separated by commas") && error.ends_with(separator), "{error}");
        }
        assert!(rows("lift\n1\n").is_ok());
        assert!(rows("lift\n").err().unwrap().to_string().contains("no rows"));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[lift,;xyz0-9.#\"\n\r\u{e9}-]{0,60}") {
            if let Ok(rows) = rows(&text) {
                for record in &rows.records {
                    for column in 0..rows.header.len() {
                        let _ = rows.number(record, column);
                    }
                }
                let _ = rows.column("x");
            }
        }
    }
}
