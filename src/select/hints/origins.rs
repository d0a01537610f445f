//! Sources of hint values, and their description in text.

use super::names::*;
use crate::model::{Loggp, PRESETS};

/// The source of a hint's value.
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
    /// A set call of this program measured it.
    Measured,
    /// A file that an earlier program left after it measured.
    Kept,
}

impl Origin {
    /// Name of the source in errors.
    pub fn of_value(self) -> &'static str {
        match self {
            Origin::Info => "info key",
            Origin::Environment => "environment variable",
            Origin::Communicator => "MPIX_Loggp_set",
            Origin::File => "file",
            Origin::Measured => "measured",
            Origin::Kept => "measured by an earlier program",
        }
    }
}

/// A given hint: its info key, the value as text, and its source.
pub type Given = (&'static str, String, Origin);

/// The given hints. Ignored by comparisons: equal values from different sources are equal.
#[derive(Debug, Clone, Default)]
pub struct Origins(pub Vec<Given>);

impl PartialEq for Origins {
    fn eq(&self, _: &Origins) -> bool {
        true
    }
}

/// Hints of a neighborhood, which docs/choosing-a-schedule.md lists, and their defaults.
pub(super) const NEIGHBORHOOD: [(Names, &str); 18] = [
    (SCHEDULE, "auto"),
    (WEIGHT_UNIT, "not given"),
    (LOGGP, "auto"),
    (SPLIT, "true"),
    (SEED, "1"),
    (DUPLEX, "full"),
    (ROUND_WINDOW, "auto"),
    (GRAPH_LIMIT, "16777216"),
    (REDUCE_ORDER, "source"),
    (FUSE, "auto"),
    (WHOLE_COMMUNICATOR, "false"),
    (SHARED_MEMORY, "10485760"),
    (SINGLE_COPY, "auto"),
    (TRANSPORT, "messages"),
    (RMA_SYNCHRONIZATION, "active"),
    (RMA_STRAIGHT, "auto"),
    (NODES, "not given"),
    (VERIFY, "false"),
];

/// Hints of sparse exchanges, likewise.
pub(super) const EXCHANGE: [(Names, &str); 5] =
    [(SPARSE, "auto"), (SPARSE_TARGETS, "not given"), (NODE_SIZE, "not given"), (MATCHED_PROBE, "true"), (LOGGP, "auto")];

/// A value as text; a long one that a program or user gives is cut.
fn shown(value: &str, origin: Origin) -> String {
    const MOST: usize = 80;
    let text = value.escape_debug().to_string();
    if matches!(origin, Origin::Info | Origin::Environment) && text.chars().count() > MOST {
        return text.chars().take(MOST - 3).chain("...".chars()).collect();
    }
    text
}

/// Two lines: the given hints, and the defaults of all others.
pub(super) fn lines(all: &[(Names, &str)], given: &[Given]) -> String {
    let told = |&((key, variable), default): &(Names, &str)| match given.iter().rfind(|g| g.0 == key) {
        Some((_, value, origin)) => {
            let value = shown(value, *origin);
            let origin = match origin {
                Origin::Info => "info".to_owned(),
                Origin::Environment => format!("environment {variable}"),
                other => other.of_value().to_owned(),
            };
            Ok(format!("{key} = {value} ({origin})"))
        }
        None => Err(format!("{key} = {default}")),
    };
    let (given, defaults): (Vec<_>, Vec<_>) = all.iter().map(told).partition(std::result::Result::is_ok);
    let join = |list: Vec<std::result::Result<String, String>>| match list.len() {
        0 => "none".to_owned(),
        _ => list.into_iter().map(|told| told.unwrap_or_else(|text| text)).collect::<Vec<_>>().join(", "),
    };
    format!("hints given or measured: {}\nhints by default: {}\n", join(given), join(defaults))
}

/// A short form of a machine's parameters: a preset's name, or the numbers.
pub(super) fn short(machine: &Loggp) -> String {
    match PRESETS.iter().find(|p| p.values == *machine) {
        Some(preset) => preset.name.to_owned(),
        None => format!(
            "L {} us, o {} us, g {} us, G {} us/B, S {}{}{}{}",
            machine.latency,
            machine.overhead,
            machine.gap,
            machine.gap_per_byte,
            if machine.eager == u64::MAX { "unlimited".to_owned() } else { format!("{} B", machine.eager) },
            if machine.sharing.known() == 0 { String::new() } else { format!(", links {} us/B", machine.sharing.links_text()) },
            machine.sharing.random.map_or_else(String::new, |time| format!(", random {time} us/B")),
            match machine.sharing.latencies_text() {
                none if none.is_empty() => none,
                times => format!(", latencies {times} us"),
            }
        ),
    }
}

/// Sources of the hints of sparse exchanges, in the order of `EXCHANGE`.
pub type ExchangeOrigins = [Option<Origin>; EXCHANGE.len()];
