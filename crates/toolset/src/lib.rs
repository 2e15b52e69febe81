//! The configuration of remit, and the registry of tools made from it.
