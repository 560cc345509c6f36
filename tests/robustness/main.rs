//! Whatever is read, nothing panics, and what is wrong is said in one line: levels, solutions, codes, traces and `--set`;
//! and whatever is drawn is what it should be, and runs.

#![allow(clippy::unwrap_used, missing_docs)]

mod boards;
mod codes;
mod drawn;
mod hands;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use warmpath::blueprint::{Address, Assignment, Blueprint, Part, apply, settings_of};
use warmpath::level::{AssignmentList, Level, read_solution};
use warmpath::sim::{RecordedCall, TraceReader};

/// So many cases, from a fixed seed unless PROPTEST_RNG_SEED says another.
fn cases(cases: u32) -> Config {
    let mut config = Config { failure_persistence: None, ..Config::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = cases;
    }
    if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
        config.rng_seed = RngSeed::Fixed(20_260_731);
    }
    config
}

const LEVELS: [&str; 4] = [
    include_str!("../../levels/more-replicas-slower-answers.ron"),
    include_str!("../../levels/one-replica-owns-the-hot-prefix.ron"),
    include_str!("../../levels/agents-on-a-budget.ron"),
    include_str!("../../levels/the-document-sorter.ron"),
];

/// A change of a text: somebody's slip, or worse.
#[derive(Clone, Debug)]
enum Slip {
    Cut(usize),
    Drop(usize, usize),
    Double(usize, usize),
    Put(usize, String),
    Swap(usize, usize),
}

fn slips() -> impl Strategy<Value = Vec<Slip>> {
    let at = 0usize..10_000;
    let words = prop_oneof![
        Just("(".to_owned()),
        Just(")".to_owned()),
        Just("[".to_owned()),
        Just("]".to_owned()),
        Just(",".to_owned()),
        Just("\"".to_owned()),
        Just("-".to_owned()),
        Just("0".to_owned()),
        Just("1e999".to_owned()),
        Just("-1".to_owned()),
        Just("nan".to_owned()),
        Just("inf".to_owned()),
        Just("99999999999999999999".to_owned()),
        Just("0.5".to_owned()),
        Just("\\".to_owned()),
        Just("/*".to_owned()),
        Just("//".to_owned()),
        Just("r#\"".to_owned()),
        Just("Some(".to_owned()),
        Just("None".to_owned()),
        Just("\0".to_owned()),
        Just("é".to_owned()),
        Just("\u{2028}".to_owned()),
        Just("\n".to_owned()),
        "\\PC{0,6}",
    ];
    let slip = prop_oneof![
        1 => at.clone().prop_map(Slip::Cut),
        3 => (at.clone(), 1usize..40).prop_map(|(at, length)| Slip::Drop(at, length)),
        2 => (at.clone(), 1usize..60).prop_map(|(at, length)| Slip::Double(at, length)),
        4 => (at.clone(), words).prop_map(|(at, word)| Slip::Put(at, word)),
        2 => (at.clone(), at).prop_map(|(a, b)| Slip::Swap(a, b)),
    ];
    prop::collection::vec(slip, 1..5)
}

fn slipped(text: &str, slips: Vec<Slip>) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    for slip in slips {
        let length = letters.len().max(1);
        match slip {
            Slip::Cut(at) => letters.truncate(at % length),
            Slip::Drop(at, count) => {
                let at = at % length;
                letters.drain(at.min(letters.len())..(at + count).min(letters.len()));
            }
            Slip::Double(at, count) => {
                let at = (at % length).min(letters.len());
                let piece = letters[at..(at + count).min(letters.len())].to_vec();
                letters.splice(at..at, piece);
            }
            Slip::Put(at, word) => {
                let at = (at % length).min(letters.len());
                letters.splice(at..at, word.chars());
            }
            Slip::Swap(a, b) if !letters.is_empty() => letters.swap(a % length, b % length),
            Slip::Swap(..) => {}
        }
    }
    letters.into_iter().collect()
}

