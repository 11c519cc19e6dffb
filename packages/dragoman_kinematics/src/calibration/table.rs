//! A robot as a Denavit-Hartenberg table whose entries can be estimated, and back to a [`Model`].

use std::f64::consts::{FRAC_PI_2, PI};
use std::fmt;

use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};

use crate::model::{JointKind, Model, ModelError};

/// One row, convention of Craig (1989): `Rx(alpha) Tx(a) Rz(theta) Tz(d)`; rad and m.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct DhRow {
    /// Twist about x, rad.
    pub alpha: f64,
    /// Length along x, m.
    pub a: f64,
    /// Offset along z, m.
    pub d: f64,
    /// Angle about z, rad.
    pub theta: f64,
}

/// Which entry of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Entry {
    /// Twist of the link before the joint, rad.
    Alpha,
    /// Length of the link before the joint, m.
    A,
    /// Offset along the joint's axis, m; the offset of a sliding joint.
    D,
    /// Angle about the joint's axis, rad; the offset of a turning joint.
    Theta,
}

impl Entry {
    const ALL: [Self; 4] = [Self::Alpha, Self::A, Self::D, Self::Theta];

    /// Whether the entry is an angle, rad; otherwise a length, m.
    pub fn is_angle(self) -> bool {
        matches!(self, Self::Alpha | Self::Theta)
    }
}

/// One entry of a table. Its name is that of the Ranger thesis, tables 4.1 and 4.2: row 3 of a table has `alpha_2`,
/// `a_2`, `d_3` and `theta_3`; the last row, the tool, of a six-joint arm `alpha_6`, `a_6`, `d_T` and `theta_T`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct Parameter {
    /// Row, 0 for that of the first joint; the number of joints for the tool.
    pub row: usize,
    pub entry: Entry,
}

/// A chain as a table: one row per joint, then the tool.
#[derive(Debug, Clone, PartialEq)]
pub struct DhTable {
    /// Frame 0 of the table in the base frame: a rotation about z and a translation along z.
    base: Isometry3<f64>,
    rows: Vec<DhRow>,
    kinds: Vec<JointKind>,
}

/// Lines closer to parallel than this, rad, or closer to each other, m, are exactly so.
const EXACT: f64 = 1e-9;

impl DhTable {
    /// The table of a model. Origins that have the form of a row are taken as they are; otherwise the rows follow from
    /// the common normals of the joint axes.
    pub fn of(model: &Model) -> Self {
        let kinds = model.joints().iter().map(|joint| joint.kind).collect();
        let along_z = model.placements().iter().all(|placement| (placement.axis.z - 1.0).abs() < EXACT);
        let origins = model.placements().iter().map(|placement| &placement.origin).chain([model.tool()]);
        let direct: Option<Vec<DhRow>> = origins.map(DhRow::of).collect();
        match direct {
            Some(rows) if along_z => Self { base: Isometry3::identity(), rows, kinds },
            _ => Self::by_normals(model, kinds),
        }
    }

    fn by_normals(model: &Model, kinds: Vec<JointKind>) -> Self {
        let frames = frames_at_zero(model);
        let axes = model.placements().iter().map(|placement| placement.axis).chain([Vector3::z_axis()]);
        let mut rows: Vec<DhRow> = Vec::new();
        let mut base = Isometry3::identity();
        // The frame of the last row without its angle and offset about z.
        let mut frame = Isometry3::identity();
        for (link, axis) in frames.iter().zip(axes) {
            let line = frame.inverse() * link;
            let point = line.translation.vector;
            let direction = line.rotation * axis.into_inner();
            let normal = Vector3::new(-direction.y, direction.x, 0.0);
            let (mut x, mut a, d);
            if normal.norm() < EXACT {
                // Parallel axes: the offset is arbitrary, so it is zero.
                let foot = point - direction * (point.z / direction.z);
                (a, d) = (foot.norm(), 0.0);
                x = if a < EXACT { Vector3::x() } else { foot / a };
            } else {
                let along = direction.xy();
                let t = point.xy().dot(&along) / along.norm_squared();
                x = normal.normalize();
                (a, d) = (point.dot(&x), point.z - t * direction.z);
            }
            // Of the two directions that nearer to the x axis.
            if x.x < -EXACT || (x.x < EXACT && x.y < 0.0) {
                (x, a) = (-x, -a);
            }
            let theta = x.y.atan2(x.x);
            let alpha = direction.dot(&x.cross(&Vector3::z())).atan2(direction.z);
            let about_z = DhRow { theta, d, ..DhRow::default() };
            match rows.last_mut() {
                Some(row) => (row.theta, row.d) = (theta, d),
                None => base = about_z.transform(),
            }
            let row = DhRow { alpha, a, ..DhRow::default() };
            frame = frame * about_z.transform() * row.transform();
            rows.push(row);
        }
        if let (Some(row), Some(tool)) = (rows.last_mut(), frames.last()) {
            let rest = frame.inverse() * tool;
            let x = rest.rotation * Vector3::x();
            (row.theta, row.d) = (x.y.atan2(x.x), rest.translation.z);
        }
        Self { base, rows, kinds }
    }

