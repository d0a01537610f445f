//! Warnings about unknown names that resemble the library's hints and are probably misspelled.

use super::names::*;

/// Environment variable: messages that the library writes to standard error.
pub const LOG: &str = "MPIX_NEIGHBOR_LOG";

/// All hints.
const HINTS: [Names; 28] = [
    SCHEDULE,
    SPLIT,
    SEED,
    DUPLEX,
    ROUND_WINDOW,
    WEIGHT_UNIT,
    LOGGP,
    GRAPH_LIMIT,
    REDUCE_ORDER,
    WHOLE_COMMUNICATOR,
    NODES,
    FUSE,
    (MATCH, ""),
    SHARED_MEMORY,
    SINGLE_COPY,
    TRANSPORT,
    RMA_SYNCHRONIZATION,
    RMA_STRAIGHT,
    VERIFY,
    SPARSE,
    SPARSE_TARGETS,
    NODE_SIZE,
    MATCHED_PROBE,
    WINDOW_BATCH,
    WINDOW_AGGREGATE,
    LOGGP_SECONDS,
    LOGGP_BYTES,
    // a variable without info key
    ("", LOGGP_FILE),
];

/// Environment variables that are not hints, including those of the preload library and of the
/// Python package.
const OTHERS: [&str; 8] = [
    LOG,
    "MPIX_NEIGHBOR_STATS",
    "MPIX_NEIGHBOR_TRACE",
    "MPIX_NEIGHBOR_LIBRARY",
    "MPIX_NEIGHBOR_PRELOAD",
    "MPIX_PRELOAD",
    "MPIX_PRELOAD_ALLTOALLV",
    "MPIX_PRELOAD_FILE",
];

/// Minimum similarity of two names, without their common prefix, for a suggestion.
const ALIKE: f64 = 0.6;

/// Returns a warning about an info key that has the library's prefix but is unknown. `None` for
/// known keys, and for keys without the prefix.
pub fn key(key: &str) -> Option<String> {
    let known = |names: &Names| names.0 == key;
    if HINTS.iter().any(known) || !key.get(..4)?.eq_ignore_ascii_case("mpix") {
        return None;
    }
    let meant = nearest(key, HINTS.iter().filter(|names| !names.0.is_empty()).map(|names| (names.0, names)));
    Some(match meant {
        Some(meant) => format!("unknown info key {}: is {meant} meant?", shown(key)),
        None => format!("unknown info key {}: no known key is like it (docs/choosing-a-schedule.md has them all)", shown(key)),
    })
}

/// Returns a warning about an environment variable that resembles one of the library's. `None` for
/// known variables, and for all others.
pub fn variable(name: &str) -> Option<String> {
    let known = |names: &Names| names.1 == name;
    if OTHERS.contains(&name) || HINTS.iter().any(known) || !name.get(..4)?.eq_ignore_ascii_case("mpix") {
        return None;
    }
    let hints = HINTS.iter().filter(|names| !names.1.is_empty()).map(|names| (names.1, *names));
    let all: Vec<(&'static str, Names)> = hints.chain(OTHERS.map(|name| (name, ("", name)))).collect();
    let meant = nearest(name, all.iter().map(|(name, names)| (*name, names)))?;
    Some(format!("unknown environment variable {}: is {meant} meant?", shown(name)))
}

/// Returns the one of the `known` names that is most similar to a name, if any is similar enough. A
/// hint's key and variable are both compared, because some of them differ in more than case.
fn nearest<'a>(name: &str, known: impl Iterator<Item = (&'static str, &'a Names)>) -> Option<&'static str> {
    let bare = |name: &str| {
        let name = name.to_ascii_lowercase().replace('-', "_");
        name.strip_prefix("mpix").unwrap_or(&name).trim_start_matches('_').to_owned()
    };
    let name = bare(name);
    let likeness = |names: &Names| {
        let names = [names.0, names.1].into_iter().filter(|known| !known.is_empty());
        names.map(|known| strsim::normalized_damerau_levenshtein(&name, &bare(known))).fold(0.0, f64::max)
    };
    (known.map(|(text, names)| (likeness(names), text)))
        .filter(|&(likeness, _)| likeness >= ALIKE)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, text)| text)
}

