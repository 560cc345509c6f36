//! Numbers as the screen writes them: aligned, with their unit, and no more digits than they deserve.
//!
//! Each helper gives the same text for the same number everywhere: on the canvas, in the panels, in the charts. What is not
//! a finite number is written as a dash, because nothing was measured.

/// What stands where there is no number yet.
pub const NONE: &str = "–";

/// A whole number with its thousands apart: `11,200`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Tokens in short: `640`, `4.2k`, `455k`, `1.25M`, `12M`. Never longer than five characters below a billion.
pub fn compact_tokens(tokens: u64) -> String {
    match tokens {
        0..1_000 => tokens.to_string(),
        1_000..9_950 => format!("{:.1}k", tokens as f64 / 1e3),
        9_950..999_500 => format!("{:.0}k", tokens as f64 / 1e3),
        999_500..9_995_000 => format!("{:.2}M", tokens as f64 / 1e6),
        9_995_000..999_500_000 => format!("{:.0}M", tokens as f64 / 1e6),
        _ => format!("{:.2}G", tokens as f64 / 1e9),
    }
}

/// A duration given in milliseconds, to about three digits: `0.4 ms`, `87 ms`, `1.69 s`, `42.1 s`, `3:05 min`, `2:10 h`.
pub fn duration_ms(millis: f64) -> String {
    if !millis.is_finite() {
        return NONE.into();
    }
    // Each bound is where the shorter unit would round up to what the longer one says better.
    match millis.max(0.0) {
        0.0 => "0 ms".into(),
        ms if ms < 9.95 => format!("{ms:.1} ms"),
        ms if ms < 999.5 => format!("{ms:.0} ms"),
        ms if ms < 9_995.0 => format!("{:.2} s", ms / 1e3),
        ms if ms < 119_950.0 => format!("{:.1} s", ms / 1e3),
        ms if ms < 3_599_500.0 => sixties(ms / 1e3, "min"),
        ms => sixties(ms / 60e3, "h"),
    }
}

/// A number of sixtieths as whole ones and the rest: `3:05 min`.
fn sixties(number: f64, unit: &str) -> String {
    let whole = number.round() as u64;
    format!("{}:{:02} {unit}", whole / 60, whole % 60)
}

/// A moment of a run given in seconds, as a clock shows it: `3:42`, `12:05`, `1:02:05`.
pub fn clock_s(seconds: f64) -> String {
    let whole = seconds.max(0.0) as u64;
    match whole / 3_600 {
        0 => format!("{}:{:02}", whole / 60, whole % 60),
        hours => format!("{hours}:{:02}:{:02}", whole / 60 % 60, whole % 60),
    }
}

/// A share (0 to 1) in per cent: `88 %`, below ten with one decimal, `4.2 %`; nothing and everything are `0 %` and `100 %`,
/// and only they are.
pub fn percent(share: f64) -> String {
    match share * 100.0 {
        percent if !percent.is_finite() => NONE.into(),
        0.0 => "0 %".into(),
        percent if percent.abs() < 9.95 => format!("{percent:.1} %"),
        percent if (99.5..100.0).contains(&percent) => format!("{:.1} %", percent.min(99.9)),
        percent => format!("{percent:.0} %"),
    }
}

/// A share (0 to 1) in per cent with one decimal, for a value that stands against a goal: `86.1 %`.
pub fn percent_fine(share: f64) -> String {
    if share.is_finite() { format!("{:.1} %", share * 100.0) } else { NONE.into() }
}

/// How often something happens, in times a second, without the unit: `0.25`, `5.1`, `29.8`, `512`, `1,920`.
pub fn rate(per_s: f64) -> String {
    match per_s.max(0.0) {
        _ if !per_s.is_finite() => NONE.into(),
        0.0 => "0".into(),
        rate if rate < 0.995 => format!("{rate:.2}"),
        rate if rate < 99.95 => format!("{rate:.1}"),
        rate => count(rate.round() as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_stand_apart() {
        let texts = [0, 7, 999, 1_000, 11_200, 461_000, 1_234_567].map(count);
        assert_eq!(texts, ["0", "7", "999", "1,000", "11,200", "461,000", "1,234,567"]);
    }

    #[test]
    fn tokens_are_short_and_never_roll_over() {
        let texts = [0, 640, 4_210, 9_949, 9_950, 454_600, 999_499, 999_500, 1_250_000, 12_000_000].map(compact_tokens);
        assert_eq!(texts, ["0", "640", "4.2k", "9.9k", "10k", "455k", "999k", "1.00M", "1.25M", "12M"]);
        assert!((0..1_000_000_000).step_by(99_991).all(|tokens| compact_tokens(tokens).len() <= 5));
    }

    #[test]
    fn durations_take_the_unit_that_suits_them() {
        let texts = [0.0, 0.42, 87.2, 271.0, 999.6, 1_690.0, 42_100.0, 185_000.0, 7_800_000.0].map(duration_ms);
        let expected =
            ["0 ms", "0.4 ms", "87 ms", "271 ms", "1.00 s", "1.69 s", "42.1 s", "3:05 min", "2:10 h"].map(String::from);
        assert_eq!(texts, expected);
        assert_eq!(duration_ms(f64::NAN), NONE);
    }

    #[test]
    fn shares_say_all_and_nothing_only_of_all_and_nothing() {
        let texts = [0.0, 0.042, 0.0995, 0.876, 0.996, 0.9999, 1.0].map(percent);
        assert_eq!(texts, ["0 %", "4.2 %", "10 %", "88 %", "99.6 %", "99.9 %", "100 %"]);
        assert_eq!((percent_fine(0.8614), percent(f64::NAN)), ("86.1 %".into(), NONE.into()));
    }

    #[test]
    fn rates_and_clocks() {
        assert_eq!([0.0, 0.25, 5.08, 29.81, 511.6, 1_920.0].map(rate), ["0", "0.25", "5.1", "29.8", "512", "1,920"]);
        assert_eq!([4.9, 222.6, 3_725.0].map(clock_s), ["0:04", "3:42", "1:02:05"]);
    }
}
