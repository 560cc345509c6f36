//! Codes: what is exported is imported again, and what is no code is refused in one line, soon and without much memory.

use super::hands::*;
use super::*;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use miniz_oxide::deflate::compress_to_vec_zlib;
use miniz_oxide::inflate::decompress_to_vec_zlib;
use std::time::{Duration, Instant};
use warmpath::blueprint::{BOARD, PartId};
use warmpath::level::{Link, Shared};

/// A text as a code holds it.
fn pack(text: &[u8]) -> String {
    format!("WP1-{}", URL_SAFE_NO_PAD.encode(compress_to_vec_zlib(text, 6)))
}

/// The text that a code holds.
fn unpacked(code: &str) -> String {
    let packed = URL_SAFE_NO_PAD.decode(code.strip_prefix("WP1-").unwrap()).unwrap();
    String::from_utf8(decompress_to_vec_zlib(&packed).unwrap()).unwrap()
}

/// A code is read to what a player could have made, which makes the same code again, or refused in one line; soon.
fn read_or_refused(code: &str) -> Result<Option<Shared>, TestCaseError> {
    let began = Instant::now();
    let read = Shared::parse(code);
    prop_assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    match read {
        Ok(shared) => {
            prop_assert!(shared.level.admits(&shared.blueprint).is_ok());
            prop_assert_eq!(Shared::parse(&shared.to_code()), Ok(shared.clone()));
            Ok(Some(shared))
        }
        Err(error) => {
            is_one_line(&error, "")?;
            prop_assert!(error.to_string().chars().count() < 1_000, "{}", error);
            Ok(None)
        }
    }
}

/// What a player made of one of the levels.
fn made(which: usize, acts: &[Act]) -> Shared {
    let mut level = levels().swap_remove(which);
    let mut history = beginning(&level);
    for act in acts {
        carry_out(&level, &mut history, act);
    }
    level.budget = history.board().budget();
    Shared { level, blueprint: history.blueprint().clone() }
}

fn any_made() -> impl Strategy<Value = Shared> {
    let which = prop_oneof![Just(0), 0..levels().len()];
    (which, acts(60)).prop_map(|(which, acts)| made(which, &acts))
}

proptest! {
    #![proptest_config(cases(500))]

    #[test]
    fn what_is_exported_is_imported_again(shared in any_made()) {
        let code = shared.to_code();
        prop_assert!(Shared::is_code(&code));
        prop_assert_eq!(Shared::parse(&code), Ok(shared.clone()));
        prop_assert_eq!(Shared::parse_for(&shared.level, &code), Ok(shared.clone()));
        let link = Link::parse(&format!("#canvas={code}")).unwrap().unwrap();
        prop_assert_eq!((&link.level, &link.blueprint), (&shared.level, &shared.blueprint));
        prop_assert!(code.bytes().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, b'-' | b'_')));
    }

    /// Whatever a source of traffic is called.
    #[test]
    fn names_of_any_letters_are_imported_again(
        names in prop::collection::btree_set(prop_oneof!["\\PC{0,12}", any::<String>(), "(ro|ba|re|tr)[0-2]'{0,2}"], 3),
    ) {
        let mut blueprint = Blueprint::router_before(2);
        for (index, name) in names.into_iter().enumerate() {
            blueprint.traffics.push(Default::default());
            let id = PartId::new(Part::Traffic, index);
            blueprint.names.insert(id, name);
            blueprint.links.push((id, PartId::new(Part::Router, 0)));
        }
        blueprint.order_links();
        blueprint.stand_apart();
        let shared = Shared { level: Level::canvas(), blueprint };
        prop_assert_eq!(Shared::parse(&shared.to_code()), Ok(shared));
    }
}

proptest! {
    #![proptest_config(cases(1_500))]

    #[test]
    fn any_text_is_no_code(text in prop_oneof!["\\PC{0,80}", "WP1-[A-Za-z0-9_-]{0,200}", "WP[0-9]{0,3}-?[A-Za-z0-9+/=]{0,40}"]) {
        prop_assert!(read_or_refused(&text)?.is_none());
    }

    #[test]
    fn a_code_with_slips_is_read_or_refused(shared in any_made(), slips in slips()) {
        let code = shared.to_code();
        let changed = slipped(&code, slips);
        if let Some(read) = read_or_refused(&changed)? {
            prop_assert_eq!(read, shared, "the checksum tells a damaged code");
        }
    }

    /// The checksum is right, and what it is of has slips.
    #[test]
    fn a_text_with_slips_that_is_packed_is_read_or_refused(shared in any_made(), slips in slips()) {
        let text = slipped(&unpacked(&shared.to_code()), slips);
        read_or_refused(&pack(text.as_bytes()))?;
    }

    #[test]
    fn any_bytes_that_are_packed_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(read_or_refused(&pack(&bytes))?.is_none());
    }
}

