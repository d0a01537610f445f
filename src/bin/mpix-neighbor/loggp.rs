//! `mpix-neighbor loggp`: measures the LogGP parameters of the machine under an MPI launcher.

use std::path::PathBuf;

use mpix_neighbor::util::cast::whole;

use clap::Args;

use crate::failure::Failure;
use crate::input::bytes;

/// Measure the LogGP parameters of the machine, between process 0 and one on another node, or
/// process 1: mpirun -n 2 mpix-neighbor loggp
#[derive(Args)]
pub struct Arguments {
    /// About how long to measure, in seconds
    #[arg(long, default_value_t = 3.0, value_parser = seconds)]
    seconds: f64,

    /// The longest message, 1k to 1G
    #[arg(long, value_name = "BYTES", default_value = "1M", value_parser = longest)]
    longest: u32,

    /// Write the parameters to a file, which mpix_loggp, MPIX_LOGGP and MPIX_LOGGP_FILE take; - is
    /// standard output, where nothing else is printed then
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Write the parameters to where the library finds them by itself: mpix-neighbor/loggp in
    /// $XDG_CONFIG_HOME or ~/.config
    #[arg(long)]
    save: bool,

    /// Draw measured and predicted times as an SVG; - is standard output, where nothing else is
    /// printed then
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn seconds(text: &str) -> Result<f64, String> {
    let range = mpix_neighbor::select::hints::Measuring::SECONDS;
    text.parse()
        .ok()
        .filter(|s| range.contains(s))
        .ok_or_else(|| format!("not a number from {} to {}", range.start(), range.end()))
}

fn longest(text: &str) -> Result<u32, String> {
    let range = mpix_neighbor::select::hints::Measuring::BYTES;
    let number = u32::try_from(whole(bytes(text)?)).ok();
    number.filter(|n| range.contains(n)).ok_or_else(|| "not from 1k to 1G".into())
}

/// Says how to get a tool that can measure, and to run this command with it on `processes`
/// processes.
#[cfg(not(feature = "mpi"))]
pub fn without_mpi(processes: u32, command: &str) -> Failure {
    let text = format!(
        "this mpix-neighbor was built without MPI: `make tool-mpi MPICC=mpicc` builds build/mpicc/mpix-neighbor, and \
         `mpirun -n {processes} build/mpicc/mpix-neighbor {command}` measures"
    );
    Failure::Run(text)
}

/// Says how to get what can measure.
#[cfg(not(feature = "mpi"))]
pub fn run(_: &Arguments) -> Result<String, Failure> {
    Err(without_mpi(2, "loggp"))
}

/// How far a measurement is: a bar on process 0, told the part that is done.
#[cfg(feature = "mpi")]
pub struct Progress(indicatif::ProgressBar);

#[cfg(feature = "mpi")]
impl Progress {
    pub fn new(rank: u32) -> Progress {
        use indicatif::{ProgressBar, ProgressStyle};
        let bar = if rank == 0 { ProgressBar::new(1000) } else { ProgressBar::hidden() };
        if let Ok(style) = ProgressStyle::with_template("{bar:40} {percent} % {eta}") {
            bar.set_style(style);
        }
        Progress(bar)
    }

    pub fn set(&self, part: f64) {
        self.0.set_position(whole(1000.0 * part));
    }

    pub fn end(self) {
        self.0.finish_and_clear();
    }
}

#[cfg(feature = "mpi")]
pub use measured::run;

#[cfg(any(test, feature = "mpi"))]
#[cfg_attr(not(feature = "mpi"), allow(dead_code))]
mod measured {
    use mpix_neighbor::model::Loggp;
    use mpix_neighbor::model::fit::{Measurement, Range, SEVERAL};
    use serde::Serialize;

    use std::path::Path;

    use super::*;
    use crate::output::{alone, write, write_with_directories};
    use crate::plot::{Plot, Series};
    use crate::table::Table;
    use crate::text::printable;

    /// The printed result, without the single times.
    #[derive(Serialize)]
    pub struct Report {
        pub library: String,
        pub peer: u32,
        pub other_node: bool,
        pub latency_us: f64,
        pub send_overhead_us: f64,
        pub recv_overhead_us: f64,
        pub gap_us: f64,
        pub gap_per_byte_us: f64,
        /// `null`: unlimited.
        pub eager_bytes: Option<u64>,
        pub deviation: f64,
        pub short: Option<Line>,
        pub long: Option<Line>,
    }

