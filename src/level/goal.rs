//! Goals: a report key, a bound, a name in words.

use crate::sim::{GoalReport, Percentiles, ReplicaReport, Report, RouterReport, dotted};
use serde::de::{Deserialize, Deserializer, Error};
use serde_json::Value;

/// Whether a goal's target is the least or the most that will do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// Met from this value up.
    AtLeast(f64),
    /// Met up to this value.
    AtMost(f64),
}

impl Bound {
    /// The value itself.
    pub fn target(self) -> f64 {
        match self {
            Self::AtLeast(target) | Self::AtMost(target) => target,
        }
    }
}

/// A goal of a level.
#[derive(Clone, Debug, PartialEq)]
pub struct Goal {
    /// Its name in words.
    pub name: String,
    /// The report key that it reads, with dots: `ttft_ms.p99`, `replicas.0.answered`.
    pub key: String,
    /// What the value there must be.
    pub bound: Bound,
}

impl Goal {
    /// How a run did at this goal.
    pub fn judge(&self, report: &Report) -> GoalReport {
        self.judge_json(&serde_json::to_value(report).unwrap_or_default())
    }

    fn judge_json(&self, report: &Value) -> GoalReport {
        let value = look_up(report, &self.key).and_then(Value::as_f64);
        let met = value.is_some_and(|value| match self.bound {
            Bound::AtLeast(target) => value >= target,
            Bound::AtMost(target) => value <= target,
        });
        GoalReport {
            name: self.name.clone(),
            key: self.key.clone(),
            at_least: matches!(self.bound, Bound::AtLeast(_)),
            target: self.bound.target(),
            value,
            met,
        }
    }
}

/// How a run did at each of these goals.
pub(super) fn judge_all(goals: &[Goal], report: &Report) -> Vec<GoalReport> {
    let json = serde_json::to_value(report).unwrap_or_default();
    goals.iter().map(|goal| goal.judge_json(&json)).collect()
}

/// The value at a key with dots.
fn look_up<'a>(report: &'a Value, key: &str) -> Option<&'a Value> {
    key.split('.').try_fold(report, |value, step| match value {
        Value::Object(map) => map.get(step),
        Value::Array(list) => step.parse::<usize>().ok().and_then(|place| list.get(place)),
        _ => None,
    })
}

/// Every report key that holds a number, those of parts with the index 0.
fn numeric_keys() -> Vec<String> {
    let report = Report {
        rejected: crate::sim::Reason::ALL.iter().map(|reason| (reason.key().to_owned(), 0.into())).collect(),
        hit_rate: Some(0.0),
        replicas: vec![ReplicaReport::default()],
        routers: vec![RouterReport::default()],
        router: Some(RouterReport::default()),
        ttft_ms: Percentiles::default(),
        ..Report::default()
    };
    let report = serde_json::to_value(report).unwrap_or_default();
    // An average or percentile without a sample is null.
    let numeric = |value: &Value| value.is_number() || value.is_null();
    let keys = dotted(&report).into_iter().filter(|(key, value)| numeric(value) && key != "passed");
    keys.map(|(key, _)| key).collect()
}

/// A report key that exists, as a type that can be read from a file.
pub(super) struct ReportKey(pub String);

impl<'de> Deserialize<'de> for ReportKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let key = String::deserialize(deserializer)?;
        // Any index stands for the first: how many parts there are is the fleet's affair.
        let plain: Vec<&str> =
            key.split('.').map(|step| if step.parse::<u32>().is_ok() { "0" } else { step }).collect();
        let plain = plain.join(".");
        let known = numeric_keys();
        if known.contains(&plain) {
            return Ok(Self(key));
        }
        let head = plain.split('.').next().unwrap_or_default();
        let near: Vec<&String> = known.iter().filter(|known| known.split('.').next() == Some(head)).collect();
        let shown = if near.is_empty() { known.iter().collect() } else { near };
        let list: Vec<&str> = shown.iter().map(|key| key.as_str()).collect();
        Err(D::Error::custom(format_args!(
            "expected a key of the report that holds a number, one of {}; found {key:?}",
            list.join(", ")
        )))
    }
}
