//! The engine against the naive one: on the recorded hour where it is there, and on random small traces.

use super::fleets::*;
use super::naive::{self, Fate};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use warmpath::blueprint::{Policy, Replica, Router};
use warmpath::sim::{Micros, NEVER, Reason, RecordedCall, Run, RunSpec, TraceReader};

/// The recorded hour, or none where it is not there.
fn recorded() -> Option<PathBuf> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/traces/conversation_trace.jsonl"));
    if path.exists() {
        return Some(path);
    }
    println!("skipped: there is no recorded trace at {}", path.display());
    None
}

fn reader(path: &PathBuf) -> TraceReader<BufReader<File>> {
    TraceReader::new(BufReader::new(File::open(path).unwrap()))
}

/// Reads a trace without the program's reader.
fn read_plainly(path: &PathBuf) -> Vec<RecordedCall> {
    let text = std::fs::read_to_string(path).unwrap();
    let number = |line: &serde_json::Value, key: &str| line[key].as_u64().unwrap();
    text.lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|line| RecordedCall {
            time: number(&line, "timestamp") * MS,
            blocks: line["hash_ids"].as_array().unwrap().iter().map(|id| id.as_u64().unwrap()).collect(),
            prompt_tokens: number(&line, "input_length"),
            output_tokens: number(&line, "output_length"),
        })
        .collect()
}

#[test]
fn the_reader_reads_what_is_written() {
    let Some(path) = recorded() else { return };
    let read: Vec<RecordedCall> = reader(&path).map(Result::unwrap).collect();
    assert!(read == read_plainly(&path));
}

/// The router of a replay, but for chance.
fn plain_router() -> Router {
    Router { policy: Policy::RoundRobin, p50_ms: 5.0, p99_ms: 5.0, ..Router::default() }
}

#[test]
fn the_recorded_hour_hits_exactly_what_the_naive_engine_hits() {
    let Some(path) = recorded() else { return };
    let calls = read_plainly(&path);
    let fleet = behind(plain_router(), 8, Replica::default());
    let spec = RunSpec { blueprint: fleet.clone(), seed: 1, warmup: 0, recording: Some(Box::new(reader(&path))) };
    let mut run = Run::new(spec);
    run.run_to(NEVER);
    let report = run.report();
    let naive = naive::run(&calls, &fleet.routers[0], &fleet.replicas);

    let prompts: u64 = calls.iter().map(|call| call.prompt_tokens).sum();
    assert_eq!((report.sent, report.answered), (calls.len() as u64, calls.len() as u64));
    assert_eq!(report.prompt_tokens, prompts);
    assert_eq!(report.hit_tokens, naive.hits.iter().sum::<u64>());
    for (index, replica) in report.replicas.iter().enumerate() {
        assert_eq!(replica.hit_tokens, naive.hits[index], "replica {index}");
        assert_eq!(replica.prompt_tokens, naive.prompts[index], "replica {index}");
        assert_eq!(replica.evicted_tokens, naive.evicted[index], "replica {index}");
        let answered = |(_, fate): &&(usize, Fate)| matches!(fate, Fate::Answered { replica, .. } if *replica == index);
        assert_eq!(replica.answered, naive.fates.iter().filter(answered).count() as u64);
    }
    // Time to first token, to the microsecond where no decode was rounded another way; means then differ by less.
    let mean = naive.ttfts.iter().map(|ttft| *ttft as f64).sum::<f64>() / naive.ttfts.len() as f64 / 1e3;
    assert_near("TTFT", report.ttft_ms.mean.unwrap(), mean, 1e-6);
    assert_near("TTFT", report.ttft_ms.max.unwrap(), *naive.ttfts.iter().max().unwrap() as f64 / 1e3, 1e-6);
    // Percentiles are nearest-rank, off by at most 1 %.
    let mut sorted = naive.ttfts.clone();
    sorted.sort_unstable();
    let rank = |percent: usize| sorted[(sorted.len() * percent).div_ceil(100) - 1] as f64 / 1e3;
    assert_near("TTFT p50", report.ttft_ms.p50.unwrap(), rank(50), 0.01);
    assert_near("TTFT p90", report.ttft_ms.p90.unwrap(), rank(90), 0.01);
    assert_near("TTFT p95", report.ttft_ms.p95.unwrap(), rank(95), 0.01);
    assert_near("TTFT p99", report.ttft_ms.p99.unwrap(), rank(99), 0.01);

    // Without time the same LRU: what time changes is which of two calls of a conversation, close together, comes before
    // the other has computed its prompt, and the room that running calls hold. Here some 1 % of the hits.
    let untimed: u64 = (0..8).map(|replica| naive::untimed_hits(calls.iter().skip(replica).step_by(8), 300_000)).sum();
    assert_near("untimed", report.hit_tokens as f64, untimed as f64, 0.03);
}

