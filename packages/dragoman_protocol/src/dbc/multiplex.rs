//! Which signals of a message are there for which numbers of its switches.

use super::{DbcMessage, Signal};

/// Switches above each other, at most.
const MAX_DEPTH: usize = 8;
/// Ranges of numbers of a condition, at most.
const MAX_RANGES: usize = 32;

/// A signal is there if its switch has one of these numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Condition {
    /// The number of the switch among the signals.
    pub(super) switch: usize,
    pub(super) ranges: Vec<[u64; 2]>,
}

impl Condition {
    fn excludes(&self, other: &Self) -> bool {
        let are_apart = |[low, high]: &[u64; 2]| {
            other.ranges.iter().all(|[other_low, other_high]| high < other_low || other_high < low)
        };
        self.switch == other.switch && self.ranges.iter().all(are_apart)
    }
}

/// The conditions of a signal: that of its switch, of the switch of that, and so on. Or why there are none.
pub(super) fn conditions(message: &DbcMessage, signal: &Signal) -> Result<Vec<Condition>, String> {
    let mut chain: Vec<Condition> = Vec::new();
    let mut at = signal;
    while let Some(next) = condition(message, at)? {
        if chain.len() >= MAX_DEPTH {
            return Err(format!("more than {MAX_DEPTH} switches above each other"));
        }
        at = message.signals.get(next.switch).ok_or("there is no switch")?;
        chain.push(next);
    }
    Ok(chain)
}

fn condition(message: &DbcMessage, signal: &Signal) -> Result<Option<Condition>, String> {
    let Some(number) = signal.switched_by else { return Ok(None) };
    let switches = || message.signals.iter().enumerate().filter(|(_, one)| one.is_switch);
    let (switch, mut ranges) = match &signal.switch {
        Some((name, ranges)) => {
            let found = switches().find(|(_, one)| one.name == *name);
            (
                found.ok_or_else(|| format!("{name}, which switches it, is not a switch of the message"))?,
                ranges.clone(),
            )
        }
        None => {
            let mut roots = switches().filter(|(_, one)| one.switched_by.is_none());
            match (roots.next(), roots.next()) {
                (Some(root), None) => (root, vec![[number, number]]),
                (None, _) => return Err("the message has no switch".to_owned()),
                (Some(_), Some(_)) => {
                    return Err(
                        "the message has several switches, and the file does not say which one is meant"
                            .to_owned(),
                    );
                }
            }
        }
    };
    if switch.1.is_float {
        return Err(format!("its switch {} is a floating-point number", switch.1.name));
    }
    ranges.sort_unstable();
    ranges.dedup();
    if ranges.is_empty() || ranges.len() > MAX_RANGES {
        return Err(format!("{} ranges of numbers; 1 to {MAX_RANGES} are possible", ranges.len()));
    }
    let max = maximum(switch.1);
    if let Some([low, _]) = ranges.first().filter(|[low, _]| *low > max) {
        return Err(format!("its switch {} is never {low}: its maximum is {max}", switch.1.name));
    }
    ranges.retain(|[low, _]| *low <= max);
    // Numbers are signed in conditions.
    if ranges.iter().flatten().any(|number| i64::try_from(*number).is_err()) {
        return Err("a number of its switch is too large".to_owned());
    }
    Ok(Some(Condition { switch: switch.0, ranges }))
}

/// The maximum of a signal's number.
fn maximum(signal: &Signal) -> u64 {
    let bits = signal.length.saturating_sub(usize::from(signal.is_signed));
    u32::try_from(bits).ok().and_then(|bits| 1_u64.checked_shl(bits)).map_or(u64::MAX, |above| above - 1)
}

/// Whether no frame has both signals.
pub(super) fn exclude(one: &[Condition], other: &[Condition]) -> bool {
    one.iter().any(|one| other.iter().any(|other| one.excludes(other)))
}
