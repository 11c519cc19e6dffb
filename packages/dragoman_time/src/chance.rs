//! Random numbers.

use std::collections::BTreeMap;

use crate::executor;
use crate::history::Hash;

/// The streams of random numbers of a lab, by name: draws from one stream do not change the others.
pub(crate) struct Streams {
    pub(crate) seed: u64,
    pub(crate) by_name: BTreeMap<String, u64>,
}

impl Streams {
    fn next(&mut self, name: &str) -> u64 {
        if let Some(state) = self.by_name.get_mut(name) {
            return split_mix(state);
        }
        let mut hash = Hash::default();
        hash.add(self.seed);
        hash.add_bytes(name.as_bytes());
        let mut state = hash.0;
        let first = split_mix(&mut state);
        self.by_name.insert(name.to_owned(), state);
        first
    }
}

/// The next number of SplitMix64 (Steele, Lea and Flood, 2014).
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut number = *state;
    number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}

/// A random number: of the system, or on virtual time the next one of the stream `name`.
pub fn random(name: &str) -> u64 {
    u64::from_le_bytes(random_bytes(name))
}

/// As [`random`], at least 0 and less than 1.
pub fn random_unit(name: &str) -> f64 {
    // 53 bits: as many as a double has.
    (random(name) >> 11) as f64 / (1_u64 << 53) as f64
}

/// Random bytes, as [`random`]; in real time fit for secrets.
///
/// # Panics
/// The system has no random numbers.
#[expect(clippy::panic, reason = "documented: nothing can go on without them")]
pub fn random_bytes<const N: usize>(name: &str) -> [u8; N] {
    let mut bytes = [0; N];
    let virtually = executor::with_lab(|_, lab| {
        let mut streams = lab.streams.lock();
        for part in bytes.chunks_mut(8) {
            let number = streams.next(name).to_le_bytes();
            part.iter_mut().zip(number).for_each(|(byte, random)| *byte = random);
        }
    });
    if virtually.is_none() {
        getrandom::fill(&mut bytes).unwrap_or_else(|error| panic!("no random numbers: {error}"));
    }
    bytes
}
