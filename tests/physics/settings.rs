//! Each of the nine settings of the component page changes what it should, in the right direction, all else equal; and
//! the three facts that the page teaches hold on the levels that come with the program.

use super::fleets::*;
use warmpath::blueprint::{Assignment, Blueprint, Policy, Replica, Router, Traffic, apply};
use warmpath::level::Level;
use warmpath::sim::{Report, micros_of_s};

/// A fleet on which every setting matters: conversations on replicas that hold a part of them.
fn conversations() -> Blueprint {
    let traffic = Traffic {
        steps: 8,
        think_s: 1.0,
        shared: 0.5,
        shared_tokens: 2_000,
        base_tokens: 100,
        unshared_base_tokens: 1_000,
        input_tokens: 300,
        output_tokens: 50,
        ..single_calls(3.0)
    };
    let router = Router {
        slots: 8,
        queue: 30,
        vcpu: 2,
        cpu_ms: 5.0,
        p50_ms: 10.0,
        p99_ms: 40.0,
        restart_s: 10.0,
        policy: Policy::StickySpill,
        affinity: 1.0,
        spill: 0,
        prefix_hit: 1.0,
    };
    let replica = Replica {
        slots: 16,
        queue: 500,
        kv_tokens: 60_000,
        prefill_base_ms: 5.0,
        prefill_tokens_per_s: 20_000.0,
        decode_base_ms: 8.0,
        decode_per_call_ms: 0.2,
        large: false,
    };
    fleet(traffic, router, 4, replica)
}

fn with(settings: &[&str]) -> Report {
    let mut blueprint = conversations();
    let list: Vec<Assignment> = settings.iter().map(|text| Assignment::parse(text).unwrap()).collect();
    apply(&mut blueprint, &list).unwrap();
    report(&blueprint, 1, 300.0, 30.0)
}

fn ttft(report: &Report) -> (f64, f64) {
    (report.ttft_ms.p50.unwrap(), report.ttft_ms.p99.unwrap())
}

/// The tests below compare with this one: it is at ease.
#[test]
fn as_it_stands_nothing_is_lost_and_most_is_hit() {
    let report = with(&[]);
    assert_eq!((report.rejected_total, report.router_crashes, report.spills), (0, 0, 0));
    assert!(report.hit_rate.unwrap() > 0.7, "{:?}", report.hit_rate);
}

#[test]
fn fewer_router_slots_make_calls_wait_at_the_router() {
    let (few, many) = (with(&["router.slots=1"]), with(&["router.slots=64"]));
    let queue = |report: &Report| report.router.as_ref().unwrap().mean_waiting.unwrap();
    assert!(queue(&few) > 0.1 && queue(&many) < 0.001, "{} {}", queue(&few), queue(&many));
    assert!(few.ttft_ms.mean > many.ttft_ms.mean && ttft(&few).0 > ttft(&many).0);
}

#[test]
fn a_shorter_router_queue_rejects_more() {
    let lost = |queue: &str| failed(&with(&["router.slots=1", queue]), "router_queue_full");
    let (none, some, long) = (lost("router.queue=0"), lost("router.queue=2"), lost("router.queue=1000"));
    assert!(none > some && some > long && long == 0, "{none} {some} {long}");
}

#[test]
fn more_cores_shorten_the_wait_for_one() {
    // Some 24 calls a second of 25 ms each: 60 % of one core, 30 % of two.
    let cores = |cores: &str| with(&["router.cpu_ms=25", "router.p50_ms=25", "router.slots=64", cores]);
    let (one, two, many) = (cores("router.vcpu=1"), cores("router.vcpu=2"), cores("router.vcpu=64"));
    let busy = |report: &Report| report.router.as_ref().unwrap().cpu_busy.unwrap();
    assert!(busy(&one) > 0.5 && (busy(&one) / busy(&two) - 2.0).abs() < 0.2, "{} {}", busy(&one), busy(&two));
    assert!(one.ttft_ms.mean > two.ttft_ms.mean && two.ttft_ms.mean > many.ttft_ms.mean);
}

#[test]
fn a_higher_median_latency_moves_every_answer_by_as_much() {
    // Constant latencies, so that the one run is the other later; and caches for all, so that hits stay the same.
    let latency = |ms: u64| {
        let (p50, p99) = (format!("router.p50_ms={ms}"), format!("router.p99_ms={ms}"));
        with(&[&p50, &p99, "router.slots=1000", "router.vcpu=64", "replica.kv_tokens=1e9"])
    };
    let moved = latency(60).ttft_ms.mean.unwrap() - latency(10).ttft_ms.mean.unwrap();
    assert!((moved - 50.0).abs() < 1.0, "{moved}");
}

#[test]
fn a_higher_99th_percentile_lengthens_the_tail_and_not_the_median() {
    let tail = |p99: &str| with(&[p99, "router.slots=1000", "router.vcpu=64"]);
    let (short, long) = (tail("router.p99_ms=10"), tail("router.p99_ms=400"));
    assert!(ttft(&long).1 > ttft(&short).1 + 150.0, "{:?} {:?}", ttft(&short), ttft(&long));
    assert!(ttft(&long).0 < ttft(&short).0 + 20.0, "{:?} {:?}", ttft(&short), ttft(&long));
}

