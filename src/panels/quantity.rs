//! Values of report keys and of settings, in words.

use crate::blueprint::{Kind, Value};
use crate::canvas::figures;
use crate::level::{Bound, Goal};

/// How a value of a report key is written.
pub fn of_report(key: &str, value: f64) -> String {
    match kind_of(key) {
        Quantity::Millis => figures::duration_ms(value),
        Quantity::Seconds => figures::duration_ms(value * 1e3),
        Quantity::Share => figures::percent_fine(value),
        Quantity::PerSecond => format!("{}/s", figures::rate(value)),
        Quantity::Count => figures::count(value.max(0.0).round() as u64),
        Quantity::Credits => format!("{} cr", figures::count(value.max(0.0).round() as u64)),
        Quantity::Plain => format!("{value:.2}"),
    }
}

/// How a target is written: without a digit that says nothing.
fn of_target(key: &str, value: f64) -> String {
    match kind_of(key) {
        Quantity::Share => figures::percent(value),
        _ => of_report(key, value),
    }
}

/// What a goal asks for, in words: `at most 2.00 s`, `at least 85 %`, `none`.
pub fn target_of(goal: &Goal) -> String {
    match goal.bound {
        Bound::AtMost(0.0) => "none".into(),
        Bound::AtMost(target) => format!("at most {}", of_target(&goal.key, target)),
        Bound::AtLeast(target) => format!("at least {}", of_target(&goal.key, target)),
    }
}

/// What kind of number a report key holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quantity {
    Millis,
    Seconds,
    Share,
    PerSecond,
    Count,
    Credits,
    Plain,
}

fn kind_of(key: &str) -> Quantity {
    let mut steps = key.split('.');
    let head = steps.next().unwrap_or(key);
    let last = steps.next_back().unwrap_or(head);
    match (head, last) {
        (_, "count") => Quantity::Count,
        ("credits", _) => Quantity::Credits,
        (head, _) if head.ends_with("_ms") => Quantity::Millis,
        (head, _) if head.ends_with("_s") || head == "seconds" => Quantity::Seconds,
        (_, "hit_rate" | "warm_calls" | "prefill_busy" | "cpu_busy" | "hottest_prefill_busy") => Quantity::Share,
        (_, "throughput_rps") => Quantity::PerSecond,
        (_, "jain" | "mean_running" | "mean_waiting" | "slots_mean") => Quantity::Plain,
        _ => Quantity::Count,
    }
}

/// How many of what is shown make one of the setting: shares are shown in per cent.
pub fn shown_per_unit(kind: Kind) -> f64 {
    if kind == Kind::Share { 100.0 } else { 1.0 }
}

/// A number as the field of a setting shows it: exact, with its thousands apart.
pub fn exact(number: f64) -> String {
    if number.fract() == 0.0 && number.abs() < 9e15 {
        let digits = figures::count(number.abs() as u64);
        return if number < 0.0 { format!("-{digits}") } else { digits };
    }
    // Rounded far beyond what anybody types, so that 28.000000000000004 is 28.
    let text = format!("{number:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Reads what a person types into a number field: with or without separators and unit.
pub fn read(text: &str) -> Option<f64> {
    let plain: String = text.chars().filter(|c| !c.is_whitespace() && *c != ',').collect();
    let end = plain.find(|c: char| c.is_alphabetic() && c != 'e' && c != 'E' || c == '%').unwrap_or(plain.len());
    plain[..end].parse().ok().filter(|number: &f64| number.is_finite())
}

/// A setting's value in words, as marks and resets say it: `8`, `100 %`, `round-robin`.
pub fn of_setting(kind: Kind, value: Value) -> String {
    match value {
        Value::Word(word) => word.to_owned(),
        Value::Number(number) if kind == Kind::Share => format!("{} %", exact(number * 100.0)),
        Value::Number(number) => exact(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn report_values_have_their_unit() {
        let texts = [("ttft_ms.p99", 1690.0), ("task_s.p50", 61.24), ("hit_rate", 0.8614), ("rejected_total", 1830.0)]
            .map(|(key, value)| of_report(key, value));
        assert_eq!(texts, ["1.69 s", "61.2 s", "86.1 %", "1,830"]);
        assert_eq!(of_report("replicas.0.mean_waiting", 1.5), "1.50");
        assert_eq!(of_report("hottest_prefill_busy", 0.91), "91.0 %");
    }

    #[test]
    fn numbers_are_read_as_people_write_them() {
        for (text, number) in [("64 slots", 64.0), ("1,024", 1024.0), ("28 %", 28.0), ("1e3", 1000.0), (" 0.5 ms", 0.5)]
        {
            assert_eq!(read(text), Some(number), "{text}");
        }
        assert_eq!(read("many"), None);
        assert_eq!((exact(1024.0), exact(0.07 * 100.0), exact(-3.0)), ("1,024".into(), "7".into(), "-3".into()));
    }
}
