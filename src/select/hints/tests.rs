//! Values, defaults, errors, and the hints that must be equal on all processes.

mod origins;

use std::io::{self, ErrorKind::NotADirectory, ErrorKind::NotFound};
use std::path::Path;
use std::sync::Arc;

use super::names::*;
use super::origins::{NEIGHBORHOOD, Origin};
use super::*;
use crate::error::Result;
use crate::model::Loggp;
use crate::schedule::{ALGORITHMS, Algorithm, FoldOrder};
use crate::topology::nodes::Placement;

fn read(info: &[(&str, &str)], env: &[(&str, &str)]) -> Result<Hints> {
    let get = |list: &[(&str, &str)], key: &str| list.iter().find(|e| e.0 == key).map(|e| e.1.to_string());
    let file = |path: &Path| match path.to_str() {
        Some("machine") => Ok("latency = 1\noverhead = 2\ngap = 3\ngap_per_byte = 4\neager = 5\n".into()),
        Some("shadow") => Ok("root:$6$secret:19000:0:99999:7:::\n".into()),
        Some("full") => Err(io::Error::other("too many open files")),
        _ => Err(io::Error::new(NotFound, "no such file")),
    };
    Hints::read(|k| Ok(get(info, k)), |k| get(env, k), file)
}

#[test]
fn defaults_unknown_keys_and_override() {
    assert_eq!(read(&[("color", "blue")], &[]).unwrap(), Hints::default());
    let h = read(
        &[("mpix_schedule", "direct"), ("mpix_reduce_order", "any")],
        &[("MPIX_SCHEDULE", "dimension_order"), ("MPIX_NEIGHBOR_VERIFY", "1")],
    )
    .unwrap();
    assert_eq!(h.schedule, ScheduleHint::Only(Algorithm::DimensionOrder));
    assert_eq!(h.reduce_order, FoldOrder::Any);
    assert!(h.verify);
}

#[test]
fn bad_values_are_named() {
    let e = read(&[("mpix_schedule", "fastest")], &[]).unwrap_err();
    let names: Vec<&str> = ALGORITHMS.iter().map(|e| e.name).collect();
    let allowed = format!("auto, model, measure, {}", names.join(", "));
    assert_eq!(e.to_string(), format!("info key mpix_schedule = \"fastest\" is not one of {allowed}"));
    let e = read(&[], &[("MPIX_NEIGHBOR_VERIFY", "maybe")]).unwrap_err();
    assert!(e.to_string().starts_with("environment variable MPIX_NEIGHBOR_VERIFY"));
    let e = read(&[("mpix_nodes", "1,2,")], &[]).unwrap_err();
    assert_eq!(e.to_string(), format!("info key mpix_nodes = \"1,2,\" is not one of {}", Placement::TEXT));
}

#[test]
fn numbers_and_files() {
    let h = read(&[("mpix_seed", " 7 "), ("mpix_duplex", "half"), ("mpix_split", "0")], &[("MPIX_ROUND_WINDOW", "4")]).unwrap();
    assert_eq!((h.seed, h.half_duplex, h.split, h.window), (7, true, false, Some(4)));
    let e = read(&[("mpix_round_window", "0")], &[]).unwrap_err();
    assert_eq!(e.to_string(), "info key mpix_round_window = \"0\" is not one of auto, 1 to 4294967295");
    assert!(read(&[("mpix_weight_unit", "-3")], &[]).is_err());
    let h = read(&[("mpix_loggp", "intrepid"), ("mpix_weight_unit", "8")], &[]).unwrap();
    assert_eq!(h.machine(), Loggp::preset("intrepid").unwrap());
    assert_eq!(h.tuning().startup, h.machine().startup_bytes() / 8.0);
    let (costs, machine) = (h.tuning().costs, h.machine());
    assert_eq!((costs.transfer(100.0), costs.delivery()), (machine.transfer(800), machine.point_to_point(1)));
    let h = read(&[("mpix_loggp", "machine")], &[]).unwrap();
    assert_eq!(h.machine(), "latency = 1\noverhead = 2\ngap = 3\ngap_per_byte = 4\neager = 5".parse().unwrap());
    let e = read(&[("mpix_loggp", "elsewhere")], &[]).unwrap_err().to_string();
    assert!(e.contains("jaguar") && e.contains("no such file"), "{e}");
    // errors do not repeat the content of a file, and do not call an existing file missing
    let e = read(&[], &[("MPIX_LOGGP", "shadow")]).unwrap_err().to_string();
    assert_eq!(
        e,
        "environment variable MPIX_LOGGP = \"shadow\" is no file of LogGP parameters: line 1 is not of the form key = value"
    );
    let e = read(&[("mpix_loggp", "full")], &[]).unwrap_err().to_string();
    assert_eq!(e, "info key mpix_loggp = \"full\" cannot be read: too many open files");
}

