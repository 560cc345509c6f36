//! Little's law (1961), L = rate x W, on every part.
//!
//! Over a finite time it is an identity: the area under the number in a place is the time that all calls spent there. So
//! the averages of the report are held to what the calls did, followed one by one, exactly; and then to means of the
//! report itself, within the sampling error of a long run.

use super::fleets::*;
use bevy::prelude::Entity;
use std::collections::BTreeMap;
use warmpath::blueprint::{Blueprint, Replica, Router, Traffic};
use warmpath::sim::{Micros, Roster, Run, Stage};

/// A busy fleet with queues everywhere, and nobody turned away.
fn busy() -> Blueprint {
    fleet(
        Traffic { steps: 3, think_s: 0.5, input_tokens: 300, output_tokens: 40, ..single_calls(9.0) },
        Router { slots: 3, vcpu: 2, cpu_ms: 40.0, p50_ms: 60.0, p99_ms: 200.0, ..free_router() },
        2,
        Replica {
            slots: 10,
            kv_tokens: 20_000,
            prefill_base_ms: 20.0,
            prefill_tokens_per_s: 20_000.0,
            decode_base_ms: 3.0,
            decode_per_call_ms: 0.5,
            ..free_replica()
        },
    )
}

/// A place where calls spend time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Place {
    Queue(Entity),
    Slot(Entity),
    Lane(Entity),
}

fn places(run: &Run) -> Vec<Place> {
    let mut places = Vec::new();
    for (_, call) in calls(run) {
        match (call.stage, call.router, call.replica) {
            (Stage::RouterQueue, Some(router), _) => places.push(Place::Queue(router)),
            (Stage::RouterCpu | Stage::RouterLatency, Some(router), _) => places.push(Place::Slot(router)),
            (Stage::ReplicaQueue, _, Some(replica)) => places.push(Place::Queue(replica)),
            (Stage::Prefill, _, Some(replica)) => places.extend([Place::Slot(replica), Place::Lane(replica)]),
            (Stage::Decode, _, Some(replica)) => places.push(Place::Slot(replica)),
            _ => {}
        }
    }
    places
}

#[test]
fn the_averages_of_the_report_are_the_times_that_calls_spent() {
    let (warmup, end) = (10 * S, 60 * S);
    let mut run = start(&busy(), 3, 10.0);
    run.run_to(warmup);
    let mut spent: BTreeMap<Place, Micros> = BTreeMap::new();
    let mut now = run.now();
    let mut inside = places(&run);
    while now < end {
        // One event at a time: between two of them nobody moves.
        run.advance(end, 1);
        for place in inside {
            *spent.entry(place).or_default() += run.now() - now;
        }
        now = run.now();
        inside = places(&run);
    }
    let report = run.report();
    let roster = run.world().resource::<Roster>();
    let mean = |place| spent.get(&place).copied().unwrap_or(0) as f64 / (end - warmup) as f64;
    let router = report.router.as_ref().unwrap();
    assert_near("router slots", router.slots_mean.unwrap(), mean(Place::Slot(roster.routers[0])), 1e-12);
    assert_near("router queue", router.mean_waiting.unwrap(), mean(Place::Queue(roster.routers[0])), 1e-12);
    for (replica, &entity) in report.replicas.iter().zip(&roster.replicas) {
        assert_near("running", replica.mean_running.unwrap(), mean(Place::Slot(entity)), 1e-12);
        assert_near("waiting", replica.mean_waiting.unwrap(), mean(Place::Queue(entity)), 1e-12);
        assert_near("prefill busy", replica.prefill_busy.unwrap(), mean(Place::Lane(entity)), 1e-12);
    }
    let queues = [router.mean_waiting.unwrap(), report.replicas[0].mean_waiting.unwrap()];
    assert!(queues.iter().all(|length| *length > 0.05), "there are queues: {queues:?}");
}

/// All places together hold rate x latency. What is inside at the two ends is a few dozen calls of 100,000: 0.1 %.
#[test]
fn what_is_inside_is_the_rate_times_the_latency() {
    let report = report(&busy(), 4, 4_000.0, 100.0);
    assert_eq!(report.rejected_total, 0);
    let router = report.router.as_ref().unwrap();
    let of_replicas: f64 = report.replicas.iter().map(|r| r.mean_running.unwrap() + r.mean_waiting.unwrap()).sum();
    let inside = router.slots_mean.unwrap() + router.mean_waiting.unwrap() + of_replicas;
    let expected = report.sent as f64 / 3_900.0 * report.latency_ms.mean.unwrap() / 1e3;
    assert_near("inside", inside, expected, 0.001);
}

/// A core is busy for rate x CPU time, and the prefill lane for rate x mean prefill: work is neither lost nor made. The
/// error is that of the number of Poisson sessions, here 36,000: four standard errors are 2.1 %; against the calls that
/// came, only the ends count.
#[test]
fn busy_shares_are_rate_times_work() {
    let report = report(&busy(), 5, 4_000.0, 0.0);
    let rate = report.sent as f64 / 4_000.0;
    assert_near("rate", rate, 27.0, 0.021);
    assert_near("cores", report.router.unwrap().cpu_busy.unwrap(), rate * 0.040 / 2.0, 0.001);
    let missed = (report.prompt_tokens - report.hit_tokens) as f64;
    let lane: f64 = report.replicas.iter().map(|replica| replica.prefill_busy.unwrap()).sum();
    assert_near("lanes", lane, rate * 0.020 + missed / 20_000.0 / 4_000.0, 0.001);
}