    /// The rows: one per joint, base first, then the tool.
    pub fn rows(&self) -> &[DhRow] {
        &self.rows
    }

    /// Number of joints.
    pub fn joint_count(&self) -> usize {
        self.kinds.len()
    }

    /// All entries, row by row.
    pub fn parameters(&self) -> impl Iterator<Item = Parameter> + use<> {
        (0..self.rows.len()).flat_map(|row| Entry::ALL.into_iter().map(move |entry| Parameter { row, entry }))
    }

    /// The entry of this name.
    pub fn named(&self, name: &str) -> Option<Parameter> {
        self.parameters().find(|parameter| self.name(*parameter) == name)
    }

    /// Name of an entry: `theta_3`, `a_2`, `d_T`.
    pub fn name(&self, Parameter { row, entry }: Parameter) -> String {
        let tool = row == self.joint_count();
        match entry {
            Entry::Alpha => format!("alpha_{row}"),
            Entry::A => format!("a_{row}"),
            Entry::D if tool => "d_T".to_owned(),
            Entry::Theta if tool => "theta_T".to_owned(),
            Entry::D => format!("d_{}", row + 1),
            Entry::Theta => format!("theta_{}", row + 1),
        }
    }

    /// Value of an entry, rad or m; 0 for one that does not exist.
    pub fn value(&self, parameter: Parameter) -> f64 {
        let Some(row) = self.rows.get(parameter.row) else { return 0.0 };
        match parameter.entry {
            Entry::Alpha => row.alpha,
            Entry::A => row.a,
            Entry::D => row.d,
            Entry::Theta => row.theta,
        }
    }

    /// Sets an entry, rad or m.
    pub fn set(&mut self, parameter: Parameter, value: f64) {
        let Some(row) = self.rows.get_mut(parameter.row) else { return };
        match parameter.entry {
            Entry::Alpha => row.alpha = value,
            Entry::A => row.a = value,
            Entry::D => row.d = value,
            Entry::Theta => row.theta = value,
        }
    }

    /// Whether the entry is the offset of a joint's reading: the angle of a turning joint, the offset of a sliding one.
    pub fn is_joint_offset(&self, parameter: Parameter) -> bool {
        self.kinds.get(parameter.row).is_some_and(|kind| match kind {
            JointKind::Revolute => parameter.entry == Entry::Theta,
            JointKind::Prismatic => parameter.entry == Entry::D,
        })
    }

    /// What the Ranger thesis (4.4.1) varies: the offsets of the joints, all lengths that are not zero, and the tool's
    /// distance from the last axis.
    pub fn usual_parameters(&self) -> Vec<Parameter> {
        let is_usual = |parameter: &Parameter| {
            let is_tool_distance = parameter.row == self.joint_count() && parameter.entry == Entry::A;
            let is_length = !parameter.entry.is_angle() && self.value(*parameter).abs() > EXACT;
            self.is_joint_offset(*parameter) || is_length || is_tool_distance
        };
        self.parameters().filter(is_usual).collect()
    }

    /// The tool's pose at joint positions `q`, rad or m; missing ones count as zero.
    pub fn forward(&self, q: &[f64]) -> Isometry3<f64> {
        let rows = self.rows.iter().enumerate();
        rows.fold(self.base, |frame, (row, _)| frame * self.at(row, q).transform())
    }

    /// The row with the joint's position in it.
    fn at(&self, row: usize, q: &[f64]) -> DhRow {
        let mut at = self.rows.get(row).copied().unwrap_or_default();
        let position = q.get(row).copied().unwrap_or(0.0);
        match self.kinds.get(row) {
            Some(JointKind::Revolute) => at.theta += position,
            Some(JointKind::Prismatic) => at.d += position,
            None => {}
        }
        at
    }

