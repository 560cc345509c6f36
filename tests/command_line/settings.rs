//! `--set`: every key, its range, its order, and how a wrong one is named.

use super::*;
use warmpath::blueprint::{Kind, Part, Setting, Value as Number, settings_of};

/// A short run of the small level with these settings.
fn with<'a>(path: &'a str, set: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["run", path, "--json", "--seconds", "2", "--warmup", "0"];
    for text in set {
        arguments.extend(["--set", text]);
    }
    arguments
}

/// The settings of the kinds of part that the small level has.
fn settings() -> impl Iterator<Item = &'static Setting> {
    [Part::Traffic, Part::Router, Part::Replica].into_iter().flat_map(settings_of)
}

/// The table of keys and ranges as `cli.md` has it, written down here once more: lowest, highest, and what is too much.
const RANGES: &[(&str, &str, &str, &str, &str)] = &[
    ("router.slots", "1", "1e6", "0", "1000001"),
    ("router.queue", "0", "1e7", "-1", "10000001"),
    ("router.vcpu", "1", "1024", "0", "1025"),
    ("router.cpu_ms", "0", "1e6", "-0.1", "1000001"),
    ("router.p50_ms", "0", "20", "-0.1", "1000001"),
    ("router.p99_ms", "5", "1e6", "4.9", "1000001"),
    ("router.restart_s", "0", "1e5", "-1", "100001"),
    ("router.affinity", "0", "1", "-0.1", "1.1"),
    ("router.spill", "0", "1e7", "-1", "10000001"),
    ("router.prefix_hit", "0", "1", "-0.1", "1.1"),
    ("replicas", "1", "4096", "0", "4097"),
    ("replica.slots", "1", "1e6", "0", "1000001"),
    ("replica.queue", "0", "1e7", "-1", "10000001"),
    ("replica.kv_tokens", "1", "1e12", "0", "1000000000001"),
    ("replica.prefill_base_ms", "0", "1e6", "-1", "1000001"),
    ("replica.prefill_tokens_per_s", "0.001", "1e9", "0", "1000000001"),
    ("replica.decode_base_ms", "0", "1e6", "-1", "1000001"),
    ("replica.decode_per_call_ms", "0", "1e6", "-1", "1000001"),
    ("traffic.sessions_per_s", "0.001", "2000", "0", "100001"),
    ("traffic.steps", "1", "1e4", "0", "10001"),
    ("traffic.think_s", "0", "1e6", "-1", "1000001"),
    ("traffic.shared", "0", "1", "-0.1", "1.1"),
    ("traffic.shared_tokens", "0", "1e7", "-1", "10000001"),
    ("traffic.base_tokens", "0", "1e7", "-1", "10000001"),
    ("traffic.unshared_base_tokens", "0", "1e7", "-1", "10000001"),
    ("traffic.input_tokens", "1", "1e7", "0", "10000001"),
    ("traffic.output_tokens", "1", "1e7", "0", "10000001"),
    ("traffic.timeout_s", "0", "1e6", "-1", "1000001"),
];

#[test]
fn every_key_takes_the_ends_of_its_range() {
    let (_guard, path) = level();
    for (key, lowest, highest, ..) in RANGES {
        for value in [lowest, highest] {
            // Far more calls than a test has time for are left out: the range is the point, and a tenth of a second.
            let set = format!("{key}={value}");
            let mut arguments = with(text(&path), &[&set]);
            arguments[4] = "0.1";
            let report = report(&arguments);
            assert_eq!(report["settings"][key].as_f64(), Some(value.parse().unwrap()), "{set}");
        }
    }
}

#[test]
fn every_key_refuses_what_is_out_of_its_range_and_says_so() {
    let (_guard, path) = level();
    for (key, _, _, low, high) in RANGES {
        for value in [low, high, &"nan", &"many", &""] {
            refused(&with(text(&path), &[&format!("{key}={value}")]), &[key, "expected"]);
        }
    }
    for setting in settings().filter(|setting| matches!(setting.kind, Kind::Count(..))) {
        refused(&with(text(&path), &[&format!("{}=2.5", setting.key)]), &[setting.key, "whole number"]);
    }
}

#[test]
fn the_list_of_ranges_here_is_complete() {
    let listed: Vec<&str> = RANGES.iter().map(|row| row.0).collect();
    for setting in settings() {
        let word = matches!(setting.default, Number::Word(_));
        assert!(word || listed.contains(&setting.key), "{}", setting.key);
    }
}