#[test]
fn the_nearest_parameters_count() {
    let preset = |name| Loggp::preset(name).unwrap();
    let with = |info: &[(&str, &str)], env: &[(&str, &str)], known, exists: &str| {
        let get = |key: &str| env.iter().find(|e| e.0 == key).map(|e| e.1.to_string());
        read(info, env).unwrap().with_machine(known, get, |path| match path.to_str() {
            Some("/site") => Ok(preset("big_red").to_string()),
            Some("/home/me/.config/mpix-neighbor/loggp") if exists == "good" => Ok(preset("meiko_elan").to_string()),
            Some("/home/me/.config/mpix-neighbor/loggp") if exists == "bad" => Ok("latency = 1\ngap = fast".into()),
            Some("/config/mpix-neighbor/loggp") => Err(NotADirectory.into()),
            _ => Err(NotFound.into()),
        })
    };
    let (home, site) = (("HOME", "/home/me"), ("MPIX_LOGGP_FILE", "/site"));
    let known = Some(preset("intrepid"));
    let of = |h: Result<Hints>| h.map(|h| (h.machine(), h.loggp.is_some())).map_err(|e| e.to_string());
    let (info, env) = (("mpix_loggp", "meiko_split_c"), ("MPIX_LOGGP", "jaguar"));
    // all sources, then each time without the one with the highest precedence
    assert_eq!(of(with(&[info], &[env, home, site], known, "good")), Ok((preset("jaguar"), true)));
    assert_eq!(of(with(&[info], &[home, site], known, "good")), Ok((preset("meiko_split_c"), true)));
    assert_eq!(of(with(&[], &[home, site], known, "good")), Ok((preset("intrepid"), true)));
    assert_eq!(of(with(&[], &[home, site], None, "good")), Ok((preset("big_red"), false)));
    assert_eq!(of(with(&[], &[home], None, "good")), Ok((preset("meiko_elan"), false)));
    for env in [&[home][..], &[], &[("XDG_CONFIG_HOME", "/config"), home], &[("XDG_CONFIG_HOME", "relative")]] {
        assert_eq!(of(with(&[], env, None, "none")), Ok((Loggp::default(), false)), "{env:?}");
    }
    assert_eq!(
        of(with(&[], &[home], None, "bad")).unwrap_err(),
        "the file /home/me/.config/mpix-neighbor/loggp is no file of LogGP parameters: line 2: gap is not a finite number of at least 0"
    );
    let e = of(with(&[], &[("MPIX_LOGGP_FILE", "/nowhere")], None, "none")).unwrap_err();
    assert!(e.starts_with("environment variable MPIX_LOGGP_FILE = \"/nowhere\" cannot be read: "), "{e}");
    // a broken file is not read if a source with higher precedence exists
    assert_eq!(of(with(&[], &[home], known, "bad")), Ok((preset("intrepid"), true)));
}

