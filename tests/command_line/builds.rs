//! Levels in which parts are placed, fleets with several parts of a kind, and codes.

use super::*;
use warmpath::blueprint::{Blueprint, Part, PartId};
use warmpath::level::{Level, Shared};

/// A level whose fleet is to be built: a router before two replicas, or as many replicas as there are credits for.
const PLACING: &str = r#"(
    id: "built",
    title: "Built",
    brief: "A level to build a fleet for.",
    fleet: (traffic: [(name: "agents", sessions_per_s: 3, steps: 6, think_s: 0.5, unshared_base_tokens: 6000)]),
    budget: 40,
    open: ["router.affinity", "router.spill", "replica.slots"],
    seconds: 60,
    warmup_s: 5,
    seeds: [7, 8],
    goals: [
        (name: "KV hit rate", key: "hit_rate", at_least: 0.75),
        (name: "Failed calls", key: "rejected_total", at_most: 0),
    ],
    solution_fleet: (
        traffic: [(to: ["router"])],
        routers: [(name: "router", to: ["replicas"])],
        replicas: [(name: "replicas", count: 3)],
    ),
    solution: [("router.spill", 0)],
    decoys: [
        (name: "in turn", fleet: (traffic: [(to: ["replicas"])], replicas: [(name: "replicas", count: 4)])),
        (name: "beyond the budget", fleet: (
            traffic: [(to: ["router"])],
            routers: [(name: "router", to: ["replicas"])],
            replicas: [(name: "replicas", count: 5)],
        )),
    ],
)
"#;

const SOLUTION: &str = r#"// A build may begin with a comment /* or two */.
/* As here. */ (
    fleet: (
        traffic: [(to: ["router"])],
        routers: [(name: "router", to: ["replicas"])],
        replicas: [(name: "replicas", count: 3)],
    ),
    set: [("router.spill", 0), ("replica[2].slots", 16)],
)"#;

fn placing() -> (tempfile::TempDir, PathBuf) {
    file("built.ron", PLACING)
}

#[test]
fn a_build_wins_a_level_in_which_parts_are_placed() {
    let (_guard, level) = placing();
    let (_guard2, solution) = file("solution.ron", SOLUTION);
    let report = report(&["run", text(&level), "--solution", text(&solution), "--json"]);
    is_a_whole_report(&report);
    assert_eq!(report["passed"], true);
    assert_eq!(report["credits"], 8 + 3 * 10);
    assert_eq!(report["settings"]["replica[2].slots"], 16);
    let budget = report["goals"].as_array().unwrap().iter().find(|goal| goal["name"] == "Budget").unwrap();
    assert_eq!((&budget["target"], &budget["value"]), (&Value::from(40.0), &Value::from(38.0)));
}

/// An empty canvas is a lost attempt, not a bad file.
#[test]
fn as_it_is_given_it_is_lost_since_no_call_finds_a_way_onward() {
    let (_guard, level) = placing();
    let report = report(&["run", text(&level), "--json"]);
    is_a_whole_report(&report);
    assert_eq!(report["passed"], false);
    assert_eq!(report["rejected"]["no_way_onward"], report["sent"]);
    assert!(report["sent"].as_u64().unwrap() > 100);
}

#[test]
fn such_a_level_is_checked_like_any_other() {
    let (_guard, level) = placing();
    let out = done(&["check", text(&level)]);
    for word in ["as given", "in turn", "beyond the budget", "the solution", "credits 38"] {
        assert!(out.contains(word), "{word} is not in\n{out}");
    }
    let (_guard, level) = file("built.ron", PLACING.replace("at_least: 0.75", "at_least: 0.1"));
    let came = run(&["check", text(&level)]);
    assert_eq!(came.status, 1);
    let wrong: Vec<&str> = came.out.lines().filter(|line| line.contains("WRONG")).collect();
    assert!(wrong.len() == 1 && wrong[0].contains("in turn"), "{wrong:?}");
}