/// One line that begins with the name of the text.
fn is_one_line(error: &impl std::fmt::Display, begins: &str) -> Result<(), TestCaseError> {
    let error = error.to_string();
    prop_assert!(!error.contains('\n') && !error.contains('\r'), "{:?}", error);
    prop_assert!(error.starts_with(begins), "{:?}", error);
    prop_assert!(error.len() > begins.len() + 5, "it says something: {:?}", error);
    Ok(())
}

/// A level that was read holds together: everything in it can be applied, and a moment of it be run.
fn holds_together(level: &Level) -> Result<(), TestCaseError> {
    prop_assert!(level.seconds > 0.0 && level.warmup_s < level.seconds && !level.seeds.is_empty());
    prop_assert!(level.blueprint_of(&level.solution).is_ok_and(|fleet| level.admits(&fleet).is_ok()));
    for part in Part::ALL {
        for index in 0..level.blueprint.count(part) {
            for setting in settings_of(part) {
                prop_assert!(setting.kind.admits(setting.get(&level.blueprint, index)), "{}", setting.key);
            }
        }
    }
    for (from, to) in &level.blueprint.links {
        prop_assert!(from.index < level.blueprint.count(from.part) && to.index < level.blueprint.count(to.part));
    }
    let mut run = level.start(&level.blueprint, level.seeds[0]);
    run.advance(1_000_000, 300);
    let report = level.complete(run.report(), &level.blueprint);
    prop_assert_eq!(report.sent, report.answered + report.rejected_total + report.in_flight);
    Ok(())
}

proptest! {
    #![proptest_config(cases(1_500))]

    #[test]
    fn a_level_with_slips_is_read_or_refused_in_one_line(which in 0..LEVELS.len(), slips in slips()) {
        let text = slipped(LEVELS[which], slips);
        match Level::parse("slips.ron", &text) {
            Ok(level) => holds_together(&level)?,
            Err(error) => is_one_line(&error, "slips.ron:")?,
        }
    }

    #[test]
    fn any_text_is_read_as_a_level_or_refused_in_one_line(text in "\\PC{0,200}|[(){}\\[\\],:\"0-9a-z_ \n.-]{0,200}") {
        match Level::parse("any.ron", &text) {
            Ok(level) => holds_together(&level)?,
            Err(error) => is_one_line(&error, "any.ron:")?,
        }
    }
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn a_solution_file_of_any_bytes_is_read_or_refused_in_one_line(
        bytes in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..200),
            slips().prop_map(|slips| slipped("[(\"router.affinity\", 1), (\"router.policy\", \"random\")]", slips).into_bytes()),
            slips().prop_map(|slips| slipped("{\"router.affinity\": 0.5, \"replicas\": 12}", slips).into_bytes()),
        ],
    ) {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &bytes).unwrap();
        match read_solution(file.path()) {
            Ok(list) => {
                // What was read can be tried on a level, and may be refused there.
                let level = &Level::builtin()[0];
                if let Err(error) = level.apply_as_player(&mut level.blueprint.clone(), &list) {
                    is_one_line(&error, "")?;
                }
            }
            Err(error) => is_one_line(&error, &file.path().display().to_string())?,
        }
    }
}

// --- --set -------------------------------------------------------------------------------------------------------------

fn keys() -> impl Strategy<Value = String> {
    let settings: Vec<&'static str> = Part::ALL.iter().flat_map(|part| settings_of(*part)).map(|s| s.key).collect();
    let indexed = |(key, index): (&str, u64)| key.replacen('.', &format!("[{index}]."), 1);
    prop_oneof![
        6 => prop::sample::select(settings.clone()).prop_map(str::to_owned),
        2 => (prop::sample::select(settings.clone()), 0u64..6).prop_map(indexed),
        1 => (prop::sample::select(settings.clone()), any::<u64>()).prop_map(indexed),
        2 => Just("replicas".to_owned()),
        2 => (prop::sample::select(settings), slips()).prop_map(|(key, slips)| slipped(key, slips)),
        1 => "\\PC{0,20}",
    ]
}