/// Every policy that has no chance in it, on the first part of the recorded hour with caches that are too small and
/// queues that fill.
#[test]
fn the_recorded_hour_on_small_replicas_ends_as_in_the_naive_engine() {
    let Some(path) = recorded() else { return };
    let calls: Vec<RecordedCall> = read_plainly(&path).into_iter().take(1_200).collect();
    let replica =
        Replica { slots: 6, queue: 5, kv_tokens: 90_000, prefill_tokens_per_s: 9_000.0, ..Replica::default() };
    let sticky = Router { policy: Policy::StickySpill, affinity: 1.0, ..plain_router() };
    let routers = [
        Router { policy: Policy::LeastBusy, ..plain_router() },
        Router { spill: 0, ..sticky.clone() },
        Router { spill: 3, slots: 2, vcpu: 1, queue: 6, cpu_ms: 20.0, p50_ms: 30.0, p99_ms: 30.0, ..sticky },
    ];
    for router in routers {
        let seen = compare(&calls, &router, &vec![replica.clone(); 5]).unwrap();
        assert!(seen.contains_key("replica_queue_full"), "{seen:?}");
    }
}

/// Runs calls in both engines and holds every fate, hit and time of the one against the other. Returns the fates seen.
fn compare(
    calls: &[RecordedCall],
    router: &Router,
    replicas: &[Replica],
) -> Result<BTreeMap<&'static str, u64>, TestCaseError> {
    let mut fleet = behind(router.clone(), replicas.len(), free_replica());
    fleet.replicas = replicas.to_vec();
    let mut run = play(&fleet, calls);
    let sights = sights(&mut run, NEVER);
    let report = run.report();
    let naive = naive::run(calls, router, replicas);

    let mut expected: Vec<(Micros, Option<usize>, Option<Reason>)> = Vec::new();
    for (_, fate) in &naive.fates {
        expected.push(match *fate {
            Fate::Answered { replica, at } => (at, Some(replica), None),
            Fate::RouterQueueFull { at } => (at, None, Some(Reason::RouterQueueFull)),
            Fate::ReplicaQueueFull { replica, at } => (at, Some(replica), Some(Reason::ReplicaQueueFull)),
            Fate::PromptTooLarge { replica, at } => (at, Some(replica), Some(Reason::PromptTooLarge)),
        });
    }
    let answered = answers(&sights).into_iter().map(|(at, replica)| (at, Some(replica), None));
    let failed = failures(&sights).into_iter().map(|(at, place, reason)| {
        let replica = (reason != Reason::RouterQueueFull).then_some(place.index);
        (at, replica, Some(reason))
    });
    let mut found: Vec<_> = answered.chain(failed).collect();
    // By place and reason, then by time: the n-th end of a kind at a place is held against the n-th. (A replica that fails
    // a call is named by the router that got the refusal or by itself: the reason tells.)
    let order = |list: &mut Vec<(Micros, Option<usize>, Option<Reason>)>| {
        list.sort_by_key(|(at, replica, reason)| (*replica, reason.map(|reason| reason as u8), *at));
    };
    order(&mut expected);
    order(&mut found);
    prop_assert_eq!(found.len(), calls.len());
    prop_assert_eq!(expected.len(), calls.len());
    for (found, expected) in found.iter().zip(&expected) {
        prop_assert_eq!((found.1, found.2), (expected.1, expected.2));
        // A finish lies at the nearest microsecond to a sum of reals; two ways to add them may fall on either side.
        prop_assert!(found.0.abs_diff(expected.0) <= 2, "{:?} for {:?}", found, expected);
    }
    for (index, replica) in report.replicas.iter().enumerate() {
        prop_assert_eq!(replica.hit_tokens, naive.hits[index]);
        prop_assert_eq!(replica.prompt_tokens, naive.prompts[index]);
        prop_assert_eq!(replica.evicted_tokens, naive.evicted[index]);
    }
    prop_assert_eq!(report.spills, naive.spills);
    prop_assert_eq!(report.ttft_ms.count, naive.ttfts.len() as u64);
    let mut seen = BTreeMap::new();
    for (_, _, reason) in found {
        *seen.entry(reason.map_or("answered", Reason::key)).or_default() += 1;
    }
    Ok(seen)
}

