//! The operators of a window, by numbers that are the same in all processes.

use super::elements::{Combining, Elements};
use crate::error::{Argument, Error, Result};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::{MPI_Op, Op, op};

/// Number of the first operator of the program's; predefined ones have lower numbers.
const FIRST_OWN: u8 = 64;

/// The most operators of the program's.
pub const MOST_OWN: usize = (u8::MAX - FIRST_OWN) as usize + 1;

/// How an operator changes an element.
pub enum Operator {
    /// Stores the value: `MPI_REPLACE`.
    Replace,
    /// Combines the value with the element.
    Combine(Combining),
}

/// The operators of a window.
#[derive(Default)]
pub struct Operators {
    /// By number; `None`: not used so far.
    bound: Vec<Option<Operator>>,
    /// The program's, in the order in which it has added them.
    own: Vec<Op>,
    /// The operator that was looked up last, and its number.
    last: Option<(Op, u8)>,
}

impl Operators {
    /// Adds an operator of the program's. Every process adds the same ones in the same order.
    pub fn add(&mut self, op: Op, elements: &mut Elements, self_comm: &Comm) -> Result<()> {
        if op.kind() != op::Kind::User {
            return Err(Error::PredefinedOperator.into());
        }
        if self.own.len() == MOST_OWN {
            return Err(Error::TooManyOperators { most: MOST_OWN }.into());
        }
        let combining = elements.bind(op, self_comm)?;
        // a freed operator's handle may come back as another one's
        self.last = None;
        self.own.push(op);
        let number = self.own.len() - 1 + usize::from(FIRST_OWN);
        self.bind(number, Operator::Combine(combining));
        Ok(())
    }

    /// Returns the number of an operator, which is then bound to the elements.
    #[inline]
    pub fn number(&mut self, op: Op, elements: &mut Elements, self_comm: &Comm) -> Result<u8> {
        match self.last {
            Some((last, number)) if last == op => Ok(number),
            _ => self.look_up(op, elements, self_comm),
        }
    }

    /// Returns the number of an operator if it was looked up last.
    #[inline]
    pub fn number_if_last(&self, op: MPI_Op) -> Option<u8> {
        self.last.filter(|(last, _)| last.is(op)).map(|(_, number)| number)
    }

    #[cold]
    fn look_up(&mut self, op: Op, elements: &mut Elements, self_comm: &Comm) -> Result<u8> {
        let own = || {
            let place = self.own.iter().position(|&own| own == op)?;
            Some(FIRST_OWN + u8::try_from(place).ok()?)
        };
        let unknown = || Error::UnknownOperator { argument: Argument::new("op") };
        let number = op.number().or_else(own).ok_or_else(unknown)?;
        self.ready(number, elements, self_comm)?;
        self.last = Some((op, number));
        Ok(number)
    }

    /// Binds the operator of a number that a process has sent.
    #[inline]
    pub fn ready(&mut self, number: u8, elements: &mut Elements, self_comm: &Comm) -> Result<()> {
        if self.find(number).is_some() {
            return Ok(());
        }
        let op = Op::of_number(number).ok_or(Error::UnknownOperator { argument: Argument::new("op") })?;
        let operator = match op.kind() {
            op::Kind::Windows if op == Op::replace() => Operator::Replace,
            _ => Operator::Combine(elements.bind(op, self_comm)?),
        };
        self.bind(number.into(), operator);
        Ok(())
    }

    fn bind(&mut self, number: usize, operator: Operator) {
        if self.bound.len() <= number {
            self.bound.resize_with(number + 1, || None);
        }
        self.bound[number] = Some(operator);
    }

    /// Returns the operator of a number, if that is ready.
    #[inline]
    pub fn find(&self, number: u8) -> Option<&Operator> {
        self.bound.get(usize::from(number))?.as_ref()
    }

    /// Returns the operator of a number that is ready.
    #[inline]
    pub fn get(&self, number: u8) -> &Operator {
        self.find(number).expect("bound before")
    }
}
