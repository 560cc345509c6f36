//! Corners of the model whose answer is a formula.
//!
//! Every figure is measured on several independent seeds; their spread gives the standard error of the mean, and the
//! tolerance is four and a half of these (with 15 degrees of freedom a right program fails on fresh seeds once in two
//! thousand times, and on the fixed seeds never). That error itself must be small, or the test would say nothing.

use super::fleets::*;
use warmpath::blueprint::{Blueprint, Replica, Router, Traffic};
use warmpath::sim::Slots;

/// How many seeds a figure is measured on.
const SEEDS: u64 = 16;

/// Measures figures on every seed and holds each against its formula. The standard error must come out below 2 %.
#[track_caller]
fn assert_formula<const N: usize>(what: [&str; N], formula: [f64; N], measure: impl Fn(u64) -> [f64; N]) {
    let samples: Vec<[f64; N]> = (1..=SEEDS).map(measure).collect();
    let count = SEEDS as f64;
    for figure in 0..N {
        let mean = samples.iter().map(|sample| sample[figure]).sum::<f64>() / count;
        let square = samples.iter().map(|sample| (sample[figure] - mean).powi(2)).sum::<f64>();
        let error = (square / (count - 1.0) / count).sqrt();
        let (what, expected) = (what[figure], formula[figure]);
        println!("{what}: {mean} for {expected}, standard error {:.2} %", error / expected * 100.0);
        assert!(error < 0.02 * expected, "{what}: standard error {error} of {expected}");
        assert!((mean - expected).abs() < 4.5 * error, "{what}: {mean}, expected {expected}, error {error}");
    }
}

/// The mean wait of M/D/1 in units of the service time (Pollaczek 1930, Khinchine 1932).
fn pollaczek_khinchine(load: f64) -> f64 {
    load / (2.0 * (1.0 - load))
}

/// The mean wait of M/D/c in units of the service time (Pollaczek 1930; Crommelin 1934):
/// sum over i of e^(-a) (sum over j >= ic of a^j/j! - (c/a') sum over j > ic of a^j/j!) with a = i c r.
fn mdc_wait(servers: u64, load: f64) -> f64 {
    (1..2_000u64)
        .map(|i| {
            let a = (i * servers) as f64 * load;
            // Poisson probabilities from j = ic on, by recursion from that of ic.
            let first = i * servers;
            let mut probability = (first as f64 * a.ln() - a - ln_factorial(first)).exp();
            let (mut from, mut beyond) = (probability, 0.0);
            for j in first + 1..first + 2_000 {
                probability *= a / j as f64;
                from += probability;
                beyond += probability;
                if probability < 1e-18 {
                    break;
                }
            }
            from - beyond / load
        })
        .sum()
}

fn ln_factorial(n: u64) -> f64 {
    (2..=n).map(|k| (k as f64).ln()).sum()
}

/// The share of calls lost by M/G/c/c (Erlang 1917), by the usual recursion.
fn erlang_b(servers: u64, offered: f64) -> f64 {
    (1..=servers).fold(1.0, |loss, c| offered * loss / (c as f64 + offered * loss))
}

#[test]
fn the_formulas_agree_where_they_meet() {
    for load in [0.3, 0.7, 0.85] {
        assert_near("M/D/c with one server", mdc_wait(1, load), pollaczek_khinchine(load), 1e-6);
    }
    // Tables of Erlang B: 10 erlangs on 10 lines lose 21.46 %.
    assert_near("Erlang B", erlang_b(10, 10.0), 0.2146, 1e-3);
}

#[test]
fn waiting_for_the_prefill_lane_is_that_of_m_d_1() {
    for (load, services) in [(0.5, 20_000.0), (0.7, 40_000.0), (0.85, 100_000.0)] {
        let replica = Replica { prefill_base_ms: 10.0, kv_tokens: 1_000, ..free_replica() };
        let fleet = lone_replica(single_calls(load / 0.010), replica);
        assert_formula(["wait", "busy"], [pollaczek_khinchine(load), load], |seed| {
            let report = report(&fleet, seed, services * 0.010, 0.0);
            [report.ttft_ms.mean.unwrap() / 10.0 - 1.0, report.replicas[0].prefill_busy.unwrap()]
        });
    }
}

