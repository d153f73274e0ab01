//! A cheap, seeded pseudo-random generator (xorshift), the same in every run.

pub struct Rng(u64);

impl Rng {
    /// A different sequence for every seed.
    pub fn new(seed: usize) -> Self {
        // A state of 0 stays 0, and adjacent seeds would yield similar sequences.
        Self((seed as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    pub fn next(&mut self) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        // The upper bits are the better ones.
        (self.0 >> 16) as usize
    }
}