/// `none` and `measure` leave all that is given out; `auto` is as if nothing were said.
#[test]
fn parameters_can_be_refused_or_measured() {
    let site = |path: &Path| match path.to_str() {
        Some("/site") => Ok(Loggp::preset("big_red").unwrap().to_string()),
        _ => Err(NotFound.into()),
    };
    let env = |key: &str| (key == "MPIX_LOGGP_FILE").then(|| "/site".to_owned());
    let known = Loggp::preset("intrepid");
    for (word, learn, machine) in [("none", Learn::Never, None), ("measure", Learn::Now, None), ("auto", Learn::IfUnknown, known)]
    {
        let mut by_info = read(&[("mpix_loggp", word)], &[]).unwrap().with_machine(known, env, site).unwrap();
        assert_eq!((by_info.learn, by_info.known_machine().copied()), (learn, machine), "{word}");
        assert!(by_info.describe().starts_with(&format!(
            "hints given or measured: mpix_loggp = {}\n",
            if machine.is_some() { "intrepid (MPIX_Loggp_set)".to_owned() } else { format!("{word} (info)") }
        )));
        // what the environment says counts
        let over = read(&[("mpix_loggp", "jaguar")], &[("MPIX_LOGGP", word)]).unwrap();
        assert_eq!((over.learn, over.loggp), (learn, None));
        // what the set call finds out is named
        by_info.learn_machine(Loggp::preset("meiko_elan").unwrap(), Origin::Measured);
        assert_eq!(by_info.describe().lines().next(), Some("hints given or measured: mpix_loggp = meiko_elan (measured)"));
    }
    let kept = |env: &[(&str, &str)]| {
        kept_folder(|key| env.iter().find(|e| e.0 == key).map(|e| e.1.to_string())).map(|p| p.display().to_string())
    };
    assert_eq!(kept(&[("HOME", "/home/me")]).as_deref(), Some("/home/me/.cache/mpix-neighbor"));
    assert_eq!(kept(&[("HOME", "/home/me"), ("XDG_CACHE_HOME", "/c")]).as_deref(), Some("/c/mpix-neighbor"));
    assert_eq!(kept(&[("XDG_CACHE_HOME", "c")]), None);
}

#[test]
fn a_site_is_agreed_on_and_not_the_callers_word() {
    let site = Hints { site_loggp: Loggp::preset("meiko_elan").map(Arc::new), ..Hints::default() };
    let said = Hints { loggp: Loggp::preset("meiko_elan").map(Arc::new), ..Hints::default() };
    assert_eq!((site.machine(), site.tuning().startup), (said.machine(), said.tuning().startup));
    assert!(site.agreed() != said.agreed() && site.agreed() != Hints::default().agreed());
}

#[test]
fn measuring_has_limits() {
    let read = |info: &[(&str, &str)], env: &[(&str, &str)]| {
        let get = |list: &[(&str, &str)], key: &str| list.iter().find(|e| e.0 == key).map(|e| e.1.to_string());
        Measuring::read(|k| Ok(get(info, k)), |k| get(env, k)).map_err(|e| e.to_string())
    };
    assert_eq!(read(&[], &[]), Ok(Measuring { seconds: 3.0, longest: 1_048_576 }));
    let both = [("mpix_loggp_seconds", "0.5"), ("mpix_loggp_bytes", "4096")];
    assert_eq!(read(&both, &[("MPIX_LOGGP_SECONDS", "1")]), Ok(Measuring { seconds: 1.0, longest: 4096 }));
    for bad in ["0", "-1", "NaN", "inf", "3601", "long", ""] {
        let e = read(&[("mpix_loggp_seconds", bad)], &[]).unwrap_err();
        assert_eq!(e, format!("info key mpix_loggp_seconds = \"{bad}\" is not one of 0.01 to 3600"));
    }
    assert!(read(&[], &[("MPIX_LOGGP_BYTES", "1023")]).unwrap_err().ends_with("is not one of 1024 to 1073741824"));
}

