//! Reports as tables that a person can read.

use crate::level::{CheckReport, Level};
use crate::sim::{GoalReport, Percentiles, Report};
use std::fmt::Write;

/// A report.
pub fn report(report: &Report) -> String {
    let mut text = String::new();
    let Report { level, seed, seconds, warmup_s, credits, .. } = report;
    line(
        &mut text,
        format_args!("{level}   seed {seed}, {seconds} s, of these {warmup_s} s warm-up, {credits} credits"),
    );
    line(&mut text, format_args!(""));
    let Report { sent, answered, in_flight, rejected_total, .. } = report;
    let rate = report.throughput_rps.map_or("-".into(), |rps| format!("{rps:.1}/s"));
    row(
        &mut text,
        "calls",
        format!("{sent} sent, {answered} answered ({rate}), {rejected_total} failed, {in_flight} inside"),
    );
    for (reason, calls) in report.rejected.iter().filter(|(_, calls)| calls.as_u64() != Some(0)) {
        row(&mut text, &format!("  {}", reason.replace('_', " ")), calls.to_string());
    }
    row(&mut text, "KV hit rate", percent(report.hit_rate));
    row(&mut text, "warm calls", percent(report.warm_calls));
    row(&mut text, "spills", report.spills.to_string());
    if report.router_crashes > 0 {
        row(&mut text, "router crashes", report.router_crashes.to_string());
    }
    row(&mut text, "fairness (Jain)", report.jain.map_or("-".into(), |jain| format!("{jain:.3}")));
    row(&mut text, "tasks", format!("{} done, {} failed", report.tasks_done, report.tasks_failed));
    line(&mut text, format_args!(""));
    line(&mut text, format_args!("{:16}{:>10}{:>10}{:>10}{:>10}{:>10}", "", "p50", "p90", "p99", "mean", "max"));
    percentiles(&mut text, "TTFT, ms", &report.ttft_ms);
    percentiles(&mut text, "latency, ms", &report.latency_ms);
    percentiles(&mut text, "task, s", &report.task_s);
    line(&mut text, format_args!(""));
    for router in &report.routers {
        let cpu = percent(router.cpu_busy);
        let slots = number(router.slots_mean);
        row(&mut text, "router", format!("CPU {cpu} busy, {slots} slots taken, longest queue {}", router.max_waiting));
    }
    replicas(&mut text, report);
    goals(&mut text, &report.goals);
    text
}

fn replicas(text: &mut String, report: &Report) {
    line(
        text,
        format_args!(
            "{:16}{:>10}{:>10}{:>10}{:>10}{:>10}{:>12}",
            "", "answered", "prefill", "running", "waiting", "hit", "cached"
        ),
    );
    for (index, replica) in report.replicas.iter().enumerate() {
        let hit = (replica.prompt_tokens > 0).then(|| replica.hit_tokens as f64 / replica.prompt_tokens as f64);
        line(
            text,
            format_args!(
                "{:16}{:>10}{:>10}{:>10}{:>10}{:>10}{:>12}",
                format!("replica {index}"),
                replica.answered,
                percent(replica.prefill_busy),
                number(replica.mean_running),
                number(replica.mean_waiting),
                percent(hit),
                replica.cached_tokens
            ),
        );
    }
}

fn goals(text: &mut String, goals: &[GoalReport]) {
    if goals.is_empty() {
        return;
    }
    line(text, format_args!(""));
    for goal in goals {
        let sign = if goal.at_least { "at least" } else { "at most" };
        let value = goal.value.map_or("no value".into(), |value| format!("{value:.4}"));
        let met = if goal.met { "met" } else { "NOT MET" };
        line(text, format_args!("goal  {:28}{sign} {:<10}{value:>14}   {met}", goal.name, goal.target));
    }
}

/// What came of checking a level.
pub fn check(level: &Level, attempts: &[CheckReport]) -> String {
    let mut text = String::new();
    line(&mut text, format_args!("{}", level.id));
    for attempt in attempts {
        let came = if attempt.verdict.passed { "won" } else { "lost" };
        let judgement = if attempt.holds() { "ok" } else { "WRONG" };
        let mut values = String::new();
        let first = attempt.verdict.reports.first().map(|report| report.goals.as_slice()).unwrap_or_default();
        for (place, goal) in first.iter().enumerate() {
            let of_seeds: Vec<String> = (attempt.verdict.reports.iter())
                .filter_map(|report| report.goals.get(place))
                .map(|goal| goal.value.map_or("-".into(), |value| format!("{value:.3}")))
                .collect();
            let _infallible = write!(values, "  {} {}", goal.key, of_seeds.join(" "));
        }
        line(&mut text, format_args!("  {judgement:6}{came:5} {:36}{values}", attempt.name));
    }
    text
}

fn line(text: &mut String, line: std::fmt::Arguments) {
    let _infallible = writeln!(text, "{}", line.to_string().trim_end());
}

fn row(text: &mut String, name: &str, value: String) {
    line(text, format_args!("{name:24}{value}"));
}

fn percentiles(text: &mut String, name: &str, values: &Percentiles) {
    let Percentiles { p50, p90, p99, mean, max, .. } = *values;
    let cells = [p50, p90, p99, mean, max].map(number);
    let [p50, p90, p99, mean, max] = cells;
    line(text, format_args!("{name:16}{p50:>10}{p90:>10}{p99:>10}{mean:>10}{max:>10}"));
}

fn number(value: Option<f64>) -> String {
    value.map_or("-".into(), |value| format!("{value:.1}"))
}

fn percent(share: Option<f64>) -> String {
    share.map_or("-".into(), |share| format!("{:.1} %", share * 100.0))
}
