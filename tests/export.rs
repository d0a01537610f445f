//! `mpix-neighbor schedule --export`: the JSON is read as docs/schedule-format.md says, by this
//! file alone, and replayed as a world of processes that send each other messages. Each block must
//! reach each of its targets exactly once.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::path::PathBuf;
use std::process::Command;

use mpix_neighbor::util::cast::to_usize;

use serde_json::Value as Json;

fn printed(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_mpix-neighbor")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn exported(arguments: &[&str]) -> Json {
    serde_json::from_str(&printed(&[&["schedule"], arguments, &["--export", "-"]].concat())).unwrap()
}

fn file(name: &str, text: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn number(json: &Json) -> u64 {
    json.as_u64().unwrap_or_else(|| panic!("{json} is not a number"))
}

fn list(json: &Json) -> &[Json] {
    json.as_array().unwrap_or_else(|| panic!("{json} is not a list"))
}

/// A place for a block: what kind, and its number.
type Place = (String, u64);

fn place(json: &Json) -> Place {
    let map = json.as_object().unwrap();
    assert_eq!(map.len(), 1, "{json}");
    let (kind, index) = map.iter().next().unwrap();
    assert!(["input", "output", "scratch", "packet"].contains(&kind.as_str()), "{json}");
    (kind.clone(), number(index))
}

/// The content of a place: an edge's block, or everything in a packet.
#[derive(Debug, Clone, PartialEq)]
enum Content {
    /// Source and its target entry.
    Block(u64, u64),
    Packet(Vec<Content>),
}

/// The parts of a block that have arrived, as (begin, end, denominator), and its content.
type Parts = (Vec<[u64; 3]>, Content);

#[derive(Default)]
struct Process {
    places: HashMap<Place, Content>,
    arriving: HashMap<Place, Parts>,
    packets: Vec<Vec<Place>>,
}

impl Process {
    fn read(&self, rank: u64, place: &Place) -> Result<Content, String> {
        match (place.0.as_str(), place.1) {
            ("input", entry) => Ok(Content::Block(rank, entry)),
            ("packet", k) => {
                Ok(Content::Packet(self.packets[to_usize(k)].iter().map(|p| self.read(rank, p)).collect::<Result<_, _>>()?))
            }
            _ => self.places.get(place).cloned().ok_or(format!("{rank} reads {place:?}, where nothing is")),
        }
    }

    fn write(&mut self, place: &Place, content: Content) -> Result<(), String> {
        match (place.0.as_str(), content) {
            ("input", _) => Err("an input block is written".into()),
            ("packet", Content::Packet(contents)) => {
                let places = self.packets[to_usize(place.1)].clone();
                if places.len() != contents.len() {
                    return Err(format!("{} blocks come for {}", contents.len(), places.len()));
                }
                places.iter().zip(contents).try_for_each(|(place, content)| self.write(place, content))
            }
            ("packet", _) => Err("a block comes for a packet".into()),
            ("output", Content::Packet(_)) => Err(format!("{place:?} gets a packet")),
            (_, content) => match self.places.insert(place.clone(), content) {
                Some(_) if place.0 == "output" => Err(format!("{place:?} is written twice")),
                _ => Ok(()),
            },
        }
    }

    fn write_part(&mut self, place: &Place, part: [u64; 3], content: Content) -> Result<(), String> {
        let [begin, end, of] = part;
        assert!(begin < end && end <= of, "{part:?} is no part");
        if begin == 0 && end == of {
            return self.write(place, content);
        }
        let (parts, whole) = self.arriving.entry(place.clone()).or_insert((Vec::new(), content.clone()));
        if *whole != content || parts.iter().any(|p| p[2] != of || p[0] < end && begin < p[1]) {
            return Err(format!("{part:?} of {content:?} comes for {place:?} beside {parts:?} of {whole:?}"));
        }
        parts.push(part);
        if parts.iter().map(|p| p[1] - p[0]).sum::<u64>() == of {
            self.arriving.remove(place);
            return self.write(place, content);
        }
        Ok(())
    }
}

fn part(op: &Json) -> [u64; 3] {
    let numbers: Vec<u64> = list(&op["part"]).iter().map(number).collect();
    numbers.try_into().unwrap()
}

/// A message: which part of a block, and what it holds.
type Message = ([u64; 3], Content);

/// Replays the schedules of one algorithm. Returns the number of messages.
fn replay(neighborhoods: &[Json], world: &[Json]) -> Result<usize, String> {
    let mut processes: Vec<Process> = (world.iter())
        .map(|p| Process {
            packets: list(&p["packets"]).iter().map(|k| list(k).iter().map(place).collect()).collect(),
            ..Process::default()
        })
        .collect();
    let numbers: BTreeSet<u64> = world.iter().flat_map(|p| list(&p["rounds"])).map(|round| number(&round["number"])).collect();
    let mut messages = 0;
    for round in numbers {
        let operations = |rank: usize| {
            let mine = list(&world[rank]["rounds"]).iter().find(|r| number(&r["number"]) == round);
            mine.map_or(&[][..], |r| list(&r["operations"])).iter()
        };
        let mut wires: HashMap<(u64, u64), VecDeque<Message>> = HashMap::new();
        for (rank, process) in processes.iter_mut().enumerate() {
            for op in operations(rank).filter(|op| op["op"] == "send") {
                let to = number(&op["to"]);
                if to == rank as u64 || to >= world.len() as u64 {
                    return Err(format!("{rank} sends to {to}"));
                }
                let content = process.read(rank as u64, &place(&op["block"]))?;
                wires.entry((rank as u64, to)).or_default().push_back((part(op), content));
                messages += 1;
            }
        }
        for (rank, process) in processes.iter_mut().enumerate() {
            for op in operations(rank) {
                match op["op"].as_str() {
                    Some("send") => {}
                    Some("recv") => {
                        let pair = (number(&op["from"]), rank as u64);
                        let message = wires.get_mut(&pair).and_then(VecDeque::pop_front);
                        let (sent, content) = message.ok_or(format!("round {round}: nothing comes from {pair:?}"))?;
                        if sent != part(op) {
                            return Err(format!("round {round}, {pair:?}: {sent:?} comes for {:?}", part(op)));
                        }
                        process.write_part(&place(&op["into"]), sent, content)?;
                    }
                    Some("copy") => {
                        let content = process.read(rank as u64, &place(&op["from"]))?;
                        process.write(&place(&op["into"]), content)?;
                    }
                    other => return Err(format!("an operation {other:?}")),
                }
            }
        }
        if let Some((pair, _)) = wires.iter().find(|(_, left)| !left.is_empty()) {
            return Err(format!("round {round}: a message of {pair:?} is not received"));
        }
    }
    for (rank, (process, lists)) in processes.iter().zip(neighborhoods).enumerate() {
        if !process.arriving.is_empty() {
            return Err(format!("{rank}: parts are missing: {:?}", process.arriving));
        }
        let mut outputs = 0;
        for (entry, source) in list(&lists["sources"]).iter().enumerate().filter(|s| !s.1.is_null()) {
            let wanted = Content::Block(number(&source["rank"]), number(&source["target_entry"]));
            let got = process.places.get(&("output".into(), entry as u64));
            if got != Some(&wanted) {
                return Err(format!("{rank}: output {entry} holds {got:?}, not {wanted:?}"));
            }
            outputs += 1;
        }
        if process.places.keys().filter(|p| p.0 == "output").count() != outputs {
            return Err(format!("{rank}: more outputs than sources"));
        }
    }
    Ok(messages)
}

/// Checks an export: what it says of itself, that its lists fit together, and every algorithm in
/// it. Returns the names of these, with their numbers of messages.
fn check(export: &Json) -> Vec<(String, usize)> {
    assert_eq!((&export["format"], &export["version"]), (&"mpix-neighbor-schedule".into(), &1.into()));
    let neighborhoods = list(&export["neighborhoods"]);
    assert_eq!(neighborhoods.len() as u64, number(&export["processes"]));
    // each edge stands in both its lists, and says where in the other one
    for (rank, lists) in neighborhoods.iter().enumerate() {
        for (mine, theirs, there, back) in
            [("targets", "sources", "source_entry", "target_entry"), ("sources", "targets", "target_entry", "source_entry")]
        {
            for (i, entry) in list(&lists[mine]).iter().enumerate().filter(|e| !e.1.is_null()) {
                let other = &neighborhoods[to_usize(number(&entry["rank"]))][theirs][to_usize(number(&entry[there]))];
                assert_eq!((number(&other["rank"]), number(&other[back])), (rank as u64, i as u64), "{rank} {mine} {i}");
            }
        }
    }
    let check = |world: &Json| {
        let name = world["algorithm"].as_str().unwrap();
        let processes = list(&world["processes"]);
        assert_eq!(processes.len(), neighborhoods.len(), "{name}");
        (name.to_owned(), replay(neighborhoods, processes).unwrap_or_else(|e| panic!("{name}: {e}")))
    };
    list(&export["schedules"]).iter().map(check).collect()
}

#[test]
fn every_algorithm_delivers_every_block_once() {
    // repeated edges, edges to oneself, weights of 0, a process without edges
    let awkward = file("awkward.txt", "0 1 5\n0 1 0\n1 0 9000\n2 2 7\n0 2 0\n2 0 1\n4 0 3\n4 1 0\n0 4 70000\n1 4 2\n0 1 800\n");
    let nothing = file("nothing.txt", "");
    let self_edges = file("self.txt", "0 0 3\n1 1 0\n");
    let mut seen = BTreeSet::new();
    for arguments in [
        &["--generate", "grid:2px2p", "--nodes", "2"][..],
        &["--generate", "grid:4px3px2p,box", "--nodes", "4"],
        &["--generate", "grid:5x1x3", "--nodes", "0,1,1,1,0,0,2,2,2,2,2,1,0,0,9"],
        &["--generate", "star:13", "--nodes", "5"],
        &["--generate", "star:1"],
        &["--generate", "irregpc2", "--unit", "65536", "--nodes", "8"],
        &["--generate", "irregpc2", "--unit", "65536", "--duplex", "half", "--split", "no"],
        &["--generate", "regular:20,7", "--nodes", "3", "--startup", "0"],
        &[&awkward, "--unit", "64", "--nodes", "2", "--startup", "10"],
        &[&awkward, "--ranks", "9", "--startup", "0"],
        &[&nothing, "--ranks", "3", "--nodes", "2"],
        &[&self_edges],
    ] {
        let checked = check(&exported(arguments));
        // the table shows the same algorithms and messages
        let table: Json = serde_json::from_str(&printed(&[&["schedule"], arguments, &["--json"]].concat())).unwrap();
        let shown: Vec<(String, usize)> = (list(&table["algorithms"]).iter())
            .map(|f| (f["algorithm"].as_str().unwrap().to_owned(), to_usize(number(&f["messages"]))))
            .collect();
        assert_eq!(checked, shown, "{arguments:?}");
        seen.extend(checked.into_iter().map(|c| c.0));
    }
    let all: BTreeSet<String> = mpix_neighbor::schedule::ALGORITHMS.iter().map(|e| e.name.to_owned()).collect();
    assert_eq!(seen, all);
}

/// The example of the docs comes to the same.
#[test]
fn the_script_of_the_docs_checks_too() {
    if Command::new("python3").arg("--version").output().is_err() {
        return;
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/check_schedule.py");
    let run = |export: &str| Command::new("python3").args([script, &file("script.json", export)]).output().unwrap();
    let export = printed(&["schedule", "--generate", "star:9", "--unit", "4096", "--nodes", "3", "--export", "-"]);
    let output = run(&export);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.lines().count() == 8, "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(!run(&export.replacen("{\"output\":0}", "{\"output\":1}", 1)).status.success());
}

