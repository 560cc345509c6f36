//! Hand-made scenarios whose every moment is worked out on paper.

use super::fleets::*;
use warmpath::blueprint::{Balancer, BalancerPolicy, Blueprint, Part, Policy, Replica, Router, Traffic};
use warmpath::sim::{Cpu, Family, KvCache, Micros, NEVER, Reason, Roster, Run, Sight, Slots, Stage, Waiting, Why};

/// 1,000 tokens/s of prefill after 100 ms, 10 ms a token of decode.
fn replica() -> Replica {
    Replica {
        slots: 4,
        queue: 10,
        kv_tokens: 100_000,
        prefill_base_ms: 100.0,
        prefill_tokens_per_s: 1_000.0,
        decode_base_ms: 10.0,
        decode_per_call_ms: 0.0,
        large: false,
    }
}

/// The time of a prefill of so many tokens there.
const fn prefill(tokens: u64) -> Micros {
    100 * MS + tokens * MS
}

fn sticky(spill: u64) -> Router {
    Router { policy: Policy::StickySpill, affinity: 1.0, spill, ..free_router() }
}

fn cached(run: &Run, index: usize) -> u64 {
    run.report().replicas[index].cached_tokens
}

// --- A replica -------------------------------------------------------------------------------------------------------

#[test]
fn a_lone_call_takes_router_prefill_and_decode() {
    let router = Router { cpu_ms: 2.0, p50_ms: 5.0, p99_ms: 5.0, ..free_router() };
    let mut run = play(&behind(router, 1, replica()), &[call(7 * MS, &[1, 2], 600, 50)]);
    let prefilled = 7 * MS + 5 * MS + prefill(600);
    assert_eq!(answers(&sights(&mut run, NEVER)), [(prefilled + 500 * MS, 0)]);
    let report = run.report();
    assert_eq!(report.ttft_ms.max, Some(705.0));
    assert_eq!(report.latency_ms.max, Some(1_205.0));
    assert_eq!((report.replicas[0].cached_tokens, report.hit_tokens), (650, 0), "prompt and output stay");
}

#[test]
fn prefill_is_one_at_a_time_and_decode_is_shared() {
    // Two calls at once; the second's prefill waits for the first's. Decode at 10 ms alone and 15 ms with two.
    let replica = Replica { decode_base_ms: 5.0, decode_per_call_ms: 5.0, ..replica() };
    let mut run = play(&behind(free_router(), 1, replica), &[call(0, &[1], 100, 40), call(0, &[2], 100, 20)]);
    // First: alone from 0.2 s to 0.4 s, 20 of its 40 tokens. Then both at 15 ms: 20 tokens each take 0.3 s.
    assert_eq!(answers(&sights(&mut run, NEVER)), [(700 * MS, 0), (700 * MS, 0)]);
    assert_eq!(run.report().ttft_ms.max, Some(400.0));
}

#[test]
fn a_hit_spares_its_tokens_and_a_whole_hit_leaves_one() {
    let blocks = [1, 2, 3];
    let calls = [call(0, &blocks[..2], 1_024, 0), call(5 * S, &blocks, 1_200, 0), call(10 * S, &blocks, 1_200, 0)];
    let mut run = play(&behind(free_router(), 1, replica()), &calls);
    let expected = [(prefill(1_024), 0), (5 * S + prefill(176), 0), (10 * S + prefill(1), 0)];
    assert_eq!(answers(&sights(&mut run, NEVER)), expected);
    let report = run.report();
    assert_eq!((report.hit_tokens, report.prompt_tokens), (1_024 + 1_200, 1_024 + 1_200 + 1_200));
    assert_eq!(report.warm_calls, Some(2.0 / 3.0));
}

#[test]
fn a_shorter_last_block_is_another_chunk_than_the_whole_one() {
    let calls = [call(0, &[1, 2], 600, 0), call(5 * S, &[1, 2], 1_024, 0)];
    let mut run = play(&behind(free_router(), 1, replica()), &calls);
    run.run_to(NEVER);
    assert_eq!(run.report().hit_tokens, 512);
}

#[test]
fn a_prompt_under_way_is_not_yet_a_hit() {
    // The second comes while the first prefills, waits for the lane, and by then the first's prompt is computed.
    let calls = [call(0, &[1], 500, 100), call(100 * MS, &[1], 500, 100)];
    let mut run = play(&behind(free_router(), 1, replica()), &calls);
    run.run_to(NEVER);
    assert_eq!(run.report().hit_tokens, 500);
    // On another replica it is never a hit.
    let mut run = play(&behind(free_router(), 2, replica()), &calls);
    run.run_to(NEVER);
    assert_eq!(run.report().hit_tokens, 0);
}

