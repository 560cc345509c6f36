//! The same level, settings and seed give the same report, bit for bit, however the run is driven and whoever watches;
//! and the traffic is the same whatever the router does.

use super::fleets::*;
use proptest::prelude::*;
use warmpath::blueprint::{Blueprint, Policy, Replica, Router, Traffic};
use warmpath::level::Level;
use warmpath::sim::{Micros, NEVER, RecordedCall, Report, Run, micros_of_s};

/// The digest of each level as it is given, on its first seed, or as its solution builds it where parts are placed; and of
/// the small trace below. A change here is a change of what every seed means: of the physics, or of the level. When it is
/// meant, the failing test prints the new list.
const DIGESTS: &[(&str, &str)] = &[
    ("more-replicas-slower-answers", "8ce9dcb1253c4471"),
    ("one-replica-owns-the-hot-prefix", "f69e7d630190a2e2"),
    ("agents-on-a-budget", "ad165e582fdc5d67"),
    ("two-teams-four-replicas", "bff1c2bb6c2c8b9a"),
    ("the-document-sorter", "13a6ddd375fa50c4"),
    ("the-cheapest-support-fleet", "732913f5082e5e13"),
    ("small trace", "2829f494085704e0"),
];

#[test]
fn digests_are_those_that_were_stored() {
    let mut found: Vec<(String, String)> = Level::builtin()
        .into_iter()
        .map(|level| {
            let solved = level.blueprint_of(&level.solution).unwrap();
            let mut run = level.start(if level.placing { &solved } else { &level.blueprint }, level.seeds[0]);
            run.run_to(micros_of_s(level.seconds));
            (level.id, run.report().digest)
        })
        .collect();
    found.push(("small trace".into(), small_trace_report(|run| run.run_to(NEVER)).digest));
    let stored: Vec<(String, String)> =
        DIGESTS.iter().map(|(name, digest)| (name.to_string(), digest.to_string())).collect();
    assert!(found == stored, "now they are {found:#?}");
}

/// A fleet with everything in it that chance and order touch: two sources, lognormal latency, a share of sticky calls, of
/// found prefixes, timeouts, spills, full queues, and a core that is busy enough to crash.
fn everything() -> Blueprint {
    let traffic = Traffic {
        steps: 5,
        think_s: 0.7,
        shared: 0.6,
        shared_tokens: 1_500,
        base_tokens: 100,
        unshared_base_tokens: 900,
        input_tokens: 200,
        output_tokens: 40,
        timeout_s: 1.0,
        ..single_calls(6.0)
    };
    let router = Router {
        slots: 6,
        queue: 12,
        vcpu: 1,
        cpu_ms: 45.0,
        p50_ms: 50.0,
        p99_ms: 250.0,
        restart_s: 3.0,
        policy: Policy::StickySpill,
        affinity: 0.8,
        spill: 3,
        prefix_hit: 0.9,
    };
    let replica = Replica {
        slots: 6,
        queue: 8,
        kv_tokens: 20_000,
        prefill_base_ms: 20.0,
        prefill_tokens_per_s: 12_000.0,
        decode_base_ms: 6.0,
        decode_per_call_ms: 1.1,
        large: false,
    };
    let mut blueprint = fleet(traffic.clone(), router, 3, replica);
    blueprint.traffics.push(Traffic { sessions_per_s: 2.0, shared_tokens: 700, timeout_s: 0.0, ..traffic });
    let from = part(warmpath::blueprint::Part::Traffic, 1);
    blueprint.links.push((from, part(warmpath::blueprint::Part::Router, 0)));
    blueprint
}

const LENGTH: Micros = 60 * S;

fn in_one_go(seed: u64) -> Report {
    let mut run = start(&everything(), seed, 10.0);
    run.run_to(LENGTH);
    run.report()
}

#[test]
fn everything_happens_in_the_fleet_with_everything() {
    let reports: Vec<Report> = (0..8).map(in_one_go).collect();
    for reason in ["router_queue_full", "router_down", "router_crashed", "timed_out"] {
        assert!(reports.iter().any(|report| failed(report, reason) > 0), "{reason}");
    }
    assert!(reports.iter().all(|report| report.spills > 0 && report.replicas[0].evicted_tokens > 0));
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn the_report_does_not_depend_on_how_far_a_frame_goes(
        seed in 0u64..1_000,
        frames in prop::collection::vec((1u64..3_000_000, prop_oneof![Just(u64::MAX), 0u64..40]), 1..60),
        watched: bool,
    ) {
        let mut run = start(&everything(), seed, 10.0);
        if watched {
            run.watch();
        }
        let mut frames = frames.into_iter().cycle();
        let mut until = 0;
        while run.now() < LENGTH {
            let (length, allowance) = frames.next().unwrap();
            until = (until.max(run.now()) + length).min(LENGTH);
            // At least one event, or it would never end.
            run.advance(until, allowance.max(1));
        }
        while !run.advance(LENGTH, 3) {}
        prop_assert_eq!(run.report(), in_one_go(seed));
    }
}

#[test]
fn event_by_event_is_the_same_as_in_one_go() {
    let mut run = start(&everything(), 7, 10.0);
    run.watch();
    let mut events = 0;
    let mut last = 0;
    loop {
        // Where the next event lies beyond the end one must not take it: so look before each step.
        let done = run.advance(LENGTH, 1);
        if done {
            break;
        }
        events += 1;
        assert!(run.now() >= last, "time goes on");
        last = run.now();
    }
    let report = run.report();
    assert_eq!(report, in_one_go(7));
    assert!(report.events >= events && events > 1_000);
}

