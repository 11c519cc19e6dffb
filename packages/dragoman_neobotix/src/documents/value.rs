//! Values of attributes: texts, numbers, `true` and `false`.

use super::element::Value;
#[cfg(test)]
use super::properties::Source;

impl Value for String {
    const KIND: &'static str = "text";

    fn parse(text: &str) -> Option<Self> {
        Some(text.to_owned())
    }

    fn print(&self) -> Option<String> {
        Some(self.clone())
    }

    #[cfg(test)]
    fn sample(source: &mut Source) -> Self {
        source.text()
    }
}

impl Value for f64 {
    const KIND: &'static str = "a number";

    fn parse(text: &str) -> Option<Self> {
        text.trim().parse().ok().filter(|number: &f64| number.is_finite())
    }

    fn print(&self) -> Option<String> {
        self.is_finite().then(|| self.to_string())
    }

    #[cfg(test)]
    fn sample(source: &mut Source) -> Self {
        Some(f64::from_be_bytes(source.bytes())).filter(|number| number.is_finite()).unwrap_or(0.5)
    }
}

macro_rules! whole_numbers {
    ($($number:ty, $kind:literal);*) => {$(
        impl Value for $number {
            const KIND: &'static str = $kind;

            fn parse(text: &str) -> Option<Self> {
                text.trim().parse().ok()
            }

            fn print(&self) -> Option<String> {
                Some(self.to_string())
            }

            #[cfg(test)]
            fn sample(source: &mut Source) -> Self {
                Self::from_be_bytes(source.bytes())
            }
        }
    )*};
}

whole_numbers!(i64, "a whole number"; u64, "a whole number of at least 0"; u32, "a whole number of at least 0");

/// `true` or `false`; `1` and `0` are read too.
impl Value for bool {
    const KIND: &'static str = "true or false";

    fn parse(text: &str) -> Option<Self> {
        match text.trim() {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            _ => None,
        }
    }

    fn print(&self) -> Option<String> {
        Some(self.to_string())
    }

    #[cfg(test)]
    fn sample(source: &mut Source) -> Self {
        source.flag()
    }
}
