//! `warmpath run`.

use super::*;

#[test]
fn a_level_that_comes_with_the_program_runs_by_its_id() {
    let report = report(&["run", MORE_REPLICAS, "--json", "--seconds", "60", "--warmup", "10"]);
    is_a_whole_report(&report);
    assert_eq!(report["level"], MORE_REPLICAS);
    assert_eq!((report["seconds"].as_f64(), report["warmup_s"].as_f64()), (Some(60.0), Some(10.0)));
    assert!(report["sent"].as_u64().unwrap() > 100);
}

#[test]
fn the_same_level_runs_by_its_path_to_the_same_report() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/levels/more-replicas-slower-answers.ron");
    let options = ["--json", "--seconds", "30", "--warmup", "5"];
    let by_path = run(&[&["run", path][..], &options].concat());
    let by_id = run(&[&["run", MORE_REPLICAS][..], &options].concat());
    assert_eq!(by_path.out, by_id.out);
}

#[test]
fn exit_status_one_and_zero_say_whether_the_goals_are_met() {
    let (_guard, path) = level();
    let lost = run(&["run", text(&path), "--json"]);
    assert_eq!(lost.status, 1);
    let lost: Value = serde_json::from_str(&lost.out).unwrap();
    assert_eq!(lost["passed"], false);
    assert_eq!(lost["goals"][0]["met"], false);
    assert_eq!(lost["goals"][0]["value"], lost["hit_rate"]);
    assert_eq!(lost["goals"][0]["target"], 0.6);
    let won = run(&["run", text(&path), "--json", "--set", "router.affinity=1"]);
    assert_eq!(won.status, 0);
    assert_eq!(serde_json::from_str::<Value>(&won.out).unwrap()["passed"], true);
}

#[test]
fn a_level_without_goals_has_no_verdict_and_is_done() {
    let start = LEVEL.find("    goals:").unwrap();
    let end = LEVEL.find("    margin:").unwrap();
    let (_guard, path) = file("level.ron", format!("{}{}", &LEVEL[..start], &LEVEL[end..]));
    let came = run(&["run", text(&path), "--json"]);
    assert_eq!(came.status, 0);
    let report: Value = serde_json::from_str(&came.out).unwrap();
    assert!(report["passed"].is_null());
    assert_eq!(report["goals"], Value::Array(Vec::new()));
    is_a_whole_report(&report);
}

#[test]
fn a_goal_without_a_value_is_not_met() {
    // Nobody comes in a tenth of a second: there is no hit rate.
    let (_guard, path) = level_with("sessions_per_s: 4", "sessions_per_s: 0.001");
    let report = report(&["run", text(&path), "--json", "--seconds", "0.1", "--warmup", "0"]);
    assert!(report["hit_rate"].is_null() && report["ttft_ms"]["p50"].is_null() && report["jain"].is_null());
    assert_eq!(report["ttft_ms"]["count"], 0);
    assert_eq!(report["goals"][0]["met"], false);
    is_a_whole_report(&report);
}

#[test]
fn the_seed_is_the_levels_first_unless_told_otherwise() {
    let (_guard, path) = level();
    let given = report(&["run", text(&path), "--json"]);
    assert_eq!(given["seed"], 7);
    let same = report(&["run", text(&path), "--json", "--seed", "7"]);
    assert_eq!(given, same);
    let other = report(&["run", text(&path), "--json", "--seed", "8"]);
    assert_ne!(given["digest"], other["digest"]);
    let far = report(&["run", text(&path), "--json", "--seed", "18446744073709551615"]);
    assert_eq!(far["seed"], u64::MAX);
}

#[test]
fn without_json_there_is_a_table_to_read_and_quiet_prints_nothing() {
    let (_guard, path) = level();
    let table = run(&["run", text(&path)]);
    assert_eq!((table.status, table.err.as_str()), (1, ""));
    for word in ["small", "KV hit rate", "TTFT", "replica 3", "NOT MET"] {
        assert!(table.out.contains(word), "{word} is not in\n{}", table.out);
    }
    assert!(serde_json::from_str::<Value>(&table.out).is_err());
    let quiet = run(&["run", text(&path), "--quiet"]);
    assert_eq!((quiet.status, quiet.out.as_str(), quiet.err.as_str()), (1, "", ""));
    // The object is still printed where it is asked for.
    assert!(report(&["run", text(&path), "--quiet", "--json"]).is_object());
}

