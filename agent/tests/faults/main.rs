//! What goes wrong around a mission, and what must not get out of it.

mod crowd;
mod firewall;
mod killed;
mod models;
mod parts;
mod taint;
mod tools;
