//! Which addresses may be dialled.
