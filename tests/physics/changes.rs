//! A running fleet that is changed: what is inside goes on, what comes next is bound.

use super::fleets::*;
use warmpath::blueprint::{Blueprint, Part, Policy, Replica, Router, Traffic};
use warmpath::sim::{Micros, NEVER, Reason, Roster, Run, Slots, Waiting};

/// 1,000 tokens/s of prefill, 10 ms a token of decode.
fn replica() -> Replica {
    Replica {
        slots: 4,
        queue: 10,
        kv_tokens: 100_000,
        prefill_base_ms: 0.0,
        prefill_tokens_per_s: 1_000.0,
        decode_base_ms: 10.0,
        decode_per_call_ms: 0.0,
        large: false,
    }
}

fn changed(run: &mut Run, change: impl FnOnce(&mut Blueprint)) {
    let mut blueprint = run.blueprint().clone();
    change(&mut blueprint);
    run.reconfigure(&blueprint);
}

fn taken_and_waiting(run: &Run, index: usize) -> (u64, u64) {
    let entity = run.world().resource::<Roster>().replicas[index];
    let slots = run.world().get::<Slots>(entity).unwrap();
    (slots.taken.value(), run.world().get::<Waiting>(entity).unwrap().len())
}

#[test]
fn the_same_blueprint_again_changes_nothing() {
    let blueprint = fleet(
        Traffic { steps: 5, timeout_s: 2.0, ..single_calls(8.0) },
        Router { policy: Policy::StickySpill, affinity: 0.7, cpu_ms: 3.0, p50_ms: 3.0, p99_ms: 30.0, ..free_router() },
        3,
        Replica { prefill_base_ms: 60.0, ..replica() },
    );
    let plain = report(&blueprint, 4, 100.0, 0.0);
    let mut run = start(&blueprint, 4, 0.0);
    for second in 1..=100 {
        run.run_to(second * S);
        run.reconfigure(&blueprint);
    }
    assert_eq!(run.report().digest, plain.digest);
}

#[test]
fn fewer_slots_and_places_fail_nobody_and_bind_who_comes() {
    // Four run and three wait when there is to be one slot and one place.
    let mut calls: Vec<_> = (0..7).map(|id| call(0, &[id], 100, 1_000)).collect();
    calls.push(call(2 * S, &[50], 100, 10));
    calls.push(call(20 * S, &[51], 100, 10));
    let mut run = play(&behind(free_router(), 1, replica()), &calls);
    run.run_to(S);
    assert_eq!(taken_and_waiting(&run, 0), (4, 3));
    changed(&mut run, |blueprint| {
        blueprint.replicas[0].slots = 1;
        blueprint.replicas[0].queue = 1;
    });
    assert_eq!(taken_and_waiting(&run, 0), (4, 3));
    let seen = sights(&mut run, NEVER);
    let refused: Vec<(Micros, Reason)> = failures(&seen).iter().map(|failure| (failure.0, failure.2)).collect();
    assert_eq!(refused, [(2 * S, Reason::ReplicaQueueFull), (20 * S, Reason::ReplicaQueueFull)]);
    // The first four end at 10.1, 10.2, 10.3 and 10.4 s; only then is the one slot free, and the next three go one by one.
    let answered: Vec<Micros> = answers(&seen).iter().map(|answer| answer.0 / (100 * MS)).collect();
    assert_eq!(answered, [101, 102, 103, 104, 104 + 101, 104 + 202, 104 + 303]);
}

#[test]
fn more_slots_let_who_waits_in_at_once() {
    let calls: Vec<_> = (0..3).map(|id| call(0, &[id], 100, 1_000)).collect();
    let mut run = play(&behind(free_router(), 1, Replica { slots: 1, ..replica() }), &calls);
    run.run_to(S);
    changed(&mut run, |blueprint| blueprint.replicas[0].slots = 3);
    assert_eq!(taken_and_waiting(&run, 0), (2, 1), "the lane takes one at a time");
    let answered: Vec<Micros> = answers(&sights(&mut run, NEVER)).iter().map(|answer| answer.0 / (100 * MS)).collect();
    assert_eq!(answered, [101, 111, 112]);
}

#[test]
fn more_router_slots_and_cores_let_who_waits_in_at_once() {
    let router = Router { slots: 1, vcpu: 1, cpu_ms: 1_000.0, p50_ms: 1_000.0, p99_ms: 1_000.0, ..free_router() };
    let calls: Vec<_> = (0..3).map(|id| call(0, &[id], 1, 0)).collect();
    let mut run = play(&behind(router, 1, free_replica()), &calls);
    run.run_to(500 * MS);
    changed(&mut run, |blueprint| {
        blueprint.routers[0].slots = 3;
        blueprint.routers[0].vcpu = 2;
    });
    let answered: Vec<Micros> = answers(&sights(&mut run, NEVER)).iter().map(|answer| answer.0).collect();
    assert_eq!(answered, [S, 1_500 * MS, 2 * S]);
}

