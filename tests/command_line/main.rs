//! The command line as a person uses it: every command of `cli.md` on the built binary, with good input and bad.

#![allow(clippy::unwrap_used, missing_docs)]

mod builds;
mod check;
mod replay;
mod run;
mod settings;
mod sweep;
mod window;

use assert_cmd::Command;
use serde_json::Value;
use std::path::{Path, PathBuf};

pub const MORE_REPLICAS: &str = "more-replicas-slower-answers";

/// The program, with these arguments.
pub fn warmpath(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warmpath"));
    command.args(arguments).env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").env_remove("WAYLAND_SOCKET");
    command
}

/// What came of a command.
#[derive(Debug)]
pub struct Came {
    pub status: i32,
    pub out: String,
    pub err: String,
}

pub fn run(arguments: &[&str]) -> Came {
    let output = warmpath(arguments).output().unwrap();
    Came {
        status: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A command that is done, with nothing on standard error: what it printed.
#[track_caller]
pub fn done(arguments: &[&str]) -> String {
    let came = run(arguments);
    assert_eq!((came.status, came.err.as_str()), (0, ""), "{arguments:?}");
    came.out
}

/// A command whose input is wrong: status 2, nothing on standard output, one line on standard error, which says all this.
#[track_caller]
pub fn refused(arguments: &[&str], says: &[&str]) -> String {
    let came = run(arguments);
    assert_eq!((came.status, came.out.as_str()), (2, ""), "{arguments:?}: {}", came.err);
    assert_eq!(came.err.matches('\n').count(), 1, "one line: {:?}", came.err);
    assert!(came.err.ends_with('\n'));
    for word in says {
        assert!(came.err.contains(word), "{word:?} is not in {:?}", came.err);
    }
    came.err
}

/// One JSON object and nothing else, whatever the exit status of 0 or 1.
#[track_caller]
pub fn report(arguments: &[&str]) -> Value {
    let came = run(arguments);
    assert!(came.status == 0 || came.status == 1, "{arguments:?}: {came:?}");
    assert_eq!(came.err, "");
    assert_eq!(came.out.matches('\n').count(), 1, "one object on one line");
    let report: Value = serde_json::from_str(&came.out).unwrap();
    assert!(report.is_object());
    report
}

/// A file of this content in a folder of its own, which is there as long as the guard is.
pub fn file(name: &str, content: impl AsRef<[u8]>) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    (folder, path)
}

pub fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A small level that is quick to run: two goals, of which the first needs sticky routing.
pub const LEVEL: &str = r#"(
    id: "small",
    title: "Small",
    brief: "A small level.",
    fleet: (
        traffic: [(name: "agents", sessions_per_s: 4, steps: 6, think_s: 0.5, to: ["router"])],
        routers: [(name: "router", affinity: 0, spill: 0, to: ["replicas"])],
        replicas: [(name: "replicas", count: 4)],
    ),
    open: ["router.affinity", "router.spill", "replicas"],
    seconds: 60,
    warmup_s: 5,
    seeds: [7, 8],
    goals: [
        (name: "KV hit rate", key: "hit_rate", at_least: 0.6),
        (name: "Failed calls", key: "rejected_total", at_most: 0),
    ],
    margin: (name: "KV hit rate", key: "hit_rate", at_least: 0.99),
    hints: ["Look."],
    debrief: "Sticky.",
    solution: [("router.affinity", 1)],
    decoys: [(name: "more replicas", set: [("replicas", 8)])],
)
"#;

/// The small level, changed in one place.
#[track_caller]
pub fn level_with(from: &str, to: &str) -> (tempfile::TempDir, PathBuf) {
    assert!(LEVEL.contains(from), "{from}");
    file("level.ron", LEVEL.replacen(from, to, 1))
}

pub fn level() -> (tempfile::TempDir, PathBuf) {
    file("level.ron", LEVEL)
}

/// Every key of the report that `cli.md` names is there, and what must add up adds up.
#[track_caller]
pub fn is_a_whole_report(report: &Value) {
    let keys = [
        "level",
        "seed",
        "seconds",
        "warmup_s",
        "settings",
        "sent",
        "answered",
        "rejected",
        "in_flight",
        "hit_tokens",
        "prompt_tokens",
        "hit_rate",
        "warm_calls",
        "spills",
        "router_crashes",
        "ttft_ms",
        "latency_ms",
        "task_s",
        "tasks_done",
        "tasks_failed",
        "throughput_rps",
        "jain",
        "credits",
        "replicas",
        "routers",
        "router",
        "balancers",
        "goals",
        "passed",
        "events",
        "digest",
    ];
    for key in keys {
        assert!(report.get(key).is_some(), "{key}");
    }
    let reasons = [
        "router_queue_full",
        "router_down",
        "router_crashed",
        "replica_queue_full",
        "prompt_too_large",
        "timed_out",
        "no_way_onward",
    ];
    let rejected: u64 = reasons.iter().map(|reason| report["rejected"][reason].as_u64().unwrap()).sum();
    assert_eq!(report["rejected"].as_object().unwrap().len(), reasons.len());
    let count = |key: &str| report[key].as_u64().unwrap();
    assert_eq!(count("sent"), count("answered") + rejected + count("in_flight"));
    for distribution in ["ttft_ms", "latency_ms", "task_s"] {
        for key in ["p50", "p90", "p95", "p99", "mean", "max", "count"] {
            assert!(report[distribution].get(key).is_some(), "{distribution}.{key}");
        }
    }
    for replica in report["replicas"].as_array().unwrap() {
        let keys = [
            "answered",
            "prefill_busy",
            "mean_running",
            "mean_waiting",
            "max_waiting",
            "hit_tokens",
            "prompt_tokens",
            "evicted_tokens",
            "cached_tokens",
        ];
        assert!(keys.iter().all(|key| replica.get(key).is_some()), "{replica}");
    }
    let sum = |key: &str| report["replicas"].as_array().unwrap().iter().map(|r| r[key].as_u64().unwrap()).sum::<u64>();
    for key in ["answered", "hit_tokens", "prompt_tokens"] {
        assert_eq!(sum(key), count(key), "{key}");
    }
    for router in report["routers"].as_array().unwrap() {
        assert!(["max_waiting", "cpu_busy", "slots_mean"].iter().all(|key| router.get(key).is_some()), "{router}");
    }
    assert_eq!(report["router"], report["routers"].get(0).cloned().unwrap_or_default());
    for goal in report["goals"].as_array().unwrap() {
        assert!(["name", "target", "value", "met"].iter().all(|key| goal.get(key).is_some()), "{goal}");
    }
    let digest = report["digest"].as_str().unwrap();
    assert!(!digest.is_empty() && digest.bytes().all(|byte| byte.is_ascii_hexdigit()), "{digest}");
    // Every key of the settings can be set to what it says.
    for (key, value) in report["settings"].as_object().unwrap() {
        warmpath::blueprint::Address::parse(key).unwrap();
        assert!(value.is_number() || value.is_string(), "{key}");
    }
}
