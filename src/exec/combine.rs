//! How an operator combines the blocks that a process receives.

use crate::schedule::FoldOrder;

/// How an operator combines the blocks received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Combine {
    /// All of them with one another, into one result.
    Reduce(FoldOrder),
    /// Each with what is in its place.
    Accumulate(FoldOrder),
}

impl Combine {
    /// The order in which blocks are combined.
    pub fn order(self) -> FoldOrder {
        match self {
            Combine::Reduce(order) | Combine::Accumulate(order) => order,
        }
    }

    /// The same in any order.
    #[must_use]
    pub fn in_any_order(self) -> Combine {
        match self {
            Combine::Reduce(_) => Combine::Reduce(FoldOrder::Any),
            Combine::Accumulate(_) => Combine::Accumulate(FoldOrder::Any),
        }
    }

    /// True if the order of the sources does not matter.
    pub fn is_any_order(self) -> bool {
        self.order() == FoldOrder::Any
    }
}