#[track_caller]
fn refused(text: &str, says: &str) {
    let error = match read_or_refused(&pack(text.as_bytes())) {
        Ok(None) => Shared::parse(&pack(text.as_bytes())).unwrap_err().to_string(),
        other => panic!("{:.80}: {other:?}", text),
    };
    assert!(error.contains(says), "{says:?} is not in {error:?}");
}

#[test]
fn hostile_texts_are_refused_in_one_line() {
    let canvas = |fleet: &str| format!("(level:\"canvas\",fleet:({fleet}))");
    let traffic = |settings: &str| canvas(&format!("traffic:[({settings})]"));
    for (text, says) in [
        // Nothing, or something else.
        (String::new(), "code"),
        ("()".into(), "level"),
        ("(level:\"nope\")".into(), "nope"),
        ("(level:\"canvas\",level:\"canvas\")".into(), "level"),
        ("(level:\"canvas\",sound:1)".into(), "sound"),
        ("(level:\"canvas\",budget:-1)".into(), "code"),
        ("(level:\"canvas\",budget:1e99)".into(), "code"),
        ("(level:\"canvas\",budget:99999999999999999999999)".into(), "code"),
        // Numbers.
        (traffic("sessions_per_s:NaN"), "sessions_per_s"),
        (traffic("sessions_per_s:nan"), "float"),
        (traffic("sessions_per_s:inf"), "sessions_per_s"),
        (traffic("sessions_per_s:-1"), "sessions_per_s"),
        (traffic("sessions_per_s:1e5"), "calls a second"),
        (traffic("sessions_per_s:1e-300,steps:10000,think_s:1e6,input_tokens:10000000"), "prompts"),
        (traffic("sessions_per_s:100,think_s:1e6"), "think at once"),
        (traffic("steps:1.5"), "steps"),
        (traffic("steps:1e18"), "steps"),
        (traffic("base_tokens:10000000,shared_tokens:10000000"), "prompts"),
        (canvas("routers:[(queue:10000000)]"), "queue places"),
        (canvas("replicas:[(slots:1000000)]"), "queue places"),
        (canvas("replicas:[(kv_tokens:1000000000000)]"), "kv_tokens"),
        (canvas("replicas:[(size:\"large\",kv_tokens:300000)]"), "kv_tokens"),
        (canvas("replicas:[(prefill_tokens_per_s:1e9)]"), "prefill_tokens_per_s"),
        (canvas("routers:[(p50_ms:50,p99_ms:5)]"), "p99_ms"),
        // Parts.
        (canvas("replicas:[(count:101)]"), "100 parts"),
        (canvas("replicas:[(count:4096)]"), "100 parts"),
        (canvas("replicas:[(count:4097)]"), "4097"),
        (canvas("replicas:[(count:18446744073709551615)]"), "18446744073709551615"),
        (canvas(&format!("replicas:[{}]", "(),".repeat(20_000))), "100 parts"),
        (canvas(&format!("routers:[{}]", "(to:[\"a\"]),".repeat(250))), "100 parts"),
        (canvas(&format!("routers:[{}],replicas:[(name:\"a\",count:4096)]", "(to:[\"a\"]),".repeat(250))), "100 parts"),
        (canvas("replicas:[(count:2,at:(100,100))]"), "at"),
        (canvas("routers:[(name:\"a\"),(name:\"a\")]"), "\"a\""),
        (canvas("traffic:[(to:[\"a\"])]"), "\"a\""),
        (canvas("traffic:[(to:[\"a\",\"a\"])],replicas:[(name:\"a\")]"), "\"a\""),
        (canvas("traffic:[(to:[\"a\"])],routers:[(name:\"a\",to:[\"a\"])]"), "\"a\""),
        (canvas("traffic:[(to:[\"t\"]),(name:\"t\")]"), "\"t\""),
        (canvas("replicas:[(to:[])]"), "to"),
        (canvas("replicas:[(at:(1e12,0))]"), "code"),
        // Settings that are locked, or not there.
        ("(level:\"canvas\",set:[(\"replicas\",5)])".into(), "replicas"),
        ("(level:\"canvas\",set:[(\"router.spill\",5)])".into(), "router"),
        ("(level:\"canvas\",fleet:(replicas:[()]),set:[(\"replica.kv_tokens\",5)])".into(), "kv_tokens"),
        ("(level:\"more-replicas-slower-answers\",set:[(\"traffic.steps\",5)])".into(), "traffic.steps"),
        ("(level:\"more-replicas-slower-answers\",set:[(\"replicas\",99999)])".into(), "4096"),
        ("(level:\"more-replicas-slower-answers\",fleet:(replicas:[()]))".into(), "without a budget"),
        (
            "(level:\"agents-on-a-budget\",budget:1000,fleet:(traffic:[()],replicas:[(count:9)]))".into(),
            "over the budget",
        ),
        ("(level:\"agents-on-a-budget\",fleet:(traffic:[()],replicas:[(count:9)]))".into(), "over the budget of 40"),
        ("(level:\"agents-on-a-budget\",fleet:(traffic:[(),()]))".into(), "is given"),
        ("(level:\"agents-on-a-budget\",fleet:())".into(), "missing"),
        ("(level:\"agents-on-a-budget\",fleet:(traffic:[(steps:1)]))".into(), "traffic[0].steps"),
        ("(level:\"canvas\",budget:5,fleet:(routers:[()]))".into(), "over the budget of 5"),
    ] {
        refused(&text, says);
    }
    for open in ["(", "[", "{", "(level:", "(level:\"canvas\",fleet:(", "Some("] {
        refused(&open.repeat(20_000 / open.len()), "code");
    }
}

