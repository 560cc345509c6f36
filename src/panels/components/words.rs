//! What the page says of numbers and fleets, from the data.

use crate::blueprint::{Assignment, Kind, Setting, Value};
use crate::canvas::figures;
use crate::level::Setup;
use crate::panels::quantity;

/// A price: `8 credits`, `free`.
pub fn credits(credits: u64) -> String {
    match credits {
        0 => "free".into(),
        1 => "1 credit".into(),
        credits => format!("{credits} credits"),
    }
}

/// A number in short where it is long: `256`, `20,000`, `1 million`.
fn short(number: f64) -> String {
    for (one, word) in [(1e12, "trillion"), (1e9, "billion"), (1e6, "million")] {
        if number >= one && (number / one).fract() == 0.0 {
            return format!("{} {word}", quantity::exact(number / one));
        }
    }
    quantity::exact(number)
}

/// The values that a setting takes.
pub fn range(setting: &Setting) -> String {
    let numbers = match setting.kind {
        Kind::Count(low, high) => format!("{} to {}", short(low as f64), short(high as f64)),
        Kind::Real(low, high) => format!("{} to {}", short(low), short(high)),
        Kind::Positive(high) => format!("above 0, up to {}", short(high)),
        Kind::Share => return "0 to 100 %".into(),
        Kind::Choice(words) => return words.join(", "),
    };
    with_unit(numbers, setting.unit)
}

fn with_unit(number: String, unit: &str) -> String {
    if unit.is_empty() { number } else { format!("{number} {unit}") }
}

/// A value of a setting with its unit: `64 slots`, `100 %`, `never`.
pub fn value(setting: &Setting, value: Value) -> String {
    with_unit(quantity::of_setting(setting.kind, value), setting.unit)
}

/// What was changed of a level: `Steps 6 per task and KV cache 300,000 tokens`.
fn changes(set: &[Assignment]) -> String {
    let changes: Vec<String> = set
        .iter()
        .map(|change| match Setting::find(&change.key) {
            Some(setting) => {
                let value = setting.parse(&change.value).map(|of| value(setting, of));
                format!("{} {}", setting.name, value.unwrap_or_else(|| change.value.clone()))
            }
            None => format!("{} {}", change.key, change.value),
        })
        .collect();
    changes.join(" and ")
}

/// Which fleet a demo runs, what is varied left out.
pub fn fleet(setup: &Setup, vary: Option<&str>) -> String {
    let level = &setup.level;
    let mut text = format!("The fleet of “{}”", level.title);
    if !setup.set.is_empty() {
        text += &format!(", with {}", changes(&setup.set));
    }
    let parts = &level.blueprint;
    if let Some(traffic) = parts.traffics.first() {
        let calls = quantity::exact(traffic.sessions_per_s * traffic.steps as f64);
        text += &format!(": about {calls} calls/s in tasks of {} steps", traffic.steps);
    }
    if let Some(replica) = parts.replicas.first() {
        let kv = figures::compact_tokens(replica.kv_tokens);
        text += &match vary {
            Some("replicas") => format!(", replicas of {kv} KV tokens"),
            _ => format!(", {} replicas of {kv} KV tokens", parts.replicas.len()),
        };
    }
    let time = figures::clock_s(level.seconds);
    let from = if level.warmup_s > 0.0 {
        format!(", measured from {} on", figures::clock_s(level.warmup_s))
    } else {
        String::new()
    };
    text + &format!(". {time} of simulated time{from}, seed {}.", setup.seed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::level::{Components, Demo};

    #[test]
    fn ranges_have_their_unit_and_no_more_digits_than_one_reads() {
        let of = |key: &str| range(Setting::find(key).expect("a setting"));
        assert_eq!(of("router.slots"), "1 to 1 million slots");
        assert_eq!(of("router.vcpu"), "1 to 1,024 cores");
        assert_eq!(of("router.affinity"), "0 to 100 %");
        assert_eq!(of("replica.prefill_tokens_per_s"), "above 0, up to 1 billion tokens/s");
        assert_eq!(of("balancer.policy"), "round-robin, least-busy");
    }

    #[test]
    fn a_fleet_is_named_by_its_level_and_what_is_changed() {
        let Demo::SideBySide(demo) = &Components::builtin().demos[0] else { panic!("the first one runs in time") };
        assert_eq!(
            fleet(&demo.setup, None),
            "The fleet of “More replicas, slower answers”, with Steps 6 per task and Sessions 4 per s: about 24 \
             calls/s in tasks of 6 steps, 8 replicas of 145k KV tokens. 10:00 of simulated time, seed 1."
        );
    }
}