#[test]
fn a_prompt_too_large_is_refused_before_a_full_queue_is_asked() {
    let replica = Replica { queue: 0, slots: 1, kv_tokens: 1_000, ..replica() };
    // The first runs; the second could wait for its room but for the queue; the third could never fit, by one token.
    let calls = [call(0, &[1], 512, 10), call(MS, &[2, 3], 900, 100), call(MS, &[2, 3], 900, 101)];
    let mut run = play(&behind(free_router(), 1, replica), &calls);
    let there = part(Part::Replica, 0);
    let expected = [(MS, there, Reason::ReplicaQueueFull), (MS, there, Reason::PromptTooLarge)];
    assert_eq!(failures(&sights(&mut run, NEVER)), expected);
}

#[test]
fn a_queue_of_none_takes_a_call_that_can_start_at_once() {
    let replica = Replica { queue: 0, ..replica() };
    let free_at = prefill(100);
    // While the lane is busy nobody; the moment it is free, one.
    let calls = [call(0, &[1], 100, 100), call(free_at - 1, &[2], 100, 1), call(free_at + 1, &[3], 100, 1)];
    let mut run = play(&behind(free_router(), 1, replica), &calls);
    let seen = sights(&mut run, NEVER);
    assert_eq!(failures(&seen), [(free_at - 1, part(Part::Replica, 0), Reason::ReplicaQueueFull)]);
    assert_eq!(answers(&seen).len(), 2);
}

#[test]
fn a_head_that_does_not_fit_holds_the_queue_and_evicts_nothing() {
    let replica = Replica { kv_tokens: 1_500, ..replica() };
    // An old prompt stays cached (300); the first of the three runs for long (500 + 200); the head wants 700, which does
    // not fit beside it; the small one behind would fit, and waits all the same.
    let calls =
        [call(0, &[9], 300, 0), call(S, &[1], 500, 200), call(2 * S, &[2, 3], 700, 200), call(2 * S, &[4], 50, 1)];
    let mut run = play(&behind(free_router(), 1, replica), &calls);
    run.run_to(3 * S);
    let replica = run.world().resource::<Roster>().replicas[0];
    assert_eq!(run.world().get::<Waiting>(replica).unwrap().len(), 2);
    assert_eq!(cached(&run, 0), 300 + 700);
    assert_eq!(run.report().replicas[0].evicted_tokens, 0);
    // The first is done at 1.6 s + 2 s = 3.6 s. The head then evicts: 300 of the old prompt, and the first's answer.
    let head = 3_600 * MS + prefill(700);
    let answered = answers(&sights(&mut run, NEVER));
    assert_eq!(answered, [(3_600 * MS, 0), (head + prefill(50) + 10 * MS, 0), (head + 2 * S, 0)]);
    assert_eq!(run.report().replicas[0].evicted_tokens, 300 + 200);
}

#[test]
fn a_later_chunk_leaves_before_an_earlier_one_and_the_answer_first() {
    let replica = Replica { kv_tokens: 1_700, slots: 1, ..replica() };
    // 1,224 + 100 stay. A call of 600 + 0 must evict 224 of them: the answer (100) and the last block (200) go.
    let calls = [call(0, &[1, 2, 3], 1_224, 100), call(5 * S, &[7, 8], 600, 0), call(10 * S, &[1, 2, 3], 1_224, 0)];
    let mut run = play(&behind(free_router(), 1, replica), &calls);
    run.run_to(9 * S);
    assert_eq!(run.report().replicas[0].evicted_tokens, 100 + 200);
    run.run_to(NEVER);
    assert_eq!(run.report().hit_tokens, 1_024);
}

// --- The router ------------------------------------------------------------------------------------------------------

#[test]
fn a_full_router_without_a_queue_rejects_at_once() {
    let router = Router { slots: 2, queue: 0, p50_ms: 10.0, p99_ms: 10.0, ..free_router() };
    let calls = [call(0, &[1], 1, 1), call(0, &[2], 1, 1), call(5 * MS, &[3], 1, 1), call(10 * MS + 1, &[4], 1, 1)];
    let mut run = play(&behind(router, 1, replica()), &calls);
    assert_eq!(failures(&sights(&mut run, NEVER)), [(5 * MS, part(Part::Router, 0), Reason::RouterQueueFull)]);
}

