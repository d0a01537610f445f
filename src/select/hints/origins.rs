//! Where the values of hints come from, and the text about them.

use super::*;

/// Who said what a hint is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The info object.
    Info,
    /// The environment variable of the hint.
    Environment,
    /// `MPIX_Loggp_set`.
    Communicator,
    /// The site's file of LogGP parameters.
    File,
}

impl Origin {
    /// For an error.
    pub fn of_value(self) -> &'static str {
        match self {
            Origin::Info => "info key",
            Origin::Environment => "environment variable",
            Origin::Communicator => "MPIX_Loggp_set",
            Origin::File => "file",
        }
    }
}

/// A hint that somebody gave: its info key, the value as text, and who.
pub type Given = (&'static str, String, Origin);

/// The hints that somebody gave. They are no part of what hints are: the same values from other
/// places are equal.
#[derive(Debug, Clone, Default)]
pub struct Origins(pub Vec<Given>);

impl PartialEq for Origins {
    fn eq(&self, _: &Origins) -> bool {
        true
    }
}

/// Hints of a neighborhood, which docs/choosing-a-schedule.md lists, and their defaults.
const NEIGHBORHOOD: [(Names, &str); 15] = [
    (SCHEDULE, "auto"),
    (WEIGHT_UNIT, "not given"),
    (LOGGP, PRESETS[0].name),
    (SPLIT, "true"),
    (SEED, "1"),
    (DUPLEX, "full"),
    (ROUND_WINDOW, "1"),
    (GRAPH_LIMIT, "16777216"),
    (REDUCE_ORDER, "source"),
    (FUSE, "auto"),
    (WHOLE_COMMUNICATOR, "false"),
    (SHARED_MEMORY, "10485760"),
    (SINGLE_COPY, "true"),
    (NODES, "not given"),
    (VERIFY, "false"),
];

/// Hints of sparse exchanges, in the same way.
const EXCHANGE: [(Names, &str); 5] = [
    (SPARSE, "auto"),
    (SPARSE_TARGETS, "not given"),
    (NODE_SIZE, "not given"),
    (MATCHED_PROBE, "true"),
    (LOGGP, PRESETS[0].name),
];

/// Two lines: the hints that somebody gave, and what holds for all others.
fn lines(all: &[(Names, &str)], given: &[Given]) -> String {
    let told = |&((key, variable), default): &(Names, &str)| match given.iter().rfind(|g| g.0 == key) {
        Some((_, value, origin)) => {
            let value: String = value.escape_debug().take(80).collect();
            let origin = match origin {
                Origin::Info => "info".to_owned(),
                Origin::Environment => format!("environment {variable}"),
                other => other.of_value().to_owned(),
            };
            Ok(format!("{key} = {value} ({origin})"))
        }
        None => Err(format!("{key} = {default}")),
    };
    let (given, defaults): (Vec<_>, Vec<_>) = all.iter().map(told).partition(|told| told.is_ok());
    let join = |list: Vec<std::result::Result<String, String>>| match list.len() {
        0 => "none".to_owned(),
        _ => list.into_iter().map(|told| told.unwrap_or_else(|text| text)).collect::<Vec<_>>().join(", "),
    };
    format!("hints given: {}\nhints by default: {}\n", join(given), join(defaults))
}

/// The parameters of a machine in a few words: a preset's name, or the numbers.
fn short(machine: &Loggp) -> String {
    match PRESETS.iter().find(|p| p.values == *machine) {
        Some(preset) => preset.name.to_owned(),
        None => format!(
            "L {} us, o {} us, g {} us, G {} us/B, S {}",
            machine.latency,
            machine.overhead,
            machine.gap,
            machine.gap_per_byte,
            if machine.eager == u64::MAX { "unlimited".to_owned() } else { format!("{} B", machine.eager) }
        ),
    }
}

impl Hints {
    /// Two lines: the hints in effect, and where they come from.
    pub fn describe(&self) -> String {
        lines(&NEIGHBORHOOD, &self.origins.0)
    }

    /// Notes where the machine's parameters come from, which no hint says.
    pub(super) fn machine_from(&mut self, machine: &Loggp, origin: Origin) {
        self.origins.0.push((LOGGP.0, short(machine), origin));
    }
}

/// Where the values of the hints of sparse exchanges come from, in the order of `EXCHANGE`.
pub type ExchangeOrigins = [Option<Origin>; EXCHANGE.len()];

impl SparseHints {
    /// Two lines: the hints in effect, and where they come from.
    pub fn describe(&self) -> String {
        let number = |n: Option<u32>| n.map_or("not given".to_owned(), |n| n.to_string());
        let values = [
            self.protocol.map_or("auto", Protocol::name).to_owned(),
            number(self.targets),
            number(self.node_size),
            self.matched_probe.to_string(),
            short(&self.loggp.unwrap_or_default()),
        ];
        let given = EXCHANGE.iter().zip(self.origins).zip(values);
        lines(&EXCHANGE, &given.filter_map(|(((names, _), origin), value)| Some((names.0, value, origin?))).collect::<Vec<_>>())
    }

    /// Notes who gave values.
    pub(super) fn came_from(&mut self, given: &[Given]) {
        self.origins = EXCHANGE.map(|(names, _)| given.iter().rfind(|g| g.0 == names.0).map(|g| g.2));
    }

    /// Takes the parameters of the machine from elsewhere, where no hint says them.
    pub fn with_machine(mut self, machine: Option<(Loggp, Origin)>) -> SparseHints {
        if let (None, Some((machine, origin))) = (self.loggp, machine) {
            self.loggp = Some(machine);
            self.origins[EXCHANGE.len() - 1] = Some(origin);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(list: &[(&str, &str)], key: &str) -> Option<String> {
        list.iter().find(|e| e.0 == key).map(|e| e.1.to_string())
    }

    #[test]
    fn what_is_said_to_hold_by_default_does() {
        for ((key, variable), default) in NEIGHBORHOOD {
            if default == "not given" {
                continue;
            }
            let none = |_: &Path| unreachable!();
            let by_info = Hints::read(|k| Ok((k == key).then(|| default.to_owned())), |_| None, none).unwrap();
            let by_environment = Hints::read(|_| Ok(None), |v| (v == variable).then(|| default.to_owned()), none).unwrap();
            let usual = Hints { loggp: by_info.loggp, fuse: by_info.fuse, ..Hints::default() };
            assert_eq!(by_info, usual, "{key}");
            assert_eq!(by_environment, usual, "{variable}");
            assert_eq!(by_info.machine(), Loggp::default());
            assert!(
                by_info.describe().starts_with(&format!("hints given: {key} = {default} (info)\n")),
                "{}",
                by_info.describe()
            );
            let text = by_environment.describe();
            assert!(text.starts_with(&format!("hints given: {key} = {default} (environment {variable})\n")), "{text}");
            let rest = text.lines().nth(1).unwrap();
            assert!(!rest.contains(&format!("{key} =")) && rest.matches(" = ").count() == NEIGHBORHOOD.len() - 1, "{text}");
        }
        assert!(Hints::default().describe().starts_with("hints given: none\nhints by default: mpix_schedule = auto, "));
    }

    #[test]
    fn parameters_name_their_place() {
        let file = |path: &Path| match path.to_str() {
            Some("/site") => Ok("latency = 1\noverhead = 2\ngap = 3\ngap_per_byte = 4\neager = unlimited".to_owned()),
            _ => Err(NotFound.into()),
        };
        let env = |key: &str| get(&[("MPIX_LOGGP_FILE", "/site")], key);
        let read = |info: &[(&str, &str)], known| {
            let hints = Hints::read(|k| Ok(get(info, k)), |_| None, file).unwrap();
            hints.with_machine(known, env, file).unwrap().describe().lines().next().unwrap().to_owned()
        };
        let known = Loggp::preset("big_red");
        assert_eq!(read(&[("mpix_loggp", "/site")], known), "hints given: mpix_loggp = /site (info)");
        assert_eq!(read(&[], known), "hints given: mpix_loggp = big_red (MPIX_Loggp_set)");
        assert_eq!(read(&[], None), "hints given: mpix_loggp = L 1 us, o 2 us, g 3 us, G 4 us/B, S unlimited (file)");
    }

    #[test]
    fn exchanges_too() {
        let info = [("mpix_sparse", "pex"), ("mpix_matched_probe", "0")];
        let env = [("MPIX_SPARSE", "nbx"), ("MPIX_NODE_SIZE", "4")];
        let (hints, understood) = SparseHints::read(|k| Ok(get(&info, k)), |v| get(&env, v), |_| unreachable!());
        understood.unwrap();
        assert_eq!(
            hints.with_machine(Some((Loggp::preset("intrepid").unwrap(), Origin::Communicator))).describe(),
            "hints given: mpix_sparse = nbx (environment MPIX_SPARSE), mpix_node_size = 4 (environment MPIX_NODE_SIZE), \
             mpix_matched_probe = false (info), mpix_loggp = intrepid (MPIX_Loggp_set)\n\
             hints by default: mpix_sparse_targets = not given\n"
        );
    }
}