fn values() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => (0u64..40).prop_map(|x| x.to_string()),
        3 => (-2.0f64..2.0).prop_map(|x| x.to_string()),
        2 => any::<f64>().prop_map(|x| x.to_string()),
        1 => any::<i64>().prop_map(|x| x.to_string()),
        2 => prop::sample::select(vec!["", "nan", "inf", "-0", "1e9", "0x10", "1_000", "round-robin", "random", "+1", ".5", " 7 "])
            .prop_map(str::to_owned),
        1 => "\\PC{0,12}",
    ]
}

/// A fleet with two of every part but balancers.
fn some_fleet() -> Blueprint {
    let mut fleet = Level::builtin()[0].blueprint.clone();
    fleet.traffics.push(fleet.traffics[0].clone());
    fleet.routers.push(fleet.routers[0].clone());
    fleet
}

proptest! {
    #![proptest_config(cases(3_000))]

    #[test]
    fn any_settings_are_applied_whole_or_refused_in_one_line(
        list in prop::collection::vec((keys(), values(), prop_oneof![9 => Just("="), 1 => Just("")]), 1..5),
    ) {
        let mut fleet = some_fleet();
        let mut assignments = Vec::new();
        for (key, value, sign) in list {
            let text = format!("{key}{sign}{value}");
            match Assignment::parse(&text) {
                Ok(assignment) => {
                    let (key, value) = text.split_once('=').unwrap();
                    prop_assert_eq!((assignment.key.as_str(), assignment.value.as_str()), (key.trim(), value.trim()));
                    assignments.push(assignment);
                }
                Err(error) => is_one_line(&error, "--set")?,
            }
        }
        let before = fleet.clone();
        match apply(&mut fleet, &assignments) {
            Err(error) => {
                is_one_line(&error, "")?;
                let named = |key: &str| key.chars().take(60).flat_map(char::escape_debug).collect::<String>();
                let is_named = assignments.iter().any(|a| named(&a.key) == error.key) || error.key.ends_with("p99_ms");
                prop_assert!(is_named, "{} is none of {:?}", error, assignments);
                prop_assert_eq!(fleet, before);
            }
            Ok(()) => {
                prop_assert!(fleet.inconsistency().is_none());
                for part in Part::ALL {
                    for index in 0..fleet.count(part) {
                        for setting in settings_of(part) {
                            prop_assert!(setting.kind.admits(setting.get(&fleet, index)), "{}", setting.key);
                        }
                    }
                }
                // The settings as the report prints them make the same fleet again.
                let printed: Vec<Assignment> = fleet
                    .settings_json()
                    .into_iter()
                    .map(|(key, value)| {
                        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                        Assignment::new(key, value)
                    })
                    .collect();
                // `replicas` and the plain keys first, then those with an index.
                let (plain, indexed): (Vec<_>, Vec<_>) = printed.into_iter().partition(|a| !a.key.contains('['));
                let (count, plain): (Vec<_>, Vec<_>) = plain.into_iter().partition(|a| a.key == "replicas");
                let mut again = some_fleet();
                prop_assert!(apply(&mut again, &[count, plain, indexed].concat()).is_ok());
                prop_assert_eq!(again.settings_json(), fleet.settings_json());
            }
        }
    }

    #[test]
    fn any_key_is_read_or_refused(key in keys()) {
        match Address::parse(&key) {
            Ok(address) => prop_assert!(key.contains(address.plain_key().split('.').next().unwrap())),
            Err(error) => is_one_line(&error, "")?,
        }
    }
}

// --- Traces ------------------------------------------------------------------------------------------------------------

