//! Amounts such as `500m`, `1Gi` or `2`, as Kubernetes reads, writes and adds them.

use std::fmt;
use std::ops::{Add, AddAssign, Sub, SubAssign};

/// One thousandth of a thousandth of a thousandth: what amounts are counted in.
const NANO: i128 = 1_000_000_000;

/// The largest amount, in whole units: what a 64-bit number holds.
const LARGEST: i128 = i64::MAX as i128 * NANO;

/// How an amount was written, and is written again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Form {
    /// `k`, `M`, `m`
    #[default]
    Decimal,
    /// `Ki`, `Mi`
    Binary,
    /// `e3`
    Exponent,
}

/// Why a text is no amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// Not a number with something behind it.
    #[error("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")]
    Format,
    /// What is behind the number has no meaning.
    #[error("unable to parse quantity's suffix")]
    Suffix,
}

/// An amount.
#[derive(Debug, Clone, Copy, Default)]
pub struct Quantity {
    nano: i128,
    form: Form,
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Quantity) -> bool {
        self.nano == other.nano
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Quantity) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Quantity) -> std::cmp::Ordering {
        self.nano.cmp(&other.nano)
    }
}

impl Quantity {
    /// Nothing.
    pub const ZERO: Quantity = Quantity { nano: 0, form: Form::Decimal };

    /// A whole number.
    pub fn whole(number: i64) -> Quantity {
        Quantity { nano: i128::from(number) * NANO, form: Form::Decimal }
    }

    /// Reads an amount.
    ///
    /// # Errors
    /// When the text is none.
    pub fn parse(text: &str) -> Result<Quantity, Unreadable> {
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        if text.is_empty() {
            return Err(Unreadable::Format);
        }
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let (whole, rest) = unsigned.split_at(digits(unsigned));
        let (fraction, suffix) = match rest.strip_prefix('.') {
            Some(rest) => rest.split_at(digits(rest)),
            None => ("", rest),
        };
        let letters = suffix.bytes().take_while(|byte| b"eEinumkKMGTP".contains(byte)).count();
        let (_, exponent) = suffix.split_at(letters);
        if !exponent.strip_prefix(['+', '-']).unwrap_or(exponent).bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(Unreadable::Format);
        }
        let (form, ten, two) = meaning(suffix)?;
        let whole = whole.trim_start_matches('0');
        let mut nano = scaled(whole, fraction, ten, two);
        if text.starts_with('-') {
            nano = -nano;
        }
        let form = if form == Form::Binary && nano.abs() < NANO { Form::Decimal } else { form };
        Ok(Quantity { nano, form })
    }

    /// Reads an amount; nothing if the text is none.
    pub fn of(text: &str) -> Option<Quantity> {
        Quantity::parse(text).ok()
    }

    /// In thousandths.
    pub fn milli(self) -> i128 {
        self.nano / (NANO / 1000)
    }

    /// The sum.
    #[must_use]
    pub fn plus(&self, other: &Quantity) -> Quantity {
        *self + *other
    }

    /// The difference.
    #[must_use]
    pub fn minus(&self, other: &Quantity) -> Quantity {
        *self - *other
    }

    /// Rounded up to thousandths; nothing if it is in thousandths already.
    pub fn in_thousandths(self) -> Option<Quantity> {
        let step = NANO / 1000;
        let rest = self.nano.rem_euclid(step);
        let nano = self.nano - rest + if rest > 0 { step } else { 0 };
        (rest != 0).then_some(Quantity { nano, form: self.form })
    }

    /// Below nothing.
    pub fn is_negative(self) -> bool {
        self.nano < 0
    }

    /// A whole number.
    pub fn is_whole(self) -> bool {
        self.nano % NANO == 0
    }
}

impl Add for Quantity {
    type Output = Quantity;

    fn add(self, other: Quantity) -> Quantity {
        let form = if self.nano == 0 { other.form } else { self.form };
        Quantity { nano: self.nano.saturating_add(other.nano).clamp(-LARGEST, LARGEST), form }
    }
}

impl AddAssign for Quantity {
    fn add_assign(&mut self, other: Quantity) {
        *self = *self + other;
    }
}

impl Sub for Quantity {
    type Output = Quantity;

    fn sub(self, other: Quantity) -> Quantity {
        let form = if self.nano == 0 { other.form } else { self.form };
        Quantity { nano: self.nano.saturating_sub(other.nano).clamp(-LARGEST, LARGEST), form }
    }
}

impl SubAssign for Quantity {
    fn sub_assign(&mut self, other: Quantity) {
        *self = *self - other;
    }
}

