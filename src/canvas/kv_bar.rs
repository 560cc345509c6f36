//! What a KV cache holds, as a bar of few blocks.
//!
//! A cache may hold thousands of chunks. The bar is cut into [`CELLS`] cells of equal size, each cell belongs to what lies
//! at its middle, and neighbouring cells of the same owner are one block. So the bar stays calm: a chunk that comes or goes
//! moves at most the cells behind it. Shared prefixes stand first and have a cell at least, however short they are.

use crate::sim::Family;

/// Cells of a bar.
pub const CELLS: usize = 32;

/// Whose tokens a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A prefix family's.
    Family(Family),
    /// An answer's that no later prompt names.
    Output,
    /// Reserved for running calls, not yet computed.
    Reserved,
}

/// A block of the bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KvBlock {
    /// Whose tokens these are.
    pub owner: Owner,
    /// Does a running call use them?
    pub in_use: bool,
    /// Its length in cells.
    pub cells: usize,
}

impl KvBlock {
    /// Is it a shared prefix?
    pub fn is_shared(&self) -> bool {
        matches!(self.owner, Owner::Family(Family::Shared(_)))
    }
}

/// What a cache of `capacity` tokens holds, `used` of them in all. `contents` lists (whose, tokens, in use) in an order
/// that is steady from one look to the next; what is used and not listed is reserved.
pub fn kv_blocks<I>(capacity: u64, used: u64, contents: impl Fn() -> I) -> Vec<KvBlock>
where
    I: Iterator<Item = (Option<Family>, u64, bool)>,
{
    let mut bar = Bar { capacity: capacity.max(used).max(1), tokens: 0, cells: 0, blocks: Vec::new() };
    let is_shared = |family: &Option<Family>| matches!(family, Some(Family::Shared(_)));
    let mut listed = 0;
    for (family, tokens, in_use) in contents().filter(|(family, ..)| is_shared(family)) {
        listed += tokens;
        bar.add(family.map_or(Owner::Output, Owner::Family), tokens, in_use, 1);
    }
    for (family, tokens, in_use) in contents().filter(|(family, ..)| !is_shared(family)) {
        listed += tokens;
        bar.add(family.map_or(Owner::Output, Owner::Family), tokens, in_use, 0);
    }
    bar.add(Owner::Reserved, used.saturating_sub(listed), true, 0);
    bar.blocks
}

/// A bar that is being filled from the left.
struct Bar {
    capacity: u64,
    tokens: u64,
    cells: usize,
    blocks: Vec<KvBlock>,
}

impl Bar {
    /// Adds tokens, and at least so many cells.
    fn add(&mut self, owner: Owner, tokens: u64, in_use: bool, at_least: usize) {
        self.tokens += tokens;
        // The cells whose middle lies before this many tokens.
        let until = (self.tokens as f64 / self.capacity as f64 * CELLS as f64).round() as usize;
        let at_least = if tokens > 0 { at_least } else { 0 };
        let until = until.max(self.cells + at_least).min(CELLS);
        let cells = until - self.cells.min(until);
        if cells == 0 {
            return;
        }
        self.cells = until;
        match self.blocks.last_mut() {
            Some(last) if last.owner == owner && last.in_use == in_use => last.cells += cells,
            _ => self.blocks.push(KvBlock { owner, in_use, cells }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(number: u64, tokens: u64) -> (Option<Family>, u64, bool) {
        (Some(Family::Session(number)), tokens, false)
    }

    #[test]
    fn the_shared_prefix_is_first_and_seen_however_short() {
        let contents = [session(1, 20_000), session(2, 20_000), (Some(Family::Shared(0)), 900, true)];
        let blocks = kv_blocks(400_000, 40_900, || contents.into_iter());
        assert_eq!(blocks[0], KvBlock { owner: Owner::Family(Family::Shared(0)), in_use: true, cells: 1 });
        assert_eq!(blocks.iter().map(|block| block.cells).sum::<usize>(), 3);
    }

    #[test]
    fn thousands_of_chunks_make_few_blocks_that_fill_what_is_used() {
        let contents = || (0..5_000).map(|number| session(number, 80));
        let blocks = kv_blocks(800_000, 600_000, contents);
        assert!(blocks.len() <= CELLS);
        assert_eq!(blocks.iter().map(|block| block.cells).sum::<usize>(), 24);
        let reserved = blocks.iter().find(|block| block.owner == Owner::Reserved).map(|block| block.cells);
        assert_eq!(reserved, Some(8));
    }

    #[test]
    fn more_than_the_capacity_fills_the_bar_and_no_more() {
        let blocks = kv_blocks(1_000, 5_000, || std::iter::once(session(0, 4_000)));
        assert_eq!(blocks.iter().map(|block| block.cells).sum::<usize>(), CELLS);
        assert!(kv_blocks(0, 0, std::iter::empty).is_empty());
    }
}
