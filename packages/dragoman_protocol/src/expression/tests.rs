//! Values and errors of expressions.

use proptest::prelude::*;

use super::*;
use Number::{Real, Whole};

/// With the fields `a` = 7, `b` = -2, `half` = 0.5, and `none`, which is missing.
fn value(text: &str) -> Result<Number, String> {
    let names = ["a", "b", "half", "none"];
    let expression = Expression::read(text, &|name| names.iter().position(|one| *one == name));
    let values = [Some(Whole(7)), Some(Whole(-2)), Some(Real(0.5)), None];
    let expression = expression.map_err(|error| error.to_string())?;
    expression.compute(|number| values[number]).map_err(|error| error.to_string())
}

#[test]
fn operators_bind_as_in_python() {
    for (text, expected) in [
        ("1 + 2 * 3", Whole(7)),
        ("(1 + 2) * 3", Whole(9)),
        ("10 - 3 - 2", Whole(5)),
        ("a & 4 == 4", Whole(1)),
        ("1 | 2 << 1 & 4", Whole(5)),
        ("-a + 1", Whole(-6)),
        ("--a", Whole(7)),
        ("a / 2", Whole(3)),
        ("-a / 2", Whole(-4)),
        ("-a % 4", Whole(1)),
        ("a % -4", Whole(-1)),
        ("a / 2.0", Real(3.5)),
        ("(a - 512) * 0.5", Real(-252.5)),
        ("half + half", Real(1.0)),
        ("0x1F + 0b101", Whole(36)),
        ("a > 3 ? 10 : none", Whole(10)),
        ("a < 3 ? none : b < 0 ? 1 : 2", Whole(1)),
        ("min(a, b) + max(a, half) + abs(b)", Whole(7)),
        ("a << 2", Whole(28)),
        ("b >> 1", Whole(-1)),
        ("a >= 7", Whole(1)),
        ("half != 0.5", Whole(0)),
        ("'A' == 65 ? 'z' : 0", Whole(122)),
        ("has(none) ? none : 3", Whole(3)),
        ("has( half ) + has(none)", Whole(1)),
        ("floor(a) + floor(half) + floor(-half)", Whole(6)),
        ("sin(0) + cos(a - 7)", Real(1.0)),
        ("sqrt(a + b - 1)", Real(2.0)),
    ] {
        assert_eq!(value(text), Ok(expected), "{text}");
    }
}

#[test]
fn what_is_wrong_is_said_with_its_column() {
    for (text, expected) in [
        ("", "column 1: expected a number or a field"),
        ("a +", "column 4: expected a number or a field"),
        ("a b", "column 3: expected an operator or the end"),
        ("1 < 2 < 3", "column 7: expected an operator or the end"),
        ("a = 1", "column 3: expected an operator or the end; equal is written =="),
        (
            "a == 1 && b == 2",
            "column 9: expected a number or a field; and is written (a) & (b), or is written (a) | (b)",
        ),
        (
            "a == 1 or b == 2",
            "column 8: expected an operator or the end; and is written (a) & (b), or is written (a) | (b)",
        ),
        ("!a", "column 1: expected a number or a field; not is written == 0"),
        ("(a", "column 3: expected )"),
        ("a ? 1", "column 6: expected :"),
        ("min(a)", "column 6: expected ,"),
        ("has(speed)", "column 5: 'speed' is not an earlier field"),
        ("has(a", "column 6: expected )"),
        ("sqrt(b) < 1", "the result is not finite"),
        ("floor(1000000000000.0 * 1000000000000.0)", "overflow"),
        ("sin(none)", "a field is missing in this message"),
        ("2 * speed", "column 5: 'speed' is neither a number nor an earlier field"),
        ("1e400", "column 1: '1e400' is neither a number nor an earlier field"),
        (
            "1 + 'ab'",
            "column 5: 'ab' is the name of a value: it can only be compared with a field that has such names, as in fault == 'ab'",
        ),
        ("a == 'ab'", "column 6: a has no names for its values"),
        (
            "'ab' != a + 1",
            "column 1: 'ab' is the name of a value: it can only be compared with a field that has such names, as in fault == 'ab'",
        ),
        (
            "a == ''",
            "column 6: expected a character in quotes, such as 'N', or the name of a value, such as 'motor'",
        ),
        (
            "1 + '\u{e4}'",
            "column 5: '\u{e4}' is the name of a value: it can only be compared with a field that has such names, as in fault == '\u{e4}'",
        ),
        ("12x", "column 1: '12x' is neither a number nor an earlier field"),
        ("a / (b + 2)", "division by zero"),
        ("half % 0", "division by zero"),
        ("half & 1", "& needs whole numbers"),
        ("none + 1", "a field is missing in this message"),
        ("1 << 64", "overflow"),
        ("1 << b", "overflow"),
        ("9223372036854775807 * 9223372036854775807 * 9223372036854775807", "overflow"),
    ] {
        assert_eq!(value(text), Err(expected.to_owned()), "{text}");
    }
}

