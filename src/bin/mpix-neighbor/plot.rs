//! Measured points and predicted lines over message sizes as SVG, with both axes logarithmic.

use std::fmt::Write;

use mpix_neighbor::util::cast::{to_int, whole_signed};

use crate::svg::{self, escape};
use crate::text::time;

/// One measured quantity.
#[derive(Debug, Clone)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Bytes and measured microseconds.
    pub points: Vec<(f64, f64)>,
    /// Bytes and predicted microseconds; each line is drawn separately.
    pub lines: Vec<Vec<(f64, f64)>>,
}

/// A plot.
#[derive(Debug, Clone)]
pub struct Plot {
    /// First line.
    pub title: String,
    /// Further lines.
    pub subtitles: Vec<String>,
    /// The measured quantities, at most as many as there are colors.
    pub series: Vec<Series>,
    /// A size to mark, with its label.
    pub mark: Option<(f64, String)>,
}

/// Positions of the axes, in pixels.
const LEFT: f64 = 76.0;
const WIDTH: f64 = 760.0;
const RIGHT: f64 = LEFT + WIDTH;
const HEIGHT: f64 = 420.0;
/// Of Okabe and Ito's colors.
const COLORS: [&str; 4] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7"];

/// An axis over powers of `base`.
struct Axis {
    base: f64,
    from: i32,
    to: i32,
}

impl Axis {
    /// An axis that contains all positive values.
    fn new(values: impl Iterator<Item = f64>, base: f64) -> Axis {
        let exponents: Vec<f64> = values.filter(|v| v.is_finite() && *v > 0.0).map(|v| v.log(base)).collect();
        let end = |pick: fn(f64, f64) -> f64| exponents.iter().copied().reduce(pick).unwrap_or(0.0);
        // the logarithm of an exact power may be slightly off
        let (from, to) = (
            to_int::<i32>(whole_signed((end(f64::min) + 1e-9).floor())),
            to_int::<i32>(whole_signed((end(f64::max) - 1e-9).ceil())),
        );
        Axis { base, from, to: to.max(from + 1) }
    }

    /// Position on the axis, from 0 to 1.
    fn part(&self, value: f64) -> f64 {
        (value.log(self.base) - f64::from(self.from)) / f64::from(self.to - self.from)
    }

    /// Powers with ticks, at most about eleven.
    fn marks(&self) -> impl Iterator<Item = f64> {
        let step = (self.to - self.from) / 11 + 1;
        (self.from..=self.to).filter(move |e| (e - self.from) % step == 0).map(|e| self.base.powi(e))
    }
}

/// A size in human-readable form.
fn size(bytes: f64) -> String {
    let units = [(1024.0 * 1024.0 * 1024.0, "GiB"), (1024.0 * 1024.0, "MiB"), (1024.0, "KiB")];
    match units.into_iter().find(|u| bytes >= u.0) {
        Some((of, name)) => format!("{} {name}", (bytes / of * 10.0).round() / 10.0),
        None => format!("{bytes} B"),
    }
}

/// Both axes, and where they begin at the top.
struct Frame {
    across: Axis,
    up: Axis,
    top: f64,
}

impl Frame {
    fn x(&self, bytes: f64) -> f64 {
        LEFT + WIDTH * self.across.part(bytes)
    }

    fn y(&self, us: f64) -> f64 {
        self.top + HEIGHT * (1.0 - self.up.part(us)).clamp(0.0, 1.0)
    }

    fn bottom(&self) -> f64 {
        self.top + HEIGHT
    }

    fn draw(&self, svg: &mut String) {
        let (top, bottom) = (self.top, self.bottom());
        for at in self.across.marks() {
            let (x, label) = (self.x(at), size(at));
            let _ = writeln!(
                svg,
                "<path d=\"M{x:.1} {top}V{:.1}\" stroke=\"#ddd\"/><text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"11\">{label}</text>",
                bottom + 4.0,
                bottom + 18.0
            );
        }
        for at in self.up.marks() {
            let (y, label) = (self.y(at), time(at * 1e-6));
            let _ = writeln!(
                svg,
                "<path d=\"M{:.1} {y:.1}H{RIGHT}\" stroke=\"#ddd\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" font-size=\"11\">{label}</text>",
                LEFT - 4.0,
                LEFT - 8.0,
                y + 4.0
            );
        }
        let _ = writeln!(
            svg,
            "<path d=\"M{LEFT} {top}V{bottom}H{RIGHT}\" fill=\"none\" stroke=\"#222\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">bytes of each message</text>",
            LEFT + WIDTH / 2.0,
            bottom + 36.0
        );
    }
}