#[test]
fn locks_and_budget_bind_a_build() {
    let (_guard, level) = placing();
    for (from, to, says) in [
        ("count: 3", "count: 4", &["48 credits", "8 over the budget of 40"][..]),
        ("count: 3", "count: 200", &["takes 100 parts"]),
        ("count: 3", "count: 3, kv_tokens: 400000", &["kv_tokens", "locked"]),
        ("count: 3", "count: 3, size: \"huge\"", &["size", "huge"]),
        ("(name: \"router\",", "(name: \"router\", vcpu: 8,", &["router[0].vcpu", "locked"]),
        ("traffic: [(to", "traffic: [(steps: 2, to", &["traffic[0].steps", "locked"]),
        ("traffic: [(to: [\"router\"])]", "traffic: [(to: [\"router\"]), (to: [\"router\"])]", &["is given"]),
        ("traffic: [(to: [\"router\"])],", "", &["traffic", "missing"]),
        ("to: [\"replicas\"]", "to: [\"router\"]", &["router"]),
        ("\"router.spill\", 0", "\"router.vcpu\", 8", &["router.vcpu", "leaves open"]),
        ("\"router.spill\", 0", "\"replicas\", 8", &["replicas", "leaves open"]),
        ("set:", "sets:", &["sets"]),
        ("fleet: (", "fleet: [", &["solution.ron:"]),
    ] {
        assert!(SOLUTION.contains(from), "{from}");
        let (_guard, solution) = file("solution.ron", SOLUTION.replacen(from, to, 1));
        let error = refused(&["run", text(&level), "--solution", text(&solution)], &["solution.ron"]);
        for word in says {
            assert!(error.contains(word), "{word:?} is not in {error:?}");
        }
    }
    // `--set` may set anything, here as elsewhere.
    let (_guard, solution) = file("solution.ron", SOLUTION);
    report(&["run", text(&level), "--solution", text(&solution), "--set", "router.vcpu=8", "--json"]);
}