#[test]
fn less_kv_cache_evicts_nobody_and_a_call_that_is_inside_runs_alone() {
    // One runs, one waits, and then there is less room than either needs.
    let calls =
        [call(0, &[1], 500, 100), call(0, &[2, 3], 600, 100), call(5 * S, &[4], 500, 1), call(5 * S, &[5], 50, 1)];
    let mut run = play(&behind(free_router(), 1, replica()), &calls);
    run.run_to(100 * MS);
    changed(&mut run, |blueprint| blueprint.replicas[0].kv_tokens = 400);
    assert_eq!(run.report().replicas[0].cached_tokens, 600);
    let seen = sights(&mut run, NEVER);
    let refused: Vec<(Micros, Reason)> = failures(&seen).iter().map(|failure| (failure.0, failure.2)).collect();
    assert_eq!(refused, [(5 * S, Reason::PromptTooLarge)]);
    // 0.5 s and 1 s of decode; then the other alone, 0.6 s and 1 s; then the small one, 60 ms.
    let answered: Vec<Micros> = answers(&seen).iter().map(|answer| answer.0).collect();
    assert_eq!(answered, [1_500 * MS, 3_100 * MS, 5_060 * MS]);
}

#[test]
fn another_decode_pace_holds_from_now_on() {
    let mut run = play(&behind(free_router(), 1, replica()), &[call(0, &[1], 100, 100)]);
    run.run_to(600 * MS);
    // Half of the 100 tokens are there: the other half takes 20 ms each.
    changed(&mut run, |blueprint| blueprint.replicas[0].decode_base_ms = 20.0);
    assert_eq!(answers(&sights(&mut run, NEVER)), [(600 * MS + S, 0)]);
}

#[test]
fn a_removed_replica_finishes_what_it_has_and_takes_no_more() {
    let mut calls: Vec<_> = (0..4).map(|id| call(0, &[id], 100, 100)).collect();
    calls.extend((0..4).map(|id| call(S / 2 + id, &[10 + id], 100, 1)));
    let router = Router { p50_ms: 1.0, p99_ms: 1.0, ..free_router() };
    let mut run = play(&behind(router, 2, replica()), &calls);
    run.run_to(300 * MS);
    changed(&mut run, |blueprint| blueprint.resize_replicas(1));
    let seen = sights(&mut run, NEVER);
    assert_eq!(answers(&seen).iter().filter(|answer| answer.1 == 1).count(), 2, "its two");
    assert_eq!(answers(&seen).len(), 8);
    assert!(routes(&seen).iter().all(|route| *route == 0));
    assert_eq!(run.report().replicas.len(), 1);
}

/// Two routers, of which one goes with calls inside: these are still routed, to replicas that are there.
#[test]
fn a_removed_router_finishes_what_it_has() {
    let traffic = single_calls(20.0);
    let slow = Router { policy: Policy::LeastBusy, p50_ms: 2_000.0, p99_ms: 2_000.0, ..free_router() };
    let mut blueprint = fleet(traffic, slow.clone(), 3, free_replica());
    blueprint.routers.push(slow);
    blueprint.links.push((part(Part::Traffic, 0), part(Part::Router, 1)));
    blueprint.links.extend((0..3).map(|index| (part(Part::Router, 1), part(Part::Replica, index))));
    let mut run = start(&blueprint, 1, 0.0);
    run.run_to(10 * S);
    let inside = run.report().in_flight;
    assert!(inside > 20);
    blueprint.routers.pop();
    let gone = part(Part::Router, 1);
    blueprint.links.retain(|(from, to)| *from != gone && *to != gone);
    run.reconfigure(&blueprint);
    run.run_to(11 * S);
    // And now a replica goes, too, that the removed router used to send to.
    blueprint.resize_replicas(2);
    run.reconfigure(&blueprint);
    let seen = sights(&mut run, 13 * S);
    assert!(routes(&seen).iter().all(|route| *route < 2));
    let report = run.report();
    assert_eq!(report.rejected_total, 0);
    assert_eq!(report.sent, report.answered + report.in_flight);
    assert!(calls(&run).iter().all(|(_, call)| call.sent > 10 * S), "whoever was inside is answered");
}

/// A source that is removed begins no more sessions; those under way go on, and take no part that is gone.
#[test]
fn sessions_of_a_removed_source_go_on_on_the_parts_that_are_there() {
    let traffic = Traffic { steps: 30, think_s: 0.5, ..single_calls(4.0) };
    let mut blueprint = fleet(traffic, free_router(), 1, free_replica());
    blueprint.replicas.push(free_replica());
    // Straight to both replicas, without the router.
    blueprint.links = (0..2).map(|index| (part(Part::Traffic, 0), part(Part::Replica, index))).collect();
    let mut run = start(&blueprint, 1, 0.0);
    run.run_to(10 * S);
    let begun = sessions(&run).last().unwrap().number;
    blueprint.traffics.clear();
    blueprint.links.clear();
    run.reconfigure(&blueprint);
    let seen = sights(&mut run, 13 * S);
    assert!(answers(&seen).len() > 50, "they go on");
    blueprint.resize_replicas(1);
    run.reconfigure(&blueprint);
    let seen = sights(&mut run, 100 * S);
    assert!(!routes(&seen).is_empty());
    assert!(routes(&seen).iter().all(|route| *route == 0), "a removed replica takes no new call");
    assert_eq!(sessions(&run).last().unwrap().number, begun, "no session began");
    assert_eq!(run.report().in_flight, 0);
}

#[test]
fn another_rate_of_sessions_holds_from_now_on() {
    let mut run = start(&fleet(single_calls(0.001), free_router(), 1, free_replica()), 1, 0.0);
    run.run_to(10 * S);
    changed(&mut run, |blueprint| blueprint.traffics[0].sessions_per_s = 100.0);
    run.run_to(110 * S);
    // 10,000 Poisson sessions: four standard errors are 4 %.
    assert_near("sessions", run.report().sent as f64, 10_000.0, 0.04);
}
