//! The component page's rules of thumb with their live figures, and the warnings where a setting breaks one.

use super::quantity::exact;
use super::view::{Measures, PlayView};
use crate::blueprint::{Blueprint, Part, PartId, Router};
use crate::canvas::figures;

/// The 99th percentile of the standard normal distribution.
const Z99: f64 = 2.326_347_874_040_841;
/// The busy share of the cores above which the component page warns.
const BUSY: f64 = 0.9;

/// What is said under a setting.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Notes {
    /// The rule of thumb with its live figure.
    pub rule: Option<String>,
    /// The rule that the setting breaks.
    pub warning: Option<String>,
}

/// What is said under the setting of this plain key, on this part.
pub fn notes(view: &PlayView, key: &str, part: PartId) -> Notes {
    let router = router_of(view.blueprint, part);
    let rate = rate_at_router(view.blueprint, view.measures);
    match (key, router) {
        ("router.slots", Some(router)) => slots(router, rate),
        ("router.vcpu", Some(router)) => {
            let busy = view.measures.routers.get(part.index).map(|measure| measure.cpu_busy);
            vcpu(router, rate, busy.unwrap_or(0.0))
        }
        ("router.p99_ms", Some(router)) => p99(view.blueprint, router),
        ("traffic.timeout_s", _) => timeout(view.blueprint, part),
        _ => Notes::default(),
    }
}

fn router_of(blueprint: &Blueprint, part: PartId) -> Option<&Router> {
    (part.part == Part::Router).then(|| blueprint.routers.get(part.index)).flatten()
}

/// Calls a second at the router; known where there is only one, so that every call goes through it.
fn rate_at_router(blueprint: &Blueprint, measures: &Measures) -> Option<f64> {
    measures.calls_per_s.filter(|_| blueprint.routers.len() == 1)
}

/// The mean of the lognormal latency with this median and 99th percentile, in milliseconds: exp(mu + sigma²/2).
pub fn mean_latency_ms(p50: f64, p99: f64) -> f64 {
    if p50 <= 0.0 {
        return 0.0;
    }
    let sigma = (p99 / p50).ln() / Z99;
    p50 * (sigma * sigma / 2.0).exp()
}

/// Needed slots = calls/s × seconds each.
fn slots(router: &Router, rate: Option<f64>) -> Notes {
    let Some(rate) = rate else { return Notes::default() };
    let seconds = mean_latency_ms(router.p50_ms, router.p99_ms) / 1e3;
    let needed = rate * seconds;
    let figure = format!("{} = {} calls/s × {} s", brief(needed), figures::rate(rate), brief(seconds));
    let short = (router.slots as f64) < needed;
    Notes {
        rule: Some(format!("needed now: {figure}")),
        warning: short.then(|| format!("fewer than needed: {figure}")),
    }
}

/// Needed vCPU = calls/s × CPU per call / 1000.
fn vcpu(router: &Router, rate: Option<f64>, busy: f64) -> Notes {
    let Some(rate) = rate else { return Notes::default() };
    let needed = rate * router.cpu_ms / 1e3;
    let wanted = needed / router.vcpu as f64;
    let busy_text = figures::percent(busy);
    Notes {
        rule: Some(format!("needed now: {} · {busy_text} busy", brief(needed))),
        warning: (busy > BUSY || wanted > BUSY).then(|| {
            let of = format!("{} of {} needed", brief(needed), router.vcpu);
            format!("over 90 % busy slows and crashes: {of}")
        }),
    }
}

/// The client's timeout should not lie below the router's p99: that cuts off healthy calls.
fn p99(blueprint: &Blueprint, router: &Router) -> Notes {
    let timeouts = blueprint.traffics.iter().map(|traffic| traffic.timeout_s).filter(|timeout| *timeout > 0.0);
    let shortest = timeouts.min_by(f64::total_cmp);
    Notes {
        rule: None,
        warning: shortest
            .filter(|timeout| timeout * 1e3 < router.p99_ms)
            .map(|timeout| format!("the client gives up after {} s: healthy calls are cut off", exact(timeout))),
    }
}

fn timeout(blueprint: &Blueprint, part: PartId) -> Notes {
    let timeout = blueprint.traffics.get(part.index).map_or(0.0, |traffic| traffic.timeout_s);
    let slowest = blueprint.routers.iter().map(|router| router.p99_ms).max_by(f64::total_cmp).unwrap_or(0.0);
    let cuts = timeout > 0.0 && timeout * 1e3 < slowest;
    Notes {
        rule: None,
        warning: cuts.then(|| format!("below the router's p99 of {} ms: cuts off healthy calls", exact(slowest))),
    }
}

/// A figure to about two digits: `0.006`, `0.18`, `1.4`, `29`.
fn brief(number: f64) -> String {
    match number {
        n if n <= 0.0 => "0".into(),
        n if n < 0.01 => format!("{n:.3}"),
        n if n < 0.95 => format!("{n:.2}"),
        n if n < 9.95 => format!("{n:.1}"),
        n => figures::count(n.round() as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_the_latency_is_the_lognormals() {
        assert!((mean_latency_ms(5.0, 20.0) - 5.972).abs() < 0.001);
        assert_eq!(mean_latency_ms(5.0, 5.0), 5.0);
        assert_eq!(mean_latency_ms(0.0, 20.0), 0.0);
    }

    #[test]
    fn too_few_slots_and_too_few_cores_are_warned_of() {
        let router = Router { slots: 1, vcpu: 1, cpu_ms: 40.0, p50_ms: 40.0, p99_ms: 40.0, ..Router::default() };
        let notes = slots(&router, Some(30.0));
        assert_eq!(notes.rule.as_deref(), Some("needed now: 1.2 = 30.0 calls/s × 0.04 s"));
        assert!(notes.warning.is_some());
        assert!(slots(&Router { slots: 2, ..router.clone() }, Some(30.0)).warning.is_none());
        assert!(vcpu(&router, Some(30.0), 0.97).warning.is_some());
        assert!(vcpu(&Router { vcpu: 4, ..router }, Some(30.0), 0.3).warning.is_none());
    }
}