#[test]
fn waiting_for_a_router_core_is_that_of_m_d_1() {
    for (load, services) in [(0.5, 20_000.0), (0.7, 40_000.0), (0.8, 80_000.0)] {
        // The latency includes the CPU time, so the core's time is all of it. Services of 1 ms: over the 5 s of the crash
        // check the busy share hardly leaves the load.
        let router = Router { vcpu: 1, cpu_ms: 1.0, p50_ms: 1.0, p99_ms: 1.0, ..free_router() };
        let fleet = fleet(single_calls(load / 1e-3), router, 1, free_replica());
        assert_formula(["wait", "busy"], [pollaczek_khinchine(load), load], |seed| {
            let report = report(&fleet, seed, services * 1e-3, 0.0);
            assert_eq!(report.router_crashes, 0);
            [report.ttft_ms.mean.unwrap() - 1.0, report.router.unwrap().cpu_busy.unwrap()]
        });
    }
}

#[test]
fn waiting_for_router_slots_and_cores_is_that_of_m_d_c() {
    let (servers, load) = (4, 0.8);
    let slots = Router { slots: servers, p50_ms: 1.0, p99_ms: 1.0, ..free_router() };
    let cores = Router { vcpu: servers, cpu_ms: 1.0, p50_ms: 1.0, p99_ms: 1.0, ..free_router() };
    for (what, router) in [("slots", slots), ("cores", cores)] {
        let fleet = fleet(single_calls(servers as f64 * load / 1e-3), router, 1, free_replica());
        assert_formula([what], [mdc_wait(servers, load)], |seed| {
            let report = report(&fleet, seed, 25.0, 0.0);
            assert_eq!(report.router_crashes, 0);
            [report.ttft_ms.mean.unwrap() - 1.0]
        });
    }
}

/// The mean of the lognormal with this median and 99th percentile.
fn lognormal_mean(p50: f64, p99: f64) -> f64 {
    let sigma = (p99 / p50).ln() / 2.326_347_874_040_841;
    p50 * (sigma * sigma / 2.0).exp()
}

/// Erlang's loss formula holds for any law of the holding time with the same mean (Sevastyanov 1957), so for the
/// lognormal too.
#[test]
fn calls_lost_by_a_router_without_a_queue_are_those_of_erlang_b() {
    for (slots, p50, p99, offered) in [(1, 20.0, 20.0, 0.8), (8, 20.0, 200.0, 6.0), (20, 5.0, 40.0, 24.0)] {
        let router = Router { slots, queue: 0, p50_ms: p50, p99_ms: p99, ..free_router() };
        let rate = offered / (lognormal_mean(p50, p99) / 1e3);
        let fleet = fleet(single_calls(rate), router, 1, free_replica());
        assert_formula(["lost"], [erlang_b(slots, offered)], |seed| {
            let report = report(&fleet, seed, 30_000.0 / rate, 0.0);
            assert_eq!(report.router.as_ref().unwrap().max_waiting, 0);
            [failed(&report, "router_queue_full") as f64 / report.sent as f64]
        });
    }
}