#[test]
fn a_slot_is_held_for_the_core_and_the_latency_but_not_for_the_answer() {
    // One core of 10 ms: the calls get it at 0, 10 and 20 ms, and are routed 4 ms later; the core is busy for 10 ms even
    // though the latency is shorter. The answer takes seconds and holds no slot.
    let router = Router { slots: 3, queue: 0, vcpu: 1, cpu_ms: 10.0, p50_ms: 4.0, p99_ms: 4.0, ..free_router() };
    let calls = [call(0, &[1], 1, 500), call(0, &[2], 1, 500), call(0, &[3], 1, 500)];
    let mut run = play(&behind(router, 3, replica()), &calls);
    let taken = |run: &Run| {
        let router = run.world().resource::<Roster>().routers[0];
        run.world().get::<Slots>(router).unwrap().taken.value()
    };
    for (moment, slots) in [(0, 3), (4 * MS - 1, 3), (4 * MS, 2), (14 * MS - 1, 2), (14 * MS, 1), (24 * MS, 0)] {
        run.run_to(moment);
        assert_eq!(taken(&run), slots, "at {moment}");
    }
    let answered: Vec<Micros> = answers(&sights(&mut run, NEVER)).iter().map(|answer| answer.0).collect();
    let rest = prefill(1) + 5 * S;
    assert_eq!(answered, [4 * MS + rest, 14 * MS + rest, 24 * MS + rest]);
}

#[test]
fn a_recorded_calls_home_is_who_was_sent_the_longest_part_if_that_is_half() {
    let first = call(0, &[1, 2], 1_024, 10);
    // 1,024 of 2,048 tokens are known: half, so home. Of 2,049 it is less: the least busy, here the lower number.
    for (blocks, tokens, expected) in [(4, 2_048, 1), (5, 2_049, 0)] {
        let blocks: Vec<u64> = (1..=blocks).collect();
        // Something else keeps replica 0 busy at first, so that the chain begins on replica 1.
        let calls = [call(0, &[50], 1, 1_000), first.clone(), call(30 * S, &blocks, tokens, 1)];
        let mut run = play(&behind(sticky(0), 2, replica()), &calls);
        let routes = routes(&sights(&mut run, NEVER));
        assert_eq!(routes, [0, 1, expected], "{tokens} tokens");
    }
}

#[test]
fn a_call_spills_from_as_many_waiting_on_and_moves_the_home() {
    // Prefill takes 1.1 s: calls of one chain pile up at their home.
    let chain = [1, 2];
    let same = |time| call(time, &chain, 1_000, 100);
    let calls = [same(0), same(1), same(2), same(3), same(4)];
    let mut run = play(&behind(sticky(2), 3, replica()), &calls);
    run.watch();
    run.run_to(4);
    let whys: Vec<Why> = run.watched().decisions.iter().rev().map(|decision| decision.why).collect();
    // No home yet; then with 0 and 1 waiting it stays; with 2 waiting it spills to replica 1, which is the home from
    // then on: the last one goes there and waits.
    let spilled = Why::Spilled { waiting: 2 };
    assert_eq!(whys, [Why::NoHome, Why::Sticky, Why::Sticky, spilled, Why::Sticky]);
    assert_eq!(run.report().spills, 1);
    let waiting: Vec<u64> = run
        .world()
        .resource::<Roster>()
        .replicas
        .iter()
        .map(|r| run.world().get::<Waiting>(*r).unwrap().len())
        .collect();
    assert_eq!(waiting, [2, 1, 0]);
}

#[test]
fn a_home_is_set_only_when_the_replica_accepts() {
    let replica = Replica { queue: 0, ..replica() };
    let chain = [1, 2];
    let calls = [
        call(0, &[50], 1, 1_000),      // to replica 0, least busy
        call(MS, &[60], 1, 1_000),     // to replica 1
        call(2 * MS, &chain, 900, 10), // both lanes are busy: 0 is least busy by number, and refuses
        call(S, &chain, 900, 10),      // no home was set: the least busy again, 0, and it takes it
        call(4 * S, &chain, 900, 10),
    ];
    let mut run = play(&behind(sticky(0), 2, replica), &calls);
    run.watch();
    run.run_to(4 * S);
    let whys: Vec<Why> = run.watched().decisions.iter().rev().map(|decision| decision.why).collect();
    assert_eq!(whys, [Why::NoHome, Why::NoHome, Why::NoHome, Why::NoHome, Why::Sticky]);
    run.run_to(NEVER);
    assert_eq!(failed(&run.report(), "replica_queue_full"), 1);
}