    /// The tool point at `q`, and its derivatives by `parameters`, m per rad or m.
    pub(super) fn sensitivity(
        &self,
        q: &[f64],
        parameters: &[Parameter],
    ) -> (Point3<f64>, Vec<Vector3<f64>>) {
        // Per row the frame before it, and that after its part along x.
        let mut frames = Vec::with_capacity(self.rows.len());
        let mut frame = self.base;
        for row in 0..self.rows.len() {
            let at = self.at(row, q);
            let after_x = frame * DhRow { d: 0.0, theta: 0.0, ..at }.transform();
            frames.push((frame, after_x));
            frame = after_x * DhRow { d: at.d, theta: at.theta, ..DhRow::default() }.transform();
        }
        let point = Point3::from(frame.translation.vector);
        let derivative = |parameter: &Parameter| {
            let Some((before, after_x)) = frames.get(parameter.row) else { return Vector3::zeros() };
            let (frame, axis) = match parameter.entry {
                Entry::Alpha | Entry::A => (before, before.rotation * Vector3::x()),
                Entry::D | Entry::Theta => (after_x, after_x.rotation * Vector3::z()),
            };
            if parameter.entry.is_angle() {
                axis.cross(&(point.coords - frame.translation.vector))
            } else {
                axis
            }
        };
        (point, parameters.iter().map(derivative).collect())
    }

    /// Offsets of the joints' readings from those of `nominal`: to be added to each reading, rad or m.
    pub fn joint_offsets(&self, nominal: &Self) -> Vec<f64> {
        let offsets = self.parameters().filter(|parameter| self.is_joint_offset(*parameter));
        offsets.map(|parameter| self.value(parameter) - nominal.value(parameter)).collect()
    }

    /// `model` with the geometry of this table, which was made from it by [`DhTable::of`]; without the offsets of the
    /// joints, which belong to their readings.
    ///
    /// # Errors
    /// [`ModelError::NotFinite`] for a table with such values, [`ModelError::WrongLength`] for that of another robot.
    pub fn corrected(&self, model: &Model) -> Result<Model, ModelError> {
        let nominal = Self::of(model);
        let mut geometry = self.clone();
        for parameter in self.parameters().filter(|parameter| self.is_joint_offset(*parameter)) {
            geometry.set(parameter, nominal.value(parameter));
        }
        // The model's frames are fixed in the links, and so to the frames of the table.
        let frames = frames_at_zero(model);
        let before = nominal.frames_at_zero();
        let frames = geometry.frames_at_zero().into_iter().zip(before).zip(&frames);
        let frames: Vec<_> =
            frames.map(|((after, before), frame)| after * before.inverse() * frame).collect();
        let mut parents = vec![Isometry3::identity()];
        parents.extend(frames.iter().copied());
        let origins = frames.iter().zip(&parents).map(|(frame, parent)| parent.inverse() * frame);
        model.clone().with_origins(origins.collect())
    }

    /// The document that [`Model::from_dh_yaml`] reads, with the limits of `model`; `None` if the table does not begin
    /// in the base frame. Offsets of the joints are part of the table.
    pub fn to_yaml(&self, model: &Model) -> Option<String> {
        if self.base != Isometry3::identity() {
            return None;
        }
        let numbers = |row: &DhRow| {
            let DhRow { alpha, a, d, theta } = row;
            format!("a: {a:?}, alpha: {alpha:?}, d: {d:?}, theta: {theta:?}")
        };
        let mut text = format!("name: {}\njoints:\n", model.name());
        for (row, joint) in self.rows.iter().zip(model.joints()) {
            let kind = if joint.kind == JointKind::Revolute { "revolute" } else { "prismatic" };
            let limits = [
                ("lower", joint.lower),
                ("upper", joint.upper),
                ("velocity", joint.velocity),
                ("acceleration", joint.acceleration),
            ];
            let limits = limits.iter().filter(|(_, value)| value.is_finite());
            let limits: String = limits.map(|(name, value)| format!(", {name}: {value:?}")).collect();
            text += &format!("  - {{name: {}, type: {kind}, {}{limits}}}\n", joint.name, numbers(row));
        }
        let tool = self.rows.last().map(numbers)?;
        Some(text + &format!("tool: {{{tool}}}\n"))
    }