#[test]
fn a_level_whose_fleet_is_given_takes_no_other() {
    let (_guard, level) = level();
    let (_guard2, solution) = file("solution.ron", SOLUTION);
    refused(&["run", text(&level), "--solution", text(&solution)], &["solution.ron", "without a budget"]);
    // Nor does a replay, whose fleet is a router before replicas.
    let (_guard3, trace) = file("trace.jsonl", "");
    refused(&["replay", text(&trace), "--solution", text(&solution)], &["solution.ron"]);
    // But a build without a fleet is as good as a list.
    let (_guard4, list) = file("list.ron", r#"(set: [("router.affinity", 1)])"#);
    assert_eq!(run(&["run", text(&level), "--solution", text(&list), "--json"]).status, 0);
}

#[test]
fn a_level_is_no_larger_than_a_board() {
    for (from, to) in [
        ("think_s: 0.5, unshared_base_tokens: 6000)]", "think_s: 0.5)], replicas: [(count: 4096)]"),
        ("count: 4)])),", "count: 4096)])),"),
        ("count: 3)],\n    ),\n    solution:", "count: 4096)],\n    ),\n    solution:"),
    ] {
        assert!(PLACING.contains(from), "{from}");
        let (_guard, path) = file("built.ron", PLACING.replacen(from, to, 1));
        refused(&["check", text(&path)], &["built.ron:", "takes 100 parts"]);
    }
}

// --- Codes -------------------------------------------------------------------------------------------------------------

/// Two sources, a balancer, two routers and three replicas.
fn canvas() -> Shared {
    let mut blueprint = Blueprint::router_before(3);
    blueprint.traffics = vec![Default::default(); 2];
    blueprint.balancers.push(Default::default());
    blueprint.routers.push(Default::default());
    let [traffic, balancer, router, replica] = Part::ALL.map(|part| move |index| PartId::new(part, index));
    blueprint.links.extend([
        (traffic(0), balancer(0)),
        (traffic(1), router(1)),
        (balancer(0), router(0)),
        (balancer(0), router(1)),
        (router(1), replica(2)),
    ]);
    blueprint.traffics[1].steps = 3;
    blueprint.routers[1].spill = 2;
    blueprint.order_links();
    blueprint.stand_apart();
    Shared { level: Level::canvas(), blueprint }
}

#[test]
fn a_canvas_runs_by_its_code() {
    let code = canvas().to_code();
    let report = report(&["run", &code, "--json", "--seconds", "30"]);
    is_a_whole_report(&report);
    assert_eq!(report["level"], "canvas");
    assert_eq!((report["routers"].as_array().unwrap().len(), report["replicas"].as_array().unwrap().len()), (2, 3));
    assert!(report["answered"].as_u64().unwrap() > 100);
    assert_eq!(report["credits"], 3 + 2 * 8 + 3 * 10);
    assert!(report["passed"].is_null());
}

#[test]
fn keys_name_the_parts_of_a_canvas_and_the_plain_key_is_all_of_them() {
    let code = canvas().to_code();
    let settings = |set: &[&str]| {
        let mut arguments = vec!["run", code.as_str(), "--json", "--seconds", "2"];
        for text in set {
            arguments.extend(["--set", text]);
        }
        report(&arguments)["settings"].clone()
    };
    let plain = settings(&[]);
    assert_eq!((&plain["router.spill"], &plain["router[1].spill"]), (&Value::from(8), &Value::from(2)));
    assert_eq!((&plain["traffic.steps"], &plain["traffic[1].steps"]), (&Value::from(10), &Value::from(3)));
    let one = settings(&["router[1].spill=5", "traffic[0].steps=4", "balancer[0].policy=least-busy"]);
    assert_eq!((&one["router.spill"], &one["router[1].spill"]), (&Value::from(8), &Value::from(5)));
    assert_eq!((&one["traffic.steps"], &one["traffic[1].steps"]), (&Value::from(4), &Value::from(3)));
    assert_eq!(one["balancer.policy"], "least-busy");
    let all = settings(&["router.spill=7", "traffic.steps=6"]);
    assert_eq!((&all["router.spill"], &all["traffic.steps"]), (&Value::from(7), &Value::from(6)));
    assert!(all.get("router[1].spill").is_none() && all.get("traffic[1].steps").is_none());
    refused(&["run", &code, "--set", "router[2].spill=1"], &["router[2].spill", "0 to 1"]);
    refused(&["run", &code, "--set", "balancer[1].policy=least-busy"], &["balancer[1].policy"]);
}

#[test]
fn a_canvas_is_swept_by_its_code() {
    let code = canvas().to_code();
    let out = done(&["sweep", &code, "--vary", "router[1].spill=0,3", "--seconds", "5", "--quiet"]);
    let rows: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let spills: Vec<&Value> = rows.iter().map(|row| &row["set"]["router[1].spill"]).collect();
    assert_eq!(spills, [&Value::from(0), &Value::from(3)]);
}

#[test]
fn what_was_made_of_a_level_runs_by_its_code() {
    let level = Level::by_id("agents-on-a-budget").unwrap();
    let blueprint = level.built(&level.solution).unwrap();
    let solved = level.report(&blueprint, 1);
    let code = Shared { level, blueprint }.to_code();
    let by_code = report(&["run", &code, "--json"]);
    assert_eq!(by_code["digest"], solved.digest);
    assert_eq!(by_code["passed"], true);
    assert_eq!(report(&["run", "agents-on-a-budget", "--code", &code, "--json"]), by_code);
    refused(&["run", MORE_REPLICAS, "--code", &code], &["code", MORE_REPLICAS, "agents-on-a-budget"]);
}

#[test]
fn a_code_is_printed_of_what_a_player_can_have_made() {
    let code = done(&["code", "agents-on-a-budget", "--solved"]);
    let report = report(&["run", code.trim(), "--json"]);
    assert_eq!(report["passed"], true);
    let sticky = done(&["code", MORE_REPLICAS, "--set", "router.affinity=1"]);
    assert_eq!(self::report(&["run", sticky.trim(), "--json"])["settings"]["router.affinity"], 1);
    refused(&["code", MORE_REPLICAS, "--set", "traffic.shared=1"], &["traffic.shared", "locked"]);
    refused(&["code", "WP1-nonsense"], &["damaged"]);
}

/// `--code` goes with a level's file, too, whose id no other program knows.
#[test]
fn a_code_for_a_levels_file() {
    let (_guard, path) = placing();
    let level = Level::read(&path).unwrap();
    let blueprint = level.built(&level.solution).unwrap();
    let code = Shared { level, blueprint }.to_code();
    assert_eq!(report(&["run", text(&path), "--code", &code, "--json"])["passed"], true);
    refused(&["run", &code], &["built", MORE_REPLICAS]);
    // White space, such as that of a mail's lines, does not matter.
    let lines = code.as_bytes().chunks(20).map(|chunk| std::str::from_utf8(chunk).unwrap()).collect::<Vec<_>>();
    assert_eq!(report(&["run", text(&path), "--code", &lines.join("\r\n"), "--json"])["passed"], true);
}

#[test]
fn a_code_that_is_none_is_refused() {
    let code = canvas().to_code();
    for (wrong, says) in [
        ("WP1-", "damaged"),
        ("WP1-AAAA", "damaged"),
        (&code[..code.len() - 3], "damaged"),
        (&code.replacen("WP1-", "WP2-", 1), "WP1-"),
        (&format!("{code}!"), "damaged"),
        (&format!("WP1-{}", "A".repeat(70_000)), "65536"),
    ] {
        refused(&["run", wrong], &["code", says]);
        refused(&["run", "canvas", "--code", wrong], &["code", says]);
        refused(&["sweep", wrong, "--vary", "router.spill=1"], &["code", says]);
        refused(&["play", wrong], &[]);
    }
    refused(&["check", &code], &["found a code"]);
}

// --- Several parts of a kind -------------------------------------------------------------------------------------------

/// Each source has its own way: one through a balancer to either of two routers, one to the second router or past both.
const SEVERAL: &str = r#"(
    id: "several",
    title: "Several",
    brief: "A fleet with several parts of each kind.",
    fleet: (
        traffic: [
            (name: "first", sessions_per_s: 4, steps: 3, think_s: 0.2, to: ["front"]),
            (name: "second", sessions_per_s: 2, steps: 5, think_s: 0.2, to: ["back", "spare"]),
        ],
        balancers: [(name: "front", policy: "least-busy", to: ["left", "back"])],
        routers: [(name: "left", spill: 3, to: ["pool"]), (name: "back", policy: "round-robin", to: ["pool", "spare"])],
        replicas: [(name: "pool", count: 2), (name: "spare", size: "large", slots: 8)],
    ),
    seconds: 60,
    warmup_s: 5,
    seeds: [1],
    goals: [(name: "The second router's queue", key: "routers.1.max_waiting", at_most: 1000)],
)
"#;