fn line(call: &RecordedCall) -> String {
    format!(
        "{{\"timestamp\": {}, \"input_length\": {}, \"output_length\": {}, \"hash_ids\": {:?}}}\n",
        call.time / 1_000,
        call.prompt_tokens,
        call.output_tokens,
        call.blocks
    )
}

fn calls() -> impl Strategy<Value = Vec<RecordedCall>> {
    let call = (0u64..5_000, 1u64..6_000, 0u64..2_000, any::<u64>());
    prop::collection::vec(call, 0..20).prop_map(|calls| {
        let mut time = 0;
        calls
            .into_iter()
            .map(|(pause, prompt_tokens, output_tokens, id)| {
                time += pause * 1_000;
                let blocks =
                    (0..prompt_tokens.div_ceil(512)).map(|place| id.wrapping_mul(31).wrapping_add(place)).collect();
                RecordedCall { time, blocks, prompt_tokens, output_tokens }
            })
            .collect()
    })
}

proptest! {
    #![proptest_config(cases(600))]

    #[test]
    fn a_trace_that_is_written_is_read_again(calls in calls()) {
        let text: String = calls.iter().map(line).collect();
        let read: Result<Vec<RecordedCall>, _> = TraceReader::new(text.as_bytes()).collect();
        prop_assert_eq!(read, Ok(calls));
    }

    #[test]
    fn a_trace_with_slips_is_read_or_refused_with_the_line(calls in calls(), slips in slips()) {
        let whole: String = calls.iter().map(line).collect();
        let text = slipped(&whole, slips);
        let lines = text.lines().count() as u64;
        let mut time = 0;
        let mut ended = false;
        for call in TraceReader::new(text.as_bytes()) {
            prop_assert!(!ended, "after an error there is nothing more");
            match call {
                Ok(call) => {
                    prop_assert!(call.time >= time);
                    prop_assert_eq!(call.blocks.len() as u64, call.prompt_tokens.div_ceil(512));
                    time = call.time;
                }
                Err(error) => {
                    is_one_line(&error, &format!("line {}:", error.line))?;
                    prop_assert!((1..=lines).contains(&error.line), "{} of {}", error.line, lines);
                    ended = true;
                }
            }
        }
    }

    #[test]
    fn a_trace_of_any_bytes_is_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        for call in TraceReader::new(bytes.as_slice()) {
            if let Err(error) = call {
                is_one_line(&error, "line ")?;
            }
        }
    }
}

#[test]
fn a_reader_that_fails_is_an_error_of_its_line() {
    struct Broken;
    impl std::io::Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("the disk is gone"))
        }
    }
    let mut reader = TraceReader::new(std::io::BufReader::new(Broken));
    let error = reader.next().unwrap().unwrap_err();
    assert_eq!(error.line, 1);
    assert!(error.to_string().contains("the disk is gone"));
    assert!(reader.next().is_none());
}

#[test]
fn deep_nesting_is_refused_and_does_not_overflow() {
    for open in ["(", "[", "{", "Some("] {
        assert!(Level::parse("deep.ron", &open.repeat(200_000)).is_err());
        assert!(Level::parse("deep.ron", &format!("(id: {}", open.repeat(200_000))).is_err());
    }
    let deep = format!("{{\"timestamp\": {}", "[".repeat(500_000));
    assert!(TraceReader::new(deep.as_bytes()).next().unwrap().is_err());
}

/// The types that are read stay what they are when they are read again: a list of settings as the solution has it.
#[test]
fn every_solution_and_decoy_of_the_levels_can_be_applied() {
    for level in Level::builtin() {
        let AssignmentList(solution) = AssignmentList(level.solution.set.clone());
        assert!(level.apply_as_player(&mut level.blueprint.clone(), &solution).is_ok());
        for decoy in &level.decoys {
            assert!(level.blueprint_of(&decoy.build).is_ok(), "{}", decoy.name);
        }
    }
}