#[test]
fn more_affinity_hits_more() {
    let hit = |affinity: f64| with(&[&format!("router.affinity={affinity}")]).hit_rate.unwrap();
    let (none, half, all) = (hit(0.0), hit(0.5), hit(1.0));
    assert!(none + 0.05 < half && half + 0.05 < all, "{none} {half} {all}");
}

#[test]
fn a_higher_chance_to_find_the_prefix_hits_more() {
    let hit = |chance: f64| with(&[&format!("router.prefix_hit={chance}"), "replica.kv_tokens=1e9"]).hit_rate.unwrap();
    let (none, half, all) = (hit(0.0), hit(0.5), hit(1.0));
    assert_eq!(none, 0.0);
    // With room for all the cache is the same whoever finds it: half of 6,000 draws find half, to within 5 %.
    assert!((half / all - 0.5).abs() < 0.05, "{half} {all}");
}

#[test]
fn a_lower_spill_threshold_queues_less_and_spreads_more() {
    // Most sessions share a prefix, and its home is beset.
    let hot = |spill: &str| with(&["traffic.shared=0.9", "replica.prefill_tokens_per_s=9000", spill]);
    let (never, late, soon) = (hot("router.spill=0"), hot("router.spill=100"), hot("router.spill=3"));
    assert!(never.spills == 0 && late.spills > 0 && soon.spills > 0);
    let longest = |report: &Report| report.replicas.iter().map(|replica| replica.max_waiting).max().unwrap();
    assert!(longest(&soon) < longest(&late) && longest(&late) < longest(&never));
    assert!(soon.jain > never.jain && late.jain > never.jain);
}

#[test]
fn more_sessions_on_the_shared_prefix_crowd_its_home() {
    let shared = |share: f64| with(&[&format!("traffic.shared={share}")]);
    let (none, half, all) = (shared(0.0), shared(0.5), shared(1.0));
    assert!(none.jain > half.jain && half.jain > all.jain, "{:?} {:?} {:?}", none.jain, half.jain, all.jain);
    assert_near("one of four takes them all", all.jain.unwrap(), 0.25, 0.01);
    // And only that: the same sessions come, at the same moments.
    assert_eq!(none.sent > 0, all.sent > 0);
}

/// A level's run on its first seed with these changes.
fn level(id: &str, changes: &[&str]) -> Report {
    let level = Level::builtin().into_iter().find(|level| level.id == id).unwrap();
    let mut blueprint = level.blueprint.clone();
    let list: Vec<Assignment> = changes.iter().map(|text| Assignment::parse(text).unwrap()).collect();
    apply(&mut blueprint, &list).unwrap();
    let mut run = level.start(&blueprint, level.seeds[0]);
    run.run_to(micros_of_s(level.seconds));
    level.complete(run.report(), &blueprint)
}

const MORE_REPLICAS: &str = "more-replicas-slower-answers";
const HOT_PREFIX: &str = "one-replica-owns-the-hot-prefix";

#[test]
fn fact_one_sticky_routing_lifts_the_hit_rate_from_a_quarter_to_three_quarters() {
    let (given, sticky) = (level(MORE_REPLICAS, &[]), level(MORE_REPLICAS, &["router.affinity=1"]));
    let hit = given.hit_rate.unwrap();
    assert!((0.15..=0.30).contains(&hit), "{hit}");
    assert!(sticky.hit_rate.unwrap() >= 0.75, "{:?}", sticky.hit_rate);
    assert!(ttft(&sticky).1 * 5.0 <= ttft(&given).1, "{:?} {:?}", ttft(&sticky), ttft(&given));
    assert!(sticky.task_s.p50 < given.task_s.p50);
}

#[test]
fn fact_two_stay_sticky_until_saturated_then_spill() {
    let spill = |spill: u64| level(HOT_PREFIX, &[&format!("router.spill={spill}")]);
    let middle = spill(16);
    for other in [0, 1, 128] {
        let other = spill(other);
        assert!(ttft(&middle).1 < ttft(&other).1, "{:?} {:?}", ttft(&middle), ttft(&other));
    }
    let round_robin = level(HOT_PREFIX, &["router.affinity=0"]);
    assert!(ttft(&middle).1 < ttft(&round_robin).1);
    assert!(middle.hit_rate > round_robin.hit_rate);
}

#[test]
fn fact_three_more_replicas_under_round_robin_hit_less_and_answer_no_sooner() {
    let (eight, sixteen) = (level(MORE_REPLICAS, &["replicas=8"]), level(MORE_REPLICAS, &["replicas=16"]));
    assert!(sixteen.hit_rate < eight.hit_rate, "{:?} {:?}", sixteen.hit_rate, eight.hit_rate);
    assert!(ttft(&sixteen).0 >= ttft(&eight).0, "{:?} {:?}", ttft(&sixteen), ttft(&eight));
}

#[test]
fn every_level_is_what_it_claims() {
    for level in Level::builtin() {
        for attempt in warmpath::level::check(&level) {
            assert!(attempt.holds(), "{}: {}", level.id, attempt.name);
        }
    }
}
