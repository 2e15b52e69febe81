//! The operations of a model.