/// The checker finds what is wrong: a message less, another target, a part that comes twice.
#[test]
fn the_checker_checks() {
    let export = exported(&["--generate", "irregpc2", "--unit", "65536", "--algorithm", "edge_coloring"]);
    let neighborhoods = list(&export["neighborhoods"]);
    let world = || list(&export["schedules"][0]["processes"]).to_vec();
    assert!(replay(neighborhoods, &world()).is_ok());
    let mut fewer = world();
    fewer[3]["rounds"].as_array_mut().unwrap().pop();
    assert!(replay(neighborhoods, &fewer).is_err());
    let operation = |op: &str, world: &mut [Json]| {
        let rounds = world[5]["rounds"].as_array_mut().unwrap();
        let operations = rounds.iter_mut().flat_map(|r| r["operations"].as_array_mut().unwrap());
        operations.into_iter().find(|o| o["op"] == op).map(Json::take).unwrap()
    };
    let mut other = world();
    operation("recv", &mut other);
    assert!(replay(neighborhoods, &other).is_err());
    let mut swapped = world();
    for (op, key) in [("send", "block"), ("recv", "into")] {
        let rounds = swapped[5]["rounds"].as_array_mut().unwrap();
        let place = rounds.iter_mut().flat_map(|r| r["operations"].as_array_mut().unwrap()).find(|o| o["op"] == op);
        let place = &mut place.unwrap()[key];
        let (kind, index) = self::place(place);
        *place = serde_json::json!({ kind: index ^ 1 });
        assert!(replay(neighborhoods, &swapped).is_err(), "{op}");
        swapped = world();
    }
}

#[test]
fn exports_go_to_files_too() {
    let path = file("export.json", "");
    let table = printed(&["schedule", "--generate", "grid:3x3", "--algorithm", "direct", "--export", &path]);
    assert!(table.contains("| direct "), "{table}");
    let export: Json = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(check(&export), [("direct".to_owned(), 24)]);
    assert!(export["nodes"].is_null());
    for (arguments, code, message) in [
        (&["--export", "-", "--json"][..], 2, "both write to standard output"),
        (&["--export", "no/such/dir/x.json"], 1, "no/such/dir/x.json: No such file"),
    ] {
        let all = [&["schedule", "--generate", "grid:3x3"], arguments].concat();
        let output = Command::new(env!("CARGO_BIN_EXE_mpix-neighbor")).args(all).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(code) && text.contains(message) && output.stdout.is_empty(), "{text}");
    }
}
