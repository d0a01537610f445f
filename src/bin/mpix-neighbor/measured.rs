//! `mpix-neighbor sparse --compare`: measures the protocols for dynamic sparse data exchange under
//! an MPI launcher, and prints the times next to the predictions of the LogGP model.

use crate::failure::Failure;
use crate::sparse::Arguments;

/// Says how to get what can measure.
#[cfg(not(feature = "mpi"))]
pub fn run(_: &Arguments) -> Result<String, Failure> {
    Err(crate::loggp::without_mpi(4, "sparse --compare"))
}

#[cfg(feature = "mpi")]
pub use compared::run;

#[cfg(any(test, feature = "mpi"))]
#[cfg_attr(not(feature = "mpi"), allow(dead_code))]
mod compared {
    use mpix_neighbor::model::{Load, Loggp, PROTOCOLS, predict_exchange};
    use serde::Serialize;

    #[cfg(feature = "mpi")]
    use super::{Arguments, Failure};
    use crate::parameters::Parameters;
    use crate::sparse::{cells, finite, least, plural};
    use crate::table::Table;

    /// The most processes that are measured.
    const MOST: u32 = 16;

    /// Among how many of the processes exchanges are measured.
    pub fn sizes(processes: u32) -> Vec<u32> {
        let all = processes.min(MOST);
        let mut sizes: Vec<u32> = (1..=4).map(|e| 1 << e).filter(|&p| p < all).collect();
        sizes.push(all);
        sizes
    }

    #[derive(Serialize)]
    pub struct Compared {
        pub protocol: &'static str,
        /// `null` where the protocol cannot run, as below.
        pub measured_us: Option<f64>,
        pub predicted_us: Option<f64>,
        /// `null` where nothing is predicted.
        pub ratio: Option<f64>,
    }

    /// The protocols among some processes.
    #[derive(Serialize)]
    pub struct Case {
        pub processes: u32,
        pub per_node: u32,
        pub messages: u32,
        /// As measured.
        pub best: &'static str,
        pub best_predicted: &'static str,
        pub protocols: Vec<Compared>,
    }

    impl Case {
        /// `times` in the order of the table of protocols.
        pub fn new(machine: &Loggp, load: &Load, times: &[Option<f64>]) -> Case {
            let protocols: Vec<Compared> = (PROTOCOLS.iter().zip(times))
                .map(|(e, &measured_us)| {
                    let predicted_us = finite(predict_exchange(e.protocol, machine, load));
                    let ratio =
                        measured_us.zip(predicted_us).filter(|t| t.1 > 0.0).map(|(measured, predicted)| measured / predicted);
                    Compared { protocol: e.name, measured_us, predicted_us, ratio }
                })
                .collect();
            let best = |time: fn(&Compared) -> Option<f64>| {
                let times: Vec<_> = protocols.iter().map(time).collect();
                least(&times).map_or("", |i| protocols[i].protocol)
            };
            let (best, best_predicted) = (best(|p| p.measured_us), best(|p| p.predicted_us));
            let &Load { processes, per_node, messages, .. } = load;
            Case { processes, per_node, messages, best, best_predicted, protocols }
        }
    }

    #[derive(Serialize)]
    pub struct Report {
        pub library: String,
        pub messages: u32,
        pub bytes: u64,
        pub exchanges: u32,
        pub batches: u32,
        pub parameters: Parameters,
        pub cases: Vec<Case>,
    }

    impl Report {
        pub fn text(&self) -> String {
            let mut table = Table::new(["processes", "times"].into_iter().chain(PROTOCOLS.iter().map(|e| e.name)));
            for case in &self.cases {
                let of = |time: fn(&Compared) -> Option<f64>| -> Vec<_> { case.protocols.iter().map(time).collect() };
                let mut row = |name: String, what: &str, cells: Vec<String>| {
                    table.row([name, what.into()].into_iter().chain(cells));
                };
                row(case.processes.to_string(), "measured", cells(&of(|p| p.measured_us)).collect());
                row(String::new(), "predicted", cells(&of(|p| p.predicted_us)).collect());
                let ratio = |p: &Compared| p.ratio.map_or("-".into(), |r| format!("{r:.2}"));
                row(String::new(), "ratio", case.protocols.iter().map(ratio).collect());
            }
            let Report { library, messages, bytes, exchanges, batches, parameters, .. } = self;
            format!(
                "{messages} message{} of {bytes} B from each process to others at random, fewer where there are not so many; {library}\n\
                 Measured: median of {batches} batch{} of {exchanges} exchange{}; ratio: measured to predicted; *: the least\n\
                 Predicted under LogGP, {parameters}\n\n{table}",
                plural(*messages),
                if *batches == 1 { "" } else { "es" },
                plural(*exchanges),
            )
        }
    }

