//! Fits LogGP parameters to measured round trips.
//!
//! In a measurement, process A sends `n` messages of `s` bytes to process B, which answers with one
//! message of `s` bytes after receiving them all. In the LogGP model, with both processes otherwise
//! idle, this takes
//!
//! ```text
//! PRTT(n, s) = 2 (L + o_s + o_r + (s - 1) G) + (n - 1) (g + (s - 1) G)
//! ```
//!
//! So `(PRTT(n, s) - PRTT(1, s)) / (n - 1)` as a function of `s - 1` is a line with slope G and
//! intercept g, and half of PRTT(1, 1) is the time of a byte from sender to receiver. Source:
//! Hoefler, Lichei, Rehm: Low-Overhead LogGP Parameter Assessment for Modern Interconnection
//! Networks, 2007. The paper fits lines by least squares; here slopes are medians of slopes, which
//! are robust to outliers.
//!
//! Messages up to the eager limit and longer ones take different paths through an MPI library, so
//! each range has its own line.

#![forbid(unsafe_code)]

use super::{Loggp, Sharing};
use crate::util::cast::whole;

/// Messages in a round trip with several messages.
pub const SEVERAL: u32 = 8;

/// The time of one kind of round trip.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// s: bytes per message, at least 1.
    pub bytes: u64,
    /// n: messages from A to B; one message comes back.
    pub messages: u32,
    /// PRTT, in microseconds: the median of the measurements.
    pub time: f64,
}

/// Measured times.
#[derive(Debug, Clone, PartialEq)]
pub struct Samples {
    /// The round trips: for each size, one with one message and one with several. The sizes include
    /// 1 byte.
    pub round_trips: Vec<Sample>,
    /// o_s, in microseconds.
    pub send_overhead: f64,
    /// o_r, in microseconds.
    pub recv_overhead: f64,
    /// The longest message, in bytes, that is sent without waiting for its receiver; `u64::MAX` if
    /// no message waits.
    pub eager: u64,
}

/// A line fitted to the round trips of a range of sizes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// The smallest and the largest measured size, in bytes.
    pub bytes: (u64, u64),
    /// Time of a message from sender to receiver beyond its bytes, L + o_s + o_r, in microseconds.
    pub startup: f64,
    /// g, in microseconds.
    pub gap: f64,
    /// G, in microseconds per byte.
    pub gap_per_byte: f64,
    /// Deviation of the measured times from the line: the median of |measured - predicted| /
    /// measured.
    pub deviation: f64,
}

/// Fitted parameters, including those that [`Loggp`] does not hold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameters {
    /// The parameters of the model. Its single overhead is the mean of the two.
    pub loggp: Loggp,
    /// o_s, in microseconds.
    pub send_overhead: f64,
    /// o_r, in microseconds.
    pub recv_overhead: f64,
    /// Deviation of the measured times from the prediction of these parameters: the median of
    /// |measured - predicted| / measured. 0 if nothing was measured.
    pub deviation: f64,
}

impl From<Loggp> for Parameters {
    fn from(loggp: Loggp) -> Parameters {
        Parameters { loggp, send_overhead: loggp.overhead, recv_overhead: loggp.overhead, deviation: 0.0 }
    }
}

impl Parameters {
    /// Number of words of a message that holds them.
    pub const WORDS: usize = Self::LINKS + 2 * Sharing::DISTANCES;

    /// Place of the first word of the links; those of the latencies follow.
    const LINKS: usize = 10;

    /// Returns them as words of a message.
    pub fn words(&self) -> [u64; Self::WORDS] {
        let m = &self.loggp;
        let [latency, overhead, gap, per_byte] = [m.latency, m.overhead, m.gap, m.gap_per_byte].map(f64::to_bits);
        let [send, recv, deviation] = [self.send_overhead, self.recv_overhead, self.deviation].map(f64::to_bits);
        let mut words = [0; Self::WORDS];
        words[..8].copy_from_slice(&[latency, overhead, gap, per_byte, m.eager, send, recv, deviation]);
        let Sharing { copy, links, random, latencies } = m.sharing;
        // a negative number says that there is none
        [words[8], words[9]] = [copy, random].map(|time| time.unwrap_or(-1.0).to_bits());
        let (_, times) = words.split_at_mut(Self::LINKS);
        for (word, time) in times.iter_mut().zip(links.into_iter().chain(latencies)) {
            *word = time.to_bits();
        }
        words
    }

