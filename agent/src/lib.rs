//! Agents: a mission is given to a model, the model answers with programs, the programs run in a
//! sandbox, and what they return is checked against a contract.
#![forbid(unsafe_code)]
