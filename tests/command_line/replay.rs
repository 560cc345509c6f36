//! `warmpath replay`.

use super::*;

fn line(timestamp: u64, tokens: u64, output: u64, ids: &[u64]) -> String {
    format!(
        "{{\"timestamp\": {timestamp}, \"input_length\": {tokens}, \"output_length\": {output}, \"hash_ids\": {ids:?}}}\n"
    )
}

/// Three calls; the third continues the first.
fn good() -> String {
    [line(0, 600, 10, &[1, 2]), line(1_000, 100, 5, &[3]), line(9_000, 1_500, 20, &[1, 4, 5])].concat()
}

#[test]
fn a_trace_is_replayed_to_its_last_call() {
    let (_guard, path) = file("trace.jsonl", good());
    let report = report(&["replay", text(&path), "--json"]);
    is_a_whole_report(&report);
    assert_eq!((&report["sent"], &report["answered"], &report["in_flight"]), (&3.into(), &3.into(), &0.into()));
    assert_eq!(report["prompt_tokens"], 2_200);
    assert_eq!(report["replicas"].as_array().unwrap().len(), 8);
    assert!(report["passed"].is_null());
    assert_eq!((report["warmup_s"].as_f64(), report["tasks_done"].as_u64()), (Some(0.0), Some(0)));
    let seconds = report["seconds"].as_f64().unwrap();
    assert!((9.0..20.0).contains(&seconds), "it ends with its last call: {seconds}");
}

#[test]
fn the_fleet_of_a_replay_is_set_by_router_and_replica_keys() {
    let (_guard, path) = file("trace.jsonl", good());
    let arguments = ["replay", text(&path), "--json", "--set", "replicas=1", "--set", "router.affinity=0", "--set"];
    let report_ = report(&[&arguments[..], &["replica.kv_tokens=1e6"]].concat());
    assert_eq!((&report_["hit_tokens"], &report_["settings"]["replicas"]), (&512.into(), &1.into()));
    let report_ = report(&[&arguments[..], &["replica.kv_tokens=1519"]].concat());
    assert_eq!(report_["rejected"]["prompt_too_large"], 1);
    for key in ["traffic.steps=3", "traffic[0].steps=3"] {
        refused(&["replay", text(&path), "--set", key], &[key.split('=').next().unwrap()]);
    }
    refused(&["replay", text(&path), "--set", "router.slots=0"], &["router.slots"]);
    refused(&["replay", text(&path), "--set", "replica[8].slots=3"], &["replica[8].slots"]);
}

#[test]
fn a_replay_can_be_cut_and_warmed_up_and_seeded() {
    let (_guard, path) = file("trace.jsonl", good());
    let report_ = report(&["replay", text(&path), "--json", "--seconds", "5", "--warmup", "0.5", "--seed", "9"]);
    assert_eq!((&report_["sent"], &report_["seed"]), (&1.into(), &9.into()));
    assert_eq!((report_["seconds"].as_f64(), report_["warmup_s"].as_f64()), (Some(5.0), Some(0.5)));
    refused(&["replay", text(&path), "--seconds", "0"], &["--seconds"]);
    refused(&["replay", text(&path), "--seconds", "5", "--warmup", "5"], &["--warmup"]);
}

#[test]
fn a_table_is_printed_without_json() {
    let (_guard, path) = file("trace.jsonl", good());
    let table = done(&["replay", text(&path)]);
    assert!(table.contains("trace.jsonl") && table.contains("3 sent"), "{table}");
    assert_eq!(done(&["replay", text(&path), "--quiet"]), "");
}

#[test]
fn a_bad_line_is_named_by_its_number_and_nothing_is_reported() {
    let bad = [
        "not json\n".to_owned(),
        "{}\n".into(),
        "[]\n".into(),
        "null\n".into(),
        line(2_000, 100, 5, &[]),
        line(2_000, 600, 5, &[1]),
        line(2_000, 100, 5, &[1, 2]),
        line(2_000, 0, 5, &[]),
        line(2_000, 100, 5, &[3]).replace("100", "-100"),
        line(2_000, 100, 5, &[3]).replace("100", "100.5"),
        line(2_000, 100, 5, &[3]).replace("100", "\"100\""),
        line(2_000, 100, 5, &[3]).replace("100", "1e300"),
        line(2_000, 100, 5, &[3]).replace("hash_ids", "ids"),
        line(2_000, 100, 5, &[3]).replace("2000", "99999999999999999999"),
        line(2_000, 100, 5, &[3]).replace("}", ""),
        "{\"timestamp\": 2000,".into(),
        format!("{}\n", "x".repeat(2_000_000)),
        "\u{0}\u{1}\n".into(),
    ];
    for bad in bad {
        // As the third line, after an empty one, and again at the end of the file without a newline.
        let (_guard, path) =
            file("trace.jsonl", format!("{}\n{bad}{}", line(0, 600, 10, &[1, 2]), line(9_000, 1, 1, &[7])));
        refused(&["replay", text(&path), "--json"], &["trace.jsonl", "line 3"]);
        let (_guard, path) = file("trace.jsonl", format!("{}{}", good(), bad.trim_end()));
        refused(&["replay", text(&path)], &["trace.jsonl", "line 4"]);
    }
    let (_guard, path) = file("trace.jsonl", [good().as_bytes(), &[0xff, 0xfe, b'\n']].concat());
    refused(&["replay", text(&path)], &["trace.jsonl", "line 4"]);
}

#[test]
fn a_timestamp_that_goes_backwards_is_named_by_its_line() {
    let trace = [line(5_000, 1, 1, &[1]), line(5_000, 1, 1, &[2]), line(4_999, 1, 1, &[3])].concat();
    let (_guard, path) = file("trace.jsonl", trace);
    refused(&["replay", text(&path)], &["trace.jsonl", "line 3", "5000", "4999"]);
}

#[test]
fn an_empty_trace_is_a_report_of_nothing() {
    for content in ["", "\n", "\n\n  \n"] {
        let (_guard, path) = file("trace.jsonl", content);
        let report = report(&["replay", text(&path), "--json"]);
        assert_eq!(report["sent"], 0);
        assert!(report["hit_rate"].is_null() && report["ttft_ms"]["max"].is_null());
        is_a_whole_report(&report);
    }
}

#[test]
fn a_trace_that_is_not_there_is_named() {
    refused(&["replay", "no/such/trace.jsonl"], &["no/such/trace.jsonl"]);
    let folder = tempfile::tempdir().unwrap();
    refused(&["replay", text(folder.path())], &[text(folder.path())]);
}

#[test]
fn the_same_replay_twice_is_the_same_and_lines_may_end_as_on_windows() {
    let (_guard, path) = file("trace.jsonl", good());
    let (_guard2, windows) = file("trace.jsonl", good().replace('\n', "\r\n"));
    let digest = |path: &Path| report(&["replay", text(path), "--json"])["digest"].clone();
    assert_eq!(digest(&path), digest(&path));
    assert_eq!(digest(&path), digest(&windows));
}

#[test]
fn the_recorded_hour_is_replayed_where_it_is_there() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/traces/conversation_trace.jsonl");
    if !Path::new(path).exists() {
        println!("skipped: there is no recorded trace at {path}");
        return;
    }
    let report = report(&["replay", path, "--json"]);
    is_a_whole_report(&report);
    let lines = std::fs::read_to_string(path).unwrap().lines().count() as u64;
    assert_eq!((report["sent"].as_u64(), report["answered"].as_u64()), (Some(lines), Some(lines)));
}
