//! A language model behind one trait, with providers over HTTP and a scripted one.
