//! Denavit-Hartenberg tables in YAML, convention of Craig (1989), as in the Ranger thesis, 3.3 and appendix D.

use super::{Joint, JointKind, Link, Model, ModelError, Placement, check_finite};
use dragoman_text::yaml;
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    #[serde(default = "unnamed")]
    name: String,
    joints: Vec<JointRow>,
    #[serde(default)]
    tool: DhParameters,
}

/// The four parameters of one row: m and rad.
#[derive(Deserialize, Default, Clone, Copy)]
#[serde(deny_unknown_fields)]
struct DhParameters {
    a: f64,
    alpha: f64,
    d: f64,
    theta: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JointRow {
    name: String,
    #[serde(rename = "type")]
    kind: JointKind,
    a: f64,
    alpha: f64,
    d: f64,
    theta: f64,
    lower: Option<f64>,
    upper: Option<f64>,
    velocity: Option<f64>,
    acceleration: Option<f64>,
}

fn unnamed() -> String {
    "robot".to_owned()
}

pub(super) fn parse(text: &str) -> Result<Model, ModelError> {
    super::numbers::check(text)?;
    let table: Table = yaml::strict(text).map_err(|error| ModelError::Yaml { reason: error.to_string() })?;
    let mut parts = Vec::new();
    for row in table.joints {
        let parameters = DhParameters { a: row.a, alpha: row.alpha, d: row.d, theta: row.theta };
        let origin = parameters.transform(&row.name)?;
        let joint = Joint {
            name: row.name,
            kind: row.kind,
            lower: row.lower.unwrap_or(f64::NEG_INFINITY),
            upper: row.upper.unwrap_or(f64::INFINITY),
            velocity: row.velocity.unwrap_or(f64::INFINITY),
            acceleration: row.acceleration.unwrap_or(f64::INFINITY),
        };
        parts.push((joint, Placement { origin, axis: Vector3::z_axis() }));
    }
    let tool = table.tool.transform("tool")?;
    let link = |name: String, joints_below, offset| Link { name, joints_below, offset };
    let base = link("base".to_owned(), 0, Isometry3::identity());
    let moved = (1..=parts.len()).map(|number| link(format!("link_{number}"), number, Isometry3::identity()));
    let tip = link("tool".to_owned(), parts.len(), tool);
    let links = std::iter::once(base).chain(moved).chain([tip]).collect();
    Model::assemble(table.name, "base".to_owned(), "tool".to_owned(), parts, tool, links)
}

impl DhParameters {
    /// `Rx(alpha) Tx(a) Rz(theta) Tz(d)`, Craig (1989), equation 3.6.
    fn transform(self, element: &str) -> Result<Isometry3<f64>, ModelError> {
        let Self { a, alpha, d, theta } = self;
        for (field, value) in [("a", a), ("alpha", alpha), ("d", d), ("theta", theta)] {
            check_finite(element, field, &[value])?;
        }
        let x = Isometry3::from_parts(
            Translation3::new(a, 0.0, 0.0),
            UnitQuaternion::from_axis_angle(&Vector3::x_axis(), alpha),
        );
        let z = Isometry3::from_parts(
            Translation3::new(0.0, 0.0, d),
            UnitQuaternion::from_axis_angle(&Vector3::z_axis(), theta),
        );
        Ok(x * z)
    }
}
