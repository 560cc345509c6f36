//! Calls simulated per second: the two problems, the recorded trace, and runs of ten thousand and a million calls.
//!
//! `cargo bench` prints throughput in elements (calls) a second. The recorded trace is read from
//! `../shared/traces/conversation_trace.jsonl`, reading included; where it is absent those benchmarks are skipped.

#![allow(missing_docs)]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::fs::File;
use std::hint::black_box;
use std::io::BufReader;
use std::path::Path;
use std::time::Duration;
use warmpath::blueprint::{Assignment, Blueprint, apply};
use warmpath::level::Level;
use warmpath::sim::{Run, RunSpec, TraceReader, micros_of_s};

/// Runs a fleet for so long; returns the calls sent.
fn simulate(blueprint: &Blueprint, seconds: f64) -> u64 {
    let mut run = Run::new(RunSpec { blueprint: blueprint.clone(), seed: 1, warmup: 0, recording: None });
    run.run_to(micros_of_s(seconds));
    black_box(run.report()).sent
}

/// A level's fleet with its reference solution.
fn solved(level: &Level) -> Blueprint {
    level.blueprint_of(&level.solution).expect("a level's solution holds together")
}

fn problems(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("problem");
    for level in Level::builtin() {
        for (name, blueprint) in [("given", level.blueprint.clone()), ("solved", solved(&level))] {
            group.throughput(Throughput::Elements(simulate(&blueprint, level.seconds)));
            group.bench_function(BenchmarkId::new(&level.id, name), |bencher| {
                bencher.iter(|| simulate(&blueprint, level.seconds));
            });
        }
    }
    group.finish();
}

fn sizes(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("calls");
    group.sample_size(10).measurement_time(Duration::from_secs(10));
    let level = &Level::builtin()[0];
    for (name, replicas, seconds) in
        [("10,000 on 8", 8, 500.0), ("1,000,000 on 8", 8, 50_000.0), ("1,000,000 on 512", 512, 50_000.0)]
    {
        let mut blueprint = solved(level);
        apply(&mut blueprint, &[Assignment::new("replicas", replicas.to_string())]).expect("in range");
        group.throughput(Throughput::Elements(simulate(&blueprint, seconds)));
        group.bench_function(name, |bencher| bencher.iter(|| simulate(&blueprint, seconds)));
    }
    group.finish();
}

/// Replays a trace on so many replicas; returns the calls sent.
fn replay(path: &Path, replicas: usize) -> u64 {
    let file = File::open(path).expect("the trace was there a moment ago");
    let mut run = Run::new(RunSpec {
        blueprint: Blueprint::router_before(replicas),
        seed: 1,
        warmup: 0,
        recording: Some(Box::new(TraceReader::new(BufReader::new(file)))),
    });
    run.advance(warmpath::sim::NEVER, u64::MAX);
    black_box(run.report()).sent
}

fn recorded(criterion: &mut Criterion) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/traces/conversation_trace.jsonl");
    if !path.exists() {
        eprintln!("skipped: {} is not there", path.display());
        return;
    }
    let mut group = criterion.benchmark_group("recorded trace");
    group.sample_size(20);
    for replicas in [8, 128] {
        group.throughput(Throughput::Elements(replay(&path, replicas)));
        group.bench_with_input(BenchmarkId::from_parameter(replicas), &replicas, |bencher, &replicas| {
            bencher.iter(|| replay(&path, replicas));
        });
    }
    group.finish();
}

criterion_group!(benches, problems, sizes, recorded);
criterion_main!(benches);