#[test]
fn an_eviction_does_not_move_a_home() {
    let replica = Replica { kv_tokens: 1_200, ..replica() };
    let calls = [
        call(0, &[1, 2], 1_000, 1),
        call(5 * S, &[1, 9, 9], 1_100, 1), // less than half is known: the least busy, replica 0, where it evicts block 2
        call(10 * S, &[1, 2], 1_000, 1),
    ];
    let mut run = play(&behind(sticky(0), 2, replica), &calls);
    run.watch();
    run.run_to(11 * S);
    assert_eq!(run.watched().decisions[0].why, Why::Sticky);
    assert_eq!(run.watched().decisions[0].replica.index, 0);
    assert_eq!(run.report().hit_tokens, 512 + 512);
}

#[test]
fn a_router_remembers_a_million_chunks_and_forgets_the_least_recently_used() {
    for (others, expected) in [(1_650, Why::Sticky), (1_670, Why::NoHome)] {
        let mut calls = vec![call(0, &[1, 2], 1_000, 0)];
        // Each of 600 chunks that nobody else has.
        calls.extend((1..=others).map(|n: u64| {
            let blocks: Vec<u64> = (0..600).map(|block| n * 1_000 + block).collect();
            call(n * S, &blocks, 600 * BLOCK, 0)
        }));
        calls.push(call((others + 1) * S, &[1, 2], 1_000, 0));
        let mut run = play(&behind(sticky(0), 2, Replica { kv_tokens: 400_000, ..free_replica() }), &calls);
        run.watch();
        run.run_to(NEVER);
        assert_eq!(run.watched().decisions[0].why, expected, "after {} chunks", others * 600);
    }
}

#[test]
fn recorded_calls_go_to_the_routers_in_turn() {
    let mut blueprint = behind(free_router(), 2, free_replica());
    blueprint.routers.push(free_router());
    let routers = [part(Part::Router, 0), part(Part::Router, 1)];
    blueprint.links = (0..2).map(|index| (routers[index], part(Part::Replica, index))).collect();
    let calls: Vec<_> = (0..6).map(|id| call(id * S, &[id], 10, 1)).collect();
    assert_eq!(routes(&sights(&mut play(&blueprint, &calls), NEVER)), [0, 1, 0, 1, 0, 1]);
}

#[test]
fn prefix_hit_is_drawn_under_every_policy_and_straight_traffic_always_finds() {
    let traffic = Traffic { steps: 10, input_tokens: 50, output_tokens: 5, think_s: 0.5, ..single_calls(2.0) };
    for policy in [Policy::StickySpill, Policy::RoundRobin, Policy::Random, Policy::LeastBusy] {
        let hit = |prefix_hit| {
            let router = Router { policy, affinity: 1.0, prefix_hit, ..free_router() };
            report(&fleet(traffic.clone(), router, 1, free_replica()), 1, 600.0, 0.0)
        };
        let (always, half, never) = (hit(1.0), hit(0.5), hit(0.0));
        assert_eq!(never.hit_tokens, 0, "{policy}");
        // On one replica with room for all, every step but a session's first finds all of the step before: 9 of 10 calls,
        // of which half find nothing. With some 11,000 draws on hits of different sizes four standard errors are 5 %.
        assert_near("half", half.hit_tokens as f64 / always.hit_tokens as f64, 0.5, 0.05);
        // One draw a call: prefills are free here, so the same calls come at the same moments.
        assert_eq!((always.sent, always.answered), (half.sent, half.answered));
    }
    let straight = report(&lone_replica(traffic, free_replica()), 1, 600.0, 0.0);
    assert!(straight.hit_rate.unwrap() > 0.8);
}

#[test]
fn a_call_that_finds_nothing_computes_all_and_its_chunks_stay_shared() {
    let router = Router { prefix_hit: 0.0, ..free_router() };
    let calls = [call(0, &[1], 500, 0), call(5 * S, &[1], 500, 0)];
    let mut run = play(&behind(router, 1, replica()), &calls);
    assert_eq!(answers(&sights(&mut run, NEVER)), [(prefill(500), 0), (5 * S + prefill(500), 0)]);
    assert_eq!((run.report().hit_tokens, cached(&run, 0)), (0, 500));
}

// --- Shared prefixes and sessions ------------------------------------------------------------------------------------

