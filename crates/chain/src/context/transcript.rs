//! The whole conversation, and the view of it that is sent to the model.
//!
//! Nothing is ever removed from the transcript: the view leaves out the oldest exchanges and puts one
//! note in their place. Evicting is therefore one number that grows.

use std::ops::Range;

use model::{Message, Usage};

use super::{
    estimate::{Measure, message_tokens, text_tokens, token_bytes},
    exchange::exchanges,
    policy::{ContextPolicy, Eviction},
};

/// The tokens that a note without a summary takes at most.
const NOTE_TOKENS: u64 = 24;
/// The most tokens of a summary, note included.
const MAX_SUMMARY_TOKENS: u64 = 512;
/// The fewest that are worth asking for.
const MIN_SUMMARY_TOKENS: u64 = 2 * NOTE_TOKENS;

/// The conversation.
#[derive(Debug)]
pub(crate) struct Transcript {
    messages: Vec<Message>,
    /// The index of the user's task.
    task: usize,
    /// How many of the oldest exchanges the view leaves out.
    evicted: usize,
    /// What stands in for them, where it was summarised.
    summary: Option<String>,
    measure: Option<Measure>,
    tools_tokens: u64,
}

/// What the parts of the conversation weigh, in tokens.
struct Weights {
    /// What never leaves, the tools included.
    pinned: u64,
    exchanges: Vec<u64>,
}

impl Weights {
    /// The whole without the oldest exchanges, and with a note for them.
    fn tokens(&self, evicted: usize, note_tokens: u64) -> u64 {
        let kept: u64 = self.exchanges.iter().skip(evicted).sum();
        self.pinned + kept + if evicted > 0 { note_tokens } else { 0 }
    }
}

/// Whether the next request fits the window.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    /// It does.
    Fits,
    /// It does when so many more of the oldest exchanges leave, and their summary or a note comes in.
    Evict { exchanges: usize, summary_tokens: Option<u64> },
    /// It does not, whatever may be evicted.
    Full(Full),
}

/// The numbers of a full context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Full {
    pub(crate) estimated: u64,
    pub(crate) window: u64,
    pub(crate) reserve: u64,
}

impl Transcript {
    /// A conversation whose task is the user message at `task`.
    pub(crate) fn new(messages: Vec<Message>, task: usize, tools_tokens: u64) -> Self {
        Self { messages, task, evicted: 0, summary: None, measure: None, tools_tokens }
    }

    pub(crate) fn push(&mut self, message: Message) {
        self.messages.push(message);
    }

    pub(crate) fn into_messages(self) -> Vec<Message> {
        self.messages
    }

    /// What is sent to the model.
    pub(crate) fn view(&self) -> Vec<Message> {
        let exchanges = self.exchanges();
        let mut gone = exchanges.iter().take(self.evicted).peekable();
        let first = gone.peek().map(|range| range.start);
        let mut view = Vec::with_capacity(self.messages.len() + 1);
        for (index, message) in self.messages.iter().enumerate() {
            while gone.next_if(|range| range.end <= index).is_some() {}
            if Some(index) == first {
                view.push(Message::User(self.note()));
            }
            if !gone.peek().is_some_and(|range| range.contains(&index)) {
                view.push(message.clone());
            }
        }
        view
    }

    /// The exchanges that would leave next, for a summary, after what was summarised before.
    pub(crate) fn oldest(&self, exchanges: usize) -> (Option<&str>, Vec<&Message>) {
        let all = self.exchanges();
        let chosen = all.iter().skip(self.evicted).take(exchanges);
        let messages = chosen.flat_map(|range| &self.messages[range.clone()]).collect();
        (self.summary.as_deref(), messages)
    }

    /// The user's task.
    pub(crate) fn task(&self) -> &str {
        match self.messages.get(self.task) {
            Some(Message::User(text)) => text,
            _ => "",
        }
    }

    /// Leaves out so many more exchanges. The summary stands for all that were left out so far.
    pub(crate) fn evict(&mut self, exchanges: usize, summary: Option<String>) {
        self.evicted += exchanges;
        self.summary = summary;
    }

