//! Records of a batch: lines of JSON, or rows of a table that the host reads.

use super::cut::Cut;
use super::lines::Chunk;
use super::pace::Pace;
use crate::evaluator::Evaluator;
use crate::run::{Failure, Outcome};
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// Some rows of a table: records that are not JSON text. Pass them as [`Input::rows`](super::Input::rows).
///
/// ```
/// use ptc_runtime::{Batch, Evaluator, Failure, Input, Outcome, Rows, Runtime};
/// use std::ops::Range;
///
/// struct Prices(Vec<i64>);
///
/// impl Rows for Prices {
///     fn len(&self) -> usize {
///         self.0.len()
///     }
///     fn bytes(&self) -> usize {
///         8 * self.0.len()
///     }
///     fn run<'e>(&self, row: usize, evaluator: &'e mut Evaluator, name: &str) -> Result<&'e Outcome, Failure> {
///         evaluator.serde(name, &self.0[row])
///     }
///     fn run_all<'e>(
///         &self,
///         rows: Range<usize>,
///         evaluator: &'e mut Evaluator,
///         name: &str,
///     ) -> Result<&'e Outcome, Failure> {
///         evaluator.serde(name, &self.0[rows])
///     }
/// }
///
/// let runtime = Runtime::with_core(ptc_preludes::core())?;
/// let blocks = [vec![2, 3], vec![4]].map(|prices| Ok(Box::new(Prices(prices)) as Box<dyn Rows>));
/// let mut output = Vec::new();
/// let batch = Batch::new(&runtime, &runtime.compile("(* 10 data/row)")?);
/// let _ = batch.lines(Input::rows(blocks.into_iter()), &mut output, |_, _| Ok(()));
/// assert_eq!(output, b"20\n30\n40\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Rows: Send + Sync {
    /// Returns the number of rows.
    fn len(&self) -> usize;

    /// True if there are no rows.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of rows that a reader skipped just before these, since programs give nil for them. They count in the
    /// numbers of records.
    fn skipped(&self) -> usize {
        0
    }

    /// Returns the approximate size in memory, which bounds how many blocks are held at a time.
    fn bytes(&self) -> usize;

    /// Runs a program over one row as `data/<name>`.
    fn run<'e>(&self, row: usize, evaluator: &'e mut Evaluator, name: &str) -> Result<&'e Outcome, Failure>;

    /// Runs a program over a vector of these rows as `data/<name>`.
    fn run_all<'e>(
        &self,
        rows: Range<usize>,
        evaluator: &'e mut Evaluator,
        name: &str,
    ) -> Result<&'e Outcome, Failure>;
}

/// Blocks of rows, read one after the other.
pub(super) type Tables<'i> = Box<dyn Iterator<Item = io::Result<Box<dyn Rows>>> + Send + 'i>;

/// One record.
#[derive(Clone, Copy)]
pub(super) enum Record<'a> {
    /// JSON text.
    Line(&'a [u8]),
    /// A row of a block.
    Row(&'a dyn Rows, usize),
}

impl Record<'_> {
    /// Runs a program over it as `data/<name>`.
    pub fn run<'e>(self, evaluator: &'e mut Evaluator, name: &str) -> Result<&'e Outcome, Failure> {
        match self {
            Record::Line(line) => evaluator.json(name, line),
            Record::Row(rows, at) => rows.run(at, evaluator, name),
        }
    }

    /// Runs a program over a vector of these records, which are neighbours.
    pub fn run_all<'e>(
        records: &[Record<'_>],
        evaluator: &'e mut Evaluator,
        name: &str,
    ) -> Result<&'e Outcome, Failure> {
        if let [Record::Row(rows, first), ..] = records {
            return rows.run_all(*first..first + records.len(), evaluator, name);
        }
        let lines = records.iter().filter_map(|record| match *record {
            Record::Line(line) => Some(line),
            Record::Row(..) => None,
        });
        let lines: Vec<&[u8]> = lines.collect();
        evaluator.json_rows(name, &lines)
    }
}