/// Conversations: each call continues one of a few chains, or branches off somewhere, or begins anew.
fn traces() -> impl Strategy<Value = Vec<RecordedCall>> {
    let call = (0u64..400, 0usize..6, 0usize..5, 0u64..4, 1u64..=BLOCK, prop_oneof![Just(0u64), 1u64..120]);
    prop::collection::vec(call, 1..250).prop_map(|calls| {
        let mut time = 0;
        let mut chains: Vec<Vec<u64>> = vec![Vec::new(); 6];
        let mut fresh = 100;
        calls
            .into_iter()
            .map(|(pause, which, keep, more, last, output)| {
                // Half of the calls come together with the one before.
                time += pause.saturating_sub(200) * MS;
                let chain = &mut chains[which];
                if keep == 0 {
                    chain.truncate(1);
                } else if chain.len() > 12 {
                    chain.truncate(12 / keep);
                }
                for _ in 0..=more {
                    fresh += 1;
                    chain.push(if chain.is_empty() { which as u64 % 3 } else { fresh });
                }
                let tokens = BLOCK * (chain.len() as u64 - 1) + last;
                RecordedCall { time, blocks: chain.as_slice().into(), prompt_tokens: tokens, output_tokens: output }
            })
            .collect()
    })
}

fn routers() -> impl Strategy<Value = Router> {
    let rule = prop_oneof![
        (Just(Policy::RoundRobin), Just(1.0)),
        (Just(Policy::LeastBusy), Just(1.0)),
        (Just(Policy::StickySpill), Just(0.0)),
        (Just(Policy::StickySpill), Just(1.0)),
        (Just(Policy::StickySpill), Just(1.0)),
    ];
    let time = (prop_oneof![Just(0.0), 0.0f64..60.0], prop_oneof![Just(0.0), 0.0f64..40.0]);
    (rule, 0u64..5, 1u64..6, prop_oneof![Just(100u64), 0u64..6], 1u64..4, time).prop_map(
        |((policy, affinity), spill, slots, queue, vcpu, (latency, cpu_ms))| Router {
            policy,
            affinity,
            spill,
            slots,
            queue,
            vcpu,
            cpu_ms,
            p50_ms: latency,
            p99_ms: latency,
            ..free_router()
        },
    )
}

/// Crashes are chance: only runs without one can be held against an engine that has none.
fn cannot_crash(calls: &[RecordedCall], router: &Router) -> bool {
    router.cpu_ms == 0.0 || {
        let run = play(&behind(router.clone(), 1, free_replica()), calls);
        let mut run = run;
        run.run_to(NEVER);
        run.report().router_crashes == 0
    }
}

fn replicas() -> impl Strategy<Value = Vec<Replica>> {
    let replica = (1u64..6, prop_oneof![Just(50u64), 0u64..5], 2_000u64..20_000, 0.0f64..30.0, 3_000.0f64..90_000.0);
    let pace = (0.0f64..9.0, 0.0f64..3.0);
    prop::collection::vec((replica, pace), 1..5).prop_map(|list| {
        let replica = |((slots, queue, kv_tokens, prefill_base_ms, prefill_tokens_per_s), (base, per_call))| Replica {
            slots,
            queue,
            kv_tokens,
            prefill_base_ms,
            prefill_tokens_per_s,
            decode_base_ms: base,
            decode_per_call_ms: per_call,
            large: false,
        };
        list.into_iter().map(replica).collect()
    })
}

proptest! {
    #![proptest_config(cases(1_000))]

    #[test]
    fn random_traces_end_exactly_as_in_the_naive_engine(calls in traces(), router in routers(), replicas in replicas()) {
        prop_assume!(cannot_crash(&calls, &router));
        compare(&calls, &router, &replicas)?;
    }
}

/// The random traces mean little if nothing happens in them.
#[test]
fn the_random_traces_hit_evict_wait_spill_and_fail() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::new(cases(1));
    let (mut hits, mut evicted, mut spills) = (0, 0, 0);
    let mut fates: BTreeMap<&str, u64> = BTreeMap::new();
    for _ in 0..60 {
        let calls = traces().new_tree(&mut runner).unwrap().current();
        let router = routers().new_tree(&mut runner).unwrap().current();
        let replicas = replicas().new_tree(&mut runner).unwrap().current();
        let naive = naive::run(&calls, &router, &replicas);
        hits += u64::from(naive.hits.iter().sum::<u64>() > 0);
        evicted += u64::from(naive.evicted.iter().sum::<u64>() > 0);
        spills += u64::from(naive.spills > 0);
        for (_, fate) in naive.fates {
            let name = match fate {
                Fate::Answered { .. } => "answered",
                Fate::RouterQueueFull { .. } => "router queue full",
                Fate::ReplicaQueueFull { .. } => "replica queue full",
                Fate::PromptTooLarge { .. } => "prompt too large",
            };
            *fates.entry(name).or_default() += 1;
        }
    }
    assert!(hits > 30 && evicted > 20 && spills > 5, "{hits} {evicted} {spills}");
    assert_eq!(fates.len(), 4, "{fates:?}");
}