#[test]
fn the_home_of_a_shared_prefix_is_the_first_that_took_it_until_that_is_gone() {
    let traffic = Traffic {
        shared: 1.0,
        shared_tokens: 500,
        base_tokens: 10,
        steps: 3,
        think_s: 1.0,
        output_tokens: 50,
        ..single_calls(3.0)
    };
    let mut blueprint = fleet(traffic, sticky(0), 3, Replica { queue: 10_000, ..replica() });
    let mut run = start(&blueprint, 1, 0.0);
    let seen = routes(&sights(&mut run, 60 * S));
    assert!(seen.len() > 100 && seen.iter().all(|route| *route == 0), "all go to the first, however long its queue");
    // Others take it for a while, in turn: that moves no home.
    blueprint.routers[0].policy = Policy::RoundRobin;
    run.reconfigure(&blueprint);
    let seen = routes(&sights(&mut run, 70 * S));
    assert!(seen.contains(&1) && seen.contains(&2));
    blueprint.routers[0].policy = Policy::StickySpill;
    run.reconfigure(&blueprint);
    let seen = routes(&sights(&mut run, 90 * S));
    assert!(seen.len() > 20 && seen.iter().all(|route| *route == 0), "others that took it are not its home");
}

#[test]
fn a_removed_home_is_forgotten() {
    // Replica 1 becomes the home of the shared prefix: replica 0 is kept busy by a source of its own at the start.
    let shared = Traffic { shared: 1.0, shared_tokens: 100, ..single_calls(5.0) };
    let other = Traffic { output_tokens: 100_000, ..single_calls(50.0) };
    let mut blueprint = fleet(shared, sticky(0), 2, Replica { slots: 100_000, queue: 100_000, ..free_replica() });
    blueprint.replicas.iter_mut().for_each(|replica| replica.decode_base_ms = 10.0);
    blueprint.traffics.push(other);
    blueprint.links.push((part(Part::Traffic, 1), part(Part::Replica, 0)));
    let mut run = start(&blueprint, 2, 0.0);
    run.run_to(20 * S);
    let on_1 = run.report().replicas[1].prompt_tokens;
    assert!(on_1 > 5_000, "the home is replica 1");
    blueprint.resize_replicas(1);
    run.reconfigure(&blueprint);
    let seen = sights(&mut run, 30 * S);
    assert!(routes(&seen).iter().all(|route| *route == 0));
    run.watch();
    let newest = run.watched().decisions.front().map(|decision| decision.why);
    assert_eq!(newest, Some(Why::Sticky), "replica 0 is the home now");
    // A replica of the same number again is a new one, and empty.
    blueprint.resize_replicas(2);
    blueprint.links.retain(|link| *link != (part(Part::Traffic, 1), part(Part::Replica, 1)));
    run.reconfigure(&blueprint);
    assert_eq!(cached(&run, 1), 0);
    assert!(routes(&sights(&mut run, 40 * S)).iter().all(|route| *route == 0), "the home stays where it is");
}

#[test]
fn a_sessions_home_is_who_served_its_latest_step() {
    let traffic = Traffic { steps: 40, think_s: 0.5, ..single_calls(0.5) };
    let mut blueprint = fleet(traffic, free_router(), 4, free_replica());
    let mut run = start(&blueprint, 3, 0.0);
    run.run_to(30 * S);
    // So far in turn. From now on each session stays with the replica of its last call.
    let mut last = std::collections::BTreeMap::new();
    let mut stays = 0;
    for (_, sight) in sights(&mut run, 40 * S) {
        if let Sight::Moved { to, family, .. } = sight
            && to.part == Part::Replica
        {
            last.insert(family, to.index);
        }
    }
    blueprint.routers[0] = sticky(0);
    run.reconfigure(&blueprint);
    for (_, sight) in sights(&mut run, 80 * S) {
        if let Sight::Moved { to, family, .. } = sight
            && to.part == Part::Replica
            && let Some(home) = last.get(&family)
        {
            assert_eq!(to.index, *home);
            stays += 1;
        }
    }
    assert!(stays > 100);
}

// --- Clients that give up ----------------------------------------------------------------------------------------------

/// One call, alone: nobody else comes while it is there. Returns the run at its sending, and that moment.
fn alone(router: Router, replica: Replica, timeout_s: f64, input: u64, output: u64) -> (Run, Micros) {
    let traffic = Traffic { input_tokens: input, output_tokens: output, timeout_s, ..single_calls(1e-4) };
    let mut run = start(&fleet(traffic, router, 1, replica), 4, 0.0);
    while sessions(&run).is_empty() {
        run.step();
    }
    let sent = run.now();
    run.watch();
    (run, sent)
}