#[test]
fn a_step_is_one_event() {
    let mut run = start(&everything(), 7, 0.0);
    for events in 1..2_000 {
        run.step();
        assert_eq!(run.report().events, events);
    }
    let now = run.now();
    let mut other = start(&everything(), 7, 0.0);
    other.advance(NEVER, 1_999);
    assert_eq!((other.now(), other.report().digest), (now, run.report().digest));
}

#[test]
fn another_seed_is_another_run() {
    assert_ne!(in_one_go(1).digest, in_one_go(2).digest);
}

fn small_trace() -> Vec<RecordedCall> {
    (0..200u64)
        .map(|n| {
            let length = 1 + n * 7 % 9;
            let blocks: Vec<u64> =
                (0..length).map(|k| if k < length / 2 { n % 4 * 100 + k } else { 1_000 + n * 10 + k }).collect();
            call(n * 37 * MS, &blocks, 512 * (length - 1) + 1 + n * 13 % 512, n * 11 % 90)
        })
        .collect()
}

fn small_trace_report(drive: impl FnOnce(&mut Run)) -> Report {
    let router =
        Router { policy: Policy::StickySpill, affinity: 0.9, spill: 2, p50_ms: 3.0, p99_ms: 30.0, ..free_router() };
    let replica = Replica { kv_tokens: 15_000, queue: 20, slots: 8, ..Replica::default() };
    let mut run = play(&behind(router, 4, replica), &small_trace());
    drive(&mut run);
    run.report()
}

#[test]
fn a_trace_ends_with_its_last_call_however_it_is_driven() {
    let whole = small_trace_report(|run| run.run_to(NEVER));
    assert_eq!(whole.in_flight, 0);
    assert_eq!(whole.sent, 200);
    let bit_by_bit = small_trace_report(|run| while !run.advance(NEVER, 1) {});
    assert_eq!(whole, bit_by_bit);
    let watched = small_trace_report(|run| {
        run.watch();
        run.run_to(NEVER);
    });
    assert_eq!(whole, watched);
}

#[test]
fn sticky_spill_without_affinity_is_round_robin() {
    for seed in [1, 2] {
        let mut blueprint = everything();
        blueprint.routers[0].affinity = 0.0;
        let sticky = report(&blueprint, seed, 60.0, 10.0);
        blueprint.routers[0].policy = Policy::RoundRobin;
        assert_eq!(sticky.digest, report(&blueprint, seed, 60.0, 10.0).digest);
    }
}

/// A session's number, when it began, and the shared prefix that it carries.
type Begun = (u64, Micros, Option<(u32, u64)>);

/// The sessions that come to a fleet.
fn traffic_of(blueprint: &Blueprint) -> Vec<Begun> {
    let mut run = start(blueprint, 9, 0.0);
    let mut seen = std::collections::BTreeMap::new();
    for second in 1..=60 {
        run.run_to(second * S / 2);
        for session in sessions(&run) {
            seen.insert(session.number, (session.started, session.shared));
        }
    }
    seen.into_iter().map(|(number, (started, shared))| (number, started, shared)).collect()
}

/// Common random numbers: sessions of 5 steps with think times live longer than half a second, so looking twice a second
/// sees all of those that are not rejected at once; which ones these are differs, so those seen by both are compared.
#[test]
fn the_same_sessions_come_whatever_the_router_does() {
    let plain = everything();
    let before = traffic_of(&plain);
    assert!(before.len() > 150);
    assert!(before.iter().any(|session| session.2.is_some()) && before.iter().any(|session| session.2.is_none()));
    let changes: [fn(&mut Blueprint); 5] = [
        |blueprint| blueprint.routers[0].affinity = 0.1,
        |blueprint| blueprint.routers[0] = Router { policy: Policy::Random, ..free_router() },
        |blueprint| blueprint.routers[0].p99_ms = 900.0,
        |blueprint| blueprint.routers[0].prefix_hit = 0.2,
        |blueprint| blueprint.resize_replicas(7),
    ];
    for change in changes {
        let mut blueprint = plain.clone();
        change(&mut blueprint);
        let after: std::collections::BTreeSet<_> = traffic_of(&blueprint).into_iter().collect();
        let numbers: std::collections::BTreeSet<u64> = after.iter().map(|session| session.0).collect();
        let both: Vec<_> = before.iter().filter(|session| numbers.contains(&session.0)).collect();
        assert!(both.len() > 100);
        assert!(both.iter().all(|session| after.contains(session)));
    }
}

/// Think times, too: with free parts a session's steps come at the same moments under every policy.
#[test]
fn the_same_think_times_come_whatever_the_router_does() {
    let sent = |policy, shared| {
        let traffic = Traffic { steps: 6, think_s: 2.0, shared, shared_tokens: 10, ..single_calls(3.0) };
        let blueprint = fleet(traffic, Router { policy, affinity: 0.5, ..free_router() }, 4, free_replica());
        let seen = sights(&mut start(&blueprint, 3, 0.0), 100 * S);
        answers(&seen).into_iter().map(|answer| answer.0).collect::<Vec<Micros>>()
    };
    let round_robin = sent(Policy::RoundRobin, 0.0);
    assert!(round_robin.len() > 1_000);
    for policy in [Policy::StickySpill, Policy::Random, Policy::LeastBusy] {
        assert_eq!(sent(policy, 0.0), round_robin);
    }
    assert_eq!(sent(Policy::RoundRobin, 0.7), round_robin, "which sessions share a prefix moves none of them");
}
