//! What the panels need of a run, read off its world.

use crate::panels::{Measures, ReplicaMeasure, RouterMeasure, Series};
use crate::sim::{Call, Cpu, KvCache, Micros, ReplicaState, Roster, RouterState, Run, SECOND, Slots, Waiting, seconds};
use egui_plot::PlotPoint;
use std::collections::VecDeque;

/// The rate of calls is taken over so much simulated time.
const RATE_WINDOW: Micros = 10 * SECOND;

/// How many calls were sent in the run so far: they are numbered, so the highest number tells.
pub fn calls_sent(run: &Run) -> u64 {
    let Some(mut calls) = run.world().try_query::<&Call>() else { return 0 };
    let highest =
        calls.iter(run.world()).filter(|call| call.generation > 0 || call.in_flight()).map(|call| call.serial);
    highest.max().map_or(0, |serial| serial + 1)
}

/// Notes how many calls were sent by now, and forgets what is older than the window.
pub fn note_sent(sent: &mut VecDeque<(Micros, u64)>, now: Micros, calls: u64) {
    if sent.back().is_some_and(|(at, _)| *at == now) {
        return;
    }
    sent.push_back((now, calls));
    // One that lies before the window stays, so that what is left spans it.
    while sent.len() > 2 && sent[1].0 + RATE_WINDOW <= now {
        sent.pop_front();
    }
}

fn rate(sent: &VecDeque<(Micros, u64)>) -> Option<f64> {
    let ((from, before), (to, after)) = (*sent.front()?, *sent.back()?);
    let span = seconds(to - from);
    (span >= 1.0).then(|| (after - before) as f64 / span)
}

/// What was measured over the last seconds.
pub fn measures(run: &Run, sent: &VecDeque<(Micros, u64)>, series: &Series) -> Measures {
    let (world, now) = (run.world(), run.now());
    let roster = world.resource::<Roster>();
    let routers = roster.routers.iter().filter_map(|&entity| {
        let (state, cpu) = (world.get::<RouterState>(entity)?, world.get::<Cpu>(entity)?);
        Some(RouterMeasure {
            slots_taken: world.get::<Slots>(entity)?.taken.value(),
            waiting: world.get::<Waiting>(entity)?.len(),
            cpu_busy: cpu.recent_share(now),
            up: state.up,
        })
    });
    let replicas = roster.replicas.iter().filter_map(|&entity| {
        Some(ReplicaMeasure {
            running: world.get::<Slots>(entity)?.taken.value(),
            waiting: world.get::<Waiting>(entity)?.len(),
            kv_tokens: world.get::<KvCache>(entity)?.used(),
            prefilling: world.get::<ReplicaState>(entity)?.prefilling.is_some(),
        })
    });
    let last = |points: &[PlotPoint]| points.last().map(|point| point.y);
    Measures {
        calls_per_s: rate(sent),
        routers: routers.collect(),
        replicas: replicas.collect(),
        ttft_ms: (last(&series.ttft_p50), last(&series.ttft_p99)),
        hit_rate: last(&series.hit_rate).map(|percent| percent / 100.0),
    }
}

/// The lines of the charts, from the samples that were kept.
pub fn series(run: &mut Run, series: &mut Series) {
    let watch = run.watched();
    let line = |value: &dyn Fn(&crate::sim::Sample) -> Option<f64>| -> Vec<PlotPoint> {
        let points = watch.samples.iter().filter_map(|sample| Some(PlotPoint::new(seconds(sample.at), value(sample)?)));
        points.collect()
    };
    series.ttft_p50 = line(&|sample| sample.ttft_p50.map(|micros| micros as f64 / 1e3));
    series.ttft_p99 = line(&|sample| sample.ttft_p99.map(|micros| micros as f64 / 1e3));
    series.hit_rate = line(&|sample| sample.hit_rate.map(|share| share * 100.0));
    let replicas = watch.samples.iter().map(|sample| sample.waiting.len()).max().unwrap_or(0);
    series.waiting =
        (0..replicas).map(|index| line(&|sample| sample.waiting.get(index).map(|waiting| *waiting as f64))).collect();
}