    /// Reads them from the words of a message.
    pub fn from_words(words: [u64; Self::WORDS]) -> Parameters {
        let cost = |i: usize| f64::from_bits(words[i]);
        let [copy, random] = [8, 9].map(|i| Some(cost(i)).filter(|&time| time >= 0.0));
        let links = std::array::from_fn(|i| cost(Self::LINKS + i));
        let latencies = std::array::from_fn(|i| cost(Self::LINKS + Sharing::DISTANCES + i));
        let sharing = Sharing { copy, links, random, latencies };
        let loggp = Loggp { latency: cost(0), overhead: cost(1), gap: cost(2), gap_per_byte: cost(3), eager: words[4], sharing };
        Parameters { loggp, send_overhead: cost(5), recv_overhead: cost(6), deviation: cost(7) }
    }
}

/// A measured machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// Measured times.
    pub samples: Samples,
    /// Messages up to the eager limit. `None` if the limit is too low for a fit.
    pub short: Option<Range>,
    /// Longer messages. `None` if none were measured.
    pub long: Option<Range>,
    /// The parameters: L, o and g of the shortest messages, G of the longest.
    pub parameters: Parameters,
}

impl Range {
    /// Predicted PRTT, in microseconds.
    pub fn round_trip(&self, bytes: u64, messages: u32) -> f64 {
        let transfer = bytes.saturating_sub(1) as f64 * self.gap_per_byte;
        2.0 * (self.startup + transfer) + f64::from(messages.saturating_sub(1)) * (self.gap + transfer)
    }

    fn fit(samples: &[Sample]) -> Option<Range> {
        let size = |s: &Sample| s.bytes.saturating_sub(1) as f64;
        let ones = || samples.iter().filter(|s| s.messages == 1);
        let gaps: Vec<(f64, f64)> = (samples.iter().filter(|s| s.messages > 1))
            .filter_map(|s| {
                let one = ones().find(|o| o.bytes == s.bytes)?;
                Some((size(s), (s.time - one.time) / f64::from(s.messages - 1)))
            })
            .collect();
        let (gap, gap_per_byte) = line(&gaps)?;
        let (gap, gap_per_byte) = (gap.max(0.0), gap_per_byte.max(0.0));
        let startup = median(ones().map(|s| s.time / 2.0 - size(s) * gap_per_byte).collect())?.max(0.0);
        let bytes = (samples.iter().map(|s| s.bytes).min()?, samples.iter().map(|s| s.bytes).max()?);
        let mut range = Range { bytes, startup, gap, gap_per_byte, deviation: 0.0 };
        range.deviation = deviation(samples, |s| range.round_trip(s.bytes, s.messages))?;
        Some(range)
    }
}

