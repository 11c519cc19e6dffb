//! The command line of a program in ROS. The arguments between each `--ros-args` and the next `--` (or the end) belong
//! to ROS, all others to the program.

/// Splits a command line into the arguments of the program and those of ROS, without the marks.
pub fn split(arguments: impl IntoIterator<Item = String>) -> (Vec<String>, Vec<String>) {
    let (mut own, mut ros, mut inside) = (Vec::new(), Vec::new(), false);
    for argument in arguments {
        match argument.as_str() {
            "--ros-args" => inside = true,
            "--" if inside => inside = false,
            _ if inside => ros.push(argument),
            _ => own.push(argument),
        }
    }
    (own, ros)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_goes_to_its_reader() {
        let split = |text: &str| {
            let (own, ros) = split(text.split_whitespace().map(str::to_owned));
            (own.join(" "), ros.join(" "))
        };
        let cases = [
            ("dragoman up --ros-args -p a:=1 -- --domain 3", "dragoman up --domain 3", "-p a:=1"),
            ("up --ros-args -r a:=b -- x --ros-args -e /lab", "up x", "-r a:=b -e /lab"),
            ("up -- --domain", "up -- --domain", ""),
            ("--ros-args", "", ""),
        ];
        for (given, own, ros) in cases {
            assert_eq!(split(given), (own.to_owned(), ros.to_owned()), "{given}");
        }
    }
}