impl Series {
    /// Draws its points and lines, and at height `at` of the legend its name.
    fn draw(&self, svg: &mut String, frame: &Frame, at: f64, color: &str) {
        for line in &self.lines {
            let points: Vec<String> =
                line.iter().map(|&(bytes, us)| format!("{:.1},{:.1}", frame.x(bytes), frame.y(us))).collect();
            let _ = writeln!(
                svg,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"1.6\"/>",
                points.join(" ")
            );
        }
        let _ = writeln!(svg, "<g fill=\"{color}\">");
        for &(bytes, us) in &self.points {
            let title = format!("{}, {bytes} B: {}", self.name, time(us * 1e-6));
            svg::point(svg, (frame.x(bytes), frame.y(us)), "", &title);
        }
        let _ = writeln!(
            svg,
            "</g><circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"{color}\"/><path d=\"M{:.1} {:.1}h26\" stroke=\"{color}\" stroke-width=\"1.6\"/>\
             <text x=\"{:.1}\" y=\"{at:.1}\">{}: measured, predicted</text>",
            LEFT + 6.0,
            at - 4.0,
            LEFT + 16.0,
            at - 4.0,
            LEFT + 50.0,
            escape(&self.name)
        );
    }
}

impl Plot {
    /// The plot as an SVG file.
    pub fn svg(&self) -> String {
        let top = 54.0 + 18.0 * self.subtitles.len() as f64;
        let (width, height) = (LEFT + WIDTH + 40.0, top + HEIGHT + 62.0 + 20.0 * self.series.len() as f64);
        let both = || self.series.iter().flat_map(|s| s.points.iter().chain(s.lines.iter().flatten()));
        let frame = Frame { across: Axis::new(both().map(|p| p.0), 2.0), up: Axis::new(both().map(|p| p.1), 10.0), top };
        let mut svg = svg::head(width, height, LEFT, &self.title, None);
        for (i, line) in self.subtitles.iter().enumerate() {
            let _ = writeln!(svg, "<text x=\"{LEFT}\" y=\"{}\" fill=\"#555\">{}</text>", 48.0 + 18.0 * i as f64, escape(line));
        }
        frame.draw(&mut svg);
        if let Some((at, label)) = &self.mark {
            let (x, bottom) = (frame.x(*at), frame.bottom());
            let _ = writeln!(
                svg,
                "<path d=\"M{x:.1} {top}V{bottom}\" stroke=\"#555\" stroke-dasharray=\"4 3\"/><text x=\"{:.1}\" y=\"{:.1}\" fill=\"#555\">{}</text>",
                x + 5.0,
                bottom - 8.0,
                escape(label)
            );
        }
        for (i, (series, color)) in self.series.iter().zip(COLORS).enumerate() {
            series.draw(&mut svg, &frame, frame.bottom() + 58.0 + 20.0 * i as f64, color);
        }
        svg.push_str("</svg>\n");
        svg
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(times: &[f64]) -> Plot {
        let points: Vec<(f64, f64)> = times.iter().enumerate().map(|(i, &t)| ((1u64 << i) as f64, t)).collect();
        let series = Series { name: "a < b".into(), points: points.clone(), lines: vec![points] };
        Plot { title: "t".into(), subtitles: vec!["s & u".into()], series: vec![series], mark: Some((2.0, "here".into())) }
    }

    #[test]
    fn every_point_and_line_is_drawn() {
        let svg = plot(&[1.0, 10.0, 100.0]).svg();
        // three points and one in the legend
        assert_eq!(svg.matches("<circle").count(), 4);
        assert_eq!(svg.matches("<polyline").count(), 1);
        assert!(svg.contains("a &lt; b, 4 B: 100.0 µs") && svg.contains("s &amp; u") && svg.contains(">here<"));
        // first and last are in opposite corners
        let (top, bottom) = (54.0 + 18.0, 54.0 + 18.0 + HEIGHT);
        assert!(svg.contains(&format!("cx=\"{LEFT:.1}\" cy=\"{bottom:.1}\"")), "{svg}");
        assert!(svg.contains(&format!("cx=\"{:.1}\" cy=\"{top:.1}\"", LEFT + WIDTH)), "{svg}");
    }

    #[test]
    fn nothing_is_drawn_at_no_place() {
        for times in [&[][..], &[0.0], &[5.0], &[0.0, 1e-3, 1e9]] {
            let svg = plot(times).svg();
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{times:?}: {svg}");
        }
    }

    #[test]
    fn marks_are_few() {
        for (low, high) in [(1.0, 2.0), (1.0, 1e6), (1.0, 1e9), (3.0, 3.0)] {
            for base in [2.0, 10.0] {
                let axis = Axis::new([low, high].into_iter(), base);
                assert!((2..=12).contains(&axis.marks().count()), "{low} {high} {base}");
                assert!(axis.part(low) >= -1e-6 && axis.part(high) <= 1.0 + 1e-6);
            }
        }
        assert_eq!([1.0, 1023.0, 1024.0, 1536.0, 1_048_576.0].map(size), ["1 B", "1023 B", "1 KiB", "1.5 KiB", "1 MiB"]);
    }
}
