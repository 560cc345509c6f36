//! Corners of the model whose answer is a formula.
//!
//! Every tolerance is four standard errors of the estimate, so that a right program would fail on a fresh seed once in
//! some ten thousand times, and with the fixed seeds here never. For a queue the error of a long average is that of
//! reflected Brownian motion (W. Whitt, "Planning queueing simulations", Management Science 35, 1989): with service time
//! as the unit, load r and run length T, the relative standard error is sqrt(2 r / ((1 - r)^2 T)) for deterministic
//! service.

use super::fleets::*;
use warmpath::blueprint::{Blueprint, Replica, Router, Traffic};
use warmpath::sim::Slots;

/// Four standard errors of a mean wait at deterministic service, as a share of it, after `services` service times.
fn four_errors(load: f64, services: f64) -> f64 {
    4.0 * (2.0 * load / ((1.0 - load).powi(2) * services)).sqrt()
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

const SERVICE_S: f64 = 0.010;
const SERVICES: f64 = 600_000.0;

#[test]
fn waiting_for_the_prefill_lane_is_that_of_m_d_1() {
    for (seed, load) in [(11, 0.5), (12, 0.7), (13, 0.85)] {
        let replica = Replica { prefill_base_ms: SERVICE_S * 1e3, kv_tokens: 1_000, ..free_replica() };
        let report = report(&lone_replica(single_calls(load / SERVICE_S), replica), seed, SERVICES * SERVICE_S, 0.0);
        let wait = report.ttft_ms.mean.unwrap() / 1e3 / SERVICE_S - 1.0;
        assert_near(&format!("at load {load}"), wait, pollaczek_khinchine(load), four_errors(load, SERVICES));
        assert_near("busy", report.replicas[0].prefill_busy.unwrap(), load, 4.0 / (load * SERVICES).sqrt());
    }
}

#[test]
fn waiting_for_a_router_core_is_that_of_m_d_1() {
    for (seed, load) in [(21, 0.5), (22, 0.7), (23, 0.8)] {
        // The latency includes the CPU time, so the core's time is all of it. Services of 1 ms: over the 5 s of the crash
        // check the busy share hardly leaves the load.
        let router = Router { vcpu: 1, cpu_ms: 1.0, p50_ms: 1.0, p99_ms: 1.0, ..free_router() };
        let fleet = fleet(single_calls(load / 1e-3), router, 1, free_replica());
        let report = report(&fleet, seed, SERVICES * 1e-3, 0.0);
        assert_eq!(report.router_crashes, 0);
        let wait = report.ttft_ms.mean.unwrap() - 1.0;
        assert_near(&format!("at load {load}"), wait, pollaczek_khinchine(load), four_errors(load, SERVICES));
        let busy = report.router.unwrap().cpu_busy.unwrap();
        assert_near("busy", busy, load, 4.0 / (load * SERVICES).sqrt());
    }
}

/// The wait for slots and that for cores, each with several servers. The relative error is taken as that of one server
/// that is as fast as all of them, which waits as long when it waits at all.
#[test]
fn waiting_for_router_slots_and_cores_is_that_of_m_d_c() {
    let (servers, load) = (4, 0.8);
    let slots = Router { slots: servers, p50_ms: 1.0, p99_ms: 1.0, ..free_router() };
    let cores = Router { vcpu: servers, cpu_ms: 1.0, p50_ms: 1.0, p99_ms: 1.0, ..free_router() };
    let services = SERVICES / servers as f64;
    for (what, seed, router) in [("slots", 31, slots), ("cores", 32, cores)] {
        let fleet = fleet(single_calls(servers as f64 * load / 1e-3), router, 1, free_replica());
        let report = report(&fleet, seed, services * 1e-3, 0.0);
        assert_eq!(report.router_crashes, 0);
        let wait = report.ttft_ms.mean.unwrap() - 1.0;
        assert_near(what, wait, mdc_wait(servers, load), four_errors(load, SERVICES));
    }
}

/// The mean of the lognormal with this median and 99th percentile.
fn lognormal_mean(p50: f64, p99: f64) -> f64 {
    let sigma = (p99 / p50).ln() / 2.326_347_874_040_841;
    p50 * (sigma * sigma / 2.0).exp()
}

/// Erlang's loss formula holds for any law of the holding time with the same mean (Sevastyanov 1957), so for the
/// lognormal too. Losses come in runs as long as a holding time: their variance is taken as four times the binomial one.
#[test]
fn calls_lost_by_a_router_without_a_queue_are_those_of_erlang_b() {
    for (seed, slots, p50, p99, offered) in [(41, 1, 20.0, 20.0, 0.8), (42, 8, 20.0, 200.0, 6.0), (43, 20, 5.0, 40.0, 24.0)] {
        let router = Router { slots, queue: 0, p50_ms: p50, p99_ms: p99, ..free_router() };
        let rate = offered / (lognormal_mean(p50, p99) / 1e3);
        let report = report(&fleet(single_calls(rate), router, 1, free_replica()), seed, 400_000.0 / rate, 0.0);
        let lost = failed(&report, "router_queue_full") as f64 / report.sent as f64;
        let expected = erlang_b(slots, offered);
        let error = 4.0 * (4.0 * expected * (1.0 - expected) / report.sent as f64).sqrt();
        assert!((lost - expected).abs() < error, "{slots} slots: lost {lost}, expected {expected} within {error}");
        assert_eq!(report.router.unwrap().max_waiting, 0);
    }
}

/// With slots for all, those taken are Poisson, whatever the law of the latency (M/G/inf, Takacs 1962). Looked at every
/// 5 s, thirty mean latencies apart, the looks are nearly independent: the mean of n looks at a Poisson number of mean m
/// is off by sqrt(m/n), their variance by m sqrt((2 + 1/m)/n).
#[test]
fn slots_taken_without_a_limit_are_poisson() {
    let (p50, p99, mean) = (100.0, 800.0, 6.0);
    let rate = mean / (lognormal_mean(p50, p99) / 1e3);
    let router = Router { p50_ms: p50, p99_ms: p99, ..free_router() };
    let mut run = start(&fleet(single_calls(rate), router, 1, free_replica()), 51, 0.0);
    let looks = 4_000u64;
    let mut seen = Vec::new();
    for look in 1..=looks {
        run.run_to(look * 5 * S);
        let roster = run.world().resource::<warmpath::sim::Roster>();
        seen.push(run.world().get::<Slots>(roster.routers[0]).unwrap().taken.value() as f64);
    }
    let n = looks as f64;
    let average = seen.iter().sum::<f64>() / n;
    let variance = seen.iter().map(|x| (x - average).powi(2)).sum::<f64>() / (n - 1.0);
    assert!((average - mean).abs() < 4.0 * (mean / n).sqrt(), "mean {average}");
    assert!((variance - mean).abs() < 4.0 * mean * ((2.0 + 1.0 / mean) / n).sqrt(), "variance {variance}");
    let idle = seen.iter().filter(|x| **x == 0.0).count() as f64 / n;
    let expected = (-mean).exp();
    assert!((idle - expected).abs() < 4.0 * (expected / n).sqrt(), "empty {idle}, expected {expected}");
}

/// A lone decoding replica: each call wants `tokens` tokens at `base + per_call x b` milliseconds each.
fn decoding(rate: f64, tokens: u64, base_ms: f64, per_call_ms: f64) -> Blueprint {
    let replica = Replica { decode_base_ms: base_ms, decode_per_call_ms: per_call_ms, ..free_replica() };
    lone_replica(Traffic { output_tokens: tokens, ..single_calls(rate) }, Replica { kv_tokens: 10_000_000, ..replica })
}

/// The long average of a processor-sharing number with the geometric law is off as that of M/M/1 at most: relative
/// standard error sqrt(2 (1 + r) / (r (1 - r)^2 T)) (Whitt 1989).
fn four_errors_sharing(load: f64, services: f64) -> f64 {
    4.0 * (2.0 * (1.0 + load) / (load * (1.0 - load).powi(2) * services)).sqrt()
}

/// With no fixed part, decoding is egalitarian processor sharing: M/G/1-PS, whose mean sojourn D / (1 - r) depends on the
/// mean size alone (Kleinrock 1976; Sakata, Noguchi and Oizumi 1971).
#[test]
fn decoding_without_a_fixed_part_is_processor_sharing() {
    for (seed, load) in [(61, 0.5), (62, 0.7)] {
        let size_s = 0.1;
        let services = 400_000.0;
        let report = report(&decoding(load / size_s, 50, 0.0, 2.0), seed, services * size_s, 0.0);
        let sojourn = report.latency_ms.mean.unwrap() / 1e3;
        let tolerance = four_errors_sharing(load, services);
        assert_near(&format!("sojourn at load {load}"), sojourn, size_s / (1.0 - load), tolerance);
        let running = report.replicas[0].mean_running.unwrap();
        assert_near(&format!("running at load {load}"), running, load / (1.0 - load), tolerance);
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
    // The number of calls forgets itself within a few of their stays, and spreads about as wide as it is: 20,000 s hold
    // some 6,000 independent looks at it.
    let report = report(&decoding(rate, tokens, base_ms, per_call_ms), 71, 20_000.0, 200.0);
    let running = report.replicas[0].mean_running.unwrap();
    assert_near("running", running, expected, 0.02);
    assert_near("latency", report.latency_ms.mean.unwrap() / 1e3, expected / rate, 0.02);
}

/// With no part that grows with the calls, each decodes for the same time whatever the others do: M/D/inf.
#[test]
fn decoding_without_a_part_for_each_call_takes_the_same_time_for_all() {
    let report = report(&decoding(20.0, 100, 5.0, 0.0), 81, 2_000.0, 0.0);
    assert_eq!((report.latency_ms.mean, report.latency_ms.max), (Some(500.0), Some(500.0)));
    // Poisson with mean 10, of which 2,000 s hold 4,000 independent looks.
    assert_near("running", report.replicas[0].mean_running.unwrap(), 10.0, 4.0 / (4_000.0f64 * 10.0).sqrt());
}
