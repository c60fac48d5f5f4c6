//! Tells the linker that Node has the symbols of its interface.

fn main() {
    napi_build::setup();
}
