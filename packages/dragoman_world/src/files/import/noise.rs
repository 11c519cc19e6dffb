//! The noise of a world for a course: Apolo derives it from the register numbers of the students.

use dragoman_urdf::xml::Element;

/// Standard deviations.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct CourseNoise {
    /// Of the odometry's increments, relative: distance and heading.
    pub(super) odometry: [f64; 2],
    /// Of a laser's ranges, m.
    pub(super) laser: f64,
    /// Of a landmark's distance, m, and angle, rad.
    pub(super) landmark: [f64; 2],
}

impl CourseNoise {
    /// From a `<WorldInfo>`. MRCore, `WorldInfo::updateWorld`: variances around 2e-3, 4e-4, 1e-5 m^2, 2e-4 m^2 and
    /// 3e-4 rad^2, each times a factor from 0.5 to 1.5 for one prime number each.
    pub(super) fn of(info: &Element) -> Self {
        let numbers = info.children.iter().filter(|child| child.name == "RegisterNumber");
        let numbers = numbers.filter_map(|child| child.attribute("number")).map(leading_integer);
        // Numbers of 32 bits, as on Windows: a large register number wraps around.
        let sum = numbers.fold(1_i32, |sum, number| sum.wrapping_add(number.wrapping_mul(6983)));
        let deviation = |variance: f64, prime: i32| {
            let factor = 1.5 - f64::from(sum % prime) / f64::from(prime);
            (variance * factor).sqrt()
        };
        Self {
            odometry: [deviation(2e-3, 31), deviation(4e-4, 37)],
            laser: deviation(1e-5, 41),
            landmark: [deviation(2e-4, 47), deviation(3e-4, 43)],
        }
    }
}

/// The integer that a text begins with, in 32 bits; 0 without one.
fn leading_integer(text: &str) -> i32 {
    let text = text.trim_start();
    let (sign, digits) = text.strip_prefix('-').map_or((1_i32, text), |digits| (-1, digits));
    let digits = digits.bytes().take_while(u8::is_ascii_digit).map(|digit| i32::from(digit - b'0'));
    sign.wrapping_mul(digits.fold(0, |value: i32, digit| value.wrapping_mul(10).wrapping_add(digit)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_noise_of_a_course() {
        // 1 + 6983 (23454 + 22354) = 319877265; modulo 31, 37, 41, 47, 43: 14, 18, 21, 12, 7.
        let tree = dragoman_urdf::xml::parse(
            "<WorldInfo><RegisterNumber number=\"23454\"/><RegisterNumber number=\" 22354 \"/></WorldInfo>",
        );
        let noise = CourseNoise::of(&tree.unwrap().children[0]);
        let expected = CourseNoise {
            odometry: [(2e-3_f64 * (1.5 - 14.0 / 31.0)).sqrt(), (4e-4_f64 * (1.5 - 18.0 / 37.0)).sqrt()],
            laser: (1e-5_f64 * (1.5 - 21.0 / 41.0)).sqrt(),
            landmark: [(2e-4_f64 * (1.5 - 12.0 / 47.0)).sqrt(), (3e-4_f64 * (1.5 - 7.0 / 43.0)).sqrt()],
        };
        assert_eq!(noise, expected);
        for (text, number) in [("12x", 12), ("x", 0), ("", 0), ("-3", -3), ("4294967297", 1)] {
            assert_eq!(leading_integer(text), number, "{text}");
        }
    }
}
