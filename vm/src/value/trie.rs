//! Trie vectors.
