//! Gantt charts of a simulated run as SVG: one lane per process, with a bar for each message that
//! it sends (above) and receives (below).

use std::fmt::Write;

use mpix_neighbor::util::cast::{to_int, to_usize, whole};

use crate::svg::{self, FEW, escape};
use crate::text::{time, unit};

/// One message at one of its two ends.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// The process whose lane it is in.
    pub process: u32,
    /// True at the sender.
    pub sends: bool,
    /// The process at the other end.
    pub peer: u32,
    /// Bytes.
    pub bytes: u64,
    /// Index of its round in `Chart::rounds`.
    pub round: usize,
    /// Time at which the process's port starts on it, in seconds.
    pub begin: f64,
    /// Time at which the port is done with it.
    pub end: f64,
}

/// A chart.
#[derive(Debug, Clone)]
pub struct Chart {
    /// First line.
    pub title: String,
    /// Second line.
    pub subtitle: String,
    /// The processes with lanes.
    pub processes: std::ops::Range<u32>,
    /// Numbers of the rounds.
    pub rounds: Vec<u32>,
    /// Time at which the last process is done, in seconds.
    pub end: f64,
    /// Bars of any process; those without a lane are left out.
    pub bars: Vec<Bar>,
}

/// Maximum number of lanes that are still legible.
pub const MAX_LANES: u32 = 64;

/// Left edge, width and top of the area of the time axis, in pixels.
const LEFT: f64 = 64.0;
const WIDTH: f64 = 1100.0;
const TOP: f64 = 92.0;
/// Height of a bar, and of a lane: two bars and the gap below them.
const BAR: f64 = 9.0;
const LANE: f64 = 24.0;

/// Points of the viridis scale, whose order is visible with any color vision, without its lightest
/// end.
const SCALE: [(f64, f64, f64); 6] = [
    (68.0, 1.0, 84.0),
    (65.0, 68.0, 135.0),
    (42.0, 120.0, 142.0),
    (34.0, 168.0, 132.0),
    (122.0, 209.0, 81.0),
    (220.0, 227.0, 25.0),
];