#[test]
fn a_level_describes_any_fleet_and_keys_name_its_parts() {
    let (_guard, path) = file("several.ron", SEVERAL);
    let with = |set: &[&str]| {
        let mut arguments = vec!["run", text(&path), "--json"];
        for text in set {
            arguments.extend(["--set", text]);
        }
        report(&arguments)
    };
    let given = with(&[]);
    is_a_whole_report(&given);
    let settings = &given["settings"];
    for (key, value) in [
        ("traffic.steps", Value::from(3)),
        ("traffic[1].steps", Value::from(5)),
        ("balancer.policy", "least-busy".into()),
        ("router.spill", Value::from(3)),
        ("router[1].spill", Value::from(8)),
        ("router[1].policy", "round-robin".into()),
        ("replicas", Value::from(3)),
        ("replica[2].slots", Value::from(8)),
        ("replica[2].kv_tokens", Value::from(600_000)),
        ("replica[2].prefill_tokens_per_s", Value::from(40_000)),
    ] {
        assert_eq!(settings[key], value, "{key}");
    }
    assert!(given["replicas"].as_array().unwrap().iter().all(|replica| replica["answered"].as_u64() > Some(0)));
    assert_eq!(given["balancers"].as_array().unwrap().len(), 1);
    // One part alone, and all of a kind.
    let changed = with(&["traffic[0].steps=9", "router.vcpu=2"]);
    assert_eq!(
        (&changed["settings"]["traffic.steps"], &changed["settings"]["traffic[1].steps"]),
        (&9.into(), &5.into())
    );
    assert_eq!(changed["settings"]["router.vcpu"], 2);
    assert!(changed["settings"].get("router[1].vcpu").is_none());
    assert!(changed["sent"].as_u64() > given["sent"].as_u64());
    let swept = done(&["sweep", text(&path), "--vary", "traffic[1].sessions_per_s=1,8", "--csv", "--quiet"]);
    assert!(swept.lines().next().unwrap().contains("set.traffic[1].sessions_per_s"), "{swept:.200}");
    for (key, says) in [
        ("traffic[2].steps=1", "0 to 1"),
        ("balancer[1].policy=least-busy", "0 to 0"),
        ("router[2].spill=1", "0 to 1"),
        ("replica[3].slots=1", "0 to 2"),
    ] {
        refused(&["run", text(&path), "--set", key], &[key.split('=').next().unwrap(), says]);
    }
}
