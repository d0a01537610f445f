//! Curves over the number of processes, or another number, as SVG, with both axes logarithmic.

use std::fmt::Write;

use mpix_neighbor::util::cast::{to_int, to_usize, whole, whole_signed};

use crate::svg::{self, FEW, escape};

/// A line through points.
#[derive(Debug, Clone)]
pub struct Curve {
    /// Its name in the legend. Curves with the same name share a color and an entry.
    pub name: String,
    /// True for a dashed line.
    pub dashed: bool,
    /// (x, y) by increasing x. Values below y = 1 are not drawn.
    pub points: Vec<(f64, f64)>,
}

/// A chart.
#[derive(Debug, Clone)]
pub struct Curves {
    /// First line.
    pub title: String,
    /// Lines below it.
    pub subtitles: Vec<String>,
    /// Titles of the axes: x, with ticks at powers of two, and y, with ticks at powers of ten.
    pub axes: [String; 2],
    /// Meaning of solid and of dashed lines.
    pub styles: [&'static str; 2],
    /// The curves.
    pub curves: Vec<Curve>,
}

/// Left edge, width, and height of the plot, and width of the legend, in pixels.
const LEFT: f64 = 72.0;
const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 480.0;
const LEGEND: f64 = 250.0;

/// Formats a number with three significant digits.
fn figures(value: f64) -> String {
    let digits = [9.995, 99.95].iter().filter(|&&limit| value < limit).count();
    format!("{value:.digits$}")
}

/// Maps x and y to positions.
struct Scale {
    top: f64,
    /// Base-2 logarithms of both ends of the x-axis.
    x: (f64, f64),
    /// Decades of the y-axis, which begins at 1.
    decades: f64,
}

impl Scale {
    fn x(&self, x: f64) -> f64 {
        LEFT + (x.log2() - self.x.0) / (self.x.1 - self.x.0) * WIDTH
    }

    fn y(&self, y: f64) -> f64 {
        self.top + HEIGHT * (1.0 - y.log10() / self.decades)
    }
}

/// The points from y = 1 on. Between two points, y is linear in the logarithm of x.
fn visible(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut shown = Vec::new();
    let mut before: Option<(f64, f64)> = None;
    for &(x, y) in points.iter().filter(|p| p.1.is_finite()) {
        if y >= 1.0 {
            if let Some((a, b)) = before.filter(|p| p.1 < 1.0) {
                shown.push((a * (x / a).powf((1.0 - b) / (y - b)), 1.0));
            }
            shown.push((x, y));
        }
        before = Some((x, y));
    }
    shown
}

impl Curves {
    /// The chart as an SVG file.
    pub fn svg(&self) -> String {
        let shown: Vec<_> = self.curves.iter().map(|c| visible(&c.points)).collect();
        let all_x = || self.curves.iter().flat_map(|c| &c.points).map(|p| p.0.log2());
        let (low, high) = (all_x().fold(f64::INFINITY, f64::min), all_x().fold(f64::NEG_INFINITY, f64::max));
        // one point, or none, still has an axis
        let (low, high) = if low < high {
            (low, high)
        } else if low.is_finite() {
            (low, low + 1.0)
        } else {
            (0.0, 1.0)
        };
        let most = shown.iter().flatten().map(|p| p.1).fold(10.0, f64::max);
        let top = 64.0 + 18.0 * self.subtitles.len() as f64;
        let scale = Scale { top, x: (low, high), decades: most.log10().ceil() };
        let (width, height) = (LEFT + WIDTH + LEGEND, top + HEIGHT + 60.0);
        let mut svg = svg::head(width, height, LEFT, &self.title, None);
        for (i, line) in self.subtitles.iter().enumerate() {
            let _ = writeln!(svg, "<text x=\"{LEFT}\" y=\"{}\">{}</text>", 50 + 18 * i, escape(line));
        }
        self.grid(&mut svg, &scale);
        self.lines(&mut svg, &scale, &shown);
        self.legend(&mut svg, top, &shown);
        svg.push_str("</svg>\n");
        svg
    }

    fn grid(&self, svg: &mut String, scale: &Scale) {
        let (top, bottom, right) = (scale.top, scale.top + HEIGHT, LEFT + WIDTH);
        let powers = to_int::<i32>(whole_signed(scale.x.0.ceil()))..=to_int::<i32>(whole_signed(scale.x.1.floor()));
        // width of a number of seven digits
        let every = to_usize(whole((44.0 / (WIDTH / (scale.x.1 - scale.x.0))).ceil().max(1.0)));
        for e in powers.step_by(every) {
            let x = scale.x(f64::from(e).exp2());
            let _ = writeln!(
                svg,
                "<path d=\"M{x:.1} {top}V{:.1}\" stroke=\"#ddd\"/><text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" \
                 font-size=\"11\">{}</text>",
                bottom + 4.0,
                bottom + 18.0,
                f64::from(e).exp2()
            );
        }
        for decade in 0..=to_int::<i32>(whole_signed(scale.decades)) {
            for step in (1..10).take_while(|&step| step == 1 || f64::from(decade) < scale.decades) {
                let value = f64::from(step) * 10f64.powi(decade);
                let y = scale.y(value);
                let color = if step == 1 { "#bbb" } else { "#eee" };
                let _ = writeln!(svg, "<path d=\"M{LEFT} {y:.1}H{right}\" stroke=\"{color}\"/>");
                if step == 1 {
                    let _ = writeln!(
                        svg,
                        "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\" font-size=\"11\">{value}</text>",
                        LEFT - 8.0,
                        y + 4.0
                    );
                }
            }
        }
        let middle = f64::midpoint(top, bottom);
        let _ = writeln!(
            svg,
            "<path d=\"M{LEFT} {top}V{bottom}H{right}\" stroke=\"#222\" fill=\"none\"/>\n\
             <text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n\
             <text x=\"20\" y=\"{middle}\" text-anchor=\"middle\" transform=\"rotate(-90 20 {middle})\">{}</text>",
            LEFT + WIDTH / 2.0,
            bottom + 42.0,
            escape(&self.axes[0]),
            escape(&self.axes[1]),
        );
    }