/// Records that one worker takes at once.
pub(super) enum Block {
    /// Whole lines: chunks that follow one another.
    Lines(Vec<Chunk>),
    /// A part of a table.
    Rows(Piece),
}

/// A part of a table: some of its rows, and the number of the first.
pub(super) struct Piece {
    table: Arc<dyn Rows>,
    rows: Range<usize>,
    number: u64,
}

impl Block {
    /// Iterates over the records, with their numbers from 1.
    pub fn records(&self) -> impl Iterator<Item = (u64, Record<'_>)> {
        let (chunks, rows) = match self {
            Block::Lines(chunks) => (&chunks[..], None),
            Block::Rows(piece) => (&[][..], Some(piece)),
        };
        let lines = chunks.iter().flat_map(Chunk::lines);
        let rows = rows.into_iter().flat_map(|piece| {
            (piece.number..)
                .zip(piece.rows.clone())
                .map(|(number, at)| (number, Record::Row(&*piece.table, at)))
        });
        lines.map(|(number, line)| (number, Record::Line(line))).chain(rows)
    }

    /// Returns the number of a line that is too long, if the block is one.
    pub fn too_long(&self) -> Option<u64> {
        match self {
            Block::Lines(chunks) => chunks.iter().find(|chunk| chunk.too_long).map(|chunk| chunk.first),
            Block::Rows(_) => None,
        }
    }

    /// Returns the bytes it holds.
    pub fn bytes(&self) -> usize {
        match self {
            Block::Lines(chunks) => chunks.iter().map(|chunk| chunk.bytes().len()).sum(),
            Block::Rows(piece) => {
                (piece.table.bytes() / piece.table.len().max(1)).saturating_mul(piece.rows.len())
            }
        }
    }

    /// Drops everything after the first `most` records; returns the number of those kept.
    pub fn cut(&mut self, most: u64) -> u64 {
        match self {
            Block::Lines(chunks) => chunks.iter_mut().fold(0, |kept, chunk| kept + chunk.cut(most - kept)),
            Block::Rows(piece) => {
                let kept = usize::try_from(most).unwrap_or(usize::MAX).min(piece.rows.len());
                piece.rows.end = piece.rows.start + kept;
                kept as u64
            }
        }
    }
}

/// Reader that cuts tables into pieces.
pub(super) struct Pieces<'i> {
    tables: Tables<'i>,
    current: Option<(Arc<dyn Rows>, usize)>,
    number: u64,
    /// Sets the size of pieces; without it, each is a whole table.
    pace: Option<Arc<Pace>>,
}

impl<'i> Pieces<'i> {
    /// Makes a reader whose rows are numbered from `first` on.
    pub fn new(tables: Tables<'i>, pace: Option<Arc<Pace>>, first: u64) -> Pieces<'i> {
        Pieces { tables, current: None, number: first, pace }
    }
}

impl Cut for Pieces<'_> {
    fn next(&mut self) -> io::Result<Option<Block>> {
        loop {
            let (table, from) = match self.current.take() {
                Some(current) => current,
                None => match self.tables.next() {
                    Some(table) => {
                        let table: Arc<dyn Rows> = Arc::from(table?);
                        self.number += table.skipped() as u64;
                        (table, 0)
                    }
                    None => return Ok(None),
                },
            };
            let left = table.len().saturating_sub(from);
            if left == 0 {
                continue;
            }
            let count = self.pace.as_ref().map_or(left, |pace| pace.records()).clamp(1, left);
            if count < left {
                self.current = Some((table.clone(), from + count));
            }
            let number = self.number;
            self.number += count as u64;
            return Ok(Some(Block::Rows(Piece { table, rows: from..from + count, number })));
        }
    }

    fn number(&self) -> u64 {
        self.number
    }
}
