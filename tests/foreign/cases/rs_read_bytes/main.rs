// Counts lines with bytes() on the file itself, or on a BufReader.
use std::fs::File;
use std::io::{BufReader, Read};

fn main() -> std::io::Result<()> {
    let cured = std::env::args().nth(1).as_deref() == Some("twin");
    let file = File::open("input.txt")?;
    let bytes: Box<dyn Read> = if cured { Box::new(BufReader::new(file)) } else { Box::new(file) };
    let mut lines = 0u64;
    for byte in bytes.bytes() {
        lines += (byte? == b'\n') as u64;
    }
    println!("lines {}", lines);
    Ok(())
}