#[test]
fn nesting_is_bounded() {
    let nested = |depth: usize| "(".repeat(depth) + "a" + &")".repeat(depth);
    assert_eq!(value(&nested(MAX_DEPTH - 1)), Ok(Whole(7)));
    assert_eq!(value(&nested(MAX_DEPTH)), Err("column 17: nested deeper than 16".to_owned()));
    assert!(value(&("-".repeat(100) + "a")).is_err());
    // As many operands as possible wait.
    let full = (1..MAX_DEPTH).fold("a".to_owned(), |inner, _| format!("1 < 1 | 1 & 1 << 1 + 1 * ({inner})"));
    assert!(value(&full).is_ok(), "{:?}", value(&full));
}

#[test]
fn names_of_values_stand_for_their_numbers() {
    let value = |text: &str| {
        let field = |name: &str| ["fault", "letter"].iter().position(|one| *one == name);
        let code = |field: &str, name: &str| match (field, name) {
            ("fault", "motor") => Ok(1),
            ("fault", "B") => Ok(2),
            _ => Err(format!("{field} is never '{name}'")),
        };
        let expression =
            Expression::read_with_codes(text, &field, &code).map_err(|error| error.to_string())?;
        expression
            .compute(|number| [Some(Whole(1)), Some(Whole(66))][number])
            .map_err(|error| error.to_string())
    };
    for (text, expected) in [
        ("fault == 'motor'", 1),
        ("fault != 'motor'", 0),
        ("'motor' == fault ? 5 : 6", 5),
        ("(fault == 'motor') + 1", 2),
        // A character that is no name is the number of its byte.
        ("fault == 'B'", 0),
        ("letter == 'B'", 1),
    ] {
        assert_eq!(value(text), Ok(Whole(expected)), "{text}");
    }
    for (text, expected) in [
        ("fault == 'moter'", "column 10: fault is never 'moter'"),
        (
            "fault + 1 == 'motor'",
            "column 14: 'motor' is the name of a value: it can only be compared with a field that has such names, as in fault == 'motor'",
        ),
    ] {
        assert_eq!(value(text), Err(expected.to_owned()), "{text}");
    }
    assert_eq!(Expression::names("a == 'one' ? b : c"), ["a", "b", "c"]);
}

proptest! {
    #[test]
    fn no_text_panics(text in "[-+*/%<>=!&|?:(),.' a-c0-9xminabs]{0,60}") {
        let _ = value(&text);
    }

    #[test]
    fn whole_numbers_are_divided_as_in_python(a in -1000_i64..1000, b in -1000_i64..1000) {
        prop_assume!(b != 0);
        let (Ok(Whole(quotient)), Ok(Whole(rest))) =
            (value(&format!("({a}) / ({b})")), value(&format!("({a}) % ({b})"))) else {
            panic!("whole numbers have a whole quotient")
        };
        prop_assert_eq!(quotient * i128::from(b) + rest, i128::from(a));
        prop_assert!(rest == 0 || (rest < 0) == (b < 0) && rest.abs() < i128::from(b).abs());
    }
}