    fn frames_at_zero(&self) -> Vec<Isometry3<f64>> {
        let frames = self.rows.iter().scan(self.base, |frame, row| {
            *frame *= row.transform();
            Some(*frame)
        });
        frames.collect()
    }
}

/// Frames of a model's links with all joints at zero, then the tool.
fn frames_at_zero(model: &Model) -> Vec<Isometry3<f64>> {
    let origins = model.placements().iter().map(|placement| &placement.origin).chain([model.tool()]);
    let frames = origins.scan(Isometry3::identity(), |frame, origin| {
        *frame *= origin;
        Some(*frame)
    });
    frames.collect()
}

impl DhRow {
    fn transform(&self) -> Isometry3<f64> {
        let about_x = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), self.alpha);
        let about_z = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), self.theta);
        Isometry3::from_parts(Translation3::new(self.a, 0.0, 0.0), about_x)
            * Isometry3::from_parts(Translation3::new(0.0, 0.0, self.d), about_z)
    }

    /// The row of a transform that has its form.
    fn of(transform: &Isometry3<f64>) -> Option<Self> {
        let rotation = transform.rotation.to_rotation_matrix();
        let matrix = rotation.matrix();
        let alpha = (-matrix[(1, 2)]).atan2(matrix[(2, 2)]);
        let theta = (-matrix[(0, 1)]).atan2(matrix[(0, 0)]);
        let at = transform.translation.vector;
        let d = alpha.cos() * at.z - alpha.sin() * at.y;
        // Free of rounding where the angle is a quarter turn.
        let tidy = |angle: f64| {
            let quarters = (angle / FRAC_PI_2).round() * FRAC_PI_2;
            if (angle - quarters).abs() < EXACT { quarters } else { angle }
        };
        // + 0.0 avoids -0.
        let row = Self { alpha: tidy(alpha) + 0.0, a: at.x + 0.0, d: d + 0.0, theta: tidy(theta) + 0.0 };
        let difference = row.transform().inverse() * transform;
        (difference.rotation.angle() < 1e-8 && difference.translation.vector.norm() < EXACT).then_some(row)
    }
}

/// A table in the layout of the Ranger thesis, tables 4.1 and 4.2; entries of `marked` have an asterisk.
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct Layout<'a> {
    pub table: &'a DhTable,
    /// The estimated entries.
    pub marked: &'a [Parameter],
}

impl fmt::Display for Layout<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { table, marked } = self;
        let number = |value: f64, digits: usize| {
            if value.abs() < 0.5 * 10_f64.powi(-(digits as i32)) {
                "0".to_owned()
            } else {
                format!("{value:.digits$}")
            }
        };
        let of_pi = |value: f64| {
            let names = [(FRAC_PI_2, "pi/2"), (-FRAC_PI_2, "-pi/2"), (PI, "pi"), (-PI, "-pi")];
            let name = names.into_iter().find(|(angle, _)| (value - angle).abs() < EXACT);
            name.map_or_else(|| number(value, 6), |(_, name)| name.to_owned())
        };
        writeln!(
            formatter,
            "{:<2} {:<18} {:<14} {:<13} theta_i (rad)",
            "i", "alpha_i-1 (rad)", "a_i-1 (m)", "d_i (m)"
        )?;
        for (row, values) in table.rows.iter().enumerate() {
            let mark = |entry| if marked.contains(&Parameter { row, entry }) { "*" } else { "" };
            let sum = |name: &str, value: f64, digits: usize| match value {
                value if number(value, digits) == "0" => format!("{name}_{}", row + 1),
                value => {
                    let sign = if value < 0.0 { '-' } else { '+' };
                    format!("{name}_{} {sign} {}", row + 1, number(value.abs(), digits))
                }
            };
            let (d, theta) = match table.kinds.get(row) {
                Some(JointKind::Revolute) => (number(values.d, 5), sum("theta", values.theta, 6)),
                Some(JointKind::Prismatic) => (sum("d", values.d, 5), of_pi(values.theta)),
                None => (number(values.d, 5), of_pi(values.theta)),
            };
            let name = if row == table.joint_count() { "T".to_owned() } else { (row + 1).to_string() };
            let alpha = of_pi(values.alpha) + mark(Entry::Alpha);
            let a = number(values.a, 5) + mark(Entry::A);
            let (d, theta) = (d + mark(Entry::D), theta + mark(Entry::Theta));
            writeln!(formatter, "{name:<2} {alpha:<18} {a:<14} {d:<13} {theta}")?;
        }
        Ok(())
    }
}
