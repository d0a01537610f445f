//! Pseudorandom numbers that are equal on all processes and machines.

#![forbid(unsafe_code)]

use crate::util::cast::to_u32;

/// SplitMix64's finalizer: a hash of 64 bits in which each bit of the result depends on every bit
/// of the input.
pub fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014): 8 bytes,
/// period 2^64, any seed.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Starts the sequence of a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// A number below `n`, uniform up to a bias of `n / 2^32`. 0 if `n` is 0.
    pub fn below(&mut self, n: u32) -> u32 {
        (((self.bits() >> 32) * u64::from(n)) >> 32) as u32
    }

    /// A number in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// `count` distinct numbers below `n` in random order; all `n` numbers if `count` is larger.
    /// Cost: O(n).
    pub fn different(&mut self, count: u32, n: u32) -> Vec<u32> {
        let mut all: Vec<u32> = (0..n).collect();
        let count = count.min(n);
        for i in 0..count {
            all.swap(i as usize, (i + self.below(n - i)) as usize);
        }
        all.truncate(count as usize);
        all
    }

    /// Shuffles a list.
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for i in (1..list.len()).rev() {
            list.swap(i, self.below(to_u32(i) + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_sequence() {
        let mut random = Random::new(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| random.bits()).collect();
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn numbers_below_and_shuffles_are_even() {
        let mut random = Random::new(7);
        let mut seen = [0u32; 5];
        let mut places = [[0u32; 4]; 4];
        for _ in 0..10_000 {
            seen[random.below(5) as usize] += 1;
            let mut list = [0usize, 1, 2, 3];
            random.shuffle(&mut list);
            for (place, &value) in list.iter().enumerate() {
                places[place][value] += 1;
            }
        }
        assert!(seen.iter().all(|n| (1_800..2_200).contains(n)), "{seen:?}");
        assert!(places.as_flattened().iter().all(|n| (2_300..2_700).contains(n)), "{places:?}");
        assert_eq!(random.below(0), 0);
        let mut pairs = [[0u32; 4]; 4];
        for _ in 0..12_000 {
            let [a, b] = random.different(2, 4)[..] else { panic!("not two") };
            pairs[a as usize][b as usize] += 1;
        }
        for (a, row) in pairs.iter().enumerate() {
            for (b, n) in row.iter().enumerate() {
                assert!(if a == b { *n == 0 } else { (850..1_150).contains(n) }, "{pairs:?}");
            }
        }
        let mut all = random.different(9, 5);
        all.sort_unstable();
        assert_eq!((all, random.different(3, 0)), (vec![0, 1, 2, 3, 4], vec![]));
        let mean = (0..10_000).map(|_| random.unit()).sum::<f64>() / 10_000.0;
        assert!((0.48..0.52).contains(&mean));
    }
}
