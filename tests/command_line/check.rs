//! `warmpath check`.

use super::*;

/// Shorter than the small level: a check runs eight of them.
fn quick(level: &str) -> String {
    level.replace("seconds: 60", "seconds: 20")
}

#[test]
fn a_good_level_holds() {
    let (_guard, path) = file("level.ron", quick(LEVEL));
    let out = done(&["check", text(&path)]);
    for word in ["small", "as given", "more replicas", "the solution", "won", "lost"] {
        assert!(out.contains(word), "{word} is not in\n{out}");
    }
    assert_eq!(done(&["check", text(&path), "--quiet"]), "");
}

#[test]
fn the_levels_of_the_program_hold() {
    let levels: Vec<String> = warmpath::level::Level::builtin().into_iter().map(|level| level.id).collect();
    let arguments: Vec<&str> = std::iter::once("check").chain(levels.iter().map(String::as_str)).collect();
    done(&arguments);
}

#[test]
fn a_level_that_does_not_hold_ends_with_one() {
    for (from, to, wrong) in [
        ("at_least: 0.6)", "at_least: 0.0)", "as given"),
        ("at_least: 0.6)", "at_least: 0.999)", "the solution"),
        ("[(\"replicas\", 8)]", "[(\"router.affinity\", 0.99)]", "more replicas"),
    ] {
        let (_guard, path) = file("level.ron", quick(&LEVEL.replacen(from, to, 1)));
        let came = run(&["check", text(&path)]);
        assert_eq!((came.status, came.err.as_str()), (1, ""), "{to}");
        let line = came.out.lines().find(|line| line.contains("WRONG")).unwrap_or_else(|| panic!("{}", came.out));
        assert!(line.contains(wrong), "{line}");
        assert_eq!(run(&["check", text(&path), "--quiet"]).status, 1);
    }
}

/// What does not hold between the parts of a fleet shows when all of it is read.
const END_OF_FLEET: u64 = 9;

/// What is wrong with a file is one line: file, line, column, what was expected and what was found.
#[test]
fn a_level_that_is_not_well_formed_is_refused_with_its_place() {
    for (from, to, line, says) in [
        ("title:", "titel:", 3, &["titel"][..]),
        ("title: \"Small\"", "title: 5", 3, &[]),
        ("id: \"small\"", "id: \"Small One\"", 2, &["Small One"]),
        ("sessions_per_s: 4", "sessions_per_s: 0", 6, &["traffic.sessions_per_s", "above 0"]),
        ("sessions_per_s: 4", "sessions_per_s: \"4\"", 6, &[]),
        ("steps: 6", "steps: 6.5", 6, &["traffic.steps", "whole number", "6.5"]),
        ("steps: 6", "step: 6", 6, &["step", "steps"]),
        ("steps: 6", "steps: 6, steps: 7", 6, &["steps", "twice"]),
        ("affinity: 0", "affinity: 1.5", 7, &["router.affinity", "0 to 1", "1.5"]),
        ("spill: 0", "policy: \"best\"", 7, &["router.policy", "sticky-spill", "best"]),
        ("spill: 0", "p50_ms: 30", END_OF_FLEET, &["p99_ms"]),
        ("to: [\"router\"]", "to: [\"rooter\"]", 6, &["rooter", "router"]),
        ("to: [\"replicas\"]", "to: [\"agents\"]", END_OF_FLEET, &["agents"]),
        ("count: 4", "count: 0", 8, &["count", "0"]),
        ("count: 4", "count: 5000", 8, &["count", "5000"]),
        ("\"router.affinity\", \"router.spill\", \"replicas\"]", "\"router.affinty\"]", 10, &["router.affinty"]),
        ("seconds: 60", "seconds: 0", 11, &["seconds", "above 0"]),
        ("seconds: 60", "seconds: 60s", 11, &[]),
        ("warmup_s: 5", "warmup_s: 60", 12, &["warm-up", "60"]),
        ("seeds: [7, 8]", "seeds: []", 13, &["seeds"]),
        ("seeds: [7, 8]", "seeds: [-7]", 13, &[]),
        ("key: \"hit_rate\", at_least: 0.6", "key: \"hit_rat\", at_least: 0.6", 15, &["hit_rat"]),
        ("key: \"hit_rate\", at_least: 0.6", "key: \"hit_rate\"", 15, &["at_least", "neither"]),
        ("at_least: 0.6", "at_least: 0.6, at_most: 1", 15, &["both"]),
        ("at_most: 0", "at_most: \"none\"", 16, &[]),
        (
            "solution: [(\"router.affinity\", 1)]",
            "solution: [(\"router.slots\", 9)]",
            21,
            &["router.slots", "solution"],
        ),
        ("(\"replicas\", 8)", "(\"replicas\", 0)", 22, &["replicas", "more replicas"]),
    ] {
        let (_guard, path) = level_with(from, to);
        let error = refused(&["check", text(&path)], &["level.ron"]);
        for word in says {
            assert!(error.contains(word), "{word:?} is not in {error:?}");
        }
        // The place: the right line, or the one after it, where what was read so far shows to be wrong.
        let place = error.split("level.ron:").nth(1).unwrap_or_else(|| panic!("no place in {error:?}"));
        let mut numbers = place.split(':').map(|number| number.parse::<u64>().unwrap_or(0));
        let (found, column) = (numbers.next().unwrap(), numbers.next().unwrap());
        assert!(found == line || found == line + 1, "{to}: line {line}, found {error:?}");
        assert!(column > 0, "{error:?}");
    }
}

#[test]
fn text_that_is_no_level_is_refused() {
    for content in
        ["", "(", "()", "[]", "null", "{\"id\": \"small\"}", "(id: \"x\")", &LEVEL[..400], &format!("{LEVEL} x")]
    {
        let (_guard, path) = file("level.ron", content);
        refused(&["check", text(&path)], &["level.ron"]);
    }
    refused(&["check", "no/such.ron"], &["no/such.ron"]);
}

#[test]
fn all_levels_are_read_before_the_first_is_run() {
    let (_guard, good) = level();
    let (_guard2, bad) = level_with("title:", "titel:");
    refused(&["check", text(&good), text(&bad)], &["titel"]);
}
