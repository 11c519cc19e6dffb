//! Measurements in CSV files: a header, then numbers; lines that begin with # are comments. Angles in radians, lengths
//! in metres. Further columns are ignored.

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
        let failed = |error: csv::Error| format!("{shown}: {error}");
        let mut reader = csv::ReaderBuilder::new()
            .trim(csv::Trim::All)
            .comment(Some(b'#'))
            .from_path(path)
            .map_err(failed)?;
        let header: Vec<String> = reader.headers().map_err(failed)?.iter().map(str::to_owned).collect();
        let records = reader.records().collect::<std::result::Result<Vec<_>, _>>().map_err(failed)?;
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
                Err(format!(
                    "{}: there is no column {name}; the first line must name the columns, it is: {header}",
                    self.shown
                )
                .into())
            }
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
    let row =
        |record: &csv::StringRecord| columns.iter().map(|column| rows.number(record, *column)).collect();
    rows.records.iter().map(row).collect()
}

/// Joint positions and measured points.
pub(crate) fn measurements(path: &Path, joints: &[&str]) -> Result<Vec<Measurement>> {
    let rows = Rows::read(path)?;
    let columns = joints.iter().map(|name| rows.column(name)).collect::<Result<Vec<_>>>()?;
    let [x, y, z] = [rows.column("x")?, rows.column("y")?, rows.column("z")?];
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
