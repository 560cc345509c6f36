//! `warmpath sweep`.

use super::*;

fn rows(arguments: &[&str]) -> Vec<Value> {
    done(arguments).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

const SHORT: [&str; 4] = ["--seconds", "10", "--warmup", "1"];

fn sweep<'a>(path: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["sweep", path][..], more, &SHORT].concat()
}

#[test]
fn a_row_each_for_the_product_the_last_key_fastest() {
    let (_guard, path) = level();
    let rows = rows(&sweep(text(&path), &["--vary", "router.affinity=0,0.5,1", "--vary", "replicas=2,4"]));
    let set: Vec<(f64, u64)> = rows
        .iter()
        .map(|row| (row["set"]["router.affinity"].as_f64().unwrap(), row["set"]["replicas"].as_u64().unwrap()))
        .collect();
    assert_eq!(set, [(0.0, 2), (0.0, 4), (0.5, 2), (0.5, 4), (1.0, 2), (1.0, 4)]);
    for row in &rows {
        is_a_whole_report(row);
        assert_eq!(row["settings"]["replicas"], row["set"]["replicas"]);
        assert_eq!(row["seed"], 7);
    }
}

#[test]
fn a_row_is_the_report_of_run_with_these_settings() {
    let (_guard, path) = level();
    let mut row =
        rows(&sweep(text(&path), &["--vary", "router.affinity=1", "--set", "router.spill=2", "--seed", "4"])).remove(0);
    let arguments =
        ["run", text(&path), "--json", "--set", "router.spill=2", "--set", "router.affinity=1", "--seed", "4"];
    let report = report(&[&arguments[..], &SHORT].concat());
    assert_eq!(row.as_object_mut().unwrap().remove("set").unwrap()["router.affinity"], 1);
    assert_eq!(row, report);
}

#[test]
fn lost_rows_are_rows_all_the_same_and_words_can_be_varied() {
    let (_guard, path) = level();
    let rows = rows(&sweep(text(&path), &["--vary", "router.policy=random,least-busy", "--quiet"]));
    assert_eq!(rows[1]["set"]["router.policy"], "least-busy");
    assert!(rows.iter().all(|row| row["passed"].is_boolean()));
}

#[test]
fn csv_has_a_header_of_keys_with_dots_and_a_line_each() {
    let (_guard, path) = level();
    let out = done(&sweep(text(&path), &["--vary", "replicas=1,3", "--csv"]));
    let mut reader = csv::Reader::from_reader(out.as_bytes());
    let header: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    for key in [
        "set.replicas",
        "hit_rate",
        "ttft_ms.p99",
        "rejected.timed_out",
        "replicas.0.answered",
        "settings.router.slots",
    ] {
        assert!(header.iter().any(|name| name == key), "{key} is not in {header:?}");
    }
    let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let cell = |row: usize, key: &str| records[row][header.iter().position(|name| name == key).unwrap()].to_owned();
    assert_eq!((cell(0, "set.replicas"), cell(1, "set.replicas")), ("1".into(), "3".into()));
    assert!(cell(0, "hit_rate").parse::<f64>().is_ok());
    assert_eq!(cell(0, "replicas.2.answered"), "", "the first has one replica only");
    assert!(cell(1, "replicas.2.answered").parse::<u64>().is_ok());
}

#[test]
fn wrong_values_are_refused_before_anything_is_run() {
    let (_guard, path) = level();
    for (vary, says) in [
        ("router.affinity=0,2", "router.affinity"),
        ("router.affinity=0,,1", "router.affinity"),
        ("router.affinity=", "router.affinity"),
        ("router.nonsense=1", "router.nonsense"),
        ("router.slots", "KEY=A,B,C"),
        ("replicas=0,1", "replicas"),
        ("router.p50_ms=1,1000", "router.p99_ms"),
        ("replica[4].slots=1", "replica[4].slots"),
    ] {
        refused(&sweep(text(&path), &["--vary", vary]), &[says]);
    }
    let many: String = (1..=400).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    let (slots, queue) = (format!("router.slots={many}"), format!("router.queue={many}"));
    refused(&sweep(text(&path), &["--vary", &slots, "--vary", &queue]), &["--vary", "rows"]);
    refused(&["sweep", "no-such-level", "--vary", "replicas=1"], &["no-such-level"]);
    refused(&["sweep", text(&path), "--vary", "replicas=1", "--seconds", "0"], &["--seconds"]);
}