#[test]
fn a_client_that_gives_up_stops_its_decode_at_once_and_its_prompt_stays() {
    let (mut run, sent) = alone(free_router(), replica(), 2.0, 900, 1_000);
    let seen = sights(&mut run, sent + 3 * S);
    assert_eq!(failures(&seen), [(sent + 2 * S, part(Part::Replica, 0), Reason::TimedOut)]);
    let report = run.report();
    assert_eq!((report.ttft_ms.max, report.answered, report.tasks_failed), (Some(1_000.0), 0, 1));
    assert_eq!(report.replicas[0].cached_tokens, 900);
    let running = report.replicas[0].mean_running.unwrap() * run.now() as f64;
    assert!((running - 2e6).abs() < 1.0, "it ran for 2 s: {running}");
}

#[test]
fn a_client_that_gives_up_during_prefill_leaves_it_to_finish() {
    let (mut run, sent) = alone(free_router(), replica(), 2.0, 3_900, 1_000);
    let seen = sights(&mut run, sent + 2 * S);
    assert_eq!(failures(&seen), [(sent + 2 * S, part(Part::Replica, 0), Reason::TimedOut)]);
    assert_eq!(run.report().in_flight, 0, "its fate is decided");
    let replica = run.world().resource::<Roster>().replicas[0];
    for (moment, slots) in [(sent + 4 * S - 1, 1), (sent + 4 * S, 0)] {
        run.run_to(moment);
        assert_eq!(run.world().get::<Slots>(replica).unwrap().taken.value(), slots);
    }
    let report = run.report();
    assert_eq!((report.ttft_ms.count, report.replicas[0].cached_tokens), (0, 3_900));
    assert_eq!((report.replicas[0].prompt_tokens, report.replicas[0].hit_tokens), (3_900, 0));
}

#[test]
fn a_client_that_gives_up_during_the_latency_never_comes_to_a_replica() {
    let router = Router { p50_ms: 3_000.0, p99_ms: 3_000.0, ..free_router() };
    let (mut run, sent) = alone(router, replica(), 2.0, 100, 10);
    let router = run.world().resource::<Roster>().routers[0];
    let seen = sights(&mut run, sent + 3 * S - 1);
    assert_eq!(failures(&seen), [(sent + 2 * S, part(Part::Router, 0), Reason::TimedOut)]);
    assert_eq!(run.world().get::<Slots>(router).unwrap().taken.value(), 1);
    run.run_to(sent + 9 * S);
    assert_eq!(run.world().get::<Slots>(router).unwrap().taken.value(), 0);
    assert_eq!((run.report().prompt_tokens, cached(&run, 0)), (0, 0));
}

#[test]
fn clients_that_give_up_leave_queues_at_once() {
    // A router slot is taken for 10 s by whoever comes first, and calls come every second or so: those behind leave its
    // queue after 1.5 s each, exactly.
    let traffic = Traffic { timeout_s: 1.5, ..single_calls(2.0) };
    let router = Router { slots: 1, p50_ms: 10_000.0, p99_ms: 10_000.0, ..free_router() };
    let mut run = start(&fleet(traffic, router, 1, replica()), 5, 0.0);
    for _ in 0..400 {
        run.step();
        for (_, call) in calls(&run).into_iter().filter(|(_, call)| call.in_flight()) {
            assert!(run.now() < call.sent + 1_500 * MS, "it is gone at 1.5 s");
        }
    }
    let report = run.report();
    assert!(report.rejected_total > 50);
    assert_eq!(failed(&report, "timed_out"), report.rejected_total);
    let router = run.world().resource::<Roster>().routers[0];
    assert!(run.world().get::<Waiting>(router).unwrap().len() < 12, "who left is not counted as waiting");

    // The same in front of a replica that can hold but one of them.
    let replica = Replica { slots: 1, ..replica() };
    let traffic = Traffic { timeout_s: 1.5, output_tokens: 10_000, ..single_calls(2.0) };
    let mut run = start(&fleet(traffic, free_router(), 1, replica), 6, 0.0);
    run.run_to(300 * S);
    let report = run.report();
    assert_eq!(report.answered, 0);
    assert_eq!(report.latency_ms.count, 0);
    assert_eq!(failed(&report, "timed_out") + failed(&report, "replica_queue_full"), report.rejected_total);
    // Whenever one is stopped the next one starts: the slot is never free for long.
    let running = report.replicas[0].mean_running.unwrap();
    assert!(running > 0.8, "{running}");
}

// --- Crashes ---------------------------------------------------------------------------------------------------------

/// A router whose only core is always busy, and twice the traffic that it can take.
fn overloaded(steps: u64) -> Blueprint {
    let router = Router { vcpu: 1, cpu_ms: 100.0, slots: 20, queue: 20, ..sticky(0) };
    fleet(Traffic { steps, think_s: 30.0, ..single_calls(20.0) }, router, 3, free_replica())
}