/// The color of a round, and that of text on it.
fn color(round: usize, rounds: usize) -> (String, &'static str) {
    let fill = match rounds <= FEW.len() {
        true => FEW[round % FEW.len()].to_owned(),
        false => {
            let at = round as f64 / (rounds - 1) as f64 * (SCALE.len() - 1) as f64;
            let i = to_usize(whole(at)).min(SCALE.len() - 2);
            let (a, b, t) = (SCALE[i], SCALE[i + 1], at - i as f64);
            let mix = |a: f64, b: f64| to_int::<u8>(whole(a + (b - a) * t));
            format!("#{:02X}{:02X}{:02X}", mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
        }
    };
    let part = |i: usize| f64::from(u8::from_str_radix(&fill[i..i + 2], 16).unwrap_or(0));
    let light = 0.299 * part(1) + 0.587 * part(3) + 0.114 * part(5);
    (fill, if light > 130.0 { "#000" } else { "#fff" })
}

/// Distance between ticks on an axis of this length: 1, 2 or 5 times a power of ten, 5 to 12 ticks.
fn step(length: f64) -> f64 {
    let power = 10f64.powf((length / 10.0).log10().floor());
    [1.0, 2.0, 5.0].into_iter().map(|f| f * power).find(|s| length / s <= 10.5).unwrap_or(10.0 * power)
}

impl Chart {
    /// The chart as an SVG file.
    pub fn svg(&self) -> String {
        let lanes = self.processes.len() as f64;
        let bottom = TOP + lanes * LANE;
        let (width, height) = (LEFT + WIDTH + 36.0, bottom + 96.0);
        let mut svg = svg::head(width, height, LEFT, &self.title, Some(&self.subtitle));
        let _ = write!(
            svg,
            "<text x=\"{LEFT}\" y=\"48\">{subtitle}</text>\n\
             <text x=\"{LEFT}\" y=\"68\" fill=\"#555\">Each process has two bars: above what it sends (number: to \
             whom), waiting for the receiver included; below what it receives (number: from whom).</text>\n",
            subtitle = escape(&self.subtitle),
        );
        self.lanes(&mut svg, bottom);
        self.axis(&mut svg, bottom);
        self.messages(&mut svg);
        self.legend(&mut svg, bottom + 62.0);
        svg.push_str("</svg>\n");
        svg
    }

    /// Horizontal position of a time.
    fn x(&self, seconds: f64) -> f64 {
        LEFT + seconds / self.end.max(1e-9) * WIDTH
    }

    fn lanes(&self, svg: &mut String, bottom: f64) {
        for (i, p) in self.processes.clone().enumerate() {
            let y = TOP + i as f64 * LANE;
            if i % 2 == 0 {
                let _ = writeln!(svg, "<rect x=\"{LEFT}\" y=\"{y}\" width=\"{WIDTH}\" height=\"{LANE}\" fill=\"#f3f3f3\"/>");
            }
            let _ =
                writeln!(svg, "<text x=\"{}\" y=\"{}\" text-anchor=\"end\" font-size=\"11\">{p}</text>", LEFT - 8.0, y + 16.0);
        }
        let middle = f64::midpoint(TOP, bottom);
        let _ = writeln!(
            svg,
            "<text x=\"20\" y=\"{middle}\" text-anchor=\"middle\" transform=\"rotate(-90 20 {middle})\">process</text>"
        );
    }

    fn axis(&self, svg: &mut String, bottom: f64) {
        // a run of length 0 still has an axis
        let end = self.end.max(1e-9);
        let (of, name) = unit(end);
        let step = step(end / of);
        let digits = to_usize(whole((-step.log10().floor()).max(0.0)));
        let marks = to_usize(whole(end / of / step + 1e-9));
        for mark in 0..=marks {
            let value = mark as f64 * step;
            let x = self.x(value * of);
            let _ = writeln!(
                svg,
                "<path d=\"M{x:.1} {TOP}V{:.1}\" stroke=\"#ccc\"/><text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" \
                 font-size=\"11\">{value:.digits$}</text>",
                bottom + 4.0,
                bottom + 17.0
            );
        }
        let _ = writeln!(
            svg,
            "<path d=\"M{LEFT} {bottom}H{right}\" stroke=\"#222\"/><path d=\"M{right} {TOP}V{bottom}\" stroke=\"#222\" \
             stroke-dasharray=\"4 3\"/>\n<text x=\"{right}\" y=\"{}\" text-anchor=\"end\" font-size=\"11\">end {}</text>\n\
             <text x=\"{}\" y=\"{}\" text-anchor=\"middle\">time ({name})</text>",
            TOP - 6.0,
            time(self.end),
            LEFT + WIDTH / 2.0,
            bottom + 34.0,
            right = LEFT + WIDTH,
        );
    }

    fn messages(&self, svg: &mut String) {
        let mut bars: Vec<&Bar> = self.bars.iter().filter(|b| self.processes.contains(&b.process)).collect();
        bars.sort_by(|a, b| (a.process, !a.sends).cmp(&(b.process, !b.sends)).then(a.end.total_cmp(&b.end)));
        let _ = writeln!(svg, "<g font-size=\"8\" text-anchor=\"middle\" stroke=\"#fff\" stroke-width=\".6\">");
        for port in bars.chunk_by(|a, b| (a.process, a.sends) == (b.process, b.sends)) {
            // a message that waits for the previous one is drawn from that one's end
            let mut free = 0.0f64;
            for bar in port {
                self.message(svg, bar, bar.begin.max(free));
                free = free.max(bar.end);
            }
        }
        svg.push_str("</g>\n");
    }

    /// Draws a bar from `begin` on.
    fn message(&self, svg: &mut String, bar: &Bar, begin: f64) {
        let (fill, ink) = color(bar.round, self.rounds.len());
        let y = TOP + f64::from(bar.process - self.processes.start) * LANE + if bar.sends { 2.5 } else { 3.0 + BAR };
        let x = self.x(begin);
        // a message of length 0 is still visible
        let w = (self.x(bar.end) - x).max(0.8);
        let (source, target) = if bar.sends { (bar.process, bar.peer) } else { (bar.peer, bar.process) };
        let _ = write!(
            svg,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{w:.1}\" height=\"{BAR}\" fill=\"{fill}\"><title>{source} to {target}, {} B, round {}, {} from {} to \
             {}</title></rect>",
            bar.bytes,
            self.rounds[bar.round],
            if bar.sends { "sends" } else { "receives" },
            time(bar.begin),
            time(bar.end)
        );
        let label = bar.peer.to_string();
        if w >= 4.0 + 5.0 * label.len() as f64 {
            let _ = write!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" fill=\"{ink}\" stroke=\"none\" pointer-events=\"none\">{label}</text>",
                x + w / 2.0,
                y + 7.5
            );
        }
        svg.push('\n');
    }

    /// Colors of the rounds: all rounds, or a selection if they do not fit.
    fn legend(&self, svg: &mut String, y: f64) {
        let _ = writeln!(svg, "<text x=\"{LEFT}\" y=\"{}\">round</text>", y + 12.0);
        let begin = LEFT + 44.0;
        let count = self.rounds.len();
        let box_width = (WIDTH - 60.0).min(count as f64 * 30.0) / count.max(1) as f64;
        let every = to_usize(whole((26.0 / box_width).ceil().max(1.0)));
        for (i, round) in self.rounds.iter().enumerate() {
            let x = begin + i as f64 * box_width;
            let (fill, ink) = color(i, count);
            let _ = write!(svg, "<rect x=\"{x:.1}\" y=\"{y}\" width=\"{:.1}\" height=\"16\" fill=\"{fill}\"/>", box_width + 0.2);
            let middle = x + box_width / 2.0;
            if every == 1 {
                let _ = write!(
                    svg,
                    "<text x=\"{middle:.1}\" y=\"{}\" text-anchor=\"middle\" fill=\"{ink}\">{round}</text>",
                    y + 12.0
                );
            } else if i % every == 0 {
                let _ = write!(svg, "<text x=\"{middle:.1}\" y=\"{}\" text-anchor=\"middle\">{round}</text>", y + 29.0);
            }
            svg.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpix_neighbor::util::cast::to_u32;

    fn chart(rounds: usize, end: f64) -> Chart {
        let bar = |process, sends, peer, round| Bar { process, sends, peer, bytes: 64, round, begin: 0.0, end: end / 2.0 };
        let bars = vec![bar(0, true, 1, 0), bar(1, false, 0, 0), bar(7, true, 1, rounds - 1)];
        Chart {
            title: "a < b & c".into(),
            subtitle: "two".into(),
            processes: 0..2,
            rounds: (0..to_u32(rounds)).collect(),
            end,
            bars,
        }
    }

    #[test]
    fn marks_are_round_numbers_and_not_too_many() {
        for length in [1.0, 1.7, 3.0, 9.99, 10.0, 45.0, 99.0, 999.0] {
            let marks = length / step(length);
            assert!((4.0..=10.6).contains(&marks), "{length}: {marks}");
        }
        assert_eq!([step(10.0), step(20.0), step(50.0), step(11.0)], [1.0, 2.0, 5.0, 2.0]);
    }

    #[test]
    fn lanes_bars_and_titles() {
        let svg = chart(3, 1e-5).svg();
        assert!(svg.contains("a &lt; b &amp; c"));
        assert_eq!(svg.matches("<title>").count(), 1 + 2, "process 7 has no lane");
        assert!(svg.contains("<title>0 to 1, 64 B, round 0, sends from 0 s to 5.000 µs</title>"));
        assert!(svg.contains("<title>0 to 1, 64 B, round 0, receives from 0 s to 5.000 µs</title>"));
        assert!(svg.contains("time (µs)") && svg.contains("end 10.00 µs"));
    }

    #[test]
    fn nothing_is_drawn_at_no_place() {
        for (rounds, end) in [(1, 0.0), (1, 1e-9), (8, 1e-3), (1000, 30.0)] {
            let svg = chart(rounds, end).svg();
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{rounds} {end}");
        }
    }

    #[test]
    fn rounds_have_colors_of_their_own() {
        for rounds in [1, 2, 7, 8, 40] {
            let mut colors: Vec<String> = (0..rounds).map(|r| color(r, rounds).0).collect();
            colors.sort();
            colors.dedup();
            assert_eq!(colors.len(), rounds);
        }
    }
}