/// Makes a foreign name safe to print on one line.
fn shown(name: &str) -> String {
    name.escape_debug().take(80).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelled_keys_are_named_with_what_is_meant() {
        for (wrong, meant) in [
            ("mpix_shedule", "mpix_schedule"),
            ("mpix_Schedule", "mpix_schedule"),
            ("MPIX_SCHEDULE", "mpix_schedule"),
            ("mpix-round-window", "mpix_round_window"),
            ("mpixseed", "mpix_seed"),
            ("mpix_weights_unit", "mpix_weight_unit"),
            ("mpix_neighbor_verify", "mpix_verify"),
            ("mpix_node", "mpix_nodes"),
            ("mpix_logpg", "mpix_loggp"),
            ("mpix_macth", "mpix_match"),
            ("mpix_sharedmemory", "mpix_shared_memory"),
        ] {
            assert_eq!(key(wrong), Some(format!("unknown info key {wrong}: is {meant} meant?")));
        }
        assert_eq!(
            key("mpix_").unwrap(),
            "unknown info key mpix_: no known key is like it (docs/choosing-a-schedule.md has them all)"
        );
        assert!(
            key("mpix_colour_of_the_sky")
                .unwrap()
                .ends_with("no known key is like it (docs/choosing-a-schedule.md has them all)")
        );
    }

    #[test]
    fn known_names_and_those_of_others_are_no_matter() {
        for (name, env) in HINTS {
            assert_eq!((key(name), variable(env)), (None, None), "{name} {env}");
        }
        for other in ["", "m", "color", "mpi_assert_no_any_tag", "striping_factor", "münchen", "mpi\u{fc}"] {
            assert_eq!((key(other), variable(other)), (None, None));
        }
        // from another library, or from the program
        for other in OTHERS.into_iter().chain(["MPIX_STREAM_POOL", "MPIX_TEST_ROUNDS", "MPICC"]) {
            assert_eq!(variable(other), None);
        }
    }

    #[test]
    fn misspelled_variables_are_named_with_what_is_meant() {
        for (wrong, meant) in [
            ("MPIX_SHEDULE", "MPIX_SCHEDULE"),
            ("MPIX_VERIFY", "MPIX_NEIGHBOR_VERIFY"),
            ("MPIX_LOG_GP", "MPIX_LOGGP"),
            ("MPIX_NEIGHBOR_LOGS", "MPIX_NEIGHBOR_LOG"),
            ("mpix_seed", "MPIX_SEED"),
            ("MPIX_LOGGPFILE", "MPIX_LOGGP_FILE"),
        ] {
            assert_eq!(variable(wrong), Some(format!("unknown environment variable {wrong}: is {meant} meant?")));
        }
    }

    #[test]
    fn what_is_printed_is_one_short_line() {
        let text = key(&format!("mpix_\n\u{1b}[2J{}", "x".repeat(300))).unwrap();
        assert!(text.len() < 200 && text.chars().all(|c| !c.is_control()), "{text:?}");
    }

    /// Every constant with a hint's names occurs in the list.
    #[test]
    fn the_list_is_complete() {
        let source = include_str!("names.rs");
        let named: Vec<&str> = source
            .lines()
            .filter_map(|line| line.strip_prefix("pub(super) const ")?.split_once(": Names ="))
            .map(|(_, names)| names)
            .collect();
        assert!(named.len() > 15);
        for names in named {
            assert!(HINTS.iter().any(|(key, variable)| names.trim() == format!("(\"{key}\", \"{variable}\");")), "{names}");
        }
    }
}