    /// Parameters that are said somewhere, and where: the option, `MPIX_LOGGP`, or the library's
    /// file. None where they are to be measured.
    #[cfg(feature = "mpi")]
    fn said(arguments: &Arguments) -> Result<Option<(String, Loggp)>, Failure> {
        use mpix_neighbor::select::hints::{SparseHints, loggp_path, site_loggp};

        use mpix_neighbor::environment::{text, variable as env};

        let failed = |e: Box<mpix_neighbor::error::Error>| Failure::Run(e.to_string());
        if let Some(name) = arguments.loggp.first() {
            return Ok(Some((name.clone(), crate::input::model("--loggp", name)?)));
        }
        if let Some(machine) = SparseHints::from_environment(env, text).map_err(failed)?.loggp {
            return Ok(Some((format!("MPIX_LOGGP = {}", env("MPIX_LOGGP").unwrap_or_default()), machine)));
        }
        let Some(machine) = site_loggp(env, text).map_err(failed)? else {
            return Ok(None);
        };
        let path = env("MPIX_LOGGP_FILE").or_else(|| Some(loggp_path(env)?.display().to_string()));
        Ok(Some((path.unwrap_or_default(), machine)))
    }

    /// Measures, and compares. All processes call this; what is returned on process 0 is to be
    /// printed, the others return nothing.
    #[cfg(feature = "mpi")]
    pub fn run(arguments: &Arguments) -> Result<String, Failure> {
        use mpix_neighbor::measure::session::{Session, Timing};
        use mpix_neighbor::select::hints::Measuring;

        use crate::loggp::Progress;

        /// How long the machine is measured if nothing tells its parameters, in seconds.
        const SECONDS: f64 = 1.0;
        /// The commands of process 0 to the others.
        const COMPARE: u8 = 0;
        const MEASURE_FIRST: u8 = 1;
        const STOP: u8 = 2;

        if arguments.loggp.len() > 1 {
            return Err(Failure::Usage("--compare takes one --loggp".into()));
        }
        let failed = |e: Box<mpix_neighbor::error::Error>| Failure::Run(e.to_string());
        let session = Session::init().map_err(failed)?;
        if session.size() < 2 {
            let text = format!("exchanges take two processes: start this with the mpirun of {}", session.library());
            return Err(Failure::Run(text));
        }
        // process 0 predicts, and the file may be where it is alone
        let said = if session.rank() == 0 { said(arguments) } else { Ok(None) };
        let mut next = [match &said {
            Ok(Some(_)) => COMPARE,
            Ok(None) => MEASURE_FIRST,
            Err(_) => STOP,
        }];
        session.broadcast(&mut next).map_err(failed)?;
        let said = said?;
        if next == [STOP] {
            return Ok(String::new());
        }
        let progress = Progress::new(session.rank());
        let found = if next == [MEASURE_FIRST] {
            let options = Measuring { seconds: SECONDS, ..Measuring::default() };
            Some(session.measure(options, |part| progress.set(part)).map_err(failed)?)
        } else {
            None
        };
        let sizes = sizes(session.size());
        let mut timed = Vec::new();
        for (i, &processes) in sizes.iter().enumerate() {
            let &Arguments { per_node, messages, bytes, exchanges, batches, .. } = arguments;
            let timing = Timing { processes, per_node, messages, bytes, exchanges, batches };
            let progress = |part| progress.set((i as f64 + part) / sizes.len() as f64);
            timed.extend(session.sparse_times(&timing, progress).map_err(failed)?);
        }
        progress.end();
        if session.rank() != 0 {
            return Ok(String::new());
        }
        let machine = said.or_else(|| found.map(|f| (between(f.peer, f.other_node), to_picoseconds(&f.parameters.loggp))));
        let Some((model, machine)) = machine else { unreachable!("process 0 has the parameters, or has measured them") };
        let report = Report {
            library: session.library(),
            messages: arguments.messages,
            bytes: arguments.bytes,
            exchanges: arguments.exchanges,
            batches: arguments.batches,
            parameters: Parameters::new(&model, &machine),
            cases: timed.iter().map(|t| Case::new(&machine, &t.load, &t.times)).collect(),
        };
        Ok(if arguments.json { crate::table::json(&report) } else { report.text() })
    }