/// With slots for all, those taken are Poisson, whatever the law of the latency (M/G/inf, Takacs 1962): mean and variance
/// are rate x mean latency, and none is taken with the chance e^-mean.
#[test]
fn slots_taken_without_a_limit_are_poisson() {
    let (p50, p99, mean) = (100.0, 800.0, 2.0);
    let rate = mean / (lognormal_mean(p50, p99) / 1e3);
    let router = Router { p50_ms: p50, p99_ms: p99, ..free_router() };
    let fleet = fleet(single_calls(rate), router, 1, free_replica());
    assert_formula(["mean", "variance", "none"], [mean, mean, (-mean).exp()], |seed| {
        let mut run = start(&fleet, seed, 0.0);
        let looks = 10_000u64;
        let taken = |look: u64| {
            run.run_to(look * S);
            let router = run.world().resource::<warmpath::sim::Roster>().routers[0];
            run.world().get::<Slots>(router).unwrap().taken.value() as f64
        };
        let seen: Vec<f64> = (11..11 + looks).map(taken).collect();
        let n = looks as f64;
        let average = seen.iter().sum::<f64>() / n;
        let variance = seen.iter().map(|x| (x - average).powi(2)).sum::<f64>() / (n - 1.0);
        [average, variance, seen.iter().filter(|x| **x == 0.0).count() as f64 / n]
    });
}

/// A lone decoding replica: each call wants `tokens` tokens at `base + per_call x b` milliseconds each.
fn decoding(rate: f64, tokens: u64, base_ms: f64, per_call_ms: f64) -> Blueprint {
    let replica = Replica { decode_base_ms: base_ms, decode_per_call_ms: per_call_ms, ..free_replica() };
    lone_replica(Traffic { output_tokens: tokens, ..single_calls(rate) }, Replica { kv_tokens: 10_000_000, ..replica })
}

/// With no fixed part, decoding is egalitarian processor sharing: M/G/1-PS, whose mean sojourn D / (1 - r) depends on the
/// mean size alone (Sakata, Noguchi and Oizumi 1971; Kleinrock 1976).
#[test]
fn decoding_without_a_fixed_part_is_processor_sharing() {
    for (load, services) in [(0.5, 30_000.0), (0.7, 60_000.0)] {
        let size_s = 0.1;
        let fleet = decoding(load / size_s, 50, 0.0, 2.0);
        assert_formula(["sojourn", "running"], [1.0 / (1.0 - load), load / (1.0 - load)], |seed| {
            let report = report(&fleet, seed, services * size_s, 0.0);
            [report.latency_ms.mean.unwrap() / 1e3 / size_s, report.replicas[0].mean_running.unwrap()]
        });
    }
}

/// With a fixed part the replica works faster the more calls decode: n of them together n / (base + per_call n) tokens a
/// millisecond. Such a station is insensitive (J. W. Cohen, "The multiple phase service network with generalized processor
/// sharing", Acta Informatica 12, 1979): the chance of n calls is proportional to the product over k up to n of
/// rate x tokens x (base + per_call k) / k.
#[test]
fn decoding_with_a_fixed_part_is_generalized_processor_sharing() {
    let (rate, tokens, base_ms, per_call_ms) = (40.0, 100, 12.0, 0.15);
    let work = rate * tokens as f64 / 1e3;
    let (mut weight, mut sum, mut calls) = (1.0, 1.0, 0.0);
    for k in 1..20_000 {
        weight *= work * (base_ms + per_call_ms * f64::from(k)) / f64::from(k);
        sum += weight;
        calls += weight * f64::from(k);
    }
    let expected = calls / sum;
    let fleet = decoding(rate, tokens, base_ms, per_call_ms);
    assert_formula(["running", "latency"], [expected, expected / rate], |seed| {
        let report = report(&fleet, seed, 700.0, 100.0);
        [report.replicas[0].mean_running.unwrap(), report.latency_ms.mean.unwrap() / 1e3]
    });
}

/// With no part that grows with the calls, each decodes for the same time whatever the others do: M/D/inf.
#[test]
fn decoding_without_a_part_for_each_call_takes_the_same_time_for_all() {
    let fleet = decoding(20.0, 100, 5.0, 0.0);
    assert_formula(["running"], [10.0], |seed| {
        let report = report(&fleet, seed, 300.0, 1.0);
        assert_eq!((report.latency_ms.mean, report.latency_ms.max), (Some(500.0), Some(500.0)));
        [report.replicas[0].mean_running.unwrap()]
    });
}