/// What a text unpacks to is bounded before it is there.
#[test]
fn a_bomb_does_not_go_off() {
    let bomb = pack(&vec![b' '; 48 << 20]);
    assert!(bomb.len() < 1 << 16, "it is short enough to be read: {}", bomb.len());
    let error = Shared::parse(&bomb).unwrap_err().to_string();
    assert!(error.contains("unpacks to more"), "{error}");
    let long = format!("WP1-{}", "A".repeat(1 << 20));
    assert!(Shared::parse(&long).unwrap_err().to_string().contains("65536"));
}

/// Places may be anything: the parts come to stand on the board, apart, in a moment.
#[test]
fn places_from_anywhere_are_brought_onto_the_board() {
    let one = |at: &str| format!("(at:{at}),");
    let places = [
        one("(-2147483648,2147483647)").repeat(100),
        one("(0,0)").repeat(100),
        one("(1203,747)").repeat(100),
        (0..100).map(|n| one(&format!("({},{})", 150 + n % 8 * 305, 60 + n / 8 * 115))).collect::<String>(),
    ];
    for places in places {
        let code = pack(format!("(level:\"canvas\",fleet:(replicas:[{places}]))").as_bytes());
        let began = Instant::now();
        let shared = Shared::parse(&code).unwrap();
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
        let fleet = shared.blueprint.clone();
        assert_eq!(fleet.replicas.len(), 100);
        for (id, at) in &fleet.places {
            let (left, top, right, bottom) = warmpath::blueprint::box_of(id.part, *at);
            assert!(left >= 0 && top >= 0 && right <= BOARD.0 && bottom <= BOARD.1);
        }
        assert_eq!(Shared::parse(&shared.to_code()), Ok(shared));
    }
}

/// Replicas that differ, of which some are made alike again.
#[test]
fn settings_of_parts_that_differ_are_imported_again() {
    let level = Level::by_id("two-teams-four-replicas").unwrap();
    let mut fleet = level.blueprint.clone();
    let set = |list: &[(&str, &str)]| list.iter().map(|(key, value)| Assignment::new(*key, *value)).collect::<Vec<_>>();
    apply(&mut fleet, &set(&[("replica[1].slots", "4"), ("replica[0].queue", "9"), ("replica.queue", "5")])).unwrap();
    let shared = Shared { level, blueprint: fleet };
    assert_eq!(Shared::parse(&shared.to_code()), Ok(shared));
    let given = Blueprint::router_before(3);
    for list in [
        &[("replica[0].slots", "7")][..],
        &[("replica[2].slots", "7")],
        &[("replica.slots", "7")],
        &[("replicas", "5"), ("replica[4].slots", "7")],
        &[("replicas", "1"), ("replica.slots", "7")],
        &[("replica.slots", "7"), ("replicas", "6")],
    ] {
        let mut changed = given.clone();
        apply(&mut changed, &set(list)).unwrap();
        // From parts that differ to parts that agree, too.
        for (from, to) in [(&given, &changed), (&changed, &given)] {
            let mut again = from.clone();
            apply(&mut again, &to.changes_from(from)).unwrap();
            assert_eq!(&again, to, "{list:?}");
        }
    }
}