    /// Says between which processes parameters have just been measured.
    fn between(peer: u32, other_node: bool) -> String {
        format!("measured between processes 0 and {peer} on {} node", if other_node { "another" } else { "the same" })
    }

    /// Rounds times: no more digits of what is measured mean anything.
    fn to_picoseconds(machine: &Loggp) -> Loggp {
        let round = |us: f64| (us * 1e6).round() / 1e6;
        Loggp {
            latency: round(machine.latency),
            overhead: round(machine.overhead),
            gap: round(machine.gap),
            gap_per_byte: round(machine.gap_per_byte),
            eager: machine.eager,
            sharing: machine.sharing,
        }
    }

    #[cfg(test)]
    mod tests {
        use mpix_neighbor::model::Sharing;

        use super::*;

        #[test]
        fn sizes_double_up_to_all() {
            let expected: [(u32, &[u32]); 7] = [
                (2, &[2]),
                (3, &[2, 3]),
                (4, &[2, 4]),
                (7, &[2, 4, 7]),
                (8, &[2, 4, 8]),
                (16, &[2, 4, 8, 16]),
                (99, &[2, 4, 8, 16]),
            ];
            for (processes, list) in expected {
                assert_eq!(sizes(processes), list);
            }
        }

        fn report(machine: &Loggp) -> Report {
            let load = Load { processes: 4, per_node: 2, messages: 3, bytes: 100 };
            // half of what is predicted for the first protocol, as much for the second, and so on;
            // the last one cannot run on two nodes
            let predicted = PROTOCOLS.iter().map(|e| finite(predict_exchange(e.protocol, machine, &load)));
            let measured = |(i, us): (usize, Option<f64>)| us.map(|us| if us > 0.0 { us * (i + 1) as f64 / 2.0 } else { 5.0 });
            let times: Vec<Option<f64>> = predicted.enumerate().map(measured).collect();
            Report {
                library: "Some MPI".into(),
                messages: 6,
                bytes: 100,
                exchanges: 1,
                batches: 2,
                parameters: Parameters::new(&between(1, true), machine),
                cases: vec![Case::new(machine, &load, &times)],
            }
        }

        #[test]
        fn rows_are_measured_predicted_and_their_ratio() {
            let machine = Loggp {
                latency: 10.0,
                overhead: 2.0,
                gap: 3.0,
                gap_per_byte: 0.012_345_678_9,
                eager: u64::MAX,
                sharing: Sharing::UNKNOWN,
            };
            let report = report(&to_picoseconds(&machine));
            let text = report.text();
            assert!(text.starts_with("6 messages of 100 B from each process"), "{text}");
            assert!(text.contains("median of 2 batches of 1 exchange;") && text.contains("; Some MPI\n"), "{text}");
            assert!(text.contains(
                "LogGP, measured between processes 0 and 1 on another node: L = 10 µs, o = 2 µs, g = 3 µs, G = 0.012346 µs/B"
            ));
            let rows: Vec<Vec<&str>> =
                text.lines().filter(|l| l.starts_with('|')).map(|l| l.split('|').map(str::trim).collect()).collect();
            assert_eq!(rows.len(), 5, "{text}");
            assert_eq!((rows[0][3], rows[0][10]), ("nbx", "crystal"));
            assert_eq!((&rows[2][1..3], &rows[3][1..3]), (&["4", "measured"][..], &["", "predicted"][..]));
            assert_eq!(rows[4][1..12], ["", "ratio", "0.50", "1.00", "1.50", "2.00", "2.50", "3.00", "3.50", "4.00", "-"]);
            assert_eq!((rows[0][11], rows[2][11], rows[3][11]), ("inbox", "-", "-"));
            // half of a long time is the least here, the least prediction is another's
            let case = &report.cases[0];
            assert_eq!((case.best, case.best_predicted), ("nbx", "crystal"));
            for (row, column) in [(2, 3), (3, 10)] {
                assert!(rows[row][column].starts_with('*'), "{text}");
                assert_eq!(rows[row].iter().filter(|c| c.starts_with('*')).count(), 1, "{text}");
            }
        }

        #[test]
        fn no_ratio_without_a_prediction() {
            let free =
                Loggp { latency: 0.0, overhead: 0.0, gap: 0.0, gap_per_byte: 0.0, eager: u64::MAX, sharing: Sharing::UNKNOWN };
            let text = report(&free).text();
            let ratios = text.lines().last().unwrap();
            assert_eq!(ratios.split('|').filter(|c| c.trim() == "-").count(), PROTOCOLS.len(), "{text}");
        }
    }
}