    /// The line of a range of sizes.
    #[derive(Serialize)]
    pub struct Line {
        pub from_bytes: u64,
        pub to_bytes: u64,
        pub startup_us: f64,
        pub gap_us: f64,
        pub gap_per_byte_us: f64,
        pub deviation: f64,
    }

    impl From<Range> for Line {
        fn from(r: Range) -> Line {
            Line {
                from_bytes: r.bytes.0,
                to_bytes: r.bytes.1,
                startup_us: r.startup,
                gap_us: r.gap,
                gap_per_byte_us: r.gap_per_byte,
                deviation: r.deviation,
            }
        }
    }

    impl Report {
        pub fn new(library: String, peer: u32, other_node: bool, m: &Measurement) -> Report {
            let (p, l) = (m.parameters, m.parameters.loggp);
            Report {
                library,
                peer,
                other_node,
                latency_us: l.latency,
                send_overhead_us: p.send_overhead,
                recv_overhead_us: p.recv_overhead,
                gap_us: l.gap,
                gap_per_byte_us: l.gap_per_byte,
                eager_bytes: Some(l.eager).filter(|&s| s != u64::MAX),
                deviation: p.deviation,
                short: m.short.map(Line::from),
                long: m.long.map(Line::from),
            }
        }

        /// Between whom.
        fn place(&self) -> String {
            let where_ = if self.other_node { "on two nodes" } else { "on one node" };
            format!("processes 0 and {} {where_}, {}", self.peer, self.library)
        }

        fn text(&self) -> String {
            let eager = self.eager_bytes.map_or("unlimited".into(), |s| format!("{s} B"));
            let mut parameters = Table::new(["parameter", "", "value"]);
            for (name, letter, value) in [
                ("latency", "L", format!("{:.3} µs", self.latency_us)),
                ("overhead of a send", "o_s", format!("{:.3} µs", self.send_overhead_us)),
                ("overhead of a receive", "o_r", format!("{:.3} µs", self.recv_overhead_us)),
                ("gap", "g", format!("{:.3} µs", self.gap_us)),
                ("gap per byte", "G", format!("{:.6} µs", self.gap_per_byte_us)),
                ("longest eager message", "S", eager),
                ("deviation of measured times", "", percent(self.deviation)),
            ] {
                parameters.row([name.into(), letter.into(), value]);
            }
            let mut ranges =
                Table::new(["messages", "bytes", "startup (µs)", "g (µs)", "G (µs)", "bandwidth (MB/s)", "deviation"]);
            for (name, line) in [("short", &self.short), ("long", &self.long)] {
                let Some(line) = line else { continue };
                ranges.row([
                    name.into(),
                    format!("{} to {}", line.from_bytes, line.to_bytes),
                    format!("{:.3}", line.startup_us),
                    format!("{:.3}", line.gap_us),
                    format!("{:.6}", line.gap_per_byte_us),
                    if line.gap_per_byte_us > 0.0 { format!("{:.0}", 1.0 / line.gap_per_byte_us) } else { "-".into() },
                    percent(line.deviation),
                ]);
            }
            let mut text = format!("LogGP parameters, {}\n\n{parameters}\n{ranges}", self.place());
            if !self.other_node {
                text.push_str("\nThe processes share a node: these are parameters of its memory, not of a network.\n");
            }
            if self.latency_us == 0.0 {
                text.push_str("\nThe overheads are more than half a round trip, as sender and receiver work at the same time: L is set to 0.\n");
            }
            text
        }

        /// The parameters as a file, and what they are.
        pub fn file(&self, parameters: &Loggp) -> String {
            format!(
                "# measured by mpix-neighbor loggp between {}\n{parameters}\
                 # o is the mean of {} for a send and {} for a receive; measured times deviate by {}\n",
                self.place().replace(['\r', '\n'], " "),
                self.send_overhead_us,
                self.recv_overhead_us,
                percent(self.deviation)
            )
        }
    }

    fn percent(part: f64) -> String {
        format!("{:.1} %", 100.0 * part)
    }

