//! A tool chain: model turns and tool results until a stop reason.