    /// Takes what the provider counted for the last view and the reply pushed after it.
    pub(crate) fn measured(&mut self, usage: Usage) {
        if usage.input_tokens == 0 {
            return;
        }
        let counted = usage.input_tokens.saturating_add(usage.output_tokens);
        let estimated = self.weigh(None).tokens(self.evicted, self.note_tokens());
        self.measure = Some(Measure { until: self.messages.len(), counted, estimated });
    }

    /// About how many tokens the next request takes.
    pub(crate) fn tokens(&self) -> u64 {
        self.weigh(self.measure).tokens(self.evicted, self.note_tokens())
    }

    /// Whether the next request fits, and what has to leave so that it does.
    pub(crate) fn fit(&self, policy: &ContextPolicy) -> Fit {
        let (Some(window), Some(room)) = (policy.window(), policy.room()) else {
            return Fit::Fits;
        };
        let estimated = self.tokens();
        if estimated <= room {
            return Fit::Fits;
        }
        let full = Full { estimated, window: window.tokens, reserve: window.reserve };
        let keep = policy.keep_exchanges();
        let drop = || {
            let exchanges = self.evictable(keep, room, room, NOTE_TOKENS)?;
            Some(Fit::Evict { exchanges, summary_tokens: None })
        };
        let summarize = || {
            // Half of the room, so that not every turn asks for a summary.
            let tokens = MAX_SUMMARY_TOKENS.min(room / 4);
            let is_worth_it = tokens >= MIN_SUMMARY_TOKENS;
            let exchanges =
                is_worth_it.then(|| self.evictable(keep, room / 2, room, tokens)).flatten()?;
            Some(Fit::Evict { exchanges, summary_tokens: Some(tokens) })
        };
        let found = match policy.eviction() {
            Eviction::Refuse => None,
            Eviction::DropOldest => drop(),
            Eviction::Summarize => summarize().or_else(drop),
        };
        found.unwrap_or(Fit::Full(full))
    }

    /// How many more exchanges must leave: the fewest that reach `target`, else the most that may
    /// leave, where they at least reach `room`.
    fn evictable(&self, keep: usize, target: u64, room: u64, note_tokens: u64) -> Option<usize> {
        let weights = self.weigh(self.measure);
        let most = weights.exchanges.len().checked_sub(self.evicted + keep)?;
        let tokens = |more: usize| weights.tokens(self.evicted + more, note_tokens);
        (1..=most)
            .find(|more| tokens(*more) <= target)
            .or_else(|| (most > 0 && tokens(most) <= room).then_some(most))
    }

    fn weigh(&self, measure: Option<Measure>) -> Weights {
        let weight = |index: usize| match measure {
            Some(measure) if index < measure.until => {
                measure.scale(message_tokens(&self.messages[index]))
            }
            _ => message_tokens(&self.messages[index]),
        };
        let ranges = self.exchanges();
        let exchanges: Vec<u64> =
            ranges.iter().map(|range| range.clone().map(weight).sum()).collect();
        let all: u64 = (0..self.messages.len()).map(weight).sum();
        let tools = measure.map_or(self.tools_tokens, |measure| measure.scale(self.tools_tokens));
        Weights { pinned: tools + all - exchanges.iter().sum::<u64>(), exchanges }
    }

    fn note_tokens(&self) -> u64 {
        match (&self.summary, self.evicted) {
            (_, 0) => 0,
            (None, _) => NOTE_TOKENS,
            (Some(_), _) => message_tokens(&Message::User(self.note())),
        }
    }

    fn note(&self) -> String {
        let (count, noun) = match self.evicted {
            1 => (1, "exchange"),
            count => (count, "exchanges"),
        };
        match &self.summary {
            None => format!("[{count} earlier {noun} left out to fit the context window.]"),
            Some(summary) => format!("[Summary of {count} earlier {noun}:]\n{summary}"),
        }
    }

    fn exchanges(&self) -> Vec<Range<usize>> {
        exchanges(&self.messages, self.task)
    }
}