/// Above 90 % busy it crashes with chance 0.2 x (u - 0.9) a second: with the core always busy once in 50 s. After a
/// restart the core first waits some 50 ms for a call, which costs the chances of the first seconds 0.023 in sum, as much
/// as 1.1 s more. With 10 s down, n cycles take 61.1 s each, give or take 50 s / sqrt(n).
#[test]
fn a_router_that_is_always_busy_crashes_every_fifty_seconds_of_work() {
    let report = report(&overloaded(1), 1, 40_000.0, 0.0);
    let cycles = report.router_crashes as f64;
    let error = 4.0 * 50.0 / cycles.sqrt();
    assert!((40_000.0 / cycles - 61.1).abs() < error, "{cycles} crashes");
    let down = failed(&report, "router_down") as f64 / report.sent as f64;
    assert_near("refused while down", down, 10.0 / 61.1, error / 61.1);
}

#[test]
fn a_crash_fails_all_inside_and_refuses_for_ten_seconds_and_forgets() {
    let mut run = start(&overloaded(3), 2, 0.0);
    let mut crash = None;
    let router = run.world().resource::<Roster>().routers[0];
    run.watch();
    while crash.is_none() && run.now() < 2_000 * S {
        let inside = |run: &Run| {
            let in_router = |stage| matches!(stage, Stage::RouterQueue | Stage::RouterCpu | Stage::RouterLatency);
            calls(run).iter().filter(|(_, call)| in_router(call.stage)).count()
        };
        let before = inside(&run);
        run.step();
        let seen: Vec<_> = run.watched().sights.drain(..).collect();
        let crashed = failures(&seen).into_iter().filter(|failure| failure.2 == Reason::RouterCrashed).count();
        if crashed > 0 {
            assert_eq!((crashed, inside(&run)), (before, 0));
            crash = Some(run.now());
        }
    }
    let crash = crash.unwrap();
    assert_eq!(crash % S, 0, "the check is once a second");
    assert_eq!(run.report().router_crashes, 1);
    assert_eq!(run.world().get::<Cpu>(router).unwrap().busy.value(), 0);
    let caches: Vec<u64> = (0..3).map(|index| cached(&run, index)).collect();
    let begun = sessions(&run).last().unwrap().number;
    let seen = sights(&mut run, crash + 10 * S - 1);
    assert!(routes(&seen).is_empty());
    let refused = failures(&seen);
    assert!(refused.len() > 30 && refused.iter().all(|failure| failure.2 == Reason::RouterDown));
    assert_eq!((0..3).map(|index| cached(&run, index)).collect::<Vec<_>>(), caches, "the replicas keep their caches");
    // Up again: a session that began before has no home any more, though it had one.
    let mut whys = std::collections::BTreeMap::new();
    while run.now() < crash + 20 * S {
        run.watched().decisions.clear();
        run.step();
        for decision in &run.watched().decisions {
            assert!(decision.at >= crash + 10 * S);
            whys.entry(decision.family).or_insert((decision.why, decision.prompt_tokens));
        }
    }
    let old = whys.iter().filter(|(family, _)| matches!(family, Family::Session(number) if *number <= begun));
    let later_steps: Vec<Why> = old.filter(|(_, (_, tokens))| *tokens > 1).map(|(_, (why, _))| *why).collect();
    assert!(later_steps.len() > 10 && later_steps.iter().all(|why| *why == Why::NoHome), "{later_steps:?}");
}

#[test]
fn a_router_below_nine_tenths_never_crashes() {
    // 80 % busy in services of 1 ms: over 5 s the share is never 90 %.
    let router = Router { vcpu: 1, cpu_ms: 1.0, ..free_router() };
    assert_eq!(report(&fleet(single_calls(800.0), router, 1, free_replica()), 1, 300.0, 0.0).router_crashes, 0);
}

// --- Several parts -----------------------------------------------------------------------------------------------------