impl Samples {
    /// Fits the parameters to the measured times. `None` if there are too few: at least two sizes,
    /// including 1 byte, with one message and with several.
    ///
    /// - L = PRTT(1, 1) / 2 - (o_s + o_r), but at least 0: in shared memory the receiver works
    ///   while the sender still does, so that the two overheads can exceed the total time.
    /// - o = (o_s + o_r) / 2.
    /// - g is that of short messages.
    /// - G is that of long messages if there are any, because their bytes matter most.
    pub fn evaluate(self) -> Option<Measurement> {
        let (short, long): (Vec<Sample>, Vec<Sample>) = self.round_trips.iter().partition(|s| s.bytes <= self.eager);
        let (short, long) = (Range::fit(&short), Range::fit(&long));
        let first = short.or(long)?;
        let byte = self.round_trips.iter().find(|s| (s.bytes, s.messages) == (1, 1))?;
        let (send_overhead, recv_overhead) = (self.send_overhead.max(0.0), self.recv_overhead.max(0.0));
        // noise can make times fall with the length: then use the next best estimate of the cost of
        // a byte, down to the longest message alone
        let single = self.round_trips.iter().filter(|s| s.messages == 1).max_by_key(|s| s.bytes);
        let secant = single.map(|s| (s.time - byte.time) / 2.0 / s.bytes.saturating_sub(1).max(1) as f64);
        let slopes = [long.map(|r| r.gap_per_byte), short.map(|r| r.gap_per_byte), secant];
        let loggp = Loggp {
            latency: (byte.time / 2.0 - (send_overhead + recv_overhead)).max(0.0),
            overhead: f64::midpoint(send_overhead, recv_overhead),
            gap: first.gap,
            gap_per_byte: slopes.into_iter().flatten().find(|&g| g > 0.0).unwrap_or(0.0),
            eager: self.eager,
            sharing: Sharing::UNKNOWN,
        };
        let deviation = deviation(&self.round_trips, |s| {
            let next = loggp.overhead.max(loggp.gap + loggp.transfer(s.bytes));
            2.0 * loggp.point_to_point(s.bytes) + f64::from(s.messages - 1) * next
        })?;
        let parameters = Parameters { loggp, send_overhead, recv_overhead, deviation };
        Some(Measurement { samples: self, short, long, parameters })
    }
}

/// Returns sizes on both sides of the eager limit, two per octave, always including 1 byte. A range
/// of less than two octaves is left out: the remaining sizes are more informative than such a short
/// range.
pub fn sizes(eager: u64, longest: u64) -> Vec<u64> {
    let octaves = |from: u64, to: u64| {
        let steps = (0..).map(move |k| whole((from as f64 * 2f64.powf(f64::from(k) / 2.0)).round()));
        // the last step is at least half as long as the others
        let inner = steps.take_while(move |&s| s + s / 5 < to);
        inner.chain([to]).filter(move |_| to / 4 >= from)
    };
    let mut sizes: Vec<u64> = [1].into_iter().chain(octaves(1, eager.min(longest))).collect();
    if eager < longest {
        sizes.extend(octaves(eager + 1, longest));
    }
    sizes.dedup();
    sizes
}

/// Returns the median; `None` for an empty list.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    (n > 0).then(|| f64::midpoint(values[(n - 1) / 2], values[n / 2]))
}

/// Median of |measured - predicted| / measured.
fn deviation(samples: &[Sample], predicted: impl Fn(&Sample) -> f64) -> Option<f64> {
    median(samples.iter().map(|s| (s.time - predicted(s)).abs() / s.time.max(f64::MIN_POSITIVE)).collect())
}