    /// Measured round trips, and what the lines of the ranges predict.
    pub fn plot(report: &Report, m: &Measurement) -> Plot {
        let series = [true, false].map(|one| {
            let samples: Vec<_> = m.samples.round_trips.iter().filter(|s| (s.messages == 1) == one).collect();
            let line = |range: Range| -> Vec<(f64, f64)> {
                let inside = samples.iter().filter(|s| (range.bytes.0..=range.bytes.1).contains(&s.bytes));
                inside.map(|s| (s.bytes as f64, range.round_trip(s.bytes, s.messages))).collect()
            };
            let name = if one { "one message there, one back".to_owned() } else { format!("{SEVERAL} there, one back") };
            let points = samples.iter().map(|s| (s.bytes as f64, s.time)).collect();
            Series { name, points, lines: [m.short, m.long].into_iter().flatten().map(line).collect() }
        });
        let p = &report;
        Plot {
            title: "Round trips, measured and predicted".into(),
            subtitles: vec![
                report.place(),
                format!(
                    "L = {:.3} µs, o = {:.3} and {:.3} µs, g = {:.3} µs, G = {:.6} µs; the lines are those of each range",
                    p.latency_us, p.send_overhead_us, p.recv_overhead_us, p.gap_us, p.gap_per_byte_us
                ),
            ],
            series: series.into(),
            mark: p.eager_bytes.filter(|&s| s > 0).map(|s| (s as f64, format!("{s} B: the longest eager message"))),
        }
    }

    /// Writes the files that are asked for; the library's own is `usual`. Returns what else is to
    /// be printed.
    pub fn deliver(
        arguments: &Arguments,
        report: &Report,
        measurement: &Measurement,
        usual: Option<PathBuf>,
    ) -> Result<String, Failure> {
        let file = report.file(&measurement.parameters.loggp);
        let mut written = Vec::new();
        if arguments.save {
            let path = usual.clone().ok_or_else(|| Failure::Run("neither XDG_CONFIG_HOME nor HOME says where to".into()))?;
            write_with_directories(&path, &file)?;
            written.push(path);
        }
        if let Some(path) = &arguments.output {
            write(path, &file)?;
            written.push(path.clone());
        }
        if let Some(path) = &arguments.plot {
            write(path, &plot(report, measurement).svg())?;
            written.push(path.clone());
        }
        if file_only(arguments)? {
            return Ok(String::new());
        }
        if arguments.json {
            return Ok(crate::table::json(report));
        }
        let mut text = report.text();
        let shown = |path: &Path| printable(&path.display().to_string());
        for path in &written {
            text.push_str(&format!("\nwritten: {}\n", shown(path)));
        }
        if !arguments.save && arguments.output.is_none() {
            let path = usual.map_or("mpix-neighbor/loggp".into(), |path| shown(&path));
            text.push_str(&format!("\n--save writes them to {path}, where the library finds them, --output to any file.\n"));
        }
        Ok(text)
    }

    /// Returns true if a file goes to standard output, alone.
    pub fn file_only(arguments: &Arguments) -> Result<bool, Failure> {
        alone(&[("--output", arguments.output.as_deref()), ("--plot", arguments.plot.as_deref())], arguments.json)
    }

