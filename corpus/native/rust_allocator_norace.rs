// The program has an allocator of its own, which libraries call in the midst of what they do.
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Mutex;
use std::thread;

const KINDS: usize = 12;

/// Blocks of each size that were given back, each with the address of the next.
static BLOCKS: Mutex<[usize; KINDS]> = Mutex::new([0; KINDS]);

struct Pool;

fn kind_of(layout: Layout) -> Option<usize> {
    let kind = layout.size().max(16).next_power_of_two().trailing_zeros() as usize - 4;
    (kind < KINDS && layout.align() <= 16).then_some(kind)
}

unsafe impl GlobalAlloc for Pool {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some(kind) = kind_of(layout) else { return unsafe { System.alloc(layout) } };
        let mut blocks = BLOCKS.lock().unwrap();
        let block = blocks[kind] as *mut usize;
        if !block.is_null() {
            blocks[kind] = unsafe { *block };
            return block.cast();
        }
        drop(blocks);
        unsafe { System.alloc(Layout::from_size_align_unchecked(16 << kind, 16)) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let Some(kind) = kind_of(layout) else { return unsafe { System.dealloc(block, layout) } };
        let mut blocks = BLOCKS.lock().unwrap();
        unsafe { *block.cast() = blocks[kind] };
        blocks[kind] = block as usize;
    }
}

#[global_allocator]
static GLOBAL: Pool = Pool;

fn work(number: u64) -> u64 {
    let mut sum = 0;
    for round in 0..3 {
        let block = Box::new([round + number; 4]);
        sum += block[2];
        let mut numbers = Vec::new();
        for next in 0..9 {
            numbers.push(next + number);
        }
        sum += numbers.iter().sum::<u64>();
    }
    sum
}

fn main() {
    let one = thread::spawn(|| work(1));
    let two = thread::spawn(|| thread::current().name().map_or(0, str::len) as u64 + work(2));
    assert!(one.join().unwrap() + two.join().unwrap() > 0);
    thread::scope(|scope| {
        scope.spawn(|| work(3));
        scope.spawn(|| work(4));
    });
}
