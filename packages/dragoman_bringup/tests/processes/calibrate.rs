//! `dragoman calibrate fit` and `arcs`: files in, settings out. They are processes with an output and an exit code, without ROS;
//! the whole way with an arm and its tracker runs on virtual time.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use dragoman_kinematics::calibration::DhTable;
use dragoman_kinematics::{Model, Robot, RobotSettings};

/// A folder that is removed at the end.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("dragoman-calibrate-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.0.join(name), text).unwrap();
        self.path(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn calibrate(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dragoman")).arg("calibrate").args(arguments).output().unwrap()
}

#[track_caller]
fn succeeds(arguments: &[&str]) -> String {
    let output = calibrate(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[track_caller]
fn fails(arguments: &[&str]) -> String {
    let output = calibrate(arguments);
    assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr).unwrap()
}

fn ranger() -> Model {
    let urdf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../urdf/ranger_mk1.urdf");
    Model::from_urdf(&std::fs::read_to_string(urdf).unwrap(), Some("base_link"), Some("tool0")).unwrap()
}

/// Differences of the simulated arm from its description.
const MISALIGNMENT: [(&str, f64); 5] =
    [("theta_2", 0.012), ("theta_3", -0.015), ("theta_5", -0.017), ("a_2", 0.003), ("d_4", -0.0025)];

fn misaligned(model: &Model) -> DhTable {
    let mut table = DhTable::of(model);
    for (name, change) in MISALIGNMENT {
        let parameter = table.named(name).unwrap();
        table.set(parameter, table.value(parameter) + change);
    }
    table
}

const HEADER: &str = "joint_1,joint_2,joint_3,joint_4,joint_5,joint_6,x,y,z";

/// Measurements of the misaligned arm without noise, in its base frame.
fn rows(count: usize) -> Vec<[f64; 9]> {
    let model = ranger();
    let table = misaligned(&model);
    let row = |index: usize| {
        // Halton's sequence.
        let radical = |base: usize| {
            let (mut value, mut part, mut rest) = (0.0, 1.0 / base as f64, index + 1);
            while rest > 0 {
                value += part * (rest % base) as f64;
                (rest, part) = (rest / base, part / base as f64);
            }
            value
        };
        let joints = model.joints().iter().zip([2, 3, 5, 7, 11, 13]);
        let q: Vec<f64> =
            joints.map(|(joint, base)| joint.lower + (joint.upper - joint.lower) * radical(base)).collect();
        let tool = table.forward(&q).translation.vector;
        [q[0], q[1], q[2], q[3], q[4], q[5], tool.x, tool.y, tool.z]
    };
    (0..count).map(row).collect()
}

fn csv(rows: &[[f64; 9]]) -> String {
    let line = |row: &[f64; 9]| row.map(|value| value.to_string()).join(",");
    format!("# a comment\n{HEADER}\n{}\n", rows.iter().map(line).collect::<Vec<_>>().join("\n"))
}

#[test]
fn the_settings_that_a_fit_writes_are_the_measured_arm() {
    let folder = Folder::new("fit");
    let measured = folder.write("measured.csv", &csv(&rows(40)));
    let (settings, report) = (folder.path("arm.yaml"), folder.path("report.html"));
    let base = ["fit", &measured, "--frame", "0,0,0,0,0,0"];
    let printed = succeeds(&[&base[..], &["-o", &settings, "--report", &report]].concat());
    for text in ["theta_2 + 0.012000*", "0.56190*", "0.53630*", "description", "leave one out", "40 poses"] {
        assert!(printed.contains(text), "{text}: {printed}");
    }
    let page = std::fs::read_to_string(&report).unwrap();
    assert!(page.matches("<svg").count() == 2 && page.contains("theta_2 + 0.012000*"));

    let text = std::fs::read_to_string(&settings).unwrap();
    let read = RobotSettings::from_yaml(&text).unwrap();
    let urdf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../urdf/ranger_mk1.urdf");
    let robot = Robot::new(&read.model(&std::fs::read_to_string(urdf).unwrap()).unwrap()).unwrap();
    let offsets: Vec<f64> =
        read.calibrated_home().iter().zip(&read.home).map(|(new, old)| new - old).collect();
    for row in rows(60) {
        let q: Vec<f64> = row[..6].iter().zip(&offsets).map(|(q, offset)| q + offset).collect();
        let tool = robot.forward(&q).translation.vector;
        let error = (tool.x - row[6]).hypot(tool.y - row[7]).hypot(tool.z - row[8]);
        assert!(error < 1e-5, "{error}");
    }

    // The next calibration begins with this one, and replaces its section.
    let raw: Vec<[f64; 9]> = rows(40)
        .into_iter()
        .map(|mut row| {
            row.iter_mut().zip(&offsets).for_each(|(q, offset)| *q += offset);
            row
        })
        .collect();
    let again = folder.write("again.csv", &csv(&raw));
    let second = folder.path("second.yaml");
    let printed = succeeds(&["fit", &again, "--frame", "0,0,0,0,0,0", "--robot", &settings, "-o", &second]);
    let line = printed.lines().find(|line| line.starts_with("description")).unwrap();
    assert_eq!(line.split_whitespace().nth(1), Some("0.00"), "{line}");
    let text = std::fs::read_to_string(&second).unwrap();
    assert_eq!(text.matches("calibration:").count(), 1, "{text}");
    assert_eq!(text.matches("# Calibrated").count(), 1, "{text}");

    // Nothing is overwritten without --force.
    let error = fails(&[&base[..], &["-o", &settings]].concat());
    assert!(error.contains("exists: use --force"), "{error}");
    succeeds(&[&base[..], &["-o", &settings, "--force", "--method", "nelder-mead"]].concat());
}

#[test]
fn a_denavit_hartenberg_table_is_written_as_a_table() {
    let folder = Folder::new("table");
    let table = DhTable::of(&ranger()).to_yaml(&ranger()).unwrap();
    let robot = folder.write("arm.yaml", &table);
    let measured = folder.write("measured.csv", &csv(&rows(40)));
    let output = folder.path("new.yaml");
    succeeds(&["fit", &measured, "--robot", &robot, "--frame", "0,0,0,0,0,0", "-o", &output]);
    let found = Model::from_dh_yaml(&std::fs::read_to_string(&output).unwrap()).unwrap();
    let robot = Robot::new(&found).unwrap();
    for row in rows(50) {
        let tool = robot.forward(&row[..6]).translation.vector;
        assert!((tool.x - row[6]).hypot(tool.y - row[7]).hypot(tool.z - row[8]) < 1e-5);
    }
}

#[test]
fn bad_files_are_refused_and_nothing_is_written() {
    let folder = Folder::new("bad");
    let good = rows(40);
    let (settings, report) = (folder.path("arm.yaml"), folder.path("report.html"));
    let refused = |text: &str| {
        let measured = folder.write("measured.csv", text);
        let error = fails(&["fit", &measured, "-o", &settings, "--report", &report]);
        assert!(!Path::new(&settings).exists() && !Path::new(&report).exists());
        error
    };
    let changed = |change: &dyn Fn(usize, &mut [f64; 9])| {
        let mut bad = good.clone();
        bad.iter_mut().enumerate().for_each(|(index, row)| change(index, row));
        csv(&bad)
    };
    let cases = [
        (
            changed(&|index, row| {
                if index == 6 {
                    row[7] = f64::NAN
                }
            }),
            "measurement 7: y is NaN",
        ),
        (changed(&|_, row| row[..6].iter_mut().for_each(|q| *q = q.to_degrees())), "are these degrees?"),
        (changed(&|_, row| row[6..].iter_mut().for_each(|x| *x *= 1e3)), "are these millimetres?"),
        (csv(&good[..5]), "5 different poses"),
        (
            csv(&(0..40).map(|index| good[index % 3]).collect::<Vec<_>>()),
            "3 different poses (40 measurements)",
        ),
        (csv(&good).replace("joint_4", "elbow"), "there is no column joint_4"),
        (csv(&good).replace("x,y,z\n", "x,y,x\n"), "column x exists twice"),
        (format!("{HEADER}\n0,0,0,0,1.5,0,0.1,half,0.3\n"), "line 2: y is not a number: \"half\""),
        (format!("{HEADER}\n0,0,0\n"), "found record with 3 fields"),
        (format!("{HEADER}\n"), "has no rows"),
        (String::new(), "has no rows"),
    ];
    for (text, reason) in cases {
        let error = refused(&text);
        assert!(error.contains(reason), "{reason}: {error}");
    }
    let measured = folder.write("measured.csv", &csv(&good));
    for (option, value, reason) in [
        ("--free", "theta_9", "there is no parameter theta_9"),
        ("--frame", "1,2,3", "--frame needs six numbers"),
        ("--start", "theta_1=inf", "not a usable number"),
        ("--max-angle", "0", "greatest change of theta_1"),
        ("--robot", "nobody", "there is no robot 'nobody'"),
    ] {
        let error = fails(&["fit", &measured, option, value, "-o", &settings]);
        assert!(error.contains(reason) && !Path::new(&settings).exists(), "{error}");
    }
    assert!(fails(&["fit", &folder.path("none.csv")]).contains("none.csv"));
    // Repeated poses that are enough are a warning.
    let repeated: Vec<_> = (0..40).map(|index| good[index % 20]).collect();
    let output = calibrate(&["fit", &folder.write("repeated.csv", &csv(&repeated))]);
    let warnings = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && warnings.contains("only 20 different poses"), "{warnings}");
}

#[test]
fn arcs_change_the_counts_of_the_drives() {
    let folder = Folder::new("arcs");
    // Ranger thesis, 4.2.
    let arcs = folder.write("arcs.csv", "joint,counts,arc_length,radius\njoint_3,-65000,0.8,0.8\n");
    let settings = folder.path("arm.yaml");
    let printed = succeeds(&["arcs", &arcs, "-o", &settings]);
    assert!(printed.contains("65000.0"), "{printed}");
    let read = RobotSettings::from_yaml(&std::fs::read_to_string(&settings).unwrap()).unwrap();
    assert_eq!(read.calibration.counts_per_unit.get("joint_3"), Some(&65000.0));
    for (text, reason) in [
        ("joint,counts,arc_length,radius\nelbow,1,1,1\n", "no joint elbow"),
        ("joint,counts,arc_length,radius\njoint_3,1000,0,1\n", "joint joint_3: arc_length is 0"),
        ("joint,counts,x,y,z\njoint_3,0,0,0,0\njoint_3,9,1,0,0\n", "2 points at different counts"),
    ] {
        let error = fails(&["arcs", &folder.write("bad.csv", text)]);
        assert!(error.contains(reason), "{error}");
    }
}