/// Fits a line to points (x, y) and returns intercept and slope: the slope is the median of the
/// slopes of pairs of points, the intercept the median of the residuals (Theil 1950, Sen 1968).
/// Only pairs whose distance is at least 1/16 of the whole range count; otherwise the many pairs of
/// short messages, whose slopes are noise, would outvote the long ones. `None` unless two points
/// have different x.
fn line(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let end = |pick: fn(f64, f64) -> f64| points.iter().map(|p| p.0).reduce(pick);
    let apart = (end(f64::max)? - end(f64::min)?) / 16.0;
    let slopes = (points.iter().enumerate())
        .flat_map(|(i, a)| points[i + 1..].iter().map(move |b| (b.0 - a.0, b.1 - a.1)))
        .filter(|&(x, _)| x != 0.0 && x.abs() >= apart)
        .map(|(x, y)| y / x);
    let slope = median(slopes.collect())?;
    let intercept = median(points.iter().map(|p| p.1 - slope * p.0).collect())?;
    Some((intercept, slope))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::util::random::mix;
    use proptest::prelude::*;

    /// Predicted times of a machine with different overheads and, above the eager limit, another
    /// line.
    fn samples(p: &Loggp, (send, recv): (f64, f64), long: (f64, f64, f64)) -> Samples {
        let sizes = (0..41).map(|k| whole(2f64.powf(f64::from(k) / 2.0)));
        let round_trips = sizes
            .flat_map(|bytes| [1, SEVERAL].map(|messages| (bytes, messages)))
            .map(|(bytes, messages)| {
                let (startup, gap, per_byte) = match bytes <= p.eager {
                    true => (p.latency + send + recv, p.gap, p.gap_per_byte),
                    false => long,
                };
                let transfer = (bytes - 1) as f64 * per_byte;
                let time = 2.0 * (startup + transfer) + f64::from(messages - 1) * (gap + transfer);
                Sample { bytes, messages, time }
            })
            .collect();
        Samples { round_trips, send_overhead: send, recv_overhead: recv, eager: p.eager }
    }

    fn close(a: f64, b: f64, by: f64) -> bool {
        (a - b).abs() <= by * b.abs()
    }

    const CLUSTER: Loggp =
        Loggp { latency: 2.0, overhead: 0.5, gap: 0.75, gap_per_byte: 0.001, eager: 8192, sharing: Sharing::UNKNOWN };

    #[test]
    fn exact_times_give_back_the_parameters() {
        let m = samples(&CLUSTER, (0.4, 0.6), (9.0, 5.0, 0.0005)).evaluate().unwrap();
        let (short, long, p) = (m.short.unwrap(), m.long.unwrap(), m.parameters);
        assert_eq!((short.bytes, long.bytes), ((1, 8192), (11585, 1 << 20)));
        assert!(close(short.startup, 3.0, 1e-9) && close(short.gap, 0.75, 1e-9) && close(short.gap_per_byte, 0.001, 1e-9));
        assert!(close(long.startup, 9.0, 1e-9) && close(long.gap, 5.0, 1e-9) && close(long.gap_per_byte, 0.0005, 1e-9));
        assert!(short.deviation < 1e-12 && long.deviation < 1e-12);
        assert!(close(p.loggp.latency, 2.0, 1e-9) && close(p.loggp.overhead, 0.5, 1e-9) && close(p.loggp.gap, 0.75, 1e-9));
        assert!(close(p.loggp.gap_per_byte, 0.0005, 1e-9), "that of long messages");
        assert_eq!((p.send_overhead, p.recv_overhead, p.loggp.eager), (0.4, 0.6, 8192));
        // transfer takes half as long, so short messages are predicted too fast
        assert!(p.deviation > 0.01 && p.deviation < 0.5, "{}", p.deviation);
    }

    #[test]
    fn one_range_is_enough() {
        let unlimited = Loggp { eager: u64::MAX, ..CLUSTER };
        let m = samples(&unlimited, (0.5, 0.5), (0.0, 0.0, 0.0)).evaluate().unwrap();
        assert!(m.long.is_none() && m.parameters.deviation < 1e-9);
        assert!(close(m.parameters.loggp.gap_per_byte, 0.001, 1e-9));
        let none = Loggp { eager: 0, ..CLUSTER };
        let m = samples(&none, (0.5, 0.5), (3.0, 0.75, 0.001)).evaluate().unwrap();
        assert!(m.short.is_none() && m.parameters.deviation < 1e-9);
        assert!(close(m.parameters.loggp.gap, 0.75, 1e-9) && close(m.parameters.loggp.latency, 2.0, 1e-9));
    }

    #[test]
    fn overheads_that_overlap_leave_no_latency() {
        let mut s = samples(&CLUSTER, (0.4, 0.6), (9.0, 5.0, 0.0005));
        s.send_overhead = 5.0;
        s.recv_overhead = -0.1;
        let p = s.evaluate().unwrap().parameters;
        assert_eq!((p.loggp.latency, p.loggp.overhead, p.recv_overhead), (0.0, 2.5, 0.0));
        assert_eq!(p.loggp.invalid(), None);
    }

    #[test]
    fn times_that_fall_with_the_length_still_give_a_time_per_byte() {
        // above the eager limit each longer message is a little faster
        let falling = samples(&CLUSTER, (0.4, 0.6), (9.0, 5.0, -1e-9)).evaluate().unwrap();
        assert_eq!(falling.parameters.loggp.gap_per_byte, falling.short.unwrap().gap_per_byte);
        let mut all = samples(&Loggp { gap_per_byte: -1e-9, ..CLUSTER }, (0.4, 0.6), (9.0, 5.0, -1e-9));
        let g = all.clone().evaluate().unwrap().parameters.loggp.gap_per_byte;
        assert!(g > 0.0 && g < 1e-5, "the longest message takes longer than a byte by its rendezvous: {g}");
        all.round_trips.iter_mut().for_each(|s| s.time = 5.0);
        assert_eq!(all.evaluate().unwrap().parameters.loggp.gap_per_byte, 0.0);
    }

    #[test]
    fn too_few_times_are_no_measurement() {
        let all = samples(&CLUSTER, (0.4, 0.6), (9.0, 5.0, 0.0005));
        let only = |keep: fn(&Sample) -> bool| {
            let round_trips = all.round_trips.iter().copied().filter(keep).collect();
            Samples { round_trips, ..all.clone() }.evaluate()
        };
        assert!(only(|_| false).is_none());
        assert!(only(|s| s.messages == 1).is_none());
        assert!(only(|s| s.bytes == 1).is_none());
        assert!(only(|s| s.bytes > 1).is_none());
        assert!(only(|s| s.bytes < 4).is_some());
    }

    #[test]
    fn sizes_cover_both_ranges() {
        for longest in [1024, 1 << 20, 5_000_000] {
            for eager in [0, 1, 3, 4, 500, 4000, 65536, 1 << 20, u64::MAX] {
                let sizes = sizes(eager, longest);
                assert_eq!(sizes[0], 1);
                assert!(sizes.is_sorted_by(|a, b| a < b) && sizes.len() < 60, "{sizes:?}");
                let (short, long): (Vec<u64>, Vec<u64>) = sizes.iter().partition(|&&s| s <= eager);
                let ends = |range: &[u64]| (range.first().copied(), range.last().copied());
                if eager >= 4 {
                    assert_eq!(ends(&short), (Some(1), Some(eager.min(longest))));
                }
                if eager < longest / 4 {
                    assert_eq!(ends(&long), (Some(eager + 1), Some(longest)));
                } else {
                    assert!(long.is_empty());
                }
                // each range that exists has enough sizes for a line, and so has the whole
                assert!(short.len() != 1 || eager < 4);
                assert!(sizes.len() >= 5, "{eager} {longest} {sizes:?}");
            }
        }
    }

    #[test]
    fn lines_and_medians() {
        assert_eq!((median(vec![]), median(vec![3.0, 1.0]), median(vec![3.0, 1.0, 7.0])), (None, Some(2.0), Some(3.0)));
        assert_eq!(line(&[(1.0, 1.0), (1.0, 2.0)]), None);
        assert_eq!(line(&[(0.0, 1.0), (2.0, 5.0)]), Some((1.0, 2.0)));
    }

    proptest! {
        /// Times with errors of some percent, and a few with errors of any factor.
        #[test]
        fn noise_and_outliers_do_little(seed in any::<u64>(), which in prop::collection::btree_set(0usize..82, 0..3), factor in 2.0f64..1000.0) {
            let mut s = samples(&CLUSTER, (0.4, 0.6), (9.0, 5.0, 0.0005));
            let drawn = |i: usize| (mix(seed ^ i as u64) >> 11) as f64 / (1u64 << 53) as f64;
            for (i, sample) in s.round_trips.iter_mut().enumerate() {
                sample.time *= 1.0 + 0.01 * (drawn(i) - 0.5);
            }
            // the one time that alone determines a parameter is the median of very many
            for &i in which.iter().filter(|&&i| i > 0) {
                s.round_trips[i].time *= factor;
            }
            let m = s.evaluate().unwrap();
            prop_assert!(close(m.parameters.loggp.gap_per_byte, 0.0005, 0.1), "{m:?}");
            prop_assert!(close(m.parameters.loggp.gap, 0.75, 0.15), "{m:?}");
            prop_assert!(close(m.parameters.loggp.latency, 2.0, 0.05), "{m:?}");
            prop_assert!(m.short.unwrap().deviation < 0.05);
        }
    }
}
