//! Numbers that look random, cost next to nothing, and are the same in every run.

pub struct Picks(u64);

impl Picks {
    /// A sequence of its own for every seed.
    pub fn new(seed: usize) -> Self {
        // xorshift never leaves 0, and seeds that are near each other start near each other: this spreads them.
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