#[test]
fn what_must_agree_differs() {
    let (mut seen, mut named) = (Vec::new(), Vec::new());
    for verify in ["true", "false"] {
        for name in ALGORITHMS.iter().map(|e| e.name).chain(["auto", "measure"]) {
            seen.push(read(&[("mpix_schedule", name), ("mpix_verify", verify)], &[]).unwrap().agreed());
        }
    }
    let promised = ("mpix_whole_communicator", "true");
    seen.push(read(&[("mpix_rma_synchronization", "fence"), promised], &[]).unwrap().agreed());
    let refused = read(&[("mpix_rma_synchronization", "fence")], &[]).unwrap_err().to_string();
    assert!(refused.contains("mpix_rma_synchronization = \"fence\"") && refused.contains(promised.0), "{refused}");
    for (key, value) in [
        ("mpix_seed", "2"),
        ("mpix_transport", "rma"),
        ("mpix_transport", "auto"),
        ("mpix_transport", "auto_plans"),
        ("mpix_rma_synchronization", "passive"),
        ("mpix_rma_straight", "false"),
        ("mpix_rma_straight", "16384"),
        ("mpix_split", "false"),
        ("mpix_duplex", "half"),
        ("mpix_weight_unit", "1"),
        ("mpix_loggp", "meiko_elan"),
        ("mpix_loggp", "jaguar"),
        ("mpix_loggp", "none"),
        ("mpix_loggp", "measure"),
        ("mpix_graph_limit", "10"),
        ("mpix_fuse", "true"),
        ("mpix_fuse", "false"),
        ("mpix_shared_memory", "1048576"),
        ("mpix_single_copy", "true"),
        ("mpix_single_copy", "false"),
        ("mpix_whole_communicator", "true"),
        ("mpix_nodes", "2"),
        ("mpix_nodes", "2,0"),
        ("mpix_nodes", "0,2"),
    ] {
        let hints = read(&[(key, value)], &[]).unwrap();
        seen.push(hints.agreed());
        named.push((key, hints));
    }
    for hint in [("mpix_schedule", "direct"), ("mpix_verify", "true"), ("mpix_round_window", "3")] {
        named.push((hint.0, read(&[hint], &[]).unwrap()));
    }
    for (key, hints) in &named {
        let both = hints.agreed_each().into_iter().zip(Hints::default().agreed_each());
        let differing: Vec<&str> = both.filter(|(a, b)| a != b).map(|(a, _)| a.0).collect();
        assert_eq!(differing, [*key]);
    }
    for ((key, _), _) in NEIGHBORHOOD.iter().filter(|hint| hint.0 != REDUCE_ORDER) {
        assert!(named.iter().any(|name| name.0 == *key), "{key}");
    }
    let refused = read(&[("mpix_rma_straight", "-1")], &[]).unwrap_err().to_string();
    assert!(refused.ends_with("is not one of auto, false, 0, or a number of bytes from 4096 on"), "{refused}");
    assert_eq!(read(&[("mpix_rma_straight", "auto")], &[]).unwrap().agreed(), Hints::default().agreed());
    // files of parameters that differ in one line, and none where the other one has those of the
    // preset that stands in
    let five = "latency = 9\noverhead = 1\ngap = 2\ngap_per_byte = 0.25\neager = 4096\n";
    for more in
        ["", "copy = 0.001\n", "random = 0.5\n", "links = 1, 2\n", "links = 1, 3\n", "latencies = 1, 2\n", "latencies = 1, 3\n"]
    {
        seen.push(Hints { site_loggp: Some(Arc::new(format!("{five}{more}").parse().unwrap())), ..Hints::default() }.agreed());
    }
    seen.push(Hints { site_loggp: Some(Arc::new(Hints::default().machine())), ..Hints::default() }.agreed());
    // the window may differ between processes, if all give one
    let window = |text| read(&[("mpix_round_window", text)], &[]).unwrap().agreed();
    assert_eq!(window("3"), window("1"));
    assert_eq!(window("auto"), Hints::default().agreed());
    seen.push(window("2"));
    assert!(seen.iter().all(|&n| n >= 0));
    let n = seen.len();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), n);
}
