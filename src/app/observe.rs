//! What the panels need of a run, read off its world.

use crate::panels::{Measures, ReplicaMeasure, RouterMeasure, Series};
use crate::sim::{
    Cpu, KvCache, Micros, Onward, ReplicaState, Roster, RouterState, Run, Slots, WINDOW, Waiting, Watch, seconds,
};
use bevy::prelude::Entity;
use egui_plot::PlotPoint;
use std::collections::VecDeque;

/// At most so many decisions are kept.
const MOST_DECISIONS: usize = 8;

/// What was counted in a run up to a moment.
pub struct Reading {
    at: Micros,
    /// Calls sent.
    calls: u64,
    /// Calls that each source sent on.
    sources: Vec<(Entity, u64)>,
    /// For each router: core-microseconds that were busy.
    cpu_area: Vec<u128>,
}

impl Reading {
    fn of(run: &Run) -> Self {
        let (world, at) = (run.world(), run.now());
        let cpus = world.resource::<Roster>().routers.iter().filter_map(|&router| world.get::<Cpu>(router));
        let traffics = &world.resource::<Roster>().traffics;
        let sources = traffics.iter().filter_map(|&source| Some((source, world.get::<Onward>(source)?.turn)));
        Self {
            at,
            calls: run.calls_sent(),
            sources: sources.collect(),
            cpu_area: cpus.map(|cpu| cpu.busy.area(at)).collect(),
        }
    }
}

/// Counts anew, and forgets readings that are older than the window.
pub fn read(readings: &mut VecDeque<Reading>, run: &Run) {
    if readings.back().is_some_and(|last| last.at == run.now()) {
        return;
    }
    readings.push_back(Reading::of(run));
    // The canvas counts calls over the same window: the two must not tell two rates. One that lies before it stays, so that what is left spans it.
    while readings.len() > 2 && readings[1].at + WINDOW <= run.now() {
        readings.pop_front();
    }
}

/// The readings at both ends of the window, if it is long enough to speak of rates, and its length in seconds.
fn window(readings: &VecDeque<Reading>) -> Option<(&Reading, &Reading, f64)> {
    let (first, last) = (readings.front()?, readings.back()?);
    let span = seconds(last.at - first.at);
    (span >= 1.0).then_some((first, last, span))
}

/// The busy share of a router's cores over the window.
fn cpu_busy(readings: &VecDeque<Reading>, router: usize, cores: u64) -> Option<f64> {
    let (first, last, span) = window(readings)?;
    let busy = last.cpu_area.get(router)?.checked_sub(*first.cpu_area.get(router)?)?;
    Some((busy as f64 / 1e6 / (span * cores as f64)).min(1.0))
}

/// Calls a second that a source sent over the window.
fn sent_per_s(readings: &VecDeque<Reading>, source: Entity) -> Option<f64> {
    let (first, last, span) = window(readings)?;
    let sent = |reading: &Reading| reading.sources.iter().find(|(known, _)| *known == source).map(|(_, sent)| *sent);
    Some((sent(last)? - sent(first).unwrap_or(0)) as f64 / span)
}

/// What was measured over the last seconds.
pub fn measures(run: &Run, readings: &VecDeque<Reading>, series: &Series) -> Measures {
    let world = run.world();
    let roster = world.resource::<Roster>();
    let routers = roster.routers.iter().enumerate().filter_map(|(index, &entity)| {
        let (state, cpu) = (world.get::<RouterState>(entity)?, world.get::<Cpu>(entity)?);
        Some(RouterMeasure {
            slots_taken: world.get::<Slots>(entity)?.taken.value(),
            waiting: world.get::<Waiting>(entity)?.len(),
            cpu_busy: cpu_busy(readings, index, cpu.cores).unwrap_or(0.0),
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
        traffics: roster.traffics.iter().map(|&source| sent_per_s(readings, source)).collect(),
        calls_per_s: window(readings).map(|(first, last, span)| (last.calls - first.calls) as f64 / span),
        routers: routers.collect(),
        replicas: replicas.collect(),
        ttft_ms: (last(&series.ttft_p50), last(&series.ttft_p99)),
        hit_rate: last(&series.hit_rate).map(|percent| percent / 100.0),
        decisions: world.resource::<Watch>().decisions.iter().take(MOST_DECISIONS).copied().collect(),
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
    series.waiting_longest = line(&|sample| sample.waiting.iter().flatten().max().map(|longest| f64::from(*longest)));
    series.waiting_mean = line(&|sample| {
        let waiting = || sample.waiting.iter().flatten().map(|waiting| f64::from(*waiting));
        let count = waiting().count();
        (count > 0).then(|| waiting().sum::<f64>() / count as f64)
    });
    let replicas = watch.samples.iter().map(|sample| sample.waiting.len()).max().unwrap_or(0);
    let waiting = |index: usize| line(&|sample| sample.waiting.get(index).copied().flatten().map(f64::from));
    series.waiting = (0..replicas).map(waiting).collect();
}
