//! Descriptions of the sources of hints.

use super::super::origins::{NEIGHBORHOOD, Origin};
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
        let usual = Hints { loggp: by_info.loggp.clone(), fuse: by_info.fuse, ..Hints::default() };
        assert_eq!(by_info, usual, "{key}");
        assert_eq!(by_environment, usual, "{variable}");
        assert_eq!(by_info.machine(), Loggp::default());
        assert!(
            by_info.describe().starts_with(&format!("hints given or measured: {key} = {default} (info)\n")),
            "{}",
            by_info.describe()
        );
        let text = by_environment.describe();
        assert!(text.starts_with(&format!("hints given or measured: {key} = {default} (environment {variable})\n")), "{text}");
        let rest = text.lines().nth(1).unwrap();
        assert!(!rest.contains(&format!("{key} =")) && rest.matches(" = ").count() == NEIGHBORHOOD.len() - 1, "{text}");
    }
    assert!(Hints::default().describe().starts_with("hints given or measured: none\nhints by default: mpix_schedule = auto, "));
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
    assert_eq!(read(&[("mpix_loggp", "/site")], known), "hints given or measured: mpix_loggp = /site (info)");
    assert_eq!(read(&[], known), "hints given or measured: mpix_loggp = big_red (MPIX_Loggp_set)");
    assert_eq!(read(&[], None), "hints given or measured: mpix_loggp = L 1 us, o 2 us, g 3 us, G 4 us/B, S unlimited (file)");
}

#[test]
fn exchanges_too() {
    let info = [("mpix_sparse", "pex"), ("mpix_matched_probe", "0")];
    let env = [("MPIX_SPARSE", "nbx"), ("MPIX_NODE_SIZE", "4")];
    let (hints, understood) = SparseHints::read(|k| Ok(get(&info, k)), |v| get(&env, v), |_| unreachable!());
    understood.unwrap();
    assert_eq!(
        hints.with_machine(Some((Loggp::preset("intrepid").unwrap(), Origin::Communicator))).describe(),
        "hints given or measured: mpix_sparse = nbx (environment MPIX_SPARSE), mpix_node_size = 4 (environment MPIX_NODE_SIZE), \
         mpix_matched_probe = false (info), mpix_loggp = intrepid (MPIX_Loggp_set)\n\
         hints by default: mpix_sparse_targets = not given\n"
    );
}
