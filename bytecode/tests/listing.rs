//! Listing of a hand-made artifact, compared exactly.

mod common;

use common::{SOURCE, sample};
use ptc_bytecode::{Op, disassemble, verify};

#[test]
fn a_listing_reads_like_the_program() {
    assert_eq!(
        disassemble(&sample(), Some(SOURCE)),
        "\
fn#0 []  regs=5 params=0 entry
    0  enter           fuel=22                  ; 4:1
    1  get_data        r2 ← data/rows           ; 4:6
    2  call_def        r1 ← (total r2)          ; 4:1
    3  load_int        r2 ← -7
    4  make_closure    r3 ← fn#2 inner [r2]
    5  new_record      r4 ← {:id r2 \"n\" r3}
    6  set_def         total ← r4
    7  call_tool       r1 ← (tool/search)
    8  return          r1

fn#1 sum [xs]  regs=5 params=1 export=sum
    0  enter           fuel=5
    1  move            r3 ← r1                  ; 2:5
    2  load_int        r4 ← 0
    3  call_builtin    r2 ← (map r3 r4)         ; 2:9
    4  return          r2

fn#1 sum [xs start & more]  regs=8 params=3 export=sum
    0  enter           fuel=3
    1  iter_start      r4 r5 ← r1
    2  load_int        r6 ← 0
   >3  enter           fuel=2
    4  iter_next       r7 ← r4 r5 → 11  fuel=3
    5  get_key         r7 ← r7 :name
    6  jump_unless_less_int  r7 < 9 → 9  fuel=2
    7  add             r2 ← r2 + r7
    8  again           → 3  count=r6
   >9  enter           fuel=1
   10  jump            → 3
  >11  enter           fuel=1
   12  return          r2

fn#2 inner [_]  regs=257 params=1 captures=1
    0  enter           fuel=7
    1  capture         r2 ← #0
    2  add_int         r2 ← r2 - 1
    3  store_wide      #256 ← r2
    4  load_wide       r3 ← #256
    5  new_vector      r2 ← [r2 r3]
    6  finish          r2
"
    );
}

#[test]
fn without_source_there_are_no_positions() {
    assert!(!disassemble(&sample(), None).contains(';'));
}

#[test]
fn the_sample_is_sound() {
    verify(sample()).unwrap();
}

#[test]
fn ids_of_nothing_are_shown_as_such() {
    let mut broken = sample();
    broken.functions[1].arities[0].block = 77;
    broken.blocks[0].ops = vec![
        Op::Const { dst: 1, id: 88 },
        Op::NewRecord { dst: 1, first: 250, n: 200, id: 0 },
        Op::Call { base: 255, n: 255 },
        Op::Apply { base: 255, n: 0 },
        Op::CallTool { base: 1, n: 9, tool: 5 },
        Op::MakeClosure { dst: 1, first: 2, n: 0, code: 9 },
        Op::Jump { to: 1000 },
    ];
    let listing = disassemble(&broken, Some(""));
    for part in ["block=77?", "const#88?", "keys=0?", "tool#5?", "fn#9? []", "block 1, of no function"] {
        assert!(listing.contains(part), "{part} is missing in\n{listing}");
    }
}
