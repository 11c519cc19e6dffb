//! Seeded noise: SplitMix64 and the Box-Muller transform. The same seed gives the same numbers on every machine.

/// A separate stream of random numbers for each device, so that its measurements are independent of other devices.
#[derive(Debug, Clone)]
pub(crate) struct Noise {
    state: u64,
    /// The transform gives two numbers at a time.
    second: Option<f64>,
}

impl Noise {
    /// The stream of the device `name` in a world with this seed.
    pub(crate) fn new(seed: u64, name: &str) -> Self {
        // FNV-1a.
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self { state: seed ^ hash, second: None }
    }

    /// Normally distributed, mean 0, standard deviation 1.
    pub(crate) fn normal(&mut self) -> f64 {
        if let Some(second) = self.second.take() {
            return second;
        }
        // 1 - u lies in (0, 1]: its logarithm is finite.
        let (radius, angle) = (1.0 - self.uniform(), self.uniform());
        let radius = (-2.0 * radius.ln()).sqrt();
        let (sin, cos) = (std::f64::consts::TAU * angle).sin_cos();
        self.second = Some(radius * sin);
        radius * cos
    }

    /// 32 random bits.
    pub(crate) fn word(&mut self) -> u32 {
        (self.next() >> 32) as u32
    }

    /// Skips one number.
    pub(crate) fn skip(&mut self) {
        self.next();
    }

    /// Uniformly distributed in [0, 1).
    fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
