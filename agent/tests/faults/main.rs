//! Faults around a mission, and leaks of firewalled values out of it.

mod crowd;
mod firewall;
mod killed;
mod models;
mod parts;
mod taint;
mod tools;