    /// Names in order of occurrence.
    fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for curve in &self.curves {
            if !names.contains(&curve.name.as_str()) {
                names.push(&curve.name);
            }
        }
        names
    }

    fn color(&self, name: &str) -> &'static str {
        FEW[self.names().iter().position(|n| *n == name).unwrap_or(0) % FEW.len()]
    }

    fn lines(&self, svg: &mut String, scale: &Scale, shown: &[Vec<(f64, f64)>]) {
        for (curve, points) in self.curves.iter().zip(shown) {
            let color = self.color(&curve.name);
            let dashes = if curve.dashed { " stroke-dasharray=\"6 4\"" } else { "" };
            let path: Vec<String> = points.iter().map(|&(x, y)| format!("{:.1} {:.1}", scale.x(x), scale.y(y))).collect();
            if !path.is_empty() {
                let _ = writeln!(
                    svg,
                    "<path d=\"M{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2\" stroke-linejoin=\"round\"{dashes}/>",
                    path.join("L")
                );
            }
            // mark the points, not the beginning of the line
            for &(x, y) in points.iter().filter(|p| curve.points.contains(p)) {
                let title = format!("{}: {} at {x}", curve.name, figures(y));
                svg::point(svg, (scale.x(x), scale.y(y)), &format!(" fill=\"{color}\""), &title);
            }
        }
    }

    /// Draws the legend, without curves that have no line.
    fn legend(&self, svg: &mut String, top: f64, shown: &[Vec<(f64, f64)>]) {
        let drawn =
            |of: &dyn Fn(&Curve) -> bool| self.curves.iter().zip(shown).any(|(curve, points)| of(curve) && !points.is_empty());
        let x = LEFT + WIDTH + 20.0;
        let mut y = top + 10.0;
        let mut line = |color: &str, dashes: &str, text: &str| {
            let _ = writeln!(
                svg,
                "<path d=\"M{x} {y}h30\" stroke=\"{color}\" stroke-width=\"2\"{dashes}/><text x=\"{}\" y=\"{}\">{}</text>",
                x + 38.0,
                y + 4.0,
                escape(text)
            );
            y += 20.0;
        };
        for name in self.names().into_iter().filter(|name| drawn(&|curve| curve.name == *name)) {
            line(self.color(name), "", name);
        }
        for (dashed, dashes) in [(false, ""), (true, " stroke-dasharray=\"6 4\"")] {
            if drawn(&|curve| curve.dashed == dashed) {
                line("#222", dashes, self.styles[usize::from(dashed)]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_begin_where_they_reach_1() {
        // halfway between 4 and 16 on a logarithmic scale
        assert_eq!(visible(&[(2.0, -7.0), (4.0, -1.0), (16.0, 3.0), (64.0, 9.0)]), [(8.0, 1.0), (16.0, 3.0), (64.0, 9.0)]);
        assert_eq!(visible(&[(2.0, 5.0), (4.0, 6.0)]), [(2.0, 5.0), (4.0, 6.0)]);
        assert_eq!(visible(&[(2.0, 0.5), (4.0, f64::INFINITY), (8.0, f64::NAN)]), []);
    }

    #[test]
    fn numbers_have_three_figures() {
        assert_eq!([1.0, 9.994, 9.996, 99.96, 1234.5].map(figures), ["1.00", "9.99", "10.0", "100", "1234"]);
    }

    #[test]
    fn nothing_is_drawn_at_no_place() {
        let curve = |name: &str, dashed, points: &[(f64, f64)]| Curve { name: name.into(), dashed, points: points.to_vec() };
        for (points, lines) in [
            ([(1.0, 1.0), (2.0, 1e9)], 1),
            ([(3.0, -1.0), (4_294_967_295.0, 0.0)], 0),
            ([(5.0, f64::INFINITY), (6.0, f64::NAN)], 0),
        ] {
            let curves = Curves {
                title: "a < b".into(),
                subtitles: vec!["c & d".into()],
                axes: ["x", "y"].map(String::from),
                styles: ["one", "other"],
                curves: vec![curve("m", false, &points), curve("m", true, &points), curve("n", false, &points)],
            };
            let svg = curves.svg();
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            assert!(svg.contains("a &lt; b") && svg.contains("c &amp; d"));
            for entry in ["m", "n", "one", "other"] {
                assert_eq!(svg.matches(&format!(">{entry}</text>")).count(), lines, "{entry}");
            }
        }
    }
}