/// A summary cut so that its note stays within `tokens`.
pub(crate) fn clip_summary(summary: &str, tokens: u64) -> &str {
    let room = tokens.saturating_sub(NOTE_TOKENS + text_tokens(1));
    tool_core::clip(summary.trim(), token_bytes(room)).trim_end()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{
        super::exchange::{check_pairs, tests::conversation},
        *,
    };

    fn transcript(letters: &str) -> Transcript {
        let messages = conversation(letters);
        let task = messages.iter().position(|m| matches!(m, Message::User(_))).unwrap();
        Transcript::new(messages, task, 0)
    }

    #[test]
    fn a_note_stands_for_what_was_left_out() {
        let mut transcript = transcript("sucrcra");
        transcript.evict(1, None);
        let view = transcript.view();
        assert_eq!(view.len(), 6);
        let note = "[1 earlier exchange left out to fit the context window.]";
        assert_eq!(view[2], Message::User(note.to_owned()));
        transcript.evict(1, Some("it read a file".to_owned()));
        let note = "[Summary of 2 earlier exchanges:]\nit read a file";
        assert_eq!(transcript.view()[2], Message::User(note.to_owned()));
        assert_eq!(transcript.into_messages().len(), 7);
    }

    #[test]
    fn a_note_takes_no_more_than_is_reckoned() {
        let mut transcript = transcript("su");
        transcript.evicted = 1_000_000;
        assert!(message_tokens(&Message::User(transcript.note())) <= NOTE_TOKENS);
        let long = "ж".repeat(4000);
        for tokens in [32, 100, 512] {
            transcript.summary = Some(clip_summary(&long, tokens).to_owned());
            assert!(message_tokens(&Message::User(transcript.note())) <= tokens, "{tokens}");
        }
    }

    #[test]
    fn what_the_provider_counts_is_believed() {
        let mut transcript = transcript("sucr");
        let by_bytes = transcript.tokens();
        transcript.measured(Usage { input_tokens: 900, output_tokens: 100 });
        assert!((1000..1010).contains(&transcript.tokens()), "{}", transcript.tokens());
        transcript.push(Message::User("12345678".to_owned()));
        assert!((1006..1016).contains(&transcript.tokens()), "{}", transcript.tokens());
        transcript.evict(1, None);
        assert!(transcript.tokens() < 1000 && transcript.tokens() > by_bytes);
    }

    /// Conversations after a task: exchanges with results, answers, reminders.
    fn letters() -> impl Strategy<Value = String> {
        proptest::collection::vec(prop_oneof!["cr", "cr", "a", "ua", "ucr"], 0..12)
            .prop_map(|parts| format!("su{}", parts.concat()))
    }

    proptest! {
        #[test]
        fn evicting_breaks_no_pair_and_keeps_what_must_be_kept(
            letters in letters(), keep in 1usize..6, window in 64u64..400, reserve in 0u64..60,
            summarize: bool,
        ) {
            let eviction = if summarize { Eviction::Summarize } else { Eviction::DropOldest };
            let policy = ContextPolicy::default()
                .with_window(window, reserve).unwrap()
                .with_keep_exchanges(keep).unwrap()
                .with_eviction(eviction);
            let mut transcript = transcript(&letters);
            let all = transcript.exchanges();
            match transcript.fit(&policy) {
                Fit::Fits => prop_assert!(transcript.tokens() <= window - reserve),
                Fit::Evict { exchanges, summary_tokens } => {
                    prop_assert!(all.len() - exchanges >= keep);
                    let summary = summary_tokens
                        .map(|tokens| clip_summary(&"long ".repeat(1000), tokens).to_owned());
                    transcript.evict(exchanges, summary);
                    prop_assert!(transcript.tokens() <= window - reserve);
                }
                Fit::Full(_) => {
                    let most = all.len().saturating_sub(keep);
                    transcript.evict(most, None);
                    prop_assert!(most == 0 || transcript.tokens() > window - reserve);
                }
            }
            let view = transcript.view();
            prop_assert_eq!(check_pairs(&view), Ok(()));
            prop_assert_eq!(&view[..2], &transcript.messages[..2]);
            let newest = all.len().saturating_sub(keep);
            let kept = all.get(newest).map_or(transcript.messages.len(), |range| range.start);
            prop_assert!(view.ends_with(&transcript.messages[kept..]));
        }
    }
}
