//! Numbers of effects that were used.

use std::collections::BTreeMap;

/// Ranges at most. Who counts up has one; who picks numbers at random must not fill the host's memory with them.
const RANGES: usize = 1 << 16;

/// A set of numbers, as ranges: providers count up, so it stays small however long an operation is followed.
#[derive(Debug, Default)]
pub(super) struct Used {
    /// First and last of each range.
    ranges: BTreeMap<u32, u32>,
}

impl Used {
    pub(super) fn contains(&self, number: u32) -> bool {
        self.ranges.range(..=number).next_back().is_some_and(|(_, last)| number <= *last)
    }

    /// They are too scattered to be kept.
    pub(super) fn is_full(&self) -> bool {
        self.ranges.len() > RANGES
    }

    /// False when it was there.
    pub(super) fn insert(&mut self, number: u32) -> bool {
        if self.contains(number) {
            return false;
        }
        let before = self.ranges.range(..number).next_back().map(|(first, last)| (*first, *last));
        let first = match before {
            Some((first, last)) if last.checked_add(1) == Some(number) => first,
            _ => number,
        };
        let last = number.checked_add(1).and_then(|next| self.ranges.remove(&next)).unwrap_or(number);
        self.ranges.insert(first, last);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::{RANGES, Used};

    #[test]
    fn scattered_numbers_are_bounded() {
        let mut used = Used::default();
        for number in 0..=RANGES {
            assert!(!used.is_full());
            used.insert(u32::try_from(number * 2).unwrap());
        }
        assert!(used.is_full());
    }

    #[test]
    fn numbers_join_to_ranges() {
        let mut used = Used::default();
        for number in [1, 2, 3, 7, 5, 6, 0, u32::MAX, u32::MAX - 1] {
            assert!(used.insert(number), "{number}");
            assert!(!used.insert(number), "{number}");
        }
        assert!(!used.contains(4) && !used.contains(8));
        assert_eq!(used.ranges.len(), 3);
        assert!(used.insert(4));
        assert_eq!(used.ranges.iter().next(), Some((&0, &7)));
    }
}