/// The form, the power of ten and the power of two that a suffix stands for.
fn meaning(suffix: &str) -> Result<(Form, i32, u32), Unreadable> {
    Ok(match suffix {
        "" => (Form::Decimal, 0, 0),
        "n" => (Form::Decimal, -9, 0),
        "u" => (Form::Decimal, -6, 0),
        "m" => (Form::Decimal, -3, 0),
        "k" => (Form::Decimal, 3, 0),
        "M" => (Form::Decimal, 6, 0),
        "G" => (Form::Decimal, 9, 0),
        "T" => (Form::Decimal, 12, 0),
        "P" => (Form::Decimal, 15, 0),
        "E" => (Form::Decimal, 18, 0),
        "Ki" => (Form::Binary, 0, 10),
        "Mi" => (Form::Binary, 0, 20),
        "Gi" => (Form::Binary, 0, 30),
        "Ti" => (Form::Binary, 0, 40),
        "Pi" => (Form::Binary, 0, 50),
        "Ei" => (Form::Binary, 0, 60),
        other => {
            let power = other.strip_prefix(['e', 'E']).and_then(|power| power.parse::<i32>().ok());
            (Form::Exponent, power.ok_or(Unreadable::Suffix)?, 0)
        }
    })
}

/// In billionths, rounded up, and not above the largest.
fn scaled(whole: &str, fraction: &str, ten: i32, two: u32) -> i128 {
    // More digits than these say nothing about what can be held.
    let fraction = fraction.get(..18).unwrap_or(fraction);
    let Ok(digits) = format!("0{whole}{fraction}").parse::<i128>() else { return LARGEST };
    let power = ten + 9 - i32::try_from(fraction.len()).unwrap_or_default();
    let Some(digits) = digits.checked_mul(1 << two) else { return LARGEST };
    let factor = 10_i128.checked_pow(power.unsigned_abs());
    let nano = match (factor, power >= 0) {
        (Some(factor), true) => digits.checked_mul(factor),
        (None, true) => (digits == 0).then_some(0),
        (Some(factor), false) => Some(digits / factor + i128::from(digits % factor != 0)),
        (None, false) => Some(i128::from(digits != 0)),
    };
    nano.unwrap_or(LARGEST).min(LARGEST)
}

impl fmt::Display for Quantity {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.nano == 0 {
            return out.write_str("0");
        }
        if self.form == Form::Binary && self.is_whole() && self.nano.abs() >= 1024 * NANO {
            let (mut number, mut power) = (self.nano / NANO, 0);
            while number % 1024 == 0 && power < 6 {
                number /= 1024;
                power += 1;
            }
            let suffix = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].get(power).copied().unwrap_or_default();
            return write!(out, "{number}{suffix}");
        }
        let (mut number, mut power) = (self.nano, -9);
        while number % 1000 == 0 && power < 18 {
            number /= 1000;
            power += 3;
        }
        if self.form == Form::Exponent {
            return if power == 0 { write!(out, "{number}") } else { write!(out, "{number}e{power}") };
        }
        let at = usize::try_from((power + 9) / 3).unwrap_or_default();
        let suffix = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"].get(at).copied().unwrap_or_default();
        write!(out, "{number}{suffix}")
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::plain("2", "2")]
    #[case::half("0.5", "500m")]
    #[case::thousandths("1000m", "1")]
    #[case::kept("1500m", "1500m")]
    #[case::thousand("1000", "1k")]
    #[case::binary("1024Mi", "1Gi")]
    #[case::binary_kept("512Mi", "512Mi")]
    #[case::binary_fraction("1.5Gi", "1536Mi")]
    #[case::binary_small("1000Ki", "1000Ki")]
    #[case::exponent("1e3", "1e3")]
    #[case::tiny("1n", "1n")]
    #[case::rounded_up("0.1n", "1n")]
    #[case::zero("0m", "0")]
    #[case::negative("-1500m", "-1500m")]
    #[case::large("9999999999Ei", "9223372036854775807")]
    fn is_written_as_kubernetes_writes_it(#[case] text: &str, #[case] written: &str) {
        assert_eq!(Quantity::parse(text).map(|q| q.to_string()), Ok(written.to_owned()));
    }

    #[rstest]
    #[case::empty("", Unreadable::Format)]
    #[case::word("lots", Unreadable::Format)]
    #[case::suffix("1kk", Unreadable::Suffix)]
    #[case::space("1 Gi", Unreadable::Format)]
    fn what_is_no_amount(#[case] text: &str, #[case] why: Unreadable) {
        assert_eq!(Quantity::parse(text), Err(why));
    }

    #[test]
    fn adds_and_compares_across_forms() {
        let of = |text| Quantity::parse(text).unwrap();
        assert_eq!((of("500m") + of("1.5")).to_string(), "2");
        assert_eq!((of("1Gi") - of("512Mi")).to_string(), "512Mi");
        assert!(of("1Gi") > of("1G"));
    }
}