#[test]
fn length_and_warm_up_have_their_ranges() {
    let (_guard, path) = level();
    for (seconds, warmup) in [("0", "0"), ("-1", "0"), ("1e8", "0"), ("nan", "0"), ("inf", "0")] {
        refused(&["run", text(&path), "--seconds", seconds, "--warmup", warmup], &["--seconds", "1"]);
    }
    for (seconds, warmup) in [("10", "10"), ("10", "11"), ("10", "-1"), ("10", "nan")] {
        refused(&["run", text(&path), "--seconds", seconds, "--warmup", warmup], &["--warmup"]);
    }
    // The level's own warm-up of 5 s is no longer below.
    refused(&["run", text(&path), "--seconds", "5"], &["--warmup"]);
    report(&["run", text(&path), "--json", "--seconds", "5.5"]);
}

#[test]
fn what_clap_refuses_ends_with_two() {
    for arguments in [
        &["run"][..],
        &["run", MORE_REPLICAS, "--seed", "-1"],
        &["run", MORE_REPLICAS, "--seed", "x"],
        &["run", MORE_REPLICAS, "--seconds", "many"],
        &["run", MORE_REPLICAS, "--nonsense"],
        &["walk", MORE_REPLICAS],
        &["sweep", MORE_REPLICAS],
        &["check"],
        &["replay"],
        &["shot", MORE_REPLICAS],
    ] {
        let came = run(arguments);
        assert_eq!((came.status, came.out.as_str()), (2, ""), "{arguments:?}");
        assert!(!came.err.is_empty());
    }
}

#[test]
fn help_and_version_are_there() {
    assert!(done(&["--help"]).contains("replay"));
    assert!(done(&["run", "--help"]).contains("--solution"));
    assert!(done(&["--version"]).contains(env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_level_that_is_not_there_is_named_with_those_that_are() {
    refused(&["run", "no-such-level"], &["no-such-level", MORE_REPLICAS]);
    refused(&["run", "levels/none.ron"], &["levels/none.ron"]);
    let folder = tempfile::tempdir().unwrap();
    refused(&["run", text(folder.path())], &[text(folder.path())]);
    let (_guard, path) = file("level.ron", [0xff, 0xfe, 0x00]);
    refused(&["run", text(&path)], &["level.ron", "UTF-8"]);
    let (_guard, path) = file("level.ron", vec![b' '; (1 << 20) + 1]);
    refused(&["run", text(&path)], &["level.ron"]);
}

// --- --solution --------------------------------------------------------------------------------------------------------

#[test]
fn a_solution_file_wins_the_level() {
    let (_guard, path) = level();
    for (name, solution) in [
        ("list.ron", r#"[("router.affinity", 1)]"#),
        ("map.ron", r#"{"router.affinity": 1.0, "router.spill": 4}"#),
        ("indexed.ron", r#"[("router[0].affinity", 1), ("replicas", 4)]"#),
    ] {
        let (_guard, solution) = file(name, solution);
        let came = run(&["run", text(&path), "--solution", text(&solution), "--json"]);
        assert_eq!(came.status, 0, "{name}: {}", came.err);
    }
}

#[test]
fn set_comes_over_the_solution() {
    let (_guard, path) = level();
    let (_guard2, solution) = file("solution.ron", r#"[("router.affinity", 1)]"#);
    let lost = ["run", text(&path), "--solution", text(&solution), "--set", "router.affinity=0", "--json"];
    assert_eq!(run(&lost).status, 1);
}

#[test]
fn a_solution_is_bound_by_the_levels_locks_and_set_is_not() {
    let (_guard, path) = level();
    for locked in ["router.slots", "replica.kv_tokens", "traffic.steps", "replica[1].slots"] {
        let (_guard, solution) = file("solution.ron", format!(r#"[("router.affinity", 1), ("{locked}", 5000)]"#));
        refused(&["run", text(&path), "--solution", text(&solution)], &["solution.ron", locked, "router.affinity"]);
    }
    report(&["run", text(&path), "--set", "router.slots=5000", "--json"]);
}

#[test]
fn a_solution_that_is_none_is_refused_with_its_place() {
    let (_guard, path) = level();
    for (solution, says) in [
        ("[(\"router.affinity\", 1)\n", ":1:"),
        ("[(\"router.affinity\", 1)]]", ":1:"),
        ("[\n  (\"router.affinity\"),\n]", ":2:"),
        ("[(\"router.affinity\", true)]", ":1:"),
        ("\"router.affinity\"", ":1:"),
        ("", ":1:"),
        ("[(\"router.affinity\", 2)]", "router.affinity"),
        ("[(\"router.affinity\", \"much\")]", "router.affinity"),
        ("[(\"router.nonsense\", 1)]", "router.nonsense"),
    ] {
        let (_guard, file) = file("solution.ron", solution);
        refused(&["run", text(&path), "--solution", text(&file)], &["solution.ron", says]);
    }
    refused(&["run", text(&path), "--solution", "no/such/file.ron"], &["no/such/file.ron"]);
}
