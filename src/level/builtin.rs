//! The levels that come with the program.

use super::file::Level;

/// Their files, in the order in which they are offered: two problems, and four in which the fleet is to be built.
const FILES: &[(&str, &str)] = &[
    ("levels/more-replicas-slower-answers.ron", include_str!("../../levels/more-replicas-slower-answers.ron")),
    ("levels/one-replica-owns-the-hot-prefix.ron", include_str!("../../levels/one-replica-owns-the-hot-prefix.ron")),
    ("levels/agents-on-a-budget.ron", include_str!("../../levels/agents-on-a-budget.ron")),
    ("levels/two-teams-four-replicas.ron", include_str!("../../levels/two-teams-four-replicas.ron")),
    ("levels/the-document-sorter.ron", include_str!("../../levels/the-document-sorter.ron")),
    ("levels/the-cheapest-support-fleet.ron", include_str!("../../levels/the-cheapest-support-fleet.ron")),
];

/// The levels that come with the program, in the order in which they are offered.
///
/// # Panics
/// If one of them is not well formed: a test reads them all.
pub fn builtin() -> Vec<Level> {
    FILES.iter().map(|(name, text)| Level::parse(name, text).unwrap_or_else(|error| panic!("{error}"))).collect()
}
