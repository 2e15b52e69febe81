//! The Berkeley Function Calling Leaderboard as a proof of stages 1 to 4 on real input.
//!
//! In goes the published data: questions with tool definitions, and the calls that are the right
//! answers. Every definition is translated ([`translate`]) and loaded as an operator's would be,
//! every answer is arranged into one call ([`arrange`]) and sent through a real gate as a line of
//! text, and mutations of it ([`Mutation`]) must be refused at the stage that is theirs. Out comes a
//! [`Summary`] for each category. Left out: categories of several turns, and questions whose right
//! answer is no call.

mod arrange;
mod check;
mod dataset;
mod loaded;
mod mutation;
mod summary;
mod translate;

pub use arrange::{AnswerError, Arranged, Fitted, arrange};
pub use check::{CallOutcome, CallReport, MutationReport, QuestionReport, check_question};
pub use dataset::{Category, DatasetError, Question, Truth, read_folder, read_selection};
pub use mutation::Mutation;
pub use summary::{Contradiction, Summary};
pub use translate::{Tally, TranslateError, translate};