#[test]
fn traffic_takes_its_next_parts_in_turn_call_by_call() {
    let mut blueprint = fleet(Traffic { steps: 4, ..single_calls(5.0) }, free_router(), 4, free_replica());
    blueprint.routers.push(free_router());
    let (traffic, routers) = (part(Part::Traffic, 0), [part(Part::Router, 0), part(Part::Router, 1)]);
    blueprint.links = vec![(traffic, routers[0]), (traffic, routers[1])];
    // Each router has two replicas of its own.
    for index in 0..4 {
        blueprint.links.push((routers[index / 2], part(Part::Replica, index)));
    }
    let mut run = start(&blueprint, 1, 0.0);
    let seen = sights(&mut run, 20 * S);
    let to_routers: Vec<usize> = seen
        .iter()
        .filter_map(|(_, sight)| match sight {
            Sight::Moved { to, .. } if to.part == Part::Router => Some(to.index),
            _ => None,
        })
        .collect();
    assert!(to_routers.len() > 100);
    assert!(to_routers.iter().enumerate().all(|(turn, router)| *router == turn % 2));
    // Each router's turn over its own two: 0, 2, 1, 3, and again.
    assert!(routes(&seen).iter().enumerate().all(|(turn, replica)| *replica == [0, 2, 1, 3][turn % 4]));
}

#[test]
fn a_balancer_sends_to_the_least_busy_or_in_turn_and_takes_no_time() {
    for (policy, expected) in [(BalancerPolicy::RoundRobin, [0, 1, 0, 1]), (BalancerPolicy::LeastBusy, [0, 1, 1, 1])] {
        let slow = Replica { decode_base_ms: 1e6, ..free_replica() };
        let traffic = single_calls(1.0);
        let mut blueprint = Blueprint {
            traffics: vec![traffic],
            balancers: vec![Balancer { policy }],
            replicas: vec![slow, free_replica()],
            links: vec![(part(Part::Traffic, 0), part(Part::Balancer, 0))],
            ..Blueprint::default()
        };
        blueprint.links.extend((0..2).map(|index| (part(Part::Balancer, 0), part(Part::Replica, index))));
        let mut run = start(&blueprint, 1, 0.0);
        let seen = routes(&sights(&mut run, 30 * S));
        // Least busy: the first goes to 0 and stays there for long; from then on 1 is always empty.
        assert_eq!(seen[..4], expected);
        let report = run.report();
        assert_eq!((report.balancers[0].calls, report.ttft_ms.max), (report.sent, Some(0.0)));
    }
}

#[test]
fn a_part_that_leads_nowhere_fails_its_calls() {
    let mut blueprint = fleet(single_calls(5.0), free_router(), 1, free_replica());
    blueprint.links.retain(|(from, _)| from.part != Part::Router);
    let report_ = report(&blueprint, 1, 10.0, 0.0);
    assert!(report_.sent > 10);
    assert_eq!(failed(&report_, "no_way_onward"), report_.sent);
    blueprint.links.clear();
    let report_ = report(&blueprint, 1, 10.0, 0.0);
    assert_eq!(failed(&report_, "no_way_onward"), report_.sent);
}

#[test]
fn each_traffic_source_has_a_shared_prefix_of_its_own() {
    let source = Traffic { shared: 1.0, shared_tokens: 400, ..single_calls(4.0) };
    let mut blueprint = lone_replica(source.clone(), free_replica());
    blueprint.traffics.push(source);
    blueprint.links.push((part(Part::Traffic, 1), part(Part::Replica, 0)));
    let mut run = start(&blueprint, 1, 0.0);
    run.run_to(20 * S);
    let report = run.report();
    // Prefills take no time: every call finds its prefix but the first of each source.
    assert_eq!(report.hit_tokens, 400 * (report.sent - 2));
    let replica = run.world().resource::<Roster>().replicas[0];
    let cache = run.world().get::<KvCache>(replica).unwrap();
    let holds = |traffic| cache.contents().any(|(family, ..)| family == Some(Family::Shared(traffic)));
    assert!(holds(0) && holds(1) && !holds(2));
}

#[test]
fn a_step_holds_all_of_the_prompt_and_answer_before_it() {
    let traffic = Traffic {
        steps: 3,
        shared: 0.5,
        shared_tokens: 100,
        base_tokens: 20,
        unshared_base_tokens: 300,
        input_tokens: 7,
        output_tokens: 11,
        ..single_calls(0.5)
    };
    let mut run = start(&lone_replica(traffic, free_replica()), 1, 0.0);
    let seen = sights(&mut run, 200 * S);
    let mut sizes: Vec<u64> = seen
        .iter()
        .filter_map(|(_, sight)| match sight {
            Sight::Moved { prompt_tokens, .. } => Some(*prompt_tokens),
            _ => None,
        })
        .collect();
    sizes.sort_unstable();
    sizes.dedup();
    // Base and input, then 11 + 7 more with each step; with the shared prefix 120, without it 300.
    assert_eq!(sizes, [127, 145, 163, 307, 325, 343]);
}