#[test]
fn every_policy_word_is_taken_and_another_is_refused_with_the_list() {
    let (_guard, path) = level();
    for policy in ["sticky-spill", "round-robin", "random", "least-busy"] {
        let set = format!("router.policy={policy}");
        assert_eq!(report(&with(text(&path), &[&set]))["settings"]["router.policy"], policy);
    }
    refused(&with(text(&path), &["router.policy=best"]), &["router.policy", "sticky-spill", "least-busy", "best"]);
}

#[test]
fn sticky_spill_without_affinity_has_the_digest_of_round_robin() {
    let (_guard, path) = level();
    let sticky = report(&with(text(&path), &["router.policy=sticky-spill", "router.affinity=0"]));
    let round_robin = report(&with(text(&path), &["router.policy=round-robin"]));
    assert_eq!(sticky["digest"], round_robin["digest"]);
}

#[test]
fn settings_are_applied_in_order_and_checked_at_the_end() {
    let (_guard, path) = level();
    let report = report(&with(text(&path), &["router.slots=0", "router.slots=9", "router.slots=11"]));
    assert_eq!(report["settings"]["router.slots"], 11);
    // 30 ms is above the p99 of 20 ms until that is set, too.
    refused(&with(text(&path), &["router.p50_ms=30"]), &["router.p99_ms", "30"]);
    done(&[
        "run",
        text(&path),
        "--quiet",
        "--set",
        "router.affinity=1",
        "--set",
        "router.p50_ms=30",
        "--set",
        "router.p99_ms=40",
    ]);
    refused(&with(text(&path), &["router.slots=9", "router.slots=0"]), &["router.slots"]);
}

#[test]
fn an_unknown_key_is_named_with_those_that_are_known() {
    let (_guard, path) = level();
    for key in
        ["router.nonsense", "nonsense", "router", "router.", ".slots", "Router.slots", "replica[0].", "router[].slots"]
    {
        refused(&with(text(&path), &[&format!("{key}=1")]), &[key]);
    }
    refused(&with(text(&path), &["router.slotz=1"]), &["router.slots"]);
    for text_ in ["router.slots", "=3", ""] {
        refused(&with(text(&path), &[text_]), &["KEY=VALUE"]);
    }
}

#[test]
fn replicas_come_and_go_and_one_of_them_can_be_set() {
    let (_guard, path) = level();
    let report_of = |set: &[&str]| report(&with(text(&path), set));
    let eight = report_of(&["replicas=8"]);
    assert_eq!(eight["replicas"].as_array().unwrap().len(), 8);
    assert_eq!(eight["settings"]["replicas"], 8);
    assert_eq!(eight["credits"], 40, "four were added, ten credits each");
    assert_eq!(report_of(&["replicas=2"])["replicas"].as_array().unwrap().len(), 2);
    let one = report_of(&["replica[3].slots=5"]);
    assert_eq!((&one["settings"]["replica.slots"], &one["settings"]["replica[3].slots"]), (&32.into(), &5.into()));
    // The fourth is the last; a fifth is there once it was asked for.
    refused(&with(text(&path), &["replica[4].slots=5"]), &["replica[4].slots", "0 to 3"]);
    report_of(&["replicas=5", "replica[4].slots=5"]);
    refused(&with(text(&path), &["replica[4].slots=5", "replicas=5"]), &["replica[4].slots"]);
    refused(&with(text(&path), &["balancer.policy=least-busy"]), &["balancer"]);
}

#[test]
fn parts_of_a_kind_are_set_together_by_the_plain_key_or_one_by_its_index() {
    let two = LEVEL.replacen(r#"to: ["router"]"#, r#"to: ["one", "two"]"#, 1).replacen(
        r#"routers: [(name: "router", affinity: 0, spill: 0, to: ["replicas"])]"#,
        r#"routers: [(name: "one", affinity: 0, to: ["replicas"]), (name: "two", affinity: 0, to: ["replicas"])]"#,
        1,
    );
    let (_guard, path) = file("two.ron", two);
    let report = report(&with(text(&path), &["router.queue=7", "router[1].spill=3"]));
    let settings = &report["settings"];
    assert_eq!((&settings["router.queue"], settings.get("router[1].queue")), (&7.into(), None));
    assert_eq!((&settings["router.spill"], &settings["router[1].spill"]), (&8.into(), &3.into()));
    assert_eq!(report["routers"].as_array().unwrap().len(), 2);
    is_a_whole_report(&report);
}