    /// Measures. All processes call this; what is returned on process 0 is to be printed, the
    /// others return nothing.
    #[cfg(feature = "mpi")]
    pub fn run(arguments: &Arguments) -> Result<String, Failure> {
        use mpix_neighbor::measure::session::Session;
        use mpix_neighbor::select::hints::{Measuring, loggp_path};

        file_only(arguments)?;
        let failed = |e: Box<mpix_neighbor::error::Error>| Failure::Run(e.to_string());
        let session = Session::init().map_err(failed)?;
        if session.size() < 2 {
            let text = format!("measuring takes two processes: start this with the mpirun of {}", session.library());
            return Err(Failure::Run(text));
        }
        let progress = Progress::new(session.rank());
        let options = Measuring { seconds: arguments.seconds, longest: arguments.longest };
        let found = session.measure(options, |part| progress.set(part)).map_err(failed)?;
        progress.end();
        let Some(measurement) = found.measurement else {
            return Ok(String::new());
        };
        let report = Report::new(session.library(), found.peer, found.other_node, &measurement);
        deliver(arguments, &report, &measurement, loggp_path(mpix_neighbor::environment::variable))
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use mpix_neighbor::model::fit::{Sample, Samples, sizes};

        fn measurement(latency: f64, eager: u64) -> Measurement {
            let round_trips = (sizes(eager, 1 << 20).into_iter())
                .flat_map(|bytes| [1, SEVERAL].map(|messages| (bytes, messages)))
                .map(|(bytes, messages)| {
                    let transfer = (bytes - 1) as f64 * 1e-3;
                    let time = 2.0 * (latency + 1.0 + transfer) + f64::from(messages - 1) * (0.75 + transfer);
                    Sample { bytes, messages, time }
                })
                .collect();
            Samples { round_trips, send_overhead: 0.4, recv_overhead: 0.6, eager }.evaluate().unwrap()
        }

        #[test]
        fn the_file_holds_what_was_measured() {
            for eager in [0, 777, u64::MAX] {
                let m = measurement(2.0, eager);
                let report = Report::new("Some MPI\nof two lines".into(), 3, true, &m);
                assert_eq!(report.file(&m.parameters.loggp).parse(), Ok(m.parameters.loggp));
            }
        }

        #[test]
        fn the_text_names_both_ranges_and_what_is_odd() {
            let text = |latency, eager, other| Report::new("Some MPI".into(), 3, other, &measurement(latency, eager)).text();
            let network = text(2.0, 8192, true);
            assert!(network.contains("processes 0 and 3 on two nodes, Some MPI"), "{network}");
            assert!(
                network.contains("| short    |") && network.contains("| long     |") && network.contains("8192 B"),
                "{network}"
            );
            assert!(!network.contains("set to 0") && !network.contains("not of a network"));
            let memory = text(-0.5, u64::MAX, false);
            assert!(!memory.contains("| long ") && memory.contains("unlimited"), "{memory}");
            assert!(memory.contains("L is set to 0") && memory.contains("not of a network"), "{memory}");
        }

        #[test]
        fn files_go_to_standard_output_alone() {
            let (m, path) = (measurement(2.0, 8192), std::env::temp_dir().join(format!("mpix-deliver-{}", std::process::id())));
            let (report, usual) = (Report::new("Some MPI".into(), 1, false, &m), path.join("a/loggp"));
            let told = |output: Option<&str>, plot: Option<&str>, save, json| {
                let file = |name: Option<&str>| name.map(|name| if name == "-" { name.into() } else { path.join(name) });
                let arguments = Arguments { seconds: 1.0, longest: 1024, output: file(output), save, plot: file(plot), json };
                deliver(&arguments, &report, &m, Some(usual.clone()))
            };
            assert!(told(None, None, false, false).unwrap().contains("--save writes them to "));
            let text = told(Some("machine"), Some("plot.svg"), true, false).unwrap();
            assert_eq!(text.matches("written: ").count(), 3, "{text}");
            for file in [&usual, &path.join("machine")] {
                assert_eq!(std::fs::read_to_string(file).unwrap().parse(), Ok(m.parameters.loggp));
            }
            assert!(std::fs::read_to_string(path.join("plot.svg")).unwrap().ends_with("</svg>\n"));
            std::fs::remove_dir_all(path).unwrap();
            let arguments = |json, plot: &str| Arguments {
                seconds: 1.0,
                longest: 1024,
                output: Some("-".into()),
                save: false,
                plot: Some(plot.into()),
                json,
            };
            assert!(file_only(&arguments(false, "x")).unwrap());
            assert!(file_only(&arguments(true, "x")).is_err() && file_only(&arguments(false, "-")).is_err());
        }

        #[test]
        fn the_plot_has_all_times_and_both_lines() {
            let m = measurement(2.0, 8192);
            let plot = plot(&Report::new("Some MPI".into(), 1, false, &m), &m);
            let points: usize = plot.series.iter().map(|s| s.points.len()).sum();
            assert_eq!(points, m.samples.round_trips.len());
            assert!(plot.series.iter().all(|s| s.lines.len() == 2));
            for series in &plot.series {
                let predicted: Vec<(f64, f64)> = series.lines.concat();
                assert!(predicted.iter().zip(&series.points).all(|(a, b)| a.0 == b.0 && (a.1 - b.1).abs() < 1e-6 * b.1));
            }
            assert!(plot.svg().contains("8192 B: the longest eager message"));
        }
    }
}
